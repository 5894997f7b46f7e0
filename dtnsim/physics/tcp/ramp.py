"""Slow start: how long the ramp lasts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import linux


def slow_start_time(
    window_B: ArrayLike,
    rtt_s: ArrayLike,
    mss_B: ArrayLike,
    growth: float = 2.0,
    initial: float = linux.INITIAL_WINDOW,
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
