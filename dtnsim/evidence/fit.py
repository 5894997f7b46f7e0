"""Logs to parameters: least squares on log ratios, over the same stations and demands that `predict` uses.

Residual of a figure: ``ln(predicted / measured)`` over its relative error; of a parameter: how many prior
standard deviations it has moved. A figure that only bounds (censored) has no residual on its good side.
Residuals of figures are soft (``soft_l1``, at the end ``cauchy``), so that one wrong log does not bend
everything; those of parameters are not, but where figures that agree contradict what a part is said to do, its prior
gives way (`dtnsim.evidence.fit_search`). What binds decides which parameters a figure can determine, so the
search looks along every parameter by itself for another bottleneck besides descending.
"""

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dtnsim.evidence.figures import Figure
from dtnsim.evidence.fit_facts import Fact
from dtnsim.evidence.fit_model import Model, Parameter, SpreadModel
from dtnsim.evidence.fit_search import SCAN, Released, Search, freed, give_way, is_missed, suspect
from dtnsim.evidence.repeats import Repeats
from dtnsim.ground.errors import InputError
from dtnsim.ground.grouping import by_key
from dtnsim.physics._arrays import FloatArray as Array, IntArray

_GROUP: Final = 8  #: figures of one log from which their own scatter can be estimated
_MAD: Final = 1.4826  #: standard deviation of a normal law over its median absolute deviation


@dataclass(frozen=True, slots=True)
class Fit:
    """What a fit found."""

    parameters: tuple[Parameter, ...]  #: All parameters that any figure depends on (P).
    u: Array  #: Their estimates [prior standard deviations], (P,).
    covariance: Array  #: Posterior covariance of u, (P, P).
    figures: tuple[Figure, ...]  #: Figures used (N).
    ratio_before: Array  #: ln(predicted / measured) with priors, (N,).
    ratio_after: Array  #: With the estimates, (N,).
    error: Array  #: Relative error each figure was weighed with, the scatter of its log included, (N,).
    weight: Array  #: Robust weight of each figure, (N,).
    jacobian: Array  #: d ln(predicted) / du at the estimate, (N, P).
    hosts: frozenset[str] = field(default_factory=frozenset)  #: Hosts whose parameters are kept.
    untouched: tuple[str, ...] = ()  #: Names of uncertain parameters of these hosts that no figure depends on.
    #: Standard deviation of the prior of u that holds, (P,): 1, or more for what was freed or gave way.
    prior_sd: Array = field(default_factory=lambda: np.ones(1))
    released: tuple[Released, ...] = ()  #: Parameters whose stated value the figures contradict.
    #: The parameter whose prior would have to go for figures to be followed, where none is.
    suspect: Released | None = None
    repeats: tuple[Repeats, ...] = ()  #: Runs of one test, and what they say of days.
    facts: tuple[Fact, ...] = ()  #: What outputs of the hosts show to be otherwise than their files say.

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


def fit(figures: Sequence[Figure], hosts: Sequence[str], free: Sequence[str] = (), scheduler: str | None = None) -> Fit:
    """Fits the uncertain parameters of hosts to measured figures (role ``fit``), loaded without any calibration.

    Numbers of other hosts may move too, within their own spreads, so that they do not bend these, but are not kept.
    """
    if not figures:
        raise InputError("there is no figure to fit to; give cases with 'role: fit', or logs of component tests")
    if scheduler is not None:
        with closing(SpreadModel(figures, hosts, scheduler)) as spread:
            return _fitted(spread, free)
    return _fitted(Model(figures, hosts), free)


def _fitted(model: Model, free: Sequence[str]) -> Fit:
    search, u, error = search_minimum(model, free)
    wide, point, gone = give_way(search, u, _within_logs(search, u))
    if gone or not np.array_equal(point, u):
        error = _scatter(wide, point, _stated(model))
        search, u = wide, wide.minimum(point, error, firm=True)
    final = _result(search, u, error, gone)
    return (
        replace(final, suspect=suspect(search, u, _stated(model)))
        if is_missed(final.ratio_after, error).all()
        else final
    )


def search_minimum(model: Model, free: Sequence[str] = ()) -> tuple[Search, Array, Array]:
    """(the search, the estimates, the error each figure was weighed with)."""
    wide = freed(model.parameters, free)
    changing = np.union1d(_changing(model), sorted(wide)).astype(np.int64)
    if not any(model.parameters[j].host for j in changing):
        hosts = sorted({h for f in model.figures for h in f.spec.host_files.values()})
        raise InputError(
            f"no figure depends on a parameter of {', '.join(model.hosts)}; the figures are of: {', '.join(hosts)}"
        )
    search = Search(model, changing, wide)
    error = _stated(model)
    u = search.minimum(np.zeros(changing.size), error)
    for firm in (False, True):
        error = _scatter(search, u, error)
        u = search.minimum(u, error, firm=firm)
    return search, u, error


def _changing(model: Model) -> IntArray:
    """Parameters that change any figure somewhere within their prior's reach."""
    count = len(model.parameters)
    steps = np.array([np.clip(s, *p.limits()) for p in model.parameters for s in SCAN])
    u = np.zeros((count * len(SCAN) + 1, count))
    u[np.arange(1, u.shape[0]), np.repeat(np.arange(count), len(SCAN))] = steps
    ratios = model.ratios(u)
    moved = np.abs(ratios[1:] - ratios[0]).max(axis=1).reshape(count, len(SCAN)).max(axis=1)
    return np.flatnonzero(moved > 1e-6)


def _stated(model: Model) -> Array:
    """Relative errors that the figures state (N,)."""
    return np.array([f.case.spread for f in model.figures])


def _groups(model: Model) -> list[list[int]]:
    """Figures of one log, where they are enough to say how they scatter."""
    groups = by_key((f.case.log[0] if f.case.log else f.case.tool, n) for n, f in enumerate(model.figures))
    return [numbers for numbers in groups.values() if len(numbers) >= _GROUP]


def _within_logs(search: Search, u: Array) -> Array:
    """Errors (N,) widened to the scatter of each log about its own median: what all its figures share is no scatter."""
    ratio, wider = search.at(u)[0], _stated(search.model)
    for numbers in _groups(search.model):
        group = ratio[numbers]
        wider[numbers] = np.maximum(wider[numbers], _MAD * float(np.median(np.abs(group - np.median(group)))))
    return wider


def _scatter(search: Search, u: Array, error: Array) -> Array:
    """Errors widened to what the figures of one log scatter by: a model never describes a log to its noise."""
    ratio, slope = search.at(u)
    stated = _stated(search.model)
    influence = _leverage(slope, error, search.sd)
    wider = stated.copy()
    for numbers in _groups(search.model):
        left = max(len(numbers) - float(influence[numbers].sum()), 1.0)
        inside = np.minimum(np.abs(ratio[numbers]), 3 * np.median(np.abs(ratio[numbers])) + 1e-12)
        variance = float((inside**2).sum()) / left
        wider[numbers] = np.sqrt(np.maximum(stated[numbers] ** 2, variance))
    return wider


def _leverage(slope: Array, error: Array, prior_sd: Array) -> Array:
    """Leverage of each figure: the part of it that the fit follows (N,), 0 to 1."""
    scaled = slope / error[:, None]
    information = scaled.T @ scaled + np.diag(prior_sd**-2)
    return np.asarray(np.einsum("np,np->n", scaled, np.linalg.solve(information, scaled.T).T))


def _result(search: Search, u: Array, error: Array, gone: Sequence[Released]) -> Fit:
    model, (ratio, slope) = search.model, search.at(u)
    weight = 1 / (1 + (ratio / error) ** 2)
    # all in standard deviations of the prior that holds
    scaled = slope * search.sd * (np.sqrt(weight) / error)[:, None]
    covariance = np.linalg.inv(scaled.T @ scaled + np.eye(u.size))
    left = max(ratio.size - float(_leverage(slope, error, search.sd).sum()), 1.0)
    excess = max(1.0, float((weight * (ratio / error) ** 2).sum()) / left)
    # what the data pin down is no better known than they agree; what only the prior says keeps its spread
    covariance = _widened(covariance, excess) * np.outer(search.sd, search.sd)
    before = model.ratios(np.zeros((1, len(model.parameters))))[0]
    free = set(search.free.tolist())
    untouched = tuple(sorted(p.name for j, p in enumerate(model.parameters) if p.host and j not in free))
    parameters, hosts = tuple(model.parameters[j] for j in search.free), frozenset(model.hosts)
    return Fit(parameters, u, covariance, model.figures, before, ratio, error, weight, slope, hosts, untouched,
               search.sd, tuple(gone))  # fmt: skip


def _widened(covariance: NDArray[Any], excess: float) -> Array:
    """Posterior covariance with the data's part widened by their excess scatter; never wider than the prior."""
    if math.isclose(excess, 1.0):
        return covariance
    values_, vectors = np.linalg.eigh(covariance)
    data = 1 / np.clip(values_, 1e-12, 1.0) - 1.0
    return np.asarray((vectors / (data / excess + 1.0)) @ vectors.T)
