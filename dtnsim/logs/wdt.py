"""wdt (Facebook's Warp speed Data Transfer): progress bar and closing report of sender and receiver.

Units: ``Mbytes`` = 2^20 B (wdt ``Reporting.h``, kMbToB = 1024 * 1024); checked on the README: 1658999858 bytes in
2.68699 s printed as 588.816 Mbytes/sec, so the rate counts data **and** headers over the whole time. ``pure
transf(er) rate`` leaves out the time spent listing directories.

The headline is ``Total sender throughput`` (or ``receiver``); the bar is the mean so far, ``partial`` where the
report is missing. A status other than OK makes the run a failure. The report is one long line that mailers wrap: it
is gathered over ten lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dtnsim.logs._net import host_of, options
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, agrees

_RATE: Final = re.compile(
    r"Total (?P<role>sender|receiver) throughput = (?P<rate>[\d.]+(?:e[+-]?\d+)?)\s+Mbytes/sec"
    r"(?:\s+\((?P<pure>[\d.]+)\s+Mbytes/sec\s+pure\s+transf)?"
)
_TIME: Final = re.compile(r"Total (?:sender|receiver) time = (?P<s>[\d.]+)")
_BYTES: Final = re.compile(r"Total\s+bytes = (?P<b>\d+)")
_FILES: Final = re.compile(r"Number\s+of\s+files\s+transferred = (?P<n>\d+)")
_STATUS: Final = re.compile(r"Transfer\s+status = (?P<status>[A-Z_]+)")
_BAR: Final = re.compile(
    r"\[[=>\s]*\] +(?P<share>\d{1,3})% +(?P<rate>\d+(?:\.\d+)?) Mbytes/s(?:ec)?(?:\s+\[(?P<now>[\d.]+) Mbytes/s)?"
)
_WRAPPED: Final = 10
_OPTIONS: Final = {
    "-directory": "source",
    "-destination": "target",
    "-num_ports": "streams",
    "-avg_mbytes_per_sec": "limit",
}


class Wdt(LineParser):
    """Bar and report of wdt."""

    tool = "wdt"
    evidence = Evidence.TRANSFER
    by_document = True
    words = ("Mbytes", "Total", "Transfer", "throughput")
    commands = ("wdt",)

    def forget(self) -> None:
        self.open = False
        self._bar: tuple[float, str, int, int, Conditions] | None = None
        self._text: list[str] = []
        self._start = 0

    def feed(self, text: str) -> Iterator[Record]:
        bar = _BAR.search(text)
        if bar is not None:
            rate, share = float(bar["rate"]) * 2**20, min(int(bar["share"]), 100)
            self._bar = (rate, f"{bar['rate']} Mbytes/s", share, self.ctx.line, self._known())
            if bar.end() < len(text.rstrip()):
                text = text[bar.end() :]
        begins = _TIME.search(text) or ("Transfer summary" in text and "status" in text)
        if begins and not self._text:
            self._text, self._start, self.open = [text], self.ctx.line, True
        elif self._text:
            self._text.append(text)
        elif _RATE.search(text):
            self._text, self._start = [text], self.ctx.line
        if self._text:
            whole = " ".join(self._text)
            ended = _RATE.search(whole) and ("pure" in whole or (len(self._text) > 1 and "(" not in text))
            if ended or len(self._text) >= _WRAPPED:
                yield from self._report(whole)

    def settle(self) -> Iterator[Record]:
        """Settles a report that is cut, and a bar without report."""
        if self._text:
            yield from self._report(" ".join(self._text))
        bar, self._bar = self._bar, None
        if bar is not None and bar[0] > 0:
            rate, printed, share, line, known = bar
            known["share"] = share / 100
            yield self.measure("throughput", rate, "B/s", printed, status="partial", line=line, **known)

    def _report(self, text: str) -> Iterator[Record]:
        line = self._start
        self._text, self.open = [], False
        known = self._known()
        status = _STATUS.search(text)
        size, files, time = _BYTES.search(text), _FILES.search(text), _TIME.search(text)
        known["bytes"] = int(size["b"]) if size is not None else None
        known["files"] = int(files["n"]) if files is not None else None
        known["duration_s"] = float(time["s"]) if time is not None else None
        if status is not None and status["status"] != "OK":
            self._bar = None
            yield self.failure(status[0], line=line, **known)
            return
        found = _RATE.search(text)
        if found is None:
            return
        self._bar = None
        rate = float(found["rate"])
        if rate <= 0 or (size is not None and int(size["b"]) == 0):
            yield self.unread(found[0], "no bytes were transferred: no rate", line=line)
            return
        if size is not None and time is not None and float(time["s"]) > 0:
            computed = int(size["b"]) / float(time["s"]) / 2**20
            if not agrees(computed, rate, found["rate"]):
                yield self.unread(found[0], "bytes and seconds do not give the printed rate", line=line)
        known["role"] = found["role"]
        printed = f"{found['rate']} Mbytes/sec"
        yield self.measure("throughput", rate * 2**20, "B/s", printed, line=self.ctx.line, **known)
        if found["pure"]:
            pure = {**known, "interval": True, "excludes": "directory listing"}
            text = f"{found['pure']} Mbytes/sec pure transfer rate"
            yield self.measure("throughput", float(found["pure"]) * 2**20, "B/s", text, line=self.ctx.line, **pure)

    def _known(self) -> Conditions:
        given, _ = options(self.ctx.args("wdt"), _OPTIONS)
        found: Conditions = {key: given[key] for key in ("source", "target") if key in given}
        return {**found, **host_of(self.ctx)}
