"""A plan's figure: what money buys, and how sure it is then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dtnsim.ground import units
from dtnsim.report.page import Figure, label
from dtnsim.report.table import HEADS, Table
from dtnsim.report.traces import AMBER, BLUE, GREY, axis, bars, folded, gbps, height, line, rate_axis, rows_axis, spans

if TYPE_CHECKING:
    from dtnsim.planning.plan import Plan


def steps(plan: Plan) -> Figure:
    """Now, what is free, and what is bought, each with its interval, against the line of the goal.

    Each step has the ones before it in it: gains are of all of them together.
    """
    kept = [("now", plan.now)]
    if plan.tuned is not plan.now:
        kept.append(("free", plan.tuned))
    bought = plan.best if plan.best is not None and plan.best.options else None
    if bought is not None:
        kept.append((f"bought, {bought.price}", bought))
    stages = [s for _, s in kept]
    rates = [s.prediction.throughput_Bps for s in stages]
    low, middle, high = ([8e-9 * getattr(rate, at) for rate in rates] for at in ("p10", "p50", "p90"))
    tones = [AMBER if s.probability >= plan.confidence else BLUE for s in stages]
    trace = bars(middle, "%{customdata}<br>%{x:.4g} Gb/s", color=tones) | spans("x", low, middle, high, color=GREY)
    trace["customdata"] = [folded(f"{s.name}: the goal is met with {s.probability:.0%}") for s in stages]
    base = max(plan.now.rate, 1e-300)
    rows = [
        (
            name,
            s.name,
            "; ".join(f"--set {o}" for o in s.overrides),
            *(units.show(v, "B/s", digits=3) for v in s.prediction.throughput_Bps.as_dict().values()),
            f"x {s.rate / base:.2g}",
            f"{s.probability:.0%}",
        )
        for name, s in kept
    ]
    target = units.show(plan.target_Bps, "B/s", digits=3)
    says = f"The goal is {target}. " + "; ".join(f"{r[0]}: {r[4]} ({r[3]} to {r[5]}), met with {r[7]}" for r in rows)
    down = rows_axis([name for name, _ in kept])
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


def frontier(plan: Plan) -> Figure:
    """Price against throughput with its interval, the target as a line."""
    stages = [plan.now, *([plan.tuned] if plan.tuned is not plan.now else []), *plan.purchases[1:]]
    rates = [s.prediction.throughput_Bps for s in stages]
    low, middle, high = ([8e-9 * getattr(rate, at) for rate in rates] for at in ("p10", "p50", "p90"))
    trace = line(
        "",
        [float(s.price.amount) for s in stages],
        middle,
        "%{customdata}<br>%{x:,.0f}: %{y:.4g} Gb/s",
        marked=True,
        shape="hv",
    ) | {
        "marker": {
            "size": 11,
            "color": [AMBER if s is plan.chosen else BLUE for s in stages],
            "symbol": ["diamond" if s is plan.chosen else "circle" for s in stages],
        },
        "customdata": [label(f"{s.name}, probability {s.probability:.0%}") for s in stages],
        **spans("y", low, middle, high),
    }
    most = max(*trace["x"], 1.0)
    across = axis(f"price [{plan.now.price.currency}]", range=[-0.03 * most, 1.05 * most], tickformat=",")
    layout = {
        "xaxis": across,  # the first point whole, not cut in half by the axis
        "yaxis": rate_axis(),
        "height": 380,
        "margin": {"l": 10, "r": 44, "t": 16, "b": 10},
        **_goal(plan, "y"),
    }
    rows = [
        (
            s.name,
            str(s.price) if s.options else "nothing",
            *(units.show(v, "B/s") for v in s.prediction.throughput_Bps.as_dict().values()),
            f"{s.probability:.0%}",
            s.prediction.bottleneck.station,
        )
        for s in stages
    ]
    says = "; ".join(f"{r[0]} for {r[1]}: {r[3]}, probability {r[5]}" for r in rows)
    head = ("what", ">price", *HEADS, ">P(target)", "then binds")
    return Figure("What money buys", says, [trace], layout, Table(*head, rows=rows))


def free(plan: Plan) -> Table:
    """Settings that cost nothing."""
    base = plan.now.prediction.ceiling
    rows = [
        (
            w.setting.what,
            f"x {w.alone_Bps / base:.2g}" if base > 0 else "",
            "yes" if w.together else "not with the others",
            "; ".join(w.setting.commands),
        )
        for w in plan.wins
    ]
    return Table("setting", ">alone", "taken", "command", rows=rows)
