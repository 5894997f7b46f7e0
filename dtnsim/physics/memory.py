"""Memory: how often a payload byte crosses the bus, what the bus carries, and how load slows the cores."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

CHANNEL_WIDTH_B: Final = 8.0  #: bytes a DIMM channel moves per transfer (JEDEC DDR3/DDR4: 64 data bits)

#: STREAM over the channels' nominal rate; spread 0.74-0.78.
#: Source: Texas Instruments SPRAD45A, STREAM on one DDR4 part.
STREAM_EFFICIENCY: Final = 0.76

#: copies by the processor between device and device, for one payload byte on one host.
#: buffered: page cache <-> user buffer <-> socket; direct: O_DIRECT file, copied to or from the socket;
#: sendfile: page cache handed to the card; rdma: O_DIRECT into registered memory; ssh: buffered plus two
#: copies through the cipher process. Source: Linux sendfile(2), open(2), Documentation/networking/
#: msg_zerocopy.rst; OpenSSH packet.c (encrypt to output buffer) and channels.c (channel buffer).
COPIES: Final = MappingProxyType({"buffered": 2.0, "direct": 1.0, "sendfile": 0.0, "rdma": 0.0, "ssh": 4.0})

#: relative rise of the memory's latency from idle to full bandwidth. One machine, hence spread 0.3-0.8.
#: Source: Intel Memory Latency Checker 3.5 on two Xeon Silver 4110, community.intel.com thread 1126268:
#: 82 ns idle, 99 ns at half and 130 ns at full bandwidth.
LATENCY_SLOPE: Final = 0.5

#: share of a copying core's cycles that wait for memory when the bus is idle. Assumed, spread 0.3-0.7:
#: the kernel-to-user copy is the receiver's main cost (Cai et al., SIGCOMM 2021, abstract), up to 34 % of
#: its cycles in another profile, where driver and buffer release stall on memory too (Liao, Zhu, Bhuyan).
STALL_SHARE: Final = 0.5


def peak_bandwidth(channels: ArrayLike, transfers_per_s: ArrayLike, width_B: ArrayLike = CHANNEL_WIDTH_B) -> FloatArray:
    """Nominal bandwidth of a socket's memory.

    B = channels * MT/s * 8 B

    Args:
        channels: Populated channels [1].
        transfers_per_s: Transfers per second of the DIMMs as clocked [1/s].
        width_B: Bytes per transfer [B].

    Returns:
        Nominal bandwidth, reads plus writes [B/s].

    Valid: all channels alike.
    Neglects: refresh, bank conflicts, read-write turnaround (`STREAM_EFFICIENCY`).
    Source: JEDEC JESD79-3, JESD79-4.
    """
    return as_float(channels) * as_float(transfers_per_s) * as_float(width_B)


def sustained_bandwidth(peak_Bps: ArrayLike, efficiency: ArrayLike = STREAM_EFFICIENCY) -> FloatArray:
    """Bandwidth that programs reach: B * efficiency.

    Args:
        peak_Bps: Nominal bandwidth [B/s].
        efficiency: Share reached, 0.74-0.78 [1].

    Returns:
        Sustained bandwidth, reads plus writes: the capacity of the memory station [B/s].

    Valid: enough cores and devices to fill the channels.
    Neglects: the mix of reads and writes.
    Source: McCalpin, STREAM; TI SPRAD45A.
    """
    return as_float(peak_Bps) * as_float(efficiency)


def crossings_per_byte(
    copies: ArrayLike,
    dma: ArrayLike = 2.0,
    passes: ArrayLike = 0.0,
    write_allocate: ArrayLike = 1.0,
    cached: ArrayLike = 1.0,
    ddio: ArrayLike = 0.0,
) -> FloatArray:
    """Times one payload byte crosses the memory bus of a host.

    m = dma + (2 + w) * (k - h * max(k - 1, 0)) + passes - 2 * ddio * [dma > 0]

    Each copy reads its source, writes its target and, unless stores bypass the cache, first fetches the
    target's line (write-allocate). Between two copies the buffer may stay in the cache: then the
    first one's write and fetch and the second one's read never reach memory.

    Args:
        copies: Copies k by the processor, see `COPIES` [1].
        dma: Device transfers, 2 for disk to network, 1 for memory to network [1].
        passes: Further reads of data that left the cache (checksum in user space, verification) [1].
        write_allocate: Share w of stores that fetch their line first [1].
        cached: Share h of the buffers between two copies that stay in the cache (see `cached_share`) [1].
        ddio: Share of DMA that lands in the last-level cache and is consumed there [1].

    Returns:
        Crossings per payload byte, at least 0 [1].

    Valid: w, h, ddio in [0, 1].
    Neglects: eviction of lines that DMA put into the cache and nobody read in time.
    Source: cache protocol (write-allocate: McCalpin, STREAM counting rules); direct cache access:
        Huggahalli, Iyer, Tetrick, ISCA 2005.
    """
    k, d = as_float(copies), as_float(dma)
    reached = k - as_float(cached) * np.maximum(k - 1, 0.0)
    saved = 2 * as_float(ddio) * np.minimum(d, 1.0)
    m = d + (2 + as_float(write_allocate)) * reached + as_float(passes) - saved
    return np.maximum(m, 0.0)


def cached_share(cache_B: ArrayLike, working_set_B: ArrayLike) -> FloatArray:
    """Share of buffers that stay in a shared cache: min(1, cache / working set).

    Args:
        cache_B: Last-level cache the transfer may use [B].
        working_set_B: Bytes in use between producer and consumer: block size * streams * buffers [B].

    Returns:
        Share h [1].

    Valid: both positive.
    Neglects: the replacement policy (true LRU on a cyclic pattern falls to 0 at once).
    Source: random-replacement limit, Rao, JACM 25(3), 1978.
    """
    return np.minimum(1.0, as_float(cache_B) / as_float(working_set_B))


def memory_rate(bandwidth_Bps: ArrayLike, crossings: ArrayLike) -> FloatArray:
    """Payload rate the memory bus allows: B / m.

    Args:
        bandwidth_Bps: Sustained bandwidth [B/s].
        crossings: Crossings per payload byte [1].

    Returns:
        Payload rate [B/s]; infinite where nothing crosses.

    Valid: bandwidth > 0.
    Neglects: other users of the bus (add their traffic as demands).
    Source: utilisation law, Denning and Buzen 1978.
    """
    m = as_float(crossings)
    return np.where(m > 0, as_float(bandwidth_Bps) / np.where(m > 0, m, 1.0), np.inf)


def loaded_latency_ratio(utilization: ArrayLike, slope: ArrayLike = LATENCY_SLOPE) -> FloatArray:
    """Memory latency under load over latency when idle.

    L(U) / L(0) = 1 + slope * min(U, 1)

    It stays finite at U = 1 because cores hold a bounded number of lines outstanding (a closed
    system), unlike an open queue's 1/(1 - U).

    Args:
        utilization: Traffic over `sustained_bandwidth` [1].
        slope: Relative rise from idle to full [1].

    Returns:
        Ratio, at least 1 [1].

    Valid: U in [0, 1]; above 1 it stays at 1 + slope.
    Neglects: the curvature near saturation (5 % on the cited machine).
    Source: Intel Memory Latency Checker 3.5 table, community.intel.com thread 1126268, within 6 %.
    """
    return 1 + as_float(slope) * np.clip(as_float(utilization), 0.0, 1.0)


def interference(
    utilization: ArrayLike,
    stall_share: ArrayLike = STALL_SHARE,
    slope: ArrayLike = LATENCY_SLOPE,
    reference_utilization: ArrayLike = 0.0,
) -> FloatArray:
    """Factor on cycles per byte when the memory bus is loaded: the law D(U).

    c(U) / c(U_ref) = (1 - s + s * L(U)/L(0)) / (1 - s + s * L(U_ref)/L(0))

    Args:
        utilization: Load U of the memory bus by everybody on it [1].
        stall_share: Share s of the cycles that wait for memory on an idle bus [1].
        slope: See `loaded_latency_ratio` [1].
        reference_utilization: Load U_ref at which the cycles per byte were measured [1].

    Returns:
        Factor [1].

    Valid: s in [0, 1], U in [0, 1].
    Neglects: contention for the last-level cache (lower `cached_share`), false sharing, locks.
    Source: CPI = CPI_cache + misses * latency * blocking factor: Emma, IBM J. Res. Dev. 41(3), 1997;
        Clapp et al., IISWC 2015.
    """
    s = as_float(stall_share)
    here = 1 - s + s * loaded_latency_ratio(utilization, slope)
    there = 1 - s + s * loaded_latency_ratio(reference_utilization, slope)
    return as_float(here / there)


def stall_cycles_per_byte(
    misses_per_B: ArrayLike,
    latency_s: ArrayLike,
    clock_Hz: ArrayLike,
    parallelism: ArrayLike = 10.0,
    line_B: ArrayLike = 64.0,
) -> FloatArray:
    """Cycles a core waits for memory per payload byte.

    c_stall = m * L * f / (line * parallelism)

    Args:
        misses_per_B: Bytes fetched from memory by this core per payload byte [1].
        latency_s: Memory latency [s].
        clock_Hz: Clock [Hz].
        parallelism: Lines in flight: 10 line fill buffers, more with prefetch into L2 [1].
        line_B: Cache line [B].

    Returns:
        Stall cycles [cycles/B]; over the total it is the stall share of `interference`.

    Valid: all positive.
    Neglects: overlap of stalls with computing.
    Source: Little (1961) on line fill buffers; 10 of them: Intel 64 and IA-32 Optimization Reference Manual.
    """
    waiting = as_float(misses_per_B) * as_float(latency_s) * as_float(clock_Hz)
    return waiting / (as_float(line_B) * as_float(parallelism))
