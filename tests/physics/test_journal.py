"""Journals against the kernel's documentation."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics import journal


def test_data_are_written_twice_through_a_journal():
    # Documentation/filesystems/ext4: data=journal commits all data into the journal prior to the main file system
    np.testing.assert_array_equal(journal.written_bytes([0.0, 1.0]), [1.0, 2.0])


@given(st.floats(0, 1))
def test_never_less_than_the_data(share):
    assert 1.0 <= journal.written_bytes(share) <= 2.0
