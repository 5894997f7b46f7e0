"""Ceilings set by a transfer's own workers: the time each phase takes them, and queueing where they share a station.

Shapes: S scenarios, F transfers, K stations (`dtnsim.steady.matrices`).
"""

from __future__ import annotations

from collections import defaultdict
from copy import copy
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from dtnsim.physics._arrays import BoolArray, FloatArray as Array, Index, IntArray
from dtnsim.physics.waiting import cycle_time
from dtnsim.steady.matrices import Matrices
from dtnsim.steady.rows import Rows, begins, over_rows, summed

#: part of the time from which on it is felt that workers queue; below, the station or the workers themselves hold
_FELT: Final = 2e-3
_ONE: Final = 1e-6  #: part by which the parts of one step's bytes may miss all of them
_DIGITS: Final = 6  #: digits in which transfers are alike


def idle_time(m: Matrices, f: int) -> Array:
    """(S,) seconds per payload byte that a worker waits with no station serving it."""
    return np.asarray(m.delay[:, m.phases_of(f)].sum(axis=1) + m.lead[:, f] * m.workers[f])


def solo_times(m: Matrices, f: int) -> list[tuple[Index, Array]]:
    """For each phase: stations (n,), and the seconds per payload byte that a lone worker takes at each (S, n)."""
    times = []
    for p in m.phases_of(f):
        station, demand = m.phases.row_entries(p)
        valid = station < m.capacity.shape[1]
        station, demand = station[valid], demand[:, valid]
        times.append((station, per_capacity(demand, m.capacity[:, station] * m.alone[:, station])))
    return times


def per_capacity(demand: Array, capacity: Array) -> Array:
    """Demand over capacity; 0 where there is no demand, even at zero capacity."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(demand > 0, demand / capacity, 0.0)


class _Held(NamedTuple):
    """Entries of stations that bind in any scenario: n of phases, N of transfers."""

    #: (n,) entries of phases, of which phase and transfer each is.
    entries: Index
    phase: Index
    f: Index
    #: Where each of these phases begins among them, and each of the transfers.
    begins: Index
    first: Index
    #: (N,) entries of transfers, the station and the transfer of each.
    total: Index
    station: Index
    row: Index
    number: Index  #: (N,) which of the stations that is.
    own: Index  #: (n,) for each entry of a phase the place of that of its transfer at the same station.

    @classmethod
    def of(cls, m: Matrices, holds: BoolArray) -> _Held:
        """The entries of some stations (K + 1,)."""
        entries, total = (np.flatnonzero(holds[rows.station]) for rows in (m.phases, m.total))
        phase, station, row = m.phases.row[entries], m.total.station[total], m.total.row[total]
        f, count = m.transfer[phase], len(holds)
        in_total = np.searchsorted(row * count + station, f * count + m.phases.station[entries])
        number = (np.cumsum(holds) - 1)[station]
        return cls(entries, phase, f, begins(phase), begins(f), total, station, row, number, in_total)


class Workers:
    """Worker ceilings of all transfers, prepared for repeated use while only some capacities change."""

    def __init__(self, m: Matrices) -> None:
        self._m = m
        rows, first = m.phases, m.begins
        changing = np.append(m.changing, False)
        self._some = np.flatnonzero(changing[rows.station])
        self._begins = first
        self._alone = np.concatenate([m.alone, np.ones((len(m.alone), 1))], axis=1)
        fixed = self._times(m.capacity, slice(None))
        fixed[self._some] = 0.0
        self._fixed = over_rows(np.maximum, fixed, rows.first)
        several = np.diff(np.append(first, len(m.transfer))) > 1
        waits = np.logical_or.reduceat((m.delay > 0).any(axis=0), first) | (m.opening > 0).any(axis=0)
        parted = np.append(m.split & (m.alone < 1).any(axis=0), False)  # one of several workers has a part of those
        self._own = several | waits | (m.workers > 1) | over_rows(np.maximum, parted[m.total.station], m.total.first)
        self._crowds = crowds(m) if len(m.workers) > 1 else []
        self._at_work = m.at_work[:, None]
        #: what they allow where no memory slows them, once it was asked for
        self._known: tuple[Array, Array, Array] | None = None
        self._uneven = np.array([len(levels) > 1 for levels in m.rounds], dtype=bool)  #: whose last round is not full
        #: several workers that wait now and then, and meet at what they share
        waiting = np.logical_or.reduceat((m.delay > m.served).any(axis=0), first)
        #: several workers who go through the stretches of one step, as a page cache cuts it, side by side
        self._side_by_side = np.flatnonzero(several & (m.workers > 1) & (np.add.reduceat(m.moved, first) < 1 + _ONE))
        self._meet = (m.workers > 1) & waiting
        #: stations that several transfers visit; whether any transfer's workers are not always there
        self._shared = np.bincount(m.total.station, minlength=m.capacity.shape[1] + 1) > 1
        self._shared[-1] = False
        #: their numbers among these, and one more for all others
        self._number = np.where(self._shared, np.cumsum(self._shared) - 1, np.count_nonzero(self._shared))
        self.elsewhere = bool(len(m.workers) > 1 and (several | waiting).any() and self._shared.any())
        #: entries of the stations that held somebody when weights were asked for last
        self._held: tuple[bytes, _Held] | None = None

    def take(self, scenarios: Index, m: Matrices) -> Workers:
        """The same in some scenarios; ``m`` is the problem in these."""
        workers = copy(self)
        alone = self._alone if len(self._alone) == 1 else self._alone[scenarios]
        fixed = self._fixed if self._fixed.shape[1] == 1 else self._fixed.take(scenarios, axis=1)
        if self._known is None and len(scenarios) > len(self._m.capacity):  # each of them several times
            self._known = self._by_itself(self._m.capacity)
        solo = self._known and tuple(a if a.shape[1] == 1 else a.take(scenarios, axis=1) for a in self._known)
        vars(workers).update(_m=m, _alone=alone, _fixed=fixed, _known=solo)
        return workers

    def _paces(self, which: Index, away: Array, station: Array, served: Array) -> Array:
        """(n, S) seconds per byte of all workers of some transfers together, sharing among those that have a file."""
        each: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for place, f in enumerate(which):
            for workers, part in self._m.rounds[f]:
                each[workers].append((place, part))
        pace = np.zeros((len(which), *away.shape[1:]))
        for workers, members in each.items():
            places, parts = [place for place, _ in members], np.array([part for _, part in members])
            f = which[places]
            pace[places] += parts[:, None] * cycle_time(workers, away[f], station[f], served[f])
        return pace

    def _times(self, capacity: Array, part: slice | Index) -> Array:
        """(n, S) seconds per byte of some entries, for one worker alone."""
        rows = self._m.phases
        padded = np.concatenate([capacity, np.full((len(capacity), 1), np.inf)], axis=1)
        return per_capacity(rows.demand[part], (padded * self._alone).T.take(rows.station[part], axis=0))

    def met(self, binding: IntArray) -> BoolArray:
        """(S,) whether a shared station binds (S, F) a transfer whose workers are elsewhere for part of the time."""
        return np.asarray(self._shared[binding].any(axis=1) & self.elsewhere)

    def weights(self, capacity: Array, rate: Array, binding: IntArray, before: Array) -> tuple[Array, Array]:
        """Weights (F, S) of transfers whose workers are at a shared station only part of the time; that part (F, S).

        A worker that waits for its next file, or is at a step that does not use the station, leaves its share to the
        others. With the station's level ``l`` (rate over weight of the transfers it holds) while a worker is there,
        ``n`` workers of total weight ``w`` and ``a`` seconds elsewhere per byte: ``n / rate = a + n / (w l)``; rate
        over the mean level is the weight of the workers present. An arriving worker finds the others in their mean
        state (Bard and Schweitzer) and lowers the level by its own weight. A station visited at two steps is charged
        twice.

        Args:
            rate: (S, F) rates at the weights before [B/s].
            binding: (S, F) stations that hold them.
            before: (F, S) or (F, 1), those weights.
        """
        m, workers = self._m, self._at_work
        level = np.full((int(self._number[-1]) + 1, len(rate)), np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where((binding >= 0) & (rate > 0), rate / before.T, np.inf)
        station = self._number[binding] * len(rate) + np.arange(len(rate))[:, None]
        np.minimum.at(level.reshape(-1), station.ravel(), each.ravel())
        level[-1] = np.inf
        # at stations that hold nobody nobody meets another
        holds = np.isfinite(level).any(axis=1)[self._number]
        if self._held is None or self._held[0] != holds.tobytes():
            self._held = holds.tobytes(), _Held.of(m, holds)
        held = self._held[1]
        demand = m.phases.demand[held.entries]
        levels = np.where(demand > 0, level[self._number[m.phases.station[held.entries]]], np.inf)
        met = per_capacity(m.moved[held.phase][:, None], self._met(held, demand, levels, (rate.T, binding.T, before)))
        share, lowest = np.zeros((len(m.transfer), len(rate))), np.full((len(workers), len(rate)), np.inf)
        if len(held.entries):
            share[held.phase[held.begins]] = over_rows(np.maximum, met, held.begins)
            lowest[held.f[held.first]] = over_rows(np.minimum, levels, held.first)
        share *= (workers / m.weight[:, None])[m.transfer]
        away = (m.delay - m.served).T + np.where(share > 0, 0.0, self._longest(capacity) + m.served.T)
        visiting = over_rows(np.add, share, self._begins)
        cycle = visiting + over_rows(np.add, away, self._begins) + m.lead.T * workers
        with np.errstate(divide="ignore", invalid="ignore"):
            present, part = workers / (cycle * lowest), visiting / cycle
        bound = np.isfinite(lowest)
        weight = np.where(bound, np.minimum(present, m.weight[:, None]), m.weight[:, None])
        return weight, np.where(bound, part, 1.0)

    def _met(self, held: _Held, demand: Array, level: Array, solution: tuple[Array, IntArray, Array]) -> Array:
        """Levels seen by a worker while it is at the station itself, entry by entry.

        Args:
            held: The entries.
            demand: (n, S) what a byte costs there in that phase.
            level: (n, S) mean levels.
            solution: (F, S) rates, what binds them, and their weights.
        """
        m, (rate, binding, before) = self._m, solution
        total, most = m.total.demand[held.total], m.weight[held.f][:, None]
        taken = np.where(held.station[:, None] == binding[held.row], total * before[held.row], 0.0)
        filled = summed(held.number, taken, len(held.total))[held.number[held.own]]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = total[held.own] * np.minimum(rate[held.f] / level, most)
            filled = np.maximum(filled - taken[held.own], 0.0) + mean
            present = np.maximum(per_capacity(demand, m.moved[held.phase][:, None]) * most, mean)
            met = level * filled / (filled + (present - mean) / self._at_work[held.f])
        return np.where(np.isfinite(level) & (filled > 0), met, level)

    def _longest(self, capacity: Array) -> Array:
        """(P, S) seconds per byte of the slowest station of each phase, for one worker alone."""
        if not len(self._some):
            return self._fixed
        times = self._times(capacity, self._some)
        longest = np.broadcast_to(self._fixed, (len(self._fixed), times.shape[1])).copy()
        row = self._m.phases.row[self._some]
        first = begins(row)
        longest[row[first]] = np.maximum(longest[row[first]], over_rows(np.maximum, times, first))
        return longest

    def ceilings(self, capacity: Array, active: BoolArray) -> Array:
        """(S, F) ceilings, infinite where only stations limit; only ``active`` transfers (S, F) queue with others."""
        m = self._m
        if self._known is None and capacity is m.capacity:
            self._known = self._by_itself(capacity)
        solo = self._known if capacity is m.capacity else None
        bound, busy, served = self._by_itself(capacity) if solo is None else solo
        if self._crowds:  # (F, S) where one scenario stands for many states of workers as well
            bound = np.broadcast_to(bound, (len(bound), max(bound.shape[1], len(active)))).copy()
        for crowd in self._crowds:
            f = crowd[0]
            count = active[:, f].sum(axis=1)
            pace, free = _crowd_pace(m, crowd, capacity, (busy[f[0]], served[f[0]]), count)
            with np.errstate(divide="ignore"):
                queued = (1 - m.opening.T[f]) / (m.lead.T[f] + pace)
            bound[f] = np.where(pace > free * (1 + _FELT), np.minimum(bound[f], queued), bound[f])
        return bound.T

    def _by_itself(self, capacity: Array) -> tuple[Array, Array, Array]:
        """(F, S) ceiling of each transfer by itself, a worker's seconds per byte, and those in which bytes move."""
        m, longest = self._m, self._longest(capacity)
        moving = over_rows(np.add, longest, self._begins)
        busy = moving + over_rows(np.add, m.delay.T, self._begins)
        served = moving + over_rows(np.add, m.served.T, self._begins)
        with np.errstate(divide="ignore"):
            bound = self._at_work * (1 - m.opening.T) / busy
        bound = np.where(self._own[:, None], bound, np.inf)
        lead = m.lead.T
        leads = np.flatnonzero(np.any(lead > 0, axis=1) | self._meet | self._uneven)
        if len(leads):
            alone, least = station_time(m.total, capacity), busy / self._at_work
            pace = self._paces(leads, busy - served, alone, served)
            f = leads
            queue = (lead[f] > 0) | (pace > np.maximum(least, alone)[f] * (1 + _FELT))
            with np.errstate(divide="ignore"):
                bound[f] = (1 - m.opening.T[f]) / np.where(queue, lead[f] + np.maximum(pace, alone[f]), least[f])
        slowed = replace(m, capacity=capacity)
        for each in np.flatnonzero(m.in_turn).tolist():
            bound[each] = np.minimum(bound[each], _meeting(slowed, each, busy[each]))
        if len(f := self._side_by_side):
            both = np.maximum((longest + m.delay.T) / self._at_work[m.transfer], station_time(m.phases, capacity))
            with np.errstate(divide="ignore"):
                all_of_them = (1 - m.opening.T[f]) / (lead[f] + over_rows(np.add, both, self._begins)[f])
            bound[f] = np.minimum(bound[f], all_of_them)
        return bound, busy, served


def _meeting(m: Matrices, f: int, busy: Array) -> Array:
    """(S,) ceiling of a transfer whose workers go through several steps in turn and queue at shared stations.

    Each station by itself gives a bound; waiting at the other stations comes on top.

    Args:
        busy: (S,) seconds per payload byte of one of its workers alone.
    """
    phases, count = solo_times(m, f), len(busy)
    common: dict[int, Array] = {}
    for station, alone in phases:
        for k, seconds in zip(station, alone.T, strict=True):
            if not m.split[k]:
                common[int(k)] = common.get(int(k), 0.0) + seconds * m.alone[:, k]  # of all of it
    if not common:
        return np.full(count, np.inf)
    shared = np.stack([np.broadcast_to(seconds, (count,)) for seconds in common.values()])
    longest = [np.broadcast_to(alone.max(axis=1, initial=0.0), (count,)) for _, alone in phases]
    visits = np.array([[k in station for station, _ in phases] for k in common], float)
    own = visits @ np.array(longest)
    with np.errstate(divide="ignore"):
        paces = sum(part * cycle_time(n, np.maximum(busy - own, 0.0), shared, own) for n, part in m.rounds[f])
        return np.asarray(1.0 / np.max(paces, axis=0))


def station_time(rows: Rows, capacity: Array) -> Array:
    """(F, S) or (P, S) seconds per payload byte at the slowest station when a transfer or phase has all of it."""
    padded = np.concatenate([capacity, np.full((len(capacity), 1), np.inf)], axis=1).T
    return over_rows(np.maximum, per_capacity(rows.demand, padded.take(rows.station, axis=0)), rows.first)


def slowest_time(m: Matrices, f: int) -> float:
    """Seconds per payload byte that the slowest station of one transfer needs alone, in the first scenario."""
    station, demand = m.total.row_entries(f)
    return float(per_capacity(demand[0], np.append(m.capacity[0], np.inf)[station]).max())


def ceilings(m: Matrices) -> Array:
    """Ceilings set by each transfer's own workers, (S, F); infinite where only stations limit."""
    return Workers(m).ceilings(m.capacity, np.ones((1, len(m.workers)), dtype=bool))


# -- alike transfers that meet --------------------------------------------------------------------
#
# Alike transfers whose workers wait at times and queue at a station they share: alone none fills it, together they do
# only at times. All their workers form one closed queueing network (`dtnsim.physics.waiting`).
# Neglects: unlike transfers that queue this way; each then runs as fast as the station's capacity allows them together.


def kinds(m: Matrices) -> Index:
    """(F,) the same number for transfers with as many workers that wait as long; a number of its own for any other."""
    waits = np.logical_or.reduceat((m.delay > m.served).any(axis=0), m.begins)
    waited, lead = np.add.reduceat(m.delay[0], m.begins).tolist(), m.lead[0].tolist()
    figures = zip(
        m.turn.tolist(), m.workers.tolist(), m.at_work.tolist(), map(_short, waited), map(_short, lead), strict=True
    )
    number: dict[object, int] = {}
    keys = (key if waiting else f for f, (waiting, key) in enumerate(zip(waits.tolist(), figures, strict=True)))
    return np.array([number.setdefault(key, len(number)) for key in keys], np.intp)


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def crowds(m: Matrices) -> list[tuple[Index, Index]]:
    """Groups of two or more alike transfers that wait: (transfers, stations that all of them use)."""
    visitors, kind = np.bincount(m.total.station, minlength=m.capacity.shape[1] + 1), kinds(m)
    alike: dict[tuple[object, ...], list[int]] = {}
    for f in np.flatnonzero((np.bincount(kind) > 1)[kind]).tolist():
        station, demand = m.total.row_entries(f)
        many = (visitors[station] > 1) & (station < m.capacity.shape[1])
        if many.any():
            key = (int(kind[f]), station[many].tobytes(), *map(_short, demand[0][many].tolist()))
            alike.setdefault(key, []).append(f)
    groups = []
    for members in alike.values():
        if len(members) > 1:
            station, _ = m.total.row_entries(members[0])
            shared = station[(visitors[station] > 1) & (station < m.capacity.shape[1])]
            groups.append((np.array(members, np.intp), shared))
    return groups


def _crowd_pace(
    m: Matrices, crowd: tuple[Index, Index], capacity: Array, alone_s: tuple[Array, Array], under_way: Index
) -> tuple[Array, Array]:
    """(S,) seconds per payload byte of one transfer of a group while some of them run, and without queueing."""
    members, shared = crowd
    busy, moving = alone_s  # what is left of busy are its waits
    station, demand = m.total.row_entries(int(members[0]))
    common = np.isin(station, shared)
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(demand[:, common] > 0, demand[:, common] / capacity[:, station[common]], 0.0).max(axis=1)
    workers = m.workers[members[0]]
    shape = np.broadcast_shapes(alone.shape, busy.shape, under_way.shape)
    busy, moving, alone, many = (np.broadcast_to(v, shape) for v in (busy, moving, alone, np.maximum(under_way, 1)))
    pace = np.zeros(shape)
    for count in np.unique(many):
        mask = many == count
        pace[mask] = count * cycle_time(workers * count, busy[mask] - moving[mask], alone[mask], moving[mask])
    return pace, np.maximum(many * alone, busy / workers)
