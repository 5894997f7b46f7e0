"""Numeric parameters of a path as arrays of scenarios: composed once, solved all at once.

A swept parameter is a `Swept` quantity: only the draw may read it. Whatever else does (round-model runs of TCP, sizes
that decide which phases there are) needs one scenario (`NeedsOneError`), and its key is then composed value by value.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, NoReturn

import numpy as np
from pydantic import BaseModel

from dtnsim.composition.compose import compose
from dtnsim.description.keys import mapped
from dtnsim.description.spec import PathSpec
from dtnsim.ground.quantity import Draw, Quantity, Value
from dtnsim.ground.records import Problem
from dtnsim.ground.several import NeedsOneError
from dtnsim.ground.term import without_words
from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.steady import epochs, ordering, solve, timed
from dtnsim.steady.matrices import Matrices
from dtnsim.steady.reasons import cause_of

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Many(Quantity):
    values: Any = field(default=None, compare=False)


class Swept(_Many):
    """A parameter with a value in each scenario, which the draw alone may read."""

    __slots__ = ()

    @property
    def several(self) -> bool:
        """True: each scenario has a value."""
        return True

    @property
    def any_value(self) -> float:
        """Value in the first scenario."""
        return float(np.ravel(self.values)[0])

    @property
    def value(self) -> NoReturn:
        """Refused: there is no single value."""
        raise NeedsOneError(self.text)


def swept(like: Quantity, values: Array) -> Swept:
    """A parameter like ``like`` with a value for each scenario."""
    quantity = object.__new__(Swept)
    for name in ("dim", "spread", "source", "text", "typical", "key"):
        object.__setattr__(quantity, name, getattr(like, name))
    object.__setattr__(quantity, "values", values)
    return quantity


class Scan(Draw):
    """Nominal values, and arrays of those that are swept."""

    @property
    def nominal(self) -> Draw:
        """Itself: every scenario is at nominal values of its own."""
        return self

    def __call__(self, quantity: Quantity) -> Value:
        """Value of ``quantity``: a float, or one a scenario."""
        return quantity.values if isinstance(quantity, Swept) else quantity.value


@dataclass(frozen=True, slots=True)
class Rates:
    """Results of scenarios."""

    rate_Bps: Array  #: All transfers together, (S,).
    seconds: Array  #: From the first transfer's start to the last's end, (S,).
    station: list[str]  #: What holds the transfer that takes longest, in each scenario.
    kind: list[str]  #: The kind of that.


def places(path: PathSpec) -> dict[Place, Any]:
    """Every leaf of a path's description by its place; quantities whole."""
    return dict(_leaves(path, ()))


def _leaves(value: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, BaseModel):
        yield place, type(value)
        for name in type(value).model_fields:
            yield from _leaves(getattr(value, name), (*place, name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, (*place, str(key)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _leaves(item, (*place, number))
    else:
        yield place, value


def numeric(low: PathSpec, high: PathSpec, ends: tuple[float, float]) -> tuple[Place, ...] | None:
    """Place of the one number in which two descriptions differ; None if they differ in more.

    Args:
        low: The path with a value of a key.
        high: The path with another.
        ends: The two values [SI].
    """
    first, second = places(low), places(high)
    if first.keys() != second.keys():
        return None
    changed = []
    for place, a in first.items():
        b = second[place]
        if isinstance(a, Quantity) and isinstance(b, Quantity):
            if (a.value, b.value) == ends and a.dim == b.dim:
                changed.append(place)
            elif a.value != b.value or a.spread != b.spread or a.typical != b.typical:
                return None
        elif not _same(a, b):
            return None
    return tuple(changed) or None


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    if is_dataclass(a) and type(a) is type(b):  # a data set, whose sizes are arrays
        return all(_same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return bool(a == b)


def rates(path: PathSpec) -> Rates:
    """Rates of a path: one, or one a scenario; `NeedsOneError` where a swept quantity decides more than numbers."""
    with without_words():
        if any(t.timing() is not None for t in path.transfers):
            problem = timed.composer(path, Scan()).problem()
        else:
            problem = compose(path, Scan(), {})
    m = solve.matrices(problem)
    solution = solve.solve(m)
    slowed = replace(m, capacity=solution.capacity)
    timeline = epochs.laid_out(problem, m, solution.rate)
    total_Bps = ordering.total_rate(problem, timeline)
    names = [station_held(problem, slowed, solution, s, f) for s, f in enumerate(ordering.longest(problem, timeline))]
    return Rates(total_Bps, ordering.span(problem, timeline), [n for n, _ in names], [k for _, k in names])


def station_held(problem: Problem, m: Matrices, solution: solve.Solution, s: int, f: int) -> tuple[str, str]:
    """(station, kind) that holds a transfer in one scenario.

    Args:
        problem: The path as stations and demands.
        m: Arrays of all scenarios.
        solution: What was solved of them.
        s: Number of the scenario.
        f: Number of the transfer.
    """
    k: int | None = int(solution.binding[s, f])
    if k is not None and k < 0:
        k = cause_of(m.take(np.array([s])), f, -1).station
    if k is None:
        return f"{problem.transfers[f].name}.workers", "latency"
    return problem.stations[k].name, problem.stations[k].kind


def with_values(path: PathSpec, where: Sequence[tuple[Place, ...]], values: Sequence[Array]) -> PathSpec:
    """The path with the numbers of some keys swept: at the places of each key its values, (S,) [SI]."""
    leaves = places(path)
    spots = ((place, v) for each, v in zip(where, values, strict=True) for place in each)
    table = {".".join(map(str, place)): swept(leaves[place], v) for place, v in spots}
    swept_path: PathSpec = mapped(path, table.get)
    return swept_path
