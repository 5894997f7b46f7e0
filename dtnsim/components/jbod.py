"""Disks side by side: single ones, each file on one of them, and arrays of unlike members."""

import math
from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from dtnsim.components.access import Access, Operation
from dtnsim.components.base import Model, Pick
from dtnsim.components.device import Device, Layer
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Value, middle
from dtnsim.ground.term import Term, count, largest, law, minimum, term
from dtnsim.physics import bonding


class Jbod(Layer):
    """``disks`` equal devices without striping: concatenated, or united by a file system like mergerfs.

    A stream is held by the one device that its file lies on; n streams meet some devices twice and others not at all.
    """

    kind: ClassVar[str] = "jbod"
    other_names: ClassVar[Mapping[str, str]] = {"drives": "disks"}

    disks: Annotated[int, Field(ge=1, le=1000)]

    @property
    def drives(self) -> int:
        return self.disks * self.of.drives

    def parity_thread(self, row: Row, use: Access) -> tuple[Term, int] | None:
        """Streams have those of the arrays that their files lie on."""
        parity = self.of.parity_thread(row, use)
        return None if parity is None else (parity[0], parity[1] * max(1, min(self.disks, use.streams)))

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges all devices, of which the streams keep only some busy."""
        streams = use.in_flight if use.random else float(max(1, use.streams))
        busy = law(bonding.occupied, items=streams, bins=self.disks)
        load = count(self.disks, "disk") / busy
        part = self._of_each(use).but(stripe_B=math.inf)
        self.of.serve(row.times(load), part, name, copies=copies * self.disks, visit_B=visit_B)

    def _of_each(self, use: Access) -> Access:
        """The streams that meet on a device."""
        busy = bonding.occupied(max(1, use.streams), self.disks)
        return use.thinned(max(1, round(use.streams / float(busy))))

    def next_file(self, row: Row, use: Access, copies: int = 1, members: float = 1.0) -> Value:
        return super().next_file(row, self._of_each(use), copies, members)


class Share(Model):
    """Some of the drives of an array that are alike.

    Attributes:
        drive: The drive.
        n: How many of them there are.
    """

    drive: Annotated[Device, Pick(Device)]
    n: Annotated[int, Field(ge=1, le=1000)]


class MixedDrives(Device):
    """A member of an array whose members differ, in the place of any of them.

    ``of: [{drive: a, n: 8}, {drive: b, n: 4}]`` of an array makes one. Stripes give every member the same bytes, so
    that each model has its number's part of them at its own rate: the slowest is full first. A request that several
    members work on waits for the slowest of them.

    Neglects: what ZFS gives to larger vdevs (it allocates by free space): the members are those of one vdev.
    Source: md(4): RAID 1, 4, 5, 6 and 10 use of every device no more than the smallest has, as zpoolconcepts(7) says of
    raidz and mirrors; RAID 0 stripes over what is left of the larger ones (md(4)), which is neglected.
    """

    kind: ClassVar[str] = "unlike"

    shares: Annotated[list[Share], Field(min_length=1, description="models of drives, and how many of each")]

    @model_validator(mode="after")
    def _no_arrays(self) -> Self:
        if any(share.drive.drives > 1 for share in self.shares):
            raise ValueError("holds single drives; write an array of arrays with 'of' of one of them")
        return self

    @property
    def number(self) -> int:
        """Drives of all models."""
        return sum(share.n for share in self.shares)

    @property
    def each_B(self) -> float:
        return min(share.drive.each_B for share in self.shares)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges each model with its part of the bytes; of lost drives nobody says which model they are."""
        parts = self._parts(row, use)
        for place, (share, part) in enumerate(zip(self.shares, parts, strict=True), 1):
            member_use = use.but(total_B=use.total_B * middle(part.value))
            alike = max(1, round(copies * share.n / self.number))
            share.drive.serve(row.times(part), member_use, f"{name}-{place}", copies=alike, visit_B=visit_B)

    def _parts(self, row: Row, use: Access) -> list[Term]:
        """Part of the bytes that each model has: its number's, or, of what the idlest copy reads, that of its rate."""
        if use.operation == "write" or not use.idlest or all(share.drive.rotates for share in self.shares):
            return [Term(part, f"{part:.7g}") for part in (share.n / self.number for share in self.shares)]
        rates = [float(share.n) * self._full_rate(row, use, share.drive) for share in self.shares]
        every = sum(rates[1:], rates[0])
        return [rate / every for rate in rates]

    @staticmethod
    def _full_rate(row: Row, use: Access, drive: Device) -> Term:
        """Rate at which one drive is full."""
        own = Row(Ledger(row.ledger.draw), row.transfer, [], host=row.host)
        drive.serve(own, use, "drive")
        stations = own.ledger.stations
        return minimum(
            *(term(stations[d.station].capacity / d.per_byte, "B/s", "of a copy alone") for d in own.demands)
        )

    def _slowest(self, ask: Callable[[Device], Value]) -> Value:
        slowest: Value = 0.0
        for share in self.shares:
            slowest = np.maximum(slowest, ask(share.drive))
        return slowest

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        return self._slowest(lambda drive: drive.latency(row, use, members))

    def next_file(self, row: Row, use: Access, copies: int = 1, members: float = 1.0) -> Value:
        return self._slowest(lambda drive: drive.next_file(row, use, copies, members))

    def single_rate(self, row: Row, use: Access) -> Value:
        return 1.0 / np.asarray(self._slowest(lambda drive: 1.0 / np.asarray(drive.single_rate(row, use))))

    def media_rate(self, row: Row, operation: Operation) -> Term:
        return minimum(*(share.drive.media_rate(row, operation) for share in self.shares))

    def turnaround(self, row: Row) -> Term:
        return largest(*(share.drive.turnaround(row) for share in self.shares))

    def turn(self, row: Row) -> Term:
        return largest(*(share.drive.turn(row) for share in self.shares))

    def flush_time(self, row: Row) -> Term | None:
        times = [share.drive.flush_time(row) for share in self.shares]
        stated = [time for time in times if time is not None]
        return largest(*stated) if len(stated) == len(times) else None

    @property
    def rotates(self) -> bool:
        return any(share.drive.rotates for share in self.shares)

    @property
    def keeps_writes(self) -> bool:
        return all(share.drive.keeps_writes for share in self.shares)

    def answers_early(self, use: Access) -> bool:
        return all(share.drive.answers_early(use) for share in self.shares)
