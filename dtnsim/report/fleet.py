"""A fleet as a page for an operations manager, as a JSON document, and as tables of transfers and of use by hour."""

import datetime as dt
import math
import re
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from dtnsim.description import calendar
from dtnsim.description.workload import YEAR_S
from dtnsim.ground import units
from dtnsim.ground.grouping import by_key
from dtnsim.ground.output import fields, number
from dtnsim.ground.quantity import Draw
from dtnsim.ground.uncertainty import NAMES, often
from dtnsim.report.document import quantiles
from dtnsim.report.table import Out, Table
from dtnsim.simulation.fleet.answers import HORIZON, QUANTILES, Group
from dtnsim.simulation.fleet.run import FleetAnswer, spread

SCHEMA: Final = "dtnsim.fleet/1"
_ROWS: Final = 8  #: rows of each table of the page
_MOST: Final = 400  #: stations, pairs and events in the document; the rest is in the tables
#: what holds transfers less than that part of their time is not named
_WORTH: Final = 0.001
_NAMES: Final = tuple(f"p{round(100 * q)}" for q in QUANTILES)
#: runs from which percentiles are told, and growths that are drawn
ENOUGH: Final = 8
_GROWTHS: Final = 256
#: how busy a station is -> what says so
_BUSY: Final = {"utilization_busy_hour": "busy", "utilization_busy_day": "busy_day"}
DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
#: shades of a utilisation in the map of the week
_SHADES: Final = " .:-=+*#%@"


def document(a: FleetAnswer) -> dict[str, Any]:
    """The document of ``dtnsim fleet --json``."""
    first = a.runs[0]
    return {
        "schema": SCHEMA,
        "name": a.name,
        "replicas": len(a.runs),
        "complete": a.complete,
        "span_s": a.workload.span.value,
        "end_s": number(first.end_s),
        "events": first.events,
        "total": _group(a, len(first.groups) - 1),
        "classes": [_group(a, n) for n in range(len(first.groups) - 1)],
        "pairs": [_plain(p) for p in sorted(first.pairs, key=lambda p: -p.size_B)[:_MOST]],
        "promises": [_promise(a, n) for n in range(len(first.promises))],
        "upgrades": [_due(a, name) for name in _order(a)],
        "stations": [
            fields(s, station="name", utilization_mean="mean", **_BUSY, utilization_peak_hour="peak")
            | {"by_hour_of_week": [round(v, 4) for v in s.of_week], "by_week": [round(v, 4) for v in s.weeks]}
            for s in first.stations[:_MOST]
        ],
        "stations_left_out": max(len(first.stations) - _MOST, 0),
        "held_s": {name: dict(list(stations.items())[:_MOST]) for name, stations in first.held_s.items()},
        "outages": {name: {"count": n, "seconds": s} for name, (n, s) in list(first.outages.items())[:_MOST]},
        "happened": [{"time_s": t, "what": event} for t, event in first.happened[:_MOST]],
        "warnings": list(a.warnings),
    }


def _plain(g: Group) -> dict[str, Any]:
    counts = fields(g, "asked", "done", "failed", "open", "size_B", "moved_B", "resent_B", "corrupted", "unnoticed")
    late = fields(g, "retries", deadlines="with_deadline", deadlines_missed="missed")
    times = {key: dict(zip(_NAMES, map(number, getattr(g, key)), strict=True)) for key in ("completion_s", "slowdown")}
    named = {"class": g.name, "from": g.source, "to": g.target}
    return {**named, **counts, **late, "waited_s_mean": number(g.waited_s), **times}


def _group(a: FleetAnswer, n: int) -> dict[str, Any]:
    """A class in the first run, and how it varies over the replicas."""
    group = _plain(a.runs[0].groups[n])
    every = [r.groups[n] for r in a.runs]
    if len(every) > 1:
        group["over_replicas"] = {
            "completion_s": {k: _over([g.completion_s[i] for g in every]) for i, k in enumerate(_NAMES)},
            "slowdown": {k: _over([g.slowdown[i] for g in every]) for i, k in enumerate(_NAMES)},
            "deadlines_missed": _over([float(g.missed) for g in every]),
            "resent_B": _over([g.resent_B for g in every]),
        }
    return group


def _over(values: list[float]) -> dict[str, float | None]:
    return quantiles(_quantiles(values))


def _years(a: FleetAnswer, name: str) -> tuple[float, float, float]:
    """When a station is due, over the runs [years]."""
    return _quantiles([next((s.due_years for s in run.stations if s.name == name), math.inf) for run in a.runs])


def _quantiles(values: list[float]) -> tuple[float, float, float]:
    """p10, p50 and p90 of runs; of too few of them the median alone."""
    low, middle, high = spread(values)
    return (low, middle, high) if len(values) >= ENOUGH else (math.nan, middle, math.nan)


def _broken(a: FleetAnswer, n: int, field: str) -> tuple[float, float, float]:
    """When a promise of a class breaks, over the runs and its growth as it is drawn [years].

    Demand multiplies by the same factor whatever its growth is: twice the logarithm, half of the time.
    """
    kind = a.workload.classes[a.runs[0].promises[n].name]
    growth = kind.growth or a.workload.growth
    years = np.array([getattr(run.promises[n], field) for run in a.runs], float)  # None is nan
    drawn = np.asarray(Draw(_GROWTHS, 1)(growth)) if growth.spread else np.array([growth.value])
    faster = np.log1p(growth.value) / np.log1p(np.maximum(drawn, 1e-6))
    later = (years[:, None] * np.where(years[:, None] > 0, faster[None, :], 1.0)).ravel()
    return _quantiles([math.inf if y > HORIZON else y for y in later.tolist()])


def _promise(a: FleetAnswer, n: int) -> dict[str, Any]:
    promise: dict[str, Any] = {"class": a.runs[0].promises[n].name, "held_by": a.runs[0].promises[n].held}
    for key, field in (("first_missed", "missed_years"), ("p95_doubled", "doubled_years")):
        years = _broken(a, n, field)
        promise[f"{key}_years"] = quantiles(years)
        promise[f"{key}_date"] = _dates(a, years)
    return promise


def _order(a: FleetAnswer) -> list[str]:
    """Stations that are due within the horizon in most runs, the first ones first."""
    due = [(years[1], s.name) for s in a.runs[0].stations[:_MOST] if math.isfinite((years := _years(a, s.name))[1])]
    return [name for _, name in sorted(due)]


def _due(a: FleetAnswer, name: str) -> dict[str, Any]:
    years = _years(a, name)
    first = next(s for s in a.runs[0].stations if s.name == name)
    full = fields(a.workload, full_at="full.value", full_over="full_over")
    due = {"due_years": quantiles(years), "due_date": _dates(a, years)}
    return {"station": name, **full, **fields(first, **_BUSY), **due}


def _date(a: FleetAnswer, years: float) -> str | None:
    """The month in which something is due."""
    if not math.isfinite(years):
        return None
    return f"{calendar.date(a.workload.date) + dt.timedelta(seconds=years * YEAR_S):%Y-%m}"


def _dates(a: FleetAnswer, years: Iterable[float]) -> dict[str, str | None]:
    """Those months, for JSON."""
    return dict(zip(("p10", "p50", "p90"), (_date(a, y) for y in years), strict=True))


# -- the page ------------------------------------------------------------------------------------


def show(a: FleetAnswer, out: Out) -> None:
    """Prints the page: completion first, then deadlines, what held whom, what failed, what is due when."""
    first, total = a.runs[0], a.runs[0].total
    stopped = "" if first.complete else f"  (stopped after {units.show(first.end_s, 's')}: what was done by then)"
    out.print(stopped, title=a.name)
    span = units.show(first.end_s, "s")
    daily = units.show(total.size_B / max(first.end_s, 1e-9) * 86400, "B")
    runs = f"; {len(a.runs)} of {a.wanted} runs, the first one shown" if a.wanted > 1 else ""
    moved = f"{total.asked:,} transfer{'s' * (total.asked != 1)}, {units.show(total.size_B, 'B')}"
    out.print(f"{moved} in {span}: {daily} a day, growing {a.workload.growth.value:.0%} a year{runs}")
    for line in promised(a):
        out.print(line)
    out.print()
    _completion(a, out)
    _upgrades(a, out)
    out.print()
    out.print(held_table(a))
    _failures(a, out)
    _week(a, out)
    out.warn(a.warnings)


def _completion(a: FleetAnswer, out: Out) -> None:
    first, quantile = a.runs[0], (">p95", ">p99")
    head = ("class", ">done", ">open", ">failed", ">bytes", ">completion p50", *quantile, ">slowdown p50", *quantile)
    rows = Table(*head, ">deadlines missed", ">resent")
    for g in first.groups:
        counts = (f"{n:,}" for n in (g.done, g.open, g.failed))
        times = (units.show(v, "s") if math.isfinite(v) else "" for v in g.completion_s)
        slower = (f"{v:.3g}" if math.isfinite(v) else "" for v in g.slowdown)
        late = f"{g.missed:,} of {g.with_deadline:,}" if g.with_deadline else ""
        again = units.show(g.resent_B, "B") if g.resent_B else "0 B"
        rows.add_row(g.name or "all", *counts, units.show(g.size_B, "B"), *times, *slower, late, again)
    out.print(rows)
    if len(a.runs) >= ENOUGH:
        for n, g in enumerate(first.groups):
            low, middle, high = spread([r.groups[n].completion_s[1] for r in a.runs])
            if math.isfinite(middle):
                early, half, late = (units.show(v, "s") for v in (low, middle, high))
                span = f"{early} to {late} ({NAMES[0]} to {NAMES[2]}), median {half}"
                out.print(f"{g.name or 'all'}: p95 of completion over the runs {span}")
    total = first.total
    if total.corrupted:
        s = "s" if total.corrupted > 1 else ""
        out.print(f"{total.corrupted:,} file{s} arrived damaged, found by verification, and sent again")
    if total.unnoticed:
        s = "s are" if total.unnoticed > 1 else " is"
        out.print(f"{total.unnoticed:,} file{s} damaged without anybody noticing: their tools compare no checksums")
    worst = sorted((p for p in first.pairs if math.isfinite(p.slowdown[1])), key=lambda p: -p.slowdown[1])
    if len(first.pairs) > 1 and worst and worst[0].slowdown[1] > 1.05:
        p = worst[0]
        took = f"p95 {units.show(p.completion_s[1], 's')}, {p.slowdown[1]:.3g} times what it takes alone"
        out.print(f"slowest pair: {p.name} from {p.source} to {p.target}, {took}")


def promised(a: FleetAnswer) -> list[str]:
    """For each class when its first deadline is missed, and when it takes twice as long, in weeks without failures."""
    lines = []
    for n, promise in enumerate(a.runs[0].promises):
        missed, doubled = (_broken(a, n, field) for field in ("missed_years", "doubled_years"))
        years = missed[1] if math.isfinite(missed[1]) else doubled[1]
        deadline = "" if math.isnan(missed[1]) else f"first missed deadline {_between(a, missed)}; "
        lines.append(f"{promise.name}: {deadline}p95 doubled {_between(a, doubled)}{_remedy(a, n, years)}")
    return lines


def _between(a: FleetAnswer, years: tuple[float, float, float]) -> str:
    low, middle, high = years
    if not math.isfinite(low) or not math.isfinite(middle) or low == high:
        return _when(a, middle)
    until = f"{_date(a, high)}" if math.isfinite(high) else f"beyond {HORIZON:g} years"
    return f"{_when(a, middle)}, {often()}: {_date(a, low)} to {until}"


def _remedy(a: FleetAnswer, n: int, years: float) -> str:
    """What holds a class when its promise breaks, what relieves it, and how much more of it lasts to the horizon."""
    promise, remedies = a.runs[0].promises[n], dict(a.remedies)
    if not promise.held or not math.isfinite(years):
        return ""
    growth = (a.workload.classes[promise.name].growth or a.workload.growth).value
    more = f"; {(1 + growth) ** (HORIZON - years):.2g} times its capacity would last {HORIZON:g} years"
    buy = f", {remedies[promise.held]}" if remedies.get(promise.held) else ""
    return f" ({kind(promise.held)} holds it then{buy}{more if promise.held in remedies else ''})"


def _upgrades(a: FleetAnswer, out: Out) -> None:
    table, kinds = due(a)
    out.print()
    if table is None:
        mark = f"{a.workload.full.value:.0%} in its busy {a.workload.full_over}"
        out.print(f"upgrades: no station passes {mark} within {HORIZON:g} years")
        return
    out.print(table)
    out.print("busy day, busy hour: what a day, an hour in twenty exceeds; peak: the fullest hour")
    if kinds > _ROWS:
        out.print(f"and {kinds - _ROWS} more kinds of stations within {HORIZON:g} years")


def due(a: FleetAnswer) -> tuple[Table | None, int]:
    """(stations that are due within the horizon, those that are alike in one row; kinds of them)."""
    several, rows = len(a.runs) >= ENOUGH, []
    mark = f">busy {a.workload.full_over} passes {a.workload.full.value:.0%}"
    ends = (f">earliest ({NAMES[0]})", f">latest ({NAMES[2]})") if several else ()
    head = ("due for an upgrade", mark, *ends, ">busy day", ">busy hour", ">peak", ">mean")
    by_name = {s.name: s for s in a.runs[0].stations}
    alike = by_key((kind(name), name) for name in _order(a))
    for names in list(alike.values())[:_ROWS]:
        low, middle, high = _years(a, names[0])
        shown = [_when(a, middle)] + ([_when(a, low), _when(a, high)] if several else [])
        s = by_name[names[0]]
        more = f" and {len(names) - 1} like it" if len(names) > 1 else ""
        rows.append((names[0] + more, *shown, *(f"{v:.1%}" for v in (s.busy_day, s.busy, s.peak, s.mean))))
    return (Table(*head, rows=rows) if rows else None), len(alike)


def kind(name: str) -> str:
    """What equal stations of numbered hosts have in common in their names."""
    host, dot, rest = name.partition(".")
    return re.sub(r"\d+", "*", host) + dot + rest


def _when(a: FleetAnswer, years: float) -> str:
    if not math.isfinite(years):
        return f"not in {HORIZON:g} years"
    return "now" if years == 0 else f"{_date(a, years)} (in {years:.1f} years)"


def held_table(a: FleetAnswer) -> Table:
    """What held the transfers of each class, and for how long."""
    rows = []
    for name, stations in a.runs[0].held_s.items():
        total = max(sum(stations.values()), 1e-300)
        shown = [(station, seconds) for station, seconds in stations.items() if seconds / total >= _WORTH][:_ROWS]
        for n, (station, seconds) in enumerate(shown):
            first = name if n == 0 else ""
            rows.append((first, station.removeprefix(f"{name}: "), f"{seconds / total:.1%}", units.show(seconds, "s")))
    return Table("class", "held by", ">share of its time", ">in all", rows=rows)


def _failures(a: FleetAnswer, out: Out) -> None:
    outages = sorted(a.runs[0].outages.items(), key=lambda item: -item[1][1])
    if not outages:
        return
    total = a.runs[0].total
    out.print()
    rows = Table("what was down", ">times", ">in all")
    parts = ((name.partition(":")[::2], down) for name, down in outages)
    together = by_key((kind(name) + word, (name, word, down)) for (name, word), down in parts)
    for each in list(together.values())[:_ROWS]:
        name, word, _ = each[0]
        more = f" and {len(each) - 1} like it" if len(each) > 1 else ""
        count, seconds = (sum(down[k] for *_, down in each) for k in (0, 1))
        rows.add_row(f"{name}{more}:{word}", str(count), units.show(seconds, "s"))
    out.print(rows)
    if len(together) > _ROWS:
        out.print(f"and {len(together) - _ROWS} more kinds")
    times = "once" if total.retries == 1 else f"{total.retries:,} times"
    again = units.show(total.resent_B, "B") if total.resent_B else "nothing"
    out.print(f"transfers were broken off {times}; {again} moved again; {total.failed:,} given up")


def _week(a: FleetAnswer, out: Out) -> None:
    """The week of the station that is due first, hour by hour."""
    stations = a.runs[0].stations
    if not stations or not stations[0].of_week:
        return
    s = max(stations[:_ROWS], key=lambda s: s.busy)
    top = max(*s.of_week, 1e-12)
    out.print()
    out.print(f"the week of {s.name}, mean of each hour ('{_SHADES[-1]}' is {top:.1%})")
    for day, label in enumerate(DAYS):
        hours = s.of_week[24 * day : 24 * day + 24]
        line = "".join(_SHADES[min(int(v / top * (len(_SHADES) - 1) + 0.5), len(_SHADES) - 1)] * 2 for v in hours)
        out.print(f"{label} |{line}|")
    out.print("    |" + "".join(f"{h:<6d}" for h in range(0, 24, 3)) + "|")
