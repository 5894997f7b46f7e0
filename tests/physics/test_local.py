"""Local file systems: journals and compressed extents."""

import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import local


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
