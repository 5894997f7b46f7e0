"""What follows from the state of the round model in one moment: windows, queue, rates, growth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dtnsim.physics.tcp import algorithms, linux
from dtnsim.physics.tcp._lanes import AVOIDANCE, SLOW_START, BoolArray, Fixed, FloatArray, State, total

EPS: Final = 1e-12
#: the first of two segments is acknowledged with the second, one segment later: half a segment in the mean [segments]
ACK_WAIT: Final = 0.5


@dataclass(slots=True, eq=False, repr=False)
class View:
    """What a step goes by: windows, round trips, rates and growth (lanes, flows), delay (lanes, 1)."""

    on: BoolArray
    avoids: BoolArray
    flight: FloatArray
    held: FloatArray
    trip: FloatArray
    rate: FloatArray
    scale: FloatArray
    delay: FloatArray
    grows: BoolArray
    growth: FloatArray


def in_flight(s: State, p: Fixed, on: BoolArray) -> FloatArray:
    """Whole segments that the windows let into the path, less those that were dropped in it."""
    whole = np.floor(np.minimum(s.cwnd, p.cap) + 1e-9)
    whole -= s.missing
    np.maximum(whole, 1.0, out=whole)
    whole *= on
    return whole


def view(s: State, p: Fixed) -> View:
    """Windows, queue, round trips and rates from the state.

    Ack clocking makes the queue follow the windows at once: sum of w / (T + q/C) = C. A sender holds back
    half a TSO burst on average, and its segments wait for half of it at the bottleneck, then for their acknowledgment.
    """
    on = (s.t >= p.start - EPS) & np.isinf(s.done)
    avoids = s.phase == AVOIDANCE
    flight = in_flight(s, p, on)
    ratio = np.where(s.phase == SLOW_START, linux.PACING_SLOW_START, linux.PACING_AVOIDANCE)
    most = np.minimum(s.cwnd * linux.TSO_WINDOW_SHARE, linux.GSO_B / p.mss)
    extra = np.minimum(ratio * s.rate * (1 / linux.BURSTS_PER_S) + p.short, most)
    extra = (np.maximum(extra, 2.0) - 1) / 2
    base = p.T + p.wait / np.maximum(flight, 1.0) + (extra + ACK_WAIT) / p.C
    held = extra * (avoids & (s.cwnd < p.cap))
    sent = np.maximum(flight - held, np.minimum(flight, 1.0))
    flows = flight.shape[1]
    delay = np.clip(total(sent) / p.C - total(base) / flows, 0.0, p.most_delay)
    trip = base + delay
    rate = sent / trip
    scale = np.minimum(1.0, p.C / np.maximum(total(rate), 1e-30))
    rate *= scale
    s.rate = rate
    grows = on & avoids & (s.cwnd < p.cap)
    return View(on, avoids, flight, held, trip, rate, scale, delay, grows, _growth(s, p, grows, delay))


def _growth(s: State, p: Fixed, grows: BoolArray, delay: FloatArray) -> FloatArray:
    """Segments that a window gains in the coming round trip."""
    if p.kinds.only_reno:
        return grows.astype(float)
    growth = np.ones_like(s.cwnd)
    if p.kinds.cubic:
        age = s.t - s.epoch + p.T - s.k
        target = np.maximum(s.origin + linux.CUBIC_C * age * age * age, s.friendly + linux.CUBIC_FRIENDLY)
        cubic = np.clip(target - s.cwnd, 0.0, linux.CUBIC_MOST_GROWTH * s.cwnd)
        first = s.top == 0
        if first.any():
            cubic = np.where(first, np.maximum(cubic, linux.CUBIC_FIRST_GROWTH * s.cwnd), cubic)
        growth = np.where(p.cubic, cubic, growth)
    if p.kinds.htcp:
        growth = np.where(p.htcp, algorithms.htcp_alpha(s.t - s.epoch, p.T, s.beta), growth)
    if p.kinds.scalable:
        growth = np.where(p.scalable, np.maximum(s.cwnd / linux.SCALABLE_COUNT, 1.0), growth)
    if p.kinds.illinois:
        wide = algorithms.illinois_alpha(delay, p.most_delay)
        growth = np.where(p.illinois & (s.cwnd >= linux.ILLINOIS_WINDOW), wide, growth)
    growth *= grows
    return growth
