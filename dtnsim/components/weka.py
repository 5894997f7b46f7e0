"""WEKA: frontend cores of the client, compute cores and drives of the servers, stripes with parity over them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Access, Operations
from dtnsim.components.device import Connections, Fabric
from dtnsim.components.filesystem import label_of
from dtnsim.components.machine import Machine
from dtnsim.components.parallel import ParallelFilesystem
from dtnsim.components.servers import Left, MetadataServers, RequestTime
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, count, largest, law, term
from dtnsim.physics import cpu, redundancy

Cycles = Annotated[Quantity, Unit("cycles", spread=0.3)]
Seconds = Annotated[Quantity, Unit("s", spread=0.3)]
Rate = Annotated[Quantity, Unit("B/s", spread=0.2, low=1e5)]
Cores = Annotated[int, Field(ge=1, le=64)]

#: what mdtest with eight clients found, over the clusters' 32 and 96 compute cores
_METADATA = MetadataServers(
    create=prior("2460 ops/s", 0.1, "docs.weka.io, performance test results: 79,599 and 234,472 creates/s"),
    stat=prior("45000 ops/s", 0.35, "docs.weka.io, performance test results: 1,930,721 and 3,257,394 stats/s"),
    remove=prior("3720 ops/s", 0.1, "docs.weka.io, performance test results: 117,644 and 361,755 deletes/s"),
)


class Weka(ParallelFilesystem):
    """A WEKA client mount with DPDK: no TCP, but cores of the client that do nothing else.

    Neglects: that such a core polls where nothing comes, so that programs lose it whole; net=udp; tiering to objects;
    what one client's requests make others wait for at the drives.

    Attributes:
        num_cores: Frontend cores of the mount (mount -o num_cores).
        core_byte: Work of a frontend core for a byte.
        core_read: Its work for a read besides that.
        core_write: Its work for a write besides that.
        request: Bytes of a request of a stream that the page cache joins.
        read_ahead: Bytes ahead of a sequential reader (mount -o readahead_kb).
        latency: Time of one small request.
        qos_max_throughput: Limit of the mount.
        data: Data blocks of a stripe.
        parity: Parity blocks of a stripe.
        compute: Compute cores of one server.
        compute_read: What one of them reads in large requests.
        compute_write: What one of them writes in large requests.
        compute_reading: Its time for a read besides the bytes.
        compute_writing: Its time for a write besides the bytes.
        drives: Drives of one server.
        drive_read: What a drive reads.
        drive_write: What a drive writes.
        metadata_time: Time of one metadata operation.
    """

    kind: ClassVar[str] = "weka"
    over_ip: ClassVar[bool] = True
    common: ClassVar[str] = (
        "servers share data parity compute compute_read compute_write compute_reading compute_writing drives drive_read"
        " drive_write"
    )

    num_cores: Annotated[int, Field(ge=1, le=19)] = 1
    core_byte: Annotated[Quantity, Unit("cycles/B", spread=0.3)] = prior(
        "1.1 cycles/B",
        0.3,
        "docs.weka.io, single client: 9.6 and 10.1 GB/s on 4 cores at 3.4 GHz (1.4), 18.5 GB/s on 6 at 3.1 GHz (1.0)",
    )
    core_read: Cycles = prior(
        "29000 cycles", 0.2, "docs.weka.io, single client: 393,333 reads/s of 4 KiB on 4 cores, 563,667 on 6"
    )
    core_write: Cycles = prior(
        "42000 cycles", 0.2, "docs.weka.io, single client: 302,333 writes/s of 4 KiB on 4 cores, 378,667 on 6"
    )
    request: Annotated[Quantity, Unit("B", low=4096)] = prior(
        "1 MiB", 0.5, "assumed: neighbours in the page cache are asked for together, 128 KiB to some MiB"
    )
    read_ahead: Annotated[Quantity, Unit("B", low=4096)] = prior(
        "32 MiB", 0.0, "docs.weka.io, mount options: readahead_kb, 32768"
    )
    latency: Seconds = prior("0.2 ms", 0.5, "docs.weka.io, single client, 4 KiB: 0.145 and 0.272 ms, 0.107 and 0.298")
    sync_latency: RequestTime = prior(
        "0.2 ms", 0.5, "docs.weka.io: writes of 4 KiB with direct=1 take 0.107 and 0.298 ms; drives keep what they have"
    )
    metadata_time: Seconds = prior("0.3 ms", 0.7, "assumed: one request to a compute process, up to a few of them")
    qos_max_throughput: Rate | None = None
    share: Left = prior("0.6", 0.5, "assumed: what other users leave of a shared cluster at a random hour")
    data: Annotated[int, Field(ge=1, le=16)] = 4
    parity: Annotated[int, Field(ge=0, le=4)] = 2
    compute: Cores = 12
    compute_read: Rate = prior(
        "1.3 GB/s", 0.1, "docs.weka.io, eight clients: 36.2 GiB/s of 32 compute cores, 123 GiB/s of 96"
    )
    compute_write: Rate = prior(
        "0.4 GB/s", 0.1, "docs.weka.io, eight clients, 4+2: 11.6 GiB/s of 32 compute cores, 37.6 GiB/s of 96"
    )
    compute_reading: Seconds = prior(
        "16 us", 0.25, "docs.weka.io, eight clients, 4 KiB: 1,978,330 reads/s of 32 compute cores, 4,346,330 of 96"
    )
    compute_writing: Seconds = prior(
        "65 us", 0.15, "docs.weka.io, eight clients, 4 KiB: 404,670 writes/s of 32 compute cores, 1,317,000 of 96"
    )
    drives: Annotated[int, Field(ge=1, le=64)] = 6
    drive_read: Rate = prior("3.5 GB/s", 0.3, "Micron 9300: 3,500 MB/s, the drives of the published cluster")
    drive_write: Rate = prior("3.1 GB/s", 0.4, "Micron 9300: 3,100 MB/s, the drives of the published cluster")

    @property
    def fabric(self) -> Fabric:
        """The frontends speak a protocol of their own past the kernel."""
        return Fabric("user", self.num_cores, self.core_byte, "WEKA", "filesystem.num_cores")

    def connections_of(self, row: Row, use: Access) -> Connections:
        """One of each frontend core to every server."""
        servers = self.system_mount(row).servers
        return Connections(self.num_cores * (servers.count if servers is not None else 1))

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """Frontend cores, read-ahead, the servers' compute cores, drives and ports, then the client's network."""
        label, reading = label_of(volume), use.operation == "read"
        size = term(use.block_B, "B") if use.waits_for_each else largest(term(use.block_B, "B"), row.term(self.request))
        per_call = row.term(self.core_read if reading else self.core_write)
        work = law(cpu.cycles_per_byte, per_byte=row.term(self.core_byte), per_call=per_call, call_B=size)
        cores = count(min(self.num_cores, host.cpu.total), "core") * host.clock(row)
        text, name = "WEKA frontends, each on a core of its own", f"the WEKA frontends of {host.name}"
        remedy = f"more cores for them (hosts.{host.name}.volumes.{volume}.filesystem.num_cores)"
        row.charge(f"{label}.frontends", "core", capacity=cores, per_byte=work, what=text, label=name, remedy=remedy)
        host.pool(row, work, "WEKA frontends")
        if reading and not use.waits_for_each:
            self.ahead(row, use, label, self.read_ahead, "WEKA read-ahead")
        if self.qos_max_throughput is not None:
            most = row.term(self.qos_max_throughput)
            row.charge(f"{label}.qos", "weka", capacity=most, what="WEKA qos_max_throughput_mbps")
        self._served(row, use, label, size)
        host.storage_network(row, use, volume)

    def _served(self, row: Row, use: Access, label: str, size: Term) -> None:
        """Charges what the servers do for a byte."""
        fs, reading = self.system_mount(row), use.operation == "read"
        if fs.servers is None:
            return
        far, prefix = self.station_names(row, label)
        stored = law(redundancy.stored, replicas=1, data=fs.data, coding=fs.parity)
        byte_rate = row.term(fs.compute_read if reading else fs.compute_write)
        request_s = row.term(fs.compute_reading if reading else fs.compute_writing)
        spent = law(redundancy.core_time, byte_rate=byte_rate, request_s=request_s, request_B=size)
        self._compute(far, prefix, fs, spent, f"WEKA compute cores, {use.operation}")
        drive = row.term(fs.drive_read if reading else fs.drive_write)
        capacity = fs.servers.working(striped=True) * fs.drives * drive * row.term(fs.share)
        text = f"drives of the servers, {use.operation}"
        far.charge(f"{prefix}drives", "weka", capacity=capacity, per_byte=term(1.0) if reading else stored, what=text)
        crossed = law(redundancy.weka_port_bytes, stored=stored, servers=fs.servers.count, reading=float(reading))
        self.charge_servers(row.times(crossed), use, label, size)

    @staticmethod
    def _compute(far: Row, prefix: str, fs: Weka, spent: Term, text: str) -> None:
        assert fs.servers is not None
        capacity = fs.servers.working(striped=True) * count(fs.compute, "core") * far.term(fs.share)
        far.charge(f"{prefix}compute", "weka", capacity=capacity, per_byte=spent, unit="s", what=text)

    def metadata(self, row: Row, requests: Operations, host: Machine, volume: str) -> None:
        """The compute cores do metadata as well, unless the servers' own rates are given."""
        fs = self.system_mount(row)
        if fs.servers is None or fs.servers.metadata is not None:
            super().metadata(row, requests, host, volume)
            return
        far, prefix = self.station_names(row, label_of(volume))
        self._compute(far, prefix, fs, _METADATA.seconds(row, requests), "WEKA compute cores, metadata")
