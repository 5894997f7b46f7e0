"""NFS, SMB and the file operations that they send one by one."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import metadata, nfs

POSITIVE = st.floats(1e-3, 1e3)
RTT_LAPTOP = 10.2e-3  # to UCLA
ENTRIES = 3065  # BioPerl 1.6.923


def test_rm_and_rescan():
    # rm -rf 47.09 s, rsync rescan 60.77 s, both from the laptop: REMOVE and a sixteenth of a READDIRPLUS a file,
    # GETATTR, ACCESS, READDIRPLUS and RMDIR a directory. How many of the entries are directories is not printed:
    # between one in twenty and one in six the count of requests changes by a sixth.
    names = metadata.listing_calls(nfs.NAMES_PER_REPLY)
    for share in (1 / 20, 1 / 6):
        trips = ENTRIES * ((1 - share) * (1 + names) + 4 * share)
        assert trips * RTT_LAPTOP == pytest.approx(47.09, rel=0.2)
    assert metadata.serial_time(ENTRIES, 2, RTT_LAPTOP, 0.0) == pytest.approx(60.77, rel=0.04)


# -- Metadata times against a counted loop and printed mdtest scaling ------------------------------
def test_printed_mdtest_of_one_server():
    # Dell HPC Lustre storage with Omni-Path, mdtest: 1100 creates/s with one thread, 27 000 with 240, which would do
    # 264 000 without a server that fills
    one = 1 / metadata.serial_time(1, 1, 0.0, 1 / 1100)
    assert 240 * one > 1 / metadata.server_time(27e3)
    assert metadata.server_time(np.array([15e3, 27e3])) == pytest.approx([66.7e-6, 37.0e-6], rel=2e-3)


@given(n=st.integers(1, 10**10), b=st.floats(500, 5000), m=st.floats(1e6, 1e12))
def test_what_does_not_fit_is_absent(n, b, m):
    """As many as fit are there: n - min(n, M / b) of n; more memory never less, more files never more of each."""
    absent = metadata.absent_share(n, b, m)
    assert n * absent == pytest.approx(n - min(n, m / b), abs=1e-6 * n)
    assert metadata.absent_share(n, b, 2 * m) <= absent <= metadata.absent_share(2 * n, b, m)


def test_every_class_of_operations_is_known():
    assert set(metadata.CLASSES.values()) == {"create", "remove"}


@given(n=POSITIVE, k=POSITIVE, T=POSITIVE, t=POSITIVE)
def test_times_are_monotone(n, k, T, t):
    whole = metadata.serial_time(n, k, T, t)
    assert metadata.serial_time(n, k, 2 * T, t) >= whole
    assert metadata.serial_time(2 * n, k, T, t) == pytest.approx(2 * whole)
    assert metadata.server_time(2 * n) < metadata.server_time(n)
    assert metadata.listing_calls(2 * n) < metadata.listing_calls(n)
