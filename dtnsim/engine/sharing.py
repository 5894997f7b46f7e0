"""Weighted max-min fair shares, put right only where something changed.

A node that holds flows back (its free flows) gives each of them ``weight * level``; the others run
at their own cap. The shares are weighted max-min fair exactly if every node that is short of capacity
has the level at which it is just full, and no flow runs above the level of a node that it visits:

    sum of demand * min(cap, weight * min of levels on the row) = capacity      where level < infinity
                                                                <= capacity     elsewhere

(progressive filling; Bertsekas and Gallager, Data Networks, 2nd ed. 1992, 6.5.2). After a change,
`Sharing.settle` takes the nodes whose level is out of date, lowest first, and gives each the level
that fills it as its neighbours are now: flows whose cap is now below leave the group, flows that run
faster elsewhere are taken in. The changed rates are booked at the other nodes of the same flows, at
the cost of one addition a pair of nodes however many flows there are, and nodes that are then short or
have something to spare are looked at in turn. The lowest level of the network is right after one
look at each node, then the next higher one, and so on, so the process ends; it touches only nodes
whose level changes and their neighbours.

Neglects: differences of levels below 1e-12 and of capacities below 1e-13, relative.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush

from dtnsim.engine.flows import ABSENT, CAPPED, Flow, Row
from dtnsim.engine.neighbours import CANCELLED, TIE, Sides
from dtnsim.ground.errors import ModelError


class Sharing(Sides):
    """The shares of all flows; see the module's text. Times must not run backwards."""

    def insert(self, flow: Flow, left: float, now: float) -> bool:
        """Puts a flow with ``left`` bytes in at the rate that it gets as things are (not yet fair).

        Returns:
            False where nothing at all limits it: no cap, and no station with a finite capacity.
        """
        row = flow.row
        if row.epoch != self.epoch:
            self.compile(row)
        weight = flow.weight
        bound, node = self._entry(row, weight)
        if bound == flow.limit == math.inf:
            return False
        if not (row.free or row.capped):
            self.active[row] = None
        self.live[flow.number] = flow
        if flow.limit <= bound:
            self.cap(flow, left, now)
            self.book(row, flow.cap)
        else:
            if row.free:
                node = row.node
            self.touch(node, now)
            if not self.count[node]:
                self.level[node] = bound
            elif bound < self.level[node]:
                self.shift(node, bound)
                self.look_at(node, bound)  # others may run above that now
            flow.mark = self.mark_after(node, left / weight)
            self.free(flow, node)
            self.book(row, weight * self.level[node])
        for m, demand in row.pairs:
            self.total[m] += weight * demand
        return True

    def _entry(self, row: Row, weight: float) -> tuple[float, int]:
        """The node that a flow comes in at and its rate per weight there, as things are.

        Never faster than alone, so that what it is booked with stays of the size of the capacities.
        """
        levels, capacities = self.level, self.capacity
        bound, node = math.inf, -1
        for m, demand in row.pairs:
            limit = capacities[m] / (weight * demand)
            if levels[m] < limit:  # noqa: PLR1730 - a call of min for every node would cost a fifth of it
                limit = levels[m]
            if limit < bound:
                bound, node = limit, m
        return bound, node

    def remove(self, flow: Flow) -> None:
        """Takes a flow out."""
        row = flow.row
        weight = flow.weight
        for m, demand in row.pairs:
            self.total[m] -= weight * demand
        if flow.node == CAPPED:
            self.uncap(flow)
            self.book(row, -flow.cap)
        else:
            level = self.level[flow.node]
            self.unfree(flow)
            self.book(row, -weight * level)
        flow.node = ABSENT
        del self.live[flow.number]
        if not (row.free or row.capped):
            del self.active[row]

    def shift(self, node: int, level: float) -> None:
        """Sets a node's level and books what its flows now use elsewhere.

        A neighbour with a lower level has to take in who now runs above it, whatever its spare capacity is.
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
                if levels[m] < floor:
                    self.forced.add(m)
            elif levels[m] < floor:
                self.look_at(m, levels[m])

    def settle(self, now: float) -> None:
        """Makes the shares fair.

        Raises:
            ModelError: The levels do not come to rest.
        """
        self.settled += 1
        if not self.settled & 4095:
            self.refresh()
        dirty, forced, waiting, tie, looks = self.dirty, self.forced, self.waiting, TIE, 0
        levels, spares, lows, highs = self.level, self.spare, self.low, self.high
        counts, loads, lowests, highests, feeders = self.count, self.load, self.lowest, self.highest, self.feeders
        level_of = levels.__getitem__
        while dirty:
            node = heappop(dirty)[1]
            waiting[node] = False
            spare = spares[node]
            if lows[node] <= spare <= highs[node] and node not in forced:
                continue
            looks += 1
            if not looks & 1023:
                tie = self._loosen(looks, tie)
            if counts[node] and node not in forced:  # most often nobody changes sides
                old = levels[node]
                level = old + spare / loads[node][node]
                if spare > 0:
                    lowest = lowests[node]
                    plain = level <= 2 * old and not (lowest and lowest[0][0] < level)
                else:
                    highest = highests[node]
                    plain = 0.5 * old < level and not (highest and -highest[0][0] > level)
                # others may run above it even where it rises: a newcomer and a new capacity can come at one instant
                sources = feeders[node]
                plain = plain and not (sources and max(map(level_of, sources)) > level * (1 + tie))
                if plain:
                    self.touch(node, now)
                    self.shift(node, level)
                    spares[node] = 0.0
                    continue
            forced.discard(node)
            self._look(node, now, tie)

    def _look(self, node: int, now: float, tie: float) -> None:
        """Gives a node the level that just fills it, with all flows that change sides and far moves."""
        self.touch(node, now)
        level = self._level(node, now, tie)
        if not self.count[node]:
            return
        if not self.capacity[node]:
            level = 0.0
        elif level > 2 * self.level[node]:
            bound = self._bound(node)
            if level > bound:
                self.turn += 1.0  # after the node that it overfills has taken its flows, and in turn
                self.look_at(node, 1e250 * self.turn)
                self.shift(node, bound)
                return
            if level == math.inf:
                self._let_go(node)
                return
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
                    self.freeze(lowest[0][2], node, now)
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
                self.take(node, fastest, now)
            else:
                self.thaw(highest[0][2], node, now)

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
