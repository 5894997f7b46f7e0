"""Things hashed over others: how many of k links, receive queues or inspection engines n connections use.

One connection stays on one of them. Of a bond, the sender decides one direction, the switch's hash the other.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def expected_links(links: ArrayLike, streams: ArrayLike) -> FloatArray:
    """Mean number of links that carry at least one of n streams placed at random.

    E[used] = k (1 - (1 - 1/k)^n)

    Args:
        links: Links k of the bond [1].
        streams: Connections n [1].

    Returns:
        Links used [1], from 1 (n = 1) to k.

    Valid: k >= 1, n >= 0; uniform, independent hash.
    Neglects: sequential ports, which Linux' layer3+4 hash spreads evenly over a power of two.
    Source: balls into bins, Feller, An Introduction to Probability Theory vol. 1, II.5.
    """
    k = as_float(links)
    missed = np.where(k > 1, 1 - 1 / k, 0.0) ** as_float(streams)
    return as_float(k * (1 - missed))


@lru_cache(maxsize=4096)
def _expected_max(links: int, streams: int) -> float:
    """E[max load] = sum_m P(max > m), by adding link after link (binomial thinning, no factorials)."""
    total, logs = 0.0, np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, streams + 1)))])
    for m in range(streams):
        left = np.zeros(streams + 1)  # left[r]: r streams not yet placed, no link above m so far
        left[streams] = 1.0
        for j in range(links, 1, -1):
            new = np.zeros(streams + 1)
            for here in range(min(m, streams) + 1):
                r = np.arange(here, streams + 1)
                log_p = logs[r] - logs[here] - logs[r - here] - here * np.log(j) + (r - here) * np.log1p(-1 / j)
                new[r - here] += left[r] * np.exp(log_p)
            left = new
        total += 1.0 - float(left[: m + 1].sum())
    return total


def expected_max_load(links: ArrayLike, streams: ArrayLike) -> FloatArray:
    """Mean number of streams on the fullest link, exact.

    E[max] = sum_{m >= 0} (1 - P(no link holds more than m))

    Args:
        links: Links k, whole numbers [1].
        streams: Connections n, whole numbers up to some hundreds [1].

    Returns:
        Streams on the fullest link [1], between n/k and n.

    Valid: k >= 1, n >= 0 (rounded to whole numbers); uniform, independent hash; cost k n^3, cached.
    Neglects: streams of unequal weight.
    Source: multinomial occupancy, Feller vol. 1, II.5; Johnson and Kotz, Urn Models, 1977.
    """
    k, n = np.broadcast_arrays(as_float(links), as_float(streams))
    flat = [_expected_max(round(float(a)), round(float(b))) for a, b in zip(k.ravel(), n.ravel(), strict=True)]
    return as_float(np.array(flat).reshape(k.shape))


def dynamic_rate(link_Bps: ArrayLike, links: ArrayLike, streams: ArrayLike) -> FloatArray:
    """Mean rate of a bond when the streams share out the work as they go.

    X = C * E[used]

    Args:
        link_Bps: Payload rate C of one link [B/s].
        links: Links k [1].
        streams: Connections n [1].

    Returns:
        Rate [B/s].

    Valid: every stream can fill a link; blocks handed to whichever stream is free (GridFTP MODE E).
    Neglects: the spread around the mean.
    Source: see `expected_links`.
    """
    return as_float(link_Bps) * expected_links(links, streams)


def static_rate(link_Bps: ArrayLike, links: ArrayLike, streams: ArrayLike) -> FloatArray:
    """Rate of a bond when each stream carries a fixed, equal part: the fullest link decides.

    X = n C / E[max]

    Args:
        link_Bps: Payload rate C of one link [B/s].
        links: Links k, whole numbers [1].
        streams: Connections n, whole numbers, at least 1 [1].

    Returns:
        Rate [B/s], at most `dynamic_rate`.

    Valid: every stream can fill a link.
    Neglects: E[1/max] > 1/E[max] (2-4 % for k = 4).
    Source: see `expected_max_load`.
    """
    return as_float(as_float(streams) * as_float(link_Bps) / expected_max_load(links, streams))
