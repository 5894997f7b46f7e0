"""Tests that last a time: what the sender counts beyond what has arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: windows that Linux lets an autotuned send buffer hold: one in flight, one to go on with
SEND_BUFFER_WINDOWS = 2.0


def ahead_of_arrival(rate: ArrayLike, rtt: ArrayLike, streams: ArrayLike, window: ArrayLike) -> NDArray[np.float64]:
    """Bytes that a sender has handed to its sockets and that are not acknowledged yet.

    ahead = n min(2 W, W_max), W = x rtt / n: an autotuned send buffer grows to twice the congestion window, a buffer
    of fixed size holds what it holds.

    Args:
        rate: x, rate of all streams together [B/s].
        rtt: Round-trip time [s].
        streams: n, number of streams [1].
        window: W_max, most payload that one stream's buffers hold [B].

    Returns:
        Bytes that the sender of a timed test counts and its receiver does not [B].

    Valid: streams that the application keeps supplied until the end.
    Neglects: what the receiver's socket holds unread; the queue at the bottleneck, which lengthens the round trip.
    Source: Linux net/ipv4/tcp_input.c tcp_sndbuf_expand ("sndmem = 2 * per_mss * nr_segs": Fast Recovery needs
        twice the window); esnet/iperf iperf_api.c (sender's and receiver's bytes are counted at the socket calls).
    """
    x, n = np.asarray(rate, float), np.asarray(streams, float)
    each = x * np.asarray(rtt, float) / n
    held = np.minimum(SEND_BUFFER_WINDOWS * each, np.maximum(np.asarray(window, float), each))
    return np.asarray(n * held, float)
