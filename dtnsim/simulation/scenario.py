"""Everything that a run needs, worked out and checked before time begins.

Keys that events set, and background load that varies, make *variants* of the path: the same stations with other
numbers, each composed once. Their times are known beforehand, so that impossible variants are refused at the start.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.composition.volumes import Volumes
from dtnsim.ground.errors import InputError, SpecError
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Problem
from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.simulation.variants import check_same
from dtnsim.steady import solve, timed

if TYPE_CHECKING:
    from dtnsim.components.segment import Segment
    from dtnsim.description.events import Event, Others
    from dtnsim.description.spec import PathSpec

#: (numbers of the events whose keys hold, load of the segments that vary in steps of `SHARE_STEP`)
Key = tuple[tuple[int, ...], tuple[int, ...]]

#: how often a background load that varies over the day is put right [s], and how fine
DIURNAL_STEP_S: Final = 1800.0
SHARE_STEP: Final = 0.005
_BLOCK: Final = 1024  #: arrivals of other people's transfers drawn at once
_NAMED: Final = 12  #: stations that an error names, those first that are called nearly so


@dataclass(frozen=True, slots=True)
class Crowd:
    """Other traffic of one kind, ready for the engine."""

    given: Others  #: How they arrive.
    row: dict[int, float]  #: Station -> demand of one of their bytes.
    cap: float  #: Rate that one of them cannot pass [B/s].
    weight: float  #: Share of one of them next to others.
    folder: Path  #: Where a trace lies.

    @property
    def offered_Bps(self) -> float:
        """Mean offered load [B/s]; 0 for a trace, which has an end."""
        if self.given.rate is None:
            return 0.0
        return self.given.rate.value * self.given.size.value * math.exp(self.given.sigma**2 / 2)

    def arrivals(self, rng: np.random.Generator) -> Iterator[tuple[float, float]]:
        """(time [s], bytes) of each, in order of time."""
        if self.given.trace:
            return read_trace(self.folder / self.given.trace)
        return poisson(self.given, rng)


@dataclass(slots=True)
class Scene:
    """Everything that a run needs."""

    given: PathSpec  #: The path.
    problem: Problem  #: Its stations and demands, every parameter at its median.
    events: tuple[Event, ...] = ()  #: What is scheduled.
    others: tuple[Crowd, ...] = ()  #: Other people's transfers.
    #: Background load that varies: mean share, wave, peak hour, hour at the start.
    loads: tuple[tuple[float, float, float, float], ...] = ()
    expected_s: float = math.inf  #: When the last transfer would end if nothing happened.
    #: The path in each state, and what its drives cost there beside how many streams; another process composes its own.
    states: dict[Key, tuple[Problem, Volumes]] = field(default_factory=dict)

    @property
    def start(self) -> Key:
        """Key of ``problem`` itself; no load that varies has it."""
        return (), (-1,) * len(self.loads)

    def timeline(self) -> Iterator[tuple[float, Key]]:
        """(time, key) of each change of the path itself, in order; endless if load varies over the day."""
        switches = []
        for number, event in enumerate(self.events):
            if event.change is not None:
                switches.append((event.at.value, 1, number))
                if event.until is not None:
                    switches.append((event.until.value, 0, number))
        hours = ((n * DIURNAL_STEP_S, 2, 0) for n in range(10**9 if self.loads else 0))
        active: list[int] = []
        shares = self._shares(0.0)
        for time, kind, number in merge(sorted(switches), hours):
            if kind == 2:
                shares = self._shares(time + DIURNAL_STEP_S / 2)
            elif kind:
                active.append(number)
            else:
                active.remove(number)
            yield time, (tuple(active), shares)

    def _shares(self, time: float) -> tuple[int, ...]:
        """Load of each varying segment, in steps."""
        result = []
        for mean, wave, peak, hour in self.loads:
            angle = 2 * math.pi * (hour + time / 3600.0 - peak) / 24
            result.append(round(min(max(mean * (1 + wave * math.cos(angle)), 0.0), 0.999) / SHARE_STEP))
        return tuple(result)

    def state(self, key: Key) -> tuple[Problem, Volumes]:
        """The path in the state of a key, and its drives' demands by number of streams."""
        if key not in self.states:
            active, shares = key
            texts = [f"{k}={v}" for number in active for k, v in (self.events[number].change or {}).items()]
            path = _loaded(self.given.changed(texts) if texts else self.given, shares)
            state, volumes, _ = _composed(path, self)
            check_same(self.problem, state, active)
            self.states[key] = self.problem if key == self.start else state, volumes
        return self.states[key]


def _composed(path: PathSpec, scene: Scene | None = None) -> tuple[Problem, Volumes, Array]:
    """A path at the median with cores slowed by the steady load, its drives' demands, and its steady rates."""
    moved, before = (None, None) if scene is None else (timed.amounts(scene.problem), timed.met(scene.problem))
    composer = timed.composer(path, Draw(), moved, in_time=True, before=before)
    problem = composer.problem()
    slowed, rates = settled(problem)
    return slowed, Volumes(composer, problem.transfers), rates[0]


def make_scene(path: PathSpec) -> Scene:
    """Works out and checks everything around a path."""
    problem, volumes, rates = _composed(path)
    varying = [b for s in _varying(path) if (b := s.background)]
    loads = tuple((b.share.value, b.diurnal.value, b.peak_hour, b.hour or 0.0) for b in varying)
    ends = [
        t.start_s + (t.omitted_s + t.time_s if t.timed else t.payload_B / max(r, 1e-300))
        for t, r in zip(problem.transfers, rates, strict=True)
    ]
    scene = Scene(path, problem, tuple(path.events), (), loads, float(max(ends)))
    scene.states[scene.start] = problem, volumes
    for number, event in enumerate(path.events):
        with _written_at(path, "events", number):
            if event.station is not None:
                matching(problem, event.station, f"events.{number}.station")
            else:
                _try(scene, number)
    crowds = []
    for number, others in enumerate(path.others):
        with _written_at(path, "others", number):
            crowds.append(_crowd(problem, others, number, path.folder))
    scene.others = tuple(crowds)
    return scene


@contextmanager
def _written_at(path: PathSpec, *steps: str | int) -> Iterator[None]:
    """Adds to errors the file and line of the key that they are about."""
    try:
        yield
    except SpecError as error:
        if error.file:
            raise
        where = path.place_of(*steps)
        raise SpecError(error.message, **where, key=error.key, value=error.value, remedy=error.remedy) from None


def _try(scene: Scene, number: int) -> None:
    """Composes the path after an event, to find out whether it can be in that state."""
    try:
        scene.state(((number,), scene.start[1]))
    except SpecError as error:
        if not (error.file or error.key or "").startswith("--set"):
            raise
        key = f"events.{number}.set.{(error.file or '').removeprefix('--set').strip()}".rstrip(".")
        raise SpecError(error.message, key=key, value=error.value, remedy=error.remedy) from None


def check_load(scene: Scene, until: float) -> None:
    """Refuses other traffic whose backlog would grow for ever, where the run has no end of its own."""
    offered: dict[int, float] = {}
    for crowd in scene.others:
        for k in crowd.row:
            offered[k] = offered.get(k, 0.0) + crowd.offered_Bps
    for k, load in offered.items():
        station = scene.problem.stations[k]
        capacity = float(np.max(station.capacity))
        if load >= capacity and until == math.inf:
            times = f"{load / max(capacity, 1e-300):.3g} times what it carries"
            remedy = "give them a lower rate or size, or simulate until a time (--until 1h)"
            raise SpecError(f"offer {station.name} {times}: they pile up for ever", key="others", remedy=remedy)


def settled(problem: Problem) -> tuple[Problem, Array]:
    """The problem with capacities at the steady load, which slows cores a little, and its rates (S, F)."""
    solution = solve.solve(solve.matrices(problem))
    slowed = {name for each in problem.slowdowns for name in each.affected}
    capacity = solution.capacity[0].tolist() if len(solution.capacity) == 1 else solution.capacity.T
    stations = tuple(
        replace(s, capacity=c) if s.name in slowed else s for s, c in zip(problem.stations, capacity, strict=True)
    )
    return replace(problem, stations=stations, slowdowns=()), solution.rate


def matching(problem: Problem, pattern: str, key: str = "station") -> list[int]:
    """Indices of the stations that a name with ``*`` matches."""
    # a name may hold brackets of its own: only * and ? are special
    plain = pattern.replace("[", "[[]")
    matches = [k for k, s in enumerate(problem.stations) if fnmatchcase(s.name, plain)]
    if not matches:
        names = ", ".join(get_close_matches(pattern, [s.name for s in problem.stations], _NAMED, 0.0))
        more = " ..." if len(problem.stations) > _NAMED else ""
        raise SpecError("is not a station of this path", key=key, value=pattern, remedy=f"stations: {names}{more}")
    return matches


def _crowd(problem: Problem, others: Others, number: int, folder: Path) -> Crowd:
    key = f"others.{number}.stations"
    stations = sorted({k for pattern in others.stations for k in matching(problem, pattern, key)})
    row = {k: 1.0 for k in stations if problem.stations[k].unit == "B" and not problem.stations[k].private}
    if not row:
        message = "none of these stations carries bytes of several transfers"
        raise SpecError(message, key=key, value=", ".join(others.stations))
    cap = others.cap.value if others.cap is not None else math.inf
    crowd = Crowd(others, row, cap, others.weight, folder)
    if others.trace:
        for _ in crowd.arrivals(np.random.default_rng(0)):  # all of it is read once, so that it is right
            pass
    return crowd


def poisson(others: Others, rng: np.random.Generator) -> Iterator[tuple[float, float]]:
    """Arrivals by thinning a Poisson process of the highest rate (Lewis and Shedler 1979)."""
    assert others.rate is not None
    highest, time = others.rate.value * (1 + others.diurnal), 0.0
    while highest > 0:
        times = time + np.cumsum(rng.exponential(1 / highest, _BLOCK))
        wave = 1 + others.diurnal * np.cos(2 * np.pi * (times / 3600 - others.peak_hour) / 24)
        accepted = rng.random(_BLOCK) * (1 + others.diurnal) <= wave
        sizes = others.size.value * np.exp(others.sigma * rng.standard_normal(_BLOCK))
        yield from zip(times[accepted].tolist(), sizes[accepted].tolist(), strict=True)
        time = float(times[-1])


def read_trace(path: Path) -> Iterator[tuple[float, float]]:
    """(time [s], bytes) of each line of a CSV with the columns ``time_s`` and ``bytes``."""
    last = 0.0
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
                if time < last:
                    raise InputError(f"{path}:{number}: time_s {time} is before the line above; sort the lines by time")
                last = time
                yield time, size
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None


# -- background load that varies ------------------------------------------------------------------


def _varying(path: PathSpec) -> list[Segment]:
    """Segments whose background follows the day."""
    return [s for s in path.segments if s.background is not None and s.background.diurnal.value > 0]


def _loaded(path: PathSpec, shares: tuple[int, ...]) -> PathSpec:
    """The path with the background of its varying segments at given shares."""
    if all(share < 0 for share in shares):
        return path
    left = dict(zip([id(s) for s in _varying(path)], shares, strict=True))

    def at_share(segment: Segment) -> Segment:
        if id(segment) not in left or segment.background is None:
            return segment
        load, share = segment.background, left[id(segment)] * SHARE_STEP
        fixed = {"share": load.share.worth(share), "diurnal": load.diurnal.worth(0.0), "hour": None}
        constant = load.model_copy(update=fixed)
        constant.__dict__.pop("anytime", None)  # what was remembered of the old share
        return segment.model_copy(update={"background": constant})

    links = {name: at_share(s) for name, s in path.links.items()}
    return path.model_copy(update={"wan": [at_share(s) for s in path.wan], "links": links})
