"""Globus and GridFTP: transfer tasks, the server's transfer log, globus-url-copy."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from dtnsim.logs._commands import meanings
from dtnsim.logs._declared import Found, LinesParser, Match, notes, reads
from dtnsim.logs._documents import seconds as seconds_of
from dtnsim.logs._numbers import amount, as_dict, number, text_in, whole_number
from dtnsim.logs.base import NO_BYTES, Conditions, Document, Evidence, Record, Status, anew, documents, noted
from dtnsim.logs.measurement import Measurement

_SWITCHES: Final = {"verify_checksum": "checksum", "encrypt_data": "encryption"}


def _is_task(doc: Document) -> bool:
    data = as_dict(doc.data)
    if data.get("DATA_TYPE") == "task_list":
        return isinstance(data.get("DATA"), list)
    return data.get("DATA_TYPE") == "task" or {"task_id", "bytes_transferred", "status"} <= data.keys()


class Globus(LinesParser, evidence=Evidence.TRANSFER):
    """Globus transfer tasks: ``globus task show`` and ``list`` as text, and task documents of the Transfer API.

    Units: bytes and B/s. ``Bytes Per Second`` (``effective_bytes_per_second``) is bytes transferred over the wall clock
    from request to completion: it includes queueing, listing, checksums after the transfer and retries (Globus Transfer
    API, task document), so it is a lower bound of what the path carried. Venadi's 45.56 MB/s stood beside about 110
    MB/s without the integrity check. Checked: 819556855 bytes in 302 s printed as 2714391.

    A task that is ACTIVE or INACTIVE gives a ``partial`` figure, FAILED a failure. A SUCCEEDED task of zero bytes
    (everything was there, or only directories) is normal and has no rate.
    """

    words = (
        "Task Transferred Bytes Status Faults Request Completion Source Destination Files Directories Type "
        "Subtasks Label Is FAILED SUCCEEDED ACTIVE INACTIVE"
    )

    _task: dict[str, str] = anew(dict)
    _lines: dict[str, int] = anew(dict)
    _host: Conditions = anew(dict)

    @reads(r"^\s*+Task ID  .*\| Status")
    def _list(self, match: Match) -> Record:  # noqa: ARG002 (what reads hands over)
        return self.unread("globus task list", "a list has no bytes and no times: globus task list -F json has them")

    @reads(r"^\s*+(?P<task>[0-9a-f]{8}-[0-9a-f-]{27}) \| FAILED {1,12}\| (?P<rest>\S.{0,500})")
    def _row(self, row: Match) -> Record:
        names, cells = ("operation", "source", "target", "label"), map(str.strip, row["rest"].split(" | "))
        conditions: Conditions = {**self.where, "task": row["task"], **dict(zip(names, cells, strict=False))}
        return self.failure("task FAILED", **conditions)

    @reads(r"^\s*(?P<key>[A-Z][A-Za-z ]{1,40}?):\s++(?P<value>\S++(?:\s++\S++)*)\s*+$")
    def _pair(self, match: Match) -> Iterator[Record]:
        if (key := meanings("globus").get(match["key"])) is None:
            return
        if key in self._task or (key in ("task_id", "label") and "status" in self._task):
            yield from self.settle()
        value = "" if match["value"] == "None" else match["value"]
        self._task[key], self._lines[key], self._host = value, self.ctx.line, self.where

    def settle(self) -> Iterator[Record]:
        (task, self._task), (lines, self._lines) = (self._task, {}), (self._lines, {})
        if "bytes_transferred" in task or ("task_id" in task and "status" in task):
            yield from self._records(task, lines.get("effective_bytes_per_second") or max(lines.values()), self._host)

    @documents(fits=_is_task)
    def _json(self, doc: Document) -> Iterator[Record]:
        """Task documents and task lists of the Transfer API."""
        tasks, lines = doc.data["DATA"] if doc.data.get("DATA_TYPE") == "task_list" else [doc.data], doc.lines()
        for task in tasks:
            if isinstance(task, dict):
                yield from self._records(task, lines('"effective_bytes_per_second"'), {}, cut=doc.cut)

    @noted
    def _records(self, task: Mapping[str, Any], line: int, more: Conditions, *, cut: bool = False) -> Iterator[Record]:
        status = str(task.get("status", "")).upper()
        size, rate = (_figure(task, key) for key in ("bytes_transferred", "effective_bytes_per_second"))
        times = (seconds_of(str(task.get(key)).replace(" UTC", "")) for key in ("request_time", "completion_time"))
        began, ended = (time or 0.0 for time in times)
        seconds = round(ended - began, 6) if ended > began > 0 else None
        conditions: Conditions = {
            **more, "operation": str(task.get("type", "TRANSFER")).lower(),
            "source": text_in(task, "source_endpoint_display_name") or text_in(task, "source_endpoint"),
            "target": text_in(task, "destination_endpoint_display_name") or text_in(task, "destination_endpoint"),
            **{key: whole_number(_figure(task, key)) for key in ("files", "directories", "faults", "files_skipped")},
            **{to: task[key] for key, to in _SWITCHES.items() if isinstance(task.get(key), bool)},
            "task": text_in(task, "task_id"), "bytes": size, "includes": "queueing, listing and checksums",
            "duration_s": seconds,
        }  # fmt: skip
        if status == "FAILED":
            text = f"task {status}: {text_in(task, 'nice_status_details') or ''}".rstrip(": ")
            yield self.failure(text, line=line, **conditions)
            return
        why = "an ACTIVE task has no rate yet" if status in ("ACTIVE", "INACTIVE") else "zero bytes: no rate"
        size, rate = (self.need(figure, f"task {status}", why, line=line) for figure in (size, rate))
        final: Status = "complete" if status == "SUCCEEDED" else "partial"
        if not status:
            final = "truncated" if cut else "complete"
        if seconds and seconds >= 10 and final == "complete" and abs(size / seconds / rate - 1) > 0.05 + 1 / seconds:
            yield self.unread(f"{rate:g} B/s", "bytes and wall clock do not give the printed rate", line=line)
        yield self.measure("throughput", rate, f"{rate:.10g} B/s", status=final, line=line, **conditions)
        if seconds:
            yield self.measure("duration", seconds, f"{seconds:g} s", status=final, line=line, **conditions)


def _figure(task: Mapping[str, Any], key: str) -> float | None:
    value = task.get(key)
    return number(value.replace(",", "")) if isinstance(value, str) else number(value)


_GRIDFTP_LINE: Final = (
    r"DATE=(?P<end>\d{14})\.(?P<end_us>\d{1,6}) HOST=<host:word> PROG=<prog:word> (?:NL\.EVNT=\S++ )?"
    r"START=(?P<start>\d{14})\.(?P<start_us>\d{1,6}) (?:USER=\S*+ FILE=(?P<file>.*?) )??"
    r"BUFFER=<buffer:int> BLOCK=<block:int> NBYTES=<bytes:int> (?:VOLUME=\S*+ )?STREAMS=<streams:int> "
    r"(?:STRIPES=<stripes:int> )?DEST=\d?\[(?P<dest>[^\]]*+)\] TYPE=(?P<type>\w++) CODE=<code:int>"
    r"(?: TASKID=<task:word>)?(?: retrans=(?P<retrans>[\d,]++))?"
)
_DIRECTIONS: Final = {"RETR": "send", "ERET": "send", "STOR": "receive", "ESTO": "receive"}
_UNKNOWN: Final = ("0.0.0.0", "")  # noqa: S104 (what the log has for several)


class GridFtp(LinesParser, evidence=Evidence.TRANSFER):
    """Transfer log of the GridFTP server (``log_transfer``), a line a file in NetLogger form; also wuftpd's and FDT's.

    Units: ``NBYTES`` in B, ``BUFFER`` (TCP, 0: the system's) and ``BLOCK`` in B. ``DATE`` is the end and ``START``
    the start, in UTC to the microsecond; versions before 6 print the microseconds without leading zeros, so the
    digits after the dot are a count of microseconds (``globus_gridftp_server`` ``globus_i_gfs_log.c``: ``%d`` of
    ``tv_usec``, later ``%06d``). The rate is computed from them: the time of one file's data, without listing,
    checksums and what the client did between files. ``RETR`` leaves the server (``direction="send"``), ``STOR`` comes
    in. Listings are left out. ``CODE=226`` is success; other codes are failures. ``DEST`` is the other end (0.0.0.0
    where several stripes took part).
    """

    commands = ()
    words = "NBYTES"

    def other(self, text: str) -> Found:
        cut = "DATE=" in text and "START=" in text
        return self.unread(text, "the line is cut or of an unknown form") if cut else None

    @reads(_GRIDFTP_LINE)
    def _file(self, match: Match) -> Iterator[Record]:
        if match["type"].upper() not in _DIRECTIONS:
            return
        size = int(match["bytes"])
        conditions: Conditions = {
            "host": match["host"], "direction": _DIRECTIONS[match["type"].upper()], "file": match["file"],
            "streams": int(match["streams"]), "stripes": whole_number(match["stripes"]),
            "block_B": int(match["block"]) or None, "window_B": int(match["buffer"]) or None,
            "peer": match["dest"] if match["dest"] not in _UNKNOWN else None,
            "task": match["task"] if match["task"] != "none" else None, "end": match["end"],
        }  # fmt: skip
        if match["code"][0] != "2":
            yield self.failure(f"{match['type']} CODE={match['code']}", **{**conditions, "bytes": size})
            return
        ended, began = (seconds_of(f"{match[key][:8]}T{match[key][8:]}") for key in ("end", "start"))
        why = "DATE and START are times of which one is no date"
        seconds = self.need(ended, match["end"], why) - self.need(began, match["start"], why)
        seconds += (int(match["end_us"]) - int(match["start_us"])) * 1e-6
        why = "no time passed: the clock was set back" if size else NO_BYTES
        self.need(size and seconds > 0, f"NBYTES={size}", why)
        conditions |= {"bytes": size, "duration_s": seconds}
        printed = f"{seconds:.6f} s"
        yield self.measure("throughput", size / seconds, f"NBYTES={size} in {printed}", **conditions)
        yield self.measure("duration", seconds, printed, **conditions)
        if match["retrans"]:
            count = sum(int(part) for part in match["retrans"].split(",") if part)
            yield self.measure("retransmits", count, match["retrans"], conditions)


_PROGRAMS: Final = ("globus-url-copy", "gfal-copy", "uberftp")


class _Copy(NamedTuple):
    """The last performance line, until it is known how the copy ended."""

    size: int
    known: Conditions
    mean: Record
    instant: Record | None


class GlobusUrlCopy(LinesParser, evidence=Evidence.TRANSFER):
    """globus-url-copy ``-vb`` (GridFTP client); also dcap/dpm clients that print the same line.

    Units: ``MB/sec`` = 2^20 B/s (globus ``globus_url_copy.c``, monitor callback: ``/ (1024 * 1024)``); old GT2 prints
    ``KB/sec`` = 2^10 B/s. ``avg`` is the mean since the start of the file and the headline; ``inst`` is the rate
    since the line before (``interval=True``). Checked: 49888100352 bytes at 1486.77 MB/sec.

    The line is redrawn; the last drawing counts, and may fall short of the file. A copy that ``-t`` ended says
    ``Cancelling copy...``: its mean is good (``ended="timer"``); without ``-t`` it was broken off (``partial``). An
    error after the line makes the run a failure; its last mean is kept as ``partial`` (``ended="error"``).
    """

    tool = "globus-url-copy"
    words = "avg inst Source Dest Cancelling error ERROR globus"
    shape = r"^ {1,12}\S.*  ->  \S"
    commands = _PROGRAMS

    _held: _Copy | None = anew()
    _ended: tuple[str | None, Status] = anew(lambda: (None, "complete"))  # how it ended, and with what status
    _failed = anew(lambda: -100)  # line of the last error: its text goes on over several lines

    @reads(r"(?<!\d)<bytes:int> bytes\s++<avg:num> (?P<u>[KMG]?)B/sec avg(?:\s+<inst:num> (?P<iu>[KMG]?)B/sec inst)?")
    def _performance(self, match: Match) -> Iterator[Record]:
        copy, size, rate = self._held, int(match["bytes"]), amount(match["avg"], match["u"] + "B")
        if copy is not None and (size < copy.size or self._ended[0] is not None):
            yield from self.settle()
        elif copy is not None and not self.ctx.after_redraw:
            yield from self.release(copy.instant)  # a line of its own, not overwritten
        facts = {**self._conditions(), **self.known, **self.where, "bytes": size}
        more = {**facts, "duration_s": size / rate if rate > 0 else None}
        mean, instant = self.rate(rate if size else 0.0, f"{match['avg']} {match['u']}B/sec avg", more), None
        if match["inst"] is not None:
            printed, more = f"{match['inst']} {match['iu']}B/sec inst", {"interval": True, "average": "interval"}
            instant = self.measure("throughput", amount(match["inst"], match["iu"] + "B"), printed, {**facts, **more})
        self._ended, self._held = (None, "complete"), _Copy(size, facts, mean, instant)

    _source = notes(r"^\s*Source: +(?P<source>\S.*)$", to=str.strip, new=True, settles=True)
    _target = notes(r"^\s*Dest: +(?P<target>\S.*)$", to=str.strip, settles=True)
    _files = notes(r"^ {1,12}(?P<file>\S.*?) {2}-> {2}(?P<file_to>\S.*)$", to=str.strip, settles=True)

    @reads(r"Cancelling copy")
    def _cancelled(self, match: Match) -> None:  # noqa: ARG002 (what reads hands over)
        timer = "timer" in self.command_line().values
        self._ended = ("timer", "complete") if timer else ("cancelled", "partial")

    @reads(r"^\s*(?:error: |globus_\w+: |\d{3}[- ]\d{3}[- ]|5\d\d[- ]|GlobusUrlCopy ?error).*|^ERROR: .*")
    def _error(self, error: Match) -> Iterator[Record]:
        copy = self._held
        mine = copy is not None or self.known or self.ctx.args(*_PROGRAMS) is not None or "globus" in error.string
        if not mine or self.ctx.line - self._failed <= 4:
            return
        self._failed = self.ctx.line
        facts = copy.known if copy is not None else {**self._conditions(), **self.known}
        self._ended = ("error", "partial")
        yield from self.settle()
        yield self.failure(error[0], **facts)

    def settle(self) -> Iterator[Record]:
        (copy, self._held), (ended, status) = (self._held, None), self._ended
        self._ended = (None, "complete")
        if copy is not None:
            yield from self.release(copy.mean, status, ended=ended)
            yield from self.release(copy.instant if isinstance(copy.mean, Measurement) else None)

    def _conditions(self) -> Conditions:
        conditions, _, urls = self.command_line()
        if len(urls) > 1:
            conditions["source"], conditions["target"] = urls[-2:]
        return conditions
