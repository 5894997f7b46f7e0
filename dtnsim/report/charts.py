"""The figures of an answer as plotly's JSON, each with words for those who do not see it and the numbers behind it."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dtnsim.ground import units
from dtnsim.ground.grouping import by_key
from dtnsim.ground.records import Prediction, TransferPrediction
from dtnsim.ground.uncertainty import HEADS, WITHIN, Interval
from dtnsim.planning.compare import Comparison
from dtnsim.planning.plan import Plan
from dtnsim.planning.sweep import SweepResult
from dtnsim.planning.whatif import Axis, Grid
from dtnsim.report.holds import called
from dtnsim.report.page import Figure, label
from dtnsim.report.table import Table
from dtnsim.report.traces import (
    AMBER,
    BLUE,
    GREY,
    LEGEND,
    TONES,
    Trace,
    axis,
    bars,
    folded,
    gbps,
    heat,
    height,
    line,
    marks,
    painted,
    rate_axis,
    rows_axis,
    spans,
    wrapped,
)
from dtnsim.steady.why_wide import Share

BUSIEST: Final = 12  #: stations whose cost is drawn
_LEGEND: Final = 20  #: pixels of a line of a legend


def ladder(p: Prediction, t: TransferPrediction, reliefs: Sequence[tuple[str, str]]) -> Figure:
    """What binds, and what binds next, with what relieves it, its command and its price: ``reliefs``, of each rung."""
    names = [f"{n}  {called(p, r.station, r.reason)}" for n, r in enumerate(t.ladder, 1)]
    down = rows_axis(names, [r.station.removesuffix(f"[{t.name}]") for r in t.ladder])
    values = [gbps(r.throughput_Bps) for r in t.ladder]
    rest = len(names) - 1
    trace = bars(
        values, "%{x:.4g} Gb/s<br>%{customdata}",
        color=[AMBER, *[BLUE] * rest], pattern={"shape": ["/", *[""] * rest]},
    ) | {
        "customdata": [folded(f"{r.station}: {r.reason}") for r in t.ladder],
        "text": [f"{v:.4g}" if v is not None else "" for v in values],
        "textposition": "outside",
        "cliponaxis": False,
    }  # fmt: skip
    rows = [
        (str(n), units.show(r.throughput_Bps, "B/s"), r.station, r.reason, r.remedy, *relief)
        for n, (r, relief) in enumerate(zip(t.ladder, reliefs, strict=True), 1)
    ]
    head = (">rung", ">at", "station", "because", "relieved by", "command", "cheapest part that helps")
    first = t.ladder[0]
    says = f"{t.name}: {first.station} binds at {units.show(first.throughput_Bps, 'B/s')}" + "".join(
        f"; then {r.station} at {units.show(r.throughput_Bps, 'B/s')}" for r in t.ladder[1:]
    )
    most = 1.12 * max((v for v in values if v is not None), default=1.0)
    layout = {"yaxis": down, "xaxis": rate_axis(range=[0, most]), "height": height(down)}
    title = f"Ladder of {t.name}: what binds, and what binds once that is relieved"
    return Figure(title, says, [trace], layout, Table(*head, rows=rows))


def spending(p: Prediction) -> Figure:
    """How busy each part is: the utilisation of each station by what uses it."""
    busiest = [u for u in p.stations if u.utilization > 0 and u.station.kind != "workers"][:BUSIEST]
    place = {u.station.name: n for n, u in enumerate(busiest)}
    rates = [t.ceiling for t in p.transfers]
    by_turn: dict[tuple[int, str], list[float]] = {}
    rows = []
    for t, rate in zip(p.problem.transfers, rates, strict=True):
        for d in (d for phase in t.phases for d in phase.demands if d.station in place):
            use = busiest[place[d.station]]
            cost = float(np.ravel(d.per_byte)[0])
            share = rate * cost / float(np.ravel(use.station.capacity)[0])
            by_turn.setdefault((t.turn, d.what), [0.0] * len(busiest))[place[d.station]] += 100 * share
            costs = f"{cost:.4g} {use.station.unit}/B", f"{share:.1%}"
            rows.append((d.station, t.name, d.what, *costs, d.formula, d.source))
    by_what = _busiest_turn(by_turn, len(busiest))
    ranked = sorted(by_what, key=lambda what: -sum(by_what[what]))
    only = f"[{p.transfers[0].name}]" if len(p.transfers) == 1 else ""
    down = rows_axis([called(p, name) for name in place], [name.removesuffix(only) for name in place])
    traces = [
        bars(by_what[activity], f"{folded(activity)}: %{{x:.3g}} %", wrapped(activity, LEGEND), **painted(n))
        for n, activity in enumerate(ranked)
    ]
    layout = {
        "barmode": "stack",
        "yaxis": down,
        "xaxis": axis("used [%]", range=[0, 105]),
        "height": height(down, 110) + _LEGEND * sum(1 + t["name"].count("<br>") for t in traces),
        "showlegend": len(traces) > 1,
        "legend": {"orientation": "v", "x": 0, "y": -60 / height(down, 0), "yanchor": "top", "traceorder": "normal"},
    }
    says = "Utilisation of the busiest stations: " + "; ".join(f"{u.station.name} {u.utilization:.0%}" for u in busiest)
    head = ("station", "transfer", "activity", ">a byte costs", ">of capacity", "how", "source")
    rows.sort(key=lambda r: place[r[0]])
    return Figure("How busy each part is", says, traces, layout, Table(*head, rows=rows))


def _busiest_turn(by_turn: dict[tuple[int, str], list[float]], stations: int) -> dict[str, list[float]]:
    """By activity, what it uses of each station: transfers that wait for each other never use one together."""
    turns = sorted({turn for turn, _ in by_turn})
    total = [[sum(v[k] for (step, _), v in by_turn.items() if step == turn) for turn in turns] for k in range(stations)]
    busiest = [turns[max(range(len(turns)), key=t.__getitem__)] if turns else 0 for t in total]
    by_what: dict[str, list[float]] = {}
    for (turn, activity), values in by_turn.items():
        shown = by_what.setdefault(activity, [0.0] * stations)
        for k, value in enumerate(values):
            shown[k] += value if busiest[k] == turn else 0.0
    return by_what


def tornado(shares: Sequence[Share]) -> Figure | None:
    """Which uncertain things make the interval wide."""
    if not shares:
        return None
    largest = shares[:BUSIEST]
    trace = bars([100 * s.share for s in largest], "%{x:.3g} % of the variance<br>%{customdata}")
    trace["customdata"] = [folded(f"{s.cause}; find out by: {s.measure}") for s in largest]
    rows = [(s.cause, f"{s.share:.1%}", f"x {s.left:.2f}", s.measure) for s in shares]
    says = "Shares of the variance: " + "; ".join(f"{s.cause} {s.share:.0%}" for s in largest)
    down = rows_axis([s.cause for s in largest])
    layout = {"yaxis": down, "xaxis": axis("share of the variance [%]", rangemode="tozero"), "height": height(down)}
    head = ("what", ">share", ">width if it were known", "how to find out")
    return Figure("Why the interval is wide", says, [trace], layout, Table(*head, rows=rows))


def _band(rates: Sequence[Interval]) -> Sequence[list[float]]:
    """Low, middle and high of each, in Gb/s."""
    return [[8e-9 * getattr(rate, level) for rate in rates] for level in ("p10", "p50", "p90")]


def measured(figures: Sequence[tuple[str, str, float, Interval]]) -> Figure | None:
    """Predictions with their intervals beside what was measured: (case, role, measured, predicted) [B/s]."""
    if not figures:
        return None
    places = list(range(len(figures)))
    low, middle, high = _band([i for *_, i in figures])
    within = spans("x", low, middle, high)
    interval = marks(f"predicted, {WITHIN} interval", middle, places, "predicted %{x:.4g} Gb/s", within)
    taken = [gbps(m) for _, _, m, _ in figures]
    dots = marks("measured", taken, places, "measured %{x:.4g} Gb/s", color=AMBER, size=12, symbol="diamond")
    rows = [
        (name, role, *(units.show(v, "B/s") for v in (m, i.p10, i.p50, i.p90)), f"{i.p50 / m - 1:+.1%}")
        for name, role, m, i in figures
    ]
    says = "; ".join(f"{r[0]}: measured {r[2]}, predicted {r[4]} ({r[3]} to {r[5]})" for r in rows)
    down = rows_axis([f[0] for f in figures])
    layout = {"yaxis": down, "xaxis": rate_axis(), "height": height(down, 120)}
    head = ("case", "role", ">measured", *HEADS, ">error")
    return Figure("Measured beside predicted", says, [interval, dots], layout, Table(*head, rows=rows))


def plane(grid: Grid, rows: str, columns: str) -> Figure | None:
    """Throughput over two things as a heat map, the path's own point in it; None where they cannot be varied.

    Args:
        grid: The path with some things varied.
        rows: Key that varies from row to row.
        columns: Key that varies from column to column.
    """
    crossing = grid.plane(rows, columns)
    if crossing is None:
        return None
    down, across, table = crossing
    rates = [[gbps(v) for v in row] for row in table]
    most = max((v for row in rates for v in row if v is not None), default=1.0)
    drawn = heat(
        rates, "Gb/s", "%{z:.4g} Gb/s", zmin=0, zmax=most,
        texttemplate="%{z:.3g}", textfont={"size": 12}, xgap=2, ygap=2,
    )  # fmt: skip
    frame: Trace = {"symbol": "square-open", "size": 44, "color": "#ff4f43", "line": {"width": 3}}
    point = marks("", [across.own], [down.own], **frame)
    axes = {"xaxis": _labelled(across), "yaxis": _labelled(down)}
    layout = {**axes, "height": 120 + 52 * len(down.labels), "showlegend": False}
    head = (f"{down.title} / {across.title}", *(f">{text}" for text in across.labels))
    cells = [
        (down.labels[n], *("-" if v is None else units.show(v, "B/s") for v in row)) for n, row in enumerate(table)
    ]
    own_rate = table[down.own][across.own]
    says = (
        f"Throughput over {down.title} and {across.title}; the path is at {down.labels[down.own]} and "
        f"{across.labels[across.own]}, where it is {'unknown' if own_rate is None else units.show(own_rate, 'B/s')}"
    )
    title = f"Throughput over {down.title} and {across.title} (the frame: the path as it is)"
    return Figure(title, says, [drawn, point], layout, Table(*head, rows=cells))


def _labelled(varied: Axis) -> dict[str, Any]:
    ticks = {"tickvals": list(range(len(varied.labels))), "ticktext": [wrapped(text, 22) for text in varied.labels]}
    return axis(label(varied.title), **ticks, showgrid=False, zeroline=False)


def file_sizes(points: Sequence[tuple[float, float | None]], point: tuple[float, float] | None) -> Figure | None:
    """Throughput over the size of a file, with the path's own point (mean size [B], rate [B/s]) in it."""
    if not points:
        return None
    ticks = [size for size, _ in points]
    rates = [gbps(rate) for _, rate in points]
    traces = [line("equal files of this size", ticks, rates, "%{x:.3s}B files: %{y:.4g} Gb/s", marked=True)]
    if point is not None:
        look: Trace = {"color": AMBER, "size": 13, "symbol": "diamond"}
        mean = "the path as it is (mean size)"
        traces.append(marks(mean, [point[0]], [gbps(point[1])], "as it is: %{y:.4g} Gb/s", **look))
    shown = {"tickvals": ticks, "ticktext": [units.show(s, "B") for s in ticks], "tickangle": 0}
    layout = {
        "xaxis": axis("size of a file", type="log", **shown),
        "yaxis": {**rate_axis(), "type": "log", "dtick": 1, "rangemode": "normal"},
        "height": 380,
    }
    rows = [(units.show(s, "B"), "-" if r is None else units.show(r, "B/s")) for s, r in points]
    says = "; ".join(f"{size}: {rate}" for size, rate in rows)
    return Figure("Throughput over the size of a file", says, traces, layout, Table(">size", ">throughput", rows=rows))


def variants(comparison: Comparison) -> Figure:
    """Variants side by side, each with its interval."""
    rates = [v.prediction.throughput_Bps for v in comparison.variants]
    low, middle, high = _band(rates)
    down = rows_axis([v.name for v in comparison.variants])
    trace = bars(middle, "%{x:.4g} Gb/s") | spans("x", low, middle, high, color=AMBER)
    rows = [
        (v.name, *(units.show(r, "B/s") for r in v.prediction.throughput_Bps.as_dict().values()),
         units.show(v.prediction.duration_s.p50, "s"), v.prediction.bottleneck.station)
        for v in comparison.variants
    ]  # fmt: skip
    layout = {"yaxis": down, "xaxis": rate_axis(), "height": height(down)}
    says = "; ".join(f"{r[0]}: {r[2]} ({r[1]} to {r[3]})" for r in rows)
    head = ("variant", *HEADS, ">duration", "bottleneck")
    return Figure("Variants side by side", says, [trace], layout, Table(*head, rows=rows))


def scenarios(sweep: SweepResult) -> Figure:
    """Throughput over the first key, where that is a number, a line for each value of the second; else bars."""
    count, numbers, rows = len(sweep.keys), sweep.numbers(), []
    rates = [gbps(row[count]) for row in sweep.rows]
    for row in sweep.rows:
        refused = row[count] is None
        shown = ("-" if refused else units.show(row[n], "B/s") for n in (count + 5, count, count + 6))
        rows.append((*map(str, row[:count]), *shown, str(row[count + 4 if refused else count + 2])))
    layout: dict[str, Any] = {"yaxis": rows_axis([", ".join(row[:count]) for row in rows]), "xaxis": rate_axis()}
    traces = [bars(rates, "%{x:.4g} Gb/s")]
    if sweep.keys and sweep.keys[0] in numbers and count <= 2:
        names = (f"{sweep.keys[1]}={row[1]}" if count == 2 else "throughput" for row in sweep.rows)
        by_name = by_key(zip(names, zip(numbers[sweep.keys[0]], rates, strict=True), strict=True))
        traces = []
        for n, (name, points) in enumerate(by_name.items()):
            across, up = zip(*sorted(points, key=lambda point: point[0]), strict=True)
            tone = TONES[n % len(TONES)]
            traces.append(line(label(name), across, up, "%{x:.4g}: %{y:.4g} Gb/s", marked=True, color=tone))
        layout = {"xaxis": axis(f"{sweep.keys[0]} [SI]"), "yaxis": rate_axis(), "showlegend": len(traces) > 1}
    usable = [rate for rate in rates if rate is not None]
    says = f"{sweep.path}: {min(usable):.3g} to {max(usable):.3g} Gb/s" if usable else f"{sweep.path}: all refused"
    head = (*(f">{key}" for key in sweep.keys), *HEADS, "bottleneck")
    return Figure(f"Throughput of {sweep.path}", says, traces, layout, Table(*head, rows=rows))


def plan_steps(plan: Plan) -> Figure:
    """Now, what is free, and what is bought, each with its interval, against the line of the goal.

    Each step has the ones before it in it: gains are of all of them together.
    """
    steps = [("now", plan.now)]
    if plan.tuned is not plan.now:
        steps.append(("free", plan.tuned))
    if plan.best.options:
        steps.append((f"bought, {plan.best.price}", plan.best))
    stages = [s for _, s in steps]
    rates = [s.prediction.throughput_Bps for s in stages]
    low, middle, high = _band(rates)
    tones = [AMBER if s.probability >= plan.confidence else BLUE for s in stages]
    trace = bars(middle, "%{customdata}<br>%{x:.4g} Gb/s", color=tones) | spans("x", low, middle, high, color=GREY)
    trace["customdata"] = [folded(f"{s.name}: the goal is met with {s.probability:.0%}") for s in stages]
    base = max(plan.now.rate, 1e-300)
    rows = []
    for name, s in steps:
        shown = (units.show(v, "B/s", digits=3) for v in s.prediction.throughput_Bps.as_dict().values())
        gain, sets = f"x {s.rate / base:.2g}", "; ".join(f"--set {o}" for o in s.overrides)
        rows.append((name, s.name, sets, *shown, gain, f"{s.probability:.0%}"))
    target = units.show(plan.target_Bps, "B/s", digits=3)
    says = f"The goal is {target}. " + "; ".join(f"{r[0]}: {r[4]} ({r[3]} to {r[5]}), met with {r[7]}" for r in rows)
    down = rows_axis([name for name, _ in steps])
    layout = {"xaxis": rate_axis(), "yaxis": down, "height": height(down), **_goal(plan, "x")}
    head = ("step", "what", "set", *HEADS, ">of now", ">P(goal)")
    return Figure("Now, free, bought: against the goal", says, [trace], layout, Table(*head, rows=rows))


def _goal(plan: Plan, along: str) -> dict[str, Any]:
    """The goal as a line across a figure, where ``along`` is the axis of rates."""
    value, other = gbps(plan.target_Bps), "y" if along == "x" else "x"
    line_at = {f"{along}0": value, f"{along}1": value, f"{other}0": 0, f"{other}1": 1, f"{other}ref": "paper"}
    words = {along: value, other: 1, f"{other}ref": "paper", "text": "goal", "showarrow": False}
    words |= {"yanchor": "bottom"} if along == "x" else {"xanchor": "left"}  # beyond the figure's edge, over no mark
    return {"shapes": [{"type": "line", **line_at, "line": {"dash": "dash", "color": GREY}}], "annotations": [words]}


def plan_frontier(plan: Plan) -> Figure:
    """Price against throughput with its interval, the target as a line."""
    stages = [plan.now, *([plan.tuned] if plan.tuned is not plan.now else []), *plan.purchases[1:]]
    rates = [s.prediction.throughput_Bps for s in stages]
    low, middle, high = _band(rates)
    prices = [float(s.price.amount) for s in stages]
    tones, shapes = zip(*((AMBER, "diamond") if s is plan.chosen else (BLUE, "circle") for s in stages), strict=True)
    trace = line("", prices, middle, "%{customdata}<br>%{x:,.0f}: %{y:.4g} Gb/s", marked=True, shape="hv") | {
        "marker": {"size": 11, "color": list(tones), "symbol": list(shapes)},
        "customdata": [label(f"{s.name}, probability {s.probability:.0%}") for s in stages],
        **spans("y", low, middle, high),
    }
    most = max(*prices, 1.0)
    across = axis(f"price [{plan.now.price.currency}]", range=[-0.03 * most, 1.05 * most], tickformat=",")
    layout = {
        "xaxis": across,  # the first point whole, not cut in half by the axis
        "yaxis": rate_axis(),
        "height": 380,
        "margin": {"l": 10, "r": 44, "t": 16, "b": 10},
        **_goal(plan, "y"),
    }
    rows = []
    for s in stages:
        shown = (units.show(v, "B/s") for v in s.prediction.throughput_Bps.as_dict().values())
        price = str(s.price) if s.options else "nothing"
        rows.append((s.name, price, *shown, f"{s.probability:.0%}", s.prediction.bottleneck.station))
    says = "; ".join(f"{r[0]} for {r[1]}: {r[3]}, probability {r[5]}" for r in rows)
    head = ("what", ">price", *HEADS, ">P(target)", "then binds")
    return Figure("What money buys", says, [trace], layout, Table(*head, rows=rows))


def free_settings(plan: Plan) -> Table:
    """Settings that cost nothing."""
    base, table = plan.now.rate, Table("setting", ">alone", "taken", "command")
    for w in plan.wins:
        alone, taken = f"x {w.alone_Bps / base:.2g}" if base > 0 else "", "yes" if w.together else "not with the others"
        table.add_row(w.setting.what, alone, taken, "; ".join(w.setting.commands))
    return table
