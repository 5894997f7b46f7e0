"""Hard disks: the zone under the heads sets the rate, several streams cost seeks."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np

from dtnsim.components.access import Access
from dtnsim.components.device import Device
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.physics import hdd


class Hdd(Device):
    """A hard disk."""

    kind: ClassVar[str] = "hdd"

    rate: Annotated[Quantity, Unit("B/s", spread=0.08, low=1e5)]
    inner: Annotated[Quantity, Unit("1", low=0.1, high=1.0)] = prior(
        "0.5", 0.1, "assumed: innermost over outermost radius of a 3.5-inch platter"
    )
    position: Annotated[Quantity, Unit("1", high=1.0)] = prior(
        "0.05", 0.5, "assumed: files lie near the outer edge of a fairly empty disk"
    )
    spindle: Annotated[Quantity, Unit("Hz", low=10, high=400)] = prior("120 Hz", 0.0, "7200 rpm")
    seek: Annotated[Quantity, Unit("s", spread=0.1)] = prior(
        "7.4 ms", 0.1, "WD Ultrastar DC HC310 specification p. 23: average read seek"
    )
    track_seek: Annotated[Quantity, Unit("s", spread=0.2)] = prior(
        "0.23 ms", 0.2, "WD Ultrastar DC HC310 specification p. 23: single-track seek, typical"
    )
    file_distance: Annotated[Quantity, Unit("1", high=1.0)] = prior(
        "0.1", 0.5, "assumed: files in use at the same time lie a tenth of the stroke apart"
    )
    tree_distance: Annotated[Quantity, Unit("1", high=1.0)] = prior(
        "0.01",
        1.0,
        "assumed: files of one tree lie in neighbouring block groups (ext4: 16 of 128 MiB), older ones apart",
    )
    visit: Annotated[Quantity, Unit("B", spread=0.5, low=512)] = prior(
        "512 KiB", 0.6, "assumed: bytes served per visit where nobody above says (read-ahead of the drive and queue)"
    )
    link: Annotated[Quantity, Unit("B/s", low=1e6)] = prior("300 MB/s", 0.0, "SATA 3 Gb/s after 8b/10b")

    def latency(self, row: Row, use: Access) -> Value:
        """Seconds that a random request waits for arm and platter; the next one in sequence waits for neither."""
        return hdd.positioning_time(row.value(self.seek), row.value(self.spindle)) if use.random else 0.0

    def single_rate(self, row: Row) -> Value:
        """Bytes per second of one large read alone [B/s]."""
        return hdd.zone_rate(row.value(self.position), row.value(self.rate), row.value(self.inner))

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Value | None = None) -> None:
        """Charges media and link."""
        rate = hdd.zone_rate(row.value(self.position), row.value(self.rate), row.value(self.inner))
        per_byte: Value = 1.0
        cost = "each byte passes under the heads once"
        if use.random:
            position = hdd.positioning_time(row.value(self.seek), row.value(self.spindle))
            per_byte = rate / hdd.random_rate(use.block_B, rate, position)
            cost = f"random {use.block_B:.0f} B requests: seek and half a turn before each"
        else:
            visit = row.value(self.visit) if visit_B is None else visit_B
            distance = row.value(self.file_distance if use.streams > 1 else self.tree_distance)
            seek = hdd.seek_time(distance, row.value(self.track_seek), row.value(self.seek))
            switch = hdd.positioning_time(seek, row.value(self.spindle))
            if use.streams > 1:
                visit = np.minimum(visit, use.file_B)
                per_byte = rate / hdd.interleaved_rate(use.streams, rate, visit, switch)
                cost = f"{use.streams} streams take turns: a seek and half a turn before each visit"
            elif use.operation == "read":
                # writes of many files are sorted before they go out
                touched = np.clip(np.ceil(use.file_B / visit), 1.0, copies)
                per_byte = hdd.files_cost(use.file_B, rate, switch, touched)
                cost = f"each byte once, and a seek and half a turn to each file of {use.file_B:.3g} B"
        what = f"disk {use.operation}" + (" with seeks between streams" if use.streams > 1 and not use.random else "")
        row.charge(
            f"{name}.disks",
            "hdd",
            capacity=copies * rate,
            per_byte=per_byte,
            what=what,
            cost=cost,
            formula=f"{copies} disks x {self.rate} at position {self.position}",
            source=self.rate.source,
        )
        row.charge(
            f"{name}.links",
            "sata",
            capacity=copies * row.value(self.link),
            what="drive link",
            formula=f"{copies} links x {self.link}",
            source=self.link.source,
        )
