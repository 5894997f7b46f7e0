"""A flow that competes with others in a queue: what all have, and those that go by losses."""

from dataclasses import dataclass, field
from typing import Final

from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp.controls import Control, cubic, cut, westwood

RING: Final = 512  #: slices that a flow remembers: the longest round trip with its queue
#: largest burst of segmentation offload at MTU 1500 [segments]
BURST: Final = 44.0
NEVER: Final = 1e30
STARTUP, DRAIN, PROBE_BW, PROBE_RTT = range(4)
ALPHA: Final = 0.125  #: share of srtt's newest sample (RFC 6298)
# constants of the sender by the names that they have in `linux`
HIGH_GAIN, FAIR = linux.BBR_HIGH_GAIN, linux.CUBIC_FRIENDLY
WINDOW, BURSTS = linux.INITIAL_WINDOW, linux.BURSTS_PER_S
SLOW, FAST, LOW_WINDOW = linux.PACING_SLOW_START, linux.PACING_AVOIDANCE, linux.HYSTART_LOW


def ring() -> list[float]:
    """What a flow remembers of each slice."""
    return [0.0] * RING


@dataclass(slots=True, eq=False, repr=False)
class Flow:
    """A flow in slices of time, in segments and seconds."""

    control: Control  #: Its congestion control.
    base: float  #: Its round trip without queues [s].
    start: float  #: Time of its first segment [s].
    steps: int  #: Slices in the round trip without queues.
    cap: float  #: Most segments in flight.
    #: Congestion window and segments in flight.
    cwnd: float = WINDOW
    flight: float = 0.0
    pace: float = 0.0  #: Rate at which it sends [segments/s].
    #: Counters.
    acked: float = 0.0
    sent: float = 0.0
    lost: float = 0.0
    losses: float = 0.0  #: Lost in what came back in this slice.
    event: bool = False  #: Whether a new loss event begins.
    #: Whether it recovers from losses, until so many are acknowledged or lost.
    recovering: bool = False
    high: float = -1.0
    #: Round trip now, the least of all [s].
    trip: float = 0.0
    least: float = NEVER
    #: Whether a round begins; what is acknowledged by then; rounds so far.
    new_round: bool = False
    next_round: float = 0.0
    round: int = 0
    #: Sent in this slice, in the queue, dropped at the full queue.
    sends: float = 0.0
    queued: float = 0.0
    dropped: float = 0.0
    #: What it was served, dropped, lost behind the queue, and had acknowledged, by slice.
    outs: list[float] = field(default_factory=ring)
    drops: list[float] = field(default_factory=ring)
    strays: list[float] = field(default_factory=ring)
    acks: list[float] = field(default_factory=ring)
    #: Served, lost and the sum of its round trips in the measured window.
    totals: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])

    def respond(self, acked: float, before: float, since: int, slice_s: float, n: int, phase: int) -> None:
        """The control law: window and pacing rate after what came back.

        Args:
            acked: Segments acknowledged in this slice.
            before: What had been acknowledged a round trip ago.
            since: Slice of a round trip ago, negative before the first.
            slice_s: Length of a slice [s].
            n: Number of this one.
            phase: A draw from 1 to 6.

        Source: net/ipv4/tcp_input.c and tcp_rate.c, which hand each acknowledgment's figures to the control.
        """
        raise NotImplementedError

    def burst(self) -> float:
        """Largest burst of segmentation offload at its rate [segments]."""
        size = self.pace / BURSTS
        return 2.0 if size < 2.0 else min(BURST, size)


@dataclass(slots=True, eq=False, repr=False)
class Modelled(Flow):
    """A flow that goes by a model of its path (BBR)."""

    #: Acknowledged in this slice [segments], and delivery rate of the last round trip [segments/s].
    came: float = 0.0
    rate: float = 0.0
    #: Time [s], and a draw from 1 to 6.
    now: float = 0.0
    draw: int = 1
    bandwidth: float = 0.0  #: Its estimate of the bottleneck's rate [segments/s].
    #: `STARTUP`, `DRAIN`, `PROBE_BW` or `PROBE_RTT`; phase of the probing, and its begin [s].
    mode: int = STARTUP
    phase: int = 0
    cycle: float = 0.0
    #: Rate that start-up has reached, rounds without growth, whether it is over.
    plateau: float = 0.0
    flat: float = 0.0
    full: bool = False
    stamp: float = 0.0  #: When the least round trip was seen [s].
    #: End of ProbeRTT [s], and whether a round has passed in it.
    probe_end: float = NEVER
    probe_round: bool = False

    def __post_init__(self) -> None:
        self.bandwidth = WINDOW / self.base
        self.pace = HIGH_GAIN * WINDOW / self.base

    def flattens(self, rate: float) -> bool:
        """Whether a rate has grown by less than a quarter for three rounds (tcp_bbr.c: bbr_full_bw_reached)."""
        if rate >= linux.BBR_FULL_GROWTH * self.plateau:
            self.plateau, self.flat = rate, 0.0
        elif self.new_round:
            self.flat += 1.0
            return self.flat >= linux.BBR_FULL_ROUNDS
        return False

    def settled(self, floor: float) -> bool:
        """Whether ProbeRTT is over: 200 ms and a round after what is in flight has come down to ``floor`` segments."""
        if self.probe_end >= NEVER:
            if self.flight <= floor + 0.5:
                self.probe_end, self.probe_round, self.next_round = self.now + linux.BBR_PROBE_RTT_S, False, self.acked
        elif self.new_round:
            self.probe_round = True
        return self.probe_round and self.now > self.probe_end

    def paced(self, rate: float) -> None:
        """Paces at a rate; in start-up never slower than before."""
        self.pace = rate if self.full else max(rate, self.pace)


@dataclass(slots=True, eq=False, repr=False)
class Windowed(Flow):
    """A flow that goes by losses: slow start with HyStart, avoidance, proportional rate reduction."""

    #: Threshold, and the window before the last loss [segments].
    ssthresh: float = NEVER
    before: float = 1.0
    #: State of CUBIC and H-TCP, as in `_lanes.State`.
    top: float = 0.0
    epoch: float = -1.0
    k: float = 0.0
    origin: float = 0.0
    friendly: float = 0.0
    beta: float = linux.RENO_BETA
    estimate: float = 0.0  #: Westwood's of what is in flight [segments].
    most: float = 0.0  #: Largest queueing delay [s].
    smooth: float = 0.0  #: Smoothed round trip [s].

    def __post_init__(self) -> None:
        self.smooth = self.base

    def respond(self, acked: float, before: float, since: int, slice_s: float, n: int, phase: int) -> None:
        """The control law, as `Flow.respond` (net/ipv4/tcp_input.c; RFC 6298 for the smoothed round trip)."""
        del before, since, phase
        if acked > 1e-9:
            self.smooth += ALPHA * (self.trip - self.smooth) * min(1.0, acked)
        if self.control.estimates:
            self.estimate = westwood.filtered(self.estimate, acked / slice_s * self.base, slice_s, self.trip)
        self.most = max(self.most, self.trip - self.base)
        self._window(acked, n * slice_s)
        if acked > 1e-9:
            self.least = min(self.least, self.trip)
        slow = self.ssthresh >= NEVER or self.cwnd < self.ssthresh / 2
        self.pace = (SLOW if slow else FAST) * max(self.cwnd, self.flight) / self.smooth

    def _window(self, acked: float, now: float) -> None:
        if self.recovering and self.acked + self.lost >= self.high:
            self.recovering = False
            if self.control.estimates:
                self.ssthresh = westwood.returned(self.estimate)
            self.cwnd = self.ssthresh
        if self.event:
            self._notice()
        if self.recovering:
            if self.flight > self.ssthresh:
                self.cwnd = self.flight + acked * self.ssthresh / max(self.before, 1.0)
            else:
                self.cwnd = min(self.ssthresh, self.flight + acked + 1.0)
        elif acked > 1e-9 and self.flight + acked + 1.0 >= 0.5 * self.cwnd and self.cwnd < self.cap:
            if self.cwnd >= self.ssthresh:
                self._avoid(acked, now)
            elif self.ssthresh >= NEVER and self._late():
                self.ssthresh = self.cwnd
            else:
                self.cwnd = min(self.cwnd + acked, self.ssthresh)

    def _late(self) -> bool:
        """Whether HyStart's delay ends slow start (CUBIC only)."""
        begins = self.control.cube and self.new_round and self.cwnd >= LOW_WINDOW
        return begins and self.trip > self.least + cubic.hystart_delay(self.least)

    def _notice(self) -> None:
        """A loss is noticed."""
        window = self.cwnd
        self.top = cubic.new_top(window, self.top)
        assert self.control.kept is not None
        self.beta = self.control.kept(window, self.base, self.trip - self.base, self.most)
        self.ssthresh = cut(window, self.beta)
        self.before, self.high, self.recovering, self.epoch = window, self.sent, True, -1.0

    def _avoid(self, acked: float, now: float) -> None:
        """Congestion avoidance: growth per acknowledged segment."""
        share = acked / max(self.cwnd, 1.0)
        if self.epoch < 0.0:
            self.epoch, self.friendly = now, self.cwnd
            self.k, self.origin = cubic.plateau(self.top, self.cwnd)
        since, delay = now - self.epoch, self.trip - self.base
        if self.control.cube:
            self.friendly += FAIR * share
            least = self.least if self.least < NEVER else self.base
            growth = cubic.climb(self.cwnd, self.origin, since + least - self.k, self.friendly, self.top, 0.01)
        else:
            assert self.control.growth is not None
            growth = self.control.growth(self.cwnd, since, self.base, self.beta, delay, self.most)
        self.cwnd += growth * share
