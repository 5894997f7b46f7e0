"""ZFS: records, the dirty-data limit and write throttle, transaction groups, ZIL, ARC, compression.

Space and parity are in `raidz`. All functions broadcast.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Defaults of the OpenZFS module parameters (OpenZFS docs, "Module Parameters", "ZFS Transaction Delay").
#: Releases before 0.7 bound the dirty limit by a quarter of memory, not by 4 GiB.
DIRTY_RAM_SHARE: Final = 0.10
DIRTY_MAX_B: Final = 4.0 * 2**30
DELAY_MIN_SHARE: Final = 0.60
DELAY_SCALE_S: Final = 500e-6
IMMEDIATE_WRITE_B: Final = 32768
#: First release whose prefetcher follows a stream of which requests come out of order (zfetch_max_reorder; zfs(4)).
REORDERS: Final = (2, 3)
#: Pointers in an indirect block, and what of it is stored (`indirect_load`).
_POINTERS: Final = 1024
_PACKED_B: Final = 0.4 * 2**17
#: Stretches of a device that equally loaded copies of a mirror take turns in (vdev_mirror.c, vdev_mirror_shift = 21).
MIRROR_ZONE_B: Final = 2.0**21
#: Free segment sizes and the fragmentation that `zpool list` shows for them (OpenZFS metaslab.c, zfs_frag_table).
_FRAGMENTATION: Final = np.array([0, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 100]) / 100.0
_SEGMENT_B: Final = 2.0 ** np.array([24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10])


def record_amplification(write_B: ArrayLike, recordsize_B: ArrayLike) -> FloatArray:
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


def indirect_load(recordsize_B: ArrayLike, file_B: ArrayLike, group_B: ArrayLike) -> FloatArray:
    """Bytes of indirect blocks per byte of records that are written at random: 2 b n (1 - exp(-k / n)) / G.

    An indirect block has the pointers of 1024 records. The k = G / rs records of a transaction group are in so many of
    the file's n = f / (1024 rs) blocks, each of which is written anew, in two copies of b.

    Args:
        recordsize_B: recordsize of the file or zvol rs [B].
        file_B: Its size f, or that of several files [B].
        group_B: Data of one transaction group G [B].

    Returns:
        Ratio [1]; next to nothing for small files, of which a group changes every block of pointers often.

    Valid: redundant_metadata=all, files that were written before: pointers of a sparse zvol pack better.
    Neglects: blocks of pointers to blocks of pointers, a 1024th; reading those that the ARC lacks.
    Source: zfsprops(7), redundant_metadata (with less of it random writes are faster, "because less metadata must be
        written"); OpenZFS dnode.h, spa.h: blocks of 128 KiB, pointers of 128 B; b is 0.4 of that, assumed: lz4 leaves a
        pointer its checksum of 32 B, an address and the group that it is of.
    """
    record, group = as_float(recordsize_B), as_float(group_B)
    blocks = np.clip(as_float(file_B) / (_POINTERS * record), 1.0, 1e15)
    changed = -blocks * np.expm1(-group / record / blocks)
    return 2.0 * _PACKED_B * changed / group


def write_cycles(
    write_B: ArrayLike,
    recordsize_B: ArrayLike,
    call_cycles: ArrayLike,
    record_cycles: ArrayLike,
    partial_byte: ArrayLike = 0.0,
) -> FloatArray:
    """Cycles per byte that a write call costs besides its copy: transactions, and the path of partial records.

    c_rec / rs for s >= rs; max(c_call / s + c_part, c_rec / rs) below. Whole records are lent to the cache without the
    fill and copy of the partial path.

    Args:
        write_B: Size of the call s [B].
        recordsize_B: recordsize rs [B].
        call_cycles: Transaction of a partial record c_call [cycles].
        record_cycles: Transaction of a whole record c_rec [cycles].
        partial_byte: Cost of a byte of a partly written record c_part: new pages, the rest of the record [cycles/B].

    Returns:
        Cycles per byte [cycles/B].

    Valid: dirty data below the throttle.
    Neglects: cache misses of large calls.
    Source: OpenZFS zfs_write (dmu_assign_arcbuf for whole blocks, dmu_write for the rest).
    """
    s, record = as_float(write_B), as_float(recordsize_B)
    full = as_float(record_cycles) / record
    part = as_float(call_cycles) / s + as_float(partial_byte)
    return np.where(s >= record, full, np.maximum(part, full))


def fetch_cycles(read_B: ArrayLike, recordsize_B: ArrayLike, record_cycles: ArrayLike) -> FloatArray:
    """Cycles per byte that a reader spends on records that come from the pool: c ceil(s / rs) / s.

    The reader's own thread makes the buffer, enters it in the cache, asks the drives for it and is woken up.

    Args:
        read_B: Bytes of one read that follow each other s: the record for a sequential reader [B].
        recordsize_B: recordsize rs [B].
        record_cycles: Work on one record c [cycles].

    Returns:
        Cycles per byte [cycles/B]; c / rs for whole records, c / s for a small random read.

    Valid: reads that the ARC does not have.
    Neglects: pages, which a large record has more of; what other threads do meanwhile (decompression, checksums).
    Source: OpenZFS dmu_zfetch.c, arc_read (prefetch is issued by the thread that reads).
    """
    s, record = as_float(read_B), as_float(recordsize_B)
    return as_float(record_cycles) * np.ceil(s / record) / s


def mirror_gap_bytes(run_B: ArrayLike, gap_B: ArrayLike, copies: ArrayLike) -> FloatArray:
    """Bytes that one copy of a mirror passes over between the stretches of a file that it reads: (c - 1) r + c g.

    Each of c copies reads a c-th of the stretches, so the others' stretches and c gaps lie between two of its own.

    Args:
        run_B: Stretch that one copy reads r: a run of the file, `MIRROR_ZONE_B` at most [B].
        gap_B: Bytes of other files behind each stretch g [B].
        copies: Copies that are read c [1].

    Returns:
        Gap [B]; g where one copy is read.

    Valid: readers that are read ahead far beyond what the drives have before them: all copies are equally loaded.
    Neglects: zones in which several short runs lie.
    Source: OpenZFS vdev_mirror.c: a read goes to the copy with the fewest requests, plus 5 where it does not follow the
        last (zfs_vdev_mirror_rotating_seek_inc); prefetch keeps 3 at each (zfs_vdev_async_read_max_active) and is far
        ahead of both, so that all are equal and the offset decides, in zones of 2 MiB.
    """
    c = as_float(copies)
    return (c - 1.0) * as_float(run_B) + c * as_float(gap_B)


def free_segment_bytes(fragmentation: ArrayLike) -> FloatArray:
    """Free segments of a vdev from the fragmentation that `zpool list` shows: OpenZFS' own table, inverted.

    Args:
        fragmentation: FRAG of the pool, clipped to 0..1 [1].

    Returns:
        Mean free segment [B]: infinite at 0 (16 MiB and more), 1 MiB at 20 %, 128 KiB at 50 %.

    Valid: pools with the spacemap_histogram feature.
    Neglects: that the allocator prefers metaslabs with large segments, so that a mean understates what it finds.
    Source: OpenZFS metaslab.c, zfs_frag_table.
    """
    frag = np.clip(as_float(fragmentation), 0.0, 1.0)
    segment_B = np.exp2(np.interp(frag, _FRAGMENTATION, np.log2(_SEGMENT_B)))
    return as_float(np.where(frag > 0.0, segment_B, np.inf))


def prefetch_bytes(version: str) -> FloatArray:
    """Most that a sequential reader is read ahead, zfetch_max_distance: 8 MiB, 64 MiB from release 2.1 on.

    Args:
        version: Release, like '0.8' or '2.2' [release].

    Returns:
        Distance of one stream [B].

    Valid: 64-bit systems.
    Neglects: the climb from zfetch_min_distance at the start of a file; more than zfetch_max_streams (8) a file.
    Source: OpenZFS dmu_zfetch.c, zfetch_max_distance of the releases.
    """
    return as_float((64.0 if release(version) >= (2, 1) else 8.0) * 2**20)


def aggregation_bytes(version: str, rotates: ArrayLike) -> FloatArray:
    """Largest request that neighbouring I/Os of one device are joined to, zfs_vdev_aggregation_limit.

    128 KiB before release 0.8; from then on 1 MiB on disks, and 128 KiB on flash
    (zfs_vdev_aggregation_limit_non_rotating).

    Args:
        version: Release, like '0.8' or '2.2' [release].
        rotates: True for disks, False for flash [bool].

    Returns:
        Bytes of a joined request [B].

    Valid: the defaults of the releases.
    Neglects: gaps that are read across (zfs_vdev_read_gap_limit).
    Source: OpenZFS vdev_queue.c of the releases; wiki.lustre.org, "ZFS Tunables for OSS" (128 KB in 0.7).
    """
    large = np.asarray(rotates, dtype=bool) & (release(version) >= (0, 8))
    return np.where(large, 2.0**20, 2.0**17)


def release(version: str) -> tuple[int, int]:
    """Release as numbers: '0.8' is (0, 8).

    Args:
        version: Release as written [release].

    Returns:
        Major and minor number [1].

    Valid: two numbers with a point between them.
    Neglects: patch levels.
    Source: names of OpenZFS releases (github.com/openzfs/zfs/releases).
    """
    major, _, minor = version.partition(".")
    return int(major), int(minor)


def dirty_limit(ram_B: ArrayLike, share: ArrayLike, ceiling_B: ArrayLike) -> FloatArray:
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


def balanced_dirty(transaction_B: ArrayLike, pool_rate: ArrayLike, dirty_max_B: ArrayLike) -> FloatArray:
    """Dirty data at which the throttle lets in what the pool writes out.

    delay = s / R_pool solved: dirty = max (m + q) / (1 + q) with the threshold's share m (zfs_delay_min_dirty_percent)
    and q = s / (R_pool zfs_delay_scale).

    Args:
        transaction_B: Bytes of one write transaction s [B].
        pool_rate: Rate of the pool in logical bytes R_pool [B/s].
        dirty_max_B: Limit [B].

    Returns:
        Dirty data in equilibrium [B], between the threshold and the limit.

    Valid: the writers want more than the pool gives; s / R_pool below the cap of 0.1 s.
    Neglects: the saw-tooth of transaction groups.
    Source: OpenZFS docs, "ZFS Transaction Delay", in equilibrium.
    """
    q = as_float(transaction_B) / (as_float(pool_rate) * DELAY_SCALE_S)
    return as_float(dirty_max_B) * (DELAY_MIN_SHARE + q) / (1.0 + q)


def commit_time(log_s: ArrayLike, threads_s: ArrayLike) -> FloatArray:
    """Time of one synchronous write in the intent log, its transfer left out: t_log + t_threads.

    Args:
        log_s: Time until the log's device has the block t_log: the latency of a write where the device keeps it when
            power fails; one turn of a disk, which has just passed the place of the next block [s].
        threads_s: Work and hand-overs of the threads that issue, complete and flush the block t_threads [s].

    Returns:
        Time [s]; 8.4 ms on a disk of 7200 rpm.

    Valid: one writer after the other; the log lies in one piece.
    Neglects: writers that are joined in one block of the log.
    Source: OpenZFS zil.c (zil_commit: the block is written, then the device is flushed); PostgreSQL documentation, WAL
        reliability and commit_delay (a commit waits for a turn of the disk).
    """
    return as_float(log_s) + as_float(threads_s)


def zil_pool_writes(write_B: ArrayLike, log_device: ArrayLike) -> FloatArray:
    """Times a synchronously written byte goes to the pool's disks: 1 or 2.

    2 for small writes without log device (copied into the ZIL on the pool, then written with the
    group); 1 with a log device, or for writes above zfs_immediate_write_sz (written once, the ZIL
    only points to them).

    Args:
        write_B: Size of one call [B].
        log_device: True where a separate log device takes the ZIL [bool].

    Returns:
        Pool writes per byte, before parity [1].

    Valid: logbias=latency.
    Neglects: log blocks' rounding and headers.
    Source: OpenZFS docs, "Module Parameters" (zfs_immediate_write_sz).
    """
    once = np.asarray(log_device, dtype=bool) | (as_float(write_B) > IMMEDIATE_WRITE_B)
    return np.where(once, 1.0, 2.0)


def arc_limit(ram_B: ArrayLike, share: ArrayLike = 0.5) -> FloatArray:
    """Most memory the ARC takes: share x RAM.

    Args:
        ram_B: Memory of the host [B].
        share: Half on Linux before OpenZFS 2.3, nearly all from then on [1].

    Returns:
        ARC limit [B]; with `cache.resident_share` the share of a file read from memory.

    Valid: zfs_arc_max not set.
    Neglects: shrinking under memory pressure.
    Source: OpenZFS docs, "Module Parameters" (zfs_arc_max).
    """
    return as_float(share) * as_float(ram_B)


def sync_cost(passes: ArrayLike, positioning_s: ArrayLike, pool_rate: ArrayLike, group_B: ArrayLike) -> FloatArray:
    """Time to write a transaction group over that of its data: 1 + n t_pos R / G.

    The data go out in the first pass; each further pass writes metadata that the one before has changed, then come the
    labels, and each waits for the disks before the next begins.

    Args:
        passes: Rounds n that wait for the disks, besides the data [1].
        positioning_s: Time of one scattered write t_pos [s].
        pool_rate: Rate of the pool for data R [B/s].
        group_B: Data of one transaction group G: half of the dirty data, the other half being filled [B].

    Returns:
        Factor [1]; tends to 1 for large groups. Fast pools with a small dirty limit lose most.

    Valid: writers that keep the throttle busy.
    Neglects: data of the next group that could go out meanwhile, but waits.
    Source: OpenZFS spa_sync (passes until nothing is dirty, then vdev_config_sync with flushes; at most one group is
        syncing).
    """
    return 1.0 + as_float(passes) * as_float(positioning_s) * as_float(pool_rate) / as_float(group_B)
