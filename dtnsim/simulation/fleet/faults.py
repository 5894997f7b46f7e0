"""Failures and maintenance, drawn before time begins: every fault has random numbers of its own.

So transfers do not affect which faults happen when, and two fleets with one seed meet the same faults.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Final

import numpy as np

from dtnsim.description import calendar
from dtnsim.description.events import Failure, Maintenance
from dtnsim.description.workload import Workload
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity
from dtnsim.ground.records import Station
from dtnsim.physics import arrivals as law

_MOST: Final = 1_000_000  #: faults of one cause in one run after which it is refused


@dataclass(frozen=True, slots=True)
class Fault:
    """A change of some stations' capacities."""

    time: float  #: When [s].
    factors: tuple[tuple[int, float], ...]  #: (number of a station, part of its capacity from now on).
    breaks: bool  #: Whether what crosses them is broken off.
    begins: bool  #: Whether something goes, rather than comes back.


@dataclass(frozen=True, slots=True)
class Outage:
    """A stretch of time in which something is down or degraded."""

    #: When [s].
    begin: float
    end: float
    factors: tuple[tuple[int, float], ...]  #: (station, part of its capacity meanwhile).
    breaks: bool  #: Whether what crosses its stations is broken off at its beginning.
    name: str  #: Of what is down.
    word: str  #: What it is: down, degraded, down for maintenance.


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that fails by itself."""

    name: str  #: Its name.
    stations: tuple[int, ...]  #: Stations that go with it.
    #: Of an array of drives: for one lost drive, two ..., what each of its stations has left; then it is lost.
    levels: tuple[tuple[tuple[int, float], ...], ...] = ()
    drives: int = 0  #: Number of its drives.


#: finds the drives that a pattern names, as one `Target` an array
Arrays = Callable[[str, Quantity, str], list[Target]]


def _targets(target: tuple[str, str], stations: Sequence[Station | None], key: str) -> list[Target]:
    """The targets of a failure or a maintenance, one by one."""
    kind, pattern = target
    by_name: dict[str, list[int]] = {}
    for k, station in enumerate(stations):
        if station is None:  # a name that is no station
            continue
        name = station.host if kind == "hosts" else station.name
        if (kind == "links") == (station.host == "network") or kind == "stations":
            plain = name.removeprefix("network.") if kind == "links" else name
            if fnmatchcase(name, pattern.replace("[", "[[]")) or fnmatchcase(plain, pattern.replace("[", "[[]")):
                by_name.setdefault(name, []).append(k)
    if not by_name:
        names = {s.host if kind == "hosts" else s.name for s in stations if s is not None}
        fitting = sorted(n for n in names if kind == "stations" or (kind == "links") == n.startswith("network"))
        remedy = f"write one of {', '.join(fitting[:10])}"
        raise SpecError(f"no {kind} that transfers cross have that name", key=key, value=pattern, remedy=remedy)
    return [Target(name, tuple(numbers)) for name, numbers in by_name.items()]


def outages(workload: Workload, stations: Sequence[Station | None], seed: int, arrays: Arrays) -> list[Outage]:
    """All stretches in which something is down in one run; ``arrays`` finds arrays of drives."""
    stretches: list[Outage] = []
    span = workload.span.value
    for n, failure in enumerate(workload.failures):
        key = f"workload.failures.{n}"
        kind, pattern = failure.target
        if kind == "drives":
            assert failure.rebuild is not None
            those = arrays(pattern, failure.rebuild, key)
        else:
            those = _targets(failure.target, stations, key)
        if span / failure.mtbf.value * len(those) > _MOST:
            raise SpecError("fails too often to be reckoned with", key=f"{key}.mtbf", remedy="give a longer time")
        for target in those:
            rng = np.random.default_rng([seed, 1, n, *target.name.encode()])
            each = _drives(failure, target, span, rng) if target.drives else _renewed(failure, target, span, rng)
            stretches += each
    begin = calendar.date(workload.date)
    for n, plan in enumerate(workload.maintenance):
        key = f"workload.maintenance.{n}"
        times = calendar.Cron(plan.cron).times(begin, span).tolist() if plan.cron else _planned(plan, span)
        for target in _targets(plan.target, stations, key):
            factors = tuple((k, plan.factor) for k in target.stations)
            word = f"down for maintenance{': ' + plan.what if plan.what else ''}"
            stretches += [
                Outage(t, t + plan.lasts.value, factors, plan.transfers == "fail", target.name, word) for t in times
            ]
    return sorted(stretches, key=lambda o: (o.begin, o.name))


def _lifetime(failure: Failure, rng: np.random.Generator) -> float:
    """Time to the next failure: Weibull with the mean that is given; exponential at shape 1 [s]."""
    scale = failure.mtbf.value / math.gamma(1 + 1 / failure.shape)
    return float(scale * rng.weibull(failure.shape))


def _renewed(failure: Failure, target: Target, span: float, rng: np.random.Generator) -> Iterator[Outage]:
    """Failures of one thing: up for a lifetime, down for a repair, and so on."""
    assert failure.mttr is not None
    factors = tuple((k, failure.factor) for k in target.stations)
    word = failure.what or ("degraded" if failure.factor else "down")
    now = _lifetime(failure, rng)
    while now < span:
        mean = failure.mttr.value
        repair = mean if failure.repair == "fixed" else float(rng.exponential(mean))
        yield Outage(now, now + repair, factors, failure.transfers == "fail", target.name, word)
        now += repair + _lifetime(failure, rng)


def _drives(failure: Failure, target: Target, span: float, rng: np.random.Generator) -> Iterator[Outage]:
    """Drives of one array that fail, each by itself, and are rebuilt; the array has what those leave of it."""
    assert failure.size is not None
    assert failure.rebuild is not None
    repair = float(law.rebuild_time(failure.size.value, failure.rebuild.value))
    lost: list[tuple[float, int]] = []
    for _ in range(target.drives):
        now = _lifetime(failure, rng)
        while now < span:
            lost += [(now, 1), (now + repair, -1)]
            now += repair + _lifetime(failure, rng)
    lost.sort()
    missing = 0
    for (time, change), (until, _) in pairwise([*lost, (math.inf, 0)]):
        missing += change
        if missing and until > time:
            gone = missing > len(target.levels)
            factors = tuple((k, 0.0) for k in target.stations) if gone else target.levels[missing - 1]
            drives = f"{missing} drive{'s' if missing > 1 else ''} lost"
            word = f"data lost, {drives} at once" if gone else f"degraded, {drives}"
            yield Outage(time, until, factors, gone, target.name, word)


def _planned(plan: Maintenance, span: float) -> list[float]:
    first = plan.start.value if plan.start is not None else plan.every.value if plan.every is not None else 0.0
    if plan.every is None:
        return [first] if first < span else []
    return [float(t) for t in np.arange(first, span, plan.every.value)]


def timeline(outages: Sequence[Outage]) -> list[Fault]:
    """The faults in order of time; a station has the product of what all outages leave of it."""
    switches = [(o.begin, 1, n) for n, o in enumerate(outages)] + [(o.end, 0, n) for n, o in enumerate(outages)]
    active: dict[int, dict[int, float]] = {}
    faults: list[Fault] = []
    for time, begins, n in sorted(switches):
        outage = outages[n]
        factors = []
        for k, factor in outage.factors:
            current = active.setdefault(k, {})
            if begins:
                current[n] = factor
            else:
                current.pop(n, None)
            factors.append((k, math.prod(current.values())))
        faults.append(Fault(time, tuple(factors), bool(begins) and outage.breaks, bool(begins)))
    return faults
