"""Which numbers that nobody wrote move the answer, and how far: each at the ends of its spread, the others as they are.

They are tried one at a time, all trials together as scenarios of one composition; where there are very many, those
that go with the answer most in the scenarios of the interval.

Defaults without a spread (an MTU of 1500, CUBIC) are tried at another value that many systems have
(`dtnsim.steady.defaults`).
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.composition import sharing
from dtnsim.ground.quantity import Draw, Mixture
from dtnsim.ground.uncertainty import Assumption, written
from dtnsim.steady import defaults, epochs, ordering, scenarios, timed
from dtnsim.steady.defaults import WORTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnsim.composition.residency import Past
    from dtnsim.description.spec import PathSpec
    from dtnsim.ground.quantity import Quantity, Value
    from dtnsim.ground.records import Problem
    from dtnsim.steady.scenarios import Scenarios

#: numbers that are tried at most
_MOST: Final = 128
#: transfers up to which they are tried; for more, each trial would be as dear as the answer
_TRANSFERS: Final = 100
#: scenarios from which it is seen what goes with the answer, where no interval is asked for
_FEW: Final = 64
#: standard scores of the tenth and the ninetieth percentile
_ENDS: Final = (-1.2815515655446004, 1.2815515655446004)
_NORMAL: Final = NormalDist()
#: how closely a quantile of several laws is found [of its logarithm]
_CLOSE: Final = 1e-9
#: settings of the kernel behind keys
_SYSCTL: Final = {"tcp.rmem_max": "net.ipv4.tcp_rmem", "tcp.wmem_max": "net.ipv4.tcp_wmem"}
#: what keys begin with that are not a host's
_ROOTS: Final = ("wan.", "links.", "tool ", "system ")
#: draws that several keys share -> what to write
_SHARED: Final = {"other traffic": "wan.background (other traffic)", "buffers": "wan.buffer"}


class _Alone(Draw):
    """Every number at its median but one: that at its tenth percentile in one scenario, its ninetieth in the next."""

    def __init__(self, keys: list[str]) -> None:
        super().__init__(max(2 * len(keys), 2))
        self._place = {key: 2 * n for n, key in enumerate(keys)}

    def __call__(self, quantity: Quantity) -> Value:
        """Value of ``quantity``: a float, or one a scenario where it is tried."""
        place = self._place.get(quantity.key)
        if place is None:
            return quantity.value
        values = np.full(self.samples, quantity.value)
        values[place : place + 2] = ends(quantity)
        return values


def ends(quantity: Quantity) -> tuple[float, float]:
    """Tenth and ninetieth percentile of a number."""
    law = quantity.typical or quantity
    low, high = (_quantile(law.kinds if isinstance(law, Mixture) else (law,), end) for end in _ENDS)
    share = law.dim == "1" and law.value < 1
    return low, min(high, 1.0) if share else high


def _quantile(kinds: Sequence[Quantity], score: float) -> float:
    """Quantile of numbers that are log-normal, or equally likely of several such laws, by bisection between theirs."""
    sigmas = [math.sqrt(math.log1p(k.spread**2)) for k in kinds]
    if not all(k.value for k in kinds):
        return 0.0
    each = [math.log(k.value) + sigma * score for k, sigma in zip(kinds, sigmas, strict=True)]
    low, high, level = min(each), max(each), _NORMAL.cdf(score)
    while high - low > _CLOSE:
        at = (low + high) / 2
        parts = [(at - math.log(k.value)) / max(sigma, _CLOSE) for k, sigma in zip(kinds, sigmas, strict=True)]
        low, high = (at, high) if sum(map(_NORMAL.cdf, parts)) < level * len(kinds) else (low, at)
    return math.exp(high)


def assumed(given: PathSpec, nominal: Problem, drawn: Scenarios, before: Past | None = None) -> tuple[Assumption, ...]:
    """The numbers that the path file does not write and that move the answer by more than `WORTH`, the strongest first.

    Args:
        given: The path.
        nominal: The path at its medians.
        drawn: Its scenarios.
        before: What earlier transfers have left behind, where that is known.
    """
    if len(nominal.transfers) > _TRANSFERS:
        return ()
    found = [*_uncertain(given, nominal, drawn, before), *defaults.moved(given, nominal, before)]
    return tuple(sorted((a for a in found if a.moves > WORTH), key=lambda a: -a.moves))


def of(given: PathSpec) -> tuple[Assumption, ...]:
    """The same of a path that is simulated."""
    if len(given.transfers) > _TRANSFERS:
        return ()
    composer = timed.composer(given, Draw())
    nominal = composer.problem()
    return assumed(given, nominal, scenarios.scenarios(given, nominal, _FEW, before=composer.past), composer.past)


def _uncertain(given: PathSpec, nominal: Problem, drawn: Scenarios, before: Past | None) -> list[Assumption]:
    """What numbers with a spread do at the ends of it."""
    quantities = drawn.draw.quantities
    keys = _tried(drawn, given.file)
    if not keys:
        return []
    problem = timed.composer(given, _Alone(keys), timed.amounts(nominal), before=before).problem()
    rates = epochs.total(sharing.as_in(problem, nominal))
    whole = float(epochs.total(nominal)[0])
    found = []
    for n, key in enumerate(keys):
        at = rates[2 * n : 2 * n + 2] / max(whole, 1e-300) if len(rates) > 1 else np.ones(2)
        quantity = quantities[key]
        low, high = (written(quantity, value) for value in ends(quantity))
        source = (quantity.typical or quantity).source
        found.append(Assumption(name(key), str(quantity), low, high, float(at[0]), float(at[1]), source))
    return found


def _tried(drawn: Scenarios, file: str) -> list[str]:
    """Keys of the numbers that nobody wrote, those first that go with the answer most in the scenarios."""
    total = np.log(np.maximum(ordering.total_rate(drawn.problem, drawn.parameters), 1e-300))
    total = total - total.mean()
    keys = [k for k, quantity in drawn.draw.quantities.items() if k in drawn.draw.scores and unwritten(quantity, file)]
    return sorted(keys, key=lambda k: -abs(float(total @ drawn.draw.scores[k])))[:_MOST]


def unwritten(quantity: Quantity, file: str) -> bool:
    """Whether a number is neither written (in the path file, or with ``--set``) nor fitted to measurements."""
    return not written_in(quantity, file) and not quantity.source.startswith("fit: ")


def written_in(quantity: Quantity, file: str) -> bool:
    """Whether the path file itself says a number, or ``--set`` does."""
    source = quantity.source
    said = "--set " in source or "given on the command line" in source or (bool(file) and f"{file}:" in source)
    return quantity.typical is None and said


def name(key: str) -> str:
    """A number as people find it: the key of the path file, and the kernel's name for it."""
    found = _SHARED.get(key) or (key if key.startswith(_ROOTS) else f"hosts.{key}")
    sysctl = next((f" ({kernel})" for end, kernel in _SYSCTL.items() if key.endswith(end)), "")
    return found + sysctl
