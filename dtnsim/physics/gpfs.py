"""GPFS (Spectrum Scale): blocks striped over all NSDs, prefetch threads, page pool, tokens.

All functions broadcast.
"""

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


def allocated_bytes(file_B: ArrayLike, subblock_B: ArrayLike) -> FloatArray:
    """Space a file takes: whole subblocks.

    Args:
        file_B: File size [B].
        subblock_B: Subblock, see `subblock` [B].

    Returns:
        Bytes [B].

    Valid: one data replica, files larger than what fits into the inode.
    Neglects: indirect blocks.
    Source: Schmuck and Haskin 2002 (subblocks); IBM docs, mmcrfs.
    """
    unit = as_float(subblock_B)
    return np.ceil(as_float(file_B) / unit) * unit


def token_messages(inodes: ArrayLike, contended: ArrayLike) -> FloatArray:
    """Messages that the operations of one file wait for: n + 2 f; of one operation where each asks first, 1 + 2 f.

    A node that holds a token goes on without the token server, and a change of what it holds is a record in its own
    log, which is forced later. An inode that it meets for the first time takes one message.

    Args:
        inodes: Inodes that the node meets for the first time n; 1 of an operation that asks in any case [1].
        contended: Share of files, or entries, whose token another node holds f [1].

    Returns:
        Messages [1].

    Valid: serial client; a log and an inode cache (maxFilesToCache) that do not fill.
    Neglects: inodes that are read ahead of a listing; tokens that are given up because the node's cache is full;
        whole-directory and byte-range tokens got at once; the flush that a revocation forces.
    Source: IBM docs, "File system manager": after a token is granted a node goes on without further messages until
        another node wants it; Schmuck and Haskin 2002 (logs of each node; token manager: request, then revocation).
    """
    return as_float(inodes) + 2.0 * np.clip(as_float(contended), 0.0, 1.0)
