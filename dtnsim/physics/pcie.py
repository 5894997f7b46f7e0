"""PCI Express: raw rate, packet overhead and what remains for payload in each direction; expanders of SAS adapters.

A link is two stations, one per direction, because it is full duplex. "Up" is device to host (a disk
read or a received packet landing in memory: memory writes), "down" is host to device (a disk write or
a sent packet leaving memory: read completions). Rates are per direction.
"""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float, quantile

#: transfers per second on one lane, by generation (index 0 does not exist).
#: Source: PCI-SIG base specifications 1.0 to 6.0 (2.5, 5, 8, 16, 32, 64 GT/s).
TRANSFERS_PER_S: Final = np.array([np.nan, 2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9])

#: share of the signalled bits that carries bytes: 8b/10b, then 128b/130b; generation 6 sends FLITs of
#: 256 B of which 8 B CRC and 6 B FEC are code. Source: PCI-SIG base specifications; pcie-bench/pcie-model.
LINE_CODE: Final = np.array([np.nan, 0.8, 0.8, 128 / 130, 128 / 130, 128 / 130, 242 / 256])

#: receiver's internal delay in symbol times that the specification's acknowledge limit assumes.
#: Source: PCIe Base Specification 5.0, tables 3-7 to 3-9 (19, 70, 115 symbol times).
INTERNAL_DELAY_SYMBOLS: Final = np.array([np.nan, 19.0, 70.0, 115.0, 115.0, 115.0, np.nan])

TLP_OVERHEAD_SYMBOLS: Final = 28.0  #: the specification's TLPOverhead in the acknowledge limit, same tables
DLLP_B: Final = 8.0  #: one acknowledge or credit update on the wire: 2 B framing + 4 B + 2 B CRC
SKIP_SHARE: Final = 4.0 / 1538.0  #: clock compensation: 4 symbols every 1538 (pcie-model; PCIe 4.2.7)
FLIT_DLP_SHARE: Final = 6.0 / 242.0  #: generation 6: 6 B of link-layer bytes beside 236 B of TLP in a FLIT

FRAMING_B: Final = 8.0  #: start, sequence number, LCRC, end around every TLP up to generation 5
HEADER_3DW_B: Final = 12.0  #: completion, or memory request with a 32-bit address
HEADER_4DW_B: Final = 16.0  #: memory request with a 64-bit address
CARD_MPS_B: Final = 256.0  #: maximum payload size that slots with network cards mostly have
DRIVE_LANES, DRIVE_MPS_B = 4, 512.0  #: an NVMe drive's link, and the maximum payload size of its slot
SATA_BPS: Final = 560e6  #: what drives print on a SATA 6 Gb/s lane (600 MB/s after 8b/10b), framing left out


def _by_generation(table: FloatArray, generation: ArrayLike) -> FloatArray:
    return as_float(np.take(table, np.asarray(generation, dtype=np.intp)))


def raw_rate(generation: ArrayLike, lanes: ArrayLike) -> FloatArray:
    """Rate of a link after its line code, one direction.

    R = GT/s * lanes * code / 8

    Args:
        generation: PCIe generation, 1 to 6 [1].
        lanes: Lanes in use, see `trained_lanes` [1].

    Returns:
        Raw rate [B/s].

    Valid: generations 1-6; a higher one raises IndexError.
    Neglects: everything above the physical layer (see `tlp_rate`).
    Source: PCI-SIG base specifications; pcie-bench/pcie-model (Neugebauer et al., SIGCOMM 2018).
    """
    return _by_generation(TRANSFERS_PER_S * LINE_CODE / 8, generation) * as_float(lanes)


def trained_lanes(card: ArrayLike, slot: ArrayLike) -> FloatArray:
    """Lanes (or generation) a link really uses: the least of card and slot wiring.

    n = min(card, slot)

    Args:
        card: Width (or generation) of the card [1].
        slot: Width wired to the slot, not the connector's [1].

    Returns:
        Width in use [1].

    Valid: all positive.
    Neglects: links that retrain under load.
    Source: PCIe Base Specification 5.0, link training (4.2.4): both ends settle on the widest and
        fastest they share.
    """
    return np.minimum(as_float(card), as_float(slot))


def ack_interval(generation: ArrayLike, lanes: ArrayLike, mps_B: ArrayLike) -> FloatArray:
    """Symbol times between two acknowledges, and between two credit updates, that the standard asks for.

    N = (MPS + 28) * AckFactor / lanes + InternalDelay
    AckFactor: below MPS 512 1.4 (x1-x4), 2.5 (x8), 3 (x12 up); from 512 on 1 (to x8), 2 (x12 up)

    Args:
        generation: PCIe generation, 1 to 5 [1].
        lanes: Lanes in use [1].
        mps_B: Maximum payload size of a TLP [B].

    Returns:
        Interval [symbol times of one lane]; nan for generation 6, which has no such packets.

    Valid: MPS 128-4096 B, lanes 1-32.
    Neglects: devices that acknowledge more often than they must.
    Source: PCIe Base Specification 5.0, tables 2-46 to 2-48 and 3-7 to 3-9, as printed in pcie-model.
    """
    n, mps = as_float(lanes), as_float(mps_B)
    small = np.where(n >= 12, 3.0, np.where(n >= 8, 2.5, 1.4))
    large = np.where(n >= 12, 2.0, 1.0)
    factor = np.where(mps >= 512, large, small)
    return (mps + TLP_OVERHEAD_SYMBOLS) * factor / n + _by_generation(INTERNAL_DELAY_SYMBOLS, generation)


def tlp_share(generation: ArrayLike, lanes: ArrayLike, mps_B: ArrayLike, striping: ArrayLike = 0.0) -> FloatArray:
    """Share of the raw rate left for TLPs after acknowledges, credit updates and skip sets.

    share = 1 - 2 * 8 B / (N * lanes^striping) - 4/1538        (generation 6: 1 - 6/242 - 4/1538)

    The published model of NICs charges both packets against N bytes of the whole link (striping = 0), and agrees with
    cards of x8 and x16. Striped over the lanes as the standard has it, N symbol times are N * lanes bytes (striping =
    1): what drives on x4 reach, 3.48 GB/s on generation 3 and up to 7.4 on generation 4, where striping = 0 allows 3.32
    and 7.0 at most.

    Args:
        generation: PCIe generation, 1 to 6 [1].
        lanes: Lanes in use [1].
        mps_B: Maximum payload size [B].
        striping: Exponent of the lanes that carry a link-layer packet at once, 0 to 1 [1].

    Returns:
        Share of `raw_rate` [1].

    Valid: MPS 128-4096 B, lanes 1-32.
    Neglects: replays after bit errors, power states.
    Source: pcie-bench/pcie-model, model/pcie.py (Neugebauer et al., SIGCOMM 2018,
        10.1145/3230543.3230560); striping: PCIe Base Specification 5.0, 4.2.2; fio on a PCIe 3.0 x4 drive, 3317 MiB/s:
        gist.github.com/hadess/404b47442aa85d992f4efa92348068d3; FLIT layout: PCIe 6.0.
    """
    interval = ack_interval(generation, lanes, mps_B) * as_float(lanes) ** as_float(striping)
    dllp = np.where(np.isnan(interval), FLIT_DLP_SHARE, 2 * DLLP_B / interval)
    return as_float(1 - dllp - SKIP_SHARE)


def tlp_rate(generation: ArrayLike, lanes: ArrayLike, mps_B: ArrayLike, striping: ArrayLike = 0.0) -> FloatArray:
    """Rate of a link for TLPs (headers and payload), one direction: the capacity of a PCIe station.

    R_tlp = raw_rate * tlp_share

    Args:
        generation: PCIe generation, 1 to 6 [1].
        lanes: Lanes in use [1].
        mps_B: Maximum payload size [B].
        striping: See `tlp_share` [1].

    Returns:
        Rate [B/s].

    Valid: MPS 128-4096 B, lanes 1-32.
    Neglects: see `tlp_share`.
    Source: as `tlp_share`.
    """
    return raw_rate(generation, lanes) * tlp_share(generation, lanes, mps_B, striping)


def tlp_overhead(generation: ArrayLike, header_B: ArrayLike) -> FloatArray:
    """Bytes of one TLP that are not payload.

    h = header + 8 B framing (generations 1-5)

    Args:
        generation: PCIe generation, 1 to 6 [1].
        header_B: `HEADER_3DW_B` or `HEADER_4DW_B` [B].

    Returns:
        Overhead [B], 20-24 B up to generation 5.

    Valid: generations 1-6.
    Neglects: an end-to-end CRC (4 B where both ends have it switched on), TLP prefixes, generation 6 header extensions.
    Source: Intel AN 456 and AN 708 (20-28 B a TLP); pcie-bench/pcie-model.
    """
    framing = np.where(np.asarray(generation, dtype=np.intp) >= 6, 0.0, FRAMING_B)
    return as_float(header_B) + framing


def write_bytes(generation: ArrayLike, mps_B: ArrayLike) -> FloatArray:
    """TLP bytes per payload byte when a device writes host memory (disk read, packet received).

    (MPS + h) / MPS towards the host, nothing in the other direction; h = 24 B (64-bit addresses, no ECRC).

    Args:
        generation: PCIe generation, 1 to 6 [1].
        mps_B: Maximum payload size [B].

    Returns:
        Bytes on the link per payload byte [1], to be divided by `tlp_rate`.

    Valid: transfers of many MPS.
    Neglects: unaligned starts, descriptors and doorbells.
    Source: pcie-bench/pcie-model, model/mem_bw.py.
    """
    mps = as_float(mps_B)
    return (mps + tlp_overhead(generation, HEADER_4DW_B)) / mps


def request_bytes(generation: ArrayLike, mrrs_B: ArrayLike = 512.0) -> FloatArray:
    """TLP bytes towards the host per payload byte when a device reads host memory: h / MRRS, h = 24 B.

    Args:
        generation: PCIe generation, 1 to 6 [1].
        mrrs_B: Maximum read request size [B].

    Returns:
        Bytes on the link per payload byte [1].

    Valid: transfers of many MRRS (disk write, packet sent).
    Neglects: unaligned starts.
    Source: pcie-bench/pcie-model, model/mem_bw.py.
    """
    return tlp_overhead(generation, HEADER_4DW_B) / as_float(mrrs_B)


def completion_bytes(generation: ArrayLike, mps_B: ArrayLike) -> FloatArray:
    """TLP bytes towards the device per payload byte when it reads host memory: (MPS + h) / MPS, h = 20 B.

    Args:
        generation: PCIe generation, 1 to 6 [1].
        mps_B: Maximum payload size, or the payload of a completion where the host cuts finer (older chipsets: the
            64 B read completion boundary) [B].

    Returns:
        Bytes on the link per payload byte [1].

    Valid: enough reads outstanding to hide the latency (see `read_latency_rate`).
    Neglects: unaligned starts, descriptors.
    Source: pcie-bench/pcie-model, model/mem_bw.py.
    """
    mps = as_float(mps_B)
    return (mps + tlp_overhead(generation, HEADER_3DW_B)) / mps


def write_rate(generation: ArrayLike, lanes: ArrayLike, mps_B: ArrayLike, striping: ArrayLike = 0.0) -> FloatArray:
    """Payload rate of a device that only writes host memory.

    X = tlp_rate / `write_bytes`

    Args:
        generation: PCIe generation, 1 to 6 [1].
        lanes: Lanes in use [1].
        mps_B: Maximum payload size [B].
        striping: See `tlp_share` [1].

    Returns:
        Payload rate [B/s].

    Valid: MPS 128-4096 B.
    Neglects: descriptors.
    Source: pcie-bench/pcie-model (SIGCOMM 2018).
    """
    return tlp_rate(generation, lanes, mps_B, striping) / write_bytes(generation, mps_B)


def read_latency_rate(tags: ArrayLike, mrrs_B: ArrayLike, latency_s: ArrayLike) -> FloatArray:
    """Payload rate that outstanding read requests allow (Little's law on the tags).

    X = tags * MRRS / latency

    Args:
        tags: Read requests in flight (32 without extended tags, 256 with) [1].
        mrrs_B: Maximum read request size [B].
        latency_s: Time from request to last completion [s]; 0.4-0.6 us was measured by pcie-bench.

    Returns:
        Payload rate [B/s].

    Valid: all positive.
    Neglects: the link's own rate (take the minimum with the link).
    Source: Little (1961); tags: PCIe Base Specification 2.2.6.2; latency: Neugebauer et al., SIGCOMM 2018.
    """
    return as_float(tags) * as_float(mrrs_B) / as_float(latency_s)


@lru_cache(maxsize=256)
def drive_generation(read_rate_Bps: float) -> int:
    """Oldest PCIe generation whose link carries what a drive reads: least g with `write_rate` >= R.

    Args:
        read_rate_Bps: Read rate of the drive R [B/s].

    Returns:
        Generation, 3 to 6 [1].

    Valid: NVMe drives (generation 3 on) of four lanes.
    Neglects: drives that are slower than their link on purpose.
    Source: a drive is sold with a link that carries its rate.
    """
    return next((g for g in (3, 4, 5) if _drive_rate(g) >= read_rate_Bps), 6)


def card_link(port_rate_Bps: float) -> tuple[int, int]:
    """Narrowest usual link that carries the ports of a network card: x8 of generation 3, else x16 of the oldest.

    Args:
        port_rate_Bps: Rate of the ports that are filled at once [B/s].

    Returns:
        (lanes, generation), from (8, 3) to (16, 6) [1].

    Valid: Ethernet and InfiniBand cards of 2012 on.
    Neglects: cards whose link is too narrow for their ports (some with two ports), and older ones.
    Source: `write_rate`; data sheets: X710 and XXV710 x8 of generation 3, ConnectX-5 (100 Gb/s) x16 of generation 3,
        ConnectX-6 (200 Gb/s) of 4, ConnectX-7 (400 Gb/s) of 5.
    """
    usual = [(8, 3), *((16, g) for g in (3, 4, 5))]
    return next((c for c in usual if float(write_rate(c[1], c[0], CARD_MPS_B)) >= port_rate_Bps), (16, 6))


def drive_link(read_rate_Bps: ArrayLike) -> FloatArray:
    """Payload rate of the link of a drive that is known by its read rate only.

    SATA 6 Gb/s (560 MB/s) for R up to that, else `write_rate` of `drive_generation`.

    Args:
        read_rate_Bps: Read rate of the drive R [B/s]; of several scenarios the median decides on the link.

    Returns:
        Rate [B/s].

    Valid: SATA drives, NVMe drives of four lanes.
    Neglects: SAS drives (give the link).
    Source: as `drive_generation`; drives print 540 to 560 MB/s on a 600-MB/s SATA lane.
    """
    rate = float(quantile(np.ravel(read_rate_Bps), 0.5, between=True))
    if rate <= SATA_BPS:
        return as_float(SATA_BPS)
    return as_float(_drive_rate(drive_generation(rate)))


@lru_cache(maxsize=256)
def _drive_rate(generation: int) -> float:
    """`write_rate` of a drive's link, which very many transfers ask for [B/s]."""
    return float(write_rate(generation, DRIVE_LANES, DRIVE_MPS_B, 1.0))


def expander_uplink_rate(
    lanes: ArrayLike, uplink_lane: ArrayLike, drive_lane: ArrayLike, buffered: ArrayLike
) -> FloatArray:
    """Rate from an expander to the adapter, when the drives' links are slower than the uplink's.

    lanes x min(uplink, drive) without buffering: a connection runs at the drive's speed on every hop.
    lanes x uplink with store-and-forward buffering in the expander.

    Args:
        lanes: Lanes of the uplink [1].
        uplink_lane: Payload rate of an uplink lane [B/s].
        drive_lane: Payload rate of the drives' lanes [B/s].
        buffered: True where the expander buffers (DataBolt and the like) [bool].

    Returns:
        Rate [B/s].

    Valid: enough drives to fill the lanes.
    Neglects: the buffer's size.
    Source: SAS store-and-forward buffering patent text; Lenovo RAID 930 guide (DataBolt).
    """
    uplink = as_float(uplink_lane)
    speed = np.where(np.asarray(buffered, dtype=bool), uplink, np.minimum(uplink, as_float(drive_lane)))
    return as_float(lanes) * speed
