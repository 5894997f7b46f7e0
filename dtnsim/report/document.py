"""The JSON documents: versioned, SI units in the key names; what changed since one that was kept."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim import __version__
from dtnsim.ground import units, yamlio
from dtnsim.ground.errors import InputError
from dtnsim.ground.output import fields, number
from dtnsim.ground.records import Demand, Prediction, Problem, Station, StationUse, TransferPrediction
from dtnsim.ground.uncertainty import Interval
from dtnsim.steady.ladder import SHOWN

if TYPE_CHECKING:
    from dtnsim.composition.resolved_transfer import Way
    from dtnsim.ground.uncertainty import Assumption
    from dtnsim.steady.breakdown import Step
    from dtnsim.steady.goals import Goal
    from dtnsim.steady.why_wide import Share

PREDICTION: Final = "dtnsim.prediction/1"
EXPLANATION: Final = "dtnsim.explanation/1"
#: a number that differs by less than this is the same, and stations that are named
_SAME: Final = 0.005
_MOST: Final = 6


def quantiles(values: Iterable[object]) -> dict[str, float | None]:
    """Three quantiles under their keys ``p10``, ``p50`` and ``p90``, whatever `LEVELS` are."""
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
        "ladder": _ladder(p.longest),
        "transfers": [_transfer(t, climb=n == 0 or len(p.transfers) <= SHOWN) for n, t in enumerate(p.transfers)],
        "warnings": list(p.warnings),
        "assumed": assumptions(p.assumed),
        "versions": {"dtnsim": __version__, "Python": platform.python_version(), "numpy": np.__version__},
    }


def assumptions(assumed: Sequence[Assumption]) -> list[dict[str, Any]]:
    """Numbers that nobody wrote and that move the answer; one of another usual value has that twice."""
    return [
        fields(a, "key", "value", p10="low", p90="high", throughput_at_p10="at_low", throughput_at_p90="at_high")
        | {"source": a.source}
        for a in assumed
    ]


def goals_document(p: Prediction, goals: Sequence[Goal]) -> list[dict[str, Any]]:
    """Goals with their probabilities."""
    return [
        {"goal": g.kind, ("throughput_Bps" if g.kind == "target" else "duration_s"): g.value}
        | {"probability": g.probability(p), "required": g.required, "met": g.fits(p)}
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
    """The document of ``dtnsim explain --json``: capacities and demands that recompute the ceiling, and the median."""
    problem: Problem = p.problem
    unit = {s.name: s.unit for s in problem.stations}
    return {
        "schema": EXPLANATION,
        "name": p.name,
        "throughput_Bps": p.throughput_Bps.p50,
        "ceiling_Bps": p.ceiling,
        "steps": [fields(s, "what", "change_Bps", "median_Bps") for s in steps],
        "bottleneck": p.bottleneck.as_dict(),
        "stations": [
            {"station": s.name} | fields(s, "host", "component", "kind") | _capacity(s) | fields(s, "formula", "source")
            for s in problem.stations
        ],
        "transfers": [
            {"name": t.name, "throughput_Bps": answer.throughput_Bps.p50, "ceiling_Bps": answer.ceiling}
            | fields(t, "workers", "files", "payload_B")
            | {"phases": [{"phase": p.name, "demands": [_demand(d, unit) for d in p.demands]} for p in t.phases]}
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


def read_prediction(file: str) -> dict[str, Any]:
    """A document that ``dtnsim predict --json`` has written."""
    try:
        read = json.loads(yamlio.decoded(Path(file).read_bytes()))
    except OSError as error:
        raise InputError(f"--against: {file} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"--against: {file} is no JSON; give what 'dtnsim predict PATH --json' has written") from None
    if not isinstance(read, dict) or read.get("schema") != PREDICTION:
        schema = read.get("schema") if isinstance(read, dict) else None
        raise InputError(f"--against: {file} is {schema or 'no document'}; give what 'predict PATH --json' has written")
    return read


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Sentences on what changed from one prediction's document to another's, the answer first, then why."""
    why = [*_stations(old, new), *_assumed(old, new), *_versions(old, new)]
    answer = [*_answer(old, new)]
    if not answer:
        answer = ["the answer is what it was"]
    elif not why:
        why = ["no station, assumption or version differs: the draws do (--seed, --samples), or the model's own error"]
    return [*answer, *why]


def _answer(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    if old["name"] != new["name"]:
        yield f"another path: {old['name']} then, {new['name']} now"
    was, now = old["throughput_Bps"], new["throughput_Bps"]
    if any(_differs(was[k], now[k]) for k in ("p10", "p50", "p90")):
        factor = f": x {now['p50'] / was['p50']:.3g}" if was["p50"] > 0 else ""
        yield f"throughput was {_rates(was)}, is {_rates(now)}{factor}"
    before, after = old["bottleneck"], new["bottleneck"]
    if before["station"] != after["station"]:
        yield f"it was held by {before['station']}, it is held by {after['station']}: {after['reason']}"


def _rates(levels: dict[str, float]) -> str:
    low, middle, high = (units.show(levels[k], "B/s", digits=3) for k in ("p10", "p50", "p90"))
    return f"{middle} ({low} to {high})"


def _stations(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Stations that are new, gone, or of another capacity or demand, those used most first."""
    before, after = ({s["station"]: s for s in d["stations"]} for d in (old, new))
    entries = []
    for name in {**after, **before}:
        was, now = before.get(name), after.get(name)
        use = max(s["utilization"] for s in (was, now) if s is not None)
        if was is None or now is None:
            entries.append((use, f"{name} is {'new' if was is None else 'gone'}"))
            continue
        diffs = [
            f"{words} {was[key]:.4g} -> {now[key]:.4g} {now['unit'].removesuffix('/s')}{per}"
            for key, words, per in (("capacity", "capacity", "/s"), ("demand_per_byte", "a byte costs", ""))
            if _differs(was[key], now[key])
        ]
        if diffs:
            entries.append((use, f"{name}: {', '.join(diffs)}"))
    entries.sort(key=lambda entry: -entry[0])
    yield from (words for _, words in entries[:_MOST])
    if len(entries) > _MOST:
        yield f"and {len(entries) - _MOST} more stations, which are used less"


def _assumed(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    before, after = ({a["key"]: a["value"] for a in d.get("assumed", ())} for d in (old, new))
    for key in {**before, **after}:
        if key not in after:
            yield f"{key} is stated now, or matters no more: {before[key]} was assumed"
        elif key not in before:
            yield f"{key} matters now: {after[key]} is assumed"
        elif before[key] != after[key]:
            yield f"{key} was assumed {before[key]}, is assumed {after[key]}"


def _versions(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    before, after = (d.get("versions") or {} for d in (old, new))
    for name in after:
        if before.get(name) != after[name]:
            yield f"{name} was {before.get(name, 'not noted')}, is {after[name]}"


def _differs(was: float | None, now: float | None) -> bool:
    if was is None or now is None:
        return was is not now
    return abs(now - was) > _SAME * max(abs(was), abs(now))
