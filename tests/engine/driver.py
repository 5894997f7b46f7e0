"""A bench for the engine: many transfers that arrive at given times and share given stations, without SimPy.

The generic loop for background traffic, traces and queueing studies: a million transfers cost a
million starts and ends, and the memory of those under way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnsim.engine.flows import Row
from dtnsim.engine.fluid import Fluid
from dtnsim.ground.errors import InputError, ModelError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: a change of a station's capacity: time [s], station, capacity [station's unit/s]
Change = tuple[float, int, float]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What became of the transfers."""

    finish: NDArray[np.float64]  #: (N,) time at which each ended, NaN for those still under way at ``until`` [s].
    left: dict[int, float]  #: Bytes still to go at ``until``, by transfer number [B].
    events: int  #: How often the shares were put right.
    peak: int  #: Most transfers under way at once.
    mean: float  #: Mean number under way from the first start to the last event.


def run_arrivals(
    capacities: Sequence[float],
    starts: ArrayLike,
    sizes: ArrayLike,
    rows: Sequence[Mapping[int, float]],
    row_of: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    caps: ArrayLike | None = None,
    changes: Iterable[Change] = (),
    until: float = math.inf,
    observe: Callable[[float, Fluid], None] | None = None,
) -> Arrivals:
    """Runs N transfers to their ends.

    Args:
        capacities: (K,) capacity of each station [station's unit/s].
        starts: (N,) arrival times in any order [s].
        sizes: (N,) bytes [B].
        rows: Rows of demands, station -> demand of one byte [station's unit/B].
        row_of: (N,) which row each transfer has; left out where ``rows`` has one entry a transfer.
        weights: (N,) weights in sharing; 1 where left out.
        caps: (N,) own caps [B/s]; none where left out.
        changes: Changes of capacities: (time, station, capacity).
        until: Time at which to stop [s].
        observe: Called as ``observe(now, fluid)`` after every event.

    Raises:
        InputError: Arrays of different lengths, or figures that mean nothing.
        ModelError: Transfers that can never end (a station stays at zero).
    """
    start = np.atleast_1d(np.asarray(starts, float))
    n = len(start)
    choice = np.arange(n) if row_of is None else np.atleast_1d(np.asarray(row_of, np.int64))
    columns = [np.atleast_1d(np.asarray(sizes, float)), choice]
    for given, default in ((weights, 1.0), (caps, math.inf)):
        columns.append(np.full(n, default) if given is None else np.atleast_1d(np.asarray(given, float)))
    if any(len(c) != n for c in columns):
        raise InputError(f"{n} starts, but columns of {[len(c) for c in columns]} sizes, rows, weights and caps")
    if n and not np.all(np.isfinite(start)):
        raise InputError("a start is not a finite time; give seconds")
    if n and not (choice.min() >= 0 and choice.max() < len(rows)):
        raise InputError(f"row numbers run from {choice.min()} to {choice.max()}; there are rows 0 to {len(rows) - 1}")
    fluid = Fluid(capacities)
    run = _Run(fluid, start, columns, [fluid.row(r) for r in rows], sorted(changes, key=lambda c: c[0]))
    return run.to(until, observe)


def taken(fluid: Fluid, station: int) -> float:
    """What the flows take of a station since the last settling, by adding up [station's unit/s]."""
    return math.fsum(dict(f.row.demands).get(station, 0.0) * fluid.rate(f) for f in fluid.live.values())


class _Run:
    """One run of `run_arrivals`: merges arrivals, changes and ends in the order of time."""

    def __init__(
        self,
        fluid: Fluid,
        start: NDArray[np.float64],
        columns: list[NDArray[Any]],
        rows: list[Row],
        changes: list[Change],
    ) -> None:
        self.fluid, self.rows, self.changes = fluid, rows, changes
        self.arrivals = _in_order(start, columns)
        self.begin = float(start.min()) if len(start) else 0.0
        self.finish = np.full(len(start), math.nan)
        self.now = self.begin
        self.area = 0.0
        self.peak = 0

    def to(self, until: float, observe: Callable[[float, Fluid], None] | None) -> Arrivals:
        """Runs until the last end, or until a given time."""
        fluid, finish, live = self.fluid, self.finish, self.fluid.live
        arrivals, changes = self.arrivals, iter(self.changes)
        arrival, change = next(arrivals, None), next(changes, None)
        while True:
            now = fluid.next_time()
            if arrival is not None and arrival[0] < now:
                now = arrival[0]
            if change is not None and change[0] < now:
                now = change[0]
            if now > until or now == math.inf:
                break
            self.area += len(live) * (now - self.now)
            self.now = now
            for flow in fluid.finished(now):
                finish[flow.label] = now
            while change is not None and change[0] <= now:
                fluid.set_capacity(change[1], change[2])
                change = next(changes, None)
            while arrival is not None and arrival[0] <= now:
                _, number, size, row, weight, cap = arrival
                flow = fluid.flow(self.rows[row], size, weight, cap)
                flow.label = number
                if not fluid.start(flow, now):
                    finish[number] = now
                arrival = next(arrivals, None)
            self.peak = max(self.peak, len(live))
            fluid.settle(now)
            for flow in fluid.unlimited:
                finish[flow.label] = now
            fluid.unlimited.clear()
            if observe is not None:
                observe(now, fluid)
        return self._result(until)

    def _result(self, until: float) -> Arrivals:
        fluid, end = self.fluid, self.now
        if until < math.inf:
            self.area += len(fluid.live) * (until - self.now)
            end = until
        elif any(f.size < math.inf for f in fluid.live.values()):
            zero = [s for s, c in enumerate(fluid.stations) if c == 0]
            raise ModelError(
                f"{len(fluid.live)} transfers can never end after {self.now} s: stations {zero[:10]} have no capacity "
                "(or a transfer's cap is zero); add a change that gives it back, or set `until`"
            )
        left = {f.label: fluid.left(f, end) for f in fluid.live.values()}
        mean = self.area / (end - self.begin) if end > self.begin else 0.0
        return Arrivals(self.finish, left, fluid.settled, self.peak, mean)


def _in_order(
    start: NDArray[np.float64], columns: list[NDArray[Any]]
) -> Iterator[tuple[float, int, float, int, float, float]]:
    """(start, number, size, row, weight, cap) by start; Python numbers, a block at a time to save memory."""
    order = np.argsort(start, kind="stable")
    for at in range(0, len(order), 8192):
        block = order[at : at + 8192]
        lists = [start[block].tolist(), block.tolist(), *(c[block].tolist() for c in columns)]
        yield from zip(*lists, strict=True)
