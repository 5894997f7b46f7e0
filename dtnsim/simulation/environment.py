"""The stations of a running simulation and everything that changes them: events, load over the day, other traffic."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.composition.files import with_cached
from dtnsim.ground.records import Problem, Transfer
from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.simulation import transfer_processes
from dtnsim.simulation.jobs import Job, Leg, engine_stations, legs_of, station_capacities
from dtnsim.simulation.scenario import Crowd, Key, Scene, matching
from dtnsim.simulation.variants import as_drawn, drawn_transfer

if TYPE_CHECKING:
    import simpy

    from dtnsim.composition.storage import Shelf
    from dtnsim.description.events import Event
    from dtnsim.engine.engine import Engine
    from dtnsim.simulation.memory import Files
    from dtnsim.simulation.record import Recorder

Process = Generator[Any, Any, None]

#: a station that events leave less of is down: a byte would take longer than the age of the universe
_LEAST: Final = 1e-30
_STALLED: Final = 1e-9  #: part of its capacity with which a link keeps connections from opening
_NOBODY: Final = -1  #: origin of a factor on a station that no event has set


class Environment:
    """The stations of a running simulation."""

    def __init__(self, engine: Engine, scene: Scene, problem: Problem, scenario: int) -> None:
        self.engine, self.scene, self.scenario = engine, scene, scenario
        self.env: simpy.Environment = engine.env
        self._drawn = problem
        self._problem = problem
        self._base = station_capacities(problem, scenario)
        self._factors: list[dict[int, float]] = [{} for _ in self._base]
        self._shared = engine_stations(problem)
        self.jobs: list[Job] = []  #: The transfers, once they are made.
        self.recorder: Recorder  #: Who counts; there before anything happens.
        self.files: Files  #: What the hosts' memories hold; likewise.
        self.happened: list[tuple[float, str]] = []  #: (time [s], what) of everything that happened.
        self.pending = 0  #: Events that are still to come.
        self._key = scene.start
        _, self._drives = scene.state(scene.start)
        self._sharing = self._drives.shared
        self._streams: Counter[Shelf] = Counter()
        self._touched: dict[int, None] = {}
        self._costs: dict[int, Transfer] = {}  # at the median
        self._dead: dict[int, bool] = {}  # links that carry next to nothing: whether that is nothing at all
        self._turned: simpy.Event | None = None
        factors = [min(e.factor, 1.0) for e in scene.events if e.factor is not None]
        self._may_die = math.prod(factors) <= _STALLED
        self.crowds = [_Load(engine, len(self._base), crowd) for crowd in scene.others]

    def capacities(self) -> list[float]:
        """Current capacity of every station, private ones included [unit/s]."""
        return [
            base * (left if (left := math.prod(factors.values())) > _LEAST else 0.0) if factors else base
            for base, factors in zip(self._base, self._factors, strict=True)
        ]

    def used_by_others(self, time: float) -> Array:
        """Work that other traffic has taken of each station by ``time`` [unit]."""
        return np.asarray(np.sum([crowd.used(time) for crowd in self.crowds], axis=0), float)

    # -- what changes -----------------------------------------------------------------------------

    def scale(self, stations: Sequence[int], factor: float | None, who: int = _NOBODY) -> None:
        """Multiplies capacities by the factor of event number ``who``; None takes that event's factor back."""
        for k in stations:
            if factor is None:
                self._factors[k].pop(who, None)
            else:
                self._factors[k][who] = factor
        self._apply(stations)
        if not all(self._shared[k] for k in stations):
            self._renew()

    def follows(self, f: int) -> None:
        """Notes that a transfer's predecessors have finished, so that its program takes its memory now."""
        self.files.holds(f, 1)

    def begun(self, f: int) -> None:
        """Begins a transfer: it need not read what is cached, and drives serve more streams."""
        shares = self.files.begun(f)
        if any(share > 0 for share in shares):
            job = self.jobs[f]
            self.recorder.replaced([f])
            job.found = shares
            self._change(job, self._as_drawn(f, self._median_beside(f)), self.capacities())
            job.waiting, job.moving = ([0.0] * len(job.legs) for _ in range(2))
        self.recorder.begun(f)
        self._came_or_went(f, 1)

    def ended(self, f: int) -> None:
        """Ends a transfer: its files are cached, and drives that it shares serve fewer streams."""
        self.files.ended(f)
        self.files.holds(f, -1)
        self.recorder.ended(f)
        self._came_or_went(f, -1)

    def _came_or_went(self, f: int, sign: int) -> None:
        if not self._sharing:
            return
        self._drives.count(f, self._streams, sign)
        neighbours = self._drives.neighbours(f)
        if neighbours and not self._touched:  # looked at once all that happens at this instant has
            self.env.timeout(0).callbacks.append(self._serve_others)
        self._touched.update(dict.fromkeys(neighbours))

    def _serve_others(self, _event: Any) -> None:
        """Updates the demands of transfers on drives whose number of streams has changed."""
        touched, self._touched = self._touched, {}
        self._renew([f for f in touched if self.jobs[f].begun and not self.jobs[f].done], moved_on=False)

    def turn(self, key: Key) -> None:
        """Puts the path into another state: (events whose keys hold, load of the segments that vary)."""
        if key == self._key:
            return
        self._key, (nominal, self._drives) = key, self.scene.state(key)
        self._problem = as_drawn(self.scene.problem, nominal, self._drawn, self.scenario)
        self._base = station_capacities(self._problem, self.scenario)
        self._apply(range(len(self._base)))
        self._renew()

    def shut(self, leg: Leg, *, stalled: bool = False) -> tuple[simpy.Event, int] | None:
        """(event for the next change of a dead link, the dead link that a phase crosses); None if it crosses none.

        Of those ``stalled`` also a link that carries next to nothing.
        """
        dead = next((k for k, fully in self._dead.items() if (stalled or fully) and leg.visits((k,))), None)
        turned = self.turned() if dead is not None else None
        return (turned, dead) if turned is not None and dead is not None else None

    def turned(self) -> simpy.Event | None:
        """Event for the next death or return of a link; None if there is never one."""
        if not self._may_die:
            return None
        if self._turned is None:
            self._turned = self.env.event()
        return self._turned

    def _apply(self, stations: Sequence[int]) -> None:
        capacity = self.capacities()
        links = [k for k, s in enumerate(self._problem.stations) if s.host == "network"] if self._may_die else []
        dead = {k: capacity[k] == 0 for k in links if capacity[k] <= _STALLED * self._base[k]}
        if dead != self._dead and self._turned is not None:
            self._turned.succeed()
            self._turned = None
        self._dead = dead
        for k in stations:
            self.recorder.offer(k, capacity[k])
            if self._shared[k]:
                self.engine.set_capacity(k, capacity[k])

    def _renew(self, which: Sequence[int] | None = None, *, moved_on: bool = True) -> None:
        """New legs for some jobs (None: all), and for their bytes in flight.

        If the path itself has changed (``moved_on``), a transfer with the same demands has new legs too.
        """
        changed = [(f, self._median_beside(f)) for f in (range(len(self.jobs)) if which is None else which)]
        changed = [(f, t) for f, t in changed if moved_on or t is not self._costs.get(f, self._drives.beside_all(f))]
        if not changed:
            return
        capacity = self.capacities()
        self.recorder.replaced([f for f, _ in changed])
        for f, nominal in changed:
            self._costs[f] = nominal
            self._change(self.jobs[f], self._as_drawn(f, nominal), capacity)

    def _median_beside(self, f: int) -> Transfer:
        """A transfer at the median, composed for the streams now on its drives."""
        alone = not self._sharing or not self.jobs[f].begun
        return self._drives.beside_all(f) if alone else self._drives.beside_streams(f, self._streams)

    def _as_drawn(self, f: int, nominal: Transfer) -> Transfer:
        """The same with this run's draws."""
        drawn, whole = self._problem.transfers[f], self._drives.beside_all(f)
        if nominal is whole:
            return drawn
        return nominal if self._drawn is self.scene.problem else drawn_transfer(whole, nominal, drawn, self.scenario)

    def _change(self, job: Job, transfer: Transfer, capacity: list[float]) -> None:
        job.carried += job.legs[job.main].filled
        places = {leg: place for place, leg in enumerate(job.legs)}
        transfer = with_cached(transfer, job.found)
        job.legs = legs_of(self._problem, transfer, capacity, self.engine.row, self.scenario)
        if job.cache is not None:
            job.cache.reroute(job.legs[job.main])
        for move in job.moves.values():
            if move.leg.drain is None:
                move.leg = job.legs[places[move.leg]]
                self.engine.change(move.flow, row=move.leg.fill, cap=move.leg.opened(move.share))

    def stop(self, retry_after: float, stations: Sequence[int] | None) -> None:
        """Stops the files in flight on some stations (None: on all); they start again after a time."""
        for job in self.jobs:
            if stations is None or any(leg.visits(stations) for leg in job.legs):
                transfer_processes.stop(self.engine, job, retry_after)


def happen(world: Environment, number: int, event: Event) -> Process:
    """The process of a scheduled event, and its number."""
    world.pending += 1
    stations = matching(world.scene.problem, event.station) if event.station is not None else None
    yield world.env.timeout(event.at.value)
    keys = ", ".join(f"{key}={value}" for key, value in (event.change or {}).items())
    text = event.what or (f"{event.station} x {event.factor:g}" if event.station else f"set {keys}")
    world.happened.append((world.env.now, text))
    if stations is not None:
        world.scale(stations, event.factor, number)
    if event.retry_after is not None:
        world.stop(event.retry_after.value, stations)
    if event.until is not None:
        yield world.env.timeout(event.until.value - world.env.now)
        world.happened.append((world.env.now, f"end of: {text}"))
        if stations is not None:
            world.scale(stations, None, number)
    world.pending -= 1


def follow(world: Environment) -> Process:
    """The process of everything that changes the path itself: keys that events set, load that varies."""
    for time, key in world.scene.timeline():
        if time > world.env.now:
            yield world.env.timeout(time - world.env.now)
        world.turn(key)


def arrive(world: Environment, number: int, seed: int) -> Process:
    """The process of other people's transfers, by the number of their entry in ``others``."""
    env, crowd = world.env, world.crowds[number]
    start = crowd.start
    for time, size in crowd.given.arrivals(np.random.default_rng([seed, number])):
        if time > env.now:
            yield env.timeout(time - env.now)
        start(size)


class _Load:
    """Other people's transfers of one entry of ``others``."""

    def __init__(self, engine: Engine, stations: int, crowd: Crowd) -> None:
        self.engine, self.given = engine, crowd
        self._row = engine.row(crowd.row)
        self._dense = np.zeros(stations)
        self._dense[list(crowd.row)] = list(crowd.row.values())
        self._arrived = 0.0

    def start(self, size: float) -> None:
        """Starts a flow of other traffic."""
        self._arrived += size
        self.engine.transfer(self._row, size, weight=self.given.weight, cap=self.given.cap, label=self)

    def used(self, time: float) -> Array:
        """Work that they have taken of each station by ``time`` [unit]."""
        fluid = self.engine.fluid
        left = math.fsum(fluid.left(flow, time) for flow in fluid.live.values() if flow.label is self)
        return (self._arrived - left) * self._dense
