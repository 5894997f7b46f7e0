"""GridFTP: the server's transfer log and globus-url-copy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple

from dtnsim.logs._net import Options, binary_size, host_of
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, located
from dtnsim.logs.measurement import Status

_GRIDFTP_LINE: Final = re.compile(
    r"DATE=(?P<end>\d{14})\.(?P<end_us>\d{1,6}) HOST=(?P<host>\S++) PROG=(?P<prog>\S++) (?:NL\.EVNT=\S++ )?"
    r"START=(?P<start>\d{14})\.(?P<start_us>\d{1,6}) (?:USER=\S*+ FILE=(?P<file>.*?) )??"
    r"BUFFER=(?P<buffer>\d++) BLOCK=(?P<block>\d++) NBYTES=(?P<bytes>\d++) (?:VOLUME=\S*+ )?STREAMS=(?P<streams>\d++) "
    r"(?:STRIPES=(?P<stripes>\d++) )?DEST=\d?\[(?P<dest>[^\]]*+)\] TYPE=(?P<type>\w++) CODE=(?P<code>\d++)"
    r"(?: TASKID=(?P<task>\S++))?(?: retrans=(?P<retrans>[\d,]++))?"
)
_DIRECTIONS: Final = {"RETR": "send", "ERET": "send", "STOR": "receive", "ESTO": "receive"}
_UNKNOWN: Final = ("0.0.0.0", "")  # noqa: S104 (what the log has for several)


@lru_cache(maxsize=4096)
def _second(stamp: str) -> float:
    return datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()


class GridFtp(LineParser):
    """Transfer log of the GridFTP server (``log_transfer``), a line a file in NetLogger form; also wuftpd's and FDT's.

    Units: ``NBYTES`` in B, ``BUFFER`` (TCP, 0: the system's) and ``BLOCK`` in B. ``DATE`` is the end and ``START``
    the start, in UTC to the microsecond; versions before 6 print the microseconds without leading zeros, so the
    digits after the dot are a count of microseconds (``globus_gridftp_server`` ``globus_i_gfs_log.c``: ``%d`` of
    ``tv_usec``, later ``%06d``). The rate is computed from them: the time of one file's data, without listing,
    checksums and what the client did between files. ``RETR`` leaves the server (``direction="send"``), ``STOR`` comes
    in. Listings are left out. ``CODE=226`` is success; other codes are failures. ``DEST`` is the other end (0.0.0.0
    where several stripes took part).
    """

    tool = "gridftp"
    evidence = Evidence.TRANSFER
    commands = ()
    words = ("NBYTES",)

    def feed(self, text: str) -> Iterable[Record]:
        found = located(_GRIDFTP_LINE, text, "DATE=")
        if found is None:
            if "DATE=" in text and "START=" in text:
                return (self.unread(text, "the line is cut or of an unknown form"),)
            return ()
        if found["type"].upper() not in _DIRECTIONS:
            return ()
        return self._file(found)

    def _file(self, found: re.Match[str]) -> Iterator[Record]:
        size = int(found["bytes"])
        known = self._conditions(found)
        if found["code"][0] != "2":
            yield self.failure(f"{found['type']} CODE={found['code']}", **{**known, "bytes": size})
            return
        seconds = _second(found["end"]) - _second(found["start"])
        seconds += (int(found["end_us"]) - int(found["start_us"])) * 1e-6
        if size == 0 or seconds <= 0:
            why = "no bytes were transferred: no rate" if size == 0 else "no time passed: the clock was set back"
            yield self.unread(f"NBYTES={size}", why)
            return
        printed = f"NBYTES={size} in {seconds:.6f} s", f"{seconds:.6f} s"
        yield from self.copied(size, seconds, printed, known)
        if found["retrans"]:
            count = sum(int(part) for part in found["retrans"].split(",") if part)
            more = {**known, "bytes": size, "duration_s": seconds}
            yield self.record("retransmits", count, "1", found["retrans"], more)

    @staticmethod
    def _conditions(found: re.Match[str]) -> Conditions:
        return {
            "host": found["host"],
            "direction": _DIRECTIONS[found["type"].upper()],
            "file": found["file"],
            "streams": int(found["streams"]),
            "stripes": int(found["stripes"]) if found["stripes"] else None,
            "block_B": int(found["block"]) or None,
            "window_B": int(found["buffer"]) or None,
            "peer": found["dest"] if found["dest"] not in _UNKNOWN else None,
            "task": found["task"] if found["task"] not in (None, "none") else None,
            "end": found["end"],
        }


_GLOBUS_URL_COPY_LINE: Final = re.compile(
    r"(?<!\d)(?P<bytes>\d++) bytes\s++(?P<avg>\d++(?:\.\d++)?) (?P<u>[KMG]?)B/sec avg"
    r"(?:\s+(?P<inst>\d+(?:\.\d+)?) (?P<iu>[KMG]?)B/sec inst)?"
)
_END: Final = re.compile(r"^\s*(?P<what>Source|Dest): +(?P<url>\S.*)$")
_NAMES: Final = re.compile(r"^ {1,12}(?P<from>\S.*?) {2}-> {2}(?P<to>\S.*)$")
_ERROR: Final = re.compile(
    r"^\s*(?:error: |globus_\w+: |\d{3}[- ]\d{3}[- ]|5\d\d[- ]|GlobusUrlCopy ?error).*|^ERROR: .*"
)
_OPTIONS: Final = Options("""
    streams count     : -p -parallel
    concurrency count : -cc -concurrency
    window_B size     : -tcp-bs -tcp-buffer-size
    block_B size      : -bs -block-size
    stripe true       : -stripe
    udt true          : -udt
    recursive true    : -r
    fast true         : -fast
    timer value       : -t
    - value           : -len -partial-length -f -off -ss -ds -s -sbs
    - flag            : -vb -cd -sync -rst -nodcau -dcpriv -dcsafe -pp -list -dbg -v -q -g2 -no-g2 -ipv6
""")
_PROGRAMS: Final = ("globus-url-copy", "gfal-copy", "uberftp")


class _Copy(NamedTuple):
    """The last performance line, until it is known how the copy ended."""

    found: re.Match[str]
    size: int
    avg: float  # [B/s]
    inst: float | None  # [B/s]
    line: int
    cut: bool
    known: Conditions


class GlobusUrlCopy(LineParser):
    """globus-url-copy ``-vb`` (GridFTP client); also dcap/dpm clients that print the same line.

    Units: ``MB/sec`` = 2^20 B/s (globus ``globus_url_copy.c``, monitor callback: ``/ (1024 * 1024)``); old GT2 prints
    ``KB/sec`` = 2^10 B/s. ``avg`` is the mean since the start of the file and the headline; ``inst`` is the rate
    since the line before (``interval=True``). Checked: 49888100352 bytes at 1486.77 MB/sec.

    The line is redrawn; the last drawing counts, and may fall short of the file. A copy that ``-t`` ended says
    ``Cancelling copy...``: its mean is good (``ended="timer"``); without ``-t`` it was broken off (``partial``). An
    error after the line makes the run a failure; its last mean is kept as ``partial`` (``ended="error"``).
    """

    tool = "globus-url-copy"
    evidence = Evidence.TRANSFER
    words = ("avg", "inst", "Source", "Dest", "Cancelling", "error", "ERROR", "globus")
    shape = r"^ {1,12}\S.*  ->  \S"
    commands = _PROGRAMS

    def forget(self) -> None:
        self._held: _Copy | None = None
        self._ended: tuple[str | None, Status] = (None, "complete")  # how it ended, and with what status
        self._where: Conditions = {}
        self._failed = -100  # line of the last error: its text goes on over several lines

    def feed(self, text: str) -> Iterator[Record]:
        found = _GLOBUS_URL_COPY_LINE.search(text) if "/sec" in text else None
        if found is not None:
            yield from self._performance(found)
        elif (end := _END.match(text)) is not None:
            yield from self.settle()
            if end["what"] == "Source":
                self._where = {}
            self._where["source" if end["what"] == "Source" else "target"] = end["url"].strip()
        elif (names := _NAMES.match(text)) is not None:
            yield from self.settle()
            self._where |= {"file": names["from"].strip(), "file_to": names["to"].strip()}
        elif "Cancelling copy" in text:
            timer = "timer" in _OPTIONS.read(self.ctx.args(*_PROGRAMS)).values
            self._ended = ("timer", "complete") if timer else ("cancelled", "partial")
        else:
            yield from self._message(text)

    def _performance(self, found: re.Match[str]) -> Iterator[Record]:
        held, size = self._held, int(found["bytes"])
        if held is not None and (size < held.size or self._ended[0] is not None):
            yield from self.settle()
        elif held is not None and held.inst is not None and not self.ctx.after_redraw:
            yield self._instant(held)  # a line of its own, not overwritten
        inst = None if found["inst"] is None else binary_size(found["inst"], found["iu"])
        known = {**self._conditions(), **self._where, **host_of(self.ctx), "bytes": size}
        avg = binary_size(found["avg"], found["u"])
        self._ended = (None, "complete")
        self._held = _Copy(found, size, avg, inst, self.ctx.line, self.ctx.cut, known)

    def _message(self, text: str) -> Iterator[Record]:
        error, held = _ERROR.match(text), self._held
        if error is None:
            return
        mine = held is not None or self._where or self.ctx.args(*_PROGRAMS) is not None or "globus" in text
        if not mine or self.ctx.line - self._failed <= 4:
            return
        self._failed = self.ctx.line
        known = held.known if held is not None else {**self._conditions(), **self._where}
        self._ended = ("error", "partial")
        yield from self.settle()
        yield self.failure(error[0], **known)

    def _instant(self, copy: _Copy) -> Record:
        known, printed = {**copy.known, "interval": True, "average": "interval"}, copy.found
        text = f"{printed['inst']} {printed['iu']}B/sec inst"
        return self.record("throughput", copy.inst or 0.0, "B/s", text, known, line=copy.line)

    def settle(self) -> Iterator[Record]:
        (copy, self._held), (ended, status) = (self._held, None), self._ended
        self._ended = (None, "complete")
        if copy is None:
            return
        printed = f"{copy.found['avg']} {copy.found['u']}B/sec avg"
        if copy.size <= 0 or copy.avg <= 0:
            yield self.unread(printed, "no bytes were transferred: no rate", line=copy.line)
            return
        known: Conditions = {**copy.known, "ended": ended, "duration_s": copy.size / copy.avg}
        status = "truncated" if copy.cut else status
        yield self.record("throughput", copy.avg, "B/s", printed, known, status=status, line=copy.line)
        if copy.inst is not None:
            yield self._instant(copy)

    def _conditions(self) -> Conditions:
        args = self.ctx.args(*_PROGRAMS)
        found, _, urls = _OPTIONS.read(args)
        if args is not None:
            found.setdefault("streams", 1)
        if len(urls) > 1:
            found["source"], found["target"] = urls[-2], urls[-1]
        return found
