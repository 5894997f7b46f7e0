"""Network interfaces: what framing leaves of the line rate, Ethernet and InfiniBand."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Ethernet around one packet: preamble 7 + start 1 + header 14 + check sequence 4 + gap 12 bytes.
#: Source: IEEE 802.3-2018, clauses 3.1.1 and 4.4.2.
ETHERNET_OVERHEAD_B: Final = 38.0
VLAN_TAG_B: Final = 4.0  #: one 802.1Q tag (IEEE 802.1Q-2018)
IPV4_TCP_B: Final = 40.0  #: headers without options (RFC 791, RFC 9293)
IPV4_UDP_B: Final = 28.0  #: headers without options (RFC 791, RFC 768)
#: what counts as jumbo frames, and the slowest port and line that have them: they came with gigabit Ethernet [B/s]
JUMBO_B, JUMBO_Bps = 9000.0, 1.25e8
TIMESTAMPS_B: Final = 12.0  #: TCP timestamps with padding in every segment (RFC 7323)

#: InfiniBand around one packet of a reliable connection: LRH 8 + BTH 12 + ICRC 4 + VCRC 2 bytes.
#: Source: InfiniBand Architecture Specification vol. 1, clauses 5-9.
INFINIBAND_OVERHEAD_B: Final = 26.0
#: largest IP packet of IPoIB in connected mode, which no Ethernet has (Linux, Documentation/infiniband/ipoib.rst) [B]
CONNECTED_B: Final = 65520.0
#: packets of its datagram mode on links of 2 and 4 KiB [B], and links from which on cards have their own offloads [B/s]
DATAGRAMS_B: Final = (2044.0, 4092.0)
EDR_Bps: Final = 1.2e10


def segment_bytes(mtu_B: ArrayLike, timestamps: ArrayLike = 1.0) -> FloatArray:
    """TCP payload of a full packet (MSS): MTU - 40 - 12 * timestamps.

    Args:
        mtu_B: IP MTU [B].
        timestamps: 1 with TCP timestamps (the default of Linux), 0 without [1].

    Returns:
        Payload [B].

    Valid: MTU >= 576; IPv4 without options.
    Neglects: IPv6, whose headers have 20 B more, and tunnels; SACK blocks (on acknowledgements, not on data).
    Source: RFC 9293, RFC 7323.
    """
    return as_float(mtu_B) - IPV4_TCP_B - TIMESTAMPS_B * as_float(timestamps)


def wire_bytes(mtu_B: ArrayLike, vlan_tags: ArrayLike = 0.0) -> FloatArray:
    """Bytes of wire time one full packet takes: MTU + 38 + 4 * tags.

    Args:
        mtu_B: IP MTU [B].
        vlan_tags: 802.1Q tags on the frame [1].

    Returns:
        Bytes on the wire [B].

    Valid: MTU >= 46 (no padding).
    Neglects: tunnels (their bytes are of the MTU).
    Source: IEEE 802.3-2018, 802.1Q-2018.
    """
    return as_float(mtu_B) + ETHERNET_OVERHEAD_B + VLAN_TAG_B * as_float(vlan_tags)


def datagram_bytes(mtu_B: ArrayLike, length_B: ArrayLike) -> FloatArray:
    """UDP payload of one packet: what the program sends at once, or a fragment of it.

    D = length / ceil(length / (MTU - 28))

    Args:
        mtu_B: IP MTU [B].
        length_B: Bytes of one datagram [B].

    Returns:
        Payload of a packet [B].

    Valid: length >= 1.
    Neglects: that only the first fragment has a UDP header (8 B), and that fragments are multiples of 8 B.
    Source: RFC 768, RFC 791.
    """
    length = as_float(length_B)
    return as_float(length / np.ceil(length / (as_float(mtu_B) - IPV4_UDP_B)))


def infiniband_wire_bytes(mtu_B: ArrayLike) -> FloatArray:
    """Bytes on an InfiniBand link for one full packet of a reliable connection: MTU + 26.

    Args:
        mtu_B: InfiniBand MTU, 256 to 4096: the payload of a packet [B].

    Returns:
        Bytes on the link [B].

    Valid: one subnet (no GRH).
    Neglects: acknowledgements, link credits, the 16 B that begin an RDMA message.
    Source: InfiniBand Architecture Specification vol. 1, clauses 5-9.
    """
    return as_float(mtu_B) + INFINIBAND_OVERHEAD_B


def connected_interrupt(
    interrupt: ArrayLike, checksum: ArrayLike, page_s: ArrayLike, clock_Hz: ArrayLike
) -> FloatArray:
    """Cycles per byte of softirq that receives over IPoIB in connected mode: c = c_irq + c_sum + f t_page / 4096.

    The card checks no sums of IP packets on a reliable connection, so that the kernel does before it queues the bytes,
    and each packet of up to 64 KiB gets new pages. One completion queue has the packets of all connections: one core.

    Args:
        interrupt: Driver and protocol c_irq [cycles/B].
        checksum: Sum over the bytes c_sum [cycles/B].
        page_s: Time to allocate and map a page of 4 KiB t_page [s].
        clock_Hz: Clock f [Hz].

    Returns:
        Cycles per byte [cycles/B].

    Valid: Linux' ib_ipoib with connected mode, which cards of ConnectX-4 on have without their own offloads.
    Neglects: sums at the sender, which are made while the bytes are copied.
    Source: Linux drivers/infiniband/ulp/ipoib: ipoib_cm_handle_rx_wc (no checksum is marked as good, new fragments for
        each packet), ipoib_fix_features, priv->recv_cq and its one NAPI.
    """
    return as_float(interrupt) + as_float(checksum) + as_float(clock_Hz) * as_float(page_s) / 4096.0


def framing_efficiency(mtu_B: ArrayLike, timestamps: ArrayLike = 1.0, vlan_tags: ArrayLike = 0.0) -> FloatArray:
    """Payload over wire bytes of bulk TCP on Ethernet.

    e = (MTU - 40 - 12 ts) / (MTU + 38 + 4 tags)

    Args:
        mtu_B: IP MTU [B].
        timestamps: 1 with TCP timestamps [1].
        vlan_tags: 802.1Q tags [1].

    Returns:
        Efficiency [1]; its inverse is the wire's demand per payload byte.

    Valid: full packets.
    Neglects: acknowledgements on the same wire (full duplex: the other direction).
    Source: IEEE 802.3-2018, RFC 9293, RFC 7323.
    """
    return segment_bytes(mtu_B, timestamps) / wire_bytes(mtu_B, vlan_tags)
