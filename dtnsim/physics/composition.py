"""How stages make a path: in series, overlapped, in a closed loop, shared, in parallel parts.

`buffers` has the remaining way, finite buffers with variable service.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def serial_rate(rates: ArrayLike) -> FloatArray:
    """Rate of stages that never overlap: read, then send, then verify.

    1/X = sum_i 1/X_i

    Args:
        rates: Rates, stages on the last axis [B/s].

    Returns:
        Rate without the last axis [B/s]; below the slowest stage.

    Valid: rates > 0; an infinite rate takes no time.
    Neglects: overlap (`overlapped_rate`).
    Source: times add for one byte after the other (harmonic sum).
    """
    return as_float(1 / np.sum(1 / np.atleast_1d(as_float(rates)), axis=-1))


def overlapped_rate(rates: ArrayLike, overlap: ArrayLike) -> FloatArray:
    """Rate of stages that overlap for a part of their time.

    1/X = o * max_i(1/X_i) + (1 - o) * sum_i 1/X_i

    Args:
        rates: Rates, stages on the last axis [B/s].
        overlap: Share o of the other stages' time hidden behind the slowest: 0 single buffer, 1 double
            buffering [1].

    Returns:
        Rate [B/s], between `serial_rate` and the minimum.

    Valid: o in [0, 1].
    Neglects: variability (`buffers.line_rate`).
    Source: interpolation between the two exact limits.
    """
    t = 1 / np.atleast_1d(as_float(rates))
    o = as_float(overlap)
    return as_float(1 / (o * np.max(t, axis=-1) + (1 - o) * np.sum(t, axis=-1)))


def pipeline_time(stage_times_s: ArrayLike, chunks: ArrayLike) -> FloatArray:
    """Duration of a transfer cut into equal chunks that pass through the stages one behind the other.

    T = (sum_i t_i + (n - 1) max_i t_i) / n,  t_i the time stage i takes for everything

    Args:
        stage_times_s: Time of each stage for the whole transfer, stages on the last axis [s].
        chunks: Chunks n [1].

    Returns:
        Duration [s]: the sum for one chunk, the slowest stage for very many.

    Valid: n >= 1, equal chunks, room for one chunk between stages.
    Neglects: variability.
    Source: flow shop with equal jobs, Conway, Maxwell, Miller, Theory of Scheduling, 1967.
    """
    t = np.atleast_1d(as_float(stage_times_s))
    n = as_float(chunks)
    return as_float((np.sum(t, axis=-1) + (n - 1) * np.max(t, axis=-1)) / n)


def little_rate(in_flight: ArrayLike, response_s: ArrayLike) -> FloatArray:
    """Little's law, X = N / R: rate that N bytes (or requests) in flight allow.

    Args:
        in_flight: Bytes or requests in flight [B or 1].
        response_s: Time each is in flight [s].

    Returns:
        Rate [B/s or 1/s].

    Valid: any stable system, any distribution.
    Neglects: nothing; the response time may itself depend on the rate (`closed_rate`).
    Source: Little, Operations Research 9(3), 1961.
    """
    return as_float(in_flight) / as_float(response_s)


def asymptotic_bounds(
    demands_s: ArrayLike, in_flight: ArrayLike, think_s: ArrayLike = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bound of the throughput of a closed loop with N requests.

    N / (N D + Z) <= X(N) <= min(1 / D_max, N / (D + Z)),  D = sum of demands

    Args:
        demands_s: Service demand of a request at each station, stations on the last axis [s].
        in_flight: Requests N in the loop [1].
        think_s: Delay Z without queueing, for instance the round trip [s].

    Returns:
        (lower, upper) throughput [1/s].

    Valid: N >= 1; any distributions.
    Neglects: stations with several servers.
    Source: Denning and Buzen, ACM Computing Surveys 10(3), 1978; Lazowska et al., Quantitative System
        Performance, 1984, ch. 5.
    """
    d = np.atleast_1d(as_float(demands_s))
    n, z = as_float(in_flight), as_float(think_s)
    total = np.sum(d, axis=-1)
    return as_float(n / (n * total + z)), np.minimum(1 / np.max(d, axis=-1), n / (total + z))


def closed_rate(demands_s: ArrayLike, in_flight: int, think_s: ArrayLike = 0.0) -> FloatArray:
    """Throughput of N requests (blocks, credits, slots) that circulate through queueing stations.

    Mean value analysis: R_k = D_k (1 + Q_k(n - 1)), X(n) = n / (Z + sum R_k), Q_k = X R_k.
    Balanced stations, Z = 0: X = N / ((N + K - 1) D_k).

    Args:
        demands_s: Service demand of a request at each station, stations on the last axis [s].
        in_flight: Requests N, one whole number for all [1].
        think_s: Delay Z without queueing [s].

    Returns:
        Throughput without the last axis [1/s].

    Valid: exponential service or processor sharing; cost grows with N.
    Neglects: less variable service (then between this and the upper bound of `asymptotic_bounds`).
    Source: Reiser and Lavenberg, JACM 27(2), 1980.
    """
    d = np.atleast_1d(as_float(demands_s))
    z = as_float(think_s)
    queue = np.zeros(d.shape)
    x = np.zeros(d.shape[:-1])
    for n in range(1, in_flight + 1):
        response = d * (1 + queue)
        x = n / (z + np.sum(response, axis=-1))
        queue = np.asarray(x)[..., None] * response
    return as_float(x)


def ps_rate(capacity: ArrayLike, jobs: ArrayLike, cap: ArrayLike = np.inf) -> FloatArray:
    """Rate of one of n equal jobs that share a station: min(cap, C / n).

    Args:
        capacity: Capacity C of the station [B/s].
        jobs: Jobs n present, this one included [1].
        cap: What one job can take by itself [B/s].

    Returns:
        Rate of one job [B/s].

    Valid: n >= 1.
    Neglects: unequal jobs (`max_min_share`), the cost of switching between them.
    Source: processor sharing, Kleinrock, Queueing Systems vol. 2, 1976.
    """
    return np.minimum(as_float(cap), as_float(capacity) / as_float(jobs))


def max_min_share(wanted: ArrayLike, capacity: ArrayLike, weights: ArrayLike = 1.0) -> FloatArray:
    """Weighted max-min fair shares of one station.

    x_i = min(d_i, w_i L),  L such that sum x_i = min(C, sum d_i)

    Args:
        wanted: What each job could take, jobs on the last axis (infinite allowed) [B/s].
        capacity: Capacity of the station, without the jobs' axis [B/s].
        weights: Weight of each job (number of streams) [1].

    Returns:
        Share of each job [B/s].

    Valid: wanted >= 0, weights > 0.
    Neglects: other stations on the jobs' ways (the solver does those).
    Source: progressive filling, Bertsekas and Gallager, Data Networks, 2nd ed., 6.5.2.
    """
    d, w = np.broadcast_arrays(np.atleast_1d(as_float(wanted)), as_float(weights))
    d = np.minimum(d, 1e300)  # keeps an infinite wish out of inf - inf; no station carries 1e300 B/s
    order = np.argsort(d / w, axis=-1)
    ds, ws = np.take_along_axis(d, order, -1), np.take_along_axis(w, order, -1)
    taken = np.concatenate([np.zeros_like(ds[..., :1]), np.cumsum(ds, axis=-1)[..., :-1]], axis=-1)
    remaining = np.cumsum(ws[..., ::-1], axis=-1)[..., ::-1]
    # The level after serving the i smallest wishes rises until the next one is out of reach, then falls.
    level = np.max((as_float(capacity)[..., None] - taken) / remaining, axis=-1, keepdims=True)
    return as_float(np.minimum(d, w * level))


def expected_min(means: ArrayLike, cv: ArrayLike) -> FloatArray:
    """Mean of the minimum of independent log-normal rates: slow variations that no buffer evens out.

    E[min X_i] = integral of prod_i P(X_i > x) dx <= min E[X_i]

    Args:
        means: Mean rates, stages on the last axis [B/s].
        cv: Coefficients of variation over time, same axis or one for all [1].

    Returns:
        Mean of the minimum [B/s].

    Valid: variations slower than the buffers between the stages, cv up to 2; 0.1 % (quadrature).
    Neglects: correlation between stages.
    Source: definition; log-normal rates: Alasmar et al., IEEE/ACM Trans. Networking 29(3), 2021.
    """
    m, c = np.broadcast_arrays(np.atleast_1d(as_float(means)), as_float(cv))
    sigma = np.sqrt(np.log1p(np.maximum(c, 1e-6) ** 2))
    centre = np.log(m) - sigma**2 / 2
    low = np.min(centre - 8 * sigma, axis=-1)
    high = np.min(centre + 8 * sigma, axis=-1)  # the minimum is surely below the least of the tops
    steps = np.linspace(0.0, 1.0, 1001)
    u = low[..., None] + (high - low)[..., None] * steps
    survival = np.prod(_normal_sf((u[..., None, :] - centre[..., None]) / sigma[..., None]), axis=-2)
    f = survival * np.exp(u)
    area = np.sum(f[..., 1:] + f[..., :-1], axis=-1) / 2 * (high - low) / 1000
    return as_float(np.exp(low) + area)  # below the lowest point every stage is surely faster


def _normal_sf(z: FloatArray) -> FloatArray:
    """P(N(0,1) > z); Abramowitz and Stegun 26.2.17, absolute error below 7.5e-8."""
    a = np.abs(z)
    t = 1 / (1 + 0.2316419 * a)
    poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi) * poly
    return as_float(np.where(z >= 0, tail, 1 - tail))


def static_makespan(parts_B: ArrayLike, rates_Bps: ArrayLike) -> FloatArray:
    """Duration of parts fixed to workers: the slowest decides.

    T = max_i V_i / X_i

    Args:
        parts_B: Bytes of each part, parts on the last axis [B].
        rates_Bps: Rate of each part [B/s].

    Returns:
        Duration without the last axis [s].

    Valid: rates > 0 and constant.
    Neglects: rates that rise when other parts have ended.
    Source: definition.
    """
    return as_float(np.max(np.atleast_1d(as_float(parts_B) / as_float(rates_Bps)), axis=-1))


def makespan_bounds(times_s: ArrayLike, workers: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Bounds on the duration of parts that idle workers fetch from one queue.

    max(S / w, t_max) <= T <= S / w + (1 - 1/w) t_max

    Args:
        times_s: Time each part takes, parts on the last axis [s].
        workers: Workers w [1].

    Returns:
        (lower, upper) duration [s].

    Valid: w >= 1; any order of the queue.
    Neglects: workers that slow each other down.
    Source: Graham, SIAM J. Applied Mathematics 17(2), 1969.
    """
    t = np.atleast_1d(as_float(times_s))
    w = as_float(workers)
    mean, longest = np.sum(t, axis=-1) / w, np.max(t, axis=-1)
    return as_float(np.maximum(mean, longest)), as_float(mean + (1 - 1 / w) * longest)


def list_makespan(times_s: Iterable[float], workers: int) -> float:
    """Duration when idle workers fetch parts in the order given.

    Args:
        times_s: Time of each part in the order of the queue [s].
        workers: Workers, at least 1 [1].

    Returns:
        Duration [s], within `makespan_bounds`.

    Valid: any times >= 0; cost n log w.
    Neglects: workers that slow each other down.
    Source: Graham 1969.
    """
    free = [0.0] * workers
    for t in times_s:
        heapq.heapreplace(free, free[0] + float(t))
    return max(free)


def slowest_of(mean_s: ArrayLike, cv: ArrayLike, parts: ArrayLike) -> FloatArray:
    """Upper estimate of the mean time of the slowest of n like parts.

    E[max] <= mean (1 + cv sqrt(2 ln n))

    Args:
        mean_s: Mean time of a part [s].
        cv: Coefficient of variation between parts [1].
        parts: Parts n [1].

    Returns:
        Time [s]; the mean for one part.

    Valid: tails no heavier than normal; n >= 1.
    Neglects: heavy tails (simulate those).
    Source: Boucheron, Lugosi, Massart, Concentration Inequalities, 2013, theorem 2.5.
    """
    return as_float(as_float(mean_s) * (1 + as_float(cv) * np.sqrt(2 * np.log(as_float(parts)))))
