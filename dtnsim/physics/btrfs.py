"""btrfs: what compression leaves of an extent. All functions broadcast."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: most bytes that are compressed as one extent (btrfs(5), "Compression"), and what extents are rounded up to
COMPRESSED_B: Final = 131072.0
SECTOR_B: Final = 4096.0


def stored_share(ratio: ArrayLike, extent_B: ArrayLike = COMPRESSED_B, sector_B: ArrayLike = SECTOR_B) -> FloatArray:
    """Bytes stored for a byte of a compressed file: ceil(e / (r s)) s / e, at most 1.

    Args:
        ratio: Bytes for each byte that the algorithm leaves r [1].
        extent_B: Bytes compressed together e [B].
        sector_B: Bytes that an extent is rounded up to s [B].

    Returns:
        Share [1].

    Valid: files of many extents.
    Neglects: the heuristic that leaves what does not compress; inline extents of small files.
    Source: btrfs(5), "Compression" (128 KiB at a time); Linux fs/btrfs/inode.c compress_file_range (kept only
        where a sector is saved).
    """
    e, s = as_float(extent_B), as_float(sector_B)
    return np.minimum(np.ceil(np.round(e / as_float(ratio) / s, 9)) * s / e, 1.0)


def extent_load(request_B: ArrayLike, extent_B: ArrayLike = COMPRESSED_B) -> FloatArray:
    """Bytes read and decompressed for a byte of a small read: max(e / q, 1).

    Args:
        request_B: Bytes of the read q [B].
        extent_B: Bytes compressed together e [B].

    Returns:
        Ratio [1].

    Valid: reads that each meet an extent of their own.
    Neglects: reads that cross from one extent to the next.
    Source: btrfs(5), "Compression" (an extent is decompressed as a whole).
    """
    return np.maximum(as_float(extent_B) / as_float(request_B), 1.0)
