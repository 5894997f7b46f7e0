"""DAOS: a POSIX container through dfuse or an interception library, engines on the servers, coded objects."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.device import Connections, Fabric
from dtnsim.components.filesystem import label_of
from dtnsim.components.machine import Machine
from dtnsim.components.parallel import Copies, ParallelFilesystem
from dtnsim.components.servers import Left, OpRate, RequestTime, TargetRate
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, largest, law, term
from dtnsim.physics import redundancy, waiting

Work = Annotated[Quantity, Unit("cycles/B", spread=0.4)]

_EACH = 1_000_000  #: connections where every process has its own: as many as there are cores for
#: part of the limits on dirty bytes that a FUSE file system may have (Linux, fs/fuse/inode.c, fuse_bdi_init)
_FUSE_SHARE = 0.01


class Daos(ParallelFilesystem, Copies):
    """A POSIX container of DAOS.

    ``library`` is what programs are started with (LD_PRELOAD): with ``none`` all goes through the kernel to the dfuse
    daemon and its event queues; ``ioil`` sends data from the process itself, ``pil4dfs`` metadata as well. Both pass
    the page cache by, so that each call is a request that is waited for.

    Neglects: persistent memory in front of the drives; dfuse's time on top of a request's; rebuilds.

    Attributes:
        library: Interception library.
        eq_count: Event queues of dfuse (--eq-count), each a thread.
        proto: What carries the requests (libfabric provider: verbs or tcp).
        dfuse_byte: Work of an event queue for a byte, the transport's in the kernel left out.
        process_byte: Work of a process with a library for a byte.
        request: Largest request of the kernel to dfuse.
        read_ahead: Bytes ahead of a sequential reader of dfuse.
        latency: Time of one small request.
        metadata_time: Time of one metadata operation through dfuse.
        metadata_direct: Time of one with pil4dfs.
        engine_read: What the engines of one server read.
        engine_write: What they write, copies and parity included.
        engine_reads: Small reads a second of one server.
        engine_writes: Small writes a second of one server, copies and parity included.
    """

    kind: ClassVar[str] = "daos"
    over_ip: ClassVar[bool] = True
    common: ClassVar[str] = "servers share engine_read engine_write engine_reads engine_writes replicas data coding"

    library: Literal["none", "ioil", "pil4dfs"] = "none"
    eq_count: Annotated[int, Field(ge=1, le=64)] = 1
    proto: Literal["tcp", "rdma"] = "rdma"
    dfuse_byte: Work = prior(
        "1.5 cycles/B",
        0.5,
        "docs.daos.io: 1.9 GB/s a node read with dfuse (Run IOR), 1.5 GB/s written by dd; about 3 GHz assumed",
    )
    process_byte: Work = prior(
        "0.7 cycles/B",
        0.5,
        "docs.daos.io, Interception library: dd writes zeros at 4.3 GB/s with libioil; about 3 GHz assumed",
    )
    request: Annotated[Quantity, Unit("B", low=4096)] = prior(
        "1 MiB", 0.0, "Linux, fs/fuse: max_pages of at most 256 pages of 4 KiB"
    )
    read_ahead: Annotated[Quantity, Unit("B", low=4096)] = prior(
        "1 MiB", 0.5, "assumed: the largest request, as a FUSE daemon may ask for in its init reply"
    )
    latency: RequestTime = prior("0.3 ms", 0.4, "Google Cloud, Parallelstore overview: reads of 4 KiB, from one client")
    sync_latency: RequestTime = prior("0.3 ms", 0.5, "assumed: as a read; a write is answered once it is persistent")
    metadata_time: RequestTime = prior(
        "0.9 ms",
        0.5,
        "docs.daos.io, Run mdtest: 2,944 files of 4 KiB created a second by ten tasks, 3.4 ms for some four calls",
    )
    metadata_direct: RequestTime = prior(
        "0.4 ms", 0.6, "assumed: a transaction at a server or two, without the kernel's way"
    )
    share: Left = prior("0.6", 0.5, "assumed: what other users leave of a shared system at a random hour")
    engine_read: TargetRate = prior(
        "29 GB/s", 0.4, "ALCF user guides, DAOS on Aurora: more than 30 TB/s of 1,024 servers with two engines each"
    )
    engine_write: TargetRate = prior(
        "19 GB/s", 0.5, "as they read, by the ratio of Parallelstore: 0.5 GiB/s with 2+1 (0.75 stored) to 1.15 GiB/s"
    )
    engine_reads: OpRate = prior(
        "0.7M ops/s", 0.6, "as they read, by the ratio of Parallelstore: 30,000 requests a second to 1.15 GiB/s"
    )
    engine_writes: OpRate = prior(
        "0.36M ops/s",
        0.6,
        "as they write, by the ratio of Parallelstore with 2+1: 10,000 (15,000 stored) to 0.75 GiB/s",
    )

    @property
    def fabric(self) -> Fabric:
        """One event queue or more with dfuse; with a library every process has its own."""
        direct = self.library != "none"
        byte = self.process_byte if direct else self.dfuse_byte
        return Fabric(self.proto, _EACH if direct else self.eq_count, byte, "DAOS", "filesystem.eq_count")

    def sees(self, use: Access) -> Access:
        """A library passes the page cache by."""
        return use.but(finish="direct") if self.library != "none" else use

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """Read-ahead, the servers' engines and ports, then the client's network, which carries every copy."""
        label, fs, reading = label_of(volume), self.system_mount(row), use.operation == "read"
        size = term(use.block_B, "B") if use.waits_for_each else largest(term(use.block_B, "B"), row.term(self.request))
        if reading and not use.waits_for_each:
            self.ahead(row, use, label, self.read_ahead, "dfuse read-ahead")
        if self.library != "none":
            cores, each = count(max(use.own_streams, 1), "process") * host.clock(row), row.term(self.process_byte)
            name, text = f"{label}.contexts", "DAOS library, in the processes themselves"
            processes = f"the processes with lib{self.library} on {host.name}"
            row.charge(name, "core", capacity=cores, per_byte=each, private=True, what=text, label=processes)
        stored = fs.stored()
        below = row if reading else row.times(stored)
        if fs.servers is not None:
            far, prefix = self.station_names(below, label)
            max_rate = row.term(fs.engine_read if reading else fs.engine_write)
            max_iops = row.term(fs.engine_reads if reading else fs.engine_writes)
            spent = law(waiting.busy_seconds, max_rate=max_rate, max_iops=max_iops, request_B=size)
            capacity = fs.servers.working(striped=True) * row.term(fs.share)
            text = f"DAOS engines, {use.operation}"
            far.charge(f"{prefix}engines", "daos", capacity=capacity, per_byte=spent, unit="s", what=text)
        self.charge_servers(below, use, label, size)
        host.storage_network(row, use, volume)

    def connections_of(self, row: Row, use: Access) -> Connections:
        """One of each event queue, or of each process with a library, to every server."""
        servers = self.system_mount(row).servers
        number = servers.count if servers is not None else 1
        queues = self.eq_count if self.library == "none" else max(use.own_streams, 1)
        return Connections(queues * number, shared=self.library == "none")

    def sent(self, row: Row, use: Access) -> Term:
        """Every copy and shard."""
        fs = self.system_mount(row)
        stored = fs.stored()
        all_of_them = law(redundancy.client_bytes, stored=stored, reading=float(use.operation == "read"))
        return all_of_them * super().sent(row, use) if self.hyperconverged else all_of_them

    def cache_limits(self, row: Row, host: Machine, held_B: float = 0.0) -> tuple[Value, Value]:
        """FUSE may have a hundredth of the limits on dirty bytes, strictly (Linux, fs/fuse: bdi_set_max_ratio)."""
        background, ceiling = super().cache_limits(row, host, held_B)
        return _FUSE_SHARE * background, _FUSE_SHARE * ceiling

    def operation_time(self, row: Row, operation: str, host: Machine) -> Value:
        through = super().operation_time(row, operation, host)
        return row.value(self.metadata_direct) if self.library == "pil4dfs" else through
