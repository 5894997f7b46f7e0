"""Tests of drives and files: DiskSpd, vdbench and sysbench."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from dtnsim.logs._commands import meanings
from dtnsim.logs._declared import Found, LinesParser, Match, gives, notes, reads
from dtnsim.logs._numbers import BINARY, number, size_bytes
from dtnsim.logs.base import Conditions, Document, Evidence, Record, anew, documents

#: of the hundred that the XML has
_PERCENTILES: Final = ("50", "90", "95", "99", "99.9")
_OPERATIONS: Final = {"Total": "all", "Read": "read", "Write": "write"}


class DiskSpd(LinesParser, evidence=Evidence.NO_MODEL):
    """DiskSpd 2: the totals of all I/O, reads and writes; text and ``-Rxml``.

    Units: ``MiB/s`` 2^20 B/s, latencies ms, CPU percent of all cores (checked: 2245476352 B in 180.01 s are 11.896
    MiB/s, printed 11.90). The rate is that printed; bytes and test time are compared with it. Percentiles of latency
    follow the totals (``%-ile | Read (ms) | Write (ms) | Total (ms)``).
    """

    words = "Input actual IO"
    commands = ("diskspd", "diskspd.exe")
    longest = 600  # lines between parts of a run: one a thread and core

    _operation = anew(str)

    _start = notes(r"^\s*Input parameters:\s*$", new=True, opens=True, _operation="")
    _time = notes(r"^\s*+actual test time:\s++<duration_s:real>s", to=float, opens=True, _operation="")

    @reads(r"^\s*+(?P<what>Total|Read|Write) IO\s*+$", opens=True)
    def _title(self, match: Match) -> None:
        self._operation = _OPERATIONS[match["what"]]

    _host = notes(r"^\s*+computer name: (?P<host>\S{1,80})\s*+$", to=str)

    _threads = notes(r"^\s*+thread count:\s++(?P<threads>\d{1,6})\s*+$")
    _depth = notes(r"^\s*+number of outstanding I/O operations(?: per thread)?: (?P<depth>\d{1,6})\s*+$")

    _block = notes(
        r"^\s*+block size: (?P<block_B>\d{1,12}(?:[KMG]iB|[KMG]?))\s*+$", to=lambda text: int(size_bytes(text) or 0)
    )

    @reads(
        r"^\s*+total:\s++<size:int> \|\s++<count:int> \|\s++<rate:real> \|\s++<iops:real>(?: \|\s++<latency:real>)?",
        result="total:",
    )
    def _total(self, match: Match) -> Iterator[Record]:
        size, rate = int(match["size"]), float(match["rate"]) * 2.0**20
        if size == 0 or rate == 0 or not self._operation:
            return
        seconds = self.known.get("duration_s", 0.0)
        if seconds > 1 and abs(size / seconds - rate) > 0.02 * rate + 0.006 * 2**20:
            yield self.unread(f"{match['rate']} MiB/s", f"bytes and time give {size / seconds / 2**20:.5g} MiB/s")
        conditions = {**self.known, "operation": self._operation, "bytes": float(size)}
        figures = "throughput {rate} MiB/s", "iops {iops} [/s]", "latency {latency} ms"
        yield from self.figures(match, conditions, *figures)

    _cpu = gives(r"^\s*+avg\.\|\s++<used:real>%\|", "cpu_share {used} % : state=busy cpu=all", after="duration_s")

    _percentile = gives(
        r"^\s*+(?P<which>\d\d)th \|\s++(?:<read:real>|N/A) \|\s++(?:<write:real>|N/A) \|\s++(?:<all:real>|N/A)",
        *(f"latency {{{way}}} ms : operation={way} statistic=p{{which}}" for way in ("read", "write", "all")),
        after="_operation",
    )

    @documents(kind="xml", sign=r"<Results[\s\S]*<TimeSpan>")
    def _xml(self, doc: Document) -> Iterator[Record]:
        """Documents of ``-Rxml``: sums over threads and targets of each timespan."""
        root = ET.fromstring(doc.text[doc.text.index("<Results") :])  # noqa: S314 (no DTD; expat limits expansion)
        blocks = {element.text for element in root.iterfind("Profile//BlockSize")}
        lines = doc.lines(doc.text.find("</Profile>"))
        for span in root.iterfind("TimeSpan"):
            line, seconds = lines("<TimeSpan>"), _number(span, "TestTimeSeconds")
            threads, block = _number(span, "ThreadCount"), number(blocks.pop()) if len(blocks) == 1 else None
            conditions: Conditions = {"duration_s": seconds, "threads": threads, "block_B": block}
            if seconds:
                for operation in ("read", "write"):
                    yield from self._summed(span, operation, seconds, {**conditions, "operation": operation}, line)
            used = {"used": span.findtext("CpuUtilization/Average/UsagePercent")}
            yield from self.figures(used, conditions, "cpu_share {used:g} % [percent] : state=busy cpu=all", line=line)

    def _summed(
        self, span: ET.Element, operation: str, seconds: float, conditions: Conditions, line: int
    ) -> Iterator[Record]:
        """Rate, operations and latencies of reads or writes; nothing where none was done."""
        word = operation.title()
        targets = span.findall("Thread/Target")
        size, count = (sum(_number(t, f"{word}{field}") or 0.0 for t in targets) for field in ("Bytes", "Count"))
        if size <= 0:
            return
        conditions["bytes"] = size
        yield self.measure("throughput", size / seconds, f"{size:.0f} B in {seconds:g} s", conditions, line=line)
        yield self.measure("iops", count / seconds, f"{count:.0f} in {seconds:g} s", conditions, line=line)
        mean = {"ms": span.findtext(f"Latency/Average{word}Milliseconds")}
        yield from self.figures(mean, conditions, "latency {ms:g} ms", line=line)
        for bucket in span.iterfind("Latency/Bucket"):
            if (share := bucket.findtext("Percentile")) in _PERCENTILES:
                times, more = {"ms": bucket.findtext(f"{word}Milliseconds")}, {**conditions, "statistic": f"p{share}"}
                yield from self.figures(times, more, "latency {ms:g} ms", line=line)


def _number(element: ET.Element, path: str) -> float | None:
    return number(element.findtext(path))


class Vdbench(LinesParser, evidence=Evidence.NO_MODEL):
    """vdbench 5.03 and 5.04: the rows of raw workloads on block devices, of intervals and their mean (``avg_``).

    Units: ``MB/sec`` is what the second heading line says, ``1024**2`` or ``1000**2`` B/s; response times ms;
    ``bytes`` the mean size of a request. Checked: 3832.1 requests of 1048576 B a second are 3832.07 MB/sec.
    ``avg_2-8`` is the mean of the intervals 2 to 8 (the first is warm-up). The columns after the response time change
    with the version and are left out.
    """

    words = "avg Starting rate"
    beside: ClassVar = {"avg": ("avg_",), "rate": ("rate ",)}
    longest = 19  # lines without a row between headings

    _unit = anew(lambda: 2.0**20)

    @reads(r"^\s*+rate\s++(1024|1000)(?:\*\*)?2\s", opens=True)  # the stars are gone if taken for bold type
    def _head(self, unit: Match) -> None:
        self._unit = 2.0**20 if unit[1] == "1024" else 1e6

    _start = notes(r"Starting RD=(?P<of>[^;]{1,80}); (?:.{0,400}?threads=(?P<threads>\d{1,5}))?", new=True)

    @reads(
        r"^\s*+\d\d:\d\d:\d\d\.\d{3}\s++(?:avg_\d++-\d++|<interval:int>)\s++<iops:real>\s++<rate:real>\s++"
        r"<size:int>\s++<reads:real>\s++<time:real>(?=\s|$)"
    )
    def _row(self, row: Match) -> Iterable[Record]:
        if not self.open and row["interval"] is not None:
            return
        self.lines, self.open = 0, row["interval"] is not None
        iops, rate, size = float(row["iops"]), float(row["rate"]) * self._unit, int(row["size"])
        share = float(row["reads"]) / 100
        conditions: Conditions = {**self.known, "block_B": size}
        conditions["operation"] = "read" if share == 1 else "write" if share == 0 else "all"
        conditions["read_share"] = share if 0 < share < 1 else None
        if row["interval"] is not None:
            conditions |= {"interval": True, "report": int(row["interval"])}
            if iops <= 0 or rate <= 0:
                return
        self.need(iops > 0 and rate > 0, row[0], "no requests: no rate")
        printed = f"{row['rate']} MB/sec"
        if abs(iops * size - rate) > 0.02 * rate + 0.006 * self._unit:
            yield self.unread(printed, f"requests and their size give {iops * size / self._unit:.5g} MB/sec")
        yield self.measure("throughput", rate, printed, **conditions)
        yield from self.figures(row, conditions, "iops {iops} [/s]", "latency {time} ms")


class Sysbench(LinesParser, evidence=Evidence.NO_MODEL):
    """sysbench fileio: 0.4, 0.5, 1.0 and 1.1.

    Units: 0.4 prints ``Total transferred 9.9126Gb (33.835Mb/sec)`` where b means bytes and k, M, G are powers of 1024
    (checked: 2598531 requests of 4 KiB are 9.9126 GiB); 0.5 prints ``read, MB/s:``, 1.0 ``read, MiB/s:`` and mean the
    same (16384 B a request, checked with own runs), 1.1 ``read:  IOPS=1749.75 27.34 MiB/s (28.67 MB/s)``. Latencies are
    milliseconds. The rate of 0.4 counts reads and writes together (``operation="read"`` or ``"write"`` where only one
    was made, else ``"mixed"``); the others give them apart.
    """

    terms: ClassVar = {"operation": {"written": "write"}}
    words = "sysbench transferred Requests operations IOPS written read"
    longest = 200  # a run prints about 50 lines

    _io = anew(bool)

    @reads(r"^.*(?:^\s*sysbench.*evaluation benchmark|\(using )", opens=True)
    def _begin(self, match: Match) -> None:
        version = re.search(r"sysbench v?([\d.]+\w*)", match.string)
        self.version = version[1].rstrip(".") if version else None
        self.known, self._io = {}, False

    def feed(self, text: str) -> Iterable[Record]:
        headless = "Total transferred" in text or "Requests/sec" in text or ", MiB/s:" in text
        if not self.open and (headless or text.strip() == "File operations:"):
            self.open, self._io, self.lines = True, True, 0
        self._io = self._io or (self.open and ": IOPS=" in text)
        return super().feed(text)

    _threads = notes(r"Number of threads: <threads:int>", inside=True)
    _files = notes(r"^\s*<files:int> files, ", inside=True)
    _block = notes(r"(?i:Block size (?P<block_B>\S+?)b)(?:\s*$|\b)", inside=True, to=size_bytes)
    _dataset = notes(r"^\s*(?P<dataset_B>[\d.]+[kKMGT]i?B?)(?i:b? total file size)", inside=True, to=size_bytes)
    _mode = notes(r"^Using <io_mode:word> .*I/O mode", inside=True, to=str)

    @reads(r"^Doing (?P<what>.* test.*)", inside=True)
    def _doing(self, match: Match) -> None:
        self._io = True
        modes = meanings("sysbench").items()
        self.known["pattern"] = next((mode for words, mode in modes if words in match[0]), match["what"].strip())

    _flags = notes(r"^Extra file open flags.*(?P<direct>direct)", inside=True, to=bool)

    @reads(
        r"Read <r:dots>[kKMGT]?b\s+Written <w:dots>[kKMGT]?b\s+Total transferred "
        r"<t:dots><tu:k>b\s+\(<rate:dots><unit:k>b/sec\)",
        inside=True,
        result="transferred",
    )
    def _total(self, match: Match) -> Found:
        self._io = True
        read, written, size = float(match["r"]), float(match["w"]), float(match["t"]) * BINARY[match["tu"]]
        if size <= 0:
            return self.failure(match[0], **self.known)
        facts = {"operation": "mixed" if read and written else "read" if read else "write", "bytes": size, **self.known}
        value, printed = float(match["rate"]) * BINARY[match["unit"]], f"{match['rate']}{match['unit']}b/sec"
        return self.measure("throughput", value, printed, facts)

    _rate = gives(
        r"^\s*(?P<operation>read|written), Mi?B/s:\s+(?P<rate>[\d.,]+)\s*$", "throughput? {rate} MiB/s", inside=True
    )
    _iops = gives(r"^\s*(?P<operation>read|write|fsync)s/s:\s+(?P<iops>[\d.,]+)\s*$", "iops? {iops} /s", inside=True)
    _both = gives(
        r"^\s*(?P<operation>read|write): +IOPS=<iops:dots> <rate:dots> MiB/s \([\d.]+ MB/s\)",
        "iops? {iops} IOPS", "throughput? {rate} MiB/s", inside=True,
    )  # fmt: skip

    @reads(r"^\s*<requests:dots> Requests/sec executed", inside=True)
    def _requests(self, match: Match) -> Found:
        pattern = str(self.known.get("pattern"))
        operation = next((kind for kind in ("read", "write") if pattern.endswith(kind)), "mixed")
        conditions = {**self.known, "operation": operation}
        return self.figures(match, conditions, "iops? {requests} Requests/sec [/s]")

    _time = gives(r"^\s*total time:\s+(?P<n>[\d.]+)s\s*$", "duration {n}s", inside=True, after="_io")

    @reads(r"^\s*(?P<what>min|avg|max|(?:approx\.\s+)?<p:int>(?:th)? percentile):\s+<ms:dots>(?:ms)?\s*$", inside=True)
    def _latency(self, match: Match) -> Found:
        if not self._io:
            return None
        self.open = match["p"] is None
        statistic = f"p{match['p']}" if match["p"] else match["what"].replace("avg", "mean")
        return self.printed("latency", match["ms"], "ms", statistic=statistic, **self.known)
