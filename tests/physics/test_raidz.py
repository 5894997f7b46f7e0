"""RAID-Z allocation against a sector-by-sector layout, and the pools that were measured."""

import math

import pytest
from hypothesis import given, settings, strategies as st

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


def test_large_blocks_reach_the_ideal_and_small_ones_do_not():
    assert raidz.write_amplification(2**30, 8, 2) == pytest.approx(8 / 6, rel=1e-5)
    assert raidz.write_amplification(4096, 8, 2) == pytest.approx(3.0)  # one sector: a mirror of three
    assert raidz.write_amplification(2**20, 8, 1) == pytest.approx(293 / 256)


@settings(max_examples=80)
@given(layout=LAYOUT, block=st.integers(1, 2**24), ashift=st.sampled_from([9, 12, 13]))
def test_amplification_against_rows_laid_out(layout, block, ashift):
    n, p = layout
    sectors = math.ceil(block / 2**ashift)
    if sectors <= 600:
        rows = math.ceil(sectors / (n - p))
        assert raidz.parity_sectors(sectors, n, p) == p * rows
    assert raidz.write_amplification(block, n, p, ashift) >= n / (n - p) * (1 - 1e-12)


@settings(max_examples=80)
@given(layout=LAYOUT, sectors=st.integers(1, 600), ashift=st.sampled_from([9, 12, 13]))
def test_a_block_takes_up_what_is_laid_out(layout, sectors, ashift):
    n, p = layout
    block = sectors * 2**ashift
    taken = raidz.allocation(block, n, p, ashift)
    assert taken * block / 2**ashift == pytest.approx(_laid_out(sectors, n, p))
    assert taken >= raidz.write_amplification(block, n, p, ashift) * (1 - 1e-12)


def test_padding_of_small_blocks_as_published():
    """Two sectors on a raidz2 of six take up six: parity and padding are 67 % (Ahrens, "How I learned to stop worrying
    and love RAID-Z", 2014, table of raidz2)."""
    assert raidz.allocation(8192, 6, 2) == pytest.approx(3.0)
    assert raidz.allocation(128 * 1024, 12, 2) == pytest.approx(42 / 32)  # 40 sectors, two to pass over
    assert raidz.allocation(2**30, 12, 2) == pytest.approx(12 / 10, rel=1e-4)


def test_a_block_lies_on_as_many_disks_as_it_has_sectors():
    assert raidz.columns(128 * 1024, 12, 2) == 10
    assert raidz.columns(4096, 12, 2) == 1
    assert raidz.columns(16 * 1024, 12, 2) == 4


def test_draid_fills_its_stripes():
    """OpenZFS docs, dRAID Howto: with d = 8 and 4-KiB sectors the least allocation is 32 KiB."""
    assert raidz.draid_amplification(4096, 8, 2) == pytest.approx(10.0)
    assert raidz.draid_amplification(32 * 1024, 8, 2) == pytest.approx(10 / 8)
    assert raidz.draid_amplification(2**30, 8, 2) == pytest.approx(10 / 8)


@settings(max_examples=60)
@given(data=st.integers(1, 16), parity=st.integers(1, 3), block=st.integers(1, 2**24))
def test_draid_never_stores_less_than_raidz(data, parity, block):
    fixed = raidz.draid_amplification(block, data, parity)
    assert fixed >= raidz.write_amplification(block, data + parity, parity) * (1 - 1e-12)
