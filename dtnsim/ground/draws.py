"""Parameters that are drawn together, and the order of each one's draws."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Correlation:
    """Parameters that are known together: the logarithms of ``keys`` have this correlation.

    Attributes:
        keys: Keys of the parameters (K).
        factor: Lower triangular, (K, K); ``factor @ factor.T`` is the correlation.
    """

    keys: tuple[str, ...] = ()
    factor: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))


@lru_cache(maxsize=1024)
def order(seed: int, samples: int, key: str) -> NDArray[np.int64]:
    """In which order a key has its scores, (samples,).

    Args:
        seed: Seed of the draws.
        samples: How many scenarios.
        key: What is drawn.
    """
    own = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "little")
    return np.random.default_rng([seed, own]).permutation(samples)
