"""What a transfer asks of storage and of CPU: the small records that components read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Final, Literal, Self, TypeAlias

from dtnsim.ground.quantity import Quantity, Value
from dtnsim.ground.term import Term, largest, least, term
from dtnsim.ground.uncertainty import Releases

Operation = Literal["read", "write"]
#: what work is about: the socket of a card, those of equal parts of a volume's drives, or nothing that is known
Near: TypeAlias = int | tuple[int, ...] | None

#: steady: caches are full, the medium must keep up. none: the tool returns when the cache has the bytes.
#: fdatasync: the tool waits for the medium at the end. dsync: at every call. direct: no cache at all.
Finish = Literal["steady", "none", "fdatasync", "dsync", "direct"]
#: requests of one sequential reader that read-ahead has under way: one that is read and one beyond it
AHEAD = 2.0
#: metadata operations that go through the file system's log; "exclusive" ends an exclusive create
CHANGES = frozenset({"create", "exclusive", "remove", "mkdir", "setattr", "rename"})


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread (or ``copies`` equal ones) of a tool at one end.

    Attributes:
        name: What it is called in reasons: ``receiver``, ``reader`` ...
        copies: Threads or processes that share the work.
        slot: Which of the application cores of a placement it takes (0 is the first).
        drawn: How many there are where releases of the tool differ and nobody states one.
    """

    name: str
    copies: int = 1
    slot: int = 0
    drawn: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """How a tool uses a volume.

    Attributes:
        operation: ``read`` or ``write``.
        thread: Thread that makes the calls.
        block_B: Bytes of one call.
        file_B: Size of one file.
        total_B: Bytes of the whole job on this volume.
        streams: Sequential streams on the volume at once, those of other transfers included.
        own_streams: Those of this transfer.
        finish: When the tool considers bytes written.
        random: True for random access.
        cached: True where the bytes are known to lie in the page cache or ARC.
        again: True where the tool itself has moved these bytes just before.
        revisited: True where an earlier step of the tool has read or written these bytes, memory or not.
        rewrite: True where the blocks exist already.
        queue_depth: Requests in flight that the tool keeps itself (1 for plain read and write).
        stored: Bytes the medium stores per byte given (1 incompressible; 0 zeros on a compressing medium).
        rtt_s: Round-trip time to the volume's server (0 for local drives).
        fill_Bps: Rate at which the tool fills the cache while nothing drains it.
        drain_Bps: Rate at which the medium drains it, alone.
        memory_share: Part of the memory's limits on dirty bytes that this transfer gets beside other writers.
        held_B: Memory that programs of the path hold meanwhile on this host, the tool's own included.
        dirty_B: Dirty bytes that earlier writers have left there.
        draining: Whether write-back is at work on them.
        hot: True where the same block is moved again and again, so that it stays in the processor's cache.
        llc_B: Last-level cache of the processor (infinite where it is not known).
        l2_B: Cache of one core below it (infinite where it is not known).
        metadata_writes: Writes that a new file costs the medium besides its data.
        extent_B: Contiguous bytes that the file system finds for a file (infinite on a fresh one).
        gap_B: Bytes that lie between one such extent and the next.
        record_B: Bytes of a file that are stored as one block with its own checksum and parity (0: none are).
        stripe_B: Bytes of a file on one drive before the next drive holds some (0: as much as a visit).
        scheduled: True where the file system asks for a window at a time and sorts all streams by place (ZFS).
        read_share: Part of the bytes moved on this volume at the same time that are reads; None where all go one way.
        active: Requests that the file system has at one drive at most (infinite where it does not count them).
        request_B: Bytes of one request at a drive, neighbours joined (0: as the kernel's block layer joins them).
        seated: True where the host says which slots or adapters the volume's drives are in.
        loose: True where it does not, and what the drives hang on is no controller of the array's own.
        stable_s: Time that a server's disks take for a request that must be on them before the answer.
        timed: True where a time ends the job; ``total_B`` is then what it moves at the median.
        part_B: Bytes of one request of an object store where the tool cuts files itself (0: the volume says).
        parts: Such requests of one stream under way at once.
        wire_s: Time of a byte of one request alone on the network to the volume's server, where the path has both.
        cold_s: Time that one request waits for the drives of that server.
        drives_s: Time of a byte at those drives, as their stations are charged.
        flow_Bps: What TCP lets one connection have on the way to the servers (infinite where no network is described).
        filled: Part of the drives' space in use, where the file system says so.
        trimmed: False where nothing tells the drives which of their blocks are free.
        spliced: True where the kernel hands the page cache's own pages on, and copies none of them to a program.
        submits: False where the engine's call for one request returns only when that request is done.
        kernel: Release of the host's Linux; None of another system.
        kernels: Releases that it may be of: what a component asks that depends on them.
        aes_blocks: Blocks that an instruction of the host's processor for AES works on; 0 without any.
        sockets: Sockets of the host.
        pools: Pools of workers of the host's kernel, which its unbound work queues share.
        commits: Whether the writers are a server's threads, each of which writes back what its client commits.
        agreed_B: Largest request that the server of a mount agrees to (infinite where it is no host of the path).
        awaited: Whether all files begin at once and the time is that of the last.
        data_B: Bytes of all files that there are, where a time may end it before all of them are moved.
        idlest: Whether a read goes to the copy that has the fewest requests before it, and not to all in turn.
    """

    operation: Operation
    thread: Thread
    block_B: float
    file_B: float
    total_B: float
    streams: int = 1
    own_streams: int = 1
    finish: Finish = "steady"
    random: bool = False
    cached: bool = False
    again: bool = False
    revisited: bool = False
    rewrite: bool = False
    queue_depth: int = 1
    stored: float = 1.0
    rtt_s: Value = 0.0
    fill_Bps: Value = math.inf
    drain_Bps: Value = 0.0
    memory_share: float = 1.0
    held_B: float = 0.0
    dirty_B: float = 0.0
    draining: bool = False
    hot: bool = False
    llc_B: float = math.inf
    l2_B: float = math.inf
    metadata_writes: float = 0.0
    extent_B: float = math.inf
    gap_B: float = math.inf
    record_B: float = 0.0
    stripe_B: float = 0.0
    scheduled: bool = False
    read_share: float | None = None
    active: float = math.inf
    request_B: float = 0.0
    seated: bool = False
    loose: bool = False
    stable_s: Value = 0.0
    timed: bool = False
    wire_s: Value = 0.0
    cold_s: Value = 0.0
    drives_s: Value = 0.0
    part_B: float = 0.0
    parts: int = 1
    flow_Bps: Value = math.inf
    filled: Value | None = None
    trimmed: bool = True
    spliced: bool = False
    submits: bool = True
    kernel: tuple[int, ...] | None = None
    kernels: Releases[tuple[int, ...]] | None = None
    aes_blocks: int = 2
    sockets: int = 1
    pools: int = 1
    commits: bool = False
    agreed_B: Value = math.inf
    awaited: bool = False
    data_B: float = 0.0
    idlest: bool = False

    @property
    def in_flight(self) -> float:
        """Requests that the volume has before it at once."""
        return float(max(self.streams, 1) * max(self.queue_depth, 1))

    def thinned(self, streams: int) -> Self:
        """The access as one of several equal devices sees it that has only so many of the streams."""
        return self.but(streams=streams, own_streams=self.own_streams * streams // max(self.streams, 1))

    @property
    def alone(self) -> bool:
        """Whether nothing joins its requests, each of which is waited for."""
        return self.random or self.finish in ("direct", "dsync")

    def asked(self, most: Term) -> Term:
        """Bytes of one request where ``most`` go at once: what the program asks for where nothing joins its own."""
        return least(most, term(self.block_B, "B")) if self.alone else most

    def under_way(self, piece_B: float, most: float) -> float:
        """Requests of ``piece_B`` at most that are before a device which takes ``most`` at once.

        A program's own, cut into pieces; of each reader that is read ahead for one that is read and one beyond it; of
        write-back as many as there is room for.
        """
        if self.alone:
            return min(most, self.in_flight * max(1.0, self.block_B / piece_B))
        return most if self.operation == "write" else min(most, max(self.streams, 1) * AHEAD)

    @property
    def ahead(self) -> bool:
        """Whether the kernel's own read-ahead brings the bytes: no file system does, and no program asks for each."""
        return self.operation == "read" and not (self.alone or self.scheduled)

    @property
    def buffered(self) -> bool:
        """Whether written bytes gather in a cache, so that they reach the medium sorted and merged."""
        return self.operation == "write" and self.finish not in ("direct", "dsync")

    def beyond(self, cache: Term, usual_B: float) -> Term:
        """Part of the bytes that a cache does not keep.

        What a time ends moves as many more as the cache is larger: ``total_B`` less ``usual_B`` reach the medium then.

        Args:
            cache: Its bytes.
            usual_B: The same at the median.
        """
        drained = self.total_B - usual_B
        if self.timed and drained > 0:
            return term(drained, "B") / (term(drained, "B") + cache)
        return largest(term(1.0) - cache / term(max(self.total_B, 1.0), "B"), term(0.0))

    def but(self, **changes: object) -> Self:
        """The same access with some things changed; `dataclasses.replace` takes three times as long."""
        values = list(_EVERY(self))
        for name, value in changes.items():
            if name not in _PLACE:
                raise TypeError(f"an access has no {name!r}")
            values[_PLACE[name]] = value
        return type(self)(*values)


@dataclass(frozen=True, slots=True)
class Operations:
    """Metadata operations of the files of a transfer.

    Attributes:
        per_byte: Operations of each name for one payload byte.
        directories: Directories that the files lie in.
        rtt_s: Round-trip time to the servers [s].
        files: Files of all transfers on the volume.
        walked_B: Bytes of the files of a whole tree that is looked at, one after the other; 0 where none is.
    """

    per_byte: Mapping[str, float]
    directories: int
    rtt_s: Value = 0.0
    files: int = 0
    walked_B: float = 0.0

    @property
    def number(self) -> float:
        """Operations for one payload byte."""
        return sum(self.per_byte.values())

    @property
    def changes(self) -> float:
        """Those of them that change a directory or inode."""
        return sum(number for operation, number in self.per_byte.items() if operation in CHANGES)


_NAMES: Final = [each.name for each in fields(Access)]
_EVERY: Final = attrgetter(*_NAMES)
_PLACE: Final = {name: n for n, name in enumerate(_NAMES)}
