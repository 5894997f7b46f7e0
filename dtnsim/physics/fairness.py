"""How unevenly equal flows share what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnsim.physics._arrays import FloatArray, as_float

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def log_spread(index: ArrayLike) -> FloatArray:
    """Spread of the logarithm of shares that are log-normal and have an index of fairness: s = sqrt(-ln J).

    Jain's index of many flows is J = (sum x)^2 / (n sum x^2) = 1 / (1 + CV^2), and CV^2 = exp(s^2) - 1 of a log-normal
    share.

    Args:
        index: Jain's index J, 0 < J <= 1 [1].

    Returns:
        Standard deviation s of ln(share) [1].

    Valid: many flows.
    Neglects: that a flow's share changes while it lasts.
    Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, DEC-TR-301 (1984); moments of the
        log-normal distribution.
    """
    return np.sqrt(np.abs(np.log(as_float(index))))
