"""Host bus adapters and RAID controllers: lanes to the drives or their expander, the chip, the slot it sits in."""

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.base import Component, Pick
from dtnsim.components.cloud import Allowance
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import count, law, minimum, term
from dtnsim.physics import pcie, waiting


class Hba(Component):
    """An adapter between drives and PCIe; ``lanes`` counts those to the drives or to their expander.

    What is written through a RAID controller passes its memory twice and has parity made of it: ``engine_write`` is
    what it takes of that, where it is less than what the ``engine`` passes of reads.

    Behind an expander (a JBOD, a backplane with more bays than lanes) all bytes pass its ``uplink_lanes``, at the speed
    of the drives' own lanes (``drive_lane``) unless the expander is ``buffered``.
    """

    kind: ClassVar[str] = "hba"
    columns: ClassVar[tuple[str, ...]] = ("lanes", "engine", "iops", "card_generation", "card_lanes")
    #: an expander belongs to the backplane and stays when the adapter goes
    placement_keys: ClassVar[tuple[str, ...]] = (
        "slot", "uplink_lanes", "drive_lane", "buffered", "expander_lane", "allowance",
    )  # fmt: skip

    slot: str | None = None
    lanes: Annotated[int, Field(ge=1, le=64)] = 8
    lane: Annotated[Quantity, Unit("B/s", low=1e7)] = prior("1200 MB/s", 0.0, "SAS 12 Gb/s payload after 8b/10b")
    uplink_lanes: Annotated[int, Field(ge=1, le=64, description="lanes from the adapter to an expander")] | None = None
    drive_lane: Annotated[Quantity, Unit("B/s", low=1e7)] = prior("600 MB/s", 0.0, "SAS or SATA 6 Gb/s after 8b/10b")
    buffered: Annotated[bool, Field(description="expander with store-and-forward buffers (DataBolt)")] = False
    expander_lane: Annotated[Quantity, Unit("B/s", low=1e7)] | None = None
    engine: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e7)] = prior(
        "6 GB/s", 0.15, "assumed: controller core of the SAS3 generation, near its slot's rate"
    )
    engine_write: (
        Annotated[Quantity, Unit("B/s", spread=0.35, low=1e7), Field(description="writes that a RAID controller takes")]
        | None
    ) = None
    iops: Annotated[Quantity, Unit("1/s", spread=0.2, low=1)] = prior(
        "500k IOPS", 0.4, "ServeTheHome, LSI 9202-16: 350k IOPS on one SAS2008"
    )
    request: Annotated[Quantity, Unit("B", spread=0.3, low=512)] = prior(
        "128 KiB", 0.5, "assumed: merged request of sequential I/O in the block layer"
    )
    allowance: Annotated[Allowance, Pick(Allowance)] | None = None
    card_lanes: Annotated[int, Field(ge=1, le=32)] = 8
    card_generation: Annotated[int, Field(ge=1, le=6)] = 3

    def carry(self, row: Row, use: Access, name: str) -> None:
        """Charges one byte that passes the adapter."""
        lane = row.term(self.lane)
        row.charge(f"{name}.lanes", "sas", capacity=count(self.lanes, "lane") * lane, what="SAS/SATA lanes")
        if self.uplink_lanes is not None:
            uplink_lane = lane if self.expander_lane is None else minimum(lane, row.term(self.expander_lane))
            lanes = {"lanes": self.uplink_lanes, "uplink_lane": uplink_lane, "drive_lane": row.term(self.drive_lane)}
            uplink = law(pcie.expander_uplink_rate, **lanes, buffered=self.buffered)
            more = "more lanes to the expander, or one that buffers ({key}.uplink_lanes, {key}.buffered)"
            row.charge(f"{name}.uplink", "sas", capacity=uplink, what="expander uplink", remedy=more)
        takes = self.engine_write if use.operation == "write" else None
        engine = row.term(takes or self.engine)
        spent = self.allowance.spent(row, engine, use.total_B) if self.allowance is not None else None
        if spent is not None:
            text = "disk baseline of the instance once its credits are spent"
            row.charge(f"{name}.credits", "hba", capacity=spent, what=text)
        size = term(use.block_B, "B") if use.random else row.term(self.request)
        size = term(use.request_B, "B") if use.request_B else size  # the file system joins its requests itself
        busy = law(waiting.busy_seconds, request_B=size, max_rate=engine, max_iops=row.term(self.iops))
        row.charge(f"{name}.engine", "hba", capacity=engine, per_byte=engine * busy, what="adapter's processor")
