"""A few workers and any number of jobs, as SimPy processes: one process a worker, none for a job that waits.

    def copy(size):
        yield env.timeout(0.02)                       # open, stat, close
        yield engine.transfer(row, size, cap=2.5e8)

    yield worker_pool(env, sizes, workers=8, work=copy)

`simpy.Resource` keeps its queue in a list that it pops at the head, and wants a process for everyone
who waits; here a job is drawn from an iterator when a worker is free.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, TypeVar

from simpy.core import Environment
from simpy.events import AllOf, Event

from dtnsim.ground.errors import InputError

Job = TypeVar("Job")


def worker_pool(
    env: Environment,
    jobs: Iterable[Job],
    workers: int,
    work: Callable[[Job], Generator[Event, Any, Any]],
    done: Callable[[Job], None] | None = None,
) -> AllOf:
    """Works through jobs in order, ``workers`` at a time.

    Args:
        env: The SimPy environment.
        jobs: The jobs; an iterator is drawn from only when a worker is free.
        workers: How many are in progress at once.
        work: Makes the process of one job.
        done: Called with every job when it has ended.

    Returns:
        An event that happens when the last job has ended.

    Raises:
        InputError: No worker.
    """
    if not (isinstance(workers, int) and workers >= 1):
        raise InputError(f"workers is {workers}; give a whole number >= 1")
    left: Iterator[Job] = iter(jobs)

    def worker() -> Generator[Event, Any, None]:
        for job in left:
            yield from work(job)
            if done is not None:
                done(job)

    return AllOf(env, [env.process(worker()) for _ in range(workers)])
