"""The search of a fit: it descends, and looks along every parameter by itself for another bottleneck.

Where measurements and what a part is said to do contradict each other, the prior gives way.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dtnsim.description.override import split_key
from dtnsim.evidence.fit_model import Model, Parameter
from dtnsim.ground.errors import InputError
from dtnsim.physics._arrays import BoolArray, FloatArray as Array, IntArray

#: steps along one parameter in which another bottleneck is looked for [prior standard deviations]
SCAN: Final = tuple(sign * s for sign in (-1.0, 1.0) for s in (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0))
#: relative step of the numerical derivative, in u
_STEP: Final = 1e-4
_ROUNDS: Final = 12
_GAIN: Final = 0.2  #: fall of the sum (of half squares) that makes such a step worth taking
WRONG: Final = 0.05  #: how often a description of a host names a part that is not built in; assumed: one in twenty
#: how far parts of one kind lie apart: standard deviation of the logarithm among the parts of the library
#: (clocks of 66 processors; rates of 11 memories; costs a byte of kernels; 10 adapters; 28 cards; 49 SSDs)
APART: Final = {"cpu": 0.20, "memory": 0.42, "stack": 0.25, "hbas": 0.83, "nics": 1.8, "volumes": 1.1}
_ELSEWHERE: Final = 1.1
#: logarithms of the factors that are tried
FACTORS: Final = tuple(
    sign * math.log(f) for sign in (-1, 1) for f in (1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0)
)


def scale(parameter: Parameter) -> float:
    """How far a parameter's value may lie from what is stated, if another part is built in [prior deviations]."""
    family = parameter.key.partition(".")[0]
    return max(APART.get(family, _ELSEWHERE) / parameter.sigma, 1.0)


def price(parameter: Parameter) -> float:
    """What it costs to leave the description [nats]."""
    return math.log((1 - WRONG) / WRONG) + math.log(scale(parameter))


class Search:
    """The minimum of the sum of soft squares over the ``free`` parameters.

    Of those whose prior is ``wide``, its standard deviation [stated ones]; ``paid`` for what gave way [nats].
    """

    def __init__(
        self, model: Model, free: IntArray, wide: Mapping[int, float] | None = None, paid: float = 0.0
    ) -> None:
        self.model, self.free, self._wide, self.paid = model, free, dict(wide or {}), paid
        self.sd = np.array([self._wide.get(int(j), 1.0) for j in free])
        limits = [model.parameters[j].limits(s) for j, s in zip(free, self.sd, strict=True)]
        self.low: Array = np.array([low for low, _ in limits])
        self.high: Array = np.array([high for _, high in limits])
        self._last: tuple[bytes, Array, Array] | None = None

    def releasing(self, j: int) -> Search:
        """The same search with the prior of parameter ``j`` given up."""
        free = np.union1d(self.free, [j]).astype(np.int64)
        parameter = self.model.parameters[j]
        paid = self.paid + price(parameter)
        return Search(self.model, free, {**self._wide, j: scale(parameter)}, paid)

    def released(self, j: int) -> bool:
        """Whether the prior of parameter ``j`` has been given up."""
        return j in self._wide

    def full(self, u: Array) -> Array:
        """Free parameters put among all, (..., P)."""
        all_u = np.zeros((*u.shape[:-1], len(self.model.parameters)))
        all_u[..., self.free] = u
        return all_u

    def at(self, u: Array) -> tuple[Array, Array]:
        """(ratios, Jacobian) at u; the last point is kept, for the solver asks twice."""
        if self._last is None or self._last[0] != u.tobytes():
            # a step towards the inside keeps a parameter at its bound valid
            sign = np.where(u + _STEP > self.high, -1.0, 1.0)
            steps = np.concatenate([np.zeros((1, u.size)), np.diag(sign * _STEP)])
            both = self.model.ratios(self.full(u[None, :] + steps))
            self._last = u.tobytes(), both[0], np.asarray(((both[1:] - both[0]) / (sign[:, None] * _STEP)).T)
        return self._last[1], self._last[2]

    def cost(self, ratio: Array, u: Array, error: Array, *, firm: bool, plain: bool = False) -> Array:
        """Half the sum of soft squares of ln(predicted / measured) and of prior squares, over the last axis.

        With ``plain`` squares of what figures are off count whole.
        """
        z = (ratio / error) ** 2
        soft = z if plain else np.log1p(z) if firm else 2 * (np.sqrt(1 + z) - 1)
        return np.asarray(0.5 * (soft.sum(axis=-1) + ((u / self.sd) ** 2).sum(axis=-1)))

    def minimum(self, u: Array, error: Array, *, firm: bool = False) -> Array:
        """Descends, looks along single parameters for a better bottleneck, and descends again.

        Every figure pulls (``soft_l1``), until at the end (``firm``) those far off let go (``cauchy``).
        """
        u = self._descend(u, error, firm=firm)
        for _ in range(_ROUNDS):
            better = self._scan(u, error, firm=firm)
            if better is None:
                break
            u = self._descend(better, error, firm=firm)
        return u

    def _descend(self, u: Array, error: Array, *, firm: bool) -> Array:
        from scipy.optimize import least_squares

        count = error.size

        def residuals(x: Array) -> Array:
            return np.concatenate([self.at(x)[0] / error, x / self.sd])

        def jacobian(x: Array) -> Array:
            return np.concatenate([self.at(x)[1] / error[:, None], np.diag(1 / self.sd)])

        def loss(z: Array) -> Array:
            rho = np.stack([z, np.ones_like(z), np.zeros_like(z)])
            inner = 1 + z[:count]
            if firm:
                rho[0, :count], rho[1, :count], rho[2, :count] = np.log(inner), 1 / inner, -1 / inner**2
            else:
                root = np.sqrt(inner)
                rho[0, :count], rho[1, :count], rho[2, :count] = 2 * (root - 1), 1 / root, -0.5 / root**3
            return rho

        inside = np.clip(u, self.low + 1e-9, self.high - 1e-9)
        ends: Any = {"ftol": 1e-6, "xtol": 1e-6, "gtol": 1e-6, "max_nfev": 30, "loss": loss}  # stubs lack such a loss
        return np.asarray(least_squares(residuals, inside, jac=jacobian, bounds=(self.low, self.high), **ends).x)

    def _scan(self, u: Array, error: Array, *, firm: bool) -> Array | None:
        """The best point one parameter away, if the sum is clearly lower there.

        Wide priors are looked along by factors: their own steps may jump over where the bottleneck changes.
        """
        far = np.flatnonzero(self.sd > 1)
        sigma = np.array([self.model.parameters[int(j)].sigma for j in self.free[far]])
        which = np.concatenate([np.repeat(np.arange(u.size), len(SCAN)), np.repeat(far, len(FACTORS))])
        steps = np.tile(np.array(SCAN), u.size) * np.repeat(self.sd, len(SCAN))
        steps = np.concatenate([steps, np.tile(np.array(FACTORS), far.size) / np.repeat(sigma, len(FACTORS))])
        tries = np.repeat(u[None, :], which.size + 1, axis=0)
        tries[np.arange(1, tries.shape[0]), which] += steps
        tries = np.clip(tries, self.low, self.high)
        cost = self.cost(self.model.ratios(self.full(tries)), tries, error, firm=firm)
        best = int(np.argmin(cost))
        return tries[best] if cost[best] < cost[0] - _GAIN else None


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
    """Parameters that the user frees, and how wide their priors are [stated deviations]."""
    return {j: _FREED * scale(parameters[j]) for j in matching(parameters, free)}


def matching(parameters: Sequence[Parameter], free: Sequence[str]) -> list[int]:
    """Parameters of hosts that words of ``--free`` mean: whole keys, or their last steps."""
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
