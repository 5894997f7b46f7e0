"""Slow start: how long the ramp lasts, what it costs, and the time of a short transfer."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

#: RFC 6928: initial window of 10 segments
INITIAL_WINDOW: Final = 10.0


def slow_start_time(
    window_B: ArrayLike,
    rtt_s: ArrayLike,
    mss_B: ArrayLike,
    growth: float = 2.0,
    initial: float = INITIAL_WINDOW,
) -> FloatArray:
    """Time from the first segment until the window is reached: T log_g(W / IW).

    Args:
        window_B: Window that the steady state needs, rate x RTT [B].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].
        growth: Growth of the window each round; 2 in Linux, whose slow start counts segments (RFC 3465).
        initial: Initial window [segments].

    Returns:
        Time [s], 0 where the initial window is enough.

    Valid: no loss and no early exit (HyStart) in the ramp.
    Neglects: handshake, HyStart's slower climb (see `rounds`).
    Source: RFC 5681, RFC 6928.
    """
    ratio = np.asarray(window_B, float) / (initial * np.asarray(mss_B, float))
    return np.asarray(np.asarray(rtt_s, float) * np.log(np.maximum(ratio, 1.0)) / np.log(growth), float)


def slow_start_deficit(
    rate_Bps: ArrayLike,
    rtt_s: ArrayLike,
    mss_B: ArrayLike,
    growth: float = 2.0,
    initial: float = INITIAL_WINDOW,
) -> FloatArray:
    """Bytes that the ramp sends less than the steady rate would have: rate t_ss - (W - IW) / ln g ... >= 0.

    The window grows as IW g^(t/T); its integral over the ramp is T (W - IW) / (T ln g).

    Args:
        rate_Bps: Steady goodput of the stream [B/s].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].
        growth: Growth of the window each round.
        initial: Initial window [segments].

    Returns:
        Deficit [B].

    Valid: as `slow_start_time`.
    Neglects: as `slow_start_time`.
    Source: as `slow_start_time`, integrated.
    """
    rate, rtt = np.asarray(rate_Bps, float), np.asarray(rtt_s, float)
    first = initial * np.asarray(mss_B, float)
    t = slow_start_time(rate * rtt, rtt, mss_B, growth, initial)
    sent = np.maximum(rate * rtt - first, 0.0) / np.log(growth)
    return np.asarray(np.maximum(rate * t - sent, 0.0), float)


def transfer_time(
    size_B: ArrayLike, rate_Bps: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, *, growth: float = 2.0,
    initial: float = INITIAL_WINDOW, handshake_rtts: float = 1.0,
) -> FloatArray:  # fmt: skip
    """Time of a transfer over a new connection: handshake, slow start, then the steady rate.

    Args:
        size_B: Payload [B].
        rate_Bps: Steady goodput [B/s].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].
        growth: Growth of the window each round.
        initial: Initial window [segments].
        handshake_rtts: Round trips before the first byte; 1 for TCP, 0 for an open connection.

    Returns:
        Time until the last byte has arrived [s].

    Valid: no loss in the ramp.
    Neglects: HyStart, delayed acknowledgments.
    Source: RFC 5681, RFC 6928.
    """
    size, rate, rtt = (np.asarray(x, float) for x in (size_B, rate_Bps, rtt_s))
    first = initial * np.asarray(mss_B, float)
    ramp_t = slow_start_time(rate * rtt, rtt, mss_B, growth, initial)
    log_g = np.log(growth)
    ramp_B = np.maximum(rate * rtt - first, 0.0) / log_g
    inside = rtt * np.log1p(size * log_g / first) / log_g
    after = ramp_t + np.maximum(size - ramp_B, 0.0) / rate
    return np.asarray(handshake_rtts * rtt + rtt / 2 + np.where(size < ramp_B, inside, after), float)


def slow_start_stall(
    size_B: ArrayLike, rate_Bps: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, initial: float = INITIAL_WINDOW
) -> FloatArray:
    """Time that a sender stands idle for acknowledgments in slow start: P T - (2^P - 1) W/R.

    Whole rounds: a window of W 2^i leaves at rate R, then the sender waits for the rest of the round
    trip. With W the initial window, P = min(Q, K - 1) rounds have such a gap: K = ceil(log2(S/W + 1)) rounds carry
    S bytes, and the first Q have windows shorter than the path. Each gap is T - W 2^i / R.

    Args:
        size_B: Payload S [B].
        rate_Bps: Steady goodput R [B/s].
        rtt_s: Round-trip time T [s].
        mss_B: Segment payload [B].
        initial: Initial window [segments].

    Returns:
        Idle time [s]: what a transfer over a new connection takes longer than S/R, handshake and
        propagation apart.

    Valid: no loss and no early exit in the ramp.
    Neglects: HyStart, delayed acknowledgments.
    Source: Kurose and Ross, Computer Networking, 3.7 (TCP delay modelling, static windows grown to slow start);
        RFC 6928 for the initial window.
    """
    size, rate, rtt = (np.asarray(x, float) for x in (size_B, rate_Bps, rtt_s))
    window = initial * np.asarray(mss_B, float)
    rounds = np.ceil(np.log2(size / window + 1.0) * (1 - 1e-12))
    short = np.ceil(np.log2(np.maximum(rate * rtt / window, 1.0)))
    gaps = np.maximum(np.minimum(short, rounds - 1.0), 0.0)
    return np.asarray(np.maximum(gaps * rtt - (2.0**gaps - 1.0) * window / rate, 0.0), float)
