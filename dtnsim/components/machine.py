"""What a component may ask of the machine that it is in: `dtnsim.components.buses` answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from dtnsim.components.access import Access, Near, Thread
from dtnsim.components.cpu import Cpu
from dtnsim.components.device import Device
from dtnsim.components.memory import Memory
from dtnsim.components.nic import Nic
from dtnsim.components.stack import Stack
from dtnsim.components.tuning import Vm
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Value
from dtnsim.ground.term import Term


class Mounted(Protocol):
    """A volume of the machine."""

    @property
    def filesystem(self) -> object: ...  # noqa: D102 - see `dtnsim.components.wiring.Volume`
    @property
    def array(self) -> Device | None: ...  # noqa: D102
    @property
    def via(self) -> list[str]: ...  # noqa: D102
    @property
    def server(self) -> str | None: ...  # noqa: D102


class Machine(Protocol):
    """Cores, memory, cards and volumes, and what a byte charges on its way between them."""

    @property
    def name(self) -> str: ...  # noqa: D102 - see `dtnsim.description.host.Host`
    @property
    def system(self) -> str: ...  # noqa: D102
    @property
    def cpu(self) -> Cpu: ...  # noqa: D102
    @property
    def memory(self) -> Memory: ...  # noqa: D102
    @property
    def stack(self) -> Stack: ...  # noqa: D102
    @property
    def vm(self) -> Vm: ...  # noqa: D102
    @property
    def nics(self) -> Mapping[str, Nic]: ...  # noqa: D102
    @property
    def volumes(self) -> Mapping[str, Mounted]: ...  # noqa: D102

    def clock(self, row: Row) -> Term:
        """Cycles a second of one core."""

    def core(self, row: Row, thread: Thread, cycles: Term, what: str, near: Near = None) -> None:
        """Charges work of a thread.

        Args:
            near: Socket of the card, or sockets of the drives, that the work is about; None where it is about none.
        """

    def pool(self, row: Row, cycles: Term, what: str) -> None:
        """Charges work that may run on any core."""

    def array(self, row: Row, use: Access, volume: str, array: Device, visit_B: Term | Value | None) -> None:
        """Charges drives, adapters, slots, memory and interrupts of one byte on a volume.

        Args:
            visit_B: Contiguous bytes that one stream gets before the next one's turn [B]; None where nobody says.
        """

    def storage_network(self, row: Row, use: Access, volume: str) -> None:
        """Charges the NIC and slot through which a volume's servers are reached."""
