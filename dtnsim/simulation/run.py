"""`simulate`: one path, one or many runs in time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim import solve, spec
from dtnsim.compose import compose
from dtnsim.errors import ModelError, SpecError
from dtnsim.quantity import Draw
from dtnsim.records import Problem
from dtnsim.simulation.jobs import Job, cached, make_job, run_job
from dtnsim.simulation.record import Recorder
from dtnsim.simulation.results import Run, Simulation, TransferRun

if TYPE_CHECKING:
    import simpy

    from dtnsim.simulation.world import World

#: steps of the event loop after which a run is given up
MAX_EVENTS: Final = 50_000_000
#: how often the progress is told, in steps
_TELL_EVERY: Final = 2_000

#: called with (simulated seconds, share of the bytes done); returns True to stop
Progress = Callable[[float, float], bool]


def simulate(
    path: str | Path | spec.PathSpec,
    *,
    overrides: Sequence[str] = (),
    replicas: int = 1,
    seed: int = 1,
    until: float = math.inf,
    calibration: str | Path | None = None,
    progress: Progress | None = None,
    max_events: int = MAX_EVENTS,
) -> Simulation:
    """Simulates the transfers of a path in time.

    Args:
        path: A path file, the name of a shipped path, or a path already loaded.
        overrides: ``key=value`` texts put over the file.
        replicas: Runs. The first has every parameter at its median; the others draw them from their
            spreads, as the interval of `predict` does, and have arrivals of their own.
        seed: The same seed gives the same bytes.
        until: Simulated time at which to stop [s].
        calibration: Fitted parameters to use.
        progress: Called now and then; returning True stops the run with what was done.
        max_events: Steps after which a run is given up.

    Raises:
        SpecError: The path cannot be used.
        ModelError: It never ends (a station stays at zero), or takes too many events.
    """
    if replicas < 1:
        raise SpecError("needs at least one run", key="replicas", value=replicas)
    given = path if isinstance(path, spec.PathSpec) else spec.load(path, overrides, calibration)
    nominal = settled(compose(given, Draw()))
    runs = [_run(given, nominal, 0, seed, until, progress, max_events)]
    if replicas > 1:
        drawn = settled(compose(given, Draw(replicas - 1, seed)))
        for number in range(replicas - 1):
            runs.append(_run(given, drawn, number, seed + 1 + number, until, progress, max_events))
            if not runs[-1].complete and progress is not None and progress(math.nan, 1.0):
                break
    return Simulation(given.name, tuple(runs), nominal.warnings)


def settled(problem: Problem) -> Problem:
    """The problem with its capacities at the steady load, which slows the cores a little."""
    solution = solve.solve(solve.matrices(problem))
    stations = tuple(replace(s, capacity=solution.capacity[:, k]) for k, s in enumerate(problem.stations))
    return replace(problem, stations=stations, slowdowns=())


def _run(
    given: spec.PathSpec,
    problem: Problem,
    scenario: int,
    seed: int,
    until: float,
    progress: Progress | None,
    max_events: int,
) -> Run:
    import simpy

    from dtnsim.simulate.engine import Engine
    from dtnsim.simulation.cache import PageCache
    from dtnsim.simulation.jobs import at
    from dtnsim.simulation.world import World

    env = simpy.Environment()
    engine = Engine(env, [math.inf if s.private else at(s.capacity, scenario) for s in problem.stations])
    jobs = [make_job(problem, t, scenario=scenario) for t in problem.transfers]
    recorder = Recorder(problem, jobs, [None] * len(jobs), scenario=scenario)
    for f, job in enumerate(jobs):
        job.may_change = bool(given.events) or any(s.background is not None for s in given.wan)
        if cached(job.transfer) and job.transfer.cache is not None:
            weight = job.transfer.weight
            size = at(job.transfer.cache.size_B, scenario)
            job.cache = PageCache(env, engine, size, job.legs[0].drain, weight)
            recorder.caches[f] = job.cache
    engine.observe(recorder)
    world = World(env, engine, problem, jobs, scenario)
    processes = [env.process(run_job(env, engine, job)) for job in jobs]
    _surround(env, world, given, seed)
    steps, complete = _loop(env, env.all_of(processes), jobs, until, progress, max_events)
    recorder.book(env.now)
    transfers = tuple(_result(job, recorder, f) for f, job in enumerate(jobs))
    names = tuple(s.name for s in problem.stations)
    return Run(seed, env.now, transfers, names, recorder.series(), tuple(world.happened), steps, complete)


def _surround(env: simpy.Environment, world: World, given: spec.PathSpec, seed: int) -> None:
    """Starts everything that is not a transfer of the path."""
    from dtnsim.simulation import world as around

    applied: list[dict[str, str]] = []

    def recompose(change: dict[str, str], *, on: bool) -> None:
        applied.append(change) if on else applied.remove(change)
        texts = [f"{key}={value}" for c in applied for key, value in c.items()]
        world.replace(settled(compose(given.changed(texts), Draw())))

    for event in given.events:
        if event.station is not None:
            world.matching(event.station)
        env.process(around.happen(env, world, event, recompose))
    for station, load, share in around.varying(given, world.problem):
        env.process(around.diurnal(env, world, station, load, share))
    for number, others in enumerate(given.others):
        rng = np.random.default_rng([seed, number])
        env.process(around.arrivals(env, world, others, rng, given.folder))


def _loop(
    env: simpy.Environment, end: Any, jobs: list[Job], until: float, progress: Progress | None, max_events: int
) -> tuple[int, bool]:
    """Steps until all transfers are done, time is up, or somebody stops it; (steps, all done)."""
    payload = sum(j.transfer.payload_B for j in jobs) or 1.0
    steps = 0
    try:
        while not end.processed:
            if env.peek() > until:
                env.run(until=until)
                return steps, False
            if env.peek() == math.inf:
                raise ModelError(
                    f"stands still at {env.now:.6g} s: a station has no capacity left and nothing will change that"
                )
            env.step()
            steps += 1
            if steps > max_events:
                raise ModelError(
                    f"given up after {max_events} events at {env.now:.6g} s; simulate less, or until a time"
                )
            told = progress is not None and steps % _TELL_EVERY == 0
            if told and progress is not None and progress(env.now, sum(j.moved for j in jobs) / payload):
                return steps, False
    except KeyboardInterrupt:
        return steps, False
    return steps, True


def _result(job: Job, recorder: Recorder, f: int) -> TransferRun:
    return TransferRun(
        job.transfer.name,
        job.started,
        job.finished,
        job.moved,
        job.files,
        np.array(job.file_s),
        job.waiting,
        job.moving,
        job.retries,
        recorder.held(f),
    )
