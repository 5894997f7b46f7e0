"""From the ceiling down to the median: unstated things by name, parameter spreads, the model's error, one run's luck.

At the ceiling every parameter is at its median and everything unstated at its best. Group after group is then drawn
too, with the draws of `predict`; each step is the change of the median, so that the steps add up to the median of the
answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from dtnsim.description.spec import PathSpec
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Problem
from dtnsim.physics._arrays import FloatArray as Array, quantile
from dtnsim.steady import discrepancy, epochs, ordering, timed
from dtnsim.steady.assumed import named
from dtnsim.steady.scenarios import Scenarios, scenarios

_MATTERS: Final = 0.15  #: correlation with the rate from which on something unstated is named
#: draws that several keys share -> what people call them; any other is named by its keys in the path file
_WORDS: Final = {
    "other traffic": "other traffic",
    "buffers": "buffers of the network",
    "medium": "wan.medium",
    "role": "the hosts' role",
}
#: what is drawn after the things that are named
OTHERS: Final = "whatever else is not stated"
PARAMETERS: Final = "spreads of what is stated, and of parts"
MODEL: Final = "the model's own error"
RUN: Final = "one run on a random day"


@dataclass(frozen=True, slots=True)
class Step:
    """The effect of one group of unknowns on the median."""

    what: str  #: The group.
    change_Bps: float  #: Change of the median by it.
    median_Bps: float  #: The median with it, all transfers together.


def steps(path: PathSpec, samples: int, seed: int = 1) -> tuple[Step, ...]:
    """The steps from the ceiling of a path to the median of `predict`."""
    composer = timed.composer(path, Draw())
    problem = composer.problem()
    drawn = scenarios(composer, problem, samples, seed)
    laws = discrepancy.load()
    medians: dict[str, float] = {}
    drawn_keys: set[str] = set()
    for name, keys in _groups(path, drawn).items():
        drawn_keys |= keys
        partly = scenarios(composer, problem, samples, seed, drawn_keys)
        medians[name] = _median(partly.problem, partly.parameters)
    medians[PARAMETERS] = _median(drawn.problem, drawn.parameters)
    medians[MODEL] = _median(drawn.problem, drawn.rates(laws, mean=True))
    medians[RUN] = _median(drawn.problem, drawn.rates(laws))
    breakdown, before = [], float(epochs.total(problem)[0])
    for name, median in medians.items():
        breakdown.append(Step(name, median - before, median))
        before = median
    return tuple(breakdown)


def _median(problem: Problem, rates: Array) -> float:
    return float(quantile(ordering.total_rate(problem, rates), 0.5))


def _groups(path: PathSpec, drawn: Scenarios) -> Mapping[str, set[str]]:
    """Draw keys of unstated things by their common name, largest effect first; the weak ones share one group."""
    strong, names = unstated(path, drawn), _names(path, drawn)
    groups: dict[str, set[str]] = {name: set() for name in (*strong, OTHERS)}
    for key, name in names.items():
        groups[name if name in strong else OTHERS].add(key)
    return {name: keys for name, keys in groups.items() if keys}


def unstated(path: PathSpec, drawn: Scenarios) -> tuple[str, ...]:
    """Names of the unstated things that correlate with the rate, strongest first."""
    total = ordering.total_rate(drawn.problem, drawn.parameters)
    order = np.argsort(np.argsort(total)).astype(float)
    strengths: dict[str, float] = {}
    for key, name in _names(path, drawn).items():
        rank = np.argsort(np.argsort(drawn.draw.score(key))).astype(float)
        strength = abs(float(np.corrcoef(order, rank)[0, 1])) if np.ptp(total) > 0 else 0.0
        if strength >= _MATTERS:
            strengths[name] = max(strengths.get(name, 0.0), strength)
    return tuple(sorted(strengths, key=lambda n: -strengths[n]))


def _names(path: PathSpec, drawn: Scenarios) -> dict[str, str]:
    """Common names of everything unstated, by draw key."""
    places = path.written_as
    return {key: _WORDS.get(key) or named(key, drawn.problem, places) for key in sorted(drawn.draw.unstated)}
