"""BBR v1 beside others: model of the path, state machine, window and pacing rate."""

from __future__ import annotations

from dataclasses import dataclass, field

from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp._flow import DRAIN, NEVER, PROBE_BW, PROBE_RTT, STARTUP, Modelled

# constants of the sender by the names that they have in `linux`
GAINS, HIGH_GAIN, MARGIN = linux.BBR_CYCLE, linux.BBR_HIGH_GAIN, linux.BBR_MARGIN
WINDOW = linux.INITIAL_WINDOW
FILTER, FULL_GROWTH, FULL_ROUNDS = linux.BBR_FILTER_ROUNDS, linux.BBR_FULL_GROWTH, linux.BBR_FULL_ROUNDS
MIN_RTT_S, CWND_GAIN, LEAST_WINDOW = linux.BBR_MIN_RTT_S, linux.BBR_CWND_GAIN, linux.BBR_MIN_WINDOW


@dataclass(slots=True, eq=False, repr=False)
class Bbr1(Modelled):
    """A flow of BBR v1.

    Attributes:
        best: Largest delivery rates of the last rounds [segments/s].
        prior: Window before a recovery or ProbeRTT [segments].
        conserve: Whether it sends no more than what is delivered: the round after a loss.
        noise: Bursts by which its delivery rate looks higher than it is (`coefficients.BBR_NOISE`).
    """

    best: list[float] = field(default_factory=lambda: [0.0] * FILTER)
    prior: float = WINDOW
    conserve: bool = False
    noise: float = 0.0

    def respond(self, acked: float, before: float, since: int, slice_s: float, n: int, phase: int) -> None:
        """The control law, as `Flow.respond`."""
        got = self.acked - before + (self.noise * self.burst() if self.noise else 0.0)
        bbr_flow(self, acked, got / ((n - since) * slice_s), n * slice_s, phase)


def bandwidth(f: Bbr1, sample: float) -> None:
    """BBR's filter: the largest delivery rate of ten rounds; start-up ends when it stops growing."""
    best = f.best
    if f.mode != PROBE_RTT:
        if f.new_round:
            best[f.round % FILTER] = 0.0
        if f.new_round or sample > best[f.round % FILTER]:
            best[f.round % FILTER] = max(best[f.round % FILTER], sample)
            f.bandwidth = max(*best, 1e-9)
    if f.new_round and not f.full:
        if f.bandwidth >= FULL_GROWTH * f.plateau:
            f.plateau, f.flat = f.bandwidth, 0.0
        else:
            f.flat += 1.0
            if f.flat >= FULL_ROUNDS:
                f.full = True


def cruise(f: Bbr1, now: float, phase: int) -> None:
    """BBR's drain and the eight phases of ProbeBW."""
    pipe = f.bandwidth * f.least
    if f.mode == STARTUP and f.full:
        f.mode = DRAIN
    if f.mode == DRAIN and f.flight <= pipe:
        f.mode, f.phase, f.cycle = PROBE_BW, phase, now
    if f.mode != PROBE_BW:
        return
    gain = GAINS[f.phase]
    long = now - f.cycle > f.least
    if gain > 1.0:
        go = long and (f.losses > 0.0 or f.flight >= GAINS[0] * pipe)
    else:
        go = long or (gain < 1.0 and f.flight <= pipe)
    if go:
        f.phase, f.cycle = (f.phase + 1) % 8, now


def least_delay(f: Bbr1, now: float, phase: int) -> None:
    """BBR's least round trip, and ProbeRTT when it has not been seen for ten seconds."""
    expired = f.stamp > 0.0 and now > f.stamp + MIN_RTT_S
    if f.trip <= f.least or expired:
        f.least, f.stamp = f.trip, max(now, 1e-6)
    if expired and f.mode != PROBE_RTT:
        f.prior = f.cwnd if not f.recovering else max(f.prior, f.cwnd)
        f.mode, f.probe_end = PROBE_RTT, NEVER
    if f.mode == PROBE_RTT and f.settled(now, LEAST_WINDOW):
        f.stamp, f.probe_round, f.probe_end = now, False, NEVER
        f.cwnd = max(f.cwnd, f.prior)
        f.mode = PROBE_BW if f.full else STARTUP
        f.phase, f.cycle = phase, now


def bbr_window(f: Bbr1, acked: float) -> None:
    """BBR's congestion window: conservation for a round after a loss, then up to the target."""
    ended = f.recovering and f.acked + f.lost >= f.high
    if ended:
        f.recovering = False
    gain = HIGH_GAIN if f.mode <= DRAIN else CWND_GAIN if f.mode == PROBE_BW else 1.0
    target = gain * f.bandwidth * f.least + 3 * f.burst() + f.bandwidth * 0.0005
    window = f.cwnd
    if f.event:
        if f.mode != PROBE_RTT:
            f.prior = f.cwnd
        f.high, f.recovering, f.conserve = f.sent, True, True
        window = f.flight + acked
    elif f.losses > 0.0:
        window = max(window - f.losses, 1.0)
    if ended:
        window, f.conserve = max(window, f.prior), False
    if f.conserve:
        window = max(window, f.flight + acked)
    elif f.full:
        window = min(window + acked, target)
    elif window < target or f.acked < WINDOW:
        window += acked
    window = max(window, LEAST_WINDOW)
    f.cwnd = min(window, LEAST_WINDOW) if f.mode == PROBE_RTT else window


def bbr_flow(f: Bbr1, acked: float, sample: float, now: float, phase: int) -> None:
    """BBR v1: model of the path, state machine, window and pacing rate."""
    if acked > 1e-9:
        bandwidth(f, sample)
        if f.least >= NEVER:
            f.least = f.trip
        cruise(f, now, phase)
        least_delay(f, now, phase)
        if f.new_round and not f.event:
            f.conserve = False
        bbr_window(f, acked)
    gain = 1.0
    if f.mode == STARTUP:
        gain = HIGH_GAIN
    elif f.mode == DRAIN:
        gain = 1 / HIGH_GAIN
    elif f.mode == PROBE_BW:
        gain = GAINS[f.phase]
    f.paced(gain * f.bandwidth * MARGIN)
