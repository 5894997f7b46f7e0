"""What a transfer asks of storage and of CPU: the small records that components read."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Final, Literal, Self, TypeAlias

from dtnsim.ground.quantity import Quantity, Value
from dtnsim.ground.runtime import record
from dtnsim.ground.term import Term, largest, minimum, term
from dtnsim.ground.uncertainty import Releases

Operation = Literal["read", "write"]
#: what work is about: the socket of a card, those of equal parts of a volume's drives, or nothing that is known
Near: TypeAlias = int | tuple[int, ...] | None
Calls: TypeAlias = tuple[str, ...]  #: names of a file's metadata operations, in order

#: steady: caches are full, the medium must keep up. none: the tool returns when the cache has the bytes.
#: fdatasync: the tool waits for the medium at the end. dsync: at every call. direct: no cache at all.
Finish = Literal["steady", "none", "fdatasync", "dsync", "direct"]
AHEAD = 2.0  #: requests of one sequential reader that read-ahead has under way: one that is read and one beyond it
#: metadata operations that go through the file system's log; "exclusive" ends an exclusive create
CHANGES = frozenset({"create", "exclusive", "remove", "mkdir", "setattr", "rename"})


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread (or ``copies`` equal ones) of a tool at one end."""

    name: str  #: What it is called in reasons: ``receiver``, ``reader`` ...
    copies: int = 1  #: Threads or processes that share the work.
    slot: int = 0  #: Which of the application cores of a placement it takes (0 is the first).
    drawn: Quantity | None = None  #: How many there are where releases of the tool differ and nobody states one.


@record(frozen=True, slots=True)
class Access:
    """How a tool uses a volume."""

    operation: Operation  #: ``read`` or ``write``.
    thread: Thread  #: Thread that makes the calls.
    block_B: float  #: Bytes of one call.
    file_B: float  #: Size of one file.
    total_B: float  #: Bytes of the whole job on this volume.
    streams: int = 1  #: Sequential streams on the volume at once, those of other transfers included.
    own_streams: int = 1  #: Those of this transfer.
    finish: Finish = "steady"  #: When the tool considers bytes written.
    random: bool = False  #: True for random access.
    cached: bool = False  #: True where the bytes are known to lie in the page cache or ARC.
    warm: bool = False  #: True where they are known to lie in the memory of the servers.
    again: bool = False  #: True where the tool itself has moved these bytes just before.
    revisited: bool = False  #: True where an earlier step of the tool has read or written these bytes, memory or not.
    rewrite: bool = False  #: True where the blocks exist already.
    queue_depth: int = 1  #: Requests in flight that the tool keeps itself (1 for plain read and write).
    stored: float = 1.0  #: Bytes the medium stores per byte given (1 incompressible; 0 zeros on a compressing medium).
    rtt_s: Value = 0.0  #: Round-trip time to the volume's server (0 for local drives).
    fill_Bps: Value = math.inf  #: Rate at which the tool fills the cache while nothing drains it.
    drain_Bps: Value = 0.0  #: Rate at which the medium drains it, alone.
    #: Part of the memory's limits on dirty bytes that this transfer gets beside other writers.
    memory_share: float = 1.0
    held_B: float = 0.0  #: Memory that programs of the path hold meanwhile on this host, the tool's own included.
    dirty_B: float = 0.0  #: Dirty bytes that earlier writers have left there.
    hot: bool = False  #: True where the same block is moved again and again, so that it stays in the processor's cache.
    llc_B: float = math.inf  #: Last-level cache of the processor (infinite where it is not known).
    l2_B: float = math.inf  #: Cache of one core below it (infinite where it is not known).
    metadata_writes: float = 0.0  #: Writes that a new file costs the medium besides its data.
    extent_B: float = math.inf  #: Contiguous bytes that the file system finds for a file (infinite on a fresh one).
    gap_B: float = math.inf  #: Bytes that lie between one such extent and the next.
    #: Bytes of a file that are stored as one block with its own checksum and parity (0: none are).
    record_B: float = 0.0
    stripe_B: float = 0.0  #: Bytes of a file on one drive before the next drive holds some (0: as much as a visit).
    #: True where the file system asks for a window at a time and sorts all streams by place (ZFS).
    scheduled: bool = False
    #: Part of the bytes moved on this volume at the same time that are reads; None where all go one way.
    read_share: float | None = None
    #: Requests that the file system has at one drive at most (infinite where it does not count them).
    active: float = math.inf
    #: Bytes of one request at a drive, neighbours joined (0: as the kernel's block layer joins them).
    request_B: float = 0.0
    seated: bool = False  #: True where the host says which slots or adapters the volume's drives are in.
    wire: float = 1.0  #: Bytes on the wire of a network to the drives for each of theirs.
    loose: bool = False  #: True where it does not, and the array has no controller of its own.
    year: int | None = None  #: Year of its host, where it is stated.
    stable_s: Value = 0.0  #: Time that a server's disks take for a request that must be on them before the answer.
    timed: bool = False  #: True where a time ends the job; ``total_B`` is then what it moves at the median.
    #: Time of a byte of one request alone on the network to the volume's server, where the path has both.
    wire_s: Value = 0.0
    cold_s: Value = 0.0  #: Time that one request waits for the drives of that server.
    drives_s: Value = 0.0  #: Time of a byte at those drives, as their stations are charged.
    commit_s: Value = 0.0  #: Time that closing a file waits for what has gathered in that server's memory.
    #: Bytes of one request of an object store where the tool cuts files itself (0: the volume says).
    part_B: float = 0.0
    parts: int = 1  #: Such requests of one stream under way at once.
    #: What TCP lets one connection have on the way to the servers (infinite where no network is described).
    flow_Bps: Value = math.inf
    filled: Value | None = None  #: Part of the drives' space in use, where the file system says so.
    trimmed: bool = True  #: False where nothing tells the drives which of their blocks are free.
    #: True where the kernel hands the page cache's own pages on, and copies none of them to a program.
    spliced: bool = False
    submits: bool = True  #: False where the engine's call for one request returns only when that request is done.
    kernel: tuple[int, ...] | None = None  #: Release of the host's Linux; None of another system.
    #: Releases that it may be of: what a component asks that depends on them.
    kernels: Releases[tuple[int, ...]] | None = None
    aes_blocks: int = 2  #: Blocks that an instruction of the host's processor for AES works on; 0 without any.
    sockets: int = 1  #: Sockets of the host.
    pools: int = 1  #: Pools of workers of the host's kernel, which its unbound work queues share.
    #: Whether the writers are a server's threads, each of which writes back what its client commits.
    commits: bool = False
    #: Largest request that the server of a mount agrees to (infinite where it is no host of the path).
    agreed_B: Value = math.inf
    awaited: bool = False  #: Whether all files begin at once and the time is that of the last.
    data_B: float = 0.0  #: Bytes of all files that there are, where a time may end it before all of them are moved.
    within_B: float = 0.0  #: Bytes that the requests of random access lie within (0: anywhere on the medium).
    #: Whether a read goes to the copy that has the fewest requests before it, and not to all in turn.
    idlest: bool = False

    @property
    def in_flight(self) -> float:
        """Requests that the volume has before it at once."""
        return float(max(self.streams, 1) * max(self.queue_depth, 1))

    def thinned(self, streams: int) -> Self:
        """The access as one of several equal devices sees it that has only so many of the streams."""
        return self.but(streams=streams, own_streams=self.own_streams * streams // max(self.streams, 1))

    @property
    def waits_for_each(self) -> bool:
        """Whether nothing joins its requests, each of which is waited for."""
        return self.random or self.finish in ("direct", "dsync")

    def joined_request_B(self, most: Term) -> Term:
        """Bytes of one request where ``most`` go at once: what the program asks for where nothing joins its own."""
        return minimum(most, term(self.block_B, "B")) if self.waits_for_each else most

    def under_way(self, piece_B: float, most: float) -> float:
        """Requests of ``piece_B`` at most that are before a device which takes ``most`` at once.

        A program's own, cut into pieces; of each reader that is read ahead for one that is read and one beyond it; of
        write-back as many as there is room for.
        """
        if self.waits_for_each:
            return min(most, self.in_flight * max(1.0, self.block_B / piece_B))
        return most if self.operation == "write" else min(most, max(self.streams, 1) * AHEAD)

    @property
    def ahead(self) -> bool:
        """Whether the kernel's own read-ahead brings the bytes: no file system does, and no program asks for each."""
        return self.operation == "read" and not (self.waits_for_each or self.scheduled)

    @property
    def buffered(self) -> bool:
        """Whether written bytes gather in a cache, so that they reach the medium sorted and merged."""
        return self.operation == "write" and self.finish not in ("direct", "dsync")

    def missed_part(self, cache: Term, usual_B: float) -> Term:
        """Part of the bytes that a cache, of ``usual_B`` at the median, does not keep.

        What a time ends moves as many more as the cache is larger: ``total_B`` less ``usual_B`` reach the medium then.
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
    """Metadata operations of the files of a transfer."""

    per_byte: Mapping[str, float]  #: Operations of each name for one payload byte.
    directories: int  #: Directories that the files lie in.
    rtt_s: Value = 0.0  #: Round-trip time to the servers [s].
    files: int = 0  #: Files of all transfers on the volume.
    #: Bytes of the files of a whole tree that is looked at, one after the other; 0 where none is.
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
