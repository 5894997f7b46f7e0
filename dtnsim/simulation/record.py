"""Records a run: rates, utilisation and the bottleneck of each transfer, in a bounded number of bins.

Rates are constant between events, so the bytes moved by the edge of a bin follow from the engine's state at the last
event before it. Counts are taken only at edges, and a bin is the difference of two. The bottleneck of a transfer is
noted whenever time moves on, up to a number of times; after that once per bin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from dtnsim.engine.engine import Engine
from dtnsim.ground.records import SLOW_START
from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.simulation import transfer_processes
from dtnsim.simulation.jobs import Job, Leg
from dtnsim.simulation.results import Held, Series, joined

BINS: Final = 512  #: bins kept; when time outgrows them, pairs are merged
#: transfers up to which it is so many, and the fewest of more
_FULL: Final = 100
_FEWEST: Final = 64
#: index that means waiting (round trips, file operations), and for connections that still open up
WAITING: Final = -1
OPENING: Final = -2
#: what connections that open up do
OPENS: Final = "the connections open up: their windows grow from round trip to round trip"
_NAMES: Final = {WAITING: "waiting", OPENING: SLOW_START}
_SLIVER: Final = 1e-6  #: part of a bin below which the last one belongs to the one before
#: instants after each of which it is noted what holds the transfers; one counts so often where many are looked at
NOTES: Final = 20_000
_AT_ONCE: Final = 10
_ALWAYS: Final = 0.95  #: a station is hardly ever without one of those that use it in turns


class Edges:
    """Edges of bins at which something is counted; beyond ``most`` pairs of bins are merged."""

    def __init__(self, width: float, most: int) -> None:
        self.width, self.most = width, most
        self.next = width
        self.times: list[float] = []
        self.counts: list[Any] = []

    @classmethod
    def of(cls, expected_s: float, transfers: int) -> Edges:
        """Edges for a run of so many transfers that will take about so long: a few doublings at most.

        Of many transfers fewer bins are kept, since each is counted at every edge.
        """
        most = max(min(BINS, BINS * _FULL // max(transfers, 1)), min(BINS, _FEWEST))
        return cls(expected_s / (2 * most) if 0 < expected_s < math.inf else 1e-3, most)

    def take(self, time: float, count: Any) -> None:
        """Keeps a count."""
        self.times.append(time)
        self.counts.append(count)

    def upto(self, time: float, count: Callable[[float], Any]) -> None:
        """Counts at all edges before ``time``, when the next event happens."""
        while self.next < time:
            self.take(self.next, count(self.next))
            if len(self.times) > self.most:
                self.times, self.counts = self.times[::2], self.counts[::2]
                self.width *= 2
            self.next = self.times[-1] + self.width

    def close(self, now: float, count: Callable[[float], Any]) -> None:
        """Counts for the last time."""
        self.upto(now, count)
        if len(self.times) > 1 and now - self.times[-1] < _SLIVER * self.width:  # no rates over nothing but rounding
            self.times.pop()
            self.counts.pop()
        if now > self.times[-1]:
            self.take(now, count(now))


class Recorder:
    """Counts everything at the edges of bins, and notes what holds the transfers.

    ``taken`` is what other people's transfers have taken of each station by a time, (K,) [unit].
    """

    def __init__(
        self,
        engine: Engine,
        jobs: Sequence[Job],
        capacity: Sequence[float],
        expected_s: float,
        taken: Callable[[float], Array] | None = None,
    ) -> None:
        self.engine, self.jobs, self._others = engine, jobs, taken
        self.edges = Edges.of(expected_s, len(jobs))
        self._given = np.array(capacity, float)
        #: those of one transfer, whose capacity is a mean: a connection that opens up gives more for a while
        self._own = np.isinf(np.array(engine.fluid.stations))
        self._offered = np.zeros(len(capacity))
        self._since = 0.0
        self._closed = np.zeros((2, len(capacity)))
        self._under_way: dict[int, Job] = {}
        self._number = {job: f for f, job in enumerate(jobs)}
        #: those whose holder may change though nothing but rates does: several workers, a cache, links that may die
        self._always: dict[int, Job] = {}
        self._all, self._epoch = True, 0
        self._moving = dict.fromkeys(range(len(jobs)))
        self._passed = np.zeros((3, len(jobs)))
        self._table: _Table | None = None
        self._begun = 0
        self.holds: list[list[tuple[float, int]]] = [[] for _ in jobs]
        self.notes = NOTES
        self._before = [0.0] * len(jobs)
        self.edges.take(0.0, self._counted(0.0))

    # -- counting ---------------------------------------------------------------------------------

    def upto(self, time: float) -> None:
        """Counts at all edges before ``time``, when the next event happens."""
        self.edges.upto(time, self._count)

    def close(self, now: float) -> None:
        """Counts for the last time."""
        self.edges.close(now, self._count)

    def begun(self, f: int) -> None:
        """A transfer has begun."""
        job = self._under_way[f] = self.jobs[f]
        self.engine.stirred[job] = None
        if job.workers > 1 or job.cache is not None or job.turned() is not None:
            self._always[f] = job

    def ended(self, f: int) -> None:
        """A transfer has ended."""
        del self._under_way[f]
        self._always.pop(f, None)

    def replaced(self, which: Sequence[int]) -> None:
        """Legs of some jobs are about to be replaced: what has passed the old ones is added to the stations."""
        for f in which:
            transfer_processes.book(self.engine, self.jobs[f], self.engine.env.now)
        self._closed += _Table([leg for f in which for leg in self.jobs[f].legs]).used(self._closed.shape[1])
        self._table = None

    def offer(self, station: int, capacity: float) -> None:
        """A station has another capacity from now on."""
        now = self.engine.env.now
        self._all = True
        self._offered = self._offered_by(now)
        self._since = now
        self._given[station] = capacity

    def _offered_by(self, time: float) -> Array:
        finite = np.where(np.isfinite(self._given), self._given, 0.0)
        return self._offered + finite * (time - self._since)

    def _count(self, time: float) -> tuple[Array, Array, Array]:
        counted = self._counted(time)
        self._note_bin(time)
        return counted

    def _counted(self, time: float) -> tuple[Array, Array, Array]:
        for f in [f for f in self._moving if self.jobs[f].begun]:
            job = self.jobs[f]
            transfer_processes.book(self.engine, job, time)
            self._passed[:, f] = job.passed
            if job.done and job.cache is None:
                del self._moving[f]
        passed = self._passed.copy()
        begun = [job for job in self.jobs if job.begun] if self._table is None or self._begun < len(self.jobs) else []
        if self._table is None or len(begun) > self._begun:
            self._table, self._begun = _Table([leg for job in begun for leg in job.legs]), len(begun)
        stations = self._closed + self._table.used(self._closed.shape[1])
        if self._others is not None:
            stations[0] += self._others(time)
        return passed, stations, self._offered_by(time)

    def series(self) -> Series:
        """What was counted, as means over each bin."""
        edge = np.array(self.edges.times)
        passed, stations, offered = (np.array([c[n] for c in self.edges.counts]) for n in range(3))
        span = np.maximum(np.diff(edge), 1e-300)[:, None]
        rate, medium, _ = (np.diff(passed[:, n], axis=0) / span for n in range(3))
        used, flows = np.diff(stations[:, 0], axis=0), np.diff(stations[:, 1], axis=0) / span
        room = np.diff(offered, axis=0)
        shut = np.where(np.isfinite(self._given) & (flows > 0), 1.0, 0.0)  # no capacity at all, and somebody waits
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = np.where(room > 0, used / room, shut)
        share = np.where(self._own, np.minimum(share, 1.0), share)
        return Series(edge, rate, medium, passed[1:, 2], share, flows)

    # -- what holds them --------------------------------------------------------------------------

    def note(self, now: float) -> None:
        """Notes what holds each transfer from now on, all events of this instant done."""
        engine = self.engine
        if self._all or engine.fluid.epoch != self._epoch:
            looked, self._all, self._epoch = dict(self._under_way), False, engine.fluid.epoch
        else:
            numbers = (self._number.get(job, -1) for job in engine.stirred)
            looked = {**self._always, **{f: self._under_way[f] for f in numbers if f in self._under_way}}
        engine.stirred.clear()
        self.notes -= max(1, len(looked) // _AT_ONCE)
        for f, job in looked.items():
            if not job.in_turns or not self.holds[f]:
                self._note(f, now, self._holder(job))
        if self.notes <= 0:
            seconds = [sum(leg.seconds for leg in job.legs) for job in self.jobs]
            self._before = [b if j.in_turns else s for b, s, j in zip(self._before, seconds, self.jobs, strict=True)]

    def _note(self, f: int, now: float, holder: int) -> None:
        holds = self.holds[f]
        if not holds or holds[-1][1] != holder:
            holds.append((now, holder))

    def _note_bin(self, time: float) -> None:
        """Once a bin: waiting where workers mostly wait, else what holds those that move.

        Where waiting and moving take turns, a station holds them that is hardly ever without one of them.
        """
        for f, job in self._under_way.items():
            if self.notes > 0 and not job.in_turns:
                continue
            seconds = sum(leg.seconds for leg in job.legs)
            moving, self._before[f] = max(seconds - self._before[f], 0.0), seconds
            holder = self._holder(job)
            if job.barred >= job.workers:
                holder = job.barred_by
            elif moving < (_ALWAYS if job.in_turns else 0.5 * job.workers) * self.edges.width and not job.flushing:
                holder = WAITING
            elif holder == WAITING:
                continue  # none moves at this very edge: as before
            self._note(f, time, holder)

    def _holder(self, job: Job) -> int:
        """The station that holds back the fastest of a job's flows, of those at what its workers spend most time on.

        A flow that only its own limit holds is no holder where most of the workers wait.
        """
        top, holder, engine = (-1.0, -1.0), WAITING, self.engine
        spent = {leg.name: leg.seconds + waits for leg, waits in zip(job.legs, job.waiting, strict=True)}
        moves = [move for move in job.moves.values() if not move.flow.triggered]
        for move in moves:
            rate = spent[move.leg.name], engine.rate(move.flow)
            if rate > top:
                station = engine.bottleneck(move.flow)
                if station is None:
                    leg = move.leg
                    waits = leg.byte_s * leg.cap > 1 or 2 * len(moves) < job.workers - job.barred
                    opening = move.share < math.inf and move.flow.flow.cap < leg.cap * (1 - 1e-9)
                    station = OPENING if opening else WAITING if waits else leg.cap_station
                top, holder = rate, station
        if holder == WAITING and job.flushing and job.cache is not None and job.cache.outflow is not None:
            station = engine.bottleneck(job.cache.outflow)
            holder = WAITING if station is None else station
        return job.barred_by if holder == WAITING and job.barred else holder

    def stretches(self, f: int, names: Sequence[str], parts: int = BINS) -> tuple[Held, ...]:
        """What held a transfer back, by the stations' ``names``, in stretches no shorter than so many parts."""
        job, end = self.jobs[f], self.edges.times[-1]
        end = min(end, job.finished) if job.done else end
        return held_by([(t, _NAMES.get(k) or names[k]) for t, k in self.holds[f]], end, parts)


def held_by(changes: Sequence[tuple[float, str]], end: float, parts: int = BINS) -> tuple[Held, ...]:
    """What held a transfer until its end [s], of changes (time [s], by what from then on).

    No stretch is shorter than one of so many parts of the whole.
    """
    stops = [*(t for t, _ in changes[1:]), end]
    stretches = [Held(a, min(b, end), k) for (a, k), b in zip(changes, stops, strict=False) if min(b, end) > a]
    return joined(stretches, (end or 1.0) / parts)


class _Table:
    """Legs side by side, so that what they take of the stations is one sum."""

    def __init__(self, legs: Sequence[Leg]) -> None:
        self._legs = legs
        visits = [
            (n, k, leg.fill_costs.get(k, 0.0), leg.drain_costs.get(k, 0.0))
            for n, leg in enumerate(legs)
            for k in sorted(leg.fill_costs.keys() | leg.drain_costs.keys())
        ]
        table = np.array(visits, float).reshape(-1, 4).T
        self._leg, self._station = table[:2].astype(np.intp)
        self._cost = table[2:]
        self._visits = (self._cost > 0).any(axis=0)

    def used(self, stations: int) -> Array:
        """(2, K): what they have taken of the stations so far [unit], and flow-seconds there [s]."""
        passed = np.array([(leg.filled, leg.drained, leg.seconds) for leg in self._legs], float).reshape(-1, 3)[
            self._leg
        ]
        used = np.zeros_like(self._cost)  # a byte may cost what no thread can give; then none has passed
        np.multiply(passed[:, :2].T, self._cost, out=used, where=passed[:, :2].T > 0)
        taken = used.sum(axis=0), passed[:, 2] * self._visits
        return np.array([np.bincount(self._station, weights=w, minlength=stations) for w in taken])
