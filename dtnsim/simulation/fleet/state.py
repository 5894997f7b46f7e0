"""The state of a fleet before its first event: nodes, rows, ways, lanes, places as flat numbers (`transfer_layout`)."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dtnsim.engine.nodes import Demands, Network, more_flows
from dtnsim.simulation.fleet import transfer_layout as at
from dtnsim.simulation.fleet.facility import Lane, Place, Way, Work

#: no limit on transfers at once
_UNLIMITED: Final = 1 << 60
_ORDERS: Final = {"fifo": 0, "fair": 1, "deadline": 2}


class Layout(Network):
    """Puts the numbers of a fleet down, one record after the other: of so many classes (``kinds``) and hosts."""

    def __init__(
        self, capacity: Sequence[float], lanes: Sequence[Lane], ways: Sequence[Way], kinds: int, hosts: int
    ) -> None:
        super().__init__(capacity)
        q = self.q
        q[at.HOSTS] = self.take(hosts)
        rows = [tuple((k, d) for k, d in sorted(way.reduced.demands) if d > 0) for way in ways]
        for row in dict.fromkeys(rows):
            self.refine(row)
        self._lay_out_routes(ways, rows)
        self._lanes(lanes)
        q[at.N_HELD] = len(capacity) + at.OTHERS
        q[at.HELD] = self.take(q[at.N_HELD] * kinds)

    def _lay_out_routes(self, ways: Sequence[Way], rows: Sequence[Demands]) -> None:
        f, q = self.f, self.q
        laid = {row: self.lay(row) for row in dict.fromkeys(rows)}
        q[at.N_WAYS], q[at.WAYS] = len(ways), self.take(at.WAY * len(ways))
        placed: dict[int, tuple[int, int]] = {}
        for number, (way, row) in enumerate(zip(ways, rows, strict=True)):
            w, reduced = q[at.WAYS] + number * at.WAY, way.reduced
            f[w + at.WAY_WEIGHT] = reduced.weight
            q[w + at.WAY_ROW] = laid[row]
            q[w + at.WAY_FROM], q[w + at.WAY_TO], q[w + at.HOLDER] = way.source, way.target, reduced.own
            if id(reduced) not in placed:
                crosses = self.put([self.stations + at.STATION * k for k, _ in row])
                times = self.take(2 * len(reduced.sizes_B))
                f[times : times + 2 * len(reduced.sizes_B)] = [*reduced.sizes_B, *reduced.times_s]
                placed[id(reduced)] = crosses, times
            q[w + at.CROSSES], q[w + at.SIZES] = placed[id(reduced)]
            q[w + at.N_CROSSES], q[w + at.N_SIZES] = len(row), len(reduced.sizes_B)

    def _place(self, place: Place, places: dict[Place, int]) -> int:
        if place not in places:
            p = places[place] = self.take(at.PLACE_SIZE)
            self.f[p + at.FAIR_SHARE] = getattr(place, "share", 1.0)
            self.q[p + at.MOST] = _UNLIMITED if place.limit is None else place.limit
            self.q[p + at.FIRST_WAITING] = self.q[p + at.LAST_WAITING] = -1
            machines = getattr(place, "hosts", ())
            self.q[p + at.N_MACHINES] = len(machines)
            self.q[p + at.MACHINES] = self.put(machines)
            self.q[p + at.BY_LOAD] = int(getattr(place, "by_load", False))
        return places[place]

    def _lanes(self, lanes: Sequence[Lane]) -> None:
        f, q = self.f, self.q
        q[at.LANES] = self.take(at.LANE * len(lanes))
        places: dict[Place, int] = {}
        priorities = sorted({lane.kind.priority for lane in lanes}, reverse=True)
        q[at.TURNS], q[at.N_TURNS] = self.heaps, len(priorities)
        self.heaps += len(priorities)
        for number, lane in enumerate(lanes):
            n = q[at.LANES] + number * at.LANE
            q[n : n + at.FOUR] = [self._place(place, places) for place in (*lane.ends, lane.user, lane.kind)]
            q[n + at.LINKS + at.WAITER : n + at.LANE : at.LINK] = [n] * at.FOUR
            f[n + at.DOWN_SINCE] = math.inf
            q[n + at.KIND], q[n + at.LANE_HEAP] = lane.kind.number, self.heaps
            q[n + at.TURN_HEAP] = q[at.TURNS] + priorities.index(lane.kind.priority)
            self.heaps += 1
            table = [each for row in lane.ways for those in row for each in those]
            q[n + at.N_GRAINS] = len(lane.ways[0][0])
            q[n + at.TABLE] = self.put([-1 if w is None else q[at.WAYS] + at.WAY * w.number for w in table])


def initial_state(layout: Layout, work: Work, until: float, order: str) -> tuple[list[float], list[int], Any, Any]:
    """All numbers of a fleet before its first event: floats, integers, and the two tables of its transfers."""
    f, q = layout.f, layout.q
    n = len(work)
    f[at.UNTIL], f[at.FAULT] = until, math.inf
    q[at.COUNT_ALL], q[at.ORDER] = n, _ORDERS[order]
    q[at.FIRST_LIVE] = q[at.LAST_LIVE] = -1
    f, q = more_flows(f, q)
    t, u = np.empty((at.FLOATS, n)), np.zeros((at.INTEGERS, n), np.int64)
    t[at.READY], t[at.SIZE], t[at.DUE_BY], t[at.OWN_CAP] = work.ready, work.size, work.due, work.cap
    t[at.BEGUN], t[at.ENDED], t[at.LEFT], t[at.QUEUED_AT] = math.nan, math.nan, work.size + work.damage.again_B, 0.0
    u[at.OF_LANE], u[at.GRAIN], u[at.WAY_NUMBER] = work.lane, work.grain, -1
    return f, q, t, u
