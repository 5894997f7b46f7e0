"""Flows that compete: unequal round trips, unequal algorithms, at one drop-tail bottleneck.

Time goes in equal slices of a part of the shortest round trip. Each flow is a fluid with its own state
machine (those that go by losses by their windows, BBR by its model of the path); what it sends meets the
others in one queue, well mixed; departures come back after its base round trip, drops after that and the
full queue's delay.

Flows that are alike go from event to event instead, as lanes of `rounds`: hours in some hundred steps, where slices
would be millions. Those lanes take the queue to follow the windows at once, which is no model of BBR beside others: it
probes bandwidth and delay within a round trip. Numbers and no arrays: the slice of sixteen runs of two flows takes
0.15 ms so, as its two hundred operations on arrays of 32 would; compiling them took twelve seconds, as seven pairs of
flows take without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import coefficients as known
from dtnsim.physics.tcp import controls
from dtnsim.physics.tcp._bbr1 import Bbr1
from dtnsim.physics.tcp._bbr3 import Bbr3
from dtnsim.physics.tcp._flow import RING, Flow, Windowed, ring

IntArray = NDArray[np.int64]

#: Slices in the shortest round trip; least and longest slice [s]
SLICES: Final = 4.0
SLICE_S: Final = (5e-4, 0.0075)
#: the generator of Park and Miller; a draw is its state over this
_MODULUS: Final = 2147483647


@dataclass(frozen=True, slots=True)
class Lanes:
    """Lanes of competing flows: (lanes,) and (lanes, flows).

    Attributes:
        C: Rate left by the background [segments/s].
        B: Buffer left by the background [segments].
        T: Base round-trip times, hosts included [s].
        cc: Algorithms of the flows, the same in all lanes; names of `controls`.
        start: Time of the first segment [s].
        cap: Most segments in flight.
        marks: Begin and end of the measured window (lanes, 2) [s].
        loss: Random loss behind the queue [1].
        replica: Number of the run of its case.
    """

    C: FloatArray
    B: FloatArray
    T: FloatArray
    cc: Sequence[str]
    start: FloatArray
    cap: FloatArray
    marks: FloatArray
    loss: FloatArray
    replica: IntArray

    def slices(self) -> FloatArray:
        """Length of a slice in each lane [s]: the longest round trip fits into a flow's memory."""
        wanted = np.clip(self.T.min(axis=1) / SLICES, *SLICE_S)
        longest = self.T.max(axis=1) + self.B / self.C
        return np.asarray(np.maximum(wanted, 2 * longest / (RING - 8)), float)


def simulate(lanes: Lanes, seed: int) -> FloatArray:
    """Runs the lanes.

    Args:
        lanes: The lanes.
        seed: Seed of the draws.

    Returns:
        (lanes, flows, 3): delivered segments, dropped segments, mean round trip [s] in the measured window.

    Valid: round trips of 1 ms to 0.4 s, buffers of a few segments and more.
    Neglects: order within the queue, bursts, timeouts.
    Source: net/ipv4/tcp_cubic.c, tcp_bbr.c, tcp_input.c (PRR); coefficients `BURST_LOSS`, `BBR_NOISE`.
    """
    laws = [controls.find(cc) for cc in lanes.cc]
    noise = known.BBR_NOISE.value if sum(not law.by_loss for law in laws) > 1 else 0.0
    out = np.zeros((*lanes.T.shape, 3))
    for i, slice_s in enumerate(lanes.slices().tolist()):
        given = zip(laws, lanes.T[i].tolist(), lanes.start[i].tolist(), lanes.cap[i].tolist(), strict=True)
        flows = [_flow(*each, noise, slice_s) for each in given]
        queue = _Queue(float(lanes.C[i]), slice_s, max(float(lanes.B[i]) - 1.0, 1.0), float(lanes.loss[i]))
        first, last = (int(mark / slice_s) for mark in lanes.marks[i].tolist())
        queue.run(flows, first, last, (seed * 7919 + int(lanes.replica[i]) * 104729 + 12345) % (_MODULUS - 1) + 1)
        out[i] = [f.totals for f in flows]
        out[i, :, 2] *= slice_s / (lanes.marks[i, 1] - lanes.marks[i, 0])
    return out


def _flow(law: controls.Control, trip: float, start: float, cap: float, noise: float, slice_s: float) -> Flow:
    """A flow that has sent nothing."""
    steps = max(1, int(trip / slice_s + 0.5))
    if law.by_loss:
        return Windowed(law, trip, start, steps, cap)
    return Bbr1(law, trip, start, steps, cap, noise=noise) if law.name == "bbr" else Bbr3(law, trip, start, steps, cap)


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
        for n in range(last):
            seed = seed * 16807 % _MODULUS
            phase = seed % 7
            for f in flows:
                f.sends = self._turn(f, n, phase + (phase > 0))
            seed = seed * 16807 % _MODULUS
            total = self._serve(flows, seed / _MODULUS, (seed % 10007) / 10007.0)
            self.delays[n % RING] = self._depart(flows, n, total, (seed % 99991) / 99991.0) / self.rate
            if n >= first:
                here = n % RING
                for f in flows:
                    totals = f.totals
                    totals[0] += f.outs[here]
                    totals[1] += f.drops[here] + f.strays[here]
                    totals[2] += f.trip

    def _turn(self, f: Flow, n: int, phase: int) -> float:
        """One flow's slice: what came back, its control law, and what it may send [segments]."""
        slice_s = self.slice_s
        if n * slice_s < f.start:
            return 0.0
        back, acked, lost, delay = n - f.steps, 0.0, 0.0, 0.0
        if back >= 0:
            at = back % RING
            acked, delay = f.outs[at], self.delays[at]
            lost = (f.drops[(back - self.full) % RING] if back >= self.full else 0.0) + f.strays[at]
        trip = f.base + delay
        since = n - int(trip / slice_s + 0.5)
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
        for _ in range(int(over + u)):
            v = (v * 16807.0 + 0.1) % 1.0
            at = v * pull
            for f, own in zip(flows, pulls, strict=True):
                at -= own
                if at <= 0.0 or f is flows[-1]:
                    if f.dropped + 1.0 <= f.queued + f.sends:
                        f.dropped += 1.0
                        total -= 1.0
                    break
        return total

    def _depart(self, flows: list[Flow], n: int, total: float, u: float) -> float:
        """Serves the well-mixed backlog; each flow's share leaves, random loss takes of it; returns what stays."""
        out, here = min(self.most, total), n % RING
        share = out / total if total > 1e-12 else 0.0
        for f in flows:
            held = max(f.queued + f.sends - f.dropped, 0.0)
            busy = held * share
            f.queued, stray = held - busy, 0.0
            if self.loss > 0.0:
                u = (u * 16807.0 + 0.1) % 1.0
                stray = min(float(int(busy * self.loss + u)), busy)
                busy -= stray
            f.flight += f.sends
            f.sent += f.sends
            f.outs[here], f.drops[here], f.strays[here] = busy, f.dropped, stray
        return total - out
