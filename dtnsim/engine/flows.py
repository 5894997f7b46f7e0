"""What the engine is given: rows of demands and flows, checked.

A *row* is the set of stations that a byte visits and what it costs there; flows with equal rows
share one `Row`. A *flow* is a number of bytes on its way along a row.
"""

import math
from collections.abc import Mapping
from typing import Any

from dtnsim.engine.nodes import Demands
from dtnsim.ground.errors import InputError


class Row:
    """Service demands of one byte."""

    __slots__ = ("at", "demands", "epoch")

    def __init__(self, demands: Demands) -> None:
        self.demands = demands  #: ``(station, demand per byte)`` as given, zeros left out [station's unit/B].
        self.at = -1  #: Address of its numbers; -1 where they are not put down.
        self.epoch = -1  #: Which putting down of all numbers ``at`` is of.


class Flow:
    """Some bytes on their way."""

    __slots__ = ("at", "cap", "label", "number", "owner", "row", "size", "weight")

    def __init__(self, row: Row, size: float, weight: float, cap: float, number: int) -> None:
        self.row = row  #: Demands of a byte.
        #: Bytes of this stay in the engine [B]; infinite for a load that lasts until it is withdrawn.
        self.size = float(size)  # Python's: divided by next to nothing it is infinite, without a warning
        self.weight = weight  #: Share of this flow next to others at a station that holds both back.
        self.cap = float(cap)  #: Rate that it cannot pass [B/s].
        self.at = -1  #: Address of its numbers; -1 while it is not in the engine (not started, finished or withdrawn).
        self.number = number  #: Order of creation; breaks ties, so that equal runs give equal bytes.
        self.label: Any = None  #: Whatever the caller wants to find again in traces.
        self.owner: Any = None  #: What the caller attached (the SimPy event of a transfer).


def check_capacity(value: float, station: int) -> float:
    """Refuses capacities that are negative or not a number."""
    if not value >= 0:
        raise InputError(f"capacity of station {station} is {value}; give a number >= 0 (infinite for no limit)")
    return float(value)


def checked_row(demands: Mapping[int, float], stations: int) -> Demands:
    """Demands, finite and not negative, at stations that exist, as a sorted tuple without zeros."""
    pairs = []
    for station, demand in sorted(demands.items()):
        if not 0 <= station < stations:
            raise InputError(f"demand on station {station}: there are stations 0 to {stations - 1}")
        if not (demand >= 0 and math.isfinite(demand)):
            raise InputError(f"demand per byte on station {station} is {demand}; give a finite number >= 0")
        if demand > 0:
            pairs.append((int(station), float(demand)))
    return tuple(pairs)


def check_flow(size: float, weight: float, cap: float) -> None:
    """Refuses sizes that are negative or no number, weights that are not positive and finite, and negative caps."""
    if not size >= 0:
        raise InputError(f"bytes of a flow are {size}; give a number >= 0 (infinite for a lasting load)")
    if not (weight > 0 and math.isfinite(weight)):
        raise InputError(f"weight of a flow is {weight}; give a finite number > 0")
    if not cap >= 0:
        raise InputError(f"cap of a flow is {cap} B/s; give a number >= 0 (leave it out for none)")
    if size != 0 and cap > 0 and not cap / weight > 0:
        raise InputError(f"cap {cap} B/s over weight {weight} is too small to compute with")
