"""Change points of a series of daily figures: where its mean shifts, and how improbable that is by chance.

The split with the largest two-sample t (the likelihood ratio of a shift of the mean; Hawkins, Testing a sequence of
observations for a shift in location, JASA 1977). Its probability is bounded in closed form by Bonferroni over the
splits, so that a large effect is significant however few days there are: a permutation of ten days split 5:5 never
gets below 2/252. Three guards keep that honest for what is measured: days that stand out by themselves are pulled in
first (Hampel filter, noise from the median difference of neighbours), what neighbours have in common counts as fewer
days (variance times ``(1 + r) / (1 - r)``, r the lag-one autocorrelation about the two means; Lund et al., J. Climate
2007), and a shift below 3 % is none. Both parts are searched again (binary segmentation, Scott and Knott 1974).
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from dtnsim.physics._arrays import FloatArray as Array, IntArray

#: what is too improbable for chance, of all series together: a year of weekly looks errs in less than one of twenty
CHANCE: Final = 0.001
#: days from which a change is looked for, fewest days on either side of it, and the smallest one worth a word
DAYS: Final = 8
SIDE: Final = 3
SMALLEST: Final = 0.03
#: neighbours that a day is compared with on either side, and the distance that stands out [noise]
_NEAR: Final = 2
_FAR: Final = 4.0
#: standard deviation over the median absolute difference of two normal figures
_DIFFERENCE: Final = 1.4826 / np.sqrt(2)
#: figures are printed with three digits: noise is never taken for less than their rounding
_ROUNDING: Final = 1e-3
_ALIKE: Final = 0.9


def shifted(values: Array, chance: float) -> list[tuple[int, float]]:
    """Where the mean of a sequence shifts: (first index after it, probability by chance), in order.

    Args:
        values: Logarithms of daily figures, in the order of time, (N,).
        chance: What is too improbable for chance; over many series their share of it (Bonferroni).
    """
    return sorted(_segments(np.asarray(values, float), 0, chance))


def _segments(values: Array, offset: int, chance: float) -> Iterator[tuple[int, float]]:
    if values.size < DAYS:
        return
    split, size, p = (row[0] for row in steps(values[None, :]))
    if p > chance or abs(size) < SMALLEST:
        return
    yield offset + int(split), float(p)
    yield from _segments(values[:split], offset, chance)
    yield from _segments(values[split:], offset + int(split), chance)


def steps(rows: Array) -> tuple[IntArray, Array, Array]:
    """The largest step of each series: (first index after it, its size, bound of its probability by chance), each (S,).

    Args:
        rows: Series of the same length, (S, N >= 8).
    """
    from scipy.special import stdtr

    x = _pulled_in(rows)
    series, n = np.arange(x.shape[0]), x.shape[1]
    first = np.arange(SIDE, n - SIDE + 1)
    sums = np.cumsum(x, axis=1)
    before = sums[:, first - 1] / first
    sizes = (sums[:, -1:] - sums[:, first - 1]) / (n - first) - before
    best = (sizes**2 * first * (n - first)).argmax(axis=1)
    split, size = first[best], sizes[series, best]
    level = before[series, best, None] + np.where(np.arange(n) >= split[:, None], size[:, None], 0.0)
    left = x - level
    squares = (left**2).sum(axis=1)
    alike = np.clip((left[:, 1:] * left[:, :-1]).sum(axis=1) / np.maximum(squares, 1e-300), 0.0, _ALIKE)
    noise = np.maximum(np.sqrt(squares / (n - 2) * (1 + alike) / (1 - alike)), _ROUNDING)
    t = np.abs(size) / (noise * np.sqrt(n / (split * (n - split))))
    return split, size, np.minimum(2 * first.size * stdtr(n - 2, -t), 1.0)


def _pulled_in(rows: Array) -> Array:
    """Series whose days lie no further from the median of their neighbours than noise does; steps stay as they are."""
    noise = _DIFFERENCE * np.median(np.abs(np.diff(rows, axis=1)), axis=1, keepdims=True)
    wide, n = 2 * _NEAR + 1, rows.shape[1]
    start = np.clip(np.arange(n) - _NEAR, 0, n - wide)
    middle = np.median(rows[:, start[:, None] + np.arange(wide)], axis=2)
    far = _FAR * np.maximum(noise, _ROUNDING)
    return np.clip(rows, middle - far, middle + far)
