"""The ladder of a transfer: what binds once everything before it is relieved. Worked out when it is first looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, overload

import numpy as np

from dtnsim.ground.records import Problem, Rung
from dtnsim.steady import solve
from dtnsim.steady.reasons import Cause, cause_of, reason
from dtnsim.steady.remedies import remedy

if TYPE_CHECKING:
    from dtnsim.steady.matrices import Matrices

#: rungs of the ladder
RUNGS: Final = 7
#: ladders of so many transfers are shown by themselves; of more, that of the first
SHOWN: Final = 12


class Ladder(Sequence[Rung]):
    """The rungs of one transfer, each a solution of the whole path: nobody pays for those that nobody reads.

    Args:
        problem: The path, its capacities as they are at the answer.
        m: The path as arrays, its capacities as given.
        f: Number of the transfer.
        cause: What binds in the answer.
        rate: The answer [B/s].
    """

    def __init__(self, problem: Problem, m: Matrices, f: int, cause: Cause, rate: float) -> None:
        self._problem, self._m, self._f, self._cause, self._rate = problem, m, f, cause, rate
        self._rungs: tuple[Rung, ...] | None = None

    def _known(self) -> tuple[Rung, ...]:
        if self._rungs is None:
            self._rungs = tuple(self._climb())
        return self._rungs

    @overload
    def __getitem__(self, index: int) -> Rung: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Rung]: ...
    def __getitem__(self, index: int | slice) -> Rung | Sequence[Rung]:
        """One rung, or several."""
        return self._known()[index]

    def __len__(self) -> int:
        """How many there are, `RUNGS` at most."""
        return len(self._known())

    def __eq__(self, other: object) -> bool:
        """Whether the rungs are the same."""
        return isinstance(other, Sequence) and self._known() == tuple(other)

    def __hash__(self) -> int:
        """Of the rungs."""
        return hash(self._known())

    def _climb(self) -> Iterator[Rung]:
        """Relieves what binds and solves again, until nothing binds or the rungs are enough."""
        problem, m, f, cause, rate = self._problem, self._m, self._f, self._cause, self._rate
        named = None
        for _ in range(RUNGS):
            station = None if cause.station is None else problem.stations[cause.station]
            name = station.name if station is not None else f"{problem.transfers[f].name}.workers"
            yield Rung(name, rate, reason(problem, f, cause, named), remedy(problem, station))
            named = cause.phase
            m = solve.relieved(m, station=cause.station, transfer=f)
            solution = solve.solve(m)
            rate = float(solution.rate[0, f])
            if not np.isfinite(rate):
                return
            cause = cause_of(replace(m, capacity=solution.capacity), f, int(solution.binding[0, f]))
