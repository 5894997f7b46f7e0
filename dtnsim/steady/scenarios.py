"""The scenarios behind an interval: draws of a path's parameters, of the model's own error, and of one run's luck."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from dtnsim.composition import sharing
from dtnsim.composition.compose import Composer
from dtnsim.description.spec import PathSpec
from dtnsim.ground.draws import Correlation
from dtnsim.ground.quantity import Draw, Mixture, Quantity, Value, key_of
from dtnsim.ground.records import Connection, Problem
from dtnsim.ground.uncertainty import COVERED, Interval
from dtnsim.physics._arrays import FloatArray as Array, Index, quantile
from dtnsim.steady import discrepancy, epochs, solve, timed
from dtnsim.steady.discrepancy import Discrepancy
from dtnsim.steady.matrices import Layout, Matrices, beyond
from dtnsim.steady.meetings import meetings
from dtnsim.steady.pools import alike_scenarios
from dtnsim.steady.regime import Holders, holders
from dtnsim.steady.solve import Solution

#: entries over all scenarios from which on these are solved in blocks half as large: 64 MB per array
MOST: Final = 16_000_000
#: stations that carry bytes at a rate that no system exceeds; a cloud's disk has a token bucket
WIRES: Final = frozenset({"nic", "ib", "network", "pcie", "sata", "sas", "policer", "cloud-disk"})
#: factor on rates that is large enough for the wires to limit them
_NO_LIMIT: Final = 1e9


class Partly(Draw):
    """Draws of some parameters only; the others stay at their nominal values.

    If only the kind of a number is drawn, each scenario has the median of its kind.

    Args:
        samples, seed, correlation: As for `Draw`.
        keys: What is drawn, by `key_of`.
    """

    def __init__(self, samples: int, seed: int, correlation: Correlation, keys: Collection[str]) -> None:
        super().__init__(samples, seed, correlation)
        self._chosen = frozenset(keys)

    def __call__(self, quantity: Quantity) -> Value:
        """Value of ``quantity``: drawn if it is one of them."""
        if key_of(quantity) in self._chosen:
            return super().__call__(quantity)
        law = quantity.typical
        if isinstance(law, Mixture) and law.chooser in self._chosen:
            return self.medians(law)
        return quantity.value


@dataclass(frozen=True, slots=True)
class Scenarios:
    """A path in S scenarios."""

    problem: Problem  #: Stations and demands of the scenarios.
    #: The same as arrays, capacities as they are at the solution; of very many, what arrays are made of.
    arrays: Matrices | Layout
    solution: Solution  #: Rates with only the parameters drawn, and what binds.
    parameters: Array  #: Rates over each transfer's own time with only the parameters drawn, (S, F) [B/s].
    draw: Draw  #: What was drawn: scores by key.
    held: tuple[Holders, ...]  #: Everything that can bind each transfer.

    @property
    def matrices(self) -> Matrices:
        """The scenarios as arrays, their capacities as they are at the solution."""
        if isinstance(self.arrays, Matrices):
            return self.arrays
        return replace(self.arrays.arrays(), capacity=self.solution.capacity)

    def rates(self, laws: Discrepancy, *, mean: bool = False) -> Array:
        """Rates of single runs on random days, or with ``mean`` of the long-run mean, (S, F) [B/s].

        The model's own error never lifts a rate above what the wires carry.
        """

        def factors(*solution: Any) -> Array:
            return laws.factors(self.draw, self.held, self.problem, solution, mean=mean)

        return self.times(factors)

    def wire_limits(self) -> Array:
        """Most that the wires carry of each transfer beside the others at their rates, (S, F) [B/s]."""
        return self.times(lambda _, rate, *__: np.full(rate.shape, _NO_LIMIT))

    def rooms(self, f: int) -> dict[str, Array]:
        """Headroom of each kind of thing that does not bind a transfer: log of the possible rise (S,), by kind."""
        rate = np.broadcast_to(self.solution.rate, self.parameters.shape)
        return discrepancy.rooms(self.problem, (self.matrices, rate, self.parameters), self.held[f], f)

    def times(self, factors: Callable[[Matrices, Array, Array, Index], Array]) -> Array:
        """Rates over each transfer's own time once factors apply to the rates while all run, (S, F) [B/s].

        Args:
            factors: Gives them (S, F) for some scenarios, from the arguments of `Discrepancy.factors`.
        """
        rate = np.array(np.broadcast_to(self.solution.rate, self.parameters.shape))
        kinds, rows, most = [s.kind for s in self.problem.stations], np.arange(len(rate)) % self.draw.samples, []
        with_errors = np.empty_like(rate)
        for block, m in self._arrays():
            more = beyond(self.problem, m, rows[block])
            off = factors(m, rate[block], self.parameters[block], rows[block])
            # a transfer that shares a station all the time gets less than the others' mean demands leave
            rate[block] = before = np.minimum(rate[block], self.parameters[block])
            wires = carriers(m, kinds, before, more)
            with_errors[block] = capped(before * off, wires)
            most.append(carried((len(m.capacity), len(m.turn)), wires))
        # who is alone in part of its time has more there, but no more than the wires carry
        return np.minimum(self._times(with_errors, self.parameters, rate), np.concatenate(most))

    def _arrays(self) -> Iterator[tuple[slice, Matrices]]:
        """The arrays, of very many in blocks of scenarios, with the capacities at the solution."""
        if isinstance(self.arrays, Matrices):
            yield slice(None), self.arrays
            return
        capacity = np.broadcast_to(self.solution.capacity, (self.arrays.scenarios, len(self.problem.stations)))
        for block in blocks(self.arrays):
            yield block, replace(self.arrays.arrays(block), capacity=capacity[block])

    def while_all_run(self, rates: Array) -> Array:
        """Rates over each transfer's own time, while all run."""
        return self._times(rates, self.solution.rate, self.parameters)

    @staticmethod
    def _times(rates: Array, above: Array, below: Array) -> Array:
        """Rates times a ratio, where there is one."""
        with np.errstate(divide="ignore", invalid="ignore"):
            part = above / below
        return np.asarray(rates * np.where(np.isfinite(part), part, 1.0))


def blocks(layout: Layout) -> list[slice]:
    """Blocks of scenarios that are solved together: all of them, or as many as fit into memory."""
    count = layout.scenarios
    step = count if layout.entries * count <= MOST else max(MOST // (2 * layout.entries), 1)
    return [slice(n, n + step) for n in range(0, count, step)]


def scenarios(
    composer: Composer,
    nominal: Problem,
    samples: int,
    seed: int = 1,
    only: Collection[str] | None = None,
    *,
    mean: bool = False,
) -> Scenarios:
    """Draws a path.

    Args:
        composer: The path's composer.
        nominal: The path at its medians.
        only: Keys of the parameters that are drawn, the others at their medians; None draws all.
        mean: Whether everything but the luck of single runs is drawn.
    """
    path = composer.spec
    full_draw = Draw(samples, seed, path.correlation, mean=mean)
    draw = full_draw if only is None else Partly(samples, seed, path.correlation, only)
    return laid_out(sharing.as_in(composer.drawn(draw), nominal), draw, holders_of(path, nominal))


def composed_and_drawn(path: PathSpec, samples: int, seed: int, *, mean: bool) -> tuple[Problem, Scenarios]:
    """A path composed at its medians, and its scenarios."""
    composer = timed.composer(path, Draw())
    nominal = composer.problem()
    return nominal, scenarios(composer, nominal, samples, seed, mean=mean)


def laid_out(problem: Problem, draw: Draw, holding: tuple[Holders, ...]) -> Scenarios:
    """The scenarios of a drawn problem, in blocks if they are very many."""
    layout = Layout(problem)
    if len(blocks(layout)) == 1:
        return solved(problem, layout.arrays(), draw, holding)
    followed = any(t.cache is not None for t in problem.transfers)
    pieces = [
        _solve_all(in_some(problem, block) if followed else problem, layout.arrays(block)) for block in blocks(layout)
    ]
    parts = zip(*(solution.parts for _, solution, _ in pieces), strict=True)
    rates = np.concatenate([rate for _, _, rate in pieces])
    return Scenarios(problem, layout, solve.Solution(*map(np.concatenate, parts)), rates, draw, holding)


def solved(problem: Problem, m: Matrices, draw: Draw, holding: tuple[Holders, ...], times: int = 1) -> Scenarios:
    """The scenarios of a drawn problem, of which ``times`` variants follow one another."""
    m, solution, rates = _solve_all(problem, m)
    count = len(rates) if len(rates) > 1 else draw.samples * times
    return Scenarios(problem, m, solution, np.broadcast_to(rates, (count, rates.shape[1])), draw, holding)


def _solve_all(problem: Problem, m: Matrices) -> tuple[Matrices, solve.Solution, Array]:
    """All scenarios at once, their solution, and rates over each transfer's own time."""
    solution, groups = solve.solve(m), alike_scenarios(problem, len(m.capacity))
    at_solution = replace(m, capacity=solution.capacity)
    if len(groups) == 1:
        return at_solution, solution, epochs.laid_out(problem, m, solution.rate)
    rates = np.empty((len(m.capacity), len(problem.transfers)))
    for rows in groups:
        rates[rows] = epochs.laid_out(in_some(problem, rows), m.take(rows), solution.rate[rows])
    return at_solution, solution, rates


def in_some(problem: Problem, block: slice | Index) -> Problem:
    """A problem in some of its scenarios."""
    streams = {name: _streams_in_some(each, block) for name, each in problem.connections.items()}
    parts = {name: _part(getattr(problem, name), block) for name in ("stations", "transfers", "slowdowns")}
    return replace(problem, connections=streams, **parts)


def _streams_in_some(streams: Connection, block: slice | Index) -> Connection:
    """Connections in some of a problem's scenarios; they keep their course unless each scenario has its own."""
    course = streams.course
    if course is not None and np.ndim(course.steady_Bps):
        course = course.take(np.arange(len(course.steady_Bps))[block])
    drawn = {f.name: _part(getattr(streams, f.name), block) for f in fields(streams) if f.name != "course"}
    return replace(streams, course=course, **drawn)


def _part(record: Any, block: slice | Index) -> Any:
    """Records of a problem in some of its scenarios."""
    if isinstance(record, np.ndarray):
        if record.size == 1:
            return record
        return record[block] if isinstance(block, slice) else np.take(record, block, mode="wrap")
    if isinstance(record, tuple):
        return tuple(_part(value, block) for value in record)
    if isinstance(record, Mapping):
        return {name: _part(value, block) for name, value in record.items()}
    if is_dataclass(record) and not isinstance(record, type):
        return replace(record, **{f.name: _part(getattr(record, f.name), block) for f in fields(record)})
    return record


def holders_of(path: PathSpec, nominal: Problem) -> tuple[Holders, ...]:
    """Everything that can bind each transfer of a path at its medians, halfway through its time."""
    holding, count = {}, len(nominal.transfers)
    for group in meetings(nominal).each:
        for f in group.halfway:
            entry = holders(path, nominal, f, group.cause(f))
            holding[f] = entry if len(group.members) == count else entry._replace(meeting=group)
    return tuple(holding[f] for f in range(count))


def interval(drawn: Array, level: float = COVERED) -> Interval:
    """Median and central interval of scenarios (S,), or the value of a single one."""
    shares = ((1 - level) / 2, 0.5, (1 + level) / 2)
    return Interval(*map(float, quantile(drawn, shares)))


def took(seconds: Array) -> Interval:
    """Median and interval of times (S,), from the scenarios at the opposite quantiles of the rates."""
    rate = interval(-seconds)
    return Interval(-rate.p90, -rate.p50, -rate.p10)


class Carrier(NamedTuple):
    """A station whose rate no system exceeds."""

    capacity: Array  #: (S,)
    users: Index  #: (n,) transfers that visit it.
    turn: Index  #: (n,) their turns.
    first: Array  #: (S, n) what their first bytes take.
    each: Array  #: (S, n) what one byte more of each takes.


def carriers(m: Matrices, kinds: Sequence[str], before: Array, more: Array) -> list[Carrier]:
    """The wires, and the rate limits that a user has set in a tool.

    Args:
        kinds: Kind of every station.
        before: Rates at which the demands are those of ``m`` [B/s].
        more: Marginal demand of further bytes (`beyond`).
    """
    listed = []
    for k in sorted(set(m.total.station.tolist())):
        kind, capacity = kinds[k] if k < len(kinds) else "", m.capacity[:, k : k + 1]
        # a limit set by the user is exact, unlike our idea of what a tool does
        if kind in WIRES or (kind == "target" and capacity.min() == capacity.max()):
            visits = np.flatnonzero(m.total.station == k)
            users, each = m.total.row[visits], more[visits].T
            with np.errstate(invalid="ignore"):  # a rate without end, where hosts hold nothing
                first = before[:, users] * (m.total.demand[visits].T - each)
            listed.append(Carrier(capacity[:, 0], users, m.turn[users], first, each))
    return listed


def capped(rates: Array, among: Sequence[Carrier]) -> Array:
    """Rates of scenarios (S, F) [B/s], cut to what such stations carry; turns are kept apart."""
    rates = np.array(rates)
    for capacity, users, turn, first, each in among:
        for number in sorted(set(turn.tolist())):
            meet = turn == number
            load = (rates[:, users[meet]] * each[:, meet]).sum(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(load > 0, (capacity - first[:, meet].sum(axis=1)) / load, np.inf)
            rates[:, users[meet]] *= np.minimum(room, 1.0)[:, None]
    return rates


def carried(shape: tuple[int, int], among: Sequence[Carrier]) -> Array:
    """Most that such stations carry of each transfer alone, (S, F) [B/s]."""
    most = np.full(shape, np.inf)
    for capacity, users, _, first, each in among:
        with np.errstate(divide="ignore"):
            most[:, users] = np.minimum(most[:, users], (capacity[:, None] - first) / each)
    return most
