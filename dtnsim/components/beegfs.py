"""BeeGFS: chunks over storage targets, a buffer for each file, connections to each server, buddy mirrors."""

import math
from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.access import Access, Calls, Operations
from dtnsim.components.device import Connections
from dtnsim.components.filesystem import label_of
from dtnsim.components.machine import Machine
from dtnsim.components.parallel import ParallelFilesystem
from dtnsim.components.servers import Group, Left, MetadataServers, RequestTime, TargetRate
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, term
from dtnsim.physics import beegfs, metadata, raid, waiting

#: look-ups of names before an operation on them: what the client knows of files is never taken to hold, nor that there
#: are none (Linux client, Config.c: tuneFileSubentryCacheValidityMS and tuneENOENTCacheValidityMS are 0); a file is
#: made, and opened, by the message that looks for it (LookupIntent)
_LOOK_UPS = {"remove": 1.0, "mkdir": 1.0, "rename": 2.0}
#: changes of the metadata server's own file system: a file is made, takes its attributes, is linked by name, and both
#: of its names go; the close of what was made writes the attributes again (meta: DirEntryStore.cpp, DirEntry.cpp)
_CHANGES = {"create": 3.0, "close": 1.0, "remove": 2.0, "mkdir": 3.0, "rename": 2.0, "setattr": 1.0}
#: a server's port of which nothing is said
_PORT = prior("3.5 GB/s", 0.6, "assumed: a port of InfiniBand QDR: 32 Gb/s with some headers; 10 GbE to EDR")
#: requests that one of them does a second
_META = "assumed: one metadata server whose targets are flash, as one of Lustre's of those years"


class Beegfs(ParallelFilesystem):
    """A BeeGFS client mount: ``numtargets`` and ``chunksize`` as ``beegfs-ctl --setpattern`` has them.

    Files lie on targets at random (tuneTargetChooser = randomized, the default of its metadata servers).
    With ``mirror`` every byte is written to a second target by the server that has the first (buddy mirror groups).
    A program waits for each call, or for each ``buffer`` that its small calls fill; the client reads nothing ahead of
    that. ``latency`` is the time of a request of one buffer, its wire left out. Names are looked up again at each use,
    and come from the metadata server's memory (``metadata_time``); a change goes through its own file system
    (``change_time``). The answer to a removal comes before the chunks are gone (tuneEarlyUnlinkResponse), but each
    target has to answer.

    Nothing of a file stays on the client for another reading (tuneFileCacheType = buffered, the default: some hundred
    kilobytes; BeeGFS documentation, Client side caching modes).

    Neglects: tuneFileCacheType = native, which uses the page cache; what an fsync waits for at the servers; look-ups of
    directories, each once a second.
    """

    kind: ClassVar[str] = "beegfs"
    in_page_cache: ClassVar[bool] = False
    keeps_dirty: ClassVar[bool] = False
    flushes_at_close: ClassVar[bool] = True
    common: ClassVar[str] = "servers share targets target_rate target_write mirror unlinks"
    striped: ClassVar[bool] = False
    refused: ClassVar[dict[str, str]] = {"op_time": "metadata_time"}

    usual_metadata: ClassVar[MetadataServers | None] = MetadataServers(
        create=prior("20000 ops/s", 1.0, _META),
        stat=prior("200000 ops/s", 1.0, _META),
        remove=prior("20000 ops/s", 1.0, _META),
    )

    numtargets: Annotated[int, Field(ge=1, le=1000)] = 4
    chunksize: Annotated[Quantity, Unit("B", low=65536)] = prior("512 KiB", 0.0, "BeeGFS: default chunk size")
    targets: Annotated[int, Field(ge=1, le=100000)] = 12
    target_rate: TargetRate = prior("1 GB/s", 0.6, "assumed: a RAID 6 of ten to twelve nearline disks")
    target_write: TargetRate | None = None
    mirror: bool = False
    share: Left = prior("0.6", 0.5, "assumed: what other users leave of a group's scratch system at a random hour")
    connections: Annotated[int, Field(ge=1, le=1000)] = 12
    buffer: Annotated[Quantity, Unit("B", low=4096)] = prior(
        "512 KiB", 0.0, "BeeGFS client: tuneFileCacheBufSize, 512 KiB"
    )
    latency: Annotated[Quantity, Unit("s", spread=0.5, low=1e-6)] = prior(
        "0.35 ms",
        0.6,
        "assumed: one request of 512 KiB, its wire left out: a message, 0.15 ms, and two copies of its bytes at the"
        " server, 5 GB/s each",
    )
    metadata_time: RequestTime = prior(
        "0.15 ms",
        0.8,
        "assumed: a name that the server has in memory: 20 to 150 us there and back in a cluster, 20 to 60 us in the"
        " threads of a daemon that hand it on",
    )
    unlinks: Annotated[Quantity, Unit("1/s", spread=1.0, low=1)] = prior(
        "20000 ops/s", 1.0, "assumed: a storage server takes as many chunks away as a metadata server names"
    )

    @property
    def keeps_files(self) -> float:
        return 0.0

    def stripes(self, row: Row, file_B: float) -> Term:
        return law(raid.striped, size_B=file_B, unit_B=row.term(self.chunksize), members=self.numtargets)

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """Calls or buffers of the files, the client's connections, targets and servers, then the storage network."""
        label, fs, chunk = label_of(volume), self.system_mount(row), row.term(self.chunksize)
        if not use.waits_for_each:
            asked_B = law(
                beegfs.asked_bytes, call_B=term(use.block_B, "B"), buffer_B=row.term(self.buffer), chunk_B=chunk
            )
            copied = self.cycles(row, use, host.stack) / host.clock(row)
            request_s = self._time(row, use, asked_B, self.numtargets)
            one = law(beegfs.stream_rate, asked_B=asked_B, request_s=request_s, copy_s=asked_B * copied)
            text = "BeeGFS calls or buffers of the files, one after the other"
            self.of_each(row, use, f"{label}.buffers", one, text)
        wait = self._time(row, use, chunk, 1)
        number = fs.servers.count if fs.servers is not None else 1
        flight = self.connections * number
        one = law(waiting.request_rate, request_B=chunk, latency_s=wait, rate_Bps=math.inf, in_flight=flight)
        row.charge(f"{label}.connections", "beegfs", what="BeeGFS requests in flight to the servers", capacity=one)
        rate = self.either(use, fs.target_rate, fs.target_write)
        below = row.times(2.0) if fs.mirror and use.operation == "write" else row
        drives = Group("targets", "BeeGFS targets", fs.targets, row.term(rate), self.stripes(row, use.file_B), chunk)
        self.groups(below, use, label, drives)
        self.charge_servers(below, use, label, chunk)
        host.storage_network(row, use, volume)

    def connections_of(self, row: Row, use: Access) -> Connections:
        """One for each request under way: a call goes to the targets of its chunks at once."""
        servers = self.system_mount(row).servers
        most = self.connections * (servers.count if servers is not None else 1)
        flying = max(use.own_streams, 1) * max(use.queue_depth, 1) * self.parts(use)
        return Connections(max(min(flying, most), 1), shared=flying >= most)

    def parts(self, use: Access) -> int:
        """Targets that one request of a file's buffer or of a larger call goes to at once."""
        asked_B = max(self.buffer.value, min(use.block_B, use.file_B))
        return max(1, min(self.numtargets, math.ceil(asked_B / self.chunksize.value)))

    def sees(self, use: Access) -> Access:
        """A buffer that is full goes to the servers before more is taken: nothing gathers in the host's memory."""
        return use.but(finish="steady") if use.finish in ("none", "fdatasync") else use

    def waits(self, row: Row, operations: Calls, host: Machine, away_s: Value, file_B: float, *, met: int = 0) -> Value:
        """Messages to a metadata server, those that look for the names first, and what they change there."""
        plain = super().waits(row, operations, host, away_s, file_B, met=met)
        looked_up = sum(_LOOK_UPS.get(operation, 0.0) for operation in operations)
        message_s = self.among_others(row, self.metadata_time).value
        return plain + beegfs.operation_time(looked_up, message_s, away_s, 0.0, 0.0) + self._changed(row, operations)

    def _changed(self, row: Row, operations: Calls) -> Value:
        """Seconds of the changes of the metadata server's own file system."""
        creates = "create" in operations
        changes = sum(_CHANGES.get(operation, 0.0) for operation in operations if operation != "close" or creates)
        return changes * self.among_others(row, self.change_time).value if self.change_time is not None else 0.0

    def folder_time(self, row: Row, operations: Calls, seconds: Value, away_s: Value) -> Value:
        """What is changed there: the lock of a directory is held while its entries are stored (meta: MetaStore.cpp)."""
        return self._changed(row, operations)

    def metadata(self, row: Row, requests: Operations, host: Machine, volume: str) -> None:
        """Operations at the metadata servers; and what removals ask of the storage servers.

        The metadata server asks every target that a file was given to remove its chunk, whether it has one or not
        (MsgHelperUnlink.cpp, unlinkChunkFileParallel), after its answer to the client (tuneEarlyUnlinkResponse).
        """
        super().metadata(row, requests, host, volume)
        fs, removed = self.system_mount(row), requests.per_byte.get("remove", 0.0)
        if fs.servers is None or not removed:
            return
        far, prefix = self.station_names(row, label_of(volume))
        each = count(min(self.numtargets, fs.targets), "message")
        one = law(metadata.server_time, operation_rate=row.term(fs.unlinks))
        capacity = count(fs.servers.count, "server")
        per_byte = Term(removed, f"{removed:.7g}") * each * one
        text = "chunks of removed files, one message for each of their targets"
        far.charge(f"{prefix}unlinks", "metadata", capacity=capacity, per_byte=per_byte, what=text)

    def request_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        return self._time(row, use, term(use.block_B, "B"), self.numtargets).value / use.block_B

    def _time(self, row: Row, use: Access, asked_B: Term, targets: int) -> Term:
        """Time of what is asked for at once."""
        nodes = self.system_mount(row).servers
        wire = nodes.node(row) if nodes is not None and nodes.bounded else row.term(_PORT)
        chunk, buffer, latency = (row.term(size) for size in (self.chunksize, self.buffer, self.latency))
        sizes = {"asked_B": asked_B, "chunk_B": chunk, "targets": targets, "buffer_B": buffer}
        waits = {"latency_s": latency, "message_s": row.term(self.metadata_time), "wire_Bps": wire}
        return law(beegfs.request_time, **sizes, **waits, trip_s=term(use.rtt_s, "s"))
