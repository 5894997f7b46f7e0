"""The state of a fleet before its first event: nodes, rows, ways, lanes and places as flat numbers (`layout`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.simulation.fleet.kernel import layout as at

if TYPE_CHECKING:
    from dtnsim.simulation.fleet.plant import Lane, Place, Way, Work

#: flows that there is room for at first; twice as many whenever that is not enough
_FLOWS: Final = 256
_ORDERS: Final = {"fifo": 0, "fair": 1, "deadline": 2}

Row = tuple[tuple[int, float], ...]


class Layout:
    """Puts the numbers of a fleet down, one record after the other.

    Args:
        capacity: Of the stations.
        lanes: Where transfers wait.
        ways: All ways, by number.
        kinds: Number of classes.
        hosts: Number of hosts.
    """

    def __init__(
        self, capacity: Sequence[float], lanes: Sequence[Lane], ways: Sequence[Way], kinds: int, hosts: int
    ) -> None:
        self.f: list[float] = [0.0] * at.HEAD
        self.q: list[int] = [0] * at.HEAD
        self.heaps = at.FIRST_HEAP
        q = self.q
        self.stations = q[at.STATIONS] = self.take(at.STATION * len(capacity))
        q[at.N_STATIONS] = len(capacity)
        for k, each in enumerate(capacity):
            s = self.stations + at.STATION * k
            self.f[s], self.f[s + at.RATIO], self.q[s] = each, 1.0, -1
        q[at.HOSTS] = self.take(hosts)
        rows: dict[Row, int] = {}
        for way in ways:
            row = tuple((k, d) for k, d in sorted(way.reduced.demands) if d > 0)
            rows.setdefault(row, len(rows))
        nodes = self._nodes(list(rows))
        self._rows(list(rows), nodes)
        self._ways(ways, rows)
        self._lanes(lanes)
        q[at.N_HELD] = len(capacity) + at.OTHERS
        q[at.HELD] = self.take(q[at.N_HELD] * kinds)

    def take(self, count: int) -> int:
        """Room for so many numbers; returns their address."""
        here = len(self.f)
        self.f += [0.0] * count
        self.q += [0] * count
        return here

    def _put(self, numbers: Sequence[int]) -> int:
        here = self.take(len(numbers))
        self.q[here : here + len(numbers)] = numbers
        return here

    def _nodes(self, rows: list[Row]) -> dict[int, int]:
        """Makes nodes of the stations that all rows cross alike; station -> address of its node."""
        visits: dict[int, list[tuple[int, float]]] = {}
        for r, row in enumerate(rows):
            for k, demand in row:
                visits.setdefault(k, []).append((r, demand))
        shown = cache("{:.11e}".format)  # most stations see few ratios
        groups: dict[tuple[tuple[int, str], ...], list[int]] = {}
        for k in sorted(visits):
            first = visits[k][0][1]
            groups.setdefault(tuple((r, shown(d / first)) for r, d in visits[k]), []).append(k)
        f, q = self.f, self.q
        q[at.N_NODES], q[at.NODES] = len(groups), self.take(at.NODE * len(groups))
        found = {}
        for number, members in enumerate(groups.values()):
            n = q[at.NODES] + number * at.NODE
            one = visits[members[0]][0][1]
            for k in members:
                s = self.stations + at.STATION * k
                f[s + at.RATIO], q[s] = visits[k][0][1] / one, n
                found[k] = n
            q[n + at.N_MEMBERS] = len(members)
            q[n + at.MEMBERS] = self._put([self.stations + at.STATION * k for k in members])
            value = least(f, q, n)
            f[n + at.CAPACITY] = f[n + at.SPARE] = f[n + at.GREATEST] = value
            f[n + at.HIGH] = f[n + at.LEVEL] = f[n + at.DUE] = math.inf
            f[n + at.LOW] = -1e-13 * value if value < math.inf else 0.0
            q[n + at.FIRST_HELD] = q[n + at.LAST_HELD] = -1
            q[n + at.HEAPS] = self.heaps
            q[n + at.ROOM : n + at.ROOM + 3] = [64, 64, 64]
            self.heaps += 3
        return found

    def _rows(self, rows: list[Row], nodes: dict[int, int]) -> None:
        """Rows on their nodes, and what nodes can put on each other."""
        f, q = self.f, self.q
        q[at.N_ROWS], q[at.ROWS] = len(rows), self.take(at.ROW * len(rows))
        through: dict[int, list[int]] = {n: [] for n in nodes.values()}
        slots: dict[tuple[int, int], int] = {}
        for number, row in enumerate(rows):
            r = q[at.ROWS] + number * at.ROW
            pairs: dict[int, float] = {}
            for k, demand in row:
                pairs.setdefault(nodes[k], demand / f[self.stations + at.STATION * k + at.RATIO])
            here = self._put(list(pairs))
            f[here : here + len(pairs)] = pairs.values()
            for k, n in enumerate(pairs):
                through[n] += [r, here + k]
            q[r + at.PAIRS], q[r + at.N_PAIRS], q[r + at.AT_NODE] = here, len(pairs), -1
            q[r + at.FIRST_FLOW] = q[r + at.LAST_FLOW] = -1
            made = []
            for n in pairs:
                for m in pairs:
                    if (n, m) not in slots:
                        slots[n, m] = self.take(at.SLOT)
                        q[slots[n, m] + at.OTHER] = m
                    made.append(slots[n, m])
            q[r + at.SLOTS] = self._put(made)
        room: dict[int, int] = {}
        for n, _ in slots:
            room[n] = room.get(n, 0) + 1
        for n, those in through.items():
            q[n + at.LOADS], q[n + at.FEEDERS] = self.take(room.get(n, 0)), self.take(2 * room.get(n, 0))
            q[n + at.OWN] = slots.get((n, n), 0)
            q[n + at.THROUGH], q[n + at.N_THROUGH] = self._put(those), len(those) // 2

    def _ways(self, ways: Sequence[Way], rows: dict[Row, int]) -> None:
        f, q = self.f, self.q
        q[at.N_WAYS], q[at.WAYS] = len(ways), self.take(at.WAY * len(ways))
        known: dict[int, tuple[int, int]] = {}
        for number, way in enumerate(ways):
            w, reduced = q[at.WAYS] + number * at.WAY, way.reduced
            f[w + at.WAY_WEIGHT] = reduced.weight
            row = tuple((k, d) for k, d in sorted(reduced.demands) if d > 0)
            q[w + at.WAY_ROW] = q[at.ROWS] + at.ROW * rows[row]
            q[w + at.WAY_FROM], q[w + at.WAY_TO], q[w + at.HOLDER] = way.source, way.target, reduced.own
            if id(reduced) not in known:
                crosses = self._put([self.stations + at.STATION * k for k, _ in row])
                times = self.take(2 * len(reduced.sizes_B))
                f[times : times + 2 * len(reduced.sizes_B)] = [*reduced.sizes_B, *reduced.times_s]
                known[id(reduced)] = crosses, times
            q[w + at.CROSSES], q[w + at.SIZES] = known[id(reduced)]
            q[w + at.N_CROSSES], q[w + at.N_SIZES] = len(row), len(reduced.sizes_B)

    def _place(self, place: Place, known: dict[Place, int]) -> int:
        if place not in known:
            p = known[place] = self.take(at.PLACE_SIZE)
            self.f[p + at.FAIR_SHARE] = getattr(place, "share", 1.0)
            self.q[p + at.MOST] = place.limit
            self.q[p + at.FIRST_WAITING] = self.q[p + at.LAST_WAITING] = -1
            machines = getattr(place, "hosts", ())
            self.q[p + at.N_MACHINES] = len(machines)
            self.q[p + at.MACHINES] = self._put(machines)
            self.q[p + at.BY_LOAD] = int(getattr(place, "by_load", False))
        return known[place]

    def _lanes(self, lanes: Sequence[Lane]) -> None:
        f, q = self.f, self.q
        q[at.LANES] = self.take(at.LANE * len(lanes))
        known: dict[Place, int] = {}
        for number, lane in enumerate(lanes):
            n = q[at.LANES] + number * at.LANE
            q[n : n + at.FOUR] = [self._place(place, known) for place in lane.places]
            f[n + at.DOWN_SINCE] = math.inf
            q[n + at.KIND], q[n + at.PRIORITY], q[n + at.LANE_HEAP] = lane.kind.number, lane.kind.priority, self.heaps
            self.heaps += 1
            table = [each for row in lane.ways for those in row for each in those]
            q[n + at.N_GRAINS] = len(lane.ways[0][0])
            q[n + at.TABLE] = self._put([-1 if w is None else q[at.WAYS] + at.WAY * w.number for w in table])


def least(f: Any, q: Any, n: int) -> float:
    """Capacity of a node: that of its tightest station."""
    first = int(q[n + at.MEMBERS])
    return min(float(f[s] / f[s + at.RATIO]) for s in q[first : first + int(q[n + at.N_MEMBERS])])


def more_flows(f: Any, q: Any, count: int) -> tuple[Any, Any]:
    """The same numbers with room for so many more flows, where there is none left."""
    here = len(f)
    one, other = np.zeros(at.FLOW * count), np.zeros(at.FLOW * count, np.int64)
    other[at.NEXT :: at.FLOW] = here + at.FLOW * np.arange(1, count + 1)
    other[(count - 1) * at.FLOW + at.NEXT] = -1
    if isinstance(f, list):
        f += one.tolist()
        q += other.tolist()
    else:
        f, q = np.concatenate([f, one]), np.concatenate([q, other])
    q[at.SPARE_SLOT] = here
    return f, q


def made(layout: Layout, work: Work, until: float, order: str) -> tuple[list[float], list[int], Any, Any]:
    """All numbers of a fleet before its first event: floats, integers, and the two tables of its transfers."""
    f, q = layout.f, layout.q
    n = len(work)
    f[at.UNTIL], f[at.FAULT], f[at.LAST] = until, math.inf, -math.inf
    q[at.COUNT_ALL], q[at.ORDER] = n, _ORDERS[order]
    q[at.FIRST_LIVE] = q[at.LAST_LIVE] = -1
    f, q = more_flows(f, q, _FLOWS)
    t, u = np.empty((at.FLOATS, n)), np.zeros((at.INTEGERS, n), np.int64)
    t[at.READY], t[at.SIZE], t[at.DUE_BY], t[at.OWN_CAP] = work.ready, work.size, work.due, work.cap
    t[at.BEGUN], t[at.ENDED], t[at.LEFT], t[at.QUEUED_AT] = math.nan, math.nan, work.size + work.again_B, 0.0
    u[at.OF_LANE], u[at.GRAIN], u[at.WAY_NUMBER] = work.lane, work.grain, -1
    return f, q, t, u
