"""Ceph, CephFS and RBD: objects on OSDs, copies or coded shards, read-ahead, metadata servers, images of disks."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access, Operation
from dtnsim.components.device import Connections, Device, Fabric
from dtnsim.components.filesystem import label_of
from dtnsim.components.machine import Machine
from dtnsim.components.metadata_servers import MetadataServers
from dtnsim.components.parallel import Copies, ParallelFilesystem
from dtnsim.components.servers import Group, Left, RequestTime, TargetRate
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, largest, law, least, term
from dtnsim.physics import gpfs, redundancy, servers, waiting

#: requests that one of them does a second
_MDS = "assumed: the one active MDS that Ceph has by default, a process on few cores: some thousand changes a second"

#: what a core of an OSD's node does
_CORES = "ceph.io, Ceph OSD CPU Scaling (2022), what the documentation advises for one core, which may be a thread"
#: clock of the cores that this is said of
_ADVISED_CLOCK = prior("3 GHz", 0.2, "assumed: servers of 2015 to 2020 under load, 2.5 to 3.5 GHz")


#: an OSD that writes or reads less than this has a disk: no SATA drive of flash is rated below 250 MB/s
_FLASH_BPS = 200e6
_DISK = prior("80 IOPS", 0.5, "a disk of 7,200 rpm: 8.5 ms to the track and half a turn, 4.2 ms")
#: krbd before 4.2 left the kernel's limits of a request as they are: 128 pages (BLK_MAX_SEGMENTS), of 4 KiB
_LARGER_SINCE, _SEGMENTS_B = (4, 2), 128 * 4096.0


class OsdPool(Copies):
    """Objects on OSDs: a pool keeps ``replicas`` copies, or is erasure-coded with ``data`` and ``coding`` shards.

    Attributes:
        object_size: Size of the objects of a file or image.
        osds: OSDs of the pool.
        osd_read: Rate of one OSD.
        osd_write: Rate of one OSD, the copies counted apart.
        osd_iops: Small requests a second that one OSD reads; a disk's where the OSD is no faster than one.
        osd_write_iops: Those that one writes, the copies counted apart.
        share: Part of the cluster that other users leave.
    """

    object_size: Annotated[Quantity, Unit("B", low=65536)] = prior(
        "4 MiB", 0.0, "Ceph: object size of a default layout; rbd(8): --object-size"
    )
    osds: Annotated[int, Field(ge=1, le=100000)] = 60
    osd_read: TargetRate = prior(
        "1 GB/s", 0.6, "assumed: an OSD on flash; its daemon's few cores bind before a drive of 2 to 7 GB/s does"
    )
    osd_write: TargetRate = prior("1 GB/s", 0.6, "assumed: as it reads; the copies are counted apart")
    osd_iops: Annotated[Quantity, Unit("1/s", spread=0.3, low=1)] = prior(
        "27k IOPS",
        0.5,
        "Micron, Ceph Storage and NVMe SSDs: 1.3 million random reads of 4 KiB on 24 drives; two OSDs a drive assumed",
    )
    osd_write_iops: Annotated[Quantity, Unit("1/s", spread=0.3, low=1)] = prior(
        "13k IOPS",
        0.6,
        "Micron, Ceph Storage and NVMe SSDs: 250,000 random writes of 4 KiB on the same drives; two OSDs a drive and "
        "two or three copies assumed: 10,000 or 16,000",
    )
    replicas: Annotated[int, Field(ge=1, le=10)] = 3
    share: Left = prior("0.6", 0.5, "assumed: what other users leave of a shared cluster at a random hour")

    def piece_of(self, row: Row, use: Access) -> Term:
        """Bytes of an object: a tool without files makes each as large as its blocks."""
        return term(use.part_B, "B", "the tool's own option") if use.part_B > 0 else row.term(self.object_size)

    def parts(self, operation: Operation) -> int:
        """OSDs that one request waits for."""
        if operation == "write":
            return min(self.osds, self.data + self.coding if self.data else self.replicas)
        return min(self.osds, max(self.data, 1))

    def at_osd(self, row: Row, operation: Operation) -> Term:
        """Seconds of a byte of one request at each of its OSDs."""
        rate = row.term(self.osd_read if operation == "read" else self.osd_write)
        return term(1.0 / max(self.data, 1)) / rate

    def small(self, row: Row, use: Access) -> Term:
        """Small requests a second of an OSD; where nobody says, it is a disk's turn for each that moves its heads."""
        said = self.osd_iops if use.operation == "read" else self.osd_write_iops
        usual = OsdPool.model_fields["osd_iops" if use.operation == "read" else "osd_write_iops"].default
        moves = use.operation == "write" or use.random
        return row.term(_DISK if moves and self.slow(use) and said == usual else said)

    def slow(self, use: Access) -> bool:
        """Whether the OSDs are on disks."""
        rate = self.osd_read if use.operation == "read" else self.osd_write
        return rate.value < _FLASH_BPS

    def service(self, row: Row, use: Access, size: Term) -> Term:
        """Seconds of each OSD for one request.

        Args:
            row: The row to charge.
            use: The access.
            size: Its bytes.
        """
        whole, byte = self.piece_of(row, use), self.at_osd(row, use.operation)
        if not (use.alone or use.operation == "write"):
            return size * byte
        small = 1.0 / self.small(row, use)
        return law(redundancy.osd_time, request_B=size, object_B=whole, object_s=whole * byte, small_s=small)

    def beside(self, row: Row, use: Access, takes: Term) -> Term:
        """What a request takes besides its OSD; what one on flash does for a small request is in the time of one.

        Args:
            row: The row to charge.
            use: The access.
            takes: What one alone takes, its transfer left out.
        """
        if self.slow(use) or not (use.alone or use.operation == "write"):
            return takes
        return largest(takes - 1.0 / self.small(row, use), term(0.0, "s"))


class Cephfs(ParallelFilesystem, OsdPool):
    """A CephFS mount of the kernel client; ``servers`` are the nodes that hold the OSDs.

    Capabilities that another client holds are asked back first (``contended``); a file that another client writes at
    the same time has none for its cache, so that each call goes to the OSDs and is waited for (``shared``).

    Neglects: what a client has to write out before it gives up a capability; the cache tier.
    """

    kind: ClassVar[str] = "cephfs"
    over_ip: ClassVar[bool] = True
    common: ClassVar[tuple[str, ...]] = (
        "servers", "share", "osds", "osd_read", "osd_write", "osd_iops", "osd_write_iops", *Copies.model_fields,
    )  # fmt: skip

    usual_metadata: ClassVar[MetadataServers | None] = MetadataServers(
        create=prior("8000 ops/s", 1.0, _MDS),
        stat=prior("30000 ops/s", 1.0, _MDS),
        remove=prior("6000 ops/s", 1.0, _MDS),
    )

    read_ahead: Annotated[Quantity, Unit("B", low=65536)] = prior("8 MiB", 0.0, "mount.ceph(8): rasize, default 8 MiB")
    write_back: Annotated[int, Field(ge=1, le=10000)] = 16
    latency: RequestTime = prior(
        "1 ms", 0.8, "assumed: client, messenger and OSDs in user space, 0.3 to 3 ms on flash, the transfer left out"
    )
    metadata_time: RequestTime = prior(
        "1 ms", 0.8, "assumed: a request to an MDS and its answer; changes are journaled to the metadata pool later"
    )

    contended: Annotated[Quantity, Unit("1", high=1.0)] = prior("0", 0.0, "no other client holds capabilities of it")
    shared: bool = False

    def sees(self, use: Access) -> Access:
        """Without the capabilities to cache and to buffer, calls are synchronous."""
        return use.but(finish="direct") if self.shared else use

    def round_trips(self, row: Row, operation: str) -> Value:
        """More where another client has to give up its capabilities."""
        trips = law(gpfs.token_round_trips, contended=row.term(self.contended)).value
        return super().round_trips(row, operation) * trips

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """Objects in flight, OSDs with their copies, the nodes' ports, then the storage network."""
        label, whole, reading = label_of(volume), self.whole(row), use.operation == "read"
        size, parts = self.piece_of(row, use), whole.parts(use.operation)
        name = "in-flight" if use.alone else "read-ahead" if reading else "write-back"
        row.charge(
            f"{label}.{name}",
            self.kind,
            private=True,
            capacity=self._flying(row, use, max(use.own_streams, 1)),
            what="CephFS objects in flight",
        )
        lies = law(servers.file_stripes, file_B=use.file_B, stripe_count=whole.osds, stripe_B=size)
        lies = least(lies * count(parts, "part"), count(whole.osds, "OSD"))
        rate = row.term(whole.osd_read if reading else whole.osd_write)
        if use.alone:  # calls smaller than an object
            asked = use.asked(size)
            rate = least(rate, asked / (whole.service(row, use, asked) * float(max(whole.data, 1))))
        osds = Group("osds", "OSDs", whole.osds, rate, lies, size)
        self.groups(row if reading else row.times(whole.stored()), use, label, osds)
        self.behind(row.times(whole.ports(reading=reading)), use, label, size)
        host.storage_network(row, use, volume)

    def _flying(self, row: Row, use: Access, streams: int) -> Term:
        """Rate of the requests that so many streams have in flight: of direct calls one object after the other."""
        whole, size = self.whole(row), use.asked(self.piece_of(row, use))
        window = row.term(self.read_ahead) / size if use.operation == "read" else count(self.write_back, "object")
        away = self.away(whole.beside(row, use, row.term(self.latency)), use)
        if whole.servers is not None and whole.servers.bounded:  # a message is whole before it is worked on
            ports = whole.ports(reading=use.operation == "read")
            away = away + size * ports / whole.servers.node(row)
        return law(
            redundancy.pool_rate,
            request_B=size,
            in_flight=count(streams, "stream") * (count(use.queue_depth, "request") if use.alone else window),
            osds=count(whole.osds, "OSD"),
            parts=count(whole.parts(use.operation), "part"),
            service_s=whole.service(row, use, size) / row.term(whole.share),
            away_s=away,
        )

    def request_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """What one request takes alone besides its part of what all in flight are charged."""
        del host, volume
        each, all_of_them = (
            self._flying(row, use.but(queue_depth=1), 1),
            self._flying(row, use, max(use.own_streams, 1)),
        )
        return np.maximum(1.0 / each.value - 1.0 / all_of_them.value, 0.0)

    def connections_of(self, row: Row, use: Access) -> Connections:
        """One for each OSD with an object in flight."""
        del row
        window = self.read_ahead.value / self.object_size.value if use.operation == "read" else self.write_back
        flying = max(use.own_streams, 1) * max(use.queue_depth, round(min(window, use.file_B / self.object_size.value)))
        number = max(min(flying, self.osds), 1)
        return Connections(number, tied=number > 1, shared=number == self.osds)


class Rbd(Device, OsdPool):
    """An image that ``rbd map`` or QEMU shows as a block device; the volume's ``via`` names the NICs to the cluster.

    A ``hyperconverged`` host has its part of the objects itself, which pass no wire to it; as their primary it sends
    the copies on. Its cores do its part of the OSDs' work, as those of the other nodes do theirs.

    Neglects: the client's cache of librbd; fancy striping; small writes to coded pools, which read their stripe first;
    cores of nodes that are no hosts of the path, beside what their OSDs do.

    Attributes:
        core_iops: Small requests a second that a core of 3 GHz serves.
        core_rate: Rate of large ones that it serves.
        nodes: Nodes with OSDs.
        hyperconverged: Whether the host is one of them.
        port_rate: Rate of a node's ports together.
        depth: Requests that the image has in flight (queue_depth of krbd).
        request: Largest request; read-ahead and write-back ask for so much at once.
        read_time: Time of one read, its transfer left out.
        write_time: Time of one write to all copies, its transfer left out.
        connections: Connections whose work is on cores of its own: the messenger's threads.
        byte: What a byte costs such a core besides TCP.
    """

    kind: ClassVar[str] = "rbd"

    core_iops: Annotated[Quantity, Unit("1/s", spread=0.3, low=1)] = prior(
        "1700 IOPS", 0.6, f"{_CORES}: 1000 to 3000 operations a second, before replication"
    )
    core_rate: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e5)] = prior(
        "320 MB/s", 0.5, f"{_CORES}: 200 to 500 MB/s, before replication"
    )
    nodes: Annotated[int, Field(ge=1, le=10000)] = 10
    hyperconverged: Annotated[bool, Field(description="the host is one of the nodes with OSDs")] = False
    port_rate: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e5, line=True)] | None = None
    depth: Annotated[int, Field(ge=1, le=4096)] = 128
    request: Annotated[Quantity, Unit("B", low=4096)] = prior(
        "4 MiB", 0.0, "krbd sets read_ahead_kb and the largest request to the object size (drivers/block/rbd.c)"
    )
    read_time: RequestTime = prior(
        "0.6 ms", 0.6, "assumed: client, messenger and OSD in user space, 0.3 to 1 ms on flash"
    )
    write_time: RequestTime = prior("1.5 ms", 0.6, "assumed: the primary waits for all copies, 0.8 to 3 ms on flash")
    connections: Annotated[int, Field(ge=1, le=1000)] = 3
    byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0.4 cycles/B", 0.7, "assumed: CRC32C of each message and a copy, some 0.3 to 0.6 cycles a byte"
    )

    @property
    def fabric(self) -> Fabric:
        """The messenger's connections."""
        return Fabric("tcp", self.connections, self.byte, self.kind)

    @property
    def keeps_writes(self) -> bool:
        """An acknowledged write is on the stable storage of all copies."""
        return True

    @property
    def here(self) -> float:
        """Part of the objects whose primary is on the host."""
        return 1.0 / self.nodes if self.hyperconverged else 0.0

    def bus_factor(self, use: Access) -> Value:
        """Bytes through the host's port: what lies here passes none, the copies of what is written here do."""
        reading = float(use.operation == "read")
        return redundancy.ceph_client_bytes(self.stored().value, self.data, reading, self.here)

    def asked(self, row: Row, use: Access) -> Term:
        """Bytes of one request to an OSD."""
        return use.asked(self._largest(row, use))

    def _largest(self, row: Row, use: Access) -> Term:
        whole = self.piece_of(row, use)
        if use.part_B > 0:
            return whole
        old = use.kernel is not None and use.kernel < _LARGER_SINCE and not self.states("request")
        most = term(_SEGMENTS_B, "B", "drivers/block/rbd.c before 4.2") if old else row.term(self.request)
        return least(most, whole)

    def served_here(self, row: Row, use: Access) -> Term | None:
        """The OSDs of this node serve its part of all requests, and write its part of all copies."""
        if not self.hyperconverged:
            return None
        busy = law(
            waiting.busy_seconds,
            request_B=self.asked(row, use),
            max_rate=row.term(self.core_rate),
            max_iops=row.term(self.core_iops),
        )
        copies = self.stored() if use.operation == "write" else 1.0
        return copies * busy * row.term(_ADVISED_CLOCK) / count(self.nodes, "node")

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:  # noqa: ARG002 - no arms to wait for
        """Seconds of one request alone, its transfer left out."""
        return row.value(self.read_time if use.operation == "read" else self.write_time)

    def single_rate(self, row: Row, use: Access) -> Value:
        """That of one OSD for each object, and of the wire before or after it."""
        pieces = max(1.0, min(self.depth, use.block_B / float(self._largest(row, use).value)))
        return (pieces / (self.at_osd(row, use.operation) + self._on_the_wire(row, use))).value

    def _on_the_wire(self, row: Row, use: Access) -> Term:
        """Seconds of a byte on its way to an OSD and its copies, or back: a message is whole before it is worked on."""
        if self.port_rate is None:
            return term(0.0, "s/B")
        return self.ports(reading=use.operation == "read", here=self.here) / row.term(self.port_rate)

    def media_rate(self, row: Row, operation: Operation) -> Term:
        """All OSDs together, copies counted."""
        rate, whole = row.term(self.osd_read), count(self.osds, "OSD")
        if operation == "read":
            return whole * rate
        return whole * row.term(self.osd_write) / self.stored()

    def turnaround(self, row: Row) -> Term:
        """That of one write."""
        return row.term(self.write_time)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:  # noqa: ARG002 - no heads
        """Charges the image's requests in flight, the OSDs that hold their objects, and the nodes' ports."""
        reading, size = use.operation == "read", self.asked(row, use)
        flying = use.under_way(float(self._largest(row, use).value), float(self.depth * copies))
        written, share = self.stored(), row.term(self.share)
        rate = row.term(self.osd_read if reading else self.osd_write)
        service = self.service(row, use, size)
        takes = self.beside(row, use, row.term(self.read_time if reading else self.write_time))
        row.charge(
            f"{name}.in-flight",
            "cephfs",
            capacity=law(
                redundancy.pool_rate,
                request_B=size,
                in_flight=max(1.0, flying),
                osds=count(self.osds, "OSD"),
                parts=count(self.parts(use.operation), "part"),
                service_s=service / share,
                away_s=takes + size * self._on_the_wire(row, use),
            ),
            what=f"RBD {use.operation} requests in flight",
            remedy="more requests in flight: read-ahead, queue depth, several images (array.depth, array.request); "
            "while these queue, more OSDs (array.osds)",
        )
        load = row if reading else row.times(written)
        load.charge(
            f"{name}.osds",
            "cephfs",
            capacity=count(self.osds, "OSD") * rate * share,
            what="OSDs with objects of the image",
            remedy="more OSDs (array.osds), or more files or requests at once, so that more OSDs work",
        )
        if use.alone or not reading:
            load.charge(
                f"{name}.osd-requests",
                "cephfs",
                unit="op",
                capacity=count(self.osds, "OSD") * share / service,
                per_byte=1.0 / size,
                what="requests that the OSDs serve",
                remedy="more or faster OSDs (array.osds, array.osd_iops, array.osd_write_iops)",
            )
        if self.port_rate is not None:
            row.times(self.ports(reading=reading, here=self.here)).charge(
                f"{name}.node-ports",
                "cephfs",
                capacity=count(self.nodes, "node") * row.term(self.port_rate) * share,
                what="ports of the nodes, copies between them counted",
                remedy="more nodes, or faster ports of theirs (array.nodes, array.port_rate)",
            )
