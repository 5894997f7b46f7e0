"""Servers of files: what a stripe, a server and a network give; BeeGFS, GPFS and Lustre; copies and coded shards."""

import heapq
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import beegfs, bonding, gpfs, hdd_streams, lustre, redundancy, servers, waiting
from tests.each import cases, rows

POSITIVE = st.floats(1e-3, 1e3)


def test_occupied_against_sampling():
    rng = np.random.default_rng(11)
    files, targets = 30, 24
    seen = [len(set(rng.integers(targets, size=files))) for _ in range(4000)]
    assert bonding.occupied(files, targets) == pytest.approx(np.mean(seen), rel=5e-3)
    assert bonding.occupied(1, targets, 4) == pytest.approx(4.0)
    assert bonding.occupied(5, targets, targets) == pytest.approx(targets)
    assert bonding.occupied(1e6, targets) == pytest.approx(targets)


def test_many_writers_of_an_array_of_disks():
    # an array of 1 GB/s with 4 GiB of cache and 12 ms to move the heads: 16 streams lose 5 %, 1024 a fifth or more
    rates = [
        hdd_streams.interleaved_rate(n, 1e9, servers.run_length(2.0**32, n, 2.0**22), 12e-3)
        for n in (1, 16, 1024, 10**6)
    ]
    np.testing.assert_allclose(rates, [1e9, 0.957e9, 0.259e9, 0.259e9], rtol=2e-3)
    assert servers.run_length(2.0**32, 1024, 2.0**22) == 2.0**22  # never less than a request


@pytest.mark.parametrize(("files", "targets", "each"), [(32, 10, 1), (64, 24, 4), (8, 100, 4)])
def test_the_fullest_target_by_throwing(files, targets, each):
    rng = np.random.default_rng(1)
    chosen = rng.permuted(np.tile(np.arange(targets), (1000 * files, 1)), axis=1)[:, :each].reshape(1000, -1)
    most = np.mean([np.bincount(run).max() for run in chosen])
    assert servers.until_the_last(files, targets, each) == pytest.approx(files * each / most, rel=0.04)
    assert servers.until_the_last(files, targets, each) <= bonding.occupied(files, targets, each)


# -- BeeGFS against the figures of a university's system, its client's source and Little's law -----
KiB = 1024.0


def test_one_thread_of_a_qdr_system():
    # University of Kiel, parallel file system page (QDR): one thread 0.6 to 1.5 GB/s. A buffer of 512 KiB on 4 GB/s of
    # wire takes 0.13 ms, and twice that or more in the kernels and the server; the thread copies at 6 GB/s
    slow, quick = (beegfs.stream_rate(512 * KiB, 512 * KiB / 4e9 + t, 512 * KiB / 6e9) for t in (0.6e-3, 0.2e-3))
    assert 0.6e9 <= slow < quick <= 1.5e9


@given(buffer=POSITIVE, call=POSITIVE, chunk=POSITIVE, t=POSITIVE, n=st.integers(1, 100))
def test_more_in_flight_is_never_slower(buffer, call, chunk, t, n):
    def rate(targets, latency):
        asked = beegfs.asked_bytes(call, buffer, chunk)
        return beegfs.stream_rate(asked, beegfs.request_time(asked, chunk, targets, buffer, latency), 0.1 * asked)

    assert rate(2 * n, t) >= rate(n, t) * (1 - 1e-12)
    assert rate(n, 2 * t) < rate(n, t)


# -- GPFS against Little's law in a printed gpfsperf run, IBM's subblock figures, and its limits ---
@given(threads=st.integers(1, 512), block=st.floats(65536, 2**24), pool=st.floats(2**27, 2**38), t=POSITIVE)
def test_more_memory_and_threads_never_hurt(threads, block, pool, t):
    def rate(n, p):
        return waiting.request_rate(block, t, np.inf, gpfs.blocks_in_flight(n, block, p, 0.2))

    assert rate(threads + 1, pool) >= rate(threads, pool)
    assert rate(threads, 2 * pool) >= rate(threads, pool)


@given(size=st.floats(1, 1e9), block=st.sampled_from([262144.0, 4194304.0]))
def test_allocation_wastes_less_than_a_subblock(size, block):
    spare = gpfs.allocated_bytes(size, gpfs.subblock(block)) - size
    assert -1e-6 <= spare < 8192 + 1e-6


# -- Lustre against its manual's figures -----------------------------------------------------------
MiB = 2.0**20


def test_components_of_a_progressive_layout():
    # lfs setstripe -E 4M -c 1 -E 64M -c 4 -E -1 -c -1, the Lustre manual's example: 100 MiB are 4 + 60 + 36
    ends = [0.0, 4 * MiB, 64 * MiB, np.inf]
    parts = [lustre.component_bytes(100 * MiB, a, b) for a, b in pairwise(ends)]
    assert np.array(parts) / MiB == pytest.approx([4, 60, 36])
    assert lustre.component_bytes(MiB, 4 * MiB, np.inf) == 0.0


# -- Copies and coded shards: Ceph, WEKA and DAOS against what their makers and users print --------
def test_three_copies_of_a_reef_cluster():
    """ceph.com 2023, RGW, 60 NVMe drives, three replicas, objects of 4 MB: GET 53, PUT 18.6 GB/s, a ratio of 2.85."""
    written, read = (redundancy.ceph_port_bytes(redundancy.stored(3, 0, 0), 0, reading) for reading in (0, 1))
    assert written / read == pytest.approx(53 / 18.6, rel=0.1)


@cases("stored, data, reading, nodes, bytes_", rows("physics/tables", "a_client_that_is_a_node"))
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
