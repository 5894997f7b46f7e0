"""Page caches as they fill and drain while one or several transfers that write to them are laid out in time.

While a cache is below its limit, a writer runs at the speed of what precedes the cache; from then on at that of its
medium. Until write-back begins, the medium has no work from it. So a writer has one row of demands for each state of
the cache (`states`), and each epoch takes one of them.

A level rises by what comes in and falls by write-back, which begins for a medium when the whole cache reaches a
threshold, or when that medium's own pages are old. The instants at which a level meets a limit end an epoch
(`dtnsim.steady.epochs`).

Neglects: while the cache has room, load of write-back on a drive beyond the mean that follows from the writer's speed
(stations that the writer uses too, such as cores that compress, are loaded in full); cached and throttled stretches of
writers that wait for a flush, and of more than `_MOST` writers, which count by their mean.

Shapes: S scenarios, P caches, V media behind them.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from dtnsim.composition import waits
from dtnsim.ground.grouping import by_key
from dtnsim.ground.quantity import Value, middle
from dtnsim.ground.records import Demand, Phase, Problem, Station, Transfer
from dtnsim.physics._arrays import BoolArray, FloatArray as Array, Index
from dtnsim.physics.cache import SLACK
from dtnsim.steady.durability import drain_rates
from dtnsim.steady.stages import step_by_step

_NEAR: Final = 1e-9  #: part of a limit that counts as none of it
_TICKS: Final = 4  #: steps of a clock's last digit that a limit is away at least
_MOST: Final = 32  #: most writers whose caches are followed; of more, each has its part of its cache in the mean
#: times that a cache is full and has room again before it stays full for as long as anything comes in
_TURNS: Final = 24


def shared(problem: Problem) -> list[tuple[list[int], int]]:
    """Transfers that share page caches with others of a path: the writers of each cache, and how many there are.

    Writers of a later turn share it too if it still holds what an earlier turn left.

    A transfer that verifies each of many files that the cache cannot hold changes stretches with every file; it counts
    by its mean and has its part of the cache to itself.
    """
    buffered = ((f, t) for f, t in enumerate(problem.transfers) if t.buffered is not None)
    writers = by_key(((t.turn, t.cache.pool), (f, t.cache.left_B)) for f, t in buffered if t.cache is not None)
    pools: dict[str, list[tuple[list[int], int]]] = {}
    for (_, pool), members in sorted(writers.items()):
        filling, rows = [f for f, _ in members if _fills(problem.transfers[f])], pools.setdefault(pool, [([], 0)])
        before, count = rows[-1]
        goes_on = any(left > 0 for _, left in members) and len(before) == count and len(filling) == len(members)
        rows[-1:] = [(before + filling, count + len(filling))] if goes_on else [rows[-1], (filling, len(members))]
    followed = [row for rows in pools.values() for row in rows if row[0]]
    return followed if sum(len(members) for members, _ in followed) <= _MOST else []


def _fills(t: Transfer) -> bool:
    """Whether a transfer keeps filling its cache, in the mean, from the first byte it writes to the last."""
    if t.flushed or t.cache is None or t.cache.flush_files:
        return False
    elsewhere = any(p.demands for p in t.phases if t.buffered and p.step != t.buffered.step)  # a scan uses no station
    return not elsewhere or step_by_step(t) or bool(middle(_holds(t)))


def _holds(t: Transfer) -> Array:
    """Whether a file's written bytes fit into the cache until its next step: 1 or 0, in scenarios."""
    at_once = min(max(t.sizes_B, default=math.inf), t.piece_B)
    return np.asarray(t.cache is not None and at_once <= np.asarray(t.cache.size_B), float)


def alike_scenarios(problem: Problem, scenarios: int) -> list[Index]:
    """Scenarios grouped by which transfers' files fit into their caches.

    Args:
        problem: The transfers.
        scenarios: How many; if more than the problem has, its own repeat.
    """
    writers = [t for t in problem.transfers if t.cache is not None and t.buffered is not None]
    if len(problem.transfers) == 1 or not writers:
        return [np.arange(scenarios)]
    holds = np.stack([np.resize(_holds(t), scenarios) for t in writers])
    kinds, which = np.unique(holds, axis=1, return_inverse=True)
    return [np.flatnonzero(np.ravel(which) == n) for n in range(kinds.shape[1])]


def states(
    transfer: Transfer, stations: Mapping[str, Station], writers: int, away: Value, *, seen: bool = True
) -> tuple[Transfer, ...]:
    """A transfer in every state of its page cache.

    The states: write-back with room, full, and before write-back; and full with several writers to one medium, where
    write-back during one writer's other steps makes room for those that wait, other transfers or its own workers.

    Args:
        transfer: The transfer.
        stations: By name.
        writers: How many write through its cache to its medium, in equal shares.
        away: Part of the time in which no other writer waits for its medium.
        seen: Whether others use its medium too: write-back while the writer waits loads them, and lengthens the
            writer's own time as well (by the medium's time, if it is slower than the rest).
    """
    buffered = transfer.buffered
    assert buffered is not None
    above, below = ([d for d in buffered.demands if d.below_cache is is_below] for is_below in (False, True))
    fills = waits.time_alone(stations, above, 1)
    if seen:
        fills = fills + waits.recurring(buffered) / transfer.workers
    first, workers = writing_phase(transfer), int(transfer.workers)
    other_steps = [p for p in transfer.phases if p.step != buffered.step]
    elsewhere = sum(
        (waits.time_alone(stations, [d for d in p.demands if not d.aside], workers) for p in other_steps), 0.0
    )
    with np.errstate(invalid="ignore"):
        takes = waits.time_alone(stations, below, 1) * writers
        meanwhile = np.nan_to_num(np.minimum(fills / np.maximum(takes, 1e-300), 1.0))
        nobody = np.nan_to_num(elsewhere / np.maximum(takes * workers, elsewhere + fills)) ** (workers - 1)
    aside = [d for p in other_steps for d in p.demands if d.aside and waits.positive(d.per_byte)]
    hidden = _demand_at(aside[0].station, aside) / _demand_at(aside[0].station, below) if aside else 0.0

    used = {d.station for p in (buffered, *other_steps) for d in p.demands if not (d.below_cache or d.aside)}
    with np.errstate(divide="ignore", invalid="ignore"):  # of what cores do for each byte, by when
        during, in_all = (np.minimum(t * writers / takes, 1.0) for t in (fills, fills + elsewhere / workers))
        during, later = np.nan_to_num(during, nan=1.0), np.nan_to_num(np.minimum((in_all - during) / hidden, 1.0))

    def state(part: Value, left: Value, worked: tuple[Value, Value] | None = None, phase: Phase = buffered) -> Transfer:
        """The transfer in a state of its cache.

        Args:
            part: What its medium does of the work for a byte while that is written.
            left: What it does at other steps.
            worked: Both, of stations that the transfer uses too.
            phase: The one that writes.
        """
        used_part, then = worked or (part, left)
        medium = (replace(d, per_byte=d.per_byte * (used_part if d.station in used else part)) for d in below)
        yields = worked is None and bool(np.any(np.asarray(left) < 1))

        def at(d: Demand) -> Demand:
            part = then if d.station in used else left
            return replace(d, per_byte=d.per_byte * part, yields=yields) if d.aside else d

        rest = [replace(p, demands=tuple(map(at, p.demands))) for p in other_steps]
        return replace(transfer, phases=(*rest[:first], replace(phase, demands=(*above, *medium)), *rest[first:]))

    return (
        state(meanwhile, 0.0, (during, later)),
        state(1 - hidden * nobody, nobody, phase=_less_waits(buffered, stations, workers)),
        state(0.0, 0.0),
        state(1 - hidden * nobody * away, nobody * away),
    )


def _less_waits(phase: Phase, stations: Mapping[str, Station], workers: int) -> Phase:
    """A writing phase without the waits in which its medium, alone, catches up."""
    above, below = (
        waits.time_alone(stations, [d for d in phase.demands if d.below_cache is is_below], workers)
        for is_below in (False, True)
    )
    waited = np.asarray(waits.recurring(phase))
    still = 1 - np.minimum(np.maximum(below - above, 0.0), waited) / np.where(waited > 0, waited, np.inf)
    delays = (replace(d, per_byte=d.per_byte * still) if d.each in waits.AGAIN else d for d in phase.delays)
    return replace(phase, delays=tuple(delays))


def _away(transfer: Transfer, stations: Mapping[str, Station], writers: int) -> Value:
    """Part of the time in which none of a transfer's workers writes, if several wait for their medium."""
    step = transfer.phases[writing_phase(transfer)].step
    seconds: dict[bool, Value] = {True: 0.0, False: 0.0}
    for phase in transfer.phases:
        seconds[phase.step == step] += waits.time_alone(stations, phase.demands, int(transfer.workers))
    writes, other = seconds[True], seconds[False]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(other / (other + writes * writers)) ** transfer.workers)


def writing_phase(transfer: Transfer) -> int:
    """Number of the phase of a transfer that writes through a page cache."""
    return next(n for n, p in enumerate(transfer.phases) if transfer.buffered and p.step == transfer.buffered.step)


def _demand_at(station: str, demands: list[Demand]) -> Value:
    """Total demand per byte at a station."""
    return sum((d.per_byte for d in demands if d.station == station), 0.0)


class Pools:
    """Shared page caches, and how full they are in every scenario."""

    def __init__(self, problem: Problem, scenarios: int) -> None:
        pools = shared(problem)
        numbers, turn = [f for members, _ in pools for f in members], [t.turn for t in problem.transfers]
        caches = [(c, len(members) / count) for members, count in pools if (c := problem.transfers[members[0]].cache)]
        self._volumes: dict[tuple[int, str], int] = {}
        stations = {s.name: s for s in problem.stations}
        #: By number of each transfer that writes to one, (its cache, its medium).
        self.of: dict[int, tuple[int, int]] = {}
        for p, (members, _) in enumerate(pools):
            for f in members:
                key = p, _medium(problem.transfers[f], stations)
                self.of[f] = p, self._volumes.setdefault(key, len(self._volumes))
        meets = {f: [g for g in self.of if self.of[g] == place and turn[g] == turn[f]] for f, place in self.of.items()}
        beside = [count - len(members) for members, count in pools]
        self._stations = stations
        self._writers = {f: beside[place[0]] + len(meets[f]) for f, place in self.of.items()}
        away = {f: _away(problem.transfers[f], stations, writers) for f, writers in self._writers.items()}
        self._away: dict[int, Value] = {f: math.prod(away[g] for g in meets[f] if g != f) for f in self.of}
        visits = Counter(name for t in problem.transfers for name in {d.station for p in t.phases for d in p.demands})
        media = {place: name for (_, name), place in self._volumes.items()}
        fillers = Counter(self.of.values())
        self._seen = {f: visits[media[place[1]]] > fillers[place] for f, place in self.of.items()}
        self._pool = np.array([p for p, _ in self._volumes], np.intp)
        volume = np.array([self.of[f][1] for f in numbers], np.intp)

        def row(values: list[Value]) -> Array:
            spread = [np.broadcast_to(np.asarray(value, float), (scenarios,)) for value in values]
            return np.array(spread).reshape(-1, scenarios)

        self._limit = row([c.size_B * part for c, part in caches])
        self._begins = row([c.write_back_B * part for c, part in caches])
        self._age = row([c.write_back_s for c, _ in caches])[self._pool]
        self._takes = np.zeros((len(self._volumes), scenarios))
        if numbers:
            at_once = {f: turn[members[0]] for members, _ in pools for f in members}
            moved = tuple(replace(t, turn=at_once.get(f, t.turn)) for f, t in enumerate(problem.transfers))
            takes = drain_rates(replace(problem, transfers=moved), numbers, filling=True).T
            np.add.at(self._takes, volume, np.broadcast_to(takes, (len(numbers), scenarios)))
        self._level, self._growth = np.zeros((2, *self._takes.shape))
        self._clock, self._since = np.zeros(scenarios), np.full(self._takes.shape, np.inf)
        self._full, self._begun = np.zeros(self._limit.shape, dtype=bool), np.zeros(self._takes.shape, dtype=bool)
        self._turns = np.zeros(self._limit.shape, np.intp)

    def states(self, f: int, transfer: Transfer) -> tuple[Transfer, ...]:
        """A transfer, or a variant of it, in every state of its cache."""
        return states(transfer, self._stations, self._writers[f], self._away[f], seen=self._seen[f])

    @property
    def state(self) -> Index:
        """(V, S) state of each medium's cache, by its number in `states`."""
        return np.where(self._full[self._pool], 1, np.where(self._begun, 0, 2))

    def states_of(self, numbers: Sequence[int], writes: BoolArray) -> Index:
        """(S, n) states of some transfers' caches, by number; ``writes`` (S, n): which of them write now."""
        volume = np.array([self.of[f][1] for f in numbers], np.intp)
        writers = np.zeros(self._takes.shape, np.intp)
        np.add.at(writers, volume, writes.T)
        state = self.state[volume].T
        return np.where((state == 1) & ((writers[volume].T - writes) > 0), 3, state)

    def _cached_B(self, level: Array) -> Array:
        """(P, S) bytes in each cache for levels (V, S), or its growth for theirs."""
        totals = np.zeros(self._limit.shape)
        np.add.at(totals, self._pool, level)
        return totals

    def due(self, filled: Array) -> Array:
        """(S,) when the next level meets a limit, at fill rates (V, S) [s]."""
        takes = np.where(self._begun, np.where(self._level > 0, self._takes, np.minimum(filled, self._takes)), 0.0)
        self._growth = filled - takes
        cached, grows = self._cached_B(self._level), self._cached_B(self._growth)
        busy = (self._level > 0) | (filled > 0)
        self._since = np.where(busy, np.minimum(self._since, self._clock), np.inf)
        idle = self._cached_B(np.where(busy, 1.0, 0.0)) == 0
        self._full, self._turns = self._full & ~idle, np.where(idle, 0, self._turns)
        room = self._room()
        with np.errstate(divide="ignore", invalid="ignore"):
            waits = [
                np.where(~self._full & (grows > 0), (self._limit - cached) / grows, np.inf),
                np.where(
                    busy & ~self._begun & (grows > 0)[self._pool], ((self._begins - cached) / grows)[self._pool], np.inf
                ),
                np.where(self._begun, np.inf, self._since + self._age - self._clock),
                np.where(self._full & (grows < 0) & (room >= 0), (cached - room) / -grows, np.inf),
                np.where((self._growth < 0) & (self._level > 0), self._level / -self._growth, np.inf),
            ]
        # a limit that is nearer than the clock resolves is met at the clock's next step
        least = _TICKS * np.spacing(self._clock)
        return np.asarray(self._clock + np.maximum(np.concatenate(waits).min(axis=0, initial=np.inf), least))

    def _room(self) -> Array:
        """(P, S) level at which a full cache counts as having room, lower each time; -1 after many: it stays full."""
        slack = np.minimum(SLACK * 2.0**self._turns, 1.0)
        return np.where(self._turns < _TURNS, self._limit * (1 - slack), -1.0)

    def go_on(self, until: Array) -> BoolArray:
        """Advances the levels to a time (S,) [s]; (S,) whether any has met a limit."""
        level = self._level + self._growth * np.maximum(until - self._clock, 0.0)
        near = _NEAR * self._limit
        self._level = np.where(level > near[self._pool], level, 0.0)
        self._clock = np.maximum(until, self._clock)
        cached, old, before = self._cached_B(self._level), self._full, self.state
        gathered = (cached >= self._begins - near)[self._pool]
        self._begun |= gathered | (self._clock >= (self._since + self._age) * (1 - _NEAR))
        self._begun &= np.isfinite(self._since)
        fills = ~old & (cached >= self._limit - near) & (self._cached_B(self._growth) > 0)
        room = self._room()
        leaves = old & (room >= 0) & (cached <= room + near)
        self._turns = self._turns + leaves
        self._full = (old | fills) & ~leaves
        return np.asarray((self.state != before).any(axis=0))

    def filled(self, rate: Array, numbers: Index) -> Array:
        """(V, S) fill rates of the media's caches, from the rates (S, n) of the transfers ``numbers``."""
        rates = np.zeros(self._takes.shape)
        for slot, f in enumerate(numbers.tolist()):
            if f in self.of:
                rates[self.of[f][1]] += rate[:, slot]
        return rates


def _medium(transfer: Transfer, stations: Mapping[str, Station]) -> str:
    """The slowest station behind a page cache."""
    assert transfer.buffered is not None
    below = [d for d in transfer.buffered.demands if d.below_cache]
    names = dict.fromkeys(d.station for d in below)
    return max(
        names,
        key=lambda name: middle(waits.time_alone(stations, [d for d in below if d.station == name], 1)),
        default="",
    )
