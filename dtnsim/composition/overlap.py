"""What a worker does between its writes, and the medium behind a page cache, go on at the same time.

A tool that verifies each file after it has written it leaves the medium that time to take what is in memory. The work
of the medium moves from the stretch in which the writer waits for it into the step that follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dtnsim.composition.waits import alone, positive
from dtnsim.ground.quantity import Value
from dtnsim.ground.records import Demand, Phase, Station
from dtnsim.ground.term import Term, term


def beside(phases: Sequence[Phase], whole: Phase, stations: Mapping[str, Station], room_share: Value) -> list[Phase]:
    """The phases of one worker, with what the medium does while the worker is at another step.

    Args:
        phases: All of them.
        whole: The step that writes through the page cache, undivided.
        stations: By name.
        room_share: Part of a file that the cache holds [1].
    """
    writing = [n for n, p in enumerate(phases) if p.step == whole.step]
    others = [n for n, p in enumerate(phases) if p.step != whole.step and p.demands]
    if not writing or not others:
        return list(phases)
    medium = _seconds([d for d in whole.demands if d.below_cache], stations)
    free = _seconds([d for d in whole.demands if not d.below_cache], stations) + _waits(whole)
    takes = sum((_seconds(phases[n].demands, stations) + _waits(phases[n]) for n in writing), 0.0)
    away = sum((_seconds(phases[n].demands, stations) + _waits(phases[n]) for n in others), 0.0)
    hidden = np.minimum(np.minimum(np.maximum(takes - free, 0.0), away), room_share * medium)
    last, next_one = writing[-1], others[-1]
    held = _seconds([d for d in phases[last].demands if d.below_cache], stations)
    if not positive(hidden) or not positive(held):
        return list(phases)
    part = np.minimum(hidden / np.where(np.asarray(held) > 0, held, 1.0), 1.0)
    made = list(phases)
    kept = [_times(d, 1.0 - part) if d.below_cache else d for d in phases[last].demands]
    moved = [_times(d, part, aside=True) for d in phases[last].demands if d.below_cache]
    made[last] = replace(phases[last], demands=tuple(kept))
    made[next_one] = replace(phases[next_one], demands=(*phases[next_one].demands, *moved))
    return made


def _seconds(demands: Sequence[Demand], stations: Mapping[str, Station]) -> Value:
    return alone(stations, demands, 1)


def _waits(phase: Phase) -> Value:
    return sum((d.per_byte for d in phase.delays if d.each in ("byte", "file")), 0.0)


def _times(demand: Demand, part: Value, *, aside: bool = False) -> Demand:
    """Part of a demand."""
    share = Term(demand.per_byte, f"({demand.formula})", demand.source) * term(part)
    return replace(demand, per_byte=share.value, formula=share.formula, aside=aside)
