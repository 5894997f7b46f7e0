"""Ceph, CephFS and RBD: objects on OSDs, copies or coded shards, read-ahead, metadata servers, images of disks."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from dtnsim.components.access import CHANGES, Access, Calls, Operation
from dtnsim.components.device import Connections, Device, Fabric
from dtnsim.components.filesystem import FileOperations, label_of
from dtnsim.components.machine import Machine
from dtnsim.components.parallel import PACIFIC, READ_TIME, REEF, WRITE_TIME, OsdPool, ParallelFilesystem
from dtnsim.components.servers import Group, MetadataServers, RequestTime, SharedFilesystem
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, minimum, term
from dtnsim.physics import gpfs, raid, redundancy, waiting

#: requests that one of them does a second
_MDS = (
    "one MDS with its journal on NVMe makes 2,200 to 4,500 files a second for 80 to 8,000 tasks with ceph-fuse (ceph "
    "PR 69974); one of 80 has 12,500 requests a second (PR 30592)"
)

#: a change that the client makes itself, as a local file system does
_HERE: Quantity = FileOperations.model_fields["change_time"].default
_NOWSYNC = (5, 16)  #: Linux whose mounts have nowsync where nobody says (commit f7a67b463fb8)
#: clock of the cores of that cluster
_MEASURED_CLOCK = prior("3 GHz", 0.2, "assumed: EPYC 7742 under load: 2.25 GHz base, 3.4 GHz turbo")
#: small and large requests that a core of that clock serves a second, reads and then writes, each copy counted
_CORE_IOPS = (
    prior("8800 IOPS", 0.6, f"{PACIFIC}: 7,500 reads a core used; {REEF}: 73,000 on seven cores"),
    prior("3600 IOPS", 0.6, f"{PACIFIC}: 3,500 writes a core used, copies counted; {REEF}: 40,000 on eleven cores"),
)
_CORE_RATE = (
    prior("970 MB/s", 0.5, f"{REEF}: 71 GB/s of large reads take 1 to 1.5 cores of each of 60 OSDs"),
    prior("360 MB/s", 0.5, f"{REEF}: 75 GB/s, copies counted, take 3 to 4 cores of each of 60 OSDs"),
)
#: krbd before 4.2 left the kernel's limits of a request as they are: 128 pages (BLK_MAX_SEGMENTS), of 4 KiB
_LARGER_SINCE, _SEGMENTS_B = (4, 2), 128 * 4096.0


def _served(row: Row, pool: OsdPool, use: Access, request_B: Term, rate: Quantity, iops: Quantity, nodes: int) -> Term:
    """Cycles that a node's OSDs take for its part of a byte: of all requests, and of all copies of what is written."""
    busy = law(waiting.busy_seconds, request_B=request_B, max_rate=row.term(rate), max_iops=row.term(iops))
    copies = pool.stored() if use.operation == "write" else 1.0
    return copies * busy * row.term(_MEASURED_CLOCK) / count(nodes, "node")


class Cephfs(ParallelFilesystem, OsdPool):
    """A CephFS mount of the kernel client; ``servers`` are the nodes that hold the OSDs.

    Capabilities that another client holds are asked back first (``contended``); a file that another client writes at
    the same time has none for its cache, so that each call goes to the OSDs and is waited for (``shared``).

    Nobody waits for a close, nor to look at what has just been made here, or to open it. With ``nowsync`` files are
    made and removed likewise where nobody else works in the directory (the default since Linux 5.16; mount.ceph(8)).
    The messages go out all the same.

    The cores of a ``hyperconverged`` host do its part of the OSDs' work.

    Neglects: what a client has to write out before it gives up a capability; the cache tier; what its part of the
    metadata takes of a hyperconverged host's cores.
    """

    kind: ClassVar[str] = "cephfs"
    over_ip: ClassVar[bool] = True
    refused: ClassVar[dict[str, str]] = {"op_time": "metadata_time"}
    times: ClassVar[tuple[str, str]] = ("metadata_time", "change_time")
    common: ClassVar[str] = "servers share osds osd_read osd_write osd_iops osd_write_iops release replicas data coding"

    usual_metadata: ClassVar[MetadataServers | None] = MetadataServers(
        create=prior("4500 ops/s", 0.8, _MDS),
        stat=prior("20000 ops/s", 1.0, f"assumed: somewhat more than of all kinds; {_MDS}"),
        remove=prior("4500 ops/s", 1.0, f"assumed: journaled as a creation is; {_MDS}"),
    )

    read_ahead: Annotated[Quantity, Unit("B", low=65536)] = prior("8 MiB", 0.0, "mount.ceph(8): rasize, default 8 MiB")
    write_back: Annotated[int, Field(ge=1, le=10000)] = 16
    latency: RequestTime = READ_TIME
    write_latency: RequestTime = WRITE_TIME
    metadata_time: RequestTime = prior(
        "0.35 ms",
        0.8,
        "between 0.25 ms, a message, 0.13 ms, and the MDS's own time, and 0.46 ms: 10,000 creations take 9.9 s where "
        "each is waited for and 5.3 s where none is (J. Layton, ceph-devel, January 2020, "
        "all on one workstation)",
    )

    change_time: RequestTime | None = prior(
        "1 ms",
        0.4,
        "one client that waits makes 1,010 files a second (Layton, as above) or 450 to 1,350, and removes 440 to 1,040 "
        "(mdtest of one task on flash: Compare FileSystem with RBD, a text kept in a GitHub repository)",
    )
    sync_latency: RequestTime = prior(
        "0 s", 0.0, "Linux fs/ceph/caps.c, ceph_fsync: the MDS hears of a file's size and times, and is not waited for"
    )
    nowsync: bool | None = None
    contended: Annotated[Quantity, Unit("1", high=1.0)] = prior("0", 0.0, "no other client holds capabilities of it")
    shared: bool = False

    def sees(self, use: Access) -> Access:
        """Without the capabilities to cache and to buffer, calls are synchronous."""
        return use.but(finish="direct") if self.shared else use

    def asks(self, operations: Calls, *, met: bool) -> Calls:
        """Of what this client has made just before it asks nothing: it has the capabilities."""
        return () if met and not set(operations) & CHANGES else operations

    def waits(self, row: Row, operations: Calls, host: Machine, away_s: Value, file_B: float, *, met: int = 0) -> Value:
        """A close is never waited for, nor a look at what this client has just made, or its open; nor changes."""
        release = host.stack.release
        delegated = (release is not None and release >= _NOWSYNC) if self.nowsync is None else self.nowsync
        local = {"stat", "open", "close"} if met else set()  # by capabilities that it has (fs/ceph/file.c, ceph_open)
        if delegated and self.contended.value == 0:
            local |= {"create", "remove"}
        remote_ops = tuple(operation for operation in operations if operation not in local | {"close"})
        local_s = [row.value(_HERE if name in CHANGES else self.op_time) for name in operations if name in local]
        return super().waits(row, remote_ops, host, away_s, file_B) + sum(local_s)

    def round_trips(self, row: Row, operation: str) -> Value:
        """More where another client has to give up its capabilities."""
        trips = law(gpfs.token_messages, inodes=1.0, contended=row.term(self.contended)).value
        return super().round_trips(row, operation) * trips

    def flush_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """What was written is on all copies when it is answered; nothing else is asked."""
        return row.value(self.sync_latency)

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """Objects in flight, OSDs with their copies, the nodes' ports, then the storage network."""
        label, fs, reading = label_of(volume), self.system_mount(row), use.operation == "read"
        size, parts = self.piece_of(row, use), fs.parts(use.operation)
        name = "in-flight" if use.waits_for_each else "read-ahead" if reading else "write-back"
        capacity = self._flying(row, use, max(use.own_streams, 1))
        row.charge(f"{label}.{name}", self.kind, private=True, capacity=capacity, what="CephFS objects in flight")
        lies = law(raid.striped, size_B=use.file_B, unit_B=size, members=fs.osds)
        lies = minimum(lies * count(parts, "part"), count(fs.osds, "OSD"))
        rate = row.term(fs.osd_rate(use.operation))
        if use.waits_for_each:  # calls smaller than an object
            request_B = use.joined_request_B(size)
            rate = minimum(rate, request_B / (fs.service(row, use, request_B) * float(max(fs.data, 1))))
        osds = Group("osds", "OSDs", fs.osds, rate, lies, size)
        self.groups(row if reading else row.times(fs.stored()), use, label, osds)
        SharedFilesystem.charge_servers(self, row.times(self._ports(row, use)), use, label, size)
        if self.hyperconverged and self.servers is not None:
            core = _CORE_RATE[not reading], _CORE_IOPS[not reading]
            served = _served(row, fs, use, use.joined_request_B(size), *core, self.servers.count)
            host.pool(row, served, f"serving {label} to all")
        host.storage_network(row, use, volume)

    def sent(self, row: Row, use: Access) -> Term:
        """A node that is the primary of what it writes sends the copies on."""
        if not self.hyperconverged:
            return super().sent(row, use)
        fs, reading = self.system_mount(row), float(use.operation == "read")
        local = 1.0 - self.elsewhere
        return law(redundancy.ceph_client_bytes, stored_per_byte=fs.stored(), data=fs.data, reading=reading, here=local)

    def _ports(self, row: Row, use: Access) -> Term:
        """Bytes through the nodes' ports."""
        return self.system_mount(row).ports(reading=use.operation == "read", local=1.0 - self.elsewhere)

    def _flying(self, row: Row, use: Access, streams: int) -> Term:
        """Rate of the requests that so many streams have in flight: of direct calls one object after the other."""
        fs, size = self.system_mount(row), use.joined_request_B(self.piece_of(row, use))
        window = row.term(self.read_ahead) / size if use.operation == "read" else count(self.write_back, "object")
        alone = row.term(self.of_two("latency", "write_latency", second=use.operation == "write"))
        away = self.away(fs.overhead(row, use, alone), use)
        if fs.servers is not None and fs.servers.bounded:  # a message is whole before it is worked on
            away = away + size * self._ports(row, use) / fs.servers.node(row)
        flying = count(streams, "stream") * (count(use.queue_depth, "request") if use.waits_for_each else window)
        return fs.pool_rate(use, size, flying, fs.service(row, use, size) / row.term(fs.share), away)

    def request_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """What one request takes alone besides its part of what all in flight are charged."""
        each = self._flying(row, use.but(queue_depth=1), 1)
        all_of_them = self._flying(row, use, max(use.own_streams, 1))
        return np.maximum(1.0 / each.value - 1.0 / all_of_them.value, 0.0)

    def connections_of(self, row: Row, use: Access) -> Connections:
        """One for each OSD with an object in flight."""
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
        core_iops: Small reads a second that a core of 3 GHz serves; stated alone, those of writes too.
        core_write_iops: Small writes, each copy counted.
        core_rate: Rate of large reads that it serves; stated alone, that of writes too.
        core_write_rate: Rate of large writes, each copy counted.
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

    core_iops: Annotated[Quantity, Unit("1/s", spread=0.3, low=1)] = _CORE_IOPS[0]
    core_write_iops: Annotated[Quantity, Unit("1/s", spread=0.3, low=1)] = _CORE_IOPS[1]
    core_rate: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e5)] = _CORE_RATE[0]
    core_write_rate: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e5)] = _CORE_RATE[1]
    nodes: Annotated[int, Field(ge=1, le=10000)] = 10
    hyperconverged: Annotated[bool, Field(description="the host is one of the nodes with OSDs")] = False
    port_rate: Annotated[Quantity, Unit("B/s", low=1e5, line=True)] | None = None
    depth: Annotated[int, Field(ge=1, le=4096)] = 128
    request: Annotated[Quantity, Unit("B", low=4096)] = prior(
        "4 MiB", 0.0, "krbd sets read_ahead_kb and the largest request to the object size (drivers/block/rbd.c)"
    )
    read_time: RequestTime = READ_TIME
    write_time: RequestTime = WRITE_TIME
    connections: Annotated[int, Field(ge=1, le=1000)] = 3
    byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "0.4 cycles/B", 0.7, "assumed: CRC32C of each message and a copy, some 0.3 to 0.6 cycles a byte"
    )

    @property
    def fabric(self) -> Fabric:
        return Fabric("tcp", self.connections, self.byte, self.kind)

    @property
    def keeps_writes(self) -> bool:
        """An acknowledged write is on the stable storage of all copies."""
        return True

    @property
    def local_part(self) -> float:
        """Part of the objects whose primary is on the host."""
        return 1.0 / self.nodes if self.hyperconverged else 0.0

    def bus_factor(self, use: Access) -> Value:
        """Bytes through the host's port: what lies here passes none, the copies of what is written here do."""
        reading = float(use.operation == "read")
        return redundancy.ceph_client_bytes(self.stored().value, self.data, reading, self.local_part)

    def request_B(self, row: Row, use: Access) -> Term:
        """Bytes of one request to an OSD."""
        return use.joined_request_B(self._largest(row, use))

    def _largest(self, row: Row, use: Access) -> Term:
        piece = self.piece_of(row, use)
        if use.part_B > 0:
            return piece
        old = use.kernel is not None and use.kernel < _LARGER_SINCE and not self.states("request")
        most = term(_SEGMENTS_B, "B", "drivers/block/rbd.c before 4.2") if old else row.term(self.request)
        return minimum(most, piece)

    def served_here(self, row: Row, use: Access) -> Term | None:
        """The OSDs of this node serve its part of all requests, and write its part of all copies."""
        if not self.hyperconverged:
            return None
        rate = self.of_two("core_rate", "core_write_rate", second=use.operation == "write")
        iops = self.of_two("core_iops", "core_write_iops", second=use.operation == "write")
        return _served(row, self, use, self.request_B(row, use), rate, iops, self.nodes)

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        return row.value(self.of_two("read_time", "write_time", second=use.operation == "write"))

    def single_rate(self, row: Row, use: Access) -> Value:
        """That of one OSD for each object, and of the wire before or after it."""
        pieces = max(1.0, min(self.depth, use.block_B / float(self._largest(row, use).value)))
        return (pieces / (self.at_osd(row, use.operation) + self._on_the_wire(row, use))).value

    def _on_the_wire(self, row: Row, use: Access) -> Term:
        """Seconds of a byte on its way to an OSD and its copies, or back: a message is whole before it is worked on."""
        if self.port_rate is None:
            return term(0.0, "s/B")
        return self.ports(reading=use.operation == "read", local=self.local_part) / row.term(self.port_rate)

    def media_rate(self, row: Row, operation: Operation) -> Term:
        """All OSDs together, copies counted."""
        total = count(self.osds, "OSD") * row.term(self.osd_rate(operation))
        return total if operation == "read" else total / self.stored()

    def turnaround(self, row: Row) -> Term:
        return row.term(self.of_two("read_time", "write_time", second=True))

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges the image's requests in flight, the OSDs that hold their objects, and the nodes' ports."""
        reading, size = use.operation == "read", self.request_B(row, use)
        flying = use.under_way(float(self._largest(row, use).value), float(self.depth * copies))
        written, share = self.stored(), row.term(self.share)
        rate, service = row.term(self.osd_rate(use.operation)), self.service(row, use, size)
        takes = self.overhead(
            row, use, row.term(self.of_two("read_time", "write_time", second=use.operation == "write"))
        )
        flown = self.pool_rate(use, size, max(1.0, flying), service / share, takes + size * self._on_the_wire(row, use))
        remedy = "more requests in flight: read-ahead, queue depth, several images (array.depth, array.request)"
        remedy += "; while these queue, more OSDs (array.osds)"
        text = f"RBD {use.operation} requests in flight"
        row.charge(f"{name}.in-flight", "cephfs", capacity=flown, what=text, remedy=remedy)
        load = row if reading else row.times(written)
        capacity = count(self.osds, "OSD") * rate * share
        remedy = "more OSDs (array.osds), or more files or requests at once, so that more OSDs work"
        load.charge(f"{name}.osds", "cephfs", capacity=capacity, what="OSDs with objects of the image", remedy=remedy)
        if use.waits_for_each or not reading:
            most, each, text = count(self.osds, "OSD") * share / service, 1.0 / size, "requests that the OSDs serve"
            remedy = "more or faster OSDs (array.osds, array.osd_iops, array.osd_write_iops)"
            station = f"{name}.osd-requests"
            load.charge(station, "cephfs", unit="op", capacity=most, per_byte=each, what=text, remedy=remedy)
        if self.port_rate is not None:
            crossing = self.ports(reading=reading, local=self.local_part)
            text = "ports of the nodes, copies between them counted"
            remedy = "more nodes, or faster ports of theirs (array.nodes, array.port_rate)"
            most = count(self.nodes, "node") * row.term(self.port_rate) * share
            row.times(crossing).charge(f"{name}.node-ports", "cephfs", capacity=most, what=text, remedy=remedy)
