"""What a fit asks: all figures predicted for a table of parameter values, here or by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.composition.compose import compose
from dtnsim.evidence.figures import Figure, Solved, solved, values
from dtnsim.evidence.fit_parameters import Collection, Recorder
from dtnsim.ground import cluster

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.steady.solve import Array

#: pieces of each step for each core, so that none is left alone with the slowest path
_PIECES: Final = 2


class Model:
    """Predicts all figures for a table of parameter values; paths that several figures share are composed once."""

    def __init__(self, figures: Sequence[Figure], hosts: Sequence[str]) -> None:
        self.figures, self.hosts = tuple(figures), tuple(hosts)
        collection = Collection(hosts)
        self._runs: list[tuple[PathSpec, dict[str, int], list[int]]] = []
        known: dict[tuple[str, tuple[str, ...]], int] = {}
        for number, figure in enumerate(self.figures):
            key = (figure.spec.file or str(id(figure.spec)), figure.case.overrides)
            if key not in known:
                known[key] = len(self._runs)
                self._runs.append((figure.spec, collection.own(figure.spec), []))
            self._runs[known[key]][2].append(number)
        for spec, place, _ in self._runs:
            recorder = Recorder()
            compose(spec, recorder)
            collection.others(recorder.seen.values(), place)
        self._collection = collection
        self.parameters = tuple(collection.parameters)

    def answers(self, u: Array, runs: Sequence[int] | None = None) -> list[tuple[Solved, list[int]]]:
        """Every path (or some) solved at ``u`` (S, P), with the figures read from it."""
        table = np.stack([p.value(u[:, j]) for j, p in enumerate(self.parameters)], axis=1)
        found = []
        for spec, place, numbers in self._runs if runs is None else [self._runs[k] for k in runs]:
            found.append((solved(compose(spec, self._collection.draw(place, table))), numbers))
        return found

    def ratios(self, u: Array) -> Array:
        """ln(predicted / measured) of all figures at every row of ``u`` (S, P): (S, N)."""
        return self.some_ratios(np.atleast_2d(u), range(len(self._runs)))

    @property
    def paths(self) -> int:
        """Number of the paths that it composes."""
        return len(self._runs)

    def some_ratios(self, u: Array, runs: Sequence[int]) -> Array:
        """The same, of the figures of some paths only; nothing (nan) of the others."""
        result = np.full((u.shape[0], len(self.figures)), np.nan)
        for answer, numbers in self.answers(u, runs):
            for number in numbers:
                case = self.figures[number].case
                found = np.broadcast_to(values(case, answer), (u.shape[0],))
                ratio = np.log(np.maximum(found, 1e-300) / case.measured)
                result[:, number] = _censored(ratio, case.bound)
        return result


def _censored(ratio: Array, bound: str | None) -> Array:
    if bound == "at least":
        return np.minimum(ratio, 0.0)
    return np.maximum(ratio, 0.0) if bound == "at most" else ratio


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
