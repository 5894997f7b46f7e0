"""Workers that wait and share: a queue and a delay, requests in flight, the last round of files, unequal luck."""

from heapq import heapify, heapreplace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float, broadcast

MOST_WORKERS: Final = 64  #: beyond so many workers the station is taken to be full, or never queued at
_MOST: Final = float(np.finfo(float).max)  #: greatest number
MANY: Final = 256  #: files a worker from which on an unfinished round is less than half a percent


def cycle_time(workers: float, away_s: ArrayLike, station_s: ArrayLike, own_s: ArrayLike = 0.0) -> FloatArray:
    """Time per unit of work of N workers that are away for Z and then share a station that takes D alone.

    A worker at the station goes no faster than it can by itself, one unit in s: n of them pass min(n / s, 1 / D). The
    birth-death chain of n at the station has p(n - 1) (N - n + 1) / Z = p(n) min(n / s, 1 / D), and the answer is one
    over the mean of min(n / s, 1 / D). It lies between max(D, (Z + s) / N) and (Z + max(s, N D)) / N. Where s is no
    longer than D this is exact mean value analysis; where it is N D nobody ever waits for another. Less of any of Z, D
    and s never makes it longer.

    Args:
        workers: Number of workers N, at least 1; a part of a worker counts as none [1].
        away_s: Z, time of a unit of work away from the station [s].
        station_s: D, time of a unit of work at the station when nobody else is there, as far as the station goes [s].
        own_s: s, time of a unit of work at the station that its worker needs by itself; D where that is longer [s].

    Returns:
        Seconds per unit of work of all workers together [s].

    Valid: a station that is shared equally (processor sharing, which is insensitive to the distribution of the work),
        as connections share a link; waits that differ.
    Neglects: further shared stations; workers in step with each other.
    Source: M. Reiser, S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks", JACM 27(2), 1980;
        load-dependent stations: F. Baskett et al., "Open, Closed, and Mixed Networks of Queues", JACM 22(2), 1975.
    """
    away, station, solo = broadcast(away_s, station_s, own_s)
    solo = np.maximum(solo, station)
    count = max(int(workers), 1)
    if count > MOST_WORKERS:
        return np.asarray(np.maximum(station, (away + solo) / count), float)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # times near 0 pass without end
        passing = [np.minimum(n / solo, 1 / station) for n in range(count + 1)]
        chance = norm = np.ones(away.shape)
        mean = passing[count]
        for n in range(count, 0, -1):
            chance = chance * passing[n] * away / (count - n + 1)
            chance = np.where(chance > 0, np.minimum(chance, _MOST), 0.0)  # of what is no number, none
            norm = norm + chance
            mean = mean + chance * passing[n - 1]
            scale = np.maximum(chance, 1.0)
            chance, norm, mean = chance / scale, norm / scale, mean / scale
        busy = norm / mean
    return np.asarray(np.where(solo > 0, busy, away / count), float)


def emptied_together(sizes_B: ArrayLike, rates: ArrayLike) -> FloatArray:
    """When a medium has the last byte of each of several whose bytes it writes side by side.

    t_i = sum_j min(V_j, V_i r_j / r_i) / sum_j r_j.

    Args:
        sizes_B: Bytes of each V (..., n) [B].
        rates: Their shares of the medium while it has something of all r (..., n) [B/s].

    Returns:
        (..., n) times from the first byte on [s].

    Valid: all is there from the start; who is done leaves its share to the others, in proportion.
    Neglects: writers that begin at different times.
    Source: processor sharing: when i is done, j has had r_j / r_i times as much, or all that it wanted.
    """
    V, share = np.broadcast_arrays(as_float(sizes_B), as_float(rates))
    order = np.argsort(V / share, axis=-1)  # who is done first
    v, r = (np.take_along_axis(values, order, -1) for values in (V, share))
    total, times = r.sum(axis=-1, keepdims=True), np.empty(v.shape)
    np.put_along_axis(times, order, (np.cumsum(v, axis=-1) + v / r * (total - np.cumsum(r, axis=-1))) / total, -1)
    return times


def time_shares(flow: ArrayLike) -> FloatArray:
    """Part of the time that a Markov chain spends in each of its states, in the long run.

    The last state is left out, its ways led on to where it goes, until one is left; then all are put back in turn
    (elimination without a subtraction, so that no digit is lost).

    Args:
        flow: (..., N, N) how often it goes from one state to another while it is in the first [1/s].

    Returns:
        (..., N) parts of the time, 1 in all [1]; nan where a state is never left.

    Valid: every state can be reached from every other. Of servers that are shared equally the shares hold for work of
        any distribution where the chain is reversible, as that of one kind of customers at two stations is.
    Neglects: how long it takes until they are reached.
    Source: W. K. Grassmann, M. I. Taksar, D. P. Heyman, "Regenerative Analysis and Steady State Distributions for
        Markov Chains", Operations Research 33(5), 1985; insensitivity: F. Baskett et al., JACM 22(2), 1975.
    """
    left = np.array(flow, float)
    count = left.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for n in range(count - 1, 0, -1):
            left[..., :n, n] /= left[..., n, :n].sum(axis=-1)[..., None]
            left[..., :n, :n] += left[..., :n, n, None] * left[..., n, None, :n]
        share = np.ones(left.shape[:-1])
        for n in range(1, count):
            share[..., n] = (share[..., :n] * left[..., :n, n]).sum(axis=-1)
        return np.asarray(share / share.sum(axis=-1, keepdims=True), float)


def request_rate(
    request_B: ArrayLike, latency_s: ArrayLike, rate_Bps: ArrayLike, in_flight: ArrayLike = 1.0
) -> FloatArray:
    """Rate of a caller that keeps n requests in flight at a device.

    X = n * s / (L + s / R)

    Args:
        request_B: Bytes s of one request [B].
        latency_s: Time L of an empty request, there and back [s].
        rate_Bps: Rate R at which the device does the work of one request; inf where L is all its time [B/s].
        in_flight: Requests n that the caller keeps in flight; 1 where it waits for each [1].

    Returns:
        Rate [B/s]; n R for requests so large that latency does not count.

    Valid: all positive; the device's own capacity is a station of its own.
    Neglects: queueing behind other callers; answers that fail and are asked for again; depths that adapt.
    Source: Little, Operations Research 9(3), 1961; why one request at a time loses: Intel, Asynchronous mode for
        OpenSSL (async jobs of QAT_Engine); AWS, "Performance design patterns for Amazon S3" (a concurrent request
        for each 85 to 90 MB/s; ranges of 8 to 16 MB); BeeGFS documentation, "Client Node Tuning" (network requests);
        Ruemmler and Wilkes, IEEE Computer 27(3), 1994 (a disk, L its positioning).
    """
    s = as_float(request_B)
    return as_float(in_flight) * s / (as_float(latency_s) + s / as_float(rate_Bps))


def queued_rate(active: ArrayLike, request_B: ArrayLike, latency_s: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Rate of a device, or a log, when only so many requests are before it: min(R, q s / (L + s / R)).

    Args:
        active: Requests there at once q: zfs_vdev_*_max_active of their class; buffers of a log (XFS logbufs, 8) [1].
        request_B: Size of a request s (XFS logbsize, 32 KiB, up to 256 KiB) [B].
        latency_s: Latency of a request alone, its transfer left out L [s].
        rate: Rate of the device with enough in flight R [B/s].

    Returns:
        Rate [B/s]; R for many or large requests.

    Valid: requests of one class, of which there are always more (asynchronous transactions from enough threads).
    Neglects: requests of other classes at the same time (zfs_vdev_max_active, 1000, never binds).
    Source: Little's law; OpenZFS docs, zfs(4), "ZFS I/O SCHEDULER"; Linux
        Documentation/filesystems/xfs-delayed-logging-design ("the limitation on asynchronous transaction throughput is
        the number and size of log buffers").
    """
    return np.minimum(as_float(rate), request_rate(request_B, latency_s, rate, active))


def crowded_time(in_flight: ArrayLike, share: ArrayLike) -> FloatArray:
    """Time of a random request over that of one alone, as some meet at one drive of many while others idle.

    t = 1 + (n - 1) r - (n - 1) / n (1 - r) u / 2, u = n r / t the part of their time that the drives are busy: of all
    others each is at the same drive in a part r of its time, and who is served there is half done.

    Args:
        in_flight: Requests n there at once, counted as at least 1 [1].
        share: Part of all drives that a request alone keeps busy r, its parts over the drives [1].

    Returns:
        Factor [1]: 1 for one request, n r for many.

    Valid: requests for any drive alike, each followed by the next; within 1 % of drives with uniform seeks and turns
        played request by request (2 to 12 of them, 1 to 64 requests; 3 % for two requests at two drives).
    Neglects: how much services differ; a queue that a drive sorts, which `dtnsim.physics.hdd` has.
    Source: P. J. Schweitzer, "Approximate analysis of multiclass closed networks of queues" (1979); half a service for
        one that varies little: M. Reiser, "A queueing network analysis of computer communication networks with window
        flow control", IEEE Trans. Commun. 27(8), 1979.
    """
    n, r = np.maximum(as_float(in_flight), 1.0), np.clip(as_float(share), 0.0, 1.0)
    met = 1.0 + (n - 1.0) * r
    return 0.5 * (met + np.sqrt(np.maximum(met**2 - 2.0 * (n - 1.0) * (1.0 - r) * r, 0.0)))


def busy_seconds(request_B: ArrayLike, max_rate: ArrayLike, max_iops: ArrayLike) -> FloatArray:
    """Time that a controller or a server is busy with a payload byte: max(1/R, 1/(s X)).

    Args:
        request_B: Size of the requests there s [B].
        max_rate: Ceiling in bytes R [B/s].
        max_iops: Ceiling in requests X [1/s].

    Returns:
        Service demand on one of them [s/B]; demands of different request sizes add up.

    Valid: reads or writes alone, enough in flight: bytes bind for large requests, requests for small ones.
    Neglects: the rounding of the knee at s = R / X, where both count.
    Source: roofline of two resources; servethehome.com, "LSI 9202-16e" (SAS2008: 350 000 IOPS, about 2.5 GB/s a chip;
        two of them 726 000 and above 5 GB/s); Google Cloud, Parallelstore overview, which prints both of its DAOS.
    """
    return np.maximum(1.0 / as_float(max_rate), 1.0 / (as_float(request_B) * as_float(max_iops)))


def late_through_cache(
    filling_s: ArrayLike, first_s: ArrayLike, medium_s: ArrayLike, spare_s: ArrayLike, begins_s: ArrayLike
) -> FloatArray:
    """Time that a slow beginning adds to a write through a page cache that a medium empties.

    What F(t) arrives until t passes a token bucket of L bytes that fills again at the medium's rate d from t0 on: all V
    have passed at T = max(F^-1(V), t0 + (V - L) / d, max_(t > t0) (t - F(t) / d) + (V - L) / d). So the medium, and not
    what comes before it, says what a slow beginning costs once the bucket is empty.

    Args:
        filling_s: What it costs where there is room for all bytes: how much later the last of them comes [s].
        first_s: The same of the byte with which write-back begins [s].
        medium_s: What it costs while less comes than the medium would take: the sum of (1 - F'(t) / d) dt then [s].
        spare_s: How much longer than what comes before the cache the whole takes without a slow beginning [s].
        begins_s: When write-back begins without a slow beginning [s].

    Returns:
        Time [s], at most `filling_s`.

    Valid: rates that rise to a steady one that is above the medium's.
    Neglects: an arrival that falls again; the room that is free again before a throttled writer goes on.
    Source: Le Boudec and Thiran, Network Calculus (2004), theorem 1.5.1: a greedy shaper is R conv sigma.
    """
    late, spare = as_float(filling_s), as_float(spare_s)
    behind = np.maximum(as_float(first_s), as_float(medium_s) - as_float(begins_s))
    return np.minimum(np.maximum(np.maximum(late - spare, behind), 0.0), late)


def rounds(sizes: ArrayLike, counts: ArrayLike, workers: int) -> tuple[tuple[int, float], ...]:
    """How many workers are busy while files are given out one by one, and the part of all bytes that moves meanwhile.

    List scheduling: each worker takes the next file when it is free, so that all W are busy until no file is left, and
    then one after the other ends. Workers who are busy at the same time are equally fast, whatever they share; so what
    n of them move between two ends is n (e_k - e_(k-1)), in units of one worker's bytes. F files of equal size move
    in rounds of W, and the rest, F mod W, at once.

    Levels between W, W/2, W/4 ... are divided among their neighbours, so that sum(part) and sum(part / n) stay.

    Args:
        sizes: (G,) sizes of files [B].
        counts: (G,) files of each size [1].
        workers: W, workers of equal speed [1].

    Returns:
        (n, part of the bytes that move while n workers are busy [1]), most workers first; the parts add up to 1.

    Valid: as many files as workers or more; fewer are shared by the workers, who then all have work.
    Neglects: workers of unlike luck.
    Source: R. L. Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17 (1969) 416-429.
    """
    size, count = np.asarray(sizes, float), np.asarray(counts, int)
    files, all_busy = int(count.sum()), ((max(workers, 1), 1.0),)
    if workers <= 1 or files < workers or files > MANY * workers or not np.isfinite(size).all():
        return all_busy
    # sizes come mixed, each in proportion to its number, as a directory walk meets them
    place = np.concatenate([(np.arange(n) + 0.5) / n for n in count])
    ends = [0.0] * workers
    heapify(ends)
    for one in np.repeat(size, count)[np.argsort(place, kind="stable")]:
        heapreplace(ends, ends[0] + float(one))
    busy = np.arange(workers, 0, -1)
    parts = busy * np.diff(sorted(ends), prepend=0.0)
    if not parts.sum() > 0:
        return all_busy
    merged: dict[int, float] = {}
    levels = [workers >> k for k in range(workers.bit_length())]
    for n, part in zip(busy.tolist(), (parts / parts.sum()).tolist(), strict=True):
        above, below = min(k for k in levels if k >= n), max(k for k in levels if k <= n)
        up = (1 / n - 1 / below) / (1 / above - 1 / below) if above > below else 1.0
        merged[above] = merged.get(above, 0.0) + up * part
        merged[below] = merged.get(below, 0.0) + (1 - up) * part
    return tuple((n, merged[n]) for n in levels if merged.get(n, 0.0) > 0)


def log_spread(index: ArrayLike) -> FloatArray:
    """Spread of the logarithm of shares that are log-normal and have an index of fairness: s = sqrt(-ln J).

    Jain's index of many flows is J = (sum x)^2 / (n sum x^2) = 1 / (1 + CV^2), and CV^2 = exp(s^2) - 1 of a log-normal
    share.

    Args:
        index: Jain's index J, 0 < J <= 1 [1].

    Returns:
        Standard deviation s of ln(share) [1].

    Valid: many flows.
    Neglects: that a flow's share changes while it lasts.
    Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, DEC-TR-301 (1984); moments of the
        log-normal distribution.
    """
    return np.sqrt(np.abs(np.log(as_float(index))))
