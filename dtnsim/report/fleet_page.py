"""A fleet's figures (completion by class, use by hour of the week and over the year, what is due) and its tables."""

import math
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.description import calendar
from dtnsim.ground import output, units
from dtnsim.ground.errors import InputError
from dtnsim.ground.grouping import by_key
from dtnsim.report import fleet
from dtnsim.report.page import Figure
from dtnsim.report.table import Table
from dtnsim.report.traces import LEGEND, TONES, axis, heat, height, line, quantiles, rows_axis, wrapped
from dtnsim.simulation.fleet.answers import used
from dtnsim.simulation.fleet.build import ReadyFleet
from dtnsim.simulation.fleet.run import FleetAnswer
from dtnsim.simulation.fleet.traffic import HOUR_S

#: stations in the maps, and curves over the weeks; those that are used less in every hour of the week are told in words
STATIONS: Final = 16
CURVES: Final = 6
IDLE: Final = 0.1
_WEEK: Final = 168
_STATES: Final = ("not yet asked for", "queued", "under way", "backing off", "done", "failed")


def figures(a: FleetAnswer) -> list[Figure]:
    """All figures of a fleet."""
    document = fleet.document(a)
    fullest = _fullest(document["stations"])
    busy = [s for n, s in enumerate(fullest) if not n or _top(s) >= IDLE]
    charts = [_completion(document["classes"]), _week(busy, _hours_seen(a)), _weeks(busy[:CURVES])]
    return [f for f in charts if f is not None]


def idle(a: FleetAnswer) -> str:
    """What the maps leave out, in a sentence."""
    unused = [s for s in _fullest(fleet.document(a)["stations"])[1:] if _top(s) < IDLE]
    if not unused:
        return ""
    most = max(unused, key=_top)
    highest = f"at most {_top(most):.1%} in any hour ({most['station']})"
    return f"{len(unused)} other kinds of stations are not drawn: {highest}."


def _top(station: dict[str, Any]) -> float:
    """Use in the busiest hour of the week."""
    return max(station["by_hour_of_week"], default=0.0)


def _hours_seen(a: FleetAnswer) -> set[int]:
    """Hours of the week that the span has: a shorter one says nothing of the others."""
    hours = np.arange(min(math.ceil(a.runs[0].end_s / HOUR_S), _WEEK), dtype=np.float64) * HOUR_S
    return set((calendar.of_week(hours, calendar.date(a.workload.date)) // HOUR_S).astype(int).tolist())


def tables(a: FleetAnswer) -> list[tuple[str, Table]]:
    """(caption, table) of classes, of what is due, and of outages."""
    document = fleet.document(a)
    head = (">asked", ">done", ">failed", ">open", ">moved", ">moved in vain", ">retries", ">deadlines", ">missed")
    rows = [
        (
            c["class"] or "all",
            *(f"{c[k]:,}" for k in ("asked", "done", "failed", "open")),
            *(units.show(c[k], "B") for k in ("moved_B", "resent_B")),
            *(f"{c[k]:,}" for k in ("retries", "deadlines", "deadlines_missed")),
        )
        for c in [*document["classes"], document["total"]]
    ]
    captioned = [("What was asked for, and what became of it", Table("class", *head, rows=rows))]
    if a.runs[0].held_s:
        captioned.append(("What held the transfers of each class", fleet.held_table(a)))
    if due := fleet.due(a)[0]:
        captioned.append(("What is due for an upgrade, the first ones first", due))
    outages = [(n, f"{o['count']:,}", units.show(o["seconds"], "s")) for n, o in document["outages"].items()]
    if outages:
        captioned.append(("What was down", Table("what", ">times", ">in all", rows=outages)))
    return captioned


def _completion(classes: list[dict[str, Any]]) -> Figure | None:
    shown = [c for c in classes if c["completion_s"]["p50"] is not None]
    if not shown:
        return None
    names = list(shown[0]["completion_s"])
    taken = {q: [c["completion_s"][q] / HOUR_S for c in shown] for q in names}
    drawn = quantiles([c["class"] for c in shown], taken, "from asking to the end", "h")
    rows = [(c["class"], *(units.show(c["completion_s"][q], "s") for q in names)) for c in shown]
    says = "; ".join(f"{r[0]}: half within {r[1]}, {names[-1]} {r[-1]}" for r in rows)
    table = Table("class", *(f">{q}" for q in names), rows=rows)
    return Figure("How long transfers take, by class", says, *drawn, table)


def _fullest(stations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The stations that are used most, of those of numbered hosts that are alike the fullest."""
    ranked = sorted(stations, key=lambda s: -s["utilization_mean"])
    alike = by_key((fleet.kind(s["station"]), s) for s in ranked)
    fullest = []
    for first, *rest in list(alike.values())[:STATIONS]:
        more = f" and {len(rest)} like it" if rest else ""
        fullest.append({**first, "station": f"{first['station']}{more}"})
    return fullest


def _week(busy: list[dict[str, Any]], seen: set[int]) -> Figure | None:
    """Mean use by hour of the week, of those hours that were seen."""
    if not busy:
        return None
    shown = [[100 * v if hour in seen else None for hour, v in enumerate(s["by_hour_of_week"])] for s in busy]
    trace = heat(shown, "used [%]", "hour %{x} of the week: %{z:.3g} %", zmin=0, zmax=100)
    down = {**rows_axis([s["station"] for s in busy]), "showgrid": False}
    across = axis("day, from midnight on", tickvals=[24 * d for d in range(7)], ticktext=list(fleet.DAYS))
    layout = {"yaxis": down, "xaxis": across, "height": height(down, 100)}
    rows = []
    for s in busy:
        by_hour = [sum(s["by_hour_of_week"][h::24]) / max(sum(x % 24 == h for x in seen), 1) for h in range(24)]
        top = max(range(24), key=by_hour.__getitem__)
        rows.append((s["station"], f"{s['utilization_mean']:.1%}", f"{top:02d}:00", f"{by_hour[top]:.1%}"))
    says = "; ".join(f"{r[0]}: {r[1]} on average, busiest at {r[2]} with {r[3]}" for r in rows[:8])
    table = Table("station", ">mean", ">busiest hour", ">then", rows=rows)
    return Figure("Use by hour of the week", says, [trace], layout, table)


def _weeks(busy: list[dict[str, Any]]) -> Figure | None:
    """Use week by week, as the workload grows."""
    weeks = max((len(s["by_week"]) for s in busy), default=0)
    if weeks < 2:
        return None
    traces = [
        line(
            wrapped(s["station"], LEGEND), list(range(1, weeks + 1)), [100 * v for v in s["by_week"]],
            "week %{x}: %{y:.3g} %",
            color=TONES[n % len(TONES)], dash=("solid", "dash", "dot")[n % 3],
        )
        for n, s in enumerate(busy)
    ]  # fmt: skip
    axes = {"xaxis": axis("week"), "yaxis": axis("mean use [%]", rangemode="tozero")}
    layout = {**axes, "height": 380, "showlegend": True}
    rows = [
        (str(w + 1), *(f"{s['by_week'][w]:.1%}" if w < len(s["by_week"]) else "" for s in busy)) for w in range(weeks)
    ]
    says = "; ".join(f"{s['station']}: {s['by_week'][0]:.1%} at first, {s['by_week'][-1]:.1%} at last" for s in busy)
    table = Table(">week", *(f">{s['station']}" for s in busy), rows=rows)
    return Figure("Use week by week", says, traces, layout, table)


def sentence(a: FleetAnswer) -> str:
    """What the span was like."""
    total = a.runs[0].total
    done = f"{total.done:,} of {total.asked:,} transfers done in {units.show(a.runs[0].end_s, 's', digits=3)}"
    moved = f", {units.show(total.moved_B, 'B', digits=3)} moved"
    half = total.completion_s[0]
    middle = "" if math.isnan(half) else f"; half of the transfers within {units.show(half, 's', digits=3)}"
    late = f"; {total.missed:,} of {total.with_deadline:,} deadlines missed" if total.with_deadline else ""
    top = max(a.runs[0].stations, key=lambda s: s.mean, default=None)
    full = f". {top.name} is used most: {top.mean:.0%} on average, {top.busy_day:.0%} on a busy day" if top else ""
    return f"{done}{moved}{middle}{late}{full}."


def _first(a: FleetAnswer, what: str) -> ReadyFleet:
    """The first run, which ``--transfers`` and ``--hours`` need whole."""
    if a.first is None:
        raise InputError(f"--{what}: the first run came from the checkpoint, which has no {what}; leave that out")
    return a.first


def transfers(a: FleetAnswer, path: Path) -> None:
    """Writes every transfer of the first run, atomically."""
    first = _first(a, "transfers")
    course = first.course
    work, n = course.work, len(course.work)
    lanes = [(lane.kind.name, *lane.names, lane.user.name) for lane in course.lanes]
    names = [np.array([lane[k] for lane in lanes] or [""], object)[work.lane] for k in range(4)]
    ends = np.array([(first.hosts[w.source], first.hosts[w.target]) for w in course.ways] or [("", "")], object)
    used_ways = ends[np.maximum(course.way, 0)]
    used_ways[course.way < 0] = ""
    columns: dict[str, Any] = {
        "number": np.arange(n),
        "class": names[0],
        "from": names[1],
        "to": names[2],
        "user": names[3],
        "source_host": used_ways[:, 0],
        "destination_host": used_ways[:, 1],
        "asked_s": work.asked,
        "begun_s": course.begun,
        "ended_s": course.ended,
        "alone_s": first.alone_s,
        "due_s": work.due,
        "bytes": work.size,
        "files": work.files,
        "moved_B": course.moved,
        "resent_B": course.resent,
        "retries": course.tries,
        "state": np.array(_STATES, object)[course.status],
    }
    output.table(columns, path, "--transfers")


def hours(a: FleetAnswer, path: Path) -> None:
    """Writes the utilisation of every station by hour in the first run, atomically."""
    first = _first(a, "hours")
    span, carried = used(first)
    capacity = np.array(first.course.capacity)
    columns: dict[str, Any] = {"start_s": np.arange(len(span)) * HOUR_S, "length_s": span}
    for k in np.flatnonzero(carried.any(axis=0) & np.isfinite(capacity)).tolist():
        columns[first.names[k]] = carried[:, k] / capacity[k] / np.maximum(span, 1e-9)
    output.table(columns, path, "--hours")
