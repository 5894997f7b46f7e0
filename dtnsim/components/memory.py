"""Main memory: channels times transfer rate, crossed several times by each byte."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import Field

from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior

#: Crossings of one byte by what handles it, write-allocate included. The buffer of the program (a block a
#: thread) stays in the last-level cache between two copies: from disk to network that is the DMA of the
#: array 1 + READ + SEND = 5, from network to disk RECEIVE + WRITE + 1 = 5 (`physics.memory.crossings_per_byte`).
READ: Final = 1.0  #: page cache to program
WRITE: Final = 2.0  #: program to page cache: the line is fetched, then written
SEND: Final = 3.0  #: program to socket buffer (fetched, written), read by the card
RECEIVE: Final = 2.0  #: written by the card, copied to the program
SENDFILE: Final = 1.0  #: the card reads the page cache
DIRECT: Final = 1.0  #: O_DIRECT: the program's buffer is read or written in memory, besides the DMA


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
