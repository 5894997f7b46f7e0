"""Response functions: the rate of one stream on a path that loses packets at random.

Every function takes the loss probability, the round-trip time and the segment size and gives the
goodput of one stream in payload bytes a second, for a path whose capacity never binds. Arguments
broadcast. `loss = 0` gives `inf` for loss-based algorithms: then the window, the buffer or the link
decides.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtnsim.physics.tcp import algorithms, linux

FloatArray = NDArray[np.float64]

#: BBR v3: share of the rate left after headroom, pacing margin and ProbeRTT (draft-ietf-ccwg-bbr)
BBR3_EFFICIENCY: Final = 0.98


def _arrays(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    p, rtt, mss = np.broadcast_arrays(np.asarray(loss, float), np.asarray(rtt_s, float), np.asarray(mss_B, float))
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
    Neglects: timeouts, the window's own limits, the spread of the loss gaps.
    Source: RFC 9438 section 5.1 (eq. 3 and 4); Floyd, Handley and Padhye 2000.
    """
    p = np.clip(np.asarray(loss, float), 0.0, 1.0)
    a, b = np.asarray(alpha, float), np.asarray(beta, float)
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(a * (1 + b) / (2 * (1 - b) * p)), float)


def reno(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike) -> FloatArray:
    """Reno as Linux runs it: Mathis while losses are repaired by SACK, one timeout in `p` above.

    X = M / (T sqrt(2 p / 3) + (T + 200 ms) p^2 (1 + 32 p^2)): the form of PFTK with the chance of a timeout replaced
    by the chance that a retransmission is lost again, p: SACK repairs any number of first losses in a round.

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Goodput of one stream [B/s]; inf where loss is 0.

    Valid: p from 1e-9 to 0.1; above, a lower bound by PFTK's back-off factor.
    Neglects: windows under 4 segments, where recovery falls back to timeouts.
    Source: Mathis, Semke, Mahdavi, Ott 1997; PFTK 1998 eq. 32; RFC 6675 and RFC 8985 for the repair.
    """
    p, rtt, mss = _arrays(loss, rtt_s, mss_B)
    wait = (rtt + linux.RTO_MIN_S) * p * p * (1 + 32 * p**2)
    with np.errstate(divide="ignore"):
        return np.asarray(mss / (rtt * np.sqrt(2 * p / 3) + wait), float)


def cubic(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike) -> FloatArray:
    """CUBIC of RFC 9438: the larger of its Reno-friendly and its cubic mean window, over T.

    E[W_cubic] = (C (3 + beta) / (4 (1 - beta)))^(1/4) (T / p)^(3/4), E[W_est] = sqrt(3 / (2 p)).

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Goodput of one stream [B/s]; inf where loss is 0.

    Valid: p from 1e-9 to 1e-2.
    Neglects: fast convergence (which lowers it under random loss), timeouts.
    Source: RFC 9438 section 5.1, equations 5 and 6, tables 1 and 2.
    """
    p, rtt, mss = _arrays(loss, rtt_s, mss_B)
    k = (linux.CUBIC_C * (3 + linux.CUBIC_BETA) / (4 * (1 - linux.CUBIC_BETA))) ** 0.25
    with np.errstate(divide="ignore"):
        window = np.maximum(k * (rtt / p) ** 0.75, aimd_window(p))
    return np.asarray(mss / rtt * window, float)


def htcp(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike) -> FloatArray:
    """H-TCP: growth 2 (1 - beta) (1 + 10 (D - 1) + (D - 1)^2 / 4) a round, D seconds after a loss.

    The period D that gains back what a loss took and carries 1/p segments is found by bisection.

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Goodput of one stream [B/s]; inf where loss is 0.

    Valid: p from 1e-9 to 1e-2, a periodic sawtooth without queueing, where the share kept is 0.8.
    Neglects: the switch to beta = 0.5 when the throughput moves by over 20 %, timeouts.
    Source: draft-leith-tcp-htcp-06; RTT scaling by T/0.1 s in 0.1..2 above D = 1 s as in Linux.
    """
    p, rtt, mss = _arrays(loss, rtt_s, mss_B)
    if not np.any(p > 0):
        return np.full(p.shape, np.inf)
    kept = linux.HTCP_BETA[1]
    low, high = np.full(p.shape, -12.0), np.full(p.shape, 6.0)
    for _ in range(60):
        mid = (low + high) / 2
        t = np.exp2(mid * 3.0)
        gain, area = _htcp_growth(t, rtt, kept)
        few = (gain * kept / (1 - kept) * t + area) / rtt * p < 1.0
        low, high = np.where(few, mid, low), np.where(few, high, mid)
    t = np.exp2(low * 3.0)
    gain, area = _htcp_growth(t, rtt, kept)
    mean = gain * kept / (1 - kept) + area / t
    return np.asarray(np.where(p > 0, mean * mss / rtt, np.inf), float)


def _htcp_growth(t: FloatArray, rtt: FloatArray, beta: float) -> tuple[FloatArray, FloatArray]:
    """Segments gained t seconds after a loss, and the integral of that gain over the time (`algorithms.htcp_alpha`)."""
    scale = np.clip(rtt / linux.HTCP_SCALE_S, *linux.HTCP_SCALE)
    u = np.maximum(t - 1.0, 0.0)
    fast = u + 5 * u**2 + u**3 / 12  # integral of 1 + 10 u + u^2/4
    fast_area = u**2 / 2 + 5 * u**3 / 3 + u**4 / 48
    slow = np.minimum(t, 1.0)
    gain = 2 * (1 - beta) / rtt
    return gain * (slow + scale * fast), gain * (slow**2 / 2 + u * slow + scale * fast_area)


def scalable(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike) -> FloatArray:
    """Scalable TCP: 0.01 segments for each acknowledged, an eighth less at a loss; Reno's growth under 100 segments.

    W = 0.08/p where growth is proportional, sqrt((1 + beta) / (2 (1 - beta) p)) below.

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Goodput of one stream [B/s]; inf where loss is 0.

    Valid: p from 1e-9 to 1e-2.
    Neglects: timeouts.
    Source: Kelly 2003; net/ipv4/tcp_scalable.c.
    """
    p, rtt, mss = _arrays(loss, rtt_s, mss_B)
    with np.errstate(divide="ignore"):
        wide = 1 / (linux.SCALABLE_COUNT * (1 - linux.SCALABLE_BETA) * p)
    return np.asarray(mss / rtt * np.maximum(wide, aimd_window(p, 1.0, linux.SCALABLE_BETA)), float)


def additive(cc: str, loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike) -> FloatArray:
    """Westwood and Illinois as additive increase, multiplicative decrease without queueing.

    Args:
        cc: "westwood" (1 segment a round trip, 0.95 kept) or "illinois" (10 and 7/8, as Reno below 15 segments).
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].

    Returns:
        Goodput of one stream [B/s]; inf where loss is 0.

    Valid: p from 1e-9 to 1e-2; a path that random loss keeps from queueing.
    Neglects: timeouts; that Westwood's filter takes 15 round trips to follow.
    Source: net/ipv4/tcp_westwood.c, tcp_illinois.c (`linux`); `aimd_window`.
    """
    p, rtt, mss = _arrays(loss, rtt_s, mss_B)
    window = aimd_window(p, algorithms.added(cc), algorithms.kept(cc))
    if cc == "illinois":
        window = np.where(window < linux.ILLINOIS_WINDOW, np.minimum(aimd_window(p), window), window)
    return np.asarray(mss / rtt * window, float)


def bbr1(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, rate_Bps: ArrayLike = np.inf) -> FloatArray:
    """BBR v1: the path's rate times (1 - p), until 1.25 (1 - p) < 1; then a collapse.

    Above the threshold the bandwidth filter keeps (1 - p) * 1.25 of itself every 8 rounds and the
    rate falls to what 4 segments a round carry, so the drop is steep: it is drawn as the power
    ((1 - p) 1.25)^32, four probing cycles of decay before the filter forgets.

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].
        rate_Bps: What the bottleneck leaves to the stream, payload [B/s].

    Returns:
        Goodput [B/s].

    Valid: T from 1 ms to 0.4 s, buffers of a few segments or more.
    Neglects: competing flows (see `shared`), start-up; the shape of the collapse is a prior.
    Source: draft-cardwell-iccrg-bbr-congestion-control-00; Hock, Bless, Zitterbart 2017 for the fall
        past 15 %.
    """
    p, rtt, mss = _arrays(loss, rtt_s, mss_B)
    rate = np.asarray(rate_Bps, float)
    kept = np.minimum(1.0, linux.BBR_CYCLE[0] * (1 - p)) ** 32
    probe = 1 - linux.BBR_PROBE_RTT_S / linux.BBR_MIN_RTT_S
    floor = np.minimum(rate, linux.BBR_MIN_WINDOW * mss / rtt)
    with np.errstate(invalid="ignore"):
        full = rate * probe * kept
    return np.asarray(np.maximum(np.nan_to_num(full, nan=0.0, posinf=np.inf), floor) * (1 - p), float)


def bbr3(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, rate_Bps: ArrayLike = np.inf) -> FloatArray:
    """BBR v3: 0.98 (1 - p) of the rate while a probing round loses under 2 %; above, a window like AIMD's.

    A probing round of W segments passes when it loses at most 0.02 W; above that loss every probe
    cuts the inflight limit by 0.7, and it grows again only in rounds without loss, which leaves the
    window near that of AIMD(1, 0.7).

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].
        rate_Bps: What the bottleneck leaves to the stream, payload [B/s].

    Returns:
        Goodput [B/s].

    Valid: T from 1 ms to 0.4 s; windows of 50 segments and more.
    Neglects: the chance that a short round loses over 2 % at a lower mean; competing flows.
    Source: draft-ietf-ccwg-bbr (v3): thresholds 2 %, 0.7, 0.15, 1 %; the fall-back is a prior.
    """
    p, rtt, mss = _arrays(loss, rtt_s, mss_B)
    rate = np.asarray(rate_Bps, float)
    width = 0.1 * linux.BBR3_LOSS_THRESHOLD
    passed = 1 / (1 + np.exp(np.clip((p - linux.BBR3_LOSS_THRESHOLD) / width, -50, 50)))
    with np.errstate(invalid="ignore"):
        full = np.nan_to_num(rate * BBR3_EFFICIENCY * (1 - p) * passed, nan=0.0, posinf=np.inf)
    low = mss / rtt * aimd_window(p, 1.0, linux.BBR3_BETA)
    return np.asarray(np.maximum(full, np.minimum(low, rate * BBR3_EFFICIENCY * (1 - p))), float)
