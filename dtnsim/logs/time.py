"""time: bash, ksh and busybox (``real 1m2.345s``), POSIX -p, BSD, GNU time (default and -v), zsh, csh, fish.

Units: seconds; minutes and hours are written out (``11m28.600s``, ``4:14.03elapsed``, ``1:02:03``). A
comma is a decimal mark (``0m21,738s``). Maximum resident set size of -v is KiB (``kbytes``; GNU
time's manual). The bytes moved are not in this output: ``command`` says what was timed, the size
must come from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import Conditions, Context, Evidence, LineParser, Record, decimal

_BASH: Final = re.compile(r"^\s*(real|user|sys)\s+(?:(?P<h>\d+)h ?)?(?:(?P<m>\d+)m ?)?(?P<s>\d+(?:[.,]\d+)?)s(?=\s|$)")
_POSIX: Final = re.compile(r"^\s*(real|user|sys)\s+(\d+[.,]\d+)\s*$")
_BSD: Final = re.compile(r"^\s*(?P<real>\d+[.,]\d+) real\s+(?P<user>\d+[.,]\d+) user\s+(?P<sys>\d+[.,]\d+) sys\b")
_FISH: Final = re.compile(
    r"^(?:Executed in\s+(?P<real>\d+[.,]\d+) (?P<ru>micros|millis|secs|mins|hours)\b"
    r"|\s+(?P<mode>usr|sys) time\s+(?P<cpu>\d+[.,]\d+) (?P<cu>micros|millis|secs|mins|hours)\b)"
)
_FISH_UNITS: Final = {"micros": 1e-6, "millis": 1e-3, "secs": 1.0, "mins": 60.0, "hours": 3600.0}
_GNU: Final = re.compile(
    r"(?<![\d.,])(?P<user>[\d.,]++)user (?P<sys>[\d.,]++)system (?P<real>[\d:.,]++)elapsed (?P<cpu>\d+|\?+)%CPU"
)
_VERBOSE: Final = re.compile(
    r"^\s*(Command being timed|User time \(seconds\)|System time \(seconds\)|Percent of CPU this job got"
    r"|Elapsed \(wall clock\) time \(h:mm:ss or m:ss\)|Exit status): (.*)$"
)
_ZSH: Final = re.compile(
    r"^(?P<cmd>.*?)\s{1,2}(?P<user>[\d.]+)s user (?P<sys>[\d.]+)s system (?P<cpu>\d+)% cpu (?P<real>[\d:.]+) total"
)
_CSH: Final = re.compile(r"^(?P<user>\d+\.\d+)u (?P<sys>\d+\.\d+)s (?P<real>(?:\d+:)+\d+\.\d+) (?P<cpu>\d+\.\d)%\s")
_FAILED: Final = re.compile(r"Command (?:exited with non-zero status \d+|terminated by signal \d+)")
_MODES: Final = {"real": ("duration", None), "user": ("cpu_time", "user"), "sys": ("cpu_time", "system")}
_TIMED: Final = re.compile(r"(?:^|[\s;&|(])(?:/usr/bin/)?time\s+(?:-\S+\s+)*(.*)")


def _clock(text: str) -> float:
    """``1:02:03.5`` or ``4:14.03`` in [s]."""
    total = 0.0
    for part in text.split(":"):
        total = total * 60 + decimal(part)
    return total


class Time(LineParser):
    """The real time is the figure; user and system time go with it."""

    tool = "time"
    evidence = Evidence.BUSY
    words = (
        "real", "user", "sys", "elapsed", "timed", "Elapsed", "User", "System", "Exit", "total", "u", "Command",
        "Executed", "usr",
    )  # fmt: skip
    commands = ("time",)

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._timed: str | None = None
        self._failed: str | None = None
        self._verbose: list[tuple[str, float, str, int]] = []

    def feed(self, text: str) -> Iterable[Record]:
        match = _BASH.match(text)
        if match is not None:
            seconds = int(match["h"] or 0) * 3600 + int(match["m"] or 0) * 60 + decimal(match["s"])
            return self._figures([(match[1], seconds, match[0].strip())], self._command())
        if (match := _POSIX.match(text)) is not None:
            return self._figures([(match[1], decimal(match[2]), match[2] + " s")], self._command())
        if (match := _BSD.match(text)) is not None:
            figures = [(name, decimal(match[name]), match[name]) for name in ("real", "user", "sys")]
            return self._figures(figures, self._command())
        if (match := _FISH.match(text)) is not None:
            return self._fish(match)
        if (match := _GNU.search(text)) is not None:
            return self._one_line(match, self._command())
        if (match := _VERBOSE.match(text)) is not None:
            return self._verbose_line(match[1], match[2].strip())
        if (match := _ZSH.match(text)) is not None:
            return self._one_line(match, match["cmd"].strip() or self._command())
        if (match := _CSH.match(text)) is not None:
            return self._one_line(match, self._command())
        if (match := _FAILED.search(text)) is not None:
            self._failed = match[0]
        return ()

    def _command(self) -> str | None:
        command = self.ctx.command
        if command is None:
            return None
        timed = _TIMED.search(command.text)
        return timed[1].strip() if timed is not None else None

    def _fish(self, match: re.Match[str]) -> Iterable[Record]:
        name = "real" if match["real"] else match["mode"].replace("usr", "user")
        text, unit = (match["real"], match["ru"]) if match["real"] else (match["cpu"], match["cu"])
        return self._figures([(name, decimal(text) * _FISH_UNITS[unit], f"{text} {unit}")], self._command())

    def _one_line(self, match: re.Match[str], command: str | None) -> Iterator[Record]:
        try:
            figures = [
                ("real", _clock(match["real"]), match["real"]),
                ("user", decimal(match["user"]), match["user"]),
                ("sys", decimal(match["sys"]), match["sys"]),
            ]
        except ValueError:
            yield self.unread(match[0], "the times are not numbers")
            return
        yield from self._figures(figures, command)
        if match["cpu"].replace(".", "").isdigit():
            conditions = self._conditions(command)
            yield self.measure("cpu_share", float(match["cpu"]) / 100, "1", match["cpu"] + "%", **conditions)

    def _figures(self, figures: list[tuple[str, float, str]], command: str | None) -> Iterator[Record]:
        failed, self._failed = self._failed, None
        conditions = self._conditions(command)
        if failed is not None:
            yield self.failure(failed, **conditions)
            return
        for name, seconds, printed in figures:
            quantity, mode = _MODES[name]
            more: Conditions = {} if mode is None else {"mode": mode}
            yield self.measure(quantity, seconds, "s", printed, **more, **conditions)

    def _conditions(self, command: str | None) -> Conditions:
        if not command:
            return {}
        text = command.strip("() ")
        words = text.split()
        program = words[0].rsplit("/", 1)[-1] if words else ""
        found: Conditions = {"command": text[:300], "operation": program}
        if re.search(r"&&\s*sync\b|;\s*sync\b", text):
            found["sync"] = "sync"
        return found

    def _verbose_line(self, key: str, value: str) -> Iterable[Record]:
        if key.startswith("Command"):
            self._timed, self._verbose, self._failed = value.strip('"'), [], None
        elif key.startswith(("User", "System", "Elapsed")):
            name = {"U": "user", "S": "sys", "E": "real"}[key[0]]
            try:
                self._verbose.append((name, _clock(value), value, self.ctx.line))
            except ValueError:
                return (self.unread(f"{key}: {value}", "not a time"),)
        elif key.startswith("Exit"):
            figures, self._verbose = self._verbose, []
            conditions = self._conditions(self._timed)
            if value != "0":
                return (self.failure(f"{key}: {value}", **conditions),)
            return self._verbose_records(figures, conditions)
        return ()

    def _verbose_records(self, figures: list[tuple[str, float, str, int]], conditions: Conditions) -> Iterator[Record]:
        for name, seconds, printed, line in figures:
            quantity, mode = _MODES[name]
            more: Conditions = {} if mode is None else {"mode": mode}
            yield self.measure(quantity, seconds, "s", printed, line=line, **more, **conditions)

    def settle(self) -> Iterable[Record]:
        """Figures of ``time -v`` whose exit status is missing: the text is cut."""
        figures, self._verbose, self._failed = self._verbose, [], None
        return [
            self.measure(
                _MODES[name][0],
                seconds,
                "s",
                printed,
                line=line,
                status="truncated",
                **({"mode": _MODES[name][1]} if _MODES[name][1] else {}),
                **self._conditions(self._timed),
            )
            for name, seconds, printed, line in figures
        ]
