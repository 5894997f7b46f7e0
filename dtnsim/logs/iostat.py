"""iostat of sysstat 8 to 12, any column set, --pretty, --human and JSON.

Units: ``kB`` is 1024 B and ``MB`` 1048576 B, whatever the column is called (rkB/s, kB_read/s, MB_wrtn/s);
``Blk`` and ``sec`` are sectors of 512 B (iostat manual). With --human each figure carries its own letter.
``await`` is milliseconds, ``aqu-sz``/``avgqu-sz`` requests. The first report covers the time since boot:
``report`` counts them. With --pretty the device comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final

from dtnsim.logs._declared import cell, declared, figures
from dtnsim.logs._sysstat import JSON_STATES, STATES, plain, statistics
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Record

COLUMNS: Final = declared("""
    rkB/s kB_read/s         : throughput KiB/s operation=read
    wkB/s kB_wrtn/s         : throughput KiB/s operation=write
    dkB/s kB_dscd/s         : throughput KiB/s operation=discard
    kB/s                    : throughput KiB/s operation=all
    rMB/s MB_read/s         : throughput MiB/s operation=read
    wMB/s MB_wrtn/s         : throughput MiB/s operation=write
    dMB/s MB_dscd/s         : throughput MiB/s operation=discard
    MB/s                    : throughput MiB/s operation=all
    rsec/s Blk_read/s       : throughput sectors/s operation=read
    wsec/s Blk_wrtn/s       : throughput sectors/s operation=write
    r/s                     : iops 1/s operation=read
    w/s                     : iops 1/s operation=write
    d/s                     : iops 1/s operation=discard
    tps                     : iops 1/s operation=all
    r_await                 : latency ms operation=read
    w_await                 : latency ms operation=write
    await                   : latency ms operation=all
    %util                   : utilization %
    aqu-sz avgqu-sz         : queue_depth 1
""")


#: quantities of which a table of devices has one
_MARKS: Final = ("throughput", "iops", "utilization")


class Iostat(LineParser):
    """Reports: a CPU block and a device table each."""

    tool = "iostat"
    evidence = Evidence.BUSY
    words = ("avg", "Device", "await", "Disk")
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"avg": ("avg-cpu",)}
    commands = ("iostat",)

    def forget(self) -> None:
        self.open = False
        self._heads: list[str] = []
        self._cpu: list[str] | None = None
        self._reports = 0
        self._in_report: list[list[str]] = []  # headings of this report (--human prints several tables)

    def feed(self, text: str) -> Iterable[Record]:
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
            if any(COLUMNS[word].quantity in _MARKS for word in words if word in COLUMNS):
                self._heads, self.open = [word.rstrip(":") for word in words], True
                if self._heads in self._in_report or self._reports == 0:
                    self._reports, self._in_report = self._reports + 1, []
                self._in_report.append(self._heads)
            return ()
        if self._cpu is not None:
            heads, self._cpu = self._cpu, None
            if len(words) != len(heads) or cell(words[0]) is None:
                self.open = False
                return ()
            known: Conditions = {"cpu": "all", "report": self._reports, "interval": True}
            return figures(self, STATES, zip(heads, words, strict=False), known)
        return self._device(words) if self._heads else ()

    def _device(self, words: list[str]) -> Iterator[Record]:
        heads = self._heads
        if heads[0] == "Device":
            name, cells, heads = words[0], words[1:], heads[1:]
        else:
            name, cells, heads = " ".join(words[len(heads) - 1 :]), words[: len(heads) - 1], heads[:-1]
        if len(cells) != len(heads) or any(cell(text) is None for text in cells):
            if len(cells) == len(heads) or (cells and cell(cells[0]) is not None):
                yield self.unread(" ".join(words), f"{len(cells)} figures under {len(heads)} heads")
            self.open, self._heads = False, []
            return
        more: Conditions = {"device": name, "report": self._reports, "interval": True}
        yield from figures(self, COLUMNS, zip(heads, cells, strict=True), more)


class IostatJson(DocumentParser):
    """``iostat -o JSON``."""

    tool = "iostat"
    evidence = Evidence.BUSY

    def match(self, doc: Document) -> bool:
        """A sysstat document with disks."""
        return any("disk" in entry for entry in statistics(doc.data))

    def read(self, doc: Document) -> Iterator[Record]:
        for report, entry in enumerate(statistics(doc.data), 1):
            cpu = entry.get("avg-cpu")
            more: Conditions = {"report": report, "interval": True}
            if isinstance(cpu, dict):
                yield from figures(self, JSON_STATES, cpu.items(), {"cpu": "all", **more}, read=plain, line=doc.line)
            for disk in entry.get("disk") or []:
                if isinstance(disk, dict):
                    name = str(disk.get("disk_device"))
                    pairs = (("%util" if head == "util" else head, found) for head, found in disk.items())
                    line = doc.line_of(f'"{name}"')
                    yield from figures(self, COLUMNS, pairs, {"device": name, **more}, read=plain, line=line)
