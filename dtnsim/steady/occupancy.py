"""Transfers whose workers wait, or go through several steps, averaged over how many of them are at which step.

A worker that copies a file and then verifies it is at one step or the other, and one that waits for its next file is at
none. A link that is full only while many copy slows whoever shares it then, and nobody in the mean: so shares are found
for each state, which is how many workers of each transfer are at each step or wait, and weighted with the time that the
Markov chain of the states spends there (`dtnsim.physics.waiting.time_shares`). The workers at a step are a transfer of
their own meanwhile.

Neglects: workers that begin in step; further workers, once there are too many states: these are at their mean.

Shapes: S scenarios, C columns (`dtnsim.steady.stages`), N states.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise, product
from math import comb, prod
from typing import Final

import numpy as np

from dtnsim.ground.records import Transfer
from dtnsim.physics._arrays import BoolArray, FloatArray as Array, Index
from dtnsim.physics.waiting import time_shares
from dtnsim.steady.ceilings import per_capacity, solo_times
from dtnsim.steady.matrices import Matrices
from dtnsim.steady.rows import begins, over_rows, take
from dtnsim.steady.solve import Rates, slowed_capacity
from dtnsim.steady.stages import Column, row_of, staged, steps_of, visit_B

_MOST: Final = 64  #: states that are told apart at most
#: scenarios from which on it is asked first whether any state fills a station: of fewer all states are sooner solved
_MANY: Final = 32
_FULL: Final = 1e-6  #: part of a station's capacity that may be left of it when it is full
_Split = tuple[tuple[int, int], ...]  #: columns that are told apart, and the numbers of how (`Steps`)
#: parts of a worker's time, with its stations for itself, up to which a wait or a step is at its mean: where there is
#: room for all states, and where there is not
_FELT: Final = (0.01, 0.05)


def placements(workers: int, steps: int) -> Iterator[tuple[int, ...]]:
    """How many workers are at each step, in all ways."""
    for bars in combinations(range(workers + steps - 1), steps - 1):
        yield tuple(b - a - 1 for a, b in pairwise((-1, *bars, workers + steps - 1)))


class Steps:
    """How a column's steps are told apart.

    Where a number of a way to do so is odd, the last of its steps are the phases where workers wait. Who waits is at
    none of the others, whatever it waits for; a step without stations is a part of that. A step that takes little of a
    worker's time is a part of the one before it, or after it.
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
        """(n,) stations that it visits, and (n, S) which part of each its workers take at most.

        They do where all of them are at the step that takes most, and nobody keeps them from it.
        """
        column, m, (lasts, solo) = self._column, self._m, self._lasts
        seconds = {p: sum(solo[k] for k in p) for n, rows in self.phases.items() for p in rows[: len(rows) - (n & 1)]}
        if all(len(rows) == 1 for rows in self.phases.values()):  # its workers wait meanwhile, now and then
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
    """Phases of the steps of a number (`Steps`)."""
    begins = [row.start for s, row in enumerate(steps, 1) if number >> s & 1]
    moving = [range(*ends) for ends in pairwise([phases.start, *begins[1:], phases.stop])]
    return [*moving, phases] if number & 1 else moving


def _waiting_apart(m: Matrices, plain: int, waits: BoolArray) -> Matrices:
    """Columns of workers who wait, and use nothing meanwhile, and of those who move bytes, and wait for nothing.

    Args:
        plain: Number of the first of such workers; those before do one and the other.
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
class _Chain:
    """The states of some columns' workers, those at each step as a column of their own."""

    #: Of the columns without states, and then of the steps of the others for each number of workers, C' in all.
    rates: Rates
    #: The columns without states, and those with.
    plain: Index
    split: Index
    owner: Index  #: (C',) which of these each is of, the latter behind the former.
    present: BoolArray  #: (N, C') which steps are there in each state.
    first: Index  #: (N, C'') of each column with states, those of its workers that are at its first step; C' for none.
    ways: tuple[Index, Index, Index, Array]  #: (from, to, column, bytes of a visit) of each way from state to state.

    def average(self, mean: Array, most: Array, scenarios: Index, near: float | None) -> None:
        """Puts mean rates into ``mean`` (S, C), where a station that workers share with others is full in any state.

        Args:
            mean: Rates of all columns [B/s].
            most: (S, C) as `solve.Rates.while_active` takes it, those with states among them.
        """
        shared = self._shared(np.asarray((most[:, self.plain] > 0).any(axis=0)))
        if not len(shared):
            return
        (states, count), s = self.present.shape, len(scenarios)
        lanes = np.where(np.broadcast_to(self.present, (s, states, count)), np.inf, 0.0)
        lanes[:, :, : len(self.plain)] = most[:, None, self.plain]
        rates = self.rates.take(np.repeat(scenarios, states))
        solution = rates.while_active(lanes.reshape(-1, count), near, bound=False)
        full = rates.m.loads(solution.rate, shared) >= solution.capacity[:, shared] * (1 - _FULL)
        rate = np.concatenate([solution.rate, np.zeros((s * states, 1))], axis=1).reshape(s, states, count + 1)
        begins, ends, column, visit_B = self.ways
        flow = np.zeros((states * states, s))
        np.add.at(flow, begins * states + ends, (rate[:, begins, column] / visit_B).T)
        share = time_shares(flow.T.reshape(s, states, states))
        plain_rate = np.einsum("sn,snc->sc", share, rate[:, :, : len(self.plain)])
        split_rate = np.einsum("sn,snc->sc", share, rate[:, np.arange(states)[:, None], self.first])
        felt = np.flatnonzero(full.reshape(s, -1).any(axis=1) & np.isfinite(split_rate).all(axis=1))
        mean[felt[:, None], self.plain] = plain_rate[felt]
        mean[felt[:, None], self.split] = split_rate[felt]

    def _shared(self, active: BoolArray) -> Index:
        """Stations that a column with states shares with another of these, or one of the ``active`` without."""
        m = self.rates.m
        visits = np.zeros((len(self.plain) + len(self.split), m.capacity.shape[1] + 1), dtype=bool)
        visits[self.owner[m.total.row], m.total.station] = True
        split, plain = visits[len(self.plain) :], visits[: len(self.plain)][active]
        met = split.any(axis=0) & (split.sum(axis=0) + plain.sum(axis=0) > 1)
        return np.flatnonzero(met[:-1])


class Occupancy:
    """Rates of columns, by the states of their workers where these make a difference.

    Args:
        columns: What moves bytes.
        transfers: All transfers of the path.
        known: Steps of columns that were asked before; those of these come in.
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
        self._chains: dict[_Split, _Chain] = {}

    @cached_property
    def _most_used(self) -> tuple[Index, Index, Array]:
        """(n,) stations of several, rising, (n,) their columns, and (n, S) which part a column takes at most."""
        stations, parts = zip(*(steps.most_used for steps in self._told), strict=True)
        station, sizes = np.concatenate(stations), [len(visited) for visited in stations]
        order = np.argsort(station, kind="stable")
        order = order[np.bincount(station)[station[order]] > 1]
        s = max(part.shape[1] for part in parts)
        part = np.concatenate([np.broadcast_to(part, (len(part), s)) for part in parts])
        return station[order], np.repeat(np.arange(len(sizes)), sizes)[order], part[order]

    def _may_fill(self, active: BoolArray, scenarios: Index) -> BoolArray:
        """(S,) where columns ``active`` (S, C) could fill a station that several of them visit."""
        station, column, part = self._most_used
        present, first = active.T[column], begins(station)
        taken = np.where(present, part.take(scenarios, axis=1) if part.shape[1] > 1 else part, 0.0)
        several = over_rows(np.add, present.astype(np.intp), first) > 1
        return np.asarray((several & (over_rows(np.add, taken, first) >= 1 - 2 * _FULL)).any(axis=0))

    def over_states(self, mean: Array, most: Array, scenarios: Index, near: float | None) -> Array:
        """Rates (S, C), averaged over states where a station that workers share with others is full in any of them.

        Args:
            mean: (S, C) rates with all workers at their mean, which hold elsewhere [B/s].
            most: (S, C) as `solve.Rates.while_active` takes it; who is bounded has its workers at their mean.
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
        for n, pattern in enumerate(patterns.tolist()):
            split = self._told_apart([(c, *ways) for c, ways in enumerate(pattern) if ways[0] >= 0])
            if split:
                rows = affected[which.ravel() == n]
                rates = averaged[rows]
                chain, numbered = self._chain(split, scenarios[rows], np.asarray(active[rows].any(axis=0)))
                chain.average(rates, most[rows], numbered, near)
                averaged[rows] = rates
        return averaged

    def _told_apart(self, columns: list[tuple[int, int, int]]) -> _Split:
        """All of them if there is room for their states; else those with the fewest, alike ones all or none."""
        fine = {(c, number): self._count(c, number) for c, number, _ in columns}
        if prod(fine.values()) <= _MOST:
            return tuple(sorted(fine))
        counts: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for c, _, number in columns:
            counts[self._count(c, number)].append((c, number))
        chosen: list[tuple[int, int]] = []
        states = 1
        for count, alike in sorted(counts.items()):  # more workers are nearer to their mean
            states *= count ** len(alike)
            if states <= _MOST:
                chosen += [(c, number) for c, number in alike if count > 1]
        return tuple(sorted(chosen))

    def _count(self, c: int, number: int) -> int:
        """States of a column whose steps are told apart so."""
        further = len(self._steps[c][number]) - 1
        return comb(self._columns[c].workers + further, further)

    def _chain(self, split: _Split, scenarios: Index, active: BoolArray) -> tuple[_Chain, Index]:
        """The states of some columns, and the numbers (S,) of scenarios there: made for few of all, kept for many.

        Args:
            split: Columns with states.
            scenarios: (S,) numbers of the scenarios.
            active: (C,) columns that run in any of these.
        """
        if 2 * len(scenarios) < len(self._number):
            return self._states(split, np.flatnonzero(active), scenarios), np.arange(len(scenarios))
        if split not in self._chains:
            self._chains[split] = self._states(split, np.arange(len(active)), slice(None))
        return self._chains[split], scenarios

    def _states(self, split: _Split, beside: Index, scenarios: Index | slice) -> _Chain:
        """The states of some columns beside others in some scenarios."""
        those = np.array([c for c, _ in split])
        plain = np.setdiff1d(beside, those)
        columns, owner = [self._columns[c] for c in plain], list(range(len(plain)))
        waits = [False] * len(plain)
        number: dict[tuple[int, int, int], int] = {}
        for place, (c, way) in enumerate(split, len(plain)):
            steps = self._steps[c][way]
            for s, workers in product(range(len(steps)), range(1, self._columns[c].workers + 1)):
                number[c, s, workers] = len(columns)
                columns.append(replace(self._columns[c], workers=workers, whole=False, numbers=steps[s]))
                owner.append(place)
                waits.append(bool(way & 1) and s == len(steps) - 1)
        m = _waiting_apart(staged(self._m, columns), len(plain), np.array(waits))
        rates = Rates(m if isinstance(scenarios, slice) else m.take(scenarios))
        ways = self._transitions(split, number, len(columns))
        return _Chain(rates, plain, those, np.array(owner), *ways)

    def _transitions(
        self, split: _Split, number: dict[tuple[int, int, int], int], count: int
    ) -> tuple[BoolArray, Index, tuple[Index, Index, Index, Array]]:
        """``present``, ``first`` and ``ways`` of a `_Chain`.

        Args:
            split: Columns with states.
            number: Of so many workers of one of them at a step.
            count: Of all numbers.
        """
        states = list(product(*(placements(self._columns[c].workers, len(self._steps[c][way])) for c, way in split)))
        place = {state: n for n, state in enumerate(states)}
        present = np.zeros((len(states), count), dtype=bool)
        first = np.full((len(states), len(split)), count)
        ways: list[tuple[int, int, int]] = []
        visits_B: list[float] = []
        for n, (i, (c, _)) in product(range(len(states)), enumerate(split)):
            workers = states[n][i]
            first[n, i] = number.get((c, 0, workers[0]), count)
            for s in np.flatnonzero(workers).tolist():
                after = list(workers)
                after[s] -= 1
                after[(s + 1) % len(workers)] += 1
                column = number[c, s, workers[s]]
                present[n, column] = True
                ways.append((n, place[(*states[n][:i], tuple(after), *states[n][i + 1 :])], column))
                visits_B.append(visit_B(self._transfers[self._columns[c].f]))
        begins, ends, columns = np.array(ways, np.intp).T
        return present, first, (begins, ends, columns, np.array(visits_B))
