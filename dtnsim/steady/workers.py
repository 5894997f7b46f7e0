"""A transfer's workers as a station of the answer: what limits them is on the page, phase by phase."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.ground.records import SLOW_START, Demand, Phase, Problem, Station, Transfer
from dtnsim.ground.term import Term
from dtnsim.steady import solve
from dtnsim.steady.matrices import once

if TYPE_CHECKING:
    from dtnsim.steady.matrices import Index
    from dtnsim.steady.solve import Array, Matrices

#: part of the workers' time that is rounding
_ROUNDING: Final = 1e-9


def with_workers(problem: Problem, m: Matrices) -> Problem:
    """The problem with the workers of each transfer written as a station."""
    ceiling = solve.ceilings(m)[0]
    stations, transfers = list(problem.stations), []
    for f, transfer in enumerate(problem.transfers):
        if not np.isfinite(ceiling[f]):
            transfers.append(transfer)
            continue
        at_work = float(m.at_work[f])
        station = _station(transfer, at_work, float(m.opening[0, f]))
        stations.append(station)
        idle = _idle(m, f, float(ceiling[f]))
        phases: list[Phase] = []
        for phase, times in zip(transfer.phases, solve.solo_times(m, f), strict=True):
            waits = _waits(phase, station.name, transfer, at_work)
            if idle > 0 and not phases:
                why = "the slowest station's time less the workers' own"
                waits += (Demand(station.name, idle, "waiting for their share of a station", f"{idle:.7g}", why),)
            work = _work(problem, phase, times, station.name)
            phases.append(replace(phase, demands=(*phase.demands, *work, *waits), delays=()))
        transfers.append(replace(transfer, phases=tuple(phases)))
    return replace(problem, stations=tuple(stations), transfers=tuple(transfers))


def _station(transfer: Transfer, at_work: float, opening: float) -> Station:
    """Workers as a station: seconds of work in a second, less what slow start takes of a timed transfer."""
    formula = f"{at_work:.7g} workers" + (f" x (1 - {opening:.7g})" if opening else "")
    source = f"seconds of work per second of {transfer.workers:g} workers, those left without a file at the end apart"
    source += f", less the time for {SLOW_START}" if opening else ""
    capacity = at_work * (1 - opening)
    name = f"{transfer.name}.workers"
    return Station(name, "tool", "workers", "workers", capacity, "s", formula, source, private=True)


def _work(problem: Problem, phase: Phase, times: tuple[Index, Array], name: str) -> tuple[Demand, ...]:
    """The time that a worker spends moving a byte of a phase: that of the slowest station."""
    visited, solo = times
    if not solo[0].any():  # it only waits
        return ()
    slowest = int(np.argmax(solo[0]))
    at, seconds = problem.stations[visited[slowest]].name, float(solo[0, slowest])
    cost = sum(float(np.ravel(d.per_byte)[0]) for d in phase.demands if d.station == at)
    return (Demand(name, seconds, f"{phase.name} at {at}", f"{cost:.7g} / {cost / seconds:.7g}", "demand / capacity"),)


def _waits(phase: Phase, name: str, transfer: Transfer, at_work: float) -> tuple[Demand, ...]:
    """The delays of a phase as demands on the workers."""
    gone_by = once(transfer) if transfer.timed else ()
    return tuple(_waited(d, name, at_work) for d in phase.delays if d.each not in gone_by)


def _waited(delay: Demand, name: str, at_work: float) -> Demand:
    """A delay as a demand; some keep all workers waiting at the same time."""
    if delay.each != "lead" or at_work == 1:
        return replace(delay, station=name)
    whole = Term(delay.per_byte, f"({delay.formula})", delay.source) * at_work
    return replace(delay, station=name, per_byte=whole.value, formula=whole.formula)


def _idle(m: Matrices, f: int, ceiling: float) -> float:
    """Worker seconds per byte spent waiting for a station that all workers of a transfer share.

    ``ceiling``: what the workers allow [B/s].
    """
    own = sum(float(t[0].max(initial=0.0)) for _, t in solve.solo_times(m, f))
    own += sum(float(m.delay[0, p]) for p in m.phases_of(f))
    pace = (1 - float(m.opening[0, f])) / ceiling - float(m.lead[0, f])
    idle = pace * float(m.at_work[f]) - own
    return idle if idle > _ROUNDING * own else 0.0
