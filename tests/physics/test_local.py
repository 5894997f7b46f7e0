"""Local file systems: journals and compressed extents."""

import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import local
from tests.each import values

test_values = values({
    "ext4.rst: data=journal commits all data prior to the file system":
        (local.written_bytes, ([0.0, 1.0],), [1.0, 2.0]),
    "xfs-delayed-logging-design: stale over 90 % of the buffers": (local.logged_bytes, (400, local.STALE), 4000),
    "nothing is stale": (local.logged_bytes, (400, 0.0), 400),
    "8 buffers of 32 KiB; half a turn of a 7200-rpm disk each: 60 MB/s":
        (local.log_rate, (8, 2**15, 4.17e-3, 200e6), 8 * 2**15 / (4.17e-3 + 2**15 / 200e6)),
    "flash with capacitors: the device itself": (local.log_rate, (8, 2**18, 10e-6, 1e9), 1e9),
    "admin-guide/ext4, commit=5: allocated data go with it": (local.forced_age, (30, 5, 1), 5),
    "Linux' dirty_expire is 30 s": (local.forced_age, (30, 5, 0), 30),
    "the page cache is earlier": (local.forced_age, (2, 5, 1), 2),
    "128 KiB at 2.57 are 51, in 13 sectors 52 KiB (df shows 2.46)": (local.stored_share, (2.57,), 52 / 128),
    "at 2 half": (local.stored_share, (2.0,), 0.5),
    "btrfs(5): kept only where it is smaller by a sector": (local.stored_share, ([1.0, 1.01],), [1.0, 1.0]),
    "btrfs(5): extents of up to 128 KiB are read as a whole": (local.extent_load, (4096,), 32.0),
    "a large read is itself": (local.extent_load, (2**20,), 1.0),
})  # fmt: skip


@given(st.floats(0, 1))
def test_never_less_than_the_data(share):
    assert 1.0 <= local.written_bytes(share) <= 2.0


@given(st.floats(1, 1e4), st.floats(0, 1))
def test_older_copies_never_save_log(record, stale):
    assert record <= local.logged_bytes(record, stale) <= 100 * record * (1 + 1e-9)


@given(st.integers(2, 8), st.floats(2**14, 2**18), st.floats(0, 0.1), st.floats(1e6, 1e10))
def test_larger_buffers_never_slow_the_log(buffers, size, write, rate):
    small, large = (local.log_rate(buffers, s, write, rate) for s in (size, 2 * size))
    assert 0 < small <= large * (1 + 1e-12) <= rate * (1 + 1e-11)


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


@given(r=st.floats(1, 1000), q=st.floats(512, 1e8))
def test_better_ratios_store_less_and_never_nothing(r, q):
    share = local.stored_share(r)
    assert 4096 / 131072 <= share <= 1
    assert share >= min(1, 1 / r) * (1 - 1e-9)
    assert local.stored_share(2 * r) <= share
    assert 1 <= local.extent_load(2 * q) <= local.extent_load(q)
