"""What engineers look up: loss that a target allows, streams that help, what a change would bring.

All from the runs that answer the transfer itself (`outcome.simulate`), with one thing changed: no advice is below the
answer that it improves on, no entry of a table beside it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.network import needed_buffer
from dtnsim.physics.tcp import controls, linux, loss, outcome, path, window
from dtnsim.physics.tcp.rate_over_time import Course, answers
from dtnsim.physics.tcp.setting import Setting

#: streams that fasterdata.es.net calls the useful range; beyond, losses of one's own making grow
STREAMS: Final = (1, 2, 4, 8, 16, 32, 64)
WORTH: Final = 1.05  #: a change counts when it brings this much
#: losses that are tried lie between these, first about where the closed form has the target, by this factor apart,
#: then so many between two of them
LOSSES: Final = (1e-9, 0.1)
COARSE: Final = 4.0
FINER: Final = 9
#: what spares slow start and the sawtooth their overflows of a shallow buffer
_NO_LARGER: Final = "a window of no more than one bandwidth-delay product a stream (larger ones overflow the buffer)"


@dataclass(frozen=True, slots=True)
class Advice:
    """What changes of one thing at a time would bring."""

    answer: outcome.Outcome  #: The transfer's own answer, the first of those that were worked out together.
    after: Course  #: Its course, had it no end.
    by_streams: dict[int, float]  #: {streams: goodput [B/s]}, up to the first count that is enough.
    useful_streams: int  #: Fewest of `STREAMS` that come within 5 % of what the most of them give.
    by_mtu: dict[float, float]  #: {MTU [B]: goodput [B/s]}: loss counts packets, so that larger ones carry more.
    #: (change, goodput after it [B/s]), the best first; only those that bring 5 %.
    changes: tuple[tuple[str, float], ...]
    #: Largest random loss at which the transfer still reaches its target; 0 where it cannot at all [1].
    allowed_loss: float


def advise(s: Setting, target_Bps: float, seed: int = 1) -> Advice:
    """Streams, packets, losses and settings about a transfer.

    Args:
        s: The transfer.
        target_Bps: Goodput wanted [B/s].
        seed: Seed of the draws, that of the answer.

    Returns:
        The advice.

    Valid: as `outcome.simulate`.
    Neglects: cores, and the losses that streams cause each other at a small buffer.
    Source: as `outcome.simulate`.
    """
    mtus = (1500.0, 9000.0)
    tries, losses = _tries(s), _about(s, target_Bps)
    rows = [s, replace(s, loss=0.0, burst=1.0), *(replace(s, streams=n) for n in STREAMS)]
    rows += [*(s.of_packets(m) for m in mtus), *tries.values(), *_losing(s, losses)]
    answer, (after,) = answers(rows, [s], seed=seed)
    rates = iter(answer.goodput_Bps.tolist())
    current, clean = next(rates), next(rates)
    by_streams = {n: next(rates) for n in STREAMS}
    by_mtu = {mtu: next(rates) for mtu in mtus}
    gains = {name: next(rates) for name in tries}
    most = max(by_streams.values())
    useful = next(n for n, rate in by_streams.items() if rate * WORTH >= most)
    helpful = {name: rate for name, rate in gains.items() if rate > WORTH * current}
    if useful != s.streams and by_streams[useful] > WORTH * current:
        helpful[f"{useful} streams"] = by_streams[useful]
    reached = {loss: next(rates) >= target_Bps for loss in losses}
    return Advice(
        answer,
        after,
        {n: rate for n, rate in by_streams.items() if n <= max(useful, 2)},
        useful,
        by_mtu,
        tuple(sorted(helpful.items(), key=lambda item: -item[1])),
        _allowed(s, target_Bps, reached, seed) if clean >= target_Bps else 0.0,
    )


def _losing(s: Setting, losses: Iterable[float]) -> list[Setting]:
    return [replace(s, loss=p, burst=1.0) for p in losses]


def _about(s: Setting, target_Bps: float) -> list[float]:
    """Losses about that at which the steady state has the target: a cold start may bear more, slow start less."""
    tried = np.geomspace(*LOSSES, 161)
    enough = smooth_goodput(replace(s, loss=tried, burst=1.0)) >= target_Bps
    middle = float(tried[max(int(enough.sum()) - 1, 0)])
    return sorted({float(np.clip(middle * COARSE**n, *LOSSES)) for n in range(-1, 3)})


def _allowed(s: Setting, target_Bps: float, reached: dict[float, bool], seed: int) -> float:
    """Largest loss that reaches the target, tried further out where all of some do or none, then finer."""

    def tried(losses: list[float]) -> None:
        rates = answers(_losing(s, losses), seed=seed)[0].goodput_Bps
        reached.update({loss: bool(rate >= target_Bps) for loss, rate in zip(losses, rates, strict=True)})

    while reached[max(reached)] and max(reached) < LOSSES[1]:
        tried([min(max(reached) * COARSE**n, LOSSES[1]) for n in (1, 2)])
    while not any(reached.values()) and min(reached) > LOSSES[0]:
        tried([max(min(reached) / COARSE**n, LOSSES[0]) for n in (1, 2)])
    last = max((loss for loss, enough in reached.items() if enough), default=LOSSES[0])
    above = min((loss for loss in reached if loss > last), default=last)
    if above > last and reached[last]:
        tried(np.geomspace(last, above, FINER + 2)[1:-1].tolist())
    return max((loss for loss, enough in reached.items() if enough), default=last)


def _tries(s: Setting) -> dict[str, Setting]:
    """Changes by what they are called."""
    bdp = s.link_Bps * s.rtt_s
    tries = {
        "a window of one bandwidth-delay product a stream": replace(s, window_B=max(s.window_B, bdp / s.streams)),
        _NO_LARGER: replace(s, window_B=min(s.window_B, bdp / s.streams)),
        "a tenth of the loss": replace(s, loss=s.loss / 10),
        "--pacing (tc qdisc fq)": replace(s, paced=True),
        "MTU 9000": s.of_packets(max(9000.0, s.mtu_B)),
        "a buffer of one bandwidth-delay product": replace(s, buffer_B=max(s.buffer_B, s.rate_Bps * s.rtt_s)),
    }
    return tries | {f"--cc {cc}": replace(s, cc=cc) for cc in controls.offered() if cc != s.cc}


def socket_buffers(s: Setting, kernel: str) -> tuple[float, float]:
    """tcp_rmem[2] and tcp_wmem[2] that one stream needs for its part of the link, as far as Linux lets it [B].

    Of what is to be sent two thirds are flight: a buffer with more of it in flight goes in trains (`window.of_trains`).
    Controls that go on in spite of losses need more for what waits behind a hole (`window.spanned`).
    """
    shares = np.array([linux.receive_share(s.mtu_B, kernel), linux.send_share(s.mss_B, modelled=True)])
    need = window.needed_buffer(s.link_Bps, s.rtt_s, s.streams, shares)
    if not controls.find(s.cc).by_loss:
        flight = s.link_Bps * s.rtt_s / s.streams / s.mss_B
        counted = np.array([window.RECEIVER, window.SENDER])
        need = need * window.spanned(flight, loss.events(s.loss, s.burst), counted) / flight
    need = np.minimum(need, window.MOST_SYSCTL_B)
    return float(need[0]), float(need[1])


def burst_B(s: Setting) -> float:
    """Buffer that an unpaced window of one stream, sent at line rate, needs at the bottleneck [B]."""
    flight = min(s.window_B, s.link_Bps * s.rtt_s / s.streams)
    return float(needed_buffer(flight, s.line_Bps, s.rate_Bps))


def smooth_goodput(s: Setting) -> FloatArray:
    """Steady goodput in closed form of a sender whose bursts cost nothing; arrays of scenarios broadcast [B/s]."""
    figures = path.figures(s, loss=loss.events(s.loss, s.burst), background_share=s.background)
    return path.path_goodput(**figures)[0]


def tso_burst_B(s: Setting, goodput_Bps: float) -> float:
    """Largest burst of a paced stream: about a millisecond of its rate [B]."""
    rate = goodput_Bps / s.streams / s.mss_B
    return float(linux.burst_segments(rate, s.rtt_s, s.mss_B, np.inf, linux.PACING_AVOIDANCE) * s.mss_B)
