"""A path in another state: the same stations with other numbers, at the median and as drawn by a run."""

import math
from dataclasses import replace
from operator import attrgetter
from typing import Any

from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import in_scenario
from dtnsim.ground.records import Demand, Phase, Problem, Transfer
from dtnsim.simulation.jobs import phases_of


def check_same(old: Problem, new: Problem, active: tuple[int, ...]) -> None:
    """Refuses changes of a path's parts or data by ``active`` events: only numbers may change while it runs."""
    where = f"events.{active[-1]}.set" if active else "events"
    before, after = {s.name for s in old.stations}, {s.name for s in new.stations}
    if before != after:
        names, remedy = ", ".join(sorted(before ^ after)[:4]), "only numbers may change while it runs"
        raise SpecError("changes what the path is made of", key=where, value=names, remedy=remedy)
    for both in zip(old.transfers, new.transfers, strict=True):
        a, b = ((t.files, t.payload_B, t.workers, t.start_s, [p.name for p in phases_of(t)]) for t in both)
        if a != b:
            message = "changes what is moved, or how many workers move it"
            remedy = "events may change hosts, network and costs"
            raise SpecError(message, key=where, value=both[0].name, remedy=remedy)


def as_drawn(old: Problem, new: Problem, drawn: Problem, scenario: int) -> Problem:
    """A variant in a drawn scenario: every number changes by the same factor as its median.

    Stations are in the order of ``old``; what was nothing takes the median as it is.
    """
    by_name = {s.name: s for s in new.stations}
    new = replace(new, stations=tuple(by_name[s.name] for s in old.stations))
    if drawn is old:
        return new
    stations = tuple(
        replace(s, capacity=_scaled(o.capacity, s.capacity, d.capacity, scenario))
        for o, s, d in zip(old.stations, new.stations, drawn.stations, strict=True)
    )
    transfers = tuple(
        drawn_transfer(o, n, d, scenario) for o, n, d in zip(old.transfers, new.transfers, drawn.transfers, strict=True)
    )
    return replace(new, stations=stations, transfers=transfers)


def _scaled(old: Any, new: Any, drawn: Any, scenario: int) -> float:
    before, after, value = in_scenario(old, 0), in_scenario(new, 0), in_scenario(drawn, scenario)
    if before == after:
        return value
    if before == 0 or not math.isfinite(before) or not math.isfinite(after):
        return after
    return value * after / before


def drawn_transfer(old: Transfer, new: Transfer, drawn: Transfer, scenario: int) -> Transfer:
    """A transfer in another state in a drawn scenario; ``old`` and ``new`` are at the median."""
    before, after = ({p.name: p for p in t.phases} for t in (old, drawn))
    phases = tuple(  # a draw may fall into other stretches of the cache; those are not simulated by themselves
        _drawn_phase(before[p.name], p, after[p.name], scenario) if p.name in before and p.name in after else p
        for p in new.phases
    )
    buffered = new.buffered
    if buffered is not None and old.buffered is not None and drawn.buffered is not None:
        buffered = _drawn_phase(old.buffered, buffered, drawn.buffered, scenario)
    return replace(new, phases=phases, buffered=buffered, cache=drawn.cache)


def _drawn_phase(old: Phase, new: Phase, drawn: Phase, scenario: int) -> Phase:
    def demands(part: str) -> tuple[Demand, ...]:
        before, after = ({_name(d): d for d in getattr(p, part)} for p in (old, drawn))
        result = []
        for demand in getattr(new, part):
            o, d = before.get(_name(demand)), after.get(_name(demand))
            if o is not None and d is not None:
                demand = replace(demand, per_byte=_scaled(o.per_byte, demand.per_byte, d.per_byte, scenario))
            result.append(demand)
        return tuple(result)

    return replace(new, demands=demands("demands"), delays=demands("delays"))


_name = attrgetter("station", "what", "each", "below_cache", "missed")  # which demand it is of those of a phase
