"""What layers over a block device have in common (device mapper, remote block devices): the device below answers."""

from __future__ import annotations

from typing import Annotated

from dtnsim.components.access import Access, Operation
from dtnsim.components.base import Pick
from dtnsim.components.device import Device
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Value
from dtnsim.ground.term import Term


class Layer(Device):
    """A device made of another one; kinds say what they add.

    Attributes:
        of: The device that it lies on.
    """

    of: Annotated[Device, Pick(Device)]

    @property
    def below(self) -> Device:
        """The device that the layer lies on."""
        return self.of

    @property
    def drives(self) -> int:
        """Drives inside."""
        return self.below.drives

    @property
    def data_disks(self) -> int:
        """Drives that data is spread over."""
        return self.below.data_disks

    @property
    def rotates(self) -> bool:
        """Whether the drives inside are disks."""
        return self.below.rotates

    @property
    def keeps_writes(self) -> bool:
        """As the device below does."""
        return self.below.keeps_writes

    def answers_early(self, use: Access) -> bool:
        """As the device below does."""
        return self.below.answers_early(use)

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        """That of the device below."""
        return self.below.latency(row, use, members)

    def single_rate(self, row: Row, use: Access) -> Value:
        """That of the device below."""
        return self.below.single_rate(row, use)

    def media_rate(self, row: Row, operation: Operation) -> Term:
        """That of the device below."""
        return self.below.media_rate(row, operation)

    def turnaround(self, row: Row) -> Term:
        """That of the device below."""
        return self.below.turnaround(row)

    def flush_time(self, row: Row) -> Term | None:
        """That of the device below."""
        return self.below.flush_time(row)

    def bus_factor(self, use: Access) -> Value:
        """As the device below has it."""
        return self.below.bus_factor(use)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges the device below."""
        self.below.serve(row, use, name, copies=copies, visit_B=visit_B)
