"""rsync's delta algorithm: length of a block, bytes that describe what is known.

All functions broadcast.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: rsync.h: BLOCK_SIZE and MAX_BLOCK_SIZE [B]
LEAST_BLOCK_B: Final = 700.0
MOST_BLOCK_B: Final = 131072.0
#: a token for a block that is known (token.c, simple_send_token) [B]
TOKEN_B: Final = 4.0


def block_length(file_B: ArrayLike) -> FloatArray:
    """Length of the blocks of a file: b = min(max(floor(sqrt(s) / 8) 8, 700), 131072).

    Args:
        file_B: Size of the file s [B].

    Returns:
        Bytes of a block [B].

    Valid: protocol 30 and later (rsync 3.0), no ``--block-size``.
    Neglects: the last, shorter block.
    Source: github.com/RsyncProject/rsync generator.c (sum_sizes_sqroot), rsync.h.
    """
    root = np.floor(np.sqrt(np.maximum(as_float(file_B), 0.0)) / 8.0) * 8.0
    return np.asarray(np.clip(root, LEAST_BLOCK_B, MOST_BLOCK_B), float)


def delta_share(file_B: ArrayLike, literal: ArrayLike) -> FloatArray:
    """Bytes that the sender sends for a byte of a file of which an older version is known: l + (1 - l) 4 / b.

    Args:
        file_B: Size of the file [B].
        literal: Part of it that the old version does not have l [1].

    Returns:
        Bytes sent per byte of the file [1].

    Valid: changes that lie together; scattered ones make whole blocks literal.
    Neglects: the sums that travel the other way, 6 to 20 bytes a block; that runs of known blocks share a token when
        they are compressed.
    Source: A. Tridgell, P. Mackerras, "The rsync algorithm", ANU TR-CS-96-05; rsync token.c (simple_send_token).
    """
    new = as_float(literal)
    return np.asarray(new + (1.0 - new) * TOKEN_B / block_length(file_B), float)
