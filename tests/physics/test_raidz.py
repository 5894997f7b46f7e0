"""RAID-Z allocation against a sector-by-sector layout, and the pools that were measured."""

import math

import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import raidz
from tests.each import values

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


test_values = values({
    "large blocks reach the ideal": (raidz.write_amplification, (2**30, 8, 2), 8 / 6, 1e-5),
    "one sector is a mirror of three": (raidz.write_amplification, (4096, 8, 2), 3.0),
    "1 MiB, 293 sectors for 256": (raidz.write_amplification, (2**20, 8, 1), 293 / 256),
    'Ahrens, "How I learned to stop worrying and love RAID-Z", 2014: parity and padding 67 %':
        (raidz.allocation, (8192, 6, 2), 3.0),
    "40 sectors, two to pass over": (raidz.allocation, (128 * 1024, 12, 2), 42 / 32),
    "of a large block parity": (raidz.allocation, (2**30, 12, 2), 12 / 10, 1e-4),
    "a block lies on as many disks as it has sectors": (
        raidz.columns, ([128 * 1024, 4096, 16 * 1024], 12, 2), [10, 1, 4]),
    "OpenZFS docs, dRAID Howto: with d = 8 the least allocation is 32 KiB":
        (raidz.draid_amplification, ([4096, 32 * 1024, 2**30], 8, 2), [10.0, 10 / 8, 10 / 8]),
})  # fmt: skip


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
