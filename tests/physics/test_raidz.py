"""RAID-Z allocation against a sector-by-sector layout, and the pools that were measured."""

import math

import pytest
from hypothesis import given, strategies as st

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


@given(layout=LAYOUT, block=st.integers(1, 2**24), ashift=st.sampled_from([9, 12, 13]))
def test_amplification_against_rows_laid_out(layout, block, ashift):
    n, p = layout
    sectors = math.ceil(block / 2**ashift)
    if sectors <= 600:
        rows = math.ceil(sectors / (n - p))
        assert raidz.parity_sectors(sectors, n, p) == p * rows
    assert raidz.write_amplification(block, n, p, ashift) >= n / (n - p) * (1 - 1e-12)


@given(layout=LAYOUT, sectors=st.integers(1, 600), ashift=st.sampled_from([9, 12, 13]))
def test_a_block_takes_up_what_is_laid_out(layout, sectors, ashift):
    n, p = layout
    block = sectors * 2**ashift
    taken = raidz.allocation(block, n, p, ashift)
    assert taken * block / 2**ashift == pytest.approx(_laid_out(sectors, n, p))
    assert taken >= raidz.write_amplification(block, n, p, ashift) * (1 - 1e-12)


@given(data=st.integers(1, 16), parity=st.integers(1, 3), block=st.integers(1, 2**24))
def test_draid_never_stores_less_than_raidz(data, parity, block):
    fixed = raidz.draid_amplification(block, data, parity)
    assert fixed >= raidz.write_amplification(block, data + parity, parity) * (1 - 1e-12)
