"""Contents of a page cache in time: the flows that fill and empty it, the bytes moved; alarms.

`dtnsim.simulation.cache.PageCache` decides which of them run, and when.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import simpy

    from dtnsim.engine.engine import Engine, Transfer
    from dtnsim.engine.flows import Row
    from dtnsim.simulation.jobs import Leg
    from dtnsim.simulation.transfer_processes import Move


class State(Enum):
    """State of a store."""

    HELD = "held"  # write-back has not begun
    FREE = "free"  # both halves at their own rates
    EMPTY = "empty"  # one flow, the medium waits for the writers
    FULL = "full"  # one flow, the writers wait for the medium
    KEPT = "kept"  # nobody fills it: the medium works for others, which wait for it


HELD, FREE, EMPTY, FULL, KEPT = State  # looked up a million times
COUPLED: Final = (EMPTY, FULL)


class Store:
    """Bytes between two halves of a pipeline."""

    def __init__(self, engine: Engine, leg: Leg, payload: float, state: State) -> None:
        self.env: simpy.Environment = engine.env
        self.engine, self.leg, self.payload, self.state = engine, leg, payload, state
        self.scale = 1.0  #: Files of the batch that is in it, of which only one is in it at a time.
        self.filled, self.drained = 0.0, 0.0  #: Bytes that came in and went out so far [B].
        self.outflow: Transfer | None = None  #: The flow onto the medium where that runs by itself.
        self._out_left = 0.0
        self._fills: dict[Move, None] = {}

    @property
    def level(self) -> float:
        """Bytes in the store when they were last counted [B]."""
        return max(self.filled - self.drained, 0.0)

    def book(self, time: float) -> None:
        """Counts what has moved up to ``time``."""
        left, coupled = self.engine.fluid.left, self.state in COUPLED
        for move in self._fills:
            moved = move.book(left(move.flow.flow, time), time)
            self.filled += moved
            if coupled:
                self.drained += moved
                move.leg.drained += moved
        if self.outflow is not None:
            out = left(self.outflow.flow, time)
            self.drained += self._out_left - out
            self.leg.drained += self._out_left - out
            self._out_left = out

    def _row(self, leg: Leg) -> Row:
        return leg.both if self.state in COUPLED else leg.fill

    def _tiny(self) -> float:
        """Bytes within rounding, of the sums and of the clock's last digit [B]."""
        return 1e-13 * self.payload + 4e-16 * self.env.now * sum(self.rates())

    @property
    def _holds_bytes(self) -> bool:
        """Whether the store holds more bytes than rounding."""
        return self.filled - self.drained > self._tiny()

    def rates(self) -> tuple[float, float]:
        """Rates in and out [B/s]."""
        into = sum([self.engine.rate(m.flow) for m in self._fills])
        if self.state in COUPLED:
            return into, into
        return into, self.engine.rate(self.outflow) if self.outflow is not None else 0.0

    def at_medium_of(self, other: Store, *, alone: bool) -> bool:
        """Whether a station below ``other`` binds a fill of this store (``alone``: one that only the medium uses)."""
        bottleneck, leg = self.engine.bottleneck, other.leg
        for move in self._fills:
            station = bottleneck(move.flow)
            if station is None or not leg.drain_costs.get(station, 0.0) > 0:
                continue
            if not (alone and leg.fill_costs.get(station, 0.0) > 0):
                return True
        return False


#: rings without effect after which the least wait grows no more: 2^32 digits of the clock, 0.5 ms after 1,000 s
_DOUBLINGS: Final = 32


class Alarm:
    """Rings once, at the time that was set last; ``ring`` returns whether it has changed anything."""

    __slots__ = ("_at", "_env", "_ring", "_timer", "_timer_at", "idle")

    def __init__(self, env: simpy.Environment, ring: Callable[[], bool]) -> None:
        self._env, self._ring = env, ring
        self.idle = 0  #: Rings in a row that have changed nothing.
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
