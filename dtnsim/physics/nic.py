"""Network interfaces: what framing leaves of the line rate, Ethernet and InfiniBand."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Ethernet around one packet: preamble 7 + start 1 + header 14 + check sequence 4 + gap 12 bytes.
#: Source: IEEE 802.3-2018, clauses 3.1.1 and 4.4.2.
ETHERNET_OVERHEAD_B: Final = 38.0
VLAN_TAG_B: Final = 4.0  #: one 802.1Q tag (IEEE 802.1Q-2018)
IPV4_TCP_B: Final = 40.0  #: headers without options (RFC 791, RFC 9293)
IPV6_TCP_B: Final = 60.0  #: headers without options (RFC 8200, RFC 9293)
TIMESTAMPS_B: Final = 12.0  #: TCP timestamps with padding in every segment (RFC 7323)

#: InfiniBand around one packet, datagram transport: LRH 8 + BTH 12 + DETH 8 + ICRC 4 + VCRC 2 bytes;
#: connected transport has no DETH. Source: InfiniBand Architecture Specification vol. 1, clauses 5-9.
IB_DATAGRAM_B: Final = 34.0
IB_CONNECTED_B: Final = 26.0
IPOIB_B: Final = 4.0  #: encapsulation header of IP over InfiniBand (RFC 4391)


class InfinibandLane(NamedTuple):
    """One InfiniBand lane: signalling rate [b/s] and the share its code leaves [1]."""

    signal_bps: float
    code: float


#: by name; 4 lanes are usual. Source: InfiniBand Trade Association roadmap (QDR 40 -> 32 Gb/s,
#: FDR 56 -> 54.5 Gb/s, EDR 100, HDR 200, NDR 400 on four lanes).
INFINIBAND_LANES: Final = MappingProxyType(
    {
        "SDR": InfinibandLane(2.5e9, 0.8),
        "DDR": InfinibandLane(5e9, 0.8),
        "QDR": InfinibandLane(10e9, 0.8),
        "FDR10": InfinibandLane(10.3125e9, 64 / 66),
        "FDR": InfinibandLane(14.0625e9, 64 / 66),
        "EDR": InfinibandLane(25.78125e9, 64 / 66),
        "HDR": InfinibandLane(53.125e9, 256 / 257 * 514 / 544),
        "NDR": InfinibandLane(106.25e9, 256 / 257 * 514 / 544),
    }
)


def segment_bytes(mtu_B: ArrayLike, timestamps: ArrayLike = 1.0, headers_B: ArrayLike = IPV4_TCP_B) -> FloatArray:
    """TCP payload of a full packet (MSS): MTU - headers - 12 * timestamps.

    Args:
        mtu_B: IP MTU [B].
        timestamps: 1 with TCP timestamps (the default of Linux), 0 without [1].
        headers_B: IP and TCP headers, `IPV4_TCP_B` or `IPV6_TCP_B`, plus any tunnel [B].

    Returns:
        Payload [B].

    Valid: MTU >= 576.
    Neglects: SACK blocks (on acknowledgements, not on data).
    Source: RFC 9293, RFC 7323.
    """
    return as_float(mtu_B) - as_float(headers_B) - TIMESTAMPS_B * as_float(timestamps)


def wire_bytes(mtu_B: ArrayLike, vlan_tags: ArrayLike = 0.0, overhead_B: ArrayLike = ETHERNET_OVERHEAD_B) -> FloatArray:
    """Bytes of wire time one full packet takes: MTU + 38 + 4 * tags.

    Args:
        mtu_B: IP MTU [B].
        vlan_tags: 802.1Q tags on the frame [1].
        overhead_B: Framing of the medium [B].

    Returns:
        Bytes on the wire [B].

    Valid: MTU >= 46 (no padding).
    Neglects: tunnels (add their bytes to ``overhead_B``).
    Source: IEEE 802.3-2018, 802.1Q-2018.
    """
    return as_float(mtu_B) + as_float(overhead_B) + VLAN_TAG_B * as_float(vlan_tags)


def framing_efficiency(
    mtu_B: ArrayLike,
    timestamps: ArrayLike = 1.0,
    vlan_tags: ArrayLike = 0.0,
    headers_B: ArrayLike = IPV4_TCP_B,
) -> FloatArray:
    """Payload over wire bytes of bulk TCP on Ethernet.

    e = (MTU - 40 - 12 ts) / (MTU + 38 + 4 tags)

    Args:
        mtu_B: IP MTU [B].
        timestamps: 1 with TCP timestamps [1].
        vlan_tags: 802.1Q tags [1].
        headers_B: IP and TCP headers [B].

    Returns:
        Efficiency [1]; its inverse is the wire's demand per payload byte.

    Valid: full packets.
    Neglects: acknowledgements on the same wire (full duplex: the other direction).
    Source: IEEE 802.3-2018, RFC 9293, RFC 7323.
    """
    return segment_bytes(mtu_B, timestamps, headers_B) / wire_bytes(mtu_B, vlan_tags)


def packet_rate(payload_Bps: ArrayLike, segment_B: ArrayLike) -> FloatArray:
    """Packets per second of a bulk flow: X / MSS.

    Args:
        payload_Bps: Payload rate [B/s].
        segment_B: Payload of one packet [B].

    Returns:
        Packets per second [1/s].

    Valid: full packets.
    Neglects: acknowledgements (about one for two packets, fewer with LRO/GRO).
    Source: definition.
    """
    return as_float(payload_Bps) / as_float(segment_B)


def packet_limited_rate(
    line_Bps: ArrayLike,
    packets_per_s: ArrayLike,
    mtu_B: ArrayLike,
    timestamps: ArrayLike = 1.0,
    headers_B: ArrayLike = IPV4_TCP_B,
) -> FloatArray:
    """Payload rate of an interface with a packet-rate limit (card, router or virtual switch).

    X = min(line * e, pps * MSS)

    Args:
        line_Bps: Line rate [B/s].
        packets_per_s: Most packets per second; infinite when not limited [1/s].
        mtu_B: IP MTU [B].
        timestamps: 1 with TCP timestamps [1].
        headers_B: IP and TCP headers [B].

    Returns:
        Payload rate [B/s].

    Valid: full packets.
    Neglects: queues between the two limits.
    Source: definition; framing IEEE 802.3.
    """
    mss = segment_bytes(mtu_B, timestamps, headers_B)
    line = as_float(line_Bps) * framing_efficiency(mtu_B, timestamps, 0.0, headers_B)
    return np.minimum(line, as_float(packets_per_s) * mss)


def infiniband_rate(signal_bps: ArrayLike, code: ArrayLike, lanes: ArrayLike = 4.0) -> FloatArray:
    """Data rate of an InfiniBand link: lanes * signal * code / 8.

    Args:
        signal_bps: Signalling rate of a lane, see `INFINIBAND_LANES` [b/s].
        code: Share its line code leaves, 8/10 or 64/66 [1].
        lanes: Lanes, usually 4 [1].

    Returns:
        Rate for packets [B/s].

    Valid: all positive.
    Neglects: packet headers (`ipoib_efficiency`), link credits, the PCIe slot (FDR fills gen 3 x8).
    Source: InfiniBand Architecture Specification vol. 2.
    """
    return as_float(lanes) * as_float(signal_bps) * as_float(code) / 8


def ipoib_efficiency(
    mtu_B: ArrayLike,
    ib_mtu_B: ArrayLike = 2048.0,
    timestamps: ArrayLike = 1.0,
    headers_B: ArrayLike = IPV4_TCP_B,
) -> FloatArray:
    """Payload over link bytes of TCP over IP over InfiniBand.

    e = (MTU - 40 - 12 ts) / (MTU + 4 + p * h),  p = ceil((MTU + 4) / IB MTU)
    datagram mode (p = 1): h = 34 B; connected mode (p > 1): h = 26 B

    Args:
        mtu_B: IP MTU: IB MTU - 4 in datagram mode, up to 65520 in connected mode [B].
        ib_mtu_B: InfiniBand MTU, 2048 or 4096 [B].
        timestamps: 1 with TCP timestamps [1].
        headers_B: IP and TCP headers [B].

    Returns:
        Efficiency [1].

    Valid: full packets, one subnet (no GRH).
    Neglects: processor cost, which limits IPoIB well below this (a demand of `cpu`).
    Source: RFC 4391, RFC 4755; InfiniBand Architecture Specification vol. 1.
    """
    message = as_float(mtu_B) + IPOIB_B
    packets = np.ceil(message / as_float(ib_mtu_B))
    header = np.where(packets > 1, IB_CONNECTED_B, IB_DATAGRAM_B)
    return as_float(segment_bytes(mtu_B, timestamps, headers_B) / (message + packets * header))
