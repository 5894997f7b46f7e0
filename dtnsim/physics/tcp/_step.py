"""One step of the round model: rates, how far to go, growth of the windows, losses on the way.

A step ends at the next event of a lane (a loss, its detection, the end of a recovery or of a
slow-start round, a full buffer, a mark) or after a few round trips in which nothing but a small growth
happens, so that a lane without losses is crossed in a few steps whatever its rate or duration.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dtnsim.physics._arrays import BoolArray, FloatArray
from dtnsim.physics.tcp import _events, coefficients as known, linux
from dtnsim.physics.tcp._lanes import AVOIDANCE, SLOW_START, Dice, Fixed, State, least, total
from dtnsim.physics.tcp.controls import cubic, on_arrays, westwood

EPS: Final = 1e-12
#: the first of two segments is acknowledged with the second, one segment later: half a segment in the mean [segments]
ACK_WAIT: Final = 0.5
#: a step may let a window grow by this share, and CUBIC's clock by this share of the time to its plateau
GROWTH_A_STEP: Final = 0.03
EPOCH_A_STEP: Final = 0.25
OVERFLOW_TRIPS: Final = 0.1  #: least step at a full buffer [round trips]
#: numbers as arrays: numpy takes a Python number half as long again
ZERO, TINY, HALF, ONE, TWO = (np.array(x) for x in (0.0, 1e-30, 0.5, 1.0, 2.0))
ROUND, ACK, TO_BURST, OF_WINDOW = (
    np.array(x) for x in (1e-9, ACK_WAIT, 1 / linux.BURSTS_PER_S, linux.TSO_WINDOW_SHARE)
)
CRUISE, A_STEP, EPOCH, PAST, SOON, ALMOST, LEAST_POWER, STALLS = (
    np.array(x)
    for x in (
        linux.PACING_AVOIDANCE, GROWTH_A_STEP, EPOCH_A_STEP, OVERFLOW_TRIPS, EPS, 1 + EPS, -50.0, known.STALL_RATE.value
    )
)  # fmt: skip


@dataclass(slots=True, eq=False, repr=False)
class View:
    """What a step goes by: windows, round trips, rates, delay and growth (flows, lanes); `whole` of a lane (lanes,)."""

    on: BoolArray
    slow: BoolArray
    avoids: BoolArray
    flight: FloatArray
    held: FloatArray
    trip: FloatArray
    rate: FloatArray
    scale: FloatArray
    delay: FloatArray
    grows: BoolArray
    growing: FloatArray
    growth: FloatArray
    whole: FloatArray
    all_on: bool
    any_slow: bool


def in_flight(s: State, p: Fixed, on: BoolArray) -> FloatArray:
    """Whole segments that the windows let into the path, less those that were dropped in it.

    Args:
        s: State of the lanes.
        p: What does not change in them.
        on: Flows that send (flows, lanes).

    Source: RFC 5681, section 2 (FlightSize); `window.of_trains` for its mean under a sender's buffer.
    """
    segments = np.minimum(s.cwnd, p.mean)
    segments += ROUND
    np.floor(segments, out=segments)
    segments -= s.missing
    np.maximum(segments, ONE, out=segments)
    segments *= on
    return segments


def view(s: State, p: Fixed) -> View:
    """Windows, queue, round trips and rates from the state.

    Ack clocking makes the queue follow the windows at once: sum of w / (T + q/C) = C. A sender holds back
    half a TSO burst on average, and its segments wait for half of it at the bottleneck, then for their acknowledgment.
    """
    on = s.soon >= s.resume
    if p.sized or p.ragged:
        on &= np.isinf(s.done)
    slow, avoids = s.phase == SLOW_START, s.phase == AVOIDANCE
    any_slow = bool(np.count_nonzero(slow))
    opens = s.cwnd < p.cap
    opens &= avoids
    flight = in_flight(s, p, on)
    extra = s.rate * (np.where(slow, linux.PACING_SLOW_START, linux.PACING_AVOIDANCE) if any_slow else CRUISE)
    extra *= TO_BURST
    extra += p.short
    np.minimum(extra, np.minimum(s.cwnd * OF_WINDOW, p.most_burst), out=extra)
    np.maximum(extra, TWO, out=extra)
    extra -= ONE
    extra *= HALF
    base = np.maximum(flight, ONE)
    np.divide(p.wait, base, out=base)
    base += p.T
    base += (extra + ACK) / p.C
    held = extra * opens
    sent = np.maximum(flight - held, np.minimum(flight, ONE))
    delay = total(sent) / p.C - total(base * p.own if p.ragged else base) / p.flows
    delay = np.minimum(np.maximum(delay, ZERO), p.most_delay)
    trip = base + delay
    rate = sent / trip
    offered = total(rate)
    scale = np.minimum(p.C / np.maximum(offered, TINY), ONE)
    rate *= scale
    s.rate = rate
    grows = opens & on
    growing = grows.astype(float)
    growth, all_on = _growth(s, p, delay) * growing, np.count_nonzero(on) == on.size
    return View(
        on, slow, avoids, flight, held, trip, rate, scale, delay, grows, growing, growth, total(flight),
        all_on, any_slow,
    )  # fmt: skip


def _growth(s: State, p: Fixed, delay: FloatArray) -> FloatArray:
    """Segments that a window gains in the coming round trip."""
    gains: Any = None
    for number, control in p.laws.items():
        if control.cube:
            growth = CLIMB(s.cwnd, s.origin, s.t - s.epoch + p.T - s.k, s.friendly + linux.CUBIC_FRIENDLY, s.top, 0.0)
        else:
            growth = on_arrays(control.growth)(s.cwnd, s.t - s.epoch, p.T, s.beta, delay, p.most_delay)
        gains = growth if gains is None else np.where(p.law == number, growth, gains)
    return np.asarray(gains, float)


def step(s: State, p: Fixed, dice: Dice) -> BoolArray:
    """Advances every lane by one step, in place; True where nothing grows and nothing comes before its end (lanes,).

    Args:
        s: State of the lanes.
        p: What does not change in them.
        dice: The draws.

    Source: RFC 5681, RFC 9438, RFC 6937, RFC 8985, RFC 9406 by event (`_events`), fluid in between.
    """
    v = view(s, p)
    quiet = np.isinf(s.detect)  # no loss is about to be noticed
    hazard = _hazard(p, v, quiet & v.on)
    to_loss = s.budget / hazard  # never 0 by 0: a budget is used up where there is a hazard
    now, of_each = s.t[0], np.minimum(_to_event(s, v), to_loss)
    np.minimum(of_each, _smooth(s, p, v), out=of_each)
    dt = np.minimum(least(of_each), _to_overflow(p, v))
    if p.sized:
        np.minimum(dt, _to_last(s, p, v), out=dt)
    still = (dt >= p.end - now) & ~v.grows.any(axis=0)
    np.minimum(dt, np.minimum(s.mark, p.end) - now, out=dt)
    np.maximum(dt, ROUND, out=dt)
    of_each[:] = dt
    dt = of_each
    s.t = s.t + dt
    s.soon = s.t + SOON
    _grow(s, p, v, dt)
    flight = in_flight(s, p, v.on)
    _count(s, p, v, flight, dt)
    hit = _lose(s, p, hazard, dt, to_loss, dice)
    if p.bursts:
        hit |= v.avoids & v.on & (np.minimum(s.cwnd, p.cap) > p.safe)
    hit &= quiet
    if np.count_nonzero(hit):
        s.detect = np.where(hit, s.t + _events.trouble(v.trip, v.flight), s.detect)
    _events.overflow(s, p, v, flight, dice)
    if v.any_slow:
        _events.rounds(s, p, v, dice)
    if np.count_nonzero(np.minimum(s.detect, s.recover) <= s.soon):
        _events.detections(s, p, v, dice)
        _events.recoveries(s, p, v)
    if p.sized:
        _events.finish(s, p, v, dice)
    return np.asarray(still)


def _smooth(s: State, p: Fixed, v: View) -> FloatArray:
    """Longest step of each flow in which its growth stays small."""
    trips = np.maximum(v.growth, ROUND)
    np.divide(s.cwnd * A_STEP, trips, out=trips)
    np.maximum(trips, ONE, out=trips)
    clocked = p.which["clocked"]
    if clocked is not False:
        age = s.t - s.epoch
        span = np.maximum(np.abs(age - s.k), age * HALF)
        span *= EPOCH
        span /= v.trip
        np.maximum(span, ONE, out=span)
        np.minimum(trips, span if clocked is True else np.where(clocked, span, np.inf), out=trips)
    trips *= v.trip
    return np.asarray(trips / v.growing)  # infinite where it does not


def _to_event(s: State, v: View) -> FloatArray:
    """Time to the next event of each flow that is already due."""
    due = np.minimum(s.detect, s.recover)
    if v.any_slow:
        due = np.where(v.slow, np.minimum(due, s.round_end), due)
    if not v.all_on:
        due = np.where(v.on, due, np.where(np.isinf(s.done), s.resume, np.inf))
    return np.asarray(due - s.t)


def _hazard(p: Fixed, v: View, quiet: BoolArray) -> FloatArray:
    """Losses a second of each flow that sends and is not about to notice one already.

    Random loss comes per segment. Stalls of a host come per second; the lump after a stall of length d
    is x d (its paced share, less what the bottleneck takes meanwhile), and overflows the buffer when it passes the
    room left: exp(-room / mean lump).
    """
    hazard = np.minimum(v.whole - p.full, ZERO) / np.maximum(p.lump * v.rate, ROUND)
    np.maximum(hazard, LEAST_POWER, out=hazard)
    np.exp(hazard, out=hazard)
    hazard *= STALLS
    hazard *= v.avoids
    hazard += p.event * v.rate
    hazard *= quiet
    return np.asarray(hazard, float)


def _lose(s: State, p: Fixed, hazard: FloatArray, dt: FloatArray, to_loss: FloatArray, dice: Dice) -> BoolArray:
    """Takes the step off what is left until the next loss; where nothing is left, there is one."""
    s.budget = s.budget - hazard * dt
    hit = to_loss <= dt * ALMOST
    if np.count_nonzero(hit):
        at = _events.where_in(hit)
        (j, i), losses = np.divmod(at, hit.shape[1]), s.losses.take(at) + 1
        s.losses.put(at, losses)
        s.budget.put(at, dice.budget(p.replica.take(i), j, losses))
    return np.asarray(hit)


def _to_overflow(p: Fixed, v: View) -> FloatArray:
    """Time until the growing windows fill path and buffer."""
    gain = total(v.growth / v.trip)
    # a window that has passed the buffer grows on until it notices: not a step for each of those segments
    shortest = least(np.where(p.own, v.trip, np.inf) if p.ragged else v.trip)
    past = np.maximum(HALF / gain, shortest * PAST)
    return np.asarray(past + np.maximum(p.full - v.whole, TINY) / gain, float)


def _to_last(s: State, p: Fixed, v: View) -> FloatArray:
    """Time until the flows have delivered the last segment; they take from one pool."""
    left = np.maximum(p.size - total(s.delivered), 0.0)
    return np.asarray(left / np.maximum(total(v.rate) * p.arrives[0], 1e-30), float)


def _grow(s: State, p: Fixed, v: View, dt: FloatArray) -> None:
    """Windows at the end of the step."""
    trips = dt / v.trip
    if p.which["estimates"] is not False:
        s.estimate = FILTERED(s.estimate, v.rate * p.T, dt, v.trip)
    cube = p.which["cube"]
    grown = s.cwnd + v.growth * trips if cube is not True else s.cwnd
    if cube is not False:
        grown = np.where(cube, _cube(s, p, v, trips), grown) if cube is not True else _cube(s, p, v, trips)
    s.cwnd = np.where(v.grows, np.minimum(grown, np.maximum(p.cap, s.cwnd)), s.cwnd)


def _cube(s: State, p: Fixed, v: View, trips: FloatArray) -> FloatArray:
    """CUBIC's windows at the end of the step."""
    s.friendly = s.friendly + linux.CUBIC_FRIENDLY * trips * v.growing
    age = s.t - s.epoch
    past = age + p.T - v.trip - s.k
    # whole segments: what is missing from the plateau is rounded down, what is above it as well
    target = CUBE(s.origin, past) - np.sign(past) / 2
    target = np.maximum(target, s.friendly - linux.CUBIC_FRIENDLY) * (age >= linux.CUBIC_UPDATE_S)
    grown = np.minimum(np.maximum(s.cwnd, target), s.cwnd * (1 + linux.CUBIC_MOST_GROWTH * trips))
    if np.count_nonzero(s.top) < s.top.size:
        early = s.cwnd * (1 + linux.CUBIC_FIRST_GROWTH * trips)
        grown = np.where(s.top == 0, np.maximum(grown, early), grown)
    return np.asarray(grown, float)


def _count(s: State, p: Fixed, v: View, flight: FloatArray, dt: FloatArray) -> None:
    """Segments delivered and lost in the step, and the round trips it saw."""
    sent = np.maximum((v.flight + flight) * HALF - v.held, np.minimum(v.flight, ONE))
    sent *= dt * v.scale / v.trip
    sent *= np.minimum(p.C * dt / np.maximum(total(sent), TINY), ONE)
    s.lost = s.lost + sent * p.lost
    s.delivered = s.delivered + sent * p.arrives
    s.waited = s.waited + v.trip[0] * dt[0]
    s.steps += 1


CUBE, CLIMB, FILTERED = on_arrays(cubic.cube), on_arrays(cubic.climb), on_arrays(westwood.filtered)
