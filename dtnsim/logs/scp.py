"""scp and sftp: OpenSSH's progress meter (with rate, and the bar of OpenSSH 3), PuTTY's pscp and psftp.

Units: ``KB MB GB TB`` = 2^10 ... 2^40 B, the rate ``MB/s`` = 2^20 B/s (OpenSSH ``progressmeter.c``,
format_size and format_rate); checked: 100GB in 09:22 printed as 182.2MB/s. pscp's ``kB`` = 1024 B (PuTTY
``pscp.c``, print_stats). A size without a letter is in bytes.

The last column is the time that passed at 100 %, and the time that is left (``ETA``) before: only the
first is a duration. A redrawn line counts once, when it is drawn last. The rate at 100 % is the mean of the
whole file; before it is a moving average of the last seconds (``partial``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final, NamedTuple

from dtnsim.logs._commands import ends_of_copy
from dtnsim.logs._declared import LinesParser, Match, reads
from dtnsim.logs._numbers import agrees, binary_size, clock_s, decimal
from dtnsim.logs.base import Conditions, Evidence, Record, Status

_METER: Final = re.compile(
    r"^(?P<name>.*?)(?<![\d.])(?P<share>\d{1,3})%\s++(?:\|[* .]*+\|\s*+)?"
    r"(?P<size>\d+(?:[.,]\d+)?)\s?(?P<su>[KMGTPE]?)B?(?:\s++(?P<rate>\d++(?:[.,]\d++)?)(?P<ru>[KMGTP]?)B/s)?"
    r"\s++(?P<time>(?:(?:\d{1,9}:)?\d{1,9}:\d\d:\d\d|\d{1,9}:\d\d)|--:--)(?P<eta>\s+ETA)?\s*$"
    r"|^(?P<stalled>[^%]*+%.*- stalled -.*)$"
)
_PSCP: Final = re.compile(
    r"^(?P<name>.+?)(?<=\s)\| (?P<size>\d++) kB \|\s+(?P<rate>\d+(?:\.\d+)?) kB/s \| ETA: \S+ \|\s+(?P<share>\d+)%"
)
_STALLED: Final = re.compile(r"^(?P<name>.*?)(?P<share>\d{1,3})%\s++(?P<size>\d++(?:\.\d++)?)(?P<su>[KMGTPE]?)B?\s")
_FAILED: Final = re.compile(
    r"^(?:scp|sftp|pscp|ssh): .*|^.*(?:Permission denied|lost connection|Connection (?:closed|refused|timed out|reset)|"
    r"Host key verification failed|No such file or directory|No space left|Couldn't |Disk quota exceeded).*"
)
_PROGRAMS: Final = ("scp", "sftp", "pscp", "psftp")


class _Meter(NamedTuple):
    """One progress line: the rate in B/s, as digits and as printed."""

    name: str
    share: int
    size: float
    rate: tuple[float, str, str] | None
    seconds: float | None
    line: int
    text: str
    cut: bool
    known: Conditions


class Scp(LinesParser):
    """Progress lines and messages of scp and sftp."""

    tool = "scp"
    evidence = Evidence.TRANSFER
    words = (
        "B", "KB", "MB", "GB", "TB", "PB", "ETA", "scp", "sftp", "kB", "denied", "lost", "Uploading", "Fetching",
        "Transferred", "stalled", "refused", "verification", "Connection", "Couldn",
    )  # fmt: skip
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = dict.fromkeys(("B", "KB", "MB", "GB", "TB", "PB", "kB"), ("%",))
    shape = r"%\s++(?:\|[* ]*+\|\s*+)?(?:[KMGT]?B?\s++)?(?:[KMGT]?B/s\s++)?:"
    needs = ("%",)
    commands = _PROGRAMS

    def forget(self) -> None:
        super().forget()
        self._held: _Meter | None = None
        self._direction: str | None = None

    def feed(self, text: str) -> Iterable[Record]:
        meter, held = self._meter(text) if "%" in text and len(text) <= 1000 else None, self._held
        if meter is None:
            return super().feed(text)
        over = held is not None and (held.name != meter.name or held.share > meter.share or held.share == 100)
        ended = list(self.settle()) if over else ()
        self._held = meter
        return ended

    @reads(r"^\s*(?P<what>Uploading|Fetching) (?P<from>.+?) to (?P<to>.+)$", " to ")
    def _transfer(self, found: Match) -> list[Record]:
        ended = list(self.settle())
        self._direction = "send" if found["what"] == "Uploading" else "receive"
        return ended

    def _meter(self, text: str) -> _Meter | None:
        found = _PSCP.match(text) or _METER.match(text)
        stalled = "stalled" in found.groupdict() and found["stalled"] if found is not None else None
        if stalled:
            found = _STALLED.match(text)
        if found is None or (not stalled and int(found["share"]) > 100 and found.re is _METER):
            return None
        groups, rate, seconds = found.groupdict(), None, None
        share = min(int(found["share"]), 99) if stalled else int(found["share"])
        unit = groups.get("su", "K")
        if groups.get("rate") is not None:
            word = " kB/s" if found.re is _PSCP else f"{groups['ru']}B/s"
            rate = binary_size(found["rate"], groups.get("ru", "K")), found["rate"], found["rate"] + word
        elif not stalled and "|" not in text and self.ctx.args(*_PROGRAMS) is None:
            return None  # without rate and bar it may be anybody's
        if groups.get("time") and found["eta"] is None and share == 100:
            seconds = clock_s(found["time"])
        size, known = binary_size(found["size"], unit), {**self._known(), **self.where}
        return _Meter(found["name"].strip(), share, size, rate, seconds, self.ctx.line, text, self.ctx.cut, known)

    def other(self, text: str) -> Iterator[Record]:
        mine = self.ctx.args(*_PROGRAMS) is not None or text.startswith(("scp: ", "sftp: ", "pscp: "))
        if not mine or "password" in text or "Warning" in text or text.startswith("sftp> "):
            return
        if (problem := _FAILED.match(text)) is not None:
            if self._held is not None and self._held.share != 100:
                self._held = None
            yield from self.settle()
            yield self.failure(problem[0], **self._known())

    @reads(r"^Transferred: sent (?P<send>\d+), received (?P<receive>\d+) bytes, in (?P<s>[\d.]+) seconds", "sent ")
    def _wire(self, found: Match) -> Iterator[Record]:
        """``-v``: what ssh moved over the wire, both ways, from login to logout."""
        if self.ctx.args(*_PROGRAMS) is None:
            return
        yield from self.settle()
        seconds = float(found["s"])
        for direction in ("send", "receive"):
            if seconds > 0 and (size := int(found[direction])) > 0:
                known = {**self._known(), "direction": direction, "wire": True, "bytes": size, "duration_s": seconds}
                yield self.measure("throughput", size / seconds, "B/s", f"{size} bytes in {found['s']} s", **known)

    def settle(self) -> Iterator[Record]:
        meter, self._held = self._held, None
        if meter is None:
            return
        whole, line = meter.share == 100, meter.line
        known = {**meter.known, "file": meter.name or None, "file_B" if whole else "bytes": meter.size}
        status: Status = "truncated" if meter.cut else "complete" if whole else "partial"
        if meter.size <= 0 or (meter.rate is None and not whole):
            stalled = meter.rate is None and not whole
            why = f"stalled at {meter.share} %: no rate" if stalled else "no bytes were transferred: no rate"
            yield self.unread(meter.text, why, line=line)
            return
        if meter.seconds:
            known["duration_s"], printed = meter.seconds, f"{meter.seconds:g} s"
            yield self.measure("duration", meter.seconds, "s", printed, status=status, line=line, **known)
        rate, digits, printed = meter.rate or (meter.size / meter.seconds if meter.seconds else 0.0, "", "")
        if meter.rate is None:  # OpenSSH 3 printed none
            known["derived"] = "size / time"
        elif meter.seconds and meter.seconds >= 20 and rate > 0:
            scale = rate / decimal(digits)
            if not agrees(meter.size / meter.seconds / scale, decimal(digits), digits):
                yield self.unread(meter.text, "size and time do not give the printed rate", line=line)
        if rate > 0:
            yield self.measure("throughput", rate, "B/s", printed, status=status, line=line, **known)

    def _known(self) -> Conditions:
        found, _, paths = self.asked()
        found["direction"] = self._direction
        if self.ctx.args("scp", "pscp") is not None and len(paths) > 1:
            found |= ends_of_copy(paths)
        elif paths:
            found["target"] = paths[0]
        return found
