"""Copies over SSH: scp, sftp, rsync."""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final, NamedTuple

from dtnsim.logs._commands import ends_of_copy
from dtnsim.logs._declared import Found, LinesParser, Match, notes, reads
from dtnsim.logs._numbers import agrees, amount, clock_s, decimal, grouped, regex
from dtnsim.logs.base import NO_BYTES, Conditions, Evidence, Record, Status, anew, noted
from dtnsim.logs.measurement import ALL_SENT

_METER: Final = regex(
    r"^(?P<name>.*?)(?<![\d.])(?P<share>\d{1,3})%\s++(?:\|[* .]*+\|\s*+)?<size:comma>\s?<su:k>B?"
    r"(?:\s++<rate:comma><ru:k>B/s)?\s++"
    r"(?P<time>(?:\d{1,9}:)?\d{1,9}:\d\d:\d\d|\d{1,9}:\d\d|--:--|(?P<stalled>- stalled -))(?P<eta>\s+ETA)?\s*$"
)
_PSCP: Final = regex(r"^(?P<name>.+?)(?<=\s)\| <size:int> kB \|\s+<rate:num> kB/s \| ETA: \S+ \|\s+<share:int>%")
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


class Scp(LinesParser, evidence=Evidence.TRANSFER):
    """scp and sftp: OpenSSH's progress meter (with rate, and the bar of OpenSSH 3), PuTTY's pscp and psftp.

    Units: ``KB MB GB TB`` = 2^10 ... 2^40 B, the rate ``MB/s`` = 2^20 B/s (OpenSSH ``progressmeter.c``,
    format_size and format_rate); checked: 100GB in 09:22 printed as 182.2MB/s. pscp's ``kB`` = 1024 B (PuTTY
    ``pscp.c``, print_stats). A size without a letter is in bytes.

    The last column is the time that passed at 100 %, and the time that is left (``ETA``) before: only the
    first is a duration. A redrawn line counts once, when it is drawn last. The rate at 100 % is the mean of the
    whole file; before it is a moving average of the last seconds (``partial``).
    """

    words = (
        "B KB MB GB TB PB ETA scp sftp kB denied lost Uploading Fetching Transferred stalled refused verification "
        "Connection Couldn"
    )
    beside: ClassVar = dict.fromkeys(("B", "KB", "MB", "GB", "TB", "PB", "kB"), ("%",))
    shape = r"%\s++(?:\|[* ]*+\|\s*+)?(?:[KMGT]?B?\s++)?(?:[KMGT]?B/s\s++)?:"
    commands = _PROGRAMS
    terms: ClassVar = {"direction": {"Uploading": "send", "Fetching": "receive"}}

    _held: _Meter | None = anew()

    def feed(self, text: str) -> Iterable[Record]:
        meter, last = self._meter(text) if "%" in text and len(text) <= 1000 else None, self._held
        if meter is None:
            return super().feed(text)
        over = last is not None and (last.name != meter.name or last.share > meter.share or last.share == 100)
        ended = list(self.settle()) if over else ()
        self._held = meter
        return ended

    _transfer = notes(r"^\s*(?P<direction>Uploading|Fetching) .+? to .+$", settles=True)

    def _meter(self, text: str) -> _Meter | None:
        match = _PSCP.match(text) or _METER.match(text)
        if match is None or (int(match["share"]) > 100 and match.re is _METER):
            return None
        groups, rate, seconds = match.groupdict(), None, None
        share, stalled, unit = int(match["share"]), groups.get("stalled"), groups.get("su", "K")
        if groups.get("rate") is not None and not stalled:
            word = " kB/s" if match.re is _PSCP else f"{groups['ru']}B/s"
            rate = amount(match["rate"], groups.get("ru", "K") + "B"), match["rate"], match["rate"] + word
        elif not stalled and "|" not in text and self.ctx.args(*_PROGRAMS) is None:
            return None  # without rate and bar it may be anybody's
        if groups.get("time") and match["eta"] is None and share == 100:
            seconds = clock_s(match["time"])
        name, size = match["name"].strip(), amount(match["size"], unit + "B")
        return _Meter(name, share, list(self._figures(text, {"file": name or None}, share, size, seconds, rate)))

    def other(self, text: str) -> Iterator[Record]:
        mine = self.ctx.args(*_PROGRAMS) is not None or text.startswith(("scp: ", "sftp: ", "pscp: "))
        if not mine or "password" in text or "Warning" in text or text.startswith("sftp> "):
            return
        if (problem := _FAILED.match(text)) is not None:
            if self._held is not None and self._held.share != 100:
                self._held = None
            yield from self.settle()
            yield self.failure(problem[0], **self._conditions())

    @reads(r"^Transferred: sent <send:int>, received <receive:int> bytes, in <s:dots> seconds")
    def _wire(self, match: Match) -> Iterator[Record]:
        """``-v``: what ssh moved over the wire, both ways, from login to logout."""
        if self.ctx.args(*_PROGRAMS) is None:
            return
        yield from self.settle()
        seconds = float(match["s"])
        for direction in ("send", "receive"):
            if seconds > 0 and (size := int(match[direction])) > 0:
                facts = {**self._conditions(), "direction": direction, "wire": True, "bytes": size}
                printed = f"{size} bytes in {match['s']} s"
                yield self.measure("throughput", size / seconds, printed, facts, duration_s=seconds)

    def settle(self) -> Iterable[Record]:
        meter, self._held = self._held, None
        return () if meter is None else meter.figures

    @noted
    def _figures(
        self, text: str, facts: Conditions, share: int, size: float, seconds: float | None, printed: _Rate | None
    ) -> Iterator[Record]:
        """What a progress line says if it is the last."""
        finished = share == 100
        facts = {**self._conditions(), **facts, "file_B" if finished else "bytes": size}
        status: Status = "truncated" if self.ctx.cut else "complete" if finished else "partial"
        self.need(printed or finished, text, f"stalled at {share} %: no rate")
        self.need(size > 0, text, NO_BYTES)
        if seconds:
            facts["duration_s"] = seconds
            yield self.measure("duration", seconds, f"{seconds:g} s", dict(facts), status=status)
        rate, digits, shown = printed or (size / seconds if seconds else 0.0, "", "")
        if printed is None:  # OpenSSH 3 printed none
            facts["derived"] = "size / time"
        elif seconds and seconds >= 20 and rate > 0 and not agrees(size / seconds, rate, digits):
            yield self.unread(text, "size and time do not give the printed rate")
        if rate > 0:
            yield self.measure("throughput", rate, shown, facts, status=status)

    def _conditions(self) -> Conditions:
        conditions, _, paths = self.command_line()
        conditions["direction"] = self.known.get("direction")
        if self.ctx.args("scp", "pscp") is not None and len(paths) > 1:
            conditions |= ends_of_copy(paths)
        elif paths:
            conditions["target"] = paths[0]
        return conditions


_NUMBER: Final = r"\d[\d.,'\u00a0\u202f ]*\d|\d"
#: lines between the head and the blank line that are no file: folders, links and other entries of -i, messages, a cut
_NO_FILE: Final = re.compile(
    r".*/$|[<>ch.*](?:[dLDS]|(?<![<>c])f)\S{9} |\*?deleting |created |skipping |rsync: |.* -> |.* is uptodate$"
)
_CUT: Final = re.compile(r"[\s.\u2026\[\]]*$")
_SKIPPED: Final = frozenset({"23", "24", "25"})  # some files vanished or were not sent


class Rsync(LinesParser, evidence=Evidence.TRANSFER):
    """rsync 2.x and 3.x and openrsync: the closing summary, ``--stats``, ``-P`` and ``--info=progress2``.

    Units: byte counts are bytes, with digit groups since 3.1 (commas, points or blanks after the locale);
    ``-h`` scales by 1000 (``90.02M``), ``-hh`` by 1024 (rsync manual, --human-readable). The progress rate
    ``kB/s MB/s GB/s`` is 1024-based (rsync ``progress.c``, rprint_progress: ``/ 1024.0``).

    The closing rate is the **wire** rate: (sent + received) / (whole seconds + 0.5) (rsync ``main.c``, output_summary).
    It equals the data rate only when nothing was skipped: so it carries ``wire=True``, and where the speedup is
    within 5 % of 1 a second figure, ``derived="total size / time"``, is the data rate, and the one that counts
    (`dtnsim.logs.measurement.of_data`). Files are those of ``--stats``, of the last ``xfr#``, or the names that ``-v``
    and ``-i`` list, folders and what is deleted left out. Its clock counts whole seconds: runs under 10 s are off by
    up to 5 % and more (``resolution_s``).

    With ``-P`` each file ends in a line of its own (``interval=True``, ``operation="file"``); ``progress2`` redraws one
    line for all: its last one is the headline where no summary follows. An error after the summary makes the run a
    failure, or ``partial`` when only some files could not be sent (codes 23, 24, 25).
    """

    words = "sent wrote speedup rsync kB MB GB Number Literal sending receiving building"
    beside: ClassVar = dict.fromkeys(("kB", "MB", "GB"), ("%",))
    shape = r"^[\s,]*+(?<= )% ++[kMGT]B/s "
    commands = ("rsync", "openrsync")

    _sent: tuple[float, float, str, int] | None = anew()  # sent and received [B], rate [B/s], as printed, line
    _total: tuple[float, float, bool, int, str] | None = anew()  # size [B], speedup, dry run, line, text
    _stats: Conditions = anew(dict)
    _drawn: tuple[float, int, float, str, int, bool] | None = anew()  # size, share, rate, printed, line, ended
    _names = anew(bool)  # other text stood between progress lines: one line a file
    _files = anew(int)  # that were sent: as progress counts them, or names listed
    _counted = anew(bool)  # by progress, or the list is cut
    _status: Status = anew(lambda: "complete")
    _last = anew(lambda: -9)  # line of the last progress line

    def feed(self, text: str) -> Iterable[Record]:
        if not self.known:
            (conditions, _, paths), args = self.command_line(), self.ctx.args(*self.commands) or []
            letters = "".join(arg[1:] for arg in args if re.fullmatch(r"-[A-Za-z]+", arg))
            if letters.count("h") + args.count("--human-readable") >= 2:
                conditions["scale"] = 1024
            self.known = {**conditions, **ends_of_copy(paths[-2:]), **self.where}
        return super().feed(text)

    def _ended(self, *, now: bool = False) -> Iterator[Record]:
        """What the run before gives, if its summary was there or it is over ``now``."""
        if now or self._sent is not None:
            yield from self.settle()
            self.further("known", "open", "block", "lines")

    @reads(
        rf"^\s*(?P<size>{_NUMBER})<su:k> +(?P<share>\d{{1,3}})% +<rate:comma>(?P<u>[kMGT])B/s +"
        r"(?P<time>\d+:\d\d:\d\d)(?P<tail> +\((?:xfr|xfer)#<xfr:int>, (?:to-chk|ir-chk|to-check)=<left:int>/\d+\))?"
    )
    def _progress(self, match: Match) -> Iterator[Record]:
        yield from self._ended()
        size, share = self._number(match["size"], match["su"]), int(match["share"])
        if share > 100:
            return
        self._names = self._names or (self.ctx.line - self._last > 1 and self._last > 0 and self._drawn is not None)
        self._last = self.ctx.line
        if match["xfr"] is not None:
            self._files, self._counted = int(match["xfr"]), True
        rate, printed = amount(match["rate"], match["u"] + "B"), f"{match['rate']}{match['u']}B/s"
        drawn = not self.ctx.redraw and not self.ctx.last  # the last drawing, which rsync closes with a newline
        self._drawn = (size, share, rate, printed, self.ctx.line, match["left"] == "0" and drawn)
        if rate > 0 and drawn:
            facts: Conditions = {**self.known, "interval": True, "bytes": size}
            if match["tail"]:
                facts["operation"] = "file" if self._names else None
                facts["duration_s"] = clock_s(match["time"]) or None
            yield self.measure("throughput", rate, printed, **facts)

    @reads(
        rf"(?:sent|wrote) (?P<sent>{_NUMBER})<su:k> bytes +(?:received|read) (?P<got>{_NUMBER})"
        rf"<gu:k> bytes +(?P<rate>{_NUMBER})<ru:k> bytes/sec"
    )
    def _sums(self, match: Match) -> Iterator[Record]:
        yield from self._ended()
        pairs = (("sent", "su"), ("got", "gu"), ("rate", "ru"))
        sent, got, rate = (self._number(match[figure], match[unit]) for figure, unit in pairs)
        if match["ru"] and self.ctx.args(*self.commands) is None:
            why = "-h (powers of 1000) or -hh (of 1024)? The command is not there: taken as -h"
            yield self.unread(match.string, why)
        self._sent = (sent + got, rate, f"{match['rate']}{match['ru']} bytes/sec", self.ctx.line)

    @reads(rf"total size is (?P<size>{_NUMBER})<u:k>\s+speedup is (?P<speedup>{_NUMBER})(?P<dry> \(DRY RUN\))?")
    def _size(self, match: Match) -> None:
        size, speedup = self._number(match["size"], match["u"]), self._number(match["speedup"], "")
        self._total = (size, speedup, match["dry"] is not None, self.ctx.line, match.string)

    @reads(
        r"^(?P<what>Number of regular files transferred|Number of files transferred|Number of files|Literal data): "
        rf"(?P<n>{_NUMBER})<u:k>"
    )
    def _stat(self, match: Match) -> Iterator[Record]:
        yield from self._ended()
        key = {"Literal data": "literal_B", "Number of files": "files_seen"}.get(match["what"], "files")
        self._stats[key] = int(self._number(match["n"], match["u"]))

    @reads(r"^(?:sending incremental|receiving |building file list)", opens=True)
    def _begin(self, match: Match) -> Found:  # noqa: ARG002 (what reads hands over)
        return self._ended()

    def other(self, text: str) -> None:
        """A name in the list of what is sent, which a blank line ends."""
        if self.open and not self._counted and text.strip():
            self._counted = _CUT.match(text) is not None
            self._files = 0 if self._counted else self._files + (_NO_FILE.match(text) is None)
        self.open = self.open and bool(text.strip())

    @reads(r"rsync (?P<kind>error|warning): (?P<what>.*) \(code <code:int>\)")
    def _message(self, error: Match) -> Iterator[Record]:
        if error["code"] in _SKIPPED and self._sent is not None and self._total is not None and self._total[0] > 0:
            self._status = "partial"
            self._stats["message"] = error[0][:200]
            return
        if error["code"] == "19" or error["kind"] == "warning":  # the other half of the process tree
            return
        if self._drawn is not None and error["code"] == "20" and self._sent is None:  # interrupted: progress holds
            yield from self._ended(now=True)
            return
        yield self.failure(error[0], **self.known)
        self.further("known", "open", "block", "lines")

    def settle(self) -> Iterator[Record]:
        if self._sent is None:
            size, share, rate, printed, line, ended = self._drawn or (0.0, 0, 0.0, "", 0, False)
            if rate > 0 and not (self._names and share == 100):  # -P: the last file says nothing of the whole
                facts = {**self.known, "bytes": size, "files": self._files or None}
                status: Status = "complete" if share == 100 and ended else "partial"
                yield self.measure("throughput", rate, printed, facts, status=status, line=line)
            return
        moved, rate, printed, line = self._sent
        self.need(rate > 0 and moved > 0, printed, NO_BYTES, line=line)
        facts = {**self.known, "files": self._files or None, **self._stats, "wire": True, "bytes": moved}
        facts |= {"duration_s": moved / rate, "resolution_s": 1.0}
        if self._total is None:
            yield self.measure("throughput", rate, printed, status="truncated", line=line, **facts)
        why = "the line with the total size is missing"
        size, speedup, dry, total_line, text = self.need(self._total, printed, why, line=line)
        facts |= {"file_B": size, "speedup": speedup}
        self.need(size > 0, text, "zero bytes: no rate", line=line)
        self.need(not dry, text, "a dry run moves no data: no rate", line=line)
        yield self.measure("throughput", rate, printed, status=self._status, line=line, **facts)
        if ALL_SENT[0] <= speedup <= ALL_SENT[1]:
            data = {**facts, "derived": "total size / time", "wire": None, "bytes": size}
            yield self.measure("throughput", size / facts["duration_s"], "", data, status=self._status, line=total_line)

    def _number(self, digits: str, unit: str) -> float:
        if not unit:
            return grouped(digits.strip())
        base = 1024.0 if self.known.get("scale") == 1024 else 1000.0
        return decimal(digits.strip()) * base ** (" KMGTP".index(unit))
