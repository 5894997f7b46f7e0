"""The destination's page cache in time: filled by a transfer's workers, emptied onto the medium.

A fluid store between two halves of a pipeline (bytes Q, 0 <= Q <= C): dQ/dt = in - out. While it is
neither empty nor full, both halves run at their own fair rates. Empty, the medium gets no more than
comes in; full, the writers are throttled to what the medium takes (Linux balance_dirty_pages). The
instants at which it becomes empty or full are computed, not stepped to.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import simpy

    from dtnsim.simulate.engine import Engine, Transfer

#: relative difference of rates that counts as none: rounding of shares, far below any figure of interest
_SAME = 1e-11


class PageCache:
    """A store of ``capacity`` bytes whose content flows onto a medium.

    Args:
        env: SimPy environment.
        engine: The fluid engine.
        capacity: Bytes it takes before writers are throttled [B].
        drain: Station -> demand of one byte on its way to the medium.
        weight: Weight of the drain in sharing.
    """

    def __init__(
        self, env: simpy.Environment, engine: Engine, capacity: float, drain: dict[int, float], weight: float
    ) -> None:
        self.env, self.engine, self.capacity = env, engine, capacity
        self.level = 0.0
        self.filled = self.drained = 0.0
        self._drain_row, self._weight = dict(drain), weight
        self._fills: dict[Transfer, float] = {}
        self._rates = (0.0, 0.0)
        self._since = env.now
        self._alarm: Any = None
        self._empty_waiters: list[simpy.Event] = []
        self._out = self._start_drain()
        engine.observe(lambda now, _: self._update(now))

    def _start_drain(self) -> Transfer:
        return self.engine.transfer(self._drain_row, math.inf, weight=self._weight, cap=0.0, label=self)

    def fill(self, row: dict[int, float], size: float, weight: float, cap: float, label: Any) -> Transfer:
        """Starts bytes on their way into the cache; the event happens when the last is in."""
        flow = self.engine.transfer(row, size, weight=weight, cap=cap, label=label)
        if not flow.triggered:
            self._fills[flow] = cap
        else:
            self._advance(self.env.now)
            self.level += size
            self.filled += size
        return flow

    def forget(self, flow: Transfer) -> float:
        """Takes a fill out before its end; returns what was left of it [B]."""
        self._advance(self.env.now)
        self._fills.pop(flow, None)
        return self.engine.cancel(flow)

    def set_drain(self, drain: dict[int, float]) -> None:
        """The way to the medium has changed."""
        self._advance(self.env.now)
        self.engine.cancel(self._out)
        self._drain_row = dict(drain)
        self._out = self._start_drain()

    def emptied(self) -> simpy.Event:
        """An event that happens when the cache has nothing left."""
        event = self.env.event()
        if self.level <= 0 and not self._fills:
            event.succeed()
        else:
            self._empty_waiters.append(event)
        return event

    @property
    def row(self) -> dict[int, float]:
        """Station -> demand of one byte on its way to the medium."""
        return self._drain_row

    @property
    def outflow(self) -> Transfer:
        """The flow onto the medium."""
        return self._out

    # -- the store --------------------------------------------------------------------------------

    def _advance(self, now: float) -> None:
        """Moves the level to ``now`` with the rates since the last change."""
        into, out = self._rates
        span = now - self._since
        self._since = now
        if span <= 0:
            return
        self.filled += into * span
        self.drained += out * span
        self.level = min(max(self.level + (into - out) * span, 0.0), self.capacity)

    def _update(self, now: float) -> None:
        """After a change of the shares: the rates now, what has to be throttled, and when to look again.

        Caps set here take effect when the engine puts the shares right once more, which calls this
        again; so the rates are read first and nothing is read after a change.
        """
        self._advance(now)
        for flow in [f for f in self._fills if f.triggered]:
            del self._fills[flow]
        tiny = max(self.capacity, 1.0) * _SAME
        if self.level <= tiny and not self._fills:
            self.level = 0.0
        rates = {f: self.engine.rate(f) for f in self._fills}
        into, out = sum(rates.values()), self.engine.rate(self._out)
        self._rates = (into, out)
        self._plan(into, out, tiny)
        self._set(self._out, into if self.level <= tiny else math.inf)
        if self.level < self.capacity - tiny or into < out * (1 - _SAME):
            for flow, cap in self._fills.items():
                self._set(flow, cap)
        elif into > out * (1 + _SAME):
            for flow, rate in rates.items():
                self._set(flow, rate * out / into)
        if self.level <= 0 and not self._fills:
            for event in self._empty_waiters:
                event.succeed()
            self._empty_waiters.clear()

    def _set(self, flow: Transfer, cap: float) -> None:
        old = flow.flow.cap
        if cap != old and not math.isclose(cap, old, rel_tol=_SAME, abs_tol=0.0):
            self.engine.change(flow, cap=cap)

    def _plan(self, into: float, out: float, tiny: float) -> None:
        gain = into - out
        if gain > out * _SAME and self.level < self.capacity - tiny:
            delay = (self.capacity - self.level) / gain
        elif -gain > out * _SAME and self.level > tiny:
            delay = self.level / -gain
        else:
            self._alarm = None
            return
        alarm = self.env.timeout(delay)
        self._alarm = alarm
        alarm.callbacks.append(lambda event: self._update(self.env.now) if event is self._alarm else None)
