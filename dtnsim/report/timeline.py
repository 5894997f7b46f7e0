"""A simulation's figures: rates, queues and use of stations over time, what happened, how long files take."""

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dtnsim.ground import units
from dtnsim.report import simulation
from dtnsim.report.page import Figure, Page, label
from dtnsim.report.table import Table
from dtnsim.report.traces import GREY, LEGEND, TONES, axis, folded, gbps, heat, line, quantiles, rate_axis, wrapped
from dtnsim.simulation.results import Simulation

#: curves of one figure, events that are marked in it, and points of a table
CURVES: Final = 8
MARKS: Final = 20
_POINTS: Final = 50
_TICKS: Final = 20  #: most days that are named on an axis
_NOTED: Final = 0.01  #: part of a transfer's bytes in memory from which on it has a figure
#: part of its height that a level line moves by at most
_FLAT: Final = 0.01
_UNITS: Final = {"d": 86400.0, "h": 3600.0, "min": 60.0, "s": 1.0}  #: units of time, and seconds in each
_DASHES: Final = ("solid", "dash", "dot", "dashdot")


def figures(s: Simulation) -> list[Figure]:
    """All figures of a simulation."""
    document = simulation.document(s)
    series = document["series"]
    time, unit = _time(series["time_s"])
    marks = [(e["time_s"], e["what"]) for e in document["happened"]][:MARKS]
    figs = [_rates(series, time, unit, marks)]
    percent = {name: [100 * v for v in used] for name, used in _fullest(series["utilization"])}
    figs.append(_curves("Use of the busiest stations over time", percent, time, unit, "used [%]", marks))
    flows = dict(_fullest(series["flows"]))
    figs.append(_curves("Workers at each station over time", flows, time, unit, "workers", marks))
    least = {t.name: _NOTED * t.payload_B for t in s.runs[0].transfers}
    cached = {n: [v / 1e9 for v in mem] for n, mem in series["cached_B"].items() if max(mem, default=0) > least[n]}
    if cached:
        figs.append(_curves("Bytes in memory that the medium has not yet", cached, time, unit, "in memory [GB]", marks))
    files = _files(s, document["transfers"])
    return figs if files is None else [*figs, files]


def _fullest(series: dict[str, list[float]]) -> list[tuple[str, list[float]]]:
    """As many as one figure shows, by what they come to over the whole time."""
    return sorted(series.items(), key=lambda each: -sum(each[1]))[:CURVES]


def happened(s: Simulation) -> Table:
    """Table of the events of the first run, one a row."""
    return Table(">at", "what", rows=[(units.show(t, "s"), event) for t, event in s.runs[0].happened])


def _time(seconds: Sequence[float]) -> tuple[list[float], str]:
    """A time axis in the unit that fits."""
    last = max(seconds, default=0.0)
    unit = next((unit for unit, factor in _UNITS.items() if last > 3 * factor), "s")
    return [t / _UNITS[unit] for t in seconds], unit


def _rates(series: dict[str, Any], time: list[float], unit: str, marks: Sequence[tuple[float, str]]) -> Figure:
    rates = series["throughput_Bps"]
    curves = {name: [gbps(v) for v in each] for name, each in _fullest(rates)}
    if len(rates) > CURVES:
        curves = {"all together": [gbps(sum(v)) for v in zip(*rates.values(), strict=True)], **curves}
    return _curves("Throughput over time", curves, time, unit, "throughput [Gb/s]", marks)


def _curves(
    title: str, curves: dict[str, list[Any]], time: list[float], unit: str, up: str, marks: Sequence[tuple[float, str]]
) -> Figure:
    """Curves over time, with what happened as upright lines."""
    traces = [
        line(
            wrapped(name, LEGEND), time, values, f"{folded(name)}: %{{y:.4g}}",
            color=TONES[n % len(TONES)], dash=_DASHES[n % len(_DASHES)], shape="hv", width=2,
        )
        for n, (name, values) in enumerate(curves.items())
    ]  # fmt: skip
    scale = _UNITS[unit]
    layout = {
        "xaxis": axis(f"time [{unit}]", rangemode="tozero"),
        "yaxis": rate_axis(up),
        "height": 330 + 12 * len(traces),
        "showlegend": True,
        "shapes": [
            {"type": "line", "x0": t / scale, "x1": t / scale, "yref": "paper", "y0": 0, "y1": 1,
             "line": {"color": GREY, "dash": "dot", "width": 1.5}}
            for t, _ in marks
        ],
    }  # fmt: skip
    measure = up.partition("[")[2].rstrip("]")
    says = f"{title}: " + "; ".join(f"{name} {_span(values, measure)}" for name, values in curves.items())
    if marks:
        says += ". Marked: " + "; ".join(f"{units.show(t, 's')} {event}" for t, event in marks)
    step = max(1, math.ceil(len(time) / _POINTS))
    rows = [
        (f"{time[k]:.4g}", *(f"{values[k]:.4g}" if values[k] is not None else "" for values in curves.values()))
        for k in range(0, len(time), step)
    ]
    return Figure(title, says, traces, layout, Table(f">time [{unit}]", *(f">{name}" for name in curves), rows=rows))


def _span(values: Sequence[float | None], measure: str) -> str:
    finite = [v for v in values if v is not None]
    if finite and _level(finite):
        return f"{sum(finite) / len(finite):.3g} {measure} throughout".replace("  ", " ")
    return f"{min(finite):.3g} to {max(finite):.3g} {measure}".rstrip() if finite else "nothing"


def _level(values: Sequence[float]) -> bool:
    return max(values) - min(values) <= _FLAT * max(values)


def is_flat(figure: Figure) -> bool:
    """Whether curves are level lines, of which a sentence says as much as a picture."""
    drawn = [[v for v in t["y"] if v is not None] for t in figure.traces if t.get("mode") == "lines"]
    return bool(drawn) and not figure.layout.get("shapes") and all(values and _level(values) for values in drawn)


def add(page: Page, figure: Figure) -> None:
    """A figure, or the sentence that says as much."""
    if is_flat(figure):
        page.text(f"{figure.says}.")
    else:
        page.figure(figure)


def _files(s: Simulation, transfers: Sequence[dict[str, Any]]) -> Figure | None:
    """How long a file takes: medians and tails, as load tests show them."""
    shown = [t for t in transfers if t["files"] > 1 and t["file_s"]["p50"] is not None][:CURVES]
    if not shown:
        return None
    names = ("p50", "p90", "p99", "max")  # of files, not of runs
    rows = [(t["name"], str(t["files"]), *(units.show(t["file_s"][q], "s") for q in names)) for t in shown]
    curves = {q: [t["file_s"][q] for t in shown] for q in names}
    drawn = quantiles([t["name"] for t in shown], curves, "time of a file", "s")
    says = f"{s.name}: " + "; ".join(f"{r[0]}: half within {r[2]}, 99 in 100 within {r[4]}" for r in rows)
    table = Table("transfer", ">files", *(f">{quantile}" for quantile in names), rows=rows)
    return Figure("How long a file takes", says, *drawn, table)


def by_hour(
    rates_Bps: Sequence[float], edges_s: Sequence[float], title: str, start: dt.time | None = None
) -> Figure | None:
    """Rates of a long run between edges [s] as a heat map, hours of the day over days; None below two days.

    It begins at midnight where ``start`` is not known.
    """
    first = 0 if start is None else start.hour * 3600 + start.minute * 60
    if not len(edges_s) or edges_s[-1] <= 86400.0:
        return None
    days = min(math.ceil((first + edges_s[-1]) / 86400.0), 366)
    hours, edges = 3600.0 * np.arange(24 * days + 1), first + np.asarray(edges_s, float)
    total = np.append(0.0, np.cumsum(np.maximum(rates_Bps, 0.0) * np.diff(edges)))
    moved, spent = np.diff(np.interp(hours, edges, total)), np.diff(np.clip(hours, edges[0], edges[-1]))
    each = [gbps(m / s) if s else None for m, s in zip(moved.tolist(), spent.tolist(), strict=True)]
    table = [each[hour::24] for hour in range(24)]
    trace = heat(table, "Gb/s", "day %{x}, %{y}:00: %{z:.4g} Gb/s", [d + 1 for d in range(days)])
    up = "hour of the day" + (", if it begins at midnight" if start is None else "")
    layout = {
        "xaxis": axis("day", tick0=1, dtick=math.ceil(days / _TICKS)),
        "yaxis": axis(up, autorange="reversed", dtick=3),
        "height": 420,
    }
    mean = [sum(rates) / len(rates) if (rates := [v for v in row if v is not None]) else 0.0 for row in table]
    rows = [(f"{hour:02d}:00", f"{m:.4g}", f"{max(v or 0.0 for v in table[hour]):.4g}") for hour, m in enumerate(mean)]
    busiest = max(range(24), key=mean.__getitem__)
    says = f"{label(title)}: busiest from {busiest}:00, {mean[busiest]:.3g} Gb/s on average"
    return Figure(title, says, [trace], layout, Table("hour", ">mean [Gb/s]", ">most [Gb/s]", rows=rows))
