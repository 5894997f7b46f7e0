"""A fleet in mid-run in a file, so that a run of hours goes on within a replica: all its numbers, as they are.

Plain and compiled runs read each other's files, and end in the same bytes as a run that was never broken off.
"""

from __future__ import annotations

import os
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.ground.errors import InputError

if TYPE_CHECKING:
    from dtnsim.simulation.fleet.event_loop import EventLoop


_COLUMNS: Final = (
    "mark", "f", "q", "t", "u", "lengths", "keys", "values", "ways", "moved", "hours", "broken", "tries", "fault",
)  # fmt: skip
#: what reading an archive of arrays raises of which bytes are missing or changed: checksums, headers, methods, names
_DAMAGED: Final = (
    OSError, ValueError, EOFError, KeyError, RuntimeError, SyntaxError, struct.error, zlib.error, zipfile.BadZipFile,
    tokenize.TokenError,
)  # fmt: skip


def save(course: EventLoop, file: Path, mark: str) -> None:
    """Writes a course, between two instants; the old file stays until the new one is whole.

    Raises:
        InputError: The file cannot be written.
    """
    lengths, entries = course.heaps()
    hours = course.hours
    ways = np.concatenate([np.zeros(0, np.int64), *(numbers for numbers, _ in hours)])
    moved = np.concatenate([np.zeros(0), *(values for _, values in hours)])
    columns: dict[str, Any] = {
        "mark": np.array(mark), "f": np.array(course.f, float), "q": np.array(course.q, np.int64), "t": course.t,
        "u": course.u, "lengths": lengths, "keys": entries[:, 0].copy(), "values": entries[:, 1:].astype(np.int64),
        "ways": ways, "moved": moved, "hours": np.array([len(numbers) for numbers, _ in hours], np.int64),
        "broken": course.broken, "tries": course.tries, "fault": np.array(course.fault),
    }  # fmt: skip
    new = file.with_name(file.name + ".new")
    try:
        with new.open("wb") as out:
            np.savez(out, **columns)
        os.replace(new, file)
    except OSError as error:
        raise InputError(f"--checkpoint: {file}: cannot be written: {error.strerror}; write elsewhere") from None


def load(course: EventLoop, file: Path, mark: str) -> bool:
    """Takes a course on to where a file has it; False where there is no file, or only part of one.

    Raises:
        InputError: The file is of another fleet.
    """
    if not file.is_file():
        return False
    try:
        with file.open("rb") as source, np.load(source, allow_pickle=False) as given:
            found = {name: given[name] for name in _COLUMNS}
    except _DAMAGED:
        return False
    if str(found.get("mark")) != mark:
        raise InputError(f"--checkpoint: {file} is of another path, workload or seed; name another file")
    ends = np.cumsum(found["hours"])
    course.hours = [
        (found["ways"][end - n : end], found["moved"][end - n : end])
        for end, n in zip(ends.tolist(), found["hours"].tolist(), strict=True)
    ]
    course.broken, course.tries = found["broken"], found["tries"]
    entries = np.column_stack([found["keys"], found["values"]])
    course.restore(found["f"], found["q"], (found["t"], found["u"]), (found["lengths"], entries), int(found["fault"]))
    return True
