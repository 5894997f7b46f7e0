"""A `Problem` as sparse arrays: one entry for each station that a phase, or a whole transfer, visits.

Shapes: S scenarios, F transfers, P phases of all transfers, K stations, N entries. Entries have scenarios on the last
axis, so that sums run along memory; arrays that are handed out have them on the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Final

import numpy as np

from dtnsim.ground.quantity import Value, middle
from dtnsim.ground.records import SLOW_START, Demand, Problem, Transfer
from dtnsim.physics._arrays import BoolArray, FloatArray as Array, Index
from dtnsim.physics.waiting import rounds
from dtnsim.steady.rows import Rows, summed, take

#: fields of `Matrices` that are time in which no station works
WAITS: Final = ("delay", "served", "grows", "opening", "lead")
#: those with a value for each scenario, if several, and for each phase, transfer and station
_OF_SCENARIOS: Final = ("capacity", "alone", *WAITS)
OF_PHASES: Final = ("delay", "served", "grows", "moved")
OF_TRANSFERS: Final = ("workers", "weight", "opening", "lead", "in_turn", "turn")
OF_STATIONS: Final = ("capacity", "alone", "split", "own")


@dataclass(frozen=True, slots=True)
class Matrices:
    """A `Problem` as arrays."""

    capacity: Array  #: (S, K).
    total: Rows  #: Rows of the transfers: all phases added up.
    phases: Rows  #: Rows of the phases, transfer by transfer, without demands that yield to any other work.
    transfer: Index  #: (P,) whose phase it is, rising; every transfer has a phase.
    delay: Array  #: (S, P) seconds of waiting per payload byte.
    #: (S, P) the part of it in which a station has others as well: requests are served, or windows grow back.
    served: Array
    grows: Array  #: (S, P) the part of that in which windows recover from slow start's overshoot: bytes move.
    moved: Array  #: (P,) part of a payload byte's step that moves in each phase [1].
    workers: Array  #: (F,).
    #: For each transfer: (workers that have a file, part of its bytes that moves meanwhile); the last round is seldom
    #: full.
    rounds: tuple[tuple[tuple[int, float], ...], ...]
    weight: Array  #: (F,).
    #: (S, F) share of the workers' time that a timed transfer loses once, at its start (for others this is spread over
    #: the bytes, in ``delay``).
    opening: Array
    lead: Array  #: (S, F) seconds per payload byte before any worker of a transfer moves.
    split: BoolArray  #: (K,): station serves one transfer only, and each of its workers has a part of it.
    own: BoolArray  #: (K,): station serves one transfer only, split or not.
    alone: Array  #: (S, K) part of a station's capacity that one worker has while the others are elsewhere [1].
    in_turn: BoolArray  #: (F,): several workers do one step after the other with each file.
    turn: Index  #: (F,) transfers of different turns never meet.
    #: For each, (index of the driver, indices of the affected, slope, reference).
    slowdowns: tuple[tuple[int, Index, Array, Array], ...] = ()

    def phases_of(self, f: int) -> range:
        """Numbers of a transfer's phases."""
        return range(*np.searchsorted(self.transfer, (f, f + 1)))

    @property
    def at_work(self) -> Array:
        """(F,) mean number of workers that have a file to work on."""
        return np.array([_mean(levels) for levels in self.rounds])

    @property
    def begins(self) -> Index:
        """(F,) number of each transfer's first phase."""
        return np.searchsorted(self.transfer, np.arange(len(self.workers)))

    def take(self, scenarios: Index) -> Matrices:
        """The problem in some scenarios."""
        total, pick = self.total.take(scenarios), partial(take, scenarios)
        return replace(
            self,
            total=total,
            phases=total if self.phases is self.total else self.phases.take(scenarios),
            slowdowns=tuple((d, a, pick(slope), pick(reference)) for d, a, slope, reference in self.slowdowns),
            **dict[str, Any]((name, pick(getattr(self, name))) for name in _OF_SCENARIOS),
        )

    def select(self, names: tuple[str, ...], which: Index) -> dict[str, Any]:
        """Fields cut to some phases, transfers or stations, their last axis."""
        return {name: getattr(self, name).take(which, axis=-1) for name in names}

    @property
    def unslowed(self) -> Matrices:
        """The problem without the slowdown of cores by memory load."""
        return replace(self, slowdowns=()) if self.slowdowns else self

    @property
    def changing(self) -> BoolArray:
        """(K,) stations that memory load slows down."""
        mask = np.zeros(self.capacity.shape[1], dtype=bool)
        for _, affected, _, _ in self.slowdowns:
            mask[affected] = True
        return mask

    def loads(self, rate: Array, stations: Index | None = None) -> Array:
        """Load of each station (or of some) at rates (S, F), the highest of all turns, (S, K) [unit/s]."""
        count = self.capacity.shape[1]
        entries: Index | slice = slice(None)
        place = np.arange(count + 1)
        if stations is not None:
            place[:], place[stations] = len(stations), np.arange(len(stations))
            entries, count = np.flatnonzero(place[self.total.station] < len(stations)), len(stations)
        with np.errstate(invalid="ignore"):
            taken = rate.T.take(self.total.row[entries], axis=0) * self.total.demand[entries]
        if not np.isfinite(taken).all():  # a transfer without limit at a station that it does not load
            taken = np.nan_to_num(taken)
        column = place[self.total.station[entries]]
        if not self.turn.any():
            return summed(column, taken, count + 1)[:-1].T
        pairs, number = np.unique(self.turn[self.total.row[entries]] * (count + 1) + column, return_inverse=True)
        most = np.zeros((count + 1, taken.shape[1]))
        np.maximum.at(most, pairs % (count + 1), summed(number, taken, len(pairs)))
        return most[:-1].T


def matrices(problem: Problem) -> Matrices:
    """Writes a problem as arrays; scalar entries broadcast over the scenarios."""
    return Layout(problem).arrays()


class Layout:
    """A problem's rows, from which the arrays of any of its scenarios are made."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        index = self._index = {s.name: k for k, s in enumerate(problem.stations)}
        self.scenarios = scenario_count(problem)  #: How many scenarios there are.
        self._transfer = np.array([f for f, t in enumerate(problem.transfers) for _ in t.phases], np.intp)
        self._delay, self._served, self._grows = np.zeros((3, len(self._transfer), self.scenarios))
        phases: list[dict[int, Value]] = []
        totals: list[dict[int, Value]] = []
        for t in problem.transfers:
            apart, yields = once_only(t), dict[int, Value]()
            for phase in t.phases:
                row: dict[int, Value] = {}
                for demand in phase.demands:
                    k, cost, into = index[demand.station], demand.per_byte, yields if demand.yields else row
                    into[k] = into[k] + cost if k in into else cost
                for delay in phase.delays:
                    if delay.each not in apart and not at_once(t, delay):
                        self._delay[len(phases)] += delay.per_byte
                        self._served[len(phases)] += delay.per_byte if delay.each == "byte" else 0.0
                        self._grows[len(phases)] += delay.per_byte if grows_back(delay) else 0.0
                phases.append(row)
            rows = phases[len(phases) - len(t.phases) :]
            totals.append(self._summed([*rows, yields] if yields else rows))
        self._phases = _Entries(phases, len(self._index))
        alike = len(phases) == len(totals) and all(len(t.phases) == 1 for t in problem.transfers)
        self._total = self._phases if alike else _Entries(totals, len(self._index))
        self.entries = len(self._phases.station)  #: How many entries the rows of the phases have.

    def _summed(self, rows: list[dict[int, Value]]) -> dict[int, Value]:
        if len(rows) == 1:
            return rows[0]
        sums: dict[int, Value] = {}
        for row in rows:
            for k, cost in row.items():
                sums[k] = sums.get(k, 0.0) + cost
        return sums

    def _worker_part(self, block: slice, count: int) -> Array:
        """(count, K) part of each station that one worker has while the others are elsewhere."""
        part = np.ones((count, len(self._problem.stations)))
        for k, s in enumerate(self._problem.stations):
            if s.alone is not None:
                with np.errstate(divide="ignore", invalid="ignore"):
                    part[:, k] = np.nan_to_num(_part(s.alone, block) / _part(s.capacity, block), nan=1.0, posinf=1.0)
        for f, t in enumerate(self._problem.transfers):
            if t.workers > 1:
                visited = self._total.stations_of(f)
                part[:, visited[[self._problem.stations[k].split for k in visited]]] = 1 / t.workers
        return part

    def arrays(self, block: slice = slice(None)) -> Matrices:
        """The arrays of some scenarios."""
        transfers = self._problem.transfers
        count = len(range(self.scenarios)[block])
        phases = self._phases.rows(block, count)
        total = phases if self._total is self._phases else self._total.rows(block, count)
        return Matrices(
            _spread([s.capacity for s in self._problem.stations], block, count).T,
            total,
            phases,
            self._transfer,
            self._delay.T[block].copy(),
            (self._served + self._grows).T[block],
            self._grows.T[block].copy(),
            np.array([part for t in transfers for part in moved(t)]),
            np.array([t.workers for t in transfers], float),
            tuple(rounds_of(t) for t in transfers),
            np.array([t.weight for t in transfers], float),
            _spread([opening(t) for t in transfers], block, count).T,
            _spread([lead(t) for t in transfers], block, count).T,
            np.array([s.split for s in self._problem.stations], dtype=bool),
            np.array([s.private for s in self._problem.stations], dtype=bool),
            self._worker_part(block, count),
            np.array([in_turn(t) for t in transfers], dtype=bool),
            np.array([t.turn for t in transfers], np.intp),
            tuple(
                (
                    self._index[d.driver],
                    np.array([self._index[a] for a in d.affected]),
                    _part(d.slope, block),
                    _part(d.reference, block),
                )
                for d in self._problem.slowdowns
            ),
        )


def _part(value: Value, block: slice) -> Array:
    every = np.atleast_1d(value)
    return every[block] if every.size > 1 else every


def _spread(values: Sequence[Value], block: slice, count: int) -> Array:
    """(N, count) of what is one value or one a scenario."""
    table = np.empty((len(values), count))
    for line, value in zip(table, values, strict=True):
        line[:] = value if isinstance(value, float) else _part(value, block)
    return table


class _Entries:
    """Rows from dictionaries station -> demand; a row without any gets an entry of nothing at station ``none``."""

    def __init__(self, rows: list[dict[int, Value]], none: int) -> None:
        sizes = np.array([max(len(row), 1) for row in rows], np.intp)
        items = [item for row in rows for item in ([(k, row[k]) for k in sorted(row)] or [(none, 0.0)])]
        self.station = np.array([k for k, _ in items], np.intp)
        self._demand, self._none = [cost for _, cost in items], none
        self._row = np.repeat(np.arange(len(rows)), sizes)
        self._first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)

    def stations_of(self, row: int) -> Index:
        """The stations that a row visits."""
        end = self._first[row + 1] if row + 1 < len(self._first) else len(self.station)
        stations = self.station[self._first[row] : end]
        return stations[stations < self._none]

    def rows(self, block: slice, count: int) -> Rows:
        """The rows in some scenarios, so many."""
        return Rows(self.station, self._row, self._first, _spread(self._demand, block, count))


def once_only(transfer: Transfer) -> tuple[str, ...]:
    """Delays that are not charged per byte: ``lead``, and the start of a timed transfer."""
    return ("lead", "start", "open") if transfer.timed else ("lead",)


def of_rows(value: Value, rows: Index) -> Array:
    """A value in the scenarios of some rows."""
    return np.broadcast_to(value, rows.shape) if np.size(value) in {1, rows.size} else np.asarray(value)[rows]


def beyond(problem: Problem, m: Matrices, rows: Index) -> Array:
    """Marginal demand of one more byte, for each entry of `Matrices.total`, (N, S).

    It equals the mean demand, except for a timed writer whose page cache is full: from then on every byte goes straight
    through to the medium.
    """
    limits = m.total.demand
    for f, t in enumerate(problem.transfers):
        if t.timed and t.buffered is not None and not t.flushed and len(t.phases) > 1 and not several_steps(t):
            limits = np.array(np.broadcast_to(limits, (len(limits), len(rows))))
            for entry in np.flatnonzero(m.total.row == f):
                name = problem.stations[m.total.station[entry]].name
                limits[entry] = sum(of_rows(d.per_byte, rows) for d in t.buffered.demands if d.station == name)
    return limits


def lead(transfer: Transfer) -> Array:
    """Seconds per payload byte before any worker moves; 0 for a timed transfer, which counts from the first byte."""
    if transfer.timed:
        return np.zeros(1)
    workers = _mean(rounds_of(transfer))
    before = (d for p in transfer.phases for d in p.delays if d.each == "lead" or at_once(transfer, d))
    every = (np.asarray(d.per_byte, float) / (1.0 if d.each == "lead" else workers) for d in before)
    return sum(every, np.zeros(1))


def at_once(transfer: Transfer, delay: Demand) -> bool:
    """Whether all workers share one wait at the start: connection set-up, or slow start."""
    set_up = delay.each == "start" and transfer.workers > 1 and not grows_back(delay)
    return (set_up or delay.each == "open") and not transfer.timed


def grows_back(delay: Demand) -> bool:
    """Whether a delay is the recovery of windows from slow start's overshoot."""
    return delay.each == "start" and delay.what == SLOW_START


def several_steps(transfer: Transfer) -> bool:
    """Whether its workers take their files through more than one step."""
    return len({p.step for p in transfer.phases}) > 1


def divided(transfer: Transfer) -> bool:
    """Whether its files are cut into parts, so that all workers can share one file."""
    return max(transfer.sizes_B, default=0.0) > transfer.piece_B


def in_turn(transfer: Transfer) -> bool:
    """Whether several workers each take a file through several steps, and so queue at shared stations."""
    return transfer.workers > 1 and several_steps(transfer)


def rounds_of(transfer: Transfer) -> tuple[tuple[int, float], ...]:
    """(workers with a file, part of the bytes) of each round; all workers if the transfer is timed or files are cut."""
    workers = max(int(transfer.workers), 1)
    if transfer.timed or divided(transfer) or not transfer.sizes_B:
        return ((workers, 1.0),)
    return _rounds(transfer.sizes_B, transfer.counts, workers)


_rounds: Final = lru_cache(maxsize=64)(rounds)  #: a path asks it again and again of the same files


def moved(transfer: Transfer) -> list[float]:
    """Part of a step's bytes that moves in each of its phases, at the median; their rows are per byte of the whole."""
    parts = []
    for phase in transfer.phases:
        d = next((d for d in phase.demands if not d.below_cache), None) if len(transfer.phases) > 1 else None
        every = [e for p in transfer.phases if p.step == phase.step for e in p.demands if d and e.station == d.station]
        same = sum(middle(e.per_byte) for e in every if d and e.what == d.what)
        parts.append(middle(d.per_byte) / same if d and same > 0 else 1.0)
    return parts


def _mean(levels: tuple[tuple[int, float], ...]) -> float:
    """Workers at work, averaged over the time that each of them takes alone."""
    return 1 / sum(part / n for n, part in levels)


def opening(transfer: Transfer) -> Array:
    """Share of its time that a timed transfer loses once, at its start; 0 for others.

    Seconds that the test omits absorb the time before the first byte, but not `SLOW_START`.
    """
    if not transfer.timed:
        return np.zeros(1)
    each = max(transfer.payload_B, 1.0) / transfer.workers
    lost = {True: np.zeros(1), False: np.zeros(1)}
    for delay in (d for p in transfer.phases for d in p.delays if d.each in ("start", "open")):
        lost[delay.what == SLOW_START] = lost[delay.what == SLOW_START] + np.asarray(delay.per_byte, float) * each
    before, ramp = lost[False], lost[True]
    return np.clip((np.maximum(before - transfer.omitted_s, 0.0) + ramp) / transfer.time_s, 0.0, 1.0)


def scenario_count(problem: Problem) -> int:
    """How many scenarios a problem has: every array has as many values, or a single one."""
    capacities = (s.capacity for s in problem.stations)
    costs = (d.per_byte for t in problem.transfers for p in t.phases for d in (*p.demands, *p.delays))
    several = (np.size(v) for v in chain(capacities, costs) if not isinstance(v, float))
    return next((size for size in several if size > 1), 1)
