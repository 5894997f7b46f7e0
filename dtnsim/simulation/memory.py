"""A host's memory in time: its limits on dirty bytes hold for all who write there, however many and whenever.

Each transfer's `dtnsim.simulation.cache.PageCache` counts its own dirty bytes; write-back begins, and writers are
throttled, by what all of them hold together. What one leaves behind is still dirty when the next begins. Each store
says what it holds and how fast that grows whenever that rate changes; from this the memory computes when a limit will
next be met, and has those look whom it concerns: whoever fills faster than it empties, not who is being emptied.

Neglects: the parts of the limit that Linux gives each device and each task by its own rate of write-back.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from dtnsim.physics import cache
from dtnsim.simulation.alarm import Alarm

if TYPE_CHECKING:
    import simpy

    from dtnsim.simulation.cache import PageCache

#: part of the limit that must be free again before throttled writers run ahead once more: fewer turns, the same mean
SLACK: Final = 0.02
#: waits closer than this, relative, are one
_TOGETHER: Final = 1e-9


#: part by which what stores hold may grow faster or slower than when alarms were set, before they are set again
_SWING: Final = 0.02
#: a limit that will be met within so long is watched without that [s]
_SOON_S: Final = 1e-3

#: bytes that a store holds, how fast that grows, since when, and whether more comes in than goes out
Line = tuple[float, float, float, bool]
_NOTHING: Final[Line] = (0.0, 0.0, 0.0, False)


class Memory:
    """The limits on dirty bytes that several page caches share.

    Args:
        size: Dirty bytes from which on writers are throttled [B].
        free: Memory that this is a part of, which programs may take from [B]; infinite where it is none.

    Attributes:
        caches: Those that share it.
        part: What programs leave of the limits [1].
        size: Dirty bytes from which on writers are throttled now [B].
    """

    def __init__(self, size: float, free: float = math.inf) -> None:
        self._whole, self._free, self._held = size, free, 0.0
        self.part, self.size = 1.0, size
        self.caches: list[PageCache] = []
        self._lines: dict[PageCache, Line] = {}  # of those that hold some
        self._counted = math.nan  # instant of the two that follow
        self._levels: dict[PageCache, float] = {}
        self._parts: tuple[float, ...] = ()
        self._due: list[PageCache] = []
        self._later = False
        self._growth = 0.0  # of what all stores hold
        self._band = math.inf, -math.inf  # growths at which nothing is due before the alarm
        self._alarm: Alarm | None = None

    def hold(self, size: float) -> None:
        """A program takes memory, or gives some back (negative): the limits follow."""
        self._held += size
        if math.isinf(self._free):
            return
        self.part = float(cache.dirtyable_bytes(self._free, self._held)) / self._free
        self.size = self._whole * self.part
        for each in self.caches:
            each.look()

    def join(self, one: PageCache) -> None:
        """One more that shares it."""
        self.caches.append(one)
        self._alarm = self._alarm or Alarm(one.env, self._ring)

    def beside(self, cache: PageCache) -> float:
        """What the others hold now [B]."""
        if not self._lines:
            return 0.0
        now = cache.env.now
        if now != self._counted:
            self._count(now)
        return math.fsum((*self._parts, -self._levels.get(cache, 0.0)))

    def _count(self, now: float) -> None:
        """Counts what each holds at an instant, and all: as few numbers whose sum is exact, however many stores."""
        self._counted = now
        self._levels = {
            each: held
            for each, (level, growth, since, _) in self._lines.items()
            if (held := level + growth * (now - since)) > 0
        }
        self._parts = _exact(*self._levels.values())

    def held(self, cache: PageCache) -> float:
        """What a store holds now, as it said last [B]."""
        level, growth, since, _ = self._lines.get(cache, _NOTHING)
        return level + growth * (cache.env.now - since)

    def _put(self, cache: PageCache, line: Line | None) -> None:
        """Sets what a store holds and how that grows, or that it holds nothing and gets nothing."""
        if line is None:
            self._lines.pop(cache, None)
        else:
            self._lines[cache] = line
        if cache.env.now != self._counted:
            return
        level = 0.0 if line is None else max(line[0] + line[1] * (self._counted - line[2]), 0.0)
        if level != (before := self._levels.get(cache, 0.0)):
            self._levels[cache] = level
            self._parts = _exact(*self._parts, level, -before)

    def note(self, cache: PageCache, level: float, growth: float, *, presses: bool) -> float:
        """A store holds so much [B], and that grows at this rate [B/s] until it says another.

        Returns:
            When it has to look because of that [s from now]; infinite where the memory sees to it.
        """
        if len(self.caches) == 1:
            return cache.due(level, (growth, growth), presses=presses)
        if level > 0 or growth:
            self._put(cache, (level, growth, cache.env.now, presses))
        else:
            self._put(cache, None)
        self._soon(cache.env)
        return math.inf

    def grows(self, cache: PageCache, growth: float, *, presses: bool) -> None:
        """What a store holds grows at another rate from now on [B/s]."""
        now = cache.env.now
        level, before, since, pressed = self._lines.get(cache, (0.0, 0.0, now, False))
        if growth == before:
            return
        self._put(cache, (level + before * (now - since), growth, now, presses))
        self._growth += growth - before
        if presses != pressed or not self._band[0] <= self._growth <= self._band[1]:
            self._soon(cache.env)

    def _soon(self, env: simpy.Environment) -> None:
        if not self._later:
            self._later = True
            env.timeout(0).callbacks.append(self._plan)

    def _plan(self, event: Any) -> None:
        """Computes when which of them have to look, all having said how they are.

        Rates change more often than limits are met. So the alarm allows for what they hold growing somewhat faster or
        slower, and is left alone while it does; only what is all but due is computed again at every change.
        """
        self._later = False
        now = event.env.now
        if now != self._counted:
            self._count(now)
        growths = [line[1] for line in self._lines.values()]
        self._growth = growth = math.fsum(growths)
        swing = _SWING * math.fsum(map(abs, growths))
        self._band = growth - swing, growth + swing
        first = self._first(self._band)
        if first <= _SOON_S:
            self._band = math.inf, -math.inf
            first = self._first((growth, growth))
        assert self._alarm is not None
        self._alarm.set(first)

    def _first(self, growths: tuple[float, float]) -> float:
        """When the first of them has to look while all grow within these bounds [s from now]; notes who that is."""
        level = self._parts[0] if self._parts else 0.0
        waits = [(each.due(level, growths, presses=line[3]), each) for each, line in self._lines.items()]
        first = min((wait for wait, _ in waits), default=math.inf)
        self._due = [each for wait, each in waits if wait <= first * (1 + _TOGETHER)]
        return first

    def _ring(self) -> bool:
        if self._band[0] <= self._band[1]:  # rung early, as it allows for other rates
            self._soon(self._due[0].env)
            return True
        changed = [each.look_now() for each in self._due]
        return any(changed)


def _exact(*numbers: float) -> tuple[float, ...]:
    """A few numbers whose sum is exactly that of many (J. R. Shewchuk, 1997: a floating-point expansion)."""
    left, parts = list(numbers), []
    while part := math.fsum(left):
        parts.append(part)
        left.append(-part)
    return tuple(parts)
