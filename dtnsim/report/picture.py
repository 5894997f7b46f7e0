"""Where the components of a path stand in its picture: hosts left and right, the network between them.

The picture shows what the graph of the path has (`dtnsim.description.graph`) and the answer uses. Of more than two
hosts on a side the busiest is drawn whole, the others fold into one box each.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from dtnsim.ground.errors import visible
from dtnsim.ground.records import Prediction, StationUse
from dtnsim.ground.units import plural
from dtnsim.report.page import asset, escaped
from dtnsim.report.text import capacity

#: hosts of a side that are drawn whole, and folded boxes shown beside them
WHOLE: Final = 2
FOLDED: Final = 6
#: kinds of nodes from the outside to the network; what reaches the network is in the last column
_COLUMN: Final = {"server": 0, "volume": 1, "hba": 2, "slot": 2, "nic": 2, "cpu": 3, "memory": 3}
_NEAR_WIRE: Final = 4


@dataclass(frozen=True, slots=True)
class Box:
    """A component, or a folded host."""

    name: str  #: Node of the graph, or the host.
    label: str  #: What is written on it.
    #: Its place, columns from the left.
    column: int
    row: int
    group: str  #: Host that it stands in; empty for the network.
    utilization: float  #: Of its busiest station.
    uses: tuple[StationUse, ...]  #: Its stations, busiest first.
    binds: bool  #: Whether it holds a transfer back.
    folded: int = 0  #: Components that it stands for; 0 for a component.


def by_node(p: Prediction, names: Iterable[str]) -> dict[str, list[StationUse]]:
    """Stations of each node of the graph; those of connections, which no node is, under their own names."""
    nodes, uses = set(names), dict[str, list[StationUse]]()
    for use in p.stations:
        if use.station.kind == "workers" or use.utilization <= 0:
            continue
        parts = use.station.name.partition("[")[0].split(".")
        lengths = range(len(parts), 0, -1)
        node = next((n for k in lengths if (n := ".".join(parts[:k])) in nodes), ".".join(parts))
        uses.setdefault(node, []).append(use)
    return uses


class Picture:
    """Boxes on a raster, the wires between them, and what the answer does not use."""

    def __init__(self, p: Prediction) -> None:
        self._whole = whole = p.graph
        self._uses = by_node(p, whole.nodes)
        self._binding = {t.bottleneck.station for t in p.transfers}
        self._shown: dict[str, str] = {}  # node -> box that stands for it
        self.boxes: dict[str, Box] = {}
        self.unused: list[str] = []
        near, far = self._sides()
        segments = [n for n, d in whole.nodes(data=True) if d["host"] == "network" and d["kind"] != "server"]
        loose = [n for n in self._uses if n not in whole]
        left = 5 if near else 0
        self._hosts(near, 0, mirrored=False)
        across = max(min(len(segments), 2), 1)
        for number, node in enumerate(segments):
            self._box(node, left + number % across, number // across, "")
        down = -(-len(segments) // across)
        for number, node in enumerate(sorted(loose, key=self._use, reverse=True)[:4]):
            self._box(node, left, down + number, "")
        self._hosts(far, left + (across if segments or loose else 0), mirrored=True)
        filled = sorted({b.column for b in self.boxes.values()})  # columns in which nothing stands are left out
        self.boxes = {name: replace(b, column=filled.index(b.column)) for name, b in self.boxes.items()}
        edges = ((self._shown.get(a, ""), self._shown.get(b, "")) for a, b in whole.edges)
        self.wires = sorted({(min(ends), max(ends)) for ends in edges if all(ends) and len(set(ends)) > 1})

    @property
    def column_starts(self) -> list[int]:
        """Where its columns begin, and where one more would: as wide as their names, so that none is cut [px]."""
        wide = [_W] * (1 + max((b.column for b in self.boxes.values()), default=-1))
        for b in self.boxes.values():
            wide[b.column] = max(wide[b.column], math.ceil(16 + _LETTER * len(_written(b))))
        return list(accumulate((w + _DX for w in wide), initial=_EDGE))

    def _sides(self) -> tuple[list[str], list[str]]:
        hosts = list(dict.fromkeys(d["host"] for _, d in self._whole.nodes(data=True) if d["host"] != "network"))
        used = [h for h in hosts if any(self._use(n) for n in self._nodes(h))]
        near: Mapping[str, bool] = self._whole.graph.get("near") or {}
        left = [h for h in used if near.get(h, h == used[0])]
        return left, [h for h in used if h not in left]

    def _nodes(self, host: str) -> list[str]:
        return [n for n, d in self._whole.nodes(data=True) if d["host"] == host]

    def _use(self, node: str) -> float:
        return max((u.utilization for u in self._uses.get(node, ())), default=0.0)

    def _binds(self, node: str) -> bool:
        return any(u.station.name in self._binding for u in self._uses.get(node, ()))

    def _hosts(self, hosts: list[str], start: int, *, mirrored: bool) -> None:
        """Draws the hosts of a side: of more than two the busiest whole, the others folded, at last all together."""

        def busy(host: str) -> tuple[bool, float]:
            return any(map(self._binds, self._nodes(host))), max(map(self._use, self._nodes(host)))

        kept = hosts if len(hosts) <= WHOLE else [max(hosts, key=busy)]
        rest = [h for h in hosts if h not in kept]
        single = FOLDED - 1 if len(rest) > FOLDED else FOLDED
        row = 0
        for host in kept:
            row = self._host(host, row, start, mirrored=mirrored)
        for some in filter(None, [*([h] for h in rest[:single]), rest[single:]]):
            self._fold(some, row, start if mirrored else _NEAR_WIRE)
            row += 1

    def _host(self, host: str, row: int, start: int, *, mirrored: bool) -> int:
        """Draws a host whole; returns the next free row."""
        filled = dict[int, int]()
        nodes = self._nodes(host)
        for node in sorted(nodes, key=self._column):
            if not self._uses.get(node) and self._whole.nodes[node]["kind"] != "cpu":
                self.unused.append(node)
                continue
            column = self._column(node)
            self._box(node, start + _NEAR_WIRE - column if mirrored else column, row + filled.get(column, 0), host)
            filled[column] = filled.get(column, 0) + 1
        near = {m for n in nodes for m in self._whole.neighbors(n) if self._whole.nodes[m]["kind"] == "server"}
        servers = sorted(s for s in near if self._uses.get(s) and s not in self._shown)
        for number, server in enumerate(servers):
            self._box(server, start + _NEAR_WIRE if mirrored else 0, row + number, "")
        return row + max(len(servers), *filled.values(), 0) + 1

    def _column(self, node: str) -> int:
        kind = self._whole.nodes[node]["kind"]
        if kind in ("nic", "slot") and self._reaches(node):
            return _NEAR_WIRE
        return _COLUMN.get(kind, 2)

    def _reaches(self, node: str) -> bool:
        """Whether it is the way to the network: a NIC on it, or the slot of one."""
        around = set(self._whole.neighbors(node))
        if self._whole.nodes[node]["kind"] == "slot":
            around = {m for n in around if self._whole.nodes[n]["kind"] == "nic" for m in self._whole.neighbors(n)}
        return any(self._whole.nodes[m]["kind"] in ("segment", "junction") for m in around)

    def _box(self, node: str, column: int, row: int, group: str) -> None:
        label = node.removeprefix(f"{group}.").removeprefix("network.")
        uses = tuple(self._uses.get(node, ()))
        self.boxes[node] = Box(node, label, column, row, group, self._use(node), uses, self._binds(node))
        self._shown[node] = node

    def _fold(self, hosts: list[str], row: int, column: int) -> None:
        nodes = [n for h in hosts for n in self._nodes(h)]
        busiest = max(nodes, key=self._use)
        name = hosts[0] if len(hosts) == 1 else f"{len(hosts)} more hosts"
        binds = any(map(self._binds, nodes))
        uses = tuple(self._uses.get(busiest, ()))
        self.boxes[name] = Box(name, name, column, row, "", self._use(busiest), uses, binds, len(nodes))
        self._shown |= dict.fromkeys(nodes, name)


#: least width of a box, its height, and the gaps between boxes [px]
_W: Final = 92
_H: Final = 46
_DX: Final = 20
_DY: Final = 20
_EDGE: Final = 12
_LEAST: Final = 0.75  #: part of its size down to which a picture shrinks on a small screen, before it scrolls
_LETTER: Final = 7.6  #: what a letter takes at most [px]
_TOLD: Final = 4  #: stations of a component that its text tells of
#: (from this utilisation on, class, pattern, words)
_CLASSES: Final = (
    (0.995, "high", "p-high", "saturated"),
    (0.75, "mid", "p-mid", "75 to 99 % used"),
    (0.0, "low", "p-low", "less"),
)


def svg(picture: Picture, about: str) -> str:
    """The picture with its legend; ``about``: id of the element that shows what a component is on hover and focus."""
    column_x = picture.column_starts
    width = column_x[-1] - _DX + _EDGE
    rows = max((b.row + 1 for b in picture.boxes.values()), default=1)
    height = 2 * _EDGE + rows * (_H + _DY) + 8
    boxes = sorted(picture.boxes.values(), key=lambda b: (b.column, b.row))
    groups = [name for name in dict.fromkeys(b.group for b in boxes) if name]
    parts = [
        f'<div class="picture" data-about="{about}" tabindex="0" role="region" aria-label="The path, drawn">',
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group"',
        f' style="min-width:{_LEAST * width:.0f}px"',
        f' aria-label="{escaped(words(picture))}"><defs>{asset("patterns.svg")}</defs>',
        *(_group(name, [b for b in boxes if b.group == name], column_x) for name in groups),
        *(_wire(picture.boxes[a], picture.boxes[b], column_x) for a, b in picture.wires),
        *(_drawn(b, column_x) for b in boxes),
        "</svg></div>",
        _legend(),
    ]
    return "".join(parts)


def words(picture: Picture) -> str:
    """What the picture shows, in words."""
    boxes = picture.boxes.values()
    binding = ", ".join(b.name for b in boxes if b.binds) or "none of them"
    hosts = len({b.group for b in boxes if b.group} | {b.name for b in boxes if b.folded})
    drawn = plural(sum(1 for b in boxes if not b.folded), "component")
    return visible(f"{drawn} of {plural(hosts, 'host')} and the network between them; the bottleneck: {binding}")


def _box_place(b: Box, column_x: list[int]) -> tuple[int, int, int]:
    """(left, right, top) of a box."""
    return column_x[b.column], column_x[b.column + 1] - _DX, _EDGE + 8 + b.row * (_H + _DY)


def _group(name: str, boxes: list[Box], column_x: list[int]) -> str:
    lefts, rights, tops = zip(*(_box_place(b, column_x) for b in boxes), strict=True)
    x, y = min(lefts) - 8, min(tops) - 8
    width, height = max(rights) + 8 - x, max(tops) + _H + 8 - y
    return (
        f'<rect class="host" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        f'<text class="small" x="{x + 8}" y="{y - 2}">{escaped(visible(name))}</text>'
    )


def _wire(a: Box, b: Box, column_x: list[int]) -> str:
    (xa, right, ya), (xb, _, yb) = sorted((_box_place(a, column_x), _box_place(b, column_x)))
    ya, yb = ya + _H // 2, yb + _H // 2
    if xa == xb:  # one below the other
        low, high = sorted((ya, yb))
        if high - low <= _H + _DY:
            x = (xa + right) // 2
            return f'<path class="wire" d="M{x} {low + _H // 2}V{high - _H // 2}"/>'
        side = xa - _DX // 3
        return f'<path class="wire" d="M{xa} {ya}H{side}V{yb}H{xb}"/>'
    turn = xb - _DX // 2
    return f'<path class="wire" d="M{right} {ya}H{turn}V{yb}H{xb}"/>'


def _written(b: Box) -> str:
    """What is written on a box."""
    return visible(b.label) + (f" ({b.folded})" if b.folded else "") + ("   " if b.binds else "")


def _drawn(b: Box, column_x: list[int]) -> str:
    x, right, y = _box_place(b, column_x)
    wide = right - x
    _, kind, pattern, _ = next(c for c in _CLASSES if b.utilization >= c[0])
    full = round((wide - 16) * min(b.utilization, 1.0))
    lines = about(b)
    flag = f'<text class="flag" x="{x + wide - 6}" y="{y + 15}" text-anchor="end">▲</text>' if b.binds else ""
    return (
        f'<g tabindex=0 role="img" class="{kind}{" binds" if b.binds else ""}" '
        f'aria-label="{escaped("; ".join(lines[:2]))}" data-about="{escaped(json.dumps(lines))}">'
        f"<title>{escaped(chr(10).join(lines))}</title>"
        f'<rect class="box" x="{x}" y="{y}" width="{wide}" height="{_H}" rx="5"/>'
        f'<text x="{x + 8}" y="{y + 17}">{escaped(_written(b).rstrip())}</text>'
        f'<rect class="track" x="{x + 8}" y="{y + 24}" width="{wide - 16}" height="7"/>'
        f'<rect x="{x + 8}" y="{y + 24}" width="{full}" height="7" fill="url(#{pattern})"/>'
        f'<text class="small" x="{x + 8}" y="{y + 42}">{b.utilization:.1%} used</text>{flag}</g>'
    )


def about(b: Box) -> list[str]:
    """What a box is, line by line: use, capacity, demand, formula and source of its stations."""
    note = "; the bottleneck" if b.binds else ""
    lines = [f"{b.name}: {b.utilization:.1%} used{note}"]
    if b.folded:
        lines[0] = f"{b.name}: {b.folded} components, the busiest {b.utilization:.1%} used{note}"
    lines += [line for use in b.uses[:_TOLD] for line in _station(use)]
    if len(b.uses) > _TOLD:
        lines.append(f"and {plural(len(b.uses) - _TOLD, 'station')} less used")
    return [visible(line) for line in lines]


def _station(use: StationUse) -> list[str]:
    """Use and demand of a station, what its capacity is computed by, and whose numbers these are, a line each."""
    s = use.station
    first = f"{s.name}: {use.utilization:.1%} of {capacity(s)}, {use.demand_per_byte:.4g} {s.unit} a byte"
    return [first, *(f"{label}: {text}" for label, text in (("computed by", s.formula), ("source", s.source)) if text)]


def _legend() -> str:
    shown = "".join(
        f'<span><svg width="28" height="14" class="{kind}" aria-hidden="true"><rect width="28" height="14" '
        f'fill="url(#{pattern})"/></svg>{words_}</span>'
        for _, kind, pattern, words_ in _CLASSES
    )
    return f'<p class="legend">{shown}<span>▲ bottleneck</span></p>'
