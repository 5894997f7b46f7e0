"""A `Problem` as sparse arrays: an entry for each station that a phase, or a whole transfer, visits.

Shapes: S scenarios, F transfers, P phases of all transfers, K stations, N entries. Entries have the scenarios last, so
that sums over them run along memory; what is handed out has the scenarios first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from dtnsim.ground.records import SLOW_START
from dtnsim.physics.rounds import workers_at_work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnsim.ground.quantity import Value
    from dtnsim.ground.records import Demand, Problem, Transfer

    Array = NDArray[np.float64]
    Index = NDArray[np.intp]


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


@dataclass(frozen=True, slots=True)
class Matrices:
    """A `Problem` as arrays.

    Attributes:
        capacity: (S, K).
        total: Rows of the transfers: all phases added up.
        phases: Rows of the phases, transfer by transfer.
        transfer: (P,) whose phase it is, rising; every transfer has a phase.
        delay: (S, P) seconds of waiting per payload byte.
        served: (S, P) the part of it in which requests are served, by drives that have others at the same time.
        workers: (F,).
        at_work: (F,) how many of them have a file to work on, in the mean: the last round is seldom full.
        weight: (F,).
        opening: (S, F) share of its workers' time that is gone once, at their start, where a time ends a transfer (else
            that is spread over the bytes, in ``delay``).
        lead: (S, F) seconds per payload byte before any worker of a transfer moves.
        turn: (F,) transfers of different turns never meet.
        private: (K,): station serves one transfer only, and its capacity is that of all its workers.
        in_turn: (F,): several workers do one step after the other with each file.
        slowdowns: For each, (index of the driver, indices of the affected, slope, reference).
    """

    capacity: Array
    total: Rows
    phases: Rows
    transfer: Index
    delay: Array
    served: Array
    workers: Array
    at_work: Array
    weight: Array
    opening: Array
    lead: Array
    private: NDArray[np.bool_]
    in_turn: NDArray[np.bool_]
    turn: Index
    slowdowns: tuple[tuple[int, Index, Array, Array], ...] = ()

    def phases_of(self, f: int) -> range:
        """Numbers of a transfer's phases."""
        return range(*np.searchsorted(self.transfer, (f, f + 1)))

    @property
    def begins(self) -> Index:
        """(F,) number of each transfer's first phase."""
        return np.searchsorted(self.transfer, np.arange(len(self.workers)))

    def loads(self, rate: Array) -> Array:
        """What rates (S, F) take of each station, (S, K) [unit/s]; the most of all turns."""
        if self.turn.any():
            each = (np.where(self.turn == g, rate, 0.0) for g in range(int(self.turn.max()) + 1))
            alike = replace(self, turn=np.zeros_like(self.turn))
            return np.asarray(np.maximum.reduce([alike.loads(part) for part in each]))
        used = np.zeros((self.capacity.shape[1] + 1, max(len(rate), self.total.demand.shape[1])))
        with np.errstate(invalid="ignore"):  # a transfer without limit at a station that it does not load
            np.add.at(used, self.total.station, np.nan_to_num(rate.T[self.total.row] * self.total.demand))
        return used[:-1].T


def matrices(problem: Problem) -> Matrices:
    """Writes a problem as arrays; scalar entries broadcast over the scenarios."""
    index = {s.name: k for k, s in enumerate(problem.stations)}
    count = _scenarios(problem)
    capacity = np.empty((count, len(index)))
    for k, station in enumerate(problem.stations):
        capacity[:, k] = station.capacity
    phases: list[dict[int, Value]] = []
    whole: list[dict[int, Value]] = []
    transfer: list[int] = []
    delays, served = np.zeros((2, sum(len(t.phases) for t in problem.transfers), count))
    for f, t in enumerate(problem.transfers):
        sums: dict[int, Value] = {}
        apart = once(t)
        for phase in t.phases:
            row: dict[int, Value] = {}
            for demand in phase.demands:
                k = index[demand.station]
                row[k] = row.get(k, 0.0) + demand.per_byte
            for k, cost in row.items():
                sums[k] = sums.get(k, 0.0) + cost
            for delay in phase.delays:
                if delay.each not in apart and not at_once(t, delay):
                    delays[len(phases)] += delay.per_byte
                    served[len(phases)] += delay.per_byte if delay.each == "byte" else 0.0
            phases.append(row)
            transfer.append(f)
        whole.append(sums)
    return Matrices(
        capacity,
        _rows(whole, len(index), count),
        _rows(phases, len(index), count),
        np.array(transfer, np.intp),
        delays.T.copy(),
        served.T.copy(),
        np.array([t.workers for t in problem.transfers], float),
        np.array([at_work(t) for t in problem.transfers], float),
        np.array([t.weight for t in problem.transfers], float),
        np.array([np.broadcast_to(opening(t), (count,)) for t in problem.transfers]).T,
        np.array([np.broadcast_to(lead(t), (count,)) for t in problem.transfers]).T,
        np.array([s.private for s in problem.stations], dtype=bool),
        np.array([in_turn(t) for t in problem.transfers], dtype=bool),
        np.array([t.turn for t in problem.transfers], np.intp),
        _slowdowns(problem, index),
    )


def _slowdowns(problem: Problem, index: dict[str, int]) -> tuple[tuple[int, Index, Array, Array], ...]:
    return tuple(
        (index[d.driver], np.array([index[a] for a in d.affected]), np.atleast_1d(d.slope), np.atleast_1d(d.reference))
        for d in problem.slowdowns
    )


def _rows(given: list[dict[int, Value]], none: int, count: int) -> Rows:
    """Rows from dictionaries station -> demand; a row without any gets an entry of nothing at station ``none``."""
    sizes = np.array([max(len(row), 1) for row in given], np.intp)
    demand = np.empty((int(sizes.sum()), count))
    station = np.empty(len(demand), np.intp)
    n = 0
    for row in given:
        for k in sorted(row):
            station[n] = k
            demand[n] = row[k]
            n += 1
        if not row:
            station[n], demand[n] = none, 0.0
            n += 1
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
    return Rows(station, np.repeat(np.arange(len(given)), sizes), first, demand)


def once(transfer: Transfer) -> tuple[str, ...]:
    """Delays that do not belong to a worker's bytes: ``lead``, and the start of a transfer that a time ends."""
    return ("lead", "start") if transfer.timed else ("lead",)


def lead(transfer: Transfer) -> Array:
    """Seconds per payload byte before any worker moves; 0 where a time ends the transfer, which counts from then on."""
    if transfer.timed:
        return np.zeros(1)
    found = np.zeros(1)
    for delay in (d for p in transfer.phases for d in p.delays):
        if delay.each == "lead":
            found = found + np.asarray(delay.per_byte, float)
        elif at_once(transfer, delay):
            found = found + np.asarray(delay.per_byte, float) / at_work(transfer)
    return found


def at_once(transfer: Transfer, delay: Demand) -> bool:
    """Whether all workers wait at the same time, once, before anything moves: their connections are set up.

    While connections open up (`SLOW_START`) bytes move already.
    """
    return delay.each == "start" and not transfer.timed and transfer.workers > 1 and delay.what != SLOW_START


def in_turn(transfer: Transfer) -> bool:
    """Whether several workers do one step after the other with each file, so that they meet at what they share."""
    return transfer.workers > 1 and len({p.step for p in transfer.phases}) > 1


def at_work(transfer: Transfer) -> float:
    """Workers that have a file to work on, in the mean; all where a time ends it or files are cut."""
    if transfer.timed or transfer.divided or not transfer.sizes_B:
        return transfer.workers
    return workers_at_work(transfer.sizes_B, transfer.counts, int(transfer.workers))


def opening(transfer: Transfer) -> Array:
    """Share of its time that a timed transfer's workers lose once, at their start; 0 where bytes end it.

    What is omitted swallows what comes before the first byte; `SLOW_START` is counted from then on as it is.
    """
    if not transfer.timed:
        return np.zeros(1)
    each = max(transfer.payload_B, 1.0) / transfer.workers
    before, ramp = np.zeros(1), np.zeros(1)
    for delay in (d for p in transfer.phases for d in p.delays if d.each == "start"):
        if delay.what == SLOW_START:
            ramp = ramp + np.asarray(delay.per_byte, float) * each
        else:
            before = before + np.asarray(delay.per_byte, float) * each
    return np.clip((np.maximum(before - transfer.omitted_s, 0.0) + ramp) / transfer.time_s, 0.0, 1.0)


def _scenarios(problem: Problem) -> int:
    """How many scenarios a problem has: every array has as many values, or a single one."""
    capacities = (s.capacity for s in problem.stations)
    costs = (d.per_byte for t in problem.transfers for p in t.phases for d in (*p.demands, *p.delays))
    several = (np.size(v) for v in chain(capacities, costs) if not isinstance(v, float))
    return next((size for size in several if size > 1), 1)
