"""The picture of a path as SVG: readable in black and white, by keyboard and by screen readers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from dtnsim.ground.errors import visible
from dtnsim.ground.term import plural
from dtnsim.report.page import escaped
from dtnsim.report.picture import Box, Picture
from dtnsim.report.text import capacity

if TYPE_CHECKING:
    from dtnsim.ground.records import StationUse

#: size of a box and of the gaps between boxes [px]
_W: Final = 116
_H: Final = 46
_DX: Final = 24
_DY: Final = 20
_EDGE: Final = 12
#: letters that fit a box
_LETTERS: Final = 15
#: stations of a component that its text tells of
_TOLD: Final = 4
#: (from this utilisation on, class, pattern, words)
_CLASSES: Final = (
    (0.995, "high", "p-high", "saturated"),
    (0.75, "mid", "p-mid", "75 to 99 % used"),
    (0.0, "low", "p-low", "less"),
)
_PATTERNS: Final = (
    '<pattern class="low" id="p-low" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<rect width="6" height="6" fill="currentColor" fill-opacity=".55"/></pattern>'
    '<pattern class="mid" id="p-mid" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" fill="currentColor" fill-opacity=".3"/>'
    '<rect width="3" height="6" fill="currentColor"/></pattern>'
    '<pattern class="high" id="p-high" width="5" height="5" patternUnits="userSpaceOnUse">'
    '<rect width="5" height="5" fill="currentColor" fill-opacity=".55"/>'
    '<path d="M0 0L5 5M5 0L0 5" stroke="currentColor" stroke-width="1.4"/></pattern>'
)


def svg(picture: Picture, about: str, *, limit: int = 0) -> str:
    """The picture with its legend.

    Args:
        picture: Boxes and wires.
        about: Id of the element that shows what a component is on hover and focus.
        limit: Boxes that may be reached by keyboard; 0 for all.
    """
    width = 2 * _EDGE + picture.columns * (_W + _DX) - _DX
    height = 2 * _EDGE + max(picture.rows, 1) * (_H + _DY) + 8
    boxes = sorted(picture.boxes.values(), key=lambda b: (b.column, b.row))
    reached = {b.name for b in (boxes[:limit] if limit else boxes)}
    parts = [
        f'<div class="picture" data-about="{about}" tabindex="0" role="region" aria-label="The path, drawn">',
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group"',
        f' aria-label="{escaped(words(picture))}"><defs>{_PATTERNS}</defs>',
        *(_group(name, [b for b in boxes if b.group == name]) for name in _groups(boxes)),
        *(_wire(picture.boxes[a], picture.boxes[b]) for a, b in picture.wires),
        *(_drawn(b, tabbed=b.name in reached) for b in boxes),
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


def _groups(boxes: list[Box]) -> list[str]:
    return list(dict.fromkeys(b.group for b in boxes if b.group))


def _at(b: Box) -> tuple[int, int]:
    return _EDGE + b.column * (_W + _DX), _EDGE + 8 + b.row * (_H + _DY)


def _group(name: str, boxes: list[Box]) -> str:
    xs, ys = zip(*map(_at, boxes), strict=True)
    x, y = min(xs) - 8, min(ys) - 8
    width, height = max(xs) + _W + 8 - x, max(ys) + _H + 8 - y
    return (
        f'<rect class="host" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        f'<text class="small" x="{x + 8}" y="{y - 2}">{escaped(_short(name, 40))}</text>'
    )


def _wire(a: Box, b: Box) -> str:
    (xa, ya), (xb, yb) = sorted((_at(a), _at(b)))
    ya, yb = ya + _H // 2, yb + _H // 2
    if xa == xb:  # one below the other
        low, high = sorted((ya, yb))
        if high - low <= _H + _DY:
            x = xa + _W // 2
            return f'<path class="wire" d="M{x} {low + _H // 2}V{high - _H // 2}"/>'
        side = xa - _DX // 3
        return f'<path class="wire" d="M{xa} {ya}H{side}V{yb}H{xb}"/>'
    turn = xb - _DX // 2
    return f'<path class="wire" d="M{xa + _W} {ya}H{turn}V{yb}H{xb}"/>'


def _class(share: float) -> tuple[float, str, str, str]:
    return next(c for c in _CLASSES if share >= c[0])


def _drawn(b: Box, *, tabbed: bool) -> str:
    x, y = _at(b)
    _, kind, pattern, _ = _class(b.utilization)
    full = round((_W - 16) * min(b.utilization, 1.0))
    told = about(b)
    flag = f'<text class="flag" x="{x + _W - 6}" y="{y + 15}" text-anchor="end">▲</text>' if b.binds else ""
    more = f" ({b.folded})" if b.folded else ""
    return (
        f'<g {"tabindex=0 " if tabbed else ""}role="img" class="{kind}{" binds" if b.binds else ""}" '
        f'aria-label="{escaped("; ".join(told[:2]))}" data-about="{escaped(json.dumps(told))}">'
        f"<title>{escaped(chr(10).join(told))}</title>"
        f'<rect class="box" x="{x}" y="{y}" width="{_W}" height="{_H}" rx="5"/>'
        f'<text x="{x + 8}" y="{y + 17}">{escaped(_short(b.label, _LETTERS - len(more) - 2 * b.binds) + more)}</text>'
        f'<rect class="track" x="{x + 8}" y="{y + 24}" width="{_W - 16}" height="7"/>'
        f'<rect x="{x + 8}" y="{y + 24}" width="{full}" height="7" fill="url(#{pattern})"/>'
        f'<text class="small" x="{x + 8}" y="{y + 42}">{b.utilization:.1%} used</text>{flag}</g>'
    )


def about(b: Box) -> list[str]:
    """What a box is, line by line: use, capacity, demand, formula and source of its stations."""
    held = "; the bottleneck" if b.binds else ""
    lines = [f"{b.name}: {b.utilization:.1%} used{held}"]
    if b.folded:
        lines[0] = f"{b.name}: {b.folded} components, the busiest {b.utilization:.1%} used{held}"
    lines += map(_station, b.uses[:_TOLD])
    if len(b.uses) > _TOLD:
        lines.append(f"and {plural(len(b.uses) - _TOLD, 'station')} less used")
    return [visible(line) for line in lines]


def _station(use: StationUse) -> str:
    s = use.station
    cost = f"{use.demand_per_byte:.4g} {s.unit} a byte"
    how = f"; {s.formula}" if s.formula else ""
    source = f"; source: {s.source}" if s.source else ""
    return f"{s.name}: {use.utilization:.1%} of {capacity(s)}, {cost}{how}{source}"


def _short(text: str, letters: int) -> str:
    text = visible(text)
    return text if len(text) <= letters else text[: letters - 1] + "…"


def _legend() -> str:
    shown = "".join(
        f'<span><svg width="28" height="14" class="{kind}" aria-hidden="true"><rect width="28" height="14" '
        f'fill="url(#{pattern})"/></svg>{words_}</span>'
        for _, kind, pattern, words_ in _CLASSES
    )
    return f'<p class="legend">{shown}<span>▲ bottleneck</span></p>'
