"""What loss-based algorithms add to a window and leave of it, for one flow: scalars for the kernel of `shared`.

The laws are those of `dtnsim.physics.tcp.algorithms`, which has them for arrays, with their sources. Functions here
call no others, so that numba compiles them where the kernel has imported them.
"""

from __future__ import annotations

import math

from dtnsim.physics.tcp import linux

RENO, CUBIC, HTCP, BBR, SCALABLE, WESTWOOD, ILLINOIS, BBR2, BBR3 = 0, 1, 2, 3, 4, 5, 6, 7, 8

CUBIC_BETA, RENO_BETA, SCALABLE_BETA, COUNT = (
    linux.CUBIC_BETA,
    linux.RENO_BETA,
    linux.SCALABLE_BETA,
    linux.SCALABLE_COUNT,
)
HTCP_LOW, HTCP_HIGH = linux.HTCP_BETA
HTCP_SCALE_S = linux.HTCP_SCALE_S
HTCP_LEAST, HTCP_MOST = linux.HTCP_SCALE
SLOW, QUICK = linux.ILLINOIS_ALPHA
FEW, MANY = linux.ILLINOIS_CUT
SMALL = linux.ILLINOIS_WINDOW
SAMPLES, SAMPLE_S = linux.WESTWOOD_SAMPLES, linux.WESTWOOD_SAMPLE_S


def growth(cc: int, window: float, since: float, trip: float, beta: float, delay: float, most: float) -> float:
    """Segments that a window gains in a round trip; CUBIC's follows from its cube."""
    if cc == HTCP:
        past = max(since - 1.0, 0.0)
        scale = min(max(trip / HTCP_SCALE_S, HTCP_LEAST), HTCP_MOST)
        fast = max((1 + 10 * past + 0.25 * past * past) * scale, 1.0) if past > 0 else 1.0
        return 2 * (1 - beta) * fast
    if cc == SCALABLE:
        return max(window / COUNT, 1.0)
    if cc == ILLINOIS and window >= SMALL:
        low = most / 100
        span = max(most - low, 1e-30)
        return span * QUICK / (span + max(delay - low, 0.0) * (QUICK - SLOW) / SLOW)
    return 1.0


def kept(cc: int, window: float, least: float, trip: float, most: float) -> float:
    """Share of its window that a loss leaves."""
    if cc == CUBIC:
        return CUBIC_BETA
    if cc == HTCP:
        return min(max(least / trip, HTCP_LOW), HTCP_HIGH)
    if cc == SCALABLE:
        return SCALABLE_BETA
    if cc == ILLINOIS and window >= SMALL:
        part = (trip - least) / max(most, 1e-30)
        return 1 - min(max(FEW + (MANY - FEW) * (part - 0.1) / 0.7, FEW), MANY)
    return RENO_BETA


def filtered(estimate: float, sample: float, wait: float, trip: float) -> float:
    """Westwood's estimate of what is in flight at its least round trip, after ``wait`` of samples [segments]."""
    return estimate - (sample - estimate) * math.expm1(-wait / max(trip, SAMPLE_S) / SAMPLES)
