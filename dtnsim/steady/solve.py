"""Weighted max-min fair rates on stations and demands, for one scenario or thousands at once.

A transfer of rate x uses ``x * demand`` of every station it visits. Rates rise together, each by
its weight, until a station is full or a transfer reaches its own ceiling; those stop, the others
rise on (progressive filling). With one transfer this is operational analysis' X = min C/D.

The ceiling of a transfer is its workers' time: a worker goes through its phases one after the
other, and cannot spend more than a second in a second:
``x <= workers / sum over phases of (delay + solo time per byte)``, where the solo time of a
phase is set by the station that is slowest for one worker alone. A verification after the transfer,
a flush after the writing and round trips between small files are all this one law.

Shapes: S scenarios, F transfers, K stations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dtnsim.ground.records import Problem, Transfer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


#: rounds of `solve` with slowdowns: each gains two digits or more
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Matrices:
    """A `Problem` as arrays.

    Attributes:
        capacity: (S, K).
        demand: (S, F, K): all phases of a transfer added up.
        phases: For each transfer, one (S, K) row per phase.
        delay: For each transfer, one (S,) array per phase: seconds of waiting per payload byte.
        workers: (F,).
        weight: (F,).
        opening: For each transfer, (S,) share of its workers' time that is gone once, at their start, where a time
            ends it (else that is spread over the bytes, in ``delay``).
        private: (K,): station serves one transfer only, and its capacity is that of all its workers.
        slowdowns: For each, (index of the driver, indices of the affected, slope, reference).
    """

    capacity: Array
    demand: Array
    phases: tuple[tuple[Array, ...], ...]
    delay: tuple[tuple[Array, ...], ...]
    workers: Array
    weight: Array
    private: NDArray[np.bool_]
    opening: tuple[Array, ...]
    slowdowns: tuple[tuple[int, NDArray[np.intp], Array, Array], ...] = ()


@dataclass(frozen=True, slots=True)
class Solution:
    """Rates and what holds each of them.

    Attributes:
        capacity: (S, K) capacities at these rates (less than given where memory slows the cores).
        rate: (S, F) payload bytes per second.
        ceiling: (S, F) what the transfer's own workers allow.
        binding: (S, F) index of the station that froze the transfer, or -1 for its workers' ceiling.
    """

    capacity: Array
    rate: Array
    ceiling: Array
    binding: NDArray[np.int64]


def matrices(problem: Problem) -> Matrices:
    """Writes a problem as arrays; scalar entries broadcast over the scenarios."""
    index = {s.name: k for k, s in enumerate(problem.stations)}
    count = _scenarios(problem)
    capacity = np.empty((count, len(index)))  # a transfer that only waits (rm) visits no station
    for k, station in enumerate(problem.stations):
        capacity[:, k] = station.capacity
    phases, delays = [], []
    for transfer in problem.transfers:
        rows, waits = [], []
        for phase in transfer.phases:
            row = np.zeros((count, len(index)))
            for demand in phase.demands:
                row[:, index[demand.station]] += demand.per_byte
            rows.append(row)
            spread = (np.asarray(d.per_byte) for d in phase.delays if not (transfer.timed and d.each == "start"))
            waits.append(np.broadcast_to(sum(spread, np.zeros(1)), (count,)))
        phases.append(tuple(rows))
        delays.append(tuple(waits))
    return Matrices(
        capacity,
        np.stack([np.sum(rows, axis=0) for rows in phases], axis=1),
        tuple(phases),
        tuple(delays),
        np.array([t.workers for t in problem.transfers], float),
        np.array([t.weight for t in problem.transfers], float),
        np.array([s.private for s in problem.stations], dtype=bool),
        tuple(np.broadcast_to(opening(t), (count,)) for t in problem.transfers),
        tuple(
            (
                index[d.driver],
                np.array([index[a] for a in d.affected]),
                np.atleast_1d(d.slope),
                np.atleast_1d(d.reference),
            )
            for d in problem.slowdowns
        ),
    )


def opening(transfer: Transfer) -> Array:
    """Share of its time that a timed transfer's workers lose once, at their start; 0 where bytes end it.

    What is omitted swallows it first: while connections open up next to nothing moves.
    """
    if not transfer.timed:
        return np.zeros(1)
    once = (np.asarray(d.per_byte, float) for p in transfer.phases for d in p.delays if d.each == "start")
    seconds = sum(once, np.zeros(1)) * max(transfer.payload_B, 1.0) / transfer.workers
    return np.clip((seconds - transfer.omitted_s) / transfer.time_s, 0.0, 1.0)


def _scenarios(problem: Problem) -> int:
    values = [s.capacity for s in problem.stations]
    for transfer in problem.transfers:
        for phase in transfer.phases:
            values += [d.per_byte for d in (*phase.demands, *phase.delays)]
    return max(np.size(v) for v in values)


def solo_times(m: Matrices, f: int) -> list[Array]:
    """Seconds per payload byte that one worker of transfer ``f`` needs at each station, by phase: (S, K)."""
    alone = np.where(m.private, m.capacity / m.workers[f], m.capacity)
    return [_per_capacity(row, alone) for row in m.phases[f]]


def _per_capacity(demand: Array, capacity: Array) -> Array:
    """Demand over capacity; no demand costs no time, whatever the capacity."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(demand > 0, demand / capacity, 0.0)


def ceilings(m: Matrices) -> Array:
    """What each transfer's own workers allow, (S, F); infinite where that adds nothing to the stations."""
    result = np.full((m.capacity.shape[0], len(m.phases)), np.inf)
    for f, waits in enumerate(m.delay):
        times = solo_times(m, f)
        busy = sum((t.max(axis=1, initial=0.0) for t in times), np.zeros(1)) + sum(waits, np.zeros(1))
        begun = np.any(m.opening[f] > 0)
        if len(times) > 1 or any(np.any(w > 0) for w in waits) or m.workers[f] > 1 or begun:
            with np.errstate(divide="ignore"):
                result[:, f] = m.workers[f] * (1 - m.opening[f]) / busy
    return result


def maxmin(capacity: Array, demand: Array, weight: Array, ceiling: Array) -> Solution:
    """Weighted max-min fair rates by progressive filling.

    Args:
        capacity: (S, K) capacity of each station.
        demand: (S, F, K) use per byte.
        weight: (F,) rates rise in proportion to it.
        ceiling: (S, F) rate that a transfer cannot pass by itself.

    Returns:
        The `Solution`; a transfer that uses nothing and has no ceiling gets an infinite rate.
    """
    scenarios, flows, _ = demand.shape
    rate = np.zeros((scenarios, flows))
    binding = np.full((scenarios, flows), -1, dtype=np.int64)
    free = np.ones((scenarios, flows), dtype=bool)
    left = capacity.astype(float).copy()
    for _ in range(flows):
        load = np.einsum("sf,sfk->sk", weight * free, demand)
        with np.errstate(divide="ignore", invalid="ignore"):
            level_k = np.where(load > 0, np.maximum(left, 0.0) / load, np.inf)
            level_f = np.where(free, ceiling / weight, np.inf)
        level = np.minimum(level_k.min(axis=1, initial=np.inf), level_f.min(axis=1))
        full = level_k <= level[:, None] * (1 + 1e-12)
        at_station = np.einsum("sfk,sk->sf", demand > 0, full & (load > 0)) > 0
        at_ceiling = level_f <= level[:, None] * (1 + 1e-12)
        stop = free & (at_station | at_ceiling)
        new = np.where(stop, np.minimum(level[:, None] * weight, ceiling), 0.0)
        first = np.argmax(full[:, None, :] & (demand > 0), axis=2) if capacity.shape[1] else binding
        binding = np.where(stop & at_station & ~(at_ceiling & ~at_station), first, binding)
        rate += new
        with np.errstate(invalid="ignore"):
            left -= np.nan_to_num(np.einsum("sf,sfk->sk", new, demand), nan=0.0)
        free &= ~stop
        if not free.any() or not np.isfinite(level).any():
            break
    rate[free] = np.inf
    return Solution(capacity, rate, ceiling, binding)


def solve(m: Matrices) -> Solution:
    """Rates of all transfers in all scenarios.

    Where memory load slows cores, rates and capacities are found together by repetition: more rate
    means less capacity, so there is one answer, and each round is closer by the slope (a quarter).
    """
    solution = maxmin(m.capacity, m.demand, m.weight, ceilings(m))
    for _ in range(_ROUNDS if m.slowdowns else 0):
        slowed = replace(m, capacity=slowed_capacity(m, solution.rate))
        before, solution = solution, maxmin(slowed.capacity, m.demand, m.weight, ceilings(slowed))
        if np.allclose(before.rate, solution.rate, rtol=1e-13, atol=0.0):
            break
    return solution


def slowed_capacity(m: Matrices, rate: Array) -> Array:
    """Capacities (S, K) when the transfers run at ``rate`` (S, F)."""
    capacity = np.broadcast_to(m.capacity, (max(len(m.capacity), len(rate)), m.capacity.shape[1])).copy()
    finite = np.where(np.isfinite(rate), rate, 0.0)
    for driver, affected, slope, reference in m.slowdowns:
        used = np.minimum(np.einsum("sf,sf->s", finite, m.demand[:, :, driver]) / m.capacity[:, driver], 1.0)
        factor = np.maximum((1 + slope * used) / (1 + slope * reference), 1.0)
        capacity[:, affected] /= factor[:, None]
    return capacity
