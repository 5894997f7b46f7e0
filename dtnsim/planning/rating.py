"""Rates of a path with some purchases, by the draws of `predict`: the median, and the rate reached as surely as asked.

A set is rated by the distribution that its row prints: parameters, unstated things, the model's own error and one run's
luck, with the same draws for every set (common random numbers, so that only the purchases differ).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from dtnsim.composition import sharing
from dtnsim.composition.compose import Composer, run_together
from dtnsim.description.spec import PathSpec
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Problem
from dtnsim.ground.term import without_words
from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.planning import swept
from dtnsim.planning.option import Option, Setting
from dtnsim.planning.search import SAME, Rates, Set
from dtnsim.steady import discrepancy, epochs, ordering, scenarios, solve, timed
from dtnsim.steady.matrices import Matrices
from dtnsim.steady.regime import Holders
from dtnsim.steady.scenarios import Scenarios


@dataclass(frozen=True)
class Described:
    """A path with some purchases: composed at its medians (on demand) and drawn."""

    given: PathSpec
    drawn: Problem
    draw: Draw
    middle: Callable[[], Problem]

    @cached_property
    def held(self) -> tuple[Holders, ...]:
        """Everything that can bind each transfer."""
        return scenarios.holders_of(self.given, self.middle())

    @cached_property
    def scenarios(self) -> Scenarios:
        """The path in all draws, with the limits of all hosts."""
        return scenarios.laid_out(self.drawn, self.draw, self.held)


class Paths:
    """Variants of a path by overrides, whose TCP rounds can be run in one batch beforehand."""

    def __init__(self, path: PathSpec) -> None:
        self.given = path
        self._ahead: dict[tuple[str, ...], PathSpec] = {}

    def __call__(self, overrides: Sequence[str]) -> PathSpec:
        """The path with the overrides; `DtnsimError` where they do not go together."""
        return self._ahead.pop(tuple(overrides), None) or (self.given.changed(overrides) if overrides else self.given)

    def ahead(self, every: Iterable[Sequence[str]]) -> None:
        """Runs the TCP rounds of many variants in one batch."""
        new = {}
        for key in dict.fromkeys(map(tuple, every)):
            if key not in self._ahead:
                with suppress(DtnsimError):
                    new[key] = self(key)
        run_together(new.values())
        self._ahead |= new


class Rater:
    """Rates sets of purchases on a path by a rate to reach, and how sure the second rate has to be."""

    def __init__(self, path: PathSpec, goal_Bps: float, confidence: float, samples: int, seed: int) -> None:
        self.given, self.goal_Bps, self.confidence, self.samples, self.seed = path, goal_Bps, confidence, samples, seed
        #: hosts that hold nothing, and whether link-limited connections are no limit either
        self._relieved, self._lines = frozenset[str](), False
        self.laws = discrepancy.load()
        self._described: dict[tuple[str, ...], Described] = {}
        self._paths = Paths(path)
        self._composers: dict[tuple[str, ...], Composer] = {}
        self._middle: dict[tuple[str, ...], Problem] = {}

    def __call__(self, chosen: Sequence[Option | Setting]) -> Rates:
        """Rates of a set; none if its options are incompatible."""
        try:
            described = self.described([o for option in chosen for o in option.overrides])
        except DtnsimError:
            return 0.0, 0.0, 0.0, 0.0
        solution = described.scenarios
        if self._relieved or self._lines:
            solution = scenarios.solved(described.drawn, self.matrices(described.drawn), described.draw, described.held)
        return self.sure(ordering.total_rate(described.middle(), solution.rates(self.laws)))

    def drawn(self, chosen: Set) -> tuple[PathSpec, Scenarios]:
        """The path with a set, and the scenarios by which it was rated, with the limits of all hosts."""
        described = self.described([o for option in sorted(chosen, key=lambda o: o.place) for o in option.overrides])
        return described.given, described.scenarios

    def could_help(self, hosts: Collection[str], beside: Collection[str] = ()) -> bool:
        """Whether it would be faster by half a percent, or surer by one, if some hosts had no limits.

        TCP connections whose bottleneck link is theirs have none either; hosts ``beside`` have none before and after.
        """
        without = self.relieving({*hosts, *beside}, lines=True)
        before = self.relieving(beside, lines=True) if beside else self
        return any(b > a * (1 + s) for a, b, s in zip(before(()), without(()), SAME, strict=True))

    def relieving(self, hosts: Collection[str], *, lines: bool = False) -> Rater:
        """The rater for the same path if these hosts, and with ``lines`` those of connections, had no limits either."""
        rater = copy(self)
        rater._relieved, rater._lines = self._relieved | frozenset(hosts), lines  # noqa: SLF001
        return rater

    def bottleneck(self, chosen: Set) -> str:
        """The bottleneck of the longest transfer with a set, in words."""
        nominal = self.middle([o for option in chosen for o in option.overrides])
        m = self.matrices(nominal)
        solution = solve.solve(m)
        f = int(ordering.longest(nominal, epochs.laid_out(nominal, m, solution.rate))[0])
        return swept.station_held(nominal, replace(m, capacity=solution.capacity), solution, 0, f)[0]

    def described(self, overrides: Sequence[str]) -> Described:
        """The path at its medians, and drawn; `DtnsimError` where the overrides do not go together."""
        key = tuple(overrides)
        if key not in self._described:
            composer, middle = self._composer(key), partial(self.middle, key)
            draw = Draw(self.samples, self.seed, composer.spec.correlation)
            drawn = composer.drawn(draw)
            drawn = drawn if len(drawn.transfers) == 1 else sharing.as_in(drawn, middle())  # one shares with nobody
            self._described[key] = Described(composer.spec, drawn, draw, middle)
        return self._described[key]

    def ahead(self, every: Iterable[Sequence[str]]) -> None:
        """Announces overrides, whose TCP rounds are then run in one batch."""
        self._paths.ahead(o for o in every if tuple(o) not in self._composers)

    def middle(self, overrides: Sequence[str]) -> Problem:
        """The path at its medians; `DtnsimError` where the overrides do not go together."""
        key = tuple(overrides)
        if key not in self._middle:
            with without_words():
                self._middle[key] = self._composer(key).problem()
        return self._middle[key]

    def _composer(self, key: tuple[str, ...]) -> Composer:
        if key not in self._composers:
            with without_words():
                self._composers[key] = timed.composer(self._paths(key), Draw())
        return self._composers[key]

    def matrices(self, problem: Problem) -> Matrices:
        """A problem as arrays, without the limits of relieved hosts."""
        m = solve.matrices(problem)
        line = {n for n, c in problem.connections.items() if c.limit == "link"} if self._lines else set()
        free = [k for k, s in enumerate(problem.stations) if s.host in self._relieved or s.name in line]
        if not free:
            return m
        capacity = m.capacity.copy()
        capacity[:, free] = np.inf
        return replace(m, capacity=capacity)

    def sure(self, each: Array) -> Rates:
        """Median, the rate reached as surely as asked, the probability of the goal, and whether that is enough."""
        middle, sure = np.quantile(each, (0.5, 1 - self.confidence), method="inverted_cdf")
        likely = float(np.mean(each >= self.goal_Bps))
        return float(middle), float(sure), 1 + likely, 1 + float(likely >= self.confidence)
