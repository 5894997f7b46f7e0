"""BBR v2 and v3 beside others: bounds of rate and of what is in flight, and the cycle that moves them.

A flow keeps the largest delivery rate of two cycles, an upper bound of what is in flight (set where a probe lost more
than 2 % of a flight, raised where it did not), and lower bounds of both, cut by 0.7 in every round with a loss outside
a probe and forgotten at the next probe.
"""

import math
from dataclasses import dataclass, field

from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp._flow import DRAIN, NEVER, PROBE_BW, PROBE_RTT, RING, STARTUP, Modelled, ring
from dtnsim.physics.tcp.controls import Probing

DOWN, CRUISE, REFILL, UP = range(4)
THRESHOLD, BETA, HEADROOM = linux.BBR3_LOSS_THRESHOLD, linux.BBR3_BETA, linux.BBR3_HEADROOM
MOST_ROUNDS, WAIT_S = linux.BBR3_MOST_ROUNDS, linux.BBR3_PROBE_S
PROBE_RTT_S, KEPT = linux.BBR3_PROBE_RTT_S, linux.BBR3_PROBE_RTT_GAIN
START_GAIN, UP_GAIN, WINDOW = linux.BBR_HIGH_GAIN, linux.BBR_CYCLE[0], linux.BBR_CWND_GAIN
MARGIN, LEAST_WINDOW, MIN_RTT_S = linux.BBR_MARGIN, linux.BBR_MIN_WINDOW, linux.BBR_MIN_RTT_S
INITIAL = linux.INITIAL_WINDOW


@dataclass(slots=True, eq=False, repr=False)
class Bbr3(Modelled):
    """A flow of BBR v2 or v3."""

    #: Largest delivery rates of the last cycle and of this one [segments/s].
    best: float = 0.0
    best_new: float = 0.0
    #: Lower bounds of rate [segments/s] and of what is in flight, its upper bound [segments].
    rate_low: float = NEVER
    low: float = NEVER
    upper: float = NEVER
    #: Largest delivery rate of the round [segments/s], and what it delivered [segments].
    rate_latest: float = 0.0
    latest: float = 0.0
    #: Whether the round that counts losses had one, whether one begins, and what is acknowledged by then [segments].
    loss_round: bool = False
    loss_start: bool = False
    loss_next: float = 0.0
    loss_events: float = 0.0  #: Slices with a loss in the round.
    full_now: bool = False  #: Whether the rate of this start-up or probe has stopped growing.
    #: Rounds since the last probe, and time until the next [s].
    rounds_since: float = 0.0
    wait: float = 0.0
    too_high: bool = False  #: Whether a probe lost too much.
    risky: bool = False  #: Whether the last probe found the upper bound.
    probes: bool = False  #: Whether the losses of what is in flight tell of a probe.
    #: Rounds of the probe, and what was acknowledged since the upper bound was raised.
    up_rounds: float = 0.0
    up_acks: float = 0.0
    stopping: bool = False  #: Whether a probe's last round trip is under way.
    #: Least round trip of the last seconds, and when it was seen [s].
    least_new: float = NEVER
    stamp_new: float = 0.0
    #: What the last round trip delivered, began with in flight, and lost [segments].
    got: float = 0.0
    in_flight: float = 0.0
    lost_trip: float = 0.0
    #: What it had lost and in flight, and its round trip in whole slices [s], by slice.
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

    @property
    def pushes(self) -> bool:
        """Whether what is in flight is held by its upper bound."""
        return self.cwnd >= self.upper and self.flight + self.came + 1.0 >= self.cwnd

    def respond(self, acked: float, before: float, since: int, slice_s: float, n: int, phase: int) -> None:
        """The control law, as `Flow.respond`.

        Packets acknowledged now were sent in as long a time as the round trip took when they left: they measure no
        rate above that at which they were sent (net/ipv4/tcp_rate.c: the longer of the two intervals). Rounds
        that count losses begin anew with the first of them (tcp_bbr2.c: bbr2_skb_marked_lost).
        """
        sent_slot, slot = since % RING, n % RING
        self.got, self.trips[slot] = self.acked - before, (n - since) * slice_s
        if self.losses > 0.0 and not self.loss_round:
            self.loss_round, self.loss_next = True, self.acked
        self.loss_start = acked > 1e-9 and before >= self.loss_next
        if self.loss_start:
            self.loss_next = self.acked
        took = self.trips[slot]
        if since >= 0:
            self.in_flight, self.lost_trip = self.flights[sent_slot], self.lost - self.losts[sent_slot]
            took = max(took, self.trips[sent_slot])
        self.came, self.rate, self.now, self.draw = acked, self.got / took, n * slice_s, phase
        if acked > 1e-9:
            self._model()
        sends = min(max(min(self.cwnd, self.cap) - self.flight, 0.0), self.pace * slice_s)
        self.losts[slot], self.flights[slot] = self.lost, self.flight + sends

    def _model(self) -> None:
        """Model of the path, cycle, bounds, window and pacing rate."""
        if self.least >= NEVER:
            self.least = self.trip
        if self.new_round:
            self.rounds_since += 1.0
        self._lower_bounds()
        self._start_up()
        self._cycle()
        self._pause()
        self._bounded()
        if self.loss_start:
            self.rate_latest, self.latest = self.rate, self.got

    def _begin_down(self) -> None:
        """A new cycle: the next probe comes in two to three seconds, or as many rounds as the flight has segments."""
        self.rate_latest = self.latest = 0.0
        self.loss_round = False
        u = self.draw / 8.0
        self.rounds_since, self.wait = math.floor(2.0 * u), WAIT_S + u
        self.cycle, self.stopping, self.next_round, self.phase = self.now, True, self.acked, DOWN

    def _begin_refill(self) -> None:
        """A round at the largest rate, before a probe."""
        self.rate_low = self.low = NEVER
        self.up_rounds = self.up_acks = 0.0
        self.risky = self.stopping = False
        self.next_round, self.phase = self.acked, REFILL

    def _lower_bounds(self) -> None:
        """The largest rate of two cycles; both lower bounds after a round with a loss outside a probe."""
        self.rate_latest, self.latest = max(self.rate_latest, self.rate), max(self.latest, self.got)
        self.best_new = max(self.best_new, self.rate)
        self.bandwidth = max(self.best, self.best_new, 1e-9)
        if self.losses > 0.0:
            self.loss_events += 1.0
        if not self.loss_start:
            return
        probing = self.mode == STARTUP or (self.mode == PROBE_BW and self.phase >= REFILL)
        if self.loss_round and not probing:
            if self.rate_low >= NEVER:
                self.rate_low = self.bandwidth
            if self.low >= NEVER:
                self.low = self.cwnd
            self.rate_low, self.low = max(self.rate_latest, BETA * self.rate_low), max(self.latest, BETA * self.low)
        self.loss_round = False

    def _start_up(self) -> None:
        """The plateau of the rate, in start-up and in probes; start-up's end by it or by losses; its drain."""
        pipe = self.bandwidth * self.least
        if not self.full_now and self.flattens(self.rate):
            self.full_now = self.full = True
        if self.loss_start:
            lossy = self.loss_events >= self.probing.events and self.lost_trip > THRESHOLD * self.in_flight
            if lossy and not self.full:
                self.full, self.upper = True, max(pipe, self.latest)
            self.loss_events = 0.0
        if self.mode == STARTUP and self.full:
            self.mode = DRAIN
        if self.mode == DRAIN and self.flight <= pipe:
            self.mode = PROBE_BW
            self._begin_down()

    def _upper_bound(self) -> bool:
        """What the last round trip's losses say of what was in flight; True where it has decided the next phase."""
        if self.stopping and self.new_round:
            self.probes = self.stopping = False
            if self.mode == PROBE_BW:
                if self.best_new > 0.0:
                    self.best, self.best_new = self.best_new, 0.0
                if self.risky and not self.too_high:
                    self._begin_refill()
                    return True
        if self.lost_trip > 0.5 and self.lost_trip > THRESHOLD * self.in_flight:
            if self.probes:
                self.too_high, self.probes = True, False
                self.upper = max(self.in_flight, BETA * min(self.pipe, self.cwnd))
                if self.mode == PROBE_BW and self.phase == UP:
                    self._begin_down()
        elif self.upper < NEVER:
            self.upper = max(self.upper, self.in_flight)
            if self.mode == PROBE_BW and self.phase == UP and self.pushes:
                self.up_acks += self.came
                step = max(self.cwnd / 2.0 ** (self.up_rounds - 1.0), 1.0)
                self.upper += math.floor(self.up_acks / step)
                self.up_acks -= step * math.floor(self.up_acks / step)
                if self.new_round:
                    self.up_rounds = min(self.up_rounds + 1.0, 30.0)
        return False

    def _cycle(self) -> None:
        """Down, cruise, refill, up."""
        pushed = self.pushes  # by most acknowledgements of the slice, before it raises the bound
        if not self.full or self._upper_bound() or self.mode != PROBE_BW:
            return
        pipe = self.bandwidth * self.least
        prior = self.flight + self.came + self.losses
        if self.phase == UP:
            done = False
            if self.too_high and prior >= self.upper:
                self.risky, done = True, True
            elif not self.probing.plateau:
                done = self.now - self.cycle > self.least and prior >= UP_GAIN * pipe
            elif pushed:
                self.plateau, self.flat, self.full_now = self.rate, 0.0, False
            else:
                done = self.full_now
            if done:
                self.too_high = False
                self._begin_down()
        elif self.phase == REFILL:
            if self.new_round:
                self.probes, self.phase, self.cycle, self.next_round = True, UP, self.now, self.acked
                self.plateau, self.flat, self.full_now = self.rate, 0.0, False
                self.up_rounds += 1.0
        elif self.now - self.cycle > self.wait or self.rounds_since >= min(MOST_ROUNDS, self.pipe, self.cwnd):
            self._begin_refill()
        elif self.phase == DOWN and prior <= min(pipe, max((1.0 - HEADROOM) * self.upper, LEAST_WINDOW)):
            self.phase = CRUISE
            if self.low < NEVER:
                self.low = min(self.low, self.upper)

    def _pause(self) -> None:
        """The least round trip of ten seconds, and the half of the pipe for 200 ms that looks for it every five."""
        expired = self.stamp_new > 0.0 and self.now > self.stamp_new + PROBE_RTT_S
        if self.trip < self.least_new or expired or self.stamp_new == 0.0:
            self.least_new, self.stamp_new = self.trip, max(self.now, 1e-6)
        if self.least_new <= self.least or self.now > self.stamp + MIN_RTT_S:
            self.least, self.stamp = self.least_new, self.stamp_new
        if expired and self.mode != PROBE_RTT:
            self.mode, self.probe_end, self.stopping, self.next_round = PROBE_RTT, NEVER, True, self.acked
        if self.mode == PROBE_RTT and self.settled(max(KEPT * self.pipe, LEAST_WINDOW)):
            self.stamp_new, self.rate_low, self.low = self.now, NEVER, NEVER
            self.probe_round, self.probe_end = False, NEVER
            self.mode = PROBE_BW if self.full else STARTUP
            self._begin_down()
            self.phase = CRUISE

    def _bounded(self) -> None:
        """Pacing rate and congestion window within the bounds."""
        probing = self.probing
        gain, wide = 1.0, WINDOW
        if self.mode == STARTUP:
            gain, wide = probing.start, probing.start_window
        elif self.mode == DRAIN:
            gain, wide = 1.0 / START_GAIN, probing.start_window
        elif self.mode == PROBE_BW and self.phase == UP:
            gain, wide = UP_GAIN, probing.window
        elif self.mode == PROBE_BW and self.phase == DOWN:
            gain = probing.down
        rate = min(self.bandwidth, self.rate_low)
        self.paced(gain * rate * MARGIN)
        target = wide * rate * self.least + 3.0 * self.burst()
        window = self.cwnd
        if self.full:
            window = min(window + self.came, target)
        elif window < target or self.acked < 2.0 * INITIAL:
            window += self.came
        most = NEVER
        if self.mode == PROBE_RTT or (self.mode == PROBE_BW and self.phase == CRUISE):
            most = (1.0 - HEADROOM) * self.upper
        elif self.mode == PROBE_BW:
            most = self.upper
        if self.mode == PROBE_RTT:
            most = min(most, KEPT * self.pipe)
        self.cwnd = max(min(window, most, self.low), LEAST_WINDOW)
