"""Replicas of a simulation on the workers of a Dask scheduler: a task is the path, a seed and some numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dtnsim.composition import sharing
from dtnsim.ground import cluster
from dtnsim.ground.quantity import Draw
from dtnsim.simulation import parallel
from dtnsim.simulation.scene import Scene, make_scene, settled
from dtnsim.steady import timed

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.simulation.results import Run

#: batches at least, and replicas of one at most
_BATCHES: Final = 32
_LARGEST: Final = 32


@dataclass(frozen=True, slots=True)
class Task:
    """What all replicas have in common: each worker draws and composes them itself.

    Attributes:
        given: The path.
        replicas: How many there are, the first at median values included.
        seed: Seed of the whole.
        until, max_events: Limits of each run.
    """

    given: PathSpec
    replicas: int
    seed: int
    until: float
    max_events: int


def work_of(task: Task, scene: Scene) -> parallel.Work:
    """The replicas of a task, drawn and composed."""
    draw = Draw(task.replicas - 1, task.seed, task.given.correlation)
    composed = timed.composed(task.given, draw, timed.amounts(scene.problem), in_time=True)
    drawn = settled(sharing.as_in(composed, scene.problem))
    return parallel.Work(scene, drawn, task.seed, task.until, task.max_events)


_LAST: list[tuple[Task, parallel.Work]] = []


def batch(task: Task, numbers: Sequence[int]) -> list[Run]:
    """Some replicas, made by a worker; it composes them once."""
    if not _LAST or _LAST[0][0] is not task:
        _LAST[:] = [(task, work_of(task, make_scene(task.given)))]
    return [_LAST[0][1].run(number) for number in numbers]


def results(task: Task, scheduler: str) -> Iterator[Run]:
    """The replicas but the first, in order.

    Raises:
        InputError: No scheduler answers there, or it has no workers of this version.
        DtnsimError: It was lost on the way.
    """
    count = task.replicas - 1
    size = max(1, min(count // _BATCHES, _LARGEST))
    pieces = [range(n, min(n + size, count)) for n in range(0, count, size)]
    ready: dict[int, list[Run]] = {}
    wanted = 0
    for number, made in cluster.spread(batch, task, pieces, scheduler):
        ready[number] = made
        while wanted in ready:
            yield from ready.pop(wanted)
            wanted += 1
