"""An alarm clock for whoever computes the instant at which something will be due.

What is due is computed from sums that round, so an alarm may ring a few digits early and find nothing to do. Set again
for what is left, it would ring at every tick that the clock can tell apart, and time would seem to stop. Each ring that
finds nothing to do makes the next wait at least twice as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import simpy

#: rings without effect after which the least wait grows no more: 2^32 digits of the clock, 0.5 ms after 1,000 s
_DOUBLINGS: Final = 32


class Alarm:
    """Rings once, at the time that was set last.

    Args:
        env: The clock.
        ring: Called when it rings; returns whether it has changed anything.

    Attributes:
        idle: Rings in a row that have changed nothing.
    """

    __slots__ = ("_at", "_env", "_ring", "_timer", "_timer_at", "idle")

    def __init__(self, env: simpy.Environment, ring: Callable[[], bool]) -> None:
        self._env, self._ring, self.idle = env, ring, 0
        self._timer: Any = None
        self._at = self._timer_at = math.inf

    def set(self, wait: float) -> None:
        """Sets it to ring after a wait [s], which may be rounded to less than none; never where that is infinite."""
        now = self._env.now
        least = (math.nextafter(now, math.inf) - now) * 2.0 ** min(self.idle, _DOUBLINGS)
        self._at = now + max(wait, least)
        if self._at < self._timer_at:  # else the timer under way comes early enough, and is set again
            self._start(now)

    def _start(self, now: float) -> None:
        self._timer_at = self._at
        self._timer = self._env.timeout(max(self._at - now, 0.0))
        self._timer.callbacks.append(self._rings)

    def _rings(self, event: Any) -> None:
        if event is not self._timer:
            return
        self._timer, self._timer_at, now = None, math.inf, self._env.now
        if now < self._at < math.inf:
            self._start(now)
        elif self._at < math.inf:
            self._at = math.inf
            self.idle += 1  # before it is set again
            if self._ring():
                self.idle = 0
