"""Weighted max-min fair rates on stations and demands, for one scenario or thousands at once.

A transfer of rate x uses ``x * demand`` of every station it visits. Rates rise together, each by
its weight, until a station is full or a transfer reaches its own ceiling; those stop, the others
rise on (progressive filling). With one transfer this is operational analysis' X = min C/D.

The ceiling of a transfer is its workers' time: a worker goes through its phases one after the
other, and cannot spend more than a second in a second:
``x <= workers / sum over phases of (delay + solo time per byte)``, where the solo time of a
phase is set by the station that is slowest for one worker alone. A verification after the transfer,
a flush after the writing and round trips between small files are all this one law. What a tool does before any worker
moves (log-in, lists: ``lead``) comes on top, and then its workers queue at the slowest of the stations they share,
each no faster there than by itself (`dtnsim.physics.waiting`): ``1 / x >= lead + cycle of the workers``.

Shapes: S scenarios, F transfers, K stations (`dtnsim.steady.matrices`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.physics import memory
from dtnsim.steady.ceilings import Workers, ceilings, solo_times
from dtnsim.steady.matrices import Matrices, Rows, matrices, summed
from dtnsim.steady.ordering import apart, capacity_of_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Index = NDArray[np.intp]

__all__ = ["Matrices", "Solution", "ceilings", "matrices", "maxmin", "slowed_capacity", "solo_times", "solve"]

#: rounds of `solve` with slowdowns: each gains two digits or more
_ROUNDS: Final = 12
#: relative change at which they end: of one scenario, and of many, of which only quantiles are asked
_EXACT: Final = 1e-13
_DRAWN: Final = 1e-9
#: the same from which on a scenario keeps the part of the time that workers are elsewhere
_ELSEWHERE: Final = 1e-5
#: part of their time from which on workers are held by the station that they share, and below by what they do elsewhere
_THERE: Final = 0.5
#: part of the scenarios, or transfers, below which the rest is left out of the rounds that follow
_MUCH: Final = 0.8
#: scenarios that are filled together: few, since those that are much alike are done together, and caches are small
_AT_ONCE: Final = 32
#: levels that differ by less are equal
_TIE: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Solution:
    """Rates and what holds each of them.

    Attributes:
        capacity: (S, K) capacities at these rates (less than given where memory slows the cores).
        rate: (S, F) payload bytes per second.
        ceiling: (S, F) what the transfer's own workers allow.
        binding: (S, F) index of the station that froze the transfer, or -1 for its workers' ceiling.
    """

    capacity: Array
    rate: Array
    ceiling: Array
    binding: NDArray[np.int64]

    @property
    def parts(self) -> tuple[Array, Array, Array, NDArray[np.int64]]:
        """All of them."""
        return self.capacity, self.rate, self.ceiling, self.binding

    def each(self, made: Callable[[NDArray[Any]], NDArray[Any]]) -> Solution:
        """What is made of each of them."""
        return Solution(made(self.capacity), made(self.rate), made(self.ceiling), made(self.binding))


def _numbered(given: Index) -> tuple[Index, Index]:
    """(numbers that occur, rising; the place of each among those): `numpy.unique` of small numbers, without sorting."""
    occurs = np.bincount(given) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[given]


def _begins(given: Index) -> Index:
    """Where each run of equal numbers begins."""
    return np.flatnonzero(np.concatenate([given[:1] >= 0, given[1:] != given[:-1]]))


class _Filling:
    """Progressive filling of stations that several transfers share.

    A station is full for good once none of its transfers is held by less elsewhere: as others freeze, its own level
    can only rise. So all stations of which that is true fill in one round, and there are as many rounds as bottlenecks
    depend on each other, not as many as transfers.
    """

    def __init__(self, capacity: Array, rows: Rows, weight: Array, limit: Array, part: Index) -> None:
        self._used, station = _numbered(rows.station[part])
        self._transfers, transfer = _numbered(rows.row[part])
        count = limit.shape[1]
        self._demand = np.broadcast_to(rows.demand[part], (len(part), count))
        self._weighted = self._demand * weight[self._transfers][transfer]
        self._left = np.broadcast_to(capacity.T[self._used], (len(self._used), count)).copy()
        self._own = limit[self._transfers]
        self._free = np.ones(self._own.shape, dtype=bool)
        self._place(station, transfer)

    def _place(self, station: Index, transfer: Index) -> None:
        """Notes which station and transfer each entry belongs to; entries come transfer by transfer."""
        self._entry_station, self._entry_transfer = station, transfer
        self._begin = _begins(transfer)
        self._order = np.argsort(station, kind="stable")
        self._first = _begins(station[self._order])

    def _forget_done(self, columns: Index) -> Index:
        """Leaves out scenarios and transfers that are done, where that is much; returns the scenarios that are left."""
        some = np.asarray(self._free.any(axis=0))
        if some.mean() < _MUCH:
            columns = columns[some]
            for name in ("_demand", "_weighted", "_left", "_own", "_free"):
                setattr(self, name, getattr(self, name)[:, some])
        rows = np.asarray(self._free.any(axis=1))
        if 2 * np.count_nonzero(rows) < len(rows):
            kept = rows[self._entry_transfer]
            used, station = _numbered(self._entry_station[kept])
            self._transfers, self._own, self._free = self._transfers[rows], self._own[rows], self._free[rows]
            self._used, self._left = self._used[used], self._left[used]
            self._demand, self._weighted = self._demand[kept], self._weighted[kept]
            self._place(station, (np.cumsum(rows) - 1)[self._entry_transfer[kept]])
        return columns

    def _by_station(self, ufunc: np.ufunc, entries: NDArray[np.generic]) -> Array:
        return np.asarray(ufunc.reduceat(entries[self._order], self._first, axis=0))

    def fill(self, level: Array, binding: NDArray[np.int64]) -> None:
        """Writes levels (F, S) and binding stations (F, S) of the transfers that visit these stations."""
        columns = np.arange(self._own.shape[1])
        while self._free.any():
            at, by = self._entry_transfer, self._entry_station
            stop, held, now = self._round(at, by)
            if not stop.any():
                break
            row, column = np.nonzero(stop)
            here = self._transfers[row], columns[column]
            level[here], binding[here] = now[stop], held[stop]
            self._left -= self._by_station(np.add, np.where(stop, now, 0.0)[at] * self._weighted)
            self._free &= ~stop
            columns = self._forget_done(columns)
        row, column = np.nonzero(self._free)
        level[self._transfers[row], columns[column]] = np.inf  # nothing stops those

    def _round(self, at: Index, by: Index) -> tuple[NDArray[np.bool_], NDArray[np.int64], Array]:
        """(who stops, at which station or -1, at which level), each (F', S)."""
        free = self._free[at]
        load = self._by_station(np.add, np.where(free, self._weighted, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            full = np.where(load > 0, np.maximum(self._left, 0.0) / load, np.inf)
        visits = free & (self._demand > 0)
        here = np.where(visits, full[by], np.inf)
        stations = np.minimum.reduceat(here, self._begin, axis=0)
        limit = np.minimum(stations, self._own)
        least = self._by_station(np.minimum, np.where(visits, limit[at], np.inf))
        settled = np.isfinite(full) & (least >= full * (1 - _TIE))
        holds = visits & settled[by] & (here <= limit[at] * (1 + _TIE))
        number = np.where(holds, self._used[by][:, None], np.iinfo(np.int64).max)
        holder = np.minimum.reduceat(number, self._begin, axis=0)
        held = holder < np.iinfo(np.int64).max
        own = np.isfinite(self._own) & (self._own <= stations * (1 + _TIE))
        return self._free & (held | own), np.where(held, holder, -1), limit


def maxmin(capacity: Array, rows: Rows, weight: Array, ceiling: Array) -> Solution:
    """Weighted max-min fair rates by progressive filling.

    Args:
        capacity: (S, K) capacity of each station.
        rows: Use per byte, a row for each of F transfers.
        weight: (F, S) or (F, 1), rates rise in proportion to it.
        ceiling: (S, F) rate that a transfer cannot pass by itself.

    Returns:
        The `Solution`; a transfer that uses nothing and has no ceiling gets an infinite rate.
    """
    count = max(len(capacity), len(ceiling), rows.demand.shape[1])
    padded = np.concatenate([capacity, np.full((len(capacity), 1), np.inf)], axis=1)
    shape = (len(weight), count)
    cap = np.broadcast_to(ceiling.T / weight, shape)
    per_weight = np.broadcast_to(rows.demand * weight[rows.row], (len(rows.row), count))
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(per_weight > 0, padded.T[rows.station] / per_weight, np.inf)
    most = np.minimum(np.minimum.reduceat(alone, rows.first, axis=0), cap)
    visitors = np.bincount(rows.station, minlength=padded.shape[1])
    shared = np.flatnonzero(_may_fill(padded, rows, per_weight, most, visitors)[rows.station])
    single = np.flatnonzero(visitors[rows.station] == 1)
    own = np.full(len(rows.row), np.inf)[:, None] * np.ones(count)
    own[single] = alone[single]
    limit = np.minimum(np.minimum.reduceat(own, rows.first, axis=0), cap)
    level, binding = limit.copy(), np.full(shape, -1, dtype=np.int64)
    for first in range(0, count if len(shared) else 0, _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        here = padded if len(padded) == 1 else padded[some]
        part = replace(rows, demand=_columns(rows.demand, some))
        filling = _Filling(here, part, _columns(weight, some), limit[:, some], shared)
        filling.fill(level[:, some], binding[:, some])
    alike = (own <= level[rows.row] * (1 + _TIE)) & np.isfinite(own)
    number = np.where(alike, rows.station[:, None], np.iinfo(np.int64).max)
    holder = np.minimum.reduceat(number, rows.first, axis=0)
    held = np.where(binding >= 0, np.minimum(binding, holder), holder)
    binding = np.where(held < np.iinfo(np.int64).max, held, -1)
    rate = np.where(np.isfinite(level), np.minimum(level * weight, np.broadcast_to(ceiling.T, shape)), np.inf)
    return Solution(capacity, rate.T, ceiling, binding.T)


def _columns(given: Array, some: slice) -> Array:
    """Some of the scenarios, where there are several."""
    return given if given.shape[1] == 1 else given[:, some]


def _may_fill(capacity: Array, rows: Rows, per_weight: Array, most: Array, visitors: Index) -> NDArray[np.bool_]:
    """(K + 1,) stations of several transfers that those could fill together, each as fast as it could be alone.

    A transfer's own limit at such a station keeps the station in; so those that are left out hold nobody.
    """
    met = np.flatnonzero((visitors > 1) & np.isfinite(capacity).any(axis=0))
    fills, part = np.zeros(len(visitors), dtype=bool), np.flatnonzero(np.isin(rows.station, met))
    with np.errstate(invalid="ignore"):
        taken = np.nan_to_num(most[rows.row[part]] * per_weight[part], nan=0.0, posinf=np.inf)
    whole = summed(np.searchsorted(met, rows.station[part]), taken, len(met))
    fills[met] = (whole >= capacity.T[met] * (1 - 1e-9)).any(axis=1)
    return fills


def solve(m: Matrices) -> Solution:
    """Rates of all transfers in all scenarios.

    Where memory load slows cores, rates and capacities are found together by repetition: more rate
    means less capacity, so there is one answer, and each round is closer by the slope (a quarter).
    """
    if m.turn.any():
        count, whole = m.capacity.shape[1], solve(apart(m))
        binding = np.where(whole.binding >= 0, whole.binding % count, whole.binding)
        return replace(whole, capacity=capacity_of_all(whole.capacity, count), binding=binding)
    return filled(m, Workers(m), np.ones((1, len(m.workers)), dtype=bool))


def filled(m: Matrices, workers: Workers, active: NDArray[np.bool_], near: float | None = None) -> Solution:
    """Rates while only some transfers run, ``active`` (S, F); the rates of the others are 0.

    Of a shared station a transfer has the part that its workers are there for (`Workers.weights`), found with the
    rates as well, until those move by less than a part ``near``.
    """
    solution = _shared(m, workers, active, m.capacity, m.weight[:, None])
    if not (m.slowdowns or workers.elsewhere):
        return solution
    scenarios = np.arange(len(solution.rate))
    enough = near or (_EXACT if len(scenarios) == 1 else _DRAWN)
    weight, settled = np.broadcast_to(m.weight[:, None], solution.rate.T.shape), np.zeros(len(scenarios), dtype=bool)
    whole = solution.each(lambda a: np.array(np.broadcast_to(a, (len(scenarios), a.shape[1]))))
    for _ in range(_ROUNDS):
        if workers.elsewhere:
            found = workers.weights(solution.capacity, solution.rate, solution.binding, weight)
            weight = np.where(settled, weight, found)
        before, capacity = solution.rate, slowed_capacity(m, solution.rate) if m.slowdowns else m.capacity
        solution = _shared(m, workers, active, capacity, weight)
        for kept, now in zip(whole.parts, solution.parts, strict=True):
            kept[scenarios] = now
        held = np.greater_equal(weight.T, m.weight * _THERE)
        whole.binding[scenarios] = np.where(held, solution.binding, -1)
        settled = settled | np.isclose(before, solution.rate, rtol=_ELSEWHERE, atol=0.0).all(axis=1)
        moves = np.flatnonzero(~np.isclose(before, solution.rate, rtol=enough, atol=0.0).all(axis=1))
        if not len(moves):
            break
        if len(moves) < _MUCH * len(scenarios):
            scenarios, weight, settled = scenarios[moves], weight[:, moves], settled[moves]
            solution = solution.each(partial(_some, moves))
            m, active = m.some(moves), _some(moves, active)
            workers = Workers(m)
    return whole


def _some(scenarios: Index, given: NDArray[Any]) -> NDArray[Any]:
    """Some scenarios of what may be one for all."""
    return given[scenarios] if len(given) > 1 else given


def _shared(m: Matrices, workers: Workers, active: NDArray[np.bool_], capacity: Array, weight: Array) -> Solution:
    """Rates of those that run at given capacities (S, K) and weights (F, S)."""
    return maxmin(capacity, m.total, weight, np.where(active, workers.ceilings(capacity, active), 0.0))


def slowed_capacity(m: Matrices, rate: Array) -> Array:
    """Capacities (S, K) when the transfers run at ``rate`` (S, F)."""
    capacity = np.broadcast_to(m.capacity, (max(len(m.capacity), len(rate)), m.capacity.shape[1])).copy()
    if not m.slowdowns:
        return capacity
    load = m.loads(np.where(np.isfinite(rate), rate, 0.0))
    drivers = [driver for driver, _, _, _ in m.slowdowns]
    slope, reference = (np.array(np.broadcast_arrays(*(s[n] for s in m.slowdowns))).T for n in (2, 3))
    used = np.minimum(load[:, drivers] / m.capacity[:, drivers], 1.0)
    factor = np.maximum(memory.interference(used, slope, reference), 1.0)
    for n, (_, affected, _, _) in enumerate(m.slowdowns):
        capacity[:, affected] /= factor[:, n : n + 1]
    return capacity


def relieved(m: Matrices, *, station: int | None, transfer: int) -> Matrices:
    """The problem without a station's limit, or (None) without the waiting of a transfer."""
    if station is not None:
        capacity = m.capacity.copy()
        capacity[:, station] = np.inf
        return replace(m, capacity=capacity)
    delay, served, opening, lead = m.delay.copy(), m.served.copy(), m.opening.copy(), m.lead.copy()
    delay[:, m.transfer == transfer] = served[:, m.transfer == transfer] = 0.0
    opening[:, transfer] = 0.0
    lead[:, transfer] = 0.0
    return replace(m, delay=delay, served=served, opening=opening, lead=lead)
