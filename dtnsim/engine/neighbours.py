"""Which flows a node holds back, and how they change sides.

A flow is *capped* (it runs at its own cap) or *free* (a node holds it back). All free flows of a row are
with one node, the one with the lowest level on the row. `Sides` moves flows and rows between
these, with the heaps that say who goes next and the loads that nodes put on each other.
"""

from __future__ import annotations

import math
from heapq import heapify, heappush
from typing import Final

from dtnsim.engine.flows import ABSENT, CAPPED, Flow, Row
from dtnsim.engine.nodes import Nodes

#: two levels closer than this (relative) are one
TIE: Final = 1e-12
#: a remainder this much smaller than what it was left over from is added up afresh
CANCELLED: Final = 1e-3


class Sides(Nodes):
    """Flows on the nodes, in whatever state; `dtnsim.engine.sharing.Sharing` makes it fair."""

    def book(self, row: Row, rate: float) -> None:
        """Books ``rate`` more bytes a second of a row at its nodes."""
        spares, lows, highs = self.spare, self.low, self.high
        for m, demand in row.pairs:
            spares[m] = spare = spares[m] - rate * demand
            if (spare < lows[m] or spare > highs[m]) and not self.waiting[m]:
                self.mark(m)

    def look_at(self, node: int, order: float) -> None:
        """Has a node looked at, in this order, even if its spare capacity is in the band."""
        self.forced.add(node)
        if not self.waiting[node]:
            self.waiting[node] = True
            heappush(self.dirty, (order, node))

    def cap(self, flow: Flow, left: float, now: float) -> None:
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
        self.moved.append(flow)

    def uncap(self, flow: Flow) -> None:
        """A flow no longer runs at its own cap."""
        row = flow.row
        row.capped -= 1
        row.capped_rate = row.capped_rate - flow.cap if row.capped else 0.0

    def free(self, flow: Flow, node: int) -> None:
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
        self.peak[node] = max(self.peak[node], load[node])
        self._enter(flow, node)

    def _enter(self, flow: Flow, node: int) -> None:
        flow.node = node
        self.moved.append(flow)
        self.joined[node] += 1
        heappush(self.ends[node], (flow.mark, flow.number, flow))
        if flow.limit < math.inf:
            heappush(self.lowest[node], (flow.limit, flow.number, flow))
        room = self.room[node]
        if len(self.ends[node]) > room[0] or len(self.lowest[node]) > room[1]:
            self._sweep(node)

    def unfree(self, flow: Flow) -> None:
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

    def freeze(self, flow: Flow, node: int, now: float) -> None:
        """A free flow of a node goes over to its own cap."""
        left = max(0.0, flow.mark - self.clock[node]) * flow.weight
        rate = flow.weight * self.level[node]
        self.unfree(flow)
        self.cap(flow, left, now)
        self.book(flow.row, flow.cap - rate)
        for m, _ in flow.row.pairs:
            if self.level[m] < flow.limit * (1 - 2 * TIE):
                self.look_at(m, self.level[m])

    def thaw(self, flow: Flow, node: int, now: float) -> None:
        """A capped flow is held back by a node from now on."""
        row = flow.row
        if row.free and row.node != node:
            self.move(row, node, now)  # level as its limit to a rounding: the row stays together
        left = self.left(flow, now)
        self.uncap(flow)
        flow.mark = self.mark_after(node, left / flow.weight)
        self.free(flow, node)
        self.book(row, flow.weight * self.level[node] - flow.cap)

    def take(self, node: int, level: float, now: float) -> None:
        """All rows through a node that run at ``level`` elsewhere are held back by it from now on."""
        for feeder in [k for k in self.feeders[node] if self.level[k] >= level]:
            for row in [r for r in self.held[feeder] if node in r.index]:
                self.move(row, node, now)

    def move(self, row: Row, node: int, now: float) -> None:
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
        self.peak[node] = max(self.peak[node], self.load[node][node])
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

    def touch(self, node: int, now: float) -> None:
        """Brings a node's clock up to now and notes that its next end may change."""
        if self.read_at[node] != now:
            if self.count[node]:
                self.clock[node] += self.level[node] * (now - self.read_at[node])
            self.read_at[node] = now
        if not self.noted[node]:
            self.noted[node] = True
            self.notes.append(node)

    def mark_after(self, node: int, service: float) -> float:
        """What a node's clock will show after so much more service per weight [B].

        Where that is little next to the clock, the clock starts again at zero, so that the sum keeps its
        digits; as many flows must have joined since the last time as have to be moved.
        """
        if service < 1e-6 * self.clock[node] and self.joined[node] >= self.count[node]:
            clock = self.clock[node]
            self._sweep(node)
            for row in self.held[node]:
                for flow in row.free.values():
                    flow.mark -= clock
            self.ends[node][:] = [(f.mark, number, f) for _, number, f in self.ends[node]]
            heapify(self.ends[node])
            self.clock[node] = 0.0
            self.joined[node] = 0
        return self.clock[node] + service

    def left(self, flow: Flow, now: float) -> float:
        """Bytes that a flow still has to go [B]."""
        if flow.node == CAPPED:
            return max(0.0, flow.mark - now) * flow.cap if flow.cap else flow.mark
        if flow.node == ABSENT:
            return 0.0
        node = flow.node
        clock = self.clock[node] + self.level[node] * (now - self.read_at[node])
        return max(0.0, flow.mark - clock) * flow.weight
