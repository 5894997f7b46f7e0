"""Leave-one-out: every fit case predicted by parameters that were fitted without it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.evidence import fit
from dtnsim.evidence.figures import Figure, Paths
from dtnsim.evidence.fit_model import Model
from dtnsim.ground import cluster

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnsim.evidence.fit_search import Search
    from dtnsim.evidence.validate import Judgement

#: figures that fit, and the hosts whose parameters are wanted
Site = tuple[list[Figure], list[str]]

#: share of a figure that its own fit follows, from which the others are fitted anew without it
LEVERAGE: Final = 0.05


def left_out(
    judged: Sequence[Judgement], progress: Callable[[int, int], None] | None = None, scheduler: str | None = None
) -> list[Judgement]:
    """Adds to the fit cases of every site what a fit that never saw them predicts."""
    result, paths, sites = list(judged), Paths("none"), list[tuple[list[int], Site]]()
    for site in dict.fromkeys(j.case.site for j in judged):
        mine = [n for n, j in enumerate(judged) if j.case.site == site and j.case.role == "fit" and not j.case.withheld]
        if len(mine) < 2:
            continue
        chosen = [judged[n].case for n in mine]
        figures = [Figure(c, paths(c)) for c in chosen]
        hosts = sorted({h for f in figures for h in f.spec.host_files.values()})
        sites.append((mine, (figures, hosts)))
    if scheduler is not None:
        found = cluster.spread(_ratios, None, [site for _, site in sites], scheduler)
    else:
        found = ((k, ratios(*site, progress)) for k, (_, site) in enumerate(sites))
    for k, those in found:
        for n, ratio in zip(sites[k][0], those, strict=True):
            result[n] = replace(judged[n], left_out=judged[n].case.measured * math.exp(ratio))
    return result


def _ratios(_: None, site: Site) -> list[float]:
    """`ratios` of a site, made by a worker."""
    return ratios(*site)


def ratios(
    figures: Sequence[Figure], hosts: Sequence[str], progress: Callable[[int, int], None] | None = None
) -> list[float]:
    """ln(predicted / measured) of every figure by a fit without it.

    A figure that its own fit hardly follows (`LEVERAGE`) is taken out by one Gauss-Newton step; for the others the
    remaining figures are fitted again, from where the fit to all of them ended.

    Raises:
        InputError: the figures say nothing about these hosts.
    """
    model = Model(figures, hosts)
    search, u, error = fit.search_minimum(model)
    ratio, slope = search.at(u)
    weight = 1 / (1 + (ratio / error) ** 2)
    scaled = slope * (np.sqrt(weight) / error)[:, None]
    information = scaled.T @ scaled + np.diag(search.sd**-2)
    gradient = scaled.T @ (np.sqrt(weight) * ratio / error) + u / search.sd**2
    share = np.einsum("np,np->n", scaled, np.linalg.solve(information, scaled.T).T)
    points = np.empty((len(figures), u.size))
    for n, row in enumerate(scaled):
        if share[n] < LEVERAGE:
            rest = information - np.outer(row, row)
            points[n] = u - np.linalg.solve(rest, gradient - row * np.sqrt(weight[n]) * ratio[n] / error[n])
        else:
            points[n] = _again(search, u, error, n)
        if progress is not None:
            progress(n + 1, len(figures))
    points = np.clip(points, search.low, search.high)
    return [float(r) for r in np.diag(model.ratios(search.full(points)))]


def _again(search: Search, u: NDArray[np.float64], error: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """The minimum without figure ``n``: an error so large that it weighs nothing."""
    blind = error.copy()
    blind[n] = 1e9
    return search.minimum(u, blind, firm=True)
