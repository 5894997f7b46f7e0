"""A drop-tail bottleneck: what its buffer costs a sawtooth, and what sender bursts need."""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.network import needed_buffer
from dtnsim.physics.tcp import coefficients as known, controls, linux
from dtnsim.physics.tcp.setting import Setting


def sawtooth_utilisation(buffer_bdp: ArrayLike, beta: ArrayLike = 0.5) -> FloatArray:
    """Utilisation of one AIMD flow that fills a drop-tail buffer of b bandwidth-delay products.

    The window sweeps beta (1 + b) to (1 + b) BDP at a constant rate a round. While it is below one BDP
    the link is not full. With w = beta (1 + b) < 1 and top t = 1 + b, the part below 1 lasts (1 - w)
    rounds at window/BDP and the part above drains at the full rate, each round 1 x window long:
    u = ((1 - w^2)/2 + (t^2 - 1)/2) / ((1 - w) + (t^2 - 1)/2).

    Args:
        buffer_bdp: Buffer over bandwidth-delay product [1].
        beta: Window kept after a loss [1].

    Returns:
        Utilisation [1].

    Valid: windows of ten segments and more, linear growth, one loss event a sawtooth.
    Neglects: bursts against absolute sizes, slow-start overshoot, CUBIC's plateau.
    Source: derived; b = 0 gives (1 + beta)/2, b >= (1 - beta)/beta gives 1 (Appenzeller et al. 2004).
    """
    b = np.maximum(np.asarray(buffer_bdp, float), 0.0)
    kept = np.asarray(beta, float)
    b = np.minimum(b, 1e6)
    low = np.minimum(kept * (1 + b), 1.0)
    above = ((1 + b) ** 2 - 1) / 2
    return np.asarray(((1 - low**2) / 2 + above) / np.maximum((1 - low) + above, 1e-300), float)


def streams_utilisation(single: ArrayLike, streams: ArrayLike) -> FloatArray:
    """Utilisation of n equal flows, losses of one of which are filled by the others: 1 - 1/(1 + c n), c = u1/(1 - u1).

    Args:
        single: Utilisation u1 of a single flow [1].
        streams: Number n of flows.

    Returns:
        Utilisation [1].

    Valid: up to about 20 equal flows.
    Neglects: smaller buffers per flow; losses that all flows meet together, which leave u1.
    Source: Altman, Barman, Tuffin, Vojnovic 2006: X/C = 1 - 1/(1 + c N), c = (1 + beta)/(1 - beta).
    """
    u, n = np.asarray(single, float), np.asarray(streams, float)
    return np.asarray(n * u / (n * u + (1 - u)), float)


def bursts_fit(goodput_Bps: float, s: Setting) -> bool:
    """Whether the bottleneck's buffer takes the bursts that segmentation offload makes.

    Where it does not, loss-based streams lose at any window whose bursts are too large, and the closed forms are
    far too high (measured 58 of 100 Mb/s at 10 ms with eight packets of buffer; sawtooth alone: 92).

    Args:
        goodput_Bps: Goodput of all streams in closed form [B/s].
        s: The streams and their bottleneck.

    Returns:
        True for BBR, which does not take the losses for congestion.

    Valid: everywhere.
    Neglects: bursts of several streams that meet.
    Source: net/ipv4/tcp_output.c (`linux.burst_segments`); coefficient `BURST_MARGIN`.
    """
    if not controls.find(s.cc).by_loss or not np.isfinite(s.buffer_B) or goodput_Bps <= 0:
        return True
    share = goodput_Bps / s.streams / s.mss_B
    burst = float(linux.burst_segments(share, s.rtt_s, s.mss_B, share * s.rtt_s, linux.PACING_AVOIDANCE))
    queued = float(needed_buffer(burst, s.line_Bps, s.rate_Bps))
    return bool(queued + known.BURST_MARGIN.value <= max(s.buffer_B / s.mtu_B, 2.0) or queued == 0)
