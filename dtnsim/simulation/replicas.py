"""Replicas: run in this process, in several if that pays, on an executor, or on a cluster."""

import pickle
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Final

from dtnsim.composition import sharing
from dtnsim.description.spec import PathSpec
from dtnsim.ground import pool
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Problem
from dtnsim.simulation.results import Run
from dtnsim.simulation.run_path import Limits, Progress, run_once
from dtnsim.simulation.scenario import Scene, make_scene, settled
from dtnsim.steady import timed

_PAYS_S: Final = 4.0  #: seconds of work in all above which processes are begun (a fresh interpreter takes about one)
_TASKS: Final = 32  #: tasks of an executor, whose cores nobody knows


@dataclass(frozen=True, slots=True)
class Task:
    """The common part of all replicas, small enough to send; the receiver draws and composes them itself."""

    given: PathSpec  #: The path.
    replicas: int  #: How many there are, the first at median values included.
    seed: int  #: Seed of the whole.
    limits: Limits  #: Those of each run.


@dataclass(frozen=True, slots=True)
class Work:
    """A task, drawn and composed."""

    scene: Scene  #: Everything that may happen.
    drawn: Problem  #: The path with its parameters drawn, one scenario a replica.
    task: Task  #: What it is of.

    def run(self, number: int, progress: Progress | None = None) -> Run:
        """Replica ``number``, from 0."""
        limits = replace(self.task.limits, progress=progress)
        return run_once(self.scene, self.drawn, number, self.task.seed + 1 + number, limits)


def composed(task: Task, scene: Scene | None = None) -> Work:
    """Draws and composes the replicas of a task."""
    scene = scene or make_scene(task.given)
    draw = Draw(task.replicas - 1, task.seed, task.given.correlation)
    moved, before = timed.amounts(scene.problem), timed.met(scene.problem)
    problem = timed.composer(task.given, draw, moved, in_time=True, before=before).problem()
    return Work(scene, settled(sharing.as_in(problem, scene.problem))[0], task)


def results(
    task: Task, scene: Scene, first: Run, processes: int | Executor | None, scheduler: str | None, progress: Progress
) -> Iterator[Run]:
    """The replicas but the first, in order; ``progress`` as in `simulate`."""
    count = task.replicas - 1
    if scheduler is not None:
        with pool.Pool(_on_cluster, task, range(count), scheduler=scheduler) as workers:
            yield from pool.in_order(workers.results())
        return
    if isinstance(processes, Executor):
        size = -(-count // _TASKS)
        lots = [range(n, min(n + size, count)) for n in range(0, count, size)]
        for runs in processes.map(partial(_on_executor, pickle.dumps(task)), lots):
            yield from runs
        return
    work = composed(task, scene)
    began, done = perf_counter(), 0
    while done < count and (processes is None or processes == 1):
        yield work.run(done, progress)
        done += 1
        left = (perf_counter() - began) / done * (count - done)
        if processes is None and left > _PAYS_S and pool.processors() > 1:
            processes = pool.processors()
    if done == count:
        return
    alone = replace(work, scene=replace(work.scene, states={}))  # what another process works out for itself
    with pool.Pool(Work.run, alone, range(done, count), processes or 1) as workers:
        yield from pool.in_order(workers.results(lambda: progress(first.end_s, 0.0)))


_composed = pool.once(composed)


@pool.once
def _loaded(task: bytes) -> Work:
    return composed(pickle.loads(task))  # noqa: S301 - written by our own caller


def _on_cluster(task: Task, number: int) -> Run:
    """A replica made by a worker, which has one copy of the task for all of them; it composes them once."""
    return _composed(task).run(number)


def _on_executor(task: bytes, numbers: range) -> list[Run]:
    """Some replicas made wherever an executor has them made; each call brings a copy of the task."""
    return [_loaded(task).run(number) for number in numbers]
