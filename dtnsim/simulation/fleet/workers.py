"""Who runs the replicas of a fleet: this process, several on this machine, or the workers of a Dask scheduler."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, Self, TypeVar

from dtnsim.ground import cluster

#: pieces of work for each core of a cluster, so that none is left alone at the end; replicas of one at most
_BATCHES: Final = 4
_LARGEST: Final = 32

Task = TypeVar("Task")
Result = TypeVar("Result")
Work = Callable[[Task, Sequence[int]], list[tuple[int, Result]]]


class Workers(Generic[Task, Result]):
    """Works on numbered pieces; where several processes share them they have begun when the block is entered.

    Args:
        work: A function of a module, called with the task and some numbers.
        task: What all pieces have in common.
        numbers: The pieces.
        processes: How many processes share them; one a processor where not given.
        scheduler: Address of a Dask scheduler whose workers do them instead.
    """

    def __init__(
        self, work: Work[Task, Result], task: Task, numbers: Sequence[int], processes: int | None, scheduler: str | None
    ) -> None:
        self._work, self._task, self._numbers, self._scheduler = work, task, numbers, scheduler
        self._count = 1 if scheduler is not None else min(processes or processors(), len(numbers) + 1)
        self._pool: Any = None
        self._futures: list[Any] = []

    def __enter__(self) -> Self:
        if self._count > 1 and self._numbers:
            import multiprocessing
            from concurrent.futures import ProcessPoolExecutor

            # fresh interpreters: nothing of the caller's threads and locks gets into them
            fresh = multiprocessing.get_context("spawn")
            given = (self._work, self._task)
            self._pool = ProcessPoolExecutor(self._count, fresh, initializer=_begin, initargs=given)
            self._futures = [self._pool.submit(_serve, number) for number in self._numbers]
        return self

    def __exit__(self, *reason: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def results(self) -> Iterator[tuple[int, Result]]:
        """(number, result) as they are done."""
        if self._scheduler is not None:
            size = max(1, min(len(self._numbers) // (_BATCHES * processors()), _LARGEST))
            batches = [self._numbers[n : n + size] for n in range(0, len(self._numbers), size)]
            for _, found in cluster.spread(self._work, self._task, batches, self._scheduler):
                yield from found
        elif self._pool is not None:
            from concurrent.futures import as_completed

            for future in as_completed(self._futures):
                yield from future.result()
        else:
            for number in self._numbers:
                yield from self._work(self._task, [number])


_GIVEN: list[Any] = []


def _begin(work: Any, task: Any) -> None:
    """In a child: remembers what it is to do; Ctrl-C is the parent's to mind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _GIVEN[:] = [work, task]


def _serve(number: int) -> Any:
    work, task = _GIVEN
    return work(task, [number])


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
