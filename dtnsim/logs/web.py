"""Copies over HTTP: wget, curl, s5cmd, aws s3 and warp."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from dtnsim.logs._declared import LinesParser, Match, Progress, ProgressParser, declare, gives, reads
from dtnsim.logs._numbers import BINARY, binary_size, bits_rate, clock_s, parts_s
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, Status


class Wget(LinesParser):
    """wget's last line of a download: ``(4.27 MB/s) - 'name' saved [977501/977501]``.

    Units: ``KB/s``, ``MB/s``, ``GB/s`` are powers of 1024 (wget ``src/retr.c``, ``calc_rate``; checked by a run of 64
    MiB in the 0.08 s of its bar), with ``--report-speed=bits`` ``Kb/s`` ... powers of 1000 of bits. Sizes are in B.
    The rate is the mean over the transfer. A file of which less came than was announced is ``partial``.
    """

    tool = "wget"
    evidence = Evidence.TRANSFER
    words = ("saved", "written", "Connection", "Read")

    @reads(
        r"\(<rate:comma> <unit:k>(?P<kind>[Bb])/s\) - (?:(?P<file>.*) saved|written to stdout|"
        r"(?P<error>(?:Connection closed|Read error) at byte <at:int>.*))(?: \[<got:int>(?:/<of:int>)?\])?"
    )
    def _download(self, found: Match) -> Record:
        if found["error"] is not None:
            return self.failure(found["error"], bytes=int(found["at"]))
        if found["got"] is None:
            return self.unread(found[0], "the line is cut")
        rate, size = found["rate"], int(found["got"])
        value = binary_size(rate, found["unit"]) if found["kind"] == "B" else bits_rate(rate, found["unit"])
        status: Status = "complete" if found["of"] in (None, found["got"]) else "partial"
        known: Conditions = {"direction": "receive", "bytes": size, "duration_s": size / value if value > 0 else None}
        known["file"] = found["file"].strip("'`\"‘’“” ") if found["file"] else None
        printed = f"{rate} {found['unit']}{found['kind']}/s"
        return self.rate(value if size else 0.0, printed, known, status=status, text=found[0])


_N: Final = r"\d++(?:\.\d++)?[kMGTP]?"
_T: Final = r"[\d:dhmsy-]++"
_ROW: Final = re.compile(
    rf"^\s*+(?P<share>\d{{1,3}}+)\s++{_N}\s++\d++\s++(?P<got>{_N})\s++\d++\s++(?P<sent>{_N})\s++(?P<down>{_N})\s++"
    rf"(?P<up>{_N})\s++{_T}\s++(?P<spent>{_T})\s++{_T}\s++{_N}(?=\s|$|[A-Za-z*<{{])"
)


class Curl(LineParser):
    """curl's progress table (``% Total % Received % Xferd Average Speed``), 7.x and 8.x.

    Units: ``k``, ``M``, ``G`` of sizes and speeds are powers of 1024, speeds in B/s (curl ``lib/progress.c``,
    ``max5data``; checked: 13.3M at 866k takes 15.7 s, printed 0:00:15). The table is redrawn; its last row counts.
    ``Average Speed`` is the mean of the whole transfer and the headline: ``Dload`` is ``direction="receive"``,
    ``Upload`` ``"send"``. A last row of less than 100 % is ``partial``. Times are whole seconds (``resolution_s``).
    """

    tool = "curl"
    evidence = Evidence.TRANSFER
    words = ("Xferd", "Dload")

    _row: re.Match[str] | None = None
    _line, _known = 0, Conditions()

    def feed(self, text: str) -> Iterable[Record]:
        if "Xferd" in text and "% Total" in text:
            done = list(self.settle())
            self._known, self.open = self.where, True
            return done
        if not self.open or "Dload" in text or not text.strip():
            return ()
        if (row := _ROW.match(text)) is None:
            return list(self.settle())
        self._row, self._line = row, self.ctx.line
        return ()

    def settle(self) -> Iterator[Record]:
        (row, self._row), self.open = (self._row, None), False
        if row is None:
            return
        status: Status = "complete" if row["share"] == "100" else "partial"
        seconds = clock_s(row["spent"]) or None
        known = {**self._known, "duration_s": seconds, "resolution_s": 1.0 if seconds else None}
        for moved, rate, direction in (("got", "down", "receive"), ("sent", "up", "send")):
            speed, size = _bytes(row[rate]), _bytes(row[moved])
            if speed > 0 and size > 0:
                more, printed = {**known, "direction": direction, "bytes": size}, f"{row[rate]} B/s"
                yield self.measure("throughput", speed, "B/s", printed, more, status=status, line=self._line)


def _bytes(text: str) -> float:
    return binary_size(text[:-1], text[-1]) if text[-1:].isalpha() else float(text)


class S5cmd(ProgressParser):
    """s5cmd cp --show-progress: ``50.00% ━━━━──── 11.02 GB / 22.04 GB (8.78 MB/s) 20m55s (32/32)``.

    Units: ``kB``, ``MB``, ``GB`` are powers of 1000 (s5cmd ``progressbar.go`` sets pb's SIBytesPrefix; checked: 11.02
    GB at 8.78 MB/s take 1255 s, printed 20m55s). The rate is the mean since the start. Releases up to 2.2.2 may count
    the total twice and stop at 50 % (issue 680): a copy whose files are all there, ``(32/32)``, is complete all the
    same. ``ERROR "cp ..."`` is a failure. Without the option s5cmd prints no rate.
    """

    tool = "s5cmd"
    evidence = Evidence.TRANSFER
    words = ("ERROR",)
    shape = r" [kMGTP]?B /  [kMGTP]?B \( [kMGTP]?B/s\) "
    line = declare(
        "B/s) ",
        r"(?<![\d.])<got:num> <gu:k>B / <of:num> <ou:k>B "
        r"\(<rate:num> <ru:k>B/s\) (?P<spent>[0-9a-zµ.]++) \(<done:int>/<files:int>\)",
    )
    failures = re.compile(r'^\s*+ERROR "(?:cp|mv|sync) .{1,300}')

    def complete(self, found: re.Match[str], progress: Progress) -> bool:
        """With all files, whatever the count of bytes says."""
        return found["done"] == found["files"] != "0" or super().complete(found, progress)

    def conditions(self, found: re.Match[str], moved: float) -> Conditions:  # noqa: ARG002 (the base's)
        """How many files are there."""
        return {"files": int(found["done"])}

    def check(self, found: re.Match[str], progress: Progress) -> Iterable[Record]:
        """Bytes and time give the rate."""
        spent, moved, rate = parts_s(found["spent"]), progress.moved, progress.rate
        if spent and rate > 0 and abs(moved / rate - spent) > 0.05 * spent + 1:
            yield self.unread(found[0], f"bytes and time give {moved / spent:.4g} B/s")


_UNIT: Final = r"(?:Bytes|[KMGTP]iB)"
_DONE: Final = re.compile(r"^\s*+(?P<what>upload|download|copy|move): (?P<from>\S.{0,300}?) to (?P<to>\S.{0,300})")
_DIRECTIONS: Final = {"upload": "send", "download": "receive"}


class AwsS3(ProgressParser):
    """aws s3 cp, sync and mv: the progress line of aws-cli 1.11.40 and later.

    Units: ``KiB``, ``MiB``, ``GiB`` and ``Bytes``, powers of 1024 (aws-cli ``customizations/s3/utils.py``,
    ``human_readable_size``). The rate is the mean since the start, listing and connecting among it: of small copies
    it says little. The line is redrawn; the last drawing counts. ``Completed`` of all bytes is complete, ``~`` (not
    all listed yet) or less is ``partial``. ``upload failed:`` is a failure.
    """

    tool = "aws s3"
    evidence = Evidence.TRANSFER
    words = ("Completed", "upload", "download", "copy", "move", "remaining")
    commands = ("aws",)
    line = declare(
        "file(s) remaining",
        rf"Completed <got:num> (?P<gu>{_UNIT})/(?P<more>~?)<of:num> (?P<ou>{_UNIT}) "
        rf"\(<rate:num> (?P<ru>{_UNIT})/s\) with (?P<left>~?\d++) file\(s\) remaining",
    )
    failures = re.compile(r"^\s*+(?:upload|download|copy|move) failed: .{1,300}")
    units = {"Bytes": 1.0, **{f"{letter}iB": BINARY[letter] for letter in "KMGTP"}}  # noqa: RUF012 (ClassVar of the base)

    def feed(self, text: str) -> Iterable[Record]:
        if self.line.sign not in text and "s3://" not in text:
            return ()
        if self.line.sign in text or (done := _DONE.match(text)) is None:
            return super().feed(text)
        if (held := self._held) is not None:
            held.known["files"] = held.known.get("files", 0) + 1
            if (direction := _DIRECTIONS.get(done["what"])) is not None:
                held.known["direction"] = direction
        return ()

    def complete(self, found: re.Match[str], progress: Progress) -> bool:
        """Once everything is listed, and as much is moved."""
        return not found["more"] and super().complete(found, progress)

    def conditions(self, found: re.Match[str], moved: float) -> Conditions:  # noqa: ARG002 (the base's)
        """What lines of files said of the same copy."""
        held = self._held if self._held is not None and moved >= self._held.moved else None
        return {key: held.known[key] for key in ("files", "direction") if key in held.known} if held else {}


_STATISTICS: Final = {"Average": None, "Fastest": "max", "50% Median": "median", "Slowest": "min"}
_LATENCIES: Final = {
    "Avg": None, "Best": "min", "Fastest": "min", "Worst": "max", "Slowest": "max", "StdDev": "stddev",
    "Median": "median", "50%": "median",
}  # fmt: skip
_OPERATIONS: Final = {"PUT": "write", "GET": "read"}


class Warp(LinesParser):
    """warp (MinIO's S3 benchmark), 0.3 to 1: the analysis after a run.

    Units: ``MiB/s`` 2^20 B/s, ``obj/s`` objects a second; times carry theirs. ``Average`` is the mean of the whole run
    and the headline; ``Fastest``, ``50% Median`` and ``Slowest`` are of its parts, mostly seconds (``statistic``).
    ``Reqs`` is the latency of a whole request, ``TTFB`` that of its first byte (``of``). PUT is a write, GET a read.
    """

    tool = "warp"
    evidence = Evidence.SERVERS
    words = ("Operation", "Report")
    longest = 40
    terms: ClassVar = {"statistic": _STATISTICS}

    @reads(r"^\s*+(?:Operation|Report): (?P<what>[A-Z]{3,20})(?: \(\d++\))?(?P<rest>.{0,200})", opens=True)
    def _start(self, head: Match) -> None:
        self.known = {"operation": _OPERATIONS.get(head["what"], head["what"].lower())}
        for key, pattern in (("object_B", r"Size: (\d++) bytes"), ("streams", r"Concurrency: (\d++)")):
            if (found := re.search(pattern, head["rest"])) is not None and len(found[1]) < 16:
                self.known[key] = int(found[1])
        if (ran := re.search(r"Ran:? (\d[0-9hmsµu.]*+)", head["rest"])) is not None:
            self.known["duration_s"] = parts_s(ran[1].rstrip("."))

    _rates = gives(
        r"^\s*+\* (?P<statistic>Average|Fastest|50% Median|Slowest): "
        r"(?:<rate:num> ?(?P<ru>[KMGT]?i?)B/s, )?<objects:num> obj/s",
        "throughput? {rate} {ru}B/s",
        "rate? {objects} obj/s [/s] : of=objects",
        inside=True,
    )

    @reads(r"^\s*+\* (?:(?P<what>Reqs|TTFB): )?(?=Avg: )(?P<rest>.{1,300})", inside=True)
    def _latencies(self, found: Match) -> Iterator[Record]:
        known = {**self.known, "of": "first byte" if found["what"] == "TTFB" else "request"}
        names = r"(Avg|Best|Fastest|Worst|Slowest|StdDev|Median|\d\d(?:th|%)): ([0-9.hmsuµn]++)"
        for name, text in re.findall(names, found["rest"]):
            if (value := parts_s(text.rstrip("."))) is not None:
                statistic = _LATENCIES.get(name, f"p{name[:2]}")
                yield self.measure("latency", value, "s", text, statistic=statistic, **known)
