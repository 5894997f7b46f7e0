"""Where the closed forms are not valid, and what the round model says there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from dtnsim.physics.tcp import coefficients as known
from dtnsim.physics.tcp import linux, path

#: CUBIC keeps whole segments and adds half of one a round trip: below so many the continuous sawtooth is 10 to 20 %
#: too high (measured at 1 % loss: 0.85 of Mathis' formula, Reno 0.90) [segments]
FEW_SEGMENTS: Final = 20.0
_LOSS_BASED: Final = ("reno", "cubic", "htcp")
#: range of the rounds
MOST_LOSS: Final = 0.1
LEAST_RTT_S: Final = 1e-4
#: a steady run: round trips before it, a fifth of its length
SETTLE_TRIPS: Final = 200.0
REPLICAS: Final = 16
STEPS: Final = 400


@dataclass(frozen=True, slots=True)
class Scale:
    """What the round model says of a response function that is not valid.

    Attributes:
        factor: Goodput of the rounds over that of the closed form [1].
        spread: Relative standard deviation of single runs [1].
    """

    factor: float
    spread: float


def bursts_fit(
    goodput_Bps: float, *, rate_Bps: float, rtt_s: float, mss_B: float, mtu_B: float, buffer_B: float, streams: int,
    cc: str, line_Bps: float = np.inf,
) -> bool:  # fmt: skip
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
        cc: One of `path.ALGORITHMS`.
        line_Bps: Rate at which a sender's bursts reach the bottleneck [B/s].

    Returns:
        True for BBR, which does not take the losses for congestion.

    Valid: everywhere.
    Neglects: bursts of several streams that meet.
    Source: net/ipv4/tcp_output.c (`linux.burst_segments`); coefficient `BURST_MARGIN`.
    """
    if cc not in _LOSS_BASED or not np.isfinite(buffer_B) or goodput_Bps <= 0:
        return True
    share = goodput_Bps / streams / mss_B
    burst = float(linux.burst_segments(share, rtt_s, mss_B, share * rtt_s, linux.PACING_AVOIDANCE))
    queued = burst * max(1 - rate_Bps / line_Bps, 0.0)
    return queued + known.BURST_MARGIN.value <= max(buffer_B / mtu_B, 2.0) or queued == 0


def loss_scale(*, loss: float, rtt_s: float, mss_B: float = 1448.0, cc: str = "cubic") -> Scale | None:
    """What a stream reaches of its response function where its window holds few segments; None where all.

    One run of the round model over a link that never limits, at the nearest of eight losses and round trips a
    decade, answered from memory the second time.

    Args:
        loss: Random loss [1].
        rtt_s: Base round-trip time [s].
        mss_B: Payload of a segment [B].
        cc: One of `path.ALGORITHMS`.

    Returns:
        Factor and spread, or None.

    Valid: losses up to 10 %; beyond, timeouts rule, which the rounds leave out.
    Neglects: timeouts.
    Source: `rounds`.
    """
    if cc != "cubic" or not 0 < loss < 1:
        return None
    window = float(path.stream_limit(cc, loss, rtt_s, 1.0, np.inf)) * rtt_s
    if window >= FEW_SEGMENTS:
        return None
    return _scale(round(8 * np.log10(min(loss, MOST_LOSS))), round(8 * np.log10(max(rtt_s, LEAST_RTT_S))), float(mss_B))


@lru_cache(maxsize=4096)
def _scale(loss_step: int, rtt_step: int, mss_B: float) -> Scale:
    from dtnsim.physics.tcp import rounds

    loss, rtt = 10 ** (loss_step / 8), 10 ** (rtt_step / 8)
    closed = float(path.stream_limit("cubic", loss, rtt, mss_B, np.inf))
    case = rounds.Cases.of(
        rate_Bps=100 * closed, rtt_s=rtt, loss=loss, mss_B=mss_B, mtu_B=mss_B + 52, warmup_s=SETTLE_TRIPS * rtt,
        duration_s=5 * SETTLE_TRIPS * rtt,
    )  # fmt: skip
    runs = rounds.run_windows(case, REPLICAS, 1, np.zeros(0), STEPS).goodput_Bps[0]
    mean = float(runs.mean())
    return Scale(min(mean / closed, 1.0), float(np.hypot(runs.std() / mean, known.SPREAD_LOSS.value)))
