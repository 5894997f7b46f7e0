"""Main memory: channels times transfer rate, crossed several times by each byte."""

from typing import Annotated, ClassVar, Final, NamedTuple

from pydantic import Field

from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, count, law
from dtnsim.physics import memory as physics


class Crossing(NamedTuple):
    """What an activity does with memory, for `physics.memory.crossings`."""

    dma: float = 0.0
    sources: float = 0.0
    targets: float = 0.0


#: The buffer of the program (a block a thread) stays in the last-level cache between two copies: from disk to network
#: a byte crosses DMA 1 + READ 1 + SEND 3 = 5 times, from network to disk RECEIVE 2 + WRITE 2 + DMA 1 = 5 times.
DMA: Final = Crossing(dma=1)  #: a device reads or writes memory
READ: Final = Crossing(sources=1)  #: page cache to program
WRITE: Final = Crossing(targets=1)  #: program to page cache
SEND: Final = Crossing(dma=1, targets=1)  #: program to socket buffer, read by the card
RECEIVE: Final = Crossing(dma=1, sources=1)  #: written by the card, copied to the program
SENDFILE: Final = Crossing(dma=1)  #: the card reads the page cache
DISCARD: Final = Crossing(dma=1)  #: written by the card, looked at by nobody
DIRECT: Final = Crossing(sources=1)  #: O_DIRECT: the program reads or writes its buffer in memory, besides the DMA


class Memory(Component):
    """The memory of a host.

    Attributes:
        channels: Channels of all sockets together.
        rate: Transfers a second of the DIMMs as clocked.
        size: Bytes of all DIMMs.
        efficiency: Part of the channels' rate that programs reach.
        ddio: Part of the network's bytes that card and core hand over in the last-level cache.
        uncounted: Channels that there are over ``channels``, where nobody has counted them.
    """

    kind: ClassVar[str] = "memory"
    columns: ClassVar[tuple[str, ...]] = ("channels", "rate", "size")

    channels: Annotated[int, Field(ge=1, le=64, description="channels of all sockets together")]
    rate: Annotated[Quantity, Unit("1/s", low=1e8, high=2e10)]
    size: Annotated[Quantity, Unit("B", low=2**20)]
    efficiency: Annotated[Quantity, Unit("1", low=0.1, high=1.0)] = prior(
        "0.76", 0.03, "TI SPRAD45A: STREAM reaches 74 to 78 % of the wire rate of DDR4"
    )
    ddio: Annotated[Quantity, Unit("1", high=1.0)] = prior(
        "0", 0.0, "not counted on: windows of many megabytes outgrow the part of the cache that Intel DDIO may fill"
    )

    uncounted: Annotated[Quantity, Unit("1", spread=0.3, low=0.01, high=100.0)] = prior(
        "1", 0.0, "channels are counted"
    )

    def bandwidth(self, row: Row) -> Term:
        """What all channels sustain, reads and writes together [B/s]."""
        peak = law(
            physics.peak_bandwidth, channels=count(self.channels, "channel"), transfers_per_s=row.term(self.rate)
        )
        if self.uncounted.spread:
            peak = peak * row.term(self.uncounted)
        return law(physics.sustained_bandwidth, peak_Bps=peak, efficiency=row.term(self.efficiency))

    def cross(self, row: Row, by: Crossing, text: str) -> None:
        """Charges the memory traffic of one byte of an activity."""
        counts: dict[str, float | Term] = dict(by._asdict())
        if by.dma and by.sources + by.targets and self.ddio.value:
            counts["ddio"] = row.term(self.ddio)
        row.charge(
            "memory", "memory", capacity=self.bandwidth(row), per_byte=law(physics.crossings, **counts), what=text
        )
