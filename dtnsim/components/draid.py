"""dRAID: redundancy groups of fixed width spread over many disks, with distributed spares."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from dtnsim.components.raidz import Raidz
from dtnsim.ground.term import Term, law, term
from dtnsim.physics import raidz


class Draid(Raidz):
    """``groups`` dRAID vdevs of ``disks`` devices, ``spares`` of them spare, in stripes of ``data`` plus ``parity``.

    Blocks are filled up to whole stripes, so small blocks cost what a stripe costs.
    """

    kind: ClassVar[str] = "draid"

    data: Annotated[int, Field(ge=1, le=255)] = 8
    spares: Annotated[int, Field(ge=0, le=100)] = 0

    @model_validator(mode="after")
    def _wide_enough(self) -> Draid:
        if self.data + self.parity > self.disks - self.spares:
            raise ValueError(
                f"stripes of {self.data} + {self.parity} do not fit on {self.disks} disks with {self.spares} spares"
            )
        return self

    @property
    def width(self) -> int:
        """Data disks of a stripe."""
        return self.data

    @property
    def working(self) -> int:
        """Spare space is spread over all disks, so that the spares' worth of them does no work."""
        return self.disks - self.spares - self.lost

    @property
    def data_share(self) -> float:
        """All disks hold data, parity and spare space alike."""
        return (self.disks - self.spares) * self.data / (self.data + self.parity)

    def amplification(self, block_B: float) -> Term:
        """Whole stripes of data and parity."""
        return law(
            raidz.draid_amplification,
            block_B=term(block_B, "B"),
            data=self.data,
            parity=self.parity,
            ashift=self.ashift,
        )

    def occupied(self, block_B: float) -> Term:
        """Whole stripes have no padding besides."""
        return self.amplification(block_B)
