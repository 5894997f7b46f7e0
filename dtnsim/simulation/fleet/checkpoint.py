"""Checkpoints of a fleet: a run of hours resumes where it was interrupted.

Replicas that are done are lines of a file; a replica in mid-run is a file of its own: all its numbers, as they are.
Plain and compiled runs read each other's files, and end in the same bytes as a run that was never broken off.
"""

from __future__ import annotations

import hashlib
import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pydantic import TypeAdapter

from dtnsim import __version__
from dtnsim.ground import output
from dtnsim.ground.errors import InputError
from dtnsim.simulation.fleet.answers import FleetRun

if TYPE_CHECKING:
    from dtnsim.simulation.fleet.event_loop import EventLoop
    from dtnsim.simulation.fleet.run import Task

_SCHEMA: Final = "dtnsim.fleet-checkpoint/1"
_COLUMNS: Final = (
    "mark", "f", "q", "t", "u", "lengths", "keys", "values", "ways", "moved", "hours", "broken", "tries", "fault",
)  # fmt: skip
#: what numpy and zipfile raise for an archive of which bytes are missing or changed
_DAMAGED: Final = (
    OSError, ValueError, EOFError, KeyError, RuntimeError, SyntaxError, struct.error, zlib.error, zipfile.BadZipFile,
    tokenize.TokenError,
)  # fmt: skip


def signature(task: Task, overrides: Sequence[str] = ()) -> str:
    """A hash that two fleets share if version, path, overrides, seed and replicas are the same."""
    text = f"{__version__} {task.given.written} {list(overrides)} {task.seed} {task.replicas}"
    return hashlib.sha256(text.encode()).hexdigest()


class CheckpointFile:
    """The file of a fleet's replicas, made where it is not there."""

    def __init__(self, file: str | Path, mark: str) -> None:
        self._file = Path(file)
        self.runs: dict[int, FleetRun] = {}
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").split("\n") if self._file.is_file() else []
        except OSError as error:
            raise InputError(f"--checkpoint: {file}: cannot be read: {error.strerror}") from None
        lines = [line for line in lines if line]
        if not lines:
            self._append({"schema": _SCHEMA, "of": mark}, new=True)
            return
        head = _read(lines[0])
        if head.get("schema") != _SCHEMA:
            raise InputError(f"--checkpoint: {file} is no checkpoint of a fleet; name another file")
        if head.get("of") != mark:
            other = "another path, workload, seed or number of replicas"
            raise InputError(f"--checkpoint: {file} is of {other}; name another file")
        as_run = TypeAdapter(FleetRun).validate_python
        for line in lines[1:]:
            record = _read(line)  # the last one may be broken off; what is damaged is done again
            if record.get("sum") == _sum(record.get("replica"), record.get("run")):
                self.runs[record["replica"]] = as_run(record["run"])

    def add(self, number: int, run: FleetRun) -> None:
        """Keeps a replica."""
        self.runs[number] = run
        plain = json.loads(json.dumps(asdict(run)))
        self._append({"replica": number, "run": plain, "sum": _sum(number, plain)})

    def _append(self, record: dict[str, Any], *, new: bool = False) -> None:
        try:
            with self._file.open("w" if new else "a", encoding="utf-8") as out:
                out.write(("" if new else "\n") + json.dumps(record) + "\n")
        except OSError as error:
            why = f"cannot be written: {error.strerror}"
            raise InputError(f"--checkpoint: {self._file}: {why}; write elsewhere") from None


def _sum(number: object, run: object) -> str:
    """Checksum of a replica's line."""
    return hashlib.sha256(json.dumps([number, run]).encode()).hexdigest()[:16]


def _read(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


# -- a replica in mid-run -------------------------------------------------------------------------


def save(loop: EventLoop, file: Path, mark: str) -> None:
    """Writes an event loop between two instants; the old file stays until the new one is whole."""
    lengths, entries = loop.heaps()
    hours, ways, moved = loop.of_hours
    columns: dict[str, Any] = {
        "mark": np.array(mark), "f": np.array(loop.f, float), "q": np.array(loop.q, np.int64), "t": loop.t,
        "u": loop.u, "lengths": lengths, "keys": entries[:, 0].copy(), "values": entries[:, 1:].astype(np.int64),
        "ways": ways, "moved": moved, "hours": hours,
        "broken": loop.broken, "tries": loop.tries, "fault": np.array(loop.fault),
    }  # fmt: skip
    with output.in_one_piece(file, "--checkpoint") as part, part.open("wb") as out:
        np.savez(out, **columns)


def load(loop: EventLoop, file: Path, mark: str) -> bool:
    """Restores a loop before its first event from what `save` has written; False where none is there, or not whole."""
    if not file.is_file():
        return False
    try:
        with file.open("rb") as source, np.load(source, allow_pickle=False) as archive:
            table = {name: archive[name] for name in _COLUMNS}
    except _DAMAGED:
        return False
    if str(table.get("mark")) != mark:
        raise InputError(f"--checkpoint: {file} is of another path, workload or seed; name another file")
    ends = np.cumsum(table["hours"])
    loop.hours = [
        (table["ways"][end - n : end], table["moved"][end - n : end])
        for end, n in zip(ends.tolist(), table["hours"].tolist(), strict=True)
    ]
    loop.broken, loop.tries = table["broken"], table["tries"]
    entries = np.column_stack([table["keys"], table["values"]])
    loop.restore(table["f"], table["q"], (table["t"], table["u"]), (table["lengths"], entries), int(table["fault"]))
    return True
