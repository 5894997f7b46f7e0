"""What transfer programs do by rule: rsync's blocks, the pace of requests, broken transfers."""

import heapq

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import tools
from dtnsim.physics.tools import block_length, delta_share, mean_finish_time, pacer_wait


@given(st.floats(0, 1e15), st.floats(0, 1))
def test_a_delta_is_no_smaller_than_what_is_new(size, literal):
    share = float(delta_share(size, literal))
    assert literal <= share <= 1.0 + 1e-12
    assert block_length(size) % 4 == 0


def test_rclone_makes_a_hundred_requests_a_second():
    """MinSleep of the webdav backend is 10 ms: 50 files of MKCOL, PUT and PROPFIND take 1.5 s."""
    each = 0.25 + float(pacer_wait(50, 16, 3, 0.01, 0.25))
    assert 4 * each == pytest.approx(1.5)


@given(st.integers(1, 10**6), st.integers(1, 500), st.floats(0, 9), st.floats(0, 1), st.floats(0, 10))
def test_all_workers_together_never_beat_the_pace(files, workers, requests, interval, own):
    whole = -(-files // workers) * (own + float(pacer_wait(files, workers, requests, interval, own)))
    assert whole >= files * requests * interval * (1 - 1e-9)


@given(st.integers(1, 1000), st.floats(0, 1), st.floats(0, 1))
def test_more_requests_never_take_less(n, interval, service):
    assert mean_finish_time(n + 1, interval, service) >= mean_finish_time(n, interval, service)


@given(st.integers(2, 60), st.integers(1, 20), st.floats(0, 1), st.floats(0.01, 10))
def test_workers_who_begin_at_a_pace_share_the_list(workers, rounds, interval, each):
    """Against a list that is worked off file by file; off by a file and a beginning at most."""
    files = workers * rounds
    free = [n * interval for n in range(workers)]
    last = 0.0
    for _ in range(files):
        heapq.heapreplace(free, done := free[0] + each)
        last = max(last, done)
    mean = tools.staggered_idle_time(workers, files, interval, each)
    found = (files * each + (workers - 1) * mean) / workers
    assert found - each <= last <= found + each + interval


@given(st.integers(1, 8), st.integers(0, 10**6))
def test_workers_lose_what_they_have_under_way(workers, seed):
    """Against workers that are simulated: each takes the next file; they are broken off at random phases."""
    rng = np.random.default_rng(seed)
    phase = rng.random(workers)
    whole = rng.integers(20, 40)
    done = (whole + phase.sum()) * 1.0
    kept = tools.kept_bytes(done, 1.0, 1000, workers)
    assert abs(kept - whole) <= (workers + 1) / 2 + 1


@given(st.floats(0, 1), st.floats(1e-3, 1e9), st.integers(1, 1000), st.integers(1, 64))
def test_never_more_than_was_moved(share, unit, files, workers):
    done = share * unit * files
    kept = float(tools.kept_bytes(done, unit, files, workers))
    assert 0 <= kept <= done
    assert kept / unit == pytest.approx(round(kept / unit), abs=1e-6) or kept == done
