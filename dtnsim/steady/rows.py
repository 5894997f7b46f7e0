"""Rows of sparse arrays, and sums over their entries.

Shapes: S scenarios, R rows, N entries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dtnsim.physics._arrays import FloatArray as Array, Index

#: numbers in a row, of all its entries and scenarios, from which on a call for each costs less than `reduceat`
_WIDE: Final = 256


@dataclass(frozen=True, slots=True)
class Rows:
    """Demands of some rows (phases, or transfers), row by row and by station within a row.

    Attributes:
        station: (N,) index of the station; K, which is none, in a row that visits no other.
        row: (N,) index of the row, rising; every row has an entry.
        first: (R,) where each row begins.
        demand: (N, S).
    """

    station: Index
    row: Index
    first: Index
    demand: Array

    def of(self, row: int) -> tuple[Index, Array]:
        """(stations (n,), demands (S, n)) of one row."""
        end = self.first[row + 1] if row + 1 < len(self.first) else len(self.row)
        part = slice(self.first[row], end)
        return self.station[part], self.demand[part].T

    def some(self, scenarios: Index) -> Rows:
        """The same in some scenarios."""
        return self if self.demand.shape[1] == 1 else replace(self, demand=self.demand[:, scenarios])

    def entries(self, kept: Index) -> tuple[Index, Index]:
        """(entries of some rows, in that order; the place of each one's row among them)."""
        sizes = np.diff(np.append(self.first, len(self.row)))[kept]
        row = np.repeat(np.arange(len(kept)), sizes)
        return self.first[kept][row] + np.arange(len(row)) - (np.cumsum(sizes) - sizes)[row], row

    def taken(self, kept: Index) -> Rows:
        """Some rows, in that order."""
        entries, row = self.entries(kept)
        return Rows(self.station[entries], row, begins(row), self.demand[entries])


def begins(given: Index) -> Index:
    """Where each run of equal numbers begins."""
    return np.flatnonzero(np.concatenate([given[:1] >= 0, given[1:] != given[:-1]]))


def over_rows(ufunc: np.ufunc, values: NDArray[Any], first: Index) -> NDArray[Any]:
    """What a ufunc makes of the entries (N, S) of each row; of many scenarios row by row, where `reduceat` is slow.

    Args:
        ufunc: The function.
        values: The entries, row by row.
        first: Where each row begins.
    """
    if values.size <= _WIDE * len(first):
        return np.asarray(ufunc.reduceat(values, first, axis=0))
    ends = [*first[1:].tolist(), len(values)]
    return np.array([ufunc.reduce(values[a:b], axis=0) for a, b in zip(first.tolist(), ends, strict=True)])


def summed(place: Index, values: Array, count: int) -> Array:
    """(count, S) sums of values (N, S) by their places (N,), in their order, as `numpy.add.at` has them, but sooner.

    Args:
        place: Where each value belongs.
        values: What is summed.
        count: How many places there are.
    """
    s = values.shape[1]
    flat = (place[:, None] * s + np.arange(s)).ravel()
    return np.asarray(np.bincount(flat, values.ravel(), count * s).reshape(count, s), np.float64)
