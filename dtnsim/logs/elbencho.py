"""elbencho: its text table and CSV, and the CSV of its storage_sweep scripts.

Units: ``Throughput MiB/s`` and ``Total MiB`` are MiB, ``Elapsed ms`` milliseconds, later versions write
``2m5.755s``. Of the two columns LAST DONE is the result of the whole run (elbencho's README); FIRST
DONE ends when the fastest thread ends. ``Dataset,Mean-value`` of storage_sweep has no unit: it is
Gbit/s (checked against the text: 1048576 files of 1 KiB in 19.506 s are 0.440 Gbit/s, the mean of three runs
printed as 0.436).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import BINARY, Conditions, Evidence, LineParser, Record, size_bytes

_HEAD: Final = re.compile(r"OPERATION\s+RESULT TYPE\s+FIRST DONE\s+LAST DONE")
_ROW: Final = re.compile(
    r"^(?P<op>[A-Z][A-Z0-9]*+)?\s++(?P<what>[A-Z][\w/]*+(?: ++[\w/]++)*)\s*+:\s++"
    r"(?:\[ (?P<lat>[^\]]*) \]|(?P<first>[\w.-]++)\s++(?P<last>[\w.-]++))\s*+$"
)
_ELAPSED: Final = re.compile(r"^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:(\d+)ms)?(?:(\d+)us)?$")
_WORKING: Final = re.compile(r"Working on (\S+) with (\d+) threads")
_DATASET: Final = re.compile(r"(?<!\d)(\d++)x(\d++)([KMGT]iB)$")
_LATENCY: Final = re.compile(r"(min|avg|max)=([\d.]+)(us|ms|s)?")
_OPERATIONS: Final = {
    "WRITE": "write", "READ": "read", "RWMIX": "mixed", "MKDIRS": "mkdir", "RMDIRS": "rmdir", "RMFILES": "delete",
    "STAT": "stat", "STATDIRS": "statdir", "MKBUCKETS": "mkbucket", "DROPCACHE": "dropcache", "SYNC": "sync",
    "LISTOBJ": "list", "HEADOBJ": "stat", "RMOBJECTS": "delete", "RMBUCKETS": "rmbucket",
}  # fmt: skip
_TIMES: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def _seconds(text: str, what: str) -> float | None:
    if what.endswith("ms"):
        return int(text) * 1e-3 if text.isdigit() else None
    match = _ELAPSED.match(text)
    if match is None or not text:
        return None
    factors = (3600.0, 60.0, 1.0, 1e-3, 1e-6)
    return sum(float(part) * factor for part, factor in zip(match.groups(), factors, strict=True) if part)


class Elbencho(LineParser):
    """Tables open with their head and end with a line of another kind; CSV opens with its head."""

    tool = "elbencho"
    evidence = Evidence.SERVERS
    by_document = True
    words = ("OPERATION", "Throughput", "Elapsed", "Dataset", "Working", "elbencho", "ISO", "Files", "IOPS")
    commands = ("elbencho",)

    def forget(self) -> None:
        self._operation: str | None = None
        self._run: Conditions = {}
        self._csv: list[str] | None = None
        self._sweep = False

    def feed(self, text: str) -> Iterable[Record]:
        if _HEAD.search(text):
            self.open, self._operation, self._csv, self._sweep = True, None, None, False
        elif (working := _WORKING.search(text)) is not None:
            self._run = {"threads": int(working[2]), "target": working[1], **_dataset(working[1])}
        elif text.startswith("ISO date,") and "operation" in text:
            self._csv, self.open, self._sweep = text.strip().split(","), True, False
        elif text.strip() == "Dataset,Mean-value":
            self._sweep, self.open, self._csv = True, True, None
        elif self._sweep:
            return self._sweep_row(text)
        elif self._csv is not None:
            return self._csv_row(text)
        elif self.open or (" : " in text and ("Elapsed" in text or "Throughput" in text)):
            return self._row(text)
        return ()

    def _row(self, text: str) -> Iterable[Record]:
        match = _ROW.match(text)
        if match is None:
            if text.strip(" -=\t"):
                self.open = False
            return ()
        self.open = True
        if match["op"] is not None:
            self._operation = match["op"]
        if self._operation is None:
            return ()
        operation = _OPERATIONS.get(self._operation, self._operation.lower())
        if match["lat"] is not None:
            return self._latency(match["what"], match["lat"], operation)
        return self._figure(match["what"], match["last"], operation)

    def _figure(self, what: str, text: str, operation: str) -> Iterator[Record]:
        conditions = {**self._run, "operation": operation}
        if what.startswith("Elapsed"):
            seconds = _seconds(text, what)
            if seconds is not None:
                yield self.measure("duration", seconds, "s", text, **conditions)
            return
        try:
            value = float(text)
        except ValueError:
            return
        if value <= 0:
            return  # too little for a whole unit, or nothing moved
        if what == "Throughput MiB/s":
            yield self.measure("throughput", value * BINARY["M"], "B/s", f"{text} MiB/s", **conditions)
        elif what == "Total MiB":
            yield self.measure("bytes", value * BINARY["M"], "B", f"{text} MiB", **conditions)
        elif what == "IOPS":
            yield self.measure("iops", value, "1/s", f"{text} IOPS", **conditions)
        elif what.endswith("/s"):
            yield self.measure("rate", value, "1/s", f"{text} {what}", of=what[:-2].strip().lower(), **conditions)

    def _latency(self, what: str, text: str, operation: str) -> Iterator[Record]:
        for name, value, unit in _LATENCY.findall(text):
            seconds = float(value) * _TIMES[unit or ("ms" if what.endswith("ms") else "us")]
            statistic = {"avg": "mean"}.get(name, name)
            of = "file" if what.lower().startswith(("file", "ent")) else "io"
            yield self.measure(
                "latency",
                seconds,
                "s",
                f"{name}={value}{unit}",
                statistic=statistic,
                of=of,
                operation=operation,
                **self._run,
            )

    def _sweep_row(self, text: str) -> Iterable[Record]:
        name, _, value = text.strip().partition(",")
        if not re.fullmatch(r"[\d.]+", value) or _DATASET.search(name) is None:
            self._sweep = self.open = False
            return ()
        if float(value) == 0:
            return ()
        rate = float(value) * 1e9 / 8
        return (self.measure("throughput", rate, "B/s", f"{value} Gbit/s", dataset=name, **_dataset(name)),)

    def _csv_row(self, text: str) -> Iterator[Record]:
        fields = next(csv.reader([text]), [])
        heads = self._csv or []
        if len(fields) != len(heads):
            self._csv, self.open = None, False
            if text.count(",") > 10:
                yield self.unread(text, f"the CSV row has {len(fields)} fields under {len(heads)} heads")
            return
        row = dict(zip(heads, fields, strict=True))
        operation = _OPERATIONS.get(row["operation"], row["operation"].lower())
        self._run = {
            "threads": int(row["threads"]) if row.get("threads", "").isdigit() else None,
            "file_B": size_bytes(row.get("file size", "")),
            "block_B": size_bytes(row.get("block size", "")),
            "direct": row.get("direct IO") == "1",
            "random": row.get("random") == "1",
        }
        for head, what in (
            ("time ms [last]", "Elapsed ms"),
            ("MiB/s [last]", "Throughput MiB/s"),
            ("MiB [last]", "Total MiB"),
            ("IOPS [last]", "IOPS"),
            ("entries/s [last]", "Entries/s"),
        ):
            if row.get(head):
                yield from self._figure(what, row[head], operation)
        for kind, of in (("IO", "io"), ("Ent", "file")):
            for name, statistic in (("min", "min"), ("avg", "mean"), ("max", "max")):
                text_us = row.get(f"{kind} lat us [{name}]", "")
                if text_us.isdigit():
                    more: Conditions = {"statistic": statistic, "of": of, "operation": operation, **self._run}
                    yield self.measure("latency", int(text_us) * 1e-6, "s", f"{text_us} us", **more)


def _dataset(name: str) -> Conditions:
    """``1048576x1KiB`` as files and their size."""
    match = _DATASET.search(name)
    if match is None:
        return {}
    return {"files": int(match[1]), "file_B": int(match[2]) * BINARY[match[3][0]]}
