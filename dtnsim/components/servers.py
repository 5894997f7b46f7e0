"""The servers of a shared file system: ports, the arrays behind them, metadata servers; and mounts that share them."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from dtnsim.components.access import Access, Operations
from dtnsim.components.base import Model
from dtnsim.components.device import MIRROR_RATE, Connections
from dtnsim.components.filesystem import PageCached, label_of
from dtnsim.components.machine import Machine
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, term
from dtnsim.ground.uncertainty import Change
from dtnsim.physics import bonding, hdd, hdd_streams, metadata, servers

Many = Annotated[int, Field(ge=1, le=100000)]
OpRate = Annotated[Quantity, Unit("1/s", spread=0.3, low=1)]


class MetadataServers(Model):
    """Metadata servers with the operations a second that each of them does for many clients (what mdtest prints).

    Attributes:
        count: Servers that do metadata at the same time (Lustre: MDTs in use with DNE).
        create: Files made a second by one server; a mkdir, a rename and a change of attributes count alike.
        stat: Look-ups, opens of files that exist, attributes read.
        remove: Files removed.
        striped: True where every directory is spread over all servers (lfs setdirstripe -c).
    """

    count: Many = 1
    create: OpRate = prior(
        "20000 ops/s",
        0.8,
        "Dell HPC Lustre storage papers, mdtest of one MDS with many threads: 15K, 27K, 29K creates/s; machines of two "
        "processors, where others have virtual ones of few cores",
    )
    stat: OpRate = prior(
        "450000 ops/s", 0.8, "Dell HPC Lustre storage papers, mdtest of one MDS: 400K, 500K, 544K stats/s"
    )
    remove: OpRate = prior(
        "130000 ops/s", 0.8, "Dell HPC Lustre storage papers, mdtest of one MDS: 100K, 144K, 160K removals/s"
    )
    striped: bool = False

    def filled(self, usual: Self) -> Self:
        """With what a file system's servers usually do where nobody says."""
        plain = MetadataServers()
        unsaid = [
            name for name in ("create", "stat", "remove") if getattr(self, name).source == getattr(plain, name).source
        ]
        return self.model_copy(update={name: getattr(usual, name) for name in unsaid})

    def seconds(self, row: Row, requests: Operations) -> Term:
        """Time of one metadata server that the operations of one payload byte take [s/B]."""
        parts = []
        for operation, number in requests.per_byte.items():
            rate = row.term(getattr(self, metadata.CLASSES.get(operation, "stat")))
            parts.append(Term(number, f"{number:.7g}") * law(metadata.server_time, operation_rate=rate))
        return sum(parts[1:], parts[0]) if parts else term(0.0)


#: of one target or one of its drives, what others leave of all, and one request
TargetRate = Annotated[Quantity, Unit("B/s", spread=0.3, low=1e5)]
Left = Annotated[Quantity, Unit("1", spread=0.6, low=1e-3, high=1.0)]
RequestTime = Annotated[Quantity, Unit("s", spread=0.5)]


class Servers(Model):
    """Servers of a file system that many hosts mount.

    Attributes:
        count: Servers that serve data.
        ports: Network ports of one server.
        port_rate: Line rate of a port; left out where the network to the servers is never the limit.
        port_share: Payload per byte of line rate.
        rate: What the cores and memory of one server move at most.
        arrays: Storage arrays (enclosures with controllers) behind all servers together.
        read, write: What the controllers of one array move.
        mirrored: Whether they copy each write into the partner's cache first; where ``write`` is not given, they take
            what they can copy.
        mirror_rate: Rate at which those of one array copy.
        controllers: Controllers of an array that work, of two.
        cache: Memory of one array for write-back and read-ahead, which its streams share.
        positioning: Time of the drives from one stream to the next, of an object store from one object's part to the
            next; 0 for flash.
        failed: Servers that are down; each has a partner that does its work.
        metadata: Metadata servers.
    """

    count: Many = 1
    ports: Many = 1
    port_rate: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e5, line=True)] | None = None
    port_share: Annotated[Quantity, Unit("1", low=0.1, high=1.0)] = prior(
        "0.93", 0.03, "0.9 (Lustre manual) to 0.95 (Dell PixStor: 23 GB/s through two EDR ports)"
    )
    rate: Annotated[Quantity, Unit("B/s", spread=0.2, low=1e5)] | None = None
    arrays: Many = 1
    read: Annotated[Quantity, Unit("B/s", spread=0.2, low=1e5)] | None = None
    write: Annotated[Quantity, Unit("B/s", spread=0.2, low=1e5)] | None = None
    mirrored: Annotated[bool, Field(description="two controllers keep copies of each other's write cache")] = False
    mirror_rate: Annotated[Quantity, Unit("B/s", spread=0.4, low=1e6)] = MIRROR_RATE
    controllers: Annotated[int, Field(ge=1, le=2)] = 2
    cache: Annotated[Quantity, Unit("B", spread=0.3)] = prior(
        "4 GiB", 0.7, "assumed: controller memory for data of an enclosure of 60 to 84 drives (4 to 16 GiB, mirrored)"
    )
    positioning: Annotated[Quantity, Unit("s", spread=0.3)] = prior("0 s", 0.0, "flash: nothing moves")
    failed: Annotated[int, Field(ge=0)] = 0
    metadata: MetadataServers | None = None

    @model_validator(mode="before")
    @classmethod
    def _number_alone(cls, raw: object) -> object:
        if isinstance(raw, str) and not raw.isdigit():
            raise ValueError("is no number of servers; leave 'servers' out, or write how many: {count: 15}")
        return {"count": raw} if isinstance(raw, str | int) else raw

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        if self.failed > self.count / 2:
            raise ValueError("more servers have failed than have a partner; write at most half of 'count'")
        return self

    def node(self, row: Row) -> Term:
        """Rate of one server."""
        port, own_rate = (math.inf if rate is None else row.term(rate) for rate in (self.port_rate, self.rate))
        share = row.term(self.port_share)
        return law(servers.node_rate, ports=self.ports, port_rate=port, port_share=share, own_rate=own_rate)

    @property
    def bounded(self) -> bool:
        """Whether anything is known of a server's rate."""
        return self.port_rate is not None or self.rate is not None

    def working(self, *, striped: bool) -> Term:
        """Servers' worth of rate that is there."""
        total = count(self.count, "server")
        if not self.failed:
            return total
        return law(servers.surviving, servers=total, failed=self.failed, striped=float(striped))

    def array_rate(self, row: Row, use: Access, request: Term, *, drives: bool, scattered: bool) -> Term | None:
        """Rate of all arrays: their controllers, and their drives where the file system has no targets of its own."""
        rate = self.read if use.operation == "read" else self.write
        copied = self.mirrored and self.controllers == 2 and use.operation == "write"
        if rate is None and not copied:
            return None
        one = row.term(rate) if rate is not None else term(math.inf, "B/s")
        if copied:
            one = law(hdd.mirrored_write_rate, write_rate=one, mirror_rate=row.term(self.mirror_rate))
        if drives:
            crowd = max(use.streams, 1) / self.arrays
            one = self.disks(row, one, crowd, self.arrays, request, scattered=scattered)
        return count(self.arrays, "array") * one * (0.5 * self.controllers)

    def disks(self, row: Row, rate: Term, crowd: float, groups: int, request: Term, *, scattered: bool = False) -> Term:
        """What turns between many streams leave of the rate of one group of drives.

        Args:
            rate: Rate of the group for one stream.
            crowd: Streams on each group that is in use.
            groups: Groups that share the arrays' memory.
            scattered: True where each request lies elsewhere, so that even one stream moves the heads.
        """
        if self.positioning.value == 0:
            return rate
        memory = count(self.arrays, "array") * row.term(self.cache) / groups
        turn = request if scattered else law(servers.run_length, cache_B=memory, streams=crowd, request_B=request)
        streams = 2.0 if scattered else crowd
        switch_s = row.term(self.positioning)
        return law(hdd_streams.interleaved_rate, streams=streams, rate=rate, visit_B=turn, switch_s=switch_s)


@dataclass(frozen=True, slots=True)
class Group:
    """Groups of drives that files lie on: storage targets, NSDs, OSDs."""

    name: str  #: Name of their station.
    what: str  #: What they are called.
    number: int  #: How many there are.
    rate: Term  #: Rate of one for one stream.
    each: Term  #: Groups that one file lies on.
    request: Term  #: Bytes that are asked for at once.
    scattered: bool = False  #: True where each request lies elsewhere.


class SharedFilesystem(PageCached):
    """A mount of a file system that has servers of its own.

    Hosts whose mounts name the same ``system`` share its servers; what such mounts say of the shared parts must agree,
    since it is one machine.
    """

    common: ClassVar[str] = "servers share"  #: fields that describe the servers, not the mount
    striped: ClassVar[bool] = True  #: True where every file is striped over all servers
    #: True where files are given to targets in turn (those of all users, so that one's own lie at random among them)
    in_turn: ClassVar[bool] = False
    #: True where the arrays are the drives, False where targets of the file system lie on them
    drives_in_arrays: ClassVar[bool] = False
    scattered: ClassVar[bool] = False  #: True where each request lies elsewhere on the drives: parts of objects
    #: kind of the servers' stations, where the mount's own is that of requests which are too few
    behind_kind: ClassVar[str] = ""
    #: the metadata servers of one of which nothing is said; None where there are none of its own
    usual_metadata: ClassVar[MetadataServers | None] = None
    #: fields of all file systems that mean nothing here, and what to write instead
    refused: ClassVar[dict[str, str]] = {"op_time": "metadata_time", "change_time": "metadata_time"}

    system: str | None = None
    servers: Servers | None = None
    share: Left = prior("1", 0.0, "nobody else is there")

    @model_validator(mode="after")
    def _no_strangers(self) -> Self:
        for name, instead in self.refused.items():
            if name in self.model_fields_set:
                raise ValueError(f"{name} has no meaning for {self.kind}; write {instead}")
        return self

    def system_mount(self, row: Row) -> Self:
        """The mount whose numbers hold for the servers: the first of its ``system``, or itself."""
        if self.system is None:
            return self
        first: Self = row.ledger.systems.setdefault(self.system, self)
        for name in self.common.split() if first is not self else ():
            mine, theirs = _plain(getattr(self, name)), _plain(getattr(first, name))
            if mine != theirs:
                message = f"mounts of {self.system!r} disagree on its {name}"
                remedy = "it is one file system: write the same for every mount, or give one another 'system'"
                raise SpecError(message, key=f"hosts.{row.host}.volumes.filesystem.{name}", remedy=remedy)
        return first

    def station_names(self, row: Row, label: str) -> tuple[Row, str]:
        """Where stations of the servers are named: after the system, or after host and mount."""
        return (row, f"{label}.") if self.system is None else (row.seen_from(self.system), "")

    def charge_servers(self, row: Row, use: Access, label: str, request: Term, drives: Row | None = None) -> None:
        """Charges the servers' ports and the arrays behind them; ``drives`` where a byte counts otherwise there."""
        fs = self.system_mount(row)
        nodes = fs.servers
        if nodes is None:
            return
        far, prefix = self.station_names(row, label)
        share, kind = row.term(fs.share), self.behind_kind or self.kind
        if nodes.bounded:
            node = nodes.node(row)
            capacity = nodes.working(striped=self.striped) * node * share
            far.charge(f"{prefix}servers", kind, capacity=capacity, what="file servers and their ports")
            touched = self.touched(row, use, nodes)
            if touched is not None:
                reached, text = touched * node * share, "the servers that the files lie on"
                row.charge(f"{label}.touched", kind, private=True, capacity=reached, what=text)
        if use.warm:
            return
        arrays = nodes.array_rate(row, use, request, drives=self.drives_in_arrays, scattered=self.scattered)
        if arrays is not None:
            far = far if drives is None else self.station_names(drives, label)[0]
            text = f"storage arrays behind the servers, {use.operation}"
            far.charge(f"{prefix}arrays", kind, capacity=arrays * share, what=text)

    def of_each(
        self, row: Row, use: Access, name: str, rate: Term, text: str, worker: str = "file", remedy: str = "",
        changes: tuple[Change, ...] = (),
    ) -> None:  # fmt: skip
        """Charges what each of a transfer's own files or readers may have of the mount, whatever the others do."""
        rates = count(max(use.own_streams, 1), worker) * rate
        row.charge(name, self.kind, private=True, capacity=rates, what=text, remedy=remedy, changes=changes)

    def groups(self, row: Row, use: Access, label: str, drives: Group) -> None:
        """Charges the groups of drives that the files of all streams lie on."""
        fs = self.system_mount(row)
        streams, one = max(use.streams, 1), drives.rate
        used = self.fallen_on(use, streams, drives.number, drives.each)
        if fs.servers is not None:
            crowd = streams * float(np.mean(drives.each.value)) / float(np.mean(used.value))
            one = fs.servers.disks(row, one, crowd, drives.number, drives.request, scattered=drives.scattered)
        far, prefix = self.station_names(row, label)
        text = f"{drives.what} shared with other users ({float(np.mean(used.value)):.1f} of {drives.number})"
        far.charge(f"{prefix}{drives.name}", self.kind, capacity=used * one * row.term(fs.share), what=text)

    def fallen_on(self, use: Access, files: int, number: int, each: Term) -> Term:
        """Targets' or servers' worth of rate that files lie on.

        Args:
            files: Files at once.
            number: Targets or servers.
            each: Those of a file.
        """
        turn = self.in_turn and self.share.value == 1.0
        if use.awaited:
            return law(servers.until_the_last, items=files, bins=number, each=each, turn=float(turn))
        return law(servers.in_turn if turn else bonding.occupied, items=files, bins=number, each=each)

    def connections_of(self, row: Row, use: Access) -> Connections | None:
        """One for each server that the files of the access lie on (``connections`` of a mount that says how many)."""
        nodes = self.system_mount(row).servers
        touched = self.spread(row, use) if nodes is None else self.touched(row, use, nodes)
        if touched is None:
            return Connections(nodes.count if nodes is not None else 1, tied=nodes is not None and nodes.count > 1)
        number = max(round(float(np.mean(touched.value))), 1)
        # files of another transfer lie on other servers, unless these are all
        every = nodes is not None and number >= nodes.count
        return Connections(number, tied=number > max(use.own_streams, 1), shared=every)

    def spread(self, row: Row, use: Access) -> Term | None:
        """Groups of drives that the files of one transfer lie on, where nothing is known of servers."""
        return None

    @staticmethod
    def away(alone: Term, use: Access) -> Term:
        """Time of a request: its own, and the round trip of a network that the path describes."""
        return alone + term(use.rtt_s, "s", "round trip to the servers") if np.any(np.asarray(use.rtt_s) > 0) else alone

    def flush_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        return super().flush_wait(row, use, host, volume) + use.rtt_s

    def touched(self, row: Row, use: Access, nodes: Servers) -> Term | None:
        """Servers that the files of one transfer lie on; None where every file lies on all."""
        return None

    def metadata(self, row: Row, requests: Operations, host: Machine, volume: str) -> None:
        label = label_of(volume)
        fs = self.system_mount(row)
        stated = fs.servers.metadata if fs.servers is not None else None
        usual = self.usual_metadata
        mds = stated.filled(usual) if stated is not None and usual is not None else stated or usual
        if mds is None:
            return
        source = "servers.metadata of the description" if stated else "assumed: such systems have a metadata server"
        far, prefix = self.station_names(row, label)
        cost, text = mds.seconds(row, requests), "metadata operations"
        capacity = replace(count(mds.count, "metadata server"), source=source)
        far.charge(f"{prefix}metadata", "metadata", capacity=capacity, per_byte=cost, what=text)
        if mds.count > 1 and not mds.striped:
            used = law(servers.in_turn, items=max(requests.directories, 1), bins=mds.count)
            name, text = f"{label}.directories", f"{text}: each directory lies on one metadata server"
            row.charge(name, "metadata", capacity=used, per_byte=cost, private=True, what=text)


def _plain(value: object) -> object:
    """A parameter without its sources, for comparing."""
    if isinstance(value, Quantity):
        return value.value, value.spread
    if isinstance(value, Model):
        return {name: _plain(getattr(value, name)) for name in type(value).model_fields}
    return value
