"""How a parameter is spread around its median, which are drawn together, and the order of each one's draws.

A number lies log-normally around its median. A share (loss, a part that others take; what is 1 in the middle is a
factor and none) does so below the median; above it, its odds do, so that it comes near 1 and never reaches it.
"""

import hashlib
import math
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray as Array

FEW: Final = 1024  #: draws up to which they are kept: 8 MB of scores, and as much of values


def around(median: ArrayLike, spread: ArrayLike, score: ArrayLike, *, share: bool = False) -> Array:
    """Values of numbers at standard normal scores, standard deviations above the median."""
    middle, off = np.asarray(median, float), np.sqrt(np.log1p(np.square(spread))) * score
    if not share:
        return np.asarray(middle * np.exp(off))
    rest = 1 - middle
    upper = middle / (middle + rest * np.exp(-np.maximum(off, 0) / rest))  # as steep at the median as below it
    return np.where(off > 0, upper, middle * np.exp(np.minimum(off, 0)))


def score_of(value: float, median: float, spread: float, *, share: bool = False) -> float:
    """The score at which a number has a value: the inverse of `around`."""
    sigma = math.sqrt(math.log1p(spread**2))
    if not share or value <= median:
        return math.log(value / median) / sigma
    odds = (value / (1 - value)) / (median / (1 - median)) if value < 1 else math.inf
    return (1 - median) * math.log(odds) / sigma


@dataclass(frozen=True, slots=True, eq=False)
class Correlation:
    """Parameters that are known together: the logarithms of ``keys`` have this correlation."""

    keys: tuple[str, ...] = ()  #: Keys of the parameters (K).
    #: Lower triangular, (K, K); ``factor @ factor.T`` is the correlation.
    factor: Array = field(default_factory=lambda: np.zeros((0, 0)))


@lru_cache(maxsize=8)
def grid(samples: int) -> Array:
    """Standard normal scores in the middles of as many equal parts, rising, (samples,)."""
    normal = NormalDist()
    return np.array([normal.inv_cdf((i + 0.5) / samples) for i in range(samples)])


@lru_cache(maxsize=1024)
def scores(seed: int, samples: int, key: str) -> Array:
    """Standard normal scores of a key, in an order of its own, (samples,)."""
    key_seed = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "little")
    permuted = np.asarray(grid(samples)[np.random.default_rng([seed, key_seed]).permutation(samples)])
    permuted.flags.writeable = False  # many ask for it
    return permuted


@lru_cache(maxsize=1024)
def drawn(seed: int, samples: int, key: str, median: float, spread: float, *, share: bool) -> Array:
    """Values of a number whose key has scores of its own, (samples,)."""
    return around(median, spread, scores(seed, samples, key), share=share)
