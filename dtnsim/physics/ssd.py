"""Flash drives: caches that fill, compressing controllers, write amplification, heat, reads beside writes.

Rates are host bytes a second unless a name says otherwise. All functions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


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


def burst_write_time(
    size_B: ArrayLike,
    burst_B: ArrayLike,
    burst_rate: ArrayLike,
    direct_rate: ArrayLike,
    direct_B: ArrayLike = np.inf,
    fold_rate: ArrayLike = np.inf,
) -> FloatArray:
    """Time of a size on a drive with a fast cache: burst, then direct, then folding; or on one that grows too hot.

    t = V_1/R_burst + V_2/R_direct + V_3/R_fold with V_1 = min(V, V_burst), V_2 = min(V - V_1,
    V_direct), V_3 the rest. With the defaults there is no third part.

    Args:
        size_B: Bytes written V [B].
        burst_B: Bytes taken at cache speed: the cache, where it is emptied only when idle; or until a drive is hot [B].
        burst_rate: Rate of the burst [B/s].
        direct_rate: Rate of writes that pass the full cache, or of a hot drive [B/s].
        direct_B: Bytes the drive takes directly before it must fold the cache [B].
        fold_rate: Rate while the flash also empties the cache [B/s].

    Returns:
        Time [s].

    Valid: one long sequential write, cache empty at the start; a drive cool at the start, without enough air.
    Neglects: recovery in pauses; the saw-tooth of throttling and cooling.
    Source: the three plateaus in TechPowerUp's sustained-write tests (Samsung 970 EVO 500 GB, two
        plateaus; Adata Atom 50 1 TB, three); NVM Express base specification, 8.15 (host controlled thermal management).
    """
    V = as_float(size_B)
    first = np.minimum(V, as_float(burst_B))
    second = np.minimum(V - first, as_float(direct_B))
    third = V - first - second
    return first / as_float(burst_rate) + second / as_float(direct_rate) + third / as_float(fold_rate)


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
    held = np.minimum(as_float(held_s), as_float(flash_s))
    missed = np.minimum(as_float(in_flight) * as_float(request_B) / as_float(page_B), 1.0)
    return held + (as_float(flash_s) - held) * missed


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
