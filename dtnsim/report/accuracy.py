"""The accuracy table of the README: ``python -m dtnsim.report.accuracy``."""

from __future__ import annotations

import csv
import statistics
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dtnsim.evidence import tool_runs
from dtnsim.evidence.trust import CENTRAL, trust
from dtnsim.ground import library, yamlio
from dtnsim.ground.uncertainty import WITHIN
from dtnsim.report.validation import percent

if TYPE_CHECKING:
    from dtnsim.evidence.validate import Validation


def markdown(found: Validation | None = None) -> str:
    """The table of figures that fitted nothing: errors, intervals, bottlenecks, and errors of earlier versions."""
    if found is None:
        from dtnsim.evidence.cases import load_all
        from dtnsim.evidence.validate import validate

        found = validate(load_all())
    earlier = yamlio.load(library.root("calibration") / "history.yaml")["versions"]
    inside = [f"in the {100 * level:g} %" for level in CENTRAL]
    head = [
        "system",
        "figures",
        "median error",
        "worst error",
        f"{inside[0]} interval",
        *inside[1:],
        "bottleneck as stated",
        "median error of min(disk, network, disk)",
        *(f"median error in {version}" for version in earlier),
    ]
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for site in [*found.sites, None]:
        s, rule = found.summary("blind", site), found.baseline_summary("blind", site)
        of_site = trust(found.of("blind", site))
        if not s.n or of_site is None:
            continue
        right, stated = found.bottlenecks("blind", site)
        was = [(v["median"].get(site or "all") or {}) for v in earlier.values()]
        cells = (
            site or "**all**",
            str(s.n),
            percent(s.mdape),
            percent(s.max_ape),
            *(percent(share) for share in of_site.coverage.values()),
            f"{right} of {stated}" if stated else "",
            percent(rule.mdape),
            *(f"{w['error']} ({w['n']})" if w else "" for w in was),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


#: draws behind the intervals
_SAMPLES = 64


def tool_points() -> list[list[dict[str, str]]]:
    """The measured runs, those of one point together."""
    with (library.root("calibration") / "tools-truth" / "public.csv").open() as file:
        rows = list(csv.DictReader(file))
    found: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        found.setdefault(row["point"], []).append(row)
    return list(found.values())


def tool_errors(given: Iterable[list[dict[str, str]]]) -> dict[str, list[tuple[float, list[bool]]]]:
    """For each tool (error of a point's median, which of its runs lie in the 80 % interval)."""
    found: dict[str, list[tuple[float, list[bool]]]] = {}
    for same in given:
        measured = [float(r["wall_s"]) for r in same]
        shown = tool_runs.answer(tool_runs.run_of(same[0]), _SAMPLES)
        inside = [shown.p10_s <= m <= shown.p90_s for m in measured]
        off = abs(shown.p50_s / statistics.median(measured) - 1)
        found.setdefault(same[0]["tool_key"], []).append((off, inside))
    return found


def tools_markdown() -> str:
    """The table: points, median and 90th percentile of the error, part of the runs inside the 80 % interval."""
    found = tool_errors(tool_points())
    lines = [
        f"| tool | points | median error | 90th percentile | runs in the {WITHIN} interval |",
        "|---|---:|---:|---:|---:|",
    ]
    whole = [point for of_tool in found.values() for point in of_tool]
    for name, several in [*sorted(found.items()), ("**all**", whole)]:
        off = sorted(e for e, _ in several)
        inside = [i for _, runs in several for i in runs]
        last = off[min(int(0.9 * len(off)), len(off) - 1)]
        cells = (
            name,
            str(len(off)),
            f"{statistics.median(off):.1%}",
            f"{last:.1%}",
            f"{sum(inside) / len(inside):.0%}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(markdown() + "\n")
