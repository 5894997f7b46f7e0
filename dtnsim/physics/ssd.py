"""Flash drives: caches that fill, compressing controllers, write amplification, heat, reads beside writes.

Rates are host bytes a second unless a name says otherwise. All functions broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


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


def rated_amplification(write_rate: ArrayLike, requests_rate: ArrayLike, rated_B: ArrayLike = 4096.0) -> FloatArray:
    """Write amplification that a drive's ratings in the steady state imply: max(1, R / (n b)).

    Flash writes R bytes a second in sequence; of these n b reach it as random writes of the rated size, the rest is
    what garbage collection copies. It copies as much for each byte of larger requests, as long as these are small
    beside an erase block.

    Args:
        write_rate: Sequential writes R [B/s].
        requests_rate: Random writes n that the drive is rated for in its steady state [1/s].
        rated_B: Size of the requests of that rating b [B].

    Returns:
        Flash writes per host write [1], at least 1.

    Valid: drives that are rated after preconditioning over their whole span, as those of data centres; requests from
        the rated size to a few MiB.
    Neglects: drives whose processor limits the rating, so that larger requests cost less.
    Source: SNIA, Solid State Storage Performance Test Specification (steady state); Desnoyers, ACM ToS 10(2), 2014:
        amplification of random writes depends on spare flash, not on the size of small requests.
    """
    return np.maximum(as_float(write_rate) / (as_float(requests_rate) * as_float(rated_B)), 1.0)


def implied_spare(amplification: ArrayLike) -> FloatArray:
    """Spare flash with which first-in-first-out cleaning has a given write amplification: -W ln(1 - 1/W) - 1.

    The inverse of `fifo_write_amplification`: W = 1 / (1 - u) and u = exp(-alpha (1 - u)) give alpha = -W ln(1 - 1/W).

    Args:
        amplification: Flash writes per host write W, above 1 [1].

    Returns:
        (physical - logical) / logical capacity [1]; tends to 0 for large W.

    Valid: amplification of uniform random writes on a full drive, such as ratings in the steady state imply.
    Neglects: what `fifo_write_amplification` neglects; the number stands for flash and cleaning together.
    Source: Desnoyers, "Analytic models of SSD write performance", ACM ToS 10(2), 2014, solved for alpha.
    """
    w = np.maximum(as_float(amplification), 1.0 + 1e-9)
    return -w * np.log1p(-1.0 / w) - 1.0


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


def dynamic_cache_bytes(cache_B: ArrayLike, dynamic: ArrayLike, filled: ArrayLike) -> FloatArray:
    """Fast cache of a drive that lends its free cells to it: C (1 - d f).

    Args:
        cache_B: Cache of the empty drive C [B].
        dynamic: Part of it that is made of free cells d, 0 (all of it is fixed) to 1, clipped [1].
        filled: Part of the drive that holds data f, clipped to 0..1 [1].

    Returns:
        Cache at that fill level [B].

    Valid: dynamic pseudo-SLC caches.
    Neglects: the steps in which firmware gives cells back.
    Source: free cells are what is not filled; TechPowerUp's sustained-write tests name the caches of empty drives.
    """
    return as_float(cache_B) * (1.0 - np.clip(as_float(dynamic), 0.0, 1.0) * np.clip(as_float(filled), 0.0, 1.0))


def effective_spare(spare_ratio: ArrayLike, filled: ArrayLike) -> FloatArray:
    """Spare ratio of a drive that is not full: (1 + s) / f - 1; what is trimmed is spare.

    Args:
        spare_ratio: (physical - logical) / logical capacity s [1].
        filled: Part of the logical capacity that holds data f, 0 to 1 [1].

    Returns:
        Spare over stored bytes [1], for `fifo_write_amplification`.

    Valid: TRIM reaches the drive.
    Neglects: nothing.
    Source: definition; SNIA Solid State Storage Performance Test Specification (preconditioning, active range).
    """
    return (1.0 + as_float(spare_ratio)) / np.clip(as_float(filled), 1e-3, 1.0) - 1.0


def indirection_load(write_B: ArrayLike, unit_B: ArrayLike) -> FloatArray:
    """Bytes written to the flash per byte of a random write: ceil(s / u) u / s.

    Args:
        write_B: Size of one write s [B].
        unit_B: Unit of the drive's mapping table u (4 KiB; 16 or 64 KiB on large QLC drives) [B].

    Returns:
        Ratio [1], at least 1.

    Valid: aligned writes that no cache joins.
    Neglects: the read of the rest of the unit.
    Source: Intel D5-P5316 product brief: 64-KiB indirection unit, random writes rated at 64 KiB.
    """
    s, unit = as_float(write_B), as_float(unit_B)
    return np.ceil(s / unit) * unit / s


def latency_within(rated_s: ArrayLike, rated_B: ArrayLike, link_rate: ArrayLike, turn_s: ArrayLike) -> FloatArray:
    """Latency of a drive without what its rating has around it: max(L - b / R - h, 0).

    A rating is the time of a small request as a program on a host sees it, so that it has the request's transfer in
    it, and where the program's own turn is charged as well, that of the host which it was measured on.

    Args:
        rated_s: Latency as rated L, or 1 / n of n requests a second at depth 1 [s].
        rated_B: Size of the requests of that rating b [B].
        link_rate: Rate of the link that the drive is made for R [B/s].
        turn_s: Turn of the host that is charged beside the drive's h [s].

    Returns:
        Latency, transfer left out [s], at least 0.

    Valid: ratings of requests that find the drive idle.
    Neglects: hosts much faster or slower than those that drives are rated on.
    Source: Intel, S3610 product specification, note 6: one request of 4 KiB at a time, from the host to the drive and
        back to the host; Samsung 960 EVO (hothardware.com): rated at 14,000 reads a second at queue depth 1.
    """
    return np.maximum(as_float(rated_s) - as_float(rated_B) / as_float(link_rate) - as_float(turn_s), 0.0)


def sequential_latency(
    request_B: ArrayLike, in_flight: ArrayLike, held_s: ArrayLike, flash_s: ArrayLike, page_B: ArrayLike
) -> FloatArray:
    """Latency of a read that follows the one before, in the mean: l + (L - l) min(1, q s / p).

    A die reads a whole page. The q requests under way wait for it together; those that come next find the rest of it
    in the drive's memory, until the page after it, which lies on another channel, has to be read.

    Args:
        request_B: Bytes of one request s [B].
        in_flight: Requests of the stream under way q [1].
        held_s: Latency of what the drive's memory holds l, at most L [s].
        flash_s: Latency of a read from the flash, as that of a random one L [s].
        page_B: Bytes that a die reads at once p [B].

    Returns:
        Latency, transfer left out [s]: l for tiny requests, L where a page or more is under way.

    Valid: one stream, its requests in order.
    Neglects: drives that read the next pages ahead of the stream.
    Source: Intel S4500 and P4500 data sheets: 36 and 10 us in sequence, 110 and 85 us at random, both of 4 KiB;
        sabrent.com, NAND organization: pages of 16 KB.
    """
    hit = np.minimum(as_float(held_s), as_float(flash_s))
    missed = np.minimum(as_float(in_flight) * as_float(request_B) / as_float(page_B), 1.0)
    return hit + (as_float(flash_s) - hit) * missed


def throttled_rate(size_B: ArrayLike, rate: ArrayLike, after_s: ArrayLike, hot_rate: ArrayLike) -> FloatArray:
    """Mean rate of a transfer on a drive that grows too hot: V / (t_1 + (V - R t_1) / R_hot).

    Args:
        size_B: Bytes moved V [B].
        rate: Rate while the drive is cool R [B/s].
        after_s: Time until it throttles [s]; t_1 is that, or V / R where the transfer ends earlier.
        hot_rate: Rate it can keep at its temperature limit R_hot; above R it never binds [B/s].

    Returns:
        Rate [B/s].

    Valid: a drive cool at the start, without enough air.
    Neglects: the saw-tooth of throttling and cooling.
    Source: two rates, one after the other; NVM Express base specification, 8.15 (host controlled thermal management).
    """
    V, fast = as_float(size_B), as_float(rate)
    slow = np.minimum(as_float(hot_rate), fast)
    first = np.minimum(V, fast * as_float(after_s))
    return V / (first / fast + (V - first) / slow)


def interference(read_share: ArrayLike, gamma: ArrayLike) -> FloatArray:
    """Time of mixed reads and writes over the sum of their times alone: 1 + 4 gamma f (1 - f).

    Args:
        read_share: Share of bytes that are reads f [1].
        gamma: Extra time at an even mix over the time without interference, at least 0 [1].

    Returns:
        Factor on the drive's time [1]; 1 for reads or writes alone.

    Valid: one shared resource (the dies).
    Neglects: read priority over programs, suspend commands.
    Source: time shares of one shared server (utilisation law); the symmetric term is an assumption.
    """
    f = np.clip(as_float(read_share), 0.0, 1.0)
    return 1.0 + 4.0 * as_float(gamma) * f * (1.0 - f)
