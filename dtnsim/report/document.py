"""The JSON documents: versioned, SI units in the key names."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim import __version__
from dtnsim.ground.output import fields, number
from dtnsim.ground.records import Demand, Interval, Prediction, Problem, Station, StationUse, TransferPrediction
from dtnsim.steady.ladder import SHOWN

if TYPE_CHECKING:
    from dtnsim.composition.resolved_transfer import Way
    from dtnsim.ground.uncertainty import Assumption
    from dtnsim.steady.breakdown import Step
    from dtnsim.steady.goals import Goal
    from dtnsim.steady.why_wide import Share

PREDICTION: Final = "dtnsim.prediction/1"
EXPLANATION: Final = "dtnsim.explanation/1"


def quantiles(values: Iterable[object]) -> dict[str, float | None]:
    """p10, p50 and p90."""
    return dict(zip(("p10", "p50", "p90"), map(number, values), strict=True))


def _times(i: Interval) -> dict[str, float | None]:
    return quantiles(i.as_dict().values())


def prediction_document(p: Prediction) -> dict[str, Any]:
    """The document of ``dtnsim predict --json``."""
    return {
        "schema": PREDICTION,
        "name": p.name,
        "throughput_Bps": p.throughput_Bps.as_dict(),
        "ceiling_Bps": p.ceiling,
        "scenarios": 0 if p.drawn is None else len(p.drawn.rates_Bps),
        "unstated": list(p.unstated),
        "duration_s": _times(p.duration_s),
        "bottleneck": p.bottleneck.as_dict(),
        "stations": [_station(u) for u in p.stations],
        "ladder": _ladder(p.transfers[0]),
        "transfers": [_transfer(t, climb=n == 0 or len(p.transfers) <= SHOWN) for n, t in enumerate(p.transfers)],
        "warnings": list(p.warnings),
        "assumed": assumptions(p.assumed),
        "versions": {"dtnsim": __version__, "Python": platform.python_version(), "numpy": np.__version__},
    }


def assumptions(found: Sequence[Assumption]) -> list[dict[str, Any]]:
    """Numbers that nobody wrote and that move the answer; one of another usual value has that twice."""
    return [
        fields(a, "key", "value", p10="low", p90="high", throughput_at_p10="at_low", throughput_at_p90="at_high")
        | {"source": a.source}
        for a in found
    ]


def goals_document(p: Prediction, goals: Sequence[Goal]) -> list[dict[str, Any]]:
    """Goals with their probabilities."""
    return [
        {
            "goal": g.kind,
            ("throughput_Bps" if g.kind == "target" else "duration_s"): g.value,
            "probability": g.probability(p),
            "required": g.required,
            "met": g.fits(p),
        }
        for g in goals
    ]


def shares_document(shares: Sequence[Share]) -> list[dict[str, Any]]:
    """What makes an interval wide."""
    return [{"name": s.name, "share": s.share, "width_left": s.left, "measure": s.measure} for s in shares]


def _transfer(t: TransferPrediction, *, climb: bool) -> dict[str, Any]:
    return {
        **fields(t, "name", "files", "payload_B"),
        "throughput_Bps": t.throughput_Bps.as_dict(),
        "ceiling_Bps": t.ceiling,
        "duration_s": _times(t.duration_s),
        "on_medium_s": _times(t.on_medium_s or t.duration_s),
        "sender_Bps": number(t.sender_Bps) if t.sender_Bps is not None else None,
        "rate_while_all_run_Bps": number(t.all_run_Bps),
        "bottleneck": t.bottleneck.as_dict(),
        "ladder": _ladder(t) if climb else [],
    }


def _ladder(t: TransferPrediction) -> list[dict[str, Any]]:
    names = ("station", "throughput_Bps", "reason", "remedy")
    return [fields(r, *names) | {"set": list(r.overrides)} for r in t.ladder]


def _station(u: StationUse) -> dict[str, Any]:
    s = u.station
    used = {"demand_per_byte": number(u.demand_per_byte), "utilization": u.utilization}
    return {"station": s.name, **fields(s, "component", "host", "kind"), **_capacity(s), **used}


def _capacity(s: Station) -> dict[str, Any]:
    return {"capacity": number(s.capacity), "unit": f"{s.unit}/s"}


def explanation_document(p: Prediction, ways: Sequence[Way] = (), steps: Sequence[Step] = ()) -> dict[str, Any]:
    """The document of ``dtnsim explain --json``: capacities and demands that recompute the ceiling, and the median.

    Args:
        p: The prediction.
        ways: Ways of its transfers through the graph.
        steps: Steps from the ceiling to the median.
    """
    problem: Problem = p.problem
    units = {s.name: s.unit for s in problem.stations}
    return {
        "schema": EXPLANATION,
        "name": p.name,
        "throughput_Bps": p.throughput_Bps.p50,
        "ceiling_Bps": p.ceiling,
        "steps": [fields(s, "what", "change_Bps", "median_Bps") for s in steps],
        "bottleneck": p.bottleneck.as_dict(),
        "stations": [
            {
                "station": s.name,
                **fields(s, "host", "component", "kind"),
                **_capacity(s),
                **fields(s, "formula", "source"),
            }
            for s in problem.stations
        ],
        "transfers": [
            {
                "name": t.name,
                "throughput_Bps": answer.throughput_Bps.p50,
                "ceiling_Bps": answer.ceiling,
                **fields(t, "workers", "files", "payload_B"),
                "phases": [{"phase": p.name, "demands": [_demand(d, units) for d in p.demands]} for p in t.phases],
            }
            for t, answer in zip(problem.transfers, p.transfers, strict=True)
        ],
        "ways": [
            {"transfer": w.transfer, "nodes": list(w.nodes), "single_points_of_failure": list(w.single_points)}
            | {"narrowest_cut": {"nodes": list(w.cut.nodes), "rate_Bps": number(w.cut.rate_Bps)}}
            for w in ways
        ],
        "warnings": list(p.warnings),
    }


def _demand(d: Demand, unit: dict[str, str]) -> dict[str, Any]:
    cost = {"station": d.station, "per_byte": number(d.per_byte), "unit": f"{unit[d.station]}/B"}
    return cost | fields(d, "what", "formula", "source")
