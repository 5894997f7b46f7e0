"""RAID-Z1/2/3 and dRAID: columns of a block, and what parity and fixed stripes add to it.

A ZFS block of ``block_B`` bytes becomes s sectors of 2^ashift bytes, with p parity sectors per row
of n - p data sectors. All functions broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


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


def write_amplification(block_B: ArrayLike, disks: ArrayLike, parity: ArrayLike, ashift: ArrayLike = 12) -> FloatArray:
    """Bytes that cross the bus to the disks per stored byte: data and parity, without padding.

    Padding to a multiple of p + 1 is skipped, or filled only to join neighbouring writes (optional I/O).

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


def allocation(block_B: ArrayLike, disks: ArrayLike, parity: ArrayLike, ashift: ArrayLike = 12) -> FloatArray:
    """Bytes of disk that a block takes up per stored byte: data, parity, and padding to a multiple of p + 1 sectors.

    Heads pass padding by as they pass data, whether it is written (optional I/O) or not.

    Args:
        block_B: Stored size of the block [B].
        disks: Disks of the group n [1].
        parity: Parity level p [1].
        ashift: Logarithm of the sector size [1].

    Returns:
        Ratio [1], at least `write_amplification`.

    Valid: n > p.
    Neglects: nothing.
    Source: OpenZFS vdev_raidz.c, vdev_raidz_asize (roundup to nparity + 1); vdev_queue.c (padding of up to 4 KiB is
        written where it joins two requests, zfs_vdev_write_gap_limit).
    """
    s = data_sectors(block_B, ashift)
    unit = as_float(parity) + 1.0
    used = np.ceil((s + parity_sectors(s, disks, parity)) / unit) * unit
    return used * np.exp2(as_float(ashift)) / as_float(block_B)


def draid_amplification(block_B: ArrayLike, data: ArrayLike, parity: ArrayLike, ashift: ArrayLike = 12) -> FloatArray:
    """Bytes that dRAID writes per stored byte: whole stripes of d data and p parity sectors, filled with zeros.

    ceil(s / d) (d + p) / s sectors.

    Args:
        block_B: Stored size of the block [B].
        data: Data disks of a redundancy group d [1].
        parity: Parity level p [1].
        ashift: Logarithm of the sector size [1].

    Returns:
        Ratio [1]; (d + p) / d for large blocks, d + p for one sector.

    Valid: d >= 1.
    Neglects: nothing.
    Source: OpenZFS docs, "dRAID Howto" (fixed stripe width: with d = 8 and 4-KiB sectors 32 KiB are the least
        allocation).
    """
    s = data_sectors(block_B, ashift)
    d = as_float(data)
    return np.ceil(s / d) * (d + as_float(parity)) * np.exp2(as_float(ashift)) / as_float(block_B)
