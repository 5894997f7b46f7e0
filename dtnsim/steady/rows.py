"""Rows of sparse arrays, and sums over their entries.

Shapes: S scenarios, R rows, N entries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dtnsim.physics._arrays import FloatArray as Array, Index

#: scenarios from which on some calls for all rows, or one for each that is long, cost less than `reduceat`
_WIDE: Final = 64
_FEW: Final = 6  #: entries up to which rows are done together, the second of each, then the third


@dataclass(frozen=True, slots=True)
class Rows:
    """Demands of some rows (phases, or transfers), row by row and by station within a row."""

    station: Index  #: (N,) index of the station; K, which is none, in a row that visits no other.
    row: Index  #: (N,) index of the row, rising; every row has an entry.
    first: Index  #: (R,) where each row begins.
    demand: Array  #: (N, S).

    def row_entries(self, row: int) -> tuple[Index, Array]:
        """(stations (n,), demands (S, n)) of one row."""
        end = self.first[row + 1] if row + 1 < len(self.first) else len(self.row)
        part = slice(self.first[row], end)
        return self.station[part], self.demand[part].T

    def take(self, scenarios: Index) -> Rows:
        """The same in some scenarios."""
        return self if self.demand.shape[1] == 1 else replace(self, demand=self.demand.take(scenarios, axis=1))

    def entries(self, rows: Index) -> tuple[Index, Index]:
        """(entries of some rows, in that order; the place of each one's row among them)."""
        sizes = np.diff(np.append(self.first, len(self.row)))[rows]
        row = np.repeat(np.arange(len(rows)), sizes)
        return self.first[rows][row] + np.arange(len(row)) - (np.cumsum(sizes) - sizes)[row], row

    def select(self, rows: Index) -> Rows:
        """Some rows, in that order."""
        entries, row = self.entries(rows)
        return Rows(self.station[entries], row, begins(row), self.demand.take(entries, axis=0))


def begins(numbers: Index) -> Index:
    """Where each run of equal numbers begins."""
    return np.flatnonzero(np.concatenate([numbers[:1] >= 0, numbers[1:] != numbers[:-1]]))


def over_rows(ufunc: np.ufunc, values: NDArray[Any], first: Index) -> NDArray[Any]:
    """A ufunc reduced over the entries (N, S) of each row; for many scenarios without `reduceat`, which is slow.

    Args:
        ufunc: The function.
        values: The entries, row by row.
        first: Where each row begins.
    """
    if values.size < _WIDE * len(values):
        return np.asarray(ufunc.reduceat(values, first, axis=0))
    steps, long = _steps(first.tobytes(), len(values))
    reduced = values.take(first, axis=0)
    for rows, entries in steps:
        if len(rows) == len(reduced):
            ufunc(reduced, values.take(entries, axis=0), out=reduced)
        else:
            reduced[rows] = ufunc(reduced.take(rows, axis=0), values.take(entries, axis=0))
    for row, part in long:
        ufunc.reduce(values[part], axis=0, out=reduced[row])
    return reduced


@lru_cache(maxsize=256)
def _steps(begins: bytes, count: int) -> tuple[list[tuple[Index, Index]], list[tuple[int, slice]]]:
    """(rows with a second entry, and those entries; then with a third ...), and the long rows by themselves."""
    first = np.frombuffer(begins, np.intp)
    sizes = np.diff(np.append(first, count))
    few = [np.flatnonzero((sizes > n) & (sizes <= _FEW)) for n in range(1, _FEW)]
    long = [(k, slice(int(first[k]), int(first[k] + sizes[k]))) for k in np.flatnonzero(sizes > _FEW).tolist()]
    return [(rows, first[rows] + n) for n, rows in enumerate(few, 1) if len(rows)], long


def summed(place: Index, values: Array, count: int) -> Array:
    """(count, S) sums of values (N, S) by their places (N,), in order: `numpy.add.at`, but faster.

    Args:
        place: Where each value belongs.
        values: What is summed.
        count: How many places there are.
    """
    s = values.shape[1]
    flat = (place[:, None] * s + np.arange(s)).ravel()
    return np.asarray(np.bincount(flat, values.ravel(), count * s).reshape(count, s), np.float64)


def take(scenarios: Index, values: NDArray[Any]) -> NDArray[Any]:
    """Some scenarios of an array that may have one row for all."""
    return values.take(scenarios, axis=0) if len(values) > 1 else values
