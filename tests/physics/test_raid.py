"""RAID laws against md(4), counted I/Os and enumerated degraded reads."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import raid

GROUP = st.tuples(st.integers(3, 24), st.integers(1, 3)).filter(lambda t: t[0] > t[1] + 1)


def _cheapest_by_enumeration(k, n, p):
    """Reads and writes of the two ways to update k chunks, counted disk by disk."""
    written = set(range(k)) | {f"parity{i}" for i in range(p)}
    rmw = len(written) + len(written)  # every old chunk and old parity is read first
    others = set(range(n - p)) - written
    return min(rmw, len(others) + len(written))


@given(group=GROUP, size=st.floats(1.0, 1e8), chunk=st.sampled_from([4096.0, 65536.0, 524288.0]))
def test_write_amplification_bounds(group, size, chunk):
    n, p = group
    a = raid.write_amplification(size, chunk, n, p)
    assert n / (n - p) * (1 - 1e-9) <= a <= min(2 * (1 + p), n) * (1 + 1e-9)
    assert raid.write_amplification(size, chunk, n, p, resyncing=True) >= a * (1 - 1e-12)


def _degraded_by_enumeration(n, lost):
    """Load of the busiest survivor per request, RAID5, one request to every disk in turn."""
    load = np.zeros(n)
    for target in range(n):
        if target in lost:
            for other in set(range(n)) - set(lost):
                load[other] += 1
        else:
            load[target] += 1
    return load.max() / 1.0


@pytest.mark.parametrize("n", [3, 5, 8])
def test_degraded_reads_against_enumeration(n):
    for lost in itertools.combinations(range(n), 1):
        assert raid.degraded_read_share(n, 1, 1) == pytest.approx(1 / _degraded_by_enumeration(n, lost))


@given(group=GROUP)
def test_each_lost_disk_costs_more(group):
    n, p = group
    shares = raid.degraded_read_share(n, p, np.arange(p + 2))
    assert np.all(np.diff(shares) < 0)
    assert shares[0] == 1.0
    assert shares[-1] == 0.0


def test_write_amplification_at_whole_chunks_is_the_count_of_ios():
    for n, p in [(8, 1), (8, 2), (10, 2)]:
        for k in range(1, n - p + 1):
            expected = _cheapest_by_enumeration(k, n, p) / k
            assert raid.write_amplification(k * 65536, 65536, n, p) == pytest.approx(expected)
            assert raid.write_amplification(k * 65536, 65536, n, p, resyncing=True) == pytest.approx(n / k)


@given(rebuild=st.floats(0.0, 500.0), rate=st.floats(1.0, 500.0))
def test_a_rebuild_takes_its_part_of_a_disk(rebuild, rate):
    load = raid.rebuild_load(rebuild, rate)
    assert 1.0 <= load <= 20.0
    if rebuild < 0.9 * rate:
        assert rate / load == pytest.approx(rate - rebuild)


def test_windows_of_a_rebuild_cost_the_way_there_and_back():
    # 10 windows of 1 MB a second at 100 MB/s and 20 ms: 10 % and 20 % of the disk
    assert raid.rebuild_load(10e6, 100e6, 1e6, 20e-3) == pytest.approx(1 / 0.7)
    # md(4): sync_speed_min of 1000 KiB/s beside others; windows of 128 KiB (md.c) take a sixth, of 1 MiB a fiftieth
    least = 1000 * 1024
    assert 0.8 < 1 / raid.rebuild_load(least, 150e6, 131072, 20e-3) < 0.85
    assert 1 / raid.rebuild_load(least, 150e6, 2**20, 20e-3) > 0.97


@given(rebuild=st.floats(0.0, 500e6), rate=st.floats(1e7, 5e8), away=st.floats(0.0, 0.03), visit=st.floats(1e-3, 0.5))
def test_a_rebuild_gets_no_more_than_every_other_turn(rebuild, rate, away, visit):
    load = raid.rebuild_load(rebuild, rate, 2**20, away, visit)
    turn = 2**20 / rate + away
    assert 1.0 <= load <= max(20.0, (turn + visit) / visit)
    assert 1 / load >= visit / (turn + visit) - 1e-9 or load == pytest.approx(20.0)
    assert raid.rebuild_load(rebuild / 2, rate, 2**20, away, visit) <= load
    assert raid.rebuild_load(0.0, rate, 2**20, away, visit) == 1.0


@pytest.mark.parametrize("queue", [1, 4, 16])
def test_a_closed_fork_join_against_simulation(queue):
    """Eight exponential servers, each request has a part on all of them: MVA of Varki is within 15 %."""
    rng = np.random.default_rng(3)
    k, requests = 8, 20_000
    free, done = np.zeros(k), np.zeros(requests)
    for n in range(requests):
        asked = np.sort(done[max(0, n - queue) : n])[0] if n >= queue else 0.0
        free = np.maximum(free, asked) + rng.exponential(1.0, k)
        done[n] = free.max()
    found = requests / done.max()
    assert 1 / raid.fork_join_load(queue, (1 / np.arange(1, k + 1)).sum()) == pytest.approx(found, rel=0.15)


@given(q=st.floats(0.1, 200), more=st.floats(1, 10), h=st.floats(0.5, 4))
def test_more_requests_keep_members_busier(q, more, h):
    here = raid.fork_join_load(q, h)
    assert 1.0 <= raid.fork_join_load(q * more, h) <= here <= max(h, 1.0) * (1 + 1e-12)


@given(s=st.floats(512, 1e7), c=st.floats(65536, 1e9))
def test_larger_chunks_never_help(s, c):
    load = raid.provision_load(s, c, 1)
    assert 1 <= load <= raid.provision_load(s, 2 * c, 1)
    assert raid.provision_load(2 * s, c, 1) <= load * (1 + 1e-12)
