"""BBR v2 and v3 beside others: bounds of rate and of what is in flight, and the cycle that moves them.

A flow keeps the largest delivery rate of two cycles, an upper bound of what is in flight (set where a probe lost more
than 2 % of a flight, raised where it did not), and lower bounds of both, cut by 0.7 in every round with a loss outside
a probe and forgotten at the next probe.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp._flow import DRAIN, NEVER, PROBE_BW, PROBE_RTT, RING, STARTUP, Modelled, ring
from dtnsim.physics.tcp.controls import Probing

DOWN, CRUISE, REFILL, UP = range(4)
THRESHOLD, BETA, HEADROOM = linux.BBR3_LOSS_THRESHOLD, linux.BBR3_BETA, linux.BBR3_HEADROOM
MOST_ROUNDS, WAIT_S, PROBE_RTT_S, KEPT = (
    linux.BBR3_MOST_ROUNDS,
    linux.BBR3_PROBE_S,
    linux.BBR3_PROBE_RTT_S,
    linux.BBR3_PROBE_RTT_GAIN,
)
START_GAIN, UP_GAIN, WINDOW = linux.BBR_HIGH_GAIN, linux.BBR_CYCLE[0], linux.BBR_CWND_GAIN
MARGIN, FLAT_GROWTH, FLAT_ROUNDS = linux.BBR_MARGIN, linux.BBR_FULL_GROWTH, linux.BBR_FULL_ROUNDS
LEAST_WINDOW, MIN_RTT_S = linux.BBR_MIN_WINDOW, linux.BBR_MIN_RTT_S
INITIAL = linux.INITIAL_WINDOW


@dataclass(slots=True, eq=False, repr=False)
class Bbr3(Modelled):
    """A flow of BBR v2 or v3.

    Attributes:
        best, best_new: Largest delivery rates of the last cycle and of this one [segments/s].
        rate_low, low, upper: Lower bounds of rate [segments/s] and of what is in flight, its upper bound [segments].
        rate_latest, latest: Largest delivery rate of the round [segments/s], and what it delivered [segments].
        loss_round, loss_start, loss_next: Whether the round that counts losses had one, whether one begins, and what is
            acknowledged by then [segments].
        loss_events: Slices with a loss in the round.
        full_now: Whether the rate of this start-up or probe has stopped growing.
        rounds_since, wait: Rounds since the last probe, and time until the next [s].
        too_high: Whether a probe lost too much.
        risky: Whether the last probe found the upper bound.
        probes: Whether the losses of what is in flight tell of a probe.
        up_rounds, up_acks: Rounds of the probe, and what was acknowledged since the upper bound was raised.
        stopping: Whether a probe's last round trip is under way.
        least_new, stamp_new: Least round trip of the last seconds, and when it was seen [s].
        got, in_flight, lost_trip: What the last round trip delivered, began with in flight, and lost [segments].
        losts, flights, trips: What it had lost and in flight, and its round trip in whole slices [s], by slice.
    """

    best: float = 0.0
    best_new: float = 0.0
    rate_low: float = NEVER
    low: float = NEVER
    upper: float = NEVER
    rate_latest: float = 0.0
    latest: float = 0.0
    loss_round: bool = False
    loss_start: bool = False
    loss_next: float = 0.0
    loss_events: float = 0.0
    full_now: bool = False
    rounds_since: float = 0.0
    wait: float = 0.0
    too_high: bool = False
    risky: bool = False
    probes: bool = False
    up_rounds: float = 0.0
    up_acks: float = 0.0
    stopping: bool = False
    least_new: float = NEVER
    stamp_new: float = 0.0
    got: float = 0.0
    in_flight: float = 0.0
    lost_trip: float = 0.0
    losts: list[float] = field(default_factory=ring)
    flights: list[float] = field(default_factory=ring)
    trips: list[float] = field(default_factory=ring)

    @property
    def probing(self) -> Probing:
        """What its version does otherwise than others."""
        assert self.control.probing is not None
        return self.control.probing

    @property
    def pipe(self) -> float:
        """What is in flight without a queue at the rate that the lower bound leaves [segments]."""
        return min(self.bandwidth, self.rate_low) * self.least

    def respond(self, acked: float, before: float, since: int, slice_s: float, n: int, phase: int) -> None:
        """The control law, as `Flow.respond`.

        Packets acknowledged now were sent in as long a time as the round trip took when they left: they measure no
        rate above that at which they were sent (net/ipv4/tcp_rate.c: the longer of the two intervals). Rounds
        that count losses begin anew with the first of them (tcp_bbr2.c: bbr2_skb_marked_lost).
        """
        at, here = since % RING, n % RING
        self.got, self.trips[here] = self.acked - before, (n - since) * slice_s
        if self.losses > 0.0 and not self.loss_round:
            self.loss_round, self.loss_next = True, self.acked
        self.loss_start = acked > 1e-9 and before >= self.loss_next
        if self.loss_start:
            self.loss_next = self.acked
        took = self.trips[here]
        if since >= 0:
            self.in_flight, self.lost_trip = self.flights[at], self.lost - self.losts[at]
            took = max(took, self.trips[at])
        bbr3_flow(self, acked, self.got / took, n * slice_s, phase / 8.0)
        sends = min(max(min(self.cwnd, self.cap) - self.flight, 0.0), self.pace * slice_s)
        self.losts[here], self.flights[here] = self.lost, self.flight + sends


def begin_down(f: Bbr3, now: float, u: float) -> None:
    """A new cycle: the next probe comes in two to three seconds, or in as many rounds as the flight has segments."""
    f.rate_latest = f.latest = 0.0
    f.loss_round = False
    f.rounds_since, f.wait = math.floor(2.0 * u), WAIT_S + u
    f.cycle, f.stopping, f.next_round, f.phase = now, True, f.acked, DOWN


def begin_refill(f: Bbr3) -> None:
    """A round at the largest rate, before a probe."""
    f.rate_low = f.low = NEVER
    f.up_rounds = f.up_acks = 0.0
    f.risky = f.stopping = False
    f.next_round, f.phase = f.acked, REFILL


def lower_bounds(f: Bbr3, sample: float) -> None:
    """The largest rate of two cycles; both lower bounds after a round with a loss outside a probe."""
    f.rate_latest, f.latest = max(f.rate_latest, sample), max(f.latest, f.got)
    f.best_new = max(f.best_new, sample)
    f.bandwidth = max(f.best, f.best_new, 1e-9)
    if f.losses > 0.0:
        f.loss_events += 1.0
    if not f.loss_start:
        return
    probing = f.mode == STARTUP or (f.mode == PROBE_BW and f.phase >= REFILL)
    if f.loss_round and not probing:
        if f.rate_low >= NEVER:
            f.rate_low = f.bandwidth
        if f.low >= NEVER:
            f.low = f.cwnd
        f.rate_low, f.low = max(f.rate_latest, BETA * f.rate_low), max(f.latest, BETA * f.low)
    f.loss_round = False


def start_up(f: Bbr3, sample: float, now: float, u: float) -> None:
    """The plateau of the rate, in start-up and in probes; start-up's end by it or by losses; its drain."""
    pipe = f.bandwidth * f.least
    if not f.full_now:
        if sample >= FLAT_GROWTH * f.plateau:
            f.plateau, f.flat = sample, 0.0
        elif f.new_round:
            f.flat += 1.0
            if f.flat >= FLAT_ROUNDS:
                f.full_now = f.full = True
    if f.loss_start:
        if not f.full and f.loss_events >= f.probing.events and f.lost_trip > THRESHOLD * f.in_flight:
            f.full, f.upper = True, max(pipe, f.latest)
        f.loss_events = 0.0
    if f.mode == STARTUP and f.full:
        f.mode = DRAIN
    if f.mode == DRAIN and f.flight <= pipe:
        f.mode = PROBE_BW
        begin_down(f, now, u)


def upper_bound(f: Bbr3, acked: float, now: float, u: float) -> bool:
    """What the last round trip's losses say of what was in flight; True where it has decided the next phase."""
    if f.stopping and f.new_round:
        f.probes = f.stopping = False
        if f.mode == PROBE_BW:
            if f.best_new > 0.0:
                f.best, f.best_new = f.best_new, 0.0
            if f.risky and not f.too_high:
                begin_refill(f)
                return True
    if f.lost_trip > 0.5 and f.lost_trip > THRESHOLD * f.in_flight:
        if f.probes:
            f.too_high, f.probes = True, False
            f.upper = max(f.in_flight, BETA * min(f.pipe, f.cwnd))
            if f.mode == PROBE_BW and f.phase == UP:
                begin_down(f, now, u)
    elif f.upper < NEVER:
        f.upper = max(f.upper, f.in_flight)
        if f.mode == PROBE_BW and f.phase == UP and f.cwnd >= f.upper and f.flight + acked + 1.0 >= f.cwnd:
            f.up_acks += acked
            step = max(f.cwnd / 2.0 ** (f.up_rounds - 1.0), 1.0)
            f.upper += math.floor(f.up_acks / step)
            f.up_acks -= step * math.floor(f.up_acks / step)
            if f.new_round:
                f.up_rounds = min(f.up_rounds + 1.0, 30.0)
    return False


def cycle(f: Bbr3, sample: float, acked: float, now: float, u: float) -> None:
    """Down, cruise, refill, up."""
    if not f.full or upper_bound(f, acked, now, u) or f.mode != PROBE_BW:
        return
    pipe = f.bandwidth * f.least
    prior = f.flight + acked + f.losses
    if f.phase == UP:
        done = False
        if f.too_high and prior >= f.upper:
            f.risky, done = True, True
        elif not f.probing.plateau:
            done = now - f.cycle > f.least and prior >= UP_GAIN * pipe
        elif f.cwnd >= f.upper and f.flight + acked + 1.0 >= f.cwnd:
            f.plateau, f.flat, f.full_now = sample, 0.0, False
        else:
            done = f.full_now
        if done:
            f.too_high = False
            begin_down(f, now, u)
    elif f.phase == REFILL:
        if f.new_round:
            f.probes, f.phase, f.cycle, f.next_round = True, UP, now, f.acked
            f.plateau, f.flat, f.full_now = sample, 0.0, False
            f.up_rounds += 1.0
    elif now - f.cycle > f.wait or f.rounds_since >= min(MOST_ROUNDS, f.pipe, f.cwnd):
        begin_refill(f)
    elif f.phase == DOWN and prior <= min(pipe, max((1.0 - HEADROOM) * f.upper, LEAST_WINDOW)):
        f.phase = CRUISE
        if f.low < NEVER:
            f.low = min(f.low, f.upper)


def pause(f: Bbr3, now: float, u: float) -> None:
    """The least round trip of ten seconds, and the half of the pipe for 200 ms that looks for it every five."""
    expired = f.stamp_new > 0.0 and now > f.stamp_new + PROBE_RTT_S
    if f.trip < f.least_new or expired or f.stamp_new == 0.0:
        f.least_new, f.stamp_new = f.trip, max(now, 1e-6)
    if f.least_new <= f.least or now > f.stamp + MIN_RTT_S:
        f.least, f.stamp = f.least_new, f.stamp_new
    if expired and f.mode != PROBE_RTT:
        f.mode, f.probe_end, f.stopping, f.next_round = PROBE_RTT, NEVER, True, f.acked
    if f.mode == PROBE_RTT and f.settled(now, max(KEPT * f.pipe, LEAST_WINDOW)):
        f.stamp_new, f.rate_low, f.low = now, NEVER, NEVER
        f.probe_round, f.probe_end = False, NEVER
        f.mode = PROBE_BW if f.full else STARTUP
        begin_down(f, now, u)
        f.phase = CRUISE


def bounded(f: Bbr3, acked: float) -> None:
    """Pacing rate and congestion window within the bounds."""
    probing = f.probing
    gain, wide = 1.0, WINDOW
    if f.mode == STARTUP:
        gain, wide = probing.start, probing.start_window
    elif f.mode == DRAIN:
        gain, wide = 1.0 / START_GAIN, probing.start_window
    elif f.mode == PROBE_BW and f.phase == UP:
        gain, wide = UP_GAIN, probing.window
    elif f.mode == PROBE_BW and f.phase == DOWN:
        gain = probing.down
    rate = min(f.bandwidth, f.rate_low)
    f.paced(gain * rate * MARGIN)
    target = wide * rate * f.least + 3.0 * f.burst()
    window = f.cwnd
    if f.full:
        window = min(window + acked, target)
    elif window < target or f.acked < 2.0 * INITIAL:
        window += acked
    most = NEVER
    if f.mode == PROBE_RTT or (f.mode == PROBE_BW and f.phase == CRUISE):
        most = (1.0 - HEADROOM) * f.upper
    elif f.mode == PROBE_BW:
        most = f.upper
    if f.mode == PROBE_RTT:
        most = min(most, KEPT * f.pipe)
    f.cwnd = max(min(window, most, f.low), LEAST_WINDOW)


def bbr3_flow(f: Bbr3, acked: float, sample: float, now: float, u: float) -> None:
    """BBR v2 and v3: model of the path, cycle, bounds, window and pacing rate.

    ``u`` is a draw from 0 to 1.
    """
    if acked > 1e-9:
        if f.least >= NEVER:
            f.least = f.trip
        if f.new_round:
            f.rounds_since += 1.0
        lower_bounds(f, sample)
        start_up(f, sample, now, u)
        cycle(f, sample, acked, now, u)
        pause(f, now, u)
        bounded(f, acked)
        if f.loss_start:
            f.rate_latest, f.latest = sample, f.got
