"""The report of a path: one HTML file to attach to a proposal, from which the answer can be made again."""

import datetime as dt
import platform
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dtnsim import __version__
from dtnsim.description.spec import PathSpec
from dtnsim.ground import errors, units
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.records import Prediction
from dtnsim.ground.term import without_words
from dtnsim.ground.uncertainty import HEADS, Interval
from dtnsim.ground.units import plural
from dtnsim.planning import groups, messages, tool_choice, whatif, whynot
from dtnsim.planning.plan import Plan, towards
from dtnsim.planning.whatif import Grid
from dtnsim.report import assumed, charts, costs, fleet, fleet_page, picture, timeline
from dtnsim.report.advice import may_choose
from dtnsim.report.decision import decide, verdict
from dtnsim.report.holds import called
from dtnsim.report.page import LAYOUT, Page, escaped
from dtnsim.report.table import Table
from dtnsim.report.text import capacity
from dtnsim.simulation.fleet.run import FleetAnswer
from dtnsim.simulation.results import Simulation
from dtnsim.steady import ordering, why_wide
from dtnsim.steady.goals import Goal
from dtnsim.steady.prediction import predict

#: crossings behind the sliders; of more transfers only the first one's ladder is shown
SCENARIOS: Final = 48
LADDERS: Final = 3
TOOLS: Final = 6  #: ways to move the files that are shown
#: tables of more rows unfold
FOLDED: Final = 20
UNSAID: Final = "Every uncertain number that the path file does not say"


@dataclass(frozen=True, slots=True)
class Sections:
    """What a report is to have beside the answer."""

    simulation: Simulation | None = None  #: The path in time.
    fleet: FleetAnswer | None = None  #: Its workload over months, where it has one.
    plan: Plan | None = None  #: What to set and to buy, as somebody planned it.
    #: Whether it is planned for the goal where nobody has; without a goal, for twice today's rate.
    planned: bool = True
    goal: Goal | None = None  #: A deadline or a rate for the headline.
    start: dt.time | None = None  #: Time of day at which the transfers begin.
    scenarios: int = SCENARIOS  #: Crossings behind the sliders and heat maps; 0 for none.
    tools: bool = True  #: Whether it says which tool moves the first transfer's files best.
    samples: int = 256  #: Draws behind the intervals.
    seed: int = 1  #: Their seed.
    command: Sequence[str] = ()  #: The command that makes the report again.
    sensitivity: int = why_wide.SAMPLES  #: Draws behind the shares of the variance; 0 for none.


def report(path: PathSpec, request: Sections, progress: Callable[[int, int], None] | None = None) -> str:
    """The HTML of a report; the same bytes for the same path, command, versions, seed and day."""
    p = predict(path, samples=request.samples, seed=request.seed)
    page = Page(path.name)
    if request.fleet is not None:
        _facility(page, p, request, request.fleet)
    else:
        _transfers(page, p, request, progress)
    _add_rerun_section(page, p, request)
    return page.html()


def _facility(page: Page, p: Prediction, request: Sections, a: FleetAnswer) -> None:
    """What a workload comes to; of one transfer of each class only what each part is used."""
    page.text(fleet_page.sentence(a), "headline")
    page.items(fleet.promised(a))
    if request.plan is not None:
        _plan(page, p, request)
    _warnings(page, dict.fromkeys([*a.warnings, *p.warnings]))
    page.heading("The workload")
    for figure in fleet_page.figures(a):
        page.figure(figure)
    if left_out := fleet_page.idle(a):
        page.text(left_out, "note")
    for caption, table in fleet_page.tables(a):
        page.table(table, caption, folded=len(table.rows) > FOLDED)
    _path(page, p, "The path, with one transfer of each class at once")
    page.text(f"Alone, without queues and others: {verdict(p, _goals(request), request.start)}", "note")
    with page.on_screen():
        page.table(assumed.table(p.given, ()), UNSAID, folded=True)


def _goals(request: Sections) -> list[Goal]:
    return [] if request.goal is None else [request.goal]


def _warnings(page: Page, warnings: Iterable[str]) -> None:
    if lines := list(warnings):
        page.heading("Warnings")
        page.items(lines, "warnings")


def _transfers(page: Page, p: Prediction, request: Sections, progress: Callable[[int, int], None] | None) -> None:
    """A decision about transfers that begin together, with its evidence."""
    shares = why_wide.of_path(p.given, request.seed, request.sensitivity) if request.sensitivity else ()
    decision = decide(p, _goals(request), request.start)
    page.text(decision.verdict, "headline")
    page.raw(decision.html)
    if request.plan is not None or request.planned:
        _plan(page, p, request)
    _warnings(page, p.warnings)
    _path(page, p, "The path")
    _ladders(page, p)
    with page.on_screen():
        page.figure(charts.spending(p))
    if figures := _measured(p):
        page.heading("Measured on this path")
        page.figure(charts.measured(figures))
    if request.tools:
        _tools(page, p, request)
    if request.simulation is not None:
        _time(page, request.simulation, request.start)
    with page.on_screen():
        _scenarios(page, p, request, progress)
    page.heading("How sure it is")
    page.figure(charts.tornado(shares))
    unsaid = assumed.table(p.given, shares)
    with page.on_screen():
        if moving := [row for row in unsaid.rows if row[3]][:FOLDED]:
            page.table(Table(*assumed.HEAD, rows=moving), "Assumptions, most important first")
        page.table(unsaid, UNSAID, folded=True)


def _path(page: Page, p: Prediction, title: str) -> None:
    page.raw('<section class="wide">')
    page.heading(title)
    placed = picture.Picture(p)
    page.raw(f"{picture.svg(placed, 'about-path')}</section>")
    hint = "Point at a component, or go to it with the Tab key: its capacity, demand, formula and source appear here."
    page.raw(f'<div class="about" id="about-path" role="status"><p>{escaped(hint)}</p></div>')
    if placed.unused:
        page.text(f"Not used by these transfers: {', '.join(placed.unused)}.", "note")
    rows = []
    for s, u in ((u.station, u) for u in p.stations if u.utilization > 0):
        numbers = f"{u.utilization:.1%}", capacity(s), f"{u.demand_per_byte:.4g} {s.unit}"
        rows.append((s.name, *numbers, s.formula, s.source))
    head = ("station", ">used", ">capacity", ">demand a byte", "how", "source")
    page.table(Table(*head, rows=rows), "All stations in use", folded=True)


def _ladders(page: Page, p: Prediction) -> None:
    page.heading("Bottleneck, and the next ones")
    reliefs = costs.Reliefs(p)
    for t in p.transfers if len(p.transfers) <= LADDERS else p.transfers[:1]:
        drawn = charts.ladder(p, t, reliefs.reliefs(t.ladder))
        page.figure(drawn)
        page.table(drawn.table.columns(0, 1, 4, 5, 6), f"How to remove each bottleneck of {t.name}")
    if len(p.transfers) > 1:
        rows = [
            (t.name, *(units.show(v, "B/s") for v in t.throughput_Bps.as_dict().values()), t.bottleneck.station)
            for t in p.transfers
        ]
        page.table(Table("transfer", *HEADS, "held by", rows=rows), "All transfers", folded=len(rows) > LADDERS)


def _measured(p: Prediction) -> list[tuple[str, str, float, Interval]]:
    """Measured throughputs of this very path, from the cases that `validate` judges."""
    from dtnsim.evidence import cases
    from dtnsim.ground import library

    if not p.given.file.startswith(("models/", "calibration/")):
        return []  # no shipped case is of a path of one's own
    name = Path(p.given.file).stem
    every = sorted(library.root("calibration").glob("*/cases.yaml"))
    figures: list[tuple[str, str, float, Interval]] = []
    for case in cases.load_all(file for file in every if name in file.read_text(encoding="utf-8")):
        same = library.shown(Path(case.path)) == p.given.file and not case.overrides
        if not same or case.quantity != "throughput" or case.withheld or case.bound is not None:
            continue
        answers = {t.name: t.throughput_Bps for t in p.transfers}
        interval = p.throughput_Bps if case.transfer is None else answers.get(case.transfer)
        if interval is not None:
            figures.append((f"{case.id}: {case.what}" if case.what else case.id, case.role, case.measured, interval))
    return figures


def _tools(page: Page, p: Prediction, request: Sections) -> None:
    """The tools that move the files of the first transfer in the least time, yours first."""
    if not may_choose(p.given, 0):
        return
    page.heading("Which tool")
    try:
        with without_words():  # nothing but times is shown
            choices, refused = tool_choice.choose(p.given, request.samples, request.seed, answer=p)
    except DtnsimError as error:
        page.text(f"{error}.")
        return
    text = messages.tool_advice(choices)
    scope = "" if tool_choice.is_only_transfer(p.given) else f" ({p.given.transfers[0].name} alone)"
    page.text(f"{text[0].upper()}{text[1:]}{scope}.")
    table = Table("tool", ">takes", HEADS[0], HEADS[2], ">best", "needs", "what to type")
    for c in choices[:TOOLS]:
        times = (units.show(v, "s", digits=3) for v in (c.duration_s.p50, c.duration_s.p10, c.duration_s.p90))
        table.add_row(c.name, *times, f"{c.best:.0%}", c.needs, c.line)
    best = "best: part of the draws in which no other is more than 5 % faster"
    page.table(table, f"{len(table.rows)} of {len(choices)} ways; {best}")
    page.items(whynot.of_tools(choices, refused).sentences())


def _plan(page: Page, p: Prediction, request: Sections) -> None:
    """Now, free, bought: against the goal; of what is not planned for (months of work, programs) nothing."""
    if request.plan is None and (p.given.workload is not None or p.given.programs):
        return
    try:
        goal = request.goal or Goal("target", 2 * p.throughput_Bps.p50)
        plan = request.plan or towards(p, goal, ("tuning", "parts"), request.samples, request.seed)
    except DtnsimError as error:
        page.text(f"No plan: {error}.", "note")
        return
    page.heading("What to do")
    page.text(f"{plan.verdict[0].upper()}{plan.verdict[1:]}")
    if request.plan is None and request.goal is None:
        page.text("No goal is stated: this is for twice today's rate; --target or --deadline states one.", "note")
    page.figure(charts.plan_steps(plan))
    if plan.wins:
        page.table(charts.free_settings(plan), "Settings that cost nothing")
    page.items(plan.sentences)
    if plan.why_not.out:
        out = Table("rejected by", ">how many", "that of them which misses by least", rows=plan.why_not.rows())
        page.table(out, "Why not the others", folded=True)
    if len(plan.purchases) > 2:
        with page.on_screen():
            page.figure(charts.plan_frontier(plan))


def _time(page: Page, s: Simulation, start: dt.time | None) -> None:
    page.heading("In time")
    throughput, *rest = timeline.figures(s)
    timeline.add(page, throughput)
    with page.on_screen():
        for figure in rest:
            timeline.add(page, figure)
    first = s.runs[0]
    total_Bps = first.series.rate_Bps.sum(axis=1)
    page.figure(timeline.by_hour(total_Bps.tolist(), first.series.edge_s.tolist(), "Throughput by hour and day", start))
    if first.happened:
        page.table(timeline.happened(s), "What happened", folded=len(first.happened) > timeline.MARKS)


def _scenarios(page: Page, p: Prediction, request: Sections, progress: Callable[[int, int], None] | None) -> None:
    if not request.scenarios:
        return
    task = groups.Task(p.given, request.samples, request.seed, p)
    crossed = whatif.grid(task, max(request.scenarios // len(p.given.transfers), 16), progress)
    if crossed.axes:
        page.heading("What if")
        _sliders(page, crossed, p)
        page.figure(charts.plane(crossed, "streams", "rtt"))
        page.figure(charts.plane(crossed, "loss", "rtt"))
    files, size_B = ordering.moved(p)
    page.figure(charts.file_sizes(whatif.sizes(task), (size_B / files, p.throughput_Bps.p50) if files else None))


def _sliders(page: Page, crossed: Grid, p: Prediction) -> None:
    """Sliders over the crossings: the page holds them all."""
    stations = sorted({o.station or o.error for o in crossed.outcomes})
    number = {name: n for n, name in enumerate(stations)}
    own_index = crossed.outcomes.index(crossed.outcome({}))
    page.data["whatif"] = {
        "axes": [{"name": a.name, "title": a.title, "labels": a.labels, "own": a.own} for a in crossed.axes],
        "rate": [o.rate_Bps for o in crossed.outcomes],
        "shown": ["" if o.rate_Bps is None else units.show(o.rate_Bps, "B/s") for o in crossed.outcomes],
        "station": [number[o.station or o.error] for o in crossed.outcomes],
        "stations": [name if (words := called(p, name)) == name else f"{words} [{name}]" for name in stations],
        "own": own_index,
        "layout": {**LAYOUT, "height": 300},
    }
    inputs = "".join(
        f'<div><label for="whatif-{a.name}">{escaped(a.title)}<output id="whatif-{a.name}-value" '
        f'for="whatif-{a.name}">{escaped(a.labels[a.own])}</output></label><input type="range" id="whatif-{a.name}" '
        f'min="0" max="{len(a.labels) - 1}" step="1" value="{a.own}"></div>'
        for a in crossed.axes
    )
    note = f"Every position is a prediction of its own, worked out beforehand: {len(crossed.outcomes)}"
    more = f" of {crossed.every} that are worth trying; --scenarios {crossed.every} works all of them out"
    page.text(f"{note}{more if crossed.every > len(crossed.outcomes) else ''}.", "note")
    page.raw(f'<div class="sliders">{inputs}</div><p class="answer" id="whatif-answer" role="status"></p>')
    page.raw('<div class="plot-free" id="whatif-plot" role="img" aria-label="Throughput" style="height:300px"></div>')


def _add_rerun_section(page: Page, p: Prediction, request: Sections) -> None:
    page.heading("How to make this again")
    if request.command:
        page.verbatim(shlex.join(request.command), "The command")
    versions = {"dtnsim": __version__, "Python": platform.python_version(), **errors.versions()}
    facts = (f"{name} {version}" for name, version in versions.items() if version)
    calibration = f", calibration {p.given.calibration}" if p.given.calibration else ""
    page.text(f"{', '.join(facts)}; seed {request.seed}, {request.samples} draws{calibration}.")
    text = source_text(p.given)
    if text:
        with page.on_screen():
            page.text(f"The path file, {p.given.file}:")
            page.verbatim(text, "The path file")
    page.text("Opened in a browser this file has more: sliders, what the answer rests on, the path file.", "paper")
    parts = plural(len(p.problem.stations), "station"), plural(len(p.transfers), "transfer")
    page.text(f"{' and '.join(parts)}; 'dtnsim explain' shows the arithmetic.")


def source_text(path: PathSpec) -> str:
    """The path file as it was read; empty where there is none to read."""
    from dtnsim.ground import library

    try:
        file = library.find("paths", path.file)
        return file.read_text(encoding="utf-8") if file.is_file() else ""  # a pipe has been read
    except (DtnsimError, OSError):
        return ""
