"""Weighted max-min fair shares, put right only where something changed.

A node that holds flows back (its free flows) gives each of them ``weight * level``; the others run
at their own cap. The shares are weighted max-min fair exactly if every node that is short of capacity
has the level at which it is just full, and no flow runs above the level of a node that it visits:

    sum of demand * min(cap, weight * min of levels on the row) = capacity      where level < infinity
                                                                <= capacity     elsewhere

(progressive filling; Bertsekas and Gallager, Data Networks, 2nd ed. 1992, 6.5.2). After a change,
`Sharing.settle` takes the nodes whose level is out of date, lowest first, and gives each the level
that fills it as its neighbours stand: flows whose cap is now below leave the group, flows that run
faster elsewhere are taken in. The changed rates are booked at the other nodes of the same flows, at
the cost of one addition a pair of nodes however many flows there are, and nodes that are then short or
have something to spare are looked at in turn. The lowest level of the network is right after one
look at each node, then the next higher one, and so on, so the process ends; it touches only nodes
whose level changes and their neighbours.

Neglects: differences of levels below 1e-12 and of capacities below 1e-13, relative.
"""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush
from typing import Final

from dtnsim.errors import ModelError
from dtnsim.simulate.flows import ABSENT, CAPPED, Flow, Row
from dtnsim.simulate.nodes import Nodes

#: two levels closer than this (relative) are one
TIE: Final = 1e-12
#: a remainder this much smaller than what it was left over from is added up afresh
CANCELLED: Final = 1e-3


class Sharing(Nodes):
    """The shares of all flows; see the module's text. Times must not run backwards."""

    def insert(self, flow: Flow, left: float, now: float) -> bool:
        """Puts a flow with ``left`` bytes in at the rate that it gets as things stand (not yet fair).

        Returns:
            False where nothing at all limits it: no cap, and no station with a finite capacity.
        """
        row = flow.row
        if row.epoch != self.epoch:
            self.compile(row)
        weight = flow.weight
        bound, node = math.inf, -1
        for m, demand in row.pairs:
            limit = self.capacity[m] / (weight * demand)  # never faster than alone: keeps rounding small
            if self.level[m] < limit:
                limit = self.level[m]
            if limit < bound:
                bound, node = limit, m
        if bound == flow.limit == math.inf:
            return False
        if not (row.free or row.capped):
            self.active[row] = None
        self.live[flow.number] = flow
        if flow.limit <= bound:
            self._cap(flow, left, now)
            self.book(row, flow.cap)
        else:
            if row.free:
                node = row.node
            self.touch(node, now)
            if not self.count[node]:
                self.level[node] = bound
            elif bound < self.level[node]:
                self.shift(node, bound)
            flow.mark = self.clock[node] + left / weight
            self._free(flow, node)
            self.book(row, weight * self.level[node])
        for m, demand in row.pairs:
            self.total[m] += weight * demand
        if row.watched:
            self.recount(flow, 1)
        return True

    def remove(self, flow: Flow) -> None:
        """Takes a flow out."""
        row = flow.row
        weight = flow.weight
        for m, demand in row.pairs:
            self.total[m] -= weight * demand
        if flow.node == CAPPED:
            self._uncap(flow)
            self.book(row, -flow.cap)
        else:
            level = self.level[flow.node]
            self._unfree(flow)
            self.book(row, -weight * level)
        flow.node = ABSENT
        del self.live[flow.number]
        if not (row.free or row.capped):
            del self.active[row]
        if row.watched:
            self.recount(flow, -1)

    def book(self, row: Row, rate: float) -> None:
        """Books ``rate`` more bytes a second of a row at its nodes."""
        spares, lows, highs = self.spare, self.low, self.high
        for m, demand in row.pairs:
            spares[m] = spare = spares[m] - rate * demand
            if (spare < lows[m] or spare > highs[m]) and not self.waiting[m]:
                self.mark(m)

    def shift(self, node: int, level: float) -> None:
        """Sets a node's level and books what its flows now use elsewhere.

        A neighbour with a lower level is looked at even if its spare capacity happens to come out even.
        """
        levels, spares, lows, highs, waiting = self.level, self.spare, self.low, self.high, self.waiting
        change = level - levels[node]
        levels[node] = level
        floor = level * (1 - 2 * TIE) if change > 0 else -1.0
        for m, load in self.load[node].items():
            spares[m] = spare = spares[m] - load * change
            if spare < lows[m] or spare > highs[m]:
                if not waiting[m]:
                    waiting[m] = True
                    heappush(self.dirty, (levels[m] if self.count[m] else self.first_guess(m), m))
            elif levels[m] < floor:
                self._look_at(m, levels[m])

    def _look_at(self, node: int, order: float) -> None:
        """Has a node looked at, in this order, even if its spare capacity is in the band."""
        self.forced.add(node)
        if not self.waiting[node]:
            self.waiting[node] = True
            heappush(self.dirty, (order, node))

    def settle(self, now: float) -> None:
        """Makes the shares fair.

        Raises:
            ModelError: The levels do not come to rest.
        """
        self.settled += 1
        if not self.settled & 4095:
            self.refresh()
        dirty, forced, tie, looks = self.dirty, self.forced, TIE, 0
        while dirty:
            node = heappop(dirty)[1]
            self.waiting[node] = False
            if self.low[node] <= self.spare[node] <= self.high[node]:
                if node not in forced:
                    continue
                forced.discard(node)
            looks += 1
            if not looks & 1023:
                tie = self._loosen(looks, tie)
            self.touch(node, now)
            level = self._level(node, now, tie)
            if not self.count[node]:
                continue
            old = self.level[node]
            if not self.capacity[node]:
                level = 0.0
            elif level > 2 * old:
                bound = self._bound(node)
                if level > bound:
                    self._look_at(node, math.inf)  # after the node that it overfills has taken its flows
                    self.shift(node, bound)
                    continue
                if level == math.inf:
                    self._let_go(node)
                    continue
            self.shift(node, level)
            self.spare[node] = 0.0

    def _level(self, node: int, now: float, tie: float) -> float:
        """The level that just fills a node, after all flows that change sides have done so."""
        lowest, highest = self.lowest[node], self.highest[node]
        levels, feeders = self.level, self.feeders[node]
        steep = self.spare[node] * CANCELLED < -self.capacity[node]  # much load goes: roundings of it would stay
        while True:
            if self.count[node]:
                level = max(0.0, levels[node] + self.spare[node] / self.load[node][node])
                while lowest and lowest[0][2].node != node:
                    heappop(lowest)
                if lowest and lowest[0][0] < level * (1 - tie):
                    self._freeze(lowest[0][2], node, now)
                    continue
            elif self.spare[node] >= self.low[node]:
                return math.inf
            else:
                level = 0.0
            while highest and highest[0][2].node != CAPPED:
                heappop(highest)
            cap = -highest[0][0] if highest else 0.0
            fastest = max(map(levels.__getitem__, feeders)) if feeders else 0.0
            ceiling = level * (1 + tie)
            if cap <= ceiling and fastest <= ceiling:
                if not steep and level >= CANCELLED * levels[node]:
                    return level
                self.shift(node, level)
                self.spare[node] = self.capacity[node] - self.used(node)
                steep = False
                continue
            if not self.count[node]:
                levels[node] = max(cap, fastest)
            elif level < 0.5 * levels[node]:  # newcomers must not be booked at a level far too high
                steep = steep or level < CANCELLED * levels[node]
                self.shift(node, level)
            if fastest >= cap:
                self._take(node, fastest, now)
            else:
                self._thaw(highest[0][2], node, now)

    def _bound(self, node: int) -> float:
        """The level at which a node's flows would fill some node twice over [B/s]."""
        bounds = [2 * self.capacity[m] / load for m, load in self.load[node].items() if self.capacity[m]]
        return min(bounds, default=math.inf)

    def _let_go(self, node: int) -> None:
        """Nothing limits a node's flows any more: they end at once."""
        for row in list(self.held[node]):
            for flow in list(row.free.values()):
                self.remove(flow)
                self.unlimited.append(flow)

    def _loosen(self, looks: int, tie: float) -> float:
        if looks > 200 * len(self.capacity) + 100_000:
            raise ModelError(
                f"fair shares of {len(self.live)} flows on {len(self.stations)} stations do not come to rest "
                f"after {looks} steps; weights or capacities differ by too many orders of magnitude"
            )
        return min(2 * tie, 1e-9) if looks > 4 * len(self.capacity) else tie

    # ---- flows that change sides ----

    def _cap(self, flow: Flow, left: float, now: float) -> None:
        """A flow with ``left`` bytes runs at its own cap from now on (its rate is booked elsewhere)."""
        row = flow.row
        flow.node = CAPPED
        flow.mark = now + left / flow.cap if flow.cap else left
        row.capped += 1
        row.capped_rate += flow.cap
        entry = (-flow.limit, flow.number, flow)
        for m, _ in row.pairs:
            heap = self.highest[m]
            heappush(heap, entry)
            if len(heap) > self.room[m][2]:
                self._sweep(m)
        self.fresh.append(flow)

    def _uncap(self, flow: Flow) -> None:
        row = flow.row
        row.capped -= 1
        row.capped_rate = row.capped_rate - flow.cap if row.capped else 0.0

    def _free(self, flow: Flow, node: int) -> None:
        """A flow joins those that a node holds back (``flow.mark`` is set, its rate is booked elsewhere)."""
        row, weight = flow.row, flow.weight
        load = self.load[node]
        if row.free:
            for m, demand in row.pairs:
                load[m] += weight * demand
            row.weight += weight
        else:
            row.weight = weight
            row.node = node
            self._join(row, node)
        row.free[flow.number] = flow
        self.count[node] += 1
        if self.count[node] == 1:
            self._set_band(node)
        if load[node] > self.peak[node]:
            self.peak[node] = load[node]
        self._enter(flow, node)

    def _enter(self, flow: Flow, node: int) -> None:
        flow.node = node
        self.joined[node] += 1
        heappush(self.ends[node], (flow.mark, flow.number, flow))
        if flow.limit < math.inf:
            heappush(self.lowest[node], (flow.limit, flow.number, flow))
        room = self.room[node]
        if len(self.ends[node]) > room[0] or len(self.lowest[node]) > room[1]:
            self._sweep(node)

    def _unfree(self, flow: Flow) -> None:
        """A flow leaves those that its node holds back."""
        row, weight, node = flow.row, flow.weight, flow.node
        del row.free[flow.number]
        self.count[node] -= 1
        load = self.load[node]
        if not row.free:
            self._leave(row, node)
            row.node = -1
            row.weight = 0.0
        else:
            row.weight -= weight
            for m, demand in row.pairs:
                load[m] -= weight * demand
            if row.weight < CANCELLED * weight:
                row.weight = math.fsum(f.weight for f in row.free.values())
                self._add_up(node)
        if not self.count[node]:
            self._vacate(node)
        elif load[node] < CANCELLED * self.peak[node]:
            self._add_up(node)

    def _freeze(self, flow: Flow, node: int, now: float) -> None:
        """A free flow of a node goes over to its own cap."""
        left = max(0.0, flow.mark - self.clock[node]) * flow.weight
        rate = flow.weight * self.level[node]
        self._unfree(flow)
        self._cap(flow, left, now)
        self.book(flow.row, flow.cap - rate)
        for m, _ in flow.row.pairs:
            if self.level[m] < flow.limit * (1 - 2 * TIE):
                self._look_at(m, self.level[m])

    def _thaw(self, flow: Flow, node: int, now: float) -> None:
        """A capped flow is held back by a node from now on."""
        row = flow.row
        if row.free and row.node != node:
            self._move(row, node, now)  # level as its limit to a rounding: the row stays together
        left = self.left(flow, now)
        self._uncap(flow)
        flow.mark = self.clock[node] + left / flow.weight
        self._free(flow, node)
        self.book(row, flow.weight * self.level[node] - flow.cap)

    def _take(self, node: int, level: float, now: float) -> None:
        """All rows through a node that run at ``level`` elsewhere are held back by it from now on."""
        for feeder in [k for k in self.feeders[node] if self.level[k] >= level]:
            for row in [r for r in self.held[feeder] if node in r.index]:
                self._move(row, node, now)

    def _move(self, row: Row, node: int, now: float) -> None:
        """A row's free flows go over from the node that held them back to another."""
        old = row.node
        self.touch(old, now)
        self.touch(node, now)
        change = row.weight * (self.level[node] - self.level[old])
        before, after = self.clock[old], self.clock[node]
        self._leave(row, old)
        row.node = node
        self._join(row, node)
        self.count[old] -= len(row.free)
        self.count[node] += len(row.free)
        self._set_band(node)
        for flow in row.free.values():
            flow.mark = after + max(0.0, flow.mark - before)
            self._enter(flow, node)
        if self.load[node][node] > self.peak[node]:
            self.peak[node] = self.load[node][node]
        if not self.count[old]:
            self._vacate(old)
        elif self.load[old][old] < CANCELLED * self.peak[old]:
            self._add_up(old)
        self.book(row, change)

    def _join(self, row: Row, node: int) -> None:
        load, uses, weight = self.load[node], self.uses[node], row.weight
        self.held[node][row] = None
        for m, demand in row.pairs:
            if m in load:
                load[m] += weight * demand
                uses[m] += 1
            else:
                load[m] = weight * demand
                uses[m] = 1
                if m != node:
                    self.feeders[m][node] = None

    def _leave(self, row: Row, node: int) -> None:
        load, uses, weight = self.load[node], self.uses[node], row.weight
        del self.held[node][row]
        again = False
        for m, demand in row.pairs:
            if uses[m] == 1:
                del load[m], uses[m]
                if m != node:
                    del self.feeders[m][node]
            else:
                load[m] -= weight * demand
                uses[m] -= 1
                if load[m] < CANCELLED * weight * demand:
                    again = True
        if again:
            self._add_up(node)

    def _add_up(self, node: int) -> None:
        """Adds up a node's loads afresh, where small remainders of large sums would be wrong."""
        load = self.load[node]
        for m in load:
            load[m] = 0.0
        for row in self.held[node]:
            row.weight = math.fsum(f.weight for f in row.free.values())
            for m, demand in row.pairs:
                load[m] += row.weight * demand
        self.peak[node] = load.get(node, 0.0)

    def _vacate(self, node: int) -> None:
        """A node holds nobody back any more."""
        self.level[node] = math.inf
        self.clock[node] = self.peak[node] = 0.0
        self.joined[node] = 0
        self.ends[node].clear()
        self.lowest[node].clear()
        self._set_band(node)
        self.mark(node)

    def _sweep(self, node: int) -> None:
        """Rebuilds a node's heaps without the entries that no longer hold; each sweep pays for itself."""
        ends, lowest, highest = self.ends[node], self.lowest[node], self.highest[node]
        ends[:] = {e[1]: e for e in ends if e[2].node == node and e[2].mark == e[0]}.values()
        lowest[:] = {e[1]: e for e in lowest if e[2].node == node}.values()
        highest[:] = {e[1]: e for e in highest if e[2].node == CAPPED}.values()
        for heap in (ends, lowest, highest):
            heapify(heap)
        self.room[node] = [2 * len(heap) + 64 for heap in (ends, lowest, highest)]

    # ---- clocks ----

    def touch(self, node: int, now: float) -> None:
        """Brings a node's clock up to now and notes that its next end may change."""
        if self.read_at[node] != now:
            if self.count[node]:
                self.clock[node] += self.level[node] * (now - self.read_at[node])
            self.read_at[node] = now
        if not self.noted[node]:
            self.noted[node] = True
            self.notes.append(node)

    def left(self, flow: Flow, now: float) -> float:
        """Bytes that a flow still has to go [B]."""
        if flow.node == CAPPED:
            return max(0.0, flow.mark - now) * flow.cap if flow.cap else flow.mark
        if flow.node == ABSENT:
            return 0.0
        node = flow.node
        clock = self.clock[node] + self.level[node] * (now - self.read_at[node])
        return max(0.0, flow.mark - clock) * flow.weight
