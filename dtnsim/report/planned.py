"""A plan's figure: what money buys, and how sure it is then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dtnsim.ground import units
from dtnsim.report.page import Figure, Table, label
from dtnsim.report.traces import AMBER, BLUE, axis, gbps, line, rate_axis, spans

if TYPE_CHECKING:
    from dtnsim.planning.plan import Plan


def frontier(plan: Plan) -> Figure:
    """Price against throughput with its interval, the target as a line."""
    stages = [plan.now, *([plan.tuned] if plan.tuned is not plan.now else []), *plan.purchases[1:]]
    rates = [s.prediction.throughput_Bps for s in stages]
    low, middle, high = ([8e-9 * getattr(rate, at) for rate in rates] for at in ("p10", "p50", "p90"))
    trace = line(
        "",
        [s.price.amount for s in stages],
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
    target = gbps(plan.target_Bps)
    currency = plan.now.price.currency
    layout = {
        "xaxis": axis(f"price [{currency}]", rangemode="tozero"),
        "yaxis": rate_axis(),
        "height": 380,
        "shapes": [
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": target, "y1": target,
             "line": {"dash": "dash", "color": AMBER}}
        ],
        "annotations": [
            {"xref": "paper", "x": 1, "y": target, "text": "target", "showarrow": False, "yanchor": "bottom"}
        ],
    }  # fmt: skip
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
    head = ("what", "price", "p10", "p50", "p90", "P(target)", "then binds")
    return Figure("What money buys", says, [trace], layout, Table(head, rows, frozenset({1, 2, 3, 4, 5})))


def free(plan: Plan) -> Table:
    """Settings that cost nothing."""
    base = plan.now.prediction.ceiling
    rows = [
        (
            w.setting.what,
            f"{w.alone_Bps / base - 1:+.1%}" if base > 0 else "",
            "yes" if w.together else "not with the others",
            "; ".join(w.setting.commands),
        )
        for w in plan.wins
    ]
    return Table(("setting", "alone", "taken", "command"), rows, frozenset({1}))
