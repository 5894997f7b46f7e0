"""The machine that a component is in, as far as components ask it; `dtnsim.components.buses` answers."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.base import Model, Pick, empty
from dtnsim.components.chassis import Slot
from dtnsim.components.cores import Cores
from dtnsim.components.device import Device
from dtnsim.components.memory import Memory
from dtnsim.components.nic import Hba, Nic
from dtnsim.components.offload import Offload
from dtnsim.components.stack import Stack
from dtnsim.components.tuning import Vm
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Value
from dtnsim.ground.term import Term


class Mounted(Model):
    """A volume of the machine, whose file system asks it.

    Attributes:
        filesystem: Kind of file system and its settings, like {kind: xfs}.
        array: Drives, or an array of them; left out where a server has them.
        via: Adapters, NICs or slots that the drives hang on, each with its part of the bytes; drives behind a network
            are reached through the host's only card where nothing is named.
        server: host:/volume that this mount comes from (NFS).
    """

    filesystem: Any
    array: Annotated[Device, Pick(Device)] | None = None
    via: list[str] = Field(default_factory=empty)
    server: str | None = None


class Machine(Cores):
    """Cores, memory, cards and volumes, and what a byte charges on its way between them.

    Attributes:
        memory: Memory part or its parameters.
        stack: Kernel's cycles per byte and packet.
        slots: PCIe slots and uplinks by name.
        hbas: Storage adapters by name.
        nics: Network cards by name; 'nic' is short for one.
        devices: Accelerators and other cards that take work over, by name.
        volumes: Mounted file systems by mount point.
    """

    memory: Annotated[Memory, Pick(Memory)]
    stack: Annotated[Stack, Pick(Stack)] = Stack()
    slots: dict[str, Annotated[Slot, Pick(Slot)]] = Field(default_factory=dict)
    hbas: dict[str, Annotated[Hba, Pick(Hba)]] = Field(default_factory=dict)
    nics: dict[str, Annotated[Nic, Pick(Nic)]] = Field(default_factory=dict)
    devices: dict[str, Annotated[Offload, Pick(Offload)]] = Field(default_factory=dict)
    volumes: Mapping[str, Mounted] = Field(default_factory=dict)

    if TYPE_CHECKING:  # of a host (`dtnsim.description.host`)
        vm: Vm
        year: int | None

        @property
        def system(self) -> str:
            """Its family of operating systems."""

    @abstractmethod
    def array(self, row: Row, use: Access, volume: str, array: Device, visit_B: Term | Value | None) -> None:
        """Charges drives, adapters, slots, memory and interrupts of one byte on a volume."""

    @abstractmethod
    def storage_network(self, row: Row, use: Access, volume: str) -> None:
        """Charges the NIC and slot through which a volume's servers are reached.

        That is what ``via`` names; what goes over IP takes the host's only NIC where nothing is named.
        """
