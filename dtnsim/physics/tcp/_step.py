"""One step of the round model: rates, how far to go, growth of the windows, losses on the way.

A step ends at the next event of a lane (a loss, its detection, the end of a recovery or of a
slow-start round, a full buffer, a mark) or after a few round trips in which nothing but a small growth
happens, so that a lane without losses is crossed in a few steps whatever its rate or duration.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dtnsim.physics.tcp import _events, linux
from dtnsim.physics.tcp import coefficients as known
from dtnsim.physics.tcp._lanes import SLOW_START, BoolArray, Dice, Fixed, FloatArray, State, least, total
from dtnsim.physics.tcp._view import EPS, View, in_flight, view

#: a step may let a window grow by this share, and CUBIC's clock by this share of the time to its plateau
GROWTH_A_STEP: Final = 0.03
EPOCH_A_STEP: Final = 0.25
#: least step at a full buffer [round trips]
OVERFLOW_TRIPS: Final = 0.1


def step(s: State, p: Fixed, dice: Dice) -> None:
    """Advances every lane by one step, in place."""
    v = view(s, p)
    hazard = _hazard(s, p, v)
    to_loss = np.where(hazard > 0, s.budget / np.maximum(hazard, 1e-30), np.inf)
    dt = np.minimum(_smooth(s, p, v), _to_event(s, p, v))
    np.minimum(dt, least(to_loss), out=dt)
    np.minimum(dt, _to_overflow(p, v), out=dt)
    np.minimum(dt, s.mark - s.t, out=dt)
    np.minimum(dt, p.end - s.t, out=dt)
    sized = p.kinds.sized
    if sized:
        np.minimum(dt, _to_last(s, p, v), out=dt)
    np.maximum(dt, 1e-9, out=dt)
    s.t = s.t + dt
    _grow(s, p, v, dt)
    flight = in_flight(s, p, v.on)
    _count(s, p, v, flight, dt)
    hit = _lose(s, p, hazard, dt, to_loss, dice)
    hit |= v.avoids & v.on & (np.minimum(s.cwnd, p.cap) > p.safe)
    hit &= np.isinf(s.detect)
    if hit.any():
        s.detect = np.where(hit, s.t + _events.trouble(v.trip, v.flight), s.detect)
    _events.overflow(s, p, v, flight, dice)
    _events.rounds(s, p, v, dice)
    _events.detections(s, p, v, dice)
    _events.recoveries(s, p, v)
    if sized:
        _events.finish(s, p, v, dice)


def _smooth(s: State, p: Fixed, v: View) -> FloatArray:
    """Longest step in which the growth stays small."""
    trips = np.maximum(1.0, GROWTH_A_STEP * s.cwnd / np.maximum(v.growth, 1e-9))
    if not p.kinds.only_reno:
        age = s.t - s.epoch
        span = np.maximum(np.abs(age - s.k), age / 2)
        clocked = np.minimum(trips, np.maximum(1.0, EPOCH_A_STEP * span / v.trip))
        trips = np.where(p.cubic | p.htcp, clocked, trips)
    return least(np.where(v.grows, trips * v.trip, np.inf))


def _to_event(s: State, p: Fixed, v: View) -> FloatArray:
    """Time to the next event that is already due."""
    due = np.minimum(s.detect, s.recover)
    slow = s.phase == SLOW_START
    if slow.any():
        due = np.where(slow, np.minimum(due, s.round_end), due)
    if not v.on.all():
        due = np.where(v.on, due, np.where(np.isinf(s.done), p.start, np.inf))
    return least(due) - s.t


def _hazard(s: State, p: Fixed, v: View) -> FloatArray:
    """Losses a second of each flow that is not about to notice one already.

    Random loss comes per segment. Stalls of a host come per second; the lump after a stall of length d
    is x d (its paced share, less what the bottleneck takes meanwhile), and overflows the buffer when it passes the
    room left: exp(-room / mean lump).
    """
    room = np.maximum(p.full - total(v.flight), 0.0)
    share = np.where(p.paced, known.STALL_SHARE_PACED.value, 1.0) * known.STALL_LENGTH.value * p.excess
    lump = np.maximum(share * v.rate, 1e-9)
    hazard = known.STALL_RATE.value * np.exp(np.maximum(-room / lump, -50.0)) * v.avoids
    hazard += p.event * v.rate
    watch = v.on & np.isinf(s.detect)
    return np.asarray(hazard * watch, float)


def _lose(s: State, p: Fixed, hazard: FloatArray, dt: FloatArray, to_loss: FloatArray, dice: Dice) -> BoolArray:
    """Takes the step off what is left until the next loss; where nothing is left, there is one."""
    s.budget = s.budget - hazard * dt
    hit = to_loss <= dt * (1 + EPS)
    if hit.any():
        i, j = np.nonzero(hit)
        s.losses[i, j] += 1
        s.budget[i, j] = dice.budget(p.replica[i, 0], j, s.losses[i, j])
    return np.asarray(hit)


def _to_overflow(p: Fixed, v: View) -> FloatArray:
    """Time until the growing windows fill path and buffer."""
    gain = total(v.growth / v.trip)
    room = np.maximum(p.full - total(v.flight), 0.0)
    # a window that has passed the buffer grows on until it notices: not a step for each of those segments
    past = np.maximum(0.5 / np.maximum(gain, 1e-30), OVERFLOW_TRIPS * least(v.trip))
    return np.asarray(np.where(gain > 0, room / np.maximum(gain, 1e-30) + past, np.inf), float)


def _to_last(s: State, p: Fixed, v: View) -> FloatArray:
    """Time until the flows have delivered the last segment; they take from one pool."""
    left = np.maximum(p.size - total(s.delivered), 0.0)
    return np.asarray(left / np.maximum(total(v.rate) * (1 - p.lost), 1e-30), float)


def _grow(s: State, p: Fixed, v: View, dt: FloatArray) -> None:
    """Windows at the end of the step."""
    trips = dt / v.trip
    grown = s.cwnd + (trips if p.kinds.only_reno else np.where(p.cubic, 1.0, v.growth) * trips)
    if p.kinds.westwood:
        samples = dt / np.maximum(v.trip, linux.WESTWOOD_SAMPLE_S)
        s.estimate = s.estimate + (v.rate * p.T - s.estimate) * -np.expm1(-samples / linux.WESTWOOD_SAMPLES)
    if p.kinds.cubic:
        s.friendly = s.friendly + linux.CUBIC_FRIENDLY * trips * v.grows
        age = s.t - s.epoch
        since = age + p.T - v.trip - s.k
        # whole segments: what is missing from the plateau is rounded down, what is above it as well
        target = s.origin + linux.CUBIC_C * since * since * since - np.sign(since) / 2
        target = np.maximum(target, s.friendly - linux.CUBIC_FRIENDLY) * (age >= linux.CUBIC_UPDATE_S)
        cubic = np.minimum(np.maximum(s.cwnd, target), s.cwnd * (1 + linux.CUBIC_MOST_GROWTH * trips))
        first = s.top == 0
        if first.any():
            early = s.cwnd * (1 + linux.CUBIC_FIRST_GROWTH * trips)
            cubic = np.where(first, np.maximum(cubic, early), cubic)
        grown = np.where(p.cubic, cubic, grown)
    s.cwnd = np.where(v.grows, np.minimum(grown, np.maximum(p.cap, s.cwnd)), s.cwnd)


def _count(s: State, p: Fixed, v: View, flight: FloatArray, dt: FloatArray) -> None:
    """Segments delivered and lost in the step, and the round trips it saw."""
    sent = np.maximum((v.flight + flight) / 2 - v.held, np.minimum(v.flight, 1.0))
    sent *= dt * v.scale / v.trip
    sent *= np.minimum(1.0, p.C * dt / np.maximum(total(sent), 1e-30))
    s.lost = s.lost + sent * p.lost
    s.delivered = s.delivered + sent * (1 - p.lost)
    s.waited = s.waited + v.trip[:, :1] * dt
    s.steps = s.steps + 1
