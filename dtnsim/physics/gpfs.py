"""GPFS (Spectrum Scale): blocks striped over all NSDs, prefetch threads, page pool, tokens.

All functions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def blocks_in_flight(threads: ArrayLike, block_B: ArrayLike, pagepool_B: ArrayLike, share: ArrayLike) -> FloatArray:
    """Blocks a node keeps in flight: min(threads, share x pagepool / block), at least 1.

    Args:
        threads: prefetchThreads, or worker threads for write-behind [1].
        block_B: File-system block [B].
        pagepool_B: pagepool [B].
        share: prefetchPct [1].

    Returns:
        Blocks [1].

    Valid: sequential access that was recognised.
    Neglects: other streams on the node, which share both.
    Source: IBM docs, "Setting the pagepool size" (the pool bounds what is done asynchronously).
    """
    room = as_float(share) * as_float(pagepool_B) / as_float(block_B)
    return np.maximum(1.0, np.minimum(as_float(threads), room))


def subblock(block_B: ArrayLike) -> FloatArray:
    """Smallest piece of a block that a file's tail takes: 4 KiB to blocks of 64 KiB, 8 KiB to 4 MiB, 16 KiB beyond.

    Args:
        block_B: File-system block [B].

    Returns:
        Subblock [B].

    Valid: file systems made by Spectrum Scale 5.0 and later.
    Neglects: file systems of version 4 and before (1/32 of a block).
    Source: IBM docs, mmcrfs, table "Block sizes and subblock sizes".
    """
    size = as_float(block_B)
    return np.where(size <= 2.0**16, 2.0**12, np.where(size <= 2.0**22, 2.0**13, 2.0**14))
