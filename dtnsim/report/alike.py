"""Transfers of a simulation that are alike, as one: twenty equal transfers are one line, with quantiles first."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from dtnsim.ground import units
from dtnsim.report import text
from dtnsim.simulation.durations import quantiles

if TYPE_CHECKING:
    from dtnsim.simulation.results import Run, TransferRun

#: so many alike are one line
TOGETHER: Final = 4
#: so many lines are shown whole, and of more so many
MOST: Final = 100
FEW: Final = 20
#: payloads closer than this (relative) are equal
_SAME: Final = 1e-9
_SHARES: Final = (0.5, 0.9, 0.99)
_NAMES: Final = tuple(f"p{round(100 * share)}" for share in _SHARES)


def groups(run: Run) -> list[list[int]]:
    """Numbers of the transfers that are alike but for a number in their names: equal files and bytes, all of them done.

    Those that stand alone, or of which there are few, are groups of one; in the order of the file.
    """
    found: dict[tuple[Any, ...], list[int]] = {}
    for f, t in enumerate(run.transfers):
        alike: tuple[Any, ...] = (re.sub(r"\d+", "*", t.name), t.files, round(math.log1p(t.payload_B) / _SAME))
        found.setdefault(alike if math.isfinite(t.finished_s) else (f,), []).append(f)
    made = [[f] for those in found.values() if len(those) < TOGETHER for f in those]
    made += [those for those in found.values() if len(those) >= TOGETHER]
    return sorted(made)


def longest(run: Run, every: Sequence[Sequence[int]]) -> Sequence[Sequence[int]]:
    """All groups, or of very many those that take longest, in the order of the file."""
    if len(every) <= MOST:
        return every
    took = [max(_end(run, f) for f in group) for group in every]
    return [every[n] for n in sorted(sorted(range(len(every)), key=took.__getitem__)[-FEW:])]


def _end(run: Run, f: int) -> float:
    duration = run.transfers[f].duration_s
    return math.inf if math.isnan(duration) else duration


def name_of(run: Run, group: Sequence[int]) -> str:
    """The name of a group of transfers."""
    first, last = run.transfers[group[0]].name, run.transfers[group[-1]].name
    return first if len(group) == 1 else f"{first} to {last} ({len(group)} alike)"


def slowest(run: Run, group: Sequence[int]) -> int:
    """The transfer of a group that takes longest."""
    return max(group, key=lambda f: run.transfers[f].duration_s) if len(group) > 1 else group[0]


def summary(run: Run, those: Sequence[Sequence[int]]) -> Any:
    """The table of some groups of transfers: a line for each, and all transfers in the last line."""
    several = any(t.files > 1 for t in run.transfers)
    many = any(len(group) > 1 for group in those)
    moved = [("files", "right"), ("bytes", "right")]
    quantile = [(n, "right") for n in _NAMES[1:]]
    head = [(f"duration {_NAMES[0]}", "right"), *quantile] if many else [*moved, ("duration", "right")]
    head += [("throughput", "right"), *(moved if many else [])]
    head += [(f"a file: {_NAMES[0]}", "right"), *quantile] if several else []
    rows = text.table(("transfer", "left"), *head, ("workers wait", "right"))
    for group in those:
        alike = [run.transfers[f] for f in group]
        rows.add_row(text.plain(name_of(run, group)), *_cells(run, alike, several=several, many=many))
    if len(those) > 1:
        rows.add_row("all", *_cells(run, run.transfers, several=several, many=many))
    return rows


def _cells(run: Run, those: Sequence[TransferRun], *, several: bool, many: bool) -> list[str]:
    """What one line says of some transfers."""
    done = all(math.isfinite(t.finished_s) for t in those)
    payload = sum(t.payload_B for t in those)
    begun = min((t.started_s + t.omitted_s for t in those if not math.isnan(t.started_s)), default=math.nan)
    spent = (max(t.finished_s for t in those) if done else run.end_s) - begun
    speed = text.rate(payload / spent) if spent > 0 else ""
    if not done:
        durations = ["not done"]
    elif len(those) == 1 or not many:
        durations = [units.show(those[0].duration_s if len(those) == 1 else spent, "s")]
    else:
        known = [t.duration_s for t in those]
        durations = [units.show(float(v), "s") for v in quantiles(known, [1] * len(known), _SHARES)]
    files = ([units.show(float(v), "s") for v in file_quantiles(those)] or [""] * len(_SHARES)) if several else []
    waited, moved = sum(t.waiting_s for t in those), sum(t.moving_s for t in those)
    said = [str(sum(t.files for t in those)), units.show(payload, "B")]
    took = (durations + [""] * len(_SHARES))[: len(_SHARES) if many else 1]
    speed = speed if done or not speed else f"{speed} so far"
    share = f"{waited / (waited + moved):.0%}" if waited + moved > 0 else ""
    return [*([*took, speed, *said] if many else [*said, *took, speed]), *files, share]


def file_quantiles(those: Sequence[TransferRun]) -> list[float]:
    """Durations that these shares of the files of some transfers do not exceed [s]; empty where no file is done."""
    times = [s for t in those for s in t.file_s.tolist()]
    counts = [n for t in those for n in t.file_counts.tolist()]
    return [float(v) for v in quantiles(times, counts, _SHARES)] if times else []
