"""Weighted max-min fair rates on stations and demands, for one scenario or thousands at once.

A transfer of rate x uses ``x * demand`` of every station it visits. Rates rise together, each by
its weight, until a station is full or a transfer reaches its own ceiling; those stop, the others
rise on (progressive filling). With one transfer this is operational analysis' X = min C/D.

The ceiling of a transfer is its workers' time: a worker goes through its phases one after the
other, and cannot spend more than a second in a second:
``x <= workers / sum over phases of (delay + solo time per byte)``, where the solo time of a
phase is set by the station that is slowest for one worker alone. A verification after the transfer,
a flush after the writing and round trips between small files are all this one law. What a tool does before any worker
moves (log-in, lists: ``lead``) comes on top, and then its workers queue at the slowest of the stations they share,
each no faster there than by itself (`dtnsim.physics.waiting`): ``1 / x >= lead + cycle of the workers``.

Shapes: S scenarios, F transfers, K stations (`dtnsim.steady.matrices`).
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import Final

import numpy as np

from dtnsim.physics import memory
from dtnsim.physics._arrays import FloatArray as Array, Index
from dtnsim.steady.ceilings import Workers, ceilings, solo_times
from dtnsim.steady.matrices import WAITS, Matrices, matrices
from dtnsim.steady.ordering import by_turn
from dtnsim.steady.rows import take
from dtnsim.steady.shares import MUCH, Shares, Solution

__all__ = ["Matrices", "Solution", "ceilings", "matrices", "slowed_capacity", "solo_times", "solve"]

#: rounds of `solve`: of slowdowns each gains a digit at least, and weights that settle have done so by then
_ROUNDS: Final = 12
_WEIGHED: Final = 8
#: relative change at which they end: of one scenario, and of many, of which only quantiles are asked
_EXACT: Final = 1e-13
_DRAWN: Final = 1e-9
_ELSEWHERE: Final = 1e-5  #: the same from which on a scenario keeps the part of the time that workers are elsewhere
_FURTHEST: Final = 5.0  #: most that a weight moves in a round, in times of its error
#: part of their time from which on workers are held by the station that they share, and below by what they do elsewhere
_THERE: Final = 0.5


def solve(m: Matrices) -> Solution:
    """Rates of all transfers in all scenarios.

    Where memory load slows cores, rates and capacities are found together by repetition: more rate
    means less capacity, so there is one answer, and each round is closer by the slope (a quarter).
    """
    if m.turn.any():
        parted, stations = by_turn(m)
        solution = solve(parted)
        binding = np.where(solution.binding >= 0, stations[solution.binding], solution.binding)
        slowest = np.repeat(m.capacity, len(solution.capacity) // len(m.capacity), axis=0)
        np.minimum.at(slowest.T, stations, solution.capacity.T)  # of each station in any turn
        return replace(solution, capacity=slowest, binding=binding)
    return Rates(m).while_active(np.full((1, len(m.workers)), np.inf))


class Rates:
    """Rates of a problem's transfers, whoever of them runs."""

    def __init__(self, m: Matrices) -> None:
        self.m = m
        self.unslowed = _Prepared(m.unslowed)

    @cached_property
    def _slowed(self) -> _Prepared:
        return _Prepared(self.m)

    def take(self, scenarios: Index) -> Rates:
        """The same in some scenarios."""
        rates, m = copy(self), self.m.take(scenarios)
        rates.m, rates.unslowed = m, self.unslowed.take(scenarios, m.unslowed)
        if "_slowed" in vars(self):
            vars(rates)["_slowed"] = self._slowed.take(scenarios, m)
        return rates

    def while_active(self, most: Array, near: float | None = None, *, bound: bool = True) -> Solution:
        """Rates while only some transfers run; the rates of the others are 0.

        Of a shared station a transfer has the part that its workers are there for (`Workers.weights`), found with the
        rates as well, until those move by less than a part ``near``.

        Args:
            most: (S, F) what each may have, infinite where nothing else bounds it; 0 where it does not run [B/s].
            near: Part by which rates may still move; None: a rounding, or what quantiles cannot tell.
        """
        solution = _filled(self.unslowed, most, near, bound=bound)
        if not self.m.slowdowns:
            return solution
        slow = np.flatnonzero((slowed(self.m, solution.rate) > 1).any(axis=1))
        if len(slow) == len(solution.rate):
            return _filled(self._slowed, most, near, bound=bound)
        if not len(slow):
            return solution
        merged = solution.map_parts(lambda a: np.array(np.broadcast_to(a, (len(solution.rate), a.shape[1]))))
        again = _filled(self._slowed.take(slow, self.m.take(slow)), take(slow, most), near, bound=bound)
        for values, latest in zip(merged.parts, again.parts, strict=True):
            values[slow] = latest
        return merged


class _Prepared:
    """A problem prepared for repeated solving: what its stations and its workers allow."""

    def __init__(self, m: Matrices) -> None:
        self.m, self.workers, self.shares = m, Workers(m), Shares(m.capacity, m.total, m.changing)

    def take(self, scenarios: Index, m: Matrices) -> _Prepared:
        """The same in some scenarios; ``m`` is the problem in these."""
        prep = copy(self)
        prep.m, prep.workers, prep.shares = m, self.workers.take(scenarios, m), self.shares.take(scenarios, m.total)
        return prep


def _filled(prep: _Prepared, most: Array, near: float | None, *, bound: bool) -> Solution:
    """Rates up to ``most`` (S, F); where memory slows cores, or workers are elsewhere, round by round."""
    m, workers = prep.m, prep.workers
    ceiling = np.minimum(workers.ceilings(m.capacity, most > 0), most)
    bound = bound or workers.elsewhere
    places = prep.shares.places(m.capacity, ceiling)
    solution = prep.shares.filled(m.capacity, m.weight[:, None], ceiling, places, bound=bound)
    scenarios = np.arange(len(solution.rate))
    moves = scenarios if m.slowdowns else np.flatnonzero(workers.met(solution.binding))
    if not len(moves):
        return solution
    # who keeps its weights keeps its rates, unless capacities move
    enough = near or (_ELSEWHERE if not m.slowdowns else _EXACT if len(scenarios) == 1 else _DRAWN)
    weight, settled = np.broadcast_to(m.weight[:, None], solution.rate.T.shape), np.zeros(len(scenarios), dtype=bool)
    moved, missed = np.zeros((2, *weight.shape))
    part = np.ones((1, 1))

    def note() -> None:
        """Puts the scenarios of the last round among all."""
        for values, latest in zip(merged.parts[not m.slowdowns :], solution.parts[not m.slowdowns :], strict=True):
            values[scenarios] = latest
        merged.binding[scenarios] = np.where(part.T >= _THERE, solution.binding, -1)

    merged = solution.map_parts(lambda a: np.array(np.broadcast_to(a, (len(scenarios), a.shape[1]))))
    for _ in range(_WEIGHED if workers.elsewhere else _ROUNDS):
        if len(moves) < MUCH * len(scenarios):
            note()
            scenarios, weight, settled = scenarios[moves], weight.take(moves, axis=1), settled[moves]
            moved, missed = moved.take(moves, axis=1), missed.take(moves, axis=1)
            solution = solution.map_parts(partial(take, moves))
            most, ceiling, prep = take(moves, most), take(moves, ceiling), prep.take(moves, m.take(moves))
            m, workers, places = prep.m, prep.workers, None if places is None else places.take(moves)
        if workers.elsewhere:
            wanted, part = workers.weights(solution.capacity, solution.rate, solution.binding, weight)
            misses = np.where(settled, 0.0, wanted - weight)
            further = np.clip(weight + _secant_step(misses, moved, missed), wanted / 2, m.weight[:, None])
            weight, moved, missed = further, further - weight, misses
        before, capacity = solution.rate, m.capacity
        if m.slowdowns:
            capacity = slowed_capacity(m, solution.rate)
            ceiling = np.minimum(workers.ceilings(capacity, most > 0), most)
            places = prep.shares.places(capacity, ceiling)
        solution = prep.shares.filled(capacity, weight, ceiling, places, bound=bound)
        change = _change(before, solution.rate)
        settled = settled | (change <= max(enough, _ELSEWHERE))
        moves = np.flatnonzero(~(change <= enough))
        if not len(moves):
            break
    note()
    return merged


def _secant_step(misses: Array, moved: Array, missed: Array) -> Array:
    """(F, S) how far weights go: each by its own secant, and at least as far as they are off.

    Args:
        misses: (F, S) by how much the weights that follow from them differ from them.
        moved: (F, S) by how much they differ from those of the round before.
        missed: (F, S) by how much those were off.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        gain = np.fmax(moved / (missed - misses), 1.0)
    return misses * np.minimum(gain, _FURTHEST)


def _change(before: Array, after: Array) -> Array:
    """(S,) by which part rates changed most."""
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.abs(before - after) / np.abs(after)
    return np.asarray(np.where(before == after, 0.0, part).max(axis=1))


def slowed(m: Matrices, rate: Array) -> Array:
    """(S, slowdowns) by which factor each makes a byte dearer when transfers run at ``rate`` (S, F), 1 at least."""
    number = {driver: n for n, driver in enumerate(dict.fromkeys(driver for driver, _, _, _ in m.slowdowns))}
    drivers, place = np.array(list(number), np.intp), [number[driver] for driver, _, _, _ in m.slowdowns]
    load = m.loads(np.where(np.isfinite(rate), rate, 0.0), drivers)[:, place]
    return _interference(m, np.minimum(load / m.capacity[:, drivers[place]], 1.0))


def _interference(m: Matrices, used: Array | float) -> Array:
    """(S, slowdowns) the same factors where what slows is used to a part ``used`` (S, slowdowns)."""
    slope, reference = (np.array(np.broadcast_arrays(*(s[n] for s in m.slowdowns))).T for n in (2, 3))
    return np.asarray(np.maximum(memory.interference(used, slope, reference), 1.0))


def slowed_capacity(m: Matrices, rate: Array | None) -> Array:
    """Capacities (S, K) when the transfers run at ``rate`` (S, F); None: where all that slows them is used fully."""
    none = np.ones((1 if rate is None else len(rate), 0))
    factor = none if not m.slowdowns else _interference(m, 1.0) if rate is None else slowed(m, rate)
    capacity = np.broadcast_to(m.capacity, (max(len(m.capacity), len(none), len(factor)), m.capacity.shape[1])).copy()
    for n, (_, affected, _, _) in enumerate(m.slowdowns):
        capacity[:, affected] /= factor[:, n : n + 1]
    return capacity


def relieved(m: Matrices, *, station: int | None, transfer: int) -> Matrices:
    """The problem without a station's limit, or (None) without the waiting of a transfer, by their numbers."""
    if station is not None:
        capacity = m.capacity.copy()
        capacity[:, station] = np.inf
        return replace(m, capacity=capacity)
    waits = {name: getattr(m, name).copy() for name in WAITS}
    for name, seconds in waits.items():
        seconds[:, transfer if name in ("opening", "lead") else m.transfer == transfer] = 0.0
    return replace(m, **waits)
