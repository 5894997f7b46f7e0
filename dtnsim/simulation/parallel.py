"""Replicas: one after another, or shared among processes where that pays.

A child is a fresh interpreter that reads work from its standard input and writes results to its
standard output, so nothing of the caller's threads, locks or main module gets into it; it ends when
its input does and looks whether its parent lives, so that none outlives it. It is in a session of its
own: Ctrl-C reaches the parent alone, which ends its children itself.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter
from typing import Any, Final

from dtnsim.ground.errors import DtnsimError, InputError, ModelError
from dtnsim.ground.records import Problem
from dtnsim.ground.runtime import end_with
from dtnsim.simulation.one import Limits, Progress, run_once
from dtnsim.simulation.results import Run
from dtnsim.simulation.scene import Scene

#: seconds of work in all above which processes are begun (a fresh interpreter takes about one)
_PAYS_S: Final = 4.0
#: how often the parent looks whether it shall stop [s]
_POLL_S: Final = 0.2
_START: Final = "from dtnsim.simulation.parallel import serve; serve()"


@dataclass(frozen=True, slots=True)
class Work:
    """What the replicas have in common.

    Attributes:
        scene: Everything that may happen.
        drawn: The path with its parameters drawn, one scenario a replica.
        seed: Seed of the whole.
        until, max_events: Limits of each run.
    """

    scene: Scene
    drawn: Problem
    seed: int
    until: float
    max_events: int

    def run(self, number: int, progress: Progress | None = None) -> Run:
        """Replica ``number``, from 0."""
        limits = Limits(self.until, self.max_events, progress, whole=False)
        return run_once(self.scene, self.drawn, number, self.seed + 1 + number, limits)

    def alone(self) -> Work:
        """The same without what another process works out for itself."""
        return replace(self, scene=replace(self.scene, volumes={}))


def results(work: Work, first: Run, count: int, processes: int | Executor | None, progress: Progress) -> Iterator[Run]:
    """The replicas in order.

    Args:
        work: What they have in common.
        first: The run before them.
        count: How many.
        processes: How many processes; None for as many as pay; or an executor.
        progress: As in `simulate`.
    """
    if isinstance(processes, Executor):
        yield from _executed(work, count, processes)
        return
    began, done = perf_counter(), 0
    while done < count and (processes is None or processes == 1):
        yield work.run(done, progress)
        done += 1
        left = (perf_counter() - began) / done * (count - done)
        if processes is None and left > _PAYS_S and _processors() > 1:
            processes = min(_processors(), count - done)
    if done < count:
        yield from _shared(work, first, range(done, count), processes or 1, progress)


def _executed(work: Work, count: int, executor: Executor) -> Iterator[Run]:
    """Replicas made wherever an executor has them made, handed out in order."""
    yield from executor.map(work.alone().run, range(count))


def _processors() -> int:
    if os.name != "posix":
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shared(work: Work, first: Run, numbers: range, processes: int, progress: Progress) -> Iterator[Run]:
    """Replicas made by child processes, handed out in order."""
    from multiprocessing.connection import wait

    sent = pickle.dumps(work.alone())
    todo, ready = iter(numbers), dict[int, Run]()
    children: dict[Any, _Child] = {}
    try:
        for number in islice(todo, processes):
            child = _Child(sent, number)
            children[child.output] = child
        for wanted in numbers:
            while wanted not in ready:
                if progress(first.end_s, 0.0):
                    return
                for output in wait(list(children), timeout=_POLL_S):
                    child = children[output]
                    ready[child.number] = child.result()
                    if (following := next(todo, None)) is not None:
                        child.ask(following)
                    else:
                        children.pop(output).end()
            yield ready.pop(wanted)
    finally:
        for child in children.values():
            child.end()


class _Child:
    """A process that makes replicas.

    Args:
        work: What they have in common, pickled.
        number: The first that it shall make.
    """

    def __init__(self, work: bytes, number: int) -> None:
        self.number = number
        path = os.pathsep.join(p for p in sys.path if p)
        self._process = subprocess.Popen(  # noqa: S603 - this very interpreter with a fixed program
            [sys.executable, "-c", _START, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self.output = self._process.stdin, self._process.stdout
        self._send(work)
        self.ask(number)

    def ask(self, number: int) -> None:
        """Has it make a replica."""
        self.number = number
        self._send(pickle.dumps(number))

    def _send(self, data: bytes) -> None:
        # a child that has ended is noticed where its answer is read; the reader of our output has not left
        with suppress(BrokenPipeError):
            self._input.write(data)
            self._input.flush()

    def result(self) -> Run:
        """What it has made.

        Raises:
            DtnsimError: What the run has raised.
        """
        try:
            made = pickle.load(self.output)  # noqa: S301 - written by our own child
        except (EOFError, pickle.UnpicklingError):
            raise ModelError(f"the process of replica {self.number + 1} has ended by itself") from None
        if isinstance(made, Run):
            return made
        kind, message = made
        raise (InputError if kind == "input" else ModelError)(message)

    def end(self) -> None:
        """Ends it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._input, self.output):
            try:
                pipe.close()
            except BrokenPipeError:
                continue


def serve() -> None:
    """What a child does: reads the work, then numbers, until its input ends."""
    end_with(int(sys.argv[1]))
    given, answers = sys.stdin.buffer, sys.stdout.buffer
    try:
        work: Work = pickle.load(given)  # noqa: S301 - written by our own parent
    except (EOFError, pickle.UnpicklingError):
        return
    while True:
        try:
            number = pickle.load(given)  # noqa: S301 - written by our own parent
        except EOFError:
            return
        made: Run | tuple[str, str]
        try:
            made = work.run(number)
        except DtnsimError as error:
            made = ("input" if isinstance(error, InputError) else "model", str(error))
        pickle.dump(made, answers)
        answers.flush()
