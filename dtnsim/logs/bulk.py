"""Copies with many streams: ascp, wdt, fdt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dtnsim.logs._commands import given
from dtnsim.logs._declared import Found, LinesParser, Match, notes, reads
from dtnsim.logs._numbers import BINARY, agrees, bits_rate, decimal, integer, regex
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, Status, anew
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


class Ascp(LineParser):
    """ascp (IBM Aspera): closing lines, progress and errors.

    Units: ``K bytes`` = 1024 B, ``K bits/sec`` = 1000 bit/s; checked on the UCI log: 181912686K bytes in 3408 s
    printed as 437191K bits/sec. Progress sizes ``173GB`` are 1024-based, progress rates ``438Mb/s`` are decimal bits
    of the last seconds: never a headline (138Mb/s stood beside a mean of 281 Mbit/s).

    The headline is the rate of ``Completed:``; where its line is missing it is computed from K bytes and seconds.
    ``Partial Completion`` is a ``partial`` figure with a failure beside it. Seconds are whole ones: with 0 seconds
    only a printed rate counts.
    """

    tool = "ascp"
    evidence = Evidence.TRANSFER
    words = "Completed Completion bits b Mb Kb kb Gb ascp Session Error ERR"

    _done: re.Match[str] | None = anew()  # a closing line, until the line with its rate
    _line = anew(int)
    _size = anew(float)
    _known: Conditions = anew(dict)

    def feed(self, text: str) -> Iterator[Record]:
        done = _ASCP_DONE.search(text)
        if done is not None:
            yield from self.settle()
            self._known = {**self.copy(), **self.where}
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

    def _progress(self, found: re.Match[str]) -> Iterator[Record]:
        if not self.ctx.redraw:
            size, rate = float(found["size"]) * BINARY[found["su"]], bits_rate(found["rate"], found["ru"])
            known: Conditions = {**self.copy(), "file": found["name"].strip(), "bytes": size, "interval": True}
            known |= {"average": "interval", "share": min(int(found["share"]), 100) / 100}
            yield self.measure("throughput", rate, f"{found['rate']}{found['ru']}b/s", **known)

    def settle(self, rate: re.Match[str] | None = None, text: str = "", *, cut: bool = False) -> Iterator[Record]:
        (done, self._done), self.open, line = (self._done, None), False, self._line
        if done is None:
            return
        size, seconds, partial = self._size, int(done["s"]), done["what"] != "Completed"
        known: Conditions = {**self._known, "bytes": size, "duration_s": float(seconds)}
        known["files"] = int(rate["files"]) if rate is not None and rate["files"] else None
        known |= {f"files_{what}": int(count) for count, what in _SKIPPED.findall(text)}
        status: Status = "partial" if partial else "complete"
        if partial:
            yield self.failure(f"{done.string.strip()} {text.strip()}", line=line, **self._known)
        value, printed, why = 0.0, "", "0 seconds and no rate line: no rate"
        if size <= 0:
            why = "no bytes were transferred: no rate"
        elif rate is not None:
            value, why = bits_rate(rate["rate"], rate["u"]), "the printed rate is zero"
            printed = f"{rate['rate']}{rate['u']} bits/sec"
            slow, fast = size / (seconds + 1), size / max(seconds - 1, 1e-3)
            if not 0.99 * slow <= value <= 1.01 * fast:  # seconds are whole ones
                yield self.unread(done.string, f"bytes and seconds do not give the printed {printed}", line=line)
        elif seconds > 0:
            value, known["derived"] = size / seconds, "bytes / time"
            status = "truncated" if cut and status == "complete" else status
        if value <= 0:
            yield self.unread(done.string, why, line=line)
            return
        yield self.measure("throughput", value, printed, known, status=status, line=line)
        if seconds > 0:
            yield self.measure("duration", float(seconds), f"{seconds} seconds", known, status=status, line=line)


_WDT_RATE: Final = regex(
    r"Total (?P<role>sender|receiver) throughput = (?P<rate>[\d.]+(?:e[+-]?\d+)?)\s+Mbytes/sec"
    r"(?:\s+\(<pure:dots>\s+Mbytes/sec\s+pure\s+transf)?"
)
_TIME: Final = re.compile(r"Total (?:sender|receiver) time = ([\d.]+)")
_STATUS: Final = re.compile(r"Transfer\s+status = (?P<status>[A-Z_]+)")
_WDT_FIGURES: Final = {
    "bytes": (re.compile(r"Total\s+bytes = (\d+)"), int),
    "files": (re.compile(r"Number\s+of\s+files\s+transferred = (\d+)"), int), "duration_s": (_TIME, float),
}  # fmt: skip
_BAR: Final = regex(r"\[[=>\s]*\] +(?P<share>\d{1,3})% +<rate:num> Mbytes/s(?:ec)?(?:\s+\[<now:dots> Mbytes/s)?")
_WRAPPED: Final = 10


class Wdt(LineParser):
    """wdt (Facebook's Warp speed Data Transfer): progress bar and closing report of sender and receiver.

    Units: ``Mbytes`` = 2^20 B (wdt ``Reporting.h``, kMbToB = 1024 * 1024); checked on the README: 1658999858 bytes in
    2.68699 s printed as 588.816 Mbytes/sec, so the rate counts data **and** headers over the whole time. ``pure
    transf(er) rate`` leaves out the time spent listing directories.

    The headline is ``Total sender throughput`` (or ``receiver``); the bar is the mean so far, ``partial`` where the
    report is missing. A status other than OK makes the run a failure. The report is one long line that mailers wrap:
    it is gathered over ten lines.
    """

    tool = "wdt"
    evidence = Evidence.TRANSFER
    by_document = True
    words = "Mbytes Total Transfer throughput"

    _bar: Record | None = anew()  # the mean so far
    _text: list[str] = anew(list)
    _start = anew(int)

    def feed(self, text: str) -> Iterator[Record]:
        bar = _BAR.search(text)
        if bar is not None:
            rate, printed = float(bar["rate"]) * 2**20, f"{bar['rate']} Mbytes/s"
            known = {**self.asked().known, "share": min(int(bar["share"]), 100) / 100}
            self._bar = self.measure("throughput", rate, printed, known) if rate > 0 else None
            if bar.end() < len(text.rstrip()):
                text = text[bar.end() :]
        begins = _TIME.search(text) or ("Transfer summary" in text and "status" in text)
        if begins and not self._text:
            self._text, self._start, self.open = [text], self.ctx.line, True
        elif self._text:
            self._text.append(text)
        elif _WDT_RATE.search(text):
            self._text, self._start = [text], self.ctx.line
        if self._text:
            whole = " ".join(self._text)
            ended = _WDT_RATE.search(whole) and ("pure" in whole or (len(self._text) > 1 and "(" not in text))
            if ended or len(self._text) >= _WRAPPED:
                yield from self._report(whole)

    def settle(self) -> Iterator[Record]:
        if self._text:
            yield from self._report(" ".join(self._text))
        bar, self._bar = self._bar, None
        yield from self.held(bar, "partial")

    def _report(self, text: str) -> Iterator[Record]:
        line, self._text, self.open = self._start, [], False
        status, found, known = _STATUS.search(text), _WDT_RATE.search(text), {**self.asked().known, **self.where}
        for key, (pattern, read) in _WDT_FIGURES.items():
            known[key] = read(figure[1]) if (figure := pattern.search(text)) is not None else None
        failed = status is not None and status["status"] != "OK"
        if failed or found is not None:
            self._bar = None
        if status is not None and failed:
            yield self.failure(status[0], line=line, **known)
            return
        if found is None:
            return
        rate = float(found["rate"])
        self.need(rate > 0 and known["bytes"] != 0, found[0], "no bytes were transferred: no rate", line=line)
        if known["bytes"] and known["duration_s"]:
            computed = known["bytes"] / known["duration_s"] / 2**20
            if not agrees(computed, rate, found["rate"]):
                yield self.unread(found[0], "bytes and seconds do not give the printed rate", line=line)
        known["role"] = found["role"]
        yield self.measure("throughput", rate * 2**20, f"{found['rate']} Mbytes/sec", **known)
        if found["pure"]:
            more: Conditions = {**known, "interval": True, "excludes": "directory listing"}
            printed = f"{found['pure']} Mbytes/sec pure transfer rate"
            yield self.measure("throughput", float(found["pure"]) * 2**20, printed, more)


_ENDS: Final[dict[str, Conditions]] = {
    "In": {"direction": "receive", "role": "receiver"}, "Out": {"direction": "send", "role": "sender"},
}  # fmt: skip


class Fdt(LinesParser):
    """FDT (Fast Data Transfer, Caltech): the console's rates.

    Units: ``Mb/s``, ``Gb/s`` are decimal bits (FDT ``lia/util/net/common/Utils.java``, formatWithBitFactor: 1000), in
    ``ConsoleReportingTask.java``: ``Net Out: 9.412 Gb/s<tab>Avg: 9.388 Gb/s 45.20% ( 01m 12s )``. The first figure is
    of the last report period (5 s by default, ``interval=True``), ``Avg`` the mean since the session began; the time
    in brackets is what is left. ``Net In`` is printed by the receiver.

    FDT prints no closing rate: the last ``Avg`` is the headline, ``complete`` if the session says that it finished,
    else ``partial``. No log of a real run was at hand: the forms are those of the source.
    """

    tool = "fdt"
    evidence = Evidence.TRANSFER
    words = "Net FDT Session session Exit"
    commands = ("fdt", "fdt.jar")

    _last: Record | None = anew()  # the mean so far
    _done = anew(bool)

    @reads(r"Net (?P<way>In|Out): <rate:comma> ?<u:k>b/s\s+Avg: <avg:comma> ?<au:k>b/s(?:\s+<share:comma>%)?")
    def _rates(self, found: Match) -> Iterator[Record]:
        if self._done:
            yield from self.settle()
        known = {**_ENDS[found["way"]], **given(self.tool, self.ctx.args("java", *self.commands)).known, **self.where}
        known["share"] = decimal(found["share"]) / 100 if found["share"] else None
        rate, mean = (bits_rate(found[key], found[unit]) for key, unit in (("rate", "u"), ("avg", "au")))
        printed = f"{found['rate']} {found['u']}b/s"
        yield self.measure("throughput", rate, printed, known, interval=True, average="interval")
        self._last = self.measure("throughput", mean, f"Avg: {found['avg']} {found['au']}b/s", known)

    _end = notes(r"finished OK|[Ss]ession.*finished ok|Exit Status: OK|FDT.*Session.*finished successfully", _done=True)

    @reads(r"^.*(?:finished with errors?|Exit Status: Not OK|Cannot (?:connect|start)|SEVERE).*")
    def _failed(self, found: Match) -> Found:
        last, self._last = self._last, None
        known: Conditions = dict(last.conditions) if isinstance(last, Measurement) else {}
        return self.failure(found[0], **known) if last is not None or "FDT" in found.string else None

    def settle(self) -> Iterator[Record]:
        (last, self._last), (done, self._done) = (self._last, None), (self._done, False)
        if isinstance(last, Measurement) and last.value > 0:
            yield from self.held(last, "complete" if done else "partial")
