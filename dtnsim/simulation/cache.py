"""The destination's page cache in time: filled by a transfer's workers, emptied onto the medium.

A fluid store between two halves of a pipeline (bytes Q, 0 <= Q <= C): dQ/dt = in - out. While it is
neither empty nor full, both halves run at their own fair rates. Where it is empty and the medium would
go faster, or full and the writers would, the two halves move as one flow over both rows: Linux throttles
the writers to what the medium takes (balance_dirty_pages), and the medium gets no more than comes in.
They part again as soon as the binding station lies on the side that would fill or empty the store. All these
instants are computed, not stepped to.

Write-back begins at a number of bytes, at an age of the oldest, or when a flush is waited for. If it began at a number
of bytes, it stops there once nobody fills the store any more (mm/page-writeback.c, wb_over_bg_thresh).

There is no closed form as for one stream of known size: any number of workers fill this store, file by file with
pauses between, faults take bytes out, and the path may change while bytes move.

Neglects: a change of state while both halves share the binding station; an early stop of write-back that began by age
or has all files (it goes on until the store is empty); the per-device and per-task parts of Linux's throttling.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from dtnsim.simulation.memory import EVEN, Memory, Part
from dtnsim.simulation.store import COUPLED, EMPTY, FREE, FULL, HELD, KEPT, Alarm, State, Store
from dtnsim.simulation.transfer_processes import Move

if TYPE_CHECKING:
    import simpy

    from dtnsim.engine.engine import Engine
    from dtnsim.simulation.jobs import Leg

#: part of the payload below which a limit counts as none: less than the rounding of the bytes moved
_LEAST: Final = 1e-12
#: part of a limit shared by several stores that is mere rounding of their sum
_NEAR: Final = 1e-9
#: what write-back writes before it asks again whether enough is left beside others' bytes: seconds of it, part of the
#: limit, and at least [B] (Linux fs/fs-writeback.c, writeback_chunk_size)
_CHUNK_S: Final = 0.5
_CHUNK: Final = 1 / 8
_CHUNK_B: Final = 4 * 2**20
_OFTEN: Final = 12  #: changes of state at one instant after which coupled halves stay coupled
_SOON_S: Final = 1e-3  #: whatever is due within this time is checked at every change of rates [s]


class PageCache(Store):
    """A store whose content flows onto a medium, by the limits on dirty bytes of its ``memory``.

    Its ``write_back`` begins at (dirty bytes of all [B], age of its own oldest [s]) and shares by ``weight``. With
    ``each_file`` each file waits for its flush before the next; a batch of n files then has n times the store, since
    only one of them is in it at a time.
    """

    def __init__(
        self,
        engine: Engine,
        leg: Leg,
        memory: Memory,
        payload: float,
        *,
        weight: float = 1.0,
        write_back: tuple[float, float] = (0.0, 0.0),
        each_file: bool = False,
    ) -> None:
        self.memory, self.weight = memory, weight
        hold, self._age = min(write_back[0], memory.size), write_back[1]
        self._begins = hold if hold > _LEAST * payload else 0.0
        self.each_file = each_file
        self._resting = HELD if self._begins > 0 and self._age > 0 else EMPTY
        super().__init__(engine, leg, payload, self._resting)
        self._waiters: deque[tuple[float, simpy.Event]] = deque()
        self._watchers: deque[tuple[float, simpy.Event]] = deque()
        self._deadline = math.inf
        self._alarm = Alarm(engine.env, self._ring)
        self._stale = self._busy = self._later = self._early = self._aged = False
        self._instant, self._changes = -math.inf, 0
        self._watched: tuple[bool, tuple[int, ...]] = True, ()
        self._unwatch: Callable[[], None] = lambda: None
        memory.join(self)
        memory.crossed(_stations(leg))

    # -- for the workers --------------------------------------------------------------------------

    def fill(self, leg: Leg, size: float, weight: float, files: int = 1) -> Move:
        """Starts the bytes of a file or batch into the store; the move's flow ends when the last is in."""
        now = self.env.now
        self.scale = float(files) if self.each_file else 1.0
        if self.state is HELD and self._deadline == math.inf:
            self._deadline = now + self._age * self.scale
        flow = self.engine.transfer(self._row(leg), size, weight=weight, cap=leg.cap)
        flow.moved = self.changed
        move = Move(flow, leg, size, now)
        self._fills[move] = None
        assert flow.callbacks is not None
        flow.callbacks.append(lambda _event: self._ended(move))
        self._soon()
        return move

    def forget(self, move: Move) -> None:
        """A fault stops a fill; bytes already in the store are still written."""
        self.book(self.env.now)
        del self._fills[move]
        self.payload += move.flow.size - move.left
        self.engine.cancel(move.flow)
        move.left = 0.0
        self._soon()

    def look(self) -> None:
        """The store is about to be filled at another rate."""
        self._soon()

    def flushed(self) -> simpy.Event:
        """Event for when the medium has all that is in the store now."""
        return self._when_out(self._waiters)

    def emptied(self) -> simpy.Event:
        """The same without a waiter, so that it starts no write-back."""
        return self._when_out(self._watchers)

    def _when_out(self, queue: deque[tuple[float, simpy.Event]]) -> simpy.Event:
        event = self.env.event()
        self.book(self.env.now)
        queue.append((self.filled, event))
        self._soon()
        return event

    def reroute(self, leg: Leg) -> None:
        """The path has changed: bytes in flight go on over the new leg."""
        self.book(self.env.now)
        self.leg = leg
        self.memory.crossed(_stations(leg))
        for move in self._fills:
            move.leg = leg
            self.engine.change(move.flow, row=self._row(leg), cap=leg.opened(move.share))
        if self.outflow is not None and leg.drain is not None:
            self.engine.change(self.outflow, row=leg.drain)
        self._soon()

    # -- the store --------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Subscribes to changes at the medium's stations while the two halves move as one.

        Then only whether one of them binds that flow matters, not its rate.
        """
        coupled, drain = self.state in COUPLED, self.leg.drain
        watched = self._changes > _OFTEN, tuple(k for k, _ in drain.demands) if coupled and drain is not None else ()
        if watched != self._watched:
            self._unwatch()
            self._watched, self._unwatch = watched, self.engine.watch(watched[1], self.changed, rates=watched[0])

    def changed(self) -> None:
        """Called after a change of shares that may matter; if a fill has just ended, `_ended` comes first."""
        quiet = not (self._waiters or self._watchers or self._busy or self._stale or self._later)
        if quiet and self.state in COUPLED and self._next() is self.state:
            return
        self._stale = True
        ending = (move.flow.triggered for move in self._fills)  # and `_ended` has still to hear of it
        if not self._later and not self._busy and not any(ending):
            self.look_now()

    def _ended(self, move: Move) -> None:
        """The last byte of a fill is in (or a fault has stopped it)."""
        if move in self._fills:
            self.book(self.env.now)
            del self._fills[move]
            self._soon()

    def _soon(self) -> None:
        """Looks again at this instant, once the current event has run its course."""
        self._stale = True
        if not self._later:
            self._later = True
            self.env.timeout(0).callbacks.append(self._on_time)

    def _on_time(self, _event: Any) -> None:
        self._later = False
        if self._stale:
            self.look_now()

    def _ring(self) -> bool:
        return self.look_now() or self._early

    def look_now(self) -> bool:
        """Brings the state in line with level and rates, which may have changed; returns whether anything has."""
        if self._busy:
            return False
        self._busy, self._stale, changed = True, False, False
        if self.env.now != self._instant:
            self._instant, self._changes = self.env.now, 0
        self.book(self.env.now)
        while (new := self._next()) is not self.state:
            self._enter(new)
            changed = True
        for queue in (self._waiters, self._watchers):
            while queue and self.drained >= queue[0][0] - self._tiny():
                queue.popleft()[1].succeed()
                changed = True
        self._set_alarm()
        self._watch()
        self._busy = False
        if self._stale:  # by what it has changed itself
            self._soon()
        return changed

    def _tolerance_B(self) -> float:
        """Distance below a limit that counts as reaching it, because sums over several stores are rounded [B]."""
        return max(self._tiny(), _NEAR * self.memory.size) if len(self.memory.caches) > 1 else self._tiny()

    def _next(self) -> State:
        """The state that follows from level and rates."""
        if self.state is HELD:
            stored = self._holds_bytes
            begun = (stored and bool(self._waiters)) or ((stored or bool(self._fills)) and self._due())
            return FREE if begun else HELD
        if self.state in (FREE, KEPT):
            return KEPT if self._yields() else self._after_free()
        if not self._fills:
            return self._resting if self.state is EMPTY else FREE
        often = self._changes > _OFTEN
        if self.state is EMPTY:
            return FREE if not often and self.at_medium_of(self, alone=True) else EMPTY
        if len(self.memory.caches) > 1 and self._room() > self.memory.slack(self) * self.scale:
            return FREE  # others have left some of the limit free
        return FULL if often or self.at_medium_of(self, alone=False) else FREE

    def _yields(self) -> bool:
        """Whether the medium works for writers at the limit rather than for this store, which nobody fills or flushes.

        Whichever pages Linux writes then, the room goes to those writers (balance_dirty_pages).
        """
        if self._fills or self._waiters or self._watchers or self._changes > _OFTEN:
            return False
        return self._meets_throttled()

    def _at_limit(self) -> bool:
        """Whether it is at the limit, or others at its medium are, which free a little of it again and again."""
        room = self._room()
        return room <= self._tolerance_B() or (room <= self.memory.slack(self) * self.scale and self._meets_throttled())

    def _meets_throttled(self) -> bool:
        """Whether writers at the limit wait for this store's medium."""
        return any(other.at_medium_of(self, alone=False) for other in tuple(self.memory.throttled))

    def _room(self) -> float:
        """Room below the limit for this store beside the others [B]."""
        return (self.memory.size - self.memory.others_hold(self)) * self.scale - (self.filled - self.drained)

    def _due(self) -> bool:
        """Whether write-back is due by bytes or by age."""
        return self.level >= self._enough() - self._tolerance_B() or self._old()

    def _old(self) -> bool:
        return self.env.now >= self._deadline * (1 - 1e-15)

    def _enough(self) -> float:
        """Bytes of its own at which write-back begins, less what programs have taken of memory [B]."""
        return (self._begins * self.memory.part - self.memory.others_hold(self)) * self.scale

    def _stop(self) -> float:
        """Bytes of its own at which write-back stops [B]."""
        if self._fills or self._waiters or self._watchers or self._aged or self._resting is EMPTY:
            return 0.0
        if len(self.memory.caches) == 1:
            return max(self._enough() - 2 * self._tolerance_B(), 0.0)
        chunk = max(min(self.rates()[1] * _CHUNK_S, self.memory.size * _CHUNK), _CHUNK_B)
        return max(self._enough() - chunk * self.scale, 0.0)

    def _after_free(self) -> State:
        tiny = self._tiny()
        into, out = self.rates()
        grows = self._fills and into > out * (1 + EVEN) and self._at_limit()
        if grows and into + self.memory.growth_beside(self) > out * (1 + EVEN):  # unless others empty faster
            return FULL  # before all else: a store may be smaller than rounding
        if self._holds_bytes and self.level <= self._stop():
            return HELD
        if self.filled - self.drained <= tiny:
            if not self._fills:
                return self._resting
            return EMPTY if out > into * (1 + EVEN) else FREE
        return FREE

    def _enter(self, new: State) -> None:
        self._changes += 1
        self.book(self.env.now)
        if not self._holds_bytes:  # said while it still flows out: at rest less is rounding
            self.leg.drained += self.filled - self.drained
            self.drained = self.filled
        old, self.state = self.state, new
        if old is HELD:
            self._aged = self._old()
        if (old in COUPLED) != (new in COUPLED):
            for move in self._fills:
                self.engine.change(move.flow, row=self._row(move.leg))
        if old is FREE and self.outflow is not None:
            self.engine.cancel(self.outflow)
            self.outflow = None
        if new is FREE and self.leg.drain is not None:
            self._out_left = 4 * self.payload + 1.0  # more than will ever pass: it ends when the store is empty
            self.outflow = self.engine.transfer(self.leg.drain, self._out_left, weight=self.weight)
            self.outflow.moved = self.changed
        if new is HELD:  # with nothing in it the next byte is the oldest
            self._deadline = self.env.now + self._age * self.scale if self._holds_bytes else math.inf

    def _set_alarm(self) -> None:
        """Sets the alarm for the next change of state or flush; limits on all stores are `Memory`'s business."""
        into, out = self.rates()
        fills, memory = bool(self._fills), self.memory
        wait, soonest = (self._wait(into, out, band) for band in (1.0, memory.band))
        close = soonest < _SOON_S or (fills and self.state is FREE and into / memory.band <= out <= into * memory.band)
        self._early = soonest < wait and not close
        self._alarm.set(soonest if self._early else wait)
        queued = bool(self._waiters or self._watchers)
        parts: list[Part] = [(move.flow, 1.0 / self.scale) for move in self._fills]
        if self.outflow is not None:
            parts.append((self.outflow, -1.0 / self.scale))
        if self.state in COUPLED:
            parts = [(flow, 0.0) for flow, _ in parts] if queued else []
        memory.note(self, parts, minds=self.state is FREE or queued, close=close)
        begins = self._begins if self.state is HELD and (fills or self._holds_bytes) else None
        presses = self.state is FREE and fills and into > out * (1 + EVEN)
        idle = not fills and self.state in (FREE, KEPT)
        stop = self._stop() if self.state is FREE and len(memory.caches) > 1 else 0.0
        stops = (stop - self._tolerance_B()) / self.scale + memory.others_hold(self) if stop > 0 else None
        memory.waits(self, begins=begins, stops=stops, presses=presses, full=self.state is FULL, idle=idle)

    def _wait(self, into: float, out: float, band: float) -> float:
        """Earliest time until it may be empty, old enough or flushed, while rates stay within a band [s]."""
        waits = [math.inf]
        if self.state is HELD and (self._fills or self._holds_bytes):
            waits.append(self._deadline - self.env.now)
        elif self.state is FREE and out * band - into / band > out * EVEN:
            stop = self._stop() if len(self.memory.caches) == 1 else 0.0  # of several `Memory.waits` knows when
            waits.append(max(self.level - stop, 0.0) / (out * band - into / band))
        if out > 0:
            waits += [(queue[0][0] - self.drained) / (out * band) for queue in (self._waiters, self._watchers) if queue]
        return min(waits)


def _stations(leg: Leg) -> set[int]:
    """The stations that a phase through a cache crosses."""
    return {k for row in (leg.fill, leg.drain) if row is not None for k, _ in row.demands}
