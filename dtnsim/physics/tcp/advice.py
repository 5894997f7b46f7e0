"""What engineers look up: loss that a target allows, streams that help, what a change would bring.

All from the closed forms of `path` (steady state); vectorised over the alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np

from dtnsim.physics.tcp import linux, path, window

#: streams that fasterdata.es.net calls the useful range; beyond, losses of one's own making grow
STREAMS: Final = (1, 2, 4, 8, 16, 32, 64)
#: header bytes of IPv4 and TCP with timestamps
HEADERS_B: Final = 52.0
#: a change counts when it brings this much
WORTH: Final = 1.05


@dataclass(frozen=True, slots=True)
class Setting:
    """One transfer over one bottleneck, as `path.path_goodput` takes it (SI units)."""

    rate_Bps: float
    rtt_s: float
    loss: float
    mtu_B: float
    buffer_B: float
    streams: int
    cc: str
    window_B: float
    background: float

    @property
    def link_Bps(self) -> float:
        """Payload that the background leaves [B/s]."""
        return self.rate_Bps * (1 - self.background) * (self.mtu_B - HEADERS_B) / self.mtu_B

    def goodput(self) -> float:
        """Steady goodput in closed form [B/s]."""
        return goodputs([self])[0]


def goodputs(settings: list[Setting]) -> list[float]:
    """Steady goodput of several settings in closed form [B/s]."""
    columns = {f.name: [getattr(s, f.name) for s in settings] for f in fields(Setting)}
    mtu = np.asarray(columns["mtu_B"])
    values, _ = path.path_goodput(
        rate_Bps=columns["rate_Bps"], rtt_s=columns["rtt_s"], loss=columns["loss"], mss_B=mtu - HEADERS_B, mtu_B=mtu,
        buffer_B=columns["buffer_B"], streams=columns["streams"], cc=columns["cc"], window_B=columns["window_B"],
        background_share=columns["background"],
    )  # fmt: skip
    return [float(v) for v in values]


def allowed_loss(s: Setting, target_Bps: float) -> float:
    """Largest random loss at which the transfer still reaches a target.

    Args:
        s: The transfer.
        target_Bps: Goodput wanted [B/s].

    Returns:
        Loss [1]; 0 where the target cannot be reached without any loss.

    Valid: as `path.path_goodput`.
    Neglects: as `path.path_goodput`.
    Source: the response functions, inverted by sections of 64, five times over.
    """
    if replace(s, loss=0.0).goodput() < target_Bps:
        return 0.0
    low, high = -12.0, 0.0
    for _ in range(5):
        tried = np.linspace(low, high, 65)
        enough = np.asarray(goodputs([replace(s, loss=float(10.0**x)) for x in tried])) >= target_Bps
        last = int(np.flatnonzero(enough).max(initial=0))
        low, high = float(tried[last]), float(tried[min(last + 1, 64)])
    return float(10.0**low)


def useful_streams(s: Setting) -> int:
    """Fewest of `STREAMS` that come within 5 % of what the most of them give.

    Args:
        s: The transfer.

    Returns:
        Streams.

    Valid: as `path.path_goodput`.
    Neglects: cores, and the losses that streams cause each other at a small buffer.
    Source: as `path.path_goodput`.
    """
    rates = goodputs([replace(s, streams=n) for n in STREAMS])
    return next(n for n, rate in zip(STREAMS, rates, strict=True) if rate * WORTH >= max(rates))


def by_streams(s: Setting) -> dict[int, float]:
    """Steady goodput by parallel streams {streams: goodput [B/s]}, up to the first count that is enough."""
    rates = goodputs([replace(s, streams=n) for n in STREAMS])
    return {n: rate for n, rate in zip(STREAMS, rates, strict=True) if n <= max(useful_streams(s), 2)}


def socket_buffer(s: Setting) -> float:
    """tcp_rmem[2] and tcp_wmem[2] that one stream needs for its part of the link [B]."""
    return float(window.needed_buffer(s.link_Bps, s.rtt_s, s.streams))


def burst_B(s: Setting, line_Bps: float) -> float:
    """Buffer that an unpaced window of one stream, sent at line rate, needs at the bottleneck [B]."""
    from dtnsim.physics.tcp import droptail

    flight = min(s.window_B, s.link_Bps * s.rtt_s / s.streams)
    return float(droptail.burst_buffer(flight, line_Bps, s.rate_Bps))


def tso_burst_B(s: Setting) -> float:
    """Largest burst of a paced stream: about a millisecond of its rate [B]."""
    mss = s.mtu_B - HEADERS_B
    rate = s.goodput() / s.streams / mss
    return float(linux.burst_segments(rate, s.rtt_s, mss, np.inf, linux.PACING_AVOIDANCE) * mss)


def by_mtu(s: Setting) -> dict[float, float]:
    """Steady goodput by MTU {MTU [B]: goodput [B/s]}: loss counts packets, so that larger ones carry more."""
    return {mtu: replace(s, mtu_B=mtu).goodput() for mtu in (1500.0, 9000.0)}


def changes(s: Setting) -> list[tuple[str, float]]:
    """What to change first: (change, goodput after it [B/s]), the best first; only those that bring 5 %."""
    bdp = s.link_Bps * s.rtt_s
    streams = useful_streams(s)
    tries = {
        f"{streams} streams": replace(s, streams=streams),
        "a window of one bandwidth-delay product a stream": replace(s, window_B=max(s.window_B, bdp / s.streams)),
        "a tenth of the loss": replace(s, loss=s.loss / 10),
        "MTU 9000": replace(s, mtu_B=max(9000.0, s.mtu_B)),
        "a buffer of one bandwidth-delay product": replace(s, buffer_B=max(s.buffer_B, s.rate_Bps * s.rtt_s)),
    }
    tries |= {f"--cc {cc}": replace(s, cc=cc) for cc in ("htcp", "cubic", "bbr") if cc != s.cc}
    now, *gains = goodputs([s, *tries.values()])
    worth = [(name, value) for name, value in zip(tries, gains, strict=True) if value > WORTH * now]
    return sorted(worth, key=lambda item: -item[1])
