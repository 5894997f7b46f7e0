"""RDMA: packets of RoCE, what a lost packet costs a reliable connection, credits of the link over distance.

All functions broadcast.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: payloads that an InfiniBand or RoCE packet may have at most (InfiniBand Architecture Specification vol. 1, 9.7: PMTU)
PATH_MTUS_B: Final = (256.0, 512.0, 1024.0, 2048.0, 4096.0)
#: IPv4 20, UDP 8, BTH 12, ICRC 4 bytes (RoCEv2, annex A17), and Ethernet's 38 (`dtnsim.physics.nic`)
ROCE_HEADERS_B: Final = 44.0
_FIRST_B: Final = 16.0  #: RETH of the first packet of a message, which sets the room a path MTU needs


def roce_payload(mtu_B: ArrayLike) -> FloatArray:
    """Payload of a full RoCEv2 packet: the largest path MTU of InfiniBand that fits the Ethernet MTU.

    Args:
        mtu_B: MTU of the Ethernet port, as IP sees it [B].

    Returns:
        Payload [B]: 1024 at 1500, 4096 from 4200 on.

    Valid: MTU of 320 B and more (the smallest path MTU is taken below).
    Neglects: extended headers of later packets.
    Source: InfiniBand Architecture Specification vol. 1, 9.7; RoCEv2, annex A17.
    """
    room = as_float(mtu_B) - ROCE_HEADERS_B - _FIRST_B
    sizes = np.asarray(PATH_MTUS_B)
    index = np.clip(np.searchsorted(sizes, room, side="right") - 1, 0, len(sizes) - 1)
    return as_float(sizes[index])


def roce_wire_bytes(payload_B: ArrayLike, frame_B: ArrayLike = 38.0) -> FloatArray:
    """Bytes on the wire of one RoCEv2 packet: payload + 44 + framing.

    Args:
        payload_B: Payload of the packet [B].
        frame_B: Framing of the medium with tags: 38 for Ethernet [B].

    Returns:
        Bytes [B].

    Valid: IPv4 without options.
    Neglects: acknowledgements and congestion notifications, which go the other way.
    Source: RoCEv2, InfiniBand Architecture Specification, annex A17; IEEE 802.3.
    """
    return as_float(payload_B) + ROCE_HEADERS_B + as_float(frame_B)


def go_back_n(loss: ArrayLike, flying: ArrayLike) -> FloatArray:
    """Part of the rate that a reliable connection keeps where each loss has all that is in flight sent again.

    (1 - p) / (1 - p + w p)

    Args:
        loss: Loss of packets p [1].
        flying: Packets in flight within a round trip w, at least 1 [1].

    Returns:
        Share [1].

    Valid: hardware that goes back to the lost packet (reliable connections of InfiniBand and RoCE adapters); losses
        that do not depend on each other.
    Neglects: time-outs of a last packet; selective repeat of newer adapters.
    Source: W. Stallings, "Data and Computer Communications", 8th ed., 7A (U = (1 - P) / (1 + 2 a P), w = 2 a + 1);
        Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018 (go-back-N of RoCE adapters).
    """
    p, w = np.clip(as_float(loss), 0.0, 1.0), np.maximum(as_float(flying), 1.0)
    return (1.0 - p) / np.maximum(1.0 - p + w * p, 1e-30)


def connection_rate(asked_Bps: ArrayLike, loss: ArrayLike, packet_B: ArrayLike, rtt_s: ArrayLike) -> FloatArray:
    """Rate that reliable connections allow by themselves, whatever the way carries: r `go_back_n` with w = r T / s.

    1 / (1 / r + p / (1 - p) max(T / s, 1 / r)): s (1 - p) / (p T) where nothing else limits them.

    Args:
        asked_Bps: Rate of the requests that are kept under way r, infinite where others count them [B/s].
        loss: Loss of packets p [1].
        packet_B: Payload of a packet of each connection, together s [B].
        rtt_s: Round trip T [s].

    Returns:
        Rate [B/s]; infinite for endless requests without loss.

    Valid: as `go_back_n`.
    Neglects: as `go_back_n`.
    Source: as that.
    """
    r, p, s, t = (as_float(v) for v in (asked_Bps, loss, packet_B, rtt_s))
    with np.errstate(divide="ignore"):
        odds = np.clip(p, 0.0, 1.0) / np.maximum(1.0 - p, 1e-30)
        return as_float(1.0 / (1.0 / r + odds * np.maximum(t / s, 1.0 / r)))


def credit_rate(buffer_B: ArrayLike, rtt_s: ArrayLike) -> FloatArray:
    """Rate of a link without loss by its receive buffer: b / T.

    A sender has credits (InfiniBand) or headroom (priority flow control) for what the other end of the link can store.

    Args:
        buffer_B: Receive buffer of a port for one virtual lane or priority b [B].
        rtt_s: Round trip of the link T [s].

    Returns:
        Rate [B/s], infinite without delay.

    Valid: one link without range extenders.
    Neglects: that priority flow control needs twice that to neither starve nor drop.
    Source: InfiniBand Architecture Specification vol. 1, 7.9 (link-level flow control); Little.
    """
    with np.errstate(divide="ignore"):
        return as_float(as_float(buffer_B) / as_float(rtt_s))
