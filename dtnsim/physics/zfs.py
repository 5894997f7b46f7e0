"""ZFS: records, the dirty-data limit and write throttle, transaction groups, ZIL, ARC, compression.

Space and parity are in `raidz`, buffered and fdatasync times in `cache` (a ZFS pool is a page cache
whose free run is `burst_bytes`). All functions broadcast.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Defaults of the OpenZFS module parameters (OpenZFS docs, "Module Parameters", "ZFS Transaction Delay",
#: "ZIO Scheduler"). Releases before 0.7 bound the dirty limit by a quarter of memory, not by 4 GiB.
RECORDSIZE_B: Final = 131072
TXG_TIMEOUT_S: Final = 5.0
DIRTY_RAM_SHARE: Final = 0.10
DIRTY_MAX_B: Final = 4.0 * 2**30
DELAY_MIN_SHARE: Final = 0.60
DELAY_SCALE_S: Final = 500e-6
DELAY_MAX_S: Final = 0.1
ASYNC_WRITE_MIN_SHARE: Final = 0.30
ASYNC_WRITE_MAX_SHARE: Final = 0.60
IMMEDIATE_WRITE_B: Final = 32768
ARC_RAM_SHARE: Final = 0.5
#: Most a sequential stream reads ahead (zfetch_max_distance, 8 MiB; 64 MiB in newer releases): the window of
#: `cache.readahead_rate`.
ZFETCH_DISTANCE_B: Final = 8.0 * 2**20


def record_amplification(write_B: ArrayLike, recordsize_B: ArrayLike = RECORDSIZE_B) -> FloatArray:
    """Bytes of records touched per byte of one aligned random access.

    ceil(s / rs) rs / s: below a record the whole record is read (unless cached) and written.

    Args:
        write_B: Size of the access s [B].
        recordsize_B: recordsize of the file rs [B].

    Returns:
        Ratio, at least 1 [1]; 1 at whole records.

    Valid: files larger than one record, one access per record and transaction group. Sequential
        partial writes meet in memory and reach the disk once: use 1 for them.
    Neglects: compression, unaligned accesses (one record more).
    Source: OpenZFS docs, "Workload Tuning" (recordsize: partial record writes read, modify, write).
    """
    s, record = as_float(write_B), as_float(recordsize_B)
    return np.ceil(s / record) * record / s


def record_write_time(
    write_B: ArrayLike,
    recordsize_B: ArrayLike,
    call_s: ArrayLike,
    partial_rate: ArrayLike,
    full_rate: ArrayLike,
    record_s: ArrayLike = 0.0,
) -> FloatArray:
    """Time of one sequential write call into memory.

    t = a + t_rec max(1, s/rs) + s_full/R_full + s_part/R_part, s_full = floor(s/rs) rs. Whole records
    are lent to the cache without the fill and copy of the partial path.

    Args:
        write_B: Size of the call s [B].
        recordsize_B: recordsize rs [B].
        call_s: Fixed cost of a call a [s].
        partial_rate: Copy rate into partly written records R_part [B/s].
        full_rate: Copy rate into whole records R_full [B/s].
        record_s: Cost of holding one record for a write (hash, lock, transaction) t_rec [s].

    Returns:
        Time [s]; the rate is s over it.

    Valid: aligned sequential calls, dirty data below the throttle.
    Neglects: cache misses of large calls (`cache.copy_rate`).
    Source: OpenZFS zfs_write (dmu_assign_arcbuf for whole blocks, dmu_write for the rest).
    """
    s, record = as_float(write_B), as_float(recordsize_B)
    full = np.floor(s / record) * record
    held = as_float(record_s) * np.maximum(s / record, 1.0)
    return as_float(call_s) + held + full / as_float(full_rate) + (s - full) / as_float(partial_rate)


def dirty_limit(ram_B: ArrayLike, share: ArrayLike = DIRTY_RAM_SHARE, ceiling_B: ArrayLike = DIRTY_MAX_B) -> FloatArray:
    """Dirty data a pool may hold: min(share x RAM, ceiling), zfs_dirty_data_max.

    Args:
        ram_B: Memory of the host [B].
        share: zfs_dirty_data_max_percent [1].
        ceiling_B: zfs_dirty_data_max_max [B]; RAM / 4 before release 0.7.

    Returns:
        Limit [B].

    Valid: one busy pool.
    Neglects: several pools, each of which has this limit.
    Source: OpenZFS docs, "Module Parameters"; wiki.lustre.org, "ZFS Tunables for OSS" (10 % RAM, max
        4 GB).
    """
    return np.minimum(as_float(share) * as_float(ram_B), as_float(ceiling_B))


def write_delay(
    dirty_B: ArrayLike,
    dirty_max_B: ArrayLike,
    min_share: ArrayLike = DELAY_MIN_SHARE,
    scale_s: ArrayLike = DELAY_SCALE_S,
    max_s: ArrayLike = DELAY_MAX_S,
) -> FloatArray:
    """Least time between two write transactions: scale (dirty - min) / (max - dirty), capped.

    Args:
        dirty_B: Dirty data now [B].
        dirty_max_B: Limit, see `dirty_limit` [B].
        min_share: zfs_delay_min_dirty_percent [1].
        scale_s: zfs_delay_scale [s].
        max_s: Cap of the delay [s].

    Returns:
        Delay [s]; 0 below the threshold, the scale itself midway, the cap at the limit.

    Valid: any number of writers together (the delay is one queue for all).
    Neglects: credit for time a transaction spent already.
    Source: OpenZFS docs, "ZFS Transaction Delay".
    """
    limit = as_float(dirty_max_B)
    over = np.clip(as_float(dirty_B), None, limit) - as_float(min_share) * limit
    room = np.maximum(limit - as_float(dirty_B), np.finfo(float).eps * limit)
    return np.clip(as_float(scale_s) * over / room, 0.0, as_float(max_s))


def throttled_rate(transaction_B: ArrayLike, delay_s: ArrayLike, free_rate: ArrayLike) -> FloatArray:
    """Rate at which writers get in under a delay: 1/R = max(1/R_free, delay / s).

    Args:
        transaction_B: Bytes of one write transaction, at most a record s [B].
        delay_s: Delay per transaction, see `write_delay` [s].
        free_rate: Rate without delay [B/s].

    Returns:
        Rate [B/s].

    Valid: as `write_delay`; the transaction's own time counts towards the delay.
    Neglects: transactions of unlike sizes.
    Source: OpenZFS docs, "ZFS Transaction Delay" (the delay is relative to the transaction's start).
    """
    return 1.0 / np.maximum(1.0 / as_float(free_rate), as_float(delay_s) / as_float(transaction_B))


def balanced_dirty(
    transaction_B: ArrayLike,
    pool_rate: ArrayLike,
    dirty_max_B: ArrayLike,
    min_share: ArrayLike = DELAY_MIN_SHARE,
    scale_s: ArrayLike = DELAY_SCALE_S,
) -> FloatArray:
    """Dirty data at which the throttle lets in what the pool writes out.

    delay = s / R_pool solved: dirty = max (m + q) / (1 + q) with m the threshold's share and
    q = s / (R_pool scale).

    Args:
        transaction_B: Bytes of one write transaction s [B].
        pool_rate: Rate of the pool in logical bytes R_pool [B/s].
        dirty_max_B: Limit [B].
        min_share: zfs_delay_min_dirty_percent m [1].
        scale_s: zfs_delay_scale [s].

    Returns:
        Dirty data in equilibrium [B], between the threshold and the limit.

    Valid: the writers want more than the pool gives; s / R_pool below the cap of 0.1 s.
    Neglects: the saw-tooth of transaction groups.
    Source: OpenZFS docs, "ZFS Transaction Delay", in equilibrium.
    """
    q = as_float(transaction_B) / (as_float(pool_rate) * as_float(scale_s))
    return as_float(dirty_max_B) * (as_float(min_share) + q) / (1.0 + q)


def burst_bytes(
    dirty_max_B: ArrayLike,
    write_rate: ArrayLike,
    pool_rate: ArrayLike,
    sync_at_B: ArrayLike = 0.0,
    throttle_share: ArrayLike = DELAY_MIN_SHARE,
) -> FloatArray:
    """Bytes a writer brings in at its own speed before the throttle holds it to the pool's.

    F = d0 + (m D - d0) R_w / (R_w - R_pool), d0 = min(sync_at, R_w x 5 s, m D) dirty before a
    transaction group begins to be written.

    Args:
        dirty_max_B: Dirty limit D [B].
        write_rate: Rate of the writer R_w [B/s].
        pool_rate: Rate of the pool in logical bytes R_pool [B/s].
        sync_at_B: Dirty data that closes a transaction group early (zfs_dirty_data_sync) [B].
        throttle_share: Share of the limit where delays begin m [1].

    Returns:
        Bytes [B]; capped at 1e9 limits where the pool keeps up.

    Valid: a pool with no dirty data at the start.
    Neglects: that only closed groups are written; the last group waits up to 5 s more.
    Source: conservation of dirty data; OpenZFS docs, "ZFS Transaction Delay" and "Module Parameters"
        (zfs_txg_timeout).
    """
    threshold = as_float(throttle_share) * as_float(dirty_max_B)
    fast = as_float(write_rate)
    start = np.minimum(np.minimum(as_float(sync_at_B), fast * TXG_TIMEOUT_S), threshold)
    fill = np.maximum(fast - as_float(pool_rate), 1e-9 * fast)
    return start + (threshold - start) * fast / fill


def async_write_queue(
    dirty_B: ArrayLike,
    dirty_max_B: ArrayLike,
    min_active: ArrayLike,
    max_active: ArrayLike,
    min_share: ArrayLike = ASYNC_WRITE_MIN_SHARE,
    max_share: ArrayLike = ASYNC_WRITE_MAX_SHARE,
) -> FloatArray:
    """Asynchronous writes in flight per disk: linear between two shares of the dirty limit.

    Args:
        dirty_B: Dirty data now [B].
        dirty_max_B: Dirty limit [B].
        min_active: zfs_vdev_async_write_min_active [1].
        max_active: zfs_vdev_async_write_max_active [1].
        min_share: Share of the limit where the number begins to rise [1].
        max_share: Share where it has risen [1].

    Returns:
        Writes in flight [1]; the queue depth of `ssd.queue_rate`.

    Valid: min_share < max_share.
    Neglects: rounding to whole writes.
    Source: OpenZFS docs, "ZIO Scheduler" (Async Writes).
    """
    lo, hi = as_float(min_share), as_float(max_share)
    x = np.clip((as_float(dirty_B) / as_float(dirty_max_B) - lo) / (hi - lo), 0.0, 1.0)
    return as_float(min_active) + x * (as_float(max_active) - as_float(min_active))


def pool_rate(
    vdev_rate: ArrayLike, compression_ratio: ArrayLike = 1.0, pipeline_rate: ArrayLike = np.inf
) -> FloatArray:
    """Sustained logical rate of a pool: min(R_pipeline, ratio x R_vdevs).

    Args:
        vdev_rate: Stored bytes a second of all groups, see `raidz.stream_rate` [B/s].
        compression_ratio: Logical over stored bytes, at least 1 [1].
        pipeline_rate: Rate of the CPU stages (checksum, compression, parity, taskqs) [B/s].

    Returns:
        Logical bytes a second [B/s]. Zeros under compression are not stored: ratio -> inf.

    Valid: stages overlapped in the ZIO pipeline.
    Neglects: blocks that save less than 1/8 and are stored whole.
    Source: OpenZFS docs, "Workload Tuning" (compression).
    """
    return np.minimum(as_float(pipeline_rate), as_float(compression_ratio) * as_float(vdev_rate))


def sync_write_rate(
    write_B: ArrayLike, memory_rate: ArrayLike, flush_rate: ArrayLike, commit_s: ArrayLike
) -> FloatArray:
    """Rate of one writer whose calls are synchronous (O_DSYNC, sync=always).

    1/R = 1/R_mem + 1/R_flush + t_commit / s: the call copies, then the ZIL writes, then it returns.

    Args:
        write_B: Size of one call s [B].
        memory_rate: Rate of the copy into memory R_mem [B/s].
        flush_rate: Rate at which the ZIL writes the data, on a log device or the pool R_flush [B/s].
        commit_s: Fixed latency of one ZIL commit, cache flush included [s].

    Returns:
        Rate [B/s]; below both rates whatever the size.

    Valid: one writer. Several writers share commits.
    Neglects: sync=disabled (use the asynchronous rate).
    Source: OpenZFS zil_commit; openzfs issue 3077 (raw O_SYNC 1.7 GB/s became 0.83 through ZFS).
    """
    per_byte = 1.0 / as_float(memory_rate) + 1.0 / as_float(flush_rate)
    return 1.0 / (per_byte + as_float(commit_s) / as_float(write_B))


def zil_pool_writes(
    write_B: ArrayLike, log_device: ArrayLike, immediate_B: ArrayLike = IMMEDIATE_WRITE_B
) -> FloatArray:
    """Times a synchronously written byte goes to the pool's disks: 1 or 2.

    2 for small writes without log device (copied into the ZIL on the pool, then written with the
    group); 1 with a log device, or for writes above zfs_immediate_write_sz (written once, the ZIL
    only points to them).

    Args:
        write_B: Size of one call [B].
        log_device: True where a separate log device takes the ZIL [bool].
        immediate_B: zfs_immediate_write_sz [B].

    Returns:
        Pool writes per byte, before parity [1].

    Valid: logbias=latency.
    Neglects: log blocks' rounding and headers.
    Source: OpenZFS docs, "Module Parameters" (zfs_immediate_write_sz).
    """
    once = np.asarray(log_device, dtype=bool) | (as_float(write_B) > as_float(immediate_B))
    return np.where(once, 1.0, 2.0)


def arc_limit(ram_B: ArrayLike, share: ArrayLike = ARC_RAM_SHARE) -> FloatArray:
    """Most memory the ARC takes: share x RAM.

    Args:
        ram_B: Memory of the host [B].
        share: Half on Linux before OpenZFS 2.3 [1].

    Returns:
        ARC limit [B]; with `cache.resident_share` the share of a file read from memory.

    Valid: zfs_arc_max not set.
    Neglects: shrinking under memory pressure.
    Source: OpenZFS docs, "Module Parameters" (zfs_arc_max).
    """
    return as_float(share) * as_float(ram_B)
