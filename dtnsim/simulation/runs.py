"""`simulate`: one path, one or many runs in time."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

import numpy as np

from dtnsim.composition.plain import plain
from dtnsim.description import spec
from dtnsim.description.override import Overrides
from dtnsim.ground import pool, runtime
from dtnsim.ground.errors import InputError, SpecError
from dtnsim.ground.lazy import LazyItems
from dtnsim.ground.records import SLOW_START, Problem
from dtnsim.simulation import replicas as replicas_of
from dtnsim.simulation.record import OPENS
from dtnsim.simulation.results import Held, Run, Simulation
from dtnsim.simulation.run_path import MAX_EVENTS, Limits, Progress, run_once
from dtnsim.simulation.scenario import check_load, make_scene
from dtnsim.steady.reasons import Cause, reason


def simulate(
    path: str | Path | spec.PathSpec,
    *,
    overrides: Overrides = (),
    replicas: int = 1,
    seed: int = 1,
    until: float = math.inf,
    calibration: str | Path | None = None,
    progress: Progress | None = None,
    max_events: int = MAX_EVENTS,
    processes: int | Executor | None = None,
    scheduler: str | None = None,
) -> Simulation:
    """Simulates the transfers of a path in time.

    Args:
        path: A path file, the name of a shipped path, or a path already loaded.
        overrides: Keys and values put over the file: ``{"wan.rtt": "50 ms"}``, or ``key=value`` texts.
        replicas: Runs. The first has every parameter at its median; the others draw them from their
            spreads, as the interval of `predict` does, and have arrivals of their own.
        seed: The same seed gives the same bytes, however many processes work on it.
        until: Simulated time at which to stop [s].
        calibration: Fitted parameters to use.
        progress: Called now and then with the simulated time [s] and the share of the work that is done;
            returning True stops it with what was done.
        max_events: Steps after which a run is given up.
        processes: How many processes share the replicas; where not given, one a processor if that pays. Or an
            executor of `concurrent.futures` that has them made elsewhere: ``dask.distributed.Client().get_executor()``.
        scheduler: Address of a Dask scheduler, ``tcp://login1:8786``, whose workers make the replicas instead.

    Returns:
        The `Simulation`; ``complete`` says whether all transfers have finished in it.

    Raises:
        SpecError: The path cannot be used.
        InputError: No scheduler answers there, or it has no workers.
        ModelError: It never ends (a station stays at zero), or takes too many events.

    Neglects: the load of memory that slows cores is that of the steady state.
    """
    if replicas < 1:
        raise SpecError("needs at least one run", key="replicas", value=replicas)
    if not until > 0:
        raise InputError(f"until: needs a time after the start, above 0 s (got {until})")
    if scheduler is not None:
        pool.check(scheduler)
    loaded = spec.load(path, overrides, calibration)
    whole_run = _PartProgress(progress, replicas)
    limits = Limits(until, max_events, whole_run if progress is not None else None)
    with runtime.gc_paused():
        if replicas == 1 and (flows := plain(loaded)) is not None:
            from dtnsim.simulation.plain import answer, columns, flow_events

            return answer.answer(flow_events.Course(columns.columns(flows), limits).run(), seed)
        scene = make_scene(loaded)
        check_load(scene, until)
        runs = [run_once(scene, scene.problem, 0, seed, limits)]
    whole_run.done = 1
    if replicas > 1 and not runs[0].interrupted:
        task = replicas_of.Task(loaded, replicas, seed, Limits(until, max_events, whole=False))
        results = replicas_of.results(task, scene, runs[0], processes, scheduler, whole_run)
        runs += _drawn(results, runs[0], whole_run)
    number = {s.name: k for k, s in enumerate(scene.problem.stations)}
    first = runs[0].transfers
    why = LazyItems(len(first), lambda f: _why(scene.problem, number, f, first[f].held))
    return Simulation(loaded.name, tuple(runs), scene.problem.warnings, replicas, why, loaded)


def _why(problem: Problem, number: dict[str, int], f: int, stretches: Sequence[Held]) -> dict[str, str]:
    """Why what has held a transfer binds, in the words of the steady answer."""
    transfer = problem.transfers[f]
    costs = [{d.station: float(np.max(d.per_byte)) for d in phase.demands} for phase in transfer.phases]
    visits = {name: max(range(len(costs)), key=lambda n: costs[n].get(name, 0.0)) for cost in costs for name in cost}
    words: dict[str, str] = {}
    for name in dict.fromkeys(h.station for h in stretches):
        if name in visits:
            words[name] = reason(problem, f, Cause(number[name], visits[name], direct=True))
        elif name == "waiting" and any(p.delays for p in transfer.phases):
            words[name] = reason(problem, f, Cause(None, 0, direct=False))
        elif name == SLOW_START:
            words[name] = OPENS
    return words


class _PartProgress:
    """Reports one run as a part of them all."""

    def __init__(self, progress: Progress | None, runs: int) -> None:
        self.progress, self.runs, self.done = progress, runs, 0

    def __call__(self, now: float, share: float) -> bool:
        return self.progress is not None and self.progress(now, (self.done + share) / self.runs)


def _drawn(replicas: Iterator[Run], first: Run, whole_run: _PartProgress) -> list[Run]:
    """All runs but the first, in order; fewer where somebody stops them."""
    runs: list[Run] = []
    try:
        for run in replicas:
            runs.append(replace(run, stations=first.stations))  # one copy of the names for all
            whole_run.done += 1
            if run.interrupted or whole_run(math.nan, 0.0):
                break
    except KeyboardInterrupt:
        pass
    return runs
