"""ZFS: zfs get and list, zpool iostat and status."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import BINARY, Conditions, Context, Evidence, LineParser, Record, size_bytes

_LINE: Final = re.compile(
    r"^\s*+(?P<name>[\w.:/@%-]++)\s++(?P<key>[a-z]{4,30})\s++(?P<value>\S++)\s++"
    r"(?P<source>-|local|default|received|temporary|inherited from \S++)\s*+$"
)
_LIST: Final = re.compile(
    r"^\s*+(?P<name>[\w.:/@%-]++)\s++(?P<used>[\d.]++[BKMGTPE]?)\s++(?P<free>[\d.]++[BKMGTPE]?|-)\s++"
    r"(?P<refer>[\d.]++[BKMGTPE]?)\s++(?P<mount>/\S*+|-|none|legacy)\s*+$"
)
_SIZES: Final = {
    "used": "used", "available": "free", "referenced": "referenced", "volsize": "total", "logicalused": "logical",
    "usedbysnapshots": "snapshots", "quota": "quota", "refquota": "quota",
}  # fmt: skip
_BLOCKS: Final = ("recordsize", "volblocksize")
_SETTINGS: Final = (
    "compression", "checksum", "sync", "atime", "relatime", "primarycache", "secondarycache", "dedup", "encryption",
    "logbias", "copies", "type", "xattr",
)  # fmt: skip
_MANY: Final = 2000


class Zfs(LineParser):
    """``zfs get`` (all, or properties by name) and ``zfs list``.

    Units: K, M, G, T are powers of 1024, a number without a letter is bytes (with ``-p``). Sizes are ``capacity``
    (``view`` is used, free, referenced ...), ``recordsize`` and ``volblocksize`` are ``bytes``, ``compressratio`` a
    plain ratio. What changes speed and is no number (compression, checksum, sync, atime, primarycache, dedup,
    encryption, logbias) goes as a condition with those.
    """

    tool = "zfs"
    evidence = Evidence.DESCRIBES
    words = ("PROPERTY", "AVAIL")
    shape = r"^\s*+\S++\s++(?:compressratio|recordsize|volblocksize)\s"
    commands = ("zfs",)

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._list = False
        self._found: dict[str, list[tuple[str, str, int]]] = {}
        self._settings: dict[str, Conditions] = {}

    def feed(self, text: str) -> Iterable[Record]:
        words = text.split(maxsplit=5)
        if words[:3] == ["NAME", "PROPERTY", "VALUE"]:
            done = list(self.settle())
            self.open, self._list = True, False
            return done
        if words[:4] == ["NAME", "USED", "AVAIL", "REFER"]:
            done = list(self.settle())
            self.open, self._list = True, True
            return done
        if self.open and self._list:
            row = _LIST.match(text)
            if row is None:
                self.open = False
                return ()
            return self._row(row)
        line = _LINE.match(text)
        if line is None:  # a date, a value with blanks
            other = len(words) > 3 and words[1].isalpha() and words[1].islower()
            return list(self.settle()) if self.open and not other else ()
        self._property(line)
        return () if self.open else list(self.settle())

    def _property(self, line: re.Match[str]) -> None:
        name, key, value = line["name"], line["key"], line["value"]
        if len(self._found) + len(self._settings) > _MANY:
            return
        if key in _SETTINGS:
            self._settings.setdefault(name, {})[key] = value
        elif key in _SIZES or key in _BLOCKS or key == "compressratio":
            self._found.setdefault(name, []).append((key, value, self.ctx.line))

    def _row(self, row: re.Match[str]) -> Iterator[Record]:
        for view, key in (("used", "used"), ("free", "free"), ("referenced", "refer")):
            size = size_bytes(row[key])
            if size is not None:
                yield self.measure("capacity", size, "B", row[key], view=view, target=row["name"])

    def settle(self) -> Iterator[Record]:
        found, settings = self._found, self._settings
        self._found, self._settings, self.open = {}, {}, False
        for name, rows in found.items():
            for key, text, line in rows:
                more: Conditions = {"target": name, **({} if key in _SIZES else settings.get(name, {}))}
                if key == "compressratio":
                    ratio = float(text.removesuffix("x"))
                    yield self.measure("ratio", ratio, "1", text, line=line, of="compression", **more)
                    continue
                size = size_bytes(text)
                if size is None:  # none
                    continue
                if key in _BLOCKS:
                    yield self.measure("bytes", size, "B", text, line=line, of=key, **more)
                else:
                    yield self.measure("capacity", size, "B", text, line=line, view=_SIZES[key], **more)


_HEAD: Final = re.compile(r"^\s*(?:pool|vdev|name)\s+alloc\s+free\s+read\s+write\s+read\s+write\b", re.IGNORECASE)
_CELL: Final = re.compile(r"^(?:-|\d+(?:[.,]\d+)?[KMGTPE]?)$")
_WAIT: Final = re.compile(r"^(\d++(?:\.\d++)?)(ns|us|ms|s)$")
_WAITS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_CONFIG: Final = re.compile(r"^\s*NAME\s+STATE\s+READ\s+WRITE\s+CKSUM")
_DEVICE: Final = re.compile(
    r"^(?P<indent>\s+)(?P<name>\S+)\s+(?P<state>ONLINE|DEGRADED|FAULTED|OFFLINE|UNAVAIL|REMOVED|SUSPENDED|AVAIL|INUSE)"
    r"(?:\s+(?P<errors>[\d.]+[KMG]?\s+[\d.]+[KMG]?\s+[\d.]+[KMG]?)(?=\s|$))?"
)
_POOL: Final = re.compile(r"^\s*pool: (\S+)")
_SCAN: Final = re.compile(r"^\s*(?:scan|scrub): (.*)")
_RATE: Final = re.compile(r"(?<![\d.])([\d.]++)([KMGTP]?)B?/s")
_DAYS: Final = re.compile(r"\bin (?:(\d+) days )?(\d+):(\d\d):(\d\d)\b|\b(?:in|after) (\d+)h(\d+)m\b")
_AMOUNT: Final = re.compile(r"\b(?:repaired|resilvered) ([\d.]+)([KMGTP]?)B?\b|resilvered ([\d.]+)([KMGTP]?)B? in")


class Zpool(LineParser):
    """zpool iostat and zpool status.

    Units: K, M, G, T of ``zpool iostat`` are powers of 1024 (zpool-iostat(8)), bandwidth bytes per second; a figure
    without a letter is a whole number of bytes or operations. The first report covers the time since the pool was
    imported (``report``). With ``-l`` the mean waits of the interval follow (``latency``, ``of="total_wait"`` from
    queueing to completion, ``disk_wait`` in the drive, ``syncq_wait`` and ``asyncq_wait`` in ZFS's queues). ``zpool
    status``: ``health`` is 1 for ONLINE and 0 for any other state, with the error counts beside it; the ``scan:``
    (formerly ``scrub:``) line gives duration and rate of scrub and resilver.
    """

    tool = "zpool"
    evidence = Evidence.CORRECTS
    words = ("alloc", "pool", "NAME", "scan", "scrub", "state")
    commands = ("zpool",)

    def forget(self) -> None:
        self._table = ""  # "iostat" or "status"
        self._pool: str | None = None
        self._reports = 0
        self._seen: set[str] = set()  # pools of this report
        self._quiet = 0
        self._scan = False
        self._operation = "scrub"
        self._indent = 0  # of the pools' names
        self._waits: list[str] = []

    def feed(self, text: str) -> Iterable[Record]:
        if _HEAD.match(text):
            self._indent = len(text) - len(text.lstrip())
            self._table, self.open, self._pool = "iostat", True, None
            self._reports += 1
            self._seen = set()
            self._waits = [name for name in self.ctx.previous.split() if name.endswith("_wait")]
            return ()
        if (pool := _POOL.match(text)) is not None:
            self._pool, self._table, self.open, self._quiet = pool[1], "", True, 0
            return ()
        if _CONFIG.match(text):
            self._table, self.open, self._quiet = "status", True, 0
            return ()
        if (scan := _SCAN.match(text)) is not None:
            self._scan = True
            self._operation = "resilver" if "resilver" in scan[1] else "scrub"
            return self._scan_line(scan[1])
        if self._scan and self.open and _RATE.search(text) and "scanned" in text:
            return self._scan_line(text)
        if self._table == "iostat":
            return self._iostat_row(text)
        if self._table == "status":
            return self._status_row(text)
        self._quiet += 1
        if self._quiet > 15:
            self.open = False
        return ()

    def _iostat_row(self, text: str) -> Iterable[Record]:
        words = text.split()
        if not words or set(text) <= set("- \t"):
            return ()
        if len(words) < 7 or not all(_CELL.match(word) for word in words[1:7]):
            if text[:1].isspace() and len(words) <= 2:
                return ()  # a group such as "logs" or "mirror" without figures
            self.open, self._table = False, ""
            return ()
        return self._iostat_figures(text, words)

    def _iostat_figures(self, text: str, words: list[str]) -> Iterator[Record]:
        depth = max(len(text) - len(text.lstrip()) - self._indent, 0) // 2
        if depth == 0:
            self._pool = words[0]
            if words[0] in self._seen:  # with an interval the heading is printed once, and each round is a report
                self._reports += 1
                self._seen = set()
            self._seen.add(words[0])
        conditions: Conditions = {
            "pool": self._pool,
            "device": words[0] if depth else None,
            "report": self._reports,
            "interval": True,
        }
        for quantity, unit, cells in (("iops", "1/s", words[3:5]), ("throughput", "B/s", words[5:7])):
            for operation, cell in zip(("read", "write"), cells, strict=True):
                value = size_bytes(cell)
                if value is not None:
                    yield self.measure(quantity, value, unit, cell, operation=operation, **conditions)
        yield from self._wait_figures(words[7:], conditions)
        conditions.pop("interval")
        for view, cell in zip(("allocated", "free"), words[1:3], strict=True):
            value = size_bytes(cell)
            if value is not None:
                yield self.measure("capacity", value, "B", cell, view=view, **conditions)

    def _wait_figures(self, words: list[str], conditions: Conditions) -> Iterator[Record]:
        """Mean waits, a pair (read, write) of each kind; ``-`` where nothing was done."""
        for at, name in enumerate(self._waits):
            for operation, cell in zip(("read", "write"), words[2 * at : 2 * at + 2], strict=False):
                if (wait := _WAIT.match(cell)) is not None:
                    value = float(wait[1]) * _WAITS[wait[2]]
                    more = {**conditions, "operation": operation, "of": name}
                    yield self.measure("latency", value, "s", cell, **more)

    def _status_row(self, text: str) -> Iterable[Record]:
        match = _DEVICE.match(text.expandtabs())
        if match is None:
            if not text.strip() or text.split(maxsplit=1)[0] in ("logs", "cache", "spares", "special", "dedup"):
                return ()
            self._table = ""
            self.open = False
            return ()
        counts = [size_bytes(word) for word in (match["errors"] or "").split()]
        names = ("read_errors", "write_errors", "checksum_errors")
        conditions: Conditions = dict(zip(names, counts, strict=False))
        if match["name"] != self._pool:
            conditions["device"] = match["name"]
        healthy = 1.0 if match["state"] in ("ONLINE", "AVAIL", "INUSE") else 0.0
        return (
            self.measure("health", healthy, "1", match["state"], pool=self._pool, state=match["state"], **conditions),
        )

    def _scan_line(self, text: str) -> Iterator[Record]:
        running = "in progress" in text or "scanned" in text
        conditions: Conditions = {"pool": self._pool, "operation": self._operation}
        if running:
            rate = _RATE.search(text)
            if rate is not None:
                value = float(rate[1]) * BINARY[rate[2]]
                yield self.measure("throughput", value, "B/s", rate[0], status="partial", interval=True, **conditions)
            return
        took = _DAYS.search(text)
        if took is None or "canceled" in text:
            return
        days, hours, minutes, seconds, old_hours, old_minutes = (int(part or 0) for part in took.groups())
        total = days * 86400 + (hours + old_hours) * 3600 + (minutes + old_minutes) * 60 + seconds
        amount = _AMOUNT.search(text)
        if amount is not None and amount[1]:
            conditions["repaired_B"] = float(amount[1]) * BINARY[amount[2]]
        yield self.measure("duration", total, "s", took[0].partition(" ")[2], **conditions)
