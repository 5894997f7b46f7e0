"""`fleet`: the workload of a path over its span, one run or many, here, on all cores, or on a cluster."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.description import spec
from dtnsim.description.workload import YEAR_S
from dtnsim.ground import pool
from dtnsim.ground.errors import SpecError
from dtnsim.ground.lazy import Shown
from dtnsim.ground.pool import Pool, once, processors
from dtnsim.ground.quantity import Draw
from dtnsim.physics._arrays import LEVELS
from dtnsim.simulation.fleet.answers import FleetRun, answer
from dtnsim.simulation.fleet.build import Fleet, ReadyFleet
from dtnsim.simulation.fleet.checkpoint import CheckpointFile, load, save, signature
from dtnsim.simulation.fleet.promises import StoppedError, growing, promises

_LOOK: Final = 20_000  #: events between two looks at whether somebody wants to know how far it is, or to stop it
REPLICAS: Final = 10  #: replicas where nobody says how many: dates of upgrades have intervals
_KEEP_S: Final = 30.0  #: seconds of work between two times that a run in progress is kept

#: called with (simulated time [s], share of all that is done, transfers that have ended); returns True to stop
Progress = Callable[[float, float, int], bool]


@dataclass(frozen=True, slots=True, repr=False)
class FleetAnswer(Shown):
    """What `fleet` answers."""

    name: str  #: Of the path.
    workload: Any  #: What was moved.
    runs: tuple[FleetRun, ...]  #: One a replica, in order; the first has every parameter at its median.
    wanted: int  #: How many replicas were asked for.
    #: The first run itself, for tables of its transfers; None where it came from a checkpoint.
    first: ReadyFleet | None
    warnings: tuple[str, ...]  #: What the reader should know.
    given: Any = None  #: The path.
    #: (station, what relieves it) of those that hold a promise when it breaks.
    remedies: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"<FleetAnswer {self}>"

    def __str__(self) -> str:
        total, runs = self.runs[0].total, f"{len(self.runs)} run{'s' if len(self.runs) > 1 else ''}"
        return f"{self.name}: {total.done:,} of {total.asked:,} transfers done, {runs}"

    @property
    def complete(self) -> bool:
        """Whether all runs that were asked for have come to their end."""
        return len(self.runs) == self.wanted and all(r.complete for r in self.runs)


@dataclass(frozen=True, slots=True)
class Task:
    """What the replicas of a fleet have in common: small, since each draws what it needs from its number."""

    given: spec.PathSpec  #: The path.
    seed: int  #: Of the whole.
    replicas: int  #: How many there are.


def fleet(
    path: str | Path | spec.PathSpec,
    *,
    workload: str | Path | None = None,
    overrides: Sequence[str] = (),
    calibration: str | Path | None = None,
    replicas: int = REPLICAS,
    seed: int = 1,
    processes: int | None = None,
    scheduler: str | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
    transfers: bool = False,
) -> FleetAnswer:
    """Simulates the workload of a path over its span.

    Args:
        path: A path file with a workload, the name of a shipped one, or a path already loaded.
        workload: A workload instead of the path's own: a file, or the name of a shipped one.
        overrides: ``key=value`` texts put over the file.
        calibration: Fitted parameters to use.
        replicas: Runs. The first has every parameter at its median; the others draw them, and have arrivals and faults
            of their own.
        seed: The same seed gives the same answer, however many processes work on it.
        processes: How many processes share the replicas; one a processor where not given.
        scheduler: Address of a Dask scheduler whose workers do the work instead.
        checkpoint: File in which every replica that is done is kept; where it is there, those in it are not done again.
            Beside it (``FILE.0`` ...) those in mid-run are kept, now and then and when they are stopped.
        progress: Called now and then; returning True stops it with what was done.
        transfers: Every transfer of the first run is wanted, which no checkpoint has: that run is done again.

    Returns:
        The `FleetAnswer`; ``complete`` says whether everything was done.

    Raises:
        SpecError: The path or its workload cannot be used.
        InputError: A trace, a checkpoint or a scheduler that cannot be used.
    """
    if replicas < 1:
        raise SpecError("needs at least one run", key="replicas", value=replicas)
    if scheduler is not None:
        pool.check(scheduler)
    told = progress or _nobody
    loaded = spec.load(path, overrides, calibration, workload=workload)
    fleet = Fleet(loaded, Draw(), share(replicas))
    task = Task(loaded, seed, replicas)
    mark = signature(task, overrides)
    store = CheckpointFile(checkpoint, mark) if checkpoint is not None else None
    runs: dict[int, FleetRun] = dict(store.runs) if store is not None else {}
    if transfers:
        runs.pop(0, None)
    first: ReadyFleet | None = None
    stopped = False
    left = [n for n in range(1, replicas) if n not in runs]
    work = partial(replica, part=(str(checkpoint), mark) if checkpoint is not None and scheduler is None else None)
    count = min(processes or processors(), len(left) + 1)
    with Pool(work, task, left, count, scheduler) as workers:
        built = fleet.ready(seed)  # also what is warned of, and what relieves stations, where all runs are kept already
        if 0 not in runs:
            first = built
            last = math.nan if growing(fleet.workload) else 1.0  # how long the weeks of later years take nobody knows
            part = _part(checkpoint, mark, 0)
            stopped = _course(first, told, last / replicas, part)
            runs[0] = answer(first, fleet.workload)
            try:  # of a fleet of its own: later demand brings stations that the first run's tables lack
                anew = Fleet(loaded, Draw(), fleet.runs)
                broken = () if stopped else promises(anew, seed, 0, lambda years: told(years * YEAR_S, math.nan, 0))
                runs[0] = replace(runs[0], promises=broken)
            except StoppedError:
                stopped, runs[0] = True, replace(runs[0], complete=False)
            if store is not None and part is not None and runs[0].complete:
                if 0 not in store.runs:
                    store.add(0, runs[0])
                part[0].unlink(missing_ok=True)
        if left and not stopped:
            for place, run in workers.results(lambda: told(math.nan, len(runs) / replicas, 0)):
                number = left[place]
                runs[number] = run
                if store is not None:
                    store.add(number, run)
                if told(math.nan, len(runs) / replicas, 0):
                    break
    warnings = tuple(fleet.reduction.warnings)
    ordered = tuple(runs[n] for n in sorted(runs))
    holding = {p.held for p in ordered[0].promises}
    remedies = tuple((s.name, s.remedy) for s in fleet.reduction.stations.given if s is not None and s.name in holding)
    return FleetAnswer(loaded.name, fleet.workload, ordered, replicas, first, warnings, loaded, remedies)


def _part(checkpoint: str | Path | None, mark: str, number: int) -> tuple[Path, str] | None:
    """(file of a replica in mid-run, what it is of)."""
    return None if checkpoint is None else (Path(f"{checkpoint}.{number}"), f"{mark} {number}")


def _nobody(_now: float, _share: float, _done: int) -> bool:
    """Nobody is told how far it is, and nobody stops it."""
    return False


def _course(built: ReadyFleet, progress: Progress, part_of_all: float, part: tuple[Path, str] | None) -> bool:
    """Runs a fleet; returns whether somebody stopped it.

    Its ``part_of_all`` is nan where nobody knows; ``part`` is the file of what is in mid-run, and what it is of.
    """
    course = built.course
    if part is not None:
        load(course, *part)
    last = time.monotonic()
    while not course.run(_LOOK):
        share = course.now / course.until * part_of_all
        stop = progress(course.now, share, course.finished)
        if part is not None and (stop or time.monotonic() - last > _KEEP_S):
            save(course, *part)
            last = time.monotonic()
        if stop:
            course.stop()
            return True
    return False


def replica(task: Task, number: int, part: tuple[str, str] | None = None) -> FleetRun:
    """A replica of a fleet, from 1 on; ``part``: checkpoint beside which it is kept in mid-run, and what that is of."""
    fleet = _drawn(task)
    built = fleet.ready(task.seed + number, number - 1)
    mid_run = None if part is None else _part(part[0], part[1], number)
    _course(built, _nobody, 1.0, mid_run)
    run, broken = answer(built, fleet.workload), promises(fleet, task.seed + number, number - 1)
    if mid_run is not None:
        mid_run[0].unlink(missing_ok=True)
    slim = tuple(replace(s, of_week=(), weeks=()) for s in run.stations)  # the rest is asked of the first one alone
    return replace(run, stations=slim, pairs=(), happened=(), promises=broken)


def share(replicas: int) -> int:
    """How many of so many replicas one process makes where every processor has one."""
    return math.ceil(replicas / processors())


@once
def _drawn(task: Task) -> Fleet:
    """The fleet with its parameters drawn, composed once a process."""
    return Fleet(task.given, Draw(task.replicas - 1, task.seed, task.given.correlation), share(task.replicas))


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """p10, median and p90 over runs; of one or two, the first is the median.

    What is infinite stays so: a date that never comes in most runs has none.
    """
    valid = [v for v in values if not math.isnan(v)]
    if not valid:
        return (math.nan,) * 3
    ordered = np.sort(valid)
    levels = [ordered[min(int(q * len(ordered)), len(ordered) - 1)] for q in LEVELS]
    return float(levels[0]), float(valid[0] if len(valid) < 3 else levels[1]), float(levels[2])
