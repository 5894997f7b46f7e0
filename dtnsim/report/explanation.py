"""The text of ``dtnsim explain``: every demand and capacity with its formula, and the way through the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dtnsim.ground.records import Phase, Prediction, Station, Transfer
from dtnsim.ground.term import plural
from dtnsim.ground.units import show
from dtnsim.report.console import Out, table
from dtnsim.report.text import capacity, plain, rate

if TYPE_CHECKING:
    from dtnsim.composition.ways import Way
    from dtnsim.steady.breakdown import Step


def explanation(p: Prediction, out: Out, ways: Sequence[Way] = (), steps: Sequence[Step] = ()) -> None:
    """Prints every capacity and every demand with formula, value and source, the ceiling, and the way to the median."""
    stations = {s.name: s for s in p.problem.stations}
    for t, answer in zip(p.problem.transfers, p.transfers, strict=True):
        _transfer(t, stations, out)
        out.print(f"\nceiling = {answer.ceiling!r} B/s = {rate(answer.ceiling)}")
    if steps:
        _steps(p, steps, out)
    for w in ways:
        _way(w, out)
    for warning in p.warnings:
        out.print(f"warning: {plain(warning)}")


def _transfer(t: Transfer, stations: Mapping[str, Station], out: Out) -> None:
    moved = f"{plural(t.files, 'file')}, {show(t.payload_B, 'B')}, {t.workers:g} worker{'' if t.workers == 1 else 's'}"
    out.print(f"[bold]{plain(t.name)}[/bold]: {moved}")
    totals: dict[str, float] = {}
    for phase in t.phases:
        _phase(phase, stations, totals, out)
    out.print("\nstations: capacity / total demand = the rate at which each would bind")
    columns = [("station", "left"), ("capacity", "right"), ("demand", "right"), ("binds at", "right"), ("how", "left")]
    rows = table(*columns, ("source", "left"))
    for name, total in sorted(totals.items(), key=lambda item: _binds(stations[item[0]], item[1])):
        s = stations[name]
        cost, binds = f"{total:.6g} {s.unit}/B", rate(_binds(s, total))
        rows.add_row(plain(name), capacity(s), cost, binds, plain(s.formula), plain(s.source))
    out.print(rows)


def _phase(phase: Phase, stations: Mapping[str, Station], totals: dict[str, float], out: Out) -> None:
    out.print(f"\nphase '{plain(phase.name)}': what one byte costs")
    rows = table(("station", "left"), ("activity", "left"), ("demand", "right"), ("how", "left"), ("source", "left"))
    for d in phase.demands:
        value = float(np.ravel(d.per_byte)[0])
        totals[d.station] = totals.get(d.station, 0.0) + value
        cost = f"{value:.6g} {stations[d.station].unit}/B"
        rows.add_row(plain(d.station), plain(d.what), cost, plain(d.formula), plain(d.source))
    out.print(rows)


def _steps(p: Prediction, steps: Sequence[Step], out: Out) -> None:
    out.print("\nfrom the ceiling to the median of all transfers together: each line draws one thing more")
    rows = table(("", "left"), ("takes", "right"), ("then", "right"))
    rows.add_row("ceiling", "", rate(p.ceiling))
    for step in steps:
        share = step.change_Bps / max(p.ceiling, 1e-300)
        rows.add_row(plain(step.what), f"{show(step.change_Bps, 'B/s')} ({share:+.1%})", rate(step.median_Bps))
    out.print(rows)
    out.print(f"throughput = {p.throughput_Bps.p50!r} B/s = {rate(p.throughput_Bps.p50)}")


def _way(w: Way, out: Out) -> None:
    out.print(f"\nway of {plain(w.transfer)}: {plain(' - '.join(w.nodes))}")
    out.print(f"single points of failure: {plain(', '.join(w.single_points) or 'none')}")
    if w.cut.nodes:
        out.print(f"the wiring carries at most {rate(w.cut.rate_Bps)}: {plain(', '.join(w.cut.nodes))}")


def _binds(station: Station, demand: float) -> float:
    size = float(np.ravel(station.capacity)[0])
    return size / demand if demand > 0 else float("inf")
