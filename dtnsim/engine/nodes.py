"""Stations, and the nodes that the engine reckons with.

Most stations of a path come in series: every transfer that reads a drive also crosses its HBA and
its slot. Stations that have been visited by exactly the same rows, at the same ratio of demands, are
one *node*: only the member with the least capacity over ratio can bind. A row that visits some of
a node's stations and not the others, or at another ratio, splits the node; nodes never merge again,
so there are at most as many splits as stations.

All state of the engine that belongs to a node is here, as parallel lists.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from heapq import heappush
from typing import Final

from dtnsim.engine.flows import Flow, Row, checked_row
from dtnsim.ground.errors import InputError

#: relative part of a node's capacity that counts as nothing: some hundred roundings of a double
TOLERANCE: Final = 1e-13


def check_capacity(value: float, station: int) -> float:
    """Refuses capacities that mean nothing.

    Raises:
        InputError: Negative or not a number.
    """
    if not value >= 0:
        raise InputError(f"capacity of station {station} is {value}; give a number >= 0 (infinite for no limit)")
    return float(value)


class Nodes:
    """Stations, their nodes, and the engine's state at each node.

    Attributes (one entry a node; units of the node are those of its first station):
        capacity: What it can give [unit/s].
        spare: Capacity less what all flows use now; 0 where it holds flows back [unit/s].
        low, high: ``spare`` outside of these means that its level is out of date.
        level: Rate per weight of the flows it holds back; infinite where it holds none [B/s].
        clock, read_at: Service per weight that it had given to each of them at time ``read_at`` [B], [s].
        count: Flows it holds back (free flows).
        total: Sum of weight times demand over all its flows.
        load: For a node k, ``load[k][m]``: what node m has to give for one unit of level of k.
        uses: ``uses[k][m]``: rows that make up ``load[k][m]``.
        feeders: Nodes k (other than m itself) with a ``load[k][m]``.
        held: Rows it holds back.
        ends: Heap of its free flows by virtual finishing time.
        lowest: Heap of its free flows by limit (where that is finite).
        highest: Heap of the capped flows through it, highest limit first.
        room: Lengths at which the three heaps are swept.
        due: Earliest entry of this node in the event queue.

    After each settling: ``touched``, nodes whose level may have changed, and ``changed``, flows that something else may
    hold back than before. ``split``: nodes that have other members than before, until the owner empties it.
    """

    def __init__(self, capacities: Sequence[float]) -> None:
        self.stations = [check_capacity(c, s) for s, c in enumerate(capacities)]
        self.place = [-1] * len(self.stations)
        self.ratio = [1.0] * len(self.stations)
        self.rows: dict[tuple[tuple[int, float], ...], Row] = {}
        self.active: dict[Row, None] = {}
        self.live: dict[int, Flow] = {}
        self.epoch = 0
        self.members: list[list[int]] = []
        self.capacity: list[float] = []
        self.greatest: list[float] = []
        self.spare: list[float] = []
        self.low: list[float] = []
        self.high: list[float] = []
        self.level: list[float] = []
        self.clock: list[float] = []
        self.read_at: list[float] = []
        self.count: list[int] = []
        self.total: list[float] = []
        self.load: list[dict[int, float]] = []
        self.peak: list[float] = []
        self.uses: list[dict[int, int]] = []
        self.feeders: list[dict[int, None]] = []
        self.held: list[dict[Row, None]] = []
        self.ends: list[list[tuple[float, int, Flow]]] = []
        self.lowest: list[list[tuple[float, int, Flow]]] = []
        self.highest: list[list[tuple[float, int, Flow]]] = []
        self.room: list[list[int]] = []
        self.joined: list[int] = []
        self.due: list[float] = []
        self.waiting: list[bool] = []
        self.noted: list[bool] = []
        self.dirty: list[tuple[float, int]] = []
        self.forced: set[int] = set()
        self.turn = 0.0
        self.notes: list[int] = []
        self.touched: list[int] = []
        self.fresh: list[Flow] = []
        self.moved: list[Flow] = []
        self.changed: list[Flow] = []
        self.split: list[int] = []
        self.unlimited: list[Flow] = []
        self.settled = 0

    def row(self, demands: Mapping[int, float]) -> Row:
        """The row of these demands: station -> demand of one byte [station's unit/B].

        Raises:
            InputError: A station that does not exist, or a demand that is negative or not finite.
        """
        key = checked_row(demands, len(self.stations))
        row = self.rows.get(key)
        if row is None:
            if len(self.rows) > 4 * len(self.active) + 4096:  # rows used once must not pile up
                self.rows = {r.demands: r for r in self.active}
            row = self.rows[key] = Row(key)
        return row

    def set_capacity(self, station: int, value: float) -> None:
        """Sets a station's capacity [station's unit/s]; the level follows at the next settling.

        Raises:
            InputError: No such station, or a capacity that is negative or not a number.
        """
        if not 0 <= station < len(self.stations):
            raise InputError(f"capacity of station {station}: there are stations 0 to {len(self.stations) - 1}")
        self.stations[station] = check_capacity(value, station)
        node = self.place[station]
        if node >= 0:
            self._set_node(node, min(self.stations[s] / self.ratio[s] for s in self.members[node]))

    def compile(self, row: Row) -> None:
        """Writes a row's demands on nodes, splitting and making nodes where it has to."""
        while True:
            found: dict[int, list[tuple[int, float]]] = {}
            fresh = []
            for station, demand in row.demands:
                node = self.place[station]
                if node < 0:
                    fresh.append((station, demand))
                else:
                    found.setdefault(node, []).append((station, demand / self.ratio[station]))
            for node, hits in found.items():
                first = hits[0][1]
                alike = [s for s, x in hits if abs(x - first) <= 1e-12 * first]
                if len(alike) < len(self.members[node]):
                    self._split(node, alike)
                    break
            else:
                break
        if fresh:
            self._found_node(fresh)
            found[len(self.capacity) - 1] = fresh
        self._write(row, tuple((node, hits[0][1]) for node, hits in found.items()))

    def used(self, node: int) -> float:
        """What the flows of a node use of it, added up afresh [unit/s]."""
        parts = []
        for row in self.active:
            demand = row.index.get(node)
            if demand is not None:
                rate = row.capped_rate
                if row.free:
                    rate += row.weight * self.level[row.node]
                parts.append(rate * demand)
        return math.fsum(parts)

    def refresh(self) -> None:
        """Adds up the spare capacity of all nodes afresh, against the drift of many small roundings."""
        used = [0.0] * len(self.capacity)
        for row in self.active:
            rate = row.capped_rate + (row.weight * self.level[row.node] if row.free else 0.0)
            for node, demand in row.pairs:
                used[node] += rate * demand
        for node, use in enumerate(used):
            self.spare[node] = self.capacity[node] - use
            self.greatest[node] = self.capacity[node]
            self.mark(node)

    def mark(self, node: int) -> None:
        """Has a node looked at in the next settling, if its spare capacity says that its level is out of date."""
        spare = self.spare[node]
        if (spare < self.low[node] or spare > self.high[node]) and not self.waiting[node]:
            self.waiting[node] = True
            heappush(self.dirty, (self.first_guess(node), node))

    def first_guess(self, node: int) -> float:
        """Where a node comes in the order of settling: its level, or the least that it can be [B/s]."""
        if self.count[node]:
            return self.level[node]
        total = self.total[node]
        return self.capacity[node] / total if total > 0 else 0.0

    def _set_node(self, node: int, value: float) -> None:
        old = self.capacity[node]
        if value == old:
            return
        self.capacity[node] = value
        if math.isinf(old) or value < 1e-3 * self.greatest[node]:
            self.spare[node] = value - self.used(node)
            self.greatest[node] = value
        else:
            self.spare[node] += value - old
            self.greatest[node] = max(value, self.greatest[node])
        self._set_band(node)
        self.mark(node)

    def _set_band(self, node: int) -> None:
        capacity = self.capacity[node]
        slack = TOLERANCE * capacity if math.isfinite(capacity) else 0.0
        self.low[node] = -slack
        self.high[node] = slack if self.count[node] else math.inf

    def _write(self, row: Row, pairs: tuple[tuple[int, float], ...]) -> None:
        row.pairs = pairs
        row.index = dict(pairs)
        row.epoch = self.epoch

    def _found_node(self, fresh: list[tuple[int, float]]) -> None:
        """Makes a node of stations that no row has visited so far."""
        node = self._append()
        for station, demand in fresh:
            self.place[station] = node
            self.ratio[station] = demand / fresh[0][1]
        self.members[node] = [s for s, _ in fresh]
        value = min(self.stations[s] / self.ratio[s] for s, _ in fresh)
        self.capacity[node] = self.spare[node] = self.greatest[node] = value
        self._set_band(node)

    def _append(self) -> int:
        zeros: tuple[list[float], ...] = (self.capacity, self.greatest, self.spare, self.low, self.high)
        for numbers in (*zeros, self.clock, self.read_at, self.total, self.peak):
            numbers.append(0.0)
        for numbers in (self.level, self.due):
            numbers.append(math.inf)
        for counts in (self.count, self.joined):
            counts.append(0)
        for flags in (self.waiting, self.noted):
            flags.append(False)
        for heaps in (self.ends, self.lowest, self.highest):
            heaps.append([])
        self.load.append({})
        self.uses.append({})
        self.feeders.append({})
        self.held.append({})
        self.room.append([64, 64, 64])
        self.members.append([])
        return len(self.capacity) - 1

    def _split(self, node: int, leaving: list[int]) -> None:
        """Gives some stations of a node a node of their own; the flows it holds back stay with the old one."""
        new = self._append()
        self.epoch += 1
        self.split += [node, new]
        self.members[new] = leaving
        self.members[node] = [s for s in self.members[node] if s not in leaving]
        for station in leaving:
            self.place[station] = new
        used = self.used(node)
        self.total[new] = self.total[node]
        self.highest[new] = list(self.highest[node])
        self.feeders[new] = dict(self.feeders[node])
        if self.count[node]:
            self.feeders[new][node] = None
        for feeder in self.feeders[new]:
            self.load[feeder][new] = self.load[feeder][node]
            self.uses[feeder][new] = self.uses[feeder][node]
        for each in (node, new):
            value = min(self.stations[s] / self.ratio[s] for s in self.members[each])
            self.capacity[each] = self.greatest[each] = value
            self.spare[each] = value - used
            self._set_band(each)
        for row in self.active:
            demand = row.index.get(node)
            self._write(row, row.pairs if demand is None else (*row.pairs, (new, demand)))
        for each in (node, new):
            self.mark(each)
