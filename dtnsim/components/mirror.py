"""ZFS mirrors: every copy is written, any copy is read."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field, model_validator

from dtnsim.components.access import Access, Operation
from dtnsim.components.device import Layer
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Value
from dtnsim.ground.term import Term, count, law, term
from dtnsim.physics import hdd_streams, zfs


class Mirror(Layer):
    """``groups`` mirror vdevs of ``disks`` copies; the copies take turns in what is read of one stream.

    Disks take turns in zones of 2 MiB, so that each passes over what the others read: a pair streams 1.4 to 1.6 times
    what one of its disks does. A block lies on one vdev: one request has the rate of one device.

    Neglects: releases 0.6, which kept to a copy for 10 ms instead, and 0.7.0, in which a stream stayed with one copy.
    Source: OpenZFS vdev_mirror.c (the least loaded copy serves the next block).
    """

    kind: ClassVar[str] = "mirror"

    disks: Annotated[int, Field(ge=2, le=16, description="copies of every block")] = 2
    groups: Annotated[int, Field(ge=1, le=1000)] = 1
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

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        """One copy serves a read; a write waits for all of them."""
        return self.of.latency(row, use, members * (self.disks - self.lost if use.operation == "write" else 1))

    def media_rate(self, row: Row, operation: Operation) -> Term:
        """All copies read, one copy's worth is written."""
        copies = self.disks - self.lost if operation == "read" else 1
        return float(self.groups * copies) * self.of.media_rate(row, operation)

    def bus_factor(self, use: Access) -> Value:
        """Each copy crosses the bus when written."""
        own = float(self.disks - self.lost) if use.operation == "write" else 1.0
        return own * self.of.bus_factor(use)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges the members with every copy."""
        alive = self.disks - self.lost
        load = count(alive, "copy") if use.operation == "write" else term(1.0)
        part = use.but(total_B=use.total_B * float(np.mean(load.value)), stripe_B=use.record_B)
        if use.operation == "read" and not use.random and self.of.rotates and alive > 1:
            part = part.but(**self._turns(use, alive))
        inner = None
        if visit_B is not None:
            inner = law(hdd_streams.visit_bytes, window_B=term(visit_B, "B"), data_disks=self.groups * alive)
        self.of.serve(row.times(load), part, name, copies=copies * alive * self.groups, visit_B=inner)

    def _turns(self, use: Access, alive: int) -> dict[str, float]:
        """What one copy reads of a stream before it is another's turn, and what it passes over."""
        run = min(use.extent_B, zfs.MIRROR_ZONE_B)
        behind = use.gap_B * run / use.extent_B if np.isfinite(use.extent_B) else 0.0
        return {"extent_B": run, "gap_B": float(zfs.mirror_gap_bytes(run, behind, alive))}
