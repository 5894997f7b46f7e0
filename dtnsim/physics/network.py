"""Wide-area path: segments in series, other people's traffic, firewalls. Rate limits are in `policer`."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

DAY_S: Final = 86400.0
WEEK_S: Final = 7 * DAY_S
UNSCALED_WINDOW_B: Final = 65535.0  #: largest TCP window without window scaling (RFC 9293, 16 bits)
LIGHT_IN_FIBRE_MPS: Final = 2.04e8  #: c / 1.468, group index of G.652 fibre at 1550 nm (ITU-T G.652 practice)


def path_rtt(segment_rtts_s: ArrayLike) -> FloatArray:
    """Round trip of segments in series: the sum over the last axis.

    Args:
        segment_rtts_s: Round trip of each segment, segments on the last axis [s].

    Returns:
        Round trip [s].

    Valid: any.
    Neglects: queueing (add it as a segment).
    Source: delays add.
    """
    return as_float(np.sum(np.atleast_1d(as_float(segment_rtts_s)), axis=-1))


def path_bandwidth(segment_Bps: ArrayLike) -> FloatArray:
    """Bandwidth of segments in series: the minimum over the last axis.

    Args:
        segment_Bps: Bandwidth of each segment, segments on the last axis [B/s].

    Returns:
        Bandwidth [B/s].

    Valid: any.
    Neglects: variability between the segments (`composition.expected_min`).
    Source: conservation of flow.
    """
    return as_float(np.min(np.atleast_1d(as_float(segment_Bps)), axis=-1))


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
    return as_float(np.where(np.any(p >= 1, axis=-1), 1.0, -np.expm1(survive)))


def fibre_rtt(distance_m: ArrayLike) -> FloatArray:
    """Least round trip over a fibre of given length: 2 d / v.

    Args:
        distance_m: Length of the fibre (commonly 1.2-1.5 times the geographic distance) [m].

    Returns:
        Round trip [s], 9.8 us per km.

    Valid: any.
    Neglects: equipment, queues.
    Source: group velocity of G.652 fibre, index 1.468.
    """
    return 2 * as_float(distance_m) / LIGHT_IN_FIBRE_MPS


def available_bandwidth(capacity_Bps: ArrayLike, background_Bps: ArrayLike) -> FloatArray:
    """Unused capacity: A = max(C - B, 0).

    Args:
        capacity_Bps: Capacity C [B/s].
        background_Bps: Other traffic B [B/s].

    Returns:
        Available bandwidth [B/s].

    Valid: background that does not yield; for TCP among it see `share_with_background`.
    Neglects: loss that the load causes.
    Source: definition, Jain and Dovrolis, IEEE/ACM Trans. Networking 11(4), 2003.
    """
    return np.maximum(as_float(capacity_Bps) - as_float(background_Bps), 0.0)


def share_with_background(
    capacity_Bps: ArrayLike, background_Bps: ArrayLike, elastic_share: ArrayLike = 0.0,
    own_weight: ArrayLike = 1.0, background_weight: ArrayLike = 1.0,
) -> FloatArray:  # fmt: skip
    """What a greedy transfer gets on a link with other traffic, of which a part yields.

    X = max(C - B, (C - (1 - e) B) n / (n + m))

    The inelastic part (1 - e) B keeps its rate. The elastic part takes what it takes when alone, e B, or
    its fair share where ours would otherwise be less than ours.

    Args:
        capacity_Bps: Capacity C [B/s].
        background_Bps: Other traffic B before ours comes [B/s].
        elastic_share: Share e of it that yields (long TCP flows) [1].
        own_weight: Our flows n, weighted by congestion control and round trip [1].
        background_weight: Its flows m, weighted alike [1].

    Returns:
        Rate for our transfer, at least 0 [B/s].

    Valid: e in [0, 1].
    Neglects: background that grows when capacity is free.
    Source: weighted max-min fairness, Bertsekas and Gallager, Data Networks, 6.5.2.
    """
    c, b, e = as_float(capacity_Bps), as_float(background_Bps), as_float(elastic_share)
    n, m = as_float(own_weight), as_float(background_weight)
    fair = np.maximum(c - (1 - e) * b, 0.0) * n / (n + m)
    return np.maximum(available_bandwidth(c, b), fair)


def diurnal_load(
    time_s: ArrayLike,
    mean_Bps: ArrayLike,
    amplitude: ArrayLike,
    peak_s: ArrayLike = 15 * 3600.0,
    weekend: ArrayLike = 1.0,
) -> FloatArray:
    """Background load by hour of day and day of week.

    B(t) = mean * (1 + a cos(2 pi (t - t_peak) / day)) * (weekend factor on days 5 and 6)

    Args:
        time_s: Local time since a Monday 00:00 [s].
        mean_Bps: Mean on working days [B/s].
        amplitude: Relative swing a, 0 to 1 [1].
        peak_s: Time of day of the peak (mid-afternoon on campuses) [s].
        weekend: Factor on Saturday and Sunday [1].

    Returns:
        Load [B/s], never negative.

    Valid: a in [0, 1].
    Neglects: holidays, second harmonics (lunch), trends.
    Source: first harmonic of the daily cycle, Thompson, Miller, Wilder, IEEE Network 11(6), 1997.
    """
    t = as_float(time_s)
    daily = 1 + as_float(amplitude) * np.cos(2 * np.pi * (t - as_float(peak_s)) / DAY_S)
    saturday_on = np.mod(t, WEEK_S) >= 5 * DAY_S
    return as_float(mean_Bps) * np.maximum(daily, 0.0) * np.where(saturday_on, as_float(weekend), 1.0)


def lognormal_factor(z: ArrayLike, cv: ArrayLike) -> FloatArray:
    """Factor with mean 1 and given coefficient of variation, from a standard normal number.

    g = exp(s z - s^2 / 2),  s^2 = ln(1 + cv^2)

    Args:
        z: Standard normal number, from the caller's generator or quasi-random sequence [1].
        cv: Coefficient of variation [1].

    Returns:
        Factor [1].

    Valid: cv >= 0.
    Neglects: correlation in time (`ar1` gives correlated z).
    Source: Alasmar et al., IEEE/ACM Trans. Networking 29(3), 2021: traffic volumes are log-normal.
    """
    s2 = np.log1p(as_float(cv) ** 2)
    return np.exp(np.sqrt(s2) * as_float(z) - s2 / 2)


def ar1(z: ArrayLike, step_s: float, memory_s: float) -> FloatArray:
    """Standard normal sequence with exponentially fading correlation, from independent numbers.

    y_0 = z_0,  y_k = r y_{k-1} + sqrt(1 - r^2) z_k,  r = exp(-step / memory)

    Args:
        z: Independent standard normal numbers, time on the last axis [1].
        step_s: Time between two numbers [s].
        memory_s: Time in which the correlation falls to 1/e [s].

    Returns:
        Correlated standard normal numbers, same shape [1].

    Valid: step, memory > 0.
    Neglects: long-range dependence (`hurst`): its variance fades more slowly.
    Source: Ornstein-Uhlenbeck process sampled exactly, Gillespie, Physical Review E 54, 1996.
    """
    y = as_float(z).copy()
    r = np.exp(-step_s / memory_s)
    for k in range(1, y.shape[-1]):
        y[..., k] = r * y[..., k - 1] + np.sqrt(1 - r * r) * y[..., k]
    return y


def hurst(tail_index: ArrayLike) -> FloatArray:
    """Hurst parameter of many on/off sources with heavy-tailed periods: H = (3 - alpha) / 2.

    Args:
        tail_index: Tail index alpha of the on or off times, the heavier one [1].

    Returns:
        H, 0.5 (no long memory) to 1 [1].

    Valid: 1 < alpha < 2; clipped to [1, 2].
    Neglects: finite sources, TCP's own dynamics.
    Source: Taqqu, Willinger, Sherman, Computer Communication Review 27(2), 1997.
    """
    return (3 - np.clip(as_float(tail_index), 1.0, 2.0)) / 2


def sd_from_sem(sem: ArrayLike, runs: ArrayLike) -> FloatArray:
    """Standard deviation of single runs from the standard error of their mean: SD = SEM sqrt(n).

    Args:
        sem: Standard error of the mean [any].
        runs: Number of runs n [1].

    Returns:
        Standard deviation, same unit.

    Valid: independent runs.
    Neglects: correlation between runs (then SD is larger).
    Source: definition.
    """
    return as_float(sem) * np.sqrt(as_float(runs))


def firewall_rate(engine_Bps: ArrayLike, engines: ArrayLike, flows: ArrayLike) -> FloatArray:
    """Rate a firewall passes: a flow stays on one inspection engine.

    X = mu * k (1 - (1 - 1/k)^n)

    Args:
        engine_Bps: Rate mu of one engine [B/s].
        engines: Engines k [1].
        flows: Flows n of the transfer [1].

    Returns:
        Rate for the transfer [B/s]; one flow never more than mu.

    Valid: k, n >= 1; idle engines.
    Neglects: other users' flows on the engines, limits on connection setup.
    Source: ESnet fasterdata, Firewall Performance Issues (parallel slow engines); balls into bins.
    """
    k = as_float(engines)
    missed = np.where(k > 1, 1 - 1 / k, 0.0) ** as_float(flows)
    return as_float(engine_Bps) * k * (1 - missed)


def burst_loss(burst_B: ArrayLike, line_Bps: ArrayLike, drain_Bps: ArrayLike, buffer_B: ArrayLike) -> FloatArray:
    """Share of a line-rate burst lost in front of a slower device with a small buffer.

    lost = max(0, V (1 - mu / L) - b) / V

    Args:
        burst_B: Burst V that arrives at line rate (a window, a TSO train) [B].
        line_Bps: Rate L of the sender's line [B/s].
        drain_Bps: Rate mu of the device [B/s].
        buffer_B: Input buffer b [B].

    Returns:
        Share of the burst lost, 0 to 1 [1].

    Valid: buffer empty when the burst starts.
    Neglects: several bursts at once; pacing (then the burst is small).
    Source: conservation in the buffer; ESnet fasterdata, Firewall Performance Issues and
        Router/Switch Buffer Size Issues.
    """
    v = as_float(burst_B)
    excess = v * (1 - as_float(drain_Bps) / as_float(line_Bps)) - as_float(buffer_B)
    return np.maximum(excess, 0.0) / v


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
    Source: `burst_loss` set to zero.
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
        burst_B: Burst V [B].
        line_Bps: Rate L of the sender's line [B/s].
        drain_Bps: Rate mu behind the buffer [B/s].

    Returns:
        Buffer [B].

    Valid: empty buffer at the start.
    Neglects: cross traffic.
    Source: conservation; Warner, bufs summary (people.ucsc.edu/~warner/buffer.html).
    """
    return as_float(burst_B) * np.maximum(0.0, 1 - as_float(drain_Bps) / as_float(line_Bps))


def unscaled_window_rate(rtt_s: ArrayLike, streams: ArrayLike = 1.0) -> FloatArray:
    """Rate when a middlebox strips window scaling: X = n * 65535 B / T.

    Args:
        rtt_s: Round trip T [s].
        streams: Streams n [1].

    Returns:
        Rate [B/s].

    Valid: RTT > 0.
    Neglects: everything else that may be lower.
    Source: RFC 9293, RFC 7323; ESnet case study, Penn State and VTTI (about 50 Mb/s at 10 ms).
    """
    return as_float(streams) * UNSCALED_WINDOW_B / as_float(rtt_s)
