"""How far each transfer tool's predicted duration is from the runs that were measured: the README's second table."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable

from dtnsim.evidence import tool_runs
from dtnsim.ground import library

#: draws behind the intervals
_SAMPLES = 64


def points() -> list[list[dict[str, str]]]:
    """The measured runs, those of one point together."""
    with (library.root("calibration") / "tools-truth" / "public.csv").open() as file:
        rows = list(csv.DictReader(file))
    found: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        found.setdefault(row["point"], []).append(row)
    return list(found.values())


def errors(given: Iterable[list[dict[str, str]]]) -> dict[str, list[tuple[float, list[bool]]]]:
    """For each tool (error of a point's median, which of its runs lie in the 80 % interval)."""
    found: dict[str, list[tuple[float, list[bool]]]] = {}
    for same in given:
        measured = [float(r["wall_s"]) for r in same]
        shown = tool_runs.answer(tool_runs.run_of(same[0]), _SAMPLES)
        inside = [shown.p10_s <= m <= shown.p90_s for m in measured]
        off = abs(shown.p50_s / statistics.median(measured) - 1)
        found.setdefault(same[0]["tool_key"], []).append((off, inside))
    return found


def markdown() -> str:
    """The table: points, median and 90th percentile of the error, part of the runs inside the 80 % interval."""
    found = errors(points())
    lines = [
        "| tool | points | median error | 90th percentile | runs in the 80 % interval |",
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
