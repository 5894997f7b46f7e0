"""Whether a bottleneck's buffer takes what a sender hands down in one piece."""

from __future__ import annotations

import numpy as np

from dtnsim.physics.tcp import coefficients as known
from dtnsim.physics.tcp import controls, linux


def bursts_fit(
    goodput_Bps: float,
    *,
    rate_Bps: float,
    rtt_s: float,
    mss_B: float,
    mtu_B: float,
    buffer_B: float,
    streams: int,
    cc: str,
    line_Bps: float = np.inf,
) -> bool:
    """Whether the bottleneck's buffer takes the bursts that segmentation offload makes.

    Where it does not, loss-based streams lose at any window whose bursts are too large, and the closed forms are
    far too high (measured 58 of 100 Mb/s at 10 ms with eight packets of buffer; sawtooth alone: 92).

    Args:
        goodput_Bps: Goodput of all streams in closed form [B/s].
        rate_Bps: Rate of the bottleneck in IP bytes [B/s].
        rtt_s: Base round-trip time [s].
        mss_B: Payload of a segment [B].
        mtu_B: IP packet that carries it [B].
        buffer_B: Drop-tail buffer at the bottleneck [B].
        streams: Parallel streams.
        cc: One of `controls`.
        line_Bps: Rate at which a sender's bursts reach the bottleneck [B/s].

    Returns:
        True for BBR, which does not take the losses for congestion.

    Valid: everywhere.
    Neglects: bursts of several streams that meet.
    Source: net/ipv4/tcp_output.c (`linux.burst_segments`); coefficient `BURST_MARGIN`.
    """
    if not controls.find(cc).by_loss or not np.isfinite(buffer_B) or goodput_Bps <= 0:
        return True
    share = goodput_Bps / streams / mss_B
    burst = float(linux.burst_segments(share, rtt_s, mss_B, share * rtt_s, linux.PACING_AVOIDANCE))
    queued = burst * max(1 - rate_Bps / line_Bps, 0.0)
    return queued + known.BURST_MARGIN.value <= max(buffer_B / mtu_B, 2.0) or queued == 0
