"""fio's JSON and JSON+ output (2.x and 3.x, client/server, several jobs).

Units: ``bw`` is KiB/s and ``bw_bytes`` B/s (checked: 3372201 * 1024 = 3453133824, bw_bytes 3453133943); 2.x
has only ``bw``. ``io_kbytes`` KiB, ``io_bytes`` bytes (2.x before 2.2 wrote KiB under the name
``io_bytes``: recognised by bw * runtime). ``runtime`` ms. Latency objects named ``*_ns`` are nanoseconds,
without the suffix microseconds. In client/server mode the results are in ``client_stats``, where
``All clients`` adds up the others and is the one that is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dtnsim.logs._fio import PERCENTILES, Seen, Stoppable
from dtnsim.logs.base import BINARY, Conditions, Context, Document, DocumentParser, Evidence, Record, number, size_bytes

_OPTIONS: Final = {"rw": "pattern", "ioengine": "engine", "filename": "target", "directory": "target"}


class FioJson(Stoppable, DocumentParser):
    """One JSON document."""

    long = ("jobs",)

    tool = "fio"
    evidence = Evidence.FITS

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._seen = Seen(ctx.memo)

    def match(self, doc: Document) -> bool:
        """Whether the document is fio's."""
        return isinstance(doc.data, dict) and "fio version" in doc.data

    def read(self, doc: Document) -> Iterator[Record]:
        """Figures of every job and direction."""
        data: dict[str, Any] = doc.data
        self.version = str(data["fio version"]).removeprefix("fio-")
        shared = data.get("global options")
        jobs = data.get("jobs") or data.get("client_stats") or []
        if not isinstance(jobs, list):
            yield self.unread("jobs", "the list of jobs is not a list", line=doc.line)
            return
        jobs = [job for job in jobs if isinstance(job, dict)]
        total = [job for job in jobs if job.get("jobname") == "All clients"]
        if not jobs and not doc.part:
            yield self.unread("jobs", "the document has no job results", line=doc.line)
        if doc.cut and "client_stats" in data and not total:
            yield self.unread("client_stats", "the sum over all clients is cut off", line=doc.line)
            return
        lines = doc.lines()
        for job in total or jobs:
            line = lines.next(f'"{job.get("jobname")}"')
            yield from self._job(job, shared if isinstance(shared, dict) else {}, line)

    def _job(self, job: dict[str, Any], shared: dict[str, Any], line: int) -> Iterator[Record]:
        options = {**shared, **(job.get("job options") or {})}
        conditions = _conditions(options)
        conditions["job"] = str(job.get("jobname"))
        error = number(job.get("error"))
        if error:
            yield self.failure(f"job error {job.get('error')}", line=line, **conditions)
            return
        counted = False
        for operation in ("read", "write", "trim", "mixed"):
            result = job.get(operation)
            if isinstance(result, dict):
                for record in self._direction(result, operation, conditions, line):
                    counted = True
                    yield record
        for key, state in (("usr_cpu", "user"), ("sys_cpu", "system")):
            share = number(job.get(key))
            if counted and share is not None:
                yield self.measure("cpu_share", share / 100, "1", f"{share} %", line=line, state=state, **conditions)

    def _direction(self, result: dict[str, Any], operation: str, shared: Conditions, line: int) -> Iterator[Record]:
        moved, kib = number(result.get("io_bytes")), number(result.get("bw"))
        exact, milliseconds = number(result.get("bw_bytes")), number(result.get("runtime"))
        rate = exact if exact is not None else None if kib is None else kib * BINARY["K"]
        if not moved or not rate or not milliseconds:
            return
        if self._seen.again(str(shared["job"]), operation, int(milliseconds), "json"):
            return
        seconds = milliseconds / 1e3
        if "bw_bytes" not in result and 0.9 < moved / (rate / 1024 * seconds) < 1.1:
            moved *= 1024  # 2.1 and before
        conditions = {**shared, "operation": operation, "duration_s": seconds, "bytes": moved}
        printed = f"{result['bw_bytes']} B/s" if exact is not None else f"{result['bw']} KB/s"
        if seconds >= 1 and abs(moved / seconds - rate) > 0.05 * rate:
            yield self.unread(printed, f"bytes / runtime give {moved / seconds:.4g} B/s", line=line)
        yield self.measure("throughput", rate, "B/s", printed, line=line, **conditions)
        yield self.measure("duration", seconds, "s", f"{result['runtime']} ms", line=line, **conditions)
        iops = number(result.get("iops"))
        if iops:
            yield self.measure("iops", iops, "1/s", f"{result['iops']} IOPS", line=line, **conditions)
        yield from self._latencies(result, conditions, line)

    def _latencies(self, result: dict[str, Any], conditions: Conditions, line: int) -> Iterator[Record]:
        for kind in ("clat", "lat"):
            for key, unit in ((kind + "_ns", 1e-9), (kind, 1e-6)):
                block = result.get(key)
                if not isinstance(block, dict):
                    continue
                figures = [("mean", block.get("mean")), ("max", block.get("max"))]
                percentiles = block.get("percentile")
                if isinstance(percentiles, dict):
                    figures += [(f"p{p}", percentiles.get(f"{float(p):.6f}")) for p in PERCENTILES]
                for statistic, found in figures:
                    value = number(found)
                    if value:
                        yield self.measure(
                            "latency",
                            value * unit,
                            "s",
                            f"{found} {'ns' if unit == 1e-9 else 'us'}",
                            line=line,
                            of=kind,
                            statistic=statistic,
                            **conditions,
                        )


def _conditions(options: dict[str, Any]) -> Conditions:
    found: Conditions = {}
    for key, name in _OPTIONS.items():
        if isinstance(options.get(key), str):
            found[name] = options[key]
    block = size_bytes(str(options.get("bs", options.get("blocksize", ""))))
    if block is not None:
        found["block_B"] = block
    for key, name in (("iodepth", "depth"), ("numjobs", "jobs")):
        value = number(options.get(key))
        if value is not None:
            found[name] = int(value)
    if str(options.get("direct", "0")) == "1":
        found["direct"] = True
    for key in ("fsync", "end_fsync", "fdatasync", "sync"):
        if str(options.get(key, "0")) not in ("0", "none"):
            found["sync"] = key
            break
    return found
