"""Transfers laid out in time: who has not begun, or has ended, leaves its share to the rest.

Each transfer is a row of stages: its lead, in which nothing moves; then its bytes, by phase where its workers go
through the phases once, and by how many workers still have a file. Rates are max-min fair (`dtnsim.steady.solve`) until
the next stage of anybody ends, and are found again for those that stay: the fluid limit of what `simulate` does file by
file. All scenarios go on at the same time, each by its own clock.

A drive that serves fewer streams seeks less: who shares one is composed for the streams that are there (`Drives`).

Neglects: workers of many files who are at unlike phases (a mean row stands for all of them); of many transfers, what
others have more or less of until a few ends are over that are put together (some per cent of a transfer's rate).

Shapes: S scenarios, F transfers, G stages that move bytes, K stations.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.composition import sharing
from dtnsim.physics._arrays import quantile
from dtnsim.steady.ceilings import Workers
from dtnsim.steady.matrices import matrices
from dtnsim.steady.ordering import total_rate
from dtnsim.steady.solve import filled, solve
from dtnsim.steady.stages import Stage, as_transfer, staged, stages_of, taken
from dtnsim.steady.unshared import Unshared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnsim.ground.records import Problem, Transfer
    from dtnsim.steady.matrices import Matrices

    Array = NDArray[np.float64]
    Index = NDArray[np.intp]

#: parts of the time gone by within which stages end together: of one scenario, and of many
_TOGETHER: Final = 1e-9
_DRAWN: Final = 2e-3
#: epochs from which on several ends are put together, as many as this part of those that are under way, and how closely
#: shares are found then: of one scenario, and of many
_MANY: Final = 24
_NEXT: Final = (0.25, 0.5)
_NEAR: Final = (1e-3, 1e-2)
#: scenarios times transfers up to which rates are found for all numbers of transfers together
_FEW: Final = 8192
#: transfers whose durations differ by less end together
_ALIKE: Final = 1e-3


def rates(problem: Problem, m: Matrices | None = None) -> Array:
    """Rates of transfers over their own time, (S, F) [B/s]; ``m`` has the arrays, where they are known."""
    return laid_out(problem, matrices(problem) if m is None else m)


def total(problem: Problem) -> Array:
    """Rate of a whole path, all its transfers together, (S,) [B/s]."""
    return total_rate(problem, rates(problem))


def laid_out(problem: Problem, m: Matrices, together: Array | None = None) -> Array:
    """Rates of transfers over their own time, each from its first second to its last, (S, F) [B/s].

    Args:
        problem: The transfers.
        m: The same as arrays, with the capacities of the stations when nobody uses them.
        together: (S, F) rates while all of them run, where they are known [B/s].
    """
    if len(problem.transfers) == 1:
        return solve(m).rate if together is None else together
    pools = Counter(t.cache.pool for t in problem.transfers if t.cache is not None)
    shared = {pool for pool, writers in pools.items() if writers > 1}
    stages = [stages_of(t, m, f, shared) for f, t in enumerate(problem.transfers)]
    if _may_end_together(problem, stages):
        together = solve(m).rate if together is None else together
        if _ends_together(problem, together):
            return together
    return _Course(problem, m, stages).rates()


def _may_end_together(problem: Problem, stages: list[list[Stage]]) -> bool:
    """Whether nobody begins after any other, and all have one stage of bytes."""
    if any(t.start_s or t.after or t.pause_s for t in problem.transfers):
        return False
    return all(sum(bool(s.phases) for s in own) <= 1 for own in stages)


def _ends_together(problem: Problem, together: Array) -> bool:
    """Whether nobody ends before any other who begins with it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        lasts = np.array([t.payload_B for t in problem.transfers]) / together
    lasts = np.where([t.timed for t in problem.transfers], [t.time_s for t in problem.transfers], lasts)
    first, last = lasts.min(axis=1), lasts.max(axis=1)
    return bool(np.all(np.isinf(first) | (last <= first * (1 + _ALIKE))))


class _Course:
    """The epochs of a path's transfers."""

    def __init__(self, problem: Problem, m: Matrices, stages: list[list[Stage]]) -> None:
        self._problem = problem
        count, most = len(stages), max(len(own) for own in stages)
        self._scenarios = s = max(len(m.capacity), m.total.demand.shape[1], len(m.lead))
        place = {t.name: f for f, t in enumerate(problem.transfers)}
        self._after = {f: [place[name] for name in t.after] for f, t in enumerate(problem.transfers) if t.after}
        self._start = np.array([t.start_s for t in problem.transfers])
        self._pause = np.array([t.pause_s for t in problem.transfers])
        self._which = np.full((count, most + 1), -1, np.intp)
        self._bytes = np.zeros((count, most + 1))
        self._seconds = np.full((s, count, most + 1), math.inf)
        self._counts = np.zeros((count, most + 1), dtype=bool)
        self._last = np.array([len(own) for own in stages])
        moving: list[tuple[int, Stage]] = []
        for f, own in enumerate(stages):
            for k, stage in enumerate(own):
                if stage.phases:
                    self._which[f, k] = len(moving)
                    moving.append((f, stage))
                self._bytes[f, k] = stage.part * problem.transfers[f].payload_B if stage.phases else math.inf
                self._seconds[:, f, k], self._counts[f, k] = stage.seconds, stage.counts
        self._given, self._moving = m, [as_transfer(problem.transfers[f], f, stage, m) for f, stage in moving]
        self._m = staged(m, self._moving)
        self._unshared = Unshared(self._m)
        self._places: dict[int, int] = {}
        self._stage = np.full((s, count), -1)
        self._left_B, self._left_s = np.full((2, s, count), math.inf)
        # each has a clock: what ends among others' ends goes on from there, not from the last of them
        self._clock, self._begun, self._moved = np.zeros((3, s, count))
        self._ended, self._shared = np.full((s, count), math.inf), np.full((s, count), -1)
        self._rate: Array = np.zeros((s, count))

    def rates(self) -> Array:
        """Goes through all epochs."""
        for epoch in itertools.count():
            rate = self._shares(_NEAR[self._scenarios > 1] if epoch > _MANY else None)
            active = (self._stage >= 0) & (self._stage < self._last)
            with np.errstate(divide="ignore", invalid="ignore"):
                lasts = np.minimum(np.where(rate > 0, self._left_B / rate, math.inf), self._left_s)
            ends = np.where(active, self._clock + lasts, self._starts())
            if not np.isfinite(ends).any():
                break
            self._go_on(active, rate, np.isfinite(ends) & (ends <= self._reach(ends, active, epoch)), ends)
        payload = np.array([t.payload_B for t in self._problem.transfers])
        timed = np.array([t.time_s if t.timed else math.nan for t in self._problem.transfers])
        with np.errstate(divide="ignore", invalid="ignore"):  # who never ends is at rest
            return np.asarray(np.where(np.isnan(timed), payload / (self._ended - self._begun), self._moved / timed))

    def _reach(self, ends: Array, active: NDArray[np.bool_], epoch: int) -> Array:
        """(S, 1) up to when stages end together that end next, at the times ``ends`` (S, F) [s]."""
        several = self._scenarios > 1
        reach = np.asarray(ends.min(axis=1) * (1 + (_DRAWN if several else _TOGETHER)))
        if epoch > _MANY:
            next_ones = (np.count_nonzero(active, axis=1) * _NEXT[several]).astype(np.intp)
            last = np.sort(ends, axis=1)[np.arange(len(ends)), np.maximum(next_ones - 1, 0)]
            reach = np.maximum(reach, np.where(np.isfinite(last), last, 0.0))
            # all scenarios up to the same time: so the same few transfers are under way in them
            reach = np.maximum(reach, quantile(reach[np.isfinite(reach)], 0.5, between=True))
        return reach[:, None]

    def _starts(self) -> Array:
        """When those begin that have not, (S, F) [s]; infinite where that is not known yet."""
        start = np.broadcast_to(self._start, self._stage.shape).copy()
        for f, others in self._after.items():
            start[:, f] = np.maximum(start[:, f], self._ended[:, others].max(axis=1))
        return np.where(self._stage < 0, start + self._pause, math.inf)

    def _shares(self, near: float | None) -> Array:
        """Rates of the transfers as they are now, (S, F) [B/s]; ``near``: how closely, where it need not be exactly."""
        which = np.take_along_axis(self._which[None], np.clip(self._stage, 0, None)[:, :, None], axis=2)[:, :, 0]
        which = self._beside_others(np.where((self._stage >= 0) & (self._stage < self._last), which, -1))
        moves = which >= 0
        changed = (which != self._shared).any(axis=1) & moves.any(axis=1)
        self._rate, self._shared = np.where(moves, self._rate, 0.0), which
        if not changed.any():
            return self._rate
        shared, slowed = self._by_themselves(which, changed)
        changed[changed] = shared
        size = np.frexp(np.count_nonzero(moves, axis=1))[1]
        if np.count_nonzero(changed) * np.count_nonzero((which[changed] >= 0).any(axis=0)) <= _FEW:
            size[:] = 0
        for alike in np.unique(size[changed]):  # arrays have a column for everyone who moves in any of their scenarios
            some = np.flatnonzero(changed & (size == alike))
            row, column = np.nonzero(moves[some])
            used, here = np.unique(which[some][row, column], return_inverse=True)
            active = np.zeros((len(some), len(used)), dtype=bool)
            active[row, here] = True
            part = taken(self._m, used)
            part = part if len(some) == len(which) else part.some(some)
            part = part if slowed else part.unslowed
            found = np.broadcast_to(filled(part, Workers(part), active, near).rate, active.shape)
            self._rate[some[row], column] = found[row, here]
        return self._rate

    def _by_themselves(self, which: Index, changed: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], bool]:
        """In which of the scenarios that are ``changed`` somebody shares what fills, and whether memory slows any core.

        In the others everyone has the rate of those who are by themselves.
        """
        some = np.flatnonzero(changed)
        row, column = np.nonzero(which[some] >= 0)
        used, here = np.unique(which[some][row, column], return_inverse=True)
        active = np.zeros((len(some), len(used)), dtype=bool)
        active[row, here] = True
        free, slowed = self._unshared.holds(used, active, some if len(some) < len(which) else slice(None))
        row, column, here = (at[free[row]] for at in (row, column, here))
        rate = self._unshared.rate
        self._rate[some[row], column] = rate[used[here], some[row] if rate.shape[1] > 1 else 0]
        return ~free, bool(slowed.any())

    def _beside_others(self, which: Index) -> Index:
        """Columns (S, F) of stages, those of who shares a drive as it is beside the streams that are there now."""
        drives, known = self._problem.drives, len(self._moving)
        if drives is None or drives.scenarios not in (1, self._scenarios):
            return which
        minding = [f for f in range(len(self._last)) if drives.visits(f) and drives.minds(f)]
        if not minding:
            return which
        here = (self._stage >= 0) & (self._stage < self._last)
        streams: dict[tuple[str, str], Index] = {}
        for f in range(len(self._last)):
            for volume, own in drives.visits(f):
                streams[volume] = np.asarray(streams.get(volume, 0) + own * here[:, f], np.intp)
        which = which.copy()
        for f in minding:
            volumes = [volume for volume, _ in drives.visits(f)]
            some = np.flatnonzero(which[:, f] >= 0)
            if not len(some) or not drives.minds(f):
                continue
            counts, row = np.unique(np.array([streams[v][some] for v in volumes]).T, axis=0, return_inverse=True)
            made = [drives.beside(f, dict(zip(volumes, each, strict=True))) for each in counts.tolist()]
            which[some, f] += np.array([self._place(f, t) for t in made])[row.ravel()]
        if len(self._moving) > known:
            self._m = staged(self._given, self._moving)
            self._unshared = Unshared(self._m)
        return which

    def _place(self, f: int, transfer: Transfer) -> int:
        """How far the columns of a transfer's stages, which are made here, lie behind those beside all others."""
        whole = self._problem.drives.whole(f) if self._problem.drives is not None else transfer
        own = [column for column in self._moving if column.of is self._given and column.f == f]
        steps = [p.step for p in transfer.phases]
        if transfer is whole or set(steps) != {p.step for p in whole.phases}:
            return 0
        if id(transfer) not in self._places:
            self._places[id(transfer)] = len(self._moving) - self._moving.index(own[0])
            made = sharing.opened(transfer) if self._problem.transfers[f].opened else transfer
            m, first = matrices(replace(self._problem, transfers=(made,))), self._given.phases_of(f).start
            alike = len(steps) == len(whole.phases)
            for c in own:
                at = c.numbers.start - first
                begin, name = (at, "") if alike else (steps.index(whole.phases[at].step), whole.phases[at].step)
                numbers = m.phases_of(0) if c.whole else range(begin, begin + max(steps.count(name), 1))
                self._moving.append(replace(c, of=m, numbers=numbers, part=1.0 if alike else c.moved))
        return self._places[id(transfer)]

    def _go_on(self, active: NDArray[np.bool_], rate: Array, now: NDArray[np.bool_], ends: Array) -> None:
        """Time goes on to the last of the ends of those that end ``now``; they go to their next stage."""
        until = np.where(now, ends, np.where(now, ends, -math.inf).max(axis=1, keepdims=True))
        lasts = np.where(active, np.maximum(until - self._clock, 0.0), 0.0)
        counted = self._counts[np.arange(rate.shape[1]), np.clip(self._stage, 0, None)]
        with np.errstate(invalid="ignore"):
            moved = np.where(np.isinf(rate), self._left_B, rate * lasts)  # all of it at once where nothing holds it
            moved = np.where(active & (rate > 0), moved, 0.0)
            self._moved += np.where(counted, moved, 0.0)
            self._left_B = np.maximum(self._left_B - moved, 0.0)
            self._left_s = np.maximum(self._left_s - lasts, 0.0)
        self._begun = np.where(now & (self._stage < 0), ends, self._begun)
        self._stage = self._stage + now
        self._ended = np.where(now & (self._stage == self._last), ends, self._ended)
        place = np.clip(self._stage, 0, None)
        self._left_B = np.where(now, self._bytes[np.arange(rate.shape[1]), place], self._left_B)
        seconds = np.take_along_axis(self._seconds, place[:, :, None], axis=2)[:, :, 0]
        self._left_s = np.where(now, seconds, self._left_s)
        self._clock = np.where(now, ends, self._clock + lasts)
