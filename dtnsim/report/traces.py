"""What figures are made of: plotly's lines, marks, bars, maps and axes, in tones that everybody can tell apart."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from dtnsim.report.page import label

#: tones that are readable on white and on black, told apart by those who see few colours too
BLUE: Final = "#4f8fd0"
AMBER: Final = "#d07a1f"
GREY: Final = "#8a939d"
TONES: Final = (BLUE, AMBER, "#3a9d7c", "#b56bb0", GREY, "#c4574f", "#8d8b2d", "#5f6fd0")
PATTERNS: Final = ("", "/", ".", "x", "-", "\\", "+", "|")
#: letters of a line of a name on an axis, and in a legend
LETTERS: Final = 36
LEGEND: Final = 46
_ROW: Final = 34
_LINE: Final = 15
_AS_IT_IS: Final[Mapping[str, Any]] = {"drop_whitespace": False, "break_on_hyphens": False}
_MARKS: Final = ("circle", "diamond", "square", "triangle-up")  #: marks of quantiles that are drawn in one row

Trace = dict[str, Any]


def line(
    name: str, x: Sequence[Any], y: Sequence[Any], hover: str = "", *, marked: bool = False, **style: Any
) -> Trace:
    """A line; ``marked`` by points, in Plotly's ``style``: color, dash, shape, width."""
    trace = {"type": "scatter", "mode": "lines+markers" if marked else "lines", "name": name, "x": x, "y": y}
    return {**trace, "line": {"color": BLUE, **style}, **_hover(hover)}


def marks(
    name: str, x: Sequence[Any], y: Sequence[Any], hover: str = "", spans: Trace | None = None, **marker: Any
) -> Trace:
    """Marks, with intervals of `spans` beside them; ``marker`` is Plotly's: color, symbol, size."""
    trace = {"type": "scatter", "mode": "markers", "name": name, "x": x, "y": y, **(spans or {})}
    return {**trace, "marker": {"color": BLUE, "size": 10, **marker}, **_hover(hover)}


def spans(along: str, low: Sequence[float], middle: Sequence[float], high: Sequence[float], **style: Any) -> Trace:
    """Intervals of marks or bars.

    Args:
        along: Axis: ``x`` or ``y``.
        low: Where they begin.
        middle: Where the marks are.
        high: Where they end.
        style: Plotly's: color, thickness, width.
    """
    above = [h - m for h, m in zip(high, middle, strict=True)]
    below = [m - each for m, each in zip(middle, low, strict=True)]
    drawn = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": BLUE, **style}
    return {f"error_{along}": drawn}


def bars(values: Sequence[Any], hover: str = "", name: str = "", **marker: Any) -> Trace:
    """Bars to the right, one a row; ``marker`` is Plotly's: color, pattern."""
    trace = {"type": "bar", "orientation": "h", "x": values, "y": list(range(len(values)))}
    return {**trace, **({"name": name} if name else {}), "marker": {"color": BLUE, **marker}, **_hover(hover)}


def heat(z: Sequence[Sequence[Any]], unit: str, hover: str, x: Sequence[Any] | None = None, **more: Any) -> Trace:
    """A map, its rows of values from the top; ``more`` is Plotly's."""
    across = list(range(len(z[0]))) if x is None else x
    trace = {"type": "heatmap", "x": across, "y": list(range(len(z))), "z": z, "colorscale": "Viridis"}
    return {**trace, "colorbar": {"title": {"text": unit}, "thickness": 14}, **more, **_hover(hover)}


def painted(number: int) -> Trace:
    """Tone and pattern of one kind of bars among many: no two are alike."""
    return {"color": TONES[number % len(TONES)], "pattern": {"shape": PATTERNS[number // len(TONES) % len(PATTERNS)]}}


def _hover(hover: str) -> Trace:
    return {"hovertemplate": f"{hover}<extra></extra>"} if hover else {"hoverinfo": "skip"}


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """An axis with its title."""
    return {**({"title": {"text": title, "standoff": 8}} if title else {}), "automargin": True, **more}


def rate_axis(title: str = "throughput [Gb/s]", **more: Any) -> dict[str, Any]:
    """An axis of rates from nothing on."""
    return axis(title, rangemode="tozero", exponentformat="none", **more)


def tenfold(title: str, values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis, or one from nothing on where ``values`` do not span ten times: it would have no number."""
    if max(values) < 10 * min(values):
        return rate_axis(title)
    return axis(f"{title}, log scale", type="log", dtick=1, exponentformat="none")


def rows_axis(names: Sequence[str], below: Sequence[str] = ()) -> dict[str, Any]:
    """A vertical axis of names, the first on top, each at its place; ``below`` stands under them, smaller."""
    texts = [wrapped(n) for n in names]
    small = [f'<br><span style="font-size:0.85em">{wrapped(n, LETTERS + 4)}</span>' for n in below] or [""] * len(texts)
    ticks: Trace = {"tickvals": list(range(len(names))), "ticktext": [*map("".join, zip(texts, small, strict=True))]}
    ticks |= {"ticks": "outside", "ticklen": 6, "tickcolor": "rgba(0,0,0,0)"}  # room between a name and its bar
    return axis(**ticks, range=[len(names) - 0.5, -0.5], zeroline=False)


def gbps(value: float | None) -> float | None:
    """A rate as the axes show it [Gb/s]."""
    return None if value is None or not np.isfinite(value) else value * 8 / 1e9


def wrapped(text: str, letters: int = LETTERS) -> str:
    """A name in as many lines as it needs on an axis: broken after what parts a station's name, else where it must."""
    lines = [""]
    for piece in (
        p for part in re.split(r"(?<=[ ./\[\]_:-])", text) for p in textwrap.wrap(part, letters, **_AS_IT_IS)
    ):
        if lines[-1] and len(lines[-1]) + len(piece) > letters:
            lines.append("")
        lines[-1] += piece
    return "<br>".join(map(label, lines))


def folded(text: str) -> str:
    """A long text of a hover label in lines."""
    return "<br>".join(textwrap.wrap(label(text), break_long_words=False, break_on_hyphens=False))


def quantiles(
    names: Sequence[str], values: Mapping[str, list[float]], title: str, unit: str
) -> tuple[list[Trace], dict[str, Any]]:
    """(traces, layout) of quantiles (p50, max) of several rows, as marks: on a logarithmic axis bars have no length."""
    traces, down = [], rows_axis(names)
    for number, (name, each) in enumerate(values.items()):
        look: Trace = {"color": TONES[number % len(TONES)], "symbol": _MARKS[number % len(_MARKS)], "size": 12}
        words = f"{name.removeprefix('p')} in 100 within" if name.startswith("p") else "the longest"
        traces.append(marks(words, each, list(range(len(each))), f"{words} %{{x:.4g}} {unit}", **look))
    across = tenfold(f"{title} [{unit}]", [value for each in values.values() for value in each])
    return traces, {"yaxis": down, "xaxis": across, "height": height(down, 130), "showlegend": True}


def height(rows: dict[str, Any], extra: int = 90) -> int:
    """Pixels for the bars of a `rows_axis`, all as high as the one with most lines."""
    lines = [text.count("<br>") + 1 for text in rows["ticktext"]]
    return extra + max(_ROW, 8 + _LINE * max(lines, default=1)) * max(len(lines), 2)
