"""Options that a search need not look at: another of their place, or none, does as well for no more in any company.

What a place holds can only limit a set as much as the others let it. So two options of a place are compared where the
others are at their best: what makes no difference there makes none where they are worse, since the least of several
limits, and a sum of times, are then decided by the others all the more. What the model misses depends on what holds
the path: an option that is slower but surer than another stays. The exception is a station that others use
too (a core): there they are also taken at their worst. For rates that are a least of limits, draw by draw, both
together leave out nothing that counts; `Search` and its tests compare with brute force.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import gt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnsim.planning.bounds import Bound
    from dtnsim.planning.option import Option
    from dtnsim.planning.search import Rates

    Array = NDArray[np.float64]


def worth(bound: Bound, choices: Mapping[str, Sequence[Option]], loss: float) -> dict[str, list[Option]]:
    """Options without those that are spared, heaviest place first.

    Args:
        bound: What no set exceeds.
        choices: For each place what can be bought.
        loss: Relative loss of throughput, for each place, that nobody pays for.
    """
    company = _Company(bound, choices, loss)
    kept: dict[str, list[Option]] = {}
    for place, options in choices.items():
        left: list[Option | None] = [None]
        for option in sorted(filter(bound.matters, options), key=lambda o: (o.price, o.watts)):
            if not any(_needs_no_more(other, option) and company.as_good(place, other, option) for other in left):
                left.append(option)
        if len(left) > 1:
            kept[place] = [o for o in left if o is not None]
    return {place: kept[place] for place in bound.by_weight(kept)}


def _needs_no_more(one: Option | None, other: Option) -> bool:
    return one is None or (one.watts <= other.watts and set(one.uses) <= set(other.uses))


class _Company:
    """What each option gives beside the others at their best, and at their worst on the stations it shares."""

    def __init__(self, bound: Bound, choices: Mapping[str, Sequence[Option]], loss: float) -> None:
        self._bound, self._choices, self._loss = bound, choices, loss
        self._known: dict[str, dict[tuple[Option | None, bool], tuple[Array, Rates]]] = {}

    def as_good(self, place: str, one: Option | None, other: Option) -> bool:
        """Whether an option gives no less than another in each draw, and is as sure by what then holds the path."""
        if place not in self._known:
            self._known[place] = self._bound.each(place, self._choices)
        known = self._known[place]
        for crowded in (False, True):
            (mine, rates), (theirs, others) = known[one, crowded], known[other, crowded]
            if np.any(mine < theirs * (1 - self._loss)) or any(map(gt, others, np.divide(rates, 1 - self._loss))):
                return False
        return True
