"""Copies with many streams: ascp, wdt, fdt, bbcp."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._commands import parse_arguments
from dtnsim.logs._declared import Found, LinesParser, Match, notes, reads, said_in
from dtnsim.logs._numbers import BINARY, agrees, amount, decimal, integer, regex
from dtnsim.logs.base import NO_BYTES, Conditions, Evidence, LineParser, Record, Status, anew, located
from dtnsim.logs.measurement import Measurement

_ASCP_DONE: Final = regex(
    r"(?P<what>Completed|Partial Completion): (?P<size>[\d,]+)(?P<u>[KMG]?) ?bytes transferred in <s:int> seconds?"
)
_ASCP_RATE: Final = regex(r"\(<rate:num>(?P<u>[KMG]?) ?bits/sec\)(?:,? in <files:int> files?)?")
_SKIPPED: Final = re.compile(r"(?<!\d)(\d++) files? (skipped|failed)")
_PROGRESS: Final = regex(
    r"^(?P<name>.*\S)\s+(?P<share>\d{1,3})% +<size:num><su:k>B "
    r"+<rate:num>(?P<ru>[kKMG]?)b/s(?: +(?P<time>[\d:-]+)(?P<eta> ETA)?)?\s*$"
)
_ASCP_FAILED: Final = re.compile(
    r"^(?:ascp: .*|Session Stop +\(Error: .*|ERR .*|Error: .*(?:ascp|session|transfer|authenticat|Client|Server).*)"
)


class Ascp(LineParser, evidence=Evidence.TRANSFER):
    """ascp (IBM Aspera): closing lines, progress and errors.

    Units: ``K bytes`` = 1024 B, ``K bits/sec`` = 1000 bit/s; checked on the UCI log: 181912686K bytes in 3408 s
    printed as 437191K bits/sec. Progress sizes ``173GB`` are 1024-based, progress rates ``438Mb/s`` are decimal bits
    of the last seconds: never a headline (138Mb/s stood beside a mean of 281 Mbit/s).

    The headline is the rate of ``Completed:``; where its line is missing it is computed from K bytes and seconds.
    ``Partial Completion`` is a ``partial`` figure with a failure beside it. Seconds are whole ones: with 0 seconds
    only a printed rate counts.
    """

    words = "Completed Completion bits b Mb Kb kb Gb ascp Session Error ERR"

    _done: re.Match[str] | None = anew()  # a closing line, until the line with its rate
    _line = anew(int)
    _size = anew(float)

    def feed(self, text: str) -> Iterator[Record]:
        done = _ASCP_DONE.search(text)
        if done is not None:
            yield from self.settle()
            self.known = {**self.copy(), **self.where}
            self._size = integer(done["size"]) * BINARY[done["u"]]
            self._done, self._line, self.open = done, self.ctx.line, True
            text = text[done.end() :]
        rate = _ASCP_RATE.search(text)
        if rate is not None and self._done is not None:
            yield from self.settle(rate, text)
        elif done is None:
            if self._done is not None and (text.strip() or self.ctx.line - self._line > 2):
                yield from self.settle(cut=text.lstrip().startswith("("))
            problem = _ASCP_FAILED.match(text)
            if "b/s" in text and (progress := _PROGRESS.match(text)) is not None:
                yield from self._progress(progress)
            elif problem is not None and (text.startswith(("ascp", "Session")) or self.ctx.args("ascp") is not None):
                yield self.failure(problem[0], **self.copy())

    def close(self) -> Iterator[Record]:
        return self.settle(cut=True)

    def _progress(self, match: re.Match[str]) -> Iterator[Record]:
        if not self.ctx.redraw:
            size, rate = float(match["size"]) * BINARY[match["su"]], amount(match["rate"], match["ru"] + "b")
            conditions: Conditions = {**self.copy(), "file": match["name"].strip(), "bytes": size, "interval": True}
            conditions |= {"average": "interval", "share": min(int(match["share"]), 100) / 100}
            yield self.measure("throughput", rate, f"{match['rate']}{match['ru']}b/s", **conditions)

    def settle(self, rate: re.Match[str] | None = None, text: str = "", *, cut: bool = False) -> Iterator[Record]:
        (done, self._done), self.open, line = (self._done, None), False, self._line
        if done is None:
            return
        size, seconds, partial = self._size, int(done["s"]), done["what"] != "Completed"
        conditions: Conditions = {**self.known, "bytes": size, "duration_s": float(seconds)}
        conditions["files"] = int(rate["files"]) if rate is not None and rate["files"] else None
        conditions |= {f"files_{outcome}": int(count) for count, outcome in _SKIPPED.findall(text)}
        status: Status = "partial" if partial else "complete"
        if partial:
            yield self.failure(f"{done.string.strip()} {text.strip()}", line=line, **self.known)
        value, printed, why = 0.0, "", "0 seconds and no rate line: no rate"
        if size <= 0:
            why = NO_BYTES
        elif rate is not None:
            value, why = amount(rate["rate"], rate["u"] + "b"), "the printed rate is zero"
            printed = f"{rate['rate']}{rate['u']} bits/sec"
            slow, fast = size / (seconds + 1), size / max(seconds - 1, 1e-3)
            if not 0.99 * slow <= value <= 1.01 * fast:  # seconds are whole ones
                yield self.unread(done.string, f"bytes and seconds do not give the printed {printed}", line=line)
        elif seconds > 0:
            value, conditions["derived"] = size / seconds, "bytes / time"
            status = "truncated" if cut and status == "complete" else status
        self.need(value > 0, done.string, why, line=line)
        yield self.measure("throughput", value, printed, conditions, status=status, line=line)
        if seconds > 0:
            yield self.measure("duration", float(seconds), f"{seconds} seconds", conditions, status=status, line=line)


_WDT_RATE: Final = regex(
    r"Total (?P<role>sender|receiver) throughput = (?P<rate>[\d.]+(?:e[+-]?\d+)?)\s+Mbytes/sec"
    r"(?:\s+\(<pure:dots>\s+Mbytes/sec\s+pure\s+transf)?"
)
_TIME: Final = re.compile(r"Total (?:sender|receiver) time = ([\d.]+)")
_STATUS: Final = re.compile(r"Transfer\s+status = (?P<status>[A-Z_]+)")
_BAR: Final = regex(r"\[[=>\s]*\] +(?P<share>\d{1,3})% +<rate:num> Mbytes/s(?:ec)?(?:\s+\[<now:dots> Mbytes/s)?")
_WRAPPED: Final = 10


class Wdt(LineParser, evidence=Evidence.TRANSFER, by_document=True):
    """wdt (Facebook's Warp speed Data Transfer): progress bar and closing report of sender and receiver.

    Units: ``Mbytes`` = 2^20 B (wdt ``Reporting.h``, kMbToB = 1024 * 1024); checked on the README: 1658999858 bytes in
    2.68699 s printed as 588.816 Mbytes/sec, so the rate counts data **and** headers over the whole time. ``pure
    transf(er) rate`` leaves out the time spent listing directories.

    The headline is ``Total sender throughput`` (or ``receiver``); the bar is the mean so far, ``partial`` where the
    report is missing. A status other than OK makes the run a failure. The report is one long line that mailers wrap:
    it is gathered over ten lines.
    """

    words = "Mbytes Total Transfer throughput"

    _bar: Record | None = anew()  # the mean so far
    _text: list[str] = anew(list)
    _start = anew(int)

    def feed(self, text: str) -> Iterator[Record]:
        if (bar := _BAR.search(text)) is not None:
            rate, facts = float(bar["rate"]), {**self.command_line().known, "share": min(int(bar["share"]), 100) / 100}
            self._bar = self.printed("throughput", bar["rate"], "Mbytes/s", facts) if rate > 0 else None
            text = text[bar.end() :].strip() or text
        begins = _TIME.search(text) or ("Transfer summary" in text and "status" in text)
        if self._text:
            self._text.append(text)
        elif begins or _WDT_RATE.search(text):
            self._text, self._start, self.open = [text], self.ctx.line, bool(begins)
        if self._text:
            report = " ".join(self._text)
            ended = _WDT_RATE.search(report) and ("pure" in report or (len(self._text) > 1 and "(" not in text))
            if ended or len(self._text) >= _WRAPPED:
                yield from self._report(report)

    def settle(self) -> Iterator[Record]:
        if self._text:
            yield from self._report(" ".join(self._text))
        yield from self.release(self._bar, "partial")

    def _report(self, text: str) -> Iterator[Record]:
        line, self._text, self.open = self._start, [], False
        status, match, facts = _STATUS.search(text), _WDT_RATE.search(text), {**self.command_line().known, **self.where}
        facts |= said_in(text, bytes=r"Total\s+bytes = (\d+)", files=r"Number\s+of\s+files\s+transferred = (\d+)")
        facts |= said_in(text, float, duration_s=_TIME.pattern)
        if status is not None and status["status"] != "OK":
            self._bar = match = None
            yield self.failure(status[0], line=line, **facts)
        if match is None:
            return
        self._bar, rate, size, seconds = None, float(match["rate"]), facts.get("bytes"), facts.get("duration_s")
        self.need(rate > 0 and size != 0, match[0], NO_BYTES, line=line)
        if size and seconds and not agrees(size / seconds / 2**20, rate, match["rate"]):
            yield self.unread(match[0], "bytes and seconds do not give the printed rate", line=line)
        facts["role"] = match["role"]
        yield self.printed("throughput", match["rate"], "Mbytes/sec", facts)
        if match["pure"]:
            printed, facts["excludes"] = f"{match['pure']} Mbytes/sec pure transfer rate", "directory listing"
            yield self.measure("throughput", float(match["pure"]) * 2**20, printed, facts, interval=True)


_ENDS: Final[dict[str, Conditions]] = {
    "In": {"direction": "receive", "role": "receiver"}, "Out": {"direction": "send", "role": "sender"},
}  # fmt: skip


class Fdt(LinesParser, evidence=Evidence.TRANSFER):
    """FDT (Fast Data Transfer, Caltech): the console's rates.

    Units: ``Mb/s``, ``Gb/s`` are decimal bits (FDT ``lia/util/net/common/Utils.java``, formatWithBitFactor: 1000), in
    ``ConsoleReportingTask.java``: ``Net Out: 9.412 Gb/s<tab>Avg: 9.388 Gb/s 45.20% ( 01m 12s )``. The first figure is
    of the last report period (5 s by default, ``interval=True``), ``Avg`` the mean since the session began; the time
    in brackets is what is left. ``Net In`` is printed by the receiver.

    FDT prints no closing rate: the last ``Avg`` is the headline, ``complete`` if the session says that it finished,
    else ``partial``. No log of a real run was at hand: the forms are those of the source.
    """

    words = "Net FDT Session session Exit"
    commands = ("fdt", "fdt.jar")

    _last: Record | None = anew()  # the mean so far
    _done = anew(bool)

    @reads(r"Net (?P<way>In|Out): <rate:comma> ?<u:k>b/s\s+Avg: <avg:comma> ?<au:k>b/s(?:\s+<share:comma>%)?")
    def _rates(self, match: Match) -> Iterator[Record]:
        if self._done:
            yield from self.settle()
        options = parse_arguments(self.tool, self.ctx.args("java", *self.commands)).known
        facts = {**_ENDS[match["way"]], **options, **self.where}
        facts["share"] = decimal(match["share"]) / 100 if match["share"] else None
        yield from self.figures(match, facts, "throughput {rate} {u}b/s : interval=True average=interval")
        mean = amount(match["avg"], match["au"] + "b")
        self._last = self.measure("throughput", mean, f"Avg: {match['avg']} {match['au']}b/s", facts)

    _end = notes(r"finished OK|[Ss]ession.*finished ok|Exit Status: OK|FDT.*Session.*finished successfully", _done=True)

    @reads(r"^.*(?:finished with errors?|Exit Status: Not OK|Cannot (?:connect|start)|SEVERE).*")
    def _failed(self, match: Match) -> Found:
        last, self._last = self._last, None
        facts: Conditions = dict(last.conditions) if isinstance(last, Measurement) else {}
        return self.failure(match[0], **facts) if last is not None or "FDT" in match.string else None

    def settle(self) -> Iterator[Record]:
        (last, self._last), (done, self._done) = (self._last, None), (self._done, False)
        if isinstance(last, Measurement) and last.value > 0:
            yield from self.release(last, "complete" if done else "partial")


_FAILED: Final = re.compile(
    r"(?<!\S)bbcp(?:@\S+)?: (?!Warning|Creating|Copying|Indexing|Appending|\d{6})\S.*"
    r"(?:failed|[Ee]rror|denied|refused|[Uu]nable|[Ii]nvalid|not found|No such|timed out|exists|closed|space|abort).*"
)
_DAY: Final = 86400.0


class Bbcp(LinesParser, evidence=Evidence.TRANSFER):
    """bbcp: progress in its three forms, file lines, and the closing line.

    Units: ``KB MB GB`` = 2^10, 2^20, 2^30 B (bbcp ``bbcp_Config.C``, Scale; ``/1024.0`` in older ``bbcp.C``).

    - ``At 140506 17:33:18 copy 20% complete; 89998.2 KB/s`` (before 2005) and ``170307 15:40:36 3% done; 425.7
      MB/s``: R is the mean since the start of the file (``bbcp_ProgMon.C``: bytes so far / elapsed time), so the ramp
      and every slow spell are smeared out. Each becomes a record ``average="running"``, and where the digits carry it
      a second one, ``derived="differentiated"``: the mean since the line before.
    - ``8% done; 1006.2 MB/s, avg 1006.2 MB/s`` (with ``-v``): the first is the rate since the line before. Versions
      before 2015 print the two unit letters the wrong way round (same source: the prefix of one rate is
      computed, that of the other printed); seen when the figures differ by about 1024, and put right.

    The headline is ``N files copied at effectively R`` (from the start of the program to its end); next the line
    ``File F created; N bytes at R`` when there is one file; a run with neither has its last running mean as
    ``partial``. "Copying 0 files and 0 links" is normal for a single file.
    """

    words = "bbcp effectively created"

    _last: tuple[float, str, int] | None = anew()  # running mean [B/s], as printed, line
    _clock: float | None = anew()  # of the line before [s]
    _elapsed: float | None = anew()  # from the start of the file to the line before, as far as is known [s]
    _waiting = anew(bool)  # only the first line was seen
    _mean: tuple[float, float] | None = anew()  # running mean of the line before, half of its last digit [B/s]
    _files = anew(int)
    _file: Record | None = anew()
    _closed = anew(bool)

    def feed(self, text: str) -> Iterable[Record]:
        if not self.known:
            self.known = {**self.copy(), **self.where}
        return super().feed(text)

    @reads(
        r"bbcp: (?:At )?(?:(?P<day>\d{6}) +(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d) +)?(?:copy )?(?P<share>\d+%|not) "
        r"(?:complete|done); <rate:num> <u:k>B/s(?:, avg <avg:num> <au:k>B/s)?"
    )
    def _progress(self, match: Match) -> Iterator[Record]:
        if self._closed:
            self.further("known")
        rate, printed = amount(match["rate"], match["u"] + "B"), f"{match['rate']} {match['u']}B/s"
        share: Conditions = {} if match["share"] == "not" else {"share": int(match["share"][:-1]) / 100}
        if match["avg"] is None:
            running = (rate, printed, match["rate"])
        else:
            mean, (u, au) = amount(match["avg"], match["au"] + "B"), match.group("u", "au")
            if u != au and min(rate, mean) > 0 and max(rate, mean) / min(rate, mean) > 100:  # letters are swapped
                swapped = amount(match["rate"], au + "B"), amount(match["avg"], u + "B")
                rate, mean = swapped if max(swapped) < 100 * min(swapped) else (rate, mean)
            running = (mean, f"avg {match['avg']} {au}B/s", match["avg"])
            conditions = {**self.known, **share, "interval": True, "average": "interval"}
            yield self.measure("throughput", rate, printed, **conditions)
        conditions = {**self.known, **share, "interval": True, "average": "running"}
        yield self.measure("throughput", running[0], running[1], **conditions)
        self._last = (*running[:2], self.ctx.line)
        if match["avg"] is None and match["day"] is not None:
            yield from self._differentiated(running[0], running[2], match)

    def _differentiated(self, mean: float, digits: str, match: Match) -> Iterator[Record]:
        """The rate since the line before, where rounding leaves at least one good digit.

        The monitor reports at a fixed period from the start of the file on: the first line comes after
        one period, which is the distance to the second.
        """
        clock = int(match["day"][4:]) * _DAY + int(match["h"]) * 3600.0 + int(match["m"]) * 60.0 + int(match["s"])
        half = 0.5 * 10.0 ** -len(digits.partition(".")[2]) * (mean / float(digits) if float(digits) else 0.0)
        (before, self._clock), (last, self._mean) = (self._clock, clock), (self._mean, (mean, half))
        if before is None:
            self._waiting = True
            return
        step = clock - before
        if step <= 0 or last is None:
            self._elapsed = None
            return
        if self._elapsed is None and self._waiting:
            self._elapsed, self._waiting = step, False
        if self._elapsed is not None:
            start, end = self._elapsed, self._elapsed + step
            self._elapsed = end
            rate, error = (mean * end - last[0] * start) / step, (half * end + last[1] * start) / step
            if rate > 0 and error <= 0.1 * rate:
                conditions: Conditions = {**self.known, "interval": True, "derived": "differentiated"}
                yield self.measure("throughput", rate, "", conditions | {"start_s": start, "end_s": end})

    @reads(r"File (?P<file>\S.{0,400}?) created; <size:int> bytes at <rate:num> <u:k>B/s")
    def _created(self, match: Match) -> Record:
        self._files, size = self._files + 1, int(match["size"])
        conditions: Conditions = {**self.known, "file": match["file"], "file_B": size, "operation": "file"}
        rate, printed = amount(match["rate"], match["u"] + "B"), f"{match['rate']} {match['u']}B/s"
        self.need(size and rate, match[0], NO_BYTES)
        self._file = self.measure("throughput", rate, printed, conditions)
        return self.measure("throughput", rate, printed, conditions, interval=True)

    @reads(r"(?<!\d)<n:int> files? copied at effectively <rate:num> <u:k>B/s")
    def _closing(self, match: Match) -> Iterator[Record]:
        self._closed, rate = True, amount(match["rate"], match["u"] + "B")
        conditions: Conditions = {**self.known, "files": int(match["n"])}
        if isinstance(self._file, Measurement) and self._files == 1:
            conditions |= {key: self._file.conditions.get(key) for key in ("file", "file_B")}
        elif int(match["n"]) > 1:
            conditions.pop("file", None)
        yield self.rate(rate, f"{match['rate']} {match['u']}B/s", conditions, text=match[0])

    @reads(r"bbcp: Creating (?P<file>\S.*)$")
    def _creating(self, match: Match) -> None:
        self._clock = self._elapsed = self._mean = None
        self._waiting, self.known["file"] = False, match["file"]

    def other(self, text: str) -> Found:
        if (problem := located(_FAILED, text, "bbcp: ", "bbcp@")) is None:
            return None
        conditions = self.known
        self.further("known")
        return self.failure(problem[0], **conditions)

    def settle(self) -> Iterator[Record]:
        if self._file is not None and self._files == 1 and not self._closed:
            yield self._file
        elif self._last is not None and not self._files and not self._closed:
            rate, printed, line = self._last
            conditions = {**self.known, "average": "running"}
            yield self.measure("throughput", rate, printed, status="partial", line=line, **conditions)
