"""Stations, the nodes that the engine reckons with, and rows of demands, put down as flat numbers (`layout`).

Most stations of a path come in series: every transfer that reads a drive also crosses its HBA and
its slot. Stations that have been visited by exactly the same rows, at the same ratio of demands, are
one *node*: only the member with the least capacity over ratio can bind. A row that visits some of
a node's stations and not the others, or at another ratio, splits the node; nodes never merge again,
so there are at most as many splits as stations.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

from dtnsim.engine import layout as at

#: demands of one byte: (station, demand > 0 [station's unit/B]), stations ascending
Demands = tuple[tuple[int, float], ...]
_SAME: Final = 1e-12  #: ratios of demands that are closer than this are one (relative)
#: numbers of flows, and entries of a node's lists, that there is room for at first
_FLOWS: Final = 256
_LISTED: Final = 8


class Network:
    """Nodes and rows, one record after the other, in ``f`` and ``q``, and the number of heaps that they need.

    ``members`` are the stations of each node, by its address.
    """

    def __init__(self, capacity: Sequence[float]) -> None:
        self._group = [-1] * len(capacity)
        self._ratio = [1.0] * len(capacity)
        self._groups: list[list[int]] = []
        self.put_down(capacity)

    # -- which stations are one -----------------------------------------------------------------------

    def refine(self, demands: Demands) -> bool:
        """Splits groups of stations that a row does not cross alike; True where what is put down is out of date."""
        split = False
        for hits in self._hits(demands).values():
            rest = hits
            while rest:
                ratio = rest[0][1]
                alike = [s for s, x in rest if abs(x - ratio) <= _SAME * ratio]
                rest = [each for each in rest if each[0] not in alike]
                members = self._groups[self._group[alike[0]]]
                if len(alike) < len(members):
                    split = split or self._group[alike[0]] in self._nodes
                    self._groups[self._group[alike[0]]] = [s for s in members if s not in alike]
                    self._new_group(alike)
        fresh = [s for s, _ in demands if self._group[s] < 0]
        if fresh:
            first = dict(demands)[fresh[0]]
            for s, demand in demands:
                if self._group[s] < 0:
                    self._ratio[s] = demand / first
            self._new_group(fresh)
        return split

    def _hits(self, demands: Demands) -> dict[int, list[tuple[int, float]]]:
        """Group -> the stations of it that a row crosses, each with its demand over the station's ratio."""
        hits: dict[int, list[tuple[int, float]]] = {}
        for s, demand in demands:
            if self._group[s] >= 0:
                hits.setdefault(self._group[s], []).append((s, demand / self._ratio[s]))
        return hits

    def _new_group(self, members: list[int]) -> None:
        for s in members:
            self._group[s] = len(self._groups)
        self._groups.append(members)

    # -- numbers ----------------------------------------------------------------------------------------

    def put_down(self, capacity: Sequence[float]) -> None:
        """Begins afresh, with no rows and no flows."""
        self.f: list[float] = [0.0] * at.HEAD
        self.q: list[int] = [0] * at.HEAD
        self.heaps = at.FIRST_HEAP
        self._nodes: dict[int, int] = {}
        self.members: dict[int, list[int]] = {}
        self._slots: dict[tuple[int, int], int] = {}
        self._room: dict[tuple[int, int], list[int]] = {}
        f, q = self.f, self.q
        f[at.LAST], q[at.FIRST_NODE], q[at.SPARE_SLOT] = -math.inf, -1, -1
        self.stations = q[at.STATIONS] = self.take(at.STATION * len(capacity))
        for k, each in enumerate(capacity):
            s = self.stations + at.STATION * k
            f[s], f[s + at.RATIO], q[s] = each, 1.0, -1

    def take(self, count: int) -> int:
        """Room for so many numbers; returns their address."""
        address = len(self.f)
        self.f += [0.0] * count
        self.q += [0] * count
        return address

    def put(self, numbers: Sequence[int]) -> int:
        """Puts integers down; returns their address."""
        address = self.take(len(numbers))
        self.q[address : address + len(numbers)] = numbers
        return address

    def lay(self, demands: Demands) -> int:
        """Puts a row down that `refine` has seen, and after it said so `put_down`; returns its address."""
        pairs = {self._node(group): hits[0][1] for group, hits in self._hits(demands).items()}
        r, address = self.take(at.ROW), self.put(list(pairs))
        f, q = self.f, self.q
        f[address : address + len(pairs)] = pairs.values()
        q[r + at.PAIRS], q[r + at.N_PAIRS], q[r + at.AT_NODE] = address, len(pairs), -1
        q[r + at.FIRST_FLOW] = q[r + at.LAST_FLOW] = -1
        for k, n in enumerate(pairs):
            end = self._list(n, at.THROUGH, 2)
            q[end], q[end + 1] = r, address + k
            q[n + at.N_THROUGH] += 1
        q[r + at.SLOTS] = self.put([self._slot(n, m) for n in pairs for m in pairs])
        return r

    def _list(self, n: int, field: int, width: int) -> int:
        """Where the next entry of a node's list goes; a list that is full moves to where there is room for two."""
        q, room = self.q, self._room.setdefault((n, field), [0, 0])
        used = room[0]
        room[0] += 1
        if used == room[1]:
            room[1] = max(2 * used, _LISTED)
            old, new = q[n + field], self.take(width * room[1])
            q[new : new + width * used] = q[old : old + width * used]
            q[n + field] = new
        return q[n + field] + width * used

    def _slot(self, n: int, m: int) -> int:
        """Where a node keeps what it puts on another, with room for it in both nodes' lists."""
        if (n, m) not in self._slots:
            s = self._slots[n, m] = self.take(at.SLOT)
            self.q[s + at.OTHER] = m
            self._list(n, at.LOADS, 1)
            if n == m:
                self.q[n + at.OWN] = s
            else:
                self._list(m, at.FEEDERS, 2)
        return self._slots[n, m]

    def _node(self, group: int) -> int:
        """The address of a group's node, which is made where it is new."""
        if group in self._nodes:
            return self._nodes[group]
        n = self._nodes[group] = self.take(at.NODE)
        f, q = self.f, self.q
        members = self.members[n] = self._groups[group]
        for k in members:
            s = self.stations + at.STATION * k
            f[s + at.RATIO], q[s] = self._ratio[k], n
        q[n + at.N_MEMBERS] = len(members)
        q[n + at.MEMBERS] = self.put([self.stations + at.STATION * k for k in members])
        value = node_capacity(f, q, n)
        f[n + at.CAPACITY] = f[n + at.SPARE] = f[n + at.GREATEST] = value
        f[n + at.HIGH] = f[n + at.LEVEL] = f[n + at.DUE] = math.inf
        f[n + at.LOW] = -1e-13 * value if value < math.inf else 0.0
        q[n + at.FIRST_HELD] = q[n + at.LAST_HELD] = -1
        q[n + at.HEAPS] = self.heaps
        q[n + at.ROOM : n + at.ROOM + 3] = [64, 64, 64]
        q[n + at.NEXT_NODE], q[at.FIRST_NODE] = q[at.FIRST_NODE], n
        q[at.N_NODES] += 1
        self.heaps += 3
        return n


def node_capacity(f: Any, q: Any, n: int) -> float:
    """Capacity of a node: that of its tightest station."""
    first = int(q[n + at.MEMBERS])
    return min(float(f[s] / f[s + at.RATIO]) for s in q[first : first + int(q[n + at.N_MEMBERS])])


def more_flows(f: Any, q: Any, count: int = _FLOWS) -> tuple[Any, Any]:
    """The same numbers with room for so many more flows, where there is none left."""
    import numpy as np

    address = len(f)
    following = [address + at.FLOW * k for k in range(1, count)] + [-1]
    if isinstance(f, list):
        f += [0.0] * (at.FLOW * count)
        q += [0] * (at.FLOW * count)
    else:
        f = np.concatenate([f, np.zeros(at.FLOW * count)])
        q = np.concatenate([q, np.zeros(at.FLOW * count, np.int64)])
    q[address + at.NEXT :: at.FLOW] = following
    q[at.SPARE_SLOT] = address
    return f, q
