"""Main memory: channels times transfer rate, crossed several times by each byte."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.base import Component
from dtnsim.ledger import Row
from dtnsim.quantity import Quantity, Unit, prior


class Memory(Component):
    """The memory of a host."""

    kind: ClassVar[str] = "memory"
    family: ClassVar[str] = "memory"

    channels: Annotated[int, Field(ge=1, le=64, description="channels of all sockets together")]
    rate: Annotated[Quantity, Unit("1/s", low=1e8, high=2e10)]
    size: Annotated[Quantity, Unit("B", low=2**20)]
    efficiency: Annotated[Quantity, Unit("1", low=0.1, high=1.0)] = prior(
        "0.76", 0.03, "TI SPRAD45A: STREAM reaches 74 to 78 % of the wire rate of DDR4"
    )

    def cross(self, row: Row, crossings: float, what: str) -> None:
        """Charges ``crossings`` bytes of memory traffic per byte."""
        capacity = self.channels * row.value(self.rate) * 8.0 * row.value(self.efficiency)
        row.charge(
            "memory",
            "memory",
            capacity=capacity,
            per_byte=crossings,
            what=what,
            formula=f"{self.channels} channels x {self.rate.value / 1e6:.0f} MT/s x 8 B x {self.efficiency}",
            source=self.rate.source,
            cost=f"{crossings:g} crossings per byte",
        )
