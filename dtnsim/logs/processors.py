"""Time of processors: time and openssl speed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from dtnsim.logs._declared import Found, LinesParser, Match, reads
from dtnsim.logs._numbers import DECIMAL, TIMES, decimal
from dtnsim.logs.base import Conditions, Evidence, Record, Status, anew

_MODES: Final[dict[str, tuple[str, Conditions]]] = {
    "real": ("duration", {}), "user": ("cpu_time", {"mode": "user"}), "sys": ("cpu_time", {"mode": "system"}),
}  # fmt: skip
_TIMED: Final = re.compile(r"(?:^|[\s;&|(])(?:/usr/bin/)?time\s+(?:-\S+\s+)*(.*)")
_D: Final = r"\d+[.,]\d+"


def _clock(text: str) -> float:
    """``1:02:03.5`` or ``4:14.03`` in [s]."""
    total = 0.0
    for part in text.split(":"):
        total = total * 60 + decimal(part)
    return total


class Time(LinesParser):
    """time: bash, ksh and busybox (``real 1m2.345s``), POSIX -p, BSD, GNU time (default and -v), zsh, csh, fish.

    Units: seconds; minutes and hours are written out (``11m28.600s``, ``4:14.03elapsed``, ``1:02:03``). A comma is a
    decimal mark (``0m21,738s``). Maximum resident set size of -v is KiB (``kbytes``; GNU time's manual). The bytes
    moved are not in this output: ``command`` says what was timed, the size must come from elsewhere.
    """

    tool = "time"
    evidence = Evidence.BUSY
    words = (
        "real", "user", "sys", "elapsed", "timed", "Elapsed", "User", "System", "Exit", "total", "u", "Command",
        "Executed", "usr",
    )  # fmt: skip

    _timed: str | None = anew()
    _failed: str | None = anew()
    _verbose: list[tuple[str, float, str, int]] = anew(list)

    @reads(r"^\s*(real|user|sys)\s+(?:<h:int>h ?)?(?:<m:int>m ?)?<s:comma>s(?=\s|$)")
    def _bash(self, found: Match) -> Found:
        seconds = int(found["h"] or 0) * 3600 + int(found["m"] or 0) * 60 + decimal(found["s"])
        return self._figures([(found[1], seconds, found[0].strip())])

    @reads(rf"^\s*(real|user|sys)\s+({_D})\s*$")
    def _posix(self, found: Match) -> Found:
        return self._figures([(found[1], decimal(found[2]), found[2] + " s")])

    @reads(rf"^\s*(?P<real>{_D}) real\s+(?P<user>{_D}) user\s+(?P<sys>{_D}) sys\b")
    def _bsd(self, found: Match) -> Found:
        return self._figures([(name, decimal(found[name]), found[name]) for name in _MODES])

    @reads(rf"^(?:Executed in|\s+(?P<mode>usr|sys) time)\s+(?P<n>{_D}) (?P<unit>micros|millis|secs|mins|hours)\b")
    def _fish(self, found: Match) -> Found:
        name = (found["mode"] or "real").replace("usr", "user")
        seconds = decimal(found["n"]) * TIMES[found["unit"]]
        return self._figures([(name, seconds, f"{found['n']} {found['unit']}")])

    @reads(r"(?<![\d.,])(?P<user>[\d.,]++)user (?P<sys>[\d.,]++)system (?P<real>[\d:.,]++)elapsed (?P<cpu>\d+|\?+)%CPU")
    @reads(r"^(?P<cmd>.*?)\s{1,2}<user:dots>s user <sys:dots>s system <cpu:int>% cpu (?P<real>[\d:.]+) total")
    @reads(r"^<user:real>u <sys:real>s (?P<real>(?:\d+:)+\d+\.\d+) (?P<cpu>\d+\.\d)%\s")
    def _one_line(self, found: Match) -> Iterator[Record]:
        """GNU time, zsh and csh."""
        command = (found.groupdict().get("cmd") or "").strip() or self._command()
        yield from self._figures([(name, _clock(found[name]), found[name]) for name in _MODES], command)
        if found["cpu"].replace(".", "").isdigit():
            yield self.printed("cpu_share", found["cpu"], "%", **_conditions(command))

    @reads(
        r"^\s*(?P<key>Command being timed|User time \(seconds\)|System time \(seconds\)"
        r"|Elapsed \(wall clock\) time \(h:mm:ss or m:ss\)|Exit status): (?P<value>.*)$"
    )
    def _verbose_line(self, found: Match) -> Found:
        key, value = found["key"], found["value"].strip()
        if key.startswith("Command"):
            self._timed, self._verbose, self._failed = value.strip('"'), [], None
        elif not key.startswith("Exit"):
            name = {"U": "user", "S": "sys", "E": "real"}[key[0]]
            self._verbose.append((name, _clock(value), value, self.ctx.line))
        elif value != "0":
            self._verbose = []
            return self.failure(f"{key}: {value}", **_conditions(self._timed))
        else:
            return self.settle(truncated=False)
        return None

    @reads(r"Command (?:exited with non-zero status \d+|terminated by signal \d+)")
    def _status(self, found: Match) -> None:
        self._failed = found[0]

    def _command(self) -> str | None:
        timed = _TIMED.search(self.ctx.command.text) if self.ctx.command is not None else None
        return timed[1].strip() if timed is not None else None

    def _figures(self, figures: list[tuple[str, float, str]], command: str | None = None) -> list[Record]:
        failed, self._failed = self._failed, None
        known = _conditions(command or self._command())
        if failed is not None:
            return [self.failure(failed, **known)]
        modes = ((*_MODES[name], seconds, printed) for name, seconds, printed in figures)
        return [self.measure(quantity, at, "s", printed, {**mode, **known}) for quantity, mode, at, printed in modes]

    def settle(self, *, truncated: bool = True) -> Iterator[Record]:
        """Figures of ``time -v``; one whose exit status is missing is cut."""
        self._failed = None if truncated else self._failed
        figures, self._verbose = self._verbose, []
        status: Status = "truncated" if truncated else "complete"
        for name, seconds, printed, line in figures:
            quantity, mode = _MODES[name]
            known = {**mode, **_conditions(self._timed)}
            yield self.measure(quantity, seconds, "s", printed, known, line=line, status=status)


def _conditions(command: str | None) -> Conditions:
    text = (command or "").strip("() ")
    if not text:
        return {}
    found: Conditions = {"command": text[:300], "operation": text.split()[0].rsplit("/", 1)[-1]}
    if re.search(r"&&\s*sync\b|;\s*sync\b", text):
        found["sync"] = "sync"
    return found


class OpensslSpeed(LinesParser):
    """``openssl speed``.

    Units: "The 'numbers' are in 1000s of bytes per second processed", so ``611219.58k`` is 611 MB/s of one thread
    (openssl apps/speed.c); a column for each size of the buffer.
    """

    tool = "openssl"
    evidence = Evidence.NO_MODEL
    words = ("type",)
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"type": ("bytes",)}

    @reads(r"^type((?:\s+\d+ bytes)+)\s*$", opens=True)
    def _head(self, head: Match) -> None:
        self.known = {"sizes": [int(n) for n in re.findall(r"\d+", head[1])]}

    @reads(r"^([A-Za-z][\w()/+-]*(?: [\w()/+-]+)*)((?:[ \t]+\d+\.\d+k)+)\s*$", inside=True)
    def _row(self, row: Match) -> Iterator[Record]:
        rates, sizes = row[2].split(), self.known["sizes"]
        self.open = len(rates) == len(sizes)
        for size, rate in zip(sizes, rates, strict=True) if self.open else ():
            if (value := decimal(rate.rstrip("k")) * DECIMAL["K"]) > 0:
                yield self.measure("throughput", value, "B/s", rate, operation=row[1].lower(), block_B=float(size))

    def other(self, text: str) -> None:  # noqa: ARG002 (the base's)
        self.open = False
