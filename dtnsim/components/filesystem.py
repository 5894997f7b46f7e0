"""What every file system answers: what a call costs the core, and when the medium has to work.

Operations on names and attributes, too: of the program that waits, and of servers.
"""

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from dtnsim.components.access import CHANGES, Access, Calls, Operations
from dtnsim.components.base import Component
from dtnsim.components.device import Connections, Device
from dtnsim.components.machine import Machine
from dtnsim.components.stack import Stack
from dtnsim.ground.ledger import Row
from dtnsim.ground.pages import Cache
from dtnsim.ground.quantity import Quantity, Unit, Value, middle, prior
from dtnsim.ground.term import Term, law, term
from dtnsim.physics import cache, cpu, metadata, waiting


class FileOperations(Component):
    """The operations of a file system that move no data.

    Attributes:
        op_time: What a look-up takes.
        change_time: What a change of a directory or inode takes; None where it is no different.
    """

    #: the same for servers that nobody describes, where they are no hosts of the path
    filer: ClassVar[Mapping[str, Quantity]] = {}

    #: what operations are called where they go by other names; those that nobody is asked for have none
    asked_by: ClassVar[Mapping[str, str]] = {}

    #: keys that say what an operation takes, and what a change does
    times: ClassVar[tuple[str, str]] = ("op_time", "change_time")

    op_time: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "2 us",
        0.7,
        "mdtest 1.9.3 on tmpfs, two tasks (vi4io.org): 0.8 to 1.6 million stats and reads a second, 1.3 to 2.6 us each",
    )
    change_time: Annotated[Quantity, Unit("s", spread=0.5)] | None = prior(
        "25 us",
        0.5,
        "32 us a create and its close on ext3 at 2.66 GHz, 327,800 files (foddex.net, 2009), and 17 us on ext4, xfs "
        "and btrfs at 3.65 GHz of Zen 4 (measured): 25 us at 3.3 GHz less the close",
    )

    def called(self, operations: Iterable[str]) -> list[str]:
        """What some operations are called here."""
        words = [word for name in operations if (word := self.asked_by.get(name, name))]
        return [f"{n} x {word}" if (n := words.count(word)) > 1 else word for word in dict.fromkeys(words)]

    def waits(self, row: Row, operations: Calls, host: Machine, away_s: Value, file_B: float, *, met: int = 0) -> Value:
        """Seconds of one file's operations, each of which a program waits for."""
        seconds: Value = 0.0
        for operation in operations:
            service = self.operation_time(row, operation, host)
            trips = self.round_trips(row, operation)
            seconds = seconds + np.asarray(metadata.serial_time(1.0, trips, away_s, service))
            if operation != "close":  # which walks no path
                asked = trips * self.expired(row, away_s + service)
                seconds = seconds + metadata.serial_time(1.0, asked, away_s, self.operation_time(row, "stat", host))
        if "create" in operations and "close" in operations:
            seconds = seconds + self.close_time(row, file_B, away_s)
        return seconds

    def asks(self, operations: Calls, *, met: bool) -> Calls:
        """Operations of one file that servers have to answer."""
        return operations

    def folder_time(self, row: Row, operations: Calls, seconds: Value, away_s: Value) -> Value:
        """Seconds for which changes of one file, of ``seconds`` at the client, hold a folder at the servers."""
        return seconds - len(operations) * away_s

    def round_trips(self, row: Row, operation: str) -> Value:
        """Calls or round trips to the server for one metadata operation; names of a directory come many at once.

        An exclusive create is done at once: only NFS must set the attributes of such a file after it.
        """
        if operation == "exclusive":
            return 0.0
        return float(metadata.listing_calls(metadata.NAMES_PER_CALL)) if operation == "readdir" else 1.0

    def expired(self, row: Row, request_s: Value) -> Value:
        """Requests that renew what the client knew, for each that does the work."""
        return 0.0

    def close_time(self, row: Row, file_B: float, rtt_s: Value) -> Value:
        """Seconds that the close of a written file takes besides the operation itself."""
        return 0.0

    def misses(self, row: Row, host: Machine, volume: str, requests: Operations) -> Value:
        """Seconds in which the operations of one file wait for drives, since memory does not have all files."""
        return 0.0

    def flushes(self, operations: Calls, *, written: bool) -> tuple[float, float]:
        """How often one file's operations wait for the disks of the server, with changes and with what is written."""
        return 0.0, 0.0

    def metadata(self, row: Row, requests: Operations, host: Machine, volume: str) -> None:
        """Charges the metadata operations of one payload byte at the servers that do them; a local one has none."""

    def operation_time(self, row: Row, operation: str, host: Machine) -> Value:
        """Seconds of one metadata operation."""
        return row.value(self.timed(operation))

    def timed(self, operation: str) -> Quantity:
        """What a metadata operation takes; where that of look-ups alone is stated, it is that of changes too."""
        return self.of_two(*self.times, second=operation in CHANGES)


_ALONE = "each request, one after the other"  #: what a worker waits for whose requests nobody reads ahead of


def label_of(mount: str) -> str:
    """Name of a volume's stations: ``/data/fast`` is ``data-fast``, ``/`` is ``root``."""
    return mount.strip("/").replace("/", "-") or "root"


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of an access in which the same things work: becomes a phase of the transfer."""

    name: str  #: ``cached``, ``flush`` ...
    cpu: Value = 1.0  #: How much of the call's CPU work falls into it.
    medium: Value = 1.0  #: How much of the medium's work falls into it.
    delay: Value | Term = 0.0  #: Seconds of pure waiting per byte of the access.
    what: str = ""  #: What is waited for.
    #: Seconds per byte until a file's first bytes are there, what these are, and the stations that read them meanwhile.
    first: Value | Term = 0.0
    first_what: str = ""
    by: frozenset[str] = frozenset()
    #: Bytes that memory takes before it is full, so that the medium works while the writer waits [B].
    behind: Value = 0.0


class Filesystem(FileOperations):
    """A file system mounted on a host."""

    family: ClassVar[str] = "filesystem"

    #: True where it lies on drives of its host, which are of an unknown kind where nobody names them
    on_drives: ClassVar[bool] = False
    #: True where close() waits until all that was written has reached the server
    flushes_at_close: ClassVar[bool] = False
    over_ip: ClassVar[bool] = False  #: True where its servers are reached over the host's IP network
    #: True where the host's page cache keeps what is read and written; others have a cache of their own, or none
    in_page_cache: ClassVar[bool] = True
    #: True where tools open connections of their own to it, so that nothing is mounted for them
    connected_by_tools: ClassVar[bool] = False
    #: True where written bytes may gather in memory while the medium works on earlier ones
    keeps_dirty: ClassVar[bool] = True
    sync_latency: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "4 ms", 0.8, "assumed: flush of a drive's cache through the file system's log"
    )

    @property
    def elsewhere(self) -> float:
        """Part of what is asked of its servers that passes a wire."""
        return 1.0

    @property
    def keeps_files(self) -> float:
        """Most bytes of files that stay on the host for another reading: what its memory has room for."""
        return math.inf

    @abstractmethod
    def cycles(self, row: Row, use: Access, stack: Stack) -> Term:
        """CPU cycles per byte of the calling thread."""

    @abstractmethod
    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """Charges what lies below the cache: the array and its buses, or the servers."""

    def stretches(self, row: Row, use: Access, host: Machine, volume: str) -> tuple[Stretch, ...]:
        """The phases of an access; one for a steady stream."""
        if use.operation == "read":
            # nothing is read ahead of random and direct requests
            alone = not use.cached and (use.random or use.finish == "direct")
            wait = self.request_wait(row, use, host, volume) if alone else 0.0
            return (Stretch("read", medium=0.0 if use.cached else 1.0, delay=wait, what=_ALONE),)
        if use.finish == "steady":
            return (Stretch("write"),)
        if use.finish == "direct":
            return (Stretch("write", delay=self.request_wait(row, use, host, volume), what=_ALONE),)
        if use.finish == "dsync":
            wait, array = self.flush_wait(row, use, host, volume) / use.block_B, host.volumes[volume].array
            if array is not None and array.keeps_writes:  # its memory answers while the medium writes what was there
                one = 1.0 / np.asarray(array.single_rate(row, use))
                wait = np.maximum(wait + one - charged(row, use, host, array), 0.0)
            what = f"a flush after every {use.block_B:.0f} B"
            if use.own_streams > 1:  # one writer copies while another's flush is under way
                return (Stretch("write", delay=wait, what=what),)
            return (Stretch("copy", medium=0.0), Stretch("flush", cpu=0.0, delay=wait, what=what))
        background, ceiling = (use.memory_share * limit for limit in self._limits(row, use, host))
        age, fill = self.dirty_age(row, host), np.minimum(use.fill_Bps, 1e15)
        background = np.minimum(background, age * fill)
        # where each file is flushed when it is closed, nothing of the next one is made meanwhile
        total: Value = max(use.file_B if self.flushes_at_close else use.total_B, 1.0)
        if use.finish == "none":
            drain = use.drain_Bps
            free = cache.filled_bytes(background, ceiling, fill, drain)
            if use.timed and not self.flushes_at_close:  # what a draw's drives add, or lack, is below the cache
                first = min(total, middle(free))
                seconds = first / middle(fill) + (total - first) / max(middle(drain), 1e-9)
                total = cache.written_bytes(seconds, free, fill, drain)
            return _split(total, free, cache.drained_bytes(np.minimum(free, total), background, fill, drain))
        # the medium starts when write-back does, and has every byte to write before the tool returns
        lead = np.minimum(background / total, 1.0)
        return (Stretch("cached", cpu=lead, medium=0.0), Stretch("write-back", cpu=1 - lead, medium=1.0))

    def _limits(self, row: Row, use: Access, host: Machine) -> tuple[Value, Value]:
        """The limits on dirty bytes, less what earlier writers have left dirty."""
        background, ceiling = self.cache_limits(row, host, use.held_B)
        return np.maximum(background - use.dirty_B, 0.0), np.maximum(ceiling - use.dirty_B, 1.0)

    def connections_of(self, row: Row, use: Access) -> Connections | None:
        """The connections that carry an access; None where nothing is behind a network."""
        return None

    def sent(self, row: Row, use: Access) -> Term:
        """Bytes that cross the client's network for a byte that is read or written."""
        return term(1.0)

    def sees(self, use: Access) -> Access:
        """The access as this file system takes it, which may not know all that a tool asks for."""
        return use

    def dirty_age(self, row: Row, host: Machine) -> Value:
        """Seconds after which written bytes go to the medium, however few they are."""
        return row.value(host.vm.dirty_expire)

    def flush_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """Seconds of a flush of what has just been written, its transfer left out."""
        array = host.volumes[volume].array
        if array is not None and array.keeps_writes:  # the cache below is safe: the flush ends there
            return array.latency(row, use.but(random=False))
        return row.value(self.sync_latency)

    def change_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """Seconds of a flush of what has changed in folders and inodes alone."""
        return self.flush_wait(row, use, host, volume)

    def cached_part(self, row: Row, use: Access, host: Machine) -> Value:
        """Part of a file known to be cached that memory really holds."""
        return 1.0

    def request_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """Seconds per byte that a request alone takes besides what its device is charged for it [s/B].

        Several in flight are several workers of the tool. A request meets the drives of an array that hold
        a part of it, whose stations are charged as if all drives shared it, and then the kernel's work on it (a
        cipher), part after part: what is left of its time is waited for.
        """
        array = host.volumes[volume].array
        if array is None:
            return 0.0
        wait = array.latency(row, use) / use.block_B
        seen = use.but(block_B=self.request_size(use))
        busy, worked, busiest = charged(row, seen, host, array), np.asarray(0.0), np.asarray(0.0)
        for work in array.works(row, seen):
            alone = work.cycles / host.clock(row)
            worked = worked + alone.value / min(work.cores(seen.block_B), host.cpu.total)
            busiest = np.maximum(busiest, alone.value / max(1, min(work.threads, host.cpu.total)))
        spare = worked - np.maximum(busiest - busy, 0.0)  # of two stations one after the other the busier is charged
        rest = (seen.block_B / array.single_rate(row, seen) + (spare - busy) * seen.block_B) / use.block_B
        # the positioning of random requests is in what the stations are charged, and a cache answers while the drives
        # write what was there before, or read ahead; so is the way to drives behind a network; the latency of others
        # comes on top
        beside = use.random or array.fabric is not None or array.answers_early(use)
        left: Value = np.maximum(wait + rest, 0.0) if beside else wait + np.maximum(rest, 0.0)
        if not (use.random and array.rotates) or array.answers_early(use):
            return left
        taken = np.asarray(busy) * seen.block_B / use.block_B
        whole = np.maximum(np.asarray(left) + taken, 1e-300)
        return np.asarray(whole * waiting.crowded_time(use.in_flight, taken / whole) - taken)

    def request_size(self, use: Access) -> float:
        """Bytes that a device is asked for where a program asks for one block."""
        return use.block_B

    def cache_limits(self, row: Row, host: Machine, held_B: float = 0.0) -> tuple[Value, Value]:
        """Dirty bytes after which write-back starts, and those from which on writers are throttled [B]."""
        background, limit = host.vm.dirty_limits(row, host.stack, row.value(host.memory.size), held_B)
        at_the_limit = (host.stack.release or cache.HELD_BELOW) < cache.HELD_BELOW
        return background, limit if at_the_limit else cache.set_point(background, limit)

    def gathers(self, use: Access) -> bool:
        """Whether written bytes gather in memory on their way to the medium, so that the writer goes on meanwhile."""
        return use.buffered and self.keeps_dirty

    def page_cache(self, row: Row, use: Access, host: Machine, volume: str) -> Cache:
        """What the simulation needs of the memory behind a writer.

        Where a writer ends with a flush, or without any, write-back begins as Linux has it; where the stream is
        held to be steady, the medium works from the first byte.
        """
        background, size = self._limits(row, use, host)
        if use.finish == "steady":
            return Cache(self.memory_pool(host.name, volume), size, left_B=use.dirty_B)
        age = middle(self.dirty_age(row, host))
        hold = np.minimum(background, size)
        free = host.vm.free(row, row.value(host.memory.size)) if self.by_free_memory(host) else np.inf
        return Cache(self.memory_pool(host.name, volume), size, hold, age, self.flushes_at_close, free, use.dirty_B)

    def by_free_memory(self, host: Machine) -> bool:
        """Whether the limits on dirty bytes are parts of the memory that programs leave free."""
        return host.vm.dirty_bytes is None

    def memory_pool(self, host: str, volume: str) -> str:
        """What writers share the limits on dirty bytes with: all that the host's page cache takes."""
        return host

    def ahead_B(self, row: Row, use: Access) -> Value:
        """Bytes that are read ahead of a reader whose requests follow each other [B]."""
        return cache.LINUX_READ_AHEAD_B

    def demand_time(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        """Seconds that one request of a server's client waits for the drives, less what has been read ahead of it.

        Where nothing reads ahead of a stream, the next block has just passed the heads: one turn.
        """
        array = host.volumes[volume].array
        if array is None or use.cached:
            return 0.0
        ahead, alone = (0.0 if use.random else self.ahead_B(row, use)), use.but(random=True)
        if np.any(np.asarray(ahead) > 0):
            return np.maximum(use.block_B - ahead, 0.0) * charged(row, use, host, array)
        seek = array.turn(row).value if array.rotates and not use.random else array.latency(row, alone)
        return seek + self.request_size(use) / array.single_rate(row, alone)


def charged(row: Row, use: Access, host: Machine, array: Device) -> Value:
    """Seconds per byte that an access is charged at the busiest station of an array [s/B]."""
    return 1.0 / row.seen_from(host.name).probed(lambda probe: array.serve(probe, use, "alone"))


def _split(total: Value, free: Value, drained: Value) -> tuple[Stretch, ...]:
    """No sync: the cache takes the first bytes while the medium drains some, and sets the pace of the rest."""
    cached = np.minimum(free / total, 1.0)
    parts = [Stretch("cached", cpu=cached, medium=drained / total)]
    if np.any(cached < 1.0):
        parts.append(Stretch("throttled", cpu=1 - cached, medium=1 - cached))
    return tuple(parts)


class PageCached(Filesystem):
    """A file system behind the Linux page cache."""

    def cycles(self, row: Row, use: Access, stack: Stack) -> Term:
        """Copy and allocation per byte, a system call per block."""
        block = term(use.block_B, "B")
        if use.finish == "direct":
            return row.term(stack.direct_call) / block
        reading, fresh = use.operation == "read", use.operation == "write" and not use.rewrite
        byte = row.term(stack.file_read_byte if reading else stack.file_write_byte)
        if reading and use.spliced:
            byte = row.term(stack.sendfile_byte)
        elif reading and not use.cached and stack.file_miss_byte is not None:
            byte = row.term(stack.file_miss_byte)
        if stack.unbacked_byte is not None and (fresh or (reading and not use.cached)):
            byte = byte + row.term(stack.unbacked) * row.term(stack.unbacked_byte)
        return law(cpu.cycles_per_byte, per_byte=byte, per_call=row.term(stack.file_call), call_B=block)
