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

from dtnsim.logs.base import BINARY, Conditions, Evidence, LineParser, Record, decimal, size_bytes

_TOTAL: Final = re.compile(
    r"Read (?P<r>[\d.]+)(?P<ru>[kKMGT]?)b\s+Written (?P<w>[\d.]+)(?P<wu>[kKMGT]?)b\s+Total transferred "
    r"(?P<t>[\d.]+)(?P<tu>[kKMGT]?)b\s+\((?P<rate>[\d.]+)(?P<unit>[kKMGT]?)b/sec\)"
)
_REQUESTS: Final = re.compile(r"^\s*([\d.]+) Requests/sec executed")
_RATE: Final = re.compile(r"^\s*(read|written), Mi?B/s:\s+([\d.,]+)\s*$")
_LINE: Final = re.compile(r"^\s*(read|write): +IOPS=([\d.]+) ([\d.]+) MiB/s \([\d.]+ MB/s\)")
_OPS: Final = re.compile(r"^\s*(read|write|fsync)s/s:\s+([\d.,]+)\s*$")
_TIME: Final = re.compile(r"^\s*total time:\s+([\d.]+)s\s*$")
_LATENCY: Final = re.compile(r"^\s*(min|avg|max|(?:approx\.\s+)?\d+(?:th)? percentile):\s+([\d.]+)(ms)?\s*$")
_SETTINGS: Final = (
    ("threads", re.compile(r"Number of threads: (\d+)")),
    ("block_B", re.compile(r"Block size (\S+)b$|Block size (\S+)B\b", re.IGNORECASE)),
    ("dataset_B", re.compile(r"^([\d.]+[kKMGT]i?B?)b? total file size", re.IGNORECASE)),
    ("files", re.compile(r"^(\d+) files, ")),
)
_MODES: Final = (
    ("random read", "randread"), ("random write", "randwrite"), ("random r/w", "randrw"),
    ("sequential read", "read"), ("sequential write", "write"), ("sequential rewrite", "rewrite"),
)  # fmt: skip


class Sysbench(LineParser):
    """One run from its version line to its latency block."""

    tool = "sysbench"
    evidence = Evidence.NO_MODEL
    words = ("sysbench", "transferred", "Requests", "operations", "IOPS", "written", "read")
    commands = ("sysbench",)

    def forget(self) -> None:
        self.open = False
        self._run: Conditions = {}
        self._io = False
        self._lines = 0

    def feed(self, text: str) -> Iterable[Record]:
        if (text.lstrip().startswith("sysbench") and "evaluation benchmark" in text) or "(using " in text:
            self._begin(text)
            return ()
        if not self.open:
            headless = "Total transferred" in text or "Requests/sec" in text or ", MiB/s:" in text
            if headless or text.strip() == "File operations:":
                self.open, self._io, self._lines = True, True, 0
            else:
                return ()
        self._lines += 1
        if self._lines > 200:  # a run prints about 50 lines
            self.open = False
        return self._line(text)

    def _begin(self, text: str) -> None:
        version = re.search(r"sysbench v?([\d.]+\w*)", text)
        self.version = version[1].rstrip(".") if version else None
        self._run, self._io, self.open, self._lines = {}, False, True, 0

    def _line(self, text: str) -> Iterator[Record]:
        if "file size" in text or "Block size" in text or "Number of threads" in text or " files, " in text:
            self._setting(text.strip())
        elif text.startswith("Doing ") and " test" in text:
            self._io = True
            self._run["pattern"] = next((p for words, p in _MODES if words in text), text[6:].strip())
        elif text.startswith("Using ") and "I/O mode" in text:
            self._run["io_mode"] = text.split()[1]
        elif text.startswith("Extra file open flags") and "direct" in text:
            self._run["direct"] = True
        elif (total := _TOTAL.search(text)) is not None:
            yield from self._total(total)
        elif "/s" in text:
            yield from self._rates(text)
        elif self._io and (match := _TIME.match(text)) is not None:
            yield self.measure("duration", float(match[1]), "s", match[1] + "s", **self._run)
        elif self._io and (match := _LATENCY.match(text)) is not None:
            yield self._latency(match)
            if "percentile" in match[1]:
                self.open = False

    def _rates(self, text: str) -> Iterator[Record]:
        if (match := _RATE.match(text)) is not None:
            yield from self._positive("throughput", match[2], BINARY["M"], "B/s", "MiB/s", match[1])
        elif (match := _LINE.match(text)) is not None:
            self._io = True
            yield from self._positive("iops", match[2], 1.0, "1/s", "IOPS", match[1])
            yield from self._positive("throughput", match[3], BINARY["M"], "B/s", "MiB/s", match[1])
        elif (match := _OPS.match(text)) is not None:
            yield from self._positive("iops", match[2], 1.0, "1/s", "/s", match[1])
        elif (match := _REQUESTS.match(text)) is not None:
            yield from self._positive("iops", match[1], 1.0, "1/s", "Requests/sec", self._operation())

    def _setting(self, text: str) -> None:
        for key, pattern in _SETTINGS:
            match = pattern.search(text)
            if match is not None:
                value = next(group for group in match.groups() if group is not None)
                plain = value.removesuffix("b").removesuffix("B")
                self._run[key] = int(value) if key in ("threads", "files") else size_bytes(plain)

    def _operation(self) -> str:
        pattern = str(self._run.get("pattern", ""))
        if pattern in ("randread", "read"):
            return "read"
        return "write" if pattern in ("randwrite", "write", "rewrite") else "mixed"

    def _total(self, match: re.Match[str]) -> Iterator[Record]:
        self._io = True
        read, written = float(match["r"]), float(match["w"])
        operation = "mixed" if read and written else "read" if read else "write"
        size = float(match["t"]) * BINARY[match["tu"]]
        if size <= 0:
            yield self.failure(match[0], **self._run)
            return
        value = float(match["rate"]) * BINARY[match["unit"]]
        printed = f"{match['rate']}{match['unit']}b/sec"
        yield self.measure("throughput", value, "B/s", printed, operation=operation, bytes=size, **self._run)

    def _positive(
        self, quantity: str, text: str, factor: float, unit: str, word: str, operation: str
    ) -> Iterator[Record]:
        value = decimal(text) * factor
        if value > 0:
            name = {"written": "write"}.get(operation, operation)
            yield self.measure(quantity, value, unit, f"{text} {word}", operation=name, **self._run)

    def _latency(self, match: re.Match[str]) -> Record:
        word = match[1]
        percentile = re.search(r"\d+", word)
        statistic = {"avg": "mean"}.get(word, word) if percentile is None else f"p{percentile[0]}"
        value = float(match[2]) * 1e-3
        return self.measure("latency", value, "s", f"{match[2]} ms", statistic=statistic, **self._run)
