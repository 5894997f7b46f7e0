"""Measured beside predicted, as text and as one HTML file: cases, a summary with fit and blind apart, coverage."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dtnsim import __version__
from dtnsim.evidence.trust import CENTRAL, Judgement, by_kind, first, judging, ranks, trust
from dtnsim.evidence.validate import Validation
from dtnsim.ground import units
from dtnsim.ground.uncertainty import HEADS, NAMES, WITHIN
from dtnsim.report.page import Figure, Page, label, today
from dtnsim.report.table import Out, Table
from dtnsim.report.traces import AMBER, BLUE, GREY, TONES, axis, line, marks, painted, spans

#: roles, how they are drawn and what they are called
_ROLES: Final = {
    "fit": (GREY, "square-open", "fits"),
    "blind": (BLUE, "circle", "judges"),
    "repeat": (AMBER, "x", "repeats"),
}
_SYMBOLS: Final = ("circle", "square", "diamond", "cross", "triangle-up", "star", "hexagon", "pentagon")
_LEVELS: Final = [n / 20 for n in range(1, 20)]


def figure(value: float | None, unit: str) -> str:
    """A figure the way people write it; rates in bytes, as most of the logs have them."""
    if value is None:
        return ""
    if math.isnan(value):
        return "withheld"
    return f"{value:.1%}" if unit == "1" else units.show(value, unit, line=False)


def percent(value: float | None, *, sign: bool = False) -> str:
    """A fraction as a percentage; nothing where there is none."""
    if value is None:
        return ""
    return f"{100 * value:{'+' if sign else ''},.{0 if abs(value) >= 10 else 1}f} %"


def yes(value: bool | None) -> str:  # noqa: FBT001 - three answers
    """yes, no, or nothing."""
    return "" if value is None else "yes" if value else "no"


def stated_words(j: Judgement) -> str:
    """Whether the bottleneck is as stated, and what was stated; what no document says is marked."""
    if j.case.stated is None:
        return ""
    return f"{'inferred' if j.case.stated.inferred else yes(j.bottleneck_right)}: {j.case.stated.says}"


def show(val: Validation, out: Out) -> None:
    """Prints every case and the summary."""
    for site in val.sites:
        out.print(title=site)
        out.print(_cases(val, site))
        out.print()
    out.print(_summary(val))
    if any(j.left_out is not None for j in val.judgements):
        s = val.left_out_summary()
        errors = f"{s.n} cases, median error {percent(s.mdape)}, worst {percent(s.max_ape)}"
        out.print(f"fit cases, each predicted by a fit without it: {errors}")
    if judging(val.judgements):
        heading = "intervals of the judging figures, each by laws learned without its study; scores of ln(figure)"
        out.print(heading, apart=True)
        out.print(_trust(val))


def page(val: Validation, *, seed: int = 1, samples: int = 256) -> str:
    """The whole page of what `validate` found; it needs nothing from elsewhere."""
    report = Page("Measured beside predicted")
    blind = val.summary("blind")
    if blind.n:
        errors = f"median error {percent(blind.mdape)}, worst {percent(blind.max_ape)}"
        inside = f"; {percent(blind.coverage80)} lie in their {WITHIN} interval" if blind.coverage80 is not None else ""
        report.text(f"{blind.n} figures that fitted nothing: {errors}{inside}.", "headline")
    draws = f"seed {seed}, {samples} draws behind each interval"
    report.text(f"dtnsim {__version__}, {today().isoformat()}, {draws}.", "note")
    report.table(_summary(val), "Errors by system and role")
    shown = [j for j in val.judgements if j.counted and j.case.unit == "B/s" and j.case.measured > 0 and j.p50 > 0]
    report.figure(_scatter(shown, "by role", [(_ROLES[r], [j for j in shown if j.case.role == r]) for r in _ROLES]))
    report.figure(_by_kind(shown))
    overall = trust(val.judgements)
    if overall is not None:
        report.heading("Intervals of figures that fitted nothing")
        report.table(_trust(val), "Coverage and scores by what binds")
        report.figure(_calibration(judging(val.judgements)))
        report.figure(_ranks(val.judgements))
    with report.on_screen():
        report.heading("All cases")
        for site in val.sites:
            report.table(_cases(val, site, why=True), site, folded=len(val.sites) > 1)
    return report.html()


def _summary(val: Validation) -> Table:
    rows = []
    for site in [*val.sites, None] if len(val.sites) > 1 else [None]:
        for role in ("fit", "blind"):
            s, b = val.summary(role, site), val.baseline_summary(role, site)
            right, stated = val.bottlenecks(role, site)
            if s.n:
                errors = [percent(value) for value in (s.mdape, s.max_ape, s.coverage80)]
                as_stated = f"{right} of {stated}" if stated else ""
                rows.append((site or "all", role, str(s.n), *errors, as_stated, percent(b.mdape), percent(b.max_ape)))
    head = (">cases", ">median error", ">worst error", f">in {WITHIN}", ">bottleneck as stated")
    return Table("system", "role", *head, ">min(disk, network, disk): median", ">worst", rows=rows)


def _trust(val: Validation) -> Table:
    """Coverage and scores of the judging figures, by kind of what binds, and as they were first predicted."""
    rows, then = [], trust(first(val.judgements))
    for kind, t in [*by_kind(val.judgements).items(), ("all", trust(val.judgements)), ("as first predicted", then)]:
        if t is not None:
            inside = [percent(s) for s in (*(t.coverage[level] for level in CENTRAL), t.below, t.above, t.high)]
            numbers = (t.interval_score, t.constant_factor, t.crps)
            rows.append((kind, str(t.n), *inside, f"{math.exp(t.width):.2f}", *(f"{x:.3f}" for x in numbers)))
    levels = (f">in {100 * level:.0f} %" for level in CENTRAL)
    sides = (f">below {NAMES[0]}", f">above {NAMES[2]}", ">median too high")
    scores = (f">{NAMES[2]}/{NAMES[0]}", ">score", ">of one factor", ">CRPS")
    return Table("what binds", ">figures", *levels, *sides, *scores, rows=rows)


def _cases(val: Validation, site: str, *, why: bool = False) -> Table:
    """The cases of a site; of the bottleneck also why it is one, where there is room."""
    left_out = any(j.left_out is not None for j in val.judgements)
    rows = []
    for j in val.judgements:
        case = j.case
        if case.site == site:
            bound = f"{case.bound} " if case.bound else ""
            rates = [bound + figure(case.measured, case.unit), *(figure(v, case.unit) for v in (j.p10, j.p50, j.p90))]
            bottleneck = f"{j.held.station}: {j.held.reason}" if why else j.held.station
            judged = (percent(j.error, sign=True), yes(j.covered), bottleneck, stated_words(j), case.what)
            rows.append((case.id, case.role, *rates, *judged, *([figure(j.left_out, case.unit)] if left_out else [])))
    head = ("case", "role", ">measured", *HEADS, ">error", f"in {WITHIN}", "bottleneck", "as stated")
    return Table(*head, "what was run", *([">without it"] if left_out else []), rows=rows)


def _calibration(chosen: Sequence[Judgement]) -> Figure:
    """Coverage against level: a curve below the diagonal promises too much."""
    shares = np.mean([j.within(_LEVELS) for j in chosen], axis=0).tolist()
    ideal = line("as promised", [0, 100], [0, 100], color=GREY, dash="dash")
    curve = line(
        f"{len(chosen)} figures", [100 * level for level in _LEVELS], [100 * s for s in shares],
        "%{x:.0f} % interval: %{y:.1f} % of the figures", marked=True,
    )  # fmt: skip
    across, up = (axis(title, range=[0, 100]) for title in ("level of the interval [%]", "figures inside [%]"))
    layout = {"xaxis": across, "yaxis": up, "height": 420}
    rows = [(f"{level:.0%}", f"{s:.1%}") for level, s in zip(_LEVELS, shares, strict=True)]
    says = "; ".join(f"{level} interval: {s} inside" for level, s in rows[1::4])
    table = Table(">level", ">figures inside", rows=rows)
    title = "Calibration of the intervals (below the dashed line they promise too much)"
    return Figure(title, says, [ideal, curve], layout, table)


def _ranks(judged: Sequence[Judgement]) -> Figure:
    """Where figures lie among their scenarios, kind by kind: tenths that hold a tenth each keep the promise."""
    kinds = sorted({j.regime.kind for j in judging(judged)})
    tenths = [f"{10 * n} to {10 * n + 10}" for n in range(10)]
    counts = {kind: [0] * 10 for kind in kinds}
    for kind, places in counts.items():
        for rank in ranks([j for j in judged if j.regime.kind == kind]):
            places[min(int(10 * rank), 9)] += 1
    middles = [10 * n + 5 for n in range(10)]
    traces = [
        {"type": "bar", "name": kind, "x": middles, "y": counts[kind], "width": 9, "marker": painted(n)}
        for n, kind in enumerate(kinds)
    ]
    axes = {
        "xaxis": axis("scenarios below the figure [%]", range=[0, 100], dtick=20),
        "yaxis": axis("number of figures"),
    }
    layout = {"barmode": "stack", **axes, "height": 420, "showlegend": True}
    rows = [(kind, *map(str, counts[kind])) for kind in kinds]
    totals = [sum(counts[kind][n] for kind in kinds) for n in range(10)]
    says = "; ".join(f"{tenth}: {n}" for tenth, n in zip(tenths, totals, strict=True))
    table = Table("what binds", *(f">{tenth}" for tenth in tenths), rows=rows)
    return Figure("Figures among their scenarios", says, traces, layout, table)


def _by_kind(shown: Sequence[Judgement]) -> Figure | None:
    kinds = sorted({j.regime.kind for j in shown if j.case.role == "blind"})
    groups = [
        ((TONES[n % len(TONES)], _SYMBOLS[(n + n // len(TONES)) % len(_SYMBOLS)], kind or "other"),
         [j for j in shown if j.case.role == "blind" and j.regime.kind == kind])
        for n, kind in enumerate(kinds)
    ]  # fmt: skip
    return _scatter([j for _, group in groups for j in group], "that judge, by what binds", groups)


def _scatter(
    shown: Sequence[Judgement], title: str, groups: Sequence[tuple[tuple[str, str, str], Sequence[Judgement]]]
) -> Figure | None:
    """Predicted over measured rates on two logarithmic axes, with the interval of each."""
    if not shown:
        return None
    values = [v for j in shown for v in (j.case.measured, j.p50)]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    ends = [10.0**low, 10.0**high]
    traces = [line("predicted = measured", ends, ends, color=GREY, dash="dash")]
    traces += [_points(chosen, *drawn) for drawn, chosen in groups if chosen]
    ticks = [10.0**n for n in range(low, high + 1)]
    texts = [figure(t, "B/s") for t in ticks]
    shown_as = {"type": "log", "range": [low, high], "tickvals": ticks, "ticktext": texts, "tickangle": 0}
    across = axis("measured", **{**shown_as, "ticktext": ["", *texts[1:]]})  # the corner has one number
    layout = {"xaxis": across, "yaxis": axis("predicted", **shown_as), "height": 640, "showlegend": True}
    rows = []
    for j in shown:
        rates = (figure(v, "B/s") for v in (j.case.measured, j.p10, j.p50, j.p90))
        rows.append((j.case.site, j.case.id, j.case.role, j.regime.kind, *rates))
    head = ("site", "case", "role", "kind", ">measured", *HEADS)
    near = sum(j.p10 <= j.case.measured <= j.p90 for j in shown)
    least, most = (figure(v, "B/s") for v in (min(values), max(values)))
    says = f"{len(shown)} measured rates from {least} to {most}; {near} in {WITHIN}"
    return Figure(f"Rates {title}", says, traces, layout, Table(*head, rows=rows))


def _points(chosen: Sequence[Judgement], colour: str, symbol: str, name: str) -> dict[str, Any]:
    middle = [j.p50 for j in chosen]
    low, high = [min(j.p10, j.p50) for j in chosen], [max(j.p90, j.p50) for j in chosen]
    within = spans("y", low, middle, high, color=colour, thickness=1, width=0)
    measured, look = [j.case.measured for j in chosen], {"color": colour, "symbol": symbol, "size": 8}
    points = marks(f"{label(name)} ({len(chosen)})", measured, middle, "%{text}", within, **look)
    values = [(j.case.name, figure(j.case.measured, "B/s"), figure(j.p50, "B/s")) for j in chosen]
    return {**points, "text": [label(f"{case}: measured {m}, predicted {p}") for case, m, p in values]}
