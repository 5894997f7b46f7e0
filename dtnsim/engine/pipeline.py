"""Buffers as fluid stores between the stages of a pipeline: page cache, socket buffers, burst buffers.

    engine = Engine(env, [1.25e9, 2.0e8])                       # network in, disk out
    job = Pipeline(engine, 100e9, [Stage({0: 1.0}), Stage({1: 1.0})], [Buffer(40e9)])
    yield job.stages_done[0]                                    # the writer has finished (no sync)
    yield job.done                                              # the last byte is on disk (fdatasync)

Every stage moves all bytes of the pipeline over its own row. Between two stages stands a buffer with
level Q (reference: dQ/dt = in - out, 0 <= Q <= size). While 0 < Q < size the two run freely, each
at its max-min fair rate. When Q reaches 0 the later one gets no more than the earlier brings in, when it
reaches the size the earlier gets no more than the later takes out: from then on they move as one
flow over both rows, until the bottleneck lies on the side that would fill or empty the buffer.
A buffer of size 0 couples its stages for good (zero copy, a rendezvous). Times of becoming
full or empty are exact. When a stage has moved its last byte the later ones drain what is left.

Neglects: blocks (a stage passes bytes on as they come; `Buffer.start_level` can hold the next
one back), and weights where coupled stages have different ones: the stage that limits gives its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from simpy.events import Event

from dtnsim.engine.engine import Engine, Transfer
from dtnsim.engine.flows import check_flow, checked_row
from dtnsim.ground.errors import InputError, ModelError

#: rates closer than this (relative) neither fill nor empty a buffer
_EVEN: Final = 1e-11
#: relative part of all bytes that is rounding, not a byte still to move
_LAST_BYTE: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a pipeline.

    Attributes:
        row: Station -> what one byte costs there [station's unit/B].
        weight: Share next to others where a station holds both back.
        cap: Rate that it cannot pass [B/s].
    """

    row: Mapping[int, float]
    weight: float = 1.0
    cap: float = math.inf


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer between two stages.

    Attributes:
        size: Bytes that it can hold (the dirty limit of a page cache) [B].
        start_level: Level at which the next stage starts (background limit of a page cache) [B]; it starts
            before that when the stage before has finished.
        start_delay: Time after the pipeline's start at which the next stage starts at the latest [s].
    """

    size: float
    start_level: float = 0.0
    start_delay: float = math.inf


class _Link(Enum):
    """How the stages before and after a buffer go together."""

    FREE = "free"
    EMPTY = "empty"  # one flow, held back by the earlier stages
    FULL = "full"  # one flow, held back by the later stages
    FIXED = "fixed"  # one flow, for good
    HELD = "held"  # the later stage has not started


@dataclass(slots=True)
class _Segment:
    """Stages ``first`` to ``last`` moving as one flow, and the bytes each had moved when it began."""

    first: int
    last: int
    transfer: Transfer
    size: float
    moved: list[float] = field(default_factory=list)


class Pipeline:
    """Bytes that pass several stages with buffers between them.

    Args:
        engine: The engine with the stations.
        size: Bytes to move [B].
        stages: What happens to them, in order; n of them.
        buffers: What stands between the stages; n - 1 of them.
        label: Label of all its transfers.

    Attributes:
        done: Happens when the last stage has moved the last byte.
        stages_done: The same for every stage.
        moves: ``(time, buffer, level)``: when a buffer became full or empty or its level began to change [s], [B].

    Raises:
        InputError: Numbers of stages and buffers that do not fit, or figures that mean nothing.
    """

    def __init__(
        self, engine: Engine, size: float, stages: Sequence[Stage], buffers: Sequence[Buffer], label: Any = None
    ) -> None:
        self._check(engine, size, stages, buffers)
        self.engine, self.size, self.label = engine, float(size), label
        self.stages, self.buffers = tuple(stages), tuple(buffers)
        env = engine.env
        self.stages_done = [Event(env) for _ in stages]
        self.done = self.stages_done[-1]
        self.moves: list[tuple[float, int, float]] = []
        self._moved = [0.0] * len(stages)
        self._begun = env.now
        self._links = [self._first_link(b, size) for b in buffers]
        self._segments: list[_Segment] = []
        self._timer: Event | None = None
        self._busy = False
        self._changed_at, self._changes = -math.inf, 0
        self._unwatch: Callable[[], None] = lambda: None
        if size == 0:
            for event in self.stages_done:
                event.succeed()
            return
        stations = sorted({s for stage in stages for s, d in stage.row.items() if d > 0})
        self._unwatch = engine.watch(stations, self._look)
        for at, buffer in enumerate(buffers):
            if self._links[at] is _Link.HELD and buffer.start_delay < math.inf:
                self._call_at(buffer.start_delay, lambda _e: self._look())
        self._arrange()
        self._look()

    # ---- asking ----

    def moved(self, stage: int) -> float:
        """Bytes that a stage has moved so far [B]."""
        for segment in self._segments:
            if segment.first <= stage <= segment.last:
                return segment.moved[stage - segment.first] + segment.size - self.engine.left(segment.transfer)
        return self._moved[stage]

    def level(self, buffer: int) -> float:
        """Bytes in a buffer now [B]."""
        return min(max(0.0, self.moved(buffer) - self.moved(buffer + 1)), self.buffers[buffer].size)

    def rate(self, stage: int) -> float:
        """Rate of a stage now [B/s]."""
        for segment in self._segments:
            if segment.first <= stage <= segment.last:
                return self.engine.rate(segment.transfer)
        return 0.0

    # ---- inside ----

    @staticmethod
    def _check(engine: Engine, size: float, stages: Sequence[Stage], buffers: Sequence[Buffer]) -> None:
        if not stages or len(buffers) != len(stages) - 1:
            raise InputError(f"{len(stages)} stages of a pipeline with {len(buffers)} buffers; give one between two")
        if not 0 <= size < math.inf:
            raise InputError(f"bytes of a pipeline are {size}; give a finite number >= 0")
        for stage in stages:
            checked_row(stage.row, len(engine.fluid.stations))
            check_flow(1.0, stage.weight, stage.cap)
        for buffer in buffers:
            if not (buffer.size >= 0 and 0 <= buffer.start_level <= buffer.size and buffer.start_delay >= 0):
                raise InputError(f"{buffer} is none; give a size >= 0, a start level within it and a delay >= 0")

    @staticmethod
    def _first_link(buffer: Buffer, size: float) -> _Link:
        if buffer.size <= _LAST_BYTE * size:
            return _Link.FIXED
        return _Link.HELD if buffer.start_level > 0 and buffer.start_delay > 0 else _Link.EMPTY

    def _call_at(self, delay: float, callback: Callable[[Event], None]) -> Event:
        event = self.engine.env.timeout(delay)
        event.callbacks.append(callback)
        return event

    def _arrange(self) -> None:
        """Makes the segments what the links say; those that stay as they are go on undisturbed."""
        wanted = self._wanted()
        for segment in [s for s in self._segments if (s.first, s.last) not in wanted]:
            self._stop(segment)
            self._segments.remove(segment)
        self._tell_ends()
        have = {(s.first, s.last): s for s in self._segments}
        self._segments = [have.get(w) or self._begin(*w) for w in self._wanted()]

    def _wanted(self) -> list[tuple[int, int]]:
        """First and last stages of the segments that should be moving."""
        wanted, first = [], 0
        for stage in range(len(self.stages)):
            last = stage == len(self.stages) - 1
            if last or self._links[stage] in (_Link.FREE, _Link.HELD) or self._moved[stage] >= self.size:
                if self._moved[first] < self.size and not (first and self._links[first - 1] is _Link.HELD):
                    wanted.append((first, stage))
                first = stage + 1
        return wanted

    def _tell_ends(self) -> None:
        """Tells of stages that have moved their last byte; what they were coupled to goes on by itself."""
        for stage, moved in enumerate(self._moved):
            if moved >= self.size * (1 - _LAST_BYTE) and not self.stages_done[stage].triggered:
                self._moved[stage] = self.size
                self.stages_done[stage].succeed(self.engine.env.now)
                if stage < len(self._links) and self._links[stage] is not _Link.HELD:
                    self._links[stage] = _Link.FREE
        if self.done.triggered:
            self._unwatch()

    def _stop(self, segment: _Segment) -> None:
        gone = segment.size - self.engine.cancel(segment.transfer)
        for at, before in enumerate(segment.moved):
            self._moved[segment.first + at] = before + gone

    def _begin(self, first: int, last: int) -> _Segment:
        """Starts stages as one flow, which lasts until the first of them has moved its last byte."""
        row: dict[int, float] = {}
        for stage in self.stages[first : last + 1]:
            for station, demand in stage.row.items():
                row[station] = row.get(station, 0.0) + demand
        limiting = first
        while limiting < last and self._links[limiting] is _Link.FULL:
            limiting += 1
        cap = min(s.cap for s in self.stages[first : last + 1])
        size = self.size - self._moved[first]
        transfer = self.engine.transfer(row, size, weight=self.stages[limiting].weight, cap=cap, label=self.label)
        if transfer.triggered:
            raise ModelError(f"nothing limits the rate of stage {first} of a pipeline; give it a cap or a station")
        segment = _Segment(first, last, transfer, size, self._moved[first : last + 1])
        transfer.callbacks.append(lambda _e: self._ended(segment))
        return segment

    def _ended(self, segment: _Segment) -> None:
        """The first stage of a segment has moved its last byte."""
        if segment in self._segments:
            self._segments.remove(segment)
            for at, before in enumerate(segment.moved):
                self._moved[segment.first + at] = before + segment.size
            self._arrange()
            self._look()

    def _look(self) -> None:
        """Brings the links in line with the rates; called whenever these may have changed."""
        if self._busy or self.done.triggered:
            return
        self._busy = True
        while self._relink():
            self._arrange()
        self._busy = False
        self._set_timer()

    def _relink(self) -> bool:
        """Changes the first link that does not fit the rates; returns whether there was one."""
        for at, link in enumerate(self._links):
            if link is _Link.HELD:
                new = self._after_hold(at)
            elif link is _Link.FREE:
                new = self._after_free(at)
            elif link is _Link.FIXED or self._often():
                continue
            else:
                new = self._after_coupled(at, link)
            if new is not link:
                self._set_link(at, new)
                return True
        return False

    def _after_hold(self, at: int) -> _Link:
        buffer = self.buffers[at]
        filled = self.level(at) >= buffer.start_level * (1 - _LAST_BYTE)
        late = self.engine.env.now >= (self._begun + buffer.start_delay) * (1 - 1e-15)
        return _Link.FREE if filled or late or self._moved[at] >= self.size else _Link.HELD

    def _after_free(self, at: int) -> _Link:
        if self._moved[at] >= self.size:
            return _Link.FREE
        level, slack = self.level(at), 1e-13 * self.size
        before, after = self.rate(at), self.rate(at + 1)
        if level <= slack and after > before * (1 + _EVEN):
            return _Link.EMPTY
        if level >= self.buffers[at].size - slack and before > after * (1 + _EVEN):
            return _Link.FULL
        return _Link.FREE

    def _after_coupled(self, at: int, link: _Link) -> _Link:
        for segment in self._segments:
            if segment.first <= at < segment.last:
                limiting = self._limiting(segment)
                if (limiting[0] > at) if link is _Link.EMPTY else (limiting[-1] <= at):
                    return _Link.FREE
        return link

    def _limiting(self, segment: _Segment) -> list[int]:
        """The stages of a segment that its bottleneck belongs to."""
        station = self.engine.bottleneck(segment.transfer)
        stages = range(segment.first, segment.last + 1)
        if station is None:
            return [s for s in stages if self.stages[s].cap <= segment.transfer.flow.cap]
        return [s for s in stages if self.stages[s].row.get(station, 0.0) > 0]

    def _often(self) -> bool:
        """Whether links have changed so often at this instant that they must stay coupled where they are."""
        now = self.engine.env.now
        if now != self._changed_at:
            self._changed_at, self._changes = now, 0
        return self._changes > 8 * len(self._links) + 8

    def _set_link(self, at: int, link: _Link) -> None:
        self._often()
        self._changes += 1
        if link in (_Link.EMPTY, _Link.FULL):
            for segment in [s for s in self._segments if s.first <= at + 1 and at <= s.last]:
                self._stop(segment)
                self._segments.remove(segment)
            self._moved[at + 1] = self._moved[at] - (self.buffers[at].size if link is _Link.FULL else 0.0)
        self._links[at] = link
        self.moves.append((self.engine.env.now, at, self.level(at)))

    def _set_timer(self) -> None:
        """Wakes this pipeline when the next buffer will be full or empty, as rates are now."""
        first, which, then = math.inf, -1, _Link.FREE
        for at, link in enumerate(self._links):
            if link not in (_Link.FREE, _Link.HELD) or self._moved[at] >= self.size:
                continue
            gain = self.rate(at) - self.rate(at + 1)
            if abs(gain) <= _EVEN * self.rate(at):
                continue
            top = self.buffers[at].start_level if link is _Link.HELD else self.buffers[at].size
            wait = ((top if gain > 0 else 0.0) - self.level(at)) / gain
            if wait < first:
                first, which = max(0.0, wait), at
                then = _Link.FREE if link is _Link.HELD else _Link.FULL if gain > 0 else _Link.EMPTY
        self._timer = None
        if first < math.inf:
            self._timer = self._call_at(first, lambda event: self._on_timer(event, which, then))

    def _on_timer(self, event: Event, at: int, link: _Link) -> None:
        if event is not self._timer or self.done.triggered:  # rates have changed since
            return
        self._busy = True
        self._set_link(at, link)
        self._arrange()
        self._busy = False
        self._look()
