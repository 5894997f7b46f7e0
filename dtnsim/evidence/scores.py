"""Proper scores of predictive distributions: an interval that is too wide is punished like one that is too narrow.

All on the logarithm of the figure, so that a factor of two counts the same at any rate.
Source: Gneiting and Raftery, Strictly proper scoring rules, prediction, and estimation, JASA 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: central intervals of the calibration curve
LEVELS: Final = (0.5, 0.8, 0.95)


def crps(samples: Array, measured: float) -> float:
    """Continuous ranked probability score of samples (S,): E|X - y| - E|X - X'| / 2 (eq. 21)."""
    ordered = np.sort(samples)
    count = ordered.size
    # E|X - X'| by order statistics
    between = 2 * float((ordered * (2 * np.arange(1, count + 1) - count - 1)).sum()) / count**2
    return float(np.abs(samples - measured).mean()) - between / 2


def interval_score(low: float, high: float, measured: float, level: float) -> float:
    """Width of a central interval, and what a figure outside of it costs (eq. 43)."""
    alpha = 1 - level
    return (high - low) + 2 / alpha * (max(low - measured, 0.0) + max(measured - high, 0.0))


def constant_factor(errors: Sequence[tuple[str, float]], study: str, level: float) -> float:
    """Half width of the one interval for all that would have held ``level`` of the other studies' figures.

    Args:
        errors: (study, |ln(measured / predicted)|) of all figures.
        study: The study that is judged.
        level: Share to be held.
    """
    others = [e for s, e in errors if s != study]
    return float(np.quantile(others, level)) if others else 0.0
