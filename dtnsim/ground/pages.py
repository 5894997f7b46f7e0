"""What a transfer needs to know of page caches: their limits at its destination, and its files in them."""

import math
from dataclasses import dataclass

from dtnsim.ground.quantity import Value


@dataclass(frozen=True, slots=True)
class Cache:
    """Memory between a writer and its medium."""

    pool: str  #: What it is a part of (a host's memory, a ZFS pool's dirty data): writers to the same share its limits.
    size_B: Value  #: Bytes that it takes before the writer is throttled, those that earlier writers have left apart.
    #: Bytes at which the medium begins to work, what they have left apart.
    write_back_B: Value = 0.0
    write_back_s: float = 0.0  #: Age of the oldest byte at which it begins whatever the bytes are.
    flush_files: bool = False  #: True where a file is flushed when it is closed, before the next one is begun.
    #: Memory that the first two are parts of, which programs may take from; infinite where they are none.
    free_B: Value = math.inf
    left_B: float = 0.0  #: Bytes that earlier writers to the same have left dirty when this one begins.


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file that is read or written, as the page cache of a host knows it."""

    host: str  #: The host.
    file: str  #: Name of the file there.
    size_B: float  #: Its bytes.
    room_B: Value  #: Memory of the host that programs leave to files.
