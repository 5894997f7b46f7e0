"""What a run looked like: use of every station and rate of every label, as steps in time.

Rates are constant between changes, so steps are exact. Recording costs the number of nodes and of
transfers under way at every change; without a `Trace` nothing is spent.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from dtnsim.engine.engine import Engine
from dtnsim.engine.flows import CAPPED
from dtnsim.ground.errors import InputError


@dataclass(slots=True)
class Steps:
    """A quantity that is constant between the times at which it changes.

    Attributes:
        times: When it changes [s].
        values: Its value from then on.
    """

    times: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, now: float, value: float) -> None:
        """From now on it has this value."""
        if self.times and self.times[-1] == now:
            self.times.pop()
            self.values.pop()
        if not self.values or self.values[-1] != value:
            self.times.append(now)
            self.values.append(value)

    def at(self, time: float) -> float:
        """Its value at a time; 0 before the first."""
        index = bisect_right(self.times, time) - 1
        return self.values[index] if index >= 0 else 0.0

    def mean(self, start: float, end: float) -> float:
        """Its mean over an interval, exactly.

        Raises:
            InputError: An interval that does not go forward.
        """
        if not end > start:
            raise InputError(f"mean from {start} s to {end} s: the end must be after the start")
        first = bisect_right(self.times, start)
        last = bisect_right(self.times, end)
        edges = [start, *self.times[first:last], end]
        values = [self.at(start), *self.values[first:last]]
        return math.fsum(v * (b - a) for v, a, b in zip(values, edges[:-1], edges[1:], strict=True)) / (end - start)


class Trace:
    """Records an engine from now on.

    Args:
        engine: The engine.
        stations: Which stations; all where left out.

    Attributes:
        utilization: Station -> used part of its capacity.
        rate: Label -> sum of the rates of its transfers [B/s].
        count: Label -> transfers under way.
        holder: Label -> the station that holds back most of its rate, as ``(since, station)``; None
            for the transfers' own caps, -1 while nothing of this label is under way.
    """

    def __init__(self, engine: Engine, stations: Iterable[int] | None = None) -> None:
        self.engine = engine
        self.utilization = {s: Steps() for s in (range(len(engine.fluid.stations)) if stations is None else stations)}
        self.rate: dict[Hashable, Steps] = {}
        self.count: dict[Hashable, Steps] = {}
        self.holder: dict[Hashable, list[tuple[float, int | None]]] = {}
        self._end = engine.observe(self._record)

    def close(self) -> None:
        """Stops recording."""
        self._end()

    def _record(self, now: float, engine: Engine) -> None:
        fluid = engine.fluid
        for station, steps in self.utilization.items():
            steps.add(now, fluid.utilization(station))
        rates: dict[Any, list[float]] = {}
        held: dict[Any, dict[int, float]] = {}
        for flow in fluid.live.values():
            rate = fluid.rate(flow)
            rates.setdefault(flow.label, []).append(rate)
            by_node = held.setdefault(flow.label, {})
            by_node[flow.node] = by_node.get(flow.node, 0.0) + rate
        for label in dict.fromkeys([*self.rate, *rates]):
            mine = rates.get(label, [])
            self.rate.setdefault(label, Steps()).add(now, math.fsum(mine))
            self.count.setdefault(label, Steps()).add(now, len(mine))
            by_node = held.get(label, {})
            holder: int | None = -1
            if by_node:
                node = max(by_node, key=lambda n: by_node[n])
                holder = None if node == CAPPED else fluid.tightest(node)
            past = self.holder.setdefault(label, [])
            if past and past[-1][0] == now:
                past.pop()
            if not past or past[-1][1] != holder:
                past.append((now, holder))
