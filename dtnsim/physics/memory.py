"""Memory: how often a payload byte crosses the bus, what the bus carries, and how load slows the cores."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

CHANNEL_WIDTH_B: Final = 8.0  #: bytes a DIMM channel moves per transfer (JEDEC DDR3/DDR4: 64 data bits)


def peak_bandwidth(channels: ArrayLike, transfers_per_s: ArrayLike) -> FloatArray:
    """Nominal bandwidth of a socket's memory.

    B = channels * MT/s * 8 B

    Args:
        channels: Populated channels [1].
        transfers_per_s: Transfers per second of the DIMMs as clocked [1/s].

    Returns:
        Nominal bandwidth, reads plus writes [B/s].

    Valid: all channels alike.
    Neglects: refresh, bank conflicts, read-write turnaround (the efficiency of `sustained_bandwidth`).
    Source: JEDEC JESD79-3, JESD79-4.
    """
    return as_float(channels) * as_float(transfers_per_s) * CHANNEL_WIDTH_B


def sustained_bandwidth(peak_Bps: ArrayLike, efficiency: ArrayLike) -> FloatArray:
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


def crossings(dma: ArrayLike, sources: ArrayLike, targets: ArrayLike, ddio: ArrayLike = 0.0) -> FloatArray:
    """Times one byte crosses the memory bus in one activity of a host.

    m = max(dma + sources + 2 targets - 2 ddio min(dma, 1), 0)

    A copy reads its source and writes its target, whose line is fetched first (write-allocate). A buffer that stays
    in the cache between two copies counts as neither. A byte that DMA puts into the last-level cache (or fetches
    from there) and that a core takes from it (or has just put there) saves the device's crossing and the core's.

    Args:
        dma: Transfers between a device and memory [1].
        sources: Copies whose source comes from memory [1].
        targets: Copies whose target ends in memory [1].
        ddio: Share of the device's bytes that pass through the last-level cache [1].

    Returns:
        Crossings per byte [1].

    Valid: ddio in [0, 1]; stores that go through the cache, as the kernel's copies do.
    Neglects: lines that DMA put into the cache and that were evicted before a core came for them.
    Source: write-allocate: McCalpin, STREAM counting rules; direct cache access: Huggahalli, Iyer, Tetrick, ISCA 2005.
    """
    d = as_float(dma)
    plain = d + as_float(sources) + 2 * as_float(targets)
    return np.maximum(plain - 2 * as_float(ddio) * np.minimum(d, 1.0), 0.0)


def interference(utilization: ArrayLike, stall: ArrayLike, reference: ArrayLike = 0.0) -> FloatArray:
    """Factor on cycles per byte when the memory bus is loaded.

    c(U) / c(U_ref) = (1 + k U) / (1 + k U_ref),  k = s * (L(1)/L(0) - 1)

    A share s of the cycles waits for memory, whose latency L rises about linearly with its load. It stays finite
    at U = 1 because cores hold a bounded number of lines outstanding (a closed system), unlike an open queue.

    Args:
        utilization: Load U of the memory bus by everybody on it [1].
        stall: k, the relative rise of the cycles from an idle to a full bus [1].
        reference: Load U_ref at which the cycles per byte were measured [1].

    Returns:
        Factor [1].

    Valid: U in [0, 1] (clipped), k >= 0.
    Neglects: the curvature of the latency near saturation (6 % on the cited machine); contention for the cache.
    Source: CPI = CPI_cache + misses * latency * blocking factor: Emma, IBM J. Res. Dev. 41(3), 1997; latency 1.5
        times as long at full load: Intel Memory Latency Checker 3.5, two Xeon Silver 4110, community.intel.com
        thread 1126268.
    """
    k = as_float(stall)
    used, measured = (np.clip(as_float(u), 0.0, 1.0) for u in (utilization, reference))
    return as_float((1 + k * used) / (1 + k * measured))


def first_touch(fault: ArrayLike, page_B: ArrayLike, clear: ArrayLike) -> FloatArray:
    """Work of a core for a byte of memory that a program uses for the first time.

    c = fault / page + clear

    Args:
        fault: Exception, page tables and allocation of one page [cycles].
        page_B: Page that a fault maps [B].
        clear: Clearing of a byte [cycles/B].

    Returns:
        Work [cycles/B].

    Valid: every byte is used, in order, for the first time.
    Neglects: reclaim of other pages where no free one is left; faults of several threads that wait for one lock.
    Source: Linux mm/memory.c, do_anonymous_page (one fault a page, which is cleared); Documentation/admin-guide/mm/
        transhuge.rst: a fault then maps 2 MiB.
    """
    return as_float(fault) / as_float(page_B) + as_float(clear)
