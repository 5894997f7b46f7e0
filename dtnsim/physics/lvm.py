"""LVM: what thin volumes add on first writes. All functions broadcast."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def provision_load(write_B: ArrayLike, chunk_B: ArrayLike, zeroed: ArrayLike, run_B: ArrayLike = 0.0) -> FloatArray:
    """Bytes written per byte where writes meet chunks of a thin pool for the first time: 1 + max(c - s, 0) / max(r, s).

    A chunk that the first write does not cover is filled with zeros before it.

    Args:
        write_B: Bytes of one write s [B].
        chunk_B: Chunk size of the pool c [B].
        zeroed: 1 where the pool zeroes new chunks (lvcreate --zero y, the default), 0 where not [1].
        run_B: Bytes that come to a chunk in all r: the chunk where writes follow each other, 0 where they do not [B].

    Returns:
        Ratio [1], at least 1.

    Valid: aligned writes.
    Neglects: the metadata of the mapping, which is written with the next commit (every second).
    Source: lvmthin(7), "Zeroing"; Linux Documentation/admin-guide/device-mapper/thin-provisioning (skip_block_zeroing).
    """
    s, c = as_float(write_B), as_float(chunk_B)
    return 1.0 + as_float(zeroed) * np.maximum(c - s, 0.0) / np.maximum(as_float(run_B), s)
