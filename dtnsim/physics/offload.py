"""Work that a device takes over: how fast requests come back, and how many of them keep it busy."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def request_rate(
    request_B: ArrayLike, latency_s: ArrayLike, rate_Bps: ArrayLike, in_flight: ArrayLike = 1.0
) -> FloatArray:
    """Rate of a caller that keeps n requests in flight at a device.

    X = n * s / (L + s / R)

    Args:
        request_B: Bytes s of one request [B].
        latency_s: Time L of an empty request, there and back [s].
        rate_Bps: Rate R at which the device does the work of one request [B/s].
        in_flight: Requests n that the caller keeps in flight; 1 where it waits for each [1].

    Returns:
        Rate [B/s]; n R for requests so large that latency does not count.

    Valid: all positive; the device's own capacity is a station of its own.
    Neglects: queueing behind other callers.
    Source: Little, Operations Research 9(3), 1961; why one request at a time loses: Intel, Asynchronous mode for
        OpenSSL (async jobs of QAT_Engine).
    """
    s = as_float(request_B)
    return as_float(in_flight) * s / (as_float(latency_s) + s / as_float(rate_Bps))


def solicited_trips(write_B: ArrayLike, first_B: ArrayLike, burst_B: ArrayLike) -> FloatArray:
    """Round trips of a write whose data the receiver asks for in bursts, one at a time: 1 + ceil(max(s - f, 0) / b).

    Args:
        write_B: Bytes of the write s [B].
        first_B: Bytes that come with it unasked f [B].
        burst_B: Bytes that are asked for at once b [B].

    Returns:
        Round trips [1].

    Valid: one request for data outstanding (MaxOutstandingR2T 1, the default).
    Neglects: the time of the bytes on the wire.
    Source: RFC 7143, sections 4.2.4.2 (unsolicited data, R2T), 13.13, 13.14 and 13.17.
    """
    left = np.maximum(as_float(write_B) - as_float(first_B), 0.0)
    return as_float(1.0 + np.ceil(left / as_float(burst_B)))
