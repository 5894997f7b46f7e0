"""Rate limits in the network: a policer drops what exceeds its tokens, a shaper delays it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def token_bucket_bytes(
    time_s: ArrayLike, rate_Bps: ArrayLike, bucket_B: ArrayLike, line_Bps: ArrayLike = np.inf
) -> FloatArray:
    """Most bytes a token bucket passes in a time, starting full.

    V(t) = min(L t, b + r t)

    Args:
        time_s: Time t [s].
        rate_Bps: Token rate r [B/s].
        bucket_B: Bucket b [B].
        line_Bps: Line rate L [B/s].

    Returns:
        Bytes [B].

    Valid: t >= 0.
    Neglects: packet granularity.
    Source: RFC 2697, RFC 3290 (arrival curve b + r t).
    """
    t = as_float(time_s)
    line = np.where(t > 0, as_float(line_Bps), 0.0) * np.where(t > 0, t, 1.0)
    return as_float(np.minimum(line, as_float(bucket_B) + as_float(rate_Bps) * t))


def policer_drop_share(offered_Bps: ArrayLike, rate_Bps: ArrayLike) -> FloatArray:
    """Share a policer drops of a constant offered load in the long run: max(0, 1 - r / X).

    Args:
        offered_Bps: Offered rate X [B/s].
        rate_Bps: Token rate r [B/s].

    Returns:
        Loss [1].

    Valid: X > 0; long after the bucket is empty.
    Neglects: that a loss-based sender slows down (`policed_tcp_rate`).
    Source: conservation of tokens, RFC 2697.
    """
    return np.maximum(0.0, 1 - as_float(rate_Bps) / as_float(offered_Bps))


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


def bucket_for_full_rate(
    rate_Bps: ArrayLike,
    rtt_s: ArrayLike,
    mss_B: ArrayLike = 1448.0,
    increase: ArrayLike = 1.0,
    kept: ArrayLike = 0.5,
) -> FloatArray:
    """Bucket from which one additive-increase flow reaches the token rate.

    b = (r (1 - beta) / (1 + beta))^2 T^2 / (2 * increase * MSS)

    Args:
        rate_Bps: Token rate r [B/s].
        rtt_s: Round trip T [s].
        mss_B: Segment [B].
        increase: Segments added per round trip [1].
        kept: Window kept after a loss beta [1].

    Returns:
        Bucket [B]; it grows with the square of the bandwidth-delay product.

    Valid: see `policed_tcp_rate`.
    Neglects: see `policed_tcp_rate`.
    Source: derived, inverse of `policed_tcp_rate`.
    """
    beta = as_float(kept)
    window = as_float(rate_Bps) * as_float(rtt_s) * (1 - beta) / (1 + beta)
    return as_float(window**2 / (2 * as_float(increase) * as_float(mss_B)))


def shaper_delay(bucket_B: ArrayLike, rate_Bps: ArrayLike) -> FloatArray:
    """Longest delay a shaper's full queue adds: b / r.

    Args:
        bucket_B: Queue of the shaper b [B].
        rate_Bps: Rate r [B/s].

    Returns:
        Delay [s], to be added to the round trip; nothing is lost before the queue is full.

    Valid: r > 0.
    Neglects: active queue management.
    Source: Little (1961); RFC 2475 (shaping against policing).
    """
    return as_float(bucket_B) / as_float(rate_Bps)


def shaped_rate(offered_Bps: ArrayLike, rate_Bps: ArrayLike) -> FloatArray:
    """Rate behind a shaper: min(X, r).

    Args:
        offered_Bps: Offered rate X [B/s].
        rate_Bps: Rate r [B/s].

    Returns:
        Rate [B/s].

    Valid: any.
    Neglects: losses once its queue is full (a drop-tail buffer like any other).
    Source: RFC 2475.
    """
    return np.minimum(as_float(offered_Bps), as_float(rate_Bps))
