"""File systems: ZFS (zfs, zpool), Lustre (lfs, LNet selftest, obdfilter-survey) and Spectrum Scale (gpfsperf)."""

import re
from collections.abc import Iterator
from typing import Final

from dtnsim.logs._commands import meanings
from dtnsim.logs._declared import Found, LinesParser, Match, gives, notes, reads, said_in
from dtnsim.logs._numbers import BINARY, TIMES, decimal, size_bytes
from dtnsim.logs.base import Conditions, Evidence, Record, anew

_BLOCKS: Final = ("recordsize", "volblocksize")
_SETTINGS: Final = (
    "compression", "checksum", "sync", "atime", "relatime", "primarycache", "secondarycache", "dedup", "encryption",
    "logbias", "copies", "type", "xattr",
)  # fmt: skip
_MANY: Final = 2000


class Zfs(LinesParser, evidence=Evidence.DESCRIBES):
    """``zfs get`` (all, or properties by name) and ``zfs list``.

    Units: K, M, G, T are powers of 1024, a number without a letter is bytes (with ``-p``). Sizes are ``capacity``
    (``view`` is used, free, referenced ...), ``recordsize`` and ``volblocksize`` are ``bytes``, ``compressratio`` a
    plain ratio. What changes speed and is no number (compression, checksum, sync, atime, primarycache, dedup,
    encryption, logbias) goes as a condition with those.
    """

    words = "PROPERTY AVAIL"
    shape = r"^\s*+\S++\s++(?:compressratio|recordsize|volblocksize)\s"

    _found: list[tuple[str, str, str, int]] = anew(list)
    _settings: dict[str, Conditions] = anew(dict)

    _get = notes(r"^\s*NAME\s+PROPERTY\s+VALUE(?=\s|$)", opens="get", settles=True)
    _list = notes(r"^\s*NAME\s+USED\s+AVAIL\s+REFER(?=\s|$)", opens="list", settles=True)

    _row = gives(
        r"^\s*+(?P<target>[\w.:/@%-]++)\s++(?P<used>[\d.]++[BKMGTPE]?)\s++(?P<free>[\d.]++[BKMGTPE]?|-)\s++"
        r"(?P<refer>[\d.]++[BKMGTPE]?)\s++(?:/\S*+|-|none|legacy)\s*+$",
        "capacity {used} [B] : view=used", "capacity {free} [B] : view=free", "capacity {refer} [B] : view=referenced",
        to=size_bytes, inside="list",
    )  # fmt: skip

    @reads(
        r"^\s*+(?P<name>[\w.:/@%-]++)\s++(?P<key>[a-z]{4,30})\s++<value:word>\s++"
        r"(?P<source>-|local|default|received|temporary|inherited from \S++)\s*+$"
    )
    def _property(self, line: Match) -> Found:
        name, key = line["name"], line["key"]
        if len(self._found) + len(self._settings) <= _MANY:
            if key in _SETTINGS:
                self._settings.setdefault(name, {})[key] = line["value"]
            elif key in meanings("zfs") or key in _BLOCKS or key == "compressratio":
                self._found.append((name, key, line["value"], self.ctx.line))
        return None if self.open else self.settle()

    def other(self, text: str) -> Found:
        words = text.split(maxsplit=5)
        more = self.block == "get" and len(words) > 3 and words[1].isalpha() and words[1].islower()
        return self.settle() if self.open and not more else None  # more: a date, a value with blanks

    def settle(self) -> Iterator[Record]:
        (properties, self._found), (settings, self._settings) = (self._found, []), (self._settings, {})
        self.open, self.block = False, ""
        for name, key, text, line in properties:
            conditions: Conditions = {"target": name, **({} if key in meanings("zfs") else settings.get(name, {}))}
            if key == "compressratio":
                conditions["of"] = "compression"
                yield self.measure("ratio", float(text.removesuffix("x")), text, conditions, line=line)
            elif (size := size_bytes(text)) is not None:  # none
                conditions |= {"of": key} if key in _BLOCKS else {"view": meanings("zfs")[key]}
                yield self.measure("bytes" if key in _BLOCKS else "capacity", size, text, conditions, line=line)


_WAIT: Final = re.compile(r"^(\d++(?:\.\d++)?)(ns|us|ms|s)$")
_RATE: Final = re.compile(r"(?<![\d.])([\d.]++)([KMGTP]?)B?/s")
_DAYS: Final = re.compile(r"\bin (?:(\d+) days )?(\d+):(\d\d):(\d\d)\b|\b(?:in|after) (\d+)h(\d+)m\b")
_AMOUNT: Final = re.compile(r"\b(?:repaired|resilvered) ([\d.]+)([KMGTP]?)B?\b")


class Zpool(LinesParser, evidence=Evidence.CORRECTS):
    """zpool iostat and zpool status.

    Units: K, M, G, T of ``zpool iostat`` are powers of 1024 (zpool-iostat(8)), bandwidth bytes per second; a figure
    without a letter is a whole number of bytes or operations. The first report covers the time since the pool was
    imported (``report``). With ``-l`` the mean waits of the interval follow (``latency``, ``of="total_wait"`` from
    queueing to completion, ``disk_wait`` in the drive, ``syncq_wait`` and ``asyncq_wait`` in ZFS's queues). ``zpool
    status``: ``health`` is 1 for ONLINE and 0 for any other state, with the error counts beside it; the ``scan:``
    (formerly ``scrub:``) line gives duration and rate of scrub and resilver.
    """

    words = "alloc pool NAME scan scrub state"
    longest = 15

    _reports = anew(int)
    _seen: set[str] = anew(set)  # pools of this report
    _scan = anew(bool)
    _operation = anew(lambda: "scrub")
    _indent = anew(int)  # of the pools' names
    _waits: list[str] = anew(list)

    @reads(r"(?i)^\s*(?:pool|vdev|name)\s+alloc\s+free\s+read\s+write\s+read\s+write\b", opens="iostat")
    def _head(self, match: Match) -> None:
        self._indent = len(match[0]) - len(match[0].lstrip())
        self.known, self._seen = {}, set()
        self._reports += 1
        self._waits = [name for name in self.ctx.previous.split() if name.endswith("_wait")]

    _pools = notes(r"^\s*pool: <pool:word>", opens=True, to=str)
    _config = notes(r"^\s*NAME\s+STATE\s+READ\s+WRITE\s+CKSUM", opens="status")

    @reads(r"^\s*(?:scan|scrub): (.*)")
    def _scanned(self, match: Match) -> Found:
        self._scan, self._operation = True, "resilver" if "resilver" in match[1] else "scrub"
        return self._scan_line(match[1])

    def other(self, text: str) -> Found:
        if self._scan and self.open and "scanned" in text and _RATE.search(text):
            return self._scan_line(text)
        words, table = text.split(), self.block
        self.lines = 0 if table else self.lines
        if table == "iostat":  # a group such as "logs" or "mirror" has no figures
            more = set(text) <= set("- \t") or (text[:1].isspace() and len(words) <= 2)
        else:
            more = not words or words[0] in ("logs", "cache", "spares", "special", "dedup")
        if table and not more:
            self.open, self.block = False, ""
        return None

    @reads(r"^\s*+(?!-)\S++(?:\s++(?:-|\d++(?:[.,]\d++)?[KMGTPE]?)){6}(?=\s|$)", inside="iostat")
    def _figures(self, match: Match) -> Iterator[Record]:
        self.lines, text, words = 0, match.string, match.string.split()
        inside = len(text) - len(text.lstrip()) - self._indent >= 2
        if not inside:
            self.known["pool"] = words[0]
            if words[0] in self._seen:  # with an interval the heading is printed once, and each round is a report
                self._reports, self._seen = self._reports + 1, set()
            self._seen.add(words[0])
        conditions: Conditions = {**self.known, "device": words[0] if inside else None, "report": self._reports}
        for quantity, cells in (("iops", words[3:5]), ("throughput", words[5:7]), ("capacity", words[1:3])):
            sizes = quantity == "capacity"
            for name, cell in zip(("allocated", "free") if sizes else ("read", "write"), cells, strict=True):
                if (value := size_bytes(cell)) is not None:
                    more: Conditions = {"view": name} if sizes else {"operation": name, "interval": True}
                    yield self.measure(quantity, value, cell, conditions, **more)
        for index, name in enumerate(self._waits):  # pairs (read, write) of each kind; ``-`` where nothing was done
            for operation, cell in zip(("read", "write"), words[7 + 2 * index : 9 + 2 * index], strict=False):
                if (wait := _WAIT.match(cell)) is not None:
                    more = {**conditions, "interval": True, "operation": operation, "of": name}
                    yield self.measure("latency", float(wait[1]) * TIMES[wait[2]], cell, more)

    @reads(
        r"^\s+<name:word>\s+(?P<state>ONLINE|DEGRADED|FAULTED|OFFLINE|UNAVAIL|REMOVED|SUSPENDED|AVAIL|INUSE)"
        r"(?:\s+(?P<errors>[\d.]+[KMG]?\s+[\d.]+[KMG]?\s+[\d.]+[KMG]?)(?=\s|$))?",
        inside="status",
    )
    def _device(self, match: Match) -> Record:
        self.lines = 0
        counts = [size_bytes(word) for word in (match["errors"] or "").split()]
        conditions: Conditions = dict(zip(("read_errors", "write_errors", "checksum_errors"), counts, strict=False))
        conditions |= {"device": match["name"] if match["name"] != self.known.get("pool") else None, **self.known}
        state, healthy = match["state"], float(match["state"] in ("ONLINE", "AVAIL", "INUSE"))
        return self.measure("health", healthy, state, {**conditions, "state": state})

    def _scan_line(self, text: str) -> Iterator[Record]:
        conditions: Conditions = {**self.known, "operation": self._operation}
        if "in progress" in text or "scanned" in text:
            if (rate := _RATE.search(text)) is not None:
                value = float(rate[1]) * BINARY[rate[2]]
                yield self.measure("throughput", value, rate[0], status="partial", interval=True, **conditions)
            return
        took = _DAYS.search(text)
        if took is None or "canceled" in text:
            return
        days, hours, minutes, seconds, old_hours, old_minutes = (int(part or 0) for part in took.groups())
        total = days * 86400 + (hours + old_hours) * 3600 + (minutes + old_minutes) * 60 + seconds
        if (amount := _AMOUNT.search(text)) is not None:
            conditions["repaired_B"] = float(amount[1]) * BINARY[amount[2]]
        yield self.measure("duration", total, took[0].partition(" ")[2], **conditions)


_N: Final = r"\d++(?:\.\d++)?"
_S: Final = rf"{_N}[KMGTPE]?"
_U: Final = r"(?:RPC/s|MB/s|MiB/s)"
_TEST: Final = re.compile(
    r"\b(write|rewrite|read|reread|rewrite_again)\s+([\d.,]+)\s+"
    r"(?:[\[［]\s*([\d.]+)\s*,\s*([\d.]+)\s*[\]］]|(SHORT|ERROR))?"
)


class Lfs(LinesParser, evidence=Evidence.DESCRIBES):
    """lfs of Lustre 2.x: ``lfs df`` and ``lfs getstripe``.

    Units: without ``-h`` the blocks of ``lfs df`` are of 1024 B (its heading says 1K-blocks); with it K, M, G, T, P
    are powers of 1024. One row a target (``device``) and ``filesystem_summary`` for all; ``-i`` (inodes) is not read.
    ``getstripe`` gives the number of stripes (-1, all targets, is not read) and their size; files of several
    components have several (``component``, from ``extent_B`` on).
    """

    words = "UUID stripe lcme"
    within = r"\s*(?:\.\.\.\s*)?$|.*: inactive device"

    _kib = anew(bool)
    _file: str | None = anew()

    @reads(r"^\s*UUID(?:\s+(?P<blocks>\S+))?")
    def _head(self, head: Match) -> None:
        self.open, self._kib = head["blocks"] in ("1K-blocks", "bytes"), head["blocks"] == "1K-blocks"

    @reads(
        rf"^\s*+(?P<name>[\w.-]++(?:_UUID)?|filesystem[_ ]summary):?\s++(?P<total>{_S})\s++(?P<used>{_S})"
        rf"\s++(?P<free>{_S})\s++(?P<share>\d{{1,3}})% (?P<mount>/\S*+)",
        inside=True,
    )
    def _row(self, row: Match) -> Iterator[Record]:
        name = row["name"].removesuffix("_UUID")
        conditions: Conditions = {"target": row["mount"].partition("[")[0]}
        if not name.startswith("filesystem"):
            conditions["device"] = name
        for view in ("total", "used", "free"):
            scale = 1024.0 if self._kib and row[view].isdigit() else 1.0
            yield self.measure("capacity", (size_bytes(row[view]) or 0.0) * scale, row[view], view=view, **conditions)

    _component = notes(r"^\s*+lcme_id: {1,20}(?P<component>\d{1,12})\s*+$", new=True)
    _start = notes(r"^\s*+lcme_extent\.e_start: {1,9}(?P<extent_B>\d{1,20})\s*+$", to=float)

    @reads(r"^\s*+lmm_stripe_(?P<what>count|size): {1,9}(?P<value>-?\d{1,15})\s*+$")
    def _stripe(self, match: Match) -> Found:
        counted, value = match["what"] == "count", int(match["value"])
        if counted and (before := re.match(r"^([^\s:]{1,500})\s*+$", self.ctx.previous)) is not None:
            self._file, self.known = before[1], {}
        conditions: Conditions = {"of": "stripes" if counted else "stripe size", **self.known, "target": self._file}
        return self.measure("count" if counted else "bytes", value, match["value"], conditions) if value > 0 else None


class LnetSelftest(LinesParser, evidence=Evidence.NETWORK, by_document=True):
    """LNet selftest: ``lst stat`` of a group, again and again.

    Units: ``MB/s`` of Lustre up to 2.12 and ``MiB/s`` are 2^20 B/s (lst.c divides by 1048576); with ``--mbs`` later
    releases print 10^6 as ``MB/s``, which the log does not tell apart, so that ``MB/s`` is 2^20 unless the command
    has ``--mbs``. ``[R]`` is what the nodes of the group received, ``[W]`` what they sent. All are of an interval:
    the mean of the group's nodes is the headline, ``min`` and ``max`` are its slowest and fastest node.
    """

    tool = "lnet_selftest"
    words = "LNet LNET"
    commands = ("lst",)
    within = r"\s*$"

    _reports: dict[str, int] = anew(dict)

    @reads(r"^\s*+\[LN[Ee][Tt] (?P<what>Rates|Bandwidth) of (?P<group>[^\]]{1,200})\]", opens=True)
    def _head(self, head: Match) -> None:
        group = head["group"]
        if head["what"] == "Rates":
            if len(self._reports) > 1000:
                self._reports.clear()
            self._reports[group] = self._reports.get(group, 0) + 1
        self.known = {"of": group, "report": self._reports.get(group)}

    @reads(
        rf"^\s*+\[(?P<way>[RW])\] Avg: {{1,2}}<avg:num> {{1,9}}(?P<unit>{_U}) {{1,2}}"
        rf"Min: {{1,2}}<min:num> {{1,9}}{_U} {{1,2}}Max: {{1,2}}<max:num> ",
        inside=True,
        result="Avg: ",
    )
    def _row(self, row: Match) -> Iterator[Record]:
        conditions = {**self.known, "direction": "receive" if row["way"] == "R" else "send", "interval": True}
        factor = 1e6 if row["unit"] == "MB/s" and "--mbs" in (self.ctx.args("lst") or ()) else 2.0**20
        quantity, factor = ("rate", 1.0) if row["unit"] == "RPC/s" else ("throughput", factor)
        for name, statistic in (("avg", None), ("min", "min"), ("max", "max")):
            printed = f"{row[name]} {row['unit']}"
            yield self.measure(quantity, float(row[name]) * factor, printed, statistic=statistic, **conditions)


class Obdfilter(LinesParser, evidence=Evidence.SERVERS, by_document=True):
    """obdfilter-survey of the Lustre I/O kit (summary lines).

    Units: the printed figures are total_size in KiB / (seconds * 1024), so MiB/s (lustre-iokit obdfilter-survey,
    ``compute bandwidth from total data / elapsed time``); the brackets hold the slowest and fastest OST's one-second
    samples, also MiB/s. ``sz`` is KiB over all OSTs, ``rsz`` KiB with or without the K. ``SHORT`` after a rate means
    that the run was too short for samples (the rate holds), ``ERROR`` that an OST reported an error (no rate).
    """

    tool = "obdfilter-survey"
    words = "ost rsz"

    @reads(
        r"\bost\s*<osts:int>\s+sz\s*<sz:int>K\s+rsz\s*<rsz:int>K?\s+obj\s*<objects:int>\s+thr\s*<threads:int>"
        r"\s+(?P<rest>.*)"
    )
    def _line(self, match: Match) -> Iterator[Record]:
        conditions: Conditions = {key: int(match[key]) for key in ("osts", "objects", "threads")}
        conditions |= {"bytes": int(match["sz"]) * BINARY["K"], "record_B": int(match["rsz"]) * BINARY["K"]}
        test = None
        for test in _TEST.finditer(match["rest"] + " "):
            operation, rate, least, most, word = test.groups()
            conditions["operation"] = operation
            if word == "ERROR" or decimal(rate) == 0:
                yield self.failure(test[0], **conditions)
                continue
            yield self.measure("throughput", decimal(rate) * BINARY["M"], f"{rate} MB/s", **conditions)
            for statistic, text in (("min", least), ("max", most)):
                if text is not None:
                    more = {**conditions, "statistic": statistic, "view": "per_ost"}
                    yield self.measure("throughput", decimal(text) * BINARY["M"], text, more)
        if test is None:
            yield self.unread(match.string, "the line has no result")


class Gpfsperf(LinesParser, evidence=Evidence.SERVERS, by_document=True):
    """gpfsperf (Spectrum Scale sample program).

    Units: ``Kbytes/sec`` is 1000 B/s in the form with ``Op Rate`` and 1024 B/s in the older one with ``iops``: each
    follows from operations per second times record size where the record size is printed (606.68 Ops/sec * 8 MiB = 5
    089 200 * 1000 B/s, printed 5089216.97), so the parser decides by that product and falls back on the form. Sizes
    such as ``8M`` and ``200G`` are powers of 1024 (200G = 214748364800 bytesTransferred).
    """

    words = "gpfsperf recSize nProcesses Kbytes direct fsync"
    commands = ("gpfsperf", "gpfsperf-mpi")

    @reads(r"gpfsperf(?:-mpi)?\s+(create|read|write|uncache)\s+(seq|rand|randhint|strided)\s+(\S+)")
    def _head(self, head: Match) -> None:
        self.known = {"operation": head[1].replace("create", "write"), "pattern": head[2], "target": head[3]}

    _sizes = notes(r"recSize <record_B:word>\s+nBytes <bytes:word>\s+fileSize (?P<file_B>\S+)", to=size_bytes)

    @reads(r"nProcesses (\d+)\s+nThreadsPerProcess (\d+)")
    def _threads(self, match: Match) -> None:
        self.known |= {"processes": int(match[1]), "threads": int(match[1]) * int(match[2])}

    @reads(r"Data rate was <rate:dots> Kbytes/sec(?:, (?P<form>Op Rate|iops) was <ops:dots>(?P<end>[\s,]|$))?")
    def _result(self, match: Match) -> Iterator[Record]:
        rate, text = float(match["rate"]), match.string
        if rate <= 0:
            yield self.failure(text, **self.known)
            return
        factor, record = 1024.0 if match["form"] == "iops" else 1000.0, self.known.get("record_B")
        ops = float(match["ops"]) if match["ops"] and match["end"] is not None else None
        if ops and isinstance(record, float):
            product = ops * record / rate
            if min(abs(product - 1000.0), abs(product - 1024.0)) < 5.0:
                factor = 1000.0 if abs(product - 1000.0) < abs(product - 1024.0) else 1024.0
            else:
                yield self.unread(text, "operations times record size give neither 1000 nor 1024 bytes a Kbyte")
        conditions = {**self.known, **said_in(text, bytes=r"bytesTransferred (\d+)")}
        yield self.measure("throughput", rate * factor, f"{match['rate']} Kbytes/sec", **conditions)
        if ops:
            yield self.measure("iops", ops, f"{match['ops']} Ops/sec", **conditions)
        more = said_in(text, str, ms=r"Avg Latency was ([\d.]+)(?= milliseconds)", share=r"thread utilization ([\d.]+)")
        yield from self.figures(more, conditions, "latency {ms} milliseconds [ms]")
        if float(more.get("share", 2)) <= 1:
            yield from self.figures(more, conditions, "utilization {share} : of=threads")

    def other(self, text: str) -> Found:
        if "Data rate was" in text:
            return self.unread(text, "the data rate line is cut or of an unknown form")
        if "direct I/O" in text:
            self.known["direct"] = "not using" not in text
        elif "fsync at end" in text:
            self.known["sync"] = "none" if "no fsync" in text else "fsync"
        return None
