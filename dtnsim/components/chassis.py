"""What a machine is built on: slots and uplinks, expanders of drives, bays of a chassis, mainboards."""

from typing import Annotated, ClassVar, Final, Self

from pydantic import Field, model_validator

from dtnsim.components.base import Component, Pick, documentation_only
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import count, law, minimum, term
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics import pcie

_MPS: Final = prior("256 B", 0.0, "usual maximum payload size of server root ports (Intel 683390, AN 708)")
_MPS_GEN4: Final = prior("512 B", 0.0, "lspci of cards at 16 and 32 GT/s: DevCtl MaxPayload 512 bytes")
_ANY_CARD: Final = 32  #: lanes of what is no card: an uplink, or drives with links of their own
#: links whose acknowledges are striped as the standard has it (`pcie.tlp_share`): drives and chipset uplinks on x4
_NARROW: Final = 4


class Slot(Component):
    """A slot: its link is full duplex, so a card's reads and writes bind apart.

    ``lanes`` are wired, ``connector`` is what a card can be plugged into. ``behind`` names the slot,
    switch or chipset whose uplink this one shares. A slot with ``bifurcation`` is split into so many links of equal
    width, for as many drives; cards in a split slot are written as slots of their own.
    """

    kind: ClassVar[str] = "slot"
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

    @model_validator(mode="after")
    def _a_lane_for_each(self) -> Self:
        if self.bifurcation > self.lanes:
            raise ValueError(f"bifurcation: {self.lanes} lanes cannot be split into {self.bifurcation} links")
        return self

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
            out = minimum(rate, reads * down)
        text = f"DMA {'to' if to_host else 'from'} memory"
        row.charge(f"{name}.in", "pcie", capacity=rate, per_byte=up, what=text)
        row.charge(f"{name}.out", "pcie", capacity=out, per_byte=down, what=text)


class Expander(Component):
    """An expander of a backplane or an enclosure; hosts whose ``chassis`` has one need not write it at their adapter.

    Attributes:
        lanes: All its lanes, to the adapter and to drives.
        uplink_lanes: Lanes to the adapter.
        lane: Payload rate of one of its lanes.
        buffered: Whether it stores and forwards (DataBolt, EDFB), so that slow drives do not slow the uplink.
    """

    kind: ClassVar[str] = "expander"
    columns: ClassVar[tuple[str, ...]] = ("lanes", "uplink_lanes", "lane", "buffered")

    lanes: Annotated[int, Field(ge=2, le=128)]
    uplink_lanes: Annotated[int, Field(ge=1, le=64)] = 4
    lane: Annotated[Quantity, Unit("B/s", low=1e7)] = prior("1200 MB/s", 0.0, "SAS 12 Gb/s payload after 8b/10b")
    buffered: bool = False


Bays = dict[str, Annotated[int, Field(ge=0, le=1000)]]

#: bays whose drives hang on PCIe and not on an expander
_PCIE: Final = frozenset({"U.2", "U.3", "E3.S", "E1.S", "E1.L", "M.2"})


class Chassis(Component):
    """A chassis or an enclosure of drives.

    Attributes:
        board: Name of the board or the chassis.
        holds: All bays, by what fits them: {3.5 inch: 24}; those that no volume takes are free.
        bays: Free bays, by what fits them as price lists say it, where the host says so itself.
        channels: Memory channels that board and processors have, of all sockets, populated or not.
        expander: Expander of its backplane, behind every adapter of its drives; none where each bay has its own lane.
    """

    kind: ClassVar[str] = "chassis"
    columns: ClassVar[tuple[str, ...]] = ("holds",)

    board: str = documentation_only("")
    holds: Bays = Field(default_factory=dict)
    bays: Bays = Field(default_factory=dict)
    channels: Annotated[int, Field(ge=1, le=64)] | None = None
    expander: Annotated[Expander, Pick(Expander)] | None = None

    @model_validator(mode="after")
    def _lanes_for_all(self) -> Self:
        behind = sum(n for form, n in self.holds.items() if form not in _PCIE)
        if self.expander is not None and behind > self.expander.lanes - self.expander.uplink_lanes:
            left = self.expander.lanes - self.expander.uplink_lanes
            raise ValueError(
                f"{behind} bays hang on an expander with {left} lanes for drives; write fewer, or more lanes"
            )
        return self


class Board(Component):
    """A board, whose slots a host with ``board: NAME`` has.

    Attributes:
        sockets: Sockets for processors.
        socket: What fits them, as processors say it in their facts.
        channels: Memory channels of all sockets together.
        slots: Slots and connectors for drives by name, each with its generation, lanes and socket.
        holds: Bays on the board itself: {M.2: 2}.
    """

    kind: ClassVar[str] = "board"
    columns: ClassVar[tuple[str, ...]] = ("sockets", "socket", "channels", "slots", "holds")

    sockets: Annotated[int, Field(ge=1, le=8)] = 1
    socket: str
    channels: Annotated[int, Field(ge=1, le=64)]
    slots: dict[str, Annotated[Slot, Pick(Slot)]]
    holds: Bays = Field(default_factory=dict)
