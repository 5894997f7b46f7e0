"""TCP Illinois: loss says when to cut, the queue's delay says how fast to grow and how much to keep."""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp.controls import Control, where
from dtnsim.physics.tcp.response import aimd_window, arrays

SLOW, QUICK = linux.ILLINOIS_ALPHA
FEW, MANY = linux.ILLINOIS_CUT
SMALL, RENO_BETA = linux.ILLINOIS_WINDOW, linux.RENO_BETA


def illinois(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, _rate_Bps: ArrayLike = np.inf) -> FloatArray:
    """Illinois as additive increase, multiplicative decrease without queueing: 10 and 7/8, as Reno below 15 segments.

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Goodput of one stream [B/s]; inf where loss is 0.

    Valid: p from 1e-9 to 1e-2; a path that random loss keeps from queueing.
    Neglects: timeouts.
    Source: net/ipv4/tcp_illinois.c (`linux`); `aimd_window`.
    """
    p, rtt, mss = arrays(loss, rtt_s, mss_B)
    window = aimd_window(p, QUICK, 1 - FEW)
    window = np.where(window < SMALL, np.minimum(aimd_window(p), window), window)
    return np.asarray(mss / rtt * window, float)


def growth(window: float, _since: float, _least: float, _beta: float, delay: float, most: float) -> float:
    """TCP Illinois adds 10 segments a round trip without queue, 0.3 at a full one; Reno's at small windows.

    Args:
        window: Congestion window [segments].
        delay: Mean queueing delay [s].
        most: Largest seen [s].

    Returns:
        Segments a round trip [1].

    Valid: windows of 15 segments and more.
    Neglects: the five good round trips that it waits for after congestion.
    Source: net/ipv4/tcp_illinois.c: alpha; Liu, Basar and Srikant 2008.
    """
    low = most / 100
    span = max(most - low, 1e-30)
    wide = span * QUICK / (span + max(delay - low, 0.0) * (QUICK - SLOW) / SLOW)
    return where(window >= SMALL, wide, 1.0)


def kept(window: float, _least: float, delay: float, most: float) -> float:
    """TCP Illinois keeps 7/8 of its window below a tenth of the largest delay, 1/2 above eight tenths.

    Args:
        window: Congestion window [segments].
        delay: Mean queueing delay [s].
        most: Largest seen [s].

    Returns:
        Share [1].

    Valid: windows of 15 segments and more; below, Reno's.
    Neglects: as `growth`.
    Source: net/ipv4/tcp_illinois.c: beta; Liu, Basar and Srikant 2008.
    """
    part = delay / max(most, 1e-30)
    return where(window >= SMALL, 1 - min(max(FEW + (MANY - FEW) * (part - 0.1) / 0.7, FEW), MANY), RENO_BETA)


CONTROLS = (Control("illinois", illinois, "", growth, kept),)
