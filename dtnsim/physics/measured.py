"""Rates between those that were measured: in request size, in requests in flight, on two sorts of blocks.

Nothing of a drive is in here; all functions broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def request_rate(
    request_B: ArrayLike, small_B: ArrayLike, small_rate: ArrayLike, large_B: ArrayLike, large_Bps: ArrayLike
) -> FloatArray:
    """Rate of requests of one size from those of two others: X = s / t(s), t linear in s.

    t(s) = t_1 + (s - s_1) (t_2 - t_1) / (s_2 - s_1).

    Args:
        request_B: Size of a request s [B].
        small_B: Size that ``small_rate`` was measured with s_1 [B].
        small_rate: Requests of it a second 1 / t_1 [1/s].
        large_B: Size that ``large_Bps`` was measured with s_2 [B].
        large_Bps: Rate with it s_2 / t_2 [B/s].

    Returns:
        Rate [B/s].

    Valid: s_1 < s_2, both measured with as many requests in flight.
    Neglects: sizes at which a drive or the kernel splits requests; where large requests take less time than small
        ones (noise), the time of small ones is taken for all.
    Source: a request takes a time of its own and a time for each byte.
    """
    size, small, large = as_float(request_B), as_float(small_B), as_float(large_B)
    first = 1.0 / as_float(small_rate)
    slope = np.maximum(large / as_float(large_Bps) - first, 0.0) / (large - small)
    return size / (first + np.maximum(size - small, 0.0) * slope)


def between(
    number: ArrayLike, low: ArrayLike, low_rate: ArrayLike, high: ArrayLike, high_rate: ArrayLike
) -> FloatArray:
    """Rate with a number of requests in flight from those with fewer and with more: a power of the number.

    R = R_1 (R_2 / R_1)^w, w = ln(n / n_1) / ln(n_2 / n_1).

    Args:
        number: Requests in flight n [1].
        low: The smaller number n_1 [1].
        low_rate: Rate with it R_1 [B/s].
        high: The larger number n_2 [1].
        high_rate: Rate with it R_2 [B/s].

    Returns:
        Rate [B/s].

    Valid: n_1 <= n <= n_2, n_1 < n_2.
    Neglects: where exactly between the two the drive is full.
    Source: a straight line on double logarithmic paper: Little's law has slope 1 (empty), saturation 0.
    """
    n, one, two = as_float(number), as_float(low), as_float(high)
    part = np.log(n / one) / np.log(two / one)
    return as_float(low_rate) * (as_float(high_rate) / as_float(low_rate)) ** part


def mixed_rate(share: ArrayLike, first: ArrayLike, rest: ArrayLike) -> FloatArray:
    """Rate of bytes of which a part goes at another rate: 1 / (p / R_1 + (1 - p) / R_2).

    Args:
        share: That part p [1].
        first: Its rate R_1 [B/s].
        rest: Rate of the others R_2 [B/s].

    Returns:
        Rate [B/s].

    Valid: 0 <= p <= 1.
    Neglects: that both may go on side by side.
    Source: times add up.
    """
    p = np.clip(as_float(share), 0.0, 1.0)
    return 1.0 / (p / as_float(first) + (1.0 - p) / as_float(rest))
