"""Keeps what happens: rates, utilisation and what holds each transfer, in a bounded number of bins.

Rates are constant between events, so what has moved by the edge of a bin follows from the engine's
state at the last event before it. Nothing is added up at events: at the edges alone everything is
counted, and a bin is the difference of two counts. What holds a transfer is looked at whenever time
moves on, up to a number of times; after that once a bin.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.ground.records import SLOW_START
from dtnsim.simulation import moves
from dtnsim.simulation.results import Held, Series, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dtnsim.engine.engine import Engine
    from dtnsim.simulation.jobs import Job

    Array = NDArray[np.float64]

#: bins kept; when time outgrows them, pairs are merged
BINS: Final = 512
#: index that stands for waiting (round trips, file operations), and for connections that still open up
WAITING: Final = -1
OPENING: Final = -2
_NAMES: Final = {WAITING: "waiting", OPENING: SLOW_START}
#: part of a bin below which the last one belongs to the one before
_SLIVER: Final = 1e-6
#: instants after each of which it is noted what holds the transfers
NOTES: Final = 20_000


class Recorder:
    """Counts everything at the edges of bins, and notes what holds the transfers.

    Args:
        engine: The engine.
        jobs: The transfers.
        capacity: (K,) capacity of each station at the start [unit/s].
        width: Width of a bin to begin with [s].
        others: What other people's transfers have taken of each station by a time, (K,) [unit].
    """

    def __init__(
        self, engine: Engine, jobs: Sequence[Job], capacity: Sequence[float], width: float,
        others: Callable[[float], Array] | None = None,
    ) -> None:  # fmt: skip
        self.engine, self.jobs, self._others = engine, jobs, others
        self.width = width
        self.edge = width
        self._given = np.array(capacity, float)
        self._offered = np.zeros(len(capacity))
        self._since = 0.0
        self._closed = np.zeros((2, len(capacity)))
        self.times: list[float] = []
        self.counts: list[tuple[Array, Array, Array]] = []
        self.holds: list[list[tuple[float, int]]] = [[] for _ in jobs]
        self.notes = NOTES
        self._before = [0.0] * len(jobs)
        self._count(0.0)

    # -- counting ---------------------------------------------------------------------------------

    def upto(self, time: float) -> None:
        """Counts at all edges before ``time``, when the next event happens."""
        while self.edge < time:
            at = self.edge
            self._count(at)
            if self.notes <= 0:
                self._note_bin(at)
            if len(self.times) > BINS:
                self.times, self.counts = self.times[::2], self.counts[::2]
                self.width *= 2
            self.edge = self.times[-1] + self.width

    def close(self, now: float) -> None:
        """Counts for the last time."""
        self.upto(now)
        if len(self.times) > 1 and now - self.times[-1] < _SLIVER * self.width:  # no rates over nothing but rounding
            self.times.pop()
            self.counts.pop()
        if now > self.times[-1]:
            self._count(now)
            if self.notes <= 0:
                self._note_bin(now)

    def replaced(self) -> None:
        """The legs of the jobs are about to be replaced: what has passed the old ones is added to the stations."""
        for job in self.jobs:
            moves.book(self.engine, job, self.engine.env.now)
        self._closed += self._used()

    def offer(self, station: int, capacity: float) -> None:
        """A station has another capacity from now on."""
        now = self.engine.env.now
        self._offered = self._offered_by(now)
        self._since = now
        self._given[station] = capacity

    def _offered_by(self, time: float) -> Array:
        finite = np.where(np.isfinite(self._given), self._given, 0.0)
        return self._offered + finite * (time - self._since)

    def _used(self) -> Array:
        """(2, K): what the legs as they are now have taken of the stations [unit], and flow-seconds there [s]."""
        used = np.zeros_like(self._closed)
        for job in self.jobs:
            for leg in job.legs:
                used[0] += leg.tally.filled * leg.dense_fill + leg.tally.drained * leg.dense_drain
                used[1] += leg.tally.seconds * ((leg.dense_fill > 0) | (leg.dense_drain > 0))
        return used

    def _count(self, time: float) -> None:
        passed = np.zeros((3, len(self.jobs)))
        for f, job in enumerate(self.jobs):
            moves.book(self.engine, job, time)
            passed[:, f] = carried(job)
        stations = self._closed + self._used()
        if self._others is not None:
            stations[0] += self._others(time)
        self.times.append(time)
        self.counts.append((passed, stations, self._offered_by(time)))

    def series(self) -> Series:
        """What was counted, as means over each bin."""
        edge = np.array(self.times)
        passed, stations, offered = (np.array([c[n] for c in self.counts]) for n in range(3))
        span = np.maximum(np.diff(edge), 1e-300)[:, None]
        rate, medium, _ = (np.diff(passed[:, n], axis=0) / span for n in range(3))
        used, flows = np.diff(stations[:, 0], axis=0), np.diff(stations[:, 1], axis=0) / span
        room = np.diff(offered, axis=0)
        shut = np.where(np.isfinite(self._given) & (flows > 0), 1.0, 0.0)  # no capacity at all, and somebody waits
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = np.where(room > 0, used / room, shut)
        return Series(edge, rate, medium, passed[1:, 2], share, flows)

    # -- what holds them --------------------------------------------------------------------------

    def note(self, now: float) -> None:
        """Notes what holds each transfer from now on, all events of this instant done."""
        self.notes -= 1
        for f, job in enumerate(self.jobs):
            if job.begun and not job.done:
                self._note(f, now, self._holder(job))
        if self.notes <= 0:
            self._before = [sum(leg.tally.seconds for leg in job.legs) for job in self.jobs]

    def _note(self, f: int, now: float, holder: int) -> None:
        held = self.holds[f]
        if not held or held[-1][1] != holder:
            held.append((now, holder))

    def _note_bin(self, time: float) -> None:
        """Once a bin: waiting where workers mostly wait, else what holds those that move."""
        for f, job in enumerate(self.jobs):
            seconds = sum(leg.tally.seconds for leg in job.legs)
            moving, self._before[f] = max(seconds - self._before[f], 0.0), seconds
            if not job.begun or job.done:
                continue
            holder = self._holder(job)
            if moving < 0.5 * job.workers * self.width and not job.flushing:
                holder = WAITING
            elif holder == WAITING:
                continue  # none moves at this very edge: as before
            self._note(f, time, holder)

    def _holder(self, job: Job) -> int:
        """The station that holds back the fastest of a job's flows."""
        top, holder, engine = -1.0, WAITING, self.engine
        for move in job.moves.values():
            if move.flow.triggered:
                continue
            rate = engine.rate(move.flow)
            if rate > top:
                station = engine.bottleneck(move.flow)
                if station is None:
                    opening = move.flow.flow.cap < move.leg.cap * (1 - 1e-9)
                    station = OPENING if opening else move.leg.cap_station
                top, holder = rate, station
        if holder == WAITING and job.flushing and job.cache is not None and job.cache.outflow is not None:
            station = engine.bottleneck(job.cache.outflow)
            holder = WAITING if station is None else station
        return holder

    def held(self, f: int, names: Sequence[str], parts: int = BINS) -> tuple[Held, ...]:
        """What held a transfer back, in stretches no shorter than one of so many parts of the whole."""
        job, end = self.jobs[f], self.times[-1]
        end = min(end, job.finished) if job.done else end
        stops = [*(t for t, _ in self.holds[f][1:]), end]
        stretches = [
            Held(a, min(b, end), _NAMES.get(k) or names[k])
            for (a, k), b in zip(self.holds[f], stops, strict=False)
            if min(b, end) > a
        ]
        return joined(stretches, (end or 1.0) / parts)


def carried(job: Job) -> tuple[float, float, float]:
    """(bytes carried to the destination or into its cache, bytes on the medium, bytes in the cache) so far."""
    if job.cache is not None:
        return job.cache.filled, job.cache.drained, job.cache.level
    passed = job.carried + job.legs[job.main].tally.filled
    return passed, passed, 0.0


def first_width(expected_s: float) -> float:
    """Width of the first bins for a run that will take about so long [s]: a few doublings at most."""
    return expected_s / (2 * BINS) if 0 < expected_s < math.inf else 1e-3
