"""A fit for people: on a terminal, its runs over days drawn there, and as one HTML file."""

import math
from collections.abc import Sequence
from statistics import geometric_mean
from typing import Any, Final

from dtnsim.evidence import fit_report
from dtnsim.evidence.fit import Fit
from dtnsim.evidence.fit_report import joined
from dtnsim.evidence.repeats import Repeats, day_words
from dtnsim.evidence.suggest import Suggestion
from dtnsim.evidence.watch import Alarm, Series, Watched
from dtnsim.ground.grouping import by_key
from dtnsim.ground.output import fields
from dtnsim.ground.units import plural
from dtnsim.report import plots
from dtnsim.report.page import Figure, Page, label
from dtnsim.report.table import Out, Table
from dtnsim.report.traces import AMBER, axis, line, marks, rate_axis

#: suggested tests that are named below a fit, and tests whose runs are drawn
_TESTS: Final = 4
_DRAWN: Final = 6
_DAY_S: Final = 86400.0


def show(fit: Fit, suggested: Sequence[Suggestion], out: Out) -> None:
    """Parameters, what the figures say against the description, runs over days, and tests that would determine more."""
    document = fit_report.document(fit)
    out.print(_table(fit, document))
    out.print(f"{_errors(document)}", apart=True)
    lines = [*document["contradictions"], *document["unexplained"], *_repeats(fit), *fit_report.separable(fit)]
    lines += [f"not followed: {each}" for each in document["outliers"]]
    lines += [_suggestion(s) for s in suggested[:_TESTS]]
    for each in lines:
        out.print(each)
    if len(suggested) > _TESTS:
        out.print(f"{len(suggested) - _TESTS} tests more would determine others: --suggest prints all as a script")


def plot(fit: Fit, out: Out) -> None:
    """Runs over days, drawn in the terminal."""
    drawn = _dated(fit)
    for r in drawn:
        days, rates, means = _curve(r)
        plots.curves(r.words, {"measured [MB/s]": (days, rates), "mean": (days, means)}, "days", out)
    if not drawn:
        out.print("no test has dated runs of several days: there is nothing to draw")


def page(fit: Fit, suggested: Sequence[Suggestion]) -> str:
    """The fit as one HTML file; it needs nothing from elsewhere."""
    document = fit_report.document(fit)
    result = Page(f"Calibration of {fit_report.joined(sorted(fit.hosts))}")
    result.text(_errors(document), "headline")
    if contradicted := [*document["contradictions"], *document["unexplained"]]:
        result.items(contradicted)
    result.table(_table(fit, document), "Fitted parameters")
    if fit.repeats:
        result.heading("Runs over days")
        result.items(_repeats(fit))
        for r in _dated(fit):
            _, rates, means = _curve(r)
            dates = [w.isoformat(timespec="seconds") for w in r.whens if w is not None]
            result.figure(_over_days(r.test, r.words, dates, (rates, means), "MB/s"))
    if suggested or document["outliers"] or document["unidentifiable"]:
        result.heading("What is open")
        result.items([*(f"not followed: {o}" for o in document["outliers"]), *(_suggestion(s) for s in suggested)])
        with result.on_screen():
            result.items(document["unidentifiable"])
    return result.html()


def _table(fit: Fit, document: dict[str, Any]) -> Table:
    table = Table("parameter", ">prior", ">fitted", ">spread", "from")
    for j in fit_report.informed(fit):
        p = fit.parameters[j]
        entry = document["parameters"][p.host][p.key]
        prior = f"{fit_report.written(p.prior.value, p.prior.dim)} ± {p.prior.spread:.0%}"
        lines = ", ".join(fit_report.identified_by(fit, j)) or "moves with others"
        table.add_row(p.name, prior, entry["value"], entry["spread"], lines)
    return table


def _errors(document: dict[str, Any]) -> str:
    before, after = document["error"]["before"], document["error"]["after"]
    return (
        f"{document['figures']} figures: median error {before['median']} before, {after['median']} after; "
        f"worst {before['worst']} before, {after['worst']} after"
    )


def _repeats(fit: Fit) -> list[str]:
    if not fit.repeats:
        return []
    spreads = f"run to run {fit.repeats[0].run_to_run:.1%}"
    days = fit.repeats[0].day_to_day
    spreads += f", day to day {days:.1%}" if days is not None else "; days are not known, or one day only"
    return [f"{spreads} (all tests together)", *(r.words for r in fit.repeats if r.changes or r.drift)]


def _suggestion(s: Suggestion) -> str:
    return f"run {s.test.words}: it would determine {', '.join(s.determines)}"


def _dated(fit: Fit) -> list[Repeats]:
    """Tests with runs of several days; those in which something changed first."""
    dated = [r for r in fit.repeats if r.days > 1 and None not in r.whens]
    return sorted(dated, key=lambda r: (not r.changes and r.drift is None, -r.days))[:_DRAWN]


def _curve(r: Repeats) -> tuple[list[float], list[float], list[float]]:
    """(days since the first run, rates [MB/s], mean between changes [MB/s])."""
    whens = [w for w in r.whens if w is not None]
    days = [(w - whens[0]).total_seconds() / _DAY_S for w in whens]
    part = [sum(w.date() >= c.since for c in r.changes) for w in whens]
    means = {number: geometric_mean(rates) / 1e6 for number, rates in by_key(zip(part, r.rates, strict=True)).items()}
    return days, [rate / 1e6 for rate in r.rates], [means[number] for number in part]


def _over_days(
    test: str, says: str, dates: Sequence[str], curves: tuple[Sequence[float], Sequence[float]], unit: str
) -> Figure:
    """(figures, means between changes) over dates."""
    rates, means = curves
    points = marks("measured", dates, rates, "%{x}: %{y:.4g}")
    mean = line("mean", dates, means, "%{x}: %{y:.4g}", color=AMBER, shape="hv")
    layout = {"xaxis": axis(type="date"), "yaxis": rate_axis(f"measured [{unit or 1}]")}
    rows = [(d, f"{rate:.4g}", f"{mean_of:.4g}") for d, rate, mean_of in zip(dates, rates, means, strict=True)]
    return Figure(label(test), says, [points, mean], layout, Table("when", f">{unit}", ">mean", rows=rows))


WATCH: Final = "dtnsim.watch/1"
_NOTES: Final = 12
_CHANGED: Final = 8
_SERIES: Final = ("series", ">days", ">now", "since", ">from day to day")


def watch_lines(watched: Watched, path: str | None = None) -> list[str]:
    """One watch_page: what changed and why, goals, what to run, what could not be read."""
    history, days = watched.history, sum(len(s.days) for s in watched.series)
    head = f"{history.folder}: {plural(len(history.logs), 'log')} ({len(history.new)} new), {plural(days, 'day')} with "
    text = [f"{head}figures of {plural(len(watched.series), 'test')}", *(_alarm(a) for a in watched.alarms)]
    if not watched.alarms:
        text.append("nothing changed that is more than chance")
    for goal, now, before in watched.goals:
        was = f" ({before:.0%} before the change)" if before is not None else ""
        text.append(f"{path} is {goal.words} in {now:.0%} of runs{was}")
    text += [f"run {s.test.words}: it would determine {joined(list(s.determines))}" for s in watched.tests]
    text += watched.notes[:_NOTES]
    if len(watched.notes) > _NOTES:
        text.append(f"{len(watched.notes) - _NOTES} notes more: --json has them all")
    return text


def _alarm(a: Alarm) -> str:
    factor = a.change.factor
    more, less = ("faster", "slower") if a.series.quantity == "throughput" else ("more", "less")
    size = f"{abs(factor - 1):.0%} {more if factor > 1 else less}"
    levels = f"{a.series.shown(a.before)} to {a.series.shown(a.after)}"
    line = f"since {day_words(a.change.since)} {a.series.name} {size} ({levels}; p = {a.change.p:.1g})"
    line += f"; explained by {joined(a.explained, 'or')}" if a.explained else ""
    return line + ("; told before" if a.told else "" if a.worse else "; no alarm")


def watch_document(watched: Watched, path: str | None = None) -> dict[str, Any]:
    """The watch as JSON; the fit is that of ``calibrate``."""
    return {
        "schema": WATCH,
        "folder": str(watched.history.folder),
        "logs": len(watched.history.logs),
        "new": watched.history.new,
        "alarm": watched.alarming,
        "changes": [
            fields(a, series="series.name", quantity="series.quantity")
            | {"since": a.change.since.isoformat(), "factor": round(a.change.factor, 4)}
            | fields(a, "before", "after", unit="series.unit", p="change.p", explained_by="explained")
            | fields(a, "worse", "told")
            for a in watched.alarms
        ],
        "series": [
            {"series": s.name, "from": s.ends[0], "to": s.ends[1], "quantity": s.quantity, "unit": s.unit,
             "days": len(s.days), "value": s.level(len(s.changes)), "spread": _spread(s), "since": _since(s)}
            for s in watched.series
        ],
        "goals": [{"path": path, "goal": g.words, "now": now, "before": was} for g, now, was in watched.goals],
        "tests": [s.test.words for s in watched.tests],
        "notes": watched.notes,
        "fit": fit_report.document(watched.fit) if watched.fit is not None else None,
    }  # fmt: skip


def _since(s: Series) -> str:
    """First day of what holds now."""
    return (s.changes[-1].since if s.changes else s.days[0]).isoformat()


def _spread(s: Series) -> float | None:
    """Standard deviation of the logarithm from day to day, since the last change; None of one day."""
    level, since = s.level(len(s.changes)), _since(s)
    left = [math.log(v / level) for d, v in zip(s.days, s.values, strict=True) if d.isoformat() >= since]
    return math.sqrt(sum(x * x for x in left) / (len(left) - 1)) if len(left) > 1 else None


def watch_page(watched: Watched, path: str | None = None) -> str:
    """One HTML file; it needs nothing from elsewhere."""
    report = Page(f"Watch of {watched.history.folder.name}")
    head, *rest = watch_lines(watched, path)
    report.text(head, "headline")
    report.items(rest)
    spreads = [(s, _spread(s)) for s in watched.series]
    rows = [(s.name, str(len(s.days)), s.shown(s.level(len(s.changes))), _since(s),
             f"{spread:.1%}" if spread is not None else "") for s, spread in spreads]  # fmt: skip
    report.table(Table(*_SERIES, rows=rows), "Hosts and the ways between them now")
    for s in [s for s in watched.series if s.changes][:_CHANGED]:
        level = s.level(len(s.changes))
        shown, _, unit = s.shown(level).partition(" ")
        scale = float(shown) / level if level else 1.0  # in the unit that people read, without a prefix on the axis
        means = [scale * s.level(sum(d >= c.since for c in s.changes)) for d in s.days]
        curves = [scale * value for value in s.values], means
        report.figure(_over_days(s.name, s.name, [d.isoformat() for d in s.days], curves, unit))
    return report.html()
