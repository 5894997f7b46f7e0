"""Flows that compete: unequal round trips, unequal algorithms, at one drop-tail bottleneck.

Time goes in equal slices of a part of the shortest round trip. Each flow is a fluid with its own state
machine (those that go by losses by their windows, BBR by its model of the path); what it sends meets the
others in one queue, well mixed; departures come back after its base round trip, drops after that and the
full queue's delay.

Flows that are alike go from event to event instead, as lanes of `rounds`: hours in some hundred steps, where slices
would be millions and a run of half a minute took ninety times as long, no nearer to measured flows (NOTES of
calibration/tcp-truth). Those lanes take the queue to follow the windows at once, which is no model of BBR beside
others: it probes bandwidth and delay within a round trip. Numbers and no arrays: the slice of sixteen runs of two flows
takes 0.15 ms so, as its two hundred operations on arrays of 32 would; compiling them took twelve seconds, as seven
pairs of flows take without.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import coefficients as known, controls
from dtnsim.physics.tcp._bbr1 import Bbr1
from dtnsim.physics.tcp._bbr3 import Bbr3
from dtnsim.physics.tcp._flow import RING, Flow, Windowed, ring

#: Slices in the shortest round trip; least and longest slice [s]
SLICES: Final = 4.0
SLICE_S: Final = (5e-4, 0.0075)
_MANY: Final = 30  #: segments dropped in a slice from which on it is sooner drawn how many of them each flow loses
_MODULUS: Final = 2147483647  #: the generator of Park and Miller; a draw is its state over this


@dataclass(frozen=True, slots=True)
class Link:
    """A bottleneck that flows share."""

    rate: float  #: Its rate [segments/s].
    buffer: float  #: Its drop-tail buffer [segments].
    loss: float = 0.0  #: Random loss behind it, which all meet [1].


@dataclass(frozen=True, slots=True)
class Sender:
    """A flow before it begins."""

    cc: str  #: Its algorithm, a name of `controls`.
    trip_s: float  #: Base round trip, hosts included [s].
    cap: float  #: Most segments in flight.
    start_s: float  #: Time of its first segment [s].


def slice_of(senders: Sequence[Sender], link: Link) -> float:
    """Length of a slice [s]: part of the shortest round trip, so that the longest fits into a flow's memory."""
    trips = [s.trip_s for s in senders]
    wanted = min(max(min(trips) / SLICES, SLICE_S[0]), SLICE_S[1])
    return max(wanted, 2 * (max(trips) + link.buffer / link.rate) / (RING - 8))


def run(senders: Sequence[Sender], link: Link, begin_s: float, end_s: float, seed: int) -> FloatArray:
    """Runs flows from their start.

    Args:
        senders: The flows.
        link: Their bottleneck.
        begin_s: Begin of the measured window [s].
        end_s: Its end [s].
        seed: Seed of this run's draws.

    Returns:
        (flows, 3): delivered segments, lost segments, mean round trip [s] in the measured window.

    Valid: round trips of 1 ms to 0.4 s, buffers of a few segments and more.
    Neglects: order within the queue, bursts, timeouts; what round trips are beside a queue of seconds (see `slice_of`).
    Source: net/ipv4/tcp_cubic.c, tcp_bbr.c, tcp_input.c (PRR); coefficients `BURST_LOSS`, `BBR_NOISE`.
    """
    slice_s = slice_of(senders, link)
    noise = known.BBR_NOISE.value if sum(not controls.find(s.cc).by_loss for s in senders) > 1 else 0.0
    flows = [_flow(s, noise, slice_s) for s in senders]
    queue = _Queue(link.rate, slice_s, max(link.buffer - 1.0, 1.0), link.loss)
    queue.run(flows, int(begin_s / slice_s), int(end_s / slice_s), seed % (_MODULUS - 1) + 1)
    return np.array([f.totals for f in flows]) * [1.0, 1.0, slice_s / (end_s - begin_s)]


def _flow(s: Sender, noise: float, slice_s: float) -> Flow:
    """A flow that has sent nothing."""
    law, steps = controls.find(s.cc), max(1, int(s.trip_s / slice_s + 0.5))
    if law.by_loss:
        return Windowed(law, s.trip_s, s.start_s, steps, s.cap)
    if law.probing is not None:
        return Bbr3(law, s.trip_s, s.start_s, steps, s.cap)
    return Bbr1(law, s.trip_s, s.start_s, steps, s.cap, noise=noise)


class _Queue:
    """A drop-tail queue and the flows that meet there.

    Args:
        rate: Its rate [segments/s].
        slice_s: Length of a slice [s].
        room: Its buffer [segments].
        loss: Random loss behind it [1].
    """

    def __init__(self, rate: float, slice_s: float, room: float, loss: float) -> None:
        self.rate, self.slice_s, self.room, self.loss = rate, slice_s, room, loss
        self.most = rate * slice_s
        self.full = int(room / rate / slice_s + 0.5)
        self.delays = ring()

    def run(self, flows: list[Flow], first: int, last: int, seed: int) -> None:
        """Runs the flows for ``last`` slices; from the ``first`` on they are measured."""
        self._rng = np.random.default_rng(seed)
        for n in range(last):
            seed = seed * 16807 % _MODULUS
            phase = seed % 7
            for f in flows:
                f.sends = self._turn(f, n, phase + (phase > 0))
            seed = seed * 16807 % _MODULUS
            total = self._serve(flows, seed / _MODULUS, (seed % 10007) / 10007.0)
            self.delays[n % RING] = self._depart(flows, n, total, (seed % 99991) / 99991.0) / self.rate
            if n >= first:
                slot = n % RING
                for f in flows:
                    totals = f.totals
                    totals[0] += f.outs[slot]
                    totals[1] += f.drops[slot] + f.strays[slot]
                    totals[2] += f.trip

    def _turn(self, f: Flow, n: int, phase: int) -> float:
        """One flow's slice: what came back, its control law, and what it may send [segments]."""
        slice_s = self.slice_s
        if n * slice_s < f.start:
            return 0.0
        back, acked, lost, delay = n - f.steps, 0.0, 0.0, 0.0
        if back >= 0:
            slot = back % RING
            acked, delay = f.outs[slot], self.delays[slot]
            lost = (f.drops[(back - self.full) % RING] if back >= self.full else 0.0) + f.strays[slot]
        trip = f.base + delay
        since = n - max(int(trip / slice_s + 0.5), f.steps)  # a round trip is a slice at least
        before = f.acks[since % RING] if since >= 0 else 0.0
        if back >= 0:
            f.flight = max(f.flight - acked - lost, 0.0)
            f.acked += acked
            f.lost += lost
        f.losses, f.trip, f.new_round = lost, trip, acked > 1e-9 and before >= f.next_round
        if f.new_round:
            f.next_round = f.acked
            f.round += 1
        f.event = lost > 0.5 and f.acked + f.lost > f.high and not f.recovering
        f.respond(acked, before, since, slice_s, n, phase)
        f.acks[n % RING] = f.acked
        room, paced = (min(f.cap, f.cwnd)) - f.flight, f.pace * slice_s
        return 0.0 if room <= 0.0 else min(paced, room)  # builtins take three times as long

    def _serve(self, flows: list[Flow], u: float, v: float) -> float:
        """Puts the slice's arrivals into the FIFO; returns its backlog before the slice's service.

        What passes the buffer is dropped in whole segments, shared out between packets and bursts: by sends / N^power.
        """
        total = 0.0
        for f in flows:
            f.dropped = 0.0
            total += f.queued + f.sends
        over = total - self.room - self.most
        if over <= 0.0:
            return total
        pulls = [f.sends / f.burst() ** known.BURST_LOSS.value for f in flows]
        pull = sum(pulls)
        if pull <= 0.0:
            return total
        count = int(over + u)
        if count > _MANY:  # the same chances all at once
            for f, drawn in zip(flows, self._rng.multinomial(count, np.array(pulls) / pull).tolist(), strict=True):
                f.dropped = float(min(drawn, int(f.queued + f.sends)))
                total -= f.dropped
            return total
        for _ in range(count):
            v = (v * 16807.0 + 0.1) % 1.0
            point = v * pull
            for f, part in zip(flows, pulls, strict=True):
                point -= part
                if point <= 0.0 or f is flows[-1]:
                    if f.dropped + 1.0 <= f.queued + f.sends:
                        f.dropped += 1.0
                        total -= 1.0
                    break
        return total

    def _depart(self, flows: list[Flow], n: int, total: float, u: float) -> float:
        """Serves the well-mixed backlog; each flow's share leaves, random loss takes of it; returns what stays."""
        out, slot = min(self.most, total), n % RING
        share = out / total if total > 1e-12 else 0.0
        for f in flows:
            backlog = max(f.queued + f.sends - f.dropped, 0.0)
            busy = backlog * share
            f.queued, stray = backlog - busy, 0.0
            if self.loss > 0.0:
                u = (u * 16807.0 + 0.1) % 1.0
                stray = min(float(int(busy * self.loss + u)), busy)
                busy -= stray
            f.flight += f.sends
            f.sent += f.sends
            f.outs[slot], f.drops[slot], f.strays[slot] = busy, f.dropped, stray
        return total - out
