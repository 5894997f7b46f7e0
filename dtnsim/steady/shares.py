"""Max-min shares of stations by progressive filling, prepared for repeated use with changing weights and capacities.

Shapes: S scenarios, F transfers, K stations, N entries (`dtnsim.steady.matrices`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dtnsim.physics._arrays import BoolArray, FloatArray as Array, Index, IntArray
from dtnsim.steady.rows import Rows, begins, over_rows, summed

MUCH: Final = 0.8  #: part of the scenarios, or transfers, below which those that are done are dropped
#: array entries that are filled together (few, for the processor's caches), and the least number of scenarios
_AT_ONCE: Final = 262_144
_LEAST: Final = 16
_MANY: Final = 4096  #: entries of scenarios from which on it pays to leave out what is done
_TIE: Final = 1e-12  #: levels that differ by less are equal
#: margins below a station's capacity: it counts as full, or may become full when some capacities change
ROUNDED: Final = 1e-9
_MARGIN: Final = 1e-2
_NONE: Final = int(np.iinfo(np.int64).max)  #: number of no station: behind all others


@dataclass(frozen=True, slots=True)
class Solution:
    """Rates and what binds each of them."""

    capacity: Array  #: (S, K) capacities at these rates (less than given where memory slows the cores).
    rate: Array  #: (S, F) payload bytes per second.
    ceiling: Array  #: (S, F) what the transfer's own workers allow.
    binding: IntArray  #: (S, F) index of the station that froze the transfer, or -1 for its workers' ceiling.

    @property
    def parts(self) -> tuple[Array, Array, Array, IntArray]:
        """All four arrays, in the order of the fields."""
        return self.capacity, self.rate, self.ceiling, self.binding

    def map_parts(self, convert: Callable[[NDArray[Any]], NDArray[Any]]) -> Solution:
        """The solution with a function applied to each array."""
        return Solution(convert(self.capacity), convert(self.rate), convert(self.ceiling), convert(self.binding))


def _numbered(numbers: Index) -> tuple[Index, Index]:
    """(distinct numbers, rising; index of each into those): `numpy.unique` for small numbers, without sorting."""
    occurs = np.bincount(numbers) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[numbers]


@dataclass(frozen=True, slots=True)
class Places:
    """Layout of the shared stations: N entries, K' stations, F' transfers."""

    used: Index  #: Numbers of the stations among all, then that of none.
    transfers: Index  #: Numbers of the transfers among all.
    visits: Index  #: (n, F') stations of each transfer, rising, then K' as filler.
    #: (N,) transfers and stations of the entries, station by station, and where each station begins.
    at: Index
    by: Index
    first: Index
    demand: Array  #: (N, S) demand per byte, station by station.
    idle: BoolArray | None  #: (n, F', S) where the demand is 0; None if it never is.

    @classmethod
    def of(cls, rows: Rows, part: Index) -> Places:
        """The layout of some entries of rows, which are numbered transfer by transfer."""
        used, station = _numbered(rows.station[part])
        transfers, transfer = _numbered(rows.row[part])
        order = np.argsort(station, kind="stable")
        by, visits, demand = station[order], _listed(station, transfer, len(used)), rows.demand[part]
        idle = None if (demand > 0).all() else _listed(demand <= 0, transfer, 0)
        numbers = np.append(used, _NONE)
        return cls(numbers, transfers, visits, transfer[order], by, begins(by), demand[order], idle)

    def take(self, scenarios: slice | Index) -> Places:
        """The same in some scenarios."""
        if self.demand.shape[1] == 1:
            return self
        idle = None if self.idle is None else self.idle[:, :, scenarios]
        return replace(self, demand=_columns(self.demand, scenarios), idle=idle)


class _Filling:
    """Progressive filling of stations that several transfers share.

    A station is full for good once none of its transfers is bound at a lower level elsewhere, because its own level
    only rises as others freeze. All such stations fill in one round, so that there are only as many rounds as
    bottlenecks that depend on each other.
    """

    def __init__(self, capacity: Array, weight: Array, limit: Array, places: Places) -> None:
        self._used, self._transfers, count = places.used, places.transfers, limit.shape[1]
        self._left = np.empty((len(self._used) - 1, count))
        self._left[:] = capacity.T.take(self._used[:-1], axis=0)
        self._own = limit[self._transfers]
        self._free = np.ones(self._own.shape, dtype=bool)
        self._here, self._columns = np.arange(len(self._transfers)), np.arange(count)
        self._visits, self._idle = places.visits, places.idle
        if self._idle is not None:
            self._idle = np.broadcast_to(self._idle, (*self._idle.shape[:2], count))
        self._at, self._by, self._first = places.at, places.by, places.first
        self._weighted = np.empty((len(self._at), count))
        np.multiply(places.demand, weight[self._transfers[self._at]], out=self._weighted)
        self._number = np.arange(len(self._left))

    def fill(self, level: Array, binding: IntArray | None) -> None:
        """Writes the levels (F, S) of the transfers that visit these stations, and what binds them, (F, S)."""
        visits, idle, used = self._visits, self._idle, self._used
        reached, full = np.full(self._own.shape, np.inf), np.full((len(used), self._own.shape[1]), np.inf)
        while self._free.any():
            stop, limit, settled, levels = self._round()
            if not stop.any():  # nothing binds the rest
                break
            self._note(reached, self._here, stop, limit)
            if binding is not None:
                self._note(full, self._number, settled, levels)
            self._free &= ~stop
            if self._free.any():
                self._left -= self._load(np.where(stop, limit, 0.0))
                self._forget_done()
        level[self._transfers] = reached
        if binding is None:
            return
        bound = np.isfinite(reached) & (full[visits] <= reached * (1 + _TIE))
        station = np.where(bound if idle is None else bound & ~idle, used[visits][:, :, None], _NONE).min(axis=0)
        binding[self._transfers] = np.where(station == _NONE, -1, station)

    def _note(self, levels: Array, numbers: Index, which: BoolArray, latest: Array) -> None:
        """Writes the levels found in this round among those of all transfers, or stations."""
        if which.shape[1] == levels.shape[1]:
            levels[numbers] = np.where(which, latest, levels[numbers])
        else:
            row, column = np.nonzero(which)
            levels[numbers[row], self._columns[column]] = latest[which]

    def _round(self) -> tuple[BoolArray, Array, BoolArray, Array]:
        """One round: transfers that freeze (F', S) and their levels; stations full for good (K', S) and theirs."""
        load = self._load(self._free.astype(float))
        padded = np.full((len(load) + 1, load.shape[1]), np.inf)
        full = np.divide(np.maximum(self._left, 0.0), load, out=padded[:-1], where=load > 0)
        stations = self._least_level(padded)
        limit = np.minimum(stations, self._own)
        each = np.where(self._free, limit, np.inf).take(self._at, axis=0)
        each = each if self._idle is None else np.where(self._weighted > 0, each, np.inf)
        least = over_rows(np.minimum, each, self._first)
        settled, near = np.isfinite(full) & (least >= full * (1 - _TIE)), limit * (1 + _TIE)
        full[~settled] = np.inf
        stops = (self._least_level(padded) <= near) | (self._own <= near)
        return self._free & stops & np.isfinite(limit), limit, settled, full

    def _load(self, level: Array) -> Array:
        """(K', S) load of each station from weights times levels (F', S)."""
        return over_rows(np.add, level.take(self._at, axis=0) * self._weighted, self._first)

    def _least_level(self, level: Array) -> Array:
        """(F', S) lowest level among each transfer's stations, of levels (K' + 1, S) with none as the last."""
        least: Array | None = None
        for n, visits in enumerate(self._visits):
            levels = level.take(visits, axis=0)
            levels = levels if self._idle is None else np.where(self._idle[n], np.inf, levels)
            least = levels if least is None else np.minimum(least, levels, out=least)
        assert least is not None
        return least

    def _forget_done(self) -> None:
        """Drops scenarios and transfers that are done, if that saves much."""
        if self._weighted.size < _MANY:
            return
        scenarios = np.asarray(self._free.any(axis=0))
        if scenarios.mean() < MUCH:
            self._columns = self._columns[scenarios]
            self._idle = None if self._idle is None else self._idle[:, :, scenarios]
            for name in ("_weighted", "_left", "_own", "_free"):
                setattr(self, name, getattr(self, name)[:, scenarios])
        rows = np.asarray(self._free.any(axis=1))
        if np.count_nonzero(rows) < MUCH * len(rows):
            entries = rows[self._at]
            used, by = _numbered(self._by[entries])
            place = np.full(len(self._left) + 1, len(used))
            place[used] = np.arange(len(used))
            self._visits = place[self._visits[:, rows]]
            self._idle = None if self._idle is None else self._idle[:, rows]
            self._here, self._own, self._free = self._here[rows], self._own[rows], self._free[rows]
            self._weighted, self._at, self._by = self._weighted[entries], (np.cumsum(rows) - 1)[self._at[entries]], by
            self._left, self._number, self._first = self._left[used], self._number[used], begins(by)


def _listed(values: NDArray[Any], transfer: Index, nothing: int) -> NDArray[Any]:
    """(n, F', ...) table of the entries' values, a column for each transfer, filled up with ``nothing``.

    Args:
        values: (N, ...) the values.
        transfer: (N,) transfers of the entries, rising; each has an entry.
        nothing: Filler.
    """
    nth = np.arange(len(transfer)) - begins(transfer)[transfer]
    table = np.full((int(nth.max(initial=0)) + 1, int(transfer[-1]) + 1, *values.shape[1:]), nothing, values.dtype)
    table[nth, transfer] = values
    return table


class Shares:
    """Max-min rates on stations and demands, prepared for repeated use with changing weights and capacities.

    Limits of stations with one visitor do not depend on weights, and which shared stations can fill depends little on
    a few capacities, so both are found once.

    Args:
        rows: Demands per byte, a row for each of F transfers.
        changing: (K,) stations whose capacity may be lower when rates are asked for.
    """

    def __init__(self, capacity: Array, rows: Rows, changing: BoolArray | None = None) -> None:
        visitors = np.bincount(rows.station, minlength=capacity.shape[1] + 1)
        self._rows, self._padded = rows, _padded(capacity)
        changes = np.zeros(len(visitors), dtype=bool)
        changes[:-1] = False if changing is None else changing
        alone = _rate_alone(self._padded, rows.station, rows.demand)
        self._some = np.flatnonzero(changes[rows.station])
        alone[self._some] = np.inf
        #: (F, S) highest rates that the stations allow, without the changing ones
        self._most = over_rows(np.minimum, alone, rows.first)
        alone[visitors[rows.station] > 1] = np.inf
        #: (F, S) the same from stations with one visitor, and the first of those
        self._own = over_rows(np.minimum, alone, rows.first)
        self._holder = _first_of(alone, self._own[rows.row], rows.station, rows.first)
        self._single = self._some[visitors[rows.station[self._some]] == 1]
        met = (visitors > 1) & np.isfinite(self._padded).any(axis=0)
        self._met = np.flatnonzero(met[rows.station])
        if len(self._met):
            fills = self._may_fill(self._padded, np.minimum(self._most, self._of_changing(self._padded, self._some)[0]))
            self._met = self._met[(fills | changes)[rows.station[self._met]]]

    def _of_changing(self, padded: Array, entries: Index) -> tuple[Array | float, IntArray | int]:
        """(F, S) highest rates that some entries allow, and the first station of each transfer that sets it."""
        if not len(entries):
            return np.inf, _NONE
        rows = self._rows
        row, station = rows.row[entries], rows.station[entries]
        each, first = _rate_alone(padded, station, rows.demand[entries]), begins(row)
        least = over_rows(np.minimum, each, first)
        holder = _first_of(each, np.repeat(least, np.diff(np.append(first, len(row))), axis=0), station, first)
        most = np.full((len(rows.first), least.shape[1]), np.inf)
        most[row[first]] = least
        by = np.full(most.shape, _NONE)
        by[row[first]] = holder
        return most, by

    def _may_fill(self, padded: Array, most: Array, margin: float = _MARGIN) -> BoolArray:
        """(K + 1,) shared stations that their transfers could fill, each running as fast as it could alone.

        Each transfer's own limit there counts, so that stations left out cannot bind.
        """
        rows, part = self._rows, self._met
        stations, place = _numbered(rows.station[part])
        with np.errstate(invalid="ignore"):
            taken = np.fmax(most[rows.row[part]] * rows.demand[part], 0.0)
        fills = np.zeros(padded.shape[1], dtype=bool)
        most_here = padded.T.take(stations, axis=0) * (1 - margin)
        fills[stations] = (summed(place, taken, len(stations)) >= most_here).any(axis=1)
        return fills

    def take(self, scenarios: Index, rows: Rows) -> Shares:
        """The same in some scenarios; ``rows``: the demands in these."""
        shares = copy(self)
        padded = self._padded if len(self._padded) == 1 else self._padded[scenarios]
        columns = {name: _columns(getattr(self, name), scenarios) for name in ("_most", "_own", "_holder")}
        vars(shares).update(columns, _padded=padded, _rows=rows)
        return shares

    def fair_rates(self, capacity: Array, weight: Array, ceiling: Array) -> Solution:
        """Weighted max-min fair rates by progressive filling.

        Returns:
            The `Solution`; a transfer that uses nothing and has no ceiling gets an infinite rate.
        """
        return self.filled(capacity, weight, ceiling, self.places(capacity, ceiling))

    def filled(
        self, capacity: Array, weight: Array, ceiling: Array, places: Places | None, *, bound: bool = True
    ) -> Solution:
        """The same if it is known which stations can be filled.

        Args:
            places: Layout of the stations that can be filled at these capacities and ceilings; None if none can.
        """
        rows = self._rows
        padded = _padded(capacity) if len(self._some) else self._padded
        count = max(len(padded), len(ceiling), rows.demand.shape[1])
        shape = (len(weight), count)
        own, holder = self._own, self._holder
        if len(self._single):
            other, by = self._of_changing(padded, self._single)
            least = np.minimum(own, other)
            near = least * (1 + _TIE)
            holder = np.minimum(np.where(own <= near, holder, _NONE), np.where(other <= near, by, _NONE))
            own = least
        level = np.empty(shape)
        level[:] = np.minimum(own, ceiling.T) / weight
        binding = np.full(shape, -1, dtype=np.int64)
        if places is not None:
            self._fill(padded, weight, places, level, binding if bound else None)
        rate = np.where(np.isfinite(level), np.minimum(level * weight, ceiling.T), np.inf)
        if not bound:
            return Solution(capacity, rate.T, ceiling, binding.T)
        alike = np.isfinite(own) & (own <= level * weight * (1 + _TIE))
        binds = np.where(alike, np.where(binding >= 0, np.minimum(binding, holder), holder), binding)
        return Solution(capacity, rate.T, ceiling, np.where(binds == _NONE, -1, binds).T)

    def places(self, capacity: Array, ceiling: Array) -> Places | None:
        """Layout of the stations that can be filled at capacities (S, K) and ceilings (S, F); None if none can."""
        if not len(self._met):
            return None
        padded = _padded(capacity) if len(self._some) else self._padded
        most = np.minimum(np.minimum(self._most, self._of_changing(padded, self._some)[0]), ceiling.T)
        shared = self._met[self._may_fill(padded, most, ROUNDED)[self._rows.station[self._met]]]
        return Places.of(self._rows, shared) if len(shared) else None

    def _fill(self, padded: Array, weight: Array, places: Places, level: Array, binding: IntArray | None) -> None:
        """Fills shared stations; ``level`` comes with the limits from elsewhere and leaves with the answer."""
        count = level.shape[1]
        step = max(_AT_ONCE // len(places.at), _LEAST)
        for first in range(0, count, step):
            block = slice(first, first + step)
            capacity = padded if len(padded) == 1 else padded[block]
            part = places if count <= step else places.take(block)
            filling = _Filling(capacity, _columns(weight, block), level[:, block], part)
            filling.fill(level[:, block], None if binding is None else binding[:, block])


def _padded(capacity: Array) -> Array:
    """(S, K + 1) capacities, with that of no station as the last."""
    return np.concatenate([capacity, np.full((len(capacity), 1), np.inf)], axis=1)


def _rate_alone(padded: Array, station: Index, demand: Array) -> Array:
    """(N, S) rate that each entry's station allows a lone visitor."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(demand > 0, padded.T.take(station, axis=0) / demand, np.inf)


def _first_of(rate: Array, least: Array, station: Index, first: Index) -> IntArray:
    """(rows, S) first station of each row whose rate is the least."""
    number = np.where((rate <= least * (1 + _TIE)) & np.isfinite(rate), station[:, None], _NONE)
    return over_rows(np.minimum, number, first)


def _columns(values: Array, block: slice | Index) -> Array:
    """Some of the scenarios, where there are several."""
    if values.shape[1] == 1:
        return values
    return values[:, block] if isinstance(block, slice) else values.take(block, axis=1)
