"""Streams through a pipe: dd and mbuffer.

dd: GNU coreutils (old, new, very old), BSD and macOS, busybox, toybox, any locale.

Units: GNU dd prints powers of 1000 (``11 GB`` is 1.1e10 B) and since 8.24 also ``10 GiB``; busybox and toybox print
powers of 1024 with the same letters (coreutils ``src/dd.c`` print_xfer_stats, busybox ``dd.c``). It does not matter
here: the rate is computed from the bytes and seconds of the same line, and compared with the printed one in both units.

Whether a figure is the page cache's or the disk's is said only by the command line
(``conv=fdatasync``, ``oflag=direct``); so without it there is no ``sync`` condition. Suffixes of
``bs=``: ``1M`` and ``1MiB`` are 1024-based, ``1MB`` is 1000-based, ``w`` 2, ``b`` 512 (coreutils manual).
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Final, NamedTuple

from dtnsim.logs._declared import LinesParser, Match, reads
from dtnsim.logs._numbers import BINARY, DECIMAL, agrees, amount, decimal, integer, regex
from dtnsim.logs.base import NO_BYTES, Conditions, Evidence, LineParser, Record, Status, anew, noted

_RESULT: Final = regex(
    r"(?<![\d.,])(?P<bytes>\d++(?:[,.' \u202f\xa0]\d{3}){0,8}+)\s*+[^\W\d_]++[^\d,(（]{0,24}"
    r"(?:[(（][^()（）]{0,60}[)）])?\D{0,40}?[,，、]\s*+(?P<secs>\d[\d.,]*+(?:e[+-]?\d++)?)\s*+"
    r"(?:s|secs?|seconds?|[^\W\d_]{1,8})\s*+[,，、]\s*+(?P<rate>[\d.,]++)\s?(?P<unit><prefix:k>i?B?)/\S"
)
#: the same for GNU in English, which is nearly every line
_GNU: Final = regex(
    r"(?<!\d)<bytes:int> bytes (?:\([^()]*+\) )?copied, (?P<secs>\d[\d.]*(?:e[+-]?\d+)?) s, "
    r"<rate:dots> (?P<unit><prefix:k>B)/s"
)
_BSD: Final = regex(
    r"(?<!\d)<bytes:int> bytes (?:\([^()]*+\) )?transferred (?:in )?(?P<secs>[\d.,]+) ?(?:s|secs|seconds|sec)"
    r"(?: \(|, )(?P<rate>[\d.,]+|inf|nan) (?P<unit>bytes|<prefix:k>B)/s(?:ec\)|(?<=B/s))"
)
_RECORDS: Final = regex(r"(?<!\d)<full:int>\+<part:int>\s[^\d\s]")
_ERROR: Final = re.compile(r"(?:^|\s|/)dd: (?!warning)(?P<what>.*)")
_STATS_FOLLOW: Final = re.compile(r"\b(?:writ|read|fsync|fdatasync|clos|truncat|Input/output|No space)")
_TITLE: Final = re.compile(r"\b(read|write)s?\s*:\s*\d", re.IGNORECASE)
_SIZE: Final = regex(r"<n:int>(?P<u>[a-zA-Z]*)")
_SUFFIXES: Final = {
    "": 1.0, "c": 1.0, "w": 2.0, "b": 512.0, "B": 1.0, **{f"{k}{b}": DECIMAL[k] for k in DECIMAL if k for b in "bB"},
    **{f"{k}{i}": BINARY[k] for k in BINARY if k for i in ("", "i")},
}  # fmt: skip
_ABSURD: Final = 1e24  # no size [B]


def argument_bytes(text: str) -> float | None:
    """A dd size argument (``1M``, ``64k``, ``1MB``, ``2x512``) in [B]; None if it is none."""
    product = 1.0
    for part in text.split("x"):
        match = _SIZE.fullmatch(part.removesuffix("B") if part[-2:] == "iB" else part)
        if match is None or match["u"] not in _SUFFIXES:
            return None
        product *= float(match["n"]) * _SUFFIXES[match["u"]]
    return product if product < _ABSURD else None


class _Run(NamedTuple):
    bytes: float
    seconds: float
    rate: str
    prefix: str
    unit: str
    line: int
    text: str
    cut: bool
    end: int  # in the text


class Dd(LineParser, evidence=Evidence.FITS):
    """Result lines, the record counts before them, progress lines and error messages of dd."""

    words = "copied transferred kopiert records MB GB kB TB bytes dd"
    shape = "\\+(?<![^\\sC]\\+)[ \u00a0]"
    commands = ("dd", "gdd")

    _HELD = 10_000

    _records: tuple[int, int] | None = anew()
    _interrupted = anew(bool)
    _failed: str | None = anew()
    _progress: _Run | None = anew()  # last redraw of a progress line
    _held: list[_Run] = anew(list)  # results without record counts: runs, or progress of the next run

    def feed(self, text: str) -> Iterable[Record]:
        if "/s" in text and ("/sec)" in text or "," in text or "，" in text or "、" in text):
            return self._result(text)
        if "+" in text and (match := _RECORDS.search(text)) is not None:
            if self._records is None:
                self._interrupted = "^C" in text
            self._records = int(match["full"]), int(match["part"])
            return ()
        if "dd: " in text:
            error = _ERROR.search(text)
            if (cause := "" if error is None else error["what"]) and _STATS_FOLLOW.search(cause) is None:
                return (self.failure(text),)
            self._failed = text.strip() if cause else self._failed  # it prints statistics all the same; the run failed
            return ()
        if " copied," in text and "bytes" in text:
            return (self.unread(text, "the result line has no rate: it is cut or of an unknown form"),)
        return ()

    def settle(self) -> Iterator[Record]:
        """Settles results without record counts, and an unfinished progress line."""
        (results, self._held), (run, self._progress) = (self._held, []), (self._progress, None)
        self._records, self._failed, self.open = None, None, False
        for result in results:
            yield from self._records_of(result, "truncated" if result.cut else "complete", None)
        if run is not None:
            yield from self._records_of(run, "partial", None)

    def _result(self, text: str) -> Iterable[Record]:
        if (run := self._parse(text)) is None:
            return ()
        rest = text[run.end :]
        following = self._parse(rest) if " copied," in rest or " transferred" in rest else None
        if following is None:
            return self._ended(run)
        # joined: drawings of one copy grow, other results are of further runs
        further = following.bytes <= run.bytes or following.seconds <= run.seconds
        return [*self._ended(run), *self._result(rest)] if further else self._result(rest)

    def _ended(self, run: _Run) -> Iterable[Record]:
        records, self._records = self._records, None
        if records is not None:
            return self._finished(run, records)
        self._failed = None
        if self.ctx.redraw or self.ctx.after_redraw:
            self._progress, self.open = run, False
            return ()
        self._held.append(run)
        return list(self.settle()) if len(self._held) > self._HELD else ()

    def _finished(self, run: _Run, records: tuple[int, int]) -> Iterator[Record]:
        self._progress = None
        earlier, self._held = self._held, []
        for previous in earlier:  # progress of this very run grows towards its result
            if previous.bytes > run.bytes or previous.seconds > run.seconds:
                yield from self._records_of(previous, "complete", None)
        message, self._failed = self._failed, None
        if message is not None:
            yield self.failure(message, bytes=run.bytes, duration_s=run.seconds)
            return
        status: Status = "truncated" if run.cut else "partial" if self._interrupted else "complete"
        self._interrupted = False
        yield from self._records_of(run, status, records)

    def _parse(self, text: str) -> _Run | None:
        """The first result of a line."""
        if (match := _GNU.match(text) or _RESULT.search(text) or _BSD.search(text)) is None:
            return None
        rate, unit, prefix = match.group("rate", "unit", "prefix")
        with suppress(ValueError):
            size, seconds = integer(match["bytes"]), decimal(match["secs"])
            where = self.ctx.line, text, self.ctx.cut, match.end()
            return _Run(size, seconds, rate, prefix or "", unit, *where)
        return None

    @noted
    def _records_of(self, run: _Run, status: Status, records: tuple[int, int] | None) -> Iterator[Record]:
        if run.bytes <= 0:
            yield self.measure("bytes", run.bytes, run.text.strip()[:60], status=status, line=run.line)
            return
        self.need(run.seconds > 0, run.text, "no time passed: the clock is too coarse for a rate", line=run.line)
        rate = run.bytes / run.seconds
        if not self._agrees(run, rate):
            why = f"prints {run.rate} {run.unit}/s, but bytes / seconds give {rate:.4g} B/s; the latter is used"
            yield self.unread(run.text, why, line=run.line)
        args = self.ctx.args("dd", "gdd")
        conditions: Conditions = dict(_from_args(tuple(args))) if args is not None else {}
        if args is None and ":" in run.text and (title := _TITLE.search(run.text)) is not None:
            conditions["operation"] = title[1].lower()
        if "block_B" not in conditions and records is not None and records[0] > 0 and records[1] == 0:
            conditions["block_B"] = block if (block := run.bytes / records[0]) == int(block) else None
        conditions |= {"bytes": run.bytes, "duration_s": run.seconds}
        yield self.measure("throughput", rate, f"{run.rate} {run.unit}/s", conditions, status=status, line=run.line)
        yield self.measure("duration", run.seconds, f"{run.seconds:g} s", conditions, status=status, line=run.line)

    def _agrees(self, run: _Run, rate: float) -> bool:
        try:
            shown = decimal(run.rate)
        except ValueError:
            return True
        near = abs(rate - shown * DECIMAL[run.prefix]) <= 0.02 * rate
        return near or any(agrees(rate / table[run.prefix], shown, run.rate) for table in (DECIMAL, BINARY))


@lru_cache(maxsize=64)
def _from_args(args: tuple[str, ...]) -> Conditions:
    """Conditions from a dd command line."""
    operands = dict(arg.split("=", 1) for arg in args if "=" in arg)
    source, target = operands.get("if"), operands.get("of")
    flags = f"{operands.get('conv', '')},{operands.get('oflag', '')},{operands.get('iflag', '')}".split(",")
    generated = source in ("/dev/zero", "/dev/urandom", "/dev/random")
    sync = next((f for f in ("fdatasync", "fsync", "dsync", "sync") if f in flags), "none")
    if sync == "sync" and "sync" in operands.get("conv", "").split(","):
        sync = "none"  # conv=sync pads input blocks; it does not write through
    conditions: Conditions = {
        "block_B": argument_bytes(operands.get("bs") or operands.get("obs") or operands.get("ibs") or "512"),
        "source": source, "target": target, "sync": sync, "direct": True if "direct" in flags else None,
        "operation": "copy" if generated == (target == "/dev/null") else "write" if generated else "read",
    }  # fmt: skip
    return {key: value for key, value in conditions.items() if value is not None}


class Mbuffer(LinesParser, evidence=Evidence.TRANSFER):
    """mbuffer: the last line, "summary: 4096 MiByte in 1min 04.0sec - average of 64.0 MiB/s".

    Units: ``MiB`` = 2^20 B (mbuffer 20230301, the formats in its program and runs of it). The rate is the printed one,
    since of a short run bytes over seconds, which have one decimal, say less. Of several volumes their number comes
    before the size of one.
    """

    words = "summary average"

    @reads(
        r"^summary: +(?:<volumes:int>x +)?<size:num> (?P<u><k:k>i?Byte) in +"
        r"(?:<h:int>h +)?(?:<m:int>min +)?<s:num>sec - average of +<rate:num> (?P<ru><rk:k>i?B/s)",
        result="summary:",
    )
    def _summary(self, match: Match) -> Iterator[Record]:
        size = amount(match["size"], match["u"]) * int(match["volumes"] or 1)
        seconds = int(match["h"] or 0) * 3600.0 + int(match["m"] or 0) * 60.0 + float(match["s"])
        self.need(size > 0, match[0], NO_BYTES)
        conditions: Conditions = {**self.command_line().known, "bytes": size, "duration_s": seconds}
        yield from self.figures(match, conditions, "throughput? {rate} {ru}")
        if seconds > 0:
            yield self.measure("duration", seconds, f"{match['s']}sec", conditions)
