"""A PCIe slot, or an uplink of a switch or chipset that slots share."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.physics import pcie


class Slot(Component):
    """A slot: its link is full duplex, so a card's reads and writes bind apart.

    ``lanes`` are wired, ``connector`` is what a card can be plugged into. ``behind`` names the slot,
    switch or chipset whose uplink this one shares.
    """

    kind: ClassVar[str] = "slot"
    family: ClassVar[str] = "slot"
    placement_keys: ClassVar[tuple[str, ...]] = ("behind", "socket")

    generation: Annotated[int, Field(ge=1, le=6)]
    lanes: Annotated[int, Field(ge=1, le=32)]
    connector: Annotated[int, Field(ge=1, le=32)] | None = None
    mps: Annotated[Quantity, Unit("B", low=128, high=4096)] = prior(
        "256 B", 0.0, "usual maximum payload size of server root ports (Intel 683390, AN 708)"
    )
    mrrs: Annotated[Quantity, Unit("B", low=128, high=4096)] = prior(
        "512 B", 0.0, "power-on default of the read request size (PCI Express base specification)"
    )
    behind: str | None = None
    socket: Annotated[int, Field(ge=0, le=63, description="socket that the lanes end at, from 0")] | None = None

    def accepts(self, lanes: int) -> bool:
        """Whether a card of that many lanes fits into the connector."""
        return lanes <= (self.connector or self.lanes)

    def carry(self, row: Row, name: str, *, to_host: bool, card_lanes: int, card_generation: int) -> None:
        """Charges one byte of DMA: ``to_host`` for device writes (disk read, network receive)."""
        generation, lanes = min(self.generation, card_generation), min(self.lanes, card_lanes)
        mps, mrrs = row.value(self.mps), row.value(self.mrrs)
        rate = pcie.tlp_rate(generation, lanes, mps)
        demand = pcie.dma_write_demand(generation, mps) if to_host else pcie.dma_read_demand(generation, mps, mrrs)
        formula = f"gen {generation} x{lanes}, MPS {self.mps}: raw rate less encoding, DLLP and TLP headers"
        for direction, per_byte in zip(("in", "out"), demand, strict=True):
            row.charge(
                f"{name}.{direction}",
                "pcie",
                capacity=rate,
                per_byte=per_byte,
                formula=formula,
                what=f"DMA {'to' if to_host else 'from'} memory",
                source=self.source or self.mps.source,
                cost="payload and header bytes of the TLPs in this direction per payload byte",
            )
