"""Tests of block devices: DiskSpd and vdbench."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final

from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Record, number

_TITLE: Final = re.compile(r"^\s*+(?P<what>Total|Read|Write) IO\s*+$")
_TIME: Final = re.compile(r"^\s*+actual test time:\s++(?P<seconds>\d++\.\d++)s")
_DISKSPD_THREADS: Final = re.compile(r"^\s*+thread count:\s++(?P<threads>\d{1,6})\s*+$")
_BLOCK: Final = re.compile(r"^\s*+block size: (?P<size>\d{1,12})(?P<unit>[KMG]iB|[KMG]?)\s*+$")
_DEPTH: Final = re.compile(r"^\s*+number of outstanding I/O operations(?: per thread)?: (?P<depth>\d{1,6})\s*+$")
_HOST: Final = re.compile(r"^\s*+computer name: (?P<host>\S{1,80})\s*+$")
_TOTAL: Final = re.compile(
    r"^\s*+total:\s++(?P<size>\d++) \|\s++(?P<count>\d++) \|\s++(?P<rate>\d++\.\d++) \|\s++(?P<iops>\d++\.\d++)"
    r"(?: \|\s++(?P<latency>\d++\.\d++))?"
)
_CPU: Final = re.compile(r"^\s*+avg\.\|\s++(?P<used>\d{1,3}\.\d\d)%\|")
_PERCENTILE: Final = re.compile(
    r"^\s*+(?P<which>\d\d)th \|\s++(?P<read>\d++\.\d++|N/A) \|\s++(?P<write>\d++\.\d++|N/A) \|"
    r"\s++(?P<all>\d++\.\d++|N/A)"
)
_SCALE: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
#: of the hundred that the XML has
_PERCENTILES: Final = ("50", "90", "95", "99", "99.9")
_LONGEST: Final = 600  # lines between parts of a run: one a thread and core
_OPERATIONS: Final = {"Total": "all", "Read": "read", "Write": "write"}


class DiskSpd(LineParser):
    """DiskSpd 2: the totals of all I/O, reads and writes; text and ``-Rxml``.

    Units: ``MiB/s`` 2^20 B/s, latencies ms, CPU percent of all cores (checked: 2245476352 B in 180.01 s are 11.896
    MiB/s, printed 11.90). The rate is that printed; bytes and test time are compared with it. Percentiles of latency
    follow the totals (``%-ile | Read (ms) | Write (ms) | Total (ms)``).
    """

    tool = "diskspd"
    evidence = Evidence.NO_MODEL
    words = ("Input", "actual", "IO")
    commands = ("diskspd", "diskspd.exe")

    def forget(self) -> None:
        self.open = False
        self._known: Conditions = {}
        self._operation = ""
        self._lines = 0

    def feed(self, text: str) -> Iterable[Record]:
        self._lines += 1
        if text.strip() == "Input parameters:":
            self._known, self._operation, self.open, self._lines = {}, "", True, 0
            return ()
        if self._lines > _LONGEST:
            self.open = False
        if (title := _TITLE.match(text)) is not None:
            self._operation = _OPERATIONS[title["what"]]
            self.open, self._lines = True, 0
        elif (total := _TOTAL.match(text)) is not None and self._operation:
            return self._total(total)
        elif (cpu := _CPU.match(text)) is not None and "duration_s" in self._known:
            share = float(cpu["used"]) / 100
            return (self.measure("cpu_share", share, "1", f"{cpu['used']} %", state="busy", cpu="all", **self._known),)
        elif (percentile := _PERCENTILE.match(text)) is not None and self._operation:
            return self._percentile(percentile)
        else:
            self._setting(text)
        return ()

    def _setting(self, text: str) -> None:
        if (host := _HOST.match(text)) is not None:
            self._known["host"] = host["host"]
        elif (seconds := _TIME.match(text)) is not None:
            self._known["duration_s"] = float(seconds["seconds"])
            self._operation = ""
            self.open, self._lines = True, 0
        elif (threads := _DISKSPD_THREADS.match(text)) is not None:
            self._known["threads"] = int(threads["threads"])
        elif (block := _BLOCK.match(text)) is not None:
            self._known["block_B"] = int(block["size"]) * _SCALE[block["unit"][:1]]
        elif (depth := _DEPTH.match(text)) is not None:
            self._known["depth"] = int(depth["depth"])

    def _total(self, found: re.Match[str]) -> Iterator[Record]:
        size, rate = int(found["size"]), float(found["rate"]) * 2.0**20
        if size == 0 or rate == 0:
            return
        seconds = self._known.get("duration_s")
        if isinstance(seconds, float) and seconds > 1 and abs(size / seconds - rate) > 0.02 * rate + 0.006 * 2**20:
            yield self.unread(f"{found['rate']} MiB/s", f"bytes and time give {size / seconds / 2**20:.5g} MiB/s")
        more: Conditions = {**self._known, "operation": self._operation, "bytes": float(size)}
        yield self.measure("throughput", rate, "B/s", f"{found['rate']} MiB/s", **more)
        yield self.measure("iops", float(found["iops"]), "1/s", found["iops"], **more)
        if found["latency"]:
            yield self.measure("latency", float(found["latency"]) * 1e-3, "s", f"{found['latency']} ms", **more)

    def _percentile(self, found: re.Match[str]) -> Iterator[Record]:
        for operation in ("read", "write", "all"):
            if found[operation] != "N/A":
                value = float(found[operation]) * 1e-3
                more: Conditions = {**self._known, "operation": operation, "statistic": f"p{found['which']}"}
                yield self.measure("latency", value, "s", f"{found[operation]} ms", **more)


class DiskSpdXml(DocumentParser):
    """Documents of ``-Rxml``: sums over threads and targets of each timespan."""

    tool = "diskspd"
    evidence = Evidence.NO_MODEL
    kind = "xml"

    def match(self, doc: Document) -> bool:
        """Results of a profile."""
        return "<Results" in doc.text[:500] and "<TimeSpan>" in doc.text

    def read(self, doc: Document) -> Iterator[Record]:
        try:
            root = ET.fromstring(doc.text[doc.text.index("<Results") :])  # noqa: S314 (no DTD; expat limits expansion)
        except ET.ParseError as error:
            yield self.unread(doc.text[:80], f"not valid XML ({error})", line=doc.line)
            return
        blocks = {element.text for element in root.iterfind("Profile//BlockSize")}
        lines = doc.lines(doc.text.find("</Profile>"))
        for span in root.iterfind("TimeSpan"):
            line, seconds = lines.next("<TimeSpan>"), _number(span, "TestTimeSeconds")
            threads, block = _number(span, "ThreadCount"), number(blocks.pop()) if len(blocks) == 1 else None
            known: Conditions = {"duration_s": seconds, "threads": threads, "block_B": block}
            if seconds:
                for operation in ("read", "write"):
                    yield from self._operation(span, operation, seconds, {**known, "operation": operation}, line)
            if (used := _number(span, "CpuUtilization/Average/UsagePercent")) is not None:
                more = {**known, "state": "busy", "cpu": "all"}
                yield self.record("cpu_share", used / 100, "1", f"{used:g} %", more, line=line)

    def _operation(
        self, span: ET.Element, operation: str, seconds: float, known: Conditions, line: int
    ) -> Iterator[Record]:
        """Rate, operations and latencies of reads or writes; nothing where none was done."""
        word = operation.title()
        targets = span.findall("Thread/Target")
        size, count = (sum(_number(t, f"{word}{what}") or 0.0 for t in targets) for what in ("Bytes", "Count"))
        if size <= 0:
            return
        known["bytes"] = size
        yield self.record("throughput", size / seconds, "B/s", f"{size:.0f} B in {seconds:g} s", known, line=line)
        yield self.record("iops", count / seconds, "1/s", f"{count:.0f} in {seconds:g} s", known, line=line)
        found: list[tuple[str | None, float | None]] = [(None, _number(span, f"Latency/Average{word}Milliseconds"))]
        found += [
            (f"p{bucket.findtext('Percentile')}", _number(bucket, f"{word}Milliseconds"))
            for bucket in span.iterfind("Latency/Bucket")
            if bucket.findtext("Percentile") in _PERCENTILES
        ]
        for statistic, value in found:
            if value is not None:
                more = {**known, "statistic": statistic}
                yield self.record("latency", value * 1e-3, "s", f"{value:g} ms", more, line=line)


def _number(element: ET.Element, path: str) -> float | None:
    return number(element.findtext(path))


#: the stars are gone where they were taken for bold type
_UNIT: Final = re.compile(r"^\s*+rate\s++(1024|1000)(?:\*\*)?2\s")
_START: Final = re.compile(r"Starting RD=(?P<run>[^;]{1,80}); (?P<rest>.{0,400})")
_ROW: Final = re.compile(
    r"^\s*+\d\d:\d\d:\d\d\.\d{3}\s++(?:avg_\d++-\d++|(?P<interval>\d++))\s++(?P<iops>\d++\.\d++)\s++(?P<rate>\d++\.\d++)\s++"
    r"(?P<size>\d++)\s++(?P<reads>\d++\.\d++)\s++(?P<time>\d++\.\d++)(?=\s|$)"
)
_QUIET: Final = 20  # lines without a row between headings
_VDBENCH_THREADS: Final = re.compile(r"threads=(\d{1,5})")


class Vdbench(LineParser):
    """vdbench 5.03 and 5.04: the rows of raw workloads on block devices, of intervals and their mean (``avg_``).

    Units: ``MB/sec`` is what the second heading line says, ``1024**2`` or ``1000**2`` B/s; response times ms;
    ``bytes`` the mean size of a request. Checked: 3832.1 requests of 1048576 B a second are 3832.07 MB/sec.
    ``avg_2-8`` is the mean of the intervals 2 to 8 (the first is warm-up). The columns after the response time change
    with the version and are left out.
    """

    tool = "vdbench"
    evidence = Evidence.NO_MODEL
    words = ("avg", "Starting", "rate")
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"avg": ("avg_",), "rate": ("rate ",)}
    commands = ("vdbench",)

    def forget(self) -> None:
        self.open = False
        self._unit = 2.0**20
        self._run: Conditions = {}
        self._quiet = 0

    def feed(self, text: str) -> Iterable[Record]:
        if (unit := _UNIT.match(text)) is not None:
            self._unit, self.open, self._quiet = 2.0**20 if unit[1] == "1024" else 1e6, True, 0
        elif (start := _START.search(text)) is not None:
            threads = _VDBENCH_THREADS.search(start["rest"])
            self._run = {"of": start["run"], "threads": None if threads is None else int(threads[1])}
        elif (self.open or "avg_" in text) and (row := _ROW.match(text)) is not None:
            self._quiet, self.open = 0, row["interval"] is not None
            return self._row(row)
        else:
            self._quiet += 1
            self.open = self.open and self._quiet < _QUIET
        return ()

    def _row(self, row: re.Match[str]) -> Iterator[Record]:
        iops, rate, size = float(row["iops"]), float(row["rate"]) * self._unit, int(row["size"])
        reads = float(row["reads"]) / 100
        more: Conditions = {**self._run, "block_B": size}
        more["operation"] = "read" if reads == 1 else "write" if reads == 0 else "all"
        if 0 < reads < 1:
            more["read_share"] = reads
        if row["interval"] is not None:
            more |= {"interval": True, "report": int(row["interval"])}
        if iops <= 0 or rate <= 0:
            if row["interval"] is None:
                yield self.unread(row[0], "no requests: no rate")
            return
        printed = f"{row['rate']} MB/sec"
        if abs(iops * size - rate) > 0.02 * rate + 0.006 * self._unit:
            yield self.unread(printed, f"requests and their size give {iops * size / self._unit:.5g} MB/sec")
        yield self.measure("throughput", rate, "B/s", printed, **more)
        yield self.measure("iops", iops, "1/s", row["iops"], **more)
        yield self.measure("latency", float(row["time"]) * 1e-3, "s", f"{row['time']} ms", **more)
