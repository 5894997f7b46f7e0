"""What every device has in common that sits in a slot of a host and takes work over from its cores."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity
from dtnsim.ground.term import Term


@dataclass(frozen=True, slots=True)
class Duty:
    """Work that a device may take over from a host's cores.

    Attributes:
        kind: ``cipher``, ``compression``, ``tcp``, or ``nvme-of`` (storage behind a network card).
        algorithm: ``aes-gcm``, ``aes-ctr``, ``chacha20-poly1305``, ``deflate`` ...; empty where there is but one way.
        protocol: What speaks it: ``ssh``, ``tls``.
        nic: Network card that the bytes pass.
        left: What stays with the core: copies, the program itself [cycles/B].
    """

    kind: Literal["cipher", "compression", "tcp", "nvme-of"]
    algorithm: str = ""
    protocol: str = ""
    nic: str = ""
    left: Quantity | None = None


class Offload(Component):
    """A device in a slot of a host; kinds add their own placement keys, and say what they take over.

    Attributes:
        slot: Slot that it sits in.
        card_lanes: PCIe lanes of the card.
        card_generation: PCIe generation of the card.
    """

    family: ClassVar[str] = "offload"
    placement_keys: ClassVar[tuple[str, ...]] = ("slot",)

    slot: str | None = None
    card_lanes: Annotated[int, Field(ge=1, le=32)] = 8
    card_generation: Annotated[int, Field(ge=1, le=6)] = 3

    #: times that a byte crosses the card's slot in each direction on its way there and back; 0 where it passes anyway
    visits: ClassVar[float] = 1.0

    @abstractmethod
    def takes(self, duty: Duty) -> bool:
        """Whether the device does such work."""

    @abstractmethod
    def serve(self, row: Row, name: str, duty: Duty, cycles: Term, thread: Thread) -> None:
        """Charges the device's own engines for one byte.

        Args:
            row: The row to charge.
            name: Name of the device on its host.
            duty: What is taken over.
            cycles: What the byte would cost the host's core [cycles/B].
            thread: Thread that waits for it.
        """

    @abstractmethod
    def handing_over(self, row: Row) -> Term:
        """What it costs the core to hand a byte over and take it back [cycles/B]."""

    def nics(self) -> list[str]:
        """Network cards of the host that the device's keys name; the host checks that they are there."""
        return []
