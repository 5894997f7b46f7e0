"""Things hashed over others: how many of k links, receive queues, inspection engines or targets n things use.

One connection stays on one of them. Of a bond, the sender decides one direction, the switch's hash the other.
"""

import math
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float, broadcast

#: standard deviations above its mean that no link's load reaches, and the probability that counts as none
_FAR: Final = 12.0
_NOTHING: Final = 1e-15
_STEPS: Final = 256  #: loads that are looked at one by one; of thousands of streams every so many-th


def occupied(items: ArrayLike, bins: ArrayLike, each: ArrayLike = 1.0) -> FloatArray:
    """Mean number of bins in use by items placed at random, each in ``each`` different bins: m (1 - (1 - c/m)^n).

    Args:
        items: Items placed independently n (connections, files) [1].
        bins: Bins m (links of a bond, receive queues, storage targets) [1].
        each: Bins that one item takes c (stripes) [1].

    Returns:
        Bins in use [1], from c (n = 1) to m.

    Valid: m >= 1, n >= 0; uniform, independent hash, or items made at different times.
    Neglects: sequential ports, which Linux' layer3+4 hash spreads evenly over a power of two; that all of the items are
        waited for (`dtnsim.physics.servers.until_the_last`).
    Source: balls into bins, Feller, An Introduction to Probability Theory vol. 1, II.5 and IV (occupancy).
    """
    n, m, c = as_float(items), as_float(bins), as_float(each)
    several = m > c
    missed = n * np.log1p(-np.where(several, c / m, 0.5))
    return as_float(np.where(several, -m * np.expm1(missed), np.minimum(m, m * n)))


@lru_cache(maxsize=4096)
def _expected_max(links: int, streams: int) -> float:
    """E[max load] = sum_m P(max > m); links are independent Poisson counts, given that they add up to the streams."""
    if links == 1 or streams == 0:
        return float(streams)
    mean, least = streams / links, -(-streams // links)  # no link holds less on average than its part
    most = min(streams, int(mean + _FAR * math.sqrt(mean) + _FAR**2))
    step = max(1, (most - least) // _STEPS)
    count = np.arange(1, most + 1)
    pmf = np.exp(np.concatenate([[0.0], np.cumsum(math.log(mean) - np.log(count))]) - mean)
    norm = math.exp(streams * math.log(streams) - streams - math.lgamma(streams + 1))  # P(they add up)
    above = []
    for m in range(least, most + 1, step):
        size = 1 << (links * m).bit_length()  # powers of two are quickest
        power = np.fft.rfft(pmf[: m + 1], size) ** links
        above.append(1.0 - min(float(np.fft.irfft(power, size)[streams]) / norm, 1.0))
        if above[-1] < _NOTHING:
            break
    return least + step * sum(above) - (step - 1) / 2 * above[0]


def expected_max_load(links: ArrayLike, streams: ArrayLike) -> FloatArray:
    """Mean number of streams on the fullest link, exact.

    E[max] = sum_{m >= 0} (1 - P(no link holds more than m))

    Args:
        links: Links k, whole numbers [1].
        streams: Connections n, whole numbers [1].

    Returns:
        Streams on the fullest link [1], between n/k and n.

    Valid: k >= 1, n >= 0 (rounded to whole numbers); uniform, independent hash.
    Neglects: streams of unequal weight.
    Source: multinomial occupancy, Feller vol. 1, II.5; Johnson and Kotz, Urn Models, 1977.
    """
    k, n = broadcast(links, streams)
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
    Source: see `occupied`.
    """
    return as_float(link_Bps) * occupied(streams, links)


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
