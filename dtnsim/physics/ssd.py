"""Flash drives: queue depth, caches that fill, compressing controllers, write amplification.

Rates are host bytes a second unless a name says otherwise. All functions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def queue_rate(queue: ArrayLike, request_B: ArrayLike, latency_s: ArrayLike, max_rate: ArrayLike) -> FloatArray:
    """Rate of a drive that holds a number of requests in flight.

    X(q) = min(q s / L, X_max) (Little's law under a ceiling).

    Args:
        queue: Requests in flight q [1].
        request_B: Request size s [B].
        latency_s: Latency L of one request alone on the drive, transfer included [s].
        max_rate: Rate of the full drive X_max [B/s].

    Returns:
        Rate [B/s].

    Valid: a steady number in flight, requests of one size and kind.
    Neglects: the rounding of the knee by uneven latencies; tail latency.
    Source: Little 1961; operational bounds of Denning and Buzen, ACM Computing Surveys 10(3), 1978.
    """
    return np.minimum(as_float(queue) * as_float(request_B) / as_float(latency_s), as_float(max_rate))


def queue_iops(queue: ArrayLike, latency_s: ArrayLike, max_iops: ArrayLike) -> FloatArray:
    """Requests a second of a drive with a number in flight: min(q / L, X_max).

    Args:
        queue: Requests in flight q [1].
        latency_s: Latency of one request alone L [s].
        max_iops: Ceiling of the drive [1/s].

    Returns:
        Requests a second [1/s].

    Valid: as `queue_rate`.
    Neglects: as `queue_rate`.
    Source: as `queue_rate`.
    """
    return np.minimum(as_float(queue) / as_float(latency_s), as_float(max_iops))


def queue_latency(queue: ArrayLike, latency_s: ArrayLike, max_iops: ArrayLike) -> FloatArray:
    """Response time with a number in flight: max(L, q / X_max), Little's law read the other way.

    Args:
        queue: Requests in flight q [1].
        latency_s: Latency of one request alone L [s].
        max_iops: Ceiling of the drive [1/s].

    Returns:
        Mean response time [s].

    Valid: as `queue_rate`.
    Neglects: as `queue_rate`.
    Source: as `queue_rate`.
    """
    return np.maximum(as_float(latency_s), as_float(queue) / as_float(max_iops))


def request_latency(request_B: ArrayLike, access_s: ArrayLike, transfer_rate: ArrayLike) -> FloatArray:
    """Latency of one request of some size: L = a + s / R.

    Args:
        request_B: Request size s [B].
        access_s: Fixed part a (flash sense, controller, driver) [s].
        transfer_rate: Rate R at which one request's bytes move [B/s].

    Returns:
        Latency [s].

    Valid: one request at a time.
    Neglects: the gain from several dies that serve one large request.
    Source: affine service-time law; fitted from a block-size sweep at queue depth 1.
    """
    return as_float(access_s) + as_float(request_B) / as_float(transfer_rate)


def compressing_write_rate(link_rate: ArrayLike, nand_rate: ArrayLike, stored_ratio: ArrayLike) -> FloatArray:
    """Write rate of a controller that compresses what it stores.

    R_w(c) = min(R_link, R_nand / c); zeros (c -> 0) run at the link's rate.

    Args:
        link_rate: Payload rate of the host link R_link [B/s].
        nand_rate: Rate at which stored bytes reach the flash R_nand [B/s].
        stored_ratio: Stored over host bytes c [1], 1 for incompressible data.

    Returns:
        Host bytes a second [B/s].

    Valid: c >= 0.
    Neglects: a controller's own compression speed (above the SATA link's in the drives described).
    Source: SandForce controllers store a compressed form (guru3d.com, Intel 530 review, p. 5); the
        incompressible sequential write is their weak case (Tom's Hardware, SSD 520 review 3124).
    """
    link, nand = as_float(link_rate), as_float(nand_rate)
    # min(link, nand / c) without the division that c = 0 would break
    return link * nand / np.maximum(nand, link * np.maximum(as_float(stored_ratio), 0.0))


def steady_write_rate(nand_rate: ArrayLike, write_amplification: ArrayLike = 1.0) -> FloatArray:
    """Write rate of a drive whose spare area is in use: R_ss = R_nand / WA.

    Args:
        nand_rate: Program rate of all dies together [B/s].
        write_amplification: Flash bytes written per host byte WA, at least 1 [1].

    Returns:
        Host bytes a second [B/s].

    Valid: a preconditioned drive, writes longer than any cache.
    Neglects: reads done by the cleaning, power and thermal limits.
    Source: definition of write amplification (Hu et al., SYSTOR 2009).
    """
    return as_float(nand_rate) / np.maximum(as_float(write_amplification), 1.0)


def fifo_write_amplification(spare_ratio: ArrayLike) -> FloatArray:
    """Write amplification of random writes with first-in-first-out cleaning.

    WA = 1 / (1 - u), where u = exp(-alpha (1 - u)) is the share still valid in the block cleaned and
    alpha = physical over logical capacity = 1 + spare ratio.

    Args:
        spare_ratio: (physical - logical) / logical capacity, above 0 [1]; TRIMmed space counts as spare.

    Returns:
        Flash writes per host write [1]; tends to 1 for much spare, to 1 / (2 spare) for little.

    Valid: uniform random page writes on a full drive. Sequential file writes stay near 1.
    Neglects: greedy or hot/cold cleaning (lower), compression (lower), partial-page writes (higher).
    Source: Desnoyers, "Analytic models of SSD write performance", ACM ToS 10(2), 2014; Robinson,
        "Analysis of steady-state segment storage utilizations in a log-structured file system", 1996.
    """
    spare = np.maximum(as_float(spare_ratio), 1e-6)
    # w = 1 - u solves 1 - w = exp(-alpha w). Newton from w = 1 falls on the root from above: the
    # function exp(-alpha w) - 1 + w is convex, so no step passes the root.
    alpha = 1.0 + spare
    w = np.ones_like(alpha)
    for _ in range(60):
        w = w - (np.expm1(-alpha * w) + w) / (1.0 - alpha * np.exp(-alpha * w))
    return 1.0 / w


def burst_bytes(cache_B: ArrayLike, cache_rate: ArrayLike, drain_rate: ArrayLike) -> FloatArray:
    """Bytes a drive takes at cache speed before its fast cache is full.

    V_burst = V_cache R_cache / (R_cache - R_drain), drained while it fills.

    Args:
        cache_B: Fast (pseudo-SLC or DRAM) space that is free at the start [B].
        cache_rate: Write rate into the cache R_cache [B/s].
        drain_rate: Rate at which the cache is emptied meanwhile R_drain [B/s], 0 if only when idle.

    Returns:
        Host bytes [B]; capped at 1e9 caches where the drain keeps up (never full).

    Valid: a cache that is empty at the start.
    Neglects: caches that shrink as the drive fills (give the size for that fill level).
    Source: conservation of bytes in the cache.
    """
    cache, fast = as_float(cache_B), as_float(cache_rate)
    fill = np.maximum(fast - np.maximum(as_float(drain_rate), 0.0), 1e-9 * fast)
    return cache * fast / fill


def burst_write_time(
    size_B: ArrayLike,
    burst_B: ArrayLike,
    burst_rate: ArrayLike,
    direct_rate: ArrayLike,
    direct_B: ArrayLike = np.inf,
    fold_rate: ArrayLike = np.inf,
) -> FloatArray:
    """Time to write a size onto a drive with a fast cache: burst, then direct, then folding.

    t = V_1/R_burst + V_2/R_direct + V_3/R_fold with V_1 = min(V, V_burst), V_2 = min(V - V_1,
    V_direct), V_3 the rest. With the defaults there is no third part.

    Args:
        size_B: Bytes written V [B].
        burst_B: Bytes taken at cache speed, see `burst_bytes` [B].
        burst_rate: Rate of the burst [B/s].
        direct_rate: Rate of writes that pass the full cache [B/s].
        direct_B: Bytes the drive takes directly before it must fold the cache [B].
        fold_rate: Rate while the flash also empties the cache [B/s].

    Returns:
        Time [s].

    Valid: one long sequential write, cache empty at the start.
    Neglects: recovery in pauses, thermal throttling.
    Source: the three plateaus in TechPowerUp's sustained-write tests (Samsung 970 EVO 500 GB, two
        plateaus; Adata Atom 50 1 TB, three).
    """
    V = as_float(size_B)
    first = np.minimum(V, as_float(burst_B))
    second = np.minimum(V - first, as_float(direct_B))
    third = V - first - second
    return first / as_float(burst_rate) + second / as_float(direct_rate) + third / as_float(fold_rate)


def burst_write_rate(
    written_B: ArrayLike,
    burst_B: ArrayLike,
    burst_rate: ArrayLike,
    direct_rate: ArrayLike,
    direct_B: ArrayLike = np.inf,
    fold_rate: ArrayLike = np.inf,
) -> FloatArray:
    """Rate at which a drive takes the next byte after some bytes were written.

    Args:
        written_B: Bytes written so far [B].
        burst_B: Bytes taken at cache speed [B].
        burst_rate: Rate of the burst [B/s].
        direct_rate: Rate once the cache is full [B/s].
        direct_B: Bytes taken directly before folding begins [B].
        fold_rate: Rate while folding [B/s].

    Returns:
        Rate now [B/s], the derivative of `burst_write_time` inverted.

    Valid: as `burst_write_time`.
    Neglects: as `burst_write_time`.
    Source: as `burst_write_time`.
    """
    written, burst = as_float(written_B), as_float(burst_B)
    later = np.where(written < burst + as_float(direct_B), as_float(direct_rate), as_float(fold_rate))
    return np.where(written < burst, as_float(burst_rate), later)


def mixed_rate(
    read_share: ArrayLike, read_rate: ArrayLike, write_rate: ArrayLike, interference: ArrayLike = 0.0
) -> FloatArray:
    """Total rate of a drive that reads and writes at the same time.

    1/R = (f / R_r + (1 - f) / R_w) (1 + 4 gamma f (1 - f)).

    Args:
        read_share: Share of bytes that are reads f [1].
        read_rate: Pure read rate R_r [B/s].
        write_rate: Pure write rate R_w [B/s].
        interference: Extra time at an even mix over the time without interference, gamma >= 0 [1]; to
            be fitted from a mixed run.

    Returns:
        Read plus write bytes a second [B/s]; exact at f = 0 and f = 1.

    Valid: one shared resource (the dies). A drive limited by a full-duplex link does better.
    Neglects: read priority over programs, suspend commands.
    Source: time shares of one shared server (utilisation law); the symmetric interference term is an
        assumption with one fitted coefficient.
    """
    f = np.clip(as_float(read_share), 0.0, 1.0)
    alone = f / as_float(read_rate) + (1.0 - f) / as_float(write_rate)
    return 1.0 / (alone * (1.0 + 4.0 * as_float(interference) * f * (1.0 - f)))
