"""Clouds: credits that an instance or disk spends, requests that a disk or a prefix of an object store counts.

All functions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics import ssd
from dtnsim.physics._arrays import FloatArray, as_float
from dtnsim.physics.cache import filled_bytes


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
    fast = filled_bytes(0.0, credits_B, top, low)
    return size / ssd.burst_write_time(size, fast, top, low)
