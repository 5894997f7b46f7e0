"""Rate limits in the network: a policer drops what exceeds its tokens, a shaper delays it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def policed_tcp_rate(
    rate_Bps: ArrayLike,
    bucket_B: ArrayLike,
    rtt_s: ArrayLike,
    mss_B: ArrayLike = 1448.0,
    increase: ArrayLike = 1.0,
    kept: ArrayLike = 0.5,
) -> FloatArray:
    """Rate of one additive-increase flow through a policer.

    Below r the bucket fills by (r - beta x)^2 / (2 s), at most b; above r the flow spends it, (x - r)^2 /
    (2 s), and loses at its peak x, with s = increase * MSS / T^2 the growth of its rate:
    x = min(r + sqrt(2 s b), 2 r / (1 + beta)),  X = (1 + beta) x / 2

    Args:
        rate_Bps: Token rate r [B/s].
        bucket_B: Bucket b [B].
        rtt_s: Round trip T [s].
        mss_B: Segment [B].
        increase: Segments added per round trip, 1 for Reno [1].
        kept: Window kept after a loss beta, 0.5 Reno, 0.7 CUBIC [1].

    Returns:
        Mean rate [B/s]: (1 + beta)/2 of r without a bucket, r with a large one.

    Valid: windows of ten segments and more; one loss event at the peak.
    Neglects: bursts of a whole window at line rate, timeouts after heavy loss, BBR (which ignores it).
    Source: derived; measured effect: Flach et al., SIGCOMM 2016.
    """
    r, beta = as_float(rate_Bps), as_float(kept)
    slope = as_float(increase) * as_float(mss_B) / as_float(rtt_s) ** 2
    peak = np.minimum(r + np.sqrt(2 * slope * as_float(bucket_B)), 2 * r / (1 + beta))
    return as_float((1 + beta) / 2 * peak)
