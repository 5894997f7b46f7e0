"""Tool runs of one round-trip time predicted by what the runs of the others say, and which tool is chosen.

    python .ci/tool_folds.py [TABLE ...]

Tables have the columns of calibration/tools-truth/public.csv. What was fitted on these runs is the work of log-ins and
program starts, and the width of the intervals. Both are estimated anew without the runs of a round-trip time, and then
judged on them: the work as one number of seconds a tool, which the other runs of an empty folder or one byte lack or
have too much; the width as one factor for all. Then which tool is chosen where several were measured.
"""

from __future__ import annotations

import csv
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dtnsim.evidence import tool_runs
from dtnsim.ground import library
from dtnsim.ground.uncertainty import WITHIN

#: round-trip times that are taken together [s]: below 3, 30 and 100 ms, and longer
EDGES = (0.003, 0.03, 0.1, 10.0)
#: columns that make a condition, in which tools can be compared
AROUND = ("rate_bps", "rtt_s", "buffer_bytes", "loss", "mtu", "cc", "dataset", "direction", "tcp_rmem_max",
          "tcp_wmem_max", "rerun_nothing_changed")  # fmt: skip
#: tools that have to be measured for a choice
SEVERAL = 3
#: part of the runs that an interval should hold
HELD = 0.8
#: times as long as the fastest that counts as good
_AS_GOOD = 1.1


@dataclass(frozen=True, slots=True)
class Run:
    """A run and what is predicted for it; ``around`` is the path and the data, ``way`` the tool with its options."""

    tool: str
    point: str
    rtt_s: float
    empty: bool
    measured_s: float
    told: tool_runs.Answer
    around: tuple[str, ...] = ()
    way: str = ""

    @property
    def fold(self) -> int:
        """Which group of round-trip times it belongs to."""
        return next(n for n, edge in enumerate(EDGES) if self.rtt_s < edge)


@dataclass(frozen=True, slots=True)
class Choice:
    """A condition in which several tools were measured, and the one that is predicted to be the fastest.

    Attributes:
        around: The path and the data.
        tools: Tools measured.
        chosen: The tool, with its options, that is predicted to be the fastest.
        behind: Its measured time over that of the fastest [1].
    """

    around: tuple[str, ...]
    tools: int
    chosen: str
    behind: float


@dataclass(frozen=True, slots=True)
class Fold:
    """A group of round-trip times, predicted by the others.

    Attributes:
        low_s, high_s: Its round-trip times.
        points: Points in it.
        error, error_in: Median error of its points, by the work that the other groups say and by that in use.
        last: 90 % quantile of the errors by the others' work.
        held, held_in: Runs inside the interval, by the others' width and by that in use.
        runs: Runs in it.
        errors: Errors of its points by the others' work, rising.
    """

    low_s: float
    high_s: float
    points: int
    error: float
    error_in: float
    last: float
    held: float
    held_in: float
    runs: int
    errors: tuple[float, ...]


def runs(rows: Sequence[Mapping[str, str]], samples: int = 64) -> list[Run]:
    """Every row with its prediction; rows that are alike are predicted once."""
    answers: dict[str, tool_runs.Answer] = {}
    points = []
    for row in rows:
        run = tool_runs.run_of(row)
        if run.alike not in answers:
            answers[run.alike] = tool_runs.answer(run, samples)
        empty = (row.get("dataset") or "").startswith("Z")
        key = row.get("tool_key") or tool_runs.key_of(row)
        rtt, wall = float(row["rtt_s"]), float(row["wall_s"])
        way = " ".join(filter(None, (key, row.get("options"), row.get("env"))))
        around = (*(row.get(name) or "" for name in AROUND), row["files"], row["total_bytes"])
        points.append(Run(key, row.get("point") or run.alike, rtt, empty, wall, answers[run.alike], around, way))
    return points


def choices(points: Sequence[Run]) -> list[Choice]:
    """Every condition with at least `SEVERAL` tools, and what is predicted to be the fastest there."""
    conditions: dict[tuple[str, ...], dict[str, list[Run]]] = {}
    for run in points:
        conditions.setdefault(run.around, {}).setdefault(run.way, []).append(run)
    picked = []
    for around, ways in conditions.items():
        tools = len({run.tool for same in ways.values() for run in same})
        if tools < SEVERAL:
            continue
        took = {way: statistics.median(run.measured_s for run in same) for way, same in ways.items()}
        chosen = min(ways, key=lambda way: ways[way][0].told.p50_s)
        picked.append(Choice(around, tools, chosen, took[chosen] / min(took.values())))
    return picked


def folds(points: Sequence[Run]) -> list[Fold]:
    """Every group of round-trip times by the runs outside it."""
    each = []
    for fold in sorted({r.fold for r in points}):
        inside, others = [r for r in points if r.fold == fold], [r for r in points if r.fold != fold]
        if not others:
            continue
        work, width = _work(others), _width(others)
        errors = sorted(_errors(inside, work))
        each.append(
            Fold(
                min(r.rtt_s for r in inside),
                max(r.rtt_s for r in inside),
                len(errors),
                statistics.median(errors),
                statistics.median(_errors(inside, {})),
                errors[min(int(0.9 * len(errors)), len(errors) - 1)],
                _held(inside, work, width),
                _held(inside, {}, 1.0),
                len(inside),
                tuple(errors),
            )
        )
    return each


def together(parts: Sequence[Fold]) -> tuple[float, float, float]:
    """Median and 90 % quantile of the errors of all points, and the part of all runs inside, by the others' widths."""
    errors = sorted(e for fold in parts for e in fold.errors)
    held = sum(fold.held * fold.runs for fold in parts) / sum(fold.runs for fold in parts)
    return statistics.median(errors), errors[min(int(0.9 * len(errors)), len(errors) - 1)], held


def _work(points: Sequence[Run]) -> dict[str, float]:
    """Seconds that the runs of a tool without data take longer than predicted; nothing of a tool that has none."""
    late: dict[str, list[float]] = {}
    for run in points:
        if run.empty:
            late.setdefault(run.tool, []).append(run.measured_s - run.told.p50_s)
    return {tool: statistics.median(several) for tool, several in late.items()}


def _errors(measured: Sequence[Run], work: Mapping[str, float]) -> list[float]:
    points: dict[str, list[Run]] = {}
    for run in measured:
        points.setdefault(run.point, []).append(run)
    return [
        abs((same[0].told.p50_s + work.get(same[0].tool, 0.0)) / statistics.median(r.measured_s for r in same) - 1)
        for same in points.values()
    ]


def _distance(run: Run, more_s: float = 0.0) -> float:
    """How far a run is from its prediction, in widths of its own interval on that side [1]."""
    middle = max(run.told.p50_s + more_s, 1e-9)
    off = math.log(run.measured_s / middle)
    side = math.log(run.told.p90_s / run.told.p50_s) if off > 0 else math.log(run.told.p50_s / run.told.p10_s)
    return abs(off) / max(side, 1e-9)


def _width(points: Sequence[Run]) -> float:
    """Factor on all intervals by which they would have held as many runs as they should."""
    far = sorted(_distance(run) for run in points)
    return far[min(int(HELD * len(far)), len(far) - 1)]


def _held(points: Sequence[Run], work: Mapping[str, float], width: float) -> float:
    inside = [_distance(run, work.get(run.tool, 0.0)) <= width for run in points]
    return sum(inside) / len(inside)


def main(tables: list[str]) -> None:
    """Reads, predicts and prints."""
    public = library.root("calibration") / "tools-truth" / "public.csv"
    rows = [row for path in tables or [str(public)] for row in csv.DictReader(Path(path).read_text().splitlines())]
    measured = runs(rows)
    print(f"round trip [ms]    points  median  (in sample)  90th percentile  in the {WITHIN} interval  (in sample)")
    each = folds(measured)
    for fold in each:
        print(
            f"{1e3 * fold.low_s:6.3g} to {1e3 * fold.high_s:<6.3g} {fold.points:8d} {fold.error:8.1%}"
            f" {fold.error_in:10.1%} {fold.last:14.1%} {fold.held:19.0%} {fold.held_in:15.0%}"
        )
    if each:
        error, last, held = together(each)
        points = sum(fold.points for fold in each)
        print(f"{'all':17} {points:8d} {error:8.1%} {'':10} {last:14.1%} {held:19.0%}")
    chosen = choices(measured)
    right = sum(choice.behind <= _AS_GOOD for choice in chosen)
    print(f"\nPredicted to be the fastest, and measured so or within 10 % of it: {right} of {len(chosen)} conditions")
    for choice in chosen:
        if choice.behind > _AS_GOOD:
            print(f"  not: {choice.chosen} takes {choice.behind:.2f} times as long ({', '.join(choice.around)})")


if __name__ == "__main__":
    main(sys.argv[1:])
