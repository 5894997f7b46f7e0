"""SSDs (SATA, SAS, NVMe): link, flash, burst cache, compressing controllers, latency and queue depth."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import model_validator

from dtnsim.components.access import Access
from dtnsim.components.device import Device
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.physics import ssd


class Ssd(Device):
    """A solid-state drive.

    ``write`` is the sustained rate of incompressible data where it is known; ``burst_write`` with
    ``burst`` is what the datasheet promises until the fast cache is full. A ``compresses`` controller
    stores zeros for nothing, at its own rate ``write_compressed``; where that is not given, at the
    ``burst_write`` that its datasheet promises for data that compress.
    """

    kind: ClassVar[str] = "ssd"

    read: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e6)]
    write: Annotated[Quantity, Unit("B/s", spread=0.15, low=1e5)]
    burst_write: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e5)] | None = None
    burst: Annotated[Quantity, Unit("B", spread=0.3)] | None = None
    compresses: bool = False
    write_compressed: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e5)] | None = None
    latency_read: Annotated[Quantity, Unit("s", spread=0.2)] = prior(
        "60 us", 0.3, "Intel S4500 datasheet: 36 us sequential, 110 us random read"
    )
    latency_write: Annotated[Quantity, Unit("s", spread=0.2)] = prior(
        "50 us", 0.3, "Intel S4500 datasheet: 36 to 52 us write"
    )
    iops_read: Annotated[Quantity, Unit("1/s", spread=0.1)] = prior("70k IOPS", 0.2, "Intel S4500 datasheet, QD32")
    iops_write: Annotated[Quantity, Unit("1/s", spread=0.2)] = prior("33k IOPS", 0.3, "Intel S4500 datasheet, QD32")
    link: Annotated[Quantity, Unit("B/s", low=1e6)] = prior("550 MB/s", 0.0, "SATA 6 Gb/s after 8b/10b and framing")

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Value | None = None) -> None:  # noqa: ARG002 - no heads
        """Charges flash and link; a random access also the drive's request rate."""
        link = row.value(self.link)
        reading = use.operation == "read"
        rate = row.value(self.read) if reading else self._write_rate(row, use, copies, link)
        empty = self.compresses and use.stored == 0.0 and self.write_compressed is not None
        shown = self.read if reading else self.write_compressed if empty and self.write_compressed else self.write
        row.charge(
            f"{name}.ssds",
            "ssd",
            capacity=copies * np.minimum(rate, link),
            what=f"flash {use.operation}",
            formula=f"{copies} drives x {shown}",
            source=shown.source,
        )
        row.charge(
            f"{name}.links",
            "sata",
            capacity=copies * link,
            what="drive link",
            formula=f"{copies} links x {self.link}",
            source=self.link.source,
        )
        if use.random:
            iops = self.iops_read if reading else self.iops_write
            row.charge(
                f"{name}.requests",
                "ssd",
                capacity=copies * row.value(iops),
                unit="op",
                per_byte=1 / use.block_B,
                what=f"random {use.operation} requests",
                formula=f"{copies} drives x {iops}",
                source=iops.source,
            )

    def latency(self, row: Row, use: Access) -> Value:
        """Seconds of one request alone, its transfer left out."""
        return row.value(self.latency_read if use.operation == "read" else self.latency_write)

    @model_validator(mode="after")
    def _burst_has_a_size(self) -> Ssd:
        if self.burst_write is not None and self.burst is None and not self.compresses:
            raise ValueError("burst_write needs burst, the bytes that are written so fast; or leave both out")
        if self.burst is not None and self.burst_write is None:
            raise ValueError("burst needs burst_write, the rate until it is full; or leave both out")
        return self

    def single_rate(self, row: Row) -> Value:
        """Bytes per second of one large read alone [B/s]."""
        return np.minimum(row.value(self.read), row.value(self.link))

    def _write_rate(self, row: Row, use: Access, copies: int, link: Value) -> Value:
        steady = row.value(self.write)
        if self.compresses:
            # a share of the bytes that compresses away never reaches the flash
            steady = ssd.compressing_write_rate(link, steady, max(use.stored, 1e-9))
            promised = self.write_compressed or (self.burst_write if self.burst is None else None)
            if promised is not None:
                steady = np.minimum(steady, row.value(promised))
        if self.burst is None or self.burst_write is None:
            return steady
        fast = row.value(self.burst_write)
        burst = ssd.burst_bytes(row.value(self.burst), fast, 0.0)
        size = max(use.total_B / copies, 1.0)
        return size / ssd.burst_write_time(size, burst, fast, steady)
