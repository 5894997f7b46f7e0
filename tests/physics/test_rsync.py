"""rsync's blocks and what a delta sends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics.rsync import block_length, delta_share


def test_small_and_huge_files_have_blocks_of_the_ends():
    assert block_length(1) == 700
    assert block_length(1e15) == 131072


def test_blocks_as_rsync_prints_them():
    """generator.c: up to 700 x 700 bytes blocks of 700; then the square root, in eights."""
    assert block_length(490_000) == 700
    assert block_length(10_000_000) == 3160
    assert block_length(1e9) == pytest.approx(31616)


@given(st.floats(0, 1e15), st.floats(0, 1))
def test_a_delta_is_no_smaller_than_what_is_new(size, literal):
    share = float(delta_share(size, literal))
    assert literal <= share <= 1.0 + 1e-12
    assert block_length(size) % 4 == 0
