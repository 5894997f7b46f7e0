"""Whole files on a few workers: the last round is seldom full."""

from __future__ import annotations

from heapq import heapify, heapreplace
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: files a worker from which on an unfinished round is less than half a percent
MANY: Final = 256


def workers_at_work(sizes: ArrayLike, counts: ArrayLike, workers: int) -> float:
    """Mean number of workers that are busy while files are given out one by one.

    n = sum of sizes / makespan, by list scheduling: each worker takes the next file when it is free. Files of equal
    size come in ceil(F / W) rounds, so n = F / ceil(F / W).

    Args:
        sizes: (G,) sizes of files [B].
        counts: (G,) files of each size [1].
        workers: W, workers of equal speed [1].

    Returns:
        Workers at work, averaged from the first byte to the last [1].

    Valid: as many files as workers or more; fewer are shared by the workers, who then all have work.
    Neglects: that those who are left in the last round may go faster alone.
    Source: R. L. Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17 (1969) 416-429.
    """
    size, count = np.asarray(sizes, float), np.asarray(counts, int)
    files = int(count.sum())
    if workers <= 1 or files < workers or files > MANY * workers or not np.isfinite(size).all():
        return float(max(workers, 1))
    # sizes come mixed, each in proportion to its number, as a directory walk meets them
    place = np.concatenate([(np.arange(n) + 0.5) / n for n in count])
    ends = [0.0] * workers
    heapify(ends)
    for one in np.repeat(size, count)[np.argsort(place, kind="stable")]:
        heapreplace(ends, ends[0] + float(one))
    return float(size @ count) / max(ends) if max(ends) > 0 else float(workers)
