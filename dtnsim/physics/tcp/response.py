"""Response functions: the rate of one stream on a path that loses packets at random; slow start.

Every function takes the loss probability, the round-trip time and the segment size and gives the
goodput of one stream in payload bytes a second, for a path whose capacity never binds. Arguments
broadcast. `loss = 0` gives `inf` for loss-based algorithms: then the window, the buffer or the link
decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, together
from dtnsim.physics.tcp import linux


def arrays(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Loss, round trip and segment as arrays of one shape.

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].
    """
    p, rtt, mss = together(loss, rtt_s, mss_B)
    return np.clip(p, 0.0, 1.0), rtt, mss


def aimd_window(loss: ArrayLike, alpha: ArrayLike = 1.0, beta: ArrayLike = 0.5) -> FloatArray:
    """Mean window of additive increase, multiplicative decrease under random loss.

    E[W] = sqrt(alpha (1 + beta) / (2 (1 - beta) p)).

    Args:
        loss: Loss events per segment [1].
        alpha: Growth per round trip [segments].
        beta: Window kept after a loss [1].

    Returns:
        Mean window [segments]; inf where loss is 0.

    Valid: p from 1e-9 to about 1e-2, a periodic sawtooth, an acknowledgment for each segment.
    Neglects: timeouts (for which `controls.reno` has a term), the window's own limits, the spread of the loss gaps.
    Source: RFC 9438 section 5.1 (eq. 3 and 4); Floyd, Handley and Padhye 2000.
    """
    p = np.clip(np.asarray(loss, float), 0.0, 1.0)
    a, b = np.asarray(alpha, float), np.asarray(beta, float)
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(a * (1 + b) / (2 * (1 - b) * p)), float)


def slow_start_time(window_B: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike) -> FloatArray:
    """Time from the first segment until the window is reached: T log2(W / IW).

    Args:
        window_B: Window that the steady state needs, rate x RTT [B].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Time [s], 0 where the initial window is enough.

    Valid: no loss and no early exit (HyStart) in the ramp; Linux, whose slow start counts segments (RFC 3465).
    Neglects: handshake, HyStart's slower climb (see `rounds`).
    Source: RFC 5681, RFC 6928.
    """
    ratio = np.asarray(window_B, float) / (linux.INITIAL_WINDOW * np.asarray(mss_B, float))
    return np.asarray(np.asarray(rtt_s, float) * np.log(np.maximum(ratio, 1.0)) / np.log(2.0), float)
