"""Lustre: a file's stripes on object storage targets, RPCs in flight, servers, and everybody else's load."""

import math
from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access, Calls, Operations
from dtnsim.components.base import Model, empty
from dtnsim.components.filesystem import label_of
from dtnsim.components.machine import Machine
from dtnsim.components.parallel import ParallelFilesystem
from dtnsim.components.servers import Group, Left, MetadataServers, RequestTime, TargetRate
from dtnsim.components.stack import Stack
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, largest, law, minimum, term
from dtnsim.ground.uncertainty import Otherwise, Since
from dtnsim.ground.units import plural
from dtnsim.physics import lustre, raid

_MAX_DIRTY = term(32.0 * 2**20, "B", "Lustre, obd.h: OSC_MAX_DIRTY_DEFAULT; at least what max_rpcs_in_flight carry")


class Extent(Model):
    """One component of a progressive file layout.

    Attributes:
        until: Where it ends; left out for the last one.
        stripe_count: Its stripes.
    """

    until: Annotated[Quantity, Unit("B", low=65536)] | None = None
    stripe_count: Annotated[int, Field(ge=1, le=2000)] = 1


class Lustre(ParallelFilesystem):
    """A Lustre client mount. The targets are shared: ``share`` is what others leave of them.

    ``target_rate`` is one OST's rate; where it writes slower, ``target_write`` says so. ``stream`` is what a stream
    gets from one OST, where it is not stated of what others leave; the thread that copies it costs ``client_byte``
    besides, however many stripes there are. ``latency`` is the time of one bulk RPC of 4 MiB to an OST of 1 GB/s,
    unless it is stated; direct writes wait for stable storage there (A. Dilger, lustre-discuss, October 2016).
    Where ``servers`` say nothing of metadata there is one server for it, as the priors of `MetadataServers` have it.
    ``layout`` is a progressive file layout instead of ``stripe_count`` (``lfs setstripe -E``). OSTs are given to files
    in turn (the round-robin allocator), where other users' files are not between one's own (``share`` 1).

    A file's size is asked of its OSTs besides.

    Before release 2.8 a client has one request under way that changes a name or an inode, whatever its threads do: the
    server keeps one answer of each client to give again after a failure (LU-5319).
    """

    kind: ClassVar[str] = "lustre"
    other_names: ClassVar[Mapping[str, str]] = {"osts": "targets", "ost": "targets"}
    common: ClassVar[str] = "servers share targets target_rate target_write"
    striped: ClassVar[bool] = False
    refused: ClassVar[dict[str, str]] = {"op_time": "metadata_time"}
    times: ClassVar[tuple[str, str]] = ("metadata_time", "change_time")
    in_turn: ClassVar[bool] = True
    usual_metadata: ClassVar[MetadataServers | None] = MetadataServers()

    stripe_count: Annotated[
        int, Field(ge=1, le=2000), Otherwise("4", "directories for large files (lfs getstripe)")
    ] = 1
    stripe_size: Annotated[Quantity, Unit("B", low=65536)] = prior("1 MiB", 0.0, "Lustre manual: default stripe size")
    layout: list[Extent] = Field(default_factory=empty)
    targets: Annotated[int, Field(ge=1, le=100000)] = 100
    target_rate: TargetRate = prior("1 GB/s", 0.6, "assumed: one OST of ten disks in a production system of the 2010s")
    target_write: TargetRate | None = None
    share: Left = prior("0.4", 0.7, "assumed: what other users leave of a busy scratch system at a random hour")
    stream: Annotated[Quantity, Unit("B/s", spread=0.5, low=1e5)] = prior(
        "1.06 GB/s",
        0.6,
        "Swinburne gSTAR, Lustre in production: 350 to 500 MB/s for a single stream of one OST, of which others leave "
        "some 0.4 (share); idle test beds give a single client 0.93 to 1.5 GB/s (Dell HPC Lustre storage white "
        "papers)",
    )
    client_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "1.9 cycles/B",
        0.5,
        "page locks and cl_io of a client thread: one client with one thread reads 0.93 GB/s and writes 0.65 GB/s on a "
        "Xeon X5650 at 2.67 GHz (Dell, Intel EE for Lustre, 4.1), 2.9 and 4.1 cycles/B, and has 1 to 1.5 GB/s with EDR "
        "and Omni-Path at about 3 GHz (Dell HPC Lustre storage papers), 2 to 3; less the copy that every file system "
        "pays, 0.6 and 1.2 cycles/B on those kernels",
    )
    checksums: bool = True
    checksum_byte: Annotated[Quantity, Unit("cycles/B", spread=0.4)] = prior(
        "0.3 cycles/B",
        0.5,
        "assumed: CRC-32C or Adler-32 of each page on the ptlrpcd threads (on by default: Lustre manual)",
    )
    rpcs: Annotated[int, Field(ge=1, le=4096)] = 8
    rpc_size: Annotated[Quantity, Unit("B", low=65536)] = prior(
        "4 MiB", 0.0, "Lustre manual: default RPC size (max 16 MiB)"
    )
    max_dirty: Annotated[Quantity, Unit("B", low=65536)] | None = None
    read_ahead: Annotated[Quantity, Unit("B", low=65536)] = prior(
        "64 MiB", 0.5, "Lustre, llite_internal.h: SBI_DEFAULT_READAHEAD_MAX, 64 MiB (40 MiB before 2.10)"
    )
    latency: Annotated[Quantity, Unit("s", spread=0.4)] = prior(
        "4 ms", 0.6, "assumed: one bulk RPC of 4 MiB to an OST of 1 GB/s, network included"
    )
    client_rate: Annotated[Quantity, Unit("B/s", spread=0.2, low=1e5)] = prior(
        "4.5 GB/s", 0.3, "Lustre manual: single-client rate known in production (FDR InfiniBand)"
    )
    metadata_time: RequestTime = prior(
        "0.2 ms", 0.6, "Dell, Intel EE for Lustre (2014), mdtest: one thread looks at 5,000 directories a second"
    )
    change_time: RequestTime | None = prior(
        "0.36 ms",
        0.8,
        "one thread makes 1,800 directories a second (Dell, 2014), twelve remove 18,000 files (Dell, EDR); 8,000 "
        "changes a second, one after the other (LU-5319); geometric mean",
    )
    metadata_rpcs: Annotated[int, Field(ge=1, le=256)] = 8
    modifying_rpcs: Annotated[
        int,
        Field(ge=1, le=255),
        # LU-5319: a mutex in the client (mdc_rpc_lock) and one slot in the server's last_rcvd, before 2.8 of March 2016
        Since(((2003, 1), (2016, None))),
    ] = 7

    def cycles(self, row: Row, use: Access, stack: Stack) -> Term:
        """As any file system; what goes through the client's cache is locked page by page."""
        cycles = super().cycles(row, use, stack)
        return cycles if use.finish == "direct" else cycles + row.term(self.client_byte)

    def stripes(self, row: Row, file_B: float) -> Term:
        """OSTs that a file lies on; of a progressive layout the mean that its bytes see."""
        size = row.term(self.stripe_size)
        if not self.layout:
            return law(raid.striped, size_B=file_B, unit_B=size, members=self.stripe_count)
        start, slots = term(0.0, "B"), term(0.0)
        for extent in self.layout:
            end = row.term(extent.until) if extent.until is not None else math.inf
            inside = law(lustre.component_bytes, file_B=file_B, start_B=start, end_B=end)
            if np.any(np.asarray(inside.value) > 0):
                number = law(raid.striped, size_B=inside, unit_B=size, members=extent.stripe_count)
                slots = slots + inside / number
            if not isinstance(end, Term):
                break
            start = end
        return term(max(file_B, 1.0), "B") / slots if np.any(np.asarray(slots.value) > 0) else term(1.0)

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """The mount's own limits, the targets and servers, then the storage network."""
        label = label_of(volume)
        stripes = self._at_work(row, use, self.stripes(row, use.file_B))
        self._client(row, use, host, volume, stripes)
        fs = self.system_mount(row)
        rate = self.either(use, fs.target_rate, fs.target_write)
        ost = Group("targets", "Lustre targets", fs.targets, row.term(rate), stripes, row.term(self.rpc_size))
        self.groups(row, use, label, ost)
        self.charge_servers(row, use, label, row.term(self.rpc_size))
        if self.checksums:
            host.pool(row, row.term(self.checksum_byte), "Lustre checksums")
        host.storage_network(row, use, volume)

    def _at_work(self, row: Row, use: Access, stripes: Term) -> Term:
        """OSTs that a stream has at work; one that writes waits at each for what ``client_adjust_max_dirty`` allows."""
        if use.random or use.finish == "direct":
            return stripes
        held = row.term(self.read_ahead) * 0.5
        if use.operation == "write":
            usual = largest(row.term(self.rpc_size) * float(self.rpcs), _MAX_DIRTY)
            held = usual if self.max_dirty is None else row.term(self.max_dirty)
        size = row.term(self.stripe_size)
        if np.all(np.asarray(held.value) >= size.value):
            return stripes
        return law(lustre.osts_at_work, stripes=stripes, stripe_B=size, held_B=held)

    def _client(self, row: Row, use: Access, host: Machine, volume: str, stripes: Term) -> None:
        """RPCs, read-ahead and stream of this access; the client's ceiling."""
        label, key = label_of(volume), f"hosts.{host.name}.volumes.{volume}"
        reading = use.operation == "read"
        size = row.term(self.rpc_size)
        latency = self.away(self._rpc_time(row, use, size), use)
        dirty = math.inf if reading or self.max_dirty is None else row.term(self.max_dirty)
        places = plural(round(float(np.mean(stripes.value))), "stripe")
        one = law(lustre.osc_rate, rpcs=self.rpcs, rpc_B=size, service_s=latency, dirty_B=dirty)
        more = f"more RPCs in flight ({key}.filesystem.rpcs), a larger stripe count, or more files at once"
        self.of_each(row, use, f"{label}.rpcs", stripes * one, f"Lustre RPCs in flight to {places}", remedy=more)
        if reading and not use.random and use.finish != "direct":
            ahead = law(lustre.read_ahead_rate, window_B=row.term(self.read_ahead), rpc_B=size, service_s=latency)
            more = f"a larger read-ahead ({key}.filesystem.read_ahead), or more files at once"
            self.of_each(row, use, f"{label}.read-ahead", ahead, "Lustre read-ahead of a file", remedy=more)
        alone = row.term(self.stream)
        stream = stripes * (alone if self.states("stream") else alone * row.term(self.system_mount(row).share))
        more = f"a larger stripe count ({key}.filesystem.stripe_count), or more files at once"
        self.of_each(row, use, f"{label}.stream", stream, f"single Lustre stream from {places}", remedy=more)
        rails = max(sum(n in host.nics for n in host.volumes[volume].via), 1)
        ceiling = law(lustre.client_rate, rail_rate=row.term(self.client_rate), rails=rails, sockets=host.cpu.sockets)
        more = f"more clients (hosts.{host.name}.count), or a NIC to the servers for each socket ({key}.via)"
        row.charge(f"{label}.client", "lustre", capacity=ceiling, what="Lustre client", remedy=more)

    def _rpc_time(self, row: Row, use: Access, asked_B: Term) -> Term:
        """Time of a bulk RPC at its OST; one that is stated holds for all sizes."""
        known_s, usual = row.term(self.latency), type(self).model_fields
        if self.states("latency") or use.operation == "write":
            return known_s
        slower = usual["target_rate"].default.value / row.term(self.system_mount(row).target_rate)
        size_B, message_s = usual["rpc_size"].default.value, row.term(self.metadata_time)
        of_one = {"known_B": size_B, "known_s": known_s, "slower": slower, "message_s": message_s}
        return law(lustre.rpc_time, asked_B=asked_B, **of_one)

    def request_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """One RPC; a call of several has them all under way."""
        asked_B = minimum(term(use.block_B, "B"), row.term(self.rpc_size))
        return (self._rpc_time(row, use, asked_B).value + use.rtt_s) / use.block_B

    def cache_limits(self, row: Row, host: Machine, held_B: float = 0.0) -> tuple[Value, Value]:
        """An RPC goes out as soon as it is full (osc_cache.c, osc_makes_rpc); writers are throttled as everywhere."""
        _, ceiling = super().cache_limits(row, host, held_B)
        return np.zeros_like(np.asarray(ceiling)), ceiling

    def spread(self, row: Row, use: Access) -> Term | None:
        return self._fallen_on(row, use, self.system_mount(row).targets)

    def folder_time(self, row: Row, operations: Calls, seconds: Value, away_s: Value) -> Value:
        """None: entries of one folder are changed side by side (LU-50; A. Dilger, lustre-discuss, 2016)."""
        return 0.0

    def operation_time(self, row: Row, operation: str, host: Machine) -> Value:
        """A request to the metadata server, and one to an OST where a file's size is asked for."""
        return (2.0 if operation == "stat" else 1.0) * super().operation_time(row, operation, host)

    def metadata(self, row: Row, requests: Operations, host: Machine, volume: str) -> None:
        """Charges the client's metadata requests in flight, and the metadata servers."""
        super().metadata(row, requests, host, volume)
        label, away = label_of(volume), term(requests.rtt_s, "s")
        change = term(requests.changes) * (self.among_others(row, self.timed("create")) + away)
        look = term(requests.number - requests.changes) * (self.among_others(row, self.timed("stat")) + away)
        for name, number, taken, slots in (
            ("metadata-rpcs", requests.number, change + look, self.metadata_rpcs),
            ("modifying-rpcs", requests.changes, change, self.modifying_rpcs),
        ):
            if number > 0:
                text = "metadata requests in flight of this client"
                row.charge(f"{label}.{name}", "metadata", capacity=count(slots, "request"), per_byte=taken, what=text)
