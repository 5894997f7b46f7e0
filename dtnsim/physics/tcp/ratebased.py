"""Rate-based transports over UDP: UDT and FASP, with what they cost in CPU."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float, broadcast

#: UDT rate control interval [s] and decrease of the sending rate on a loss report (period x 1.125)
UDT_SYN_S: Final = 0.01
UDT_BETA: Final = 1 / 1.125
#: Packets in flight that UDT's default receive buffer allows (8192 packets, text on UDT by Y. Gu)
UDT_WINDOW: Final = 8192.0
#: User-space cost of a packet, both UDT and FASP: one system call, one copy, bookkeeping [cycles].
#: Priors with wide spread (a factor 2).
UDT_CYCLES_PER_PACKET: Final = 2.0e4
FASP_CYCLES_PER_PACKET: Final = 1.0e4
FASP_CYCLES_PER_BYTE: Final = 2.0  #: Encryption and checks of FASP on a core with AES instructions [cycles/B] (prior)


def cpu_rate(payload_B: ArrayLike, clock_Hz: ArrayLike, cycles_per_packet: ArrayLike) -> FloatArray:
    """Rate that one core can form into packets: f P / c_packet.

    Args:
        payload_B: Payload of a packet [B].
        clock_Hz: Clock of the core [Hz].
        cycles_per_packet: Cost of a packet [cycles].

    Returns:
        Rate [B/s].

    Valid: one thread sends.
    Neglects: caches, batching of system calls.
    Source: operational analysis.
    """
    return as_float(as_float(clock_Hz) * as_float(payload_B) / as_float(cycles_per_packet))


def udt_increase(free_Bps: ArrayLike, packet_B: ArrayLike) -> FloatArray:
    """UDT's increase of packets each SYN: max(10^ceil(log10(8 free S)) 1.5e-6 / S, 1/S), S packet bytes.

    Args:
        free_Bps: Estimated link rate less the present rate [B/s].
        packet_B: Packet size S [B].

    Returns:
        Increase [packets a SYN].

    Valid: free > 0; else 1/S.
    Neglects: error of the link estimate.
    Source: draft-gg-udt-03 section 6.
    """
    size = np.asarray(packet_B, float)
    bits = np.maximum(8 * np.asarray(free_Bps, float), 1e-30)
    power = 10 ** np.ceil(np.log10(bits))
    return np.asarray(np.maximum(power * 1.5e-6 / size, 1 / size), float)


def udt(
    rate_Bps: ArrayLike,
    rtt_s: ArrayLike,
    loss: ArrayLike,
    packet_B: ArrayLike = 1500.0,
    *,
    clock_Hz: ArrayLike = 3e9,
    cycles_per_packet: ArrayLike = UDT_CYCLES_PER_PACKET,
) -> FloatArray:
    """Goodput of UDT: the smallest of its AIMD rate, its flow window and one core.

    Loss reports come at a rate x p; each multiplies the rate by 8/9, but no more than one in a
    congestion epoch (a round trip and a SYN). Between them the rate gains `udt_increase` each SYN.
    Balance: gain S / SYN^2 = x/9 min(x p / S, 1 / (T + SYN)).

    Args:
        rate_Bps: What the path leaves [B/s].
        rtt_s: Round-trip time [s].
        loss: Packet loss probability [1].
        packet_B: Packet on the wire, UDP and UDT headers included [B].
        clock_Hz: Clock of the sending core [Hz].
        cycles_per_packet: User-space cost of a packet [cycles].

    Returns:
        Goodput [B/s].

    Valid: UDT 4, one flow; loss up to a few per cent.
    Neglects: link-estimate errors, competition, disk.
    Source: draft-gg-udt-03 section 6; Gu and Grossman 2007.
    """
    rate, rtt, p, size = broadcast(rate_Bps, rtt_s, loss, packet_B)
    payload = size - 44.0
    window = UDT_WINDOW * size / np.maximum(rtt + UDT_SYN_S, 1e-12)
    core = cpu_rate(size, clock_Hz, cycles_per_packet)
    most = np.minimum.reduce(np.broadcast_arrays(rate, window, core))  # on one wire a path leaves without bound
    lossy = _udt_balance(rate, rtt, np.clip(p, 0, 1), size, most)
    return np.asarray(lossy * (1 - p) * payload / size, float)


def _udt_balance(rate: FloatArray, rtt: FloatArray, p: FloatArray, size: FloatArray, most: FloatArray) -> FloatArray:
    """Rate where UDT's gain and loss balance, or ``most`` [B/s], by bisection."""
    low, high = np.zeros(most.shape), np.array(most, float)
    for _ in range(60):
        x = (low + high) / 2
        gain = udt_increase(rate - x, size) * size / UDT_SYN_S**2
        cut = x * (1 - UDT_BETA) * np.minimum(x * p / size, 1 / (rtt + UDT_SYN_S))
        grows = gain > cut
        low, high = np.where(grows, x, low), np.where(grows, high, x)
    return low


def fasp(
    available_Bps: ArrayLike, loss: ArrayLike = 0.0, *, packet_B: ArrayLike = 1492.0, clock_Hz: ArrayLike = 3e9
) -> FloatArray:
    """Goodput of FASP below its target: the smaller of available rate and one core, less what is sent twice.

    Args:
        available_Bps: What the path leaves to a queue-delay-driven flow [B/s].
        loss: Packet loss probability [1].
        packet_B: Packet payload [B].
        clock_Hz: Clock of the sending core [Hz].

    Returns:
        Goodput [B/s].

    Valid: loss up to about 30 %; independent of the round-trip time.
    Neglects: the policies high and low, disk speed, the vendor's own start-up; encryption and checks
        (`FASP_CYCLES_PER_BYTE`), which the tool has in steps of their own.
    Source: vendor documentation (policies). The cost of a packet is a prior.
    """
    core = cpu_rate(packet_B, clock_Hz, FASP_CYCLES_PER_PACKET)
    wire = np.minimum(np.asarray(available_Bps, float), core)
    return np.asarray(wire / sent(loss), float)


def sent(loss: ArrayLike) -> FloatArray:
    """Bytes that are sent for each that arrives where what is lost is sent again and nothing else: 1 / (1 - loss).

    A target rate (``ascp -l``) counts them; what is sent again may be lost as well (a geometric series).
    """
    with np.errstate(divide="ignore"):
        return np.asarray(1 / (1 - np.clip(np.asarray(loss, float), 0.0, 1.0)), float)
