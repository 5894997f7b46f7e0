"""fio 2.x and 3.x: normal text (also client/server), terse, JSON and JSON+.

Units: 2.x prints ``bw=266966KB/s`` and ``io=4096.0MB`` where K, M, G are powers of 1024 (checked: 1048576 I/Os of 4 KiB
in 15.711 s are 266967 KiB/s), unless the job has ``kb_base=1000``: the product of iops and block size decides where
both are printed. 3.x prints both, ``253MiB/s (266MB/s)``, the job's own base first. Terse bandwidth is KiB/s (HOWTO,
"Terse output"). Latencies carry their unit in brackets (``clat (usec)``), nsec to sec.

One run may be given as JSON, terse and text in one file (``--output-format=normal,terse,json``): it
counts once, whichever comes first. Job figures carry ``job``; the ``Run status group`` line is given only
where it adds up several results (``scope="group"``). The line ``Jobs: ...[r=168MiB/s]`` is the rate of
the moment and is read only for a run that never ended (``status="partial"``). ``--status-interval`` prints the whole
report again and again: all but the last of a process (known by its pid) are ``interval=True``. ``--unit_base=1``
prints bits (``168Mbit/s (160Mibit/s)``), decimal and binary.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from dtnsim.logs._declared import LinesParser, Match, notes, reads
from dtnsim.logs._numbers import BINARY, DECIMAL, TIMES, as_dict, decimal, number, size_bytes, whole_number
from dtnsim.logs.base import Conditions, Document, Evidence, Record, Status, documents, once
from dtnsim.logs.measurement import Measurement

_PERCENTILES: Final = ("50", "90", "95", "99", "99.9", "99.99")  #: percentiles worth keeping


def _factor_of(unit: str) -> float:
    """``MiB`` 2**20; ``MB`` 1e6, ``Mbit`` 1e6 / 8 (3.x); use `BINARY` for 2.x, whose ``MB`` is 2**20."""
    if unit.endswith("bit"):
        return _factor_of(unit.removesuffix("bit") + "B") / 8
    prefix = unit.rstrip("B")
    return BINARY[prefix[0]] if prefix.endswith("i") else DECIMAL[prefix]


#: options of a job -> conditions
_OPTIONS: Final = {"filename": "target", "directory": "target", "rw": "pattern", "readwrite": "pattern",
                   "ioengine": "engine"}  # fmt: skip
_SYNCS: Final = ("fsync", "end_fsync", "fdatasync", "sync")


def _of_options(options: Mapping[str, Any]) -> Conditions:
    """What the options of a job say of it, be they of a command line or of the JSON."""
    conditions: Conditions = {to: options[key] for key, to in _OPTIONS.items() if isinstance(options.get(key), str)}
    if str(options.get("direct", "0")) == "1":
        conditions["direct"] = True
    sync = next((key for key in _SYNCS if str(options.get(key, "0")) not in ("0", "none")), None)
    return conditions if sync is None else {**conditions, "sync": sync}


def _of_command(args: Sequence[str]) -> Conditions:
    """What a command line says of its only job; nothing of one with several."""
    parts = [arg.lstrip("-").partition("=") for arg in args if arg.startswith("--")]
    single = len(parts) == len(args) and [key for key, _, _ in parts].count("name") <= 1
    return _of_options({key: value if mark else "1" for key, mark, value in parts}) if single else {}


_NUM: Final = r"(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)"  # 1.x groups digits
_UNIT: Final = r"[kKMGTP]?i?(?:B|bit)"
_RATE: Final = rf"(?P<rate>{_NUM})(?P<unit>{_UNIT})/s"
_OTHER: Final = rf"\((?P<other>{_NUM})(?P<otheru>{_UNIT})/s\)"
_MOVED: Final = rf"(?P<io>{_NUM})(?P<iou>[kKMGTP]?i?B?)"
_NEW: Final = (
    rf"^\s+(?P<op>read|write|trim)\s*:\s*IOPS=(?P<iops>{_NUM})(?P<iopsu>[kM]?),\s*BW={_RATE}\s*{_OTHER}\s*"
    rf"\({_MOVED}/<ms:int>msec\)"
)
_OLD: Final = (
    rf"^\s+(?P<op>read|write|trim)\s*:\s*io={_MOVED},\s*bw={_RATE}?,\s*iops=(?P<iops>{_NUM})(?P<iopsu>[kKM]?)\s*,"
    r"\s*runt=\s*(?P<ms>[\d,]+)\s*msec"
)
_GROUP: Final = r"^\s*(?P<op>READ|WRITE|TRIM): "
_PCT: Final = re.compile(r"(?<!\d)(\d++\.\d++)th=\[\s*+(\d++)\]")
_ETA: Final = re.compile(
    rf"^Jobs: \d+ \(f=\d+\).*?\[(?:(?:r=(?P<r>{_NUM})(?P<ru>{_UNIT})/s)?,?(?:w=(?P<w>{_NUM})(?P<wu>{_UNIT})/s)?"
    rf"|(?P<r2>{_NUM})(?P<r2u>[KMG]?B)/(?P<w2>{_NUM})(?P<w2u>[KMG]?B)/.*?/s)\]"
)
_BLOCK: Final = re.compile(r"(?:\(R\) )?([\d.]+)([kKMG]?)i?B?-([\d.]+)([kKMG]?)i?B?")
#: what stands in lines that end the block of a job, though they may be indented
_ENDS: Final = re.compile(r"groupid|Run status|rw=|^\s*(?:READ|WRITE):")
_MANY: Final = 1000


class Fio(LinesParser, evidence=Evidence.FITS):
    """fio's normal text, terse lines, JSON and JSON+ (2.x and 3.x, client/server, several jobs).

    Units of JSON: ``bw`` is KiB/s and ``bw_bytes`` B/s (checked: 3372201 * 1024 = 3453133824, bw_bytes 3453133943); 2.x
    has only ``bw``. ``io_kbytes`` KiB, ``io_bytes`` bytes (2.x before 2.2 wrote KiB under the name ``io_bytes``:
    recognised by bw * runtime). ``runtime`` ms. Latency objects named ``*_ns`` are nanoseconds, without the suffix
    microseconds. In client/server mode the results are in ``client_stats``, where ``All clients`` adds up the others
    and is the one that is read.
    """

    words = "groupid iops IOPS aggrb READ WRITE TRIM fio g Jobs status"
    shape = r"^;(?:fio-)?[^;\s]*;[^;]*+;++.*%=.*%=|^(?:fio-)?;[^;]*;;;;"

    _started: dict[str, Conditions] = once(dict)
    _job: Conditions = once(dict)  # conditions of the job being read
    _operation: str | None = once()
    _percentile_unit: float | None = once()
    _skip = once(bool)
    _counts: dict[tuple[int, str], int] = once(dict)
    _group = once(int)
    _failed: set[int] = once(set)  # groups in which a job failed
    _progress: tuple[str, int] | None = once()
    #: what each process reported last, till its run is over (``--status-interval`` prints whole reports)
    _held: dict[tuple[str, str], list[Record]] = once(dict)
    _reports: list[Record] | None = once()
    stopped = once(bool)  # by a signal (^C)
    _seen: dict[tuple[str, str, int], str] = once(dict)  # the form that gave a result

    def feed(self, text: str) -> Iterable[Record]:
        if self.open and "th=[" not in text and (not text[:1].isspace() or _ENDS.search(text)):
            self.open = False
        reports, records = self._reports, super().feed(text)
        if not self.open or reports is None or self._reports is not reports:
            return records
        reports.extend(records)  # of a job's block
        return ()

    @reads(_NEW, inside=True)
    @reads(_OLD, inside=True)
    def _result(self, match: Match) -> Iterator[Record]:
        self._operation, self._percentile_unit = match["op"], None
        job, milliseconds = self._job, int(match["ms"].replace(",", ""))
        key, seconds = (self._group, match["op"]), milliseconds / 1e3
        self._counts[key] = self._counts.get(key, 0) + 1
        self._skip = self._is_repeated(str(job.get("job")), match["op"], milliseconds, "text")
        if self._skip or match["rate"] is None:
            return
        iops, moved = float(match["iops"].replace(",", "")) * DECIMAL[match["iopsu"]], _amount(match, "io", "iou")
        conditions: Conditions = {**job, "operation": match["op"], "duration_s": seconds}
        value, printed = _amount(match, "rate", "unit"), f"{match['rate']}{match['unit']}/s"
        prefix, block = match["unit"].rstrip("Bi"), job.get("block_B")
        if "other" not in match.groupdict() and isinstance(block, float) and iops > 1000 and prefix:
            thousands = float(match["rate"].replace(",", "")) * DECIMAL[prefix]
            value = thousands if abs(iops * block - thousands) < 0.003 * thousands else value  # kb_base=1000
        if value <= 0:
            return
        yield self.measure("throughput", value, printed, bytes=moved, **conditions)
        yield self.measure("iops", iops, f"{match['iops']}{match['iopsu']} IOPS", **conditions)
        if seconds >= 1 and abs(moved / seconds - value) > 0.05 * value:
            yield self.unread(match[0], f"prints {printed}, but bytes / seconds give {moved / seconds:.4g} B/s")
        else:
            yield self.measure("duration", seconds, f"{match['ms']} msec", job, operation=match["op"], bytes=moved)

    @reads(r"^\s+(clat|lat|slat|sync) percentiles \((?P<unit>[num]?sec)\)", inside=True)
    def _percentile_head(self, head: Match) -> None:
        self._percentile_unit = TIMES[head["unit"]] if head[1] != "sync" else None

    @reads(r"th=\[", inside=True)
    def _percentiles(self, match: Match) -> Iterator[Record]:
        for percentile, value in _PCT.findall(match.string) if self._percentile_unit and not self._skip else ():
            short = percentile.rstrip("0").rstrip(".")
            if short in _PERCENTILES:
                yield self._timed(int(value) * (self._percentile_unit or 0), value, "clat", f"p{short}")

    @reads(
        r"^\s+(?P<kind>slat|clat|lat) \((?P<unit>[num]?sec)\)\s*:\s*min=\s*<min:dots>(?P<minu>[kMG]?),"
        r"\s*max=\s*<max:dots>(?P<maxu>[kMG]?),\s*avg=\s*<avg:dots>(?P<avgu>[kMG]?),",
        inside=True,
    )
    def _latency(self, match: Match) -> Iterator[Record]:
        for name, statistic in (("avg", "mean"), ("max", "max")) if not self._skip else ():
            value = float(match[name]) * DECIMAL[match[name + "u"]] * TIMES[match["unit"]]
            yield self._timed(value, f"{match[name]}{match[name + 'u']} {match['unit']}", match["kind"], statistic)

    def _timed(self, value: float, printed: str, kind: str, statistic: str) -> Record:
        conditions = {**self._job, "operation": self._operation, "of": kind, "statistic": statistic}
        return self.measure("latency", value, printed, conditions)

    @reads(r"^\s+cpu\s*:\s*usr=<user:dots>%,\s*sys=<system:dots>%", inside=True)
    def _cpu(self, match: Match) -> Iterator[Record]:
        for state, share in match.groupdict().items() if not self._skip else ():
            yield self.measure("cpu_share", float(share) / 100, f"{share}%", state=state, **self._job)

    @reads(
        r"^\s*(?:<\S+> )?(?P<job>\S.*?): \(groupid=<group:int>, jobs=<jobs:int>\): "
        r"err=\s*<err:int>(?P<text>.*?)(?:: pid=<pid:int>|:\s*$|$)",
        opens=True,
    )
    def _begin(self, job: Match) -> list[Record]:
        name, command = job["job"], _of_command(self.ctx.args("fio") or ())
        self._job = {**command, **self._started.get(name, {}), "job": name, "jobs": int(job["jobs"])}
        self._group, self._operation, self._skip, self._progress = int(job["group"]), None, False, None
        self._reports, key = None, (name, job["pid"])
        ended: list[Record] = []
        if job["pid"] is not None:  # what the process reported before was a snapshot of the same run
            ended += self._release() if len(self._held) > _MANY else ()
            ended += map(_snapshot, self._held.pop(key, ()))
            self._reports = self._held[key] = []
        if job["err"] != "0":
            self.open, self._reports = False, None
            self._failed.add(self._group)
            ended.append(self.failure(f"err={job['err']}{job['text']}", **self._job))
        return ended

    def _release(self) -> list[Record]:
        """The last reports of all processes: their runs are over."""
        by_process, self._held, self._reports = self._held, {}, None
        return [record for records in by_process.values() for record in records]

    @reads(r"^(?P<version>[2-5]);")
    def _terse(self, match: Match) -> Iterator[Record]:
        """Terse version 2 has no fio version field; 5 has six more fields a direction."""
        fields, old = match.string.strip().split(";"), match["version"] == "2"
        first, step = 4 if old else 5, 47 if match["version"] == "5" else 41
        if len(fields) < (2 if old else 5) + 2 * step:
            self.need(len(fields) <= 10, match.string, "the terse line is cut")
            return
        name = fields[1 if old else 2]
        self.version = self.version if old else fields[1].removeprefix("fio-")
        if fields[first - 1] != "0":
            yield self.failure(f"terse line with error {fields[first - 1]}", job=name)
            return
        for column, operation in ((first, "read"), (first + step, "write")):
            moved, rate, iops, milliseconds = map(float, fields[column : column + 4])
            if moved > 0 and rate > 0 and not self._is_repeated(name, operation, int(milliseconds), "terse"):
                conditions = {**self._started.get(name, {}), "job": name, "operation": operation}
                conditions["duration_s"] = milliseconds / 1e3
                yield self.printed("throughput", fields[column + 1], "KiB/s", conditions)
                yield self.measure("iops", iops, fields[column + 2] + " IOPS", conditions)

    @reads(r"Run status group (?P<group>[^(]*)")
    def _group_head(self, match: Match) -> None:
        self._group = int(re.sub(r"\D", "", match["group"]) or 0)

    @reads(rf"{_GROUP}bw={_RATE} {_OTHER},.*io={_MOVED} .*run=\d+-<ms:int>msec")
    @reads(rf"{_GROUP}io={_MOVED},\s*aggrb={_RATE},.*maxt=\s*(?P<ms>[\d,]+)\s*msec")
    def _group_line(self, match: Match) -> Iterable[Record]:
        operation, milliseconds = match["op"].lower(), int(match["ms"].replace(",", ""))
        count, failed = self._counts.pop((self._group, operation), 0), self._group in self._failed
        value = _amount(match, "rate", "unit")
        known_already = (count == 1 and not failed) or (failed and not count)  # by the job's own line, or it failed
        if known_already or value <= 0 or self._is_repeated("group", operation, milliseconds, "text"):
            return ()
        conditions: Conditions = {"operation": operation, "duration_s": milliseconds / 1e3}
        conditions |= {"scope": "group", "jobs": count} if count > 1 else {}
        status: Status = "partial" if failed else "complete"
        record = self.measure("throughput", value, f"{match['rate']}{match['unit']}/s", conditions, status=status)
        if not self._held:
            return (record,)
        key = ("group", f"{self._group} {operation}")
        snapshot, self._held[key] = self._held.get(key, []), [record]
        return [_snapshot(r) for r in snapshot if isinstance(r, Measurement)]

    @reads(r"^Jobs: ")
    def _of_the_moment(self, match: Match) -> None:
        self._progress = (match.string, self.ctx.line)

    _signal = notes(r"fio: terminating on signal \d+", stopped=True)

    @reads(
        r"^\s*(?:<\S+> )?(?P<job>\S.*?): \(g=<group:int>\): rw=(?P<rw>\w+), bs=(?P<bs>.*?), "
        r"ioengine=(?P<engine>\w+), iodepth=<depth:int>"
    )
    def _start(self, start: Match) -> list[Record]:
        """What fio prints before it starts: a run before it is over."""
        self.stopped = False
        conditions: Conditions = {"pattern": start["rw"], "engine": start["engine"], "depth": int(start["depth"])}
        block, rounded = _BLOCK.match(start["bs"]), re.search(r"\d(?:k|M|G)B\b", start["bs"])  # kb_base=1000: 131kB
        if block is not None and block.group(1, 2) == block.group(3, 4) and not rounded:
            conditions["block_B"] = size_bytes(block[1] + block[2])
        self._started[start["job"]] = conditions
        if len(self._started) > _MANY:
            self._started.clear()
        return self._release()

    @reads(r"(?:^\s*fio-(?P<first>\d\S*)|fio=fio-(?P<version>\d\S*?),)")
    def _program(self, match: Match) -> list[Record]:
        self.version, self.stopped = match["first"] or match["version"], False
        self._counts.clear()
        self._failed.clear()
        return self._release()

    @reads(r"(?i)^fio: (?!pid=|io_u error)(?P<what>.*(?:error|failed|not found|cannot|unable).*)")
    def _error(self, match: Match) -> Record:
        return self.failure(match["what"])

    def settle(self) -> Iterator[Record]:
        """A progress line that no result followed."""
        yield from self._release()
        progress, self._progress, self.open, self.stopped = self._progress, None, False, False
        if progress is None or (match := _ETA.match(progress[0])) is None:
            return
        for operation, group in (("read", "r"), ("write", "w")):
            value, unit = match[group] or match[group + "2"], match[group + "u"] or match[group + "2u"]
            if value and float(value) > 0:
                factor = _factor_of(unit) if unit.endswith(("iB", "bit")) else BINARY[unit.rstrip("B")]
                conditions: Conditions = {"operation": operation, "interval": True}
                rate, printed = decimal(value) * factor, f"{value}{unit}/s"
                yield self.measure("throughput", rate, printed, conditions, status="partial", line=progress[1])

    def _is_repeated(self, job: str, operation: str, milliseconds: int, form: str) -> bool:
        """Whether another form (text, terse or json) gave this result already; notes it otherwise."""
        forms = self._seen.setdefault((job, operation, milliseconds), form)
        if len(self._seen) > 10_000:
            self._seen.clear()
        return form != forms

    @documents("fio version", long=("jobs",))
    def _json(self, doc: Document) -> Iterator[Record]:
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
            self.ctx.line = lines(f'"{job.get("jobname")}"')
            yield from self._json_job(job, as_dict(shared))

    def _json_job(self, job: dict[str, Any], shared: dict[str, Any]) -> Iterator[Record]:
        options = {**shared, **(job.get("job options") or {})}
        conditions = {**_of_options(options), "job": str(job.get("jobname"))}
        conditions["block_B"] = size_bytes(str(options.get("bs", options.get("blocksize", ""))))
        conditions |= {"depth": whole_number(options.get("iodepth")), "jobs": whole_number(options.get("numjobs"))}
        if number(job.get("error")):
            yield self.failure(f"job error {job.get('error')}", **conditions)
            return
        operations = "read", "write", "trim", "mixed"
        records = [r for each in operations for r in self._direction(as_dict(job.get(each)), each, conditions)]
        yield from records
        for key, state in (("usr_cpu", "user"), ("sys_cpu", "system")):
            if records and (share := number(job.get(key))) is not None:
                yield self.measure("cpu_share", share / 100, f"{share} %", state=state, **conditions)

    def _direction(self, result: dict[str, Any], operation: str, shared: Conditions) -> Iterator[Record]:
        moved, kib = number(result.get("io_bytes")), number(result.get("bw"))
        exact, milliseconds = number(result.get("bw_bytes")), number(result.get("runtime"))
        rate = exact if exact is not None else None if kib is None else kib * BINARY["K"]
        if not moved or not rate or not milliseconds:
            return
        if self._is_repeated(str(shared["job"]), operation, int(milliseconds), "json"):
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
            figures |= {f"p{p}": percentiles.get(f"{float(p):.6f}") for p in _PERCENTILES}
            for statistic, figure in figures.items():
                if value := number(figure):
                    more = {**conditions, "of": kind, "statistic": statistic}
                    yield self.measure("latency", value * TIMES[word], f"{figure} {word}", more)


def _amount(match: Match, number: str, unit: str) -> float:
    """A figure of bytes: 3.x prints ``MB`` beside ``MiB``, 2.x ``MB`` for it."""
    factor = _factor_of(match[unit]) if "other" in match.groupdict() else BINARY[match[unit].rstrip("Bi")]
    return float(match[number].replace(",", "")) * factor


def _snapshot(record: Record) -> Record:
    """A figure of a run that went on."""
    more = {"interval": True}
    return record._replace(conditions={**record.conditions, **more}) if isinstance(record, Measurement) else record
