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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from dtnsim.logs._net import Options, binary_size, clock_s, ends_of_copy, host_of
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, agrees, decimal
from dtnsim.logs.measurement import Status

_METER: Final = re.compile(
    r"^(?P<name>.*?)(?<![\d.])(?P<share>\d{1,3})%\s++(?:\|[* .]*+\|\s*+)?"
    r"(?P<size>\d+(?:[.,]\d+)?)\s?(?P<su>[KMGTPE]?)B?"
    r"(?:\s++(?P<rate>\d++(?:[.,]\d++)?)(?P<ru>[KMGTP]?)B/s)?"
    r"\s++(?P<time>(?:(?:\d{1,9}:)?\d{1,9}:\d\d:\d\d|\d{1,9}:\d\d)|--:--)(?P<eta>\s+ETA)?\s*$"
    r"|^(?P<stalled>[^%]*+%.*- stalled -.*)$"
)
_PSCP: Final = re.compile(
    r"^(?P<name>.+?)(?<=\s)\| (?P<size>\d++) kB \|\s+(?P<rate>\d+(?:\.\d+)?) kB/s \| ETA: \S+ \|\s+(?P<share>\d+)%"
)
_TRANSFER: Final = re.compile(r"^\s*(?P<what>Uploading|Fetching) (?P<from>.+?) to (?P<to>.+)$")
_FAILED: Final = re.compile(
    r"^(?:scp|sftp|pscp|ssh): .*|^.*(?:Permission denied|lost connection|Connection (?:closed|refused|timed out|reset)|"
    r"Host key verification failed|No such file or directory|No space left|Couldn't |Disk quota exceeded).*"
)
_SSH: Final = re.compile(r"^Transferred: sent (?P<sent>\d+), received (?P<got>\d+) bytes, in (?P<s>[\d.]+) seconds")
_OPTIONS: Final = Options("""
    cipher text      : -c
    compression true : -C
    - value          : -P -i -o -l -F -S -J -D -X -b
    - flag           : -r -p -q -v -B -3 -4 -6 -R -O -s -T
""")
_PROGRAMS: Final = ("scp", "sftp", "pscp", "psftp")


@dataclass(slots=True)
class _Meter:
    """One progress line."""

    name: str
    share: int
    size: float
    rate: tuple[float, str, str] | None  # [B/s], digits, as printed
    seconds: float | None
    line: int
    text: str
    cut: bool
    known: Conditions = field(default_factory=dict)


class Scp(LineParser):
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
        self._held: _Meter | None = None
        self._direction: str | None = None

    def feed(self, text: str) -> Iterator[Record]:
        meter = self._meter(text)
        if meter is not None:
            held = self._held
            if held is not None and (held.name != meter.name or held.share > meter.share or held.share == 100):
                yield from self.settle()
            meter.known = {**self._known(), **host_of(self.ctx)}
            self._held = meter
            return
        transfer = _TRANSFER.match(text)
        if transfer is not None:
            yield from self.settle()
            self._direction = "send" if transfer["what"] == "Uploading" else "receive"
            return
        ssh = _SSH.match(text)
        if ssh is not None and self.ctx.args(*_PROGRAMS) is not None:
            yield from self._wire(ssh)
            return
        yield from self._message(text)

    def _meter(self, text: str) -> _Meter | None:
        if "%" not in text or len(text) > 1000:
            return None
        pscp = _PSCP.match(text)
        line, cut = self.ctx.line, self.ctx.cut
        if pscp is not None:
            rate = float(pscp["rate"]) * 1024
            size = int(pscp["size"]) * 1024.0
            printed = (rate, pscp["rate"], f"{pscp['rate']} kB/s")
            return _Meter(pscp["name"].strip(), int(pscp["share"]), size, printed, None, line, text, cut)
        found = _METER.match(text)
        if found is None or (found["stalled"] is None and int(found["share"]) > 100):
            return None
        if found["stalled"] is not None:
            return self._stalled(text)
        rate_of: tuple[float, str, str] | None = None
        if found["rate"] is not None:
            printed_rate = f"{found['rate']}{found['ru']}B/s"
            rate_of = (binary_size(found["rate"], found["ru"]), found["rate"], printed_rate)
        elif "|" not in text and self.ctx.args(*_PROGRAMS) is None:
            return None  # without rate and bar it may be anybody's
        share = int(found["share"])
        seconds = clock_s(found["time"]) if found["eta"] is None and share == 100 else None
        size = binary_size(found["size"], found["su"])
        return _Meter(found["name"].strip(), share, size, rate_of, seconds, line, text, cut)

    def _stalled(self, text: str) -> _Meter | None:
        found = re.match(r"^(?P<name>.*?)(?P<share>\d{1,3})%\s++(?P<size>\d++(?:\.\d++)?)(?P<su>[KMGTPE]?)B?\s", text)
        if found is None:
            return None
        size = binary_size(found["size"], found["su"])
        share = min(int(found["share"]), 99)
        return _Meter(found["name"].strip(), share, size, None, None, self.ctx.line, text, self.ctx.cut)

    def _message(self, text: str) -> Iterator[Record]:
        args = self.ctx.args(*_PROGRAMS)
        if args is None and not text.startswith(("scp: ", "sftp: ", "pscp: ")):
            return
        if "password" in text or "Warning" in text or text.startswith("sftp> "):
            return
        problem = _FAILED.match(text)
        if problem is None:
            return
        held, self._held = self._held, None
        if held is not None and held.share == 100:
            yield from self._records(held)
        yield self.failure(problem[0], **self._known())

    def _wire(self, found: re.Match[str]) -> Iterator[Record]:
        """``-v``: what ssh moved over the wire, both ways, from login to logout."""
        yield from self.settle()
        seconds = float(found["s"])
        for direction, key in (("send", "sent"), ("receive", "got")):
            size = int(found[key])
            if seconds <= 0 or size <= 0:
                continue
            known = {**self._known(), "direction": direction, "wire": True, "bytes": size, "duration_s": seconds}
            yield self.measure("throughput", size / seconds, "B/s", f"{size} bytes in {found['s']} s", **known)

    def settle(self) -> Iterator[Record]:
        held, self._held = self._held, None
        if held is not None:
            yield from self._records(held)

    def _records(self, meter: _Meter) -> Iterator[Record]:
        known = {**meter.known, "file": meter.name or None}
        status: Status = "complete" if meter.share == 100 else "partial"
        if meter.cut:
            status = "truncated"
        if meter.share == 100:
            known["file_B"] = meter.size
        else:
            known["bytes"] = meter.size
        if meter.rate is None and meter.share < 100:
            yield self.unread(meter.text, f"stalled at {meter.share} %: no rate", line=meter.line)
            return
        if meter.size <= 0:
            yield self.unread(meter.text, "no bytes were transferred: no rate", line=meter.line)
            return
        if meter.seconds:
            known["duration_s"] = meter.seconds
            yield self.measure(
                "duration", meter.seconds, "s", f"{meter.seconds:g} s", status=status, line=meter.line, **known
            )
        if meter.rate is not None and meter.rate[0] > 0:
            rate, digits, printed = meter.rate
            if meter.seconds and meter.seconds >= 20:
                scale = rate / decimal(digits)
                if not agrees(meter.size / meter.seconds / scale, decimal(digits), digits):
                    yield self.unread(meter.text, "size and time do not give the printed rate", line=meter.line)
            yield self.measure("throughput", rate, "B/s", printed, status=status, line=meter.line, **known)
        elif meter.rate is None and meter.seconds:  # OpenSSH 3 printed no rate
            rate = meter.size / meter.seconds
            known["derived"] = "size / time"
            yield self.measure("throughput", rate, "B/s", "", status=status, line=meter.line, **known)

    def _known(self) -> Conditions:
        found, _, paths = _OPTIONS.read(self.ctx.args(*_PROGRAMS))
        found["direction"] = self._direction
        if self.ctx.args("scp", "pscp") is not None and len(paths) > 1:
            found |= ends_of_copy(paths)
        elif paths:
            found["target"] = paths[0]
        return found
