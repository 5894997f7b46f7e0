"""Flows on stations, started and withdrawn one by one: the kernel of `max_min` with a handle for each flow and row.

Rows may come at any time. One that splits a node, and rows that pile up, have all numbers put down afresh, with the
flows that are under way on them (`network`).
"""

import math
from collections.abc import Mapping, Sequence

from dtnsim.engine import layout as at, max_min
from dtnsim.engine.flow_lists import left, tightest
from dtnsim.engine.flows import Flow, Row, check_capacity, check_flow, checked_row
from dtnsim.engine.layout import CAPPED, LEVEL, SIDE  # asked for a million times
from dtnsim.engine.nodes import Demands, Network, more_flows, node_capacity
from dtnsim.ground.errors import InputError, ModelError

_ROWS = 4096  #: rows beside those of four times the flows under way before what is used no more is forgotten


class Fluid:
    """The engine without SimPy: `start`, `withdraw` and `set_capacity`, then `settle`; `next_time`, `finished`."""

    def __init__(self, capacities: Sequence[float]) -> None:
        #: (K,) capacity of each station now [station's unit/s].
        self.stations = [check_capacity(c, s) for s, c in enumerate(capacities)]
        self.network = Network(self.stations)
        self.live: dict[int, Flow] = {}  #: Flows under way, by number.
        self.touched: list[int] = []  #: Nodes whose level the last settling may have changed.
        self.changed: list[Flow] = []  #: Flows that something else may hold back since then than before.
        self.unlimited: list[Flow] = []  #: Flows that ended because nothing limits them, until the owner empties it.
        self.settled = 0  #: Settlings so far.
        self._created = 0
        self._rows: dict[Demands, Row] = {}
        self._flow_of: dict[int, Flow] = {}
        self.epoch = 0  #: How often all numbers have been put down afresh.
        self._laid, self._stale = 0, False
        self._held: dict[int, int] = {}  # what held the flows when all numbers were put down afresh
        self._begin()

    def row(self, demands: Mapping[int, float]) -> Row:
        """The row of these demands, checked: station -> demand of one byte [station's unit/B]."""
        key = checked_row(demands, len(self.stations))
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) > 4 * len(self.live) + _ROWS:  # rows used once must not pile up
                self._rows = {flow.row.demands: flow.row for flow in self.live.values()}
            row = self._rows[key] = Row(key)
            self._stale = self.network.refine(key) or self._stale
        return row

    def flow(self, row: Row, size: float, weight: float = 1.0, cap: float = math.inf) -> Flow:
        """A flow, checked (`check_flow`), not started yet."""
        check_flow(size, weight, cap)
        self._created += 1
        return Flow(row, size, weight, cap, self._created)

    def start(self, flow: Flow, now: float) -> bool:
        """Starts a flow now (times never run back), to settle; False where it ends at once: no bytes, or no limit."""
        if flow.size <= 0:
            return False
        self._lay(flow.row, now)
        return self._insert(flow, flow.size, now)

    def withdraw(self, flow: Flow, now: float) -> float:
        """Takes a flow out before its end; bytes that it had still to go [B]."""
        if flow.at < 0:
            return 0.0
        rest = max_min.withdraw(self.f, self.q, self.h, flow.at, now)
        self._release(flow)
        return rest

    def set_capacity(self, station: int, value: float) -> None:
        """Sets a station's capacity [station's unit/s]; the level follows at the next settling."""
        if not 0 <= station < len(self.stations):
            raise InputError(f"capacity of station {station}: there are stations 0 to {len(self.stations) - 1}")
        self.stations[station] = check_capacity(value, station)
        f, q = self.f, self.q
        s = self.network.stations + at.STATION * station
        f[s] = self.stations[station]
        if q[s] >= 0:
            max_min.set_capacity(f, q, self.h, q[s], node_capacity(f, q, q[s]))

    # ---- what is so ----

    def rate(self, flow: Flow) -> float:
        """Rate of a flow since the last settling [B/s]; 0 for one that is not under way."""
        if flow.at < 0:
            return 0.0
        side = self.q[flow.at + SIDE]
        return flow.cap if side == CAPPED else flow.weight * self.f[side + LEVEL]

    def left(self, flow: Flow, now: float) -> float:
        """Bytes that a flow still has to go [B]."""
        return left(self.f, self.q, flow.at, now) if flow.at >= 0 else 0.0

    def side(self, flow: Flow) -> int:
        """The node that holds a flow back, `layout.CAPPED` or `layout.ABSENT`."""
        return self.q[flow.at + SIDE] if flow.at >= 0 else at.ABSENT

    def tightest(self, node: int) -> int:
        """The station of a node that binds: the least capacity for what it is used."""
        return (tightest(self.f, self.q, node) - self.network.stations) // at.STATION

    def _holder(self, flow: Flow) -> int:
        """The station that holds a flow back, `layout.CAPPED` or `layout.ABSENT`."""
        side = self.side(flow)
        return self.tightest(side) if side >= 0 else side

    # ---- time ----

    def settle(self, now: float) -> None:
        """Makes the shares fair and finds the next ends; `ModelError` where the levels do not come to rest."""
        self.settled += 1
        f, q, h = self.f, self.q, self.h
        try:
            max_min.share(f, q, h, now)
        except RuntimeError as error:
            raise ModelError(
                f"given up at {now} s with {len(self.live)} flows on {len(self.stations)} stations: {error}; "
                "weights or capacities may differ by too many orders of magnitude"
            ) from None
        self.touched = [node for _, node, _ in h[at.NOTES]]
        flow_of = self._flow_of
        self.changed = [flow_of[x] for _, x, number in h[at.MOVED_NOW] if q[x + at.NUMBER] == number]
        if self._held:
            self.changed = [flow for flow in self.changed if self._held.get(flow.number) != self._holder(flow)]
            self._held.clear()
        max_min.find_ends(f, q, h, now)
        for _, x, _ in h[at.UNLIMITED]:
            self.unlimited.append(flow_of[x])
            self._release(flow_of[x])
        h[at.UNLIMITED].clear()

    def next_time(self) -> float:
        """Time of the next end, or of a node that has to be asked [s]; infinite where nothing will end."""
        return max_min.next_time(self.f, self.q, self.h)

    def finished(self, now: float) -> list[Flow]:
        """Takes out the flows that end now (call `settle` after it)."""
        max_min.finished(self.f, self.q, self.h, now)
        ended = self.h[at.ENDED_NOW]
        done = [self._flow_of[x] for _, x, _ in ended]
        ended.clear()
        for flow in done:
            self._release(flow)
        return done

    # ---- numbers ----

    def _begin(self) -> None:
        self.f, self.q = self.network.f, self.network.q
        self.h: at.Heaps = [[] for _ in range(self.network.heaps)]

    def _lay(self, row: Row, now: float) -> None:
        """Has a row's numbers put down where they are not."""
        if row.epoch == self.epoch:
            return
        if self._stale or self._laid > 4 * len(self.live) + _ROWS:
            self._put_down(now)
        row.at, row.epoch = self.network.lay(row.demands), self.epoch
        self._laid += 1
        self.h += [[] for _ in range(self.network.heaps - len(self.h))]

    def _put_down(self, now: float) -> None:
        """Puts all numbers down afresh, with the flows under way."""
        self._held = {flow.number: self._holder(flow) for flow in self.live.values()} | self._held
        under_way = [(flow, self.left(flow, now)) for flow in self.live.values()]
        self.network.put_down(self.stations)
        self._begin()
        self._flow_of.clear()
        self.live.clear()
        self.epoch += 1
        self._laid, self._stale = 0, False
        for flow, rest in under_way:
            self._lay(flow.row, now)
            self._insert(flow, rest, now)

    def _insert(self, flow: Flow, rest: float, now: float) -> bool:
        f, q = self.f, self.q
        if q[at.SPARE_SLOT] < 0:
            more_flows(f, q)
        x = q[at.SPARE_SLOT]
        f[x + at.CAP], f[x + at.SHARE], f[x + at.LIMIT] = flow.cap, flow.weight, flow.cap / flow.weight
        spare = q[x + at.NEXT]
        q[x + at.ROW_OF], q[x + at.SIDE], q[x + at.NUMBER] = flow.row.at, at.ABSENT, flow.number
        q[x + at.NEXT] = q[x + at.PREV] = -1
        if not max_min.insert(f, q, self.h, x, rest, now):
            q[x + at.NEXT], q[x + at.NUMBER] = spare, 0
            return False
        q[at.SPARE_SLOT] = spare
        flow.at = x
        self._flow_of[x] = self.live[flow.number] = flow
        return True

    def _release(self, flow: Flow) -> None:
        x, q = flow.at, self.q
        q[x + at.NEXT], q[x + at.NUMBER] = q[at.SPARE_SLOT], 0
        q[at.SPARE_SLOT] = x
        flow.at = -1
        del self.live[flow.number], self._flow_of[x]
