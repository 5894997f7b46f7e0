"""Tests of storage servers: gpfsperf, rados bench and elbencho."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Final

from dtnsim.logs._commands import meanings
from dtnsim.logs._declared import Found, LinesParser, Match, listed, notes, reads
from dtnsim.logs._numbers import BINARY, TIMES, number, parts_s, size_bytes
from dtnsim.logs.base import Conditions, Evidence, Record, anew


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
    words = "gpfsperf recSize nProcesses Kbytes direct fsync"
    commands = ("gpfsperf", "gpfsperf-mpi")

    @reads(r"gpfsperf(?:-mpi)?\s+(create|read|write|uncache)\s+(seq|rand|randhint|strided)\s+(\S+)")
    def _head(self, head: Match) -> None:
        self.known = {"operation": head[1].replace("create", "write"), "pattern": head[2], "target": head[3]}

    _sizes = notes(r"recSize <record_B:word>\s+nBytes <bytes:word>\s+fileSize (?P<file_B>\S+)", to=size_bytes)

    @reads(r"nProcesses (\d+)\s+nThreadsPerProcess (\d+)")
    def _threads(self, found: Match) -> None:
        self.known |= {"processes": int(found[1]), "threads": int(found[1]) * int(found[2])}

    @reads(r"Data rate was <rate:dots> Kbytes/sec(?:, (?P<form>Op Rate|iops) was <ops:dots>(?P<end>[\s,]|$))?")
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
        yield self.measure("throughput", rate * factor, f"{found['rate']} Kbytes/sec", **known)
        if ops:
            yield self.measure("iops", ops, f"{found['ops']} Ops/sec", **known)
        if (latency := re.search(r"Avg Latency was ([\d.]+) milliseconds", text)) is not None:
            yield self.measure("latency", float(latency[1]) * 1e-3, f"{latency[1]} milliseconds", **known)
        if (share := re.search(r"thread utilization ([\d.]+)", text)) is not None and float(share[1]) <= 1:
            yield self.measure("utilization", float(share[1]), share[1], of="threads", **known)

    def other(self, text: str) -> Found:
        if "Data rate was" in text:
            return self.unread(text, "the data rate line is cut or of an unknown form")
        if "direct I/O" in text:
            self.known["direct"] = "not using" not in text
        elif "fsync at end" in text:
            self.known["sync"] = "none" if "no fsync" in text else "fsync"
        return None


_STATISTICS: Final = {"": None, "average": None, "stddev": "stddev", "max": "max", "min": "min"}
_MIB: Final = 2.0**20
_FIGURES: Final = {
    "bandwidth": ("throughput", _MIB, " MB/sec"), "iops": ("iops", 1.0, ""), "latency": ("latency", 1.0, " s"),
}  # fmt: skip


class RadosBench(LinesParser):
    """``rados bench`` of Ceph, write, seq and rand, any release since Firefly.

    Units: ``Bandwidth (MB/sec)`` = 2^20 B/s (checked: 491 writes of 8388608 B in 10.284 s are 381.95 MiB/s, printed
    381.954; 4200 of 4194304 B in 301.488871 s are 55.723); latencies in s, with ``(s)`` or without. The headline is the
    mean of the whole run; maximum, minimum and standard deviation are of its seconds. Rows of the seconds are not read.
    """

    tool = "rados bench"
    evidence = Evidence.SERVERS
    words = "Total Bandwidth bandwidth IOPS Latency latency size"
    commands = ("rados",)

    _found: dict[str, tuple[float, str, int]] = anew(dict)

    @reads(
        r"^\s*+(?P<key>Total time run|Total (?:writes|reads) made|(?:Write|Read|Object) size|Bandwidth \(MB/sec\)"
        r"|(?:Stddev|Max|Min) [Bb]andwidth(?: \(MB/sec\))?|(?:Average|Stddev|Max|Min) IOPS"
        r"|(?:Average|Stddev|Max|Min) [Ll]atency(?:\(s\))?)\s*+:\s*+(?P<value>\d++(?:\.\d++)?(?:e-?\d++)?)(?=\s|$)"
    )
    def _pair(self, pair: Match) -> list[Record]:
        key = pair["key"].lower().replace(" (mb/sec)", "").replace("(s)", "")
        done: list[Record] = []
        if key == "total time run":
            done, key, args = list(self.settle()), "seconds", self.ctx.args("rados") or []
            pattern = "random" if "rand" in args else "sequential" if "seq" in args else None
            self.known = {**self.asked().known, "pattern": pattern, **self.where}
        if self._found or key == "seconds":
            self._found[key] = (float(pair["value"]), pair["value"], self.ctx.line)
        return done

    def settle(self) -> Iterator[Record]:
        found, self._found = self._found, {}
        if "bandwidth" not in found:
            return
        (seconds, printed, line), (rate, text, _) = found["seconds"], found["bandwidth"]
        operation = "write" if "total writes made" in found else "read"
        keys = (f"total {operation}s made", f"{operation} size", "object size")
        count, size, whole = (found[key][0] if key in found else None for key in keys)
        known = {**self.known, "operation": operation, "duration_s": seconds, "object_B": whole}
        moved = size * count if size and count else 0.0
        if moved:
            known |= {"block_B": size, "bytes": moved}
        if moved and seconds >= 1 and abs(moved / seconds - rate * _MIB) > 0.02 * rate * _MIB:
            why = f"operations, size and time give {moved / seconds / _MIB:.6g}"
            yield self.unread(f"{text} MB/sec", why, line=line)
        self.need(rate > 0, text, "nothing was moved: no rate", line=line)
        yield self.measure("duration", seconds, printed, line=line, **known)
        for key, (value, shown, at) in found.items():
            statistic, _, what = key.rpartition(" ")
            if what in _FIGURES:
                quantity, factor, word = _FIGURES[what]
                more = {**known, "statistic": _STATISTICS[statistic]}
                yield self.measure(quantity, value * factor, shown + word, more, line=at)


_DATASET: Final = re.compile(r"(?<!\d)(\d++)x(\d++)([KMGT]iB)$")
_ROW: Final = re.compile(
    r"^(?P<op>[A-Z][A-Z0-9]*+)?\s++(?P<what>[A-Z][\w/]*+(?: ++[\w/]++)*)\s*+:\s++"
    r"(?:\[ (?P<lat>[^\]]*) \]|(?P<first>[\w.-]++)\s++(?P<last>[\w.-]++))\s*+$"
)
_LATENCIES: Final = {"min": "min", "avg": "mean", "max": "max"}


class Elbencho(LinesParser):
    """elbencho: its text table and CSV, and the CSV of its storage_sweep scripts.

    Units: ``Throughput MiB/s`` and ``Total MiB`` are MiB, ``Elapsed ms`` milliseconds, later versions write
    ``2m5.755s``. Of the two columns LAST DONE is the result of the whole run (elbencho's README); FIRST DONE ends when
    the fastest thread ends. ``Dataset,Mean-value`` of storage_sweep has no unit: it is Gbit/s (checked against the
    text: 1048576 files of 1 KiB in 19.506 s are 0.440 Gbit/s, the mean of three runs printed as 0.436).
    """

    tool = "elbencho"
    evidence = Evidence.SERVERS
    by_document = True
    words = "OPERATION Throughput Elapsed Dataset Working elbencho ISO Files IOPS"

    _operation: str | None = anew()
    _heads: list[str] = anew(list)  # of the CSV

    _table = notes(r"OPERATION\s+RESULT TYPE\s+FIRST DONE\s+LAST DONE", opens=True, _operation=None)
    _sweep = notes(r"^\s*Dataset,Mean-value\s*$", opens="sweep")

    @reads(r"Working on (\S+) with (\d+) threads")
    def _working(self, found: Match) -> None:
        self.known = {"threads": int(found[2]), "target": found[1], **_dataset(found[1])}

    @reads(r"^ISO date,.*operation", opens="csv")
    def _csv_head(self, found: Match) -> None:
        self._heads = found.string.strip().split(",")

    def other(self, text: str) -> Found:
        if self.block:
            return self._sweep_row(text) if self.block == "sweep" else self._csv_row(text)
        return self._row(text) if self.open or (" : " in text and ("Elapsed" in text or "Throughput" in text)) else None

    def _row(self, text: str) -> Found:
        match = _ROW.match(text)
        if match is None:
            self.open = self.open and not text.strip(" -=\t")
            return None
        self.open, self._operation = True, match["op"] or self._operation
        if self._operation is None:
            return None
        known = {**self.known, "operation": meanings("elbencho").get(self._operation, self._operation.lower())}
        if match["lat"] is not None:
            return self._latency(match["what"], match["lat"], known)
        return self._figure(match["what"], match["last"], known)

    def _figure(self, what: str, text: str, known: Conditions) -> Found:
        if what.startswith("Elapsed"):
            seconds = parts_s(f"{text}ms" if what.endswith("ms") else text)
            return None if seconds is None else self.measure("duration", seconds, text, known)
        value = number(text) or 0.0
        if value <= 0:
            return None  # no figure, too little for a whole unit, or nothing moved
        if what == "Total MiB":
            return self.measure("bytes", value * _MIB, f"{text} MiB", known)
        if what in ("Throughput MiB/s", "IOPS"):
            return self.printed("iops" if what == "IOPS" else "throughput", text, what.rsplit(maxsplit=1)[-1], **known)
        more = {**known, "of": what[:-2].strip().lower()}
        return self.measure("rate", value, f"{text} {what}", more) if what.endswith("/s") else None

    def _latency(self, what: str, text: str, known: Conditions) -> Iterator[Record]:
        of = "file" if what.lower().startswith(("file", "ent")) else "io"
        for name, value, unit in re.findall(r"(min|avg|max)=([\d.]+)(us|ms|s)?", text):
            seconds = float(value) * TIMES[unit or ("ms" if what.endswith("ms") else "us")]
            more = {**known, "statistic": _LATENCIES[name], "of": of}
            yield self.measure("latency", seconds, f"{name}={value}{unit}", more)

    def _sweep_row(self, text: str) -> Found:
        name, _, value = text.strip().partition(",")
        if not re.fullmatch(r"[\d.]+", value) or _DATASET.search(name) is None:
            self.open, self.block = False, ""
            return None
        known = {"dataset": name, **_dataset(name)}
        return self.printed("throughput", value, "Gbit/s", **known) if float(value) > 0 else None

    def _csv_row(self, text: str) -> Iterator[Record]:
        fields, heads = next(csv.reader([text]), []), self._heads
        if len(fields) != len(heads):
            self.open, self.block = False, ""
            if text.count(",") > 10:
                yield self.unread(text, f"the CSV row has {len(fields)} fields under {len(heads)} heads")
            return
        row = dict(zip(heads, fields, strict=True))
        self.known = {
            "threads": int(row["threads"]) if row.get("threads", "").isdigit() else None,
            "file_B": size_bytes(row.get("file size", "")), "block_B": size_bytes(row.get("block size", "")),
            "direct": row.get("direct IO") == "1", "random": row.get("random") == "1",
        }  # fmt: skip
        known = {**self.known, "operation": meanings("elbencho").get(row["operation"], row["operation"].lower())}
        for head, what in meanings("elbencho csv").items():
            yield from listed(self._figure(what, row.get(head, ""), known))
        for kind, of in (("IO", "io"), ("Ent", "file")):
            for name, statistic in _LATENCIES.items():
                if (figure := row.get(f"{kind} lat us [{name}]", "")).isdigit():
                    yield self.printed("latency", figure, "us", statistic=statistic, of=of, **known)


def _dataset(name: str) -> Conditions:
    """``1048576x1KiB`` as files and their size."""
    match = _DATASET.search(name)
    return {} if match is None else {"files": int(match[1]), "file_B": int(match[2]) * BINARY[match[3][0]]}
