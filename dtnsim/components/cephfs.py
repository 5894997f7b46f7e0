"""CephFS: files in objects on OSDs, copies or coded shards, read-ahead of the kernel client, metadata servers."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.device import Connections
from dtnsim.components.filesystem import label_of
from dtnsim.components.machine import Machine
from dtnsim.components.parallel import ParallelFilesystem
from dtnsim.components.servers import Copies, Group, Left, MetadataServers, RequestTime, TargetRate
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import count, law
from dtnsim.physics import ceph, gpfs

#: requests that one of them does a second
_MDS = "assumed: the one active MDS that Ceph has by default, a process on few cores: some thousand changes a second"


class Cephfs(ParallelFilesystem, Copies):
    """A CephFS mount of the kernel client; ``servers`` are the nodes that hold the OSDs.

    A pool keeps ``replicas`` copies, or is erasure-coded with ``data`` and ``coding`` shards. Capabilities that another
    client holds are asked back first (``contended``); a file that another client writes at the same time has none for
    its cache, so that each call goes to the OSDs and is waited for (``shared``).

    Neglects: what a client has to write out before it gives up a capability; the cache tier.
    """

    kind: ClassVar[str] = "cephfs"
    common: ClassVar[tuple[str, ...]] = ("servers", "share", "osds", "osd_read", "osd_write", *Copies.model_fields)

    usual_metadata: ClassVar[MetadataServers | None] = MetadataServers(
        create=prior("8000 ops/s", 1.0, _MDS),
        stat=prior("30000 ops/s", 1.0, _MDS),
        remove=prior("6000 ops/s", 1.0, _MDS),
    )

    object_size: Annotated[Quantity, Unit("B", low=65536)] = prior(
        "4 MiB", 0.0, "Ceph: object size of a default layout"
    )
    osds: Annotated[int, Field(ge=1, le=100000)] = 60
    osd_read: TargetRate = prior(
        "1 GB/s", 0.6, "assumed: an OSD on flash; its daemon's few cores bind before a drive of 2 to 7 GB/s does"
    )
    osd_write: TargetRate = prior("1 GB/s", 0.6, "assumed: as it reads; the copies are counted apart")
    replicas: Annotated[int, Field(ge=1, le=10)] = 3
    share: Left = prior("0.6", 0.5, "assumed: what other users leave of a shared cluster at a random hour")
    read_ahead: Annotated[Quantity, Unit("B", low=65536)] = prior("8 MiB", 0.0, "mount.ceph(8): rasize, default 8 MiB")
    write_back: Annotated[int, Field(ge=1, le=10000)] = 16
    latency: RequestTime = prior(
        "8 ms", 0.7, "assumed: an object of 4 MiB from one OSD, or to all of its copies: 4 ms at 1 GB/s and the queues"
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
        files, size = count(max(use.own_streams, 1), "file"), row.term(self.object_size)
        wait = self.away(row.term(self.latency), use)
        window = row.term(self.read_ahead) if reading else count(self.write_back, "object") * size
        if not (use.random or use.finish == "direct"):
            row.charge(
                f"{label}.{'read-ahead' if reading else 'write-back'}",
                "cephfs",
                private=True,
                capacity=files * law(ceph.readahead_rate, window_B=window, latency_s=wait),
                what="CephFS objects in flight",
            )
        copies = whole.stored()
        rate = row.term(whole.osd_read if reading else whole.osd_write)
        lies = law(gpfs.nsds_touched, file_B=use.file_B, block_B=size, nsds=whole.osds)
        self.groups(
            row if reading else row.times(copies), use, label, Group("osds", "OSDs", whole.osds, rate, lies, size)
        )
        self.behind(row.times(whole.ports(reading=reading)), use, label, size)
        host.storage_network(row, use, volume)

    def connections_of(self, row: Row, use: Access) -> Connections:
        """One for each OSD with an object in flight."""
        del row
        window = self.read_ahead.value / self.object_size.value if use.operation == "read" else self.write_back
        flying = max(use.own_streams, 1) * max(use.queue_depth, round(min(window, use.file_B / self.object_size.value)))
        number = max(min(flying, self.osds), 1)
        return Connections(number, tied=number > 1, shared=number == self.osds)
