"""Events of the round model: full buffers, bursts, slow-start rounds, detections, recoveries, ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.physics._arrays import BoolArray, FloatArray, IntArray
from dtnsim.physics.tcp import _chance, coefficients as known, linux, response as timeouts
from dtnsim.physics.tcp._lanes import AVOIDANCE, RECOVERY, SLOW_START, Dice, Fixed, State, total
from dtnsim.physics.tcp.controls import cubic, cut, on_arrays, westwood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnsim.physics.tcp._step import View

ZERO, INF = np.array(0.0), np.array(np.inf)  #: numpy takes a Python number half as long again
OVER: Final = 0.25  #: excess that counts as an overflow [segments]


def trouble(trip: FloatArray, flight: FloatArray) -> FloatArray:
    """Time from a loss to its detection: a round trip and three more segments, or a quarter of one (RACK)."""
    return np.asarray(trip * (1 + np.minimum(linux.DUPTHRESH / np.maximum(flight, 1.0), linux.RACK_SHARE)), float)


def overflow(s: State, p: Fixed, v: View, flight: FloatArray, dice: Dice) -> None:
    """Windows that grew past path and buffer lose the excess, shared among the flows by their rates.

    Args:
        s: State of the lanes.
        p: What does not change in them.
        v: What the step goes by.
        flight: What is in flight after the step (flows, lanes) [segments].
        dice: The draws.

    Source: a drop-tail queue serves in the order of arrival, so that drops fall on flows by their rates.
    """
    over = total(flight) - p.full
    if not np.count_nonzero(over > OVER):
        return
    rows = ((over > OVER) & v.grows.any(axis=0)).nonzero()[0]
    if not len(rows):
        return
    u = dice.draw(_chance.DROPS, s.steps)[:, p.replica[rows]]
    drops = np.maximum(np.floor(over[rows] + u[0]), 1.0)
    if len(flight) > 1:
        rate = v.rate[:, rows]
        hit = _dealt(drops, rate / total(rate), u[1], p.flows[rows])
    else:
        hit = drops[None, :]
    s.missing[:, rows] += hit
    s.lost[:, rows] += hit
    pending = s.detect[:, rows]
    noticed = s.t[:, rows] + trouble(v.trip[:, rows], v.flight[:, rows])
    s.detect[:, rows] = np.where((hit > 0) & np.isinf(pending), noticed, pending)


def _dealt(drops: FloatArray, share: FloatArray, u: FloatArray, flows: IntArray) -> FloatArray:
    """Whole drops dealt to the flows by their shares, systematically from a random start (flows, rows)."""
    upto = share.cumsum(axis=0) * drops + u
    last = np.arange(len(share))[:, None] >= flows - 1
    dealt = np.floor(np.where(last, drops + u, upto))  # of the last no rounding
    dealt[1:] -= dealt[:-1]
    return np.asarray(dealt, float)


def rounds(s: State, p: Fixed, v: View, dice: Dice) -> None:
    """Slow-start rounds that end: the window doubles, unless HyStart, ssthresh or the cap stop it.

    Args:
        s: State of the lanes.
        p: What does not change in them.
        v: What the step goes by.
        dice: The draws.

    Source: RFC 5681, section 3.1; RFC 9406; include/net/tcp.h, tcp_is_cwnd_limited.
    """
    ends = v.on & v.slow & (s.round_end <= s.soon)
    if not np.count_nonzero(ends):
        return
    flows = np.maximum(ends.sum(axis=0), 1)
    share = p.C / flows
    bdp = share * p.T
    # a window that the receiver limits stops at twice what is in flight (tcp_is_cwnd_limited)
    most = linux.IDLE_WINDOW * p.cap
    doubled = np.maximum(np.minimum(np.minimum(2 * s.cwnd, s.ssthresh), most), s.cwnd)
    new, stop = _hystart(s, p, share, doubled, dice)
    stop &= ends
    s.ssthresh = np.where(stop, new, s.ssthresh)
    # the train of the coming round arrives at up to twice the drain rate
    old, now = total(np.where(ends, np.minimum(s.cwnd, p.cap), 0.0)), total(np.where(ends, np.minimum(new, p.cap), 0.0))
    behind = np.maximum(old - p.C * p.T, 0.0)
    rise = np.where(p.paced, np.clip(2 * (now - old) - p.C * p.T / 2, 0.0, now - old), now - old)
    over = ends & (behind + rise > p.B) & np.isinf(s.detect) & (new > s.cwnd)
    at_drop = _slow_start_overflow(s, p, over, new, stop, behind, share)
    full = np.where(s.cwnd >= bdp, at_drop, new)
    pipe = np.maximum(p.T, now / p.C)
    last = np.minimum(np.maximum(v.trip, pipe), p.T + p.most_delay)
    s.before = np.where(ends, s.cwnd, s.before)
    s.cwnd = np.where(ends, np.where(over, full, new), s.cwnd)
    s.round_start = np.where(ends, s.t, s.round_start)
    s.round_end = np.where(ends, np.where(over, np.inf, s.t + last), s.round_end)
    leave = ends & ~over & ((new >= s.ssthresh) | (new >= most))
    if leave.any():
        s.phase = np.where(leave, AVOIDANCE, s.phase)
        new_epoch(s, where_in(leave))


def _hystart(s: State, p: Fixed, share: FloatArray, doubled: FloatArray, dice: Dice) -> tuple[FloatArray, BoolArray]:
    """Window after the round and whether HyStart stopped slow start (CUBIC only).

    ACK train: acknowledgments less than 2 ms apart for T/2 (for T + 1 ms when the sender is paced).
    Delay: the first segments of the round before found a queue longer than the threshold.
    """
    if p.which["cube"] is False:
        return doubled, np.zeros(doubled.shape, bool)
    can = (s.cwnd >= linux.HYSTART_LOW) & np.isinf(s.ssthresh) & p.which["cube"]
    span = np.where(p.paced, p.T + linux.HYSTART_ACK_DELAY_S, p.T / 2)
    unbroken = dice.draw(_chance.TRAIN, s.steps)[: len(p.own), p.replica] < np.exp(-known.ACK_GAP_RATE.value * span)
    train = can & (np.minimum(s.cwnd, p.cap) / share > span) & (2 / share < linux.HYSTART_GAP_S) & unbroken
    late = can & (np.minimum(s.before, p.cap) - share * p.T > HYSTART_DELAY(p.T) * share)
    new = np.where(train, np.minimum(doubled, s.cwnd + share * span), doubled)
    return np.where(late, s.cwnd, new), np.asarray(train | late)


def _slow_start_overflow(
    s: State, p: Fixed, over: BoolArray, new: FloatArray, stop: BoolArray, behind: FloatArray, share: FloatArray
) -> FloatArray:
    """Notes overflows of slow start; returns the window at the first drop.

    The drop is noticed a full round trip later; until then every acknowledgment has sent two segments, one
    of them dropped, unless HyStart (by the delay of the first segments) ends the doubling before.
    """
    flows = p.C / share
    room = np.maximum(p.B - behind, 1.0) / flows
    excess_rate = np.clip(2 * new / np.maximum(share * p.T, 1e-9), 1.05, 2.0)
    room = np.where(p.paced, np.minimum(room / (1 - 1 / excess_rate) / 2, new - s.cwnd), room)
    at_drop = s.cwnd + np.minimum(room, np.maximum(new - s.cwnd, 0.0))
    large = s.cwnd >= share * p.T
    seen = p.which["cube"] & (behind / p.C > HYSTART_DELAY(p.T))
    limit = np.where(stop, np.maximum(s.ssthresh, new), np.where(seen, new, np.inf))
    small = np.minimum(new + 2 * room, np.where(stop, new, np.inf))
    peak = np.where(large, np.minimum(2 * at_drop, limit), small)
    noticed = s.t + room / share + p.T + p.most_delay
    s.peak = np.where(over, peak, s.peak)
    # after a train shorter than the pipe the queue drains, and what comes into its room parts the drops of two rounds
    gap = np.clip(share * p.T - s.cwnd, 0.0, room)
    more = np.minimum(peak, p.cap) - new - gap
    s.dropped = np.where(over, np.maximum(np.minimum(new, p.cap) - at_drop + np.maximum(more, 0.0), 1.0), s.dropped)
    s.clear = np.where(over, np.where((more > 0) & (gap > 0), 2 * gap + more, np.inf), s.clear)
    s.lost = s.lost + np.where(over, s.dropped, 0.0)
    s.detect = np.where(over, noticed, s.detect)
    return np.asarray(at_drop, float)


def detections(s: State, p: Fixed, v: View, dice: Dice) -> None:
    """Losses that are noticed: the window falls by beta and a recovery of one round trip begins.

    Args:
        s: State of the lanes.
        p: What does not change in them.
        v: What the step goes by.
        dice: The draws.

    Source: RFC 6675; RFC 6937 (PRR); RFC 8985 (RACK); RFC 6298 for time-outs; the control's own `kept`.
    """
    at = where_in(v.on & (s.detect <= s.soon))
    if not len(at):
        return
    j, i = np.divmod(at, s.cwnd.shape[1])
    row, now, trip, delay, base = p.replica.take(i), s.t.take(at), v.trip.take(at), v.delay.take(at), p.T.take(at)
    most, peak, top = p.most_delay.take(at), s.peak.take(at), s.top.take(at)
    first = bool(np.count_nonzero(peak))  # slow start overflowed
    window, again, clear = _noticed(s, v, at, peak, first=first)
    kept: Any = None
    for number, control in p.laws.items():
        share = on_arrays(control.kept)(window, base, delay, most)
        kept = share if kept is None else np.where(p.law.take(i) == number, share, kept)
    whole = window + 1e-9
    after = CUT(whole, kept)
    luck, lost = dice.draw(_chance.AGAIN, s.steps)[j, row], p.lost.take(at)
    twice = 1.0 * (luck < lost)
    if first:
        twice += (peak > 0) & (after > p.B.take(at) + p.C.take(at) * base)
    few, waits = np.floor(whole), np.zeros(len(at))
    risky = (luck < lost * (1 + lost * few)).nonzero()[0]  # never less than the chance of a time-out
    if len(risky):
        count = timeouts.consecutive_timeouts(luck[risky], lost[risky], few[risky])
        waits[risky] = timeouts.backoff_time(count, base[risky])
    # where no three segments follow a loss, what their acknowledgments let out tells of it, or a timer
    waits += np.minimum(linux.TIMEOUT_MIN_S, trip * (np.ceil(linux.DUPTHRESH / np.maximum(few - 1, 0.1)) - 1))
    # a sender's buffer is filled by two thirds, when its writer is woken, to all
    woken = linux.WOKEN_SHARE + (1 - linux.WOKEN_SHARE) * dice.draw(_chance.TAIL, s.steps)[j, row]
    rest = np.maximum(np.minimum(p.held.take(at) * woken, p.cap.take(at)) - window, 0.0)
    over, stopped = _stopped(p, v, at, after, rest, again, clear)
    if np.count_nonzero(stopped):
        stopped = np.where(stopped > 0, stopped + twice * base, 0.0)
    s.beta.put(at, kept)
    s.top.put(at, NEW_TOP(window, top))
    s.ssthresh.put(at, after)
    s.cwnd.put(at, after)
    s.phase.put(at, RECOVERY)
    whole = now + waits + trip * (1 + twice * (waits < linux.RTO_MIN_S))
    s.recover.put(at, whole)
    s.resume.put(at, np.minimum(now + waits + stopped, whole))
    s.detect.put(at, np.where(over > 0, whole + base + most, np.inf) if np.count_nonzero(over) else INF)
    s.missing.put(at, over)
    s.lost.put(at, s.lost.take(at) + over)
    if first:
        s.peak.put(at, ZERO)


def _noticed(
    s: State, v: View, at: NDArray[np.intp], peak: FloatArray, *, first: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Windows as their losses are noticed, what of them is sent again, and what comes between drops (`State.clear`)."""
    window, again, clear = s.cwnd.take(at), s.missing.take(at), INF
    if v.any_slow:  # a slow-start window goes on growing until the loss is noticed
        end = s.round_end.take(at)
        slow = (s.phase.take(at) == SLOW_START) & np.isfinite(end)
        within = 1 + np.minimum(np.maximum(1 - (end - s.t.take(at)) / v.trip.take(at), 0.0), 1.0)
        window = np.where(slow, window * within, window)
    if first:
        window, again = np.where(peak > 0, peak, window), np.where(peak > 0, s.dropped.take(at), again)
        clear = np.where(peak > 0, s.clear.take(at), np.inf)
    return window, again, clear


def _stopped(
    p: Fixed, v: View, at: NDArray[np.intp], after: FloatArray, rest: FloatArray, again: FloatArray, clear: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What a full window loses once a lost segment has come, and for how long it sends nothing before [s].

    What has come behind a lost segment stays in the buffers of both ends, so that no more than their rest is sent in
    the recovery, beside what is sent again. Where that is less than the window allows, the difference is free at once
    when the last hole is filled, or what came between the holes of two rounds when those of the first are; what of it
    the bottleneck's buffer has no room for is lost: after an overflow, Linux' usual 6 MiB lose a second and a third
    time where 64 MiB do not. Pacing (`fq`) spreads it.
    """
    base, sent, allowed = p.T.take(at), rest + again, np.minimum(after, p.cap.take(at))
    free = sent < allowed
    if not np.count_nonzero(free):
        return np.zeros(len(at)), np.zeros(len(at))
    burst = np.where(free, np.maximum(np.minimum(allowed - rest, clear), 0.0), 0.0)
    queued = np.maximum(v.whole[at % v.flight.shape[1]] - v.flight.take(at) - p.C.take(at) * base, 0.0)  # by others
    over = np.floor(np.maximum(burst * p.excess.take(at) - np.maximum(p.B.take(at) - queued, 0.0), 0.0))
    rate = np.maximum(np.minimum(v.rate.take(at), after / base), 1e-30)
    return np.where(p.paced.take(at), 0.0, over), np.where(burst > 0, np.maximum(base - sent / rate, 0.0), 0.0)


def where_in(condition: BoolArray) -> NDArray[np.intp]:
    """Which flows of all lanes, counted through."""
    return condition.ravel().nonzero()[0]


def recoveries(s: State, p: Fixed, v: View) -> None:
    """Recoveries that end: congestion avoidance goes on from ssthresh.

    Args:
        s: State of the lanes.
        p: What does not change in them.
        v: What the step goes by.

    Source: RFC 5681, section 3.2; RFC 6937 (the window ends at ssthresh).
    """
    at = where_in(v.on & (s.recover <= s.soon))
    if not len(at):
        return
    s.phase.put(at, AVOIDANCE)
    s.recover.put(at, np.inf)
    estimates = p.which["estimates"]
    if estimates is not False:
        estimating = at if estimates is True else at[estimates.take(at % s.cwnd.shape[1])]
        back = RETURNED(s.estimate.take(estimating))
        s.ssthresh.put(estimating, back)
        s.cwnd.put(estimating, back)
    new_epoch(s, at)


def new_epoch(s: State, at: NDArray[np.intp]) -> None:
    """Starts CUBIC's and H-TCP's clocks of some flows."""
    cwnd = s.cwnd.take(at)
    k, origin = PLATEAU(s.top.take(at), cwnd)
    s.epoch.put(at, s.t.take(at))
    s.k.put(at, k)
    s.origin.put(at, origin)
    s.friendly.put(at, cwnd)


def finish(s: State, p: Fixed, v: View, dice: Dice) -> None:
    """Flows that have delivered their last segment; all take blocks from one pool until it is empty.

    In slow start the round is a train at the bottleneck's rate, not spread over the round trip. Segments
    dropped in the last rounds arrive when their loss has been noticed; a drop of the very last one
    is noticed only when the retransmissions before it are acknowledged.

    Args:
        s: State of the lanes.
        p: What does not change in them.
        v: What the step goes by.
        dice: The draws.

    Source: RFC 8985 (RACK and the probe of a tail); coefficient `TAIL_LOSS`.
    """
    ends = v.on & (total(s.delivered) >= p.size - 1e-6)
    if not ends.any():
        return
    train = s.round_start + (s.t - s.round_start) / v.trip * v.flight / p.C
    short = (s.phase == SLOW_START) & np.isfinite(s.round_end) & (v.flight < p.C * p.T)
    last = np.where(short, train, s.t)
    tail = (s.peak > 0) & (dice.draw(_chance.TAIL, s.steps)[: len(p.own), p.replica] < known.TAIL_LOSS.value)
    whole = np.maximum(last, repaired(s, p, np.where(tail, v.trip, 0.0)))
    s.done = np.where(ends, whole, s.done)


def repaired(s: State, p: Fixed, tail_s: FloatArray) -> FloatArray:
    """When what has been lost so far will have come, were nothing new sent; 0 of what has lost nothing [s].

    Args:
        s: State of the lanes.
        p: What does not change in them.
        tail_s: How much later where the very last segment is lost as well [s].

    Source: as `finish`.
    """
    # of what has left the bottleneck by now: what the queue holds behind that is not sent where nothing comes after it
    noticed = np.where(s.detect - p.T * (1 + linux.RACK_SHARE) <= s.t, s.detect + tail_s, 0.0)
    comes = np.minimum(s.recover - p.T / 2, np.maximum(s.t, s.resume) + p.T / 2)
    again = np.where((s.phase == RECOVERY) & np.isfinite(s.recover), comes, 0.0)
    return np.asarray(np.maximum(noticed, again), float)


CUT, NEW_TOP, PLATEAU, HYSTART_DELAY, RETURNED = (
    on_arrays(law) for law in (cut, cubic.new_top, cubic.plateau, cubic.hystart_delay, westwood.returned)
)
