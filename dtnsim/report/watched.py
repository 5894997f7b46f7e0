"""What a folder of logs says, for people: one page of lines, the same as HTML, and a document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from dtnsim.evidence import fit_report
from dtnsim.evidence.fit_report import joined
from dtnsim.evidence.repeats import day_words
from dtnsim.ground.term import plural
from dtnsim.report import calibration
from dtnsim.report.page import Page, Table

if TYPE_CHECKING:
    from dtnsim.evidence.watch import Alarm, Series, Watched

SCHEMA: Final = "dtnsim.watch/1"
_NOTES: Final = 12
_DRAWN: Final = 8
_HEAD: Final = ("series", "days", "now", "since", "from day to day")


def lines(found: Watched, path: str | None = None) -> list[str]:
    """One page: what changed and why, goals, what to run, what could not be read."""
    history, days = found.history, sum(len(s.days) for s in found.series)
    head = f"{history.folder}: {plural(len(history.logs), 'log')} ({len(history.new)} new), {plural(days, 'day')} with "
    text = [f"{head}figures of {plural(len(found.series), 'test')}", *(_alarm(a) for a in found.alarms)]
    if not found.alarms:
        text.append("nothing changed that is more than chance")
    for goal, now, before in found.goals:
        was = f" ({before:.0%} before the change)" if before is not None else ""
        text.append(f"{path} is {goal.words} in {now:.0%} of runs{was}")
    text += [f"run {s.test.words}: it would determine {joined(list(s.determines))}" for s in found.tests]
    text += found.notes[:_NOTES]
    if len(found.notes) > _NOTES:
        text.append(f"{len(found.notes) - _NOTES} notes more: --json has them all")
    return text


def _alarm(a: Alarm) -> str:
    factor = a.change.factor
    more, less = ("faster", "slower") if a.series.quantity == "throughput" else ("more", "less")
    size = f"{abs(factor - 1):.0%} {more if factor > 1 else less}"
    levels = f"{a.series.shown(a.before)} to {a.series.shown(a.after)}"
    line = f"since {day_words(a.change.since)} {a.series.name} {size} ({levels}; p = {a.change.p:.1g})"
    line += f"; explained by {joined(a.explained, 'or')}" if a.explained else ""
    return line + ("; told before" if a.told else "" if a.worse else "; no alarm")


def document(found: Watched, path: str | None = None) -> dict[str, Any]:
    """The same for programs; the fit is that of ``calibrate``."""
    return {
        "schema": SCHEMA,
        "folder": str(found.history.folder),
        "logs": len(found.history.logs),
        "new": found.history.new,
        "alarm": found.alarming,
        "changes": [
            {
                "series": a.series.name,
                "quantity": a.series.quantity,
                "since": a.change.since.isoformat(),
                "factor": round(a.change.factor, 4),
                "before": a.before,
                "after": a.after,
                "unit": a.series.unit,
                "p": a.change.p,
                "explained_by": a.explained,
                "worse": a.worse,
                "told": a.told,
            }
            for a in found.alarms
        ],
        "series": [
            {"series": s.name, "from": s.ends[0], "to": s.ends[1], "quantity": s.quantity, "unit": s.unit,
             "days": len(s.days), "value": s.level(len(s.changes)), "spread": _spread(s), "since": _since(s)}
            for s in found.series
        ],
        "goals": [{"path": path, "goal": g.words, "now": now, "before": was} for g, now, was in found.goals],
        "tests": [s.test.words for s in found.tests],
        "notes": found.notes,
        "fit": fit_report.document(found.fit) if found.fit is not None else None,
    }  # fmt: skip


def _since(s: Series) -> str:
    """First day of what holds now."""
    return (s.changes[-1].since if s.changes else s.days[0]).isoformat()


def _spread(s: Series) -> float | None:
    """Standard deviation of the logarithm from day to day, since the last change; None of one day."""
    now, since = s.level(len(s.changes)), _since(s)
    left = [math.log(v / now) for d, v in zip(s.days, s.values, strict=True) if d.isoformat() >= since]
    return math.sqrt(sum(x * x for x in left) / (len(left) - 1)) if len(left) > 1 else None


def page(found: Watched, path: str | None = None) -> str:
    """One HTML file; it needs nothing from elsewhere."""
    made = Page(f"Watch of {found.history.folder.name}")
    head, *rest = lines(found, path)
    made.text(head, "headline")
    made.items(rest)
    spreads = [(s, _spread(s)) for s in found.series]
    rows = [(s.name, str(len(s.days)), s.shown(s.level(len(s.changes))), _since(s),
             f"{spread:.1%}" if spread is not None else "") for s, spread in spreads]  # fmt: skip
    made.table(Table(_HEAD, rows, frozenset({1, 2, 4})), "Hosts and the ways between them now")
    for s in [s for s in found.series if s.changes][:_DRAWN]:
        means = [s.level(sum(d >= c.since for c in s.changes)) for d in s.days]
        made.figure(calibration.over_days(s.name, s.name, [d.isoformat() for d in s.days], (s.values, means), s.unit))
    return made.html()
