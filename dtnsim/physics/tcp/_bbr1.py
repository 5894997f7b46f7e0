"""BBR v1 beside others: model of the path, state machine, window and pacing rate."""

from dataclasses import dataclass, field

from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp._flow import DRAIN, NEVER, PROBE_BW, PROBE_RTT, STARTUP, Modelled

# constants of the sender by the names that they have in `linux`
GAINS, HIGH_GAIN, MARGIN = linux.BBR_CYCLE, linux.BBR_HIGH_GAIN, linux.BBR_MARGIN
WINDOW, FILTER = linux.INITIAL_WINDOW, linux.BBR_FILTER_ROUNDS
MIN_RTT_S, CWND_GAIN, LEAST_WINDOW = linux.BBR_MIN_RTT_S, linux.BBR_CWND_GAIN, linux.BBR_MIN_WINDOW


@dataclass(slots=True, eq=False, repr=False)
class Bbr1(Modelled):
    """A flow of BBR v1."""

    #: Largest delivery rates of the last rounds [segments/s].
    best: list[float] = field(default_factory=lambda: [0.0] * FILTER)
    prior: float = WINDOW  #: Window before a recovery or ProbeRTT [segments].
    conserve: bool = False  #: Whether it sends no more than what is delivered: the round after a loss.
    noise: float = 0.0  #: Bursts by which its delivery rate looks higher than it is (`coefficients.BBR_NOISE`).

    def respond(self, acked: float, before: float, since: int, slice_s: float, n: int, phase: int) -> None:
        """The control law, as `Flow.respond` (net/ipv4/tcp_bbr.c, bbr_main)."""
        got = self.acked - before + (self.noise * self.burst() if self.noise else 0.0)
        self.came, self.rate, self.now, self.draw = acked, got / ((n - since) * slice_s), n * slice_s, phase
        if acked > 1e-9:
            self._filter()
            if self.least >= NEVER:
                self.least = self.trip
            self._cruise()
            self._least_delay()
            if self.new_round and not self.event:
                self.conserve = False
            self._window()
        gain = 1.0
        if self.mode == STARTUP:
            gain = HIGH_GAIN
        elif self.mode == DRAIN:
            gain = 1 / HIGH_GAIN
        elif self.mode == PROBE_BW:
            gain = GAINS[self.phase]
        self.paced(gain * self.bandwidth * MARGIN)

    def _filter(self) -> None:
        """BBR's filter: the largest delivery rate of ten rounds; start-up ends when it stops growing."""
        best = self.best
        if self.mode != PROBE_RTT:
            if self.new_round:
                best[self.round % FILTER] = 0.0
            if self.new_round or self.rate > best[self.round % FILTER]:
                best[self.round % FILTER] = max(best[self.round % FILTER], self.rate)
                self.bandwidth = max(*best, 1e-9)
        if self.new_round and not self.full:
            self.full = self.flattens(self.bandwidth)

    def _cruise(self) -> None:
        """BBR's drain and the eight phases of ProbeBW."""
        pipe = self.bandwidth * self.least
        if self.mode == STARTUP and self.full:
            self.mode = DRAIN
        if self.mode == DRAIN and self.flight <= pipe:
            self.mode, self.phase, self.cycle = PROBE_BW, self.draw, self.now
        if self.mode != PROBE_BW:
            return
        gain = GAINS[self.phase]
        long = self.now - self.cycle > self.least
        if gain > 1.0:
            go = long and (self.losses > 0.0 or self.flight >= GAINS[0] * pipe)
        else:
            go = long or (gain < 1.0 and self.flight <= pipe)
        if go:
            self.phase, self.cycle = (self.phase + 1) % 8, self.now

    def _least_delay(self) -> None:
        """BBR's least round trip, and ProbeRTT when it has not been seen for ten seconds."""
        expired = self.stamp > 0.0 and self.now > self.stamp + MIN_RTT_S
        if self.trip <= self.least or expired:
            self.least, self.stamp = self.trip, max(self.now, 1e-6)
        if expired and self.mode != PROBE_RTT:
            self.prior = self.cwnd if not self.recovering else max(self.prior, self.cwnd)
            self.mode, self.probe_end = PROBE_RTT, NEVER
        if self.mode == PROBE_RTT and self.settled(LEAST_WINDOW):
            self.stamp, self.probe_round, self.probe_end = self.now, False, NEVER
            self.cwnd = max(self.cwnd, self.prior)
            self.mode = PROBE_BW if self.full else STARTUP
            self.phase, self.cycle = self.draw, self.now

    def _window(self) -> None:
        """BBR's congestion window: conservation for a round after a loss, then up to the target."""
        ended = self.recovering and self.acked + self.lost >= self.high
        if ended:
            self.recovering = False
        gain = HIGH_GAIN if self.mode <= DRAIN else CWND_GAIN if self.mode == PROBE_BW else 1.0
        target = gain * self.bandwidth * self.least + 3 * self.burst() + self.bandwidth * 0.0005
        window = self.cwnd
        if self.event:
            if self.mode != PROBE_RTT:
                self.prior = self.cwnd
            self.high, self.recovering, self.conserve = self.sent, True, True
            window = self.flight + self.came
        elif self.losses > 0.0:
            window = max(window - self.losses, 1.0)
        if ended:
            window, self.conserve = max(window, self.prior), False
        if self.conserve:
            window = max(window, self.flight + self.came)
        elif self.full:
            window = min(window + self.came, target)
        elif window < target or self.acked < WINDOW:
            window += self.came
        window = max(window, LEAST_WINDOW)
        self.cwnd = min(window, LEAST_WINDOW) if self.mode == PROBE_RTT else window
