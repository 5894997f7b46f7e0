"""What the engine keeps about one flow and about one row of demands.

A *row* is the set of stations that a byte visits and what it costs there; flows with equal rows
share one `Row`. A *flow* is a number of bytes on its way along a row. Both are plain mutable
records with slots: the engine touches them a million times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from dtnsim.ground.errors import InputError

#: `Flow.node` of a flow that runs at its own cap
CAPPED: Final = -1
#: `Flow.node` of a flow that is not in the engine (not started, finished or withdrawn)
ABSENT: Final = -2


class Row:
    """Service demands of one byte, and the flows that have them.

    Attributes:
        demands: ``(station, demand per byte)`` as given, zero demands left out [station's unit/B].
        pairs: The same on the nodes of the engine (stations that always come together are one node).
        index: ``pairs`` as a dictionary.
        epoch: Generation of the nodes that ``pairs`` was made for.
        node: Node that holds the free flows of this row back (-1 where there are none).
        free: Flows that are held back by ``node``, by sequence number.
        weight: Sum of their weights.
        capped: Number of flows at their own cap.
        capped_rate: Sum of their rates [B/s].
    """

    __slots__ = ("capped", "capped_rate", "demands", "epoch", "free", "index", "node", "pairs", "weight")

    def __init__(self, demands: tuple[tuple[int, float], ...]) -> None:
        self.demands = demands
        self.pairs: tuple[tuple[int, float], ...] = ()
        self.index: dict[int, float] = {}
        self.epoch = -1
        self.node = -1
        self.free: dict[int, Flow] = {}
        self.weight = 0.0
        self.capped = 0
        self.capped_rate = 0.0


class Flow:
    """Some bytes on their way.

    Attributes:
        row: Demands of a byte.
        size: Bytes of this stay in the engine [B]; infinite for a load that lasts until it is withdrawn.
        weight: Share of this flow next to others at a station that holds both back.
        cap: Rate that it cannot pass [B/s].
        limit: ``cap / weight`` [B/s].
        node: Node that holds it back, `CAPPED` or `ABSENT`.
        mark: Virtual finishing time at its node [B per weight]; or, at its own cap, the time of its
            end [s] (for a cap of zero: the bytes left).
        number: Order of creation; breaks ties, so that equal runs give equal bytes.
        label: Whatever the caller wants to find again in traces.
        owner: What the caller attached (the SimPy event of a transfer).
    """

    __slots__ = ("cap", "label", "limit", "mark", "node", "number", "owner", "row", "size", "weight")

    def __init__(self, row: Row, size: float, weight: float, cap: float, number: int) -> None:
        self.row = row
        self.size = float(size)  # Python's: divided by next to nothing it is infinite, without a warning
        self.weight = weight
        self.cap = float(cap)
        self.limit = self.cap / weight
        self.node = ABSENT
        self.mark = 0.0
        self.number = number
        self.label: Any = None
        self.owner: Any = None


def checked_row(demands: Mapping[int, float], stations: int) -> tuple[tuple[int, float], ...]:
    """Demands as a sorted tuple without zeros.

    Raises:
        InputError: A station that does not exist, or a demand that is negative or not finite.
    """
    kept = []
    for station, demand in sorted(demands.items()):
        if not 0 <= station < stations:
            raise InputError(f"demand on station {station}: there are stations 0 to {stations - 1}")
        if not (demand >= 0 and math.isfinite(demand)):
            raise InputError(f"demand per byte on station {station} is {demand}; give a finite number >= 0")
        if demand > 0:
            kept.append((int(station), float(demand)))
    return tuple(kept)


def check_flow(size: float, weight: float, cap: float) -> None:
    """Refuses sizes, weights and caps that mean nothing.

    Raises:
        InputError: Size negative or not a number, weight not positive and finite, cap negative.
    """
    if not size >= 0:
        raise InputError(f"bytes of a flow are {size}; give a number >= 0 (infinite for a lasting load)")
    if not (weight > 0 and math.isfinite(weight)):
        raise InputError(f"weight of a flow is {weight}; give a finite number > 0")
    if not cap >= 0:
        raise InputError(f"cap of a flow is {cap} B/s; give a number >= 0 (leave it out for none)")
    if size == 0:
        return
    if cap > 0 and not cap / weight > 0:
        raise InputError(f"cap {cap} B/s over weight {weight} is too small to compute with")
