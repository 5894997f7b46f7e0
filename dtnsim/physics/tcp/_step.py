"""One step of the round model: rates, how far to go, growth of the windows, losses on the way.

A step ends at the next event of a lane (a loss, its detection, the end of a recovery or of a
slow-start round, a full buffer, a mark) or after a few round trips in which nothing but a small growth
happens, so that a lane without losses is crossed in a few steps whatever its rate or duration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dtnsim.physics.tcp import _events, linux
from dtnsim.physics.tcp import coefficients as known
from dtnsim.physics.tcp._lanes import AVOIDANCE, SLOW_START, BoolArray, Dice, Fixed, FloatArray, State, least, total
from dtnsim.physics.tcp.controls import cubic, on_arrays, westwood

EPS: Final = 1e-12
#: the first of two segments is acknowledged with the second, one segment later: half a segment in the mean [segments]
ACK_WAIT: Final = 0.5
#: a step may let a window grow by this share, and CUBIC's clock by this share of the time to its plateau
GROWTH_A_STEP: Final = 0.03
EPOCH_A_STEP: Final = 0.25
#: least step at a full buffer [round trips]
OVERFLOW_TRIPS: Final = 0.1


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
    whole: FloatArray


def in_flight(s: State, p: Fixed, on: BoolArray) -> FloatArray:
    """Whole segments that the windows let into the path, less those that were dropped in it."""
    whole = np.minimum(s.cwnd, p.cap)
    whole += 1e-9
    np.floor(whole, out=whole)
    whole -= s.missing
    np.maximum(whole, 1.0, out=whole)
    whole *= on
    return whole


def view(s: State, p: Fixed) -> View:
    """Windows, queue, round trips and rates from the state.

    Ack clocking makes the queue follow the windows at once: sum of w / (T + q/C) = C. A sender holds back
    half a TSO burst on average, and its segments wait for half of it at the bottleneck, then for their acknowledgment.
    """
    on = s.t >= p.start - EPS
    on = on & np.isinf(s.done)
    avoids = s.phase == AVOIDANCE
    opens = s.cwnd < p.cap
    opens &= avoids
    flight = in_flight(s, p, on)
    extra = np.where(s.phase == SLOW_START, linux.PACING_SLOW_START, linux.PACING_AVOIDANCE)
    extra *= s.rate
    extra *= 1 / linux.BURSTS_PER_S
    extra += p.short
    np.minimum(extra, np.minimum(s.cwnd * linux.TSO_WINDOW_SHARE, p.most_burst), out=extra)
    np.maximum(extra, 2.0, out=extra)
    extra -= 1
    extra /= 2
    base = np.maximum(flight, 1.0)
    np.divide(p.wait, base, out=base)
    base += p.T
    base += (extra + ACK_WAIT) / p.C
    held = extra * opens
    sent = np.maximum(flight - held, np.minimum(flight, 1.0))
    delay = total(sent) / p.C - total(base) / flight.shape[1]
    delay = np.minimum(np.maximum(delay, 0.0), p.most_delay)
    trip = base + delay
    rate = sent / trip
    whole = total(rate)
    scale = np.minimum(1.0, p.C / np.maximum(whole, 1e-30))
    rate *= scale
    s.rate = rate
    grows = opens & on
    return View(on, avoids, flight, held, trip, rate, scale, delay, grows, _growth(s, p, grows, delay), total(flight))


def _growth(s: State, p: Fixed, grows: BoolArray, delay: FloatArray) -> FloatArray:
    """Segments that a window gains in the coming round trip."""
    if p.control.cube:
        target = CUBE(s.origin, s.t - s.epoch + p.T - s.k)
        np.maximum(target, s.friendly + linux.CUBIC_FRIENDLY, out=target)
        return np.asarray(GAIN(s.cwnd, target, s.top, 0.0) * grows, float)
    growth = on_arrays(p.control.growth)(s.cwnd, s.t - s.epoch, p.T, s.beta, delay, p.most_delay)
    return np.asarray(growth * grows, float)


def step(s: State, p: Fixed, dice: Dice) -> None:
    """Advances every lane by one step, in place."""
    v = view(s, p)
    hazard = _hazard(s, p, v)
    to_loss = np.where(hazard > 0, s.budget / np.maximum(hazard, 1e-30), np.inf)
    dt = np.minimum(_smooth(s, p, v), _to_event(s, p, v))
    np.minimum(dt, least(to_loss), out=dt)
    np.minimum(dt, _to_overflow(p, v), out=dt)
    np.minimum(dt, np.minimum(s.mark, p.end) - s.t, out=dt)
    if p.sized:
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
    if p.sized:
        _events.finish(s, p, v, dice)


def _smooth(s: State, p: Fixed, v: View) -> FloatArray:
    """Longest step in which the growth stays small."""
    trips = np.maximum(v.growth, 1e-9)
    np.divide(GROWTH_A_STEP * s.cwnd, trips, out=trips)
    np.maximum(trips, 1.0, out=trips)
    if p.control.clocked:
        age = s.t - s.epoch
        span = np.maximum(np.abs(age - s.k), age / 2)
        span *= EPOCH_A_STEP
        span /= v.trip
        np.minimum(trips, np.maximum(span, 1.0, out=span), out=trips)
    trips *= v.trip
    return least(np.where(v.grows, trips, np.inf))


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
    lump = np.maximum(p.lump * v.rate, 1e-9)
    hazard = np.minimum(v.whole - p.full, 0.0) / lump
    np.maximum(hazard, -50.0, out=hazard)
    np.exp(hazard, out=hazard)
    hazard *= known.STALL_RATE.value
    hazard *= v.avoids
    hazard += p.event * v.rate
    hazard *= np.isinf(s.detect)
    hazard *= v.on
    return hazard


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
    some = np.maximum(gain, 1e-30)
    # a window that has passed the buffer grows on until it notices: not a step for each of those segments
    past = np.maximum(0.5 / some, OVERFLOW_TRIPS * least(v.trip))
    return np.asarray(np.where(gain > 0, np.maximum(p.full - v.whole, 0.0) / some + past, np.inf), float)


def _to_last(s: State, p: Fixed, v: View) -> FloatArray:
    """Time until the flows have delivered the last segment; they take from one pool."""
    left = np.maximum(p.size - total(s.delivered), 0.0)
    return np.asarray(left / np.maximum(total(v.rate) * (1 - p.lost), 1e-30), float)


def _grow(s: State, p: Fixed, v: View, dt: FloatArray) -> None:
    """Windows at the end of the step."""
    trips = dt / v.trip
    if p.control.estimates:
        s.estimate = FILTERED(s.estimate, v.rate * p.T, dt, v.trip)
    grown = _cube(s, p, v, trips) if p.control.cube else s.cwnd + v.growth * trips
    s.cwnd = np.where(v.grows, np.minimum(grown, np.maximum(p.cap, s.cwnd)), s.cwnd)


def _cube(s: State, p: Fixed, v: View, trips: FloatArray) -> FloatArray:
    """CUBIC's windows at the end of the step."""
    s.friendly = s.friendly + linux.CUBIC_FRIENDLY * trips * v.grows
    age = s.t - s.epoch
    past = age + p.T - v.trip - s.k
    # whole segments: what is missing from the plateau is rounded down, what is above it as well
    target = CUBE(s.origin, past) - np.sign(past) / 2
    target = np.maximum(target, s.friendly - linux.CUBIC_FRIENDLY) * (age >= linux.CUBIC_UPDATE_S)
    grown = np.minimum(np.maximum(s.cwnd, target), s.cwnd * (1 + linux.CUBIC_MOST_GROWTH * trips))
    first = s.top == 0
    if first.any():
        early = s.cwnd * (1 + linux.CUBIC_FIRST_GROWTH * trips)
        grown = np.where(first, np.maximum(grown, early), grown)
    return np.asarray(grown, float)


def _count(s: State, p: Fixed, v: View, flight: FloatArray, dt: FloatArray) -> None:
    """Segments delivered and lost in the step, and the round trips it saw."""
    sent = np.maximum((v.flight + flight) / 2 - v.held, np.minimum(v.flight, 1.0))
    sent *= dt * v.scale / v.trip
    sent *= np.minimum(1.0, p.C * dt / np.maximum(total(sent), 1e-30))
    s.lost = s.lost + sent * p.lost
    s.delivered = s.delivered + sent * (1 - p.lost)
    s.waited = s.waited + v.trip[:, :1] * dt
    s.steps += 1


CUBE, GAIN, FILTERED = on_arrays(cubic.cube), on_arrays(cubic.gain), on_arrays(westwood.filtered)
