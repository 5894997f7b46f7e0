"""ZFS: zfs get and list, zpool iostat and status."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._declared import Found, LinesParser, Match, reads
from dtnsim.logs.base import BINARY, TIMES, Conditions, Context, Evidence, LineParser, Record, size_bytes

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

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._list = False
        self._found: list[tuple[str, str, str, int]] = []
        self._settings: dict[str, Conditions] = {}

    def feed(self, text: str) -> Iterable[Record]:
        words = text.split(maxsplit=5)
        if words[:3] == ["NAME", "PROPERTY", "VALUE"] or words[:4] == ["NAME", "USED", "AVAIL", "REFER"]:
            done = list(self.settle())
            self.open, self._list = True, words[1] == "USED"
            return done
        if self.open and self._list:
            row = _LIST.match(text)
            self.open = row is not None
            return () if row is None else self._row(row)
        line = _LINE.match(text)
        if line is None:  # a date, a value with blanks
            other = len(words) > 3 and words[1].isalpha() and words[1].islower()
            return list(self.settle()) if self.open and not other else ()
        name, key = line["name"], line["key"]
        if len(self._found) + len(self._settings) <= _MANY:
            if key in _SETTINGS:
                self._settings.setdefault(name, {})[key] = line["value"]
            elif key in _SIZES or key in _BLOCKS or key == "compressratio":
                self._found.append((name, key, line["value"], self.ctx.line))
        return () if self.open else list(self.settle())

    def _row(self, row: re.Match[str]) -> Iterator[Record]:
        for view, key in (("used", "used"), ("free", "free"), ("referenced", "refer")):
            if (size := size_bytes(row[key])) is not None:
                yield self.measure("capacity", size, "B", row[key], view=view, target=row["name"])

    def settle(self) -> Iterator[Record]:
        (found, self._found), (settings, self._settings), self.open = (self._found, []), (self._settings, {}), False
        for name, key, text, line in found:
            known: Conditions = {"target": name, **({} if key in _SIZES else settings.get(name, {}))}
            if key == "compressratio":
                known["of"] = "compression"
                yield self.record("ratio", float(text.removesuffix("x")), "1", text, known, line=line)
            elif (size := size_bytes(text)) is not None:  # none
                known |= {"of": key} if key in _BLOCKS else {"view": _SIZES[key]}
                yield self.record("bytes" if key in _BLOCKS else "capacity", size, "B", text, known, line=line)


_CELL: Final = re.compile(r"^(?:-|\d+(?:[.,]\d+)?[KMGTPE]?)$")
_WAIT: Final = re.compile(r"^(\d++(?:\.\d++)?)(ns|us|ms|s)$")
_DEVICE: Final = re.compile(
    r"^(?P<indent>\s+)(?P<name>\S+)\s+(?P<state>ONLINE|DEGRADED|FAULTED|OFFLINE|UNAVAIL|REMOVED|SUSPENDED|AVAIL|INUSE)"
    r"(?:\s+(?P<errors>[\d.]+[KMG]?\s+[\d.]+[KMG]?\s+[\d.]+[KMG]?)(?=\s|$))?"
)
_RATE: Final = re.compile(r"(?<![\d.])([\d.]++)([KMGTP]?)B?/s")
_DAYS: Final = re.compile(r"\bin (?:(\d+) days )?(\d+):(\d\d):(\d\d)\b|\b(?:in|after) (\d+)h(\d+)m\b")
_AMOUNT: Final = re.compile(r"\b(?:repaired|resilvered) ([\d.]+)([KMGTP]?)B?\b|resilvered ([\d.]+)([KMGTP]?)B? in")


class Zpool(LinesParser):
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
    longest = 15

    def forget(self) -> None:
        super().forget()
        self._table = ""  # "iostat" or "status"
        self._pool: str | None = None
        self._reports = 0
        self._seen: set[str] = set()  # pools of this report
        self._scan, self._operation = False, "scrub"
        self._indent = 0  # of the pools' names
        self._waits: list[str] = []

    @reads(r"(?i)^\s*(?:pool|vdev|name)\s+alloc\s+free\s+read\s+write\s+read\s+write\b", opens=True)
    def _head(self, found: Match) -> None:
        self._indent = len(found[0]) - len(found[0].lstrip())
        self._table, self._pool, self._seen = "iostat", None, set()
        self._reports += 1
        self._waits = [name for name in self.ctx.previous.split() if name.endswith("_wait")]

    @reads(r"^\s*pool: (\S+)", opens=True)
    def _pools(self, found: Match) -> None:
        self._pool, self._table = found[1], ""

    @reads(r"^\s*NAME\s+STATE\s+READ\s+WRITE\s+CKSUM", opens=True)
    def _config(self, found: Match) -> None:  # noqa: ARG002 (what reads hands over)
        self._table = "status"

    @reads(r"^\s*(?:scan|scrub): (.*)")
    def _scanned(self, found: Match) -> Found:
        self._scan, self._operation = True, "resilver" if "resilver" in found[1] else "scrub"
        return self._scan_line(found[1])

    def other(self, text: str) -> Found:
        if self._scan and self.open and "scanned" in text and _RATE.search(text):
            return self._scan_line(text)
        if self._table:
            self.lines = 0
            return self._iostat_row(text) if self._table == "iostat" else self._status_row(text)
        return None

    def _iostat_row(self, text: str) -> Found:
        words = text.split()
        if not words or set(text) <= set("- \t"):
            return None
        if len(words) >= 7 and all(_CELL.match(word) for word in words[1:7]):
            return self._iostat_figures(text, words)
        if not text[:1].isspace() or len(words) > 2:  # a group such as "logs" or "mirror" has no figures
            self.open, self._table = False, ""
        return None

    def _iostat_figures(self, text: str, words: list[str]) -> Iterator[Record]:
        inside = len(text) - len(text.lstrip()) - self._indent >= 2
        if not inside:
            self._pool = words[0]
            if words[0] in self._seen:  # with an interval the heading is printed once, and each round is a report
                self._reports, self._seen = self._reports + 1, set()
            self._seen.add(words[0])
        known: Conditions = {"pool": self._pool, "device": words[0] if inside else None, "report": self._reports}
        pairs = (("read", "write"), ("read", "write"), ("allocated", "free"))
        for quantity, unit, cells, names in zip(("iops", "throughput", "capacity"), ("1/s", "B/s", "B"),
                                                (words[3:5], words[5:7], words[1:3]), pairs, strict=True):  # fmt: skip
            for name, cell in zip(names, cells, strict=True):
                if (value := size_bytes(cell)) is not None:
                    more = {"view": name} if unit == "B" else {"operation": name, "interval": True}
                    yield self.record(quantity, value, unit, cell, {**known, **more})
        for at, name in enumerate(self._waits):  # pairs (read, write) of each kind; ``-`` where nothing was done
            for operation, cell in zip(("read", "write"), words[7 + 2 * at : 9 + 2 * at], strict=False):
                if (wait := _WAIT.match(cell)) is not None:
                    more = {**known, "interval": True, "operation": operation, "of": name}
                    yield self.record("latency", float(wait[1]) * TIMES[wait[2]], "s", cell, more)

    def _status_row(self, text: str) -> Found:
        match = _DEVICE.match(text.expandtabs())
        if match is None:
            if text.strip() and text.split(maxsplit=1)[0] not in ("logs", "cache", "spares", "special", "dedup"):
                self._table, self.open = "", False
            return None
        counts = [size_bytes(word) for word in (match["errors"] or "").split()]
        known: Conditions = dict(zip(("read_errors", "write_errors", "checksum_errors"), counts, strict=False))
        known |= {"device": match["name"] if match["name"] != self._pool else None, "pool": self._pool}
        state, healthy = match["state"], float(match["state"] in ("ONLINE", "AVAIL", "INUSE"))
        return self.record("health", healthy, "1", state, {**known, "state": state})

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
