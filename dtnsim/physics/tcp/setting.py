"""One transfer over one bottleneck: what its course, its advice and the round model are asked about."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np

HEADERS_B: Final = 52.0  #: header bytes of IPv4 and TCP with timestamps
ETHERNET_B: Final = 38.0  #: preamble, Ethernet header, checksum and gap around an IP packet (IEEE 802.3)
MOST_QUEUE_S: Final = 1e6  #: longer queues than this are never filled [s]


@dataclass(frozen=True, slots=True)
class Setting:
    """A transfer's streams and their bottleneck; numbers, or arrays of scenarios where only `columns` are read."""

    rate_Bps: Any  #: Bottleneck in IP bytes [B/s].
    rtt_s: Any  #: Base round-trip time [s].
    loss: Any  #: Random loss of the data direction [1].
    mtu_B: float  #: IP packet [B].
    buffer_B: Any  #: Drop-tail buffer [B].
    streams: int  #: Parallel streams, opened together.
    cc: str  #: A name of `controls`.
    window_B: Any  #: Most payload in flight of a stream [B].
    background: float = 0.0  #: Part of the rate that traffic which does not yield takes [1].
    burst: Any = 1.0  #: Mean length of a loss burst [packets].
    line_Bps: Any = np.inf  #: Rate at which a sender's bursts reach the bottleneck [B/s].
    paced: bool = False  #: Whether the sender paces.
    send_B: Any = np.inf  #: Sender's buffer by which its trains go; inf where it has none [B].
    #: What ends the transfer: bytes, or, where these are infinite, a time [B], [s].
    size_B: float = np.inf
    duration_s: float = 30.0
    payload_B: float = 0.0  #: Payload of a packet; 0 for what headers leave of it [B].
    framing_B: float = 0.0  #: Bytes on the wire around a packet, where the wire's rate is what was given [B].

    @property
    def mss_B(self) -> float:
        """Payload of a packet [B]."""
        return self.payload_B or self.mtu_B - HEADERS_B

    @property
    def link_Bps(self) -> float:
        """Payload that the background leaves [B/s]."""
        return float(self.rate_Bps * (1 - self.background) * self.mss_B / self.mtu_B)

    @staticmethod
    def ip_share(mtu_B: float, *, ethernet: bool) -> float:
        """Part of a rate that full IP packets have: all where it counts them, of an Ethernet MTU / (MTU + 38 B)."""
        return mtu_B / (mtu_B + ETHERNET_B) if ethernet else 1.0

    def of_packets(self, mtu_B: float) -> Setting:
        """The same bottleneck with packets of another size: of the wire's rate less is framing of larger ones."""
        wire = self.rate_Bps * (1 + self.framing_B / self.mtu_B)
        return replace(self, mtu_B=mtu_B, rate_Bps=wire / (1 + self.framing_B / mtu_B))

    def columns(self) -> dict[str, Any]:
        """The values by the names that `rounds.Cases.of` takes."""
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("payload_B", "framing_B")}
        return named | {"mss_B": self.mss_B, "buffer_B": np.minimum(self.buffer_B, MOST_QUEUE_S * self.rate_Bps)}
