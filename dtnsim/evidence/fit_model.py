"""What a fit asks: all figures predicted for a table of parameter values, here or by the workers of a cluster.

Which numbers of a host it may move is found in the model itself, with bounds and datasheet priors. Every parameter is
moved on the scale of its prior: ``u = ln(value / prior) / sigma``, so that u is a standard normal before any log was
read.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from pydantic import BaseModel

from dtnsim.composition.compose import compose
from dtnsim.description.spec import PathSpec
from dtnsim.evidence.figures import Figure, Solved, solved, values
from dtnsim.ground import pool
from dtnsim.ground.pool import once
from dtnsim.ground.quantity import Draw, Quantity, Table, Unit, Value, unit_of
from dtnsim.physics._arrays import FloatArray as Array

_PIECES: Final = 2  #: pieces of each step for each core, so that none is left alone with the slowest path
#: what is no error of a figure that only bounds the true one
_BOUNDS: Final = {"at least": np.minimum, "at most": np.maximum}


class Model:
    """Predicts all figures for a table of parameter values; paths that several figures share are composed once."""

    def __init__(self, figures: Sequence[Figure], hosts: Sequence[str]) -> None:
        self.figures, self.hosts = tuple(figures), tuple(hosts)
        collection = Collection(hosts)
        self._runs: list[tuple[PathSpec, dict[str, int], list[int]]] = []
        run_of: dict[tuple[str, tuple[str, ...]], int] = {}
        for number, figure in enumerate(self.figures):
            key = (figure.spec.file or str(id(figure.spec)), figure.case.overrides)
            if key not in run_of:
                run_of[key] = len(self._runs)
                self._runs.append((figure.spec, collection.host_parameters(figure.spec), []))
            self._runs[run_of[key]][2].append(number)
        for spec, place, _ in self._runs:
            recorder = Recorder()
            compose(spec, recorder)
            collection.other_parameters(recorder.seen.values(), place)
        self._collection = collection
        self.parameters = tuple(collection.parameters)

    def answers(self, u: Array, runs: Sequence[int] | None = None) -> list[tuple[Solved, list[int]]]:
        """Every path (or some) solved at ``u`` (S, P), with the figures read from it."""
        table = np.stack([p.value(u[:, j]) for j, p in enumerate(self.parameters)], axis=1)
        solutions = []
        for spec, place, numbers in self._runs if runs is None else [self._runs[k] for k in runs]:
            solutions.append((solved(compose(spec, self._collection.draw(place, table))), numbers))
        return solutions

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
                predicted = np.broadcast_to(values(case, answer), (u.shape[0],))
                ratio = np.log(np.maximum(predicted, 1e-300) / case.measured)
                result[:, number] = _BOUNDS[case.bound](ratio, 0.0) if case.bound else ratio
        return result


Task = tuple[tuple["Figure", ...], tuple[str, ...]]


@once
def _model(task: Task) -> Model:
    return Model(*task)


def part(task: Task, piece: tuple[Array, Sequence[int]]) -> Array:
    """Ratios of the figures of some paths, made by a worker; it makes its model once."""
    return _model(task).some_ratios(*piece)


class SpreadModel(Model):
    """`Model`, worked out elsewhere."""

    def __init__(self, figures: Sequence[Figure], hosts: Sequence[str], scheduler: str) -> None:
        super().__init__(figures, hosts)
        self._session = pool.Session((self.figures, self.hosts), scheduler)
        count = min(self.paths, _PIECES * self._session.cores)
        self._parts = [range(n, self.paths, count) for n in range(count)]

    def ratios(self, u: Array) -> Array:
        """ln(predicted / measured) of all figures at every row of ``u`` (S, P): (S, N)."""
        table = np.atleast_2d(u)
        ratios = self._session.lot(part, [(table, runs) for runs in self._parts])
        return np.asarray(np.fmax.reduce(ratios))  # each has nan where the others have its figures

    def close(self) -> None:
        """Lets the workers go."""
        self._session.__exit__()


FARTHEST: Final = 4.0  #: how far a parameter may go from its prior, in prior standard deviations


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a fit may move."""

    host: str  #: Host file it belongs to; empty for numbers of tools and networks, which are moved but not kept.
    key: str  #: Dotted key below the host.
    prior: Quantity  #: Value, spread and source before the fit.
    low: float = -math.inf  #: Smallest u that the bounds of its field allow.
    high: float = math.inf  #: Largest u.

    def limits(self, scale: float = 1.0) -> tuple[float, float]:
        """Smallest and largest u of a search with a prior so many times as wide as stated."""
        return max(self.low, -FARTHEST * scale), min(self.high, FARTHEST * scale)

    @property
    def sigma(self) -> float:
        """Standard deviation of the prior, of the logarithm."""
        return math.sqrt(math.log1p(self.prior.spread**2))

    @property
    def name(self) -> str:
        """Name in reports."""
        return f"{self.host}: {self.key}" if self.host else f"{self.key} (not of the host)"

    def value(self, u: float | Array) -> Any:
        """Value at ``u`` [unit of the prior]."""
        return self.prior.value * np.exp(self.sigma * np.asarray(u))


class Recorder(Draw):
    """A nominal draw that notes every uncertain quantity it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[tuple[str, Quantity], Quantity] = {}

    def __call__(self, quantity: Quantity) -> Value:
        """Nominal value."""
        if quantity.spread:
            self.seen.setdefault((quantity.key, quantity), quantity)
        return quantity.value


def quantities(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Quantity, Unit]]:
    """All quantities of a model with their dotted keys and the bounds of their fields."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, Quantity):
            yield prefix + name, value, unit_of(field) or Unit(value.dim)
        elif isinstance(value, BaseModel):
            yield from quantities(value, f"{prefix}{name}.")
        elif isinstance(value, dict):
            for key, item in value.items():
                if isinstance(item, BaseModel):
                    yield from quantities(item, f"{prefix}{name}.{key}.")


class Collection:
    """The parameters of several paths, and where each path's quantities find theirs."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self.hosts = frozenset(hosts)
        self.parameters: list[Parameter] = []
        self._index: dict[tuple[str, str], int] = {}
        self._alike: dict[Quantity, int] = {}

    def host_parameters(self, spec: PathSpec) -> dict[str, int]:
        """Makes parameters of what a path's fitted hosts are made of: the parameter of each quantity, by its key."""
        place: dict[str, int] = {}
        for alias, host in spec.hosts.items():
            file = spec.host_files.get(alias, alias)
            if file not in self.hosts:
                continue
            for key, quantity, unit in quantities(host):
                # the slots of a board are among the host's own
                if quantity.spread > 0 and quantity.value > 0 and not {"facts", "board"} & set(key.split(".")):
                    place[quantity.key] = self._parameter(file, key, quantity, unit)
        return place

    def other_parameters(self, seen: Iterable[Quantity], place: Mapping[str, int]) -> None:
        """Makes parameters of uncertain quantities that belong to no fitted host: they may move, but are not kept."""
        for quantity in seen:
            if quantity.key not in place and quantity not in self._alike and quantity.value > 0:
                self._alike[quantity] = len(self.parameters)
                words = quantity.source.partition(";")[0]
                name = f"{quantity} from {words if len(words) <= 70 else words[:67] + '...'}"
                self.parameters.append(Parameter("", name, quantity))

    def _parameter(self, host: str, key: str, quantity: Quantity, unit: Unit) -> int:
        index = self._index.get((host, key))
        if index is None:
            index = self._index[host, key] = len(self.parameters)
            sigma = math.sqrt(math.log1p(quantity.spread**2))
            high = 1.0 if unit.dim == "1" and quantity.value < 1 else unit.high
            reach = [math.log(edge / quantity.value) / sigma if edge > 0 else -math.inf for edge in (unit.low, high)]
            self.parameters.append(Parameter(host, key, quantity, *reach))
        return index

    def draw(self, place: Mapping[str, int], values: Array) -> Table:
        """A draw that reads the parameters' values from a table, (scenarios, parameters)."""
        return Table({key: values[:, column] for key, column in (*place.items(), *self._alike.items())})
