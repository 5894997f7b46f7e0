"""Copies and coded shards: Ceph, WEKA and DAOS against what their makers and users print."""

import heapq

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import redundancy, waiting


def test_three_copies_of_a_reef_cluster():
    """ceph.com 2023, RGW, 60 NVMe drives, three replicas, objects of 4 MB: GET 53, PUT 18.6 GB/s, a ratio of 2.85."""
    written, read = (redundancy.ceph_port_bytes(redundancy.stored(3, 0, 0), 0, reading) for reading in (0, 1))
    assert written / read == pytest.approx(53 / 18.6, rel=0.1)


@pytest.mark.parametrize(
    ("stored", "data", "reading", "nodes", "bytes_"),
    [
        (3, 0, 1, 3, 2 / 3),  # a third lies here
        (3, 0, 0, 3, 2 / 3 + 2 / 3),  # two thirds go to their primaries; of a third two copies go on
        (2, 0, 0, 4, 3 / 4 + 1 / 4),
        (1.375, 8, 1, 11, 1 - 1 / 88),  # the primary here lacks seven of eight shards
        (1.375, 8, 0, 11, 10 / 11 + 10 / 88),
    ],
)
def test_a_client_that_is_a_node(stored, data, reading, nodes, bytes_):
    """By counting, object after object, what leaves or enters the node of the client."""
    assert redundancy.ceph_client_bytes(stored, data, reading, 1 / nodes) == pytest.approx(bytes_)
    assert redundancy.ceph_client_bytes(stored, data, reading, 0.0) == 1.0
    # what it saves and spends itself is no other node's: all ports together carry the first hop less
    less = redundancy.ceph_port_bytes(stored, data, reading) - redundancy.ceph_port_bytes(stored, data, reading, 0.2)
    assert less == pytest.approx(0.2)


def test_requests_queue_at_osds_that_a_hash_chooses():
    alone = redundancy.pool_rate(4e6, 1, 9, 3, 0.1, 0.02)
    assert alone == pytest.approx(4e6 / 0.12)  # nothing to queue for
    for n, m in ((2, 2), (16, 9), (32, 92)):  # balanced product-form network: X = N M / (s (N + M - 1))
        assert redundancy.pool_rate(1.0, n, m, 1, 0.1) == pytest.approx(n * m / (0.1 * (n + m - 1)))
    assert redundancy.pool_rate(1.0, 1e9, 9, 3, 0.1, 0.5) == pytest.approx(9 / 3 / 0.1, rel=1e-6)


@pytest.mark.parametrize(("n", "osds", "parts"), [(8, 12, 2), (32, 92, 2), (16, 9, 3)])
def test_a_pool_lies_between_equal_and_exponential_times(n, osds, parts):
    """Request after request, each taken in turn at OSDs drawn at random."""
    rng, count = np.random.default_rng(1), 8000

    def simulated(times):
        free, flying, now = np.zeros(osds), [0.0] * n, 0.0
        for time in times:
            now = heapq.heappop(flying)
            at = rng.choice(osds, parts, replace=False)
            free[at] = np.maximum(free[at], now) + time
            heapq.heappush(flying, free[at].max())
        return count / now

    slow = simulated(rng.exponential(0.1, (count, parts)))
    assert slow < redundancy.pool_rate(1.0, n, osds, parts, 0.1) < simulated(np.full((count, parts), 0.1))


@given(n=st.integers(1, 256), c=st.integers(1, 6), more=st.integers(0, 100), away=st.floats(0, 1))
def test_a_pool_is_never_faster_than_its_osds_or_its_requests(n, c, more, away):
    rate = redundancy.pool_rate(1.0, n, c + more, c, 0.1, away)
    assert 0 < rate <= min(n / (away + 0.1), (c + more) / c / 0.1) * (1 + 1e-9)
    assert rate <= redundancy.pool_rate(1.0, n + 1, c + more, c, 0.1, away) * (1 + 1e-9)
    assert rate <= redundancy.pool_rate(1.0, n, c + more + 1, c, 0.1, away) * (1 + 1e-9)


def test_an_osd_takes_longer_for_an_object_in_pieces():
    assert redundancy.osd_time(4096, 4 * 2**20, 0.08, 0.0127) == pytest.approx(0.0127)
    assert redundancy.osd_time(4 * 2**20, 4 * 2**20, 0.08, 0.0127) == pytest.approx(0.08)
    pieces = 8 * redundancy.osd_time(2**19, 4 * 2**20, 0.08, 0.0127)  # seven more turns of 12.7 ms
    assert pieces == pytest.approx(0.08 + 7 * 0.0127, rel=0.01)


@given(n=st.integers(1, 8), k=st.integers(1, 16), m=st.integers(0, 8), reading=st.sampled_from([0.0, 1.0]))
def test_more_safety_costs_more(n, k, m, reading):
    assert redundancy.stored(n + 1, 0, 0) > redundancy.stored(n, 0, 0)
    assert 1 <= redundancy.stored(n, k, m) < redundancy.stored(n, k, m + 1)
    assert redundancy.ceph_port_bytes(redundancy.stored(n, k, m), k, reading) >= 1 - 1e-12


@pytest.mark.parametrize(
    ("cores", "reads", "writes"), [(32, 1_978_330, 404_670), (96, 4_346_330, 1_317_000)], ids=["aws", "supermicro"]
)
def test_one_pair_of_costs_holds_for_both_clusters(cores, reads, writes):
    """docs.weka.io, performance test results, requests of 4 KiB of eight clients."""
    assert cores / (redundancy.core_time(1.3e9, 16e-6, 4096) * 4096) == pytest.approx(reads, rel=0.2)
    assert cores / (redundancy.core_time(0.4e9, 65e-6, 4096) * 4096) == pytest.approx(writes, rel=0.08)


@given(e=st.floats(1, 2), n=st.integers(1, 1000), s=st.floats(512, 1e8))
def test_more_servers_more_crossings_larger_requests_less_time(e, n, s):
    assert 1 <= redundancy.weka_port_bytes(e, n, 0) <= redundancy.weka_port_bytes(e, n + 1, 0) < 1 + e
    assert redundancy.core_time(1e9, 1e-5, 2 * s) < redundancy.core_time(1e9, 1e-5, s)


@given(r=st.floats(1e8, 1e11), q=st.floats(1e3, 1e7), s=st.floats(512, 1e8))
def test_larger_requests_never_cost_more(r, q, s):
    assert waiting.busy_seconds(2 * s, r, q) <= waiting.busy_seconds(s, r, q)
    assert waiting.busy_seconds(s, r, q) >= 1 / r
