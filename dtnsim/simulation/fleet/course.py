"""A fleet in time: arrivals, queues, shares, faults, retries, on the exact fluid engine.

An event costs what it changes: the engine puts right only the shares that it concerns, and only the lanes are looked at
that a freed place lets through. Use of stations is booked by way and hour, so that a byte costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.engine.flows import ABSENT, CAPPED, Flow
from dtnsim.engine.fluid import Fluid
from dtnsim.physics.restart import kept_bytes
from dtnsim.simulation.fleet.plant import Kind, Lane, Way, Work

if TYPE_CHECKING:
    from dtnsim.simulation.fleet.faults import Fault

#: stretches in which use is summed [s]
HOUR_S: Final = 3600.0
#: what becomes of a transfer
AHEAD, QUEUED, ACTIVE, BACKING_OFF, DONE, FAILED = range(6)
#: what holds a transfer besides stations
QUEUE, DOWN, BACK_OFF = "queue", "down", "back-off"
#: arrivals that are made into Python numbers at once
_BLOCK: Final = 8192
#: what is left of a transfer at least when it goes on [B]
_LEAST_B: Final = 1e-3


def _kept(done: float, size: float, files: int, workers: float, restart: str) -> float:
    """Bytes that need not be sent again where a transfer restarts at the byte, the file, or not at all [B]."""
    if restart == "file":
        return float(kept_bytes(done, size / files, files, workers))
    return done if restart == "byte" else 0.0


class Noting(Fluid):
    """The engine, which notes at a flow that it takes out what held it (``owner``)."""

    def remove(self, flow: Flow) -> None:
        """Takes a flow out."""
        flow.owner = flow.node
        super().remove(flow)


class Course:
    """A fleet on its way.

    Args:
        fluid: The engine, with the capacities of the stations.
        work: The transfers.
        lanes: Where they wait.
        ways: All ways, by number.
        faults: What happens to stations, in order of time.
        until: When it ends at the latest [s].
        order: ``fifo``, ``fair`` or ``deadline``.
        hosts: How many there are.
    """

    def __init__(
        self,
        fluid: Noting,
        work: Work,
        lanes: Sequence[Lane],
        ways: Sequence[Way],
        faults: Iterable[Fault],
        *,
        until: float,
        order: str = "fifo",
        hosts: int = 2,
    ) -> None:
        n = len(work)
        self.fluid, self.work, self.lanes, self.ways, self.until = fluid, work, lanes, ways, until
        self.order = order
        self.now, self.events = 0.0, 0
        self.status = np.zeros(n, np.int8)
        self.begun, self.ended = np.full(n, math.nan), np.full(n, math.nan)
        self.resent, self.tries, self.way = np.zeros(n), np.zeros(n, np.int64), np.full(n, -1, np.int64)
        #: (class, what held it) -> seconds
        self.held: dict[tuple[int, int | str], float] = {}
        #: for each stretch: numbers of ways and the bytes that they have moved
        self.hours: list[tuple[list[int], list[float]]] = []
        self.capacity = list(fluid.stations)
        self._due_first = order == "deadline"
        self._fair = order == "fair"
        self._moving: dict[Way, None] = {}
        self._down: set[int] = set()
        self._retries: list[tuple[float, int]] = []
        self._left: dict[int, float] = {}
        self._queued: dict[int, float] = {}
        self._active = [0] * hosts
        self._under_way: dict[int, tuple[Flow, Way, Lane]] = {}
        self._seen: dict[int, list[float]] = {}
        self._faults = list(faults)
        self._fault = self._arrival = self._base = self._hour = self.finished = 0
        self._ready: list[float] = []
        self._take_in()

    # -- the loop -----------------------------------------------------------------------------------

    def run(self, most: int) -> bool:
        """Goes on for so many events; returns whether there is nothing more to come."""
        fluid, faults, retries, count = self.fluid, self._faults, self._retries, len(self.work)
        for _ in range(most):
            now = fluid.next_time()
            arrival = self._ready[self._arrival - self._base] if self._arrival < count else math.inf
            now = min(now, arrival)
            if retries and retries[0][0] < now:
                now = retries[0][0]
            if self.finished == count:
                self._close(self.now)
                return True
            if self._fault < len(faults) and faults[self._fault].time < now:
                now = faults[self._fault].time
            tick = (self._hour + 1) * HOUR_S
            if tick <= now and tick < self.until:
                now = tick
                self._book_hour(now)
            if now >= self.until:
                self.now = self.until
                self._close(self.until)
                return True
            self.now = now
            self.events += 1
            freed: dict[Lane, None] = {}
            for flow in fluid.finished(now):
                self._done(flow, now, freed)
            while self._fault < len(faults) and faults[self._fault].time <= now:
                self._strike(faults[self._fault], now, freed)
                self._fault += 1
            while retries and retries[0][0] <= now:
                self._again(heappop(retries)[1], now, freed)
            if arrival <= now:
                self._arrive(now, freed)
            if freed:
                self._dispatch(freed, now)
            fluid.settle(now)
        return False

    def _take_in(self) -> None:
        """The next arrivals as Python numbers."""
        self._base = self._arrival
        part = slice(self._base, self._base + _BLOCK)
        w = self.work
        self._ready = w.ready[part].tolist()
        self._part = list(zip(w.lane[part].tolist(), w.due[part].tolist(), strict=True))

    def _arrive(self, now: float, freed: dict[Lane, None]) -> None:
        while self._arrival < len(self.work) and self._ready[self._arrival - self._base] <= now:
            i = self._arrival
            number, due = self._part[i - self._base]
            lane = self.lanes[number]
            self._enqueue(i, lane, due, now)
            if lane.has_room():
                freed[lane] = None
            self._arrival += 1
            if self._arrival - self._base == len(self._ready):
                self._take_in()

    # -- queues -------------------------------------------------------------------------------------

    def _enqueue(self, i: int, lane: Lane, due: float, now: float) -> None:
        if not lane.queue:
            for place in lane.places:
                place.waiting[lane] = None
        heappush(lane.queue, (due if self._due_first else 0.0, i))
        self._queued[i] = now
        self.status[i] = QUEUED

    def _dispatch(self, freed: dict[Lane, None], now: float) -> None:
        """Begins as many transfers of some lanes as the limits let, the first in order first.

        While it does, places only fill and shares only grow: a key that is out of date is too small, and is put right
        when its turn comes.
        """
        heap = [(self._key(lane), lane.number) for lane in freed if lane.queue and lane.has_room()]
        heapify(heap)
        while heap:
            key, number = heap[0]
            lane = self.lanes[number]
            if not lane.has_room():
                heappop(heap)
            elif (fresh := self._key(lane)) != key:
                heapreplace(heap, (fresh, number))
            elif self._begin(lane, now) and lane.queue:
                heapreplace(heap, (self._key(lane), number))
            else:
                heappop(heap)

    def _key(self, lane: Lane) -> tuple[float, ...]:
        due, i = lane.queue[0]
        share = lane.user.active / lane.user.share if self._fair else 0.0
        return -lane.kind.priority, share, due, i

    def _choose(self, lane: Lane, grain: int) -> Way | None:
        """The way of a lane's next transfer; None where all are down."""
        source, target, ways, down = lane.source, lane.target, lane.ways, self._down
        if not down and len(source.hosts) == len(target.hosts) == 1:
            return ways[0][0][grain]
        for m in source.order(self._active):
            for k in target.order(self._active):
                way = ways[m][k][grain]
                if way is not None and (not down or down.isdisjoint(way.stations)):
                    source.turn = (m + 1) % len(source.hosts)
                    target.turn = (k + 1) % len(target.hosts)
                    return way
        return None

    def _begin(self, lane: Lane, now: float) -> bool:
        """Begins the next transfer of a lane; False where every way is down."""
        i = lane.queue[0][1]
        way = self._choose(lane, int(self.work.grain[i]))
        if way is None:
            lane.down_since = min(lane.down_since, now)
            return False
        heappop(lane.queue)
        if not lane.queue:
            for place in lane.places:
                place.waiting.pop(lane, None)  # both ends may be one place
        queued = self._queued.pop(i)
        if now > queued or lane.down_since < math.inf:
            self._book_wait(lane, queued, now)
            if lane.down_since < math.inf:
                lane.down, lane.down_since = (lane.down_since, now), math.inf
        for place in lane.places:
            place.active += 1
        self._active[way.source] += 1
        self._active[way.target] += 1
        if math.isnan(self.begun[i]):
            self.begun[i] = now
        self.status[i], self.way[i] = ACTIVE, way.number
        size, reduced = float(self.work.size[i]), way.reduced
        cap = min(size / reduced.alone_s(size), float(self.work.cap[i]))
        flow = self.fluid.flow(way.row, max(self._left.pop(i, size), _LEAST_B), reduced.weight, cap)
        flow.label = i
        self.fluid.start(flow, now)
        self._under_way[i] = (flow, way, lane)
        self._seen[i] = [now, flow.size]
        return True

    def _book_wait(self, lane: Lane, since: float, now: float) -> None:
        """Books a wait: what was down meanwhile, else the queue."""
        low, high = (lane.down_since, now) if lane.down_since < math.inf else lane.down
        down = max(min(high, now) - max(low, since), 0.0)
        kind = lane.kind.number
        self._hold(kind, DOWN, down)
        self._hold(kind, QUEUE, now - since - down)

    # -- ends, faults, retries ----------------------------------------------------------------------

    def _release(self, i: int, now: float, left: float, freed: dict[Lane, None]) -> tuple[Way, Lane]:
        """Takes a transfer's places back and books what it has moved."""
        flow, way, lane = self._under_way.pop(i)
        self._book(flow, way, lane.kind, left, now)
        del self._seen[i]
        for place in lane.places:
            if place.active >= place.limit - 1 and place.waiting:
                freed.update(place.waiting)
            place.active -= 1
        self._active[way.source] -= 1
        self._active[way.target] -= 1
        return way, lane

    def _done(self, flow: Flow, now: float, freed: dict[Lane, None]) -> None:
        i: int = flow.label
        self._release(i, now, 0.0, freed)
        self.status[i], self.ended[i] = DONE, now
        self.finished += 1

    def _break(self, i: int, now: float, freed: dict[Lane, None]) -> None:
        """A transfer is broken off: what of it holds, and when it is tried again."""
        flow = self._under_way[i][0]
        left = self.fluid.withdraw(flow, now)
        way, lane = self._release(i, now, left, freed)
        size = float(self.work.size[i])
        keep = _kept(size - left, size, int(self.work.files[i]), way.reduced.workers, lane.kind.retry.restart)
        self.resent[i] += size - left - keep
        self._left[i] = size - keep
        self.tries[i] += 1
        if self.tries[i] > lane.kind.retry.times:
            self.status[i], self.ended[i] = FAILED, now
            self.finished += 1
            return
        wait = lane.kind.back_off_s(int(self.tries[i]))
        self.status[i], self._queued[i] = BACKING_OFF, now
        heappush(self._retries, (now + wait, i))

    def _again(self, i: int, now: float, freed: dict[Lane, None]) -> None:
        lane = self.lanes[int(self.work.lane[i])]
        self._hold(lane.kind.number, BACK_OFF, now - self._queued.pop(i))
        self._enqueue(i, lane, float(self.work.due[i]), now)
        freed[lane] = None

    def _strike(self, fault: Fault, now: float, freed: dict[Lane, None]) -> None:
        """Stations get other capacities; what crosses them may be broken off."""
        touched = {k for k, _ in fault.factors}
        hit = [i for i, (_, way, _) in self._under_way.items() if not touched.isdisjoint(way.stations)]
        for i in hit:
            flow, way, lane = self._under_way[i]
            self._book(flow, way, lane.kind, self.fluid.left(flow, now), now)
        for k, factor in fault.factors:
            self.fluid.set_capacity(k, self.capacity[k] * factor)
            (self._down.add if factor == 0 else self._down.discard)(k)
        if fault.breaks:
            for i in hit:
                self._break(i, now, freed)
        if not fault.begins:
            for lane in self.lanes:
                if lane.queue:
                    freed[lane] = None

    # -- books --------------------------------------------------------------------------------------

    def _hold(self, kind: int, what: int | str, seconds: float) -> None:
        if seconds > 0:
            key = kind, what
            self.held[key] = self.held.get(key, 0.0) + seconds

    def _book(self, flow: Flow, way: Way, kind: Kind, left: float, now: float) -> None:
        """Books what a transfer has moved since it was last looked at, and what has held it."""
        seen = self._seen[flow.label]
        moved = seen[1] - left
        if way.bytes == 0.0:
            self._moving[way] = None
        way.bytes += moved
        spent, alone = now - seen[0], moved / flow.cap if flow.cap > 0 else 0.0
        held = (kind.number, way.reduced.own)
        self.held[held] = self.held.get(held, 0.0) + min(alone, spent)
        if spent > alone * (1 + 1e-9):
            self._hold(kind.number, self._holder(flow, way), spent - alone)
        seen[0], seen[1] = now, left

    def _holder(self, flow: Flow, way: Way) -> int | str:
        """What holds a flow back: a station, the fullest of its stations where it has been let go, what is down."""
        fluid = self.fluid
        node = flow.owner if flow.node == ABSENT else flow.node
        if node == CAPPED:
            node = min((m for m, _ in way.row.pairs), key=lambda m: fluid.spare[m] / (fluid.capacity[m] or 1.0))
        station = fluid.tightest(node)
        return DOWN if station in self._down else station

    def _book_hour(self, now: float) -> None:
        """Closes a stretch: what every way has moved in it."""
        for flow, way, lane in self._under_way.values():
            self._book(flow, way, lane.kind, self.fluid.left(flow, now), now)
        self.hours.append(([w.number for w in self._moving], [w.bytes for w in self._moving]))
        for way in self._moving:
            way.bytes = 0.0
        self._moving.clear()
        self._hour += 1

    def stop(self) -> None:
        """Ends it where it is: what is under way is booked as far as it has come."""
        self._close(self.now)

    def _close(self, now: float) -> None:
        """Books what is under way at the end."""
        for i, since in self._queued.items():
            lane = self.lanes[int(self.work.lane[i])]
            if self.status[i] == BACKING_OFF:
                self._hold(lane.kind.number, BACK_OFF, now - since)
            else:
                self._book_wait(lane, since, now)
            self._queued[i] = now
        self._book_hour(now)

    def left_B(self, i: int) -> float:
        """Bytes that a transfer has still to go [B]."""
        if i in self._under_way:
            return self.fluid.left(self._under_way[i][0], self.now)
        if self.status[i] == DONE:
            return 0.0
        return self._left.get(i, float(self.work.size[i]))
