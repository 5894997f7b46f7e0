"""gpfsperf (Spectrum Scale sample program).

Units: ``Kbytes/sec`` is 1000 B/s in the form with ``Op Rate`` and 1024 B/s in the older one with ``iops``:
each follows from operations per second times record size where the record size is printed
(606.68 Ops/sec * 8 MiB = 5 089 200 * 1000 B/s, printed 5089216.97), so the parser decides by
that product and falls back on the form. Sizes such as ``8M`` and ``200G`` are powers of 1024 (200G =
214748364800 bytesTransferred).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dtnsim.logs.base import Conditions, Context, Evidence, LineParser, Record, size_bytes

_RATE: Final = re.compile(
    r"Data rate was (?P<rate>[\d.]+) Kbytes/sec(?:, (?P<form>Op Rate|iops) was (?P<ops>[\d.]+)(?P<end>[\s,]|$))?"
)
_LATENCY: Final = re.compile(r"Avg Latency was ([\d.]+) milliseconds")
_BYTES: Final = re.compile(r"bytesTransferred (\d+)")
_UTIL: Final = re.compile(r"thread utilization ([\d.]+)")
_HEAD: Final = re.compile(r"gpfsperf(?:-mpi)?\s+(create|read|write|uncache)\s+(seq|rand|randhint|strided)\s+(\S+)")
_SIZES: Final = re.compile(r"recSize (\S+)\s+nBytes (\S+)\s+fileSize (\S+)")
_THREADS: Final = re.compile(r"nProcesses (\d+)\s+nThreadsPerProcess (\d+)")


class Gpfsperf(LineParser):
    """The settings and the ``Data rate`` line after them."""

    tool = "gpfsperf"
    evidence = Evidence.SERVERS
    by_document = True
    words = ("gpfsperf", "recSize", "nProcesses", "Kbytes", "direct", "fsync")
    commands = ("gpfsperf", "gpfsperf-mpi")

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._conditions: Conditions = {}

    def feed(self, text: str) -> Iterator[Record]:
        if "Data rate was" in text:
            yield from self._result(text)
        elif (head := _HEAD.search(text)) is not None:
            operation = {"create": "write", "uncache": "uncache"}.get(head[1], head[1])
            self._conditions = {"operation": operation, "pattern": head[2], "target": head[3]}
        elif (sizes := _SIZES.search(text)) is not None:
            for key, value in zip(("record_B", "bytes", "file_B"), sizes.groups(), strict=True):
                self._conditions[key] = size_bytes(value)
        elif (threads := _THREADS.search(text)) is not None:
            self._conditions["processes"] = int(threads[1])
            self._conditions["threads"] = int(threads[1]) * int(threads[2])
        elif "direct I/O" in text:
            self._conditions["direct"] = "not using" not in text
        elif "fsync at end" in text:
            self._conditions["sync"] = "none" if "no fsync" in text else "fsync"

    def _result(self, text: str) -> Iterator[Record]:
        match = _RATE.search(text)
        if match is None:
            yield self.unread(text, "the data rate line is cut or of an unknown form")
            return
        rate = float(match["rate"])
        if rate <= 0:
            yield self.failure(text, **self._conditions)
            return
        factor = 1024.0 if match["form"] == "iops" else 1000.0
        conditions, record = self._conditions, self._conditions.get("record_B")
        ops = float(match["ops"]) if match["ops"] and match["end"] is not None else None
        if ops and isinstance(record, float):
            product = ops * record / rate
            if min(abs(product - 1000.0), abs(product - 1024.0)) < 5.0:
                factor = 1000.0 if abs(product - 1000.0) < abs(product - 1024.0) else 1024.0
            else:
                yield self.unread(text, "operations times record size give neither 1000 nor 1024 bytes a Kbyte")
        if (moved := _BYTES.search(text)) is not None:
            conditions = {**conditions, "bytes": int(moved[1])}
        yield self.measure("throughput", rate * factor, "B/s", f"{match['rate']} Kbytes/sec", **conditions)
        if ops:
            yield self.measure("iops", ops, "1/s", f"{match['ops']} Ops/sec", **conditions)
        if (latency := _LATENCY.search(text)) is not None:
            value = float(latency[1]) * 1e-3
            yield self.measure("latency", value, "s", f"{latency[1]} milliseconds", **conditions)
        if (share := _UTIL.search(text)) is not None and float(share[1]) <= 1:
            yield self.measure("utilization", float(share[1]), "1", share[1], of="threads", **conditions)
