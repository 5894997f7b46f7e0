"""What engineers look up: loss that a target allows, streams that help, what a change would bring.

All from the runs that answer the transfer itself (`outcome.simulate`), with one thing changed: no advice is below the
answer that it improves on, no entry of a table beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dtnsim.physics.tcp import droptail, linux, loss, outcome, path, window
from dtnsim.physics.tcp.algorithms import RATE_BASED
from dtnsim.physics.tcp.rounds import Cases
from dtnsim.physics.tcp.setting import Setting

#: streams that fasterdata.es.net calls the useful range; beyond, losses of one's own making grow
STREAMS: Final = (1, 2, 4, 8, 16, 32, 64)
#: a change counts when it brings this much
WORTH: Final = 1.05
#: losses that are tried: two a decade, then this many between two of them
LOSSES: Final = 10.0 ** np.arange(-9.0, -0.9, 0.5)
FINER: Final = 9
#: algorithms that are tried beside the transfer's own
OTHERS: Final = ("htcp", "cubic", "bbr")


def simulated(settings: list[Setting], seed: int = 1) -> outcome.Outcome:
    """The answers of several settings.

    Args:
        settings: The transfers.
        seed: Seed of the draws.

    Returns:
        Their outcome, one a setting.

    Valid: as `outcome.simulate`.
    Neglects: as `outcome.simulate`.
    Source: as `outcome.simulate`.
    """
    rows = [s.columns() for s in settings]
    return outcome.simulate(Cases.of(**{name: [row[name] for row in rows] for name in rows[0]}), seed=seed)


def goodputs(settings: list[Setting], seed: int = 1) -> list[float]:
    """Goodput of several settings [B/s]."""
    return [float(v) for v in simulated(settings, seed).goodput_Bps]


@dataclass(frozen=True, slots=True)
class Advice:
    """What changes of one thing at a time would bring.

    Attributes:
        by_streams: {streams: goodput [B/s]}, up to the first count that is enough.
        useful_streams: Fewest of `STREAMS` that come within 5 % of what the most of them give.
        by_mtu: {MTU [B]: goodput [B/s]}: loss counts packets, so that larger ones carry more.
        changes: (change, goodput after it [B/s]), the best first; only those that bring 5 %.
        allowed_loss: Largest random loss at which the transfer still reaches its target; 0 where it cannot at all [1].
    """

    by_streams: dict[int, float]
    useful_streams: int
    by_mtu: dict[float, float]
    changes: tuple[tuple[str, float], ...]
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
    rows = [s, *(replace(s, streams=n) for n in STREAMS), *(replace(s, mtu_B=m) for m in mtus)]
    rows += [replace(s, loss=0.0, burst=1.0), *(replace(s, loss=float(p), burst=1.0) for p in LOSSES)]
    tries = _tries(s)
    now, *rates = goodputs([*rows, *tries.values()], seed)
    by_streams, rates = dict(zip(STREAMS, rates, strict=False)), rates[len(STREAMS) :]
    by_mtu, rates = dict(zip(mtus, rates, strict=False)), rates[2:]
    losses, gains = rates[: len(LOSSES) + 1], rates[len(LOSSES) + 1 :]
    most = max(by_streams.values())
    useful = next(n for n, rate in by_streams.items() if rate * WORTH >= most)
    found = {name: rate for name, rate in zip(tries, gains, strict=True) if rate > WORTH * now}
    if useful != s.streams and by_streams[useful] > WORTH * now:
        found[f"{useful} streams"] = by_streams[useful]
    return Advice(
        {n: rate for n, rate in by_streams.items() if n <= max(useful, 2)},
        useful,
        by_mtu,
        tuple(sorted(found.items(), key=lambda item: -item[1])),
        _allowed(s, target_Bps, losses, seed),
    )


def _allowed(s: Setting, target_Bps: float, rates: list[float], seed: int) -> float:
    """Largest loss that reaches the target, from the rates without loss and at `LOSSES`; then finer."""
    if rates[0] < target_Bps:
        return 0.0
    last = int(np.flatnonzero(np.asarray(rates[1:]) >= target_Bps).max(initial=-1))
    if last < 0 or last == len(LOSSES) - 1:
        return float(LOSSES[max(last, 0)])
    tried = np.geomspace(LOSSES[last], LOSSES[last + 1], FINER + 2)[1:-1]
    enough = np.asarray(goodputs([replace(s, loss=float(p), burst=1.0) for p in tried], seed)) >= target_Bps
    return float(tried[enough].max(initial=LOSSES[last]))


def _tries(s: Setting) -> dict[str, Setting]:
    """Changes by what they are called."""
    bdp = s.link_Bps * s.rtt_s
    tries = {
        "a window of one bandwidth-delay product a stream": replace(s, window_B=max(s.window_B, bdp / s.streams)),
        "a tenth of the loss": replace(s, loss=s.loss / 10),
        "MTU 9000": replace(s, mtu_B=max(9000.0, s.mtu_B)),
        "a buffer of one bandwidth-delay product": replace(s, buffer_B=max(s.buffer_B, s.rate_Bps * s.rtt_s)),
    }
    return tries | {f"--cc {cc}": replace(s, cc=cc) for cc in OTHERS if cc != s.cc}


def socket_buffers(s: Setting, kernel: str) -> tuple[float, float]:
    """tcp_rmem[2] and tcp_wmem[2] that one stream needs for its part of the link, as far as Linux lets it [B]."""
    shares = np.array([linux.receive_share(s.mtu_B, kernel), linux.send_share(s.mss_B, modelled=s.cc in RATE_BASED)])
    need = np.minimum(window.needed_buffer(s.link_Bps, s.rtt_s, s.streams, shares), window.MOST_SYSCTL_B)
    return float(need[0]), float(need[1])


def burst_B(s: Setting) -> float:
    """Buffer that an unpaced window of one stream, sent at line rate, needs at the bottleneck [B]."""
    flight = min(s.window_B, s.link_Bps * s.rtt_s / s.streams)
    return float(droptail.burst_buffer(flight, s.line_Bps, s.rate_Bps))


def smooth_goodput(s: Setting) -> float:
    """Steady goodput in closed form of a sender whose bursts cost nothing [B/s]."""
    got, _ = path.path_goodput(
        rate_Bps=s.rate_Bps,
        rtt_s=s.rtt_s,
        loss=loss.events(s.loss, s.burst),
        mss_B=s.mss_B,
        mtu_B=s.mtu_B,
        buffer_B=s.buffer_B,
        streams=s.streams,
        cc=s.cc,
        window_B=s.window_B,
        background_share=s.background,
    )
    return float(got)


def tso_burst_B(s: Setting, goodput_Bps: float) -> float:
    """Largest burst of a paced stream: about a millisecond of its rate [B]."""
    rate = goodput_Bps / s.streams / s.mss_B
    return float(linux.burst_segments(rate, s.rtt_s, s.mss_B, np.inf, linux.PACING_AVOIDANCE) * s.mss_B)
