"""TCP Westwood+: Reno that goes on with its estimate of what is in flight."""

from math import expm1, floor

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp.controls import Control, reno
from dtnsim.physics.tcp.response import aimd_window, arrays

SAMPLES, SAMPLE_S, BETA = linux.WESTWOOD_SAMPLES, linux.WESTWOOD_SAMPLE_S, linux.WESTWOOD_BETA


def westwood(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, _rate_Bps: ArrayLike = np.inf) -> FloatArray:
    """Westwood as additive increase, multiplicative decrease without queueing: 1 segment a round trip, 0.95 kept.

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Goodput of one stream [B/s]; inf where loss is 0.

    Valid: p from 1e-9 to 1e-2; a path that random loss keeps from queueing.
    Neglects: timeouts; that its filter takes 15 round trips to follow.
    Source: net/ipv4/tcp_westwood.c (`linux`); `aimd_window`.
    """
    p, rtt, mss = arrays(loss, rtt_s, mss_B)
    return np.asarray(mss / rtt * aimd_window(p, 1.0, BETA), float)


def filtered(estimate: float, sample: float, wait: float, trip: float) -> float:
    """Westwood's estimate of what is in flight at its least round trip, after ``wait`` of samples [segments].

    Args:
        estimate: Estimate before [segments].
        sample: What passed, for a least round trip [segments].
        wait: Time of the samples [s].
        trip: Round trip [s].

    Source: net/ipv4/tcp_westwood.c: westwood_do_filter, two filters of 7/8 in series, a sample a round trip or 50 ms.
    """
    return estimate - (sample - estimate) * expm1(-wait / max(trip, SAMPLE_S) / SAMPLES)


def returned(estimate: float) -> float:
    """Window that a recovery ends with: whole segments of the estimate, two at least."""
    return max(floor(estimate), 2.0)


CONTROLS = (Control("westwood", westwood, "", reno.growth, reno.kept, settles=BETA, estimates=True),)
