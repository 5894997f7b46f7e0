"""CUBIC: the cube of the time since a loss, HyStart at the end of slow start (RFC 9438, RFC 9406)."""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp.controls import Control, cbrt, where
from dtnsim.physics.tcp.response import aimd_window, arrays

C, BETA, CONVERGENCE = linux.CUBIC_C, linux.CUBIC_BETA, linux.CUBIC_FAST_CONVERGENCE
FIRST, MOST = linux.CUBIC_FIRST_GROWTH, linux.CUBIC_MOST_GROWTH


def cubic(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, _rate_Bps: ArrayLike = np.inf) -> FloatArray:
    """CUBIC of RFC 9438: the larger of its Reno-friendly and its cubic mean window, over T.

    E[W_cubic] = (C (3 + beta) / (4 (1 - beta)))^(1/4) (T / p)^(3/4), E[W_est] = sqrt(3 / (2 p)).

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Goodput of one stream [B/s]; inf where loss is 0.

    Valid: p from 1e-9 to 1e-2.
    Neglects: fast convergence (which lowers it under random loss), timeouts.
    Source: RFC 9438 section 5.1, equations 5 and 6, tables 1 and 2.
    """
    p, rtt, mss = arrays(loss, rtt_s, mss_B)
    k = (C * (3 + BETA) / (4 * (1 - BETA))) ** 0.25
    with np.errstate(divide="ignore"):
        window = np.maximum(k * (rtt / p) ** 0.75, aimd_window(p))
    return np.asarray(mss / rtt * window, float)


def growth(_window: float, _since: float, _least: float, _beta: float, _delay: float, _most: float) -> float:
    """8/15 segments a round trip in its Reno-friendly region, the least of it; the rest follows from `cube`, `gain`.

    Source: RFC 9438, section 4.3: 3 (1 - beta) / (1 + beta) with beta = 0.7 is 9/17; the kernel's own beta_scale, 8/15.
    """
    return linux.CUBIC_FRIENDLY


def kept(_window: float, _least: float, _delay: float, _most: float) -> float:
    """717/1024 (net/ipv4/tcp_cubic.c: beta)."""
    return BETA


def plateau(top: float, window: float) -> tuple[float, float]:
    """Time K from the recovery's end to the plateau [s], and the plateau [segments]: RFC 9438 section 4.2."""
    return cbrt(max(top - window, 0.0) / C), max(top, window)


def cube(origin: float, past: float) -> float:
    """Window so long after the plateau, before it where negative [segments]: W = origin + C t^3."""
    return origin + C * past * past * past


def gain(window: float, target: float, top: float, least: float) -> float:
    """Segments a round trip towards a target: half a window at most, a twentieth at least before the first loss.

    Args:
        window: Congestion window [segments].
        target: Where it is to be a round trip from now [segments].
        top: Window before the last loss; 0 before the first [segments].
        least: Least growth [segments].

    Source: net/ipv4/tcp_cubic.c: bictcp_update (cnt of 2 at least, of 20 at most before the first loss).
    """
    towards = min(max(target - window, least), MOST * window)
    return where(top == 0.0, max(towards, FIRST * window), towards)


def climb(window: float, origin: float, past: float, friendly: float, top: float, least: float) -> float:
    """Segments that a window gains in the coming round trip, ``past`` the plateau at its end [s]: cube or Reno's rate.

    Args:
        window: Congestion window [segments].
        origin: The plateau [segments].
        past: Time after the plateau when the round trip is over; negative before [s].
        friendly: Window that Reno would have by then [segments].
        top: Window before the last loss; 0 before the first [segments].
        least: Least growth [segments].

    Returns:
        Segments a round trip [1].

    Valid: congestion avoidance.
    Neglects: that the kernel updates its target 32 times a second at most.
    Source: net/ipv4/tcp_cubic.c: bictcp_update; RFC 9438 sections 4.2 to 4.4.
    """
    return gain(window, max(cube(origin, past), friendly), top, least)


def new_top(window: float, top: float) -> float:
    """Where the next plateau lies: lower where the window had not come back to the last one (fast convergence)."""
    return where(window < top, CONVERGENCE * window, window)


def hystart_delay(rtt_s: float) -> float:
    """Rise of the round-trip time that ends slow start: clamp(T / 8, 4 ms, 16 ms) [s].

    Args:
        rtt_s: Least round-trip time [s].

    Returns:
        Threshold [s].

    Valid: CUBIC with HyStart (on by default).
    Neglects: that eight samples must show it.
    Source: net/ipv4/tcp_cubic.c: HYSTART_DELAY_THRESH; RFC 9406.
    """
    return min(max(rtt_s / 8, linux.HYSTART_DELAY_S[0]), linux.HYSTART_DELAY_S[1])


JUDGED = "tcp-truth: pairs of cubic and bbr, of unequal round trips"
#: Linux: net/ipv4/tcp_cubic.c; FreeBSD: release notes of 9.0 (modular congestion control)
SINCE = {"linux": ("2.6.13", 2006), "freebsd": ("9", 2012)}
CONTROLS = (Control("cubic", cubic, JUDGED, growth, kept, clocked=True, cube=True, offered=True, since=SINCE),)
