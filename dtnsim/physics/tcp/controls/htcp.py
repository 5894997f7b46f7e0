"""H-TCP: growth by the time since a loss, a cut by how much of the round trip was queue."""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp.controls import Control, where
from dtnsim.physics.tcp.response import arrays

LOW, HIGH = linux.HTCP_BETA
SCALE_S = linux.HTCP_SCALE_S
LEAST, MOST = linux.HTCP_SCALE
_STEPS, _CLOSE = 30, 1e-14  #: steps to a period at most, and the part of it that a last one changes


def htcp(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, _rate_Bps: ArrayLike = np.inf) -> FloatArray:
    """H-TCP: growth 2 (1 - beta) (1 + 10 (D - 1) + (D - 1)^2 / 4) a round, D seconds after a loss.

    The period D that gains back what a loss took and carries 1/p segments is found by Newton's steps in logarithms.

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Goodput of one stream [B/s]; inf where loss is 0.

    Valid: p from 1e-9 to 1e-2, a periodic sawtooth without queueing, where the share kept is 0.8.
    Neglects: the switch to beta = 0.5 when the throughput moves by over 20 %, timeouts.
    Source: draft-leith-tcp-htcp-06; RTT scaling by T/0.1 s in 0.1..2 above D = 1 s as in Linux.
    """
    p, rtt, mss = arrays(loss, rtt_s, mss_B)
    if not np.any(p > 0):
        return np.full(p.shape, np.inf)
    carried = np.log(np.where(p > 0, p, 1.0)) - np.log(rtt)  # of a segment and a second without loss
    t = np.exp(-(carried + np.log((HIGH / (1 - HIGH) + 0.5) * 2 * (1 - HIGH) / rtt)) / 2)  # were it below 1 s
    for _ in range(_STEPS):
        more, gain, area = _htcp_growth(t, rtt, HIGH)
        segments, slope = gain * HIGH / (1 - HIGH) * t + area, (more * t + gain) * HIGH / (1 - HIGH) + gain
        step = (np.log(segments) + carried) * segments / (slope * t)
        t = t * np.exp(-step)
        if np.abs(step).max() < _CLOSE:
            break
    _, gain, area = _htcp_growth(t, rtt, HIGH)
    mean = gain * HIGH / (1 - HIGH) + area / t
    return np.asarray(np.where(p > 0, mean * mss / rtt, np.inf), float)


def _htcp_growth(t: FloatArray, rtt: FloatArray, beta: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Segments gained in a second t seconds after a loss (`growth`), those gained until then, and their integral."""
    scale = np.clip(rtt / SCALE_S, LEAST, MOST)
    u, slow = np.maximum(t - 1.0, 0.0), np.minimum(t, 1.0)
    square = u * u
    fast = u + 5 * square + u * square / 12  # integral of 1 + 10 u + u^2/4
    fast_area = square / 2 + 5 * u * square / 3 + square * square / 48
    gain = 2 * (1 - beta) / rtt
    more = np.where(t < 1.0, 1.0, scale * (1.0 + 10 * u + square / 4))
    return gain * more, gain * (slow + scale * fast), gain * (slow**2 / 2 + u * slow + scale * fast_area)


def growth(_window: float, since: float, least: float, beta: float, _delay: float, _most: float) -> float:
    """H-TCP's growth a round trip: 2 (1 - beta) f(D), f scaled by T / 0.1 s in 0.1..2.

    Args:
        since: Time D since the last loss [s].
        least: Least round-trip time T [s].
        beta: Share kept at the last loss [1].

    Returns:
        Segments a round trip [1].

    Valid: any.
    Neglects: that the kernel has the scale in eighths and the factor in whole numbers, which doubles the growth of the
        first second above 160 ms.
    Source: net/ipv4/tcp_htcp.c: htcp_alpha_update; draft-leith-tcp-htcp-06.
    """
    past = max(since - 1.0, 0.0)
    scale = min(max(least / SCALE_S, LEAST), MOST)
    fast = max((1 + 10 * past + 0.25 * past * past) * scale, 1.0)
    return 2 * (1 - beta) * where(past > 0, fast, 1.0)


def kept(_window: float, least: float, delay: float, _most: float) -> float:
    """H-TCP keeps the least over the largest round trip, 0.5 to 0.8.

    Args:
        least: Least round-trip time [s].
        delay: Queueing delay at the loss [s].

    Returns:
        Share [1].

    Valid: T above 10 ms; the kernel keeps 0.5 below.
    Neglects: the bandwidth switch, which keeps 0.5 when the throughput moved by over 20 %.
    Source: net/ipv4/tcp_htcp.c: htcp_beta_update; draft-leith-tcp-htcp-06.
    """
    return min(max(least / (least + delay), LOW), HIGH)


#: Linux: net/ipv4/tcp_htcp.c; FreeBSD: release notes of 9.0 (modular congestion control)
SINCE = {"linux": ("2.6.13", 2006), "freebsd": ("9", 2012)}
CONTROLS = (Control("htcp", htcp, "", growth, kept, clocked=True, offered=True, since=SINCE),)
