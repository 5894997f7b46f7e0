"""iostat of sysstat 8 to 12, any column set, --pretty, --human and JSON.

Units: ``kB`` is 1024 B and ``MB`` 1048576 B, whatever the column is called (rkB/s, kB_read/s, MB_wrtn/s);
``Blk`` and ``sec`` are sectors of 512 B (iostat manual). With --human each figure carries its own letter.
``await`` is milliseconds, ``aqu-sz``/``avgqu-sz`` requests. The first report covers the time since boot:
``report`` counts them. With --pretty the device comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final

from dtnsim.logs._sysstat import cpu_row, figure, json_cpu, scaled, statistics
from dtnsim.logs.base import (
    BINARY,
    Conditions,
    Document,
    DocumentParser,
    Evidence,
    LineParser,
    Record,
    number,
)

K: Final = BINARY["K"]
M: Final = BINARY["M"]
#: heading -> (operation, bytes of its unit)
RATES: Final = {
    "rkB/s": ("read", K), "wkB/s": ("write", K), "kB_read/s": ("read", K), "kB_wrtn/s": ("write", K),
    "rMB/s": ("read", M), "wMB/s": ("write", M), "MB_read/s": ("read", M), "MB_wrtn/s": ("write", M),
    "rsec/s": ("read", 512.0), "wsec/s": ("write", 512.0), "Blk_read/s": ("read", 512.0),
    "Blk_wrtn/s": ("write", 512.0), "dkB/s": ("discard", K), "kB_dscd/s": ("discard", K), "dMB/s": ("discard", M),
    "MB_dscd/s": ("discard", M), "kB/s": ("all", K), "MB/s": ("all", M),
}  # fmt: skip
IOPS: Final = {"r/s": "read", "w/s": "write", "d/s": "discard", "tps": "all"}
WAITS: Final = {"r_await": "read", "w_await": "write", "await": "all"}
DEPTHS: Final = ("aqu-sz", "avgqu-sz")


class Iostat(LineParser):
    """Reports: a CPU block and a device table each."""

    tool = "iostat"
    evidence = Evidence.BUSY
    words = ("avg", "Device", "await", "Disk")
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"avg": ("avg-cpu",)}
    commands = ("iostat",)

    def forget(self) -> None:
        """No table or run is open."""
        self.open = False
        self._heads: list[str] = []
        self._cpu: list[str] | None = None
        self._reports = 0
        self._in_report: list[list[str]] = []  # headings of this report (--human prints several tables)

    def feed(self, text: str) -> Iterable[Record]:
        """One line."""
        if "avg-cpu:" in text:
            self._cpu, self._heads, self.open = text.split()[1:], [], True
            self._reports += 1
            self._in_report = []
            return ()
        words = text.split()
        if not words:
            self._heads = []
            self.open = self._cpu is not None
            return ()
        if words[0].rstrip(":") == "Device" or words[-1] == "Device":
            if any(word in RATES or word in IOPS or word == "%util" for word in words):
                self._heads, self.open = [word.rstrip(":") for word in words], True
                if self._heads in self._in_report or self._reports == 0:
                    self._reports, self._in_report = self._reports + 1, []
                self._in_report.append(self._heads)
            return ()
        if self._cpu is not None:
            heads, self._cpu = self._cpu, None
            if len(words) != len(heads) or figure(words[0]) is None:
                self.open = False
                return ()
            return cpu_row(self, heads, words, cpu="all", report=self._reports, interval=True)
        return self._device(words) if self._heads else ()

    def _device(self, words: list[str]) -> Iterator[Record]:
        heads = self._heads
        if heads[0] == "Device":
            name, cells, heads = words[0], words[1:], heads[1:]
        else:
            name, cells, heads = " ".join(words[len(heads) - 1 :]), words[: len(heads) - 1], heads[:-1]
        if len(cells) != len(heads) or any(figure(cell) is None for cell in cells):
            if len(cells) == len(heads) or (cells and figure(cells[0]) is not None):
                yield self.unread(" ".join(words), f"{len(cells)} figures under {len(heads)} heads")
            self.open, self._heads = False, []
            return
        yield from self._figures(zip(heads, cells, strict=True), name)

    def _figures(self, pairs: Iterable[tuple[str, str]], name: str) -> Iterator[Record]:
        more: Conditions = {"device": name, "report": self._reports, "interval": True}
        for head, cell in pairs:
            if head in RATES:
                operation, factor = RATES[head]
                value = scaled(cell, factor)
                if value is not None:
                    yield self.measure("throughput", value, "B/s", f"{cell} {head}", operation=operation, **more)
                continue
            found = figure(cell)
            if found is None:
                continue
            value = found[0]
            if head in IOPS:
                yield self.measure("iops", value, "1/s", f"{cell} {head}", operation=IOPS[head], **more)
            elif head in WAITS:
                yield self.measure("latency", value / 1e3, "s", f"{cell} ms", operation=WAITS[head], **more)
            elif head == "%util":
                yield self.measure("utilization", value / 100, "1", f"{cell} %", **more)
            elif head in DEPTHS:
                yield self.measure("queue_depth", value, "1", cell, **more)


class IostatJson(DocumentParser):
    """``iostat -o JSON``."""

    tool = "iostat"
    evidence = Evidence.BUSY

    def match(self, doc: Document) -> bool:
        """A sysstat document with disks."""
        return any("disk" in entry for entry in statistics(doc.data))

    def read(self, doc: Document) -> Iterator[Record]:
        """Every report."""
        for report, entry in enumerate(statistics(doc.data), 1):
            cpu = entry.get("avg-cpu")
            if isinstance(cpu, dict):
                yield from json_cpu(self, cpu, doc.line, cpu="all", report=report, interval=True)
            for disk in entry.get("disk") or []:
                if isinstance(disk, dict):
                    yield from self._disk(disk, report, doc)

    def _disk(self, disk: dict[str, Any], report: int, doc: Document) -> Iterator[Record]:
        name = str(disk.get("disk_device"))
        line = doc.line_of(f'"{name}"')
        for head, found in disk.items():
            value = number(found)
            if value is None:
                continue
            more: Conditions = {"device": name, "report": report, "interval": True}
            if head in RATES:
                operation, factor = RATES[head]
                printed = f"{found} {head}"
                yield self.measure("throughput", value * factor, "B/s", printed, line=line, operation=operation, **more)
            elif head in IOPS:
                yield self.measure("iops", value, "1/s", f"{found} {head}", line=line, operation=IOPS[head], **more)
            elif head in WAITS:
                yield self.measure("latency", value / 1e3, "s", f"{found} ms", line=line, operation=WAITS[head], **more)
            elif head in ("util", "%util"):
                yield self.measure("utilization", value / 100, "1", f"{found} %", line=line, **more)
            elif head in DEPTHS:
                yield self.measure("queue_depth", value, "1", str(found), line=line, **more)
