"""ZFS against the OpenZFS documents' curve, an integrated pool, and the pool measured on venadi."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import cache, zfs

POSITIVE = st.floats(1e-3, 1e3)


@given(s=st.floats(1.0, 1e8), record=st.sampled_from([4096.0, 131072.0, 1048576.0]))
def test_record_amplification_bounds(s, record):
    a = zfs.record_amplification(s, record)
    assert 1.0 <= a <= record / s + 1.0


def test_arc_takes_half_of_memory():
    assert zfs.arc_limit(128e9) == 64e9
    assert cache.resident_share(256 * 2**30, zfs.arc_limit(128e9)) == 0.0  # a 256-GB file is not served by it


@given(s=st.floats(512, 1e7), more=st.floats(1, 10), call=st.floats(0, 1e5), record=st.floats(0, 1e5))
def test_longer_calls_never_cost_more_a_byte(s, more, call, record):
    here = zfs.write_cycles(s, 131072, call, record)
    assert zfs.write_cycles(s * more, 131072, call, record) <= here * (1 + 1e-12)
    assert here >= record / 131072


def test_balance_lies_where_the_delay_lets_in_what_goes_out():
    """scale (dirty - 0.6 max) / (max - dirty) = s / R_pool (OpenZFS docs, ZFS Transaction Delay)."""
    for pool, s in ((1e9, 131072), (4e9, 2**20), (50e6, 4096)):
        dirty = zfs.balanced_dirty(s, pool, 4e9)
        assert 0.6 * 4e9 < dirty < 4e9
        delay = 500e-6 * (dirty - 0.6 * 4e9) / (4e9 - dirty)
        assert delay == pytest.approx(s / pool)


def test_fragmentation_is_openzfs_own_table():
    np.testing.assert_allclose(zfs.free_segment_bytes([0.2, 0.5, 0.6, 0.9]), [2**20, 2**17, 2**16, 2**13])
    assert zfs.free_segment_bytes(0.0) == np.inf
    segments = zfs.free_segment_bytes(np.linspace(0.01, 1.0, 50))
    assert np.all(np.diff(segments) < 0)


def test_releases():
    assert zfs.release("0.8") < zfs.release("2.1") < zfs.release("2.3")
    assert zfs.prefetch_bytes("0.8") == zfs.prefetch_bytes("2.0") == 8 * 2**20
    assert zfs.prefetch_bytes("2.2") == 64 * 2**20


def test_small_transaction_groups_lose_time_to_their_metadata():
    # six passes of 12 ms beside 1.5 GB at 5 GB/s (0.3 s): a quarter more
    assert zfs.sync_cost(6, 12.5e-3, 5e9, 1.5e9) == pytest.approx(1.25)
    assert zfs.sync_cost(6, 12.5e-3, 5e9, 1e15) == pytest.approx(1.0)
    assert np.all(np.diff(zfs.sync_cost(6, 12.5e-3, 5e9, np.geomspace(1e8, 1e11, 20))) < 0)


@given(st.integers(1, 100), st.floats(512, 2**24), st.floats(1e-6, 1e-2), st.floats(1e6, 1e11))
def test_more_requests_never_slow_a_drive(active, request, latency, rate):
    fewer, more = (zfs.queued_rate(q, request, latency, rate) for q in (active, active + 1))
    assert 0 < fewer <= more * (1 + 1e-12) <= rate * (1 + 1e-11)


@given(log=POSITIVE, threads=POSITIVE, more=POSITIVE)
def test_a_slower_log_or_busier_threads_never_commit_sooner(log, threads, more):
    assert zfs.commit_time(log + more, threads) > zfs.commit_time(log, threads) >= log
