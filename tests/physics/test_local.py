"""Local file systems: journals and compressed extents."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.physics import local


def test_data_are_written_twice_through_a_journal():
    # Documentation/filesystems/ext4: data=journal commits all data into the journal prior to the main file system
    np.testing.assert_array_equal(local.written_bytes([0.0, 1.0]), [1.0, 2.0])


@given(st.floats(0, 1))
def test_never_less_than_the_data(share):
    assert 1.0 <= local.written_bytes(share) <= 2.0


def test_delayed_logging_saves_an_order_of_magnitude():
    # xfs-delayed-logging-design: stale objects over 90 % of the log buffers without it
    assert local.logged_bytes(400, local.STALE) == pytest.approx(4000)
    assert local.logged_bytes(400, 0.0) == 400  # nothing is stale


@given(st.floats(1, 1e4), st.floats(0, 1))
def test_older_copies_never_save_log(record, stale):
    assert record <= local.logged_bytes(record, stale) <= 100 * record * (1 + 1e-9)


def test_log_buffers_over_the_time_of_a_write():
    # xfs-delayed-logging-design: 8 buffers of 32 KiB; half a turn of a 7200-rpm disk each: 60 MB/s
    assert local.log_rate(8, 2**15, 4.17e-3, 200e6) == pytest.approx(8 * 2**15 / (4.17e-3 + 2**15 / 200e6))
    # flash with capacitors: the device itself
    assert local.log_rate(8, 2**18, 10e-6, 1e9) == 1e9


@given(st.integers(2, 8), st.floats(2**14, 2**18), st.floats(0, 0.1), st.floats(1e6, 1e10))
def test_larger_buffers_never_slow_the_log(buffers, size, write, rate):
    small, large = (local.log_rate(buffers, s, write, rate) for s in (size, 2 * size))
    assert 0 < small <= large * (1 + 1e-12) <= rate * (1 + 1e-11)


def test_a_commit_takes_allocated_data_with_it():
    # admin-guide/ext4: commit=5; Linux' dirty_expire is 30 s
    assert local.forced_age(30, 5, 1) == 5
    assert local.forced_age(30, 5, 0) == 30
    assert local.forced_age(2, 5, 1) == 2  # the page cache is earlier


@given(st.floats(0.1, 100), st.floats(0.1, 100))
def test_a_journal_never_makes_data_wait_longer(expire, commit):
    assert local.forced_age(expire, commit, 1) <= local.forced_age(expire, commit, 0)


def test_a_few_dozen_transactions_a_second():
    # SQLite FAQ 19: the platter turns twice, some 60 a second at 7200 rpm, "a few dozen"
    assert 24 < 1 / local.sync_time(2, 7.4e-3 + 0.5 / 120) < 60
    assert local.sync_time(2, 1 / 120) == pytest.approx(1 / 60)
    assert local.sync_time(0, 1.0) == 0.0


@given(st.floats(0, 4), st.floats(0, 1))
def test_longer_ways_never_make_a_sync_faster(waits, away):
    assert local.sync_time(waits, away) <= local.sync_time(waits, 2 * away)


def test_extents_are_rounded_up_to_sectors():
    """128 KiB at 2.57 are 51 KiB, in 13 sectors of 4 KiB: 52 of 128 (the ratio that df shows is 2.46)."""
    assert local.stored_share(2.57) == pytest.approx(52 / 128)
    assert local.stored_share(2.0) == pytest.approx(0.5)


def test_what_does_not_compress_is_stored_as_it_is():
    # btrfs(5): compressed extents are kept only where they are smaller by a sector at least
    assert local.stored_share(1.0) == 1.0
    assert local.stored_share(1.01) == 1.0


def test_a_small_read_decompresses_its_extent():
    # btrfs(5): compressed extents of up to 128 KiB, read as a whole
    assert local.extent_load(4096) == 32.0
    assert local.extent_load(2**20) == 1.0


@settings(max_examples=50)
@given(r=st.floats(1, 1000), q=st.floats(512, 1e8))
def test_better_ratios_store_less_and_never_nothing(r, q):
    share = local.stored_share(r)
    assert 4096 / 131072 <= share <= 1
    assert share >= min(1, 1 / r) * (1 - 1e-9)
    assert local.stored_share(2 * r) <= share
    assert 1 <= local.extent_load(2 * q) <= local.extent_load(q)
