"""The search of a fit: it descends, and looks along every parameter by itself for another bottleneck."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dtnsim.evidence.fit_model import Model, Parameter
from dtnsim.physics._arrays import FloatArray as Array, IntArray

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
    """The minimum of the sum of soft squares over the free parameters.

    Args:
        model: The figures' model.
        free: Parameters that are searched.
        wide: Of those whose prior is wider than stated: its standard deviation [stated ones].
        paid: Price of those that gave way [nats].
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
        """Half the sum of soft squares and of prior squares, over the last axis.

        Args:
            ratio: ln(predicted / measured) of the figures.
            plain: Whether squares of what figures are off count whole.
        """
        z = (ratio / error) ** 2
        soft = z if plain else np.log1p(z) if firm else 2 * (np.sqrt(1 + z) - 1)
        return np.asarray(0.5 * (soft.sum(axis=-1) + ((u / self.sd) ** 2).sum(axis=-1)))

    def minimum(self, u: Array, error: Array, *, firm: bool = False) -> Array:
        """Descends, looks along single parameters for a better bottleneck, and descends again.

        Every figure pulls (``soft_l1``), until at the end (``firm``) those far off let go (``cauchy``).

        Args:
            u: Where to begin.
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
