"""What happens around the transfers: other people's load, a busy afternoon, drives that fail, links that drop."""

from __future__ import annotations

import csv
import math
from collections.abc import Generator, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.errors import InputError, SpecError
from dtnsim.records import Problem
from dtnsim.simulation.jobs import Job, at, legs_of

if TYPE_CHECKING:
    import simpy

    from dtnsim.components.segment import Background
    from dtnsim.simulate.engine import Engine
    from dtnsim.happenings import Event, Others
    from dtnsim.spec import PathSpec

Process = Generator[Any, Any, None]

DAY_S: Final = 86400.0
#: how often a background load that varies over the day is put right
DIURNAL_STEP_S: Final = 900.0


class World:
    """The stations of a running simulation and everything that changes them."""

    def __init__(
        self, env: simpy.Environment, engine: Engine, problem: Problem, jobs: list[Job], scenario: int
    ) -> None:
        self.env, self.engine, self.problem, self.jobs, self.scenario = env, engine, problem, jobs, scenario
        self.base = [at(s.capacity, scenario) for s in problem.stations]
        self.factor = np.ones(len(self.base))
        self.happened: list[tuple[float, str]] = []

    def matching(self, pattern: str) -> list[int]:
        """Indices of the stations that a name with ``*`` stands for.

        Raises:
            SpecError: none.
        """
        found = [k for k, s in enumerate(self.problem.stations) if fnmatchcase(s.name, pattern)]
        if not found:
            names = ", ".join(s.name for s in self.problem.stations[:12])
            raise SpecError(
                "is not a station of this path", key="station", value=pattern, remedy=f"stations: {names} ..."
            )
        return found

    def scale(self, stations: list[int], factor: float) -> None:
        """Multiplies capacities (or takes that back with the inverse)."""
        for k in stations:
            self.factor[k] = factor
            self.engine.set_capacity(k, self.base[k] * factor)
        self._recap(stations)

    def _recap(self, stations: list[int]) -> None:
        """Private stations stand in a worker's cap, not in the engine: those under way get the new one."""
        if any(self.problem.stations[k].private for k in stations):
            self.replace(self.problem)

    def replace(self, problem: Problem) -> None:
        """The path has changed: new capacities and demands for everything under way."""
        index = {s.name: k for k, s in enumerate(self.problem.stations)}
        for station in problem.stations:
            if station.name in index:
                k = index[station.name]
                self.base[k] = at(station.capacity, self.scenario)
                self.engine.set_capacity(k, self.base[k] * self.factor[k])
        same = {s.name for s in problem.stations} <= set(index)
        if not same:
            raise SpecError("changes what the path is made of; only numbers may change while it runs", key="events.set")
        scaled = _scaled(self.problem, problem, self.base, self.factor)
        for job, transfer in zip(self.jobs, problem.transfers, strict=True):
            job.legs = legs_of(scaled, transfer, scenario=self.scenario)
            if job.cache is not None:
                job.cache.set_drain(job.legs[0].drain)
            self.disturb(job)

    def disturb(self, job: Job, retry_after: float = -1.0) -> None:
        """Has a job's workers look again at what they are doing."""
        if job.changed is None or job.done:
            return
        job.abort_after = retry_after
        event, job.changed = job.changed, self.env.event()
        event.succeed()


def _scaled(old: Problem, new: Problem, base: list[float], factor: np.ndarray[Any, Any]) -> Problem:
    """The new demands on the stations of the old problem, with their capacities as they are now."""
    from dataclasses import replace

    stations = tuple(replace(s, capacity=base[k] * float(factor[k])) for k, s in enumerate(old.stations))
    return replace(new, stations=stations)


def happen(env: simpy.Environment, world: World, event: Event, recompose: Any) -> Process:
    """The process of one scheduled event."""
    yield env.timeout(event.at.value)
    what = event.what or (f"{event.station} x {event.factor:g}" if event.station else f"set {event.change}")
    world.happened.append((env.now, what))
    if event.station is not None:
        stations = world.matching(event.station)
        world.scale(stations, event.factor)
    else:
        recompose(event.change, on=True)
    if event.retry_after is not None:
        for job in world.jobs:
            world.disturb(job, event.retry_after.value)
    if event.until is None:
        return
    yield env.timeout(event.until.value - event.at.value)
    world.happened.append((env.now, f"end of: {what}"))
    if event.station is not None:
        world.scale(stations, 1.0)
    else:
        recompose(event.change, on=False)


def diurnal(env: simpy.Environment, world: World, station: int, load: Background, share: float) -> Process:
    """A segment whose background follows the day (hour 0 is the start, unless the load says an hour)."""
    start = (load.hour or 0.0) * 3600.0
    wave = load.diurnal.value
    while True:
        hour = (start + env.now) / 3600.0
        now = share * (1 + wave * math.cos(2 * math.pi * (hour - load.peak_hour) / 24))
        left = (1 - min(now, 0.999)) / (1 - min(share, 0.999))
        world.scale([station], left)
        yield env.timeout(DIURNAL_STEP_S)


def arrivals(env: simpy.Environment, world: World, others: Others, rng: np.random.Generator, folder: Path) -> Process:
    """Other people's transfers over some stations of the path."""
    stations = sorted({k for pattern in others.stations for k in world.matching(pattern)})
    row = {k: 1.0 for k in stations if world.problem.stations[k].unit == "B"}
    if not row:
        raise SpecError("none of these stations carries bytes", key="others.stations", value=str(others.stations))
    cap = others.cap.value if others.cap is not None else math.inf
    source = _trace(folder / others.trace) if others.trace else _poisson(others, rng)
    for time, size in source:
        if time > env.now:
            yield env.timeout(time - env.now)
        world.engine.transfer(row, size, weight=others.weight, cap=cap, label="others")


def _poisson(others: Others, rng: np.random.Generator) -> Iterator[tuple[float, float]]:
    """Arrivals by thinning a Poisson process of the highest rate (Lewis and Shedler 1979)."""
    assert others.rate is not None
    highest, time = others.rate.value * (1 + others.diurnal), 0.0
    if highest <= 0:
        return
    while True:
        time += rng.exponential(1 / highest)
        wave = 1 + others.diurnal * math.cos(2 * math.pi * (time / 3600 - others.peak_hour) / 24)
        if rng.random() * (1 + others.diurnal) <= wave:
            yield time, others.size.value * math.exp(others.sigma * rng.standard_normal())


def _trace(path: Path) -> Iterator[tuple[float, float]]:
    """(time [s], bytes) of each line of a CSV with the columns ``time_s`` and ``bytes``."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if not {"time_s", "bytes"} <= set(reader.fieldnames or ()):
                raise InputError(f"{path}: needs the columns time_s and bytes (found {reader.fieldnames})")
            for number, line in enumerate(reader, 2):
                try:
                    time, size = float(line["time_s"]), float(line["bytes"])
                except (TypeError, ValueError):
                    raise InputError(f"{path}:{number}: is not two numbers (got {line})") from None
                if not (math.isfinite(time) and math.isfinite(size) and time >= 0 and size >= 0):
                    raise InputError(f"{path}:{number}: time and bytes must be 0 or more (got {line})")
                yield time, size
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None


def varying(spec: PathSpec, problem: Problem) -> Iterator[tuple[int, Background, float]]:
    """Stations of segments whose background varies over the day: (index, load, mean share)."""
    index = {s.name: k for k, s in enumerate(problem.stations)}
    names = ["wan"] if len(spec.wan) == 1 else [f"wan{i + 1}" for i in range(len(spec.wan))]
    for name, segment in [*zip(names, spec.wan, strict=True), *spec.links.items()]:
        load = segment.background
        if load is not None and load.diurnal.value > 0:
            for way in ("", ".back"):
                if f"network.{name}{way}" in index:
                    yield index[f"network.{name}{way}"], load, load.share.value
