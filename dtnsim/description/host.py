"""A host: processors, memory, slots, adapters, NICs and volumes.

What its cores do is in `dtnsim.components.cores`, how its parts are wired in `dtnsim.description.wiring`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from dtnsim.components.base import Model, documentation_only
from dtnsim.components.cores import Placement
from dtnsim.components.filesystem import label_of
from dtnsim.description.buses import Buses
from dtnsim.description.vm import Vm
from dtnsim.description.wiring import Volume
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Ledger
from dtnsim.ground.quantity import Quantity, Unit, prior, unstated
from dtnsim.ground.records import Slowdown

__all__ = ["Host", "Placement", "TcpTuning", "Volume", "build_host", "label_of"]


_TUNED = "assumed: between an untouched host (tcp(7): 6 MiB and 4 MiB) and one tuned for long paths (64 MiB and more)"


class TcpTuning(Model):
    """The host's TCP settings.

    Attributes:
        cc: Congestion control (net.ipv4.tcp_congestion_control).
        rmem_max: Largest receive buffer (tcp_rmem[2]).
        wmem_max: Largest send buffer (tcp_wmem[2]).
        receive_share: Part of the receive buffer that is window (tcp_adv_win_scale).
        pacing: Rate at which a stream is paced (tc fq maxrate, --fq-rate).
    """

    cc: Literal["reno", "cubic", "htcp", "bbr", "bbr3"] = "cubic"
    rmem_max: Annotated[Quantity, Unit("B", low=1024)] = unstated(
        "6 MiB", "16 MiB", 3.0, f"Linux default of tcp_rmem[2]; {_TUNED}"
    )
    wmem_max: Annotated[Quantity, Unit("B", low=1024)] = unstated(
        "4 MiB", "16 MiB", 3.0, f"Linux default of tcp_wmem[2]; {_TUNED}"
    )
    receive_share: Annotated[Quantity, Unit("1", low=0.1, high=1.0)] = prior(
        "0.5", 0.0, "Linux tcp_adv_win_scale = 1: half of the buffer is window"
    )
    pacing: Annotated[Quantity, Unit("B/s")] | None = None


class Host(Buses):
    """One machine.

    Attributes:
        name: What it is called in answers.
        cpu: Processor part or its parameters.
        memory: Memory part or its parameters.
        stack: Kernel's cycles per byte and packet.
        slots: PCIe slots and uplinks by name.
        hbas: Storage adapters by name.
        nics: Network cards by name; 'nic' is short for one.
        devices: Accelerators and other cards that take work over, by name.
        volumes: Mounted file systems by mount point.
        placement: Which cores do what.
        source: Where its description comes from.
        like: Another host, whose keys hold where none is written here.
        tcp: TCP settings.
        vm: Page cache settings, and memory that programs hold.
    """

    source: str = documentation_only("")
    like: str | None = None
    tcp: TcpTuning = TcpTuning()
    vm: Vm = Vm()

    def slowdowns(self, ledger: Ledger) -> tuple[Slowdown, ...]:
        """How this host's memory load slows its cores."""
        driver = f"{self.name}.memory"
        cores = tuple(n for n, s in ledger.stations.items() if s.host == self.name and s.unit == "cycles")
        if driver not in ledger.stations or not cores:
            return ()
        slope, reference = ledger.draw(self.stack.memory_stall), ledger.draw(self.stack.memory_reference)
        return (Slowdown(driver, cores, slope, reference),)

    def mount_of(self, path: str) -> str | None:
        """The mounted volume that a path lies on: the longest mount point that begins it."""
        fitting = [m for m in self.volumes if path == m or path.startswith(m.rstrip("/") + "/")]
        return max(fitting, key=len, default=None)


def build_host(name: str, raw: dict[str, Any]) -> Host:
    """Validates a host; ``nic: X`` is short for one NIC of that part, a volume needs its file system."""
    from dtnsim.components.base import place, validate
    from dtnsim.ground.yamlio import Mapping

    mapping = raw.clone() if isinstance(raw, Mapping) else Mapping()
    if not isinstance(raw, Mapping):
        mapping.update(raw)
    if "nic" in mapping:
        if "nics" in mapping:
            raise SpecError("write either 'nic' or 'nics'", **place(mapping, "nic"), key=f"hosts.{name}.nic")
        mapping.put("nics", {"nic": mapping.pop("nic")}, *mapping.lines.get("nic", ("", 0)))
    mapping.pop("schema", None)
    mapping["name"] = name
    return validate(Host, mapping, key=f"hosts.{name}")
