"""The figures of an answer as plotly's JSON, each with words for those who do not see it and the numbers behind it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.ground import units
from dtnsim.ground.records import Prediction, TransferPrediction
from dtnsim.report.page import Figure, Table, label

if TYPE_CHECKING:
    from dtnsim.ground.records import Interval
    from dtnsim.planning.whatif import Axis, Grid
    from dtnsim.report.costs import Relief
    from dtnsim.steady.why_wide import Share

#: tones that are readable on white and on black, told apart by those who see few colours too
BLUE: Final = "#4f8fd0"
AMBER: Final = "#d07a1f"
GREY: Final = "#8a939d"
TONES: Final = (BLUE, AMBER, "#3a9d7c", "#b56bb0", GREY, "#c4574f", "#8d8b2d", "#5f6fd0")
PATTERNS: Final = ("", "/", ".", "x", "-", "\\", "+", "|")
#: stations whose cost is drawn, and letters of a name on an axis
BUSIEST: Final = 12
LETTERS: Final = 34
_ROW: Final = 34
#: pixels of a line of a legend
_LEGEND: Final = 20
_AS_IT_IS: Final[Mapping[str, Any]] = {"drop_whitespace": False, "break_on_hyphens": False}
#: marks of quantiles that are drawn in one row
_MARKS: Final = ("circle", "diamond", "square", "triangle-up")


def gbps(value: float | None) -> float | None:
    """A rate as the axes show it [Gb/s]."""
    return None if value is None or not np.isfinite(value) else value * 8 / 1e9


def short(text: str, letters: int = LETTERS) -> str:
    """A name that fits an axis."""
    return label(text if len(text) <= letters else f"{text[: letters - 1]}…")


def whole(text: str, letters: int = LETTERS) -> str:
    """A name in as many lines as it needs on an axis: broken after what parts a station's name, else where it must."""
    lines = [""]
    for piece in (
        p for part in re.split(r"(?<=[ ./\[\]_:-])", text) for p in textwrap.wrap(part, letters, **_AS_IT_IS)
    ):
        if lines[-1] and len(lines[-1]) + len(piece) > letters:
            lines.append("")
        lines[-1] += piece
    return "<br>".join(map(label, lines))


def rows_axis(names: Sequence[str]) -> dict[str, Any]:
    """A vertical axis of names, the first on top, each at its place whatever it is called."""
    places = list(range(len(names)))
    return {
        "tickvals": places,
        "ticktext": [whole(n) for n in names],
        "range": [len(names) - 0.5, -0.5],
        "automargin": True,
        "zeroline": False,
    }


def rate_axis(title: str = "throughput [Gb/s]") -> dict[str, Any]:
    """An axis of rates from nothing on."""
    return {"title": {"text": title}, "rangemode": "tozero", "automargin": True, "exponentformat": "none"}


def dots(name: str, number: int, values: Sequence[float], unit: str) -> dict[str, Any]:
    """One quantile of several rows as marks: on a logarithmic axis bars have no length."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": list(values),
        "y": list(range(len(values))),
        "marker": {"color": TONES[number % len(TONES)], "symbol": _MARKS[number % len(_MARKS)], "size": 12},
        "hovertemplate": f"{name}: %{{x:.4g}} {unit}<extra></extra>",
    }


def height(rows: int, extra: int = 90) -> int:
    """Pixels for so many bars."""
    return extra + _ROW * max(rows, 2)


def ladder(t: TransferPrediction, reliefs: Sequence[Relief]) -> Figure:
    """What binds, and what binds next, with what relieves it, its command and its price."""
    names = [f"{n}  {r.station}" for n, r in enumerate(t.ladder, 1)]
    values = [gbps(r.throughput_Bps) for r in t.ladder]
    hover = [label(f"{r.station}: {r.reason}") for r in t.ladder]
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": list(range(len(names))),
        "customdata": [_folded(text) for text in hover],
        "hovertemplate": "%{x:.4g} Gb/s<br>%{customdata}<extra></extra>",
        "marker": {
            "color": [AMBER, *[BLUE] * (len(names) - 1)],
            "pattern": {"shape": ["/", *[""] * (len(names) - 1)]},
        },
        "text": [f"{v:.4g}" if v is not None else "" for v in values],
        "textposition": "outside",
        "cliponaxis": False,
    }
    rows = [
        (str(n), units.show(r.throughput_Bps, "B/s"), r.station, r.reason, r.remedy, relief.command, relief.price)
        for n, (r, relief) in enumerate(zip(t.ladder, reliefs, strict=True), 1)
    ]
    head = ("rung", "at", "station", "because", "relieved by", "command", "cheapest part that helps")
    first = t.ladder[0]
    says = f"{t.name}: {first.station} binds at {units.show(first.throughput_Bps, 'B/s')}" + "".join(
        f"; then {r.station} at {units.show(r.throughput_Bps, 'B/s')}" for r in t.ladder[1:]
    )
    layout = {
        "yaxis": rows_axis(names),
        "xaxis": {**rate_axis(), "range": [0, 1.12 * max((v for v in values if v is not None), default=1.0)]},
        "height": height(len(names)),
    }
    return Figure(f"Ladder of {t.name}: what binds, and what binds once that is relieved", says, [trace], layout,
                  Table(head, rows, frozenset({0, 1})))  # fmt: skip


def relief(t: TransferPrediction, reliefs: Sequence[Relief]) -> Table:
    """What relieves each rung: in words, as a command, as a part."""
    rows = [
        (str(n), units.show(r.throughput_Bps, "B/s"), r.remedy or "-", found.command or "-", found.price or "-")
        for n, (r, found) in enumerate(zip(t.ladder, reliefs, strict=True), 1)
    ]
    return Table(("rung", "at", "relieved by", "command", "cheapest part that helps"), rows, frozenset({0, 1}))


def _folded(text: str, width: int = 70) -> str:
    """A long text of a hover label in lines."""
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + len(word) >= width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "<br>".join([*lines, line])


def spending(p: Prediction) -> Figure:
    """Where the bytes spend resources: the utilisation of each station by what uses it."""
    busiest = [u for u in p.stations if u.utilization > 0 and u.station.kind != "workers"][:BUSIEST]
    place = {u.station.name: n for n, u in enumerate(busiest)}
    rates = [t.ceiling for t in p.transfers]
    found: dict[tuple[int, str], list[float]] = {}
    rows = []
    for t, rate in zip(p.problem.transfers, rates, strict=True):
        for d in (d for phase in t.phases for d in phase.demands if d.station in place):
            use = busiest[place[d.station]]
            cost = float(np.ravel(d.per_byte)[0])
            share = rate * cost / float(np.ravel(use.station.capacity)[0])
            found.setdefault((t.turn, d.what), [0.0] * len(busiest))[place[d.station]] += 100 * share
            rows.append(
                (d.station, t.name, d.what, f"{cost:.4g} {use.station.unit}/B", f"{share:.1%}", d.formula, d.source)
            )
    by_what = _busiest_turn(found, len(busiest))
    ranked = sorted(by_what, key=lambda what: -sum(by_what[what]))
    traces = [_stacked(what, by_what[what], n) for n, what in enumerate(ranked)]
    layout = {
        "barmode": "stack",
        "yaxis": rows_axis(list(place)),
        "xaxis": {"title": {"text": "used [%]"}, "range": [0, 105], "automargin": True},
        "height": height(len(busiest), 110) + _LEGEND * len(traces),
        "showlegend": len(traces) > 1,
        "legend": {
            "orientation": "v",
            "x": 0,
            "y": -70 / height(len(busiest), 0),
            "yanchor": "top",
            "traceorder": "normal",
        },
    }
    says = "Utilisation of the busiest stations: " + "; ".join(f"{u.station.name} {u.utilization:.0%}" for u in busiest)
    head = ("station", "transfer", "activity", "a byte costs", "of capacity", "how", "source")
    rows.sort(key=lambda r: place[r[0]])
    return Figure("Where the bytes spend resources", says, traces, layout, Table(head, rows, frozenset({3, 4})))


def _busiest_turn(found: dict[tuple[int, str], list[float]], stations: int) -> dict[str, list[float]]:
    """By activity, what it uses of each station: transfers that wait for each other never use one together."""
    turns = sorted({turn for turn, _ in found})
    total = [[sum(v[k] for (of, _), v in found.items() if of == turn) for turn in turns] for k in range(stations)]
    kept = [turns[max(range(len(turns)), key=t.__getitem__)] if turns else 0 for t in total]
    by_what: dict[str, list[float]] = {}
    for (turn, what), values in found.items():
        shown = by_what.setdefault(what, [0.0] * stations)
        for k, value in enumerate(values):
            shown[k] += value if kept[k] == turn else 0.0
    return by_what


def _stacked(what: str, values: list[float], number: int) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": label(what),
        "x": values,
        "y": list(range(len(values))),
        "marker": {"color": TONES[number % len(TONES)], "pattern": {"shape": PATTERNS[number // len(TONES) % 8]}},
        "hovertemplate": f"{short(what, 60)}: %{{x:.3g}} %<extra></extra>",
    }


def tornado(shares: Sequence[Share]) -> Figure | None:
    """Which uncertain things make the interval wide."""
    if not shares:
        return None
    kept = shares[:BUSIEST]
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": [100 * s.share for s in kept],
        "y": list(range(len(kept))),
        "customdata": [_folded(label(f"{s.what}; find out by: {s.measure}")) for s in kept],
        "hovertemplate": "%{x:.3g} % of the variance<br>%{customdata}<extra></extra>",
        "marker": {"color": BLUE},
    }
    rows = [(s.what, f"{s.share:.1%}", f"x {s.left:.2f}", s.measure) for s in shares]
    says = "Shares of the variance: " + "; ".join(f"{s.what} {s.share:.0%}" for s in kept)
    layout = {
        "yaxis": rows_axis([s.name for s in kept]),
        "xaxis": {"title": {"text": "share of the variance [%]"}, "rangemode": "tozero", "automargin": True},
        "height": height(len(kept)),
    }
    head = ("what", "share", "width if it were known", "how to find out")
    return Figure("Why the interval is wide", says, [trace], layout, Table(head, rows, frozenset({1, 2})))


def measured(figures: Sequence[tuple[str, str, float, Interval]]) -> Figure | None:
    """Predictions with their intervals beside what was measured: (case, role, measured, predicted) [B/s]."""
    if not figures:
        return None
    places = list(range(len(figures)))
    middle = [gbps(i.p50) for *_, i in figures]
    interval = {
        "type": "scatter",
        "mode": "markers",
        "name": "predicted, 80 % interval",
        "x": middle,
        "y": places,
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [(i.p90 - i.p50) * 8e-9 for *_, i in figures],
            "arrayminus": [(i.p50 - i.p10) * 8e-9 for *_, i in figures],
            "color": BLUE,
        },
        "marker": {"color": BLUE, "size": 10, "symbol": "circle"},
        "hovertemplate": "predicted %{x:.4g} Gb/s<extra></extra>",
    }
    dots = {
        "type": "scatter",
        "mode": "markers",
        "name": "measured",
        "x": [gbps(m) for _, _, m, _ in figures],
        "y": places,
        "marker": {"color": AMBER, "size": 12, "symbol": "diamond"},
        "hovertemplate": "measured %{x:.4g} Gb/s<extra></extra>",
    }
    show = units.show
    rows = [
        (
            name,
            role,
            show(m, "B/s"),
            show(i.p10, "B/s"),
            show(i.p50, "B/s"),
            show(i.p90, "B/s"),
            f"{i.p50 / m - 1:+.1%}",
        )
        for name, role, m, i in figures
    ]
    says = "; ".join(f"{r[0]}: measured {r[2]}, predicted {r[4]} ({r[3]} to {r[5]})" for r in rows)
    layout = {"yaxis": rows_axis([f[0] for f in figures]), "xaxis": rate_axis(), "height": height(len(figures), 120)}
    head = ("case", "role", "measured", "p10", "p50", "p90", "error")
    return Figure("Measured beside predicted", says, [interval, dots], layout,
                  Table(head, rows, frozenset(range(2, 7))))  # fmt: skip


def plane(grid: Grid, rows: str, columns: str) -> Figure | None:
    """Throughput over two things as a heat map, the path's own point in it; None where they cannot be varied."""
    found = grid.plane(rows, columns)
    if found is None:
        return None
    down, across, table = found
    heat = {
        "type": "heatmap",
        "x": list(range(len(across.labels))),
        "y": list(range(len(down.labels))),
        "z": [[gbps(v) for v in row] for row in table],
        "colorscale": "Viridis",
        "zmin": 0,
        "colorbar": {"title": {"text": "Gb/s"}, "thickness": 14},
        "texttemplate": "%{z:.3g}",
        "textfont": {"size": 12},
        "hovertemplate": "%{z:.4g} Gb/s<extra></extra>",
        "xgap": 2,
        "ygap": 2,
    }
    own = {
        "type": "scatter",
        "mode": "markers",
        "x": [across.own],
        "y": [down.own],
        "marker": {"symbol": "square-open", "size": 44, "color": "#ff4f43", "line": {"width": 3}},
        "hoverinfo": "skip",
    }
    layout = {
        "xaxis": _labelled(across),
        "yaxis": _labelled(down),
        "height": 120 + 52 * len(down.labels),
        "showlegend": False,
    }
    head = (f"{down.title} / {across.title}", *across.labels)
    cells = [
        (down.labels[n], *("-" if v is None else units.show(v, "B/s") for v in row)) for n, row in enumerate(table)
    ]
    here = table[down.own][across.own]
    says = (
        f"Throughput over {down.title} and {across.title}; the path is at {down.labels[down.own]} and "
        f"{across.labels[across.own]}, where it is {'unknown' if here is None else units.show(here, 'B/s')}"
    )
    title = f"Throughput over {down.title} and {across.title} (the frame: the path as it is)"
    return Figure(title, says, [heat, own], layout, Table(head, cells, frozenset(range(1, len(head)))))


def _labelled(axis: Axis) -> dict[str, Any]:
    return {
        "title": {"text": label(axis.title)},
        "tickvals": list(range(len(axis.labels))),
        "ticktext": [short(text, 22) for text in axis.labels],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def file_sizes(points: Sequence[tuple[float, float | None]], own: tuple[float, float] | None) -> Figure | None:
    """Throughput over the size of a file, with the path's own point (mean size [B], rate [B/s]) in it."""
    if not points:
        return None
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "equal files of this size",
        "x": [size for size, _ in points],
        "y": [gbps(rate) for _, rate in points],
        "line": {"color": BLUE},
        "hovertemplate": "%{x:.3s}B files: %{y:.4g} Gb/s<extra></extra>",
    }
    traces = [line]
    if own is not None:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "the path as it is (mean size)",
                "x": [own[0]],
                "y": [gbps(own[1])],
                "marker": {"color": AMBER, "size": 13, "symbol": "diamond"},
                "hovertemplate": "as it is: %{y:.4g} Gb/s<extra></extra>",
            }
        )
    ticks = [s for s, _ in points]
    layout = {
        "xaxis": {
            "type": "log", "title": {"text": "size of a file"}, "automargin": True,
            "tickvals": ticks, "ticktext": [units.show(s, "B") for s in ticks],
        },
        "yaxis": {**rate_axis(), "type": "log", "rangemode": "normal"},
        "height": 380,
    }  # fmt: skip
    rows = [(units.show(s, "B"), "-" if r is None else units.show(r, "B/s")) for s, r in points]
    says = "; ".join(f"{size}: {rate}" for size, rate in rows)
    return Figure("Throughput over the size of a file", says, traces, layout,
                  Table(("size", "throughput"), rows, frozenset({0, 1})))  # fmt: skip
