"""What drives sit in: bays, and the expander of their backplane. `plan` buys into what is free."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Self

from pydantic import Field, model_validator

from dtnsim.components.base import Component, Pick, documentation_only
from dtnsim.components.expander import Expander

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
    family: ClassVar[str] = "chassis"
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
