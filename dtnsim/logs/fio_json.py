"""fio's JSON and JSON+ output, and what its text shares with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from dtnsim.logs._numbers import BINARY, DECIMAL, TIMES, as_dict, number, size_bytes, whole
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, Parser, Record

PERCENTILES: Final = ("50", "90", "95", "99", "99.9", "99.99")  #: percentiles worth keeping


def factor_of(unit: str) -> float:
    """``MiB`` 2**20; ``MB`` 1e6, ``Mbit`` 1e6 / 8 (3.x); use `BINARY` for 2.x, whose ``MB`` is 2**20."""
    if unit.endswith("bit"):
        return factor_of(unit.removesuffix("bit") + "B") / 8
    prefix = unit.rstrip("B")
    return BINARY[prefix[0]] if prefix.endswith("i") else DECIMAL[prefix]


def figure_of(text: str) -> float:
    """``1,234.5`` (1.x groups digits) as a number."""
    return float(text.replace(",", ""))


class Runs(Parser):
    """Runs of fio, of which one may be given in several forms, and which a signal (^C) may stop."""

    @property
    def stopped(self) -> bool:
        """Whether fio said that a signal stopped the run: what it did until then is ``partial``."""
        return bool(self.ctx.memo.get("fio stopped"))

    @stopped.setter
    def stopped(self, value: bool) -> None:
        self.ctx.memo["fio stopped"] = value

    def again(self, job: str, operation: str, milliseconds: int, form: str) -> bool:
        """Whether another form gave this result already; notes it otherwise.

        Args:
            job: Name of the job.
            operation: read, write or trim.
            milliseconds: How long it ran.
            form: text, terse or json.
        """
        seen: dict[tuple[str, str, int], set[str]] = self.ctx.memo.setdefault("fio", {})
        forms = seen.setdefault((job, operation, milliseconds), set())
        if len(seen) > 10_000:
            seen.clear()
        if forms and form not in forms:
            return True
        forms.add(form)
        return False


#: options of a job -> conditions
_OPTIONS: Final = {"filename": "target", "directory": "target", "rw": "pattern", "readwrite": "pattern",
                   "ioengine": "engine"}  # fmt: skip
_SYNCS: Final = ("fsync", "end_fsync", "fdatasync", "sync")


def _of_options(options: Mapping[str, Any]) -> Conditions:
    """What the options of a job say of it, be they of a command line or of the JSON."""
    found: Conditions = {to: options[key] for key, to in _OPTIONS.items() if isinstance(options.get(key), str)}
    if str(options.get("direct", "0")) == "1":
        found["direct"] = True
    sync = next((key for key in _SYNCS if str(options.get(key, "0")) not in ("0", "none")), None)
    return found if sync is None else {**found, "sync": sync}


@lru_cache(maxsize=64)
def of_command(args: tuple[str, ...]) -> Conditions:
    """What a command line says of its only job; nothing of one with several."""
    given: dict[str, str] = {}
    for arg in args:
        key, mark, value = arg.lstrip("-").partition("=")
        if not arg.startswith("--") or (key in given and key == "name"):
            return {}
        given[key] = value if mark else "1"
    return _of_options(given)


class FioJson(Runs, DocumentParser):
    """fio's JSON and JSON+ output (2.x and 3.x, client/server, several jobs).

    Units: ``bw`` is KiB/s and ``bw_bytes`` B/s (checked: 3372201 * 1024 = 3453133824, bw_bytes 3453133943); 2.x has
    only ``bw``. ``io_kbytes`` KiB, ``io_bytes`` bytes (2.x before 2.2 wrote KiB under the name ``io_bytes``:
    recognised by bw * runtime). ``runtime`` ms. Latency objects named ``*_ns`` are nanoseconds, without the suffix
    microseconds. In client/server mode the results are in ``client_stats``, where ``All clients`` adds up the others
    and is the one that is read.
    """

    long = ("jobs",)
    keys = frozenset({"fio version"})

    tool = "fio"
    evidence = Evidence.FITS

    def read(self, doc: Document) -> Iterator[Record]:
        data: dict[str, Any] = doc.data
        self.version = str(data["fio version"]).removeprefix("fio-")
        shared = data.get("global options")
        jobs = data.get("jobs") or data.get("client_stats") or []
        self.need(isinstance(jobs, list), "jobs", "the list of jobs is not a list", line=doc.line)
        jobs = [job for job in jobs if isinstance(job, dict)]
        total = [job for job in jobs if job.get("jobname") == "All clients"]
        if not jobs and not doc.part:
            yield self.unread("jobs", "the document has no job results", line=doc.line)
        lost = doc.cut and "client_stats" in data and not total
        self.need(not lost, "client_stats", "the sum over all clients is cut off", line=doc.line)
        lines = doc.lines()
        for job in total or jobs:
            self.ctx.line = lines.next(f'"{job.get("jobname")}"')
            yield from self._job(job, as_dict(shared))

    def _job(self, job: dict[str, Any], shared: dict[str, Any]) -> Iterator[Record]:
        options = {**shared, **(job.get("job options") or {})}
        conditions = {**_of_options(options), "job": str(job.get("jobname"))}
        conditions["block_B"] = size_bytes(str(options.get("bs", options.get("blocksize", ""))))
        conditions |= {name: whole(options.get(key)) for key, name in (("iodepth", "depth"), ("numjobs", "jobs"))}
        if number(job.get("error")):
            yield self.failure(f"job error {job.get('error')}", **conditions)
            return
        counted = False
        for operation in ("read", "write", "trim", "mixed"):
            for record in self._direction(as_dict(job.get(operation)), operation, conditions):
                counted = True
                yield record
        for key, state in (("usr_cpu", "user"), ("sys_cpu", "system")):
            if counted and (share := number(job.get(key))) is not None:
                yield self.measure("cpu_share", share / 100, f"{share} %", state=state, **conditions)

    def _direction(self, result: dict[str, Any], operation: str, shared: Conditions) -> Iterator[Record]:
        moved, kib = number(result.get("io_bytes")), number(result.get("bw"))
        exact, milliseconds = number(result.get("bw_bytes")), number(result.get("runtime"))
        rate = exact if exact is not None else None if kib is None else kib * BINARY["K"]
        if not moved or not rate or not milliseconds:
            return
        if self.again(str(shared["job"]), operation, int(milliseconds), "json"):
            return
        seconds = milliseconds / 1e3
        if "bw_bytes" not in result and 0.9 < moved / (rate / 1024 * seconds) < 1.1:
            moved *= 1024  # 2.1 and before
        conditions = {**shared, "operation": operation, "duration_s": seconds, "bytes": moved}
        printed = f"{result['bw_bytes']} B/s" if exact is not None else f"{result['bw']} KB/s"
        if seconds >= 1 and abs(moved / seconds - rate) > 0.05 * rate:
            yield self.unread(printed, f"bytes / runtime give {moved / seconds:.4g} B/s")
        yield self.measure("throughput", rate, printed, **conditions)
        yield self.measure("duration", seconds, f"{result['runtime']} ms", **conditions)
        if iops := number(result.get("iops")):
            yield self.measure("iops", iops, f"{result['iops']} IOPS", **conditions)
        for key, word in (("clat_ns", "ns"), ("clat", "us"), ("lat_ns", "ns"), ("lat", "us")):
            kind, block = key.removesuffix("_ns"), as_dict(result.get(key))
            percentiles = as_dict(block.get("percentile"))
            figures = {"mean": block.get("mean"), "max": block.get("max")}
            figures |= {f"p{p}": percentiles.get(f"{float(p):.6f}") for p in PERCENTILES}
            for statistic, found in figures.items():
                if value := number(found):
                    known = {**conditions, "of": kind, "statistic": statistic}
                    yield self.measure("latency", value * TIMES[word], f"{found} {word}", known)
