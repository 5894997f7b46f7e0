"""ascp (IBM Aspera): closing lines, progress and errors.

Units: ``K bytes`` = 1024 B, ``K bits/sec`` = 1000 bit/s; checked on the UCI log: 181912686K bytes in 3408 s
printed as 437191K bits/sec. Progress sizes ``173GB`` are 1024-based, progress rates ``438Mb/s`` are decimal bits
of the last seconds: never a headline (138Mb/s stood beside a mean of 281 Mbit/s).

The headline is the rate of ``Completed:``; where its line is missing it is computed from K bytes and seconds.
``Partial Completion`` is a ``partial`` figure with a failure beside it. Seconds are whole ones: with 0 seconds only
a printed rate counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from dtnsim.logs._net import host_of, options
from dtnsim.logs.base import Command, Conditions, Evidence, LineParser, Record, integer
from dtnsim.logs.measurement import Status

_DONE: Final = re.compile(
    r"(?P<what>Completed|Partial Completion): (?P<size>[\d,]+)(?P<u>[KMG]?) ?bytes transferred in (?P<s>\d+) seconds?"
)
_RATE: Final = re.compile(r"\((?P<rate>\d+(?:\.\d+)?)(?P<u>[KMG]?) ?bits/sec\)(?:,? in (?P<files>\d+) files?)?")
_SKIPPED: Final = re.compile(r"(?<!\d)(\d++) files? (skipped|failed)")
_PROGRESS: Final = re.compile(
    r"^(?P<name>.*\S)\s+(?P<share>\d{1,3})% +(?P<size>\d+(?:\.\d+)?)(?P<su>[KMGT]?)B "
    r"+(?P<rate>\d+(?:\.\d+)?)(?P<ru>[kKMG]?)b/s(?: +(?P<time>[\d:-]+)(?P<eta> ETA)?)?\s*$"
)
_FAILED: Final = re.compile(
    r"^(?:ascp: .*|Session Stop +\(Error: .*|ERR .*|Error: .*(?:ascp|session|transfer|authenticat|Client|Server).*)"
)
_BITS: Final = {"": 1.0, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9}
_BYTES: Final = {"": 1.0, "K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40}
_OPTIONS: Final = {
    "-l": "target", "-m": "minimum", "-i": "identity", "-k": "resume", "-P": "port", "-O": "udp_port",
    "-T": "clear!", "-Q": "fair!", "-d": "create!", "-p": "times!", "-w": "measure", "-L": "log", "-Z": "mtu",
    "-u": "user", "--mode": "mode", "--host": "host", "--user": "user", "--file-list": "list", "-q": "quiet!",
    "-v": "verbose!",
}  # fmt: skip


@dataclass(slots=True)
class _Done:
    """A closing line, until the line with its rate."""

    size: float
    seconds: int
    partial: bool
    line: int
    text: str
    known: Conditions = field(default_factory=dict)


class Ascp(LineParser):
    """Closing and progress lines of ascp."""

    tool = "ascp"
    evidence = Evidence.TRANSFER
    words = ("Completed", "Completion", "bits", "b", "Mb", "Kb", "kb", "Gb", "ascp", "Session", "Error", "ERR")
    commands = ("ascp",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._command: Command | None = None
        self._done: _Done | None = None

    def feed(self, text: str) -> Iterator[Record]:
        """One line of output; every line after a closing line, for its rate is on the next."""
        if self._command is not self.ctx.command:
            yield from self._settle()
            self._command = self.ctx.command
        done = _DONE.search(text)
        if done is not None:
            yield from self._settle()
            size = integer(done["size"]) * _BYTES[done["u"]]
            known = {**self._conditions(), **host_of(self.ctx)}
            partial = done["what"] != "Completed"
            self._done = _Done(size, int(done["s"]), partial, self.ctx.line, text, known)
            self.open = True
            text = text[done.end() :]
        rate = _RATE.search(text)
        if rate is not None and self._done is not None:
            yield from self._settle(rate, text)
            return
        if done is not None:
            return
        if self._done is not None and (text.strip() or self.ctx.line - self._done.line > 2):
            yield from self._settle(cut=text.lstrip().startswith("("))
        progress = _PROGRESS.match(text) if "b/s" in text else None
        if progress is not None:
            yield from self._progress(progress)
            return
        problem = _FAILED.match(text)
        if problem is not None and (text.startswith(("ascp", "Session")) or self.ctx.args("ascp") is not None):
            yield self.failure(problem[0], **self._conditions())

    def close(self) -> Iterator[Record]:
        """Settles a closing line without its rate."""
        yield from self._settle(cut=True)

    # ---- figures ------------------------------------------------------------------------------------------
    def _progress(self, found: re.Match[str]) -> Iterator[Record]:
        if self.ctx.redraw:
            return
        size = float(found["size"]) * _BYTES[found["su"]]
        known: Conditions = {**self._conditions(), "file": found["name"].strip(), "bytes": size}
        known |= {"interval": True, "average": "interval", "share": min(int(found["share"]), 100) / 100}
        rate = float(found["rate"]) * _BITS[found["ru"]] / 8
        yield self.measure("throughput", rate, "B/s", f"{found['rate']}{found['ru']}b/s", **known)

    def _settle(self, rate: re.Match[str] | None = None, text: str = "", *, cut: bool = False) -> Iterator[Record]:
        done, self._done = self._done, None
        self.open = False
        if done is None:
            return
        known: Conditions = {**done.known, "bytes": done.size, "duration_s": float(done.seconds)}
        if rate is not None and rate["files"]:
            known["files"] = int(rate["files"])
        for count, what in _SKIPPED.findall(text):
            known[f"files_{what}"] = int(count)
        status: Status = "partial" if done.partial else "complete"
        if done.partial:
            yield self.failure(f"{done.text.strip()} {text.strip()}", line=done.line, **done.known)
        if done.size <= 0:
            yield self.unread(done.text, "no bytes were transferred: no rate", line=done.line)
            return
        if rate is not None:
            value = float(rate["rate"]) * _BITS[rate["u"]] / 8
            printed = f"{rate['rate']}{rate['u']} bits/sec"
            slow, fast = done.size / (done.seconds + 1), done.size / max(done.seconds - 1, 1e-3)
            if not 0.99 * slow <= value <= 1.01 * fast:  # seconds are whole ones
                yield self.unread(done.text, f"bytes and seconds do not give the printed {printed}", line=done.line)
        elif done.seconds > 0:
            value, printed = done.size / done.seconds, ""
            known["derived"] = "bytes / time"
            status = "truncated" if cut and status == "complete" else status
        else:
            yield self.unread(done.text, "0 seconds and no rate line: no rate", line=done.line)
            return
        if value <= 0:
            yield self.unread(done.text, "the printed rate is zero", line=done.line)
            return
        yield self.measure("throughput", value, "B/s", printed, status=status, line=done.line, **known)
        if done.seconds > 0:
            yield self.measure(
                "duration", float(done.seconds), "s", f"{done.seconds} seconds", status=status, line=done.line, **known
            )

    def _conditions(self) -> Conditions:
        given, paths = options(self.ctx.args("ascp"), _OPTIONS)
        found: Conditions = {}
        limit = re.fullmatch(r"(\d+(?:\.\d+)?)([KkMmGg]?)", given.get("target", ""))
        if limit is not None:
            found["target_Bps"] = float(limit[1]) * _BITS[limit[2].upper()] / 8 if limit[2] else float(limit[1]) * 125.0
        if "clear" in given:
            found["encryption"] = "none"
        if len(paths) > 1:
            found["source"], found["target"] = paths[0], paths[-1]
            remote = [bool(re.match(r"[^/\s]+:", path)) for path in (paths[0], paths[-1])]
            if remote[0] != remote[1]:
                found["direction"] = "receive" if remote[0] else "send"
        return found
