"""Independent pieces of work on a cluster: a Dask scheduler that somebody has started.

The scheduler gives the work of a worker that dies to another; each piece is handed back once.
"""

import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from itertools import islice
from typing import Any, Final, Generic, Self, TypeVar

from dtnsim.ground.errors import DtnsimError, InputError
from dtnsim.ground.extras import need

Shared = TypeVar("Shared")
Piece = TypeVar("Piece")
Result = TypeVar("Result")

PATIENCE_S = 10.0  #: seconds to wait for a scheduler, and for its first worker
#: tasks for each core at least, so that none is left alone at the end; pieces of a task at most
_TASKS: Final = 4
_LARGEST: Final = 32


def spread(
    work: Callable[[Shared, Piece], Result], shared: Shared, pieces: Sequence[Piece], scheduler: str
) -> Iterator[tuple[int, Result]]:
    """Works on pieces wherever the scheduler has workers.

    Args:
        work: A function of a module that the workers have too; it is called with ``shared`` and a piece. A task is
            several pieces where there are many for each core of the cluster.
        shared: What every piece needs; it travels once a worker, and survives workers that die.

    Yields:
        (number of the piece, its result) as they are done, each once.

    Raises:
        InputError: no scheduler answers there, it has no workers, or they run another version of dtnsim.
        DtnsimError: the scheduler was lost on the way, or a piece kills its workers.
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
    """A scheduler's workers for pieces of work that come one lot after another, all with one thing in common.

    Raises:
        InputError: as in `spread`.
    """

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
        """The results of some pieces, in order.

        Raises:
            DtnsimError: the scheduler was lost on the way, or a piece kills its workers.
        """
        futures = [self.submit(work, [piece]) for piece in pieces]
        for future in _dask().as_completed(list(futures), loop=self.client.loop):
            _result(self.client, future, self._scheduler)
        return [_result(self.client, future, self._scheduler)[0] for future in futures]


def check(scheduler: str) -> None:
    """Checks that an address could be one, and that the client is installed.

    Raises:
        InputError: it cannot, or it is not.
    """
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
