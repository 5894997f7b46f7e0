"""Transfers with random loss that are over before their streams settle: the round model says how fast they are.

A steady sawtooth is reached after some losses; a transfer that meets few of them is mostly its start: faster than the
sawtooth where it meets none, and of very different length from run to run.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from dtnsim.ground.records import Connection

#: losses of a stream that bring its sawtooth about
SETTLED: Final = 10.0
#: 10 % and 90 % quantiles of a normal distribution are so many standard deviations apart
_TENTHS: Final = 2.563
_LOSS_BASED: Final = ("reno", "cubic", "htcp")


def applies(streams: Connection, moved_B: float) -> bool:
    """Whether streams that move so many bytes in all meet losses, but too few to settle."""
    lost = float(np.median(streams.loss)) * moved_B / streams.mss_B / streams.streams
    return streams.cc in _LOSS_BASED and not streams.reopened and 0 < lost < SETTLED


def goodput(streams: Connection, moved_B: float, window_B: float) -> tuple[float, float]:
    """(goodput from the first byte on [B/s], spread from run to run [1]) of all streams together.

    Args:
        streams: The streams.
        moved_B: Bytes of all of them [B].
        window_B: Window above TCP of each stream, inf without [B].
    """
    window = min(float(np.median(streams.window_B)), window_B)
    figures = (streams.rate_Bps, streams.rtt_s, streams.buffer_B, streams.loss)
    rate, rtt, buffer, loss = (_rounded(float(np.median(v))) for v in figures)
    return _run(
        rate, rtt, buffer, loss, _rounded(window), streams.mtu_B, streams.streams, streams.cc, _rounded(moved_B)
    )


def _rounded(value: float) -> float:
    return float(f"{value:.3g}") if math.isfinite(value) else value


@lru_cache(maxsize=512)
def _run(
    rate: float, rtt: float, buffer: float, loss: float, window: float, mtu: float, streams: int, cc: str, size: float
) -> tuple[float, float]:
    from dtnsim.physics.tcp import outcome, rounds

    case = rounds.Cases.of(
        rate_Bps=rate, rtt_s=rtt, buffer_B=min(buffer, 10 * rate * rtt), loss=loss, window_B=window, mtu_B=mtu,
        streams=streams, cc=cc, size_B=size, paced=False,
    )  # fmt: skip
    found = outcome.simulate(case, seed=1)
    set_up = rounds.SET_UP * rtt
    seconds = [size / float(g[0]) for g in (found.goodput_p90_Bps, found.goodput_p50_Bps, found.goodput_p10_Bps)]
    low, middle, high = (max(s - set_up, 0.1 * s) for s in seconds)
    return size / middle, math.log(high / low) / _TENTHS
