"""Wide-area path: segments in series, other people's traffic, firewalls, policers."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float
from dtnsim.physics.bonding import occupied

MOST_TAKEN: Final = 0.999  #: largest share that other traffic takes of a link: TCP never gets nothing
#: a sender's trains at line rate: segmentation offload makes up to 64 KiB, sized to one a millisecond.
#: Source: Linux ip-sysctl, tcp_min_tso_segs: automatic sizing since 3.12; net/ipv4/tcp_output.c.
TRAIN_B: Final = 65536.0
TRAIN_S: Final = 1e-3


def path_loss(segment_loss: ArrayLike) -> FloatArray:
    """Loss of segments in series: p = 1 - prod_i (1 - p_i).

    Args:
        segment_loss: Loss probability of each segment, segments on the last axis [1].

    Returns:
        Loss probability of the path [1].

    Valid: p_i in [0, 1], losses independent between segments.
    Neglects: bursts that hit the same window twice (one loss event then).
    Source: product of survival probabilities, Feller vol. 1, V.3.
    """
    p = np.atleast_1d(as_float(segment_loss))
    # log1p keeps losses of 1e-12 that 1 - p would round away; p = 1 is kept out of log(0)
    survive = np.sum(np.log1p(-np.minimum(p, 1 - 1e-16)), axis=-1)
    return as_float(np.where(np.any(p >= 1, axis=-1), 1.0, 0.0 - np.expm1(survive)))  # 0, not -0


def left_by_others(capacity_Bps: ArrayLike, share: ArrayLike) -> FloatArray:
    """Capacity that other traffic leaves: A = C (1 - u).

    Args:
        capacity_Bps: Capacity C [B/s].
        share: Share u of it that others take [1].

    Returns:
        Available bandwidth [B/s].

    Valid: background that does not yield; u in [0, 1].
    Neglects: loss that the load causes; traffic that gives way to ours.
    Source: definition, Jain and Dovrolis, IEEE/ACM Trans. Networking 11(4), 2003.
    """
    return as_float(capacity_Bps) * (1 - as_float(share))


def diurnal_share(
    mean: ArrayLike, amplitude: ArrayLike, hour: ArrayLike, peak_hour: ArrayLike, lasting: ArrayLike = 0.0
) -> FloatArray:
    """Share of a link that others take from an hour of the day on, in the mean of the hours that a transfer takes.

    u(t, T) = min(mean * (1 + a sinc(T / 24) cos(2 pi (t + T / 2 - t_peak) / 24)), 0.999)

    Args:
        mean: Mean share over the day [1].
        amplitude: Relative swing a, 0 to 1 [1].
        hour: Hour of the day t at which it begins [h].
        peak_hour: Hour of the peak (mid-afternoon on campuses) [h].
        lasting: Hours T that it takes [h].

    Returns:
        Share [1], never negative.

    Valid: a in [0, 1].
    Neglects: weekends, holidays, second harmonics (lunch), trends.
    Source: first harmonic of the daily cycle, Thompson, Miller, Wilder, IEEE Network 11(6), 1997.
    """
    middle = as_float(hour) + as_float(lasting) / 2 - as_float(peak_hour)
    daily = 1 + as_float(amplitude) * np.sinc(as_float(lasting) / 24) * np.cos(2 * np.pi * middle / 24)
    return np.clip(as_float(mean) * daily, 0.0, MOST_TAKEN)


def hours_beside(
    idle: ArrayLike, mean: ArrayLike, amplitude: ArrayLike, hour: ArrayLike, peak_hour: ArrayLike
) -> FloatArray:
    """Hours that bytes take which would fill an idle link for some hours, beside others' daily wave.

    The T of idle = T (1 - u(t, T)), by bisection: what others leave of T hours grows with T.

    Args:
        idle: Hours on an idle link [h].
        mean: Mean share of others [1].
        amplitude: Relative swing a of the day [1].
        hour: Hour of the day at which it begins [h].
        peak_hour: Hour of the peak [h].

    Returns:
        Hours [h].

    Valid: transfers that the link holds; what something else holds takes longer, and the mean is nearer the day's.
    Neglects: transfers that begin one after the other.
    Source: integral of `diurnal_share`.
    """
    needed = as_float(idle)
    low, high = needed, needed / (1 - MOST_TAKEN)
    for _ in range(60):
        half = (low + high) / 2
        enough = half * (1 - diurnal_share(mean, amplitude, hour, peak_hour, half)) >= needed
        low, high = np.where(enough, low, half), np.where(enough, half, high)
    return high


def anytime_spread(spread: float, amplitude: float, lasting: float = 0.0) -> float:
    """Relative spread of a share from an hour on that nobody knows: the daily wave adds the variance of its means.

    s = sqrt(s_0^2 + (a sinc(T / 24))^2 / 2)

    Args:
        spread: Relative spread s_0 from one day to the next at a given hour [1].
        amplitude: Relative swing a of the day [1].
        lasting: Hours T that the mean is of [h].

    Returns:
        Relative spread [1].

    Valid: a in [0, 1].
    Neglects: that a sine is not log-normal.
    Source: variance of a sine of amplitude a, a^2 / 2.
    """
    return float(np.sqrt(spread**2 + (amplitude * np.sinc(lasting / 24)) ** 2 / 2))


def firewall_rate(engine_Bps: ArrayLike, flows: ArrayLike, total_Bps: ArrayLike) -> FloatArray:
    """Rate a firewall passes: a flow stays on one inspection engine.

    X = min(mu * k (1 - (1 - 1/k)^n), total),  k = max(total / mu, 1)

    Args:
        engine_Bps: Rate mu of one engine [B/s].
        flows: Flows n of the transfer [1].
        total_Bps: Rate of all engines together [B/s].

    Returns:
        Rate for the transfer [B/s]; one flow never more than mu.

    Valid: n >= 1; idle engines.
    Neglects: other users' flows on the engines, limits on connection setup.
    Source: ESnet fasterdata, Firewall Performance Issues (parallel slow engines); balls into bins.
    """
    engine, total = as_float(engine_Bps), as_float(total_Bps)
    engines = np.maximum(total / engine, 1.0)
    return np.minimum(engine * occupied(flows, engines), total)


def room_behind_trains(
    buffer_B: ArrayLike, train_B: ArrayLike, line_Bps: ArrayLike, engine_Bps: ArrayLike, engines: ArrayLike
) -> FloatArray:
    """Queue that trains of segments leave in the input buffers of a firewall.

    Q = max(b - needed(train), 0) * k

    Args:
        buffer_B: Buffer b of one engine [B].
        train_B: Train that a sender emits at line rate; 0 where it paces [B].
        line_Bps: Rate at which trains arrive [B/s].
        engine_Bps: Rate of one engine [B/s].
        engines: Engines k in use [1].

    Returns:
        Room for a queue [B].

    Valid: see `needed_buffer`.
    Neglects: trains of several flows on one engine at once.
    Source: see `needed_buffer`.
    """
    left = as_float(buffer_B) - needed_buffer(train_B, line_Bps, engine_Bps)
    return np.maximum(left, 0.0) * np.maximum(as_float(engines), 1.0)


def burst_fit(line_Bps: ArrayLike, drain_Bps: ArrayLike, buffer_B: ArrayLike) -> FloatArray:
    """Largest line-rate burst that a slower device with a small buffer takes without loss: b / (1 - mu / L).

    Args:
        line_Bps: Rate L at which the burst arrives [B/s].
        drain_Bps: Rate mu of the device [B/s].
        buffer_B: Input buffer b [B].

    Returns:
        Burst [B]; inf where the device is as fast as the line.

    Valid: buffer empty when the burst starts.
    Neglects: several bursts at once.
    Source: conservation in the buffer; ESnet fasterdata, Firewall Performance Issues and Router/Switch Buffer Size
        Issues.
    """
    over = 1 - as_float(drain_Bps) / as_float(line_Bps)
    return np.where(over > 0, as_float(buffer_B) / np.where(over > 0, over, 1.0), np.inf)


def burst_limited_rate(burst_B: ArrayLike, fit_B: ArrayLike, period_s: ArrayLike, kept: ArrayLike = 0.7) -> FloatArray:
    """Rate of a loss-based stream whose bursts overflow a buffer: it shrinks until they fit.

    X = (1 + beta)/2 * fit / tau where V > fit, else no limit. A burst V comes once every tau: a whole window
    each round trip where the application hands it over at once, or what a sender forms in a millisecond where
    segmentation offload sizes its trains by the rate. Above fit every burst loses, the window falls to beta of
    it and grows back.

    Args:
        burst_B: Largest burst V that the sender makes [B].
        fit_B: Burst that just fits, see `burst_fit` [B].
        period_s: Time tau from one burst to the next [s].
        kept: Window kept after a loss beta: 0.5 Reno, 0.7 CUBIC, up to 0.8 H-TCP [1].

    Returns:
        Rate [B/s]; inf where the bursts fit.

    Valid: tau > 0; one burst a period.
    Neglects: time-outs when a whole window is lost; bursts of slow start.
    Source: derived; effect: ESnet fasterdata, Firewall Performance Issues and Router/Switch Buffer Size Issues.
    """
    fit = as_float(fit_B)
    inside = (1 + as_float(kept)) / 2 * np.where(np.isfinite(fit), fit, 0.0) / as_float(period_s)
    return np.where(as_float(burst_B) > fit, inside, np.inf)


def needed_buffer(burst_B: ArrayLike, line_Bps: ArrayLike, drain_Bps: ArrayLike) -> FloatArray:
    """Buffer that takes a line-rate burst without loss: b = V max(0, 1 - mu / L).

    Args:
        burst_B: Burst V: up to a window where nothing paces the sender [B].
        line_Bps: Rate L of the sender's line [B/s].
        drain_Bps: Rate mu behind the buffer [B/s].

    Returns:
        Buffer [B]; 0 where the drain is as fast.

    Valid: one burst, an empty buffer at its start.
    Neglects: cross traffic, fan-in of several senders (add their bursts).
    Source: conservation; Warner, bufs summary (people.ucsc.edu/~warner/buffer.html).
    """
    return as_float(burst_B) * np.maximum(0.0, 1 - as_float(drain_Bps) / as_float(line_Bps))


def policed_tcp_rate(
    rate_Bps: ArrayLike,
    bucket_B: ArrayLike,
    rtt_s: ArrayLike,
    mss_B: ArrayLike = 1448.0,
    increase: ArrayLike = 1.0,
    kept: ArrayLike = 0.5,
) -> FloatArray:
    """Rate of one additive-increase flow through a policer.

    Below r the bucket fills by (r - beta x)^2 / (2 s), at most b; above r the flow spends it, (x - r)^2 /
    (2 s), and loses at its peak x, with s = increase * MSS / T^2 the growth of its rate:
    x = min(r + sqrt(2 s b), 2 r / (1 + beta)),  X = (1 + beta) x / 2

    Args:
        rate_Bps: Token rate r [B/s].
        bucket_B: Bucket b [B].
        rtt_s: Round trip T [s].
        mss_B: Segment [B].
        increase: Segments added per round trip, 1 for Reno [1].
        kept: Window kept after a loss beta, 0.5 Reno, 0.7 CUBIC [1].

    Returns:
        Mean rate [B/s]: (1 + beta)/2 of r without a bucket, r with a large one.

    Valid: windows of ten segments and more; one loss event at the peak.
    Neglects: bursts of a whole window at line rate, timeouts after heavy loss, BBR (which ignores it).
    Source: derived; measured effect: Flach et al., SIGCOMM 2016.
    """
    r, beta = as_float(rate_Bps), as_float(kept)
    slope = as_float(increase) * as_float(mss_B) / as_float(rtt_s) ** 2
    peak = np.minimum(r + np.sqrt(2 * slope * as_float(bucket_B)), 2 * r / (1 + beta))
    return as_float((1 + beta) / 2 * peak)
