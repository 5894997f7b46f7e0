"""Options that a search can skip: another of the same place, or none, does as well for no more beside any others.

Two options of a place are compared with all other places at their best. A difference that does not show there does not
show beside worse options either, because these then decide the least of several limits, or the sum of times, all the
more. The model's error depends on what binds, so an option that is slower but surer stays. At a station that several
places affect (a core), the others are also taken at their worst. For rates that are a minimum of limits in each draw,
the two tests together skip nothing that matters; tests compare `Search` with brute force.
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
    """The options that are worth a look, heaviest place first; ``loss`` is that of throughput, relative, in a place."""
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
    """Whether an option gives no less than another in each draw and is as sure, given what then binds."""
    for crowded in (False, True):
        (mine, rates), (theirs, their_rates) = company[one, crowded], company[other, crowded]
        if np.any(mine < theirs * (1 - loss)) or any(map(gt, their_rates, np.divide(rates, 1 - loss))):
            return False
    return True
