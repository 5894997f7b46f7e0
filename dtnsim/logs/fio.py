"""fio 2.x and 3.x: normal text (also client/server), terse, JSON and JSON+; see `dtnsim.logs.fio_json`.

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

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._numbers import BINARY, DECIMAL, TIMES, decimal, regex, size_bytes
from dtnsim.logs.base import Command, Conditions, LineParser, Record, Status, once
from dtnsim.logs.fio_json import PERCENTILES, FioJson, Runs, factor_of, figure_of, of_command
from dtnsim.logs.measurement import Measurement

_NUM: Final = r"(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)"  # 1.x groups digits
_UNIT: Final = r"[kKMGTP]?i?(?:B|bit)"
_RATE: Final = rf"(?P<rate>{_NUM})(?P<unit>{_UNIT})/s"
_OTHER: Final = rf"\((?P<other>{_NUM})(?P<otheru>{_UNIT})/s\)"
_MOVED: Final = rf"(?P<io>{_NUM})(?P<iou>[kKMGTP]?i?B?)"
_START: Final = regex(
    r"^\s*(?:<\S+> )?(?P<job>\S.*?): \(g=<group:int>\): rw=(?P<rw>\w+), bs=(?P<bs>.*?), "
    r"ioengine=(?P<engine>\w+), iodepth=<depth:int>"
)
_JOB: Final = regex(
    r"^\s*(?:<\S+> )?(?P<job>\S.*?): \(groupid=<group:int>, jobs=<jobs:int>\): "
    r"err=\s*<err:int>(?P<text>.*?)(?:: pid=<pid:int>|:\s*$|$)"
)
_OLD: Final = re.compile(
    rf"^\s+(?P<op>read|write|trim)\s*:\s*io={_MOVED},\s*bw={_RATE}?,\s*iops=(?P<iops>{_NUM})(?P<iopsu>[kKM]?)\s*,"
    r"\s*runt=\s*(?P<ms>[\d,]+)\s*msec"
)
_NEW: Final = regex(
    rf"^\s+(?P<op>read|write|trim)\s*:\s*IOPS=(?P<iops>{_NUM})(?P<iopsu>[kM]?),\s*BW={_RATE}\s*{_OTHER}\s*"
    rf"\({_MOVED}/<ms:int>msec\)"
)
_GROUP_OLD: Final = re.compile(
    rf"^\s*(?P<op>READ|WRITE|TRIM): io={_MOVED},\s*aggrb={_RATE},.*maxt=\s*(?P<ms>[\d,]+)\s*msec"
)
_GROUP_NEW: Final = regex(rf"^\s*(?P<op>READ|WRITE|TRIM): bw={_RATE} {_OTHER},.*io={_MOVED} .*run=\d+-<ms:int>msec")
_LAT: Final = regex(
    r"^\s+(?P<kind>slat|clat|lat) \((?P<unit>[num]?sec)\)\s*:\s*min=\s*<min:dots>(?P<minu>[kMG]?),"
    r"\s*max=\s*<max:dots>(?P<maxu>[kMG]?),\s*avg=\s*<avg:dots>(?P<avgu>[kMG]?),"
)
_PCT_HEAD: Final = re.compile(r"^\s+(clat|lat|slat|sync) percentiles \((?P<unit>[num]?sec)\)")
_PCT: Final = re.compile(r"(?<!\d)(\d++\.\d++)th=\[\s*+(\d++)\]")
_CPU: Final = regex(r"^\s+cpu\s*:\s*usr=<usr:dots>%,\s*sys=<sys:dots>%")
_VERSION: Final = re.compile(r"^\s*fio-(\d\S*)|fio=fio-(\d\S*?),")
_ETA: Final = re.compile(
    rf"^Jobs: \d+ \(f=\d+\).*?\[(?:(?:r=(?P<r>{_NUM})(?P<ru>{_UNIT})/s)?,?(?:w=(?P<w>{_NUM})(?P<wu>{_UNIT})/s)?"
    rf"|(?P<r2>{_NUM})(?P<r2u>[KMG]?B)/(?P<w2>{_NUM})(?P<w2u>[KMG]?B)/.*?/s)\]"
)
_ERROR: Final = re.compile(
    r"^fio: (?!pid=|io_u error)(?P<what>.*(?:error|failed|not found|cannot|unable).*)", re.IGNORECASE
)
_STOPPED: Final = re.compile(r"fio: terminating on signal \d+")
_BLOCK: Final = re.compile(r"(?:\(R\) )?([\d.]+)([kKMG]?)i?B?-([\d.]+)([kKMG]?)i?B?")


class Fio(Runs, LineParser, of=FioJson):
    """Normal text and terse lines."""

    words = "groupid iops IOPS aggrb READ WRITE TRIM fio g Jobs status"
    shape = r"^;(?:fio-)?[^;\s]*;[^;]*+;++.*%=.*%=|^(?:fio-)?;[^;]*;;;;"

    _started: dict[str, Conditions] = once(dict)
    _job: Conditions | None = once()  # conditions of the job being read
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

    def feed(self, text: str) -> Iterable[Record]:
        if self._job is not None:
            inside = self._inside(text)
            if inside is not None:
                if self._reports is None:
                    return inside
                self._reports.extend(inside)
                return ()
        if (job := _JOB.match(text)) is not None:
            return self._begin(job)
        if text[:2] in ("3;", "4;", "5;", "2;"):
            return self._terse(text.strip().split(";"))
        if "Run status group" in text:
            self._group = int(re.sub(r"\D", "", text.partition("group")[2].partition("(")[0]) or 0)
            self._job, self.open = None, False
        elif (group := _GROUP_NEW.match(text) or _GROUP_OLD.match(text)) is not None:
            return self._group_line(group)
        elif text.startswith("Jobs: "):
            self._progress = (text, self.ctx.line)
        else:
            return self._preamble(text)
        return ()

    def _preamble(self, text: str) -> Iterable[Record]:
        """What fio prints before it starts, and its complaints: a run before it is over."""
        if _STOPPED.search(text):
            self.stopped = True
            return ()
        if (start := _START.match(text)) is not None:
            self.stopped = False
            self._started[start["job"]] = _conditions(start)
            if len(self._started) > 1000:
                self._started.clear()
            return self._release()
        if (version := _VERSION.search(text)) is not None:
            self.version = version[1] or version[2]
            self.stopped = False
            self._counts.clear()
            self._failed.clear()
            return self._release()
        if (error := _ERROR.match(text)) is not None:
            return (self.failure(error["what"]),)
        return ()

    def _begin(self, job: re.Match[str]) -> Iterable[Record]:
        name = job["job"]
        command = of_command(tuple(self.ctx.args("fio") or ()))
        self._job = {**command, **self._started.get(name, {}), "job": name, "jobs": int(job["jobs"])}
        self._group, self._operation, self._skip, self._progress = int(job["group"]), None, False, None
        self.open = True
        earlier = list(self._hold(job))
        if job["err"] != "0":
            failed, self._job, self.open = self._job, None, False
            self._failed.add(self._group)
            self._reports = None
            return (*earlier, self.failure(f"err={job['err']}{job['text']}", **failed))
        return earlier

    def _hold(self, job: re.Match[str]) -> Iterator[Record]:
        """Opens the report of a process; what it reported before was a snapshot of the same run."""
        self._reports, key = None, (job["job"], job["pid"])
        if job["pid"] is not None:
            if len(self._held) > 1000:
                yield from self._release()
            yield from map(_snapshot, self._held.pop(key, ()))
            self._reports = self._held[key] = []

    def _release(self) -> list[Record]:
        """The last reports of all processes: their runs are over."""
        held, self._held, self._reports = self._held, {}, None
        return [record for records in held.values() for record in records]

    def _inside(self, text: str) -> Iterable[Record] | None:
        """Records of a line of the job's block; None if the line is not of the block."""
        if (result := _NEW.match(text) or _OLD.match(text)) is not None:
            return self._result(result)
        if (head := _PCT_HEAD.match(text)) is not None:
            self._percentile_unit = TIMES[head["unit"]] if head[1] != "sync" else None
            return ()
        if "th=[" in text:
            return self._percentiles(text) if self._percentile_unit and not self._skip else ()
        if (latency := _LAT.match(text)) is not None:
            return () if self._skip else self._latency(latency)
        if (cpu := _CPU.match(text)) is not None:
            return () if self._skip else self._cpu(cpu)
        others = "groupid" in text or "Run status" in text or "rw=" in text
        if text[:1].isspace() and not (others or text.lstrip().startswith(("READ:", "WRITE:"))):
            return ()
        self._job, self.open = None, False
        return None

    def _result(self, match: re.Match[str]) -> Iterator[Record]:
        self._operation, self._percentile_unit = match["op"], None
        job, milliseconds = self._job or {}, int(match["ms"].replace(",", ""))
        key, seconds = (self._group, match["op"]), milliseconds / 1e3
        self._counts[key] = self._counts.get(key, 0) + 1
        self._skip = self.again(str(job.get("job")), match["op"], milliseconds, "text")
        if self._skip or match["rate"] is None:
            return
        known: Conditions = {**job, "operation": match["op"], "duration_s": seconds}
        iops, moved = figure_of(match["iops"]) * DECIMAL[match["iopsu"]], figure_of(match["io"])
        moved *= factor_of(match["iou"]) if "other" in match.groupdict() else BINARY[match["iou"].rstrip("Bi")]
        value, printed = self._rate_of(match, iops, known), f"{match['rate']}{match['unit']}/s"
        if value <= 0:
            return
        yield self.measure("throughput", value, printed, bytes=moved, **known)
        yield self.measure("iops", iops, f"{match['iops']}{match['iopsu']} IOPS", **known)
        if seconds >= 1 and abs(moved / seconds - value) > 0.05 * value:
            yield self.unread(match[0], f"prints {printed}, but bytes / seconds give {moved / seconds:.4g} B/s")
        else:
            yield self.measure("duration", seconds, f"{match['ms']} msec", job, operation=match["op"], bytes=moved)

    def _rate_of(self, match: re.Match[str], iops: float, conditions: Conditions) -> float:
        if "other" in match.groupdict():
            return figure_of(match["rate"]) * factor_of(match["unit"])
        prefix = match["unit"].rstrip("Bi")
        value, block = figure_of(match["rate"]), conditions.get("block_B")
        if isinstance(block, float) and iops > 1000 and prefix:
            decimal_value = value * DECIMAL[prefix]
            if abs(iops * block - decimal_value) < 0.003 * decimal_value:
                return decimal_value  # kb_base=1000
        return value * BINARY[prefix]

    def _latency(self, match: re.Match[str]) -> Iterator[Record]:
        unit = TIMES[match["unit"]]
        for name, statistic in (("avg", "mean"), ("max", "max")):
            value = float(match[name]) * DECIMAL[match[name + "u"]] * unit
            yield self._timed(value, f"{match[name]}{match[name + 'u']} {match['unit']}", match["kind"], statistic)

    def _percentiles(self, text: str) -> Iterator[Record]:
        for percentile, value in _PCT.findall(text):
            short = percentile.rstrip("0").rstrip(".")
            if short in PERCENTILES:
                yield self._timed(int(value) * (self._percentile_unit or 0), value, "clat", f"p{short}")

    def _timed(self, value: float, printed: str, kind: str, statistic: str) -> Record:
        conditions = {**(self._job or {}), "operation": self._operation, "of": kind, "statistic": statistic}
        return self.measure("latency", value, printed, **conditions)

    def _cpu(self, match: re.Match[str]) -> Iterator[Record]:
        for name, state in (("usr", "user"), ("sys", "system")):
            value = float(match[name]) / 100
            yield self.measure("cpu_share", value, match[name] + "%", state=state, **(self._job or {}))

    def _group_line(self, match: re.Match[str]) -> Iterable[Record]:
        operation, milliseconds = match["op"].lower(), int(match["ms"].replace(",", ""))
        count, failed = self._counts.pop((self._group, operation), 0), self._group in self._failed
        factor = factor_of(match["unit"]) if "other" in match.groupdict() else BINARY[match["unit"].rstrip("Bi")]
        value = figure_of(match["rate"]) * factor
        if (count == 1 and not failed) or value <= 0 or (failed and not count):
            return ()  # the job's own line has given it, or it failed
        if self.again("group", operation, milliseconds, "text"):
            return ()
        conditions: Conditions = {"operation": operation, "duration_s": milliseconds / 1e3}
        if count > 1:
            conditions |= {"scope": "group", "jobs": count}
        status: Status = "partial" if failed else "complete"
        record = self.measure("throughput", value, f"{match['rate']}{match['unit']}/s", status=status, **conditions)
        if not self._held:
            return (record,)
        key = ("group", f"{self._group} {operation}")
        snapshot, self._held[key] = self._held.get(key, []), [record]
        return [_snapshot(r) for r in snapshot if isinstance(r, Measurement)]

    def _terse(self, fields: list[str]) -> Iterator[Record]:
        """Terse version 2 has no fio version field; 5 has six more fields a direction."""
        version = fields[0]
        first = 2 if version == "2" else 5
        step = 47 if version == "5" else 41
        if len(fields) < first + 2 * step:
            if len(fields) > 10:
                yield self.unread(";".join(fields), "the terse line is cut")
            return
        name = fields[1] if version == "2" else fields[2]
        first += 2 if version == "2" else 0
        if version != "2":
            self.version = fields[1].removeprefix("fio-")
        if fields[first - 1] != "0":
            yield self.failure(f"terse line with error {fields[first - 1]}", job=name)
            return
        for at, operation in ((first, "read"), (first + step, "write")):
            yield from self._terse_direction(fields[at : at + step], name, operation)

    def _terse_direction(self, fields: list[str], name: str, operation: str) -> Iterator[Record]:
        moved, rate, iops, milliseconds = map(float, fields[:4])
        if moved <= 0 or rate <= 0 or self.again(name, operation, int(milliseconds), "terse"):
            return
        conditions: Conditions = {**self._started.get(name, {}), "job": name, "operation": operation}
        conditions["duration_s"] = milliseconds / 1e3
        yield self.measure("throughput", rate * 1024, fields[1] + " KiB/s", **conditions)
        yield self.measure("iops", iops, fields[2] + " IOPS", **conditions)

    def on_command(self, command: Command) -> Iterable[Record]:  # noqa: ARG002 (the base's signature)
        yield from self.close()
        self.stopped = False

    def close(self) -> Iterator[Record]:
        """A progress line that no result followed."""
        yield from self._release()
        progress, self._progress = self._progress, None
        self._job, self.open = None, False
        if progress is None or (match := _ETA.match(progress[0])) is None:
            return
        for operation, at in (("read", "r"), ("write", "w")):
            value, unit = match[at] or match[at + "2"], match[at + "u"] or match[at + "2u"]
            if value and float(value) > 0:
                factor = factor_of(unit) if unit.endswith(("iB", "bit")) else BINARY[unit.rstrip("B")]
                known: Conditions = {"operation": operation, "interval": True}
                rate, printed = decimal(value) * factor, f"{value}{unit}/s"
                yield self.measure("throughput", rate, printed, known, status="partial", line=progress[1])


def _snapshot(record: Record) -> Record:
    """A figure of a run that went on."""
    known = {"interval": True}
    return record._replace(conditions={**record.conditions, **known}) if isinstance(record, Measurement) else record


def _conditions(start: re.Match[str]) -> Conditions:
    found: Conditions = {"pattern": start["rw"], "engine": start["engine"], "depth": int(start["depth"])}
    block, rounded = _BLOCK.match(start["bs"]), re.search(r"\d(?:k|M|G)B\b", start["bs"])  # kb_base=1000: 131kB
    if block is not None and block.group(1, 2) == block.group(3, 4) and not rounded:
        found["block_B"] = size_bytes(block[1] + block[2])
    return found
