"""One run: the event loop, and what is kept of it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import simpy

from dtnsim.engine.engine import Engine
from dtnsim.ground import runtime
from dtnsim.ground.errors import ModelError
from dtnsim.ground.lazy import Lazy
from dtnsim.ground.quantity import in_scenario
from dtnsim.ground.records import Problem
from dtnsim.ground.units import plural
from dtnsim.simulation import transfer_processes
from dtnsim.simulation.cache import PageCache
from dtnsim.simulation.environment import Environment, arrive, follow, happen
from dtnsim.simulation.jitter import uneven
from dtnsim.simulation.jobs import Job, cached, engine_stations, make_job, station_capacities
from dtnsim.simulation.memory import Files, Memory
from dtnsim.simulation.record import Recorder
from dtnsim.simulation.results import LazySeries, PhaseTime, Run, Series, TransferRun
from dtnsim.simulation.scenario import Scene
from dtnsim.steady.timed import sender_rate

MAX_EVENTS: Final = 50_000_000  #: steps of the event loop after which a run is given up
#: steps after the last transfer's end in which its medium may still take what memory holds, and until when
_DRAIN_EVENTS: Final = 200_000
_LONGEST: Final = 1e12
MAX_AT_ONCE: Final = 2_000_000  #: steps at one instant after which it is given up: time has stopped
_TELL_EVERY: Final = 2_000  #: steps between reports of progress, with which a run that is stuck is found
_MANY: Final = 100  #: transfers whose records are worth setting aside from Python's collector
_FEW: Final = 256  #: durations of files kept of a run of which no more than quantiles is asked
_FEW_STRETCHES: Final = 24  #: stretches of what held it, at most

#: called with (simulated seconds, share of the bytes done); returns True to stop
Progress = Callable[[float, float], bool]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run, and who is told of its progress."""

    until: float = math.inf  #: Simulated time at which to stop [s].
    max_events: int = MAX_EVENTS  #: Steps after which it is given up.
    progress: Progress | None = None  #: Called now and then.
    whole: bool = True  #: Whether the series over time is kept, and every file's duration.

    def given_up(self, now: float) -> ModelError:
        """The error for a run that takes too many steps."""
        remedy = "allow more (max_events), or simulate less, or until a time"
        return ModelError(f"given up after {plural(self.max_events, 'event')} at {now:.6g} s; {remedy}")


def run_once(scene: Scene, problem: Problem, scenario: int, seed: int, limits: Limits) -> Run:
    """Runs a path once."""
    with runtime.gc_paused():
        world, processes = _set_up(scene, problem, scenario, seed, limits)
        env = world.env
        with runtime.gc_resumed(aside=limits.whole and len(world.jobs) > _MANY):
            steps, stopped = _loop(world, env.all_of(processes), limits)
    world.recorder.close(env.now)
    ended = env.now
    if not stopped:
        _drain(world, limits)
    return _result(world, seed, ended, steps, stopped, whole=limits.whole)


def _set_up(scene: Scene, problem: Problem, scenario: int, seed: int, limits: Limits) -> tuple[Environment, list[Any]]:
    """The environment at the start, and the processes that have to end."""
    env = simpy.Environment(0.0)
    capacity = station_capacities(problem, scenario)
    shared = zip(capacity, engine_stations(problem), strict=True)
    engine = Engine(env, [c if together else math.inf for c, together in shared])
    world = Environment(engine, scene, problem, scenario)
    world.jobs, memories = _jobs(engine, problem, capacity, scenario)
    for job in world.jobs:
        job.shut, job.turned = world.shut, world.turned
    world.files = Files(world.jobs, memories, scenario)
    uneven(world.jobs, seed, drawn=problem is not scene.problem)
    taken = world.used_by_others if world.crowds else None
    expected_s = min(scene.expected_s, limits.until)
    world.recorder = Recorder(engine, world.jobs, capacity, expected_s, taken)
    processes = _processes(world)
    for number, event in enumerate(scene.events):
        env.process(happen(world, number, event))
    env.process(follow(world))
    for number in range(len(world.crowds)):
        env.process(arrive(world, number, seed))
    return world, processes


def _processes(world: Environment) -> list[Any]:
    """The transfers, each waiting for those that it follows."""
    processes = []
    for f, job in enumerate(world.jobs):
        callbacks = (partial(tell, f) for tell in (world.begun, world.ended, world.follows))
        processes.append(world.env.process(transfer_processes.run_job(world.engine, job, *callbacks)))
    by_name = {job.transfer.name: process for job, process in zip(world.jobs, processes, strict=True)}
    for job in world.jobs:
        job.follows = [by_name[name] for name in job.transfer.after]
    return processes


def _jobs(
    engine: Engine, problem: Problem, capacity: list[float], scenario: int
) -> tuple[list[Job], dict[str, Memory]]:
    """The transfers, and the limits on dirty bytes that those that write to one host share."""
    jobs = [make_job(problem, t, capacity, engine.row, scenario) for t in problem.transfers]
    memories: dict[str, Memory] = {}
    for job in jobs:
        cache = job.transfer.cache
        if cache is None or not cached(job.transfer):
            continue
        size, free, begins = (in_scenario(v, scenario) for v in (cache.size_B, cache.free_B, cache.write_back_B))
        memory, payload_B = memories.setdefault(cache.pool, Memory(size, free)), job.transfer.payload_B
        job.cache = PageCache(
            engine, job.legs[job.main], memory, payload_B,
            weight=job.transfer.weight, each_file=cache.flush_files, write_back=(begins, cache.write_back_s),
        )  # fmt: skip
    return jobs, memories


def _drain(world: Environment, limits: Limits) -> None:
    """Runs write-back of what the tools left in memory, of which only the end is recorded."""
    env, steps = world.env, 0
    while any(math.isinf(j.on_medium) for j in world.jobs) and env.peek() <= min(limits.until, _LONGEST):
        env.step()
        steps += 1
        if steps > _DRAIN_EVENTS:
            return


def _loop(world: Environment, end: Any, limits: Limits) -> tuple[int, str]:
    """Steps until all transfers are done, time is up, or somebody stops it: (steps, why it stopped before)."""
    env, recorder, until, steps, since = world.env, world.recorder, limits.until, 0, 0
    peek, step = env.peek, env.step
    try:
        while not end.processed:
            time = peek()
            if time > env.now:
                if recorder.notes > 0:
                    recorder.note(env.now)
                if time > until:
                    recorder.upto(until)
                    if until > env.now:
                        env.run(until=until)
                    return steps, "until"
                if time > recorder.edges.next:
                    _check_moving(world, time, until)
                    recorder.upto(time)
                since = steps
            step()
            steps += 1
            if steps % _TELL_EVERY == 0 and not end.processed:
                if _report_progress(world, limits):
                    return steps, "interrupted"
                if steps - since > MAX_AT_ONCE:
                    raise ModelError(f"given up: {MAX_AT_ONCE} events at {env.now:.6g} s and time does not move on")
            if steps >= limits.max_events and not end.processed:
                raise limits.given_up(env.now)
    except KeyboardInterrupt:
        return steps, "interrupted"
    return steps, ""


def _report_progress(world: Environment, limits: Limits) -> bool:
    """Reports progress; returns whether the run shall stop."""
    if (time := world.env.peek()) > world.env.now:  # else not all at this instant has its share yet
        _check_moving(world, time, limits.until)
    if limits.progress is None:
        return False
    payload = sum(j.transfer.payload_B for j in world.jobs) or 1.0
    share = sum(_payload(world.engine, j) for j in world.jobs) / payload
    return limits.progress(world.env.now, min(max(share, world.env.now / limits.until), 1.0))


def _check_moving(world: Environment, time: float, until: float) -> None:
    """Refuses to go on if no transfer moves and nothing that is scheduled can change that."""
    if until < math.inf or (time < math.inf and not _stuck(world)):
        return
    zero = [s.name for s, c in zip(world.scene.problem.stations, world.capacities(), strict=True) if c == 0]
    names = ", ".join(zero[:4]) or "a station"
    why = f"{names} has no capacity left and nothing will change that"
    remedy = "give the event an 'until', or simulate until a time"
    raise ModelError(f"comes to a halt at {world.env.now:.6g} s: {why}; {remedy}")


def _stuck(world: Environment) -> bool:
    """Whether no transfer moves and nothing that is scheduled can change that."""
    if world.pending:
        return False
    engine, under_way = world.engine, False
    for job in world.jobs:  # most often the first that is under way moves
        if job.done:
            continue
        if not job.begun or job.transfer.timed or job.files == job.transfer.files:  # the last of its waits
            return False
        full = len(job.moves) + job.barred >= min(job.workers, job.transfer.files - job.files)
        if not full or job.flushing or any(engine.rate(m.flow) > 0 or m.flow.triggered for m in job.moves.values()):
            return False
        under_way = True
    return under_way


def _payload(engine: Engine, job: Job) -> float:
    """Bytes of the files that are done, and those carried so far of the others."""
    if job.transfer.timed:
        return job.arrived - job.omitted
    main = job.legs[job.main]
    parts = (m.flow.size - engine.left(m.flow) for m in job.moves.values() if m.leg is main)
    return min(job.moved + math.fsum(parts), job.transfer.payload_B)


def _result(world: Environment, seed: int, ended: float, steps: int, stopped: str, *, whole: bool) -> Run:
    recorder = world.recorder
    names = tuple(s.name for s in world.scene.problem.stations)
    transfers = []
    for f, job in enumerate(world.jobs):
        durations, counts = job.file_s.arrays() if whole else job.file_s.arrays(_FEW)
        moving = list(job.moving)
        for move in job.moves.values():  # what is still under way
            if move.leg in job.legs:
                moving[job.legs.index(move.leg)] += ended - move.flow.started
        t, moved = job.transfer, job.moved if job.done else _payload(world.engine, job)
        times = job.started, job.written, job.finished, job.on_medium
        spent = zip(job.legs, moving, job.waiting, strict=True)
        phases = tuple(PhaseTime(leg.name, busy, waiting) for leg, busy, waiting in spent)
        held = Lazy(partial(recorder.stretches, f, names)) if whole else recorder.stretches(f, names, _FEW_STRETCHES)
        rate = sender_rate(world.scene.problem, t, job.moved / t.time_s) if job.done else None
        transfers.append(TransferRun(t.name, *times, moved, job.files, durations, counts, phases, job.retries, held,
                                     t.omitted_s, rate, t.counted))  # fmt: skip
    series = LazySeries(recorder.series) if whole else Series(*(np.zeros(n) for n in (1, 0, 0, 0, 0, 0)))
    how_ended = steps, not stopped, stopped == "interrupted"
    return Run(seed, ended, tuple(transfers), names, series, tuple(world.happened), *how_ended)
