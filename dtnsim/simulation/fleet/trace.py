"""A trace of transfers: CSV with start, source, destination, bytes and files, as services name them."""

import csv
import datetime as dt
import math
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from dtnsim.description import calendar
from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.physics._arrays import FloatArray as Array, IntArray

MOST: Final = 20_000_000  #: more lines than that are refused
MOST_B: Final = 1e18  #: bytes of a transfer at most [B]
#: our column -> what it is called, in lower case: our own names, Globus' task list, FTS' jobs, GridFTP server logs
COLUMNS: Final = {
    "start": ("start", "start_s", "time_s", "request_time", "submit_time", "start_time", "date"),
    "source": ("source", "src", "source_endpoint", "source_endpoint_display_name", "source_se", "source_collection"),
    "destination": (
        "destination", "dst", "dest", "destination_endpoint", "destination_endpoint_display_name", "dest_se",
        "destination_collection", "host",
    ),
    "bytes": ("bytes", "bytes_transferred", "nbytes", "file_size", "size", "filesize"),
    "files": ("files", "files_transferred", "nfiles", "num_files", "file_count"),
    "cap": ("cap_bps", "cap"),
}  # fmt: skip
_NEEDED: Final = ("start", "source", "destination", "bytes")


@dataclass(frozen=True, slots=True)
class Trace:
    """Transfers of a trace, (N,) each."""

    start: Array  #: Time [s].
    ends: IntArray  #: (N, 2) numbers of source and destination in ``names``.
    size: Array  #: Bytes [B].
    files: IntArray  #: Number of files.
    cap: Array  #: Rate that it may not pass [B/s].
    names: tuple[str, ...]  #: Names of the ends as the trace has them.
    line: tuple[int, ...]  #: Where each end is first named.


def read(path: Path, begin: dt.datetime) -> Trace:
    """Reads a trace from CSV; times of day and dates count from the date ``begin``, numbers are seconds already."""
    names: dict[str, int] = {}
    first: list[int] = []
    columns = [array("d") for _ in range(6)]
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            positions = _columns(path, next(reader, []))
            last = -math.inf
            for number, line in enumerate(reader, 2):
                if not line:
                    continue
                if number > MOST:
                    raise InputError(f"{path}: has more than {MOST} lines; give a part of it")
                seconds, ends, figures = _line(line, positions, f"{path}:{number}", begin)
                if seconds < last:
                    why = "its start is before that of the line above"
                    raise InputError(f"{path}:{number}: {why}; sort the lines by start")
                last = seconds
                for text in ends:
                    if text not in names:
                        names[text] = len(names)
                        first.append(number)
                for column, value in zip(columns, (seconds, *(names[e] for e in ends), *figures), strict=True):
                    column.append(value)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    if not columns[0]:
        raise InputError(f"{path}: holds no transfers; give lines of start, source, destination, bytes, files")
    start, source, target, size, files, cap = (np.array(c, float) for c in columns)
    pair = np.stack([source, target], axis=1).astype(np.int64)
    return Trace(start, pair, size, files.astype(np.int64), cap, tuple(names), tuple(first))


def _columns(path: Path, header: list[str]) -> list[int]:
    """Place of each of our columns in the file; -1 where it has none."""
    titles = [h.strip().lower().replace(" ", "_") for h in header]
    positions = [next((titles.index(n) for n in aliases if n in titles), -1) for aliases in COLUMNS.values()]
    missing = [name for name, n in zip(COLUMNS, positions, strict=True) if n < 0 and name in _NEEDED]
    if missing:
        shown, remedy = ", ".join(header[:12]) or "nothing", "name the columns start, source, destination, bytes, files"
        raise InputError(f"{path}:1: has no column {missing[0]!r} (found {shown}); {remedy}")
    return positions


def _line(
    line: list[str], positions: list[int], where: str, begin: dt.datetime
) -> tuple[float, tuple[str, str], tuple[float, float, float]]:
    """(start, (source, destination), (bytes, files, cap)) of one line."""
    if len(line) <= max(positions):
        raise InputError(f"{where}: has {len(line)} values, fewer than the first line has names")
    start, source, target, size, files, cap = (line[n].strip() if n >= 0 else "" for n in positions)
    if not source or not target:
        raise InputError(f"{where}: has no {'source' if not source else 'destination'}; name the end")
    seconds = _time(start, where, begin)
    number = _number(size, "bytes", where)
    if number > MOST_B:
        raise InputError(f"{where}: bytes must be at most {units.show(MOST_B, 'B')} (got {size!r})")
    count = _number(files, "files", where) if files else 1.0
    if count < 1 or count != int(count):
        raise InputError(f"{where}: files must be a whole number from 1 on (got {files!r})")
    rate = _number(cap, "cap_Bps", where) if cap else math.inf
    if rate == 0:
        raise InputError(f"{where}: cap_Bps must be above 0 (got {cap!r}); leave it empty for none")
    return seconds, (source, target), (max(number, 1.0), count, rate)


def _number(text: str, name: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{where}: {name} is not a number (got {text!r}); write bytes like 5e9") from None
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"{where}: {name} must be 0 or more (got {text!r})")
    return value


def _time(text: str, where: str, begin: dt.datetime) -> float:
    try:
        value = float(text)
    except ValueError:
        try:
            value = (calendar.date(text) - begin).total_seconds()
        except ValueError:
            why = f"start is neither seconds nor a date (got {text!r})"
            raise InputError(f"{where}: {why}; write 3600 or 2026-01-05T01:00:00") from None
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"{where}: start must be 0 s or later (got {text!r}); 'date' says when the workload begins")
    return value
