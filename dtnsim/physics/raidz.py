"""RAID-Z1/2/3: space and bus amplification by padding, rates over groups, parity CPU.

A ZFS block of ``block_B`` bytes becomes s sectors of 2^ashift bytes, with p parity sectors per row
of n - p data sectors, and the allocation is padded to a multiple of p + 1. All functions broadcast.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Columns the raidz kstat divides by: BENCH_D_COLS (8) + the three parities
#: (openzfs/zfs module/zfs/vdev_raidz_math.c).
KSTAT_COLUMNS: Final = 11
#: Share of the pool kept back (spa_slop_shift = 5, OpenZFS module parameters).
SLOP_SHARE: Final = 1.0 / 32.0
#: Block size that `zfs list` and df assume when they turn raw space into usable space (OpenZFS).
DEFLATE_BLOCK_B: Final = 131072


def data_sectors(block_B: ArrayLike, ashift: ArrayLike = 12) -> FloatArray:
    """Sectors of one block: s = ceil(b / 2^ashift).

    Args:
        block_B: Size of the block as stored, after compression [B].
        ashift: Logarithm of the sector size [1].

    Returns:
        Data sectors [1].

    Valid: b > 0.
    Neglects: embedded blocks (below 112 B).
    Source: OpenZFS vdev_raidz.c, vdev_raidz_asize.
    """
    return np.ceil(as_float(block_B) / np.exp2(as_float(ashift)))


def parity_sectors(sectors: ArrayLike, disks: ArrayLike, parity: ArrayLike) -> FloatArray:
    """Parity sectors of one block: p ceil(s / (n - p)).

    Args:
        sectors: Data sectors s [1].
        disks: Disks of the group n [1].
        parity: Parity level p, 1 to 3 [1].

    Returns:
        Parity sectors [1].

    Valid: n > p.
    Neglects: nothing.
    Source: OpenZFS vdev_raidz.c, vdev_raidz_asize.
    """
    p = as_float(parity)
    return p * np.ceil(as_float(sectors) / (as_float(disks) - p))


def allocated_sectors(sectors: ArrayLike, disks: ArrayLike, parity: ArrayLike) -> FloatArray:
    """Sectors one block takes on disk: roundup(s + p ceil(s / (n - p)), p + 1).

    Args:
        sectors: Data sectors s [1].
        disks: Disks of the group n [1].
        parity: Parity level p [1].

    Returns:
        Allocated sectors, padding included [1].

    Valid: n > p.
    Neglects: gang blocks.
    Source: OpenZFS vdev_raidz.c, vdev_raidz_asize; OpenZFS docs, "RAIDZ" (padding to p + 1).
    """
    used = as_float(sectors) + parity_sectors(sectors, disks, parity)
    unit = as_float(parity) + 1.0
    return np.ceil(used / unit) * unit


def space_amplification(block_B: ArrayLike, disks: ArrayLike, parity: ArrayLike, ashift: ArrayLike = 12) -> FloatArray:
    """Allocated over stored bytes of one block size.

    Args:
        block_B: Stored size of the block [B].
        disks: Disks of the group n [1].
        parity: Parity level p [1].
        ashift: Logarithm of the sector size [1].

    Returns:
        Ratio [1]; tends to n / (n - p) for large blocks, p + 1 for one sector.

    Valid: n > p.
    Neglects: metadata.
    Source: as `allocated_sectors`.
    """
    sectors = allocated_sectors(data_sectors(block_B, ashift), disks, parity)
    return sectors * np.exp2(as_float(ashift)) / as_float(block_B)


def write_amplification(block_B: ArrayLike, disks: ArrayLike, parity: ArrayLike, ashift: ArrayLike = 12) -> FloatArray:
    """Bytes that cross the bus to the disks per stored byte: data and parity, without padding.

    Padding sectors are skipped, or filled only to join neighbouring writes (optional I/O), so the bus
    carries between this and `space_amplification`.

    Args:
        block_B: Stored size of the block [B].
        disks: Disks of the group n [1].
        parity: Parity level p [1].
        ashift: Logarithm of the sector size [1].

    Returns:
        Ratio [1].

    Valid: n > p; always a full stripe, so nothing is read before.
    Neglects: metadata, the double write of small synchronous blocks (see `zfs`).
    Source: OpenZFS vdev_raidz.c; OpenZFS docs, "RAIDZ" (dynamic stripe width).
    """
    s = data_sectors(block_B, ashift)
    return (s + parity_sectors(s, disks, parity)) * np.exp2(as_float(ashift)) / as_float(block_B)


def usable_bytes(
    raw_B: ArrayLike,
    disks: ArrayLike,
    parity: ArrayLike,
    ashift: ArrayLike = 12,
    block_B: ArrayLike = DEFLATE_BLOCK_B,
    slop_share: ArrayLike = SLOP_SHARE,
) -> FloatArray:
    """Usable space of a pool: raw / space_amplification x (1 - slop).

    Args:
        raw_B: Bytes of all disks of all groups [B].
        disks: Disks per group n [1].
        parity: Parity level p [1].
        ashift: Logarithm of the sector size [1].
        block_B: Block size the files will have; the default is the one df assumes [B].
        slop_share: Share kept back [1].

    Returns:
        Usable bytes [B].

    Valid: pools below 4 TB of slop (newer releases cap the slop at 128 GiB).
    Neglects: labels and metaslab rounding (below 0.1 %).
    Source: OpenZFS module parameters (spa_slop_shift); as `space_amplification`.
    """
    kept = 1.0 - as_float(slop_share)
    return as_float(raw_B) / space_amplification(block_B, disks, parity, ashift) * kept


def stream_rate(
    rate: ArrayLike,
    disks: ArrayLike,
    parity: ArrayLike,
    groups: ArrayLike = 1,
    block_B: ArrayLike = 1048576,
    ashift: ArrayLike = 12,
) -> FloatArray:
    """Sequential rate, read or write, of a pool of equal groups: g n R / write_amplification.

    For large blocks g (n - p) R. Small blocks do worse, by their parity.

    Args:
        rate: Rate of the slowest disk R [B/s].
        disks: Disks per group n [1].
        parity: Parity level p [1].
        groups: Groups the pool stripes over g [1].
        block_B: Stored block size [B].
        ashift: Logarithm of the sector size [1].

    Returns:
        Stored bytes a second [B/s]; with compression multiply by the ratio.

    Valid: many blocks in flight over all groups; one slow disk slows its group.
    Neglects: metadata, fragmentation, reads that skip the parity columns and seek over them.
    Source: OpenZFS docs, "RAIDZ" (streaming grows with the data disks) and "Workload Tuning" (rates
        add over groups); openzfs issue 9375 reports 987 MB/s for raidz2 of six 250-MB/s disks.
    """
    amplification = write_amplification(block_B, disks, parity, ashift)
    return as_float(groups) * as_float(disks) * as_float(rate) / amplification


def random_read_iops(iops: ArrayLike, groups: ArrayLike = 1) -> FloatArray:
    """Random block reads a second: one disk's worth per group, g X.

    Args:
        iops: Random requests a second of one disk X [1/s].
        groups: Groups g [1].

    Returns:
        Block reads a second [1/s].

    Valid: blocks that span all data columns (every disk works for each block).
    Neglects: blocks of a few sectors, which touch fewer disks and do better; ARC hits.
    Source: OpenZFS docs, "RAIDZ".
    """
    return as_float(groups) * as_float(iops)


def parity_core_rate(kstat_rate: ArrayLike, columns: ArrayLike = KSTAT_COLUMNS) -> FloatArray:
    """Data bytes a second for which one core computes parity, from the raidz benchmark kstat.

    r = kstat x 11: the module divides the data rate of its benchmark by its 11 columns.

    Args:
        kstat_rate: Value of vdev_raidz_bench for the implementation and parity in use [B/s].
        columns: Divisor used by the module [1].

    Returns:
        Data rate of one core [B/s]; its inverse is the core time per byte.

    Valid: data in cache, 8 data columns; the benchmark's 128-KiB block.
    Neglects: memory traffic when the data are not in cache.
    Source: openzfs/zfs module/zfs/vdev_raidz_math.c; values in openzfs/zfs pull 4860.
    """
    return as_float(kstat_rate) * as_float(columns)
