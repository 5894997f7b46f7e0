"""GPFS against Little's law in a printed gpfsperf run, IBM's subblock figures, and its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import gpfs

POSITIVE = st.floats(1e-3, 1e3)


def test_littles_law_in_a_gpfsperf_run():
    # gpfsperf create seq, 12 threads, 8-MiB records: 5089216.97 kB/s (decimal: 606.68 ops/s x 8 MiB),
    # mean latency 19.350 ms, threads busy 0.978 of the time
    rate = gpfs.prefetch_rate(12 * 0.978, 8 * 2**20, 19.350e-3)
    assert rate == pytest.approx(5089216.97e3, rel=1e-3)


def test_pagepool_bounds_what_is_in_flight():
    # a fifth of the default 1 GiB holds 12.8 blocks of 16 MiB: the threads cannot all be used
    assert gpfs.blocks_in_flight(gpfs.PREFETCH_THREADS, 16 * 2**20) == pytest.approx(12.8)
    assert gpfs.blocks_in_flight(gpfs.PREFETCH_THREADS, 2**20) == gpfs.PREFETCH_THREADS
    assert gpfs.blocks_in_flight(gpfs.PREFETCH_THREADS, 16 * 2**20, 2**40) == gpfs.PREFETCH_THREADS
    assert gpfs.blocks_in_flight(72, 2**30) == 1.0


def test_storage_side():
    assert gpfs.nsd_rate(40, 0.5e9, 4, 6e9) == pytest.approx(20e9)
    assert gpfs.nsd_rate(40, 1e9, 4, 6e9) == pytest.approx(24e9)
    assert gpfs.nsd_rate(40, 1e9, 4, 6e9, 5.0) == pytest.approx(4e9)


def test_stream_takes_its_least_limit():
    np.testing.assert_allclose(gpfs.stream_rate([1.0, 9.0, 9.0], [9.0, 2.0, 9.0], 3.0), [1.0, 2.0, 3.0])
    assert gpfs.stream_rate(9.0, 9.0, 9.0, 0.5) == 0.5


@settings(max_examples=60)
@given(threads=st.integers(1, 512), block=st.floats(65536, 2**24), pool=st.floats(2**27, 2**38), t=POSITIVE)
def test_more_memory_and_threads_never_hurt(threads, block, pool, t):
    def rate(n, p):
        return gpfs.prefetch_rate(gpfs.blocks_in_flight(n, block, p), block, t)

    assert rate(threads + 1, pool) >= rate(threads, pool)
    assert rate(threads, 2 * pool) >= rate(threads, pool)
    assert gpfs.prefetch_rate(8, block, 2 * t) < gpfs.prefetch_rate(8, block, t)


def test_small_files_touch_few_disks():
    np.testing.assert_array_equal(gpfs.nsds_touched([0, 1, 2**23, 2**23 + 1, 1e12], 2**23, 40), [1, 1, 1, 2, 40])


def test_subblocks():
    # FAST 2002: 1/32 of a block; a 16-MiB block of version 4 holds files in units of 512 KiB.
    # IBM docs, mmcrfs: since 5.0 a 4-MiB block has subblocks of 8 KiB
    assert gpfs.allocated_bytes(1, 16 * 2**20) == 512 * 1024
    assert gpfs.allocated_bytes(1, 4 * 2**20, 512) == 8192
    assert gpfs.allocated_bytes(2**24 + 1, 2**24) == 2**24 + 2**19


@settings(max_examples=60)
@given(size=st.floats(1, 1e9), block=st.sampled_from([262144.0, 4194304.0]))
def test_allocation_wastes_less_than_a_subblock(size, block):
    spare = gpfs.allocated_bytes(size, block) - size
    assert -1e-6 <= spare < block / 32 + 1e-6


def test_tokens_cost_only_where_they_are_stolen():
    assert gpfs.first_touch_time(1000, 1e-3, 1e-3, 0.0) == 0.0
    assert gpfs.first_touch_time(1000, 1e-3, 1e-3, 1.0) == pytest.approx(1000 * gpfs.K_TOKEN_STEAL * 2e-3)
