"""What parallel file systems and stores of objects have in common: files over targets, copies, objects on OSDs."""

from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from dtnsim.components.access import Access, Operation
from dtnsim.components.base import Model
from dtnsim.components.machine import Machine
from dtnsim.components.servers import Left, Servers, SharedFilesystem, TargetRate
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, largest, law, term
from dtnsim.ground.uncertainty import Otherwise, Since
from dtnsim.physics import cache, metadata, redundancy, servers


class Copies(Model):
    """What a pool of objects keeps of each: copies, or the shards of an erasure code.

    Attributes:
        replicas: Copies of an object that is not coded.
        data: Data shards of a coded object; 0 where it is not coded.
        coding: Its coding shards.
    """

    replicas: Annotated[int, Field(ge=1, le=10)] = 1
    data: Annotated[int, Field(ge=0, le=32)] = 0
    coding: Annotated[int, Field(ge=0, le=16)] = 0

    def stored(self) -> Term:
        """Bytes on drives for a byte that is written."""
        return law(redundancy.stored, replicas=self.replicas, data=self.data, coding=self.coding)

    def shards(self, operation: Operation) -> int:
        """Copies or shards that an object is written to, or read from."""
        if operation == "write":
            return self.data + self.coding if self.data else self.replicas
        return max(self.data, 1)

    def ports(self, *, reading: bool, local: float = 0.0) -> Term:
        """Bytes that pass the nodes' ports for one that is read or written, copies between them counted.

        ``local`` is the part of the objects whose primary is on the client's own node.
        """
        stored = self.stored()
        return law(
            redundancy.ceph_port_bytes, stored_per_byte=stored, data=self.data, reading=float(reading), here=local
        )


#: 60 NVMe drives of ten nodes with EPYC 7742 and 100 GbE, three copies: one cluster, two releases
PACIFIC = "ceph.io, OSD CPU Scaling and RocksDB Tuning Deep-Dive (2022)"
REEF = "ceph.io, Reef Freeze Part 1 (2023)"
#: an OSD that writes or reads less than this has a disk: no SATA drive of flash is rated below 250 MB/s
_FLASH_BPS = 200e6
_DISK = prior("80 IOPS", 0.5, "a disk of 7,200 rpm: 8.5 ms to the track and half a turn, 4.2 ms")
#: a request alone, its transfer left out
READ_TIME = prior(
    "0.25 ms",
    0.7,
    "a core's work, 0.11 ms (core_iops of rbd), flash, 0.09 ms, and a round trip, 0.03 to 0.06 ms; ceph.io, Reef "
    "Encryption Performance (2023): 0.13 ms, of what an OSD may have in memory",
)
WRITE_TIME = prior(
    "0.7 ms",
    0.7,
    "a core's work at the primary and then at the copies, 0.28 ms each, flash and two round trips; "
    f"{REEF}: 0.42 ms, an ideal showcase by its own words; N. Fisk, Life at 700us (2018): 0.7 ms over 10 GbE",
)

#: the release of each spring that a cluster of that year began with (docs.ceph.com, "Ceph Releases")
_RELEASES = (
    (2017, "luminous"), (2019, "nautilus"), (2020, "octopus"), (2021, "pacific"), (2022, "quincy"), (2023, "reef"),
    (2025, "squid"),
)  # fmt: skip


class OsdPool(Copies):
    """Objects on OSDs: a pool keeps ``replicas`` copies, or is erasure-coded with ``data`` and ``coding`` shards.

    Attributes:
        object_size: Size of the objects of a file or image.
        osds: OSDs of the pool.
        osd_read: Rate of one OSD; stated alone, that of writes too.
        osd_write: Rate of one OSD, the copies counted apart.
        release: Release of Ceph, by which small requests go where nobody states them.
        osd_iops: Small requests a second that one OSD reads, and, stated alone, writes; a disk's where the OSD is no
            faster than one; left out, those of Pacific, of another release what that does of them.
        osd_write_iops: Those that one writes, the copies counted apart.
        share: Part of the cluster that other users leave.
    """

    object_size: Annotated[Quantity, Unit("B", low=65536)] = prior(
        "4 MiB", 0.0, "Ceph: object size of a default layout; rbd(8): --object-size"
    )
    osds: Annotated[int, Field(ge=1, le=100000)] = 60
    osd_read: TargetRate = prior(
        "1.5 GB/s",
        0.6,
        f"{REEF}: 1.2 GB/s of an NVMe drive beside clients; 1.8 and more, where 100 GbE held a node of six",
    )
    osd_write: TargetRate = prior("1.25 GB/s", 0.6, f"{REEF}: 25 GB/s of large writes, three copies, on 60 drives")
    release: Annotated[
        Literal["luminous", "mimic", "nautilus", "octopus", "pacific", "quincy", "reef", "squid"],
        Otherwise("nautilus", "clusters of 2019 to 2021 (ceph versions)"),
        Since(_RELEASES),
    ] = "pacific"
    osd_iops: Annotated[Quantity, Unit("1/s", spread=0.3, low=1)] = prior(
        "49k IOPS", 0.6, f"random reads of 4 KiB: 33,000 and 73,000 ({PACIFIC}, {REEF}: 2 and 4.4 million on 60 drives)"
    )
    osd_write_iops: Annotated[Quantity, Unit("1/s", spread=0.3, low=1)] = prior(
        "26k IOPS", 0.5, f"random writes of 4 KiB: {PACIFIC}: 527,603 of three copies on 60 drives"
    )
    replicas: Annotated[int, Field(ge=1, le=10)] = 3
    share: Left = prior("0.6", 0.5, "assumed: what other users leave of a shared cluster at a random hour")

    def piece_of(self, row: Row, use: Access) -> Term:
        """Bytes of an object: a tool without files makes each as large as its blocks."""
        return term(use.part_B, "B", "the tool's own option") if use.part_B > 0 else row.term(self.object_size)

    def parts(self, operation: Operation) -> int:
        """OSDs that one request waits for."""
        return min(self.osds, self.shards(operation))

    def osd_rate(self, operation: Operation) -> Quantity:
        """Rate of one OSD."""
        return self.of_two("osd_read", "osd_write", second=operation == "write")

    def at_osd(self, row: Row, operation: Operation) -> Term:
        """Seconds of a byte of one request at each of its OSDs."""
        return term(1.0 / max(self.data, 1)) / row.term(self.osd_rate(operation))

    def small(self, row: Row, use: Access) -> Term:
        """Small requests a second of an OSD; where nobody says, it is a disk's turn for each that moves its heads."""
        stated = self.of_two("osd_iops", "osd_write_iops", second=use.operation == "write")
        usual = OsdPool.model_fields["osd_iops" if use.operation == "read" else "osd_write_iops"].default
        if stated != usual:
            return row.term(stated)
        if self.slow(use) and (use.operation == "write" or use.random):
            return row.term(_DISK)
        return row.term(stated) * redundancy.OSD_SMALL[self.release][use.operation == "write"]

    def slow(self, use: Access) -> bool:
        """Whether the OSDs are on disks."""
        return self.osd_rate(use.operation).value < _FLASH_BPS

    def service(self, row: Row, use: Access, size: Term) -> Term:
        """Seconds of each OSD for one request; its rates are of objects of ``object_size``, whatever a tool makes."""
        byte, moves = self.at_osd(row, use.operation), use.operation == "write" or use.random
        piece = row.term(self.object_size) if moves else self.piece_of(row, use)
        if not (use.waits_for_each or use.operation == "write"):
            return size * byte
        small = 1.0 / self.small(row, use)
        return law(redundancy.osd_time, request_B=size, object_B=piece, object_s=piece * byte, small_s=small)

    def pool_rate(self, use: Access, size: Term, flying: Term | float, service_s: Term, away_s: Term) -> Term:
        """Rate of requests of a size of which so many fly: each ``service_s`` at its OSDs, and ``away_s`` besides."""
        osds, parts = count(self.osds, "OSD"), count(self.parts(use.operation), "part")
        pool = {"osds": osds, "parts": parts, "service_s": service_s, "away_s": away_s}
        return law(redundancy.pool_rate, request_B=size, in_flight=flying, **pool)

    def overhead(self, row: Row, use: Access, takes: Term) -> Term:
        """What a request, which alone ``takes`` that, takes besides its OSD; on flash a small one is part of it."""
        if self.slow(use) or not (use.waits_for_each or use.operation == "write"):
            return takes
        return largest(takes - 1.0 / self.small(row, use), term(0.0, "s"))


class ParallelFilesystem(SharedFilesystem):
    """A mount whose client spreads a file over targets, and asks servers for names and attributes.

    Times of metadata are those of servers that nobody else asks: others' requests, as many as ``share`` says, have
    their turns in between.

    A ``hyperconverged`` host is one of the servers, and has its even part of files and names itself.

    Neglects: what servers on the host take of its cores and memory; a mirror's copy, which always leaves its host.

    Attributes:
        hyperconverged: Whether the host is one of the servers; what lies on it passes no wire.
        latency: Time of one request for data.
        metadata_time: Time of one metadata operation.
    """

    times: ClassVar[tuple[str, str]] = ("metadata_time", "metadata_time")

    hyperconverged: Annotated[bool, Field(description="the host is one of the servers")] = False
    latency: Annotated[Quantity, Unit("s")]
    metadata_time: Annotated[Quantity, Unit("s")]

    @model_validator(mode="after")
    def _one_of_how_many(self) -> Self:
        if self.hyperconverged and self.servers is None:
            raise ValueError("hyperconverged says nothing without the number of servers; write servers: {count: 4}")
        return self

    @property
    def elsewhere(self) -> float:
        return float(servers.elsewhere(self.servers.count)) if self.hyperconverged and self.servers else 1.0

    def sent(self, row: Row, use: Access) -> Term:
        if not self.hyperconverged or self.servers is None:
            return super().sent(row, use)
        return law(servers.elsewhere, servers=self.servers.count)

    def charge_servers(self, row: Row, use: Access, label: str, request: Term, drives: Row | None = None) -> None:
        """Arrays have all, ports what comes from other hosts."""
        ports = row.times(self.elsewhere) if self.hyperconverged else row
        super().charge_servers(ports, use, label, request, row if drives is None and self.hyperconverged else drives)

    def stripes(self, row: Row, file_B: float) -> Term | None:
        """Targets that a file of this size lies on; None where it lies on all."""
        return None

    def touched(self, row: Row, use: Access, nodes: Servers) -> Term | None:
        """Servers of a transfer's own files, which their stripes fall on."""
        return self._fallen_on(row, use, nodes.count)

    def _fallen_on(self, row: Row, use: Access, number: int) -> Term | None:
        stripes = self.stripes(row, use.file_B)
        return None if stripes is None else self.fallen_on(use, max(use.own_streams, 1), number, stripes)

    @staticmethod
    def either(use: Access, read: Quantity, write: Quantity | None) -> Quantity:
        """The rate of this operation; where nobody says what is written, it is as what is read."""
        return read if use.operation == "read" or write is None else write

    def ahead(self, row: Row, use: Access, label: str, window: Quantity, text: str) -> None:
        """Charges a window of read-ahead that each reader has under way."""
        wait = self.away(row.term(self.latency), use)
        rate = law(cache.read_ahead_rate, disk_rate=np.inf, window_B=row.term(window), latency_s=wait)
        self.of_each(row, use, f"{label}.read-ahead", rate, text, "reader")

    def request_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        return (row.value(self.latency) + use.rtt_s) / use.block_B

    def among_others(self, row: Row, alone: Quantity) -> Term:
        """Time of a request for metadata where others ask the servers as well."""
        return law(metadata.shared_time, alone_s=row.term(alone), left=row.term(self.system_mount(row).share))

    def operation_time(self, row: Row, operation: str, host: Machine) -> Value:
        return self.among_others(row, self.timed(operation)).value
