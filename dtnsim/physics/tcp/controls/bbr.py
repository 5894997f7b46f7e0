"""BBR: a model of the path in place of losses; its state machines are in `_bbr1` and `_bbr3`."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp.controls import Control, Probing
from dtnsim.physics.tcp.response import aimd_window, arrays

#: BBR v3: share of the rate left after headroom, pacing margin and ProbeRTT (draft-ietf-ccwg-bbr)
BBR3_EFFICIENCY: Final = 0.98


def collapse(loss: ArrayLike) -> FloatArray:
    """Share of the path's rate that BBR v1 keeps at a loss: all until its probes gain nothing, then a steep fall.

    min(1, 1.25 (1 - p))^32: above the threshold the bandwidth filter keeps (1 - p) 1.25 of itself every 8 rounds, here
    for four probing cycles before it forgets.

    Args:
        loss: Packet loss probability p [1].

    Returns:
        Share [1].

    Valid: any.
    Neglects: the rate below which it does not fall, four segments a round trip; the fall's shape is a prior.
    Source: draft-cardwell-iccrg-bbr-congestion-control-00; Hock, Bless, Zitterbart 2017 for the fall past 15 %.
    """
    return np.asarray(np.minimum(1.0, linux.BBR_CYCLE[0] * (1 - np.asarray(loss, float))) ** 32, float)


def bbr1(loss: ArrayLike, rtt_s: ArrayLike, mss_B: ArrayLike, rate_Bps: ArrayLike = np.inf) -> FloatArray:
    """BBR v1: the path's rate times (1 - p), less ProbeRTT, until it collapses to four segments a round trip.

    Args:
        loss: Packet loss probability [1].
        rtt_s: Round-trip time [s].
        mss_B: Segment payload [B].
        rate_Bps: What the bottleneck leaves to the stream, payload [B/s].

    Returns:
        Goodput [B/s].

    Valid: T from 1 ms to 0.4 s, buffers of a few segments or more.
    Neglects: competing flows (see `shared`), start-up.
    Source: `collapse`; draft-cardwell-iccrg-bbr-congestion-control-00.
    """
    p, rtt, mss = arrays(loss, rtt_s, mss_B)
    rate = np.asarray(rate_Bps, float)
    probe = 1 - linux.BBR_PROBE_RTT_S / linux.BBR_MIN_RTT_S
    floor = np.minimum(rate, linux.BBR_MIN_WINDOW * mss / rtt)
    with np.errstate(invalid="ignore"):
        full = rate * probe * collapse(p)
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
    p, rtt, mss = arrays(loss, rtt_s, mss_B)
    rate = np.asarray(rate_Bps, float)
    width = 0.1 * linux.BBR3_LOSS_THRESHOLD
    passed = 1 / (1 + np.exp(np.clip((p - linux.BBR3_LOSS_THRESHOLD) / width, -50, 50)))
    with np.errstate(invalid="ignore"):
        full = np.nan_to_num(rate * BBR3_EFFICIENCY * (1 - p) * passed, nan=0.0, posinf=np.inf)
    low = mss / rtt * aimd_window(p, 1.0, linux.BBR3_BETA)
    return np.asarray(np.maximum(full, np.minimum(low, rate * BBR3_EFFICIENCY * (1 - p))), float)


V2: Final = Probing(
    start=linux.BBR_HIGH_GAIN,
    start_window=linux.BBR_HIGH_GAIN,
    events=linux.BBR2_LOSS_EVENTS,
    window=linux.BBR_CWND_GAIN,
    plateau=False,
    down=linux.BBR2_DOWN_GAIN,
)
V3: Final = Probing(
    start=linux.BBR3_START_GAIN,
    start_window=linux.BBR_CWND_GAIN,
    events=linux.BBR3_LOSS_EVENTS,
    window=linux.BBR3_UP_WINDOW,
    plateau=True,
    down=linux.BBR3_DOWN_GAIN,
)
#: Linux 4.9 of December 2016, Debian 9 (2017) as the first to have it; FreeBSD: release notes of 13.0
SINCE = {"linux": ("4.9", 2017), "freebsd": ("13", 2021)}
CONTROLS = (
    Control("bbr", bbr1, "tcp-truth: pairs with cubic, reno and itself", offered=True, since=SINCE, version="v1"),
    Control("bbr2", bbr3, probing=V2),
    Control("bbr3", bbr3, probing=V3),
)
