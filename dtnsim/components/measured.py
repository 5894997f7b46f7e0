"""A volume as it was measured through its file system: whatever is below, without a data sheet's shape."""

from typing import Annotated, ClassVar, Final, Self

from pydantic import Field, model_validator

from dtnsim.components.access import Access, Operation
from dtnsim.components.base import Model
from dtnsim.components.device import Device
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, term
from dtnsim.physics import cloud, measured

#: sizes of the requests that `Depth` is about
SMALL_B: Final = 4096.0
LARGE_B: Final = float(2**20)
STREAMS: Final = 4.0  #: streams that ``read_several`` was measured with


class Depth(Model):
    """Direct requests, so many of them in flight.

    Attributes:
        read: Rate of reads of 1 MiB.
        write: Rate of writes of 1 MiB onto blocks that were written before.
        reads: Random reads of 4 KiB a second.
        writes: Random writes of 4 KiB a second.
    """

    read: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e4)]
    write: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e4)]
    reads: Annotated[Quantity, Unit("1/s", spread=0.1, low=0.1)]
    writes: Annotated[Quantity, Unit("1/s", spread=0.1, low=0.1)]


class Measured(Device):
    """A drive, virtual disk or array as ``dtnsim measure`` or three runs of fio found it.

    Attributes:
        read: Rate of one stream through the page cache, its file not in memory.
        write: Rate of write-back onto blocks that were written before.
        read_several: Rate of four such streams together; that of one where it is left out.
        first_write: Rate of write-back onto blocks that were never written (thin provisioning, images of machines).
        fresh: Part of a new file that lies on such blocks.
        burst_write: Rate of write-back until the bucket of ``burst`` bytes is empty.
        burst: Bytes in the bucket when a transfer begins; it fills at ``write``.
        depths: Direct and random requests by how many are in flight; between two depths the rate follows a power.
    """

    kind: ClassVar[str] = "measured"
    columns: ClassVar[tuple[str, ...]] = ("read", "write")

    read: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e5)]
    write: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e5)]
    read_several: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e5)] | None = None
    first_write: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e5)] | None = None
    fresh: Annotated[Quantity, Unit("1", high=1.0)] = prior(
        "0.5", 0.6, "assumed: nobody knows which of the free blocks were in use before"
    )
    burst_write: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e5)] | None = None
    burst: Annotated[Quantity, Unit("B", spread=0.3)] | None = None
    depths: Annotated[dict[int, Depth], Field(min_length=1, description="requests in flight: their rates")]

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if (self.burst is None) != (self.burst_write is None):
            raise ValueError("burst (bytes) and burst_write (rate) belong together; or leave both out")
        if min(self.depths) < 1:
            raise ValueError("depths are requests in flight: write 1 or more")
        return self

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        waited = use.random or use.finish == "direct"
        rate = self._requested(row, use) if waited else self._streamed(row, use)
        text = f"{use.operation} as measured, {'requests' if waited else 'through the page cache'}"
        row.charge(f"{name}.drives", "measured", capacity=count(copies, "device") * rate, what=text)

    def next_file(self, row: Row, use: Access, copies: int = 1, members: float = 1.0) -> Value:
        return 1.0 / row.value(self.depths[min(self.depths)].reads)

    def media_rate(self, row: Row, operation: Operation) -> Term:
        return row.term(self.read if operation == "read" else self.write)

    def _streamed(self, row: Row, use: Access) -> Term:
        """Rate through the page cache."""
        if use.operation == "read":
            one = row.term(self.read)
            if self.read_several is None or use.streams < 2:
                return one
            return self._between(use.streams, (1.0, one), (STREAMS, row.term(self.read_several)))
        rate = row.term(self.write)
        if self.burst is not None and self.burst_write is not None:
            size = term(max(use.total_B, 1.0), "B")
            bucket = {"burst": row.term(self.burst_write), "baseline": rate, "credits_B": row.term(self.burst)}
            rate = law(cloud.mean_rate, size_B=size, **bucket)
        if self.first_write is None or use.rewrite:
            return rate
        first, part = row.term(self.first_write), row.term(self.fresh)
        return law(measured.mixed_rate, share=part, first=first, rest=rate)

    def _requested(self, row: Row, use: Access) -> Term:
        """Rate of requests that someone waits for; what a page cache has gathered goes at the greatest depth."""
        deep = max(self.depths) if use.buffered else use.in_flight
        below = max((d for d in self.depths if d <= deep), default=min(self.depths))
        above = min((d for d in self.depths if d >= deep), default=max(self.depths))
        ends = [(float(d), self._rate_at_depth(row, use, self.depths[d])) for d in (below, above)]
        return self._between(float(deep), ends[0], ends[1])

    @staticmethod
    def _rate_at_depth(row: Row, use: Access, depth: Depth) -> Term:
        """Rate of requests of this size at one depth."""
        large, small = (depth.read, depth.reads) if use.operation == "read" else (depth.write, depth.writes)
        few = {"small_B": term(SMALL_B, "B"), "small_rate": row.term(small)}
        many = {"large_B": term(LARGE_B, "B"), "large_Bps": row.term(large)}
        return law(measured.request_rate, request_B=term(use.block_B, "B"), **few, **many)

    @staticmethod
    def _between(number: float, low: tuple[float, Term], high: tuple[float, Term]) -> Term:
        if low[0] == high[0] or number <= low[0]:
            return low[1]
        return law(
            measured.between, number=min(number, high[0]), low=low[0], low_rate=low[1], high=high[0], high_rate=high[1]
        )
