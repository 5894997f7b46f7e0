"""Plain flows in time: straight on the fluid engine, with no process for each; the same shares as on SimPy."""

import math
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, Final, Self

import numpy as np

from dtnsim.engine.flows import Flow
from dtnsim.engine.fluid import Fluid
from dtnsim.engine.layout import CAPPED
from dtnsim.ground.errors import ModelError
from dtnsim.physics._arrays import FloatArray as Array
from dtnsim.simulation.plain.columns import Columns
from dtnsim.simulation.record import OPENING, Edges
from dtnsim.simulation.run_path import Limits

OWN: Final = -3  #: what holds a flow that runs at the rate of a station of its own
_TELL_EVERY: Final = 2_000  #: how often progress is reported, in steps


class Course:
    """Plain flows on their way, and what became of them."""

    def __init__(self, columns: Columns, limits: Limits) -> None:
        self.columns, self.limits = columns, limits
        count = len(columns.plain)
        #: (N,) when the first byte of each moved, or was to move, and when its last had passed; nan until then [s]
        self.first, self.ended = columns.plain.start + columns.wait, np.full(count, np.nan)
        #: time [s]; starts, ends and openings so far; why it ended before all had
        self.now, self.steps, self.stopped = 0.0, 0, ""
        #: times at which all was counted, and bytes of each flow that had passed by then
        self.edges = Edges.of(min(columns.expected_s, limits.until), count)
        #: when something else held a flow than before, which flow, and what
        self.times: list[float] = []
        self.flows: list[int] = []
        self.holders: list[int] = []
        self.fluid = Fluid(columns.capacity.tolist())
        self._row_of = [self.fluid.row(row) for row in columns.rows]
        self._weights, self._costs = [kind.weight for kind in columns.plain.kinds], columns.overhead.tolist()
        self._sizes, self._kinds = columns.plain.size.tolist(), columns.plain.kind.tolist()
        self._caps, self._opens = columns.cap.tolist(), columns.opens.tolist()
        self._private_Bps = columns.private_Bps.tolist()
        self._begin = self.first.tolist()
        self._order = np.argsort(self.first, kind="stable").tolist()
        self._next = 0
        self._flows: dict[int, Flow] = {}
        self._openings: list[tuple[float, int, int, Iterator[tuple[float, float]]]] = []  # when, order, flow, rest
        self._opened = 0
        self._tight: dict[int, int] = {}
        self._epoch = 0

    def run(self) -> Self:
        """Runs the flows to their ends."""
        self.edges.take(0.0, np.zeros(len(self.columns.plain)))
        try:
            self._steps()
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        self.edges.close(self.now, self._count)
        return self

    def _steps(self) -> None:
        fluid, limits = self.fluid, self.limits
        count, begin, order, openings = len(self._begin), self._begin, self._order, self._openings
        told = 0
        while True:
            now = fluid.next_time()
            if self._next < count and begin[order[self._next]] < now:
                now = begin[order[self._next]]
            if openings and openings[0][0] < now:
                now = openings[0][0]
            if now == math.inf or now > limits.until:
                self._end(now)
                return
            if now > self.edges.next:
                self.edges.upto(now, self._count)
            self.now = now
            self._start(now)
            while openings and openings[0][0] <= now:
                self._open_up(*heappop(openings)[2:], now)
            for flow in fluid.finished(now):
                self.ended[flow.label] = now
                self.steps += 1
            fluid.settle(now)
            for flow in fluid.unlimited:
                self.ended[flow.label] = now
            fluid.unlimited.clear()
            self._note(now)
            if self.steps - told >= _TELL_EVERY:
                told = self.steps
                if limits.progress is not None and limits.progress(now, self._share()):
                    self.stopped = "interrupted"
                    return
            if self.steps >= limits.max_events and (fluid.live or self._next < count):
                raise limits.given_up(now)

    def _end(self, now: float) -> None:
        """Nothing more happens before the end of the run."""
        until = self.limits.until
        if now < math.inf or (self.fluid.live and until < math.inf):
            self.edges.upto(until, self._count)
            self.now, self.stopped = until, "until"
        elif self.fluid.live:
            zero = [n for n, c in zip(self.columns.shared, self.fluid.stations, strict=True) if c == 0]
            why = f"{', '.join(zero[:4]) or 'a station'} has no capacity left and nothing will change that"
            raise ModelError(f"comes to a halt at {self.now:.6g} s: {why}")

    def _start(self, now: float) -> None:
        """Starts the flows whose first byte moves now."""
        while self._next < len(self._order) and self._begin[self._order[self._next]] <= now:
            f = self._order[self._next]
            self._next += 1
            self.steps += 1
            self._put(f, self._sizes[f], self._caps[f], now)
            if (ramp := self.columns.ramps[self._opens[f]]) is not None:
                self._open_up(f, iter((*ramp[0].after(0.0), (0.0, ramp[0].last))), now)

    def _put(self, f: int, size: float, cap: float, now: float) -> None:
        kind = self._kinds[f]
        flow = self.fluid.flow(self._row_of[kind], size, self._weights[kind], cap)
        flow.label = f
        if self.fluid.start(flow, now):
            self._flows[f] = flow
        else:
            self.ended[f] = now

    def _open_up(self, f: int, rest: Iterator[tuple[float, float]], now: float) -> None:
        """Gives a flow what its connections allow from now on, as far as they are open."""
        ramp, step = self.columns.ramps[self._opens[f]], next(rest, None)
        if ramp is None or step is None or f not in self._flows or not math.isnan(self.ended[f]):
            return
        self.steps += 1
        seconds, share = step
        left = self.fluid.withdraw(self._flows[f], now)
        self._put(f, left, min(self._private_Bps[f], ramp[1] / self._costs[f] * share), now)
        if seconds:
            self._opened += 1
            heappush(self._openings, (now + seconds, self._opened, f, rest))

    # -- what is kept -----------------------------------------------------------------------------

    def _note(self, now: float) -> None:
        """Notes what holds the flows that something else holds than before."""
        fluid, tight, caps = self.fluid, self._tight, self._caps
        if fluid.epoch != self._epoch:
            tight.clear()
            self._epoch = fluid.epoch
        times, flows, holders = self.times, self.flows, self.holders
        for flow in fluid.changed:
            node = fluid.side(flow)
            if node >= 0:
                holder = tight.get(node, -1)
                if holder < 0:
                    holder = tight[node] = fluid.tightest(node)
            elif node == CAPPED:
                holder = OPENING if flow.cap < caps[flow.label] * (1 - 1e-9) else OWN
            else:
                continue
            times.append(now)
            flows.append(flow.label)
            holders.append(holder)

    def _count(self, time: float) -> Array:
        """(N,) bytes of each flow that have passed."""
        fluid = self.fluid
        passed = np.where(np.isnan(self.ended), 0.0, self.columns.plain.size)
        live = [(flow.label, fluid.left(flow, time)) for flow in fluid.live.values()]
        which, left = np.array(live).reshape(-1, 2).T
        those = which.astype(np.intp)
        passed[those] = self.columns.plain.size[those] - left
        return passed

    def _share(self) -> float:
        """Part of the bytes that have passed, or of the time."""
        whole = float(self._count(self.now).sum() / self.columns.plain.size.sum())
        return min(max(whole, self.now / self.limits.until), 1.0)

    def stretches(self) -> tuple[Any, Any, Any]:
        """(where each flow's changes begin (N + 1,), their times, what held it from then on), flow by flow."""
        flow = np.array(self.flows, np.intp)
        order = np.argsort(flow, kind="stable")
        first = np.searchsorted(flow[order], np.arange(len(self.first) + 1))
        return first, np.array(self.times)[order], np.array(self.holders, np.intp)[order]
