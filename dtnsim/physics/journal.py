"""Journals of local file systems. All functions broadcast."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def written_bytes(data_journaled: ArrayLike) -> FloatArray:
    """Bytes that a drive writes for a byte of a file: 2 where data go through the journal too, else 1.

    Args:
        data_journaled: 1 with data=journal, 0 where only metadata are journaled [1].

    Returns:
        Bytes per byte [1].

    Valid: files much larger than their metadata; the journal on the same drives.
    Neglects: the journal's own blocks of metadata; a journal on another device.
    Source: Linux Documentation/filesystems/ext4 (data=journal: all data are committed into the journal prior to being
        written into the main file system).
    """
    return np.where(as_float(data_journaled) > 0.0, 2.0, 1.0)
