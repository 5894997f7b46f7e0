"""Options that a search need not look at: another of their place, or none, does as well for no more in any company.

What a place holds can only limit a set as much as the others let it. So two options of a place are compared where the
others are at their best: what makes no difference there makes none where they are worse, since the least of several
limits, and a sum of times, are then decided by the others all the more. What the model misses depends on what holds
the path: an option that is slower but surer than another stays. The exception is a station that others use
too (a core): there they are also taken at their worst. For rates that are a least of limits, draw by draw, both
together leave out nothing that counts; `Search` and its tests compare with brute force.
"""

from collections.abc import Mapping, Sequence
from operator import gt

import numpy as np

from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.planning.bounds import Bound
from dtnsim.planning.option import Option
from dtnsim.planning.search import Rates

#: what each option gives beside the others at their best (False), and at their worst on what it shares (True)
Company = Mapping[tuple[Option | None, bool], tuple[Array, Rates]]


def worth(bound: Bound, choices: Mapping[str, Sequence[Option]], loss: float) -> dict[str, list[Option]]:
    """Options without those that are spared, heaviest place first.

    Args:
        bound: What no set exceeds.
        loss: Relative loss of throughput, for each place, that nobody pays for.
    """
    remaining: dict[str, list[Option]] = {}
    for place, options in choices.items():
        left: list[Option | None] = [None]
        useful = sorted(filter(bound.matters, options), key=lambda o: (o.price, o.watts))
        company = bound.each_option(place, choices) if useful else {}
        for option in useful:
            no_more = (o for o in left if o is None or (o.watts <= option.watts and set(o.uses) <= set(option.uses)))
            if not any(_as_good(company, other, option, loss) for other in no_more):
                left.append(option)
        if len(left) > 1:
            remaining[place] = [o for o in left if o is not None]
    return {place: remaining[place] for place in bound.by_weight(remaining)}


def _as_good(company: Company, one: Option | None, other: Option, loss: float) -> bool:
    """Whether an option gives no less than another in each draw, and is as sure by what then holds the path."""
    for crowded in (False, True):
        (mine, rates), (theirs, their_rates) = company[one, crowded], company[other, crowded]
        if np.any(mine < theirs * (1 - loss)) or any(map(gt, their_rates, np.divide(rates, 1 - loss))):
            return False
    return True
