"""What a transfer needs to know of page caches: their limits at its destination, and its files in them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dtnsim.ground.quantity import Value


@dataclass(frozen=True, slots=True)
class Cache:
    """Memory between a writer and its medium.

    Attributes:
        pool: What it is a part of (a host's memory, a ZFS pool's dirty data): writers to the same share its limits.
        size_B: Bytes that it takes before the writer is throttled, those that earlier writers have left apart.
        write_back_B: Bytes at which the medium begins to work; none where it is still at work on what they have left.
        write_back_s: Age of the oldest byte at which it begins whatever the bytes are.
        flush_files: True where a file is flushed when it is closed, before the next one is begun.
        free_B: Memory that the first two are parts of, which programs may take from; infinite where they are none.
    """

    pool: str
    size_B: Value
    write_back_B: Value = 0.0
    write_back_s: float = 0.0
    flush_files: bool = False
    free_B: Value = math.inf


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that is read or written, as the page cache of a host knows it.

    Attributes:
        host: The host.
        file: Name of the file there.
        size_B: Its bytes.
        room_B: Memory of the host that programs leave to files.
    """

    host: str
    file: str
    size_B: float
    room_B: Value
