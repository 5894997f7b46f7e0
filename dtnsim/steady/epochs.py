"""Transfers laid out in time: the shares of those that have not begun, or have ended, go to the others.

Each transfer is a sequence of stages: its lead, in which nothing moves; then its bytes, by phase if its workers go
through the phases once, and by the number of workers that still have a file. Rates are max-min fair
(`dtnsim.steady.solve`) until the next stage of any transfer ends, and are then solved again: the fluid limit of what
`simulate` does file by file. All scenarios advance together, each with its own clock.

A drive that serves fewer streams seeks less, so transfers that share one are composed for the streams present
(`Drives`). Connections in slow start get the smaller of their window's rate and their share (`dtnsim.steady.openings`).

With many transfers, several ends are handled in one step, each at its own time; the others get what they leave from
the mean of those ends on.

Workers at different steps of their files are told apart where that matters (`dtnsim.steady.occupancy`).

Neglects: what transfers whose ends share a step leave to each other (a few per cent of a transfer's rate).

Shapes: S scenarios, F transfers, G stages that move bytes, K stations.
"""

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.composition import sharing
from dtnsim.ground.records import Problem, Transfer
from dtnsim.physics._arrays import BoolArray, FloatArray as Array, Index
from dtnsim.steady import ordering
from dtnsim.steady.matrices import Matrices, matrices, scenario_count, several_steps
from dtnsim.steady.occupancy import Occupancy, Steps
from dtnsim.steady.pools import Pools, shared, writing_phase
from dtnsim.steady.shares import MUCH
from dtnsim.steady.solve import Rates, solve
from dtnsim.steady.stages import Column, Stage, as_transfer, in_parts, staged, stages_of, step_by_step, subset

if TYPE_CHECKING:
    from dtnsim.steady.openings import Openings

#: fraction of the elapsed time within which ends of stages count as one: for one scenario, and for many
_TOGETHER: Final = 1e-9
_DRAWN: Final = 2e-3
#: fraction of the running transfers whose ends share a step, and how exact shares are then: for one scenario, for many
_NEXT: Final = 1 / 12
_NEAR: Final = (1e-3, 1e-2)
_WIDE: Final = 32  #: columns over all scenarios from which on the scenarios that lag go on by themselves
_APART: Final = 1 << 30  #: more streams than any volume has


def rates(problem: Problem, m: Matrices | None = None) -> Array:
    """Mean rate of each transfer over its own time (S, F) [B/s]; ``m``: the problem as arrays, if known."""
    return laid_out(problem, matrices(problem) if m is None else m)


def total(problem: Problem) -> Array:
    """Rate of all transfers of a path together, (S,) [B/s]."""
    return ordering.total_rate(problem, rates(problem))


def laid_out(problem: Problem, m: Matrices, together: Array | None = None) -> Array:
    """Mean rate of each transfer over its own time, from its first second to its last, (S, F) [B/s].

    Args:
        m: The problem as arrays, with the capacities of the stations when nobody uses them.
        together: (S, F) rates while all of them run, where they are known [B/s].
    """
    if len(problem.transfers) == 1:
        return solve(m).rate if together is None else together
    from dtnsim.steady.openings import FELT, Openings, beginnings_felt, lost_s

    writers = Counter(t.cache.pool for t in problem.transfers if t.cache is not None)
    cut = [in_parts(t) and several_steps(t) and not step_by_step(t) for t in problem.transfers]
    lost = lost_s(problem, m)
    begins, felt = np.zeros((1, len(cut)), dtype=bool), np.zeros(lost.shape, dtype=bool)
    if any(cut) or lost.any():
        together = solve(m).rate if together is None else together
        seconds = ordering.lasts(problem, together)
        begins, felt = beginnings_felt(problem, seconds), lost > FELT * seconds.min(axis=1, keepdims=True)
    opens = Openings(problem, m, felt)
    problem, m = opens.apart(problem, m)
    stages = [
        stages_of(t, m, f, shared=t.cache is not None and writers[t.cache.pool] > 1, begins=begins[:, f])
        for f, t in enumerate(problem.transfers)
    ]
    if not opens.station and _may_end_together(problem, stages):
        together = solve(m).rate if together is None else together
        if _ends_together(problem, together):
            return together
    return _Epochs(problem, m, stages, begins, opens).rates()


def _may_end_together(problem: Problem, stages: list[list[Stage]]) -> bool:
    """Whether all transfers start together with a single one-step stage each, and none shares a cache with another."""
    if any(t.start_s or t.after or t.pause_s or several_steps(t) for t in problem.transfers) or shared(problem):
        return False
    return all(sum(bool(s.phases) for s in row) <= 1 for row in stages)


def _ends_together(problem: Problem, together: Array) -> bool:
    """Whether all transfers that start together also end together."""
    seconds = ordering.lasts(problem, together)
    first, last = seconds.min(axis=1), seconds.max(axis=1)
    return bool(np.all(np.isinf(first) | (last <= first * (1 + _TOGETHER))))


class _Epochs:
    """The epochs of a path's transfers.

    Slots are the transfers that still run in some scenario; each has a clock of its own, because a transfer whose end
    shares a step with others goes on from its own end, not from the last of theirs.
    """

    def __init__(
        self, problem: Problem, m: Matrices, stages: list[list[Stage]], felt: BoolArray, opens: "Openings"
    ) -> None:
        self._problem = problem
        self._scenarios = s = max(len(m.capacity), m.total.demand.shape[1], len(m.lead))
        self._pools = Pools(problem if scenario_count(problem) in (1, s) else replace(problem, transfers=()), s)
        self._openings = opens
        states = {f: self._pools.states(f, problem.transfers[f]) for f in self._pools.of}
        apart = matrices(replace(problem, transfers=tuple(t for row in states.values() for t in row))) if states else m
        written: dict[int, int] = {}
        for n, (f, (free, *_)) in enumerate(states.items()):
            stages[f] = stages_of(free, apart, len(states[f]) * n, shared=True, begins=felt[:, f])
            written[f] = apart.phases_of(len(states[f]) * n)[writing_phase(free)]
        count, most = len(stages), max(len(row) for row in stages)
        place = {t.name: f for f, t in enumerate(problem.transfers)}
        self._after = {f: [place[name] for name in t.after] for f, t in enumerate(problem.transfers) if t.after}
        self._which = np.full((count, most + 1), -1, np.intp)
        self._bytes, self._seconds = np.full((2, count, most + 1, s), math.inf)
        self._counts, self._fills = np.zeros((2, count, most + 1), dtype=bool)
        self._last = np.array([len(row) for row in stages])
        self._moving: list[Column] = []
        for f, row in enumerate(stages):
            for k, stage in enumerate(row):
                if stage.phases:
                    self._which[f, k] = len(self._moving)
                    self._moving.append(as_transfer(f, stage, apart if f in states else m))
                    if f in states:  # and as it is in the other states of the cache, in the rows that come next
                        size = len(states[f][0].phases)
                        for n in range(1, len(states[f])):
                            rows = range(stage.phases.start + n * size, stage.phases.stop + n * size)
                            self._moving.append(as_transfer(f, replace(stage, phases=rows), apart))
                        self._fills[f, k] = written[f] in stage.phases
                    self._bytes[f, k] = stage.part * problem.transfers[f].payload_B
                self._seconds[f, k], self._counts[f, k] = stage.seconds, stage.counts
        self._given, self._beside_all, self._several = m, len(self._moving), False
        self._known: tuple[Index, Rates, Occupancy] | None = None  # columns that were under way lately
        self._steps: dict[Column, Steps] = {}
        self._places: dict[int, int] = {}
        self._here = np.arange(count)
        self._stage: Index
        self._column: Index
        self._stage, self._column, self._shared = np.full((3, s, count), -1)
        self._left_B, self._left_s, self._ended = np.full((3, s, count), math.inf)
        self._rate: Array
        self._clock, self._rate, self._begun, self._moved = np.zeros((4, s, count))
        self._under_way = np.zeros((s, count), dtype=bool)
        self._timed = np.array([t.timed for t in problem.transfers], dtype=bool)
        #: where a transfer came or went in the last epoch, and how long before its end, in the mean [s]
        self._changed: BoolArray = np.zeros(s, dtype=bool)
        self._late: Array = np.zeros((s, 1))
        starts = [math.inf if t.after else t.start_s + t.pause_s for t in problem.transfers]
        self._begins = np.broadcast_to(starts, (s, count)).copy()

    def rates(self) -> Array:
        """Runs through all epochs.

        A scenario that needs new shares waits until the others do too, so that all are solved together.
        """
        while len(self._here):
            column, anew = self._columns()
            rate = np.where((column >= 0) & ~anew[:, None], self._rate, 0.0)
            ends = self._ends(rate)
            waits = anew & (~anew & np.isfinite(ends.min(axis=1))).any() if not self._pools.of else np.zeros_like(anew)
            if not waits.any():
                waits = self._ahead(column, anew)
                rate = self._shares(column, anew & ~waits, waits)
                ends = self._ends(rate)
            first = np.where(waits, math.inf, ends.min(axis=1))
            if not np.isfinite(first).any():
                break
            due = self._openings.ends(self._clock, rate, self._here).min(axis=1)
            due = np.where(np.isfinite(first), due, math.inf)
            if self._pools.of:
                filling = self._pools.filled(np.where(self._writes() & np.isfinite(rate), rate, 0.0), self._here)
                due = np.where(np.isfinite(first), np.minimum(self._pools.due(filling), due), due)
            self._advance(rate, ends, self._reach(ends, np.minimum(first, due)), due, waits)
        payload = np.array([t.payload_B for t in self._problem.transfers])
        times = np.array([t.time_s for t in self._problem.transfers])
        with np.errstate(divide="ignore", invalid="ignore"):  # who never ends is at rest
            return np.asarray(np.where(self._timed, self._moved / times, payload / (self._ended - self._begun)))

    def _ends(self, rate: Array) -> Array:
        """(S, F) when each stage would end at rates (S, F), or a transfer to come begins [s]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            lasts = np.minimum(np.where(rate > 0, self._left_B / rate, math.inf), self._left_s)
        return np.asarray(np.minimum(self._clock + lasts, self._begins))

    def _reach(self, ends: Array, first: Array) -> Array:
        """(S,) time up to which ends (S, F) are handled in one step, the first of them at ``first`` (S,) [s]."""
        reach = first * (1 + (_DRAWN if self._scenarios > 1 else _TOGETHER))
        next_ones = (np.count_nonzero(self._column >= 0, axis=1) * _NEXT).astype(np.intp)
        self._several = bool(next_ones.max() > 1)
        if self._several:
            which = np.maximum(next_ones - 1, 0)
            last = np.partition(ends, np.unique(which), axis=1)[np.arange(len(ends)), which]
            reach = np.maximum(reach, np.where(np.isfinite(last), last, 0.0))
        return np.asarray(np.where(np.isfinite(first), reach, -math.inf))

    def _columns(self) -> tuple[Index, BoolArray]:
        """Current columns (S, F), and (S,) the scenarios that need new shares."""
        column = self._as_caches_are(self._beside_others())
        # the same columns as when shares were last solved accurately: the same shares
        return column, self._changed & (column >= 0).any(axis=1) & (column != self._shared).any(axis=1)

    def _ahead(self, column: Index, anew: BoolArray) -> BoolArray:
        """(S,) the half of the scenarios that are furthest, if all together have many columns and each has a few."""
        none = np.zeros_like(anew)
        if self._pools.of or np.count_nonzero(np.bincount(column[anew].ravel() + 1)[1:]) < _WIDE:
            return none
        clock = np.where(column >= 0, self._clock, 0.0).max(axis=1)
        return np.asarray(anew & (clock > np.median(clock[anew])))

    def _shares(self, column: Index, changed: BoolArray, waits: BoolArray) -> Array:
        """Current rates (S, F) [B/s]; see `_columns`."""
        near, before = _NEAR[self._scenarios > 1] if self._several else None, self._rate
        self._shared = np.where((self._changed & ~waits)[:, None], column if near is None else -2, self._shared)
        rows = slice(None) if changed.all() else np.flatnonzero(changed)
        self._rate = np.where(column >= 0, before, 0.0)
        self._openings.hold(changed, self._here, column, self._moving)
        if changed.any():
            used = np.flatnonzero(np.bincount(column[rows].ravel() + 1, minlength=len(self._moving) + 1)[1:])
            used, rates, states = self._rates(used)
            place = np.full(len(self._moving) + 1, len(used))
            place[used] = np.arange(len(used))
            positions = place[column[rows]]
            most = np.zeros((len(positions), len(used) + 1))
            np.put_along_axis(most, positions, self._openings.most[:, self._here][rows], axis=1)
            rates = rates if isinstance(rows, slice) else rates.take(rows)
            rate = rates.while_active(most[:, :-1], near, bound=False).rate
            rate = states.over_states(rate, most[:, :-1], np.arange(len(column))[rows], near)
            padded = np.concatenate([np.broadcast_to(rate, most[:, 1:].shape), np.zeros((len(positions), 1))], axis=1)
            self._rate[rows] = np.take_along_axis(padded, positions, axis=1)
        if self._late.any():  # what those who ended in the last epoch have left since
            with np.errstate(invalid="ignore"):
                more = np.where((before > 0) & (self._late > 0), (self._rate - before) * self._late, 0.0)
            self._note(more)
        return self._rate

    def _rates(self, used: Index) -> tuple[Index, Rates, Occupancy]:
        """A set of columns that includes ``used``, with its solver: the one at hand if it fits well enough."""
        cached = self._known
        if cached is not None and not np.isin(used, cached[0]).all():
            cached = None
        if cached is not None and 2 * len(used) >= len(cached[0]):
            return cached
        columns = [self._moving[c] for c in used.tolist()]
        m = staged(self._given, columns) if cached is None else subset(cached[1].m, np.searchsorted(cached[0], used))
        self._known = used, Rates(m), Occupancy(self._given, columns, self._problem.transfers, self._steps)
        return self._known

    def _beside_others(self) -> Index:
        """Columns (S, F), those that share a drive as composed for the streams that are present now."""
        drives, column = self._problem.drives, self._column
        if drives is None or drives.scenarios not in (1, self._scenarios):
            return column
        under_way = self._under_way
        running = [(slot, int(self._here[slot])) for slot in np.flatnonzero(under_way.any(axis=0))]
        if not any(drives.minds(f) for _, f in running):
            return column
        streams: dict[tuple[str, str], Index] = {}
        for slot, f in running:
            for volume, count in drives.visits(f):
                streams[volume] = np.asarray(streams.get(volume, 0) + count * under_way[:, slot], np.intp)
        column = column.copy()
        for slot, f in running:
            volumes = [volume for volume, _ in drives.visits(f)]
            moves = np.flatnonzero(column[:, slot] >= 0)
            if not volumes or not len(moves) or not drives.minds(f):
                continue
            code = sum(streams[volume][moves] * _APART**n for n, volume in enumerate(volumes))
            _, first, row = np.unique(code, return_index=True, return_inverse=True)
            beside = [drives.beside_streams(f, {v: int(streams[v][moves[k]]) for v in volumes}) for k in first.tolist()]
            column[moves, slot] += np.array([self._place(f, t) for t in beside])[row]
        return column

    def _as_caches_are(self, column: Index) -> Index:
        """Columns (S, F), those that fill a shared page cache in the cache's present state."""
        slots = [n for n, f in enumerate(self._here.tolist()) if f in self._pools.of]
        if not slots:
            return column
        state = self._pools.states_of(self._here[slots].tolist(), self._writes()[:, slots])
        column = column.copy()
        column[:, slots] += np.where(column[:, slots] >= 0, state, 0)
        return column

    def _place(self, f: int, transfer: Transfer) -> int:
        """Offset from a transfer's first columns to those of a variant of it, which are made on first use."""
        if id(transfer) not in self._places:
            self._places[id(transfer)] = self._make_columns(f, transfer)
        return self._places[id(transfer)]

    def _make_columns(self, f: int, transfer: Transfer) -> int:
        """Makes the columns of a variant of a transfer and returns their offset from its first columns."""
        whole = self._problem.drives.beside_all(f) if self._problem.drives is not None else transfer
        steps = [p.step for p in transfer.phases]
        if transfer is whole or set(steps) != {p.step for p in whole.phases}:
            return 0
        columns = [column for column in self._moving[: self._beside_all] if column.f == f]
        behind = len(self._moving) - self._moving.index(columns[0])
        variant = sharing.opened(transfer) if self._problem.transfers[f].opened else transfer
        variant = self._openings.without(f, variant)
        states = self._pools.states(f, variant) if f in self._pools.of else (variant,)
        m = matrices(replace(self._problem, transfers=states))
        alike = len(states) > 1 or len(steps) == len(whole.phases)
        for n, c in enumerate(columns):
            again = m.phases_of(n % len(states))
            first = c.numbers.start - c.of.phases_of(int(c.of.transfer[c.numbers.start])).start
            name = whole.phases[first].step
            begin, size = (first, len(c.numbers)) if alike else (steps.index(name), steps.count(name))
            numbers = again if c.whole else again[begin : begin + size]
            self._moving.append(replace(c, of=m, numbers=numbers, part=1.0 if alike else c.moved))
        return behind

    def _writes(self) -> BoolArray:
        """(S, F) transfers in a stage that fills a shared cache."""
        return np.asarray(self._fills[self._here, np.maximum(self._stage, 0)] & self._under_way)

    def _advance(self, rate: Array, ends: Array, reach: Array, due: Array, waits: BoolArray) -> None:
        """Advances time to the last of the ends up to ``reach``; transfers that end or begin go to their next stage.

        Args:
            rate: (S, F) rates until then [B/s].
            ends: (S, F) when each would end, or begin [s].
            reach: (S,) up to when they do [s].
            due: (S,) when a shared page cache is full, or has room again [s].
            waits: (S,) where time stands still.
        """
        ending = ends <= reach[:, None]
        until = np.where(ending, ends, -math.inf).max(axis=1, keepdims=True)
        until = np.maximum(until, np.where(due <= reach, due, -math.inf)[:, None])
        lasts = np.where(self._under_way, np.maximum(np.where(ending, ends, until) - self._clock, 0.0), 0.0)
        with np.errstate(invalid="ignore"):
            moved = np.where(np.isinf(rate), self._left_B, rate * lasts)  # all of it at once where nothing holds it
            self._note(np.where(rate > 0, moved, 0.0))
            self._left_s = np.maximum(self._left_s - lasts, 0.0)
        self._clock += lasts
        row, slots = np.nonzero(ending)
        ended, self._changed = ends[row, slots], ending.any(axis=1) | waits
        wider = self._openings.go_on(lasts, rate, self._clock, self._here)
        self._shared[wider], self._changed = -2, self._changed | wider.any(axis=1)
        if self._pools.of:
            self._changed |= self._pools.go_on(until[:, 0])
        late = np.bincount(row, until[row, 0] - ended, len(ending)) / np.maximum(ending.sum(axis=1), 1)
        self._late = np.where(waits[:, None], self._late, late[:, None])
        self._next(row, slots, ended)
        if np.count_nonzero(self._stage < self._last[self._here]) < MUCH * self._stage.size:
            self._forget_ended()

    def _next(self, row: Index, slots: Index, ended: Array) -> None:
        """Moves transfers, given by scenario and slot, to their next stage at the times at which the last one ended."""
        f = self._here[slots]
        self._stage[row, slots] += 1
        stage = self._stage[row, slots]
        self._shared[row[self._column[row, slots] >= 0]] = -2
        begins, done = stage == 0, stage == self._last[f]
        self._begun[row[begins], f[begins]], self._ended[row[done], f[done]] = ended[begins], ended[done]
        self._begins[row, slots], self._clock[row, slots], self._rate[row, slots] = math.inf, ended, 0.0
        self._column[row, slots], self._left_B[row, slots] = self._which[f, stage], self._bytes[f, stage, row]
        self._left_s[row, slots], self._under_way[row, slots] = self._seconds[f, stage, row], ~done
        for place in np.flatnonzero(np.isin(self._here, list(self._after))) if done.any() else ():
            t, predecessors = self._problem.transfers[self._here[place]], self._after[int(self._here[place])]
            start = np.maximum(self._ended[:, predecessors].max(axis=1), t.start_s) + t.pause_s
            self._begins[:, place] = np.where(self._stage[:, place] < 0, start, math.inf)

    def _note(self, moved: Array) -> None:
        """Books the bytes that transfers have moved, (S, F)."""
        timed = np.flatnonzero(self._timed[self._here])
        f, stage = self._here[timed], np.maximum(self._stage[:, timed], 0)
        self._moved[:, f] += np.where(self._counts[f, stage], moved[:, timed], 0.0)
        with np.errstate(invalid="ignore"):
            self._left_B = np.maximum(self._left_B - moved, 0.0)

    def _forget_ended(self) -> None:
        """Drops transfers that have ended in every scenario."""
        running = (self._stage < self._last[self._here]).any(axis=0)
        self._here = self._here[running]
        for name in ("_stage", "_column", "_shared", "_under_way", "_left_B", "_left_s", "_clock", "_rate", "_begins"):
            setattr(self, name, getattr(self, name)[:, running])
