"""Measured beside predicted, as text: a table of cases and a summary, fit and blind apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from dtnsim.evidence.trust import LEVELS, by_kind, trust
from dtnsim.ground import units
from dtnsim.report.text import plain, table

if TYPE_CHECKING:
    from dtnsim.evidence.judgement import Judgement, Summary
    from dtnsim.evidence.validate import Validation
    from dtnsim.report.console import Out


#: columns of the table of cases: heading, and its alignment
_COLUMNS: Final = (
    ("case", "left"),
    ("role", "left"),
    ("measured", "right"),
    ("p10", "right"),
    ("p50", "right"),
    ("p90", "right"),
    ("error", "right"),
    ("in 80 %", "left"),
    ("bottleneck", "left"),
    ("as stated", "left"),
    ("what was run", "left"),
)


def figure(value: float | None, unit: str) -> str:
    """A figure the way people write it; rates in bytes, as most of the logs have them."""
    if value is None:
        return ""
    if math.isnan(value):
        return "withheld"
    if unit == "B/s":
        for prefix, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
            if value >= factor:
                return f"{value / factor:.4g} {prefix}B/s"
        return f"{value:.4g} B/s"
    return f"{value:.1%}" if unit == "1" else units.show(value, unit)


def percent(value: float | None, *, sign: bool = False) -> str:
    """A fraction as a percentage; nothing where there is none."""
    if value is None:
        return ""
    return f"{100 * value:+.1f} %" if sign else f"{100 * value:.1f} %"


def yes(value: bool | None) -> str:  # noqa: FBT001 - three answers
    """yes, no, or nothing."""
    return "" if value is None else "yes" if value else "no"


def stated_words(j: Judgement) -> str:
    """Whether the bottleneck is as stated, and what was stated; what no document says is marked."""
    if j.case.stated is None:
        return ""
    return f"{'inferred' if j.case.stated.inferred else yes(j.bottleneck_right)}: {j.case.stated.says}"


def show(found: Validation, out: Out) -> None:
    """Prints every case and the summary."""
    for site in found.sites:
        out.print(f"[bold]{plain(site)}[/bold]")
        left_out = any(j.left_out is not None for j in found.judgements)
        rows = table(*_COLUMNS, *([("without it", "right")] if left_out else []))
        for j in found.judgements:
            if j.case.site == site:
                cells = _cells(j)
                rows.add_row(*cells, *([figure(j.left_out, j.case.unit)] if left_out else []))
        out.print(rows)
        out.print()
    _summary(found, out)
    _trust(found, out)


def _cells(j: Judgement) -> list[str]:
    case = j.case
    unit = case.unit
    bound = f"{case.bound} " if case.bound else ""
    stated = stated_words(j)
    return [
        plain(case.id),
        case.role,
        bound + figure(case.measured, unit),
        figure(j.p10, unit),
        figure(j.p50, unit),
        figure(j.p90, unit),
        percent(j.error, sign=True),
        yes(j.covered),
        plain(j.held.station),
        plain(stated),
        plain(case.what),
    ]


def _trust(found: Validation, out: Out) -> None:
    """Coverage and scores of the judging figures, by kind of what binds."""
    whole = trust(found.judgements)
    if whole is None:
        return
    out.print("\nintervals of the judging figures, each by laws learned without its study; scores of ln(figure)")
    rows = table(
        ("what binds", "left"),
        ("figures", "right"),
        ("in 50 %", "right"),
        ("in 80 %", "right"),
        ("in 95 %", "right"),
        ("below p10", "right"),
        ("above p90", "right"),
        ("median too high", "right"),
        ("p90/p10", "right"),
        ("score", "right"),
        ("of one factor", "right"),
        ("CRPS", "right"),
    )
    for kind, t in [*by_kind(found.judgements).items(), ("all", whole)]:
        inside = [percent(t.coverage[level]) for level in LEVELS]
        rows.add_row(
            kind,
            str(t.n),
            *inside,
            *(percent(share) for share in (t.below, t.above, t.high)),
            f"{math.exp(t.width):.2f}",
            f"{t.interval_score:.2f}",
            f"{t.constant_factor:.2f}",
            f"{t.crps:.3f}",
        )
    out.print(rows)


def _summary(found: Validation, out: Out) -> None:
    rows = table(
        ("", "left"),
        ("cases", "right"),
        ("median error", "right"),
        ("worst error", "right"),
        ("in 80 %", "right"),
        ("bottleneck as stated", "right"),
        ("min(disk, network, disk): median", "right"),
        ("worst", "right"),
    )
    for site in [*found.sites, None] if len(found.sites) > 1 else [None]:
        for role in ("fit", "blind"):
            s, b = found.summary(role, site), found.baseline_summary(role, site)
            if s.n:
                right, stated = found.bottlenecks(role, site)
                rows.add_row(
                    f"{plain(site or 'all')}, {role}",
                    str(s.n),
                    percent(s.mdape),
                    percent(s.max_ape),
                    percent(s.coverage80),
                    f"{right} of {stated}" if stated else "",
                    percent(b.mdape),
                    percent(b.max_ape),
                )
    out.print(rows)
    if any(j.left_out is not None for j in found.judgements):
        out.print(_words("fit cases, each predicted by a fit without it", found.left_out_summary()))


def _words(name: str, s: Summary) -> str:
    return f"{name}: {s.n} cases, median error {percent(s.mdape)}, worst {percent(s.max_ape)}"
