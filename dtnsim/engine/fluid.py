"""Flows in time: which one ends next, and when.

All flows that one node holds back get service at one rate per weight, so the node has one virtual
clock (service per weight so far) and one heap of virtual finishing times; an event moves the
clocks of the nodes whose level changes, not the flows. A flow at its own cap has a fixed end. One
queue holds both: an entry a capped flow, and for each node the earliest time that its first flow
may end. A node that slows down keeps its early entry, and is asked again when that comes up.

Time is exact: no step, no threshold on the bytes left; an end falls on the double nearest to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heappop, heappush

from dtnsim.engine.flows import ABSENT, CAPPED, Flow, Row, check_flow
from dtnsim.engine.sharing import Sharing
from dtnsim.ground.errors import ModelError


class Fluid(Sharing):
    """The engine without SimPy: `start`, `withdraw` and `set_capacity`, then `settle`; `next_time`, `finished`.

    Args:
        capacities: Capacity of each station [station's unit/s].
        max_events: Settlings after which the run is given up with a `ModelError`.

    Raises:
        InputError: A capacity that is negative or not a number.
    """

    def __init__(self, capacities: Sequence[float], max_events: int = 1_000_000_000) -> None:
        super().__init__(capacities)
        self.queue: list[tuple[float, int, Flow | None]] = []
        self.created = 0
        self.max_events = max_events
        self._instant, self._repeats = -math.inf, 0

    def flow(self, row: Row, size: float, weight: float = 1.0, cap: float = math.inf) -> Flow:
        """A flow, checked, not started yet.

        Raises:
            InputError: Size negative, weight not positive and finite, cap negative.
        """
        check_flow(size, weight, cap)
        self.created += 1
        return Flow(row, size, weight, cap, self.created)

    def start(self, flow: Flow, now: float) -> bool:
        """Starts a flow now; its rate is fair after the next `settle`.

        Returns:
            False where it ends at once: no bytes, or nothing that limits it.
        """
        return flow.size > 0 and self.insert(flow, flow.size, now)

    def withdraw(self, flow: Flow, now: float) -> float:
        """Takes a flow out before its end.

        Returns:
            Bytes that it had still to go [B].
        """
        if flow.node == ABSENT:
            return 0.0
        left = self.left(flow, now)
        if flow.node != CAPPED:
            self.touch(flow.node, now)
        self.remove(flow)
        return left

    def rate(self, flow: Flow) -> float:
        """Rate of a flow since the last settling [B/s]; 0 for one that is not under way."""
        if flow.node == ABSENT:
            return 0.0
        return flow.cap if flow.node == CAPPED else flow.weight * self.level[flow.node]

    def settle(self, now: float) -> None:
        """Makes the shares fair and finds the next ends.

        Raises:
            ModelError: More settlings than ``max_events``, or too many of them at one instant.
        """
        super().settle(now)
        if now != self._instant:
            self._instant, self._repeats = now, 0
        self._repeats += 1
        if self.settled > self.max_events or self._repeats > 1_000_000:
            self._give_up(now)
        queue = self.queue
        for flow in self.fresh:
            if flow.node == CAPPED and flow.cap and flow.mark < math.inf:
                heappush(queue, (flow.mark, -flow.number, flow))
        self.fresh.clear()
        for node in self.notes:
            self.noted[node] = False
            ends = self.ends[node]
            while ends and (ends[0][2].node != node or ends[0][2].mark != ends[0][0]):
                heappop(ends)
            if ends:
                wait = ends[0][0] - self.clock[node]
                if wait < self.level[node] * 1e300:
                    time = now + wait / self.level[node] if wait > 0 else now
                    if time < self.due[node]:
                        self.due[node] = time
                        heappush(queue, (time, node, None))
        self.touched, self.notes = self.notes, self.touched
        self.notes.clear()
        self.changed, self.moved = self.moved, self.changed
        self.moved.clear()

    def _give_up(self, now: float) -> None:
        if self.settled > self.max_events:
            raise ModelError(f"given up after {self.max_events} events at {now} s: raise max_events, or simulate less")
        raise ModelError(f"given up after {self._repeats} changes of the shares at {now} s: time does not move on")

    def next_time(self) -> float:
        """Time of the next end, or of a node that has to be asked [s]; infinite where nothing will end."""
        queue = self.queue
        while queue:
            time, node, flow = queue[0]
            if flow is not None:
                if flow.node == CAPPED and flow.mark == time:
                    return time
            elif self.due[node] == time:
                if 0 < self.level[node] < math.inf:
                    return time
                self.due[node] = math.inf  # it holds nobody back, or gives nothing; settling finds the next end
            heappop(queue)
        return math.inf

    def finished(self, now: float) -> list[Flow]:
        """Takes out the flows that end now (call `settle` after it)."""
        queue, done = self.queue, []
        while self.next_time() <= now:
            _, node, flow = heappop(queue)
            if flow is not None:
                self.remove(flow)
                done.append(flow)
                continue
            self.due[node] = math.inf
            self.touch(node, now)
            ends, clock, level = self.ends[node], self.clock[node], self.level[node]
            horizon = now + 4e-16 * abs(now)
            while ends:
                mark, _, first = ends[0]
                if first.node != node or first.mark != mark:
                    heappop(ends)
                elif mark <= clock or (level > 0 and now + (mark - clock) / level <= horizon):
                    heappop(ends)
                    self.remove(first)
                    done.append(first)
                else:
                    break
        return done

    def tightest(self, node: int) -> int:
        """The station of a node that binds: the least capacity for what it is used."""
        return min(self.members[node], key=lambda s: self.stations[s] / self.ratio[s])
