"""Tests of storage servers: gpfsperf and rados bench."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dtnsim.logs._declared import Found, LinesParser, Match, reads
from dtnsim.logs._net import host_of
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, size_bytes


class Gpfsperf(LinesParser):
    """gpfsperf (Spectrum Scale sample program).

    Units: ``Kbytes/sec`` is 1000 B/s in the form with ``Op Rate`` and 1024 B/s in the older one with ``iops``: each
    follows from operations per second times record size where the record size is printed (606.68 Ops/sec * 8 MiB = 5
    089 200 * 1000 B/s, printed 5089216.97), so the parser decides by that product and falls back on the form. Sizes
    such as ``8M`` and ``200G`` are powers of 1024 (200G = 214748364800 bytesTransferred).
    """

    tool = "gpfsperf"
    evidence = Evidence.SERVERS
    by_document = True
    words = ("gpfsperf", "recSize", "nProcesses", "Kbytes", "direct", "fsync")
    commands = ("gpfsperf", "gpfsperf-mpi")

    @reads(r"gpfsperf(?:-mpi)?\s+(create|read|write|uncache)\s+(seq|rand|randhint|strided)\s+(\S+)", search=True)
    def _head(self, head: Match) -> None:
        self.known = {"operation": head[1].replace("create", "write"), "pattern": head[2], "target": head[3]}

    @reads(r"recSize (\S+)\s+nBytes (\S+)\s+fileSize (\S+)", search=True)
    def _sizes(self, sizes: Match) -> None:
        self.known |= {key: size_bytes(sizes[at]) for at, key in enumerate(("record_B", "bytes", "file_B"), 1)}

    @reads(r"nProcesses (\d+)\s+nThreadsPerProcess (\d+)", search=True)
    def _threads(self, found: Match) -> None:
        self.known |= {"processes": int(found[1]), "threads": int(found[1]) * int(found[2])}

    @reads(
        r"Data rate was (?P<rate>[\d.]+) Kbytes/sec(?:, (?P<form>Op Rate|iops) was (?P<ops>[\d.]+)(?P<end>[\s,]|$))?",
        search=True,
    )
    def _result(self, found: Match) -> Iterator[Record]:
        rate, text = float(found["rate"]), found.string
        if rate <= 0:
            yield self.failure(text, **self.known)
            return
        factor, record = 1024.0 if found["form"] == "iops" else 1000.0, self.known.get("record_B")
        ops = float(found["ops"]) if found["ops"] and found["end"] is not None else None
        if ops and isinstance(record, float):
            product = ops * record / rate
            if min(abs(product - 1000.0), abs(product - 1024.0)) < 5.0:
                factor = 1000.0 if abs(product - 1000.0) < abs(product - 1024.0) else 1024.0
            else:
                yield self.unread(text, "operations times record size give neither 1000 nor 1024 bytes a Kbyte")
        known = dict(self.known)
        if (moved := re.search(r"bytesTransferred (\d+)", text)) is not None:
            known["bytes"] = int(moved[1])
        yield self.measure("throughput", rate * factor, "B/s", f"{found['rate']} Kbytes/sec", **known)
        if ops:
            yield self.measure("iops", ops, "1/s", f"{found['ops']} Ops/sec", **known)
        if (latency := re.search(r"Avg Latency was ([\d.]+) milliseconds", text)) is not None:
            yield self.measure("latency", float(latency[1]) * 1e-3, "s", f"{latency[1]} milliseconds", **known)
        if (share := re.search(r"thread utilization ([\d.]+)", text)) is not None and float(share[1]) <= 1:
            yield self.measure("utilization", float(share[1]), "1", share[1], of="threads", **known)

    def other(self, text: str) -> Found:
        if "Data rate was" in text:
            return self.unread(text, "the data rate line is cut or of an unknown form")
        if "direct I/O" in text:
            self.known["direct"] = "not using" not in text
        elif "fsync at end" in text:
            self.known["sync"] = "none" if "no fsync" in text else "fsync"
        return None


_PAIR: Final = re.compile(
    r"^\s*+(?P<key>Total time run|Total (?:writes|reads) made|(?:Write|Read|Object) size|Bandwidth \(MB/sec\)"
    r"|(?:Stddev|Max|Min) [Bb]andwidth(?: \(MB/sec\))?|(?:Average|Stddev|Max|Min) IOPS"
    r"|(?:Average|Stddev|Max|Min) [Ll]atency(?:\(s\))?)\s*+:\s*+(?P<value>\d++(?:\.\d++)?(?:e-?\d++)?)(?=\s|$)"
)
_STATISTICS: Final = {"": None, "average": None, "stddev": "stddev", "max": "max", "min": "min"}
_MIB: Final = 2.0**20


class RadosBench(LineParser):
    """``rados bench`` of Ceph, write, seq and rand, any release since Firefly.

    Units: ``Bandwidth (MB/sec)`` = 2^20 B/s (checked: 491 writes of 8388608 B in 10.284 s are 381.95 MiB/s, printed
    381.954; 4200 of 4194304 B in 301.488871 s are 55.723); latencies in s, with ``(s)`` or without. The headline is
    the mean of the whole run; maximum, minimum and standard deviation are of its seconds. Rows of the seconds are not
    read.
    """

    tool = "rados bench"
    evidence = Evidence.SERVERS
    words = ("Total", "Bandwidth", "bandwidth", "IOPS", "Latency", "latency", "size")
    commands = ("rados",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._found: dict[str, tuple[float, str, int]] = {}
        self._known: Conditions = {}

    def feed(self, text: str) -> Iterable[Record]:
        pair = _PAIR.match(text)
        if pair is None:
            return ()
        key = pair["key"].lower().replace(" (mb/sec)", "").replace("(s)", "")
        done: list[Record] = []
        if key == "total time run":
            done = list(self.settle())
            self._found["seconds"] = (float(pair["value"]), pair["value"], self.ctx.line)
            self._known = {**self._arguments(), **host_of(self.ctx)}
        elif self._found:
            self._found[key] = (float(pair["value"]), pair["value"], self.ctx.line)
        return done

    def settle(self) -> Iterator[Record]:
        found, self._found = self._found, {}
        if "bandwidth" not in found:
            return
        seconds, printed, line = found["seconds"]
        known = self._conditions(found)
        rate, text, _ = found["bandwidth"]
        moved = known.pop("moved", None)
        if isinstance(moved, float) and seconds >= 1 and abs(moved / seconds - rate * _MIB) > 0.02 * rate * _MIB:
            yield self.unread(
                f"{text} MB/sec", f"operations, size and time give {moved / seconds / _MIB:.6g}", line=line
            )
        if rate <= 0:
            yield self.unread(text, "nothing was moved: no rate", line=line)
            return
        yield self.measure("duration", seconds, "s", printed, line=line, **known)
        for key, (value, shown, at) in found.items():
            statistic, _, what = key.rpartition(" ")
            if what not in ("bandwidth", "iops", "latency"):
                continue
            more = {**known, "statistic": _STATISTICS[statistic]}
            if what == "bandwidth":
                yield self.measure("throughput", value * _MIB, "B/s", f"{shown} MB/sec", line=at, **more)
            elif what == "iops":
                yield self.measure("iops", value, "1/s", shown, line=at, **more)
            else:
                yield self.measure("latency", value, "s", f"{shown} s", line=at, **more)

    def _conditions(self, found: dict[str, tuple[float, str, int]]) -> Conditions:
        operation = "write" if "total writes made" in found else "read"
        count = found.get(f"total {operation}s made", (0.0, "", 0))[0]
        size = found.get(f"{operation} size", (0.0, "", 0))[0]
        known: Conditions = {**self._known, "operation": operation, "duration_s": found["seconds"][0]}
        if size and count:
            known |= {"block_B": size, "bytes": size * count, "moved": size * count}
        if "object size" in found:
            known["object_B"] = found["object size"][0]
        return known

    def _arguments(self) -> Conditions:
        args = self.ctx.args("rados")
        if args is None:
            return {}
        known: Conditions = {"pattern": "random" if "rand" in args else "sequential" if "seq" in args else None}
        for at, word in enumerate(args[:-1]):
            if word in ("-t", "--concurrent-ios") and args[at + 1].isdigit() and len(args[at + 1]) < 6:
                known["depth"] = int(args[at + 1])
            elif word in ("-p", "--pool"):
                known["target"] = args[at + 1]
        return known
