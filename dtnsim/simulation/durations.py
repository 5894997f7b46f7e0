"""Durations of very many files in little memory: exact up to some ten thousand, then as quantiles."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray as Array

#: entries kept before neighbours are put together
ROOM: Final = 65_536


class Durations:
    """A sample of durations, each of so many files.

    Up to `ROOM` entries are kept as they come. When they are full, entries that are neighbours in size
    are put together two by two (their mean, their number of files), so the sum stays exact and a
    quantile moves by at most the files of one entry for each such round: some 1/`ROOM` of all.
    """

    __slots__ = ("_counts", "_seconds")

    def __init__(self) -> None:
        self._seconds: list[float] = []
        self._counts: list[int] = []

    def add(self, seconds: float, files: int = 1) -> None:
        """One file, or several that took equally long each."""
        if len(self._seconds) >= ROOM:
            self._halve()
        self._seconds.append(seconds)
        self._counts.append(files)

    def _halve(self) -> None:
        seconds, counts = np.array(self._seconds), np.array(self._counts, float)
        order = np.argsort(seconds, kind="stable")
        pairs, files = seconds[order].reshape(-1, 2), counts[order].reshape(-1, 2)
        total = files.sum(axis=1)
        self._seconds = ((pairs * files).sum(axis=1) / total).tolist()
        self._counts = [int(n) for n in total]

    def arrays(self, room: int = ROOM) -> tuple[Array, Array]:
        """(durations [s], files of each), at most ``room`` entries."""
        while len(self._seconds) > room:
            if len(self._seconds) % 2:
                self._seconds.append(self._seconds[-1])
                self._counts.append(0)
            self._halve()
        return np.array(self._seconds, float), np.array(self._counts, float)


def quantiles(seconds: ArrayLike, files: ArrayLike, shares: ArrayLike) -> Array:
    """Durations that these shares of the files do not exceed.

    Args:
        seconds: (N,) durations, N at least 1 [s].
        files: (N,) files of each.
        shares: (Q,) from 0 to 1 [1].

    Returns:
        (Q,) durations [s]: the smallest with at least that share of the files (inverse of the distribution function).
    """
    order = np.argsort(np.asarray(seconds, float), kind="stable")
    sizes, counts = np.asarray(seconds, float)[order], np.asarray(files, float)[order]
    below = np.cumsum(counts)
    wanted = np.asarray(shares, float) * below[-1] * (1 - 1e-12)
    return np.asarray(sizes[np.minimum(np.searchsorted(below, wanted), len(sizes) - 1)], float)
