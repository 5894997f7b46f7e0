"""Who gets what at a shared bottleneck: unequal round trips, unequal numbers, BBR against loss-based."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

#: Share of a flow ~ 1/T^a at a common queue. Reno: a = 1 with random, up to 2 with synchronised losses
#: (Lakshman and Madhow 1997); CUBIC: its growth is in time, not rounds, a near 1 with synchronised
#: losses; BBR v1 favours the longer path (a < 0). Priors with wide spread.
RTT_EXPONENT: Final = {"reno": 1.0, "cubic": 1.0, "htcp": 1.0, "bbr": -1.0, "bbr3": 0.0}


def rtt_shares(rtts_s: ArrayLike, exponent: float = 1.0, weights: ArrayLike = 1.0) -> FloatArray:
    """Shares of flows at one bottleneck: s_i = w_i T_i^-a / sum.

    Args:
        rtts_s: Round-trip times along the last axis, common queueing included [s].
        exponent: a.
        weights: Streams of each transfer.

    Returns:
        Shares that sum to 1 along the last axis [1].

    Valid: all flows limited by the same queue and of the same algorithm.
    Neglects: how the losses fall on the flows.
    Source: Lakshman and Madhow 1997.
    """
    pull = np.asarray(weights, float) * np.asarray(rtts_s, float) ** -exponent
    return np.asarray(pull / pull.sum(axis=-1, keepdims=True), float)


def bbr_share(buffer_bdp: ArrayLike, bdp_segments: ArrayLike, bbr_flows: ArrayLike = 1) -> FloatArray:
    """Share that BBR v1 flows take from any number of long loss-based flows at a drop-tail queue.

    BBR is held by its cap of 2 BDP; loss-based flows fill what is left of the queue:
    loss-based share = 1/2 - 1/(2 X) - 4 N / q, X buffer in BDP, q buffer in segments.

    Args:
        buffer_bdp: Buffer over bandwidth-delay product [1].
        bdp_segments: Bandwidth-delay product [segments].
        bbr_flows: Number of BBR flows.

    Returns:
        Share of BBR, 0..1 [1].

    Valid: buffers over one BDP; below, BBR takes nearly all (the formula is clipped at 1).
    Neglects: ProbeRTT time, equal-RTT assumption.
    Source: Ware, Mukerjee, Seshan, Sherry, IMC 2019, equation 5.
    """
    x = np.maximum(np.asarray(buffer_bdp, float), 1e-9)
    queue = np.maximum(x * np.asarray(bdp_segments, float), 1e-9)
    loss_based = 0.5 - 0.5 / x - 4 * np.asarray(bbr_flows, float) / queue
    return np.asarray(1 - np.clip(loss_based, 0.0, 1.0), float)
