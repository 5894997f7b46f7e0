"""Plain flows as columns: what holds each, what it may have, when its connections are open."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dtnsim.composition.completion import late_by_holes, trains_of
from dtnsim.composition.plain import Plain, visited
from dtnsim.ground.records import REPAIR, SLOW_START, Connection
from dtnsim.physics._arrays import BoolArray, FloatArray as Array, Index
from dtnsim.simulation.opening import Ramp, ramp_of
from dtnsim.steady import solve
from dtnsim.steady.matrices import Matrices
from dtnsim.steady.rows import Rows

_OF_SIZE: Final = (SLOW_START, REPAIR)  #: waits of connections, by what each flow moves


@dataclass(slots=True)
class Columns:
    """Plain flows ready for the engine: N flows, K shared stations, up to P stations of a flow's own."""

    plain: Plain  #: The flows.
    shared: list[str]  #: Names of the shared stations.
    capacity: Array  #: (K,) their capacities, cores as slow as the steady load makes them [unit/s].
    rows: list[dict[int, float]]  #: What a byte costs at shared stations, for each kind of flows.
    #: Names of the P stations of a flow's own, for each kind of flows; fewer where it has fewer.
    places: list[list[str]]
    own: Array  #: (N, P) capacity of each flow's own stations, infinite where it has fewer [unit/s].
    cost: Array  #: (N, P) what a byte costs there.
    cap: Array  #: (N,) rate that those allow [B/s].
    by: Index  #: (N,) which of them sets it.
    private_Bps: Array  #: (N,) rate that those besides the connections allow [B/s].
    overhead: Array  #: (N,) what a byte costs the connections.
    wait: Array  #: (N,) time from the beginning to the first byte [s].
    #: How connections open up, and rate that their shares are of [B/s]; the last one is none.
    ramps: list[tuple[Ramp, float] | None]
    opens: Index  #: (N,) which of those.
    expected_s: float  #: When the last flow would end at steady rates [s].

    @property
    def has(self) -> BoolArray:
        """(N, P) which stations of its own each flow has."""
        count = np.array([len(names) for names in self.places])[self.plain.kind]
        return np.arange(self.own.shape[1]) < count[:, None]


def columns(plain: Plain) -> Columns:
    """The columns of plain flows."""
    stations, kind = plain.stations, plain.kind
    shared = [name for name, s in stations.items() if not s.private]
    number = {name: k for k, name in enumerate(shared)}
    capacity = np.array([float(stations[name].capacity) for name in shared])
    costs = [visited(each) for each in plain.kinds]
    rows = [{number[name]: cost for name, cost in each.items() if name in number} for each in costs]
    station = _side_by_side([list(row) for row in rows], len(shared)).astype(np.intp)[kind]
    demand = _side_by_side([list(row.values()) for row in rows], 0.0)[kind]
    reach = _least_limit(np.append(capacity, np.inf)[station] / np.where(demand > 0, demand, 1.0))

    places = [[name for name in each if name not in number] for each in costs]
    caps, cost, slow = _owned(plain, places, costs)
    streams, which = _connections(plain, places)
    opens, tcp = which[kind], _place(places, plain.connections.__contains__)[kind]
    overhead = np.where(tcp >= 0, cost[np.arange(len(kind)), tcp], 1.0)
    allowed, lost, opens_s, repair = _opened(
        plain, (streams, opens), np.minimum(reach, _limits(caps, cost, tcp)), overhead
    )
    caps = _with(caps, tcp, allowed)
    waits_s = [sum(float(d.per_byte) for d in t.phases[0].delays if d.what not in _OF_SIZE) for t in plain.kinds]
    lead = np.array([t.payload_B * waits for t, waits in zip(plain.kinds, waits_s, strict=True)])[kind] + repair
    solution = solve.solve(
        _matrices(plain, capacity, (station, demand), (caps, cost, slow), (lost, opens_s, lead), number)
    )
    settled, rate = solution.capacity[0], solution.rate[0]
    caps = settled[len(shared) :].reshape(caps.shape)
    opened = ((ramp_of(each), float(each.capacity_Bps)) for each in streams)
    ramps = [*((ramp, rate_Bps) if ramp is not None else None for ramp, rate_Bps in opened), None]
    last = np.array([np.nan if ramp is None else ramp[0].last * ramp[1] for ramp in ramps])[opens]
    limit = caps / np.where(cost > 0, cost, 1.0)
    limit = _with(limit, np.where(np.isnan(last), -1, tcp), last / overhead)
    wait = np.where(np.isnan(last), lead + lost, lead)
    expected_s = float((plain.start + plain.size / np.maximum(rate, 1e-300)).max())
    limits = limit.min(axis=1), limit.argmin(axis=1), _limits(caps, cost, tcp)
    kinds = plain, shared, settled[: len(shared)], rows, places
    return Columns(*kinds, caps, cost, *limits, overhead, wait, ramps, opens, expected_s)


def _owned(plain: Plain, places: list[list[str]], costs: list[dict[str, float]]) -> tuple[Array, Array, Index]:
    """(N, P) what flows have for themselves: capacity, cost of a byte, number of the slowdown (-1: none)."""
    stations = plain.stations
    slowed = {name: n for n, each in enumerate(plain.slowdowns) for name in each.affected}
    cost = _side_by_side([[each[name] for name in row] for each, row in zip(costs, places, strict=True)], 0.0)
    slow = _side_by_side([[slowed.get(name, -1) for name in row] for row in places], -1).astype(np.intp)
    capacity = _side_by_side([[float(stations[name].capacity) for name in row] for row in places], np.inf)[plain.kind]
    target = _place(places, lambda name: stations[name].kind == "target")[plain.kind]
    capacity = _with(capacity, np.where(np.isfinite(plain.target), target, -1), plain.target)
    return capacity, cost[plain.kind], slow[plain.kind]


def _limits(caps: Array, cost: Array, but: Index) -> Array:
    """(N,) rate that the stations of their own allow flows, those at one place left out [B/s]."""
    limit = caps / np.where(cost > 0, cost, 1.0)
    return _least_limit(_with(limit, but, np.full(len(limit), np.inf)))


def _with(table: Array, place: Index, values: Array) -> Array:
    """A table with other values at one place of each line; none where that is -1."""
    lines = np.flatnonzero(place >= 0)
    changed = table.copy()
    changed[lines, place[lines]] = values[lines]
    return changed


def _least_limit(limits: Array) -> Array:
    return np.asarray(limits.min(axis=1, initial=np.inf))


def _side_by_side(rows: list[list[Any]], none: float) -> Array:
    """Lists of unlike lengths as one array, filled up."""
    table = np.full((len(rows), max(map(len, rows)) or 1), none, float)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return table


def _place(places: list[list[str]], wanted: Callable[[str], bool]) -> Index:
    """Place of the wanted station of each kind of flows; -1 where it has none."""
    return np.array([next((n for n, name in enumerate(each) if wanted(name)), -1) for each in places], np.intp)


def _connections(plain: Plain, places: list[list[str]]) -> tuple[list[Connection], Index]:
    """Connections that differ, and which of them each kind has; -1 where it has none."""
    numbers: dict[Any, int] = {}
    connections: list[Connection] = []
    which = np.full(len(places), -1)
    for n, names in enumerate(places):
        each = next((plain.connections[name] for name in names if name in plain.connections), None)
        if each is not None:
            figures = each.capacity_Bps, each.rtt_s, *each.course_here.values()
            key = id(each.course), *map(float, figures)
            which[n] = numbers.setdefault(key, len(connections))
            if which[n] == len(connections):
                connections.append(each)
    return connections, which


def _opened(
    plain: Plain, streams: tuple[list[Connection], Index], reach: Array, overhead: Array
) -> tuple[Array, Array, Array, Array]:
    """(N,) what connections allow, their opening included [B/s], and seconds that it costs beside what others allow.

    And those of them in which they have hardly begun, and those that the last byte waits for holes.
    """
    allowed, (lost, opens, repair) = np.full(len(plain), np.inf), np.zeros((3, len(plain)))
    for n, each in enumerate(streams[0]):
        those = np.flatnonzero(streams[1] == n)
        size, most = plain.size[those] * overhead[those], reach[those] * overhead[those]
        allowed[those] = _mean(each, plain.size[those])
        if each.course is not None:
            took = each.course.time_of(size, most_Bps=most, trains=trains_of(each), **each.course_here)
            fair = size / np.minimum(allowed[those], most)
            lost[those] = np.maximum(took + float(each.rtt_s) / 2 - fair, 0.0)
            begins = each.course.opens_s(most_Bps=most, **each.course_here)
            opens[those] = np.minimum(begins + float(each.rtt_s) / 2, lost[those])
            repair[those] = late_by_holes(each, took, most)
    return allowed, lost, opens, repair


def _mean(streams: Connection, size: Array) -> Any:
    """What connections allow that are opened for so many bytes [B/s]."""
    if streams.course is None:
        return streams.capacity_Bps
    took = streams.course.time_of(size, **streams.course_here)
    return np.maximum(streams.capacity_Bps, size / np.maximum(took, 1e-30))


def _matrices(
    plain: Plain,
    capacity: Array,
    visits: tuple[Index, Array],
    owned: tuple[Array, Array, Index],
    waits: tuple[Array, Array, Array],
    number: dict[str, int],
) -> Matrices:
    """The flows as the steady solver has them, a flow's own stations behind the shared ones."""
    (station, demand), (caps, cost, slow) = visits, owned
    count, shared = len(plain), len(capacity)
    total = shared + caps.size
    mine = shared + np.arange(caps.size).reshape(caps.shape)
    station = np.concatenate([np.where(demand > 0, station, total), np.where(cost > 0, mine, total)], axis=1)
    demand = np.concatenate([demand, cost], axis=1)
    order = np.argsort(station, axis=1, kind="stable")
    width = station.shape[1]
    rows = Rows(
        np.take_along_axis(station, order, axis=1).ravel(),
        np.repeat(np.arange(count), width),
        np.arange(0, count * width, width),
        np.take_along_axis(demand, order, axis=1).reshape(-1, 1),
    )
    lost, opens, lead = (seconds / np.maximum(plain.size, 1.0) for seconds in waits)
    grows = (lost - opens)[None, :]
    none, one = np.zeros((1, count)), np.ones(count)
    slowdowns = []
    for n, each in enumerate(plain.slowdowns):
        together = [number[name] for name in each.affected if name in number]
        affected = np.concatenate([np.array(together, np.intp), mine[slow == n]])
        slowdowns.append((number[each.driver], affected, np.atleast_1d(each.slope), np.atleast_1d(each.reference)))
    weight = np.array([each.weight for each in plain.kinds])[plain.kind]
    private, alone = np.arange(total) >= shared, np.ones((1, total))
    return Matrices(
        np.concatenate([capacity, caps.ravel()])[None, :], rows, rows, np.arange(count), grows, grows, grows, one, one,
        (((1, 1.0),),) * count, weight, none, (lead + opens)[None, :], private, private, alone,
        np.zeros(count, dtype=bool), np.zeros(count, np.intp), tuple(slowdowns),
    )  # fmt: skip
