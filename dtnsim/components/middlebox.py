"""What every box on a segment, which all its traffic passes, has in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Draw, Value
from dtnsim.ground.term import Term


class Middlebox(Component):
    """A box on a segment, besides its firewall and policer; there may be several, by name."""

    family: ClassVar[str] = "middlebox"

    @abstractmethod
    def charge(self, row: Row, name: str, wire: Term, packet_B: Term, streams: int) -> None:
        """Charges one payload byte that passes.

        Args:
            row: The row to charge.
            name: Name of its stations.
            wire: Bytes on the wire per payload byte.
            packet_B: Payload of a packet.
            streams: Flows of the transfer.
        """

    @abstractmethod
    def rate(self, draw: Draw, streams: int) -> Value:
        """Bytes on the wire that it lets pass in a second: TCP sees the narrowest place of its route."""
