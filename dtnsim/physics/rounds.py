"""Whole files on a few workers: the last round is seldom full."""

from __future__ import annotations

from heapq import heapify, heapreplace
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: files a worker from which on an unfinished round is less than half a percent
MANY: Final = 256


def rounds(sizes: ArrayLike, counts: ArrayLike, workers: int) -> tuple[tuple[int, float], ...]:
    """How many workers are busy while files are given out one by one, and the part of all bytes that moves meanwhile.

    List scheduling: each worker takes the next file when it is free, so that all W are busy until no file is left, and
    then one after the other ends. Workers who are busy at the same time are equally fast, whatever they share; so what
    n of them move between two ends is n (e_k - e_(k-1)), in units of one worker's bytes. F files of equal size move
    in rounds of W, and the rest, F mod W, at once.

    Levels between W, W/2, W/4 ... are divided among their neighbours, so that sum(part) and sum(part / n) stay.

    Args:
        sizes: (G,) sizes of files [B].
        counts: (G,) files of each size [1].
        workers: W, workers of equal speed [1].

    Returns:
        (n, part of the bytes that move while n workers are busy [1]), most workers first; the parts add up to 1.

    Valid: as many files as workers or more; fewer are shared by the workers, who then all have work.
    Neglects: workers of unlike luck.
    Source: R. L. Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17 (1969) 416-429.
    """
    size, count = np.asarray(sizes, float), np.asarray(counts, int)
    files, whole = int(count.sum()), ((max(workers, 1), 1.0),)
    if workers <= 1 or files < workers or files > MANY * workers or not np.isfinite(size).all():
        return whole
    # sizes come mixed, each in proportion to its number, as a directory walk meets them
    place = np.concatenate([(np.arange(n) + 0.5) / n for n in count])
    ends = [0.0] * workers
    heapify(ends)
    for one in np.repeat(size, count)[np.argsort(place, kind="stable")]:
        heapreplace(ends, ends[0] + float(one))
    busy = np.arange(workers, 0, -1)
    parts = busy * np.diff(sorted(ends), prepend=0.0)
    if not parts.sum() > 0:
        return whole
    kept: dict[int, float] = {}
    levels = [workers >> k for k in range(workers.bit_length())]
    for n, part in zip(busy.tolist(), (parts / parts.sum()).tolist(), strict=True):
        above, below = min(k for k in levels if k >= n), max(k for k in levels if k <= n)
        up = (1 / n - 1 / below) / (1 / above - 1 / below) if above > below else 1.0
        kept[above] = kept.get(above, 0.0) + up * part
        kept[below] = kept.get(below, 0.0) + (1 - up) * part
    return tuple((n, kept[n]) for n in levels if kept.get(n, 0.0) > 0)
