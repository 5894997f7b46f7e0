"""Logical volumes (LVM): linear, striped, thin."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from dtnsim.components.access import Access
from dtnsim.components.device import Device, Layer
from dtnsim.components.jbod import Jbod
from dtnsim.components.raid import Raid
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, law, term
from dtnsim.physics import raid


class Lvm(Layer):
    """A logical volume over ``disks`` physical volumes: one after the other, or in stripes.

    A linear volume has each file on one physical volume. A ``thin`` one maps chunks on their first write: volumes that
    were filled at the same time lie in chunks that alternate (``interleaved``), and a first write that does not cover
    its chunk has the rest of it zeroed.

    Neglects: snapshots, which copy a chunk on its first change; dm-cache and dm-writecache.

    Attributes:
        type: linear or striped (lvcreate --type).
        disks: Physical volumes that it lies on.
        stripesize: Bytes on one physical volume before the next (lvcreate --stripesize).
        thin: Whether it is a volume of a thin pool on such a volume.
        chunksize: Chunk size of the thin pool (lvs -o chunksize).
        zero: Whether the pool zeroes new chunks.
        interleaved: Volumes of the pool that were written at the same time, whose chunks alternate.
    """

    kind: ClassVar[str] = "lvm"

    type: Literal["linear", "striped"] = "linear"
    disks: Annotated[int, Field(ge=1, le=128)] = 1
    stripesize: Annotated[Quantity, Unit("B", low=4096)] = prior("64 KiB", 0.0, "lvcreate(8): stripes of 64 KiB")
    thin: bool = False
    chunksize: Annotated[Quantity, Unit("B", low=65536, high=2**30)] = prior(
        "64 KiB", 0.0, "lvmthin(7): 64 KiB, more for pools whose metadata would not fit 128 MiB"
    )
    zero: bool = True
    interleaved: Annotated[int, Field(ge=1, le=10000)] = 1

    @model_validator(mode="after")
    def _enough(self) -> Lvm:
        if self.type == "striped" and self.disks < 2:
            raise ValueError("a striped volume needs at least 2 physical volumes; write disks: 2")
        if not self.thin and self.interleaved > 1:
            raise ValueError("only thin volumes are interleaved; write 'thin: true'")
        return self

    @cached_property
    def _volumes(self) -> Device:
        if self.disks == 1:
            return self.of
        if self.type == "linear":
            return Jbod(disks=self.disks, of=self.of)
        return Raid(level=0, disks=self.disks, chunk=self.stripesize, of=self.of)

    @property
    def below(self) -> Device:
        """The physical volumes."""
        return self._volumes

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges the physical volumes, with what a thin pool adds."""
        if not self.thin:
            super().serve(row, use, name, copies=copies, visit_B=visit_B)
            return
        chunk = row.term(self.chunksize)
        if self.interleaved > 1:
            own = self.chunksize.value
            use = use.but(extent_B=min(use.extent_B, own), gap_B=(self.interleaved - 1) * own)
        if use.operation == "write" and not use.rewrite and not use.buffered:
            size, run = term(use.block_B, "B"), term(0.0, "B") if use.random else chunk
            row = row.times(law(raid.provision_load, write_B=size, chunk_B=chunk, zeroed=float(self.zero), run_B=run))
        super().serve(row, use, name, copies=copies, visit_B=visit_B)
