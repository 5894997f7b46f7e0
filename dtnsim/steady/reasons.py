"""Why something binds, in words an engineer can check."""

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from dtnsim.ground import units, yamlio
from dtnsim.ground.records import SLOW_START, Bottleneck, Demand, Phase, Problem, Station, Transfer
from dtnsim.physics._arrays import FloatArray as Array, Index
from dtnsim.steady import ceilings
from dtnsim.steady.matrices import Matrices

_PLAIN = 0.1  #: a demand this near to one unit per byte is not worth stating, nor is a smaller part of a demand
BOTH_WAYS: Final = "shared by reads and writes"  #: drives that a transfer reads and writes at once
_WORK_A_CYCLE = re.compile(r"Hz x (?!1$)[\d.]+$")  #: a clock of which a cycle does more, or less, than another's
_A_GOOD_PART = 0.1  #: share of all waits from which on a wait beside the longest is named
_NEARLY_ALL = 0.97  #: share of the workers' time from which on the rest of it is not worth a word
_TIE = 1e-9  #: stations whose times differ by less than this bind equally


class Cause(NamedTuple):
    """What binds a transfer: a station (index), or waiting (None); and in which phase.

    If no station is busy all the time, ``busy`` and ``waits`` have the shares of the workers' time, by phase.
    """

    station: int | None
    phase: int
    direct: bool
    busy: tuple[float, ...] = ()
    waits: tuple[float, ...] = ()


def cause_of(m: Matrices, f: int, binding: int) -> Cause:
    """Cause of a transfer's median rate: station ``binding``, or for -1 the largest part of its workers' time."""
    if binding >= 0:
        return Cause(binding, _phase_at(m, f, binding), direct=True)
    times = worker_times(m, f)
    busy = [float(t[0].max(initial=0.0)) for _, t in times]
    waits = [float(m.delay[0, p]) for p in m.phases_of(f)]
    lead = float(m.lead[0, f])
    shared = ceilings.slowest_time(m, f)
    if shared * m.workers[f] > (sum(busy) + sum(waits)) * (1 + 1e-9):  # the workers wait for a station they share
        return _shared_pace(m, f, shared, lead)
    waits[0] += lead * m.workers[f]
    gone = float(m.opening[0, f])  # once, at the start of a timed transfer
    waits[0] += (sum(busy) + sum(waits)) * gone / max(1.0 - gone, 1e-300)
    total = max(sum(busy) + sum(waits), 1e-300)
    shares = tuple(b / total for b in busy), tuple(w / total for w in waits)
    if sum(waits) > max(busy, default=0.0):
        return Cause(None, int(np.argmax(waits)), False, *shares)  # noqa: FBT003 - not direct
    phase = int(np.argmax(busy))
    visited, seconds = times[phase]
    return Cause(int(visited[np.argmax(seconds[0])]), phase, len(times) == 1, *shares)


def worker_times(m: Matrices, f: int) -> list[tuple[Index, Array]]:
    """For each phase of a transfer: its stations, and a worker's time per byte at each, (S, stations) [s/B].

    A station that binds has all workers there, so the rate of one while the others are elsewhere does not count.
    """
    return [
        (station, seconds * np.where(m.own[station], m.alone[:, station] * m.workers[f], 1.0))
        for station, seconds in ceilings.solo_times(m, f)
    ]


def _shared_pace(m: Matrices, f: int, shared: float, lead: float) -> Cause:
    """Cause if a station shared by all workers sets the pace once the transfer's lead is over."""
    station, demand = m.total.row_entries(f)
    with np.errstate(divide="ignore"):
        taken = demand[0] / np.append(m.capacity[0], np.inf)[station]
    k = int(station[np.flatnonzero(taken >= taken.max() * (1 - _TIE))[-1]])  # of a link and its streams, these say why
    part, numbers, place = shared / (shared + lead), m.phases_of(f), _phase_at(m, f, k)
    busy = tuple(part * (n == place) for n in range(len(numbers)))
    waits = (1 - part, *(0.0 for _ in numbers[1:]))
    return Cause(k if shared >= lead else None, place, False, busy, waits)  # noqa: FBT003 - not direct


def _phase_at(m: Matrices, f: int, station: int) -> int:
    """The phase of a transfer with the largest demand at a station."""
    costs = (m.phases.row_entries(p) for p in m.phases_of(f))
    return int(np.argmax([float(cost[0][visited == station].sum()) for visited, cost in costs]))


def work(problem: Problem, f: int, cause: Cause) -> tuple[str, ...]:
    """The work at the binding station, or the waits, largest first; then the phase that takes longest."""
    transfer = problem.transfers[f]
    if cause.station is None:
        return tuple(dict.fromkeys(d.what for d in _waits(transfer)))
    phase, name = transfer.phases[cause.phase], problem.stations[cause.station].name
    costs = sorted(_visits(transfer, phase, name), key=lambda d: -float(np.max(d.per_byte)))
    longest = [phase.name] if not cause.direct and len(transfer.phases) > 1 else []
    return tuple(dict.fromkeys([*(d.what for d in costs), *longest]))


def _waits(transfer: Transfer) -> list[Demand]:
    return sorted((d for p in transfer.phases for d in p.delays), key=lambda d: -float(np.max(d.per_byte)))


def _visits(transfer: Transfer, phase: Phase, station: str) -> list[Demand]:
    """Demands on a station in all phases of a phase's step."""
    return [d for p in transfer.phases if p.step == phase.step for d in p.demands if d.station == station]


def bottleneck(problem: Problem, f: int, cause: Cause) -> Bottleneck:
    """The bottleneck of transfer ``f``, and why it binds."""
    text, takes = reason(problem, f, cause), work(problem, f, cause)
    if cause.station is None:
        name = f"{problem.transfers[f].name}.workers"
        return Bottleneck(name, "workers", "tool", "latency", text, remedy(problem, opened_by(problem, f)), takes)
    s = problem.stations[cause.station]
    relief = remedy(problem, s)
    relief = f"another volume for one end, where both are on this one; else {relief}" if BOTH_WAYS in text else relief
    return Bottleneck(s.name, s.component, s.host, s.kind, text, relief, takes)


def opened_by(problem: Problem, f: int) -> Station | None:
    """The connection whose slow start is the workers' longest wait, if a shallow buffer ends it early."""
    transfer = problem.transfers[f]
    if not (waits := _waits(transfer)) or waits[0].what != SLOW_START:
        return None
    visited = {d.station for p in transfer.phases for d in p.demands}
    short = (n for n, c in problem.connections.items() if n in visited and np.all(np.asarray(c.limit) == "buffer"))
    return next((s for n in short for s in problem.stations if s.name == n), None)


def reason(problem: Problem, f: int, cause: Cause, named: int | None = None) -> str:
    """The cause in a sentence, which leaves out the phase ``named``.

    Args:
        named: Number of a phase that the reader has been told of.
    """
    transfer = problem.transfers[f]
    if cause.station is None:
        first, *others = _waits(transfer)
        total = sum(float(np.max(d.per_byte)) for d in (first, *others))
        also = ((d.what, float(np.max(d.per_byte)) / total) for d in others)
        more = "".join(f", and for {what} ({share:.0%} of the wait)" for what, share in also if share >= _A_GOOD_PART)
        return f"workers wait for {first.what} ({first.formula}){more}" + _other_time(problem, f, cause)
    station = problem.stations[cause.station]
    phase = transfer.phases[cause.phase]
    sharers = _visitors(problem)[station.name, transfer.turn] - 1
    text = full(station, _visits(transfer, phase, station.name), sharers)
    if not cause.direct and len(transfer.phases) > 1 and cause.phase != named:
        text += f" (in the phase '{phase.name}', which takes the longest of {len(transfer.phases)})"
    return text + _other_time(problem, f, cause)


def full(station: Station, demands: list[Demand], sharers: int) -> str:
    """Sentence that a station is full: why, and how many other transfers share it.

    Args:
        station: The station.
        demands: The transfer's demands there.
        sharers: How many other transfers cross it.
    """
    text = _station_words(station, demands)
    return f"{text}, shared with {sharers} other transfer{'s' if sharers > 1 else ''}" if sharers > 0 else text


@lru_cache(maxsize=1)
def _visitors(problem: Problem) -> Counter[tuple[str, int]]:
    """Number of transfers that visit each station, by turn."""
    return Counter(
        (name, t.turn) for t in problem.transfers for name in {d.station for p in t.phases for d in p.demands}
    )


def _other_time(problem: Problem, f: int, cause: Cause) -> str:
    """The rest of the workers' time, if no station is busy all the time."""
    transfer = problem.transfers[f]
    if not cause.busy or len(cause.busy) != len(transfer.phases):
        return ""
    main_share = sum(cause.waits) if cause.station is None else cause.busy[cause.phase]
    if main_share >= _NEARLY_ALL:
        return ""
    parts = []
    if cause.station is not None and sum(cause.waits) > 0:
        waits = [d for p in transfer.phases for d in p.delays]
        parts.append((sum(cause.waits), max(waits, key=lambda d: float(np.max(d.per_byte))).what))
    parts += [
        (share, f"the phase '{p.name}'" if len(transfer.phases) > 1 else "moving bytes")
        for n, (share, p) in enumerate(zip(cause.busy, transfer.phases, strict=True))
        if cause.station is None or n != cause.phase
    ]
    words = [f"{name} {share:.0%}" for share, name in sorted(parts, reverse=True)[:2] if share >= 1 - _NEARLY_ALL]
    return f"; {main_share:.0%} of the time, {' and '.join(words)}" if words else ""


def _station_words(station: Station, demands: list[Demand]) -> str:
    capacity = float(np.ravel(station.capacity)[0])
    if station.unit == "cycles":
        parts: dict[str, float] = {}
        for d in demands:
            parts[d.what] = parts.get(d.what, 0.0) + float(np.ravel(d.per_byte)[0])
        work = " + ".join(f"{label} {c:.2f}" for label, c in sorted(parts.items(), key=lambda p: -p[1]) if c > 0)
        verb = "are" if station.kind == "cpu" or "queues" in station.label else "is"
        text = f"{station.label or station.name} {verb} saturated: {work} cycles/B at {units.show(capacity, 'Hz')}"
        text += f" ({station.formula} of work a cycle)" if _WORK_A_CYCLE.search(station.formula) else ""
        slower = 1 / (1 - station.slowed) - 1
        return text + (f" ({slower:.1%} slower under the load of memory)" if station.slowed else "")
    label = demands[0].what if demands else station.kind
    if station.kind in ("tcp", "window", "target", "transport"):
        return f"{label}: {units.show(capacity, 'B/s')}"
    size = units.show(capacity, {"B": "B/s", "op": "1/s"}.get(station.unit, "1"))
    text = f"{station.name} is full: {label}, {station.formula} gives {size}"
    cost = sum(float(np.ravel(d.per_byte)[0]) for d in demands)
    text += f", and a byte takes {cost:.4g} {station.unit} of it" if abs(cost - 1) > _PLAIN else ""
    ways = [sum(float(np.ravel(d.per_byte)[0]) for d in demands if way in d.what.split()) for way in ("read", "write")]
    return text + (f", {BOTH_WAYS} ({ways[0]:.3g} and {ways[1]:.3g})" if min(ways) > _PLAIN * cost else "")


#: words by kind: `stations`, `remedies`, `evidence` and others
WORDS: Final[dict[str, dict[str, Any]]] = yamlio.plain(Path(__file__).with_name("kinds.yaml"))
#: kind of station -> what relieves it
_BY_KIND: Final[dict[str, str]] = {kind: said for kinds, said in WORDS["remedies"].items() for kind in kinds.split()}


def remedy(problem: Problem, station: Station | None) -> str:
    """The remedy for a station, or (None) for the waits of a tool's workers; empty if none is known."""
    if station is None:
        return _BY_KIND["latency"]
    if station.remedy:
        return station.remedy.replace("{key}", key_of(problem, station))
    text = _BY_KIND.get(station.kind, "")
    key = key_of(problem, station)
    if station.kind == "core" and not key.endswith("cpu"):  # a thread that works for a volume
        key = problem.keys.get(f"{station.host}.cpu", "")
    return text.format(key=key) if key or "{key}" not in text else ""


def key_of(problem: Problem, station: Station) -> str:
    """Key of a station's component in the path file; empty for connections and workers."""
    parts = station.name.partition("[")[0].split(".")
    for length in range(len(parts), 0, -1):
        key = problem.keys.get(".".join(parts[:length]))
        if key is not None:
            return key
    return ""
