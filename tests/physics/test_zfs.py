"""ZFS against the OpenZFS documents' curve, an integrated pool, and the pool measured on venadi."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.physics import cache, zfs

POSITIVE = st.floats(1e-3, 1e3)
KiB = 1024.0


def test_record_amplification():
    # OpenZFS Workload Tuning: an 8-KiB page in a 128-KiB record moves 16 times its size
    assert zfs.record_amplification(8 * KiB, 128 * KiB) == pytest.approx(16)
    assert zfs.record_amplification(128 * KiB, 128 * KiB) == 1.0
    assert zfs.record_amplification(8 * KiB, 8 * KiB) == 1.0
    assert zfs.record_amplification(1e12, 128 * KiB) == pytest.approx(1.0, rel=1e-6)


@settings(max_examples=60)
@given(s=st.floats(1.0, 1e8), record=st.sampled_from([4096.0, 131072.0, 1048576.0]))
def test_record_amplification_bounds(s, record):
    a = zfs.record_amplification(s, record)
    assert 1.0 <= a <= record / s + 1.0


def test_dirty_limits_of_old_and_new_releases():
    # wiki.lustre.org: 10 % of RAM, at most 4 GB; before 0.7 at most a quarter of RAM
    assert zfs.dirty_limit(128e9, zfs.DIRTY_RAM_SHARE, zfs.DIRTY_MAX_B) == zfs.DIRTY_MAX_B
    assert zfs.dirty_limit(16e9, zfs.DIRTY_RAM_SHARE, zfs.DIRTY_MAX_B) == pytest.approx(1.6e9)
    assert zfs.dirty_limit(128e9, 0.10, 128e9 / 4) == pytest.approx(12.8e9)


def test_zil_on_the_pool_writes_small_data_twice():
    # man zfs(4): zfs_immediate_write_sz 32 KiB, ignored with a log device
    np.testing.assert_array_equal(zfs.zil_pool_writes([8192, 32768, 32769], log_device=False), [2, 2, 1])
    np.testing.assert_array_equal(zfs.zil_pool_writes([8192, 2**20], log_device=True), [1, 1])


def test_arc_takes_half_of_memory():
    assert zfs.arc_limit(128e9) == 64e9
    assert cache.resident_share(256 * 2**30, zfs.arc_limit(128e9)) == 0.0  # a 256-GB file is not served by it


def test_whole_records_skip_the_partial_path():
    partial = zfs.write_cycles(4096, 131072, 12000, 20000, 0.3)
    assert partial == pytest.approx(12000 / 4096 + 0.3)
    assert zfs.write_cycles(131072, 131072, 12000, 20000, 0.3) == pytest.approx(20000 / 131072)
    assert zfs.write_cycles(2**20, 131072, 12000, 20000) == pytest.approx(20000 / 131072)


@settings(max_examples=60)
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


def test_neighbours_are_joined_by_release_and_medium():
    """128 KiB before 0.8; then 1 MiB on disks and 128 KiB on flash (vdev_queue.c)."""
    assert zfs.aggregation_bytes("0.7", True) == zfs.aggregation_bytes("2.2", False) == 2**17
    assert zfs.aggregation_bytes("2.2", True) == 2**20


def test_few_requests_at_a_fast_drive():
    # many requests: the drive's own rate; three of 128 KiB in 100 us each and no transfer: 3.9 GB/s
    assert zfs.queued_rate(1000, 2**17, 100e-6, 7e9) == 7e9
    assert zfs.queued_rate(3, 2**17, 100e-6, 1e15) == pytest.approx(3.93e9, rel=1e-3)
    # ten requests of 4 KiB to flash of 100 us: 100,000 a second (zfs(4): sync_read_max_active 10)
    assert zfs.queued_rate(10, 4096, 100e-6, 1e15) / 4096 == pytest.approx(1e5, rel=1e-3)


@given(st.integers(1, 100), st.floats(512, 2**24), st.floats(1e-6, 1e-2), st.floats(1e6, 1e11))
def test_more_requests_never_slow_a_drive(active, request, latency, rate):
    fewer, more = (zfs.queued_rate(q, request, latency, rate) for q in (active, active + 1))
    assert 0 < fewer <= more * (1 + 1e-12) <= rate * (1 + 1e-11)


def test_a_commit_takes_what_its_log_takes():
    assert zfs.commit_time(18e-6, 0.0) == pytest.approx(18e-6)  # limit: threads cost nothing


def test_a_commit_on_a_disk_is_a_turn():
    # PostgreSQL documentation, WAL reliability: a 7200-rpm disk turns 120 times a second, and so often it can commit
    assert 1.0 / zfs.commit_time(1.0 / 120.0, 0.1e-3) == pytest.approx(120.0, rel=0.02)


@settings(max_examples=40)
@given(log=POSITIVE, threads=POSITIVE, more=POSITIVE)
def test_a_slower_log_or_busier_threads_never_commit_sooner(log, threads, more):
    assert zfs.commit_time(log + more, threads) > zfs.commit_time(log, threads) >= log
