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
from dtnsim.logs._numbers import agrees, binary_size, clock_s, decimal, regex
from dtnsim.logs.base import Conditions, Evidence, Record, Status, anew

_METER: Final = regex(
    r"^(?P<name>.*?)(?<![\d.])(?P<share>\d{1,3})%\s++(?:\|[* .]*+\|\s*+)?<size:comma>\s?<su:k>B?"
    r"(?:\s++<rate:comma><ru:k>B/s)?\s++(?P<time>(?:(?:\d{1,9}:)?\d{1,9}:\d\d:\d\d|\d{1,9}:\d\d)|--:--)"
    r"(?P<eta>\s+ETA)?\s*$|^(?P<stalled>[^%]*+%.*- stalled -.*)$"
)
_PSCP: Final = regex(r"^(?P<name>.+?)(?<=\s)\| <size:int> kB \|\s+<rate:num> kB/s \| ETA: \S+ \|\s+<share:int>%")
_STALLED: Final = regex(r"^(?P<name>.*?)(?P<share>\d{1,3})%\s++<size:num><su:k>B?\s")
_FAILED: Final = re.compile(
    r"^(?:scp|sftp|pscp|ssh): .*|^.*(?:Permission denied|lost connection|Connection (?:closed|refused|timed out|reset)|"
    r"Host key verification failed|No such file or directory|No space left|Couldn't |Disk quota exceeded).*"
)
#: a rate [B/s], as digits and as printed
_Rate = tuple[float, str, str]
_PROGRAMS: Final = ("scp", "sftp", "pscp", "psftp")


class _Meter(NamedTuple):
    """A progress line: the file, how much of it is there [%], what it says if it is the last."""

    name: str
    share: int
    figures: list[Record]


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
    commands = _PROGRAMS

    _held: _Meter | None = anew()
    _direction: str | None = anew()

    def feed(self, text: str) -> Iterable[Record]:
        meter, held = self._meter(text) if "%" in text and len(text) <= 1000 else None, self._held
        if meter is None:
            return super().feed(text)
        over = held is not None and (held.name != meter.name or held.share > meter.share or held.share == 100)
        ended = list(self.settle()) if over else ()
        self._held = meter
        return ended

    @reads(r"^\s*(?P<what>Uploading|Fetching) (?P<from>.+?) to (?P<to>.+)$")
    def _transfer(self, found: Match) -> Iterator[Record]:
        yield from self.settle()
        self._direction = "send" if found["what"] == "Uploading" else "receive"

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
        name, size = found["name"].strip(), binary_size(found["size"], unit)
        return _Meter(name, share, list(self._figures(text, {"file": name or None}, share, size, seconds, rate)))

    def other(self, text: str) -> Iterator[Record]:
        mine = self.ctx.args(*_PROGRAMS) is not None or text.startswith(("scp: ", "sftp: ", "pscp: "))
        if not mine or "password" in text or "Warning" in text or text.startswith("sftp> "):
            return
        if (problem := _FAILED.match(text)) is not None:
            if self._held is not None and self._held.share != 100:
                self._held = None
            yield from self.settle()
            yield self.failure(problem[0], **self._known())

    @reads(r"^Transferred: sent <send:int>, received <receive:int> bytes, in <s:dots> seconds")
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

    def settle(self) -> Iterable[Record]:
        meter, self._held = self._held, None
        return () if meter is None else meter.figures

    def _figures(
        self, text: str, known: Conditions, share: int, size: float, seconds: float | None, printed: _Rate | None
    ) -> Iterator[Record]:
        """What a progress line says if it is the last."""
        whole = share == 100
        known = {**self._known(), **known, "file_B" if whole else "bytes": size}
        status: Status = "truncated" if self.ctx.cut else "complete" if whole else "partial"
        if size <= 0 or (printed is None and not whole):
            stalled = f"stalled at {share} %: no rate"
            yield self.unread(text, "no bytes were transferred: no rate" if printed or whole else stalled)
            return
        if seconds:
            known["duration_s"] = seconds
            yield self.measure("duration", seconds, "s", f"{seconds:g} s", dict(known), status=status)
        rate, digits, shown = printed or (size / seconds if seconds else 0.0, "", "")
        if printed is None:  # OpenSSH 3 printed none
            known["derived"] = "size / time"
        elif (
            seconds
            and seconds >= 20
            and rate > 0
            and not agrees(size / seconds / (rate / decimal(digits)), decimal(digits), digits)
        ):
            yield self.unread(text, "size and time do not give the printed rate")
        if rate > 0:
            yield self.measure("throughput", rate, "B/s", shown, known, status=status)

    def _known(self) -> Conditions:
        found, _, paths = self.asked()
        found["direction"] = self._direction
        if self.ctx.args("scp", "pscp") is not None and len(paths) > 1:
            found |= ends_of_copy(paths)
        elif paths:
            found["target"] = paths[0]
        return found
