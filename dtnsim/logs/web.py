"""Copies over HTTP and to object stores: wget, curl, s5cmd, aws s3, warp, rclone."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from dtnsim.logs._commands import CommandLine
from dtnsim.logs._declared import Found, LinesParser, Match, Progress, ProgressParser, gives, reads, said_in
from dtnsim.logs._numbers import BINARY, amount, clock_s, decimal, number, parts_s, regex, size_bytes, statistic
from dtnsim.logs._records import NO_BYTES, noted
from dtnsim.logs.base import Conditions, Document, Evidence, Parser, Record, Status, anew, documents


class Wget(LinesParser, evidence=Evidence.TRANSFER):
    """wget's last line of a download: ``(4.27 MB/s) - 'name' saved [977501/977501]``.

    Units: ``KB/s``, ``MB/s``, ``GB/s`` are powers of 1024 (wget ``src/retr.c``, ``calc_rate``; checked by a run of 64
    MiB in the 0.08 s of its bar), with ``--report-speed=bits`` ``Kb/s`` ... powers of 1000 of bits. Sizes are in B.
    The rate is the mean over the transfer. A file of which less came than was announced is ``partial``.
    """

    words = "saved written Connection Read"

    @reads(
        r"\(<rate:comma> <unit:k>(?P<kind>[Bb])/s\) - (?:(?P<file>.*) saved|written to stdout|"
        r"(?P<error>(?:Connection closed|Read error) at byte <at:int>.*))(?: \[<got:int>(?:/<of:int>)?\])?"
    )
    def _download(self, match: Match) -> Record:
        if match["error"] is not None:
            return self.failure(match["error"], bytes=int(match["at"]))
        self.need(match["got"], match[0], "the line is cut")
        rate, size = match["rate"], int(match["got"])
        printed = f"{rate} {match['unit']}{match['kind']}/s"
        value = amount(rate, printed.partition(" ")[2])
        status: Status = "complete" if match["of"] in (None, match["got"]) else "partial"
        facts: Conditions = {"direction": "receive", "bytes": size, "duration_s": size / value if value > 0 else None}
        facts["file"] = match["file"].strip("'`\"‘’“” ") if match["file"] else None
        return self.rate(value if size else 0.0, printed, facts, status=status, text=match[0])


_N: Final = r"\d++(?:\.\d++)?[kMGTP]?"
_T: Final = r"[\d:dhmsy-]++"


class Curl(LinesParser, evidence=Evidence.TRANSFER):
    """curl's progress table (``% Total % Received % Xferd Average Speed``), 7.x and 8.x.

    Units: ``k``, ``M``, ``G`` of sizes and speeds are powers of 1024, speeds in B/s (curl ``lib/progress.c``,
    ``max5data``; checked: 13.3M at 866k takes 15.7 s, printed 0:00:15). The table is redrawn; its last row counts.
    ``Average Speed`` is the mean of the whole transfer and the headline: ``Dload`` is ``direction="receive"``,
    ``Upload`` ``"send"``. A last row of less than 100 % is ``partial``. Times are whole seconds (``resolution_s``).
    """

    words = "Xferd Dload"

    _row: Match | None = None
    _line = 0

    @reads(r"% Total.*Xferd", opens=True, settles=True)
    def _head(self, _: Match) -> None:
        self.known = self.where

    @reads(
        rf"^\s*+(?P<share>\d{{1,3}}+)\s++{_N}\s++\d++\s++(?P<got>{_N})\s++\d++\s++(?P<sent>{_N})\s++(?P<down>{_N})\s++"
        rf"(?P<up>{_N})\s++{_T}\s++(?P<spent>{_T})\s++{_T}\s++{_N}(?=\s|$|[A-Za-z*<{{])",
        inside=True,
    )
    def _drawn(self, row: Match) -> None:
        self._row, self._line = row, self.ctx.line

    def other(self, text: str) -> Found:
        return self.settle() if self.open and text.strip() and "Dload" not in text else None

    def settle(self) -> Iterator[Record]:
        (row, self._row), self.open = (self._row, None), False
        if row is None:
            return
        status: Status = "complete" if row["share"] == "100" else "partial"
        seconds = clock_s(row["spent"]) or None
        facts = {**self.known, "duration_s": seconds, "resolution_s": 1.0 if seconds else None}
        for moved, rate, direction in (("got", "down", "receive"), ("sent", "up", "send")):
            speed, size = (size_bytes(row[name]) or 0.0 for name in (rate, moved))
            if speed > 0 and size > 0:
                more, printed = {**facts, "direction": direction, "bytes": size}, f"{row[rate]} B/s"
                yield self.measure("throughput", speed, printed, more, status=status, line=self._line)


class S5cmd(ProgressParser, evidence=Evidence.TRANSFER):
    """s5cmd cp --show-progress: ``50.00% ━━━━──── 11.02 GB / 22.04 GB (8.78 MB/s) 20m55s (32/32)``.

    Units: ``kB``, ``MB``, ``GB`` are powers of 1000 (s5cmd ``progressbar.go`` sets pb's SIBytesPrefix; checked: 11.02
    GB at 8.78 MB/s take 1255 s, printed 20m55s). The rate is the mean since the start. Releases up to 2.2.2 may count
    the total twice and stop at 50 % (issue 680): a copy whose files are all there, ``(32/32)``, is complete all the
    same. ``ERROR "cp ..."`` is a failure. Without the option s5cmd prints no rate.
    """

    words = "ERROR"
    shape = r" [kMGTP]?B /  [kMGTP]?B \( [kMGTP]?B/s\) "
    sign = "B/s) "
    line = regex(
        r"(?<![\d.])<got:num> <gu:k>B / <of:num> <ou:k>B "
        r"\(<rate:num> <ru:k>B/s\) (?P<spent>[0-9a-zµ.]++) \(<done:int>/<files:int>\)"
    )
    failures = re.compile(r'^\s*+ERROR "(?:cp|mv|sync) .{1,300}')

    def check(self, match: re.Match[str], progress: Progress) -> Iterable[Record]:
        """Bytes and time give the rate."""
        spent, moved, rate = parts_s(match["spent"]), progress.moved, progress.rate
        if spent and rate > 0 and abs(moved / rate - spent) > 0.05 * spent + 1:
            yield self.unread(match[0], f"bytes and time give {moved / spent:.4g} B/s")


_UNIT: Final = r"(?:Bytes|[KMGTP]iB)"
_DONE: Final = re.compile(r"^\s*+(?P<what>upload|download|copy|move): \S.{0,300}? to \S")
_DIRECTIONS: Final = {"upload": {"direction": "send"}, "download": {"direction": "receive"}}


class AwsS3(ProgressParser, evidence=Evidence.TRANSFER):
    """aws s3 cp, sync and mv: the progress line of aws-cli 1.11.40 and later.

    Units: ``KiB``, ``MiB``, ``GiB`` and ``Bytes``, powers of 1024 (aws-cli ``customizations/s3/utils.py``,
    ``human_readable_size``). The rate is the mean since the start, listing and connecting among it: of small copies
    it says little. The line is redrawn; the last drawing counts. ``Completed`` of all bytes is complete, ``~`` (not
    all listed yet) or less is ``partial``. ``upload failed:`` is a failure.
    """

    tool = "aws s3"
    words = "Completed upload download copy move remaining"
    commands = ("aws",)
    sign = "file(s) remaining"
    line = regex(
        rf"Completed <got:num> (?P<gu>{_UNIT})/(?P<more>~?)<of:num> (?P<ou>{_UNIT}) "
        rf"\(<rate:num> (?P<ru>{_UNIT})/s\) with (?P<left>~?\d++) file\(s\) remaining"
    )
    failures = re.compile(r"^\s*+(?:upload|download|copy|move) failed: .{1,300}")
    units = {"Bytes": 1.0, **{f"{letter}iB": BINARY[letter] for letter in "KMGTP"}}  # noqa: RUF012 (ClassVar of the base)

    def feed(self, text: str) -> Iterable[Record]:
        if self.sign not in text and "s3://" not in text:
            return ()
        if self.sign in text or (done := _DONE.match(text)) is None:
            return super().feed(text)
        if (last := self._held) is not None:
            last.known["files"] = last.known.get("files", 0) + 1
            last.known.update(_DIRECTIONS.get(done["what"], {}))
        return ()

    def conditions(self, match: re.Match[str], moved: float) -> Conditions:  # noqa: ARG002 (the base's)
        """What lines of files said of the same copy."""
        last = self._held if self._held is not None and moved >= self._held.moved else None
        return {key: last.known[key] for key in ("files", "direction") if key in last.known} if last else {}


_STATISTICS: Final = {"Average": None, "Fastest": "max", "50% Median": "median", "Slowest": "min"}
_OPERATIONS: Final = {"PUT": "write", "GET": "read"}


class Warp(LinesParser, evidence=Evidence.SERVERS):
    """warp (MinIO's S3 benchmark), 0.3 to 1: the analysis after a run.

    Units: ``MiB/s`` 2^20 B/s, ``obj/s`` objects a second; times carry theirs. ``Average`` is the mean of the whole run
    and the headline; ``Fastest``, ``50% Median`` and ``Slowest`` are of its parts, mostly seconds (``statistic``).
    ``Reqs`` is the latency of a whole request, ``TTFB`` that of its first byte (``of``). PUT is a write, GET a read.
    """

    words = "Operation Report"
    longest = 40
    terms: ClassVar = {"statistic": _STATISTICS}

    @reads(r"^\s*+(?:Operation|Report): (?P<what>[A-Z]{3,20})(?: \(\d++\))?(?P<rest>.{0,200})", opens=True)
    def _start(self, head: Match) -> None:
        rest, self.known = head["rest"], {"operation": _OPERATIONS.get(head["what"], head["what"].lower())}
        self.known |= said_in(rest, object_B=r"Size: (\d{1,15}+)(?= bytes)", streams=r"Concurrency: (\d{1,15}+)(?!\d)")
        self.known |= said_in(rest, lambda text: parts_s(text.rstrip(".")), duration_s=r"Ran:? (\d[0-9hmsµu.]*+)")

    _rates = gives(
        r"^\s*+\* (?P<statistic>Average|Fastest|50% Median|Slowest): "
        r"(?:<rate:num> ?(?P<ru>[KMGT]?i?)B/s, )?<objects:num> obj/s",
        "throughput? {rate} {ru}B/s",
        "rate? {objects} obj/s [/s] : of=objects",
        inside=True,
    )

    @reads(r"^\s*+\* (?:(?P<what>Reqs|TTFB): )?(?=Avg: )(?P<rest>.{1,300})", inside=True)
    def _latencies(self, match: Match) -> Iterator[Record]:
        facts = {**self.known, "of": "first byte" if match["what"] == "TTFB" else "request"}
        names = r"(Avg|Best|Fastest|Worst|Slowest|StdDev|Median|\d\d(?:th|%)): ([0-9.hmsuµn]++)"
        for name, text in re.findall(names, match["rest"]):
            if (value := parts_s(text.rstrip("."))) is not None:
                yield self.measure("latency", value, text, statistic=statistic(name), **facts)


_SIZE: Final = r"(?P<{0}>\d+(?:\.\d+)?)\s*(?P<{0}u>[kKMGTPE]?)i?(?:Bytes?|[Bb])?"
_FAILED: Final = re.compile(r"(?:ERROR : .*Attempt \d+/\d+ failed.*|(?:CRITICAL|Fatal error): .*|Failed to \w+.*)")
_VERSION: Final = re.compile(r"\brclone:? v(\d[\w.-]*)")


@dataclass(slots=True)
class _Block:
    """One block of statistics: bytes moved and in all, rate [B/s] and as printed."""

    size: float
    total: float | None
    share: int | None
    rate: float
    printed: str
    line: int
    text: str
    known: Conditions
    elapsed: float | None = None
    errors: int = 0

    def interval(self, parser: Parser) -> Iterator[Record]:
        """The figure of a block that another follows."""
        if self.rate > 0:
            facts = {**self.known, "interval": True, "bytes": self.size, "end_s": self.elapsed}
            yield parser.measure("throughput", self.rate, self.printed, line=self.line, **facts)

    @noted
    def headline(self, parser: Parser) -> Iterator[Record]:
        """The figures of the last block."""
        facts: Conditions = {**self.known, "bytes": self.size, "duration_s": self.elapsed}
        facts |= {"file_B": self.total or None, "errors": self.errors or None}
        finished = self.share == 100 or (self.total is None and self.elapsed)
        status: Status = "complete" if finished and not self.errors else "partial"
        rate, printed = self.rate, self.printed
        parser.need(self.size > 0, self.text, NO_BYTES, line=self.line)
        if rate <= 0:
            lasted, why = (self.elapsed or 0) >= 1, "no speed is printed, and less than a second passed"
            parser.need(lasted, self.text, why, line=self.line)
            rate, printed = self.size / (self.elapsed or 1), ""
            facts["derived"] = "bytes / elapsed time"
        yield parser.measure("throughput", rate, printed, status=status, line=self.line, **facts)
        if self.elapsed:
            yield parser.measure("duration", self.elapsed, f"{self.elapsed:g}s", status=status, line=self.line, **facts)


class Rclone(LinesParser, evidence=Evidence.TRANSFER):
    """rclone: ``-v``/``--stats`` blocks, ``-P`` redraws, one-line statistics, JSON logs; 1.2x to 1.6x.

    Units: powers of 1024 in every version (rclone ``fs/sizesuffix.go``), whatever the word: ``60.145M / 180
    MBytes`` and ``MBytes/s`` (to 1.54), ``MiByte/s`` (1.55, 1.56), ``MiB/s`` (since 1.57). ``--stats-unit bits``
    writes ``MBits/s`` or ``Mibit/s``: 1024-based bits. JSON ``stats`` has plain bytes and B/s.

    The printed speed is rclone's own smoothed average over the seconds that had data (``accounting/stats.go``,
    averageLoop), not bytes / elapsed time; it stays at its last value in the closing block, and is ``0 B/s`` in the
    first second. The last block of a run is the headline: ``complete`` at 100 %, ``partial`` before. A
    headline without a speed gives bytes / elapsed time if at least a second passed (``derived``).
    """

    words = "Transferred Elapsed Errors INFO ERROR Failed rclone CRITICAL ETA Fatal"

    _block: _Block | None = anew()
    _failed: tuple[str, int] | None = anew()

    @reads(
        rf"(?:Transferred:|INFO +:|^)\s+{_SIZE.format('size')} / {_SIZE.format('total')}, (?P<share>\d+%|-), "
        r"<rate:num>\s*<rateu:k>i?(?P<kind>Bytes?|B|[Bb]its?)/s(?:, ETA (?P<eta>\S+))?"
    )
    @reads(rf"Transferred:\s+{_SIZE.format('size')} \(<rate:num>\s*<rateu:k>(?P<kind>Bytes?|[Bb]its?)/s\)")
    def _stats(self, match: Match) -> Iterator[Record]:
        size, block, groups = decimal(match["size"]) * BINARY[match["sizeu"]], self._block, match.groupdict()
        if block is not None:
            yield from self.settle() if size < block.size else block.interval(self)
        total = decimal(groups["total"]) * BINARY[groups["totalu"]] if groups.get("total") else None
        share = int(groups["share"][:-1]) if groups.get("share") not in (None, "-") else None
        rate = decimal(match["rate"]) * BINARY[match["rateu"]] / (8 if match["kind"][1:] in ("it", "its") else 1)
        printed = match[0][match.start("rate") - match.start() :].split(",")[0].rstrip(")")
        facts = {**_conditions(self.command_line()), **self.where}
        self._block = _Block(size, total, share, rate, printed, self.ctx.line, match.string, facts)

    @reads(r"Elapsed time:\s+(?P<elapsed>\S+)")
    @reads(r"^\s*Errors:\s+<errors:int>")
    @reads(r"^\s*Transferred:\s+<files:int>(?: / \d+, \d+%)?\s*$")
    def _more(self, match: Match) -> None:
        block, ((key, text),) = self._block, match.groupdict().items()
        if block is None:
            self.other(match.string)
        elif key == "elapsed":
            block.elapsed = parts_s(text) or block.elapsed
        elif key == "errors":
            block.errors = int(text)
        else:
            block.known["files"] = int(text)

    def other(self, text: str) -> None:
        if (version := _VERSION.search(text)) is not None:
            self.version = version[1]
        mine = self._block is not None or self.ctx.args("rclone") is not None or "Attempt" in text
        if (problem := _FAILED.search(text)) is not None and mine:
            self._failed = problem[0], self.ctx.line

    def settle(self) -> Iterator[Record]:
        (block, self._block), (problem, self._failed) = (self._block, None), (self._failed, None)
        if problem is not None:
            facts = block.known if block is not None else _conditions(self.command_line())
            yield self.failure(problem[0], line=problem[1], **facts)
        if block is not None and (problem is None or (block.size > 0 and block.share == 100)):
            yield from block.headline(self)

    @documents("msg", "level", "source")
    def _json(self, doc: Document) -> Iterator[Record]:
        """Lines of ``--use-json-log`` that carry a statistics object, of which the last is the headline."""
        stats = doc.data.get("stats")
        if not isinstance(stats, dict):
            if doc.data["level"] in ("critical", "fatal") or str(doc.data["msg"]).startswith("Failed to"):
                yield self.failure(str(doc.data["msg"]), line=doc.line, **_conditions(self.command_line()))
            return
        size, rate = number(stats.get("bytes")), number(stats.get("speed"))
        total, elapsed = number(stats.get("totalBytes")), number(stats.get("elapsedTime"))
        if size is None or rate is None or (doc.cut and total is None):
            return  # what is cut may not be the whole
        if (last := self._block) is not None:
            yield from self.settle() if size < last.size else last.interval(self)
        share = int(100 * size / total) if total else None
        errors, files = (int(number(stats.get(key)) or 0) for key in ("errors", "transfers"))
        facts = {**_conditions(self.command_line()), **self.where, "files": files if "transfers" in stats else None}
        text, printed = str(doc.data["msg"])[:80], f"{rate:.10g} B/s"
        self._block = _Block(size, total, share, rate, printed, doc.line, text, facts, elapsed, errors)


def _conditions(command: CommandLine) -> Conditions:
    conditions, _, rest = command
    if len(rest) > 2:
        conditions["operation"], conditions["source"], conditions["target"] = rest[0], rest[-2], rest[-1]
    elif len(rest) == 2 and rest[0] not in ("copy", "sync", "move"):
        conditions["source"], conditions["target"] = rest
    return conditions
