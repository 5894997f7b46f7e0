"""Closed form or round model: which of them is valid for a transfer, and what the rounds say where it is they."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from dtnsim.physics.tcp import coefficients as known
from dtnsim.physics.tcp import linux, path, rounds

#: windows smaller than this hold too few segments for a continuous sawtooth [segments]
FEW_SEGMENTS: Final = 10.0
#: the closed forms' own limit [1]
MOST_LOSS: Final = 0.05
#: a steady run: seconds and round trips before it, and its length in either
SETTLE_S: Final = 20.0
SETTLE_TRIPS: Final = 200.0
REPLICAS: Final = 8
STEPS: Final = 400


@dataclass(frozen=True, slots=True)
class Correction:
    """What the round model says of a transfer whose closed form is not valid.

    Attributes:
        factor: Goodput of the rounds over that of the closed form [1].
        spread: Relative standard deviation of single runs [1].
        why: Why the closed form is not valid, for people.
    """

    factor: float
    spread: float
    why: str


def why_rounds(
    *, rate_Bps: float, rtt_s: float, loss: float = 0.0, mss_B: float = 1448.0, mtu_B: float = 1500.0,
    buffer_B: float = np.inf, streams: int = 1, cc: str = "cubic", window_B: float = np.inf,
    line_Bps: float = np.inf,
) -> str:  # fmt: skip
    """Why the closed form of a transfer is not valid; "" where it is.

    Args:
        rate_Bps: Rate of the bottleneck in IP bytes [B/s].
        rtt_s: Base round-trip time [s].
        loss: Random loss of the data direction [1].
        mss_B: Payload of a segment [B].
        mtu_B: IP packet that carries it [B].
        buffer_B: Drop-tail buffer at the bottleneck [B].
        streams: Parallel streams.
        cc: One of `path.ALGORITHMS`.
        window_B: Most payload in flight a stream may have [B].
        line_Bps: Rate at which a sender's bursts reach the bottleneck [B/s].

    Returns:
        The reason: bursts that the buffer cannot take, windows of few segments, losses past the closed forms'
        range, or H-TCP under random loss (its closed form is for periodic loss; its growth is so convex that
        random gaps give a third more).

    Valid: everywhere.
    Neglects: BBR, whose rounds go by the closed forms themselves, and windows that hold the rate: W/T is exact.
    Source: tcp_tso_autosize (`linux.burst_segments`) for the bursts; the valid range of `path.path_goodput`.
    """
    if cc not in rounds.LOSS_BASED:
        return ""
    closed, limit = path.path_goodput(
        rate_Bps=rate_Bps, rtt_s=rtt_s, loss=loss, mss_B=mss_B, mtu_B=mtu_B, buffer_B=buffer_B, streams=streams,
        cc=cc, window_B=window_B,
    )  # fmt: skip
    flight = float(closed) / streams * rtt_s / mss_B
    room = buffer_B / mtu_B
    burst = float(linux.burst_segments(float(closed) / streams / mss_B, rtt_s, mss_B, flight, linux.PACING_AVOIDANCE))
    if burst * max(1 - rate_Bps / line_Bps, 0.0) + known.BURST_MARGIN.value > max(room, 2.0):
        return "the sender's bursts do not fit the buffer"
    if limit == "window":
        return ""
    if loss > MOST_LOSS:
        return "so many losses that timeouts rule"
    if limit in ("loss", "buffer") and flight < FEW_SEGMENTS:
        return "windows of a few segments"
    if cc == "htcp" and limit == "loss":
        return "H-TCP under random loss"
    return ""


def correction(
    *, rate_Bps: float, rtt_s: float, loss: float = 0.0, mss_B: float = 1448.0, mtu_B: float = 1500.0,
    buffer_B: float = np.inf, streams: int = 1, cc: str = "cubic", window_B: float = np.inf,
    line_Bps: float = np.inf,
) -> Correction | None:  # fmt: skip
    """What to multiply the closed form by where it is not valid; None where it is.

    One run of the round model at the given (median) values, answered from memory the second time: scenarios
    around them are scaled.

    Args:
        rate_Bps: Rate of the bottleneck in IP bytes [B/s].
        rtt_s: Base round-trip time [s].
        loss: Random loss of the data direction [1].
        mss_B: Payload of a segment [B].
        mtu_B: IP packet that carries it [B].
        buffer_B: Drop-tail buffer at the bottleneck [B].
        streams: Parallel streams.
        cc: One of `path.ALGORITHMS`.
        window_B: Most payload in flight a stream may have [B].
        line_Bps: Rate at which a sender's bursts reach the bottleneck [B/s].

    Returns:
        Factor, spread and reason, or None.

    Valid: as `outcome.simulate`.
    Neglects: that the factor differs between the scenarios of one interval.
    Source: `rounds`.
    """
    return _correction(
        float(rate_Bps), float(rtt_s), float(loss), float(mss_B), float(mtu_B), float(buffer_B), int(streams), str(cc),
        float(window_B), float(line_Bps),
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _correction(
    rate_Bps: float, rtt_s: float, loss: float, mss_B: float, mtu_B: float, buffer_B: float, streams: int, cc: str,
    window_B: float, line_Bps: float,
) -> Correction | None:  # fmt: skip
    why = why_rounds(
        rate_Bps=rate_Bps, rtt_s=rtt_s, loss=loss, mss_B=mss_B, mtu_B=mtu_B, buffer_B=buffer_B, streams=streams,
        cc=cc, window_B=window_B, line_Bps=line_Bps,
    )  # fmt: skip
    if not why:
        return None
    closed, _ = path.path_goodput(
        rate_Bps=rate_Bps, rtt_s=rtt_s, loss=loss, mss_B=mss_B, mtu_B=mtu_B, buffer_B=buffer_B, streams=streams,
        cc=cc, window_B=window_B,
    )  # fmt: skip
    long = max(SETTLE_S, SETTLE_TRIPS * rtt_s)
    case = rounds.Cases.of(
        rate_Bps=rate_Bps, rtt_s=rtt_s, loss=loss, mss_B=mss_B, mtu_B=mtu_B, buffer_B=min(buffer_B, 1e3 * rate_Bps),
        streams=streams, cc=cc, window_B=window_B, line_Bps=line_Bps, warmup_s=long, duration_s=long,
    )  # fmt: skip
    runs = rounds.run_windows(case, REPLICAS, 1, np.zeros(0), STEPS).goodput_Bps[0]
    mean = float(runs.mean())
    chance = float(runs.std()) / mean if mean > 0 else 0.0
    spread = float(np.hypot(chance, known.SPREAD_LOSS.value))
    return Correction(mean / float(closed) if closed > 0 else 1.0, spread, why)
