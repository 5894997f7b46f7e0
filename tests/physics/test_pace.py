"""Requests at a steady pace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics.pace import turn_s, wait_s


def test_a_single_worker_that_waits_longer_never_waits_for_the_pace():
    assert wait_s(100, 1, 3, 0.01, 0.05) == 0
    assert wait_s(100, 1, 1, 0.0, 0.0) == 0


def test_rclone_makes_a_hundred_requests_a_second():
    """MinSleep of the webdav backend is 10 ms: 50 files of MKCOL, PUT and PROPFIND take 1.5 s."""
    each = 0.25 + float(wait_s(50, 16, 3, 0.01, 0.25))
    assert 4 * each == pytest.approx(1.5)


@given(st.integers(1, 10**6), st.integers(1, 500), st.floats(0, 9), st.floats(0, 1), st.floats(0, 10))
def test_all_workers_together_never_beat_the_pace(files, workers, requests, interval, own):
    whole = -(-files // workers) * (own + float(wait_s(files, workers, requests, interval, own)))
    assert whole >= files * requests * interval * (1 - 1e-9)


def test_one_request_waits_for_itself_alone():
    assert turn_s(1, 0.1, 0.15) == pytest.approx(0.15)
    assert turn_s(0, 0.1, 0.15) == 0


def test_the_slower_of_pace_and_server_sets_the_pace():
    """Kleinrock 1975, 1.3: D/D/1 is stable where the service is shorter; four wait 0, 1, 2, 3."""
    assert turn_s(4, 0.1, 0.05) == pytest.approx(0.05 + 1.5 * 0.1)
    assert turn_s(4, 0.0, 0.05) == pytest.approx(0.05 * (1 + 2 + 3 + 4) / 4)


@given(st.integers(1, 1000), st.floats(0, 1), st.floats(0, 1))
def test_more_requests_never_take_less(n, interval, service):
    assert turn_s(n + 1, interval, service) >= turn_s(n, interval, service)
