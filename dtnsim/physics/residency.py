"""Files in memory: what a reader finds of one, and which lists pages leave first."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def sequential_hits(size_B: ArrayLike, resident_B: ArrayLike, spare_B: ArrayLike) -> FloatArray:
    """Bytes of a file that a reader from start to end finds in memory.

    resident where size - resident <= spare, else 0

    What memory has of a file is its end, since pages leave in the order in which they came. Each page of the missing
    beginning takes the place of another: first of what is spare, then of the file's own oldest page, which is the next
    one that the reader wants; from there on it never catches up.

    Args:
        size_B: Bytes of the file [B].
        resident_B: Bytes of it in memory, at most its size [B].
        spare_B: Free memory, and pages that leave before the file's own [B].

    Returns:
        Bytes [B].

    Valid: one sequential reader, least recently used pages leave first.
    Neglects: refaults that Linux puts onto its active list (mm/workingset.c), which keeps a part of such a file.
    Source: cyclic access under LRU (Denning, "The working set model", CACM 11(5), 1968, on sequential reference).
    """
    resident = np.minimum(as_float(resident_B), as_float(size_B))
    return np.where(as_float(size_B) - resident <= as_float(spare_B) * (1 + 1e-12), resident, 0.0)


def evicted(pages_B: ArrayLike, pinned_B: ArrayLike, wanted_B: float) -> FloatArray:
    """Bytes that leave memory, of files in the order in which their pages are taken.

    Args:
        pages_B: Bytes of each file in memory (n,), those that leave first at the front [B].
        pinned_B: Of these, bytes that cannot leave: dirty, or under way (n,) [B].
        wanted_B: Bytes that shall leave [B].

    Returns:
        (n,) [B]; less in all where no more can leave.

    Valid: clean pages of the inactive list at the front, then those of the active list, each oldest first.
    Neglects: reclaim that waits for write-back of dirty pages; swap.
    Source: Linux mm/vmscan.c (inactive before active); mm/swap.c, mark_page_accessed (used twice: active).
    """
    free = np.maximum(as_float(pages_B) - as_float(pinned_B), 0.0)
    before = np.concatenate([[0.0], np.cumsum(free)[:-1]]) if free.size else free
    return np.clip(max(wanted_B, 0.0) - before, 0.0, free)
