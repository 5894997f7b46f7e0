"""Slow start beside other transfers: octave by octave, a connection gets the lesser of its window's rate and its share.

Connections that random loss brings down from where slow start took them are treated alike: a window that is not used
does not grow (RFC 9438, section 5.8), and has fallen about as far by then.

A slow start that is short beside every transfer's time, or shares no station, is part of the transfer's lead, in which
nothing moves, or of a test's mean (`dtnsim.steady.matrices`).

Shapes: S scenarios, F transfers of which f run, O successive quarter octaves of the final rate.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dtnsim.composition.completion import overshoots
from dtnsim.ground.quantity import middle
from dtnsim.ground.records import SLOW_START, Connection, Phase, Problem, Transfer
from dtnsim.physics._arrays import BoolArray, FloatArray as Array, Index
from dtnsim.steady.ceilings import solo_times, station_time
from dtnsim.steady.matrices import WAITS, Matrices, matrices, scenario_count
from dtnsim.steady.rows import over_rows, take
from dtnsim.steady.stages import Column, visit_B

FELT: Final = 0.05  #: part of some transfer's time that a slow start, or what others do at first, has to be
_QUARTERS: Final = 4  #: parts of an octave that are told apart
_OCTAVES: Final = 5  #: octaves below their last rate, and above it, that are told apart
_LEAST: Final = 1e-6  #: part of that rate that they have at least
_MORE: Final = 1e-6  #: part by which they would take more than a station has
_AT_ONCE: Final = 1e-9  #: part of the time gone by within which octaves end


def lost_s(problem: Problem, m: Matrices) -> Array:
    """(S, F) time that connections opened once per worker lose in slow start, all at once [s].

    0 for those that fill no station with others. For those that loss brings down, it is what they lose if others run
    for as long as they are above their final rate.
    """
    alone: Array = 1 / np.maximum(station_time(m.total, m.capacity), 1e-300)
    if scenario_count(problem) not in (1, alone.shape[1]):
        return np.zeros(alone.shape[::-1])
    opens, at_first = _followed(problem), np.array(np.broadcast_to(m.capacity, (alone.shape[1], m.capacity.shape[1])))
    for k, each in opens.items():
        peak = each.course.steps_here(**each.course_here)[1].max(axis=-1) / each.capacity_Bps
        at_first[:, k] *= np.where(overshoots(each), np.maximum(peak, 1.0), 1.0)
    loads = m.loads(1 / np.maximum(station_time(m.total, at_first), 1e-300).T)
    full = np.append(loads > m.capacity * (1 + _MORE), np.zeros((alone.shape[1], 1), dtype=bool), axis=1).T
    met = over_rows(np.logical_or, full[m.total.station], m.total.first).any(axis=1)
    lost, at_work = np.zeros(alone.shape), m.at_work
    for f in np.flatnonzero(met).tolist():
        streams = [opens[k] for k in m.total.row_entries(f)[0].tolist() if k in opens]
        if not streams:
            continue
        t = problem.transfers[f]
        delays = [d for p in t.phases for d in p.delays if d.what == SLOW_START]
        every = sum((np.asarray(d.per_byte) for d in delays), np.zeros(1)) * t.payload_B / at_work[f]
        for each in streams if not t.opened else ():
            later_s = np.maximum(1 / _last_Bps(each) - 1 / alone[f], 0.0)
            every = every + np.where(overshoots(each), t.payload_B * later_s, 0.0)
        once = t.files <= t.workers or not any(each.reopened for each in streams)
        lost[f] = every if once and np.isfinite(every).all() else 0.0  # they never open where the link is full
    return lost.T


def beginnings_felt(problem: Problem, seconds: Array) -> BoolArray:
    """(S, F) whether others end so soon that the first steps of a transfer's workers are much of its time.

    Args:
        seconds: (S, F) how long each lasts while all of them run [s].
    """
    first = [t.workers * visit_B(t) / t.payload_B if t.payload_B > 0 else 0.0 for t in problem.transfers]
    with np.errstate(invalid="ignore"):
        begun, shortest = seconds * first, np.sort(seconds, axis=1)
        earliest = np.where(seconds > shortest[:, :1], shortest[:, :1], shortest[:, 1:2])
    return np.asarray(begun > FELT * earliest)


def _followed(problem: Problem) -> dict[int, Connection]:
    """Connections whose slow start is known, by station."""
    every = ((k, problem.connections.get(s.name)) for k, s in enumerate(problem.stations))
    return {k: streams for k, streams in every if streams is not None and streams.course is not None}


def _last_Bps(streams: Connection) -> Array:
    """Final rate of connections [B/s]."""
    return np.asarray(streams.course.steady_Bps * np.asarray(streams.factor))


class Openings:
    """The slow starts that matter on a path, and how far each has come.

    Args:
        felt: (S, F) whose they are.
    """

    def __init__(self, problem: Problem, m: Matrices, felt: BoolArray) -> None:
        shape, self._felt, opens = felt.shape, felt, _followed(problem)
        self._age_s, self._idle = np.zeros((2, *shape))  # how long bytes have moved; worker's s/B that none do
        self.most = np.full(shape, np.inf)  #: (S, F) what they allow [B/s].
        self._end: Array = self.most  # (S, f) when the octaves end in which they are [s]
        self.station: dict[int, int] = {}  #: Station of the connections of each transfer.
        self._peak_Bps: dict[int, Array] = {}  # (S,) what that allows for a while of those that loss brings down
        each = {f: self._open(opens, m, f) for f in np.flatnonzero(felt.any(axis=0)).tolist()}
        count = max((len(ends) for ends, _ in each.values()), default=0)
        self._ends_s, self._rates = np.full((2, count, *shape), np.inf)
        for f, (ends, rates) in each.items():
            self._ends_s[: len(ends), :, f], self._rates[: len(ends), :, f] = ends, rates

    def _open(self, opens: Mapping[int, Connection], m: Matrices, f: int) -> tuple[Array, Array]:
        """Slow start of a transfer's connections: ends [s] and rates [B/s] of the octaves of their course, (O, S).

        The last one has no end, and only the station's limit if the rate still rises.

        Neglects: where scenarios are some of those that connections know, their spread about the course.
        """
        rows, felt = m.phases.select(np.array(m.phases_of(f))), self._felt[:, f]
        costs = np.where(np.isin(rows.station, list(opens))[:, None], rows.demand, 0.0)
        entry = int(np.argmax(costs.mean(axis=1)))
        self.station[f] = station = int(rows.station[entry])
        least_s = station_time(rows, m.capacity)[rows.row[entry]]
        most = np.where(least_s > 0, costs[entry] / np.maximum(least_s, 1e-300), np.inf)
        figures: dict[str, Any] = {
            name: getattr(opens[station], name) for name in ("capacity_Bps", *opens[station].course_here)
        }
        here: dict[str, Any] = {n: v if np.size(v) in (1, len(felt)) else middle(v) for n, v in figures.items()}
        streams = replace(opens[station], **here)
        falls = felt & overshoots(streams)
        seconds, rates, part = streams.course.steps_here(most_Bps=np.where(falls, np.inf, most), **streams.course_here)
        # no window needs to exceed a file
        wide = rates * middle(streams.rtt_s) >= (math.inf if streams.reopened else streams.file_B)
        seconds = np.where(felt[:, None] & (falls[:, None] | ((part < 1) & ~wide)), seconds, 0.0)
        quarter = np.floor(np.log2(np.maximum(part, _LEAST)) * _QUARTERS)
        quarter = np.clip(quarter, -_OCTAVES * _QUARTERS, np.where(falls[:, None], _OCTAVES * _QUARTERS, -1))
        octave = np.cumsum(np.diff(quarter, axis=-1, prepend=quarter[:, :1]) != 0, axis=-1)
        each = np.stack([np.where(octave == n, seconds, 0.0) for n in range(int(octave.max()) + 1)])
        spans = each.sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = m.capacity[:, station] / streams.capacity_Bps  # infinite where it is asked what they hold
            mean = (each * rates).sum(axis=-1) / np.maximum(spans, 1e-30)
            mean = np.append(mean, [np.where(falls, _last_Bps(streams), np.inf)], axis=0)
            mean = np.maximum(mean, _LEAST * np.asarray(streams.capacity_Bps))  # or time would stand still
            allowed = np.where(np.isfinite(scale), mean * scale, np.inf)
        self._peak_Bps[f] = np.where(falls, allowed[:-1].max(axis=0), 0.0)
        return np.append(spans.cumsum(axis=0), np.full((1, len(felt)), np.inf), axis=0), allowed

    def apart(self, problem: Problem, m: Matrices) -> tuple[Problem, Matrices]:
        """The problem and its arrays without slow start, in waits and in the connections' mean rates."""
        if not self.station:
            return problem, m
        without = replace(problem, transfers=tuple(map(self.without, range(len(problem.transfers)), problem.transfers)))
        before, after = matrices(problem), matrices(without)
        waits = {
            name: np.maximum(getattr(m, name) - (getattr(before, name) - getattr(after, name)), 0.0) for name in WAITS
        }
        capacity = m.capacity
        for f, peak_Bps in self._peak_Bps.items():
            if peak_Bps.any():
                capacity = np.array(np.broadcast_to(capacity, (len(peak_Bps), capacity.shape[1])))
                capacity[:, self.station[f]] = np.maximum(capacity[:, self.station[f]], peak_Bps)
        return without, replace(m, capacity=capacity, **waits)

    def without(self, f: int, transfer: Transfer) -> Transfer:
        """A transfer without slow start in its waits, where that is followed here."""
        if f not in self.station:
            return transfer

        def apart(phase: Phase) -> Phase:
            every = ((d, d.what == SLOW_START) for d in phase.delays)
            delays = (
                replace(d, per_byte=np.where(self._felt[:, f], 0.0, d.per_byte)) if own else d for d, own in every
            )
            return replace(phase, delays=tuple(delays))

        phases, buffered = tuple(map(apart, transfer.phases)), transfer.buffered
        return replace(transfer, phases=phases, buffered=buffered and apart(buffered))

    def ends(self, clock: Array, rate: Array, here: Index) -> Array:
        """(S, f) end of the current octave [s].

        Args:
            clock: (S, f) the time of each [s].
            rate: (S, f) their rates; 0 where nothing moves [B/s].
            here: (f,) the numbers of these transfers.
        """
        self._end = np.full(clock.shape, np.inf)
        if not self.station:
            return self._end
        left_s = (self._ends_s - self._age_s)[..., here]
        left_s = np.where(left_s > _AT_ONCE * self._ends_s[..., here], left_s, np.inf).min(axis=0)
        with np.errstate(divide="ignore"):
            self._end = np.where(rate > 0, clock + left_s / self._moving(rate, here), np.inf)
        return self._end

    def go_on(self, seconds: Array, rate: Array, clock: Array, here: Index) -> BoolArray:
        """(S, f) which of them go to their next octave as time goes by.

        Args:
            seconds: (S, f) how much [s].
            rate: (S, f) at which rates [B/s].
            clock: (S, f) the time of each then [s].
            here: (f,) the numbers of these transfers.
        """
        if self.station:
            self._age_s[:, here] += np.where(rate > 0, seconds * self._moving(rate, here), 0.0)
        return np.asarray(self._end <= clock * (1 + _AT_ONCE))

    def _moving(self, rate: Array, here: Index) -> Array:
        """(S, f) part of the workers' time in which bytes move."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.clip(1 - rate * self._idle[:, here], 0.0, 1.0))

    def hold(self, changed: BoolArray, here: Index, column: Index, columns: Sequence[Column]) -> None:
        """Sets what the connections allow now.

        Args:
            changed: (S,) in which scenarios.
            here: (f,) the numbers of these transfers.
            column: (S, f) as which of ``columns`` each moves bytes; -1 where it does not.
            columns: All of them.
        """
        for slot, f in ((slot, f) for slot, f in enumerate(here.tolist() if self.station else ()) if f in self.station):
            self.most[changed, f] = np.inf
            octave = (self._age_s[:, f] * (1 + _AT_ONCE) >= self._ends_s[..., f]).sum(axis=0)
            opens = changed & (column[:, slot] >= 0)
            for c in np.unique(column[opens, slot]).tolist():
                rows = np.flatnonzero(opens & (column[:, slot] == c))
                cost, idle = (take(rows, each) for each in _costs(columns[c], self.station[f]))
                self._idle[rows, f] = idle
                allows = self._rates[octave[rows], rows, f]
                with np.errstate(divide="ignore"):
                    self.most[rows, f] = np.where(np.isfinite(allows), 1 / (cost / allows + idle), np.inf)


def _costs(column: Column, station: int) -> tuple[Array, Array]:
    """(S,) demand of a byte at a station, and the workers' seconds per byte elsewhere."""
    m = column.of
    cost, away = np.zeros(1), m.delay[:, column.numbers].sum(axis=1)
    solo = solo_times(m, int(m.transfer[column.numbers.start]))
    first = m.phases_of(int(m.transfer[column.numbers.start])).start
    for p in column.numbers:
        visited, demand = m.phases.row_entries(p)
        if station in visited:
            cost = cost + demand[:, visited == station][:, 0]
        else:
            away = away + solo[p - first][1].max(axis=1, initial=0.0)
    return cost * column.part, away * column.part / column.workers
