"""Plain flows as columns: what holds each, what it may have, when its connections are open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnsim.simulation.opening import ramp_of
from dtnsim.steady import solve
from dtnsim.steady.matrices import Matrices
from dtnsim.steady.rows import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnsim.composition.plain import Plain
    from dtnsim.ground.records import Connection
    from dtnsim.simulation.opening import Ramp

    Array = NDArray[np.float64]
    Index = NDArray[np.intp]

#: places of a flow's own stations: at its source, its destination and between, its connections, its target rate
TCP, TARGET = -2, -1


@dataclass(slots=True)
class Columns:
    """Plain flows ready for the engine: N flows, K shared stations, up to P stations of a flow's own.

    Attributes:
        plain: The flows.
        shared: Names of the shared stations.
        capacity: (K,) their capacities, cores as slow as the steady load makes them [unit/s].
        rows: What a byte costs at shared stations, for each kind of flows.
        places: (part of the way, number there) of each flow's own stations but for the last two, P - 2 of them.
        own: (N, P) capacity of each flow's own stations, infinite where it has fewer [unit/s].
        cost: (N, P) what a byte costs there.
        has: (N, P) whether it is there.
        cap: (N,) rate that those allow [B/s].
        by: (N,) which of them sets it.
        loose: (N,) rate that those besides the connections allow [B/s].
        wait: (N,) time from the beginning to the first byte [s].
        ramps: How connections open up, for each of the path's, and rate that their shares are of [B/s].
        opens: (N,) which of those, -1 where they are open at once.
        expected_s: When the last flow would end at steady rates [s].
    """

    plain: Plain
    shared: list[str]
    capacity: Array
    rows: list[dict[int, float]]
    places: list[tuple[int, int]]
    own: Array
    cost: Array
    has: NDArray[np.bool_]
    cap: Array
    by: Index
    loose: Array
    wait: Array
    ramps: list[tuple[Ramp, float] | None]
    opens: Index
    expected_s: float


def columns(plain: Plain) -> Columns:
    """The columns of plain flows.

    Args:
        plain: The flows.
    """
    shared = [name for name, s in plain.stations.items() if not s.private]
    number = {name: k for k, name in enumerate(shared)}
    capacity = np.array([float(plain.stations[name].capacity) for name in shared])
    parts = np.array([kind.parts for kind in plain.kinds], np.intp)[plain.kind]
    visits = [_visits(plain, parts[:, j], number) for j in range(3)]
    owned = [_owned(plain, parts[:, j]) for j in range(3)]
    station, demand = (np.concatenate([v[n] for v in visits], axis=1) for n in (0, 1))
    own, cost, slow, has = (np.concatenate([o[n] for o in owned], axis=1) for n in range(4))
    overhead = np.array([float(kind.use.net.overhead) for kind in plain.kinds])[plain.kind]
    streams = np.array([kind.streams for kind in plain.kinds], np.intp)[plain.kind]
    reach = np.append(capacity, np.inf)[station] / np.where(demand > 0, demand, 1.0)
    others = np.minimum(_least(reach), np.minimum(_least(own / np.where(cost > 0, cost, 1.0)), plain.target / overhead))
    allowed, lost = _connections(plain, streams, others, overhead)
    ends = (streams >= 0, allowed), (np.isfinite(plain.target), plain.target)
    own = np.concatenate([own, *(np.where(there, value, np.inf)[:, None] for there, value in ends)], axis=1)
    cost = np.concatenate([cost, *(np.where(there, overhead, 0.0)[:, None] for there, _ in ends)], axis=1)
    has = np.concatenate([has, *(there[:, None] for there, _ in ends)], axis=1)
    slow = np.concatenate([slow, np.full((len(plain), 2), -1)], axis=1)
    lead = np.array([kind.wait_s for kind in plain.kinds])[plain.kind]
    whole = _matrices(plain, capacity, (station, demand), (own, cost, slow), (lost, lead), number)
    solution = solve.solve(whole)
    settled, rate = solution.capacity[0], solution.rate[0]
    own = settled[len(shared) :].reshape(own.shape)
    ramps = [_ramp(each) for each in plain.streams]
    opening = np.append([ramp is not None for ramp in ramps], [False]).astype(bool)
    opens = np.where(opening[streams], streams, -1)
    limit = own / np.where(cost > 0, cost, 1.0)
    loose = _least(np.delete(limit, own.shape[1] + TCP, axis=1))
    last = np.array([ramp[0].last * ramp[1] if ramp is not None else np.nan for ramp in ramps] + [np.nan])
    limit[:, TCP] = np.where(opens >= 0, last[opens] / overhead, limit[:, TCP])
    return Columns(
        plain,
        shared,
        settled[: len(shared)],
        [_row(plain, kind.parts, number) for kind in plain.kinds],
        [(part, n) for part, made in enumerate(owned) for n in range(made[0].shape[1])],
        own,
        cost,
        has,
        limit.min(axis=1),
        limit.argmin(axis=1),
        loose,
        np.where(opens >= 0, lead, lead + lost),
        ramps,
        opens,
        float((plain.start + plain.size / np.maximum(rate, 1e-300)).max()),
    )


def _least(limits: Array) -> Array:
    return np.asarray(limits.min(axis=1, initial=np.inf))


def _row(plain: Plain, parts: tuple[int, int, int], number: dict[str, int]) -> dict[int, float]:
    row: dict[int, float] = {}
    for part in parts:
        for name, cost in plain.charged[part].shared.items():
            row[number[name]] = row.get(number[name], 0.0) + cost
    return row


def _visits(plain: Plain, part: Index, number: dict[str, int]) -> tuple[Index, Array]:
    """(N, n) shared stations that flows visit in one of their parts, and what a byte costs there; none is ``K``."""
    used = np.unique(part)
    width = max(len(plain.charged[p].shared) for p in used)
    station = np.full((len(plain.charged), width), len(number), np.intp)
    cost = np.zeros(station.shape)
    for p in used:
        for n, (name, per_byte) in enumerate(plain.charged[p].shared.items()):
            station[p, n], cost[p, n] = number[name], per_byte
    return station[part], cost[part]


def _owned(plain: Plain, part: Index) -> tuple[Array, Array, Index, NDArray[np.bool_]]:
    """(N, n) what flows have for themselves in one of their parts: capacity, cost of a byte, slowdown, is it there."""
    slowed = {name: n for n, each in enumerate(plain.slowdowns) for name in each.affected}
    used = np.unique(part)
    width = max(len(plain.charged[p].private) for p in used)
    capacity = np.full((len(plain.charged), width), np.inf)
    cost, slow, has = np.zeros(capacity.shape), np.full(capacity.shape, -1), np.zeros(capacity.shape, dtype=bool)
    for p in used:
        for n, (name, per_byte) in enumerate(plain.charged[p].private.items()):
            capacity[p, n], cost[p, n] = float(plain.stations[name].capacity), per_byte
            slow[p, n], has[p, n] = slowed.get(name, -1), True
    return capacity[part], cost[part], slow[part], has[part]


def _connections(plain: Plain, streams: Index, others: Array, overhead: Array) -> tuple[Array, Array]:
    """(N,) what connections allow, their opening included [B/s], and seconds that it costs beside what others allow."""
    allowed, lost = np.full(len(plain), np.inf), np.zeros(len(plain))
    for n, each in enumerate(plain.streams):
        those = np.flatnonzero(streams == n)
        size, most = plain.size[those] * overhead[those], others[those] * overhead[those]
        allowed[those] = _mean(each, plain.size[those])
        if each.course is not None:
            took = each.course.time_of(size, most_Bps=most, factor=each.factor, stretch=each.stretch)
            fair = size / np.minimum(allowed[those], most)
            lost[those] = np.maximum(took + float(each.rtt_s) / 2 - fair, 0.0)
    return allowed, lost


def _mean(streams: Connection, size: Array) -> Any:
    """What connections allow that are opened for so many bytes [B/s]."""
    if streams.course is None:
        return streams.capacity_Bps
    took = streams.course.time_of(size, factor=streams.factor, stretch=streams.stretch)
    return np.maximum(streams.capacity_Bps, size / np.maximum(took, 1e-30))


def _ramp(streams: Connection) -> tuple[Ramp, float] | None:
    ramp = ramp_of(streams)
    return None if ramp is None else (ramp, float(streams.capacity_Bps))


def _matrices(
    plain: Plain,
    capacity: Array,
    visits: tuple[Index, Array],
    owned: tuple[Array, Array, Index],
    waits: tuple[Array, Array],
    number: dict[str, int],
) -> Matrices:
    """The flows as the steady solver has them, a flow's own stations behind the shared ones."""
    (station, demand), (own, cost, slow) = visits, owned
    count, shared = len(plain), len(capacity)
    whole = shared + own.size
    mine = shared + np.arange(own.size).reshape(own.shape)
    station = np.concatenate([np.where(demand > 0, station, whole), np.where(cost > 0, mine, whole)], axis=1)
    demand = np.concatenate([demand, cost], axis=1)
    order = np.argsort(station, axis=1, kind="stable")
    width = station.shape[1]
    rows = Rows(
        np.take_along_axis(station, order, axis=1).ravel(),
        np.repeat(np.arange(count), width),
        np.arange(0, count * width, width),
        np.take_along_axis(demand, order, axis=1).reshape(-1, 1),
    )
    lost, lead = (seconds / np.maximum(plain.size, 1.0) for seconds in waits)
    none, one = np.zeros((1, count)), np.ones(count)
    slowdowns = []
    for n, each in enumerate(plain.slowdowns):
        together = [number[name] for name in each.affected if name in number]
        affected = np.concatenate([np.array(together, np.intp), mine[slow == n]])
        slowdowns.append((number[each.driver], affected, np.atleast_1d(each.slope), np.atleast_1d(each.reference)))
    weight = np.array([kind.use.weight for kind in plain.kinds])[plain.kind]
    private, alone = np.arange(whole) >= shared, np.ones((1, whole))
    return Matrices(
        np.concatenate([capacity, own.ravel()])[None, :], rows, rows, np.arange(count), lost[None, :], none, one,
        (((1, 1.0),),) * count, weight, none, lead[None, :], private, private, alone,
        np.zeros(count, dtype=bool), np.zeros(count, np.intp), tuple(slowdowns),
    )  # fmt: skip
