"""Logs to parameters: least squares on log ratios, over the same stations and demands that `predict` uses.

Residual of a figure: ``ln(predicted / measured)`` over its relative error; of a parameter: how many prior
standard deviations it has moved. A figure that only bounds (censored) has no residual on its good side.
Residuals of figures are soft (``soft_l1``, at the end ``cauchy``), so that one wrong log does not bend
everything; those of parameters are not. What binds decides which parameters a figure can determine, so the
search looks along every parameter by itself for another bottleneck besides descending.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.composition.compose import compose
from dtnsim.evidence.figures import Figure, Solved, solved, values
from dtnsim.evidence.fit_parameters import Collection, Parameter, Recorder
from dtnsim.ground.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnsim.description.spec import PathSpec

    Array = NDArray[np.float64]

#: steps along one parameter in which another bottleneck is looked for [prior standard deviations]
_SCAN: Final = tuple(sign * s for sign in (-1.0, 1.0) for s in (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0))
#: relative step of the numerical derivative, in u
_STEP: Final = 1e-4
_ROUNDS: Final = 12
#: fall of the sum (of half squares) that makes such a step worth taking
_GAIN: Final = 0.2
#: figures of one log from which their own scatter can be estimated
_GROUP: Final = 8


@dataclass(frozen=True, slots=True)
class Fit:
    """What a fit found.

    Attributes:
        parameters: All parameters that any figure depends on (P).
        u: Their estimates [prior standard deviations], (P,).
        covariance: Posterior covariance of u, (P, P).
        figures: Figures used (N).
        ratio_before: ln(predicted / measured) with priors, (N,).
        ratio_after: With the estimates, (N,).
        error: Relative error each figure was weighed with, the scatter of its log included, (N,).
        weight: Robust weight of each figure, (N,).
        jacobian: d ln(predicted) / du at the estimate, (N, P).
        hosts: Hosts whose parameters are kept.
        untouched: Names of uncertain parameters of these hosts that no figure depends on.
    """

    parameters: tuple[Parameter, ...]
    u: Array
    covariance: Array
    figures: tuple[Figure, ...]
    ratio_before: Array
    ratio_after: Array
    error: Array
    weight: Array
    jacobian: Array
    hosts: frozenset[str] = field(default_factory=frozenset)
    untouched: tuple[str, ...] = ()

    @property
    def spread(self) -> Array:
        """Posterior standard deviation of the logarithm of each parameter, (P,)."""
        sigma = np.array([p.sigma for p in self.parameters])
        return np.asarray(sigma * np.sqrt(np.diag(self.covariance)))

    @property
    def values(self) -> Array:
        """Estimates in SI, (P,)."""
        return np.array([float(p.value(u)) for p, u in zip(self.parameters, self.u, strict=True)])

    @property
    def correlation(self) -> Array:
        """Posterior correlation, (P, P)."""
        deviation = np.sqrt(np.diag(self.covariance))
        return np.asarray(self.covariance / np.outer(deviation, deviation))


class Model:
    """Predicts all figures for a table of parameter values; paths that several figures share are composed once."""

    def __init__(self, figures: Sequence[Figure], hosts: Sequence[str]) -> None:
        self.figures, self.hosts = tuple(figures), tuple(hosts)
        collection = Collection(hosts)
        self._runs: list[tuple[PathSpec, dict[str, int], list[int]]] = []
        known: dict[tuple[str, tuple[str, ...]], int] = {}
        for number, figure in enumerate(self.figures):
            key = (figure.spec.file or str(id(figure.spec)), figure.case.overrides)
            if key not in known:
                known[key] = len(self._runs)
                self._runs.append((figure.spec, collection.own(figure.spec), []))
            self._runs[known[key]][2].append(number)
        for spec, place, _ in self._runs:
            recorder = Recorder()
            compose(spec, recorder)
            collection.others(recorder.seen.values(), place)
        self._collection = collection
        self.parameters = tuple(collection.parameters)

    def answers(self, u: Array) -> list[tuple[Solved, list[int]]]:
        """Every path solved at ``u`` (S, P), with the figures read from it."""
        table = np.stack([p.value(u[:, j]) for j, p in enumerate(self.parameters)], axis=1)
        found = []
        for spec, place, numbers in self._runs:
            found.append((solved(compose(spec, self._collection.draw(place, table))), numbers))
        return found

    def ratios(self, u: Array) -> Array:
        """ln(predicted / measured) of all figures at every row of ``u`` (S, P): (S, N)."""
        u = np.atleast_2d(u)
        result = np.empty((u.shape[0], len(self.figures)))
        for answer, numbers in self.answers(u):
            for number in numbers:
                case = self.figures[number].case
                found = np.broadcast_to(values(case, answer), (u.shape[0],))
                ratio = np.log(np.maximum(found, 1e-300) / case.measured)
                result[:, number] = _censored(ratio, case.bound)
        return result


def _censored(ratio: Array, bound: str | None) -> Array:
    if bound == "at least":
        return np.minimum(ratio, 0.0)
    return np.maximum(ratio, 0.0) if bound == "at most" else ratio


def fit(figures: Sequence[Figure], hosts: Sequence[str]) -> Fit:
    """Fits the uncertain parameters of hosts to measured figures.

    Args:
        figures: Component figures (role ``fit``) with their paths, loaded without any calibration.
        hosts: Host files whose parameters are wanted. Numbers of others may move too, within their own
            spreads, so that they do not bend these, but are not kept.

    Returns:
        The `Fit`.

    Raises:
        InputError: no figures, or none that depends on a parameter of these hosts.
    """
    if not figures:
        raise InputError("there is no figure to fit to; give cases with 'role: fit', or logs of component tests")
    model = Model(figures, hosts)
    search, u, error = search_minimum(model)
    return _result(model, search, u, error, hosts)


def search_minimum(model: Model) -> tuple[Search, Array, Array]:
    """(the search, the estimates, the error each figure was weighed with).

    Raises:
        InputError: no figure depends on a parameter of the hosts.
    """
    free = _free(model)
    if not any(model.parameters[j].host for j in free):
        there = sorted({h for f in model.figures for h in f.spec.host_files.values()})
        raise InputError(
            f"no figure depends on a parameter of {', '.join(model.hosts)}; the figures are of: {', '.join(there)}"
        )
    search = Search(model, free)
    error = np.array([f.case.spread for f in model.figures])
    u = search.minimum(np.zeros(free.size), error)
    for firm in (False, True):
        error = _scatter(model, search, u, error)
        u = search.minimum(u, error, firm=firm)
    return search, u, error


def _free(model: Model) -> NDArray[np.int64]:
    """Parameters that change any figure somewhere within their prior's reach."""
    count = len(model.parameters)
    steps = np.array([np.clip(s, p.low, p.high) for p in model.parameters for s in _SCAN])
    u = np.zeros((count * len(_SCAN) + 1, count))
    u[np.arange(1, u.shape[0]), np.repeat(np.arange(count), len(_SCAN))] = steps
    ratios = model.ratios(u)
    moved = np.abs(ratios[1:] - ratios[0]).max(axis=1).reshape(count, len(_SCAN)).max(axis=1)
    return np.flatnonzero(moved > 1e-6)


class Search:
    """The minimum of the sum of soft squares over the free parameters."""

    def __init__(self, model: Model, free: NDArray[np.int64]) -> None:
        self.model, self.free = model, free
        self.low = np.array([model.parameters[j].low for j in free])
        self.high = np.array([model.parameters[j].high for j in free])
        self._last: tuple[bytes, Array, Array] | None = None

    def full(self, u: Array) -> Array:
        """Free parameters put among all, (..., P)."""
        whole = np.zeros((*u.shape[:-1], len(self.model.parameters)))
        whole[..., self.free] = u
        return whole

    def at(self, u: Array) -> tuple[Array, Array]:
        """(ratios, Jacobian) at u; the last point is kept, for the solver asks twice."""
        if self._last is None or self._last[0] != u.tobytes():
            ratio, slope = self._differences(u)
            self._last = (u.tobytes(), ratio, slope)
        return self._last[1], self._last[2]

    def _differences(self, u: Array) -> tuple[Array, Array]:
        # a step towards the inside keeps a parameter at its bound valid
        sign = np.where(u + _STEP > self.high, -1.0, 1.0)
        steps = np.concatenate([np.zeros((1, u.size)), np.diag(sign * _STEP)])
        both = self.model.ratios(self.full(u[None, :] + steps))
        return both[0], np.asarray(((both[1:] - both[0]) / (sign[:, None] * _STEP)).T)

    def cost(self, ratio: Array, u: Array, error: Array, *, firm: bool) -> Array:
        """Half the sum of soft squares and of prior squares, over the last axis."""
        z = (ratio / error) ** 2
        soft = np.log1p(z) if firm else 2 * (np.sqrt(1 + z) - 1)
        return np.asarray(0.5 * (soft.sum(axis=-1) + (u**2).sum(axis=-1)))

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
            return np.concatenate([self.at(x)[0] / error, x])

        def jacobian(x: Array) -> Array:
            return np.concatenate([self.at(x)[1] / error[:, None], np.eye(x.size)])

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
        found = least_squares(
            residuals,
            inside,
            jac=jacobian,
            bounds=(self.low, self.high),
            loss=loss,  # type: ignore[arg-type]  # the stubs want a private protocol
            ftol=1e-6,
            xtol=1e-6,
            gtol=1e-6,
            max_nfev=30,
        )
        return np.asarray(found.x)

    def _scan(self, u: Array, error: Array, *, firm: bool) -> Array | None:
        """The best point one parameter away, if the sum is clearly lower there."""
        tries = np.repeat(u[None, :], u.size * len(_SCAN) + 1, axis=0)
        which = np.repeat(np.arange(u.size), len(_SCAN))
        tries[np.arange(1, tries.shape[0]), which] += np.tile(np.array(_SCAN), u.size)
        tries = np.clip(tries, self.low, self.high)
        cost = self.cost(self.model.ratios(self.full(tries)), tries, error, firm=firm)
        best = int(np.argmin(cost))
        return tries[best] if cost[best] < cost[0] - _GAIN else None


def _scatter(model: Model, search: Search, u: Array, error: Array) -> Array:
    """Errors widened to what the figures of one log scatter by: a model never describes a log to its noise."""
    ratio, slope = search.at(u)
    own = np.array([f.case.spread for f in model.figures])
    influence = _leverage(slope, error)
    wider = own.copy()
    groups: dict[object, list[int]] = {}
    for number, figure in enumerate(model.figures):
        log = figure.case.log
        groups.setdefault(log[0] if log else figure.case.tool, []).append(number)
    for numbers in groups.values():
        if len(numbers) < _GROUP:
            continue
        left = max(len(numbers) - float(influence[numbers].sum()), 1.0)
        inside = np.minimum(np.abs(ratio[numbers]), 3 * np.median(np.abs(ratio[numbers])) + 1e-12)
        variance = float((inside**2).sum()) / left
        wider[numbers] = np.sqrt(np.maximum(own[numbers] ** 2, variance))
    return wider


def _leverage(slope: Array, error: Array) -> Array:
    """How much of each figure its own fit follows (0 to 1)."""
    scaled = slope / error[:, None]
    information = scaled.T @ scaled + np.eye(slope.shape[1])
    return np.asarray(np.einsum("np,np->n", scaled, np.linalg.solve(information, scaled.T).T))


def _result(model: Model, search: Search, u: Array, error: Array, hosts: Sequence[str]) -> Fit:
    ratio, slope = search.at(u)
    weight = 1 / (1 + (ratio / error) ** 2)
    scaled = slope * (np.sqrt(weight) / error)[:, None]
    covariance = np.linalg.inv(scaled.T @ scaled + np.eye(u.size))
    left = max(ratio.size - float(_leverage(slope, error).sum()), 1.0)
    excess = max(1.0, float((weight * (ratio / error) ** 2).sum()) / left)
    # what the data pin down is no better known than they agree; what only the prior says keeps its spread
    covariance = _widened(covariance, excess)
    before = model.ratios(np.zeros((1, len(model.parameters))))[0]
    free = set(search.free.tolist())
    untouched = tuple(sorted(p.name for j, p in enumerate(model.parameters) if p.host and j not in free))
    return Fit(
        parameters=tuple(model.parameters[j] for j in search.free),
        u=u,
        covariance=covariance,
        figures=model.figures,
        ratio_before=before,
        ratio_after=ratio,
        error=error,
        weight=weight,
        jacobian=slope,
        hosts=frozenset(hosts),
        untouched=untouched,
    )


def _widened(covariance: NDArray[Any], excess: float) -> Array:
    """Posterior covariance with the data's part widened by their excess scatter; never wider than the prior."""
    if math.isclose(excess, 1.0):
        return covariance
    values_, vectors = np.linalg.eigh(covariance)
    data = 1 / np.clip(values_, 1e-12, 1.0) - 1.0
    return np.asarray((vectors / (data / excess + 1.0)) @ vectors.T)
