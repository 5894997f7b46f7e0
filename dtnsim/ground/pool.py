"""Independent pieces of work: done in this process, in child processes, or on a Dask cluster.

A child is a fresh interpreter that reads the work and then pieces from its standard input and writes results to its
standard output, so that none of the caller's threads, locks or main module gets into it. It ends when its input does,
and soon after its parent. It is in a session of its own: Ctrl-C reaches the parent alone, which ends its children.
The scheduler gives the work of a worker that dies to another; each piece is handed back once.
"""

import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from itertools import islice
from time import sleep
from typing import Any, Final, Generic, Self, TypeVar

from dtnsim.ground.errors import DtnsimError, InputError, ModelError, need

Shared = TypeVar("Shared")
Piece = TypeVar("Piece")
Result = TypeVar("Result")

#: seconds between two looks at whether to stop, or at who the parent is
_POLL_S: Final = 0.2
_START: Final = "from dtnsim.ground.pool import serve; serve()"
_ENDED: Final = (
    "a child process was ended from outside, as where memory runs out; use fewer --processes. What was written by then "
    "is kept: give the same command again"
)


class Pool(Generic[Shared, Piece, Result]):
    """Works on pieces. Child processes have begun when the block is entered.

    Pieces are asked for as they are begun, but by a cluster; up to one process, this one does them.
    """

    def __init__(
        self,
        work: Callable[[Shared, Piece], Result],
        shared: Shared,
        pieces: Iterable[Piece],
        processes: int = 1,
        scheduler: str | None = None,
    ) -> None:
        self._work, self._shared, self._scheduler = work, shared, scheduler
        self._count = processes if processes > 1 and scheduler is None else 0
        self._left = iter(enumerate(pieces))
        self._children: dict[Any, _Child] = {}

    def __enter__(self) -> Self:
        if self._count:
            sent = pickle.dumps((self._work, self._shared))
            for number, piece in islice(self._left, self._count):
                child = _Child(sent, number, piece)
                self._children[child.output] = child
        return self

    def __exit__(self, *reason: object) -> None:
        for child in self._children.values():
            child.end()

    def results(self, stop: Callable[[], bool] | None = None) -> Iterator[tuple[int, Result]]:
        """(number of the piece, its result) as they are done; fewer once ``stop`` says so."""
        if self._scheduler is not None:
            yield from spread(self._work, self._shared, [p for _, p in self._left], self._scheduler)
        elif self._count:
            yield from self._from_children(stop)
        else:
            for number, piece in self._left:
                yield number, self._work(self._shared, piece)

    def _from_children(self, stop: Callable[[], bool] | None) -> Iterator[tuple[int, Result]]:
        from multiprocessing.connection import wait

        while self._children:
            if stop is not None and stop():
                return
            for output in wait(list(self._children), timeout=_POLL_S):
                child = self._children[output]
                number, result = child.number, child.result()
                following = next(self._left, None)
                if following is not None:
                    child.ask(*following)
                else:
                    self._children.pop(output).end()
                yield number, result


def in_order(results: Iterator[tuple[int, Result]]) -> Iterator[Result]:
    """Results in the order of their pieces, each as soon as all before it are there."""
    ready: dict[int, Result] = {}
    wanted = 0
    for number, result in results:
        ready[number] = result
        while wanted in ready:
            yield ready.pop(wanted)
            wanted += 1


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Child:
    """A process that works on pieces; what is done and what all have in common is pickled."""

    def __init__(self, work: bytes, number: int, piece: object) -> None:
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
        self.ask(number, piece)

    def ask(self, number: int, piece: object) -> None:
        """Has it work on a piece."""
        self.number = number
        self._send(pickle.dumps(piece))

    def _send(self, data: bytes) -> None:
        # a child that has ended is noticed where its answer is read; the reader of our output has not left
        with suppress(BrokenPipeError):
            self._input.write(data)
            self._input.flush()

    def result(self) -> Any:
        """What it has made of its piece; raises what its work has raised."""
        try:
            failed, result = pickle.load(self.output)  # noqa: S301 - written by our own child
        except (EOFError, pickle.UnpicklingError):
            raise DtnsimError(_ENDED) from None
        if failed:
            raise result
        return result

    def end(self) -> None:
        """Ends it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._input, self.output):
            with suppress(BrokenPipeError):
                pipe.close()


def once(make: Callable[[Shared], Result]) -> Callable[[Shared], Result]:
    """``make``, which a process that works on many pieces of one thing calls once: it keeps what it made last.

    The thing is known by identity, as it travels once a worker; pickled, of which each call has a copy, by its bytes.
    """
    cache: list[tuple[Shared, Result]] = []

    def cached(shared: Shared) -> Result:
        if not cache or not (cache[0][0] is shared or (isinstance(shared, bytes) and cache[0][0] == shared)):
            cache[:] = [(shared, make(shared))]
        return cache[0][1]

    return cached


def serve() -> None:
    """What a child does: reads the work, then pieces, until its input ends."""
    end_with(int(sys.argv[1]))
    stdin, answers = sys.stdin.buffer, sys.stdout.buffer
    try:
        work, shared = pickle.load(stdin)  # noqa: S301 - written by our own parent
        while True:
            piece = pickle.load(stdin)  # noqa: S301 - written by our own parent
            answers.write(_done(work, shared, piece))
            answers.flush()
    except (EOFError, pickle.UnpicklingError, BrokenPipeError):
        return


def _done(work: Callable[[Any, Any], Any], shared: object, piece: object) -> bytes:
    """(whether it failed, what came of it), pickled."""
    try:
        return pickle.dumps((False, work(shared, piece)))
    except Exception as error:  # noqa: BLE001 - the parent raises it
        try:
            return pickle.dumps((True, error))
        except (pickle.PicklingError, TypeError, AttributeError):
            return pickle.dumps((True, ModelError(f"{type(error).__name__}: {error}")))


def end_with(parent: int) -> None:
    """Has this process end soon after its parent, also in the middle of its work and when that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            sleep(_POLL_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


PATIENCE_S = 10.0  #: seconds to wait for a scheduler, and for its first worker
#: tasks for each core at least, so that none is left alone at the end; pieces of a task at most
_TASKS: Final = 4
_LARGEST: Final = 32


def spread(
    work: Callable[[Shared, Piece], Result], shared: Shared, pieces: Sequence[Piece], scheduler: str
) -> Iterator[tuple[int, Result]]:
    """(number of each piece, its result) as they are done, each once, wherever the scheduler has workers.

    The work is a function of a module that the workers have too; a task is several pieces where there are many for each
    core of the cluster. What is shared survives workers that die. `InputError` where no scheduler answers, or workers
    are none or of another version; `DtnsimError` where it is lost on the way, or a piece kills its workers.
    """
    with Session(shared, scheduler) as session:
        client, size = session.client, max(1, min(len(pieces) // (_TASKS * session.cores), _LARGEST))
        left = iter(range(0, len(pieces), size))
        waiting: dict[Any, int] = {}

        def submit() -> Iterator[Any]:
            for first in islice(left, 1):
                future = session.submit(work, pieces[first : first + size])
                waiting[future] = first
                yield future

        done = _dask().as_completed([f for _ in range(_TASKS * session.cores) for f in submit()], loop=client.loop)
        for future in done:
            first = waiting.pop(future)
            yield from enumerate(_result(client, future, scheduler), first)
            for more in submit():
                done.add(more)


class Session(Generic[Shared]):
    """A scheduler's workers for pieces of work that come one lot after another, all with one thing in common."""

    def __init__(self, shared: Shared, scheduler: str) -> None:
        self._scheduler, self.client = scheduler, _client(scheduler)
        try:
            self.cores = _cores(self.client, scheduler)
        except InputError:
            _close(self.client)
            raise
        # a task and no scattered data: what is lost with a worker is made again
        self._common = self.client.submit(pickle.loads, pickle.dumps(shared), pure=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        _close(self.client)

    def submit(self, work: Callable[[Shared, Piece], Result], pieces: Sequence[Piece]) -> Any:
        """A task that works on some pieces."""
        return self.client.submit(_calls, work, self._common, pieces, pure=False)

    def lot(self, work: Callable[[Shared, Piece], Result], pieces: Sequence[Piece]) -> list[Result]:
        """The results of some pieces, in order; `DtnsimError` where the scheduler is lost or a piece kills workers."""
        futures = [self.submit(work, [piece]) for piece in pieces]
        for future in _dask().as_completed(list(futures), loop=self.client.loop):
            _result(self.client, future, self._scheduler)
        return [_result(self.client, future, self._scheduler)[0] for future in futures]


def check(scheduler: str) -> None:
    """Checks that an address could be one, and that the client is installed."""
    if "://" not in scheduler:
        raise InputError(f"--scheduler: {scheduler!r} is no address; write it like tcp://login1:8786")
    _dask()


def _dask() -> Any:
    return need("dask.distributed", "--scheduler")


def _calls(work: Callable[[Any, Any], Any], shared: Any, pieces: Sequence[Any]) -> list[Any]:
    return [work(shared, piece) for piece in pieces]


def _close(client: Any) -> None:
    """Lets a scheduler go. One that does not answer any more is not worth an error, least of all over one before."""
    with suppress(OSError, TimeoutError, RuntimeError):
        client.close(timeout=2)


def _client(scheduler: str) -> Any:
    check(scheduler)
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # connections that break, the answer says in its own words
    try:
        return _dask().Client(scheduler, timeout=PATIENCE_S, set_as_default=False)
    except (OSError, ValueError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"--scheduler: nobody answers at {scheduler} ({why}); start one with 'dask scheduler', then 'dask worker "
            "ADDRESS' on each machine"
        ) from None


def _cores(client: Any, scheduler: str) -> int:
    """Cores of the workers, once there is one."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE_S)
    except TimeoutError:
        start = f"start some with 'dask worker {scheduler}'"
        raise InputError(f"--scheduler: {scheduler} has no workers after {PATIENCE_S:g} s; {start}") from None
    ours, theirs = _version(), client.run(_version, on_error="return")
    for worker, version in theirs.items():
        if version != ours:
            shown = version if isinstance(version, str) else f"none that can be imported ({version})"
            raise InputError(f"--scheduler: worker {worker} has dtnsim {shown}, here it is {ours}; install the same")
    return sum(client.ncores().values())


def _version() -> str:
    import dtnsim

    return dtnsim.__version__


def _result(client: Any, future: Any, scheduler: str) -> Any:
    lost = f"--scheduler: {scheduler} was lost; what was done is kept"
    try:
        while True:
            try:
                return future.result(timeout=PATIENCE_S)
            except TimeoutError:
                if client.status != "running":  # else it is slow
                    raise
    except _dask().KilledWorker as error:
        raise DtnsimError(f"--scheduler: a piece of work ended every worker that had it: {error}") from None
    except (CancelledError, OSError, TimeoutError):
        raise DtnsimError(lost) from None
    except Exception as error:
        if client.status != "running":
            raise DtnsimError(lost) from error
        raise
