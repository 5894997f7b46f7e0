"""Transfers whose workers wait or go through several steps, averaged over the states of their workers.

A worker that copies a file and then verifies it is at one step or the other, and one that waits for its next file is at
none. A link that is full only while many workers copy slows the others at those times, yet is never full in the mean.
So shares are solved for each state (how many workers of each transfer are at each step, or wait) and weighted by the
time that the Markov chain of the states spends in it (`dtnsim.physics.waiting.time_shares`). In a state, the workers at
one step are a transfer of their own.

Neglects: that workers begin in step; the states of further transfers once there are too many, which count by their
mean.

Shapes: S scenarios, C columns (`dtnsim.steady.stages`), N states.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, combinations, pairwise, product
from math import comb, prod
from typing import Final

import numpy as np

from dtnsim.ground.grouping import by_key
from dtnsim.ground.records import Transfer
from dtnsim.physics._arrays import BoolArray, FloatArray as Array, Index
from dtnsim.physics.waiting import time_shares
from dtnsim.steady.ceilings import per_capacity, solo_times
from dtnsim.steady.matrices import Matrices
from dtnsim.steady.rows import begins, over_rows, take
from dtnsim.steady.solve import Rates, slowed_capacity
from dtnsim.steady.stages import Column, row_of, staged, steps_of, visit_B

_MOST: Final = 64  #: most states that are solved one by one
#: scenarios from which on it pays to ask first whether any state fills a station
_MANY: Final = 32
_FULL: Final = 1e-6  #: part of its capacity that a full station may have left
#: array entries, over states and scenarios, that are solved at once
_AT_ONCE: Final = 1 << 22
_Split = tuple[tuple[int, int], ...]  #: columns with states, and the number of the way their steps are split (`Steps`)
#: fraction of a lone worker's time up to which a wait or step counts by its mean: where there is room for all states,
#: and where there is not
_FELT: Final = (0.01, 0.05)


def placements(workers: int, steps: int) -> Iterator[tuple[int, ...]]:
    """All ways to distribute workers over steps, as numbers of workers at each step."""
    for bars in combinations(range(workers + steps - 1), steps - 1):
        yield tuple(b - a - 1 for a, b in pairwise((-1, *bars, workers + steps - 1)))


class Steps:
    """The ways to split a column's work into steps.

    A way is a number with a bit for each step that is felt; if it is odd, its last step is waiting, which includes
    steps without stations. A step that takes little of a worker's time is merged with its neighbour.
    """

    def __init__(self, column: Column, m: Matrices) -> None:
        arrays, self._column, self._m = column.of, column, m
        first = arrays.phases_of(int(arrays.transfer[column.numbers.start])).start
        solo = [seconds.max(axis=1, initial=0.0) for _, seconds in solo_times(arrays, int(arrays.transfer[first]))]
        waits = (arrays.delay - arrays.grows)[:, column.numbers].sum(axis=1)
        steps = steps_of(arrays, column.numbers) if column.whole else [column.numbers]
        lasts = np.stack(np.broadcast_arrays(waits, *(sum(solo[p - first] for p in row) for row in steps)))
        felt = lasts > np.reshape(_FELT, (-1, 1, 1)) * lasts.sum(axis=0)
        felt[:, 1:] |= lasts[1:] == lasts[1:].max(axis=0)
        #: (2, S) the numbers by `_FELT`.
        self.number: Index = (felt.swapaxes(1, 2) << np.arange(len(lasts))).sum(axis=2)
        #: Phases of each step, by number of a way to tell them apart.
        self.phases = {n: _felt(n, steps, column.numbers) for n in np.unique(self.number).tolist()}
        self._lasts = lasts, {p: solo[p - first] for p in column.numbers}

    @cached_property
    def most_used(self) -> tuple[Index, Array]:
        """(n,) stations that the column visits, and (n, S) the highest utilisation of each by its workers.

        That is reached when all workers are at the step that takes most, with nobody else there.
        """
        column, m, (lasts, solo) = self._column, self._m, self._lasts
        seconds = {p: sum(solo[k] for k in p) for n, rows in self.phases.items() for p in rows[: len(rows) - (n & 1)]}
        if all(len(rows) == 1 for rows in self.phases.values()):  # the single step includes its waits
            seconds = {column.numbers: lasts.sum(axis=0)}
        both = m.capacity, slowed_capacity(m, None)
        capacity, least = (np.pad(c, ((0, 0), (0, 1)), constant_values=np.inf).T for c in both)
        stations, parts = [], []
        for phases, alone in seconds.items():
            station, demand = row_of(column, phases)
            with np.errstate(divide="ignore", invalid="ignore"):
                rate = column.workers / (alone * column.part), 1 / per_capacity(demand, capacity[station]).max(axis=0)
                parts.append(np.nan_to_num(per_capacity(demand, least[station]) * np.minimum(*rate), nan=np.inf))
            stations.append(station)
        visited, place = np.unique(np.concatenate(stations), return_inverse=True)
        most = np.zeros((len(visited), max(part.shape[1] for part in parts)))
        np.maximum.at(most, place, np.concatenate([np.broadcast_to(p, (len(p), most.shape[1])) for p in parts]))
        return visited, most


def _felt(number: int, steps: list[range], phases: range) -> list[range]:
    """Phases of the steps of a way (`Steps`)."""
    begins = [row.start for s, row in enumerate(steps, 1) if number >> s & 1]
    moving = [range(*ends) for ends in pairwise([phases.start, *begins[1:], phases.stop])]
    return [*moving, phases] if number & 1 else moving


def _waiting_apart(m: Matrices, plain: int, waits: BoolArray) -> Matrices:
    """The arrays with waiting workers, which use no station, and moving ones, which do not wait, apart.

    Args:
        plain: Number of the first such column; those before it both wait and move.
        waits: (C',) which of them wait.
    """
    moves, none = ((np.arange(len(waits)) >= plain) & ~waits)[m.transfer], m.capacity.shape[1]
    total, phases = (
        replace(
            rows,
            station=np.where(waits[column], none, rows.station),
            demand=np.where(waits[column][:, None], 0.0, rows.demand),
        )
        for rows, column in ((m.total, m.total.row), (m.phases, m.transfer[m.phases.row]))
    )
    delay, served = (np.where(moves, m.grows, seconds - m.grows) for seconds in (m.delay, m.served))
    return replace(m, delay=delay, served=served, total=total, phases=phases)


@dataclass(frozen=True, slots=True)
class _States:
    """The N states of the workers of P columns of given sizes; L groups: a number of workers at a step of a column."""

    present: BoolArray  #: (N, L) groups that exist in each state.
    first: Index  #: (N, P) group at each column's first step; L for none.
    owner: Index  #: (L,) column of each group.
    nth: Index  #: (L,) number of each group within its column.
    ways: tuple[Index, Index, Index]  #: (from, to, group that moves on) of each transition.


@lru_cache(maxsize=64)
def _states(alike: tuple[tuple[int, int], ...]) -> _States:
    """The states of columns given as (workers, steps)."""
    sizes = [workers * steps for workers, steps in alike]
    begin = np.cumsum([0, *sizes])
    states = list(product(*(placements(workers, steps) for workers, steps in alike)))
    place = {state: n for n, state in enumerate(states)}
    present = np.zeros((len(states), begin[-1]), dtype=bool)
    first = np.full((len(states), len(alike)), begin[-1])
    ways: list[tuple[int, int, int]] = []
    for n, (i, (most, steps)) in product(range(len(states)), enumerate(alike)):
        workers = states[n][i]
        if workers[0]:
            first[n, i] = begin[i] + workers[0] - 1
        for s in np.flatnonzero(workers).tolist():
            after = list(workers)
            after[s] -= 1
            after[(s + 1) % steps] += 1
            who = int(begin[i]) + s * most + workers[s] - 1
            present[n, who] = True
            ways.append((n, place[(*states[n][:i], tuple(after), *states[n][i + 1 :])], who))
    begins, ends, goes = np.array(ways, np.intp).T
    owner = np.repeat(np.arange(len(alike)), sizes)
    return _States(present, first, owner, np.arange(begin[-1]) - begin[owner], (begins, ends, goes))


@dataclass(frozen=True, slots=True)
class _Apart:
    """A solver for columns at their mean, and for each group of workers (`_States`) of some of them."""

    rates: Rates  #: Of both, C' columns in all.
    means: Index  #: The columns at their mean.
    begin: dict[tuple[int, int], int]  #: First group of a column that is split in a way.
    visits: Index  #: (C, K) whether a column visits a station, 1 or 0.
    visit_B: Array  #: (C,) bytes of a visit.

    def average(
        self, split: Sequence[_Split], states: _States, mean: Array, most: Array, scenarios: Index, near: float | None
    ) -> None:
        """Puts rates averaged over states into ``mean`` (S, C) where a shared station is full in any state.

        Args:
            split: The columns with states in each scenario, S of P.
            states: Their states.
            mean: Rates of all columns at their mean [B/s].
            most: (S, C) as `solve.Rates.while_active` takes it, those with states among them.
            scenarios: (S,) numbers of the scenarios in the solver.
            near: As `solve.Rates.while_active` takes it.
        """
        (count, local), total = states.present.shape, len(self.rates.m.workers)
        columns, begin = np.array([[(c, self.begin[c, way]) for c, way in row] for row in split]).transpose(2, 0, 1)
        each, beside = np.arange(len(split))[:, None], most.copy()
        beside[each, columns] = 0.0
        here = self.visits[columns].sum(axis=1)
        met = (here > 0) & (here + (beside > 0) @ self.visits > 1)
        several, shared = np.flatnonzero(met.any(axis=1)), np.flatnonzero(met.any(axis=0))
        step = max(1, _AT_ONCE // (count * max(len(self.rates.m.total.row), 1)))
        for rows in (several[n : n + step] for n in range(0, len(several), step)):
            every, state = np.arange(len(rows))[:, None, None], np.arange(count)[:, None]
            numbers = np.full((len(rows), local + 1), total)
            numbers[:, :-1] = begin[rows][:, states.owner] + states.nth
            lanes = np.zeros((len(rows), count, total))
            lanes[:, :, : len(self.means)] = beside[rows][:, None, self.means]
            lanes[every, state, numbers[:, None, :-1]] = np.where(states.present, np.inf, 0.0)
            rates = self.rates.take(np.repeat(scenarios[rows], count))
            solution = rates.while_active(lanes.reshape(-1, total), near, bound=False)
            full = rates.m.loads(solution.rate, shared) >= solution.capacity[:, shared] * (1 - _FULL)
            full = full.reshape(len(rows), count, -1) & met[np.ix_(rows, shared)][:, None]
            rate = np.concatenate([solution.rate, np.zeros((len(solution.rate), 1))], axis=1)
            rate = rate.reshape(len(rows), count, total + 1)
            begins, ends, goes = states.ways
            often = rate[every[..., 0], begins, numbers[:, goes]] / self.visit_B[columns[rows][:, states.owner[goes]]]
            flow = np.zeros((count * count, len(rows)))
            np.add.at(flow, begins * count + ends, often.T)
            share = time_shares(flow.T.reshape(len(rows), count, count))
            means = np.einsum("sn,snc->sc", share, rate[:, :, : len(self.means)])
            apart = np.einsum("sn,snc->sc", share, rate[every, state, numbers[:, states.first]])
            felt = full.any(axis=(1, 2)) & np.isfinite(apart).all(axis=1)
            mean[rows[felt][:, None], self.means] = means[felt]
            mean[rows[felt][:, None], columns[rows[felt]]] = apart[felt]


class Occupancy:
    """Rates of columns, averaged over the states of their workers where that makes a difference.

    Args:
        columns: What moves bytes.
        transfers: All transfers of the path.
        cache: Steps of columns that are known; those of these columns are added.
    """

    def __init__(
        self, m: Matrices, columns: Sequence[Column], transfers: Sequence[Transfer], cache: dict[Column, Steps]
    ) -> None:
        self._m, self._columns, self._transfers = m, columns, transfers
        cache |= {c: Steps(c, m) for c in columns if c not in cache}
        self._told = [cache[c] for c in columns]
        self._steps = [column_steps.phases for column_steps in self._told]
        several = [np.isin(t.number[0], [n for n, steps in t.phases.items() if len(steps) > 1]) for t in self._told]
        self._number = np.stack(np.broadcast_arrays(*(column_steps.number.T for column_steps in self._told)), axis=1)
        self._several = np.stack(np.broadcast_arrays(*several), axis=1)
        self._known: dict[frozenset[tuple[int, int]], _Apart] = {}

    @cached_property
    def _most_used(self) -> tuple[Index, Index, Array]:
        """(n,) shared stations, rising, (n,) their columns, and (n, S) the highest utilisation by each column."""
        stations, parts = zip(*(steps.most_used for steps in self._told), strict=True)
        station, sizes = np.concatenate(stations), [len(visited) for visited in stations]
        order = np.argsort(station, kind="stable")
        order = order[np.bincount(station)[station[order]] > 1]
        s = max(part.shape[1] for part in parts)
        part = np.concatenate([np.broadcast_to(part, (len(part), s)) for part in parts])
        return station[order], np.repeat(np.arange(len(sizes)), sizes)[order], part[order]

    @cached_property
    def _visit_B(self) -> Array:
        """(C,) bytes of a visit of each column."""
        return np.array([visit_B(self._transfers[column.f]) for column in self._columns])

    def _may_fill(self, active: BoolArray, scenarios: Index) -> BoolArray:
        """(S,) whether columns ``active`` (S, C) could fill a station that several of them visit."""
        station, column, part = self._most_used
        present, first = active.T[column], begins(station)
        taken = np.where(present, part.take(scenarios, axis=1) if part.shape[1] > 1 else part, 0.0)
        several = over_rows(np.add, present.astype(np.intp), first) > 1
        return np.asarray((several & (over_rows(np.add, taken, first) >= 1 - 2 * _FULL)).any(axis=0))

    def over_states(self, mean: Array, most: Array, scenarios: Index, near: float | None) -> Array:
        """Rates (S, C), averaged over states where a shared station is full in any of them.

        Args:
            mean: (S, C) rates with all workers at their mean, which stand elsewhere [B/s].
            most: (S, C) as `solve.Rates.while_active` takes it; bounded columns have their workers at the mean.
        """
        active = most > 0
        several = np.isinf(most) & take(scenarios, self._several) & (np.count_nonzero(active, axis=1) > 1)[:, None]
        affected = np.flatnonzero(several.any(axis=1))
        if len(affected) and len(active) >= _MANY:
            affected = affected[self._may_fill(active[affected], scenarios[affected])]
        if not len(affected):
            return mean
        averaged = np.array(np.broadcast_to(mean, active.shape))
        numbers = np.where(several[affected, :, None], take(scenarios[affected], self._number), -1)
        patterns, which = np.unique(numbers, axis=0, return_inverse=True)
        told = [
            self._told_apart([(c, *ways) for c, ways in enumerate(row) if ways[0] >= 0]) for row in patterns.tolist()
        ]
        alike = by_key((tuple(map(self._size, told[n])), place) for place, n in enumerate(which.ravel().tolist()))
        for sizes, places in alike.items():
            if sizes:
                rows, splits = affected[places], [told[n] for n in which.ravel()[places].tolist()]
                rates = averaged[rows]
                apart, numbered = self._apart(
                    set(chain(*splits)), scenarios[rows], np.asarray(active[rows].any(axis=0))
                )
                apart.average(splits, _states(sizes), rates, most[rows], numbered, near)
                averaged[rows] = rates
        return averaged

    def _told_apart(self, columns: list[tuple[int, int, int]]) -> _Split:
        """The columns to split: all if their states fit; else those with the fewest states, like ones all or none."""
        fine = {(c, number): self._count((c, number)) for c, number, _ in columns}
        if prod(fine.values()) <= _MOST:
            return tuple(sorted(fine, key=self._size))
        counts: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for c, _, number in columns:
            counts[self._count((c, number))].append((c, number))
        chosen: list[tuple[int, int]] = []
        states = 1
        for count, alike in sorted(counts.items()):  # many workers stay near their mean
            states *= count ** len(alike)
            if states <= _MOST:
                chosen += [way for way in alike if count > 1]
        return tuple(sorted(chosen, key=self._size))

    def _size(self, way: tuple[int, int]) -> tuple[int, int]:
        """(workers, steps) of a column that is split in a way."""
        c, number = way
        return self._columns[c].workers, len(self._steps[c][number])

    def _count(self, way: tuple[int, int]) -> int:
        """Number of states of a column that is split in a way."""
        workers, steps = self._size(way)
        return comb(workers + steps - 1, steps - 1)

    def _apart(self, ways: set[tuple[int, int]], scenarios: Index, active: BoolArray) -> tuple[_Apart, Index]:
        """The solver for some split columns, and the scenarios' numbers in it (S,): made for few, kept for many.

        Args:
            ways: Columns with states in any of the scenarios, and the ways they are split.
            scenarios: (S,) numbers of the scenarios.
            active: (C,) columns that run in any of these.
        """
        if 2 * len(scenarios) < len(self._number):
            return self._made_apart(sorted(ways), np.flatnonzero(active), scenarios), np.arange(len(scenarios))
        key = frozenset(ways)
        if key not in self._known:
            self._known[key] = self._made_apart(sorted(ways), np.arange(len(active)), slice(None))
        return self._known[key], scenarios

    def _made_apart(self, ways: list[tuple[int, int]], means: Index, scenarios: Index | slice) -> _Apart:
        """The solver for some split columns beside some at their mean, in some scenarios."""
        columns, owner, waits = [self._columns[c] for c in means], means.tolist(), [False] * len(means)
        begin: dict[tuple[int, int], int] = {}
        for c, way in ways:
            begin[c, way], steps, column = len(columns), self._steps[c][way], self._columns[c]
            for s, workers in product(range(len(steps)), range(1, column.workers + 1)):
                columns.append(replace(column, workers=workers, whole=False, numbers=steps[s]))
                owner.append(c)
                waits.append(bool(way & 1) and s == len(steps) - 1)
        m = _waiting_apart(staged(self._m, columns), len(means), np.array(waits))
        visits = np.zeros((len(self._columns), m.capacity.shape[1] + 1), np.intp)
        visits[np.array(owner)[m.total.row], m.total.station] = 1
        rates = Rates(m if isinstance(scenarios, slice) else m.take(scenarios))
        return _Apart(rates, means, begin, visits[:, :-1], self._visit_B)
