"""ZFS: records, the dirty-data limit and write throttle, transaction groups, ZIL, ARC, compression.

Space and parity are in `raidz`. All functions broadcast.
"""

from __future__ import annotations

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
#: Stretches of a device that equally loaded copies of a mirror take turns in (vdev_mirror.c, vdev_mirror_shift = 21).
MIRROR_ZONE_B: Final = 2.0**21
#: Free segment sizes and the fragmentation that `zpool list` shows for them (OpenZFS metaslab.c, zfs_frag_table).
_FRAGMENTATION: Final = np.array([0, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 100]) / 100.0
_SEGMENT_B: Final = 2.0 ** np.array([24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10])


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
    whole = as_float(record_cycles) / record
    part = as_float(call_cycles) / s + as_float(partial_byte)
    return np.where(s >= record, whole, np.maximum(part, whole))


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
    found = np.exp2(np.interp(frag, _FRAGMENTATION, np.log2(_SEGMENT_B)))
    return as_float(np.where(frag > 0.0, found, np.inf))


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
    Source: definition.
    """
    major, _, minor = version.partition(".")
    return int(major), int(minor)


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
