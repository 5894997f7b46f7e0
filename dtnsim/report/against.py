"""What changed since an answer that was kept: the answer, what holds it, the stations behind it, what it rests on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.report.document import PREDICTION

#: a number that differs by less than this is the same, and stations that are named
_SAME: Final = 0.005
_MOST: Final = 6


def read(file: str) -> dict[str, Any]:
    """A document that ``dtnsim predict --json`` has written.

    Raises:
        InputError: it cannot be read, or is none.
    """
    try:
        kept = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"--against: {file} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"--against: {file} is no JSON; give what 'dtnsim predict PATH --json' has written") from None
    if not isinstance(kept, dict) or kept.get("schema") != PREDICTION:
        said = kept.get("schema") if isinstance(kept, dict) else None
        raise InputError(f"--against: {file} is {said or 'no document'}; give what 'predict PATH --json' has written")
    return kept


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Sentences on what changed from one prediction's document to another's, the answer first, then why."""
    why = [*_stations(old, new), *_assumed(old, new), *_versions(old, new)]
    answer = [*_answer(old, new)]
    if not answer:
        answer = ["the answer is what it was"]
    elif not why:
        why = ["no station, assumption or version differs: the draws do (--seed, --samples), or the model's own error"]
    return [*answer, *why]


def _answer(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    if old["name"] != new["name"]:
        yield f"another path: {old['name']} then, {new['name']} now"
    was, now = old["throughput_Bps"], new["throughput_Bps"]
    if any(_differs(was[k], now[k]) for k in ("p10", "p50", "p90")):
        factor = f": x {now['p50'] / was['p50']:.3g}" if was["p50"] > 0 else ""
        yield f"throughput was {_rates(was)}, is {_rates(now)}{factor}"
    before, after = old["bottleneck"], new["bottleneck"]
    if before["station"] != after["station"]:
        yield f"it was held by {before['station']}, it is held by {after['station']}: {after['reason']}"


def _rates(given: dict[str, float]) -> str:
    low, middle, high = (units.show(given[k], "B/s", digits=3) for k in ("p10", "p50", "p90"))
    return f"{middle} ({low} to {high})"


def _stations(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Stations that are new, gone, or of another capacity or demand, those used most first."""
    before, after = ({s["station"]: s for s in d["stations"]} for d in (old, new))
    found = []
    for name in {**after, **before}:
        was, now = before.get(name), after.get(name)
        use = max(s["utilization"] for s in (was, now) if s is not None)
        if was is None or now is None:
            found.append((use, f"{name} is {'new' if was is None else 'gone'}"))
            continue
        said = [
            f"{words} {was[key]:.4g} -> {now[key]:.4g} {now['unit'].removesuffix('/s')}{per}"
            for key, words, per in (("capacity", "capacity", "/s"), ("demand_per_byte", "a byte costs", ""))
            if _differs(was[key], now[key])
        ]
        if said:
            found.append((use, f"{name}: {', '.join(said)}"))
    found.sort(key=lambda entry: -entry[0])
    yield from (words for _, words in found[:_MOST])
    if len(found) > _MOST:
        yield f"and {len(found) - _MOST} more stations, which are used less"


def _assumed(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    before, after = ({a["key"]: a["value"] for a in d.get("assumed", ())} for d in (old, new))
    for key in {**before, **after}:
        if key not in after:
            yield f"{key} is stated now, or matters no more: {before[key]} was assumed"
        elif key not in before:
            yield f"{key} matters now: {after[key]} is assumed"
        elif before[key] != after[key]:
            yield f"{key} was assumed {before[key]}, is assumed {after[key]}"


def _versions(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    before, after = (d.get("versions") or {} for d in (old, new))
    for name in after:
        if before.get(name) != after[name]:
            yield f"{name} was {before.get(name, 'not noted')}, is {after[name]}"


def _differs(was: float | None, now: float | None) -> bool:
    if was is None or now is None:
        return was is not now
    return abs(now - was) > _SAME * max(abs(was), abs(now))
