"""RAID-Z allocation against a sector-by-sector layout, and the pools that were measured."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import raidz

LAYOUT = st.tuples(st.integers(2, 16), st.integers(1, 3)).filter(lambda t: t[0] > t[1])


def _laid_out(sectors, n, p):
    """Sectors used when rows of n - p data sectors each get p parity, then padded, counted one by one."""
    used = left = 0
    left = sectors
    while left:
        row = min(left, n - p)
        used += row + p
        left -= row
    while used % (p + 1):
        used += 1
    return used


@settings(max_examples=150)
@given(layout=LAYOUT, sectors=st.integers(1, 600))
def test_allocation_against_rows_laid_out(layout, sectors):
    n, p = layout
    assert raidz.allocated_sectors(sectors, n, p) == _laid_out(sectors, n, p)


def test_published_allocations():
    # OpenZFS docs, RAIDZ: one sector in raidz1 takes 2, in raidz2 3 (as mirrors); padded to p + 1
    np.testing.assert_array_equal(raidz.allocated_sectors(1, 5, [1, 2, 3]), [2, 3, 4])
    assert raidz.allocated_sectors(raidz.data_sectors(128 * 1024), 8, 1) == 38
    assert raidz.allocated_sectors(raidz.data_sectors(2**20), 8, 1) == 294


def test_capacity_of_a_measured_pool():
    # 2 x raidz1 of 8 x 480 GB, ashift 12: df shows 5.7T (Venadi); two digits printed
    usable = raidz.usable_bytes(16 * 480e9, 8, 1)
    assert round(float(usable) / 2**40, 1) == 5.7


def test_large_blocks_reach_the_ideal_and_small_ones_do_not():
    assert raidz.space_amplification(2**30, 8, 2) == pytest.approx(8 / 6, rel=1e-5)
    assert raidz.space_amplification(4096, 8, 2) == pytest.approx(3.0)
    assert raidz.write_amplification(2**20, 8, 1) == pytest.approx(293 / 256)
    assert raidz.space_amplification(2**20, 8, 1) == pytest.approx(294 / 256)
    assert raidz.space_amplification(2**20, 8, 1, 9) < raidz.space_amplification(2**20, 8, 1, 12)


@settings(max_examples=80)
@given(layout=LAYOUT, block=st.integers(1, 2**24), ashift=st.sampled_from([9, 12, 13]))
def test_amplification_order(layout, block, ashift):
    n, p = layout
    written = raidz.write_amplification(block, n, p, ashift)
    space = raidz.space_amplification(block, n, p, ashift)
    assert n / (n - p) * (1 - 1e-12) <= written <= space * (1 + 1e-12)
    assert space - written <= p * 2**ashift / block + 1e-9  # padding is at most p sectors


def test_streaming_of_a_reported_pool():
    # openzfs issue 9375: raidz2 of six disks that do 250 MB/s each, 987 MB/s
    assert raidz.stream_rate(250e6, 6, 2) == pytest.approx(987e6, rel=0.02)


def test_rates_add_over_groups():
    assert raidz.stream_rate(250e6, 8, 1, 2) == pytest.approx(2 * raidz.stream_rate(250e6, 8, 1))
    assert raidz.stream_rate(250e6, 8, 1, 1, 2**30) == pytest.approx(7 * 250e6, rel=1e-4)
    assert raidz.random_read_iops(80, 3) == 240
    blocks = 2.0 ** np.arange(12, 25)
    assert np.all(np.diff(raidz.stream_rate(100.0, 8, 2, 1, blocks)) >= -1e-9)


def test_parity_rates_of_the_kstat():
    # openzfs/zfs pull 4860: original C 0.725 GB/s a column, single parity; 8 data columns + 3 = 11
    assert raidz.parity_core_rate(0.725e9) == pytest.approx(8.0e9, rel=5e-3)
    assert math.isclose(raidz.KSTAT_COLUMNS, 8 + 3)
