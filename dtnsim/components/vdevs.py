"""Vdevs of ZFS pools: mirrors, RAIDZ and dRAID."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from dtnsim.components.access import Access, Operation
from dtnsim.components.device import Layer, part_of_visit
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, term
from dtnsim.physics import raid, raidz, zfs

_ALSO: Final = {"parity": "level", "record": "recordsize", "drives": "disks"}  #: other names of keys of raidz and draid


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
    def _enough(self) -> Self:
        if self.lost >= self.disks:
            raise ValueError(f"a mirror of {self.disks} does not survive {self.lost} lost disks")
        return self

    @property
    def drives(self) -> int:
        return self.disks * self.groups * self.of.drives

    @property
    def data_disks(self) -> int:
        return self.groups * self.of.data_disks

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        """One copy serves a read; a write waits for all of them."""
        part = use.but(within_B=use.within_B / self.groups)
        return self.of.latency(row, part, members * (self.disks - self.lost if use.operation == "write" else 1))

    def media_rate(self, row: Row, operation: Operation) -> Term:
        """All copies read, one copy's worth is written."""
        copies = self.disks - self.lost if operation == "read" else 1
        return float(self.groups * copies) * self.of.media_rate(row, operation)

    def bus_factor(self, use: Access) -> Value:
        crossings = float(self.disks - self.lost) if use.operation == "write" else 1.0
        return crossings * self.of.bus_factor(use)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges the members with every copy."""
        alive = self.disks - self.lost
        load = count(alive, "copy") if use.operation == "write" else term(1.0)
        stored_B = {"total_B": use.total_B * alive, "within_B": use.within_B * alive}
        part = use.but(**stored_B, stripe_B=use.record_B, idlest=self.groups == 1)
        on_one = use.random or use.file_B <= zfs.MIRROR_ZONE_B  # one copy has it
        if use.operation == "read" and not on_one and self.of.rotates and alive > 1:
            part = part.but(**self._turns(use, alive))
        inner = part_of_visit(visit_B, self.groups * alive)
        self.of.serve(row.times(load), part, name, copies=copies * alive * self.groups, visit_B=inner)

    def _turns(self, use: Access, alive: int) -> dict[str, float]:
        """What one copy reads of a stream before it is another's turn, and what it passes over."""
        run = min(use.extent_B, zfs.MIRROR_ZONE_B)
        behind = use.gap_B * run / use.extent_B if np.isfinite(use.extent_B) else 0.0
        return {"extent_B": run, "gap_B": float(zfs.mirror_gap_bytes(run, behind, alive))}


class Raidz(Layer):
    """``groups`` raidz vdevs of ``disks`` devices each.

    ``recordsize`` is the block size where the file system above does not say its own; ``level`` is 2 for raidz2;
    ``parity`` is another name of it.
    """

    kind: ClassVar[str] = "raidz"
    other_names: ClassVar[Mapping[str, str]] = {**_ALSO, "raidz": "level"}

    level: Literal[1, 2, 3]
    disks: Annotated[int, Field(ge=2, le=255)]
    groups: Annotated[int, Field(ge=1, le=1000)] = 1
    ashift: Annotated[int, Field(ge=9, le=16)] = 12
    recordsize: Annotated[Quantity, Unit("B", low=512)] = prior("128 KiB", 0.0, "OpenZFS: default recordsize")
    lost: Annotated[int, Field(ge=0, le=3)] = 0

    @model_validator(mode="before")
    @classmethod
    def _level_as_number(cls, raw: object) -> object:
        if isinstance(raw, dict) and isinstance(raw.get("level"), str):
            text = str(raw["level"]).lower().removeprefix("raidz").removeprefix("draid")
            raw = {**raw, "level": int(text) if text.isdigit() else raw["level"]}
        return raw

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if self.disks <= self.parity:
            raise ValueError(f"raidz{self.parity} needs more than {self.parity} disks a group, not {self.disks}")
        if self.lost > self.parity:
            raise ValueError(f"raidz{self.parity} does not survive {self.lost} lost disks")
        return self

    @property
    def parity(self) -> int:
        """Parity disks of a group."""
        return self.level

    @property
    def width(self) -> int:
        """Data disks of a full stripe of one group."""
        return self.disks - self.parity

    @property
    def working(self) -> int:
        """Disks of a group that hold data or parity and are not lost."""
        return self.disks - self.lost

    @property
    def data_share(self) -> float:
        """Disks' worth of data that all disks of a group hold together."""
        return float(self.width)

    @property
    def drives(self) -> int:
        return self.disks * self.groups * self.of.drives

    @property
    def data_disks(self) -> int:
        return max(1, round(self.data_share * self.groups)) * self.of.data_disks

    def piece(self, use: Access) -> float:
        """A block is cut into one column a data disk."""
        return self._block(use) / float(self._columns(use).value)

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        """That of the slowest of the disks that hold a part of the block."""
        part = use.but(within_B=use.within_B / self.data_disks)
        return self.of.latency(row, part, members * float(self._columns(use).value))

    def next_file(self, row: Row, use: Access, copies: int = 1, members: float = 1.0) -> Value:
        """Its first block is there with the last of its parts, which are read to check it."""
        return super().next_file(row, use, copies, members * float(self._columns(use).value))

    def spread(self, use: Access) -> float:
        """A block has a part on each data disk, down to a sector."""
        return float(self._columns(use).value) * super().spread(use)

    def single_rate(self, row: Row, use: Access) -> Value:
        """The disks that hold a part of a block work on it together [B/s]."""
        return self._columns(use).value * self.of.single_rate(row, use)

    def media_rate(self, row: Row, operation: Operation) -> Term:
        return self.data_share * self.groups * self.of.media_rate(row, operation)

    def bus_factor(self, use: Access) -> Value:
        """Parity is made by the host, so it crosses the bus when written."""
        crossings = self._written(use).value if use.operation == "write" else 1.0
        return crossings * self.of.bus_factor(use)

    def amplification(self, block_B: float) -> Term:
        """Bytes written per byte of a block, all disks at work."""
        return law(raidz.write_amplification, block_B=term(block_B, "B"), **self._geometry(self.disks))

    def occupied(self, block_B: float) -> Term:
        """Bytes of disk per byte of a block, padding included."""
        return law(raidz.allocation, block_B=term(block_B, "B"), **self._geometry(self.disks))

    def _geometry(self, disks: int) -> dict[str, int]:
        return {"disks": disks, "parity": self.parity, "ashift": self.ashift}

    def _block(self, use: Access) -> float:
        """Bytes of one block with its own parity."""
        return use.record_B or self.recordsize.value

    def _columns(self, use: Access) -> Term:
        return law(raid.striped, size_B=term(self._block(use), "B"), unit_B=2.0**self.ashift, members=self.width)

    def _written(self, use: Access) -> Term:
        """Bytes written to the disks that are left per byte of data."""
        return self._left(self.amplification(self._block(use)))

    def _passed(self, use: Access) -> Term:
        """Bytes that pass the heads of the disks that are left, per byte of data; flash has no heads."""
        return self._left(self.occupied(self._block(use))) if self.of.rotates else self._written(use)

    def _left(self, load: Term) -> Term:
        left = count(self.disks - self.lost, "remaining disk") / count(self.disks, "disk")
        return load * (left if self.lost else term(1.0))

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges the members; a random read occupies every disk that holds a part of its block."""
        alive = self.working * self.groups
        block = self._block(use)
        if use.operation == "write":
            load = self._passed(use)
        elif use.random:  # the whole block is read to check it, from all its disks at once
            load = term(max(block / use.block_B, 1.0))
        elif self.of.rotates:  # the heads pass parity and padding by, of lost disks as of all
            load = self._passed(use)
        else:  # flash passes nothing by, and reads parity in the place of what is lost
            load = term(1.0)
        busy = float(self._columns(use).value)
        moved = float(np.mean(load.value))
        within_B = use.within_B * float(np.mean(self._passed(use).value))
        part = use.but(total_B=use.total_B * moved, within_B=within_B, stripe_B=block / busy)
        if use.operation == "read" and not use.random:  # longer with what the heads pass by, on as many disks
            part = part.but(file_B=use.file_B * moved, stripe_B=block / busy * moved)
        if use.random:
            part = part.but(block_B=block / busy, queue_depth=max(1, round(use.queue_depth * busy)))
        if np.isfinite(use.extent_B):
            part = part.but(extent_B=use.extent_B / self.disks, gap_B=use.gap_B / self.disks)
        inner = part_of_visit(visit_B, self.data_share * self.groups)
        self.of.serve(row.times(load), part, name, copies=copies * alive, visit_B=inner)


class Draid(Raidz):
    """``groups`` dRAID vdevs of ``disks`` devices, ``spares`` of them spare, in stripes of ``data`` plus ``parity``.

    Blocks are filled up to whole stripes, so small blocks cost what a stripe costs.
    """

    kind: ClassVar[str] = "draid"
    other_names: ClassVar[Mapping[str, str]] = {**_ALSO, "draid": "level"}

    data: Annotated[int, Field(ge=1, le=255)] = 8
    spares: Annotated[int, Field(ge=0, le=100)] = 0

    @model_validator(mode="after")
    def _wide_enough(self) -> Self:
        if self.data + self.parity > self.disks - self.spares:
            raise ValueError(
                f"stripes of {self.data} + {self.parity} do not fit on {self.disks} disks with {self.spares} spares"
            )
        return self

    @property
    def width(self) -> int:
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
        stripe = {"data": self.data, "parity": self.parity, "ashift": self.ashift}
        return law(raidz.draid_amplification, block_B=term(block_B, "B"), **stripe)

    def occupied(self, block_B: float) -> Term:
        """Whole stripes have no padding besides."""
        return self.amplification(block_B)
