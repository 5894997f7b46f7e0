"""Where measurements and what a part is said to do contradict each other, the prior gives way.

The prior of every parameter of a host has heavy tails: with a probability of 95 % the description is right, and
``ln(value / stated)`` is normal with the stated spread; with 5 % (`WRONG`) another part is built in than the file says,
and the value is any that parts of that kind have: normal with the scale `APART`. The fit takes the likelier of the two
(a max-mixture; Olson and Agarwal, Inference on networks of mixtures for robust robot mapping, IJRR 2013), which costs

    ln((1 - WRONG) / WRONG) + ln(scale / stated)

to leave the description: one figure alone does not pay that, for its own error is heavy-tailed too (``cauchy``), and it
cannot be said which of the two is wrong. Two that agree do. What the user frees (``--free write``) costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dtnsim.description.override import split_key
from dtnsim.evidence.fit_model import Parameter
from dtnsim.evidence.fit_search import FACTORS, Search, price, scale
from dtnsim.ground.errors import InputError
from dtnsim.physics._arrays import BoolArray, FloatArray as Array

#: how far a parameter may be pushed before that itself is a reason to look for another account [prior deviations]
_STRAINED: Final = 3.0
_FREED: Final = 3.0  #: what the user frees may lie so many times as far from what is stated as parts of a kind do
#: candidates that are fitted out, parameters that may give way at all, and how much likelier (nats) settles it
_TRIED: Final = 3
_MOST: Final = 4
_ALIKE: Final = 1.0
_GAINED: Final = 0.01  #: how much likelier another minimum must be to be taken [nats]


@dataclass(frozen=True, slots=True)
class Released:
    """A parameter whose prior gave way, or would have to for any figure to be followed."""

    parameter: Parameter  #: Which.
    value: float  #: What it is then [SI].
    instead: tuple[str, ...] = ()  #: Names of others that explain the figures about as well.
    beside: tuple[tuple[Parameter, float], ...] = ()  #: Others that lie further off then than stated, and where [SI].


def freed(parameters: Sequence[Parameter], free: Sequence[str]) -> dict[int, float]:
    """Parameters that the user frees, and how wide their priors are [stated deviations].

    Raises:
        InputError: a word of ``free`` means none.
    """
    return {j: _FREED * scale(parameters[j]) for j in matching(parameters, free)}


def matching(parameters: Sequence[Parameter], free: Sequence[str]) -> list[int]:
    """Parameters of hosts that words of ``--free`` mean: whole keys, or their last steps.

    Raises:
        InputError: a word means none; the message lists the last steps that there are.
    """
    matches: list[int] = []
    for word in free:
        wanted = split_key(word)
        hits = [j for j, p in enumerate(parameters) if p.host and split_key(p.key)[-len(wanted) :] == wanted]
        if not hits:
            steps = sorted({split_key(p.key)[-1] for p in parameters if p.host})
            raise InputError(f"--free {word}: no parameter of the host is called that; write one of {', '.join(steps)}")
        matches += hits
    return sorted(set(matches))


def is_missed(ratio: Array, error: Array) -> BoolArray:
    """Figures that a fit does not follow: further off than three of their errors."""
    return np.abs(ratio) > 3 * error


def give_way(search: Search, u: Array, error: Array) -> tuple[Search, Array, list[Released]]:
    """Lets priors give way, one after the other, as long as that makes the whole clearly likelier.

    Returns:
        (search over the parameters that are free now, its minimum, what gave way).
    """
    gone: list[Released] = []
    while len(gone) < _MOST and (is_missed(search.at(u)[0], error).any() or (np.abs(u / search.sd) > _STRAINED).any()):
        before = float(search.cost(search.at(u)[0], u, error, firm=True)) + search.paid
        tried = _explanations(search, u, error)
        if not tried or tried[0].cost >= before:
            break
        best = tried[0]
        if _moved(best) ** 2 / 2 < price(search.model.parameters[best.parameter]):
            # it stays where it is stated, and others account for the figures: the description is the likelier one
            place = search.minimum(best.search.full(best.u)[search.free], error, firm=True)
            if float(search.cost(search.at(place)[0], place, error, firm=True)) + search.paid > before - _GAINED:
                break
            u = place
            continue
        gone.append(_released(search, tried, before))
        search, u = best.search, best.u
    return search, u, gone


def _moved(best: Explanation) -> float:
    """How far the released parameter went from what is stated [stated deviations]."""
    return float(best.u[int(np.flatnonzero(best.search.free == best.parameter)[0])])


def suspect(search: Search, u: Array, error: Array) -> Released | None:
    """What would have to be otherwise for the figures to be followed, where none is; None where nothing helps."""
    tried = _explanations(search, u, error, exact=True)
    if not tried or not (~is_missed(tried[0].search.at(tried[0].u)[0], error)).any():
        return None
    return _released(search, tried, float(search.cost(search.at(u)[0], u, error, firm=True, plain=True)) + search.paid)


def _released(search: Search, tried: Sequence[Explanation], before: float) -> Released:
    best, parameters = tried[0], search.model.parameters
    parameter = parameters[best.parameter]
    value = float(parameter.value(_moved(best)))
    rest = [t for t in tried[1:] if t.cost < min(best.cost + _ALIKE, before) and abs(_moved(t)) > 1]
    others = [(parameters[j], u) for j, u in zip(best.search.free, best.u, strict=True) if j != best.parameter]
    beside = tuple((p, float(p.value(u))) for p, u in others if p.host and abs(u) > 1)
    return Released(parameter, value, tuple(parameters[t.parameter].name for t in rest), beside)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the fit is with one more parameter released."""

    parameter: int  #: Which.
    search: Search  #: The search over what is free then.
    u: Array  #: Its minimum.
    cost: float  #: Its cost, the price of the release included [nats].


def _explanations(search: Search, u: Array, error: Array, *, exact: bool = False) -> list[Explanation]:
    """The likeliest accounts of figures that are not followed, each with one more parameter released; best first."""
    eligible = [j for j, p in enumerate(search.model.parameters) if p.host and scale(p) > 1 and not search.released(j)]
    accounts = []
    for j, wide, begin in _starts(search, u, error, eligible, exact=exact):
        # every figure pulls first: others may have been bent to make up for this one
        place = wide.minimum(begin, error)
        place = place if exact else wide.minimum(place, error, firm=True)
        ratio = wide.at(place)[0]
        cost = wide.cost(ratio, place, error, firm=True, plain=exact)
        accounts.append(Explanation(j, wide, place, float(cost) + wide.paid))
    return sorted(accounts, key=lambda e: e.cost)


def _starts(
    search: Search, u: Array, error: Array, eligible: Sequence[int], *, exact: bool
) -> list[tuple[int, Search, Array]]:
    """(parameter, search with it released, best point along it alone) of those that promise most.

    Half of them make the whole likeliest, half those figures alone that are not followed now.
    """
    if not eligible:
        return []
    wides = [search.releasing(j) for j in eligible]
    tries = [_points_along(search, wide, u, j) for wide, j in zip(wides, eligible, strict=True)]
    table = np.concatenate([wide.full(t) for wide, t in zip(wides, tries, strict=True)])
    ratios = np.split(search.model.ratios(table), len(eligible))
    missed = is_missed(search.at(u)[0], error)
    by_all, by_missed = [], []
    for n, (wide, points, ratio) in enumerate(zip(wides, tries, ratios, strict=True)):
        if all(np.abs(r - r[0]).max() < 1e-6 for r in np.split(ratio, 2)):
            continue
        cost = wide.cost(ratio, points, error, firm=True, plain=exact)
        by_all.append((float(cost.min()) + wide.paid, n, int(np.argmin(cost))))
        if missed.any():
            z = 0.5 * np.log1p((ratio[:, missed] / error[missed]) ** 2).sum(axis=-1)
            by_missed.append((float(z.min()) + wide.paid, n, int(np.argmin(z))))
    chosen = {n: best for _, n, best in (*sorted(by_missed)[:_TRIED], *sorted(by_all)[:_TRIED])}
    return [(eligible[n], wides[n], tries[n][best]) for n, best in chosen.items()]


def _points_along(search: Search, wide: Search, u: Array, j: int) -> Array:
    """Points along parameter ``j``, the others where they are now and where they were stated.

    They may have been bent to make up for this one.
    """
    place = int(np.flatnonzero(wide.free == j)[0])
    current = search.full(u)[wide.free]
    bases = np.stack([current, np.where(wide.sd > 1, current, 0.0)])
    tries = np.repeat(bases, len(FACTORS) + 1, axis=0)
    steps = np.tile([math.nan, *FACTORS], 2) / search.model.parameters[j].sigma
    tries[:, place] = np.where(np.isnan(steps), tries[:, place], steps)
    return np.asarray(np.clip(tries, wide.low, wide.high))
