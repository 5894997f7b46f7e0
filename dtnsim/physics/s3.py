"""S3 object stores: requests one after the other on a connection, requests a second of a prefix.

All functions broadcast.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def connection_rate(part_B: ArrayLike, latency_s: ArrayLike, stream_rate: ArrayLike) -> FloatArray:
    """Rate of one connection that moves parts one after the other: s / (t + s / R).

    Args:
        part_B: Bytes of one GET range or uploaded part s [B].
        latency_s: Time to the first byte of an answer t [s].
        stream_rate: Rate of one answer once it flows R [B/s].

    Returns:
        Rate [B/s].

    Valid: connections kept open; each waits for its answer before the next request.
    Neglects: answers that fail and are asked for again.
    Source: AWS, "Performance design patterns for Amazon S3" (a concurrent request for each 85 to 90 MB/s; ranges of
        8 to 16 MB); affine time of a request.
    """
    s = as_float(part_B)
    return s / (as_float(latency_s) + s / as_float(stream_rate))


def prefix_rate(requests_per_s: ArrayLike, prefixes: ArrayLike, part_B: ArrayLike) -> FloatArray:
    """Rate that the limits of request of the prefixes allow: n X s.

    Args:
        requests_per_s: Requests a second of one prefix X [1/s].
        prefixes: Prefixes that the objects lie under n [1].
        part_B: Bytes of one request s [B].

    Returns:
        Rate [B/s].

    Valid: requests spread evenly over prefixes that have been split already.
    Neglects: the time in which a store splits a prefix (503 Slow Down).
    Source: AWS, "Best practices design patterns: optimizing Amazon S3 performance" (3,500 PUT and 5,500 GET a second).
    """
    return as_float(requests_per_s) * as_float(prefixes) * as_float(part_B)
