"""iostat, mpstat and sar of sysstat: CPU states, time stamps and JSON are alike."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from dtnsim.logs._columns import cell, columns, figures
from dtnsim.logs._numbers import as_dict, as_list
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Record, anew

#: ``03:15:06 PM``, ``15:15:06``, ``Average:`` and its translations
STAMP: Final = re.compile(
    r"^\s*(?P<stamp>\d\d?[:.]\d\d[:.]\d\d(?: ?[AP]M)?|(?P<mean>[^\W\d][\w.]*:))\s+(?P<rest>\S.*)$"
)


def statistics(data: Any) -> Iterator[dict[str, Any]]:
    """The statistics objects of a sysstat JSON document."""
    for host in map(as_dict, as_list(as_dict(as_dict(data).get("sysstat")).get("hosts"))):
        yield from (entry for entry in as_list(host.get("statistics")) if isinstance(entry, dict))


def is_mpstat(heads: Sequence[str]) -> bool:
    """Whether a CPU table's headings are mpstat's and not sar's: interrupts before steal, or ``intr/s``.

    ``sar -u ALL`` has the same columns as mpstat, with ``%steal`` before ``%irq`` (sysstat ``rd_stats``,
    ``pr_stats.c`` and ``mpstat.c``); mpstat before sysstat 10 said ``%user`` and closed with ``intr/s``.
    """
    before = "%steal" not in heads or "%irq" in heads[: heads.index("%steal")]
    return "intr/s" in heads or ("%usr" in heads and before)


#: quantities of which a table of devices has one
_MARKS: Final = ("throughput", "iops", "utilization")


class Iostat(LineParser):
    """iostat of sysstat 8 to 12, any column set, --pretty, --human and JSON.

    Units: ``kB`` is 1024 B and ``MB`` 1048576 B, whatever the column is called (rkB/s, kB_read/s, MB_wrtn/s); ``Blk``
    and ``sec`` are sectors of 512 B (iostat manual). With --human each figure carries its own letter. ``await`` is
    milliseconds, ``aqu-sz``/``avgqu-sz`` requests. The first report covers the time since boot: ``report`` counts
    them. With --pretty the device comes last.
    """

    tool = "iostat"
    evidence = Evidence.BUSY
    words = ("avg", "Device", "await", "Disk")
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"avg": ("avg-cpu",)}

    _heads: list[str] = anew(list)
    _cpu: list[str] | None = anew()
    _reports = anew(int)
    _in_report: list[list[str]] = anew(list)  # headings of this report (--human prints several tables)

    def feed(self, text: str) -> Iterable[Record]:
        if "avg-cpu:" in text:
            self._cpu, self._heads, self.open = text.split()[1:], [], True
            self._reports, self._in_report = self._reports + 1, []
            return ()
        words, cpu = text.split(), self._cpu
        if not words:
            self._heads, self.open = [], cpu is not None
        elif words[0].rstrip(":") == "Device" or words[-1] == "Device":
            if any(columns("iostat")[word].quantity in _MARKS for word in words if word in columns("iostat")):
                self._heads, self.open = [word.rstrip(":") for word in words], True
                if self._heads in self._in_report or self._reports == 0:
                    self._reports, self._in_report = self._reports + 1, []
                self._in_report.append(self._heads)
        elif cpu is not None:
            self._cpu, self.open = None, self.open and len(words) == len(cpu) and cell(words[0]) is not None
            known: Conditions = {"cpu": "all", "report": self._reports, "interval": True}
            return figures(self, "cpu", zip(cpu, words, strict=False), known) if self.open else ()
        elif self._heads:
            return self._device(words)
        return ()

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
        yield from figures(self, "iostat", zip(heads, cells, strict=True), more)


class IostatJson(DocumentParser, of=Iostat):
    """``iostat -o JSON``."""

    def match(self, doc: Document) -> bool:
        return any("disk" in entry for entry in statistics(doc.data))

    def read(self, doc: Document) -> Iterator[Record]:
        for report, entry in enumerate(statistics(doc.data), 1):
            more: Conditions = {"report": report, "interval": True}
            cpu = ((f"%{state}", share) for state, share in as_dict(entry.get("avg-cpu")).items())
            yield from figures(self, "cpu", cpu, {"cpu": "all", **more}, line=doc.line)
            for disk in map(as_dict, as_list(entry.get("disk"))):
                name = str(disk.get("disk_device"))
                pairs = (("%util" if head == "util" else head, found) for head, found in disk.items())
                line = doc.line_of(f'"{name}"')
                yield from figures(self, "iostat", pairs, {"device": name, **more}, line=line)


_KEYS: Final = {"CPU": "cpu", "IFACE": "interface", "DEV": "device"}


class _Stamped(LineParser):
    """Rows behind time stamps under headings that are printed again and again; a line without a stamp ends them."""

    _heads: list[str] = anew(list)

    @abstractmethod
    def heads(self, words: list[str]) -> list[str] | None:
        """Headings that are read, none of those of another table; None where the words are a row's."""

    def feed(self, text: str) -> Iterable[Record]:
        match = STAMP.match(text)
        words = match["rest"].split() if match is not None else []
        heads = self.heads(words) if words else []
        if match is None or heads is not None:
            self._heads, self.open = heads or [], bool(heads)
            return ()
        if not self._heads:
            return ()
        if len(words) != len(self._heads):
            return (self.unread(text, f"{len(words)} figures under {len(self._heads)} heads"),)
        pairs = list(zip(self._heads, words, strict=True))
        more: Conditions = {"interval": None if match["mean"] else True}
        more |= {_KEYS[head]: word for head, word in pairs if head in _KEYS}
        return figures(self, "cpu" if "cpu" in more else "sar", pairs, more)


class Mpstat(_Stamped):
    """mpstat text (any time format) and JSON.

    Units: percent of the time of one CPU, or of all (``all``, in JSON ``-1``). Interrupt tables are not read. Rows
    without ``Average`` are intervals.
    """

    tool = "mpstat"
    evidence = Evidence.BUSY
    words = ("CPU",)

    def heads(self, words: list[str]) -> list[str] | None:
        if "CPU" not in words:
            return None
        return words if is_mpstat(words) and self.ctx.args("sar") is None else []


class MpstatJson(DocumentParser, of=Mpstat):
    """``mpstat -o JSON``."""

    def match(self, doc: Document) -> bool:
        entries = list(statistics(doc.data))
        if not entries:
            return isinstance(doc.data, dict) and "sysstat" in doc.data
        return any("cpu-load" in entry and "disk" not in entry for entry in entries)

    def read(self, doc: Document) -> Iterator[Record]:
        start = 0
        if next(statistics(doc.data), None) is None:
            yield self.unread(doc.text[:80], "the document has no intervals", line=doc.line)
        for entry in statistics(doc.data):
            stamp = str(entry.get("timestamp", ""))
            start = max(start, doc.text.find(f'"{stamp}"', start))
            for load in map(as_dict, as_list(entry.get("cpu-load"))):
                cpu, part = str(load.get("cpu")), None if stamp.lower().startswith("average") else True
                more: Conditions = {"cpu": "all" if cpu == "-1" else cpu, "time": stamp, "interval": part}
                line = doc.line_of(f'"cpu": "{cpu}"', start)
                states = ((f"%{state}", share) for state, share in load.items())
                yield from figures(self, "cpu", states, more, line=line)


class Sar(_Stamped):
    """sar: -u (CPU), -n DEV (interfaces), -d (devices), -b (all I/O); other tables are left out.

    Units: ``kB`` is 1024 B (sar manual), ``rd_sec/s`` and ``bread/s`` are sectors of 512 B, ``rxbyt/s`` of old versions
    bytes; ``%ifutil`` and ``%util`` percent; ``await`` milliseconds. Rows without ``Average:`` are intervals.
    """

    tool = "sar"
    evidence = Evidence.BUSY
    words = ("CPU", "IFACE", "DEV", "rtps")
    commands = ("sar", "sadf")

    def heads(self, words: list[str]) -> list[str] | None:
        if words[0] not in _KEYS and words[-1] not in _KEYS and "rtps" not in words:
            return None
        mine = ("%user" in words or "%usr" in words) and (self.ctx.args("sar") is not None or not is_mpstat(words))
        read = mine or any(word in columns("sar") and columns("sar")[word].quantity == "throughput" for word in words)
        return words if read else []
