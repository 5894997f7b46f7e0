"""A fleet's tables: every transfer, and every station's use by hour, as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.ground import output
from dtnsim.ground.errors import InputError
from dtnsim.simulation.fleet.answers import used
from dtnsim.simulation.fleet.event_loop import HOUR_S

if TYPE_CHECKING:
    from dtnsim.simulation.fleet.run import FleetAnswer

_STATES: Final = ("not yet asked for", "queued", "under way", "backing off", "done", "failed")


def transfers(a: FleetAnswer, path: Path) -> None:
    """Writes every transfer of the first run, atomically.

    Raises:
        InputError: The first run came from a checkpoint, or the place cannot be written.
    """
    made = a.first
    if made is None:
        raise InputError("--transfers: the first run came from the checkpoint, which has no transfers; leave that out")
    course = made.course
    work, n = course.work, len(course.work)
    lanes = [(lane.kind.name, *made.pairs[lane.number], lane.user.name) for lane in course.lanes]
    names = [np.array([lane[k] for lane in lanes] or [""], object)[work.lane] for k in range(4)]
    ends = np.array([(made.hosts[w.source], made.hosts[w.target]) for w in course.ways] or [("", "")], object)
    used_ways = ends[np.maximum(course.way, 0)]
    used_ways[course.way < 0] = ""
    moved = course.moved
    columns: dict[str, Any] = {
        "number": np.arange(n),
        "class": names[0],
        "from": names[1],
        "to": names[2],
        "user": names[3],
        "source_host": used_ways[:, 0],
        "destination_host": used_ways[:, 1],
        "asked_s": work.asked,
        "begun_s": course.begun,
        "ended_s": course.ended,
        "alone_s": made.alone_s,
        "due_s": work.due,
        "bytes": work.size,
        "files": work.files,
        "moved_B": moved,
        "resent_B": course.resent,
        "retries": course.tries,
        "state": np.array(_STATES, object)[course.status],
    }
    output.table(columns, path, "--transfers")


def hours(a: FleetAnswer, path: Path) -> None:
    """Writes the utilisation of every station by hour in the first run, atomically.

    Raises:
        InputError: The first run came from a checkpoint, or the place cannot be written.
    """
    if a.first is None:
        raise InputError("--hours: the first run came from the checkpoint, which has no hours; leave that out")
    span, carried = used(a.first)
    capacity = np.array(a.first.capacity)
    columns: dict[str, Any] = {"start_s": np.arange(len(span)) * HOUR_S, "length_s": span}
    for k in np.flatnonzero(carried.any(axis=0) & np.isfinite(capacity)).tolist():
        columns[a.first.names[k]] = carried[:, k] / capacity[k] / np.maximum(span, 1e-9)
    output.table(columns, path, "--hours")
