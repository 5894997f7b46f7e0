"""A host's memory in time: its limits on dirty bytes hold for all who write there, however many and whenever.

Each transfer's `dtnsim.simulation.cache.PageCache` counts its own dirty bytes; write-back begins, and writers are
throttled, by what all of them hold together. What one leaves behind is still dirty when the next begins.

Neglects: the parts of the limit that Linux gives each device and each task by its own rate of write-back.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from dtnsim.physics import cache

if TYPE_CHECKING:
    from dtnsim.simulation.cache import PageCache

#: part of the limit that must be free again before throttled writers run ahead once more: fewer turns, the same mean
SLACK: Final = 0.02


class Memory:
    """The limits on dirty bytes that several page caches share.

    Args:
        size: Dirty bytes from which on writers are throttled [B].
        free: Memory that this is a part of, which programs may take from [B]; infinite where it is none.

    Attributes:
        caches: Those that share it.
        part: What programs leave of the limits [1].
    """

    def __init__(self, size: float, free: float = math.inf) -> None:
        self._whole, self._free, self._held = size, free, 0.0
        self.part = 1.0
        self.caches: list[PageCache] = []

    @property
    def size(self) -> float:
        """Dirty bytes from which on writers are throttled now [B]."""
        return self._whole * self.part

    def hold(self, size: float) -> None:
        """A program takes memory, or gives some back (negative): the limits follow."""
        self._held += size
        if math.isinf(self._free):
            return
        self.part = float(cache.dirtyable_bytes(self._free, self._held)) / self._free
        for each in self.caches:
            each.look()

    def join(self, one: PageCache) -> None:
        """One more that shares it."""
        self.caches.append(one)

    def beside(self, cache: PageCache) -> tuple[float, float]:
        """What the others hold now [B], and how fast that grows [B/s]."""
        level = gain = 0.0
        for other in self.caches:
            if other is not cache:
                other.book(cache.env.now)
                into, out = other.rates()
                level += other.level
                gain += into - out
        return level, gain

    def told(self, cache: PageCache) -> None:
        """One of them holds more or less than before, or at another rate: the others look at what is due."""
        for other in self.caches:
            if other is not cache:
                other.look()
