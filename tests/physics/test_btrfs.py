"""What compression leaves of an extent, against btrfs(5)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import btrfs


def test_extents_are_rounded_up_to_sectors():
    """128 KiB at 2.57 are 51 KiB, in 13 sectors of 4 KiB: 52 of 128 (the ratio that df shows is 2.46)."""
    assert btrfs.stored_share(2.57) == pytest.approx(52 / 128)
    assert btrfs.stored_share(2.0) == pytest.approx(0.5)


def test_what_does_not_compress_is_stored_as_it_is():
    # btrfs(5): compressed extents are kept only where they are smaller by a sector at least
    assert btrfs.stored_share(1.0) == 1.0
    assert btrfs.stored_share(1.01) == 1.0


def test_a_small_read_decompresses_its_extent():
    # btrfs(5): compressed extents of up to 128 KiB, read as a whole
    assert btrfs.extent_load(4096) == 32.0
    assert btrfs.extent_load(2**20) == 1.0


@settings(max_examples=50)
@given(r=st.floats(1, 1000), q=st.floats(512, 1e8))
def test_better_ratios_store_less_and_never_nothing(r, q):
    share = btrfs.stored_share(r)
    assert 4096 / 131072 <= share <= 1
    assert share >= min(1, 1 / r) * (1 - 1e-9)
    assert btrfs.stored_share(2 * r) <= share
    assert 1 <= btrfs.extent_load(2 * q) <= btrfs.extent_load(q)
