"""Storage that nobody has described: a rate somewhere between one hard disk and a fast NVMe array."""

from __future__ import annotations

from typing import Annotated, ClassVar

from dtnsim.components.access import Access, Operation
from dtnsim.components.device import Device
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count

_RANGE = (
    "assumed: log-normal over what transfer hosts have, from one hard disk (WD Ultrastar DC HC310 specification: "
    "255 MB/s outside, half of it inside) to an array of NVMe drives (Intel P4510 specification: 3.2 GB/s each)"
)


class Unknown(Device):
    """Drives of an unknown kind and number.

    ``read`` and ``write`` may be stated where a benchmark was run; stating them narrows the answer.
    """

    kind: ClassVar[str] = "unknown"

    read: Annotated[Quantity, Unit("B/s", spread=0.2, low=1e5)] = prior("800 MB/s", 1.5, _RANGE)
    write: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e5)] = prior("600 MB/s", 1.5, _RANGE)
    access: Annotated[Quantity, Unit("s", high=10.0)] = prior(
        "1 ms", 2.0, "assumed: log-normal between flash (0.1 ms) and a seek of a disk (10 ms)"
    )

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:  # noqa: ARG002 - nothing is known of heads
        """Charges one station for whatever is behind the volume; a random request also waits for its place."""
        rate = row.term(self.read if use.operation == "read" else self.write)
        per_byte = 1.0 + row.term(self.access) * rate / use.block_B if use.random else 1.0
        row.charge(
            f"{name}.drives",
            "unknown",
            capacity=count(copies, "device") * rate,
            per_byte=per_byte,
            what=f"{use.operation} on drives of unknown kind",
        )

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:  # noqa: ARG002 - nothing is known of arms
        """Seconds of one request alone, its transfer left out."""
        return row.value(self.access) if use.random else 0.0

    def single_rate(self, row: Row, use: Access) -> Value:
        """Bytes per second of one large read alone [B/s]."""
        return self.media_rate(row, use.operation).value

    def media_rate(self, row: Row, operation: Operation) -> Term:
        """Rate of a long stream."""
        return row.term(self.read if operation == "read" else self.write)
