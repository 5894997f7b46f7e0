"""sysbench fileio: 0.4, 0.5, 1.0 and 1.1.

Units: 0.4 prints ``Total transferred 9.9126Gb (33.835Mb/sec)`` where b means bytes and k, M, G are powers
of 1024 (checked: 2598531 requests of 4 KiB are 9.9126 GiB); 0.5 prints ``read, MB/s:``, 1.0 ``read, MiB/s:`` and
mean the same (16384 B a request, checked with own runs), 1.1 ``read:  IOPS=1749.75 27.34 MiB/s (28.67 MB/s)``.
Latencies are milliseconds. The rate of 0.4 counts reads and writes together (``operation="read"`` or
``"write"`` where only one was made, else ``"mixed"``); the others give them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._declared import Found, LinesParser, Match, reads
from dtnsim.logs.base import BINARY, Evidence, Record, decimal, size_bytes

_MODES: Final = (
    ("random read", "randread"), ("random write", "randwrite"), ("random r/w", "randrw"),
    ("sequential read", "read"), ("sequential write", "write"), ("sequential rewrite", "rewrite"),
)  # fmt: skip
_OPERATIONS: Final = {"randread": "read", "read": "read", "randwrite": "write", "write": "write", "rewrite": "write"}


class Sysbench(LinesParser):
    """One run from its version line to its latency block."""

    tool = "sysbench"
    evidence = Evidence.NO_MODEL
    words = ("sysbench", "transferred", "Requests", "operations", "IOPS", "written", "read")
    commands = ("sysbench",)
    longest = 200  # a run prints about 50 lines

    def forget(self) -> None:
        super().forget()
        self._io = False

    @reads(r".*(?:^\s*sysbench.*evaluation benchmark|\(using )", "evaluation benchmark", "(using ", opens=True)
    def _begin(self, found: Match) -> None:
        version = re.search(r"sysbench v?([\d.]+\w*)", found.string)
        self.version = version[1].rstrip(".") if version else None
        self.known, self._io = {}, False

    def feed(self, text: str) -> Iterable[Record]:
        headless = "Total transferred" in text or "Requests/sec" in text or ", MiB/s:" in text
        if not self.open and (headless or text.strip() == "File operations:"):
            self.open, self._io, self.lines = True, True, 0
        return super().feed(text)

    @reads(r"Number of threads: (?P<threads>\d+)", search=True, inside=True)
    @reads(r"^\s*(?P<files>\d+) files, ", inside=True)
    def _count(self, found: Match) -> None:
        self.known |= {key: int(value) for key, value in found.groupdict().items()}

    @reads(r"(?i:Block size (?P<block_B>\S+?)b)(?:\s*$|\b)", search=True, inside=True)
    @reads(r"^\s*(?P<dataset_B>[\d.]+[kKMGT]i?B?)(?i:b? total file size)", inside=True)
    def _size(self, found: Match) -> None:
        self.known |= {key: size_bytes(value.removesuffix("B")) for key, value in found.groupdict().items()}

    @reads(r"^Doing (?P<what>.* test.*)", inside=True)
    def _doing(self, found: Match) -> None:
        self._io = True
        self.known["pattern"] = next((p for words, p in _MODES if words in found[0]), found["what"].strip())

    @reads(r"^Using (\S+) .*I/O mode", inside=True)
    def _mode(self, found: Match) -> None:
        self.known["io_mode"] = found[1]

    @reads(r"^Extra file open flags.*direct", inside=True)
    def _flags(self, found: Match) -> None:  # noqa: ARG002 (what reads hands over)
        self.known["direct"] = True

    @reads(
        r"Read (?P<r>[\d.]+)[kKMGT]?b\s+Written (?P<w>[\d.]+)[kKMGT]?b\s+Total transferred "
        r"(?P<t>[\d.]+)(?P<tu>[kKMGT]?)b\s+\((?P<rate>[\d.]+)(?P<unit>[kKMGT]?)b/sec\)",
        "transferred",
        search=True,
        inside=True,
    )
    def _total(self, found: Match) -> Found:
        self._io = True
        read, written, size = float(found["r"]), float(found["w"]), float(found["t"]) * BINARY[found["tu"]]
        if size <= 0:
            return self.failure(found[0], **self.known)
        known = {"operation": "mixed" if read and written else "read" if read else "write", "bytes": size, **self.known}
        value, printed = float(found["rate"]) * BINARY[found["unit"]], f"{found['rate']}{found['unit']}b/sec"
        return self.record("throughput", value, "B/s", printed, known)

    @reads(r"^\s*(?P<op>read|written), Mi?B/s:\s+(?P<rate>[\d.,]+)\s*$", inside=True)
    @reads(r"^\s*(?P<op>read|write): +IOPS=(?P<iops>[\d.]+) (?P<rate>[\d.]+) MiB/s \([\d.]+ MB/s\)", inside=True)
    @reads(r"^\s*(?P<op>read|write|fsync)s/s:\s+(?P<iops>[\d.,]+)\s*$", inside=True)
    @reads(r"^\s*(?P<requests>[\d.]+) Requests/sec executed", inside=True)
    def _rates(self, found: Match) -> Iterator[Record]:
        cells, known = found.groupdict(), dict(self.known)
        self._io = self._io or ("iops" in cells and "rate" in cells)
        operation = cells.get("op") or _OPERATIONS.get(str(known.get("pattern")), "mixed")
        known["operation"] = operation.replace("written", "write")
        word = "IOPS" if "rate" in cells else "/s"
        for quantity, key, unit in (("iops", "iops", word), ("throughput", "rate", "MiB/s")):
            if decimal(cells.get(key) or "0") > 0:
                yield self.printed(quantity, cells[key], unit, **known)
        if decimal(cells.get("requests") or "0") > 0:
            yield self.record("iops", decimal(cells["requests"]), "1/s", f"{cells['requests']} Requests/sec", known)

    @reads(r"^\s*total time:\s+([\d.]+)s\s*$", inside=True)
    def _time(self, found: Match) -> Found:
        return self.measure("duration", float(found[1]), "s", found[1] + "s", **self.known) if self._io else None

    @reads(
        r"^\s*(?P<what>min|avg|max|(?:approx\.\s+)?(?P<p>\d+)(?:th)? percentile):\s+(?P<ms>[\d.]+)(?:ms)?\s*$",
        inside=True,
    )
    def _latency(self, found: Match) -> Found:
        if not self._io:
            return None
        self.open = found["p"] is None
        statistic = f"p{found['p']}" if found["p"] else found["what"].replace("avg", "mean")
        return self.printed("latency", found["ms"], "ms", statistic=statistic, **self.known)
