"""Cards for the network, and adapters that drives hang on; the slots they sit in.

- NICs: ports, framing, bonding, queues; Ethernet or InfiniBand.
- Host bus adapters and RAID controllers: lanes to the drives or their expander, the chip.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.base import Component, Pick, empty
from dtnsim.components.cloud import Allowance
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Draw, Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, minimum, term
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics import bonding, cpu, nic as physics, pcie, rdma, waiting

#: InfiniBand MTU where the card's ``mtu`` is not given: what subnet managers set for most fabrics
_INFINIBAND_MTU = prior("2048 B", 0.0, "MTU of most InfiniBand fabrics (opensm's default)")
#: what the kernel does in connected mode of IPoIB
_CHECKSUM = prior(
    "0.25 cycles/B",
    0.5,
    "assumed: sums of 8 B a cycle from cache (0.125) to the 10 GB/s that a core has from memory (0.3)",
)
_PAGE = prior(
    "94 ns", 0.4, "LLFree, USENIX ATC 2023: Linux allocates 4 KiB in 94 ns on one core, ten times as long on 26"
)
#: and in datagram mode
_DATAGRAM = prior(
    "2500 cycles",
    0.5,
    "assumed: driver, skb and GRO for each packet, 2,000 to 3,500 cycles: netperf brings 1200 MB/s in packets of 2044 "
    "B to a Core 2 of 3 GHz (SCST, README of iscsi-scst), "
    "whose softirq has 5,000 of its lesser cycles at most",
)
#: what a frame takes besides its bytes, and the payload of those for which stacks say what a byte takes (MTU 9000)
_FRAME = prior(
    "500 cycles",
    0.4,
    "assumed: driver, skb and GRO, more than half of what a core takes to drop a frame of 1500 B in the table raw, 3.6 "
    "to 3.9 million a second (Toukan, net/mlx5e: Implement RX mapped page cache for page recycle, Linux 4.9): 640 to "
    "980 cycles at 2.5 to 3.5 GHz",
)
_JUMBO_B: Final = 8948.0


def _link(fields: Mapping[str, Any]) -> tuple[int, int]:
    """Lanes and generation of a card that is known by its ports only."""
    rate = fields.get("rate")
    if rate is None:  # it is wrong, and that will be said
        return 8, 3
    ports = fields.get("ports", 1) if fields.get("bonding", "none") != "none" else 1
    return pcie.card_link(rate.value * ports / (1 + len(fields.get("more_slots", ()))))


class Nic(Component):
    """An adapter with one or more ports.

    Attributes:
        rate: Data rate of a port, after line coding.
        ports: Number of ports.
        bonding: none (one port is used), hash (each stream is hashed onto one of the ports: Linux balance-xor or
            802.3ad), or application (the tool spreads its streams itself).
        duplex: full, or half where both directions take turns (Wi-Fi: one channel, on which one sends at a time).
        mtu: Largest IP packet, or payload of an InfiniBand packet.
        timestamps: Whether TCP's timestamps are on (net.ipv4.tcp_timestamps).
        vlan: Whether frames carry an 802.1Q tag.
        offload: Whether segmentation and receive offloads are on; false turns off both.
        tso: Segmentation offload of the sender (TSO, GSO).
        gro: Receive offload (GRO, LRO).
        queues: Receive queues: streams are hashed over them, and each queue's interrupts run on one core (RSS). IPoIB
            in connected mode (``mtu: 65520 B``) has one; so has datagram mode (2044 or 4092 B) slower than EDR, where
            nothing is stated.
        packets: Most packets a second in each direction, where the card or cloud limits them.
        allowance: What a cloud provider allows: one flow, what leaves, baseline and credits.
        protocol: Protocol of the link.
        credits: Receive buffer of an InfiniBand port, as much as the other end of the link may have on its way.
        slot: Slot that it sits in.
        more_slots: Slots of further equal cards of one bond; ``ports`` counts those of all cards.
        card_lanes: PCIe lanes of the card; as many as its ports need where not given.
        card_generation: PCIe generation of the card; the oldest that carries its ports where not given.
    """

    kind: ClassVar[str] = "nic"
    columns: ClassVar[tuple[str, ...]] = ("rate", "ports", "card_generation", "card_lanes", "protocol")
    placement_keys: ClassVar[tuple[str, ...]] = (
        "slot", "more_slots", "bonding", "ports", "mtu", "timestamps", "vlan", "offload", "tso", "gro", "allowance",
    )  # fmt: skip

    rate: Annotated[Quantity, Unit("B/s", low=1e4, line=True)]
    ports: Annotated[int, Field(ge=1, le=64)] = 1
    bonding: Literal["none", "hash", "application"] = "none"
    duplex: Literal["full", "half"] = "full"
    mtu: Annotated[
        Quantity,
        Unit("B", low=256, high=65535, plain=True),
        Otherwise("9000 B", "jumbo frames, where every place of the route has them (ip link, tracepath)"),
    ] = prior("1500 B", 0.0, "Ethernet default")
    timestamps: bool = True
    vlan: bool = False
    offload: bool = True
    tso: bool = True
    gro: bool = True
    queues: Annotated[
        int, Field(ge=1, le=1024), Otherwise("32", "most drivers make a queue for each core (ethtool -l)")
    ] = 8
    packets: Annotated[Quantity, Unit("1/s", spread=0.1, low=1e3)] | None = None
    allowance: Annotated[Allowance, Pick(Allowance)] | None = None
    protocol: Literal["ethernet", "infiniband"] = "ethernet"
    credits: Annotated[Quantity, Unit("B", spread=0.5, low=1024)] = prior(
        "256 KiB", 0.7, "assumed: a virtual lane's buffer of adapters and switches, enough for some kilometres of cable"
    )
    slot: str | None = None
    more_slots: list[str] = Field(default_factory=empty)
    card_lanes: Annotated[int, Field(ge=1, le=32, default_factory=lambda known: _link(known)[0])]
    card_generation: Annotated[int, Field(ge=1, le=6, default_factory=lambda known: _link(known)[1])]

    @property
    def links(self) -> int:
        """Ports that one transfer can fill."""
        return 1 if self.bonding == "none" else self.ports

    @property
    def could_jumbo(self) -> bool:
        """Whether it could have jumbo frames: Ethernet of a gigabit or more; Wi-Fi, modems and older cards none."""
        return self.protocol == "ethernet" and self.rate.value >= physics.JUMBO_Bps

    @property
    def segment_B(self) -> float:
        """Payload of a full TCP packet [B]."""
        return float(physics.segment_bytes(self.mtu.value, float(self.timestamps)))

    @property
    def connected(self) -> bool:
        """Whether it is IPoIB in connected mode, which alone has packets of that size."""
        return self.protocol == "ethernet" and self.mtu.value == physics.CONNECTED_B

    @property
    def datagrams(self) -> bool:
        """Whether it is IPoIB in datagram mode, each packet by itself, on a card before ConnectX-4."""
        slow = self.protocol == "ethernet" and self.rate.value < physics.EDR_Bps
        return slow and self.mtu.value in physics.DATAGRAMS_B and "queues" not in self.model_fields_set

    @property
    def rings(self) -> int:
        """Receive queues that interrupts are spread over."""
        return 1 if self.connected or self.datagrams else self.queues

    def interrupt(self, row: Row, plain: Term, clock: Term, mss_B: float, *, receiving: bool) -> Term:
        """Cycles per byte of softirq.

        Args:
            plain: What driver and protocol take, in frames of 9000 B.
            clock: Clock of a core.
            mss_B: Payload of a frame [B].
        """
        if self.datagrams and receiving:
            packet = row.term(_DATAGRAM)
            return law(cpu.cycles_per_byte, per_byte=plain, per_packet=packet, traversal_B=term(self.segment_B, "B"))
        if not receiving or self.protocol == "infiniband":
            return plain
        if not self.connected:
            frame = {"per_call": row.term(_FRAME), "call_B": term(mss_B, "B"), "reference_B": term(_JUMBO_B, "B")}
            return law(cpu.cycles_per_byte, per_byte=plain, **frame) if mss_B < _JUMBO_B else plain
        checksum, page_s = row.term(_CHECKSUM), row.term(_PAGE)
        return law(physics.connected_interrupt, interrupt=plain, checksum=checksum, page_s=page_s, clock_Hz=clock)

    def within_a_region(self) -> Self:
        """The card of an instance whose path leaves no region; what a file says of that holds."""
        if self.allowance is None or "outside" in self.allowance.model_fields_set:
            return self
        return self.model_copy(update={"allowance": self.allowance.model_copy(update={"outside": False})})

    def joins(self, *, receiving: bool) -> bool:
        """Whether packets pass the kernel joined together."""
        return self.offload and (self.gro if receiving else self.tso)

    def carries(self, draw: Draw, flows: int, *, sending: bool) -> Value:
        """Rate on the wire that so many flows of one transfer may have [B/s]."""
        rate: Value = draw(self.rate) * self.links
        return rate if self.allowance is None else self.allowance.guaranteed_rate(draw, rate, flows, sending=sending)

    @property
    def packet(self) -> Quantity:
        """Largest IP packet, or payload of an InfiniBand packet."""
        return self.mtu if self.protocol == "ethernet" or "mtu" in self.model_fields_set else _INFINIBAND_MTU

    def storage_wire(self, *, verbs: bool = False) -> Term:
        """Bytes on the wire for a byte of storage traffic: RDMA on InfiniBand or with ``verbs``, else TCP."""
        mtu = term(self.mtu.value, "B", self.mtu.source)
        if self.protocol == "infiniband":
            size = minimum(
                term(self.packet.value, "B", self.packet.source), term(4096.0, "B", "largest InfiniBand MTU")
            )
            return law(physics.infiniband_wire_bytes, mtu_B=size) / size
        if verbs:
            size = law(rdma.roce_payload, mtu_B=mtu)
            return law(rdma.roce_wire_bytes, payload_B=size) / size
        how = {"timestamps": float(self.timestamps), "vlan_tags": float(self.vlan)}
        return 1.0 / law(physics.framing_efficiency, mtu_B=mtu, **how)

    def send_bits(
        self,
        row: Row,
        name: str,
        *,
        direction: str,
        streams: int,
        port: int | None,
        wire: Term,
        packet_B: Term | None = None,
        lockstep: bool = False,
        workers: int = 1,
        total_B: float = math.inf,
        flows: int | None = 0,
    ) -> None:
        """Charges the wire for one payload byte.

        Args:
            port: The port that the transfer is bound to, if it is.
            packet_B: Payload of a packet, for cards that count packets.
            lockstep: True where all streams carry the same, so that the fullest port decides.
            workers: Who share the streams; one that is left alone has the ports that its own reach.
            flows: Connections that a limit of one flow holds for; None where nobody counts them, 0: ``streams``.
        """
        if port is not None and not 0 <= port < self.ports:
            remedy = f"write a number from 0 to {self.ports - 1}, or give the adapter more 'ports'"
            raise SpecError("is not a port of that adapter", key=f"{row.host}.nics.{name}", value=port, remedy=remedy)
        rate = row.term(self.rate)
        if self.packets is not None and packet_B is not None:
            most, each, text = row.term(self.packets), 1.0 / packet_B, "packets that the card takes"
            row.charge(f"{name}.packets.{direction}", "nic", capacity=most, per_byte=each, unit="op", what=text)
        if self.allowance is not None:
            counted = streams if flows == 0 else flows
            self.allowance.charge(row, name, direction, float(self.links) * rate, wire, counted, total_B)
        kind = "ib" if self.protocol == "infiniband" else "nic"
        ports, each = [port or 0], wire
        if port is None and self.ports > 1 and self.bonding == "hash":
            self._bonded(row, name, direction, streams, rate, wire, kind, lockstep=lockstep, workers=workers)
            return
        if port is None and self.ports > 1 and self.bonding == "application":
            ports = list(range(min(self.ports, max(streams, 1))))
            each = wire / count(len(ports), "port")
        way, remedy = (direction, "") if self.duplex == "full" else ("air", "a cable, whose directions are apart")
        for index in ports:
            station, what = f"{name}.port{index}.{way}", f"wire of port {index}"
            row.charge(station, kind, capacity=rate, per_byte=each, what=what, remedy=remedy)

    def _bonded(
        self,
        row: Row,
        name: str,
        direction: str,
        streams: int,
        rate: Term,
        wire: Term,
        kind: str,
        *,
        lockstep: bool,
        workers: int,
    ) -> None:
        capacity = count(self.ports, "port") * rate
        row.charge(f"{name}.bond.{direction}", kind, capacity=capacity, per_byte=wire, what="bonded wire")
        spread = bonding.static_rate if lockstep else bonding.dynamic_rate
        used = float(spread(1.0, self.ports, streams))
        capacity = law(spread, link_Bps=rate, links=self.ports, streams=streams)
        text = f"{streams} streams hashed onto {self.ports} ports use {used:.2f} of them on average"
        text += ", all at the pace of the fullest" if lockstep else ""
        alone = spread(rate.value, self.ports, max(1, streams // workers)) if workers > 1 else None
        station = f"{name}.bond-hash.{direction}"
        row.charge(station, kind, capacity=capacity, per_byte=wire, private=True, alone=alone, what=text)


class Hba(Component):
    """An adapter between drives and PCIe; ``lanes`` counts those to the drives or to their expander.

    What is written through a RAID controller passes its memory twice and has parity made of it: ``engine_write`` is
    what it takes of that, where it is less than what the ``engine`` passes of reads.

    Behind an expander (a JBOD, a backplane with more bays than lanes) all bytes pass its ``uplink_lanes``, at the speed
    of the drives' own lanes (``drive_lane``) unless the expander is ``buffered``.
    """

    kind: ClassVar[str] = "hba"
    columns: ClassVar[tuple[str, ...]] = ("lanes", "engine", "iops", "card_generation", "card_lanes")
    #: an expander belongs to the backplane and stays when the adapter goes
    placement_keys: ClassVar[tuple[str, ...]] = (
        "slot", "uplink_lanes", "drive_lane", "buffered", "expander_lane", "allowance",
    )  # fmt: skip

    slot: str | None = None
    lanes: Annotated[int, Field(ge=1, le=64)] = 8
    lane: Annotated[Quantity, Unit("B/s", low=1e7)] = prior("1200 MB/s", 0.0, "SAS 12 Gb/s payload after 8b/10b")
    uplink_lanes: Annotated[int, Field(ge=1, le=64, description="lanes from the adapter to an expander")] | None = None
    drive_lane: Annotated[Quantity, Unit("B/s", low=1e7)] = prior("600 MB/s", 0.0, "SAS or SATA 6 Gb/s after 8b/10b")
    buffered: Annotated[bool, Field(description="expander with store-and-forward buffers (DataBolt)")] = False
    expander_lane: Annotated[Quantity, Unit("B/s", low=1e7)] | None = None
    engine: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e7)] = prior(
        "6 GB/s", 0.15, "assumed: controller core of the SAS3 generation, near its slot's rate"
    )
    engine_write: (
        Annotated[Quantity, Unit("B/s", spread=0.35, low=1e7), Field(description="writes that a RAID controller takes")]
        | None
    ) = None
    iops: Annotated[Quantity, Unit("1/s", spread=0.2, low=1)] = prior(
        "500k IOPS", 0.4, "ServeTheHome, LSI 9202-16: 350k IOPS on one SAS2008"
    )
    request: Annotated[Quantity, Unit("B", spread=0.3, low=512)] = prior(
        "128 KiB", 0.5, "assumed: merged request of sequential I/O in the block layer"
    )
    allowance: Annotated[Allowance, Pick(Allowance)] | None = None
    card_lanes: Annotated[int, Field(ge=1, le=32)] = 8
    card_generation: Annotated[int, Field(ge=1, le=6)] = 3

    def carry(self, row: Row, use: Access, name: str) -> None:
        """Charges one byte that passes the adapter."""
        lane = row.term(self.lane)
        row.charge(f"{name}.lanes", "sas", capacity=count(self.lanes, "lane") * lane, what="SAS/SATA lanes")
        if self.uplink_lanes is not None:
            uplink_lane = lane if self.expander_lane is None else minimum(lane, row.term(self.expander_lane))
            lanes = {"lanes": self.uplink_lanes, "uplink_lane": uplink_lane, "drive_lane": row.term(self.drive_lane)}
            uplink = law(pcie.expander_uplink_rate, **lanes, buffered=self.buffered)
            more = "more lanes to the expander, or one that buffers ({key}.uplink_lanes, {key}.buffered)"
            row.charge(f"{name}.uplink", "sas", capacity=uplink, what="expander uplink", remedy=more)
        takes = self.engine_write if use.operation == "write" else None
        engine = row.term(takes or self.engine)
        spent = self.allowance.spent(row, engine, use.total_B) if self.allowance is not None else None
        if spent is not None:
            text = "disk baseline of the instance once its credits are spent"
            row.charge(f"{name}.credits", "hba", capacity=spent, what=text)
        size = term(use.block_B, "B") if use.random else row.term(self.request)
        size = term(use.request_B, "B") if use.request_B else size  # the file system joins its requests itself
        busy = law(waiting.busy_seconds, request_B=size, max_rate=engine, max_iops=row.term(self.iops))
        row.charge(f"{name}.engine", "hba", capacity=engine, per_byte=engine * busy, what="adapter's processor")
