"""Single disks side by side: each file lies on one of them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.device import Layer
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Value
from dtnsim.ground.term import Term, count, law
from dtnsim.physics import bonding


class Jbod(Layer):
    """``disks`` equal devices without striping: concatenated, or united by a file system like mergerfs.

    A stream is held by the one device that its file lies on; n streams meet some devices twice and others not at all.
    """

    kind: ClassVar[str] = "jbod"

    disks: Annotated[int, Field(ge=1, le=1000)]

    @property
    def drives(self) -> int:
        """Drives inside."""
        return self.disks * self.of.drives

    def parity_thread(self, use: Access) -> tuple[Quantity, int] | None:
        """Streams have those of the arrays that their files lie on."""
        made = self.of.parity_thread(use)
        return None if made is None else (made[0], made[1] * max(1, min(self.disks, use.streams)))

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges all devices, of which the streams keep only some busy."""
        asked = use.in_flight if use.random else float(max(1, use.streams))
        busy = law(bonding.expected_links, links=self.disks, streams=asked)
        load = count(self.disks, "disk") / busy
        each = max(1, round(use.streams / float(busy.value)))
        self.of.serve(row.times(load), use.but(streams=each), name, copies=copies * self.disks, visit_B=visit_B)
