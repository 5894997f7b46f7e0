"""What a drive and an array of drives have in common: bytes in, bytes out, a number of disks."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

from dtnsim.components.access import Access, Operation
from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Value
from dtnsim.ground.term import Term, term


class Device(Component):
    """A block device. Arrays hold devices, so RAID0 over hardware RAID5 over disks is three of them."""

    family: ClassVar[str] = "device"

    @abstractmethod
    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges one byte of an access, spread evenly over ``copies`` equal devices.

        Args:
            row: The row to charge.
            use: The access.
            name: Name of the component (stations are named after it).
            copies: Equal devices in parallel that share the bytes.
            visit_B: Contiguous bytes one device serves to one stream before the next gets its turn.
        """

    @property
    def drives(self) -> int:
        """Drives inside."""
        return 1

    @property
    def data_disks(self) -> int:
        """Drives that a full stripe's data is spread over."""
        return 1

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:  # noqa: ARG002 - drives need them
        """Seconds of one request alone, its transfer left out, where ``members`` equal devices hold a part of it."""
        return 0.0

    def single_rate(self, row: Row, use: Access) -> Value:  # noqa: ARG002 - drives need it
        """Bytes per second of one request alone, once it has started [B/s]."""
        return math.inf

    def media_rate(self, row: Row, operation: Operation) -> Term:  # noqa: ARG002 - drives need it
        """Bytes per second of a long stream in the mean over the whole device, as a rebuild meets it."""
        return term(math.inf, "B/s")

    @property
    def rotates(self) -> bool:
        """Whether the drives inside are disks."""
        inner = getattr(self, "of", None)
        return isinstance(inner, Device) and inner.rotates

    def piece(self, use: Access) -> float:
        """Bytes of one block of a file on one drive."""
        inner = getattr(self, "of", None)
        return inner.piece(use) if isinstance(inner, Device) else use.record_B or use.block_B

    @property
    def keeps_writes(self) -> bool:
        """Whether what is written survives a loss of power as soon as the device has it (battery, capacitors)."""
        return False

    def turnaround(self, row: Row) -> Term:  # noqa: ARG002 - drives need it
        """Seconds from handing a sequential write to the device until it is done, its transfer left out."""
        return term(0.0, "s")

    def parity_thread(self, use: Access) -> tuple[Quantity, int] | None:  # noqa: ARG002 - arrays need it
        """Work of the host's own parity thread on a byte of data [cycles/B], and how many threads share it."""
        return None

    def bus_factor(self, use: Access) -> Value:  # noqa: ARG002 - arrays need it
        """Bytes that cross the host's bus per byte of data (parity computed by the host goes out too)."""
        return 1.0
