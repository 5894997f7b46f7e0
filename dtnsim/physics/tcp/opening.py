"""The opening of a connection in time: its goodput round trip by round trip until it is steady, by the round model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dtnsim.physics.tcp import linux, rounds

FloatArray = NDArray[np.float64]

#: edges one round trip apart, and how much longer each later interval is than the one before
ROUNDS: Final = 32
STRETCH: Final = 1.15
#: longest time that is looked at [s], and least [round trips]
HORIZON_S: Final = 300.0
HORIZON_TRIPS: Final = 200.0
#: the opening is over when no more than this share of what it costs is still to come
SETTLED: Final = 0.05
REPLICAS: Final = 8
STEPS: Final = 400


@dataclass(frozen=True, slots=True, eq=False)
class Opening:
    """How a transfer opens up: a step function of time, then the steady rate.

    Attributes:
        times_s: Edges from connect(), the first is 0, one round trip apart at first (k + 1,) [s].
        rates_Bps: Goodput of all streams at the receiver between the edges, mean of runs (k,) [B/s].
        steady_Bps: Goodput after the last edge [B/s].
    """

    times_s: FloatArray
    rates_Bps: FloatArray
    steady_Bps: float

    @property
    def deficit_B(self) -> float:
        """What the opening delivers less than the steady rate would; negative where slow start overshoots loss [B]."""
        return float((np.diff(self.times_s) * (self.steady_Bps - self.rates_Bps)).sum())

    @property
    def delay_s(self) -> float:
        """Time that the opening costs a long transfer [s]."""
        return self.deficit_B / self.steady_Bps if self.steady_Bps > 0 else 0.0

    def delivered_B(self, time_s: float) -> float:
        """Bytes delivered `time_s` after connect() [B]."""
        spans = np.clip(time_s - self.times_s[:-1], 0.0, np.diff(self.times_s))
        return float(spans @ self.rates_Bps) + max(time_s - float(self.times_s[-1]), 0.0) * self.steady_Bps


def opening(
    *, rate_Bps: float, rtt_s: float, buffer_B: float | None = None, loss: float = 0.0, mtu_B: float = 1500.0,
    mss_B: float | None = None, streams: int = 1, cc: str = "cubic", window_B: float = np.inf,
    background: float = 0.0, paced: bool = True, seed: int = 1,
) -> Opening:  # fmt: skip
    """The ramp of a transfer: slow start with HyStart, its overshoot and repair, the climb to the steady rate.

    To use it in a simulation whose engine shares rates among transfers: cap the transfer at `rates_Bps[i]` from
    `times_s[i]` to `times_s[i + 1]` after its connect(), then at `steady_Bps` (or take the cap off where the engine
    knows the steady limit); `rate_Bps` is the narrowest place of the route. With few rates wanted, merge
    neighbours. Where only the cost matters, add `delay_s` to the duration. The first 1.5 round trips (handshake
    and the way of the first bytes) have rate 0; a connection that is open already starts at that edge.
    Calls with the same values are answered from memory.

    Args:
        rate_Bps: Bottleneck in IP bytes [B/s].
        rtt_s: Base round-trip time [s].
        buffer_B: Drop-tail buffer; None: one bandwidth-delay product [B].
        loss: Random loss of the data direction [1].
        mtu_B: IP packet [B].
        mss_B: Its payload; None: MTU - 52 [B].
        streams: Parallel streams, opened together.
        cc: One of `path.ALGORITHMS`.
        window_B: Most payload in flight of a stream [B].
        background: Part of the rate that traffic which does not yield takes [1].
        paced: Whether the sender paces.
        seed: Seed of the draws.

    Returns:
        Edges, rates, steady rate.

    Valid: as `outcome.simulate`; the steady rate is that of the later half of 200 round trips, or of four
        times the climb of CUBIC, at most 300 s (Reno on a long fat path is still climbing then).
    Neglects: competing flows that yield; the growth of the receive buffer (autotuning keeps ahead of the window).
    Source: `rounds` (RFC 9438, RFC 9406, RFC 6928, the Linux sender).

    Raises:
        KeyError: an algorithm that the model does not know.
    """
    buffer = rate_Bps * rtt_s if buffer_B is None else min(buffer_B, 1e6 * rate_Bps)
    return _opening(
        float(rate_Bps), float(rtt_s), float(buffer), float(loss), float(mtu_B),
        float(mtu_B - 52 if mss_B is None else mss_B), int(streams), str(cc), float(window_B), float(background),
        bool(paced), int(seed),
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _opening(
    rate_Bps: float, rtt_s: float, buffer_B: float, loss: float, mtu_B: float, mss_B: float, streams: int, cc: str,
    window_B: float, background: float, paced: bool, seed: int,  # noqa: FBT001 - a key of the memory
) -> Opening:  # fmt: skip
    edges = _edges(rtt_s, rate_Bps * rtt_s / mtu_B / streams)
    case = rounds.Cases.of(
        rate_Bps=rate_Bps, rtt_s=rtt_s, buffer_B=buffer_B, loss=loss, mtu_B=mtu_B, mss_B=mss_B, streams=streams, cc=cc,
        window_B=window_B, background=background, paced=paced, warmup_s=float(edges[-1]), duration_s=rtt_s,
    )  # fmt: skip
    if cc in rounds.LOSS_BASED:
        samples = rounds.run_windows(case, REPLICAS, seed, edges, STEPS + len(edges))
    elif cc in ("bbr", "bbr3"):
        samples = rounds.run_bbr(case, REPLICAS, seed, edges)
    else:
        raise KeyError(cc)
    pause = linux.BBR_PROBE_RTT_S if cc.startswith("bbr") else 0.0
    return _cut(edges, np.asarray(samples.delivered_B[0], float), rtt_s / 2 + 2 * pause)


def _edges(rtt_s: float, window: float) -> FloatArray:
    """Edges [s]: round trips, then ever longer; `window` is what a stream has to reach [segments]."""
    climb = float(np.cbrt(window * (1 - linux.CUBIC_BETA) / linux.CUBIC_C))
    horizon = max(min(max(HORIZON_TRIPS * rtt_s, 4 * climb), HORIZON_S), 2 * ROUNDS * rtt_s)
    steps = rtt_s * np.maximum(1.0, STRETCH ** np.arange(-ROUNDS, 400.0))
    edges = np.concatenate([[0.0], [rounds.SET_UP * rtt_s], rounds.SET_UP * rtt_s + np.cumsum(steps)])
    return np.asarray(edges[: int(np.searchsorted(edges, horizon)) + 1], float)


def _cut(edges: FloatArray, delivered: FloatArray, slack_s: float) -> Opening:
    """The step function up to where the cost of the opening has been paid, but for so many seconds at most."""
    half = int(np.searchsorted(edges, edges[-1] / 2))
    steady = float((delivered[-1] - delivered[half]) / (edges[-1] - edges[half]))
    cost = steady * edges - delivered
    settled = float(cost[half:].mean())
    off = np.abs(cost - settled) > max(SETTLED * float(np.abs(cost - settled).max()), steady * slack_s)
    last = min(int(np.flatnonzero(off).max(initial=1)) + 1, half)
    rates = np.diff(delivered) / np.diff(edges)
    return Opening(edges[: last + 1], rates[:last], steady)
