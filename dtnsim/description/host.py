"""A host: processors, memory, slots, adapters, NICs and volumes, and how they are wired.

A volume hangs on adapters, an adapter sits in a slot, a slot may hang on a switch or chipset; an
access follows that chain to memory. `dtnsim.composition.graph` draws all of it as one networkx graph.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field

from dtnsim.components.access import Access, Thread
from dtnsim.components.base import Model, Pick
from dtnsim.components.cpu import Cpu
from dtnsim.components.device import Device
from dtnsim.components.filesystem import Filesystem
from dtnsim.components.hba import Hba
from dtnsim.components.memory import Memory
from dtnsim.components.nic import Nic
from dtnsim.components.slot import Slot
from dtnsim.components.stack import Stack
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.records import Slowdown


class Volume(Model):
    """A mounted file system: what it is, what it lies on, what it is attached to.

    Attributes:
        filesystem: Kind of file system and its settings, like {kind: xfs}.
        array: Drives, or an array of them; left out where a server has them.
        via: Adapters, NICs or slots that the drives hang on, each with its part of the bytes.
        server: host:/volume that this mount comes from (NFS).
        size: Space; a data set that does not fit is told.
    """

    filesystem: Annotated[Filesystem, Pick(Filesystem)]
    array: Annotated[Device, Pick(Device)] | None = None
    via: list[str] = Field(default_factory=list)
    server: str | None = None
    size: Annotated[Quantity, Unit("B")] | None = None


class Placement(Model):
    """Which cores do what; empty lists leave it to the scheduler.

    Attributes:
        application: Cores that the tool's threads take in turn.
        nic_interrupts: Cores that serve the interrupts of the NICs, each an equal part.
        storage_interrupts: Adapter (or 'all'): cores that serve its interrupts.
        remote_socket: Share of the work on a socket far from the card, from 0 to 1.
    """

    application: list[int] = Field(default_factory=list)
    nic_interrupts: list[int] = Field(default_factory=list)
    storage_interrupts: dict[str, list[int]] = Field(default_factory=dict)
    remote_socket: Annotated[float, Field(ge=0, le=1)] = 0.0


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
    rmem_max: Annotated[Quantity, Unit("B", low=1024)] = prior("6 MiB", 0.0, "Linux default of tcp_rmem[2]")
    wmem_max: Annotated[Quantity, Unit("B", low=1024)] = prior("4 MiB", 0.0, "Linux default of tcp_wmem[2]")
    receive_share: Annotated[Quantity, Unit("1", low=0.1, high=1.0)] = prior(
        "0.5", 0.0, "Linux tcp_adv_win_scale = 1: half of the buffer is window"
    )
    pacing: Annotated[Quantity, Unit("B/s")] | None = None


class Host(Model):
    """One machine.

    Attributes:
        name: What it is called in answers.
        source: Where its description comes from.
        like: Another host, whose keys hold where none is written here.
        cpu: Processor part or its parameters.
        memory: Memory part or its parameters.
        stack: Kernel's cycles per byte and packet.
        slots: PCIe slots and uplinks by name.
        hbas: Storage adapters by name.
        nics: Network cards by name; 'nic' is short for one.
        volumes: Mounted file systems by mount point.
        placement: Which cores do what.
        tcp: TCP settings.
    """

    name: str = ""
    source: str = ""
    like: str | None = None
    cpu: Annotated[Cpu, Pick(Cpu)]
    memory: Annotated[Memory, Pick(Memory)]
    stack: Annotated[Stack, Pick(Stack)] = Stack()
    slots: dict[str, Annotated[Slot, Pick(Slot)]] = Field(default_factory=dict)
    hbas: dict[str, Annotated[Hba, Pick(Hba)]] = Field(default_factory=dict)
    nics: dict[str, Annotated[Nic, Pick(Nic)]] = Field(default_factory=dict)
    volumes: dict[str, Volume] = Field(default_factory=dict)
    placement: Placement = Placement()
    tcp: TcpTuning = TcpTuning()

    def check_wiring(self) -> None:
        """Checks that every name exists, nothing hangs on itself, and every card fits its slot.

        Raises:
            SpecError: with the key and what to write instead.
        """
        for name, slot in self.slots.items():
            self._slot(f"slots.{name}.behind", slot.behind)
        for name in self.slots:
            self.chain(name)
        for family, cards in (("hbas", self.hbas), ("nics", self.nics)):
            for name, card in cards.items():
                self._slot(f"{family}.{name}.slot", card.slot)
                self._fits(f"{family}.{name}", card)
        labels: dict[str, str] = {}
        for mount, volume in self.volumes.items():
            for name in volume.via:
                self._adapter(f"volumes.{mount}.via", name)
            other = labels.setdefault(label_of(mount), mount)
            if other != mount:
                raise SpecError(
                    f"cannot be told from {other!r} in the names of stations",
                    key=f"{self.name}.volumes.{mount}",
                    remedy="mount one of them elsewhere",
                )

    def chain(self, slot: str | None) -> list[str]:
        """The slots and uplinks from one slot to memory.

        Raises:
            SpecError: they hang on each other in a loop.
        """
        found: list[str] = []
        while slot is not None:
            if slot in found:
                raise SpecError(
                    f"slots hang on each other in a loop: {' -> '.join([*found, slot])}",
                    key=f"{self.name}.slots.{slot}.behind",
                    remedy="let the last one hang on the processor (no 'behind')",
                )
            found.append(slot)
            slot = self.slots[slot].behind
        return found

    def _slot(self, key: str, name: str | None) -> None:
        if name is not None and name not in self.slots:
            raise SpecError(
                "is not a slot of this host",
                key=f"{self.name}.{key}",
                value=name,
                remedy=f"slots: {', '.join(self.slots) or 'none'}",
            )

    def _adapter(self, key: str, name: str) -> None:
        if any(name in cards for cards in (self.hbas, self.nics, self.slots)):
            return
        raise SpecError(
            "is not an adapter, NIC or slot of this host",
            key=f"{self.name}.{key}",
            value=name,
            remedy=f"adapters: {', '.join(dict.fromkeys([*self.hbas, *self.nics, *self.slots])) or 'none'}",
        )

    def _fits(self, key: str, card: Hba | Nic) -> None:
        slot = self.slots.get(card.slot or "")
        if slot is not None and not slot.accepts(card.card_lanes):
            raise SpecError(
                f"is a x{card.card_lanes} card; slot {card.slot!r} has a x{slot.connector or slot.lanes} connector",
                key=f"{self.name}.{key}",
                remedy="choose another slot, or set the slot's 'connector'",
            )

    # -- what components and tools charge through ------------------------------------------------

    def core(self, row: Row, thread: Thread, cycles: Value, what: str, cost: str, source: str) -> None:
        """Charges CPU work of a thread: its own core (or the named ones, in turn for each copy), and the package."""
        cycles = cycles * (1.0 + self.placement.remote_socket * (row.value(self.cpu.numa_penalty) - 1.0))
        clock = row.value(self.cpu.clock)
        place = self.placement.application
        if place:
            cores = Counter(place[(thread.slot + copy) % len(place)] for copy in range(thread.copies))
            for number, count in cores.items():
                part = cycles * (count / thread.copies)
                self.pinned(row, number, part, f"{thread.name}: {what}", cost, source)
        else:
            copies = min(thread.copies, self.cpu.total)
            row.charge(
                f"cpu.{thread.name}",
                "core",
                capacity=copies * clock,
                per_byte=cycles,
                unit="cycles",
                private=True,
                what=what,
                formula=f"{copies} core{'s' if copies > 1 else ''} x {self.cpu.clock}",
                cost=cost,
                source=source,
            )
            self.pool(row, cycles, what, source, cost)

    def pinned(self, row: Row, number: int, cycles: Value, what: str, cost: str, source: str) -> None:
        """Charges work placed on a named core."""
        if not 0 <= number < self.cpu.total * self.cpu.smt:
            raise SpecError(
                "is not a core of this host",
                key=f"{self.name}.placement",
                value=number,
                remedy=f"cores are 0 to {self.cpu.total * self.cpu.smt - 1}",
            )
        row.charge(
            f"cpu.core{number}",
            "core",
            capacity=row.value(self.cpu.clock),
            per_byte=cycles,
            unit="cycles",
            what=what,
            formula=f"one core x {self.cpu.clock}",
            cost=cost,
            source=source,
        )
        self.pool(row, cycles, what, source, cost)

    def pool(self, row: Row, cycles: Value, what: str, source: str, cost: str = "") -> None:
        """Charges work that may run on any core."""
        gain = row.value(self.cpu.smt_gain) if self.cpu.smt > 1 else 1.0
        row.charge(
            "cpu",
            "cpu",
            capacity=self.cpu.total * row.value(self.cpu.clock) * gain,
            per_byte=cycles,
            unit="cycles",
            what=what,
            cost=cost,
            source=source,
            formula=f"{self.cpu.total} cores x {self.cpu.clock}"
            + (f" x {self.cpu.smt_gain} (SMT)" if self.cpu.smt > 1 else ""),
        )

    def interrupts(self, row: Row, cores: list[int], cycles: Value, what: str, cost: str, source: str) -> None:
        """Charges interrupt work: on its named cores, each an equal part, or anywhere."""
        if not cores:
            self.pool(row, cycles, what, source, cost)
        for number in cores:
            self.pinned(row, number, cycles / len(cores), what, cost, source)

    def array(self, row: Row, use: Access, volume: str, array: Device, visit_B: Value | None) -> None:
        """Charges drives, adapters, slots, memory and interrupts of one byte on a volume."""
        label = label_of(volume)
        array.serve(row, use, label, visit_B=visit_B)
        self._parity(row, use, label, array)
        bus = row.times(array.bus_factor(use))
        self.memory.cross(bus, 1.0, f"DMA of {label}")
        self.attached(bus, use, volume)

    def _parity(self, row: Row, use: Access, label: str, array: Device) -> None:
        """Charges the threads that compute a software array's parity; all transfers share them."""
        made = array.parity_thread(use)
        if made is None:
            return
        work, threads = made
        cycles, copies, what = row.value(work), min(threads, self.cpu.total), "parity and stripe cache of md"
        row.charge(
            f"{label}.raid5d", "core", capacity=copies * row.value(self.cpu.clock), per_byte=cycles, unit="cycles",
            what=what, formula=f"{copies} thread{'s' if copies > 1 else ''} x {self.cpu.clock}", cost=str(work),
            source=work.source,
        )  # fmt: skip
        self.pool(row, cycles, what, work.source, str(work))

    def attached(self, row: Row, use: Access, volume: str) -> None:
        """Charges everything between a volume and memory; of several adapters each carries its part."""
        names = self.volumes[volume].via
        part = row.times(1.0 / max(len(names), 1))
        for name in names:
            if name in self.hbas:
                self._through_hba(part, use, name)
                card = self.hbas[name]
                self._slots(part, card.slot, to_host=use.operation == "read", card=card)
            elif name in self.slots:  # a drive in a slot of its own
                self._slots(part, name, to_host=use.operation == "read", card=None)
            elif name in self.nics:  # an array behind a storage network
                self._through_nic(part, use, name)

    def _slots(self, row: Row, slot: str | None, *, to_host: bool, card: Hba | Nic | None) -> None:
        """Charges a slot and the uplinks behind it; the card's own lanes and generation bind in its slot."""
        lanes, generation = (card.card_lanes, card.card_generation) if card is not None else (32, 6)
        for name in self.chain(slot):
            self.slots[name].carry(row, f"slot-{name}", to_host=to_host, card_lanes=lanes, card_generation=generation)
            lanes, generation = 32, 6

    def storage_network(self, row: Row, use: Access, volume: str) -> None:
        """Charges the NIC and slot through which a volume's servers are reached, where the host names one."""
        self.memory.cross(row, 1.0, "storage network DMA")
        names = [n for n in self.volumes[volume].via if n in self.nics]
        part = row.times(1.0 / max(len(names), 1))
        for name in names:
            self._through_nic(part, use, name)

    def _through_nic(self, row: Row, use: Access, name: str) -> None:
        direction = "rx" if use.operation == "read" else "tx"
        self.nics[name].send_bits(row, name, direction=direction, streams=1, port=None, wire=1.02)
        self.nic_bus(row, name, receiving=use.operation == "read")

    def _through_hba(self, row: Row, use: Access, name: str) -> None:
        self.hbas[name].carry(row, use, name)
        placed = self.placement.storage_interrupts
        cost = self.stack.storage_interrupt_byte
        self.interrupts(
            row,
            placed.get(name, placed.get("all", [])),
            row.value(cost),
            f"interrupts of {name}",
            str(cost),
            cost.source,
        )

    def nic_bus(self, row: Row, name: str, *, receiving: bool) -> None:
        """Charges the slots between a NIC and memory."""
        self._slots(row, self.nics[name].slot, to_host=receiving, card=self.nics[name])

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


def label_of(mount: str) -> str:
    """Name of a volume's stations: ``/data/fast`` is ``data-fast``, ``/`` is ``root``."""
    return mount.strip("/").replace("/", "-") or "root"


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
