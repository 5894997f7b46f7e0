"""Host bus adapters and RAID controllers: lanes to the drives, the chip's own rate, the slot it sits in."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior


class Hba(Component):
    """An adapter between drives and PCIe; ``lanes`` counts those to the drives or to their expander."""

    kind: ClassVar[str] = "hba"
    family: ClassVar[str] = "hba"
    placement_keys: ClassVar[tuple[str, ...]] = ("slot",)

    slot: str | None = None
    lanes: Annotated[int, Field(ge=1, le=64)] = 8
    lane: Annotated[Quantity, Unit("B/s", low=1e7)] = prior("1200 MB/s", 0.0, "SAS 12 Gb/s payload after 8b/10b")
    engine: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e7)] = prior(
        "6 GB/s", 0.15, "assumed: controller core of the SAS3 generation, near its slot's rate"
    )
    iops: Annotated[Quantity, Unit("1/s", spread=0.2)] = prior(
        "500k IOPS", 0.4, "ServeTheHome, LSI 9202-16: 350k IOPS on one SAS2008"
    )
    request: Annotated[Quantity, Unit("B", spread=0.3, low=512)] = prior(
        "128 KiB", 0.5, "assumed: merged request of sequential I/O in the block layer"
    )
    card_lanes: Annotated[int, Field(ge=1, le=32)] = 8
    card_generation: Annotated[int, Field(ge=1, le=6)] = 3

    def carry(self, row: Row, use: Access, name: str) -> None:
        """Charges one byte that passes the adapter."""
        row.charge(
            f"{name}.lanes",
            "sas",
            capacity=self.lanes * row.value(self.lane),
            what="SAS/SATA lanes",
            formula=f"{self.lanes} lanes x {self.lane}",
            source=self.lane.source,
        )
        row.charge(
            f"{name}.engine",
            "hba",
            capacity=row.value(self.engine),
            what="adapter's processor",
            formula=f"{self.engine}",
            source=self.engine.source,
        )
        size = use.block_B if use.random else row.value(self.request)
        row.charge(
            f"{name}.requests",
            "hba",
            capacity=row.value(self.iops),
            unit="op",
            per_byte=1 / size,
            what="adapter's requests",
            formula=f"{self.iops}",
            source=self.iops.source,
        )
