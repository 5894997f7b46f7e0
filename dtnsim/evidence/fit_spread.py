"""A fit whose paths are composed by the workers of a Dask scheduler, each some of them, at every step of the search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.evidence.fit import Model
from dtnsim.ground import cluster

if TYPE_CHECKING:
    from dtnsim.evidence.figures import Figure
    from dtnsim.steady.solve import Array

#: pieces of each step for each core, so that none is left alone with the slowest path
_PIECES: Final = 2

Task = tuple[tuple["Figure", ...], tuple[str, ...]]
_LAST: list[tuple[Task, Model]] = []


def part(task: Task, piece: tuple[Array, Sequence[int]]) -> Array:
    """Ratios of the figures of some paths, made by a worker; it makes its model once."""
    if not _LAST or _LAST[0][0] is not task:
        _LAST[:] = [(task, Model(*task))]
    return _LAST[0][1].some_ratios(*piece)


class SpreadModel(Model):
    """`Model`, worked out elsewhere.

    Args:
        figures: Component figures with their paths.
        hosts: Host files whose parameters are wanted.
        scheduler: Address of a Dask scheduler.

    Raises:
        InputError: No scheduler answers there, or it has no workers.
    """

    def __init__(self, figures: Sequence[Figure], hosts: Sequence[str], scheduler: str) -> None:
        super().__init__(figures, hosts)
        self._session = cluster.Session((self.figures, self.hosts), scheduler)
        count = min(self.paths, _PIECES * self._session.cores)
        self._parts = [range(n, self.paths, count) for n in range(count)]

    def ratios(self, u: Array) -> Array:
        """ln(predicted / measured) of all figures at every row of ``u`` (S, P): (S, N)."""
        table = np.atleast_2d(u)
        found = self._session.lot(part, [(table, runs) for runs in self._parts])
        result = found[0]
        for other in found[1:]:
            result = np.where(np.isnan(result), other, result)
        return result

    def close(self) -> None:
        """Lets the workers go."""
        self._session.__exit__()
