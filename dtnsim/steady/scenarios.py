"""Scenarios behind an interval: a path's parameters drawn, what the model has wrong, and one run's luck."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dtnsim.composition import sharing
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Interval
from dtnsim.steady import discrepancy, solve, timed
from dtnsim.steady.reasons import cause_of
from dtnsim.steady.regime import Regime, regime

if TYPE_CHECKING:
    from dtnsim.composition.past import Past
    from dtnsim.description.spec import PathSpec
    from dtnsim.ground.records import Problem
    from dtnsim.steady.discrepancy import Discrepancy
    from dtnsim.steady.solve import Array, Matrices, Solution


@dataclass(frozen=True, slots=True)
class Scenarios:
    """A path in S scenarios.

    Attributes:
        problem: Stations and demands of the scenarios.
        matrices: The same as arrays.
        solution: Rates that nothing but the parameters' draws give, and what binds.
        parameters: Rates with nothing but the parameters drawn, (S, F) [B/s].
        draw: What was drawn: scores by key.
        regimes: What holds each transfer at the median.
    """

    problem: Problem
    matrices: Matrices
    solution: Solution
    parameters: Array
    draw: Draw
    regimes: tuple[Regime, ...]

    def rates(self, laws: Discrepancy, *, mean: bool = False) -> Array:
        """Rates of single runs on random days, or with ``mean`` of the long-run mean, (S, F) [B/s].

        The model's own error never lifts a rate above what the wires carry.
        """
        wished = self.parameters * laws.factors(self.draw, self.regimes, mean=mean)
        return discrepancy.capped(wished, self.matrices, [s.kind for s in self.problem.stations])


def scenarios(given: PathSpec, nominal: Problem, samples: int, seed: int = 1, before: Past | None = None) -> Scenarios:
    """Draws a path.

    Args:
        given: The path.
        nominal: The same path composed with its medians.
        samples: How many scenarios.
        seed: Seed of the draws.
        before: What earlier transfers have left behind at the median, where that is known.
    """
    draw = Draw(samples, seed, given.correlation)
    problem = sharing.as_in(timed.composer(given, draw, timed.amounts(nominal), before=before).problem(), nominal)
    m = solve.matrices(problem)
    solution = solve.solve(m)
    rates = np.broadcast_to(solution.rate, (samples, solution.rate.shape[1]))
    return Scenarios(problem, replace(m, capacity=solution.capacity), solution, rates, draw, regimes(given, nominal))


def regimes(given: PathSpec, nominal: Problem) -> tuple[Regime, ...]:
    """What holds each transfer of a path at its medians."""
    m = solve.matrices(nominal)
    solution = solve.solve(m)
    slowed = replace(m, capacity=solution.capacity)
    causes = [cause_of(slowed, f, int(solution.binding[0, f])) for f in range(len(nominal.transfers))]
    return tuple(regime(given, nominal, f, cause) for f, cause in enumerate(causes))


def interval(drawn: Array, nominal: float, level: float = 0.8) -> Interval:
    """Central interval of scenarios; the median answer lies in it, also where it is the ceiling."""
    low, high = np.quantile(drawn, ((1 - level) / 2, (1 + level) / 2), method="inverted_cdf")
    return Interval(min(float(low), nominal), nominal, max(float(high), nominal))
