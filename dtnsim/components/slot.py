"""A PCIe slot, or an uplink of a switch or chipset that slots share."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import Field

from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import count, law, least, term
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics import pcie

_MPS: Final = prior("256 B", 0.0, "usual maximum payload size of server root ports (Intel 683390, AN 708)")
_MPS_GEN4: Final = prior("512 B", 0.0, "lspci of cards at 16 and 32 GT/s: DevCtl MaxPayload 512 bytes")
#: lanes of what is no card: an uplink, or drives with links of their own
_ANY_CARD: Final = 32
#: links whose acknowledges are striped as the standard has it (`pcie.tlp_share`): drives and chipset uplinks on x4
_NARROW: Final = 4


class Slot(Component):
    """A slot: its link is full duplex, so a card's reads and writes bind apart.

    ``lanes`` are wired, ``connector`` is what a card can be plugged into. ``behind`` names the slot,
    switch or chipset whose uplink this one shares. A slot with ``bifurcation`` is split into so many links of equal
    width, for as many drives; cards in a split slot are written as slots of their own.
    """

    kind: ClassVar[str] = "slot"
    family: ClassVar[str] = "slot"
    columns: ClassVar[tuple[str, ...]] = ("generation", "lanes", "connector")
    placement_keys: ClassVar[tuple[str, ...]] = ("behind", "socket")

    generation: Annotated[int, Field(ge=1, le=6)]
    lanes: Annotated[int, Field(ge=1, le=32)]
    connector: Annotated[int, Field(ge=1, le=32)] | None = None
    bifurcation: Annotated[int, Field(ge=1, le=16)] = 1
    mps: Annotated[
        Annotated[Quantity, Unit("B", low=128, high=4096)] | None,
        Otherwise("128 B", "firmware that leaves it at the smallest (lspci -vv, MaxPayload)", "256 B, or 512 B"),
    ] = None
    mrrs: Annotated[Quantity, Unit("B", low=128, high=4096)] = prior(
        "512 B", 0.0, "power-on default of the read request size (PCI Express base specification)"
    )
    tags: Annotated[int, Field(ge=1, le=1024, description="reads that a card has in flight: 32, extended tags 256")] = (
        256
    )
    latency: Annotated[Quantity, Unit("s", spread=0.2)] = prior(
        "0.6 us", 0.3, "Neugebauer et al., SIGCOMM 2018: 0.4 to 0.6 us for a DMA read on Xeon E5"
    )
    behind: str | None = None
    socket: Annotated[int, Field(ge=0, le=63, description="socket that the lanes end at, from 0")] | None = None

    @property
    def payload(self) -> Quantity:
        """Maximum payload size, by generation where it is not given."""
        return self.mps or (_MPS_GEN4 if self.generation >= 4 else _MPS)

    def accepts(self, lanes: int) -> bool:
        """Whether a card of that many lanes fits into the connector."""
        return lanes <= (self.connector or self.lanes)

    def carry(self, row: Row, name: str, *, to_host: bool, card_lanes: int, card_generation: int) -> None:
        """Charges one byte of DMA: ``to_host`` for device writes (disk read, network receive)."""
        width = int(pcie.trained_lanes(self.lanes // self.bifurcation, card_lanes))
        generation = int(pcie.trained_lanes(self.generation, card_generation))
        mps, mrrs = row.term(self.payload), row.term(self.mrrs)
        link = law(pcie.tlp_rate, generation=generation, lanes=width, mps_B=mps, striping=1 if width <= _NARROW else 0)
        rate = out = count(1 if card_lanes < _ANY_CARD else self.bifurcation, "link") * link
        up, down = law(pcie.write_bytes, generation=generation, mps_B=mps), term(0.0)
        if not to_host:
            up = law(pcie.request_bytes, generation=generation, mrrs_B=mrrs)
            down = law(pcie.completion_bytes, generation=generation, mps_B=mps)
            reads = law(pcie.read_latency_rate, tags=self.tags, mrrs_B=mrrs, latency_s=row.term(self.latency))
            out = least(rate, reads * down)
        what = f"DMA {'to' if to_host else 'from'} memory"
        row.charge(f"{name}.in", "pcie", capacity=rate, per_byte=up, what=what)
        row.charge(f"{name}.out", "pcie", capacity=out, per_byte=down, what=what)
