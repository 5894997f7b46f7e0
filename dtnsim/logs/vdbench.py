"""vdbench 5.03 and 5.04: the rows of raw workloads on block devices, of intervals and their mean (``avg_``).

Units: ``MB/sec`` is what the second heading line says, ``1024**2`` or ``1000**2`` B/s; response times ms; ``bytes``
the mean size of a request. Checked: 3832.1 requests of 1048576 B a second are 3832.07 MB/sec. ``avg_2-8`` is the mean
of the intervals 2 to 8 (the first is warm-up). The columns after the response time change with the version and are
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final

from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

#: the stars are gone where they were taken for bold type
_UNIT: Final = re.compile(r"^\s*+rate\s++(1024|1000)(?:\*\*)?2\s")
_START: Final = re.compile(r"Starting RD=(?P<run>[^;]{1,80}); (?P<rest>.{0,400})")
_ROW: Final = re.compile(
    r"^\s*+\d\d:\d\d:\d\d\.\d{3}\s++(?:avg_\d++-\d++|(?P<interval>\d++))\s++(?P<iops>\d++\.\d++)\s++(?P<rate>\d++\.\d++)\s++"
    r"(?P<size>\d++)\s++(?P<reads>\d++\.\d++)\s++(?P<time>\d++\.\d++)(?=\s|$)"
)
_QUIET: Final = 20  # lines without a row between headings
_THREADS: Final = re.compile(r"threads=(\d{1,5})")


class Vdbench(LineParser):
    """Runs and their means."""

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
            threads = _THREADS.search(start["rest"])
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
