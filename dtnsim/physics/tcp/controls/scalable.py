"""Scalable TCP: growth and cut in proportion to the window (Kelly 2003)."""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp.controls import Control
from dtnsim.physics.tcp.response import aimd_window, arrays

COUNT, BETA = linux.SCALABLE_COUNT, linux.SCALABLE_BETA


def scalable(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, _rate_Bps: ArrayLike = np.inf) -> FloatArray:
    """Scalable TCP: 0.01 segments for each acknowledged, an eighth less at a loss; Reno's growth under 100 segments.

    W = 0.08/p where growth is proportional, sqrt((1 + beta) / (2 (1 - beta) p)) below.

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Goodput of one stream [B/s]; inf where loss is 0.

    Valid: p from 1e-9 to 1e-2.
    Neglects: timeouts.
    Source: Kelly 2003; net/ipv4/tcp_scalable.c.
    """
    p, rtt, mss = arrays(loss, rtt_s, mss_B)
    with np.errstate(divide="ignore"):
        wide = 1 / (COUNT * (1 - BETA) * p)
    return np.asarray(mss / rtt * np.maximum(wide, aimd_window(p, 1.0, BETA)), float)


def growth(window: float, _since: float, _least: float, _beta: float, _delay: float, _most: float) -> float:
    """A segment for every hundred that are acknowledged; Reno's under 100 segments (net/ipv4/tcp_scalable.c)."""
    return max(window / COUNT, 1.0)


def kept(_window: float, _least: float, _delay: float, _most: float) -> float:
    """Seven eighths (net/ipv4/tcp_scalable.c)."""
    return BETA


CONTROLS = (Control("scalable", scalable, "", growth, kept),)
