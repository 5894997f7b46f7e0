"""Congestion control by name: what each keeps of its window after a loss, and what it adds a round trip."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtnsim.physics.tcp import linux

FloatArray = NDArray[np.float64]

#: algorithms that take a loss for congestion, and those that build a model of the path
LOSS_BASED: Final = ("reno", "cubic", "htcp", "scalable", "westwood", "illinois")
RATE_BASED: Final = ("bbr", "bbr2", "bbr3")
ALGORITHMS: Final = (*LOSS_BASED, *RATE_BASED)
_FIXED: Final = {
    "reno": linux.RENO_BETA,
    "cubic": linux.CUBIC_BETA,
    "scalable": linux.SCALABLE_BETA,
    "westwood": linux.WESTWOOD_BETA,
}


def kept(cc: str, queue: ArrayLike = 0.0) -> FloatArray:
    """Share of its window that a loss leaves to an algorithm.

    Args:
        cc: One of `LOSS_BASED`.
        queue: Queueing delay when the loss is noticed, over the least round trip; over the fullest for Illinois [1].

    Returns:
        Share [1].

    Valid: windows of 15 segments and more (Illinois).
    Neglects: H-TCP's bandwidth switch.
    Source: `linux`.

    Raises:
        KeyError: not loss-based.
    """
    rise = np.asarray(queue, float)
    if cc == "htcp":
        return htcp_beta(1.0, 1.0 + rise)
    if cc == "illinois":
        return illinois_beta(np.minimum(rise, 1.0), 1.0)
    return np.full(rise.shape, _FIXED[cc])


def added(cc: str) -> float:
    """Segments that an algorithm adds in a round trip at small windows.

    Args:
        cc: One of `LOSS_BASED`.

    Returns:
        Segments [1].

    Valid: soon after a loss (H-TCP's first second), no queue (Illinois).
    Neglects: CUBIC's cube.
    Source: `linux`.
    """
    if cc == "cubic":
        return linux.CUBIC_FRIENDLY
    if cc == "htcp":
        return 2 * (1 - linux.HTCP_BETA[1])
    return linux.ILLINOIS_ALPHA[1] if cc == "illinois" else 1.0


def htcp_beta(least_s: ArrayLike, trip_s: ArrayLike) -> FloatArray:
    """H-TCP keeps the least over the largest round trip, 0.5 to 0.8.

    Args:
        least_s: Least round-trip time [s].
        trip_s: Round-trip time with the queue at the loss [s].

    Returns:
        Share [1].

    Valid: T above 10 ms; the kernel keeps 0.5 below.
    Neglects: the bandwidth switch, which keeps 0.5 when the throughput moved by over 20 %.
    Source: net/ipv4/tcp_htcp.c: htcp_beta_update; draft-leith-tcp-htcp-06.
    """
    return np.asarray(np.clip(np.asarray(least_s, float) / np.asarray(trip_s, float), *linux.HTCP_BETA), float)


def htcp_alpha(since_s: ArrayLike, rtt_s: ArrayLike, beta: ArrayLike) -> FloatArray:
    """H-TCP's growth a round trip: 2 (1 - beta) f(D), f scaled by T / 0.1 s in 0.1..2.

    Args:
        since_s: Time D since the last loss [s].
        rtt_s: Least round-trip time T [s].
        beta: Share kept at the last loss [1].

    Returns:
        Segments a round trip [1].

    Valid: any.
    Neglects: nothing.
    Source: net/ipv4/tcp_htcp.c: htcp_alpha_update; draft-leith-tcp-htcp-06.
    """
    past = np.maximum(np.asarray(since_s, float) - 1.0, 0.0)
    scale = np.clip(np.asarray(rtt_s, float) / linux.HTCP_SCALE_S, *linux.HTCP_SCALE)
    fast = np.maximum((1 + 10 * past + 0.25 * past**2) * scale, 1.0)
    return np.asarray(2 * (1 - np.asarray(beta, float)) * np.where(past > 0, fast, 1.0), float)


def illinois_alpha(delay_s: ArrayLike, most_s: ArrayLike) -> FloatArray:
    """TCP Illinois adds 10 segments a round trip without queue, 0.3 at a full one.

    Args:
        delay_s: Mean queueing delay [s].
        most_s: Largest seen [s].

    Returns:
        Segments a round trip [1].

    Valid: windows of 15 segments and more.
    Neglects: the five good round trips that it waits for after congestion.
    Source: net/ipv4/tcp_illinois.c: alpha; Liu, Basar and Srikant 2008.
    """
    least, top = linux.ILLINOIS_ALPHA
    most = np.asarray(most_s, float)
    low = most / 100
    above = np.maximum(np.asarray(delay_s, float) - low, 0.0)
    span = np.maximum(most - low, 1e-30)
    return np.asarray(span * top / (span + above * (top - least) / least), float)


def illinois_beta(delay_s: ArrayLike, most_s: ArrayLike) -> FloatArray:
    """TCP Illinois keeps 7/8 of its window below a tenth of the largest delay, 1/2 above eight tenths.

    Args:
        delay_s: Mean queueing delay [s].
        most_s: Largest seen [s].

    Returns:
        Share [1].

    Valid: windows of 15 segments and more.
    Neglects: as `illinois_alpha`.
    Source: net/ipv4/tcp_illinois.c: beta; Liu, Basar and Srikant 2008.
    """
    few, many = linux.ILLINOIS_CUT
    with np.errstate(invalid="ignore"):
        part = np.nan_to_num(np.asarray(delay_s, float) / np.maximum(np.asarray(most_s, float), 1e-30))
    return np.asarray(1 - np.clip(few + (many - few) * (part - 0.1) / 0.7, few, many), float)
