"""Answers as text: tables with bars on a terminal, plain lines in a pipe."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.ground import units
from dtnsim.ground.errors import visible
from dtnsim.ground.records import Phase, Prediction, Station, Transfer
from dtnsim.ground.uncertainty import Assumption, Interval
from dtnsim.ground.units import plural, show
from dtnsim.report.decision import deadline, decide, share
from dtnsim.report.how_long import pace
from dtnsim.report.table import Out, Table, bar, console
from dtnsim.steady import ordering, relieved
from dtnsim.steady.ladder import SHOWN

if TYPE_CHECKING:
    from dtnsim.composition.resolved_transfer import Way
    from dtnsim.steady.breakdown import Step
    from dtnsim.steady.goals import Goal
    from dtnsim.steady.why_wide import Share

__all__ = ["Table", "bar", "capacity", "card", "console", "goals", "prediction", "rate", "shares"]

_CEILING: Final = "if everything unstated is perfect and numbers are at their medians"  #: what the ceiling rests on
#: and where half of what is drawn is better: hosts that may be tuned, say, or losses that come late
_USUAL: Final = (
    "with numbers at their medians and hosts as they come; a run may be better by chance, by what is not stated or by "
    "what the model misses"
)
_APART = 0.01  #: part by which a rate over a transfer's own time differs from that while all run, before both are shown
_LATER = 0.01  #: how much later than the tool's end the medium has every byte before that is worth a line
_WIDE: Final = 160  #: width that formulas and sources are folded to in a pipe; --json has them whole
_NOTHING: Final = 0.0005  #: a step that takes less of the ceiling shows as 0.0 %
#: width of a card and of its labels, and transfers that it names
_WIDTH: Final = 80
_LABEL: Final = 14
_ROWS: Final = 5
_WAYS = 3  #: so many changes of a transfer are shown


def rate(value: float) -> str:
    """A rate as network and as storage people write it."""
    if value == float("inf"):
        return "unlimited"
    return f"{units.show(value, 'B/s')} ({units.show(value, 'B/s', line=False)})"


def prediction(p: Prediction, out: Out, *, busiest: int = 12, every: bool = False) -> None:
    """Prints a prediction: answer, reason, ladder, the use of the ``busiest`` stations.

    Of very many transfers those that take longest, unless ``every`` one is asked for.
    """
    out.print(title=p.name)
    order = sorted(range(len(p.transfers)), key=lambda f: -p.transfers[f].duration_s.p50)
    alike = {f: [f] for f in order} if every else _alike_transfers(p, order[:SHOWN])
    for f, those in sorted(alike.items()):
        _transfer(p, f, out, named=len(p.transfers) > 1)
        if len(those) > 1:
            names = ", ".join(p.transfers[n].name for n in those[1:])
            out.print(f"{p.transfers[f].name}: and {len(those) - 1} like it: {names}; --all shows them")
    if len(p.transfers) > SHOWN and not every:
        out.print(f"and {len(p.transfers) - SHOWN} more, which take less time; --all shows them, --json has all")
    if len(p.transfers) > 1:
        _throughput("all together  ", "ceiling       ", p.throughput_Bps, p.ceiling, p, out)
        out.print("              (all bytes over the time from the first start to the last end)")
    out.print()
    used = Table("station", "used at the ceiling", ">", ">capacity", ">demand a byte")
    binding = {t.bottleneck.station for t in p.transfers}  # first: workers are always at work in one phase or another
    # the workers of a plain stream only repeat its bottleneck
    waits = any(t.bottleneck.kind == "latency" for t in p.transfers) or any(
        len(t.phases) > 1 for t in p.problem.transfers
    )
    shown = [u for u in p.stations if u.utilization > 0 and (waits or u.station.kind != "workers")]
    if not every:
        shown = list({_numberless(u.station.name, f"{u.utilization:.2f}"): u for u in shown[::-1]}.values())[::-1]
    for use in sorted(shown, key=lambda u: u.station.name not in binding)[:busiest]:
        s, share_of = use.station, use.utilization
        numbers = f"{share_of:.1%}", capacity(s), f"{use.demand_per_byte:.4g} {s.unit}"
        used.add_row(s.name, bar(share_of), *numbers)
    out.print(used)
    for t in (p.transfers[f] for f in sorted(alike)) if len(p.transfers) <= SHOWN else p.transfers[:1]:
        out.print(f"ladder of {t.name}: what binds at the ceiling, and what binds once it is relieved", apart=True)
        rungs = Table(">", ">at", "station", "because")
        for number, rung in enumerate(t.ladder, 1):
            rungs.add_row(str(number), rate(rung.throughput_Bps), rung.station, rung.reason)
        out.print(rungs)
    out.warn(p.warnings)
    assumptions(p.assumed, out)


def _numberless(name: str, *more: str) -> tuple[str, ...]:
    """A name without the numbers of equal hosts and transfers, and what else has to be alike."""
    return (re.sub(r"-\d+(?=[.\[\]:-]|$)", "", name), *more)


def _alike_transfers(p: Prediction, shown: Sequence[int]) -> dict[int, list[int]]:
    """Transfers that differ by a number in their names alone, by the first of them."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for f in sorted(shown):
        t = p.transfers[f]
        numbers = (f"{t.throughput_Bps.p50:.2g}", f"{t.ceiling:.3g}", f"{t.files} {t.payload_B}")
        groups.setdefault(_numberless(t.bottleneck.station, _numberless(t.name)[0], *numbers), []).append(f)
    return {those[0]: those for those in groups.values()}


def card(p: Prediction, out: Out, wanted: Sequence[Goal] = ()) -> None:
    """Prints what one decides by, on a screen: verdict, goals, what holds it, what to do, gain, price, what is open."""
    d = decide(p, wanted)
    for line in textwrap.wrap(visible(p.name), _WIDTH):
        out.print(title=line)
    card = _Card(out)
    card.print(d.verdict)
    if len(wanted) > 1 or any(goal.required is not None for goal in wanted):  # the verdict has said one
        goals(p, wanted, card)
    if len(p.transfers) > 1:
        rows = Table("transfer", ">throughput", ">duration", "held by")
        for each in sorted(p.transfers, key=lambda t: -t.duration_s.p50)[:_ROWS]:
            speed, took = each.throughput_Bps.p50, each.duration_s.p50
            numbers = units.show(speed, "B/s", digits=3), units.show(took, "s", digits=2)
            rows.add_row(each.name, *numbers, each.bottleneck.station)
        out.print()
        out.print(rows)
        if len(p.transfers) > _ROWS:
            out.print(f"{len(p.transfers) - _ROWS} more take no longer; -v shows them")
    out.print()
    for label, texts in d.rows:
        for number, line in enumerate(texts):
            card.print(line, f"{'' if number else label:{_LABEL}}", typed="  # " in line)
    if d.better is not None and len(p.transfers) == 1:  # of several the table above has their lines
        stages = (("now", p), ("with it", d.better))
        most = max(each.throughput_Bps.p50 for _, each in stages)
        out.print()
        for label, stage in stages:
            rate_of = stage.throughput_Bps.p50
            sure = f"  {wanted[0].words} {share(wanted[0].probability(stage))}" if wanted else ""
            out.print(f"{label:{_LABEL}}{bar(rate_of / most)}  {pace(stage)}{sure}")
    for warning in p.warnings:
        card.print(f"warning: {warning}")
    ask = "" if wanted else f"To check a deadline: --deadline {deadline(p)}. "
    out.print(f"{ask}More: dtnsim plan, tools, report, or -v")


class _Card:
    """A stream whose lines of text are folded at 80 columns, beside their label."""

    def __init__(self, out: Out) -> None:
        self._out = out

    def print(self, item: str, label: str = "", *, typed: bool = False) -> None:
        """Prints a line of text; what is typed stays on one, however long."""
        if typed:
            self._out.print(f"{label or ' ' * _LABEL}{item}")
            return
        folds = textwrap.TextWrapper(_WIDTH, label, " " * len(label), break_on_hyphens=False, break_long_words=False)
        for line in folds.wrap(visible(item)):
            self._out.print(line)


def assumptions(assumed: Sequence[Assumption], out: Out) -> None:
    """Prints the numbers that nobody wrote and that move the answer."""
    if not assumed:
        return
    out.print("assumed: not written in the path file, and each moves the answer by more than 5 %", apart=True)
    rows = Table("", ">is", "may be", "then", "because")
    for a in assumed:
        then = f"{a.at_low - 1:+.0%} to {a.at_high - 1:+.0%}" if a.ranges else f"{a.at_low - 1:+.0%}"
        rows.add_row(a.key, a.value, f"{a.low} to {a.high}" if a.ranges else a.low, then, a.source)
    out.print(rows)


def goals(p: Prediction, wanted: Sequence[Goal], out: Out | _Card) -> None:
    """Prints how likely each goal is met."""
    for goal in wanted:
        required = "" if goal.required is None else f" ({goal.required:.0%} required)"
        verdict = "" if goal.required is None else "met: " if goal.met(p) else "missed: "
        out.print(f"{verdict}{goal.words}, probability {goal.probability(p):.0%}{required}")


def shares(causes: Sequence[Share], out: Out) -> None:
    """Prints what makes the interval wide, and what to measure first."""
    if not causes:
        return
    out.print("why the interval is wide", apart=True)
    rows = Table(">share", ">width if known", "what", "how to find out")
    for s in causes:
        rows.add_row(f"{s.share:.0%}", f"x {s.left:.2f}", s.cause, s.measure)
    out.print(rows)


def _transfer(p: Prediction, f: int, out: Out, *, named: bool) -> None:
    t = p.transfers[f]
    label = f"{t.name}: " if named else ""
    _throughput(f"{label}throughput    ", f"{label}ceiling       ", t.throughput_Bps, t.ceiling, p, out)
    d = t.duration_s
    span = f"  ({d.ends('s')})" if d.p10 < d.p90 else ""
    if any(each.timed for each in p.problem.transfers if each.name == t.name):
        span = "  (as given)"
    out.print(
        f"{label}duration      {units.show(d.p50, 's')}{span}"
        f"  for {t.files} file{'s' if t.files != 1 else ''}, {units.show(t.payload_B, 'B')}"
    )
    if part := ordering.sends(p.given.transfers[f].tool):
        out.print(f"{label}rates         those of all files{part}")
    if abs(t.all_run_Bps / max(t.throughput_Bps.p50, 1e-300) - 1) > _APART:
        out.print(f"{label}while all run {rate(t.all_run_Bps)}; others begin after it, or end before")
    if t.sender_Bps is not None:
        out.print(f"{label}sender        {rate(t.sender_Bps)}: it counts what its sockets took, arrived or not")
    if t.on_medium_s is not None and t.on_medium_s.p50 > t.duration_s.p50 * (1 + _LATER):
        out.print(f"{label}on the medium {units.show(t.on_medium_s.p50, 's')}  ({t.on_medium_s.ends('s')})")
    _print_bottleneck(p, f, out, label)


def _print_bottleneck(p: Prediction, f: int, out: Out, label: str) -> None:
    """Prints what holds transfer ``f``, what relieves it, and the settings that were tried and help."""
    t = p.transfers[f]
    station, why = t.bottleneck.station, t.bottleneck.reason
    out.print(f"{label}bottleneck    {why if why.startswith(station) else f'{station}: {why}'}")
    if remedy := relieved.remedy_words(p, f):
        out.print(f"{label}relieved by   {remedy}")
    for way in t.ways[:_WAYS]:
        sets = " ".join(f"--set {o}" if " " not in o else f"--set '{o}'" for o in way.overrides)
        out.print(f"{label}try           {sets}: ceiling {units.show(way.ceiling_Bps, 'B/s')}")


def _throughput(first: str, then: str, i: Interval, ceiling: float, p: Prediction, out: Out) -> None:
    """The median with its interval, and the ceiling; without scenarios the ceiling alone."""
    if p.drawn is None:
        out.print(f"{then}{rate(ceiling)} {_CEILING}; no interval without --samples")
        return
    out.print(f"{first}{rate(i.p50)}  ({i.ends('B/s')})")
    open_ = f": {', '.join(p.unstated)}" if p.unstated else ""
    out.print(f"{then}{units.show(ceiling, 'B/s')} {_CEILING if ceiling >= i.p50 else _USUAL}{open_}")


def capacity(station: Station) -> str:
    """A station's capacity in its own unit."""
    value = float(np.ravel(station.capacity)[0])
    unit = {"B": "B/s", "cycles": "Hz"}.get(station.unit)
    return units.show(value, unit) if unit else f"{units.show(value, '1')} {station.unit}/s"


def explanation(p: Prediction, out: Out, ways: Sequence[Way], steps: Sequence[Step]) -> None:
    """Prints every capacity and demand with formula, value and source, the ceiling, and the steps to the median."""
    stations = {s.name: s for s in p.problem.stations}
    for t, answer in zip(p.problem.transfers, p.transfers, strict=True):
        _explained(t, stations, out)
        out.print(f"ceiling = {answer.ceiling!r} B/s = {rate(answer.ceiling)}", apart=True)
    if steps:
        _steps(p, steps, out)
    for w in ways:
        out.print(f"route of {w.transfer}: {' - '.join(w.nodes)}", apart=True)
        out.print(f"single points of failure: {', '.join(w.single_points) or 'none'}")
        if w.cut.nodes:
            out.print(f"the wiring carries at most {rate(w.cut.rate_Bps)}: {', '.join(w.cut.nodes)}")
    out.warn(p.warnings)


def _explained(t: Transfer, stations: Mapping[str, Station], out: Out) -> None:
    moved = f"{plural(t.files, 'file')}, {show(t.payload_B, 'B')}, {t.workers:g} worker{'' if t.workers == 1 else 's'}"
    out.print(f": {moved}", title=t.name)
    totals: dict[str, float] = {}
    for phase in t.phases:
        _phase(phase, stations, totals, out)
    out.print("stations: capacity / total demand = the rate at which each would bind", apart=True)
    columns = ["station", ">capacity", ">demand", ">binds at", "how"]
    rows = Table(*columns, "source")
    for name, total in sorted(totals.items(), key=lambda item: _binds(stations[item[0]], item[1])):
        s = stations[name]
        rows.add_row(name, capacity(s), f"{total:.6g} {s.unit}/B", rate(_binds(s, total)), s.formula, s.source)
    out.print(rows, most=_WIDE)


def _phase(phase: Phase, stations: Mapping[str, Station], totals: dict[str, float], out: Out) -> None:
    out.print(f"phase '{phase.name}': what one byte costs", apart=True)
    rows = Table("station", "activity", ">demand", "how", "source")
    last = "", ""
    for d in phase.demands:
        value = float(np.ravel(d.per_byte)[0])
        totals[d.station] = totals.get(d.station, 0.0) + value
        same = (d.formula, d.source) == last  # a core's, and that of all cores
        how, source = ("as above", "") if same else (d.formula, d.source)
        last = d.formula, d.source
        rows.add_row(d.station, d.what, f"{value:.6g} {stations[d.station].unit}/B", how, source)
    out.print(rows, most=_WIDE)


def _steps(p: Prediction, steps: Sequence[Step], out: Out) -> None:
    out.print("from the ceiling to the median of all transfers together, one cause of difference a line", apart=True)
    rows = Table("", ">changes by", ">to")
    rows.add_row("ceiling", "", rate(p.ceiling))
    for step in steps:
        share = step.change_Bps / max(p.ceiling, 1e-300)
        if abs(share) < _NOTHING:
            continue
        rows.add_row(step.what, f"{show(step.change_Bps, 'B/s')} ({share:+.1%})", rate(step.median_Bps))
    out.print(rows)
    out.print(f"throughput = {p.throughput_Bps.p50!r} B/s = {rate(p.throughput_Bps.p50)}")


def _binds(station: Station, demand: float) -> float:
    size = float(np.ravel(station.capacity)[0])
    return size / demand if demand > 0 else float("inf")
