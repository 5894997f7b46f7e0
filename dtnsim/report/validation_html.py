"""Measured beside predicted, as one HTML file: a scatter of all cases and the table."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Final

from dtnsim.evidence.scores import LEVELS
from dtnsim.evidence.trust import by_kind, judging, trust
from dtnsim.report.validation import figure, percent, stated_words, yes

if TYPE_CHECKING:
    from dtnsim.evidence.validate import Judgement, Validation

_SIZE: Final = 560
_EDGE: Final = 60
_COLOURS: Final = {"fit": "#8a8a8a", "blind": "#c0392b"}
#: error from which a case is marked
_FAR: Final = 0.25
_STYLE: Final = """
body{font:14px/1.4 system-ui,sans-serif;margin:2em;color:#222} table{border-collapse:collapse;margin:1em 0}
td,th{padding:2px 10px;border-bottom:1px solid #ddd;text-align:left;vertical-align:top} td.n{text-align:right;
white-space:nowrap} tr.off td{background:#fdecea} svg text{font-size:11px;fill:#444}
"""


def page(found: Validation) -> str:
    """The whole page; it needs nothing from elsewhere."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Measured beside predicted</title>",
        f"<style>{_STYLE}</style></head><body><h1>Measured beside predicted</h1>",
        _summary(found),
        _trust(found),
        _calibration(found),
        _scatter([j for j in found.judgements if j.counted and j.case.unit == "B/s"]),
        *(_table(found, site) for site in found.sites),
        "</body></html>",
    ]
    return "\n".join(parts)


def _row(cells: list[str], *, head: bool = False, off: bool = False) -> str:
    tag = "th" if head else "td"
    inner = "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells)
    return f"<tr class='off'>{inner}</tr>" if off else f"<tr>{inner}</tr>"


def _summary(found: Validation) -> str:
    rows = [
        _row(
            [
                "system",
                "role",
                "cases",
                "median error",
                "worst",
                "in 80 %",
                "bottleneck as stated",
                "min(disk, network, disk)",
            ],
            head=True,
        )
    ]
    for site in [*found.sites, None]:
        for role in ("fit", "blind"):
            s, b = found.summary(role, site), found.baseline_summary(role, site)
            right, stated = found.bottlenecks(role, site)
            if s.n:
                errors = [percent(s.mdape), percent(s.max_ape), percent(s.coverage80)]
                told = f"{right} of {stated}" if stated else ""
                rows.append(_row([site or "all", role, str(s.n), *errors, told, percent(b.mdape)]))
    return f"<table>{''.join(rows)}</table>"


def _trust(found: Validation) -> str:
    """Coverage and scores by kind of what binds."""
    whole = trust(found.judgements)
    if whole is None:
        return ""
    rows = [
        _row(
            [
                "what binds",
                "figures",
                *(f"in {level:.0%}" for level in LEVELS),
                "p90/p10",
                "interval score",
                "of one factor for all",
                "CRPS",
            ],
            head=True,
        )
    ]
    for kind, t in [*by_kind(found.judgements).items(), ("all", whole)]:
        inside = [percent(t.coverage[level]) for level in LEVELS]
        numbers = (t.interval_score, t.constant_factor, t.crps)
        rows.append(_row([kind, str(t.n), *inside, f"{math.exp(t.width):.2f}", *(f"{x:.3f}" for x in numbers)]))
    return f"<h2>Intervals of figures that fitted nothing</h2><table>{''.join(rows)}</table>"


def _calibration(found: Validation) -> str:
    """Coverage against level: a curve below the diagonal promises too much."""
    chosen = judging(found.judgements)
    if not chosen:
        return ""
    size, edge = 320, 40
    levels = [n / 20 for n in range(1, 20)]
    points = [(level, sum(j.within(level) for j in chosen) / len(chosen)) for level in levels]

    def place(x: float, y: float) -> str:
        return f"{edge + x * (size - 2 * edge):.1f},{size - edge - y * (size - 2 * edge):.1f}"

    curve = " ".join(place(x, y) for x, y in points)
    dots = "".join(
        f"<circle cx='{place(x, y).split(',')[0]}' cy='{place(x, y).split(',')[1]}' r='3'>"
        f"<title>{x:.0%} interval: {y:.0%} of {len(chosen)} figures</title></circle>"
        for x, y in points
    )
    return (
        f"<svg width='{size}' height='{size}' role='img' aria-label='coverage against level of the interval'>"
        f"<polyline points='{place(0, 0)} {place(1, 1)}' fill='none' stroke='#999'/>"
        f"<polyline points='{curve}' fill='none' stroke='#c0392b'/>{dots}"
        f"<text x='{size / 2}' y='{size - 8}' text-anchor='middle'>level of the interval (0 to 100 %)</text>"
        f"<text x='12' y='{size / 2}' text-anchor='middle' transform='rotate(-90 12 {size / 2})'>figures inside</text>"
        "</svg>"
    )


def _table(found: Validation, site: str) -> str:
    rows = [
        _row(
            ["case", "role", "measured", "p10", "p50", "p90", "error", "in 80 %", "bottleneck", "stated", "run"],
            head=True,
        )
    ]
    for j in found.judgements:
        case = j.case
        if case.site == site:
            unit = case.unit
            stated = stated_words(j)
            rates = [figure(v, unit) for v in (case.measured, j.p10, j.p50, j.p90)]
            judged = [percent(j.error, sign=True), yes(j.covered), f"{j.held.station}: {j.held.reason}", stated]
            off = j.error is not None and abs(j.error) > _FAR
            rows.append(_row([case.id, case.role, *rates, *judged, case.what], off=off))
    return f"<h2>{html.escape(site)}</h2><table>{''.join(rows)}</table>"


def _scatter(shown: list[Judgement]) -> str:
    """Predicted over measured rates on two logarithmic axes, with the 80 % interval of each."""
    if not shown:
        return ""
    values = [v for j in shown for v in (j.case.measured, j.p50) if v > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def place(value: float) -> float:
        share = (math.log10(max(value, 10.0**low)) - low) / max(high - low, 1)
        return _EDGE + min(share, 1.0) * (_SIZE - 2 * _EDGE)

    parts = [f"<svg width='{_SIZE}' height='{_SIZE}' role='img' aria-label='predicted against measured rates'>"]
    for power in range(low, high + 1):
        at, label = place(10.0**power), figure(10.0**power, "B/s")
        parts.append(f"<line x1='{at:.1f}' y1='{_EDGE}' x2='{at:.1f}' y2='{_SIZE - _EDGE}' stroke='#eee'/>")
        parts.append(
            f"<line x1='{_EDGE}' y1='{_SIZE - at:.1f}' x2='{_SIZE - _EDGE}' y2='{_SIZE - at:.1f}' stroke='#eee'/>"
        )
        parts.append(f"<text x='{at:.1f}' y='{_SIZE - _EDGE + 16}' text-anchor='middle'>{label}</text>")
        parts.append(f"<text x='{_EDGE - 6}' y='{_SIZE - at + 4:.1f}' text-anchor='end'>{label}</text>")
    parts.append(f"<line x1='{_EDGE}' y1='{_SIZE - _EDGE}' x2='{_SIZE - _EDGE}' y2='{_EDGE}' stroke='#999'/>")
    for j in sorted(shown, key=lambda j: j.case.role != "fit"):
        x, y = place(j.case.measured), _SIZE - place(j.p50)
        colour = _COLOURS[j.case.role]
        name = html.escape(
            f"{j.case.name}: measured {figure(j.case.measured, 'B/s')}, predicted {figure(j.p50, 'B/s')}"
        )
        parts.append(
            f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{_SIZE - place(j.p10):.1f}' y2='{_SIZE - place(j.p90):.1f}' "
            f"stroke='{colour}' stroke-opacity='.5'/>"
        )
        parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' fill='{colour}'><title>{name}</title></circle>")
    parts.append(f"<text x='{_SIZE / 2}' y='{_SIZE - 12}' text-anchor='middle'>measured (grey: fit, red: blind)</text>")
    turned = f"text-anchor='middle' transform='rotate(-90 14 {_SIZE / 2})'"
    parts.append(f"<text x='14' y='{_SIZE / 2}' {turned}>predicted</text></svg>")
    return "".join(parts)
