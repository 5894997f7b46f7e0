"""Tables in time of a machine's counters: vmstat, nfsiostat, ifstat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final

from dtnsim.logs._columns import figures
from dtnsim.logs._numbers import regex
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, anew, once

_DISK_HEADS: Final = (
    "reads", "", "read sectors", "read ms", "writes", "", "write sectors", "write ms", "", "sec",
)  # fmt: skip
_LONGEST: Final = 40  # digits and words of a row with its time stamp


class Vmstat(LineParser):
    """vmstat of procps, 3.2 to 4: rows of CPU shares, block I/O, interrupts.

    Units: ``bi`` and ``bo`` are blocks of 1024 B a second whatever ``-S`` says (vmstat(8): since Linux 2.6 all blocks
    are 1024 bytes), ``in`` and ``cs`` interrupts and context switches a second; ``us sy id wa st gu`` percent of all
    cores, where ``us`` has nice and ``sy`` the interrupts. The first row covers the time since boot
    (``since="boot"``) unless ``-y`` left it out. With ``-d`` a row a disk has the totals since boot, in sectors of
    512 B and ms; ``sec`` is the time it was busy. Memory and swap are not read.
    """

    tool = "vmstat"
    evidence = Evidence.BUSY
    words = ("swpd", "disk")
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"disk": ("---reads---",)}

    _heads: list[str] = anew(list)
    _disks = anew(bool)
    _reports = anew(int)

    def feed(self, text: str) -> Iterable[Record]:
        words = text.split(maxsplit=_LONGEST)
        if words[:1] == ["disk-"]:
            self._disks = self.open = True
        if self._disks:
            return self._disk(words)
        if "swpd" in words and words[:2] == ["r", "b"]:
            # a time stamp (-t) has its zone as heading
            self._heads, self.open = [word for word in words if word.islower()], True
            return ()
        if not self._heads or words[:1] == ["procs"]:
            return ()
        cells = words[: len(self._heads)]
        if not _are_counts(cells, len(self._heads)):
            self._heads, self.open = [], False
            return ()
        self._reports += 1
        since = "boot" if self._reports == 1 and "-y" not in (self.ctx.args("vmstat") or ()) else None
        more = {"report": self._reports, "interval": True, "since": since}
        return figures(self, "vmstat", zip(self._heads, cells, strict=True), more)

    def _disk(self, words: list[str]) -> Iterable[Record]:
        """A row of ``-d``: totals since boot."""
        if words[:1] == ["disk-"] or words[:1] == ["total"]:
            return ()
        self._disks = self.open = _are_counts(words[1:], len(_DISK_HEADS))
        known: Conditions = {"device": words[0] if words else None, "since": "boot"}
        return figures(self, "vmstat -d", zip(_DISK_HEADS, words[1:], strict=True), known) if self._disks else ()


def _are_counts(cells: list[str], count: int) -> bool:
    return len(cells) == count and all(cell.isascii() and cell.isdigit() for cell in cells)


_MOUNT: Final = regex(r"^\s*+<source:word> mounted on (?P<target>\S+):\s*+$")
_HEADS: Final = re.compile(r"ops?/s|rpc bklog|kB/s|kB/op|retrans|avg RTT|avg exe|avg queue|errors")
_CELL: Final = re.compile(r"(?<![\d.])(\d{1,18}(?:\.\d{1,9})?|nan)(?: \( ?[\d.]++%\))?(?=\s|$)")


class Nfsiostat(LineParser):
    """nfsiostat of nfs-utils 1.1 to 2: what every NFS mount of a client does.

    Units: ``kB`` is 1024 B, of RPC with their headers (nfs-iostat.py divides by 1024); ``avg RTT`` from sending to
    the answer, ``avg exe`` from the file system's request to its end, ``avg queue`` between them (``of``), in ms.
    ``retrans`` and ``errors`` are counts of the interval. The first report covers the time since the mount
    (``report``). Values stand in one line, or one below the other (nfs-utils 1.2.3).
    """

    tool = "nfsiostat"
    evidence = Evidence.BUSY
    words = ("mounted", "kB")
    commands = ("nfsiostat", "nfs-iostat", "nfs-iostat.py")

    _mount: Conditions = anew(dict)
    _reports: dict[str, int] = anew(dict)
    _operation: str | None = anew()
    _heads: list[str] = anew(list)
    _cells: list[str] = anew(list)
    _quiet = anew(int)

    def feed(self, text: str) -> Iterable[Record]:
        if (mount := _MOUNT.match(text)) is not None:
            target = mount["target"]
            if len(self._reports) > 1000:
                self._reports.clear()
            self._reports[target] = self._reports.get(target, 0) + 1
            self._mount = {"source": mount["source"], "target": target, "report": self._reports[target]}
            self._start("all", [])
            return ()
        words = text.strip()
        if words.startswith(("read:", "write:")) and (self.open or "kB/op" in words):
            self._start(words.partition(":")[0], [])
        if ("kB/op" in words or "rpc bklog" in words) and (heads := _HEADS.findall(words)):
            if "kB/op" in heads and self._operation not in ("read", "write"):
                return ()
            self._start(self._operation if "kB/op" in heads else "all", heads)
            return ()
        return self._values(words)

    def _start(self, operation: str | None, heads: list[str]) -> None:
        self._operation, self._heads, self._cells = operation, heads, []
        self.open, self._quiet = True, 0

    def _values(self, words: str) -> Iterable[Record]:
        cells = _CELL.findall(words) if self._heads and len(words) < 300 else []
        if not cells:
            self._quiet += bool(words)
            if self._quiet > 2:
                self.open, self._heads = False, []
            return ()
        self._cells += cells
        if len(self._cells) < len(self._heads):
            return ()
        found = {head: cell for head, cell in zip(self._heads, self._cells, strict=False) if cell != "nan"}
        self._heads, self._cells = [], []
        more: Conditions = {**self._mount, "operation": self._operation, "interval": True}
        more["block_B"] = round(float(found.get("kB/op", 0)) * 1024.0, 3) or None
        pairs = ((head, cell) for head, cell in found.items() if float(cell) > 0 or not head.startswith("avg "))
        return figures(self, "nfsiostat", pairs, more)


_UNITS: Final = re.compile(r"^\s*+(?P<time>HH:MM:SS)?+(?P<pairs>(?:\s*+(?:KB/s|Kbps) in\s++(?:KB/s|Kbps) out)++)\s*+$")
_NAME: Final = re.compile(r"[\w.:@-]+")
_ROW: Final = re.compile(
    r"^\s*+(?:(?P<time>\d\d:\d\d:\d\d)\s)?(?P<figures>(?:\s*+(?:\d++(?:\.\d*+)?(?:e[+-]?\d++)?|n/a))++)\s*+$"
)
_SCREEN: Final = 18  # rows under a head on the smallest usual terminal
_FACTOR: Final = {"KB/s": 1024.0, "Kbps": 128.0}


class Ifstat(LineParser):
    """ifstat (Gael Roualland's): columns of interface rates in time.

    Units: ``KB/s`` = 2^10 B/s and, with ``-b``, ``Kbps`` = 2^10 bit/s: measured on ifstat 1.1 with iperf3 paced at
    2e9 bit/s over the loopback, which printed 244369.6 KB/s and 1.95e+06 Kbps. Rates are of frames as the kernel
    counts them (with link headers), averaged over the interval (1 s unless the command line says otherwise).

    Every figure is a record ``interval=True`` with ``device``, ``direction`` (in = ``receive``) and ``sample`` (from
    1): a series in time has no figure of the whole. ``Total`` is the sum of the interfaces. A new head continues the
    table if it names the same interfaces after a screen full of rows (ifstat repeats it then); after fewer rows it is
    another run (``table`` counts them).
    """

    tool = "ifstat"
    evidence = Evidence.BUSY
    of_a_line = True
    words = ("KB", "Kbps")

    _devices: list[str] = once(list)
    _known: Conditions = once(dict)
    _word = once(str)
    _every = once(float)
    _tables = once(int)
    _sample = once(int)
    _rows = once(int)  # tables, rows of this one, rows since its last head

    def feed(self, text: str) -> Iterable[Record]:
        if " in " in text and (units := _UNITS.match(text)) is not None:
            self._head(units)
        elif self._devices and (row := _ROW.match(text)) is not None:
            return self._row(row, text)
        elif self._devices and text.strip():
            names = _NAME.findall(text)
            if not set(self._devices) <= set(names) or len(names) > len(self._devices) + 1:
                self.settle()
        return ()

    def settle(self) -> Iterable[Record]:
        self._devices, self.open = [], False
        return ()

    def _head(self, units: re.Match[str]) -> None:
        pairs = re.findall(r"(KB/s|Kbps) in", units["pairs"])
        names = [name for name in _NAME.findall(self.ctx.previous) if name.lower() != "time"]
        devices = names if len(names) == len(pairs) else [f"column {at + 1}" for at in range(len(pairs))]
        if self._devices != devices or self._rows < _SCREEN:
            args = self.ctx.args("ifstat")
            numbers = [arg for arg in args or () if re.fullmatch(r"\d+(?:\.\d+)?(?:/\d+(?:\.\d+)?)?", arg)]
            self._every = float(numbers[0].partition("/")[0]) if numbers else 0.0 if args is None else 1.0
            self._tables, self._sample, self._word = self._tables + 1, 0, pairs[0]
            self._known = {**self.where, "table": self._tables, "interval": True}
        self._devices, self._rows, self.open = devices, 0, True

    def _row(self, row: re.Match[str], text: str) -> Iterator[Record]:
        cells = row["figures"].split()
        if len(cells) != 2 * len(self._devices):
            yield self.unread(text, f"{len(cells)} figures in a table of {2 * len(self._devices)} columns")
            return
        self._sample, self._rows = self._sample + 1, self._rows + 1
        known: Conditions = {**self._known, "sample": self._sample, "time": row["time"]}
        if self._every:
            known |= {"start_s": (self._sample - 1) * self._every, "end_s": self._sample * self._every}
        for at, cell in enumerate(cells):
            more = {"device": self._devices[at // 2], "direction": "send" if at % 2 else "receive"}
            if cell != "n/a":
                value = float(cell) * _FACTOR[self._word]
                yield self.measure("throughput", value, "B/s", f"{cell} {self._word}", {**known, **more})
