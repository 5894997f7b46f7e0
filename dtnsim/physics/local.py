"""Local file systems: what journals write and wait for, and what compression leaves of an extent.

All functions broadcast.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: bytes of the log for one of a change without delayed logging, where older copies of changed objects are in it too
#: ("over 90 %", Linux Documentation/filesystems/xfs-delayed-logging-design), and the kernel that has it by default
STALE_COPIES: Final = 10.0
DELAYED_SINCE: Final = (2, 6, 39)


#: most bytes that are compressed as one extent (btrfs(5), "Compression"), and what extents are rounded up to
COMPRESSED_B: Final = 131072.0
SECTOR_B: Final = 4096.0


def stored_share(ratio: ArrayLike) -> FloatArray:
    """Bytes stored for a byte of a compressed file: ceil(e / (r s)) s / e, at most 1, of extents e and sectors s.

    Args:
        ratio: Bytes for each byte that the algorithm leaves r [1].

    Returns:
        Share [1].

    Valid: files of many extents.
    Neglects: the heuristic that leaves what does not compress; inline extents of small files.
    Source: btrfs(5), "Compression" (128 KiB at a time); Linux fs/btrfs/inode.c compress_file_range (kept only
        where a sector is saved).
    """
    sectors = np.ceil(np.round(COMPRESSED_B / as_float(ratio) / SECTOR_B, 9))
    return np.minimum(sectors * SECTOR_B / COMPRESSED_B, 1.0)


def extent_load(request_B: ArrayLike) -> FloatArray:
    """Bytes read and decompressed for a byte of a small read: max(e / q, 1), of extents of 128 KiB e.

    Args:
        request_B: Bytes of the read q [B].

    Returns:
        Ratio [1].

    Valid: reads that each meet an extent of their own.
    Neglects: reads that cross from one extent to the next.
    Source: btrfs(5), "Compression" (an extent is decompressed as a whole).
    """
    return np.maximum(COMPRESSED_B / as_float(request_B), 1.0)
