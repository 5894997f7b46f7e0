"""Thin volumes against lvmthin(7)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import lvm

KiB = 1024.0


def test_a_write_that_covers_its_chunk_costs_nothing():
    assert lvm.provision_load(64 * KiB, 64 * KiB, 1) == 1.0
    assert lvm.provision_load(1024 * KiB, 64 * KiB, 1) == 1.0


def test_a_small_one_writes_its_chunk():
    """lvmthin(7): chunks of 64 KiB, zeroed before they are used: 4 KiB of data and 60 KiB of zeros."""
    assert lvm.provision_load(4 * KiB, 64 * KiB, 1) == pytest.approx(16.0)
    assert lvm.provision_load(4 * KiB, 64 * KiB, 0) == 1.0
    # writes that follow each other share their chunk: 60 KiB of zeros for 64 KiB of data
    assert lvm.provision_load(4 * KiB, 64 * KiB, 1, 64 * KiB) == pytest.approx(1 + 60 / 64)


@settings(max_examples=50)
@given(s=st.floats(512, 1e7), c=st.floats(65536, 1e9))
def test_larger_chunks_never_help(s, c):
    load = lvm.provision_load(s, c, 1)
    assert 1 <= load <= lvm.provision_load(s, 2 * c, 1)
    assert lvm.provision_load(2 * s, c, 1) <= load * (1 + 1e-12)
