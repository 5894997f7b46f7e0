"""A simulation as text, as a JSON document, and as a table over time."""

import math
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

import numpy as np

from dtnsim.ground import runtime, units
from dtnsim.ground.output import fields, number
from dtnsim.ground.uncertainty import HEADS, NAMES
from dtnsim.physics._arrays import LEVELS
from dtnsim.report import text
from dtnsim.report.document import assumptions, quantiles as interval
from dtnsim.report.table import Out
from dtnsim.simulation.results import Held, Run, Simulation, TransferRun, joined, quantiles

SCHEMA: Final = "dtnsim.simulation/1"
#: points of a series in the JSON document, and the busiest stations shown
POINTS: Final = 200
BUSIEST: Final = 8
HAPPENED: Final = 20  #: events listed one by one
STRETCHES: Final = 24  #: stretches of time in the table that says what held a transfer
ALWAYS: Final = 0.95  #: what is full for less than this share of the time is not said to be full without more
_FULL: Final = re.compile(" (is full|(?:is|are) saturated): ")  #: how a reason says that a station is used up
#: what is told of how long files took, and of which share
_OF_FILES: Final = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
_IDLE: Final = 0.01  #: share of its capacity below which a station's use over time is left out of the document


@runtime.gc_paused()
def document(s: Simulation) -> dict[str, Any]:
    """The document of ``dtnsim simulate --json``."""
    first = s.runs[0]
    return {
        "schema": SCHEMA,
        "name": s.name,
        "replicas": len(s.runs),
        "complete": s.complete,
        "interrupted": s.interrupted,
        "end_s": number(first.end_s),
        "events": first.events,
        "transfers": [_transfer(s, f) | {"quantile": quantile} for f, quantile in enumerate(_among(s))],
        "stations": _stations(first),
        "series": _series(first),
        "happened": [{"time_s": t, "what": event} for t, event in first.happened],
        "warnings": list(s.warnings),
        "assumed": assumptions(s.assumed),
    }


def _among(s: Simulation) -> Sequence[float | None]:
    """At which quantile of what `predict` draws the first run of each transfer lies, where that is known."""
    return s.among or (None,) * len(s.runs[0].transfers)


def _transfer(s: Simulation, f: int) -> dict[str, Any]:
    t = s.runs[0].transfers[f]
    rates, durations = s.spread(f)
    times, total_s = t.file_quantiles(tuple(_OF_FILES.values())), t.waiting_s + t.moving_s
    return {
        **fields(t, "name", "files", "payload_B"),
        **{moment: number(getattr(t, moment)) for moment in ("started_s", "written_s", "finished_s", "on_medium_s")},
        "throughput_Bps": _quantiles(rates),
        "duration_s": _quantiles(durations),
        "finished_in": len(durations),
        "omitted_s": t.omitted_s,
        "sender_Bps": number(t.sender_Bps) if t.sender_Bps is not None else None,
        # of files, not of runs: these levels do not move with those of intervals
        "file_s": {**dict.fromkeys(_OF_FILES), **dict(zip(_OF_FILES, times, strict=False))},
        "waiting_share": number(t.waiting_s / total_s if total_s > 0 else math.nan),
        "phases": [fields(p, "name", "moving_s", "waiting_s") for p in t.phases],
        "retries": t.retries,
        "held": [fields(h, "start_s", "end_s", "station") | {"event": _event(s, h) or None} for h in t.held],
        "why": dict(s.why[f]) if s.why else {},
    }


def _quantiles(values: list[float]) -> dict[str, float | None]:
    """Over the runs; of one or two, the first is the median."""
    finite = [v for v in values if math.isfinite(v)] or [math.nan]
    low, middle, high = np.quantile(finite, LEVELS) if len(finite) > 1 else finite * 3
    return interval((low, finite[0] if len(finite) < 3 else middle, high))


def _use(run: Run) -> tuple[Any, Any, Any]:
    """(K,) mean and peak use of each station, and mean number of workers there."""
    span = np.diff(run.series.edge_s)
    total_s = max(span.sum(), 1e-300)
    used, flows = run.series.utilization, run.series.flows
    return span @ used / total_s, used.max(axis=0, initial=0.0), span @ flows / total_s


def _stations(run: Run) -> list[dict[str, Any]]:
    mean, peak, flows = _use(run)
    keys = "station", "utilization_mean", "utilization_peak", "flows_mean"
    rows = zip(run.stations, mean.tolist(), peak.tolist(), flows.tolist(), strict=True)
    return sorted((dict(zip(keys, row, strict=True)) for row in rows), key=lambda r: -r["utilization_mean"])


def _series(run: Run) -> dict[str, Any]:
    """Means over at most `POINTS` stretches; what is in a cache, at the end of each."""
    edge = run.series.edge_s
    first = np.arange(0, len(edge) - 1, max(1, math.ceil((len(edge) - 1) / POINTS)))
    last = np.append(first[1:], len(edge) - 1)
    names = [t.name for t in run.transfers]

    def means(values: Any) -> Any:
        span = np.diff(edge)[:, None]
        total = np.add.reduceat(values * span, first, axis=0) if len(first) else values * span
        return total / np.maximum(edge[last] - edge[first], 1e-300)[:, None]

    busy = np.flatnonzero(run.series.utilization.max(axis=0, initial=0.0) > _IDLE).tolist()
    used, flows = means(run.series.utilization[:, busy]), means(run.series.flows[:, busy])
    return {
        "time_s": edge[first].tolist(),
        "throughput_Bps": dict(zip(names, means(run.series.rate_Bps).T.tolist(), strict=True)),
        "medium_Bps": dict(zip(names, means(run.series.medium_Bps).T.tolist(), strict=True)),
        "cached_B": dict(zip(names, run.series.cached_B[last - 1].T.tolist(), strict=True)),
        "utilization": dict(zip([run.stations[k] for k in busy], used.T.tolist(), strict=True)),
        "flows": dict(zip([run.stations[k] for k in busy], flows.T.tolist(), strict=True)),
    }


@runtime.gc_paused()
def show(s: Simulation, out: Out) -> None:
    """Prints the summary: each transfer, what held it when and why, what happened, the busiest stations."""
    first = s.runs[0]
    ended = "" if first.complete else f"  (stopped at {units.show(first.end_s, 's')}: what was done by then)"
    groups = alike_transfers(first)
    those = longest(first, groups)
    out.print(ended, title=s.name)
    out.print(summary(first, those))
    if len(those) < len(groups):
        out.print(f"the {len(those)} that take longest; --json has the other {len(groups) - len(those)} as well")
    if len(s.runs) > 1:
        _replicas(s, those, out)
    among = _among(s)
    for group in those:
        f = slowest(first, group)
        which = f", the slowest of {len(group)} alike" if len(group) > 1 else ""
        _print_transfer(s, first, f, out, which)
        if (share := among[f]) is not None:
            run = f"{first.transfers[f].name}: this run has everything at its median and what is not stated at its best"
            out.print(f"{run}; {share:.0%} of what predict draws is slower")
    for time, event in first.happened[:HAPPENED]:
        out.print(f"at {units.show(time, 's')}: {event}")
    if len(first.happened) > HAPPENED:
        out.print(f"and {len(first.happened) - HAPPENED} more events")
    _busiest(first, out)
    out.warn(s.warnings)
    text.assumptions(s.assumed, out)


def _busiest(run: Run, out: Out) -> None:
    """Prints the stations that are used most."""
    mean, peak, _ = _use(run)
    out.print()
    used = text.Table("station", "used", ">mean", ">peak")
    for k in [k for k in np.argsort(-mean, kind="stable")[:BUSIEST].tolist() if mean[k] > 0]:
        used.add_row(run.stations[k], text.bar(float(mean[k])), f"{mean[k]:.1%}", f"{peak[k]:.1%}")
    out.print(used)
    if (count := int((mean > 0).sum())) > BUSIEST:
        out.print(f"{count - BUSIEST} more stations are used less")


def _event(s: Simulation, h: Held) -> str:
    """What an event has made of the station that held a transfer, in the event's own words; empty where none did."""
    for event in s.given.events:
        until = math.inf if event.until is None else event.until.value
        if event.station is None or not fnmatchcase(h.station, event.station.replace("[", "[[]")):
            continue
        if event.at.value <= h.start_s * (1 + 1e-9) + 1e-9 and h.end_s <= until * (1 + 1e-9) + 1e-9:
            state = "is down" if event.factor == 0 else f"has {event.factor:.3g} of its capacity"
            return f"{h.station} {state}" + (f": {event.what}" if event.what else "")
    return ""


def _used(run: Run, h: Held) -> float:
    """How much of what held a transfer was used meanwhile: workers in several phases leave it idle now and then [1]."""
    if h.station not in run.stations:
        return math.nan
    edge, use = run.series.edge_s, run.series.utilization[:, run.stations.index(h.station)]
    span = np.diff(np.clip(edge, h.start_s, h.end_s))
    return float(span @ use) / max(h.end_s - h.start_s, 1e-300)


def _print_transfer(s: Simulation, run: Run, f: int, out: Out, which: str = "") -> None:
    """What held one transfer of a run, how much of that was used, and why, its phases, its medium."""
    t, why = run.transfers[f], s.why[f] if s.why else {}
    total_s = t.held[-1].end_s - t.held[0].start_s if t.held else 0.0
    out.print(f"what held {t.name}{which}", apart=True)
    rows = text.Table(">from", ">to", "held by", ">used", "because")
    seen: set[str] = set()
    for h in joined(t.held, total_s / STRETCHES):
        event = _event(s, h)
        because = event or ("as above" if h.station in seen else why.get(h.station, ""))
        seen |= set() if event else {h.station}
        used = _used(run, h)
        if used < ALWAYS:
            because = _FULL.sub(rf" \1 for {used:.0%} of the time, and waits are the rest: ", because, count=1)
        part = "" if math.isnan(used) else f"{used:.0%}"
        rows.add_row(units.show(h.start_s, "s"), units.show(h.end_s, "s"), h.station, part, because)
    out.print(rows)
    if len(t.phases) > 1:
        spent = "; ".join(f"{p.name} {units.show(p.moving_s + p.waiting_s, 's')}" for p in t.phases)
        out.print(f"{t.name}: its workers spent on {spent}")
    if math.isfinite(t.finished_s) and t.finished_s > t.written_s * (1 + 1e-9):
        late, wrote = (units.show(v, "s") for v in (t.finished_s - t.written_s, t.written_s - t.started_s))
        out.print(f"{t.name}: written after {wrote}, on the medium {late} later")
    if math.isfinite(t.on_medium_s) and t.on_medium_s > t.finished_s * (1 + 1e-9):
        late = units.show(t.on_medium_s - t.started_s, "s")
        out.print(f"{t.name}: the tool ends when memory has its last byte; on the medium after {late}")
    if t.retries:
        out.print(f"{t.name}: {t.retries} file{'s' if t.retries != 1 else ''} begun again after a fault")


def _replicas(s: Simulation, groups: Sequence[Sequence[int]], out: Out) -> None:
    label = f"over {len(s.runs)} runs" + (f" of {s.wanted}" if s.interrupted else "")
    rows = text.Table(label, f">throughput {NAMES[0]}", *HEADS[1:], f">duration {NAMES[0]}", *HEADS[1:])
    for group in groups:
        both = [s.spread(f) for f in group]
        rates, durations = (_quantiles([v for pair in both for v in pair[k]]) for k in (0, 1))
        every = [*((v, "B/s") for v in rates.values()), *((v, "s") for v in durations.values())]
        rows.add_row(name_of(s.runs[0], group), *(units.show(v, unit) if v is not None else "" for v, unit in every))
    out.print(rows)
    out.print("the runs draw parts, files and events; 'dtnsim predict' has the model's own error besides")


def columns(s: Simulation) -> dict[str, Any]:
    """The first run over time, column by column: rates, caches, use and queues of the stations."""
    run = s.runs[0]
    table: dict[str, Any] = {"start_s": run.series.edge_s[:-1], "end_s": run.series.edge_s[1:]}
    for f, t in enumerate(run.transfers):
        table[f"{t.name}.throughput_Bps"] = run.series.rate_Bps[:, f]
        table[f"{t.name}.medium_Bps"] = run.series.medium_Bps[:, f]
        table[f"{t.name}.cached_B"] = run.series.cached_B[:, f]
    for k, name in enumerate(run.stations):
        table[f"{name}.utilization"] = run.series.utilization[:, k]
        table[f"{name}.flows"] = run.series.flows[:, k]
    return table


TOGETHER: Final = 4  #: so many alike are one line
#: so many lines are shown whole, and of more so many
MOST: Final = 100
FEW: Final = 20
#: payloads closer than this (relative) are equal
_SAME: Final = 1e-9
_SHARES: Final = (0.5, 0.9, 0.99)
_NAMES: Final = tuple(f"p{round(100 * share)}" for share in _SHARES)


def alike_transfers(run: Run) -> list[list[int]]:
    """Numbers of the transfers that are alike but for a number in their names: equal files and bytes, all of them done.

    Those that stand alone, or of which there are few, are alike of one; in the order of the file.
    """
    by_kind: dict[tuple[Any, ...], list[int]] = {}
    for f, t in enumerate(run.transfers):
        alike: tuple[Any, ...] = (re.sub(r"\d+", "*", t.name), t.files, round(math.log1p(t.payload_B) / _SAME))
        by_kind.setdefault(alike if math.isfinite(t.finished_s) else (f,), []).append(f)
    groups = [[f] for those in by_kind.values() if len(those) < TOGETHER for f in those]
    groups += [those for those in by_kind.values() if len(those) >= TOGETHER]
    return sorted(groups)


def longest(run: Run, every: Sequence[Sequence[int]]) -> Sequence[Sequence[int]]:
    """All alike, or of very many those that take longest, in the order of the file."""
    if len(every) <= MOST:
        return every
    spent = [math.inf if math.isnan(t.duration_s) else t.duration_s for t in run.transfers]
    took = [max(spent[f] for f in group) for group in every]
    return [every[n] for n in sorted(sorted(range(len(every)), key=took.__getitem__)[-FEW:])]


def name_of(run: Run, group: Sequence[int]) -> str:
    """The name of a group of transfers."""
    first, last = run.transfers[group[0]].name, run.transfers[group[-1]].name
    return first if len(group) == 1 else f"{first} to {last} ({len(group)} alike)"


def slowest(run: Run, group: Sequence[int]) -> int:
    """The transfer of a group that takes longest."""
    return max(group, key=lambda f: run.transfers[f].duration_s) if len(group) > 1 else group[0]


def summary(run: Run, those: Sequence[Sequence[int]]) -> Any:
    """The table of some alike of transfers: a line for each, and all transfers in the last line."""
    several = any(t.files > 1 for t in run.transfers)
    many = any(len(group) > 1 for group in those)
    moved = [">files", ">bytes"]
    quantile = [f">{n}" for n in _NAMES[1:]]
    head = [f">duration {_NAMES[0]}", *quantile] if many else [*moved, ">duration"]
    head += [">throughput", *(moved if many else [])]
    head += [f">a file: {_NAMES[0]}", *quantile] if several else []
    rows = text.Table("transfer", *head, ">workers wait")
    for group in those:
        rows.add_row(name_of(run, group), *_cells(run, [run.transfers[f] for f in group], several=several, many=many))
    if len(those) > 1:
        rows.add_row("all", *_cells(run, run.transfers, several=several, many=many))
    return rows


def _cells(run: Run, those: Sequence[TransferRun], *, several: bool, many: bool) -> list[str]:
    """What one line says of some transfers."""
    done = all(math.isfinite(t.finished_s) for t in those)
    counted = [t for t in those if t.counted] or those
    payload = sum(t.payload_B for t in counted)
    begun = min((t.started_s + t.omitted_s for t in those if not math.isnan(t.started_s)), default=math.nan)
    spent = (max(t.finished_s for t in those) if done else run.end_s) - begun
    speed = text.rate(payload / spent) if spent > 0 else ""
    if not done:
        durations = ["not done"]
    elif len(those) == 1 or not many:
        durations = [units.show(those[0].duration_s if len(those) == 1 else spent, "s")]
    else:
        seconds = [t.duration_s for t in those]
        durations = [units.show(float(v), "s") for v in quantiles(seconds, [1] * len(seconds), _SHARES)]
    files = ([units.show(float(v), "s") for v in file_quantiles(those)] or [""] * len(_SHARES)) if several else []
    waited, moved = sum(t.waiting_s for t in those), sum(t.moving_s for t in those)
    amounts = [str(sum(t.files for t in counted)), units.show(payload, "B")]
    took = (durations + [""] * len(_SHARES))[: len(_SHARES) if many else 1]
    speed = speed if done or not speed else f"{speed} so far"
    share = f"{waited / (waited + moved):.0%}" if waited + moved > 0 else ""
    return [*([*took, speed, *amounts] if many else [*amounts, *took, speed]), *files, share]


def file_quantiles(those: Sequence[TransferRun]) -> list[float]:
    """Durations that these shares of the files of some transfers do not exceed [s]; empty where no file is done."""
    times = [s for t in those for s in t.file_s.tolist()]
    counts = [n for t in those for n in t.file_counts.tolist()]
    return [float(v) for v in quantiles(times, counts, _SHARES)] if times else []
