"""Clouds: credits that an instance or disk spends, requests that a disk or a prefix of an object store counts.

All functions broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics import ssd
from dtnsim.physics._arrays import FloatArray, as_float


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


def mean_rate(size_B: ArrayLike, burst: ArrayLike, baseline: ArrayLike, credits_B: ArrayLike) -> FloatArray:
    """Mean rate of a job that spends burst credits: R until the bucket is empty, then b.

    The bucket C fills at b while R is taken from it, so it lasts for C R / (R - b) bytes.

    Args:
        size_B: Bytes of the job [B].
        burst: Rate while there are credits R [B/s].
        baseline: Rate at which credits come back, and the rate without them b [B/s].
        credits_B: Credits at the start C [B].

    Returns:
        Rate [B/s].

    Valid: b at most R; a bucket that is full at the start.
    Neglects: credits that idle time of the job brings back.
    Source: AWS, "Throughput Optimized HDD volumes" (burst bucket: 1 TiB of credits, 250 and 40 MiB/s a TiB); Azure,
        "Managed disk bursting" (credit-based, 30 minutes).
    """
    size, top = as_float(size_B), as_float(burst)
    low = np.minimum(as_float(baseline), top)
    fast = ssd.burst_bytes(credits_B, top, low)
    return size / ssd.burst_write_time(size, fast, top, low)


def counted_requests(request_B: ArrayLike, counted_B: ArrayLike) -> FloatArray:
    """Requests that a disk counts for one request: ceil(s / u).

    Args:
        request_B: Bytes of the request s [B].
        counted_B: Most bytes that count as one u [B].

    Returns:
        Requests [1].

    Valid: any size.
    Neglects: neighbours that the disk joins.
    Source: AWS, "I/O characteristics and monitoring" (256 KiB for SSD volumes, 1 MiB for HDD volumes).
    """
    return np.ceil(as_float(request_B) / as_float(counted_B))
