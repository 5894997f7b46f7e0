"""Keeps what happens: rates, utilisation and what holds each transfer, in a bounded number of bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.simulation.jobs import at
from dtnsim.simulation.results import Held, Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnsim.records import Problem
    from dtnsim.simulate.engine import Engine
    from dtnsim.simulation.jobs import Job

    Array = NDArray[np.float64]

#: bins kept; when time outgrows them, pairs are merged
BINS: Final = 512
#: index that stands for waiting (round trips, file operations)
WAITING: Final = -1


class Recorder:
    """Integrates everything between two changes of the shares into bins of time."""

    def __init__(
        self, problem: Problem, jobs: list[Job], caches: list[Any], width: float = 1e-3, scenario: int = 0
    ) -> None:
        self.problem, self.jobs, self.caches = problem, jobs, caches
        self.width = width
        transfers, stations = len(jobs), len(problem.stations)
        self.capacity = np.array([at(s.capacity, scenario) for s in problem.stations])
        self._sums = {
            "rate": np.zeros((BINS, transfers)), "medium": np.zeros((BINS, transfers)),
            "use": np.zeros((BINS, stations)), "flows": np.zeros((BINS, stations)),
        }  # fmt: skip
        self.level = np.zeros((BINS, transfers))
        self.holds: list[list[tuple[float, float, int]]] = [[] for _ in jobs]
        self.now = 0.0
        self._state: dict[str, Array] = {k: np.zeros(v.shape[1]) for k, v in self._sums.items()}
        self._held = [WAITING] * transfers

    def __call__(self, now: float, engine: Engine) -> None:
        """After a change of the shares: book the time since the last one, then look at the rates now."""
        self.book(now)
        state = {k: np.zeros_like(v) for k, v in self._state.items()}
        for f, job in enumerate(self.jobs):
            cache = self.caches[f]
            self._held[f] = WAITING
            top = 0.0
            for flow, leg in job.busy.values():
                rate = engine.rate(flow)
                state["rate"][f] += rate
                if cache is None:
                    state["medium"][f] += rate
                state["use"] += rate * leg.dense if cache is None else rate * leg.dense_fill
                state["flows"][leg.dense > 0] += 1
                if rate >= top:
                    top = rate
                    station = engine.bottleneck(flow)
                    self._held[f] = leg.cap_station if station is None else station
                    if cache is not None and flow.flow.cap < leg.cap * (1 - 1e-9):
                        self._held[f] = self._medium(engine, cache)
            if cache is not None:
                out = engine.rate(cache.outflow)
                state["medium"][f] = out
                if not job.busy and out > 0:
                    self._held[f] = self._medium(engine, cache)
                for k, demand in cache.row.items():
                    state["use"][k] += out * demand
        self._state = state

    @staticmethod
    def _medium(engine: Engine, cache: Any) -> int:
        """The station that holds back what leaves a cache."""
        station = engine.bottleneck(cache.outflow)
        return WAITING if station is None else station

    def book(self, now: float) -> None:
        """Adds what was constant since the last change."""
        if now <= self.now:
            return
        while now > self.width * BINS:
            self._merge()
        first, last = int(self.now / self.width), min(int(now / self.width), BINS - 1)
        levels = np.array([c.level if c is not None else 0.0 for c in self.caches])
        for b in range(first, last + 1):
            span = min(now, (b + 1) * self.width) - max(self.now, b * self.width)
            if span > 0:
                for key, sums in self._sums.items():
                    sums[b] += self._state[key] * span
            left = max(now - (b + 1) * self.width, 0.0)
            self.level[b] = levels - (self._state["rate"] - self._state["medium"]) * left
        self.level[last] = levels
        for f, job in enumerate(self.jobs):
            if job.started == job.started and not job.done:
                self._hold(f, now)
        self.now = now

    def _hold(self, f: int, now: float) -> None:
        held, station = self.holds[f], self._held[f]
        if held and held[-1][2] == station:
            held[-1] = (held[-1][0], now, station)
        else:
            held.append((self.now, now, station))
            if len(held) > 4 * BINS:
                self.holds[f] = coarser(held, now / BINS)

    def _merge(self) -> None:
        """Twice as wide bins, half as many in use."""
        self.width *= 2
        half = BINS // 2
        for key, sums in self._sums.items():
            merged = np.zeros_like(sums)
            merged[:half] = sums[0::2] + sums[1::2]
            self._sums[key] = merged
        level = np.zeros_like(self.level)
        level[:half] = self.level[1::2]
        self.level = level

    def series(self) -> Series:
        """What was kept, as means over each bin."""
        used = max(1, int(np.ceil(self.now / self.width)))
        edge = np.append(np.arange(used) * self.width, self.now)
        span = np.maximum(np.diff(edge), 1e-300)[:, None]
        mean = {k: v[:used] / span for k, v in self._sums.items()}
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(self.capacity > 0, mean["use"] / self.capacity, 0.0)
        return Series(edge, mean["rate"], mean["medium"], self.level[:used], share, mean["flows"])

    def held(self, f: int) -> tuple[Held, ...]:
        """What held a transfer back, in stretches no shorter than a 500th of the whole."""
        names = [s.name for s in self.problem.stations]
        stretches = coarser(self.holds[f], (self.now or 1.0) / BINS)
        return tuple(Held(a, b, "waiting" if k == WAITING else names[k]) for a, b, k in stretches)


def coarser(held: list[tuple[float, float, int]], width: float) -> list[tuple[float, float, int]]:
    """Joins stretches shorter than ``width`` into one that carries what held longest in it."""
    result: list[tuple[float, float, int]] = []
    pending: list[tuple[float, float, int]] = []

    def close() -> None:
        if not pending:
            return
        time: dict[int, float] = {}
        for a, b, k in pending:
            time[k] = time.get(k, 0.0) + b - a
        longest = max(time, key=lambda k: time[k])
        if result and result[-1][2] == longest:
            result[-1] = (result[-1][0], pending[-1][1], longest)
        else:
            result.append((pending[0][0], pending[-1][1], longest))
        pending.clear()

    for stretch in held:
        if stretch[1] - stretch[0] >= width:
            close()
            if result and result[-1][2] == stretch[2]:
                result[-1] = (result[-1][0], stretch[1], stretch[2])
            else:
                result.append(stretch)
            continue
        pending.append(stretch)
        if pending[-1][1] - pending[0][0] >= width:
            close()
    close()
    return result
