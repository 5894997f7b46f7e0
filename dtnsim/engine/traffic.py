"""Other people's transfers: when they come and how large they are.

All draws come from the generator that is passed in, so the same seed gives the same traffic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dtnsim.ground.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_DAY_S = 86400.0


def poisson_times(
    rng: np.random.Generator,
    rate: float,
    duration: float,
    *,
    hours: Sequence[float] | None = None,
    days: Sequence[float] | None = None,
) -> Array:
    """Arrival times of a Poisson process, constant or with the rhythm of day and week.

    Given their number, the times of a Poisson process are independent draws from its intensity
    (Lewis and Shedler, Naval Research Logistics Quarterly 26, 1979), so they are drawn by the inverse of
    the cumulated intensity, piecewise constant by the hour.

    Args:
        rng: Source of randomness.
        rate: Mean arrivals per second over the whole duration [1/s].
        duration: Length of the run [s]; time 0 is midnight of the first day of the week.
        hours: 24 relative intensities of the hours of a day; all alike where left out.
        days: 7 relative intensities of the days of a week; all alike where left out.

    Returns:
        (N,) sorted times, N a Poisson number of mean ``rate * duration`` [s].

    Valid: rate and duration >= 0 and finite.
    Neglects: users who start many transfers at once (give such a train as one data set of many files).

    Raises:
        InputError: Negative figures, or not 24 hours and 7 days.
    """
    if not (0 <= rate < math.inf and 0 <= duration < math.inf):
        raise InputError(f"rate {rate} /s and duration {duration} s must be finite and >= 0")
    hour = _weights(hours, 24, "hours")
    day = _weights(days, 7, "days")
    n = int(rng.poisson(rate * duration))
    if hours is None and days is None:
        return np.sort(rng.random(n) * duration)
    edges = np.append(np.arange(0.0, duration, _DAY_S / 24), duration)
    number = np.arange(len(edges) - 1)
    intensity = hour[number % 24] * day[number // 24 % 7]
    total = np.concatenate([[0.0], np.cumsum(intensity * np.diff(edges))])
    if not total[-1] > 0:
        raise InputError("the intensities of hours and days leave no time for arrivals; give some above zero")
    times: Array = np.interp(np.sort(rng.random(n)) * total[-1], total, edges)
    return times


def _weights(given: Sequence[float] | None, n: int, name: str) -> Array:
    weights = np.ones(n) if given is None else np.asarray(given, float)
    if weights.shape != (n,) or not np.all((weights >= 0) & np.isfinite(weights)):
        raise InputError(f"{name} are {len(weights)} intensities; give {n} finite numbers >= 0")
    return weights


def pareto_sizes(rng: np.random.Generator, n: int, least: float, greatest: float, tail: float) -> Array:
    """Sizes with a heavy tail: a Pareto distribution cut off at both ends.

    P(size > x) = ((L/x)^a - (L/H)^a) / (1 - (L/H)^a) for L <= x <= H (Harchol-Balter, Performance Modeling and Design
    of Computer Systems, 2013, 20.5: a around 1.1 for file sizes).

    Args:
        rng: Source of randomness.
        n: How many.
        least: L, the smallest [B].
        greatest: H, the largest [B].
        tail: a, the exponent of the tail [1].

    Returns:
        (n,) sizes [B].

    Valid: 0 < L <= H, a > 0.
    Neglects: correlation between sizes, and between sizes and times.

    Raises:
        InputError: Figures outside of the valid range.
    """
    if not (0 < least <= greatest < math.inf and tail > 0):
        raise InputError(f"sizes from {least} to {greatest} B, tail {tail}: give 0 < least <= greatest and tail > 0")
    cut = 1.0 - (least / greatest) ** tail
    sizes: Array = np.minimum(greatest, least * (1.0 - cut * rng.random(n)) ** (-1.0 / tail))
    return sizes


def pareto_mean(least: float, greatest: float, tail: float) -> float:
    """Mean of `pareto_sizes`: the integral of x over the density a L^a x^(-a-1) / (1 - (L/H)^a) from L to H.

    Args:
        least: L, the smallest [B].
        greatest: H, the largest [B].
        tail: a, the exponent of the tail [1].

    Returns:
        The mean [B].

    Valid: 0 < L <= H, a > 0.
    Neglects: nothing.
    Source: same as `pareto_sizes`.
    """
    if least == greatest:
        return least
    cut = 1.0 - float((least / greatest) ** tail)
    if tail == 1.0:
        return least * math.log(greatest / least) / cut
    return float(tail * least**tail * (least ** (1 - tail) - greatest ** (1 - tail)) / ((tail - 1) * cut))
