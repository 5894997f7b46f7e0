"""Files in a host's page cache, in order of last use: files used once leave before those used again.

Whole files come and go when transfers begin and end: room is made at the begin, and the bytes moved are there for
others at the end.

Neglects: the part of a file that is already there for transfers that begin while it is being moved.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dtnsim.ground.pages import CachedFile
from dtnsim.ground.records import Transfer
from dtnsim.physics import cache


@dataclass(slots=True)
class _File:
    """A file in memory."""

    bytes: float = 0.0  #: Memory that it takes, with what is still to come [B].
    ready: float = 0.0  #: Bytes that a reader would find [B].
    again: bool = False  #: Whether it was used more than once, so that its pages are on the active list.
    users: int = 0  #: Transfers that move it now.


class Residency:
    """The files in one host's memory.

    Args:
        room: Memory of the host that programs leave to files at the start [B].
        dirty: Says how many bytes of a file are dirty now [B].
    """

    def __init__(self, room: float, dirty: Callable[[str], float] = lambda _file: 0.0) -> None:
        self._room, self._dirty = room, dirty
        self._files: dict[str, _File] = {}  # the least recently used first
        self.held = 0.0

    @property
    def room(self) -> float:
        """Memory for files beside the programs [B]."""
        return max(self._room - self.held, 0.0)

    @property
    def used_B(self) -> float:
        """Memory that files take [B]."""
        return sum(f.bytes for f in self._files.values())

    def resident(self, file: str) -> float:
        """Bytes that a reader would find of a file [B]."""
        return self._files[file].ready if file in self._files else 0.0

    def hold(self, size: float) -> None:
        """Takes memory for a program, or gives some back (negative)."""
        self.held += size
        self._make_room(0.0)

    def read(self, file: str, size: float) -> float:
        """Begins a read: returns the bytes found; the rest is read in."""
        hits = float(cache.sequential_hits(size, min(self.resident(file), size), self._spare(file)))
        entry = self._latest(file)
        if hits < entry.ready and hits < size:
            entry.bytes = entry.ready = min(self._dirty(file), entry.bytes)
        entry.again = entry.again or hits > 0
        self._grows(file, entry, size)
        return hits

    def write(self, file: str, size: float) -> None:
        """Begins a write, whose pages displace others."""
        self._grows(file, self._latest(file), size)

    def _latest(self, file: str) -> _File:
        """Makes a file the most recently used and returns it."""
        self._files[file] = entry = self._files.pop(file, None) or _File()
        return entry

    def _grows(self, file: str, entry: _File, size: float) -> None:
        """Grows a file in use to a size."""
        entry.users += 1
        self._make_room(size - entry.bytes, file)
        entry.bytes = max(entry.bytes, min(size, self.room - (self.used_B - entry.bytes)))

    def ended(self, file: str) -> None:
        """Ends a read or write: its bytes are there for others."""
        entry = self._files.get(file)
        if entry is not None:
            entry.users = max(entry.users - 1, 0)
            entry.ready = entry.bytes
            self._make_room(0.0)

    def _spare(self, file: str) -> float:
        """Free memory, and clean pages of others that leave before those of a file [B]."""
        free, again = self.room - self.used_B, file in self._files and self._files[file].again
        older = True
        for name, other in self._files.items():
            if name == file:
                older = False
            elif (older and other.again == again) or (again and not other.again):
                free += max(other.bytes - self._dirty(name), 0.0)
        return max(free, 0.0)

    def _make_room(self, wanted: float, for_file: str = "") -> None:
        """Evicts pages of other files until the wanted bytes fit."""
        over = self.used_B + max(wanted, 0.0) - self.room
        if over <= 0:
            return
        order = sorted((item for item in self._files.items() if item[0] != for_file), key=lambda item: item[1].again)
        if for_file in self._files and wanted <= 0:
            order.append((for_file, self._files[for_file]))
        gone = cache.evicted([f.bytes for _, f in order], [self._dirty(n) for n, _ in order], over)
        for (name, file), less in zip(order, gone.tolist(), strict=True):
            file.bytes -= less
            file.ready = min(file.ready, file.bytes)
            if file.bytes <= 0 and not file.users:
                del self._files[name]


def begun(transfer: Transfer, memory: Callable[[CachedFile], Residency]) -> tuple[float, ...]:
    """Begins a transfer, making room: parts of what it reads that its own host and the server have cached."""
    shares, left = list[float](), 1.0
    for kept in transfer.reads:
        may_hit = left > 0 and kept.size_B > 0
        shares.append(min(memory(kept).read(kept.file, kept.size_B) / kept.size_B, left) if may_hit else 0.0)
        left -= shares[-1]
    for kept in transfer.writes:
        memory(kept).write(kept.file, kept.size_B)
    return tuple(shares)


@dataclass(frozen=True, slots=True)
class History:
    """What each transfer finds in memory from earlier ones.

    Attributes:
        shares: By transfer: parts of what it reads in the memory of its host, and in that of the server.
        held_B: By transfer and host: memory that programs hold there meanwhile, its own included [B].
        dirty_B: By transfer and host: dirty bytes that earlier writers have left there [B].
        turns: By transfer: those of other turns it never meets; empty where only ``after`` says who meets.
    """

    shares: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    held_B: Mapping[tuple[str, str], float] = field(default_factory=dict)
    dirty_B: Mapping[tuple[str, str], float] = field(default_factory=dict)
    turns: Mapping[str, int] = field(default_factory=dict)

    def key_of(self, name: str, hosts: tuple[str, ...]) -> tuple[object, ...]:
        """Everything that a transfer finds on its hosts, as a key."""
        keys = [(name, host) for host in hosts]
        return (tuple(self.shares.get(name, ())), *((self.held_B.get(key), self.dirty_B.get(key)) for key in keys))


NOTHING = History()  #: where nothing was before
