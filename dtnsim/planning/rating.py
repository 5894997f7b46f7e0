"""What a path gives with some purchases: the median of its scenarios, and what it reaches as surely as asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.composition import sharing
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Draw
from dtnsim.planning import swept
from dtnsim.planning.search import SAME, Rates, Set
from dtnsim.steady import epochs, solve, timed, turns

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.ground.records import Problem
    from dtnsim.steady.matrices import Matrices
    from dtnsim.steady.solve import Array

#: draws behind what a search takes for sure; the sets that it finds are predicted in full
SAMPLES: Final = 48
_SEED: Final = 1


class Rater:
    """Rates sets of purchases on a path.

    Args:
        given: The path.
        confidence: How sure the second rate has to be.
        relieved: Hosts whose stations are taken to hold nothing: what the others need if these were no limit.
        like: A rater of the same path, whose descriptions are used again.
    """

    def __init__(
        self, given: PathSpec, confidence: float, relieved: Collection[str] = (), like: Rater | None = None
    ) -> None:
        self.given, self.confidence, self.relieved = given, confidence, frozenset(relieved)
        #: whether connections that their narrowest place holds are no limit either
        self.lines = False
        #: what was described so far, by overrides
        self.known: dict[tuple[str, ...], tuple[Problem, Problem]] = like.known if like is not None else {}
        self._middle: dict[tuple[str, ...], tuple[PathSpec, Problem]] = like._middle if like is not None else {}  # noqa: SLF001

    def __call__(self, chosen: Set) -> Rates:
        """Rates of a set; nothing where its parts do not go together."""
        try:
            nominal, drawn = self.problems([o for option in chosen for o in option.overrides])
        except DtnsimError:
            return 0.0, 0.0
        return self.rates(nominal, self.matrices(nominal), drawn, self.matrices(drawn))

    def could_help(self, hosts: Collection[str]) -> bool:
        """Whether more is to be had, by half a percent or one percent surer, if some hosts held nothing.

        Where they are the narrowest place of a TCP connection, neither does the connection.
        """
        without = Rater(self.given, self.confidence, self.relieved | frozenset(hosts), self)
        without.lines = True
        return any(b > a * (1 + s) for a, b, s in zip(self(()), without(()), SAME, strict=True))

    def held(self, chosen: Set) -> str:
        """What binds the first transfer with a set, in words."""
        nominal, _ = self.problems([o for option in chosen for o in option.overrides])
        m = self.matrices(nominal)
        solution = solve.solve(m)
        return swept.held(nominal, replace(m, capacity=solution.capacity), solution, 0)[0]

    def problems(self, overrides: Sequence[str]) -> tuple[Problem, Problem]:
        """The path at its medians, and drawn.

        Raises:
            DtnsimError: the overrides do not go together.
        """
        key = tuple(overrides)
        if key not in self.known:
            nominal = self.middle(key)
            given = self._middle[key][0]
            draw = Draw(SAMPLES, _SEED, given.correlation)
            drawn = sharing.as_in(timed.composed(given, draw, timed.amounts(nominal)), nominal)
            self.known[key] = nominal, drawn
        return self.known[key]

    def middle(self, overrides: Sequence[str]) -> Problem:
        """The path at its medians.

        Raises:
            DtnsimError: the overrides do not go together.
        """
        key = tuple(overrides)
        if key not in self._middle:
            given = self.given.changed(key) if key else self.given
            self._middle[key] = given, timed.composed(given, Draw())
        return self._middle[key][1]

    def matrices(self, problem: Problem) -> Matrices:
        """A problem as arrays, hosts that are relieved without limits."""
        m = solve.matrices(problem)
        line = {n for n, c in problem.connections.items() if c.limit == "link"} if self.lines else set()
        free = [k for k, s in enumerate(problem.stations) if s.host in self.relieved or s.name in line]
        if not free:
            return m
        capacity = m.capacity.copy()
        capacity[:, free] = np.inf
        return replace(m, capacity=capacity)

    def rates(self, nominal: Problem, median: Matrices, drawn: Problem, spread: Matrices) -> Rates:
        """What solutions of both give."""
        return self.sure(self.each(nominal, median, drawn, spread)[1])

    @staticmethod
    def each(nominal: Problem, median: Matrices, drawn: Problem, spread: Matrices) -> tuple[Array, Array]:
        """Throughput with every parameter at its median, and of each draw [B/s]."""
        middle = turns.total_rate(nominal, epochs.rates(nominal, median))
        return middle, turns.total_rate(drawn, epochs.rates(drawn, spread))

    def sure(self, each: Array) -> Rates:
        """The median of the draws, and what is reached as surely as asked."""
        middle, sure = np.quantile(each, (0.5, 1 - self.confidence), method="inverted_cdf")
        return float(middle), float(sure)
