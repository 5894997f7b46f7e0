"""ZFS mirrors: every copy is written, any copy is read."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field, model_validator

from dtnsim.components.access import Access, Operation
from dtnsim.components.base import Pick
from dtnsim.components.device import Device
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Value
from dtnsim.ground.term import Term, count, law, term
from dtnsim.physics import hdd_streams


class Mirror(Device):
    """``groups`` mirror vdevs of ``disks`` copies; blocks of one stream are read from all copies in turn.

    Neglects: that a copy which reads every other block of a stream passes over the rest.
    Source: OpenZFS vdev_mirror.c (the least loaded copy serves the next block).
    """

    kind: ClassVar[str] = "mirror"

    disks: Annotated[int, Field(ge=2, le=16, description="copies of every block")] = 2
    groups: Annotated[int, Field(ge=1, le=1000)] = 1
    of: Annotated[Device, Pick(Device)]
    lost: Annotated[int, Field(ge=0, le=15)] = 0

    @model_validator(mode="after")
    def _enough(self) -> Mirror:
        if self.lost >= self.disks:
            raise ValueError(f"a mirror of {self.disks} does not survive {self.lost} lost disks")
        return self

    @property
    def drives(self) -> int:
        """Drives inside."""
        return self.disks * self.groups * self.of.drives

    @property
    def data_disks(self) -> int:
        """Drives that data is spread over."""
        return self.groups * self.of.data_disks

    @property
    def keeps_writes(self) -> bool:
        """As its devices do."""
        return self.of.keeps_writes

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        """One copy serves a read; a write waits for all of them."""
        return self.of.latency(row, use, members * (self.disks - self.lost if use.operation == "write" else 1))

    def single_rate(self, row: Row, use: Access) -> Value:
        """That of one device: a block lies on one vdev."""
        return self.of.single_rate(row, use)

    def media_rate(self, row: Row, operation: Operation) -> Term:
        """All copies read, one copy's worth is written."""
        copies = self.disks - self.lost if operation == "read" else 1
        return float(self.groups * copies) * self.of.media_rate(row, operation)

    def turnaround(self, row: Row) -> Term:
        """That of a device."""
        return self.of.turnaround(row)

    def bus_factor(self, use: Access) -> Value:
        """Each copy crosses the bus when written."""
        own = float(self.disks - self.lost) if use.operation == "write" else 1.0
        return own * self.of.bus_factor(use)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges the members with every copy."""
        alive = self.disks - self.lost
        load = count(alive, "copy") if use.operation == "write" else term(1.0)
        part = use.but(total_B=use.total_B * float(np.mean(load.value)), stripe_B=use.record_B)
        inner = None
        if visit_B is not None:
            inner = law(hdd_streams.visit_bytes, window_B=term(visit_B, "B"), data_disks=self.groups * alive)
        self.of.serve(row.times(load), part, name, copies=copies * alive * self.groups, visit_B=inner)
