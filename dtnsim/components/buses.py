"""What a byte charges between volume, card and memory of a host; and work that devices take over from its cores."""

from typing import Final

import numpy as np

from dtnsim.components import memory as crossing
from dtnsim.components.access import Access, Thread
from dtnsim.components.chassis import Slot
from dtnsim.components.device import BLOCK_REQUEST, Connections, Device, Fabric
from dtnsim.components.filesystem import label_of
from dtnsim.components.nic import Hba, Nic
from dtnsim.components.offload import CHAINED, WITHOUT_AES, Duty, Offload
from dtnsim.components.wiring import Wiring, link_known
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Value, middle, prior
from dtnsim.ground.term import Term, count, largest, law, term
from dtnsim.physics import cache, cpu, pcie

#: largest request of kernels that keep to the read-ahead that is set
_NO_LARGER: Final = prior("1 B", 0.0, "Linux before 4.10 (commit 9491ae4aade6)")
_PLENTY = 1.5  #: a link that carries so many times what its card can do is not worth a word


class Buses(Wiring):
    """A wired machine that charges what its cores, devices, slots and adapters do."""

    def array(self, row: Row, use: Access, volume: str, array: Device, visit_B: Term | Value | None) -> None:
        label = label_of(volume)
        seated = bool(self.volumes[volume].via)
        use = use.but(seated=seated, loose=not seated, year=self.year)
        cards = [self.nics[n] for n in self._adapters(self.volumes[volume]) if n in self.nics]
        if cards and array.fabric is not None:
            use = use.but(wire=middle(cards[0].storage_wire(verbs=array.fabric.transport == "rdma").value))
        array.serve(row, use, label, visit_B=visit_B)
        self._parity(row, use, label, array)
        for work in array.works(row, use):
            place = f"{work.what} on {self.name}"
            self._worked(row, f"{label}.{work.name}", work.cycles, work.threads, work.what, label=place)
        if (serving := array.served_here(row, use)) is not None:
            self.pool(row, serving, f"serving {label} to all")
        if use.ahead and array.fabric is None and self.stack.release is not None:
            self._read_ahead(row, use, label, array, visit_B)
        bus = row.times(array.bus_factor(use))
        self.memory.cross(bus, crossing.DMA, f"DMA of {label}")
        self.attached(bus, use, volume)

    def _read_ahead(self, row: Row, use: Access, label: str, array: Device, window_B: Term | Value | None) -> None:
        """Charges the windows of a reader, which pass the device and then the kernel's work on them."""
        kernels = self.stack.releases
        assert kernels is not None
        largest_B = row.term(
            kernels.number(lambda release: BLOCK_REQUEST if release >= cache.LARGE_CALLS else _NO_LARGER)
        )
        set_B = array.ahead_window(row) if window_B is None else term(window_B, "B")
        window = law(cache.read_ahead_window, set_B=set_B, call_B=term(use.block_B, "B"), largest_B=largest_B)
        size_B = middle(window.value)
        seen, works = use.but(block_B=size_B), array.works(row, use)
        latency = array.latency(row, seen)
        if not works and not np.any(np.asarray(latency) > 0):
            return  # the device has read ahead itself
        seconds = 1.0 / term(array.single_rate(row, seen), "B/s")
        for work in works:
            seconds = seconds + work.cycles / self.clock(row) / float(work.cores(size_B))
        waits = term(latency, "s", "the device") + window * seconds
        rate = law(cache.read_ahead_rate, disk_rate=np.inf, window_B=cache.WINDOWS * window, latency_s=waits)
        capacity = count(max(use.own_streams, 1), "reader") * rate  # each has windows of its own, whoever else reads
        text = "read-ahead of the block device" + (": drive, and then what the kernel does" if works else "")
        remedy = f"a larger read-ahead (hosts.{self.name}.volumes, filesystem.read_ahead; blockdev --setra)"
        row.charge(f"{label}.read-ahead", "window", capacity=capacity, private=True, what=text, remedy=remedy)

    def _worked(
        self, row: Row, name: str, cycles: Term, threads: int, text: str, *, label: str = "", remedy: str = ""
    ) -> None:
        """Charges work of the kernel that so many cores may do at once; all transfers share them."""
        capacity = count(max(1, min(threads, self.cpu.total)), "thread") * self.clock(row)
        row.charge(name, "core", capacity=capacity, per_byte=cycles, what=text, label=label, remedy=remedy)
        self.pool(row, cycles, text)

    def _parity(self, row: Row, use: Access, label: str, array: Device) -> None:
        """Charges the threads that compute a software array's parity; all transfers share them."""
        parity = array.parity_thread(row, use)
        if parity is None:
            return
        remedy = "more threads for parity (the array's parity_threads; /sys/block/mdX/md/group_thread_cnt)"
        text, (cost, threads) = "parity and stripe cache of md", parity
        self._worked(row, f"{label}.raid5d", cost, threads, text, remedy=remedy)

    def drives_sockets(self, volume: str) -> tuple[int, ...] | None:
        """Sockets that equal parts of a volume's drives hang on; None where nobody said."""
        names = (n for n in self.volumes[volume].via if n not in self.nics)
        sockets = [self.socket_of(self.hbas[n].slot if n in self.hbas else n) for n in names]
        stated = tuple(socket for socket in sockets if socket is not None)
        return stated if stated and len(stated) == len(sockets) else None

    def attached(self, row: Row, use: Access, volume: str) -> None:
        """Charges everything between a volume and memory; of several adapters each carries its part."""
        adapters = self._adapters(self.volumes[volume])
        part, to_host = row.times(1.0 / max(len(adapters), 1)), use.operation == "read"
        for node in adapters:
            kind = self.wiring.nodes[node]["kind"]
            if kind == "nic":  # an array behind a storage network
                array = self.volumes[volume].array
                self._through_nic(part, use, node, volume, array.fabric if array is not None else None)
                continue
            if kind == "hba":
                self._through_hba(part, use, node)
            elif kind == "slot":  # drives with links of their own
                name = node.removeprefix("slot-")
                self._say_unsplit(row, name, volume, len(adapters))
                self.cross_sockets(part, self.socket_of(name), f"bytes of {node}", to_host=to_host)
            self._slots(part, node, to_host=to_host)

    def _say_unsplit(self, row: Row, name: str, volume: str, slots: int) -> None:
        """Warns of more drives in a slot than it is split for: a processor's slot shows one of them."""
        array, slot = self.volumes[volume].array, self.slots[name]
        if array is None or array.rotates or any(other.behind == name for other in self.slots.values()):
            return
        each = -(-array.drives // slots)
        if each > slot.bifurcation:
            row.ledger.warn(
                f"{self.name}: {each} drives hang on slot {name}, which is split in {slot.bifurcation}: taken to be on "
                f"a card with a switch of its own; write 'bifurcation: {each}' where the board splits its lanes"
            )

    def _slots(self, row: Row, node: str, *, to_host: bool, card_lanes: int = 32, card_generation: int = 6) -> None:
        """Charges the slots and uplinks from a node to memory; a card's own lanes and generation bind in its slot."""
        lanes, generation = card_lanes, card_generation
        for name in self.toward_memory(node):
            part = self.wiring.nodes[name]["part"]
            if isinstance(part, Slot):
                part.carry(row, name, to_host=to_host, card_lanes=lanes, card_generation=generation)
                lanes, generation = 32, 6
            elif isinstance(part, Hba | Nic | Offload):
                lanes, generation = part.card_lanes, part.card_generation
                self._say_where(row, name, part)

    def storage_network(self, row: Row, use: Access, volume: str) -> None:
        names, filesystem = self.storage_nics(volume), self.volumes[volume].filesystem
        clause, kind = f"of {volume} is left out", filesystem.kind
        if self.nics and not names:
            via = f"no card is named for it: 'via: [{next(iter(self.nics))}]', or another one"
            row.ledger.warn(f"{self.name}: the wire to the servers {clause}, since {via}")
        if self.volumes[volume].array is not None:
            row.ledger.warn(f"{self.name}: the array {clause}: {kind} has drives at its servers ('dtnsim show {kind}')")
        sent = filesystem.sent(row, use)
        row = row if np.all(np.asarray(sent.value) == 1.0) else row.times(sent)
        self.memory.cross(row, crossing.DMA, "storage network DMA")
        part = row.times(1.0 / max(len(names), 1))
        many, fabric = filesystem.connections_of(row, use), getattr(filesystem, "fabric", None)
        for name in names:
            self._through_nic(part, use, name, volume, fabric, many)

    def mount(self, row: Row, volume: str, many: Connections) -> Row:
        """A row whose connections all share that use them: those of all mounts of one server, or of one file system."""
        if not many.shared:
            return row
        mounted = self.volumes[volume]
        if mounted.server is not None:
            return row.owned(f"{self.name}-{mounted.server.partition(':')[0].strip()} {mounted.filesystem.kind}")
        return row.owned(f"{self.name}:{getattr(mounted.filesystem, 'system', None) or volume}")

    def _through_nic(
        self, row: Row, use: Access, name: str, volume: str, fabric: Fabric | None, many: Connections | None = None
    ) -> None:
        verbs = fabric is not None and fabric.transport == "rdma"
        direction, card = "rx" if use.operation == "read" else "tx", self.nics[name]
        spread = many or Connections(1 if fabric is None else fabric.connections)
        card.send_bits(
            self.mount(row, volume, spread),
            name,
            direction=direction,
            streams=spread.number,
            port=None,
            wire=card.storage_wire(verbs=verbs),
            lockstep=spread.tied,
            total_B=use.total_B,
            flows=spread.number if many is not None else None,
        )
        if fabric is not None and fabric.transport == "user":
            self.nic_bus(row, name, receiving=use.operation == "read")
            return
        if card.protocol == "ethernet" and not verbs:
            protocol = None if fabric is None else fabric.cycles(row, use)
            cycles = self._storage_over_tcp(row, name, card, protocol, reading=use.operation == "read")
        elif fabric is not None:
            cycles = fabric.cycles(row, use)
            self.pool(row, cycles, f"{fabric.what} behind {name}")
        if fabric is not None:
            self.connection(row, volume, fabric, cycles, f"{fabric.what}: a connection is on one core at a time")
        self.nic_bus(row, name, receiving=use.operation == "read")

    def connection(self, row: Row, volume: str, fabric: Fabric, cycles: Term, text: str) -> None:
        """Charges the cores of the connections behind which a volume's servers are."""
        capacity = count(min(fabric.connections, self.cpu.total), "connection") * self.clock(row)
        name, label = f"{label_of(volume)}.connections", f"the {fabric.what} connections of {self.name}"
        remedy = f"more connections (hosts.{self.name}.volumes.{volume}.{fabric.key}), or RDMA"
        row.charge(name, "core", capacity=capacity, per_byte=cycles, what=text, label=label, remedy=remedy)

    def _storage_over_tcp(self, row: Row, name: str, card: Nic, protocol: Term | None, *, reading: bool) -> Term:
        """Charges the kernel's TCP below storage over Ethernet, ``protocol`` of the protocol above included [cycles/B].

        The page cache is its buffer.
        """
        stack = self.stack
        byte, packet = (stack.receive_byte, stack.receive_packet) if reading else (stack.send_byte, stack.send_packet)
        aggregate_B = row.term(stack.aggregate) if card.joins(receiving=reading) else 0.0
        passed = law(cpu.traversal_bytes, mss_B=term(card.segment_B, "B"), aggregate_B=aggregate_B)
        plain, clock = row.term(stack.interrupt_byte), self.clock(row)
        cycles = law(
            cpu.cycles_per_byte, per_byte=row.term(byte), per_packet=row.term(packet), traversal_B=passed
        ) + card.interrupt(row, plain, clock, card.segment_B, receiving=reading)
        if protocol is not None:
            cycles = cycles + protocol
        text, duty = f"TCP of storage behind {name}", Duty("nvme-of", nic=name)
        taker = self.taker(duty)
        if taker is None:
            self.pool(row, cycles, text)
            return cycles
        self.devices[taker].serve(row, taker, duty, cycles, Thread("kernel"))
        left = self.devices[taker].handing_over(row)
        self.pool(row, left, f"{text}: requests to {taker}")
        return left

    def taker(self, duty: Duty | None) -> str | None:
        """Name of the first device that takes some work over, if any does."""
        if duty is None:
            return None
        return next((name for name, device in self.devices.items() if device.takes(duty)), None)

    def work(
        self, row: Row, thread: Thread, cycles: Term, text: str, duty: Duty | None = None, near: int | None = None
    ) -> None:
        """Charges work of a thread, or what is left of it and what a device has to do where one takes it over."""
        taker = self.taker(duty)
        if taker is None or duty is None:
            slow = None if duty is None or self.cpu.aes else WITHOUT_AES.get(duty.algorithm)
            if duty is not None and duty.algorithm in CHAINED:
                cycles = cycles * row.term(self.cpu.per_cycle)
            self.core(row, thread, cycles if slow is None else cycles + row.term(slow), text, near=near)
            return
        device = self.devices[taker]
        stays = device.handing_over(row)
        if duty.left is not None:
            left = row.term(duty.left)
            stays, cycles = stays + left, largest(cycles - left, term(0.0))
        device.serve(row, taker, duty, cycles, thread)
        self.core(row, thread, stays, f"{text}, less what {taker} does", near=near)
        if device.visits:  # there and back
            visit = row.times(device.visits)
            self.memory.cross(visit, crossing.DMA, f"bytes to {taker}")
            self.memory.cross(visit, crossing.DMA, f"bytes from {taker}")
            self._slots(visit, taker, to_host=False)
            self._slots(visit, taker, to_host=True)

    def _through_hba(self, row: Row, use: Access, name: str) -> None:
        self.hbas[name].carry(row, use, name)
        placed = self.placement.storage_interrupts
        cost = row.term(self.stack.storage_interrupt_byte)
        near = self.socket_of(self.hbas[name].slot)
        self.interrupts(row, placed.get(name, placed.get("all", [])), cost, f"interrupts of {name}", near=near)
        self.cross_sockets(row, near, f"bytes of {name}", to_host=use.operation == "read")

    def nic_bus(self, row: Row, name: str, *, receiving: bool) -> None:
        """Charges the slots between a NIC and memory, and the way between sockets."""
        card = self.nics[name]
        part = row.times(1.0 / (1 + len(card.more_slots))) if card.more_slots else row
        self._slots(part, name, to_host=receiving)
        for slot in card.more_slots:  # an equal card of the bond
            width, generation = card.card_lanes, card.card_generation
            self._slots(part, f"slot-{slot}", to_host=receiving, card_lanes=width, card_generation=generation)
        self.cross_sockets(row, self.socket_of(self.nics[name].slot), f"bytes of {name}", to_host=receiving)

    def _say_where(self, row: Row, name: str, card: Hba | Nic | Offload) -> None:
        """Warns of a card that nobody says where it sits, if its link could matter."""
        link = float(pcie.tlp_rate(card.card_generation, card.card_lanes, 256.0))
        if card.slot is not None or self.wiring.nodes[name].get("rate_Bps", link) * _PLENTY < link:
            return
        if link_known(card):
            where = f"taken to sit in a slot of its own, gen {card.card_generation} x{card.card_lanes}"
        else:
            where = "PCIe is left out"
        row.ledger.warn(
            f"{self.name}: no slot is described for {name}: {where}; write 'slots:' and '{name}: {{slot: ...}}'"
        )
