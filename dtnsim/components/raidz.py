"""raidz1, raidz2, raidz3: always full stripes, parity by block."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from dtnsim.components.access import Access
from dtnsim.components.base import Pick
from dtnsim.components.device import Device
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.physics import raidz


class Raidz(Device):
    """``groups`` raidz vdevs of ``disks`` devices each."""

    kind: ClassVar[str] = "raidz"

    parity: Literal[1, 2, 3]
    disks: Annotated[int, Field(ge=2, le=255)]
    groups: Annotated[int, Field(ge=1, le=1000)] = 1
    of: Annotated[Device, Pick(Device)]
    ashift: Annotated[int, Field(ge=9, le=16)] = 12
    record: Annotated[Quantity, Unit("B", low=512)] = prior("128 KiB", 0.0, "OpenZFS: default recordsize")
    lost: Annotated[int, Field(ge=0, le=3)] = 0

    @model_validator(mode="before")
    @classmethod
    def _parity_as_number(cls, given: object) -> object:
        if isinstance(given, dict) and isinstance(given.get("parity"), str) and given["parity"].isdigit():
            given = {**given, "parity": int(given["parity"])}
        return given

    @model_validator(mode="after")
    def _enough(self) -> Raidz:
        if self.disks <= self.parity:
            raise ValueError(f"raidz{self.parity} needs more than {self.parity} disks a group, not {self.disks}")
        if self.lost > self.parity:
            raise ValueError(f"raidz{self.parity} does not survive {self.lost} lost disks")
        return self

    @property
    def drives(self) -> int:
        """Drives inside."""
        return self.disks * self.groups * self.of.drives

    @property
    def data_disks(self) -> int:
        """Drives that a block's data is spread over."""
        return (self.disks - self.parity) * self.groups * self.of.data_disks

    def latency(self, row: Row, use: Access) -> Value:
        """That of one device: members work at the same time."""
        return self.of.latency(row, use)

    def single_rate(self, row: Row) -> Value:
        """A record is spread over the data disks of one group [B/s]."""
        return (self.disks - self.parity) * self.of.single_rate(row)

    def bus_factor(self, use: Access) -> Value:
        """Parity is made by the host, so it crosses the bus when written."""
        own = self._amplification() if use.operation == "write" else 1.0
        return own * self.of.bus_factor(use)

    def _amplification(self) -> float:
        """Bytes written to the disks that are left per byte of data."""
        healthy = float(raidz.write_amplification(self.record.value, self.disks, self.parity, self.ashift))
        return healthy * (self.disks - self.lost) / self.disks

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Value | None = None) -> None:
        """Charges the members; a random read occupies every data disk of its group."""
        alive = (self.disks - self.lost) * self.groups
        if use.operation == "write":
            factor = self._amplification()
        elif use.random:
            # the whole block is read to check it, from all data disks at once
            factor = max(self.record.value / use.block_B, 1.0)
        else:
            # the heads pass parity by: n - p disks' worth, with disks lost as without
            factor = (self.disks - self.lost) / (self.disks - self.parity)
        part = use.but(total_B=use.total_B * factor)  # parity fills caches too
        if use.random:
            part = part.but(block_B=self.record.value / (self.disks - self.parity))
        inner = None if visit_B is None else visit_B / (self.disks - self.parity)
        self.of.serve(row.times(factor), part, name, copies=copies * alive, visit_B=inner)
