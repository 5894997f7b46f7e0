"""Response functions: the rate of one stream on a path that loses packets at random; slow start.

Every function takes the loss probability, the round-trip time and the segment size and gives the
goodput of one stream in payload bytes a second, for a path whose capacity never binds. Arguments
broadcast. `loss = 0` gives `inf` for loss-based algorithms: then the window, the buffer or the link
decides.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, broadcast
from dtnsim.physics.tcp import linux

#: windows at a loss in shares of their mean: the middles of sixteen equal parts of a Rayleigh distribution
WINDOWS: Final = np.sqrt(-np.log((np.arange(16) + 0.5) / 16) * 4 / np.pi)


def arrays(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Loss, round trip and segment as arrays of one shape.

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Source: a probability is from 0 to 1.
    """
    p, rtt, mss = broadcast(loss, rtt_s, mss_B)
    return np.clip(p, 0.0, 1.0), rtt, mss


def aimd_window(loss: ArrayLike, alpha: ArrayLike = 1.0, beta: ArrayLike = 0.5) -> FloatArray:
    """Mean window of additive increase, multiplicative decrease under random loss.

    E[W] = sqrt(alpha (1 + beta) / (2 (1 - beta) p)).

    Args:
        loss: Loss events per segment [1].
        alpha: Growth per round trip [segments].
        beta: Window kept after a loss [1].

    Returns:
        Mean window [segments]; inf where loss is 0.

    Valid: p from 1e-9 to about 1e-2, a periodic sawtooth, an acknowledgment for each segment.
    Neglects: timeouts (`with_timeouts`), the window's own limits, the spread of the loss gaps.
    Source: RFC 9438 section 5.1 (eq. 3 and 4); Floyd, Handley and Padhye 2000.
    """
    p = np.clip(np.asarray(loss, float), 0.0, 1.0)
    a, b = np.asarray(alpha, float), np.asarray(beta, float)
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(a * (1 + b) / (2 * (1 - b) * p)), float)


def slow_start_time(window_B: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike) -> FloatArray:
    """Time from the first segment until the window is reached: T log2(W / IW).

    Args:
        window_B: Window that the steady state needs, rate x RTT [B].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Time [s], 0 where the initial window is enough.

    Valid: no loss and no early exit (HyStart) in the ramp; Linux, whose slow start counts segments (RFC 3465).
    Neglects: handshake, HyStart's slower climb (see `rounds`).
    Source: RFC 5681, RFC 6928.
    """
    ratio = np.asarray(window_B, float) / (linux.INITIAL_WINDOW * np.asarray(mss_B, float))
    return np.asarray(np.asarray(rtt_s, float) * np.log(np.maximum(ratio, 1.0)) / np.log(2.0), float)


def unnoticed(loss: ArrayLike, window: ArrayLike) -> FloatArray:
    """Chance that nothing but a time-out tells of a lost retransmission.

    A sender knows of the first loss by three acknowledgments of what followed; those that come after them let it send
    new segments behind the retransmission, whose acknowledgment would show the second loss (RACK). There are none
    where no more than three of the other W - 1 arrive: P(Binomial(W - 1, 1 - p) <= 3) = I_p(W - 4, 4).

    Args:
        loss: Packet loss probability p [1].
        window: Window in which the first loss was W [segments]; between whole ones the incomplete beta function.

    Returns:
        Chance [1]: 1 for four segments and fewer; never less with more loss or a smaller window.

    Valid: SACK and RACK (Linux 4.4 and later).
    Neglects: several losses in a window; round trips above 10 ms, in which the timer of RACK has an acknowledgment
        after it where fewer than three came before, and that let such a loss be seen more often.
    Source: derived from RFC 8985, sections 6.2 and 7, and RFC 6937; PFTK 1998 section II.B has min(1, 3 / W), without.
    """
    p = np.clip(np.asarray(loss, float), 0.0, 1.0)
    missing = np.maximum(np.asarray(window, float) - 1.0 - linux.DUPTHRESH, 0.0)
    term = total = np.ones(np.broadcast_shapes(p.shape, missing.shape))
    for n in range(int(linux.DUPTHRESH)):
        term = term * (missing + n) * (1 - p) / (n + 1)
        total = total + term
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        lost = np.exp(missing * np.log(p))  # p^n of many n: a tenth of the time of powers
        return np.asarray(np.where(missing > 0, np.minimum(np.nan_to_num(lost * total), 1.0), 1.0), float)


def timeout_chance(loss: ArrayLike, window: ArrayLike) -> FloatArray:
    """Chance that a loss ends in a time-out: one of the retransmissions of its window is lost, and that `unnoticed`.

    Of the other W - 1 segments p (W - 1) are lost with it: Q (1 - (1 - p)^(1 + p (W - 1))).

    Args:
        loss: Packet loss probability p [1].
        window: Window in which it was W [segments].

    Returns:
        Chance [1].

    Valid: independent losses.
    Neglects: what `unnoticed` does; windows that are lost whole, with the probe of their tail.
    Source: derived: 1 + p (W - 1) retransmissions, each lost with p independently of the others.
    """
    p = np.clip(np.asarray(loss, float), 0.0, 1.0)
    lost = 1.0 + p * np.maximum(np.asarray(window, float) - 1.0, 0.0)
    return np.asarray(unnoticed(p, window) * (1.0 - (1.0 - p) ** lost), float)


def backoff_time(times: ArrayLike, rtt_s: ArrayLike) -> FloatArray:
    """Time of consecutive time-outs: each twice as long as the one before, from T + 200 ms to two minutes.

    Args:
        times: How many [1].
        rtt_s: Round-trip time T [s].

    Returns:
        Time [s].

    Valid: Linux, a round trip that varies by less than 50 ms.
    Neglects: that a connection is given up after `linux.RETRIES` of them.
    Source: RFC 6298 section 5.5; net/ipv4/tcp_input.c: tcp_set_rto, whose least variation is TCP_RTO_MIN.
    """
    count, first = np.asarray(times, float), np.asarray(rtt_s, float) + linux.RTO_MIN_S
    doubled = np.minimum(count, np.maximum(np.floor(np.log2(linux.RTO_MAX_S / first)), 0.0) + 1.0)
    return np.asarray(first * (np.exp2(doubled) - 1.0) + linux.RTO_MAX_S * (count - doubled), float)


def consecutive_timeouts(luck: ArrayLike, loss: ArrayLike, window: ArrayLike) -> FloatArray:
    """Consecutive time-outs after a loss, from one uniform draw: at least n with the `timeout_chance` times p^(n - 1).

    Args:
        luck: A number from 0 to 1.
        loss: Packet loss probability p [1].
        window: Window in which it was [segments].

    Returns:
        Whole numbers up to `linux.RETRIES`, mostly 0.

    Valid: independent losses.
    Neglects: what `unnoticed` does.
    Source: PFTK 1998, section II.B: the length of a sequence of time-outs is geometric.
    """
    draw, p, chance = np.asarray(luck, float), np.asarray(loss, float), timeout_chance(loss, window)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        count = 1 + np.floor(np.log(draw / chance) / np.log(p))
    return np.asarray(np.where(draw < chance, np.clip(count, 1.0, linux.RETRIES), 0.0), float)


def with_timeouts(rate_Bps: ArrayLike, loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike) -> FloatArray:
    """Goodput of a stream whose lost retransmissions cost time-outs: 1/X = 1/X0 + p^2 Q E[Z] / M.

    A segment in 1/p is lost, its retransmission with the chance p, which goes `unnoticed` with the chance Q at windows
    about their mean X0 T / M: a window that grows by so much a round trip and is lost with p for each of its segments
    has a Rayleigh distribution. E[Z] = sum of p^n min(2^n (T + 200 ms), 120 s) is a mean row of time-outs.

    Args:
        rate_Bps: Goodput X0 without them [B/s].
        loss: Packet loss probability p [1].
        rtt_s: Round-trip time T [s].
        mss_B: Segment payload M [B].

    Returns:
        Goodput X [B/s]; continuous, and never more with more loss.

    Valid: p to 0.45; of losses under 1 % it takes 3 % at most.
    Neglects: slow start after a time-out.
    Source: Padhye, Firoiu, Towsley, Kurose 1998 (PFTK), eq. 30, whose chance of a time-out is that without SACK.
    """
    p, rtt, mss = arrays(loss, rtt_s, mss_B)
    rate = np.asarray(rate_Bps, float)
    first = rtt + linux.RTO_MIN_S
    row = np.polyval([np.minimum(2.0**n * first, linux.RTO_MAX_S) for n in reversed(range(linux.RETRIES))], p)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = unnoticed(p[..., None], np.asarray(rate * rtt / mss)[..., None] * WINDOWS).mean(axis=-1)
        wait = np.where(p > 0, p * p * chance * row, 0.0)
        return np.asarray(1.0 / (1.0 / rate + wait / mss), float)
