"""Replicas that are done, kept in a file of lines, so that a run of hours goes on where it was broken off."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dtnsim import __version__
from dtnsim.ground.errors import InputError
from dtnsim.simulation.fleet.answers import FleetRun, Group, Promise, StationYear

if TYPE_CHECKING:
    from dtnsim.simulation.fleet.run import Task

_SCHEMA: Final = "dtnsim.fleet-checkpoint/1"


def signature(task: Task, overrides: Sequence[str] = ()) -> str:
    """What makes two fleets the same: what they are made of, and the seed."""
    said = f"{__version__} {task.given.written} {list(overrides)} {task.seed} {task.replicas}"
    return hashlib.sha256(said.encode()).hexdigest()


class Kept:
    """The file of a fleet's replicas.

    Args:
        file: The file; made where it is not there.
        mark: `signature` of the fleet.

    Raises:
        InputError: It is something else, or of another fleet.
    """

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
            raise InputError(
                f"--checkpoint: {file} is of another path, workload, seed or number of replicas; name another file"
            )
        for line in lines[1:]:
            found = _read(line)  # the last one may be broken off; what is damaged is done again
            if found.get("sum") == _sum(found.get("replica"), found.get("run")):
                self.runs[found["replica"]] = _run(found["run"])

    def add(self, number: int, run: FleetRun) -> None:
        """Keeps a replica."""
        self.runs[number] = run
        given = json.loads(json.dumps(asdict(run)))
        self._append({"replica": number, "run": given, "sum": _sum(number, given)})

    def _append(self, what: dict[str, Any], *, new: bool = False) -> None:
        try:
            with self._file.open("w" if new else "a", encoding="utf-8") as out:
                out.write(("" if new else "\n") + json.dumps(what) + "\n")
        except OSError as error:
            raise InputError(
                f"--checkpoint: {self._file}: cannot be written: {error.strerror}; write elsewhere"
            ) from None


def _sum(number: object, run: object) -> str:
    """What tells a replica's line from one in which something changed."""
    return hashlib.sha256(json.dumps([number, run]).encode()).hexdigest()[:16]


def _read(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _tuples(given: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}


def _run(given: dict[str, Any]) -> FleetRun:
    """A run as it was written."""
    groups, pairs = (tuple(Group(**_tuples(g)) for g in given[key]) for key in ("groups", "pairs"))
    stations = tuple(StationYear(**_tuples(s)) for s in given["stations"])
    outages = {name: (int(n), float(s)) for name, (n, s) in given["outages"].items()}
    happened = tuple((float(t), str(what)) for t, what in given["happened"])
    broken = tuple(Promise(**p) for p in given["promises"])
    fixed = {"promises": broken, "groups": groups, "pairs": pairs, "stations": stations, "outages": outages,
             "happened": happened}  # fmt: skip
    return FleetRun(**{**given, **fixed})
