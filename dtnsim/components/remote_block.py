"""iSCSI and NVMe over Fabrics, block devices behind a network: requests in flight, target ports, cores."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.device import BLOCK_REQUEST, Fabric, Layer
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, term
from dtnsim.physics import nfs, waiting


class RemoteBlock(Layer):
    """Drives of a target (``of``), ``targets`` of them, behind a network: the volume's ``via`` names the host's NICs.

    Attributes:
        of: Drives of one target.
        targets: Targets that the volume is spread over evenly.
        port_rate: Rate of one target's ports, where they may be narrower than the rest.
        transport: What carries the requests: tcp or rdma.
        connections: Connections to all targets together.
        depth: Requests that one connection has in flight.
        request: Largest request; read-ahead and write-back ask for so much at once.
        round_trip: Time that the network and both ends add to a request.
        protocol_byte: What a byte costs the host's core besides TCP.
        command: What a request costs the core of its connection besides its bytes.
    """

    targets: Annotated[int, Field(ge=1, le=1000)] = 1
    port_rate: Annotated[Quantity, Unit("B/s", low=1e5, line=True)] | None = None
    transport: Literal["tcp", "rdma"] = "tcp"
    connections: Annotated[int, Field(ge=1, le=4096)] = 1
    depth: Annotated[int, Field(ge=1, le=4096)] = 128
    request: Annotated[Quantity, Unit("B", low=4096)] = prior("128 KiB", 0.0, "Linux: read_ahead_kb of block devices")
    round_trip: Annotated[Quantity, Unit("s", spread=0.5)] | None = None
    protocol_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)]
    command: Annotated[Quantity, Unit("cycles", spread=0.5)]

    #: what the network and both ends add to a request where ``round_trip`` does not say it, by transport
    ROUND_TRIP: ClassVar[dict[str, Quantity]]

    def added(self, row: Row) -> Term:
        """Time that the network and both ends add to a request [s]; the default depends on the transport."""
        return row.term(self.round_trip or self.ROUND_TRIP[self.transport])

    @property
    def per_byte(self) -> Quantity:
        """What a byte costs the host's core besides the transport: commands and completions."""
        return self.protocol_byte

    @property
    def fabric(self) -> Fabric:
        return Fabric(self.transport, self.connections, self.per_byte, self.kind, commands=self.command_byte)

    def largest(self, use: Access) -> Quantity:
        """Largest request of an access."""
        return self.request

    def request_B(self, row: Row, use: Access) -> Term:
        """Bytes of one request of an access."""
        return use.joined_request_B(row.term(self.largest(use)))

    def command_byte(self, row: Row, use: Access) -> Term:
        """What commands cost the core of their connection for each byte that they carry [cycles/B]."""
        return row.term(self.command) / self.request_B(row, use)

    def trips(self, row: Row, use: Access) -> Term | float:
        """Ways there and back of one request."""
        return 1.0

    def parity_thread(self, row: Row, use: Access) -> None:
        """The targets compute their own parity."""

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        return np.asarray(self.of.latency(row, use, members)) + (self.trips(row, use) * self.added(row)).value

    def single_rate(self, row: Row, use: Access) -> Value:
        """One request passes the target's port, and then its drives [B/s]."""
        drives = self.of.single_rate(row, use)
        return drives if self.port_rate is None else 1.0 / (1.0 / drives + 1.0 / row.value(self.port_rate))

    def turnaround(self, row: Row) -> Term:
        return self.of.turnaround(row) + self.added(row)

    def turn(self, row: Row) -> Term:
        return self.of.turn(row) + self.added(row)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        flying = use.under_way(self.largest(use).value, float(self.connections * self.depth * copies))
        drives = term(self.of.latency(row, use.but(random=use.waits_for_each)), "s", "drives of the target")
        waits, alone = drives + self.trips(row, use) * self.added(row), term(self.single_rate(row, use), "B/s")
        size, text = self.request_B(row, use), f"{self.kind} {use.operation} requests in flight"
        rate = law(waiting.request_rate, request_B=size, latency_s=waits, rate_Bps=alone, in_flight=flying)
        remedy = "more requests in flight: larger read-ahead, queue depth or more connections"
        remedy += f" (hosts.{row.host}.volumes, array.request, array.depth, array.connections)"
        row.charge(f"{name}.in-flight", "window", capacity=rate, what=text, remedy=remedy)
        if self.port_rate is not None:
            capacity = count(self.targets * copies, "target") * row.term(self.port_rate)
            wire = term(use.wire, source="framing, as at the host's card")
            row.charge(f"{name}.target-ports", "nic", capacity=capacity, per_byte=wire, what="ports of the targets")
        self.of.serve(row, use, name, copies=copies * self.targets, visit_B=visit_B)


_CRC = prior("0.3 cycles/B", 0.6, "assumed: CRC32C by the processor's own instruction, some 0.15 to 0.6 cycles a byte")


class Iscsi(RemoteBlock):
    """LUNs of an iSCSI target (open-iscsi); ``transport: rdma`` is iSER.

    What a write brings along is ``first_burst``; the target asks for the rest, ``burst`` by ``burst`` (R2T, one at a
    time unless MaxOutstandingR2T says otherwise), and each burst is a round trip. A thread of the target takes the
    commands of a session (LIO, SCST), or one those of all sessions (tgt).

    Neglects: error recovery levels; several R2T at a time.

    Attributes:
        connections: Sessions to all targets together (node.session.nr_sessions, paths of multipath).
        depth: Commands that a session has in flight for one LUN (node.session.queue_depth).
        request: Largest request (MaxRecvDataSegmentLength, MaxBurstLength).
        first_burst: Data that a write sends without being asked (FirstBurstLength; ImmediateData, InitialR2T=No).
        burst: Data that the target asks for at once (MaxBurstLength).
        served: Commands a second that one thread of the target takes.
        target_threads: Such threads of all targets together; one for each session where not given.
        digest: Whether data have CRC32C digests (node.conn[0].iscsi.DataDigest).
        digest_byte: What a digest costs a byte.
    """

    kind: ClassVar[str] = "iscsi"

    depth: Annotated[int, Field(ge=1, le=4096)] = 32
    request: Annotated[Quantity, Unit("B", low=4096)] = prior(
        "128 KiB", 0.0, "Linux: read_ahead_kb of block devices; open-iscsi takes data segments of up to 256 KiB"
    )
    protocol_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0.2 cycles/B", 0.7, "assumed: headers and a copy in part, in the session's one thread"
    )
    command: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "15000 cycles",
        0.7,
        "a target does 100,000 (nvme-storage.com, NVMe-oF vs iSCSI) to 400,000 commands a second (nvme-tcp.com, "
        "NVMe/TCP vs iSCSI) through one queue: 7,500 to 30,000 cycles at 3 GHz",
    )
    first_burst: Annotated[Quantity, Unit("B", low=0)] = prior("64 KiB", 0.0, "RFC 7143, 13.14: default 65536")
    burst: Annotated[Quantity, Unit("B", low=512)] = prior("256 KiB", 0.0, "RFC 7143, 13.13: default 262144")
    served: Annotated[Quantity, Unit("1/s", spread=0.5, low=10)] = prior(
        "96000 ops/s",
        1.4,
        "one session to a target whose thread is full: 22,000 (LIO of Linux 3.12 on an E5, RAM disk, 32 readers: LKML, "
        "March 2015), 100,000 (nvme-storage.com, NVMe-oF vs iSCSI), 400,000 (nvme-tcp.com, "
        "NVMe/TCP vs iSCSI)",
    )
    target_threads: Annotated[int, Field(ge=1, le=4096)] | None = None
    digest: bool = False
    digest_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = _CRC

    ROUND_TRIP: ClassVar[dict[str, Quantity]] = {
        "tcp": prior(
            "100 us", 0.6, "assumed: kernel to kernel 50 to 200 us; 15 us where a card does it (Chelsio T6, 100G iSCSI)"
        ),
        "rdma": prior(
            "20 us", 0.5, "Chelsio, High performance 100G iSCSI: 15 us more than local, protocol on the card"
        ),
    }

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        threads = self.target_threads or max(self.connections, self.targets)
        most, each = count(threads * copies, "thread") * row.term(self.served), 1.0 / self.request_B(row, use)
        text = "commands that the threads of the targets take"
        remedy = f"larger requests, more sessions (hosts.{row.host}.volumes, array.connections)"
        row.charge(f"{name}.target-threads", "target-core", capacity=most, per_byte=each, what=text, remedy=remedy)
        super().serve(row, use, name, copies=copies, visit_B=visit_B)

    def largest(self, use: Access) -> Quantity:
        """A direct write is one command as far as the block layer leaves it whole."""
        direct = use.operation == "write" and use.finish in ("direct", "dsync")
        return BLOCK_REQUEST if direct else super().largest(use)

    def trips(self, row: Row, use: Access) -> Term | float:
        """A write waits for each burst that the target asks for."""
        if use.operation == "read":
            return 1.0
        sent, burst = row.term(self.first_burst), row.term(self.burst)
        return law(nfs.solicited_trips, write_B=self.request_B(row, use), first_B=sent, burst_B=burst)

    @property
    def per_byte(self) -> Quantity:
        """Commands, and digests where they are on."""
        cost, crc = self.protocol_byte, self.digest_byte
        return cost.worth(cost.value + crc.value, f"{cost.source}; {crc.source}") if self.digest else cost


class NvmeOf(RemoteBlock):
    """Namespaces of NVMe targets (``nvme connect -t tcp|rdma --nr-io-queues --queue-size``).

    Neglects: in-capsule data; digests of TCP; multipath policies beyond an even spread.

    Attributes:
        connections: I/O queues to all targets together (--nr-io-queues; the kernel makes one for each core).
        depth: Requests that one queue takes (--queue-size).
    """

    kind: ClassVar[str] = "nvme-of"

    connections: Annotated[int, Field(ge=1, le=4096)] = 8
    round_trip: Annotated[Quantity, Unit("s", spread=0.4)] | None = None
    protocol_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0 cycles/B", 0.0, "nothing besides the transport: a byte is copied or placed by it"
    )
    command: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "8000 cycles",
        0.8,
        "assumed: a command, its completion and a wake-up of the queue's worker, half of iSCSI's without SCSI's layers",
    )

    ROUND_TRIP: ClassVar[dict[str, Quantity]] = {
        "tcp": prior("32 us", 0.4, "nvme-tcp.com, NVMe/TCP vs NVMe/RDMA: 25 to 40 us"),
        "rdma": prior("15 us", 0.4, "nvme-tcp.com, NVMe/TCP vs NVMe/RDMA: 10 to 20 us"),
    }
