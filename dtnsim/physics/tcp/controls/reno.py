"""Reno: half the window goes at a loss, one segment a round trip comes back."""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp.controls import Control
from dtnsim.physics.tcp.response import aimd_window, arrays


def reno(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, _rate_Bps: ArrayLike = np.inf) -> FloatArray:
    """Reno while losses are repaired by SACK: X = M / (T sqrt(2 p / 3)).

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Goodput of one stream [B/s]; inf where loss is 0.

    Valid: p from 1e-9 to 0.01; above with `response.with_timeouts`.
    Neglects: timeouts.
    Source: Mathis, Semke, Mahdavi, Ott 1997; RFC 6675 and RFC 8985 for the repair.
    """
    p, rtt, mss = arrays(loss, rtt_s, mss_B)
    return np.asarray(mss / rtt * aimd_window(p), float)


def growth(_window: float, _since: float, _least: float, _beta: float, _delay: float, _most: float) -> float:
    """One segment a round trip (RFC 5681)."""
    return 1.0


def kept(_window: float, _least: float, _delay: float, _most: float) -> float:
    """Half (RFC 5681)."""
    return linux.RENO_BETA


CONTROLS = (Control("reno", reno, "tcp-truth: pairs of reno and bbr, of unequal round trips", growth, kept),)
