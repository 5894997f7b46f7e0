"""Processors and what keeps them busy: time, openssl speed, and iostat, mpstat and sar of sysstat."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final

from dtnsim.logs._columns import cell, columns, figures, plain
from dtnsim.logs._declared import Found, LinesParser, Match, notes, reads
from dtnsim.logs._numbers import DECIMAL, TIMES, as_dict, as_list, clock_s, decimal
from dtnsim.logs.base import Conditions, Document, Evidence, LineParser, Record, anew, documents

_MODES: Final[dict[str, tuple[str, Conditions]]] = {
    "real": ("duration", {}), "user": ("cpu_time", {"mode": "user"}), "sys": ("cpu_time", {"mode": "system"}),
}  # fmt: skip
_TIMED: Final = re.compile(r"(?:^|[\s;&|(])(?:/usr/bin/)?time\s+(?:-\S+\s+)*(.*)")
_D: Final = r"\d+[.,]\d+"


def _clock(text: str) -> float:
    """``1:02:03.5``, ``4:14.03`` or ``14.03`` in [s]."""
    return decimal(text) if (seconds := clock_s(text)) is None else seconds


class Time(LinesParser, evidence=Evidence.BUSY):
    """time: bash, ksh and busybox (``real 1m2.345s``), POSIX -p, BSD, GNU time (default and -v), zsh, csh, fish.

    Units: seconds; minutes and hours are written out (``11m28.600s``, ``4:14.03elapsed``, ``1:02:03``). A comma is a
    decimal mark (``0m21,738s``). Maximum resident set size of -v is KiB (``kbytes``; GNU time's manual). The bytes
    moved are not in this output: ``command`` says what was timed, the size must come from elsewhere.
    """

    words = "real user sys elapsed timed Elapsed User System Exit total u Command Executed usr"

    _timed: str | None = anew()
    _failed: str | None = anew()
    _verbose: list[Record] = anew(list)

    @reads(r"^\s*(real|user|sys)\s+(?:<h:int>h ?)?(?:<m:int>m ?)?<s:comma>s(?=\s|$)")
    def _bash(self, match: Match) -> Found:
        seconds = int(match["h"] or 0) * 3600 + int(match["m"] or 0) * 60 + decimal(match["s"])
        return self._figures([(match[1], seconds, match[0].strip())])

    @reads(rf"^\s*(?P<mode>real|user|sys)\s+(?P<n>{_D})(?P<unit>)\s*$")
    @reads(rf"^(?:Executed in|\s+(?P<mode>usr|sys) time)\s+(?P<n>{_D}) (?P<unit>micros|millis|secs|mins|hours)\b")
    def _figure(self, match: Match) -> Found:
        """POSIX (in s) and fish."""
        name, unit = (match["mode"] or "real").replace("usr", "user"), match["unit"] or "s"
        return self._figures([(name, decimal(match["n"]) * TIMES[unit], f"{match['n']} {unit}")])

    @reads(rf"^\s*(?P<real>{_D}) real\s+(?P<user>{_D}) user\s+(?P<sys>{_D}) sys\b(?P<cpu>)")
    @reads(r"(?<![\d.,])(?P<user>[\d.,]++)user (?P<sys>[\d.,]++)system (?P<real>[\d:.,]++)elapsed (?P<cpu>\d+|\?+)%CPU")
    @reads(r"^(?P<cmd>.*?)\s{1,2}<user:dots>s user <sys:dots>s system <cpu:int>% cpu (?P<real>[\d:.]+) total")
    @reads(r"^<user:real>u <sys:real>s (?P<real>(?:\d+:)+\d+\.\d+) (?P<cpu>\d+\.\d)%\s")
    def _one_line(self, match: Match) -> Iterator[Record]:
        """BSD, GNU time, zsh and csh."""
        command = (match.groupdict().get("cmd") or "").strip() or self._command()
        yield from self._figures([(name, _clock(match[name]), match[name]) for name in _MODES], command)
        if match["cpu"].replace(".", "").isdigit():
            yield self.printed("cpu_share", match["cpu"], "%", **_conditions(command))

    @reads(
        r"^\s*(?P<key>Command being timed|User time \(seconds\)|System time \(seconds\)"
        r"|Elapsed \(wall clock\) time \(h:mm:ss or m:ss\)|Exit status): (?P<value>.*)$"
    )
    def _verbose_line(self, match: Match) -> Found:
        key, value = match["key"], match["value"].strip()
        if key.startswith("Command"):
            self._timed, self._verbose, self._failed = value.strip('"'), [], None
        elif not key.startswith("Exit"):
            quantity, mode = _MODES[{"U": "user", "S": "sys", "E": "real"}[key[0]]]
            self._verbose.append(self.measure(quantity, _clock(value), value, {**mode, **_conditions(self._timed)}))
        elif value != "0":
            self._verbose = []
            return self.failure(f"{key}: {value}", **_conditions(self._timed))
        else:
            return self.settle(truncated=False)
        return None

    @reads(r"Command (?:exited with non-zero status \d+|terminated by signal \d+)")
    def _status(self, match: Match) -> None:
        self._failed = match[0]

    def _command(self) -> str | None:
        timed = _TIMED.search(self.ctx.command.text) if self.ctx.command is not None else None
        return timed[1].strip() if timed is not None else None

    def _figures(self, figures: list[tuple[str, float, str]], command: str | None = None) -> list[Record]:
        failed, self._failed = self._failed, None
        facts = _conditions(command or self._command())
        if failed is not None:
            return [self.failure(failed, **facts)]
        modes = ((*_MODES[name], seconds, printed) for name, seconds, printed in figures)
        return [self.measure(quantity, value, printed, {**mode, **facts}) for quantity, mode, value, printed in modes]

    def settle(self, *, truncated: bool = True) -> Iterator[Record]:
        """Figures of ``time -v``; one whose exit status is missing is cut."""
        self._failed = None if truncated else self._failed
        figures, self._verbose = self._verbose, []
        for figure in figures:
            yield from self.release(figure, "truncated" if truncated else "complete")


def _conditions(command: str | None) -> Conditions:
    text = (command or "").strip("() ")
    if not text:
        return {}
    conditions: Conditions = {"command": text[:300], "operation": text.split()[0].rsplit("/", 1)[-1]}
    if re.search(r"&&\s*sync\b|;\s*sync\b", text):
        conditions["sync"] = "sync"
    return conditions


class OpensslSpeed(LinesParser, evidence=Evidence.NO_MODEL):
    """``openssl speed``.

    Units: "The 'numbers' are in 1000s of bytes per second processed", so ``611219.58k`` is 611 MB/s of one thread
    (openssl apps/speed.c); a column for each size of the buffer.
    """

    tool = "openssl"
    words = "type"
    beside: ClassVar = {"type": ("bytes",)}
    within = r"(?!)"

    _head = notes(r"^type(?P<sizes>(?:\s+\d+ bytes)+)\s*$", opens=True, to=lambda text: re.findall(r"\d+", text))

    @reads(r"^([A-Za-z][\w()/+-]*(?: [\w()/+-]+)*)((?:[ \t]+\d+\.\d+k)+)\s*$", inside=True)
    def _row(self, row: Match) -> Iterator[Record]:
        rates, sizes = row[2].split(), self.known["sizes"]
        self.open = len(rates) == len(sizes)
        for size, rate in zip(sizes, rates, strict=True) if self.open else ():
            if (value := decimal(rate.rstrip("k")) * DECIMAL["K"]) > 0:
                yield self.measure("throughput", value, rate, operation=row[1].lower(), block_B=float(size))


#: ``03:15:06 PM``, ``15:15:06``, ``Average:`` and its translations
STAMP: Final = re.compile(r"^\s*(?P<stamp>\d+[:.]\d\d[:.]\d\d(?: ?[AP]M)?|(?P<mean>[^\W\d][\w.]*:))\s+(?P<rest>\S.*)$")


def statistics(data: Any) -> Iterator[dict[str, Any]]:
    """The statistics objects of a sysstat JSON document."""
    for host in map(as_dict, as_list(as_dict(as_dict(data).get("sysstat")).get("hosts"))):
        yield from (entry for entry in as_list(host.get("statistics")) if isinstance(entry, dict))


def is_mpstat(heads: Sequence[str]) -> bool:
    """Whether a CPU table's headings are mpstat's and not sar's: interrupts before steal, or ``intr/s``.

    ``sar -u ALL`` has the same columns as mpstat, with ``%steal`` before ``%irq`` (sysstat ``rd_stats``,
    ``pr_stats.c`` and ``mpstat.c``); mpstat before sysstat 10 said ``%user`` and closed with ``intr/s``.
    """
    before = "%steal" not in heads or "%irq" in heads[: heads.index("%steal")]
    return "intr/s" in heads or ("%usr" in heads and before)


_MARKS: Final = ("throughput", "iops", "utilization")  #: quantities of which a table of devices has one


class Iostat(LineParser, evidence=Evidence.BUSY):
    """iostat of sysstat 8 to 12, any column set, --pretty, --human and JSON.

    Units: ``kB`` is 1024 B and ``MB`` 1048576 B, whatever the column is called (rkB/s, kB_read/s, MB_wrtn/s); ``Blk``
    and ``sec`` are sectors of 512 B (iostat manual). With --human each figure carries its own letter. ``await`` is
    milliseconds, ``aqu-sz``/``avgqu-sz`` requests. The first report covers the time since boot: ``report`` counts
    them. With --pretty the device comes last.
    """

    words = "avg Device await Disk"
    beside: ClassVar = {"avg": ("avg-cpu",)}

    _heads: list[str] = anew(list)
    _cpu: list[str] | None = anew()
    _reports = anew(int)
    _in_report: list[list[str]] = anew(list)  # headings of this report (--human prints several tables)

    def feed(self, text: str) -> Iterable[Record]:
        if "avg-cpu:" in text:
            self._cpu, self._heads, self.open = text.split()[1:], [], True
            self._reports, self._in_report = self._reports + 1, []
            return ()
        words, cpu = text.split(), self._cpu
        if not words:
            self._heads, self.open = [], cpu is not None
        elif words[0].rstrip(":") == "Device" or words[-1] == "Device":
            if any(columns("iostat")[word].quantity in _MARKS for word in words if word in columns("iostat")):
                self._heads, self.open = [word.rstrip(":") for word in words], True
                if self._heads in self._in_report or self._reports == 0:
                    self._reports, self._in_report = self._reports + 1, []
                self._in_report.append(self._heads)
        elif cpu is not None:
            self._cpu, self.open = None, self.open and len(words) == len(cpu) and cell(words[0]) is not None
            conditions: Conditions = {"cpu": "all", "report": self._reports, "interval": True}
            return figures(self, "cpu", zip(cpu, words, strict=False), conditions) if self.open else ()
        elif self._heads:
            return self._device(words)
        return ()

    def _device(self, words: list[str]) -> Iterator[Record]:
        heads = self._heads
        if heads[0] == "Device":
            name, cells, heads = words[0], words[1:], heads[1:]
        else:
            name, cells, heads = " ".join(words[len(heads) - 1 :]), words[: len(heads) - 1], heads[:-1]
        if len(cells) != len(heads) or any(cell(text) is None for text in cells):
            if len(cells) == len(heads) or (cells and cell(cells[0]) is not None):
                yield self.unread(" ".join(words), f"{len(cells)} figures under {len(heads)} heads")
            self.open, self._heads = False, []
            return
        more: Conditions = {"device": name, "report": self._reports, "interval": True}
        yield from figures(self, "iostat", zip(heads, cells, strict=True), more)

    @documents(fits=lambda doc: any("disk" in entry for entry in statistics(doc.data)))
    def _json(self, doc: Document) -> Iterator[Record]:
        """``iostat -o JSON``."""
        for report, entry in enumerate(statistics(doc.data), 1):
            more: Conditions = {"report": report, "interval": True}
            cpu = ((f"%{state}", share) for state, share in as_dict(entry.get("avg-cpu")).items())
            yield from figures(self, "cpu", cpu, {"cpu": "all", **more}, read=plain, line=doc.line)
            for disk in map(as_dict, as_list(entry.get("disk"))):
                name = str(disk.get("disk_device"))
                conditions, line = {"device": name, **more}, doc.line_of(f'"{name}"')
                pairs = (("%util" if head == "util" else head, value) for head, value in disk.items())
                yield from figures(self, "iostat", pairs, conditions, read=plain, line=line)


_KEYS: Final = {"CPU": "cpu", "IFACE": "interface", "DEV": "device"}


class _Stamped(LineParser):
    """Rows behind time stamps under headings that are printed again and again; a line without a stamp ends them."""

    _heads: list[str] = anew(list)

    @abstractmethod
    def heads(self, words: list[str]) -> list[str] | None:
        """Headings that are read, none of those of another table; None where the words are a row's."""

    def feed(self, text: str) -> Iterable[Record]:
        match = STAMP.match(text)
        words = match["rest"].split() if match is not None else []
        heads = self.heads(words) if words else []
        if match is None or heads is not None:
            self._heads, self.open = heads or [], bool(heads)
            return ()
        if not self._heads:
            return ()
        self.need(len(words) == len(self._heads), text, f"{len(words)} figures under {len(self._heads)} heads")
        pairs = list(zip(self._heads, words, strict=True))
        more: Conditions = {"interval": None if match["mean"] else True}
        more |= {_KEYS[head]: word for head, word in pairs if head in _KEYS}
        return figures(self, "cpu" if "cpu" in more else "sar", pairs, more)


def _is_mpstats(doc: Document) -> bool:
    entries = list(statistics(doc.data))
    if not entries:
        return isinstance(doc.data, dict) and "sysstat" in doc.data
    return any("cpu-load" in entry and "disk" not in entry for entry in entries)


class Mpstat(_Stamped, evidence=Evidence.BUSY):
    """mpstat text (any time format) and JSON.

    Units: percent of the time of one CPU, or of all (``all``, in JSON ``-1``). Interrupt tables are not read. Rows
    without ``Average`` are intervals.
    """

    words = "CPU"

    def heads(self, words: list[str]) -> list[str] | None:
        if "CPU" not in words:
            return None
        return words if is_mpstat(words) and self.ctx.args("sar") is None else []

    @documents(fits=_is_mpstats)
    def _json(self, doc: Document) -> Iterator[Record]:
        """``mpstat -o JSON``."""
        start = 0
        if next(statistics(doc.data), None) is None:
            yield self.unread(doc.text[:80], "the document has no intervals", line=doc.line)
        for entry in statistics(doc.data):
            stamp = str(entry.get("timestamp", ""))
            start = max(start, doc.text.find(f'"{stamp}"', start))
            for load in map(as_dict, as_list(entry.get("cpu-load"))):
                cpu, part = str(load.get("cpu")), None if stamp.lower().startswith("average") else True
                more: Conditions = {"cpu": "all" if cpu == "-1" else cpu, "time": stamp, "interval": part}
                line = doc.line_of(f'"cpu": "{cpu}"', start)
                states = ((f"%{state}", share) for state, share in load.items())
                yield from figures(self, "cpu", states, more, read=plain, line=line)


class Sar(_Stamped, evidence=Evidence.BUSY):
    """sar: -u (CPU), -n DEV (interfaces), -d (devices), -b (all I/O); other tables are left out.

    Units: ``kB`` is 1024 B (sar manual), ``rd_sec/s`` and ``bread/s`` are sectors of 512 B, ``rxbyt/s`` of old versions
    bytes; ``%ifutil`` and ``%util`` percent; ``await`` milliseconds. Rows without ``Average:`` are intervals.
    """

    words = "CPU IFACE DEV rtps"
    commands = ("sar", "sadf")

    def heads(self, words: list[str]) -> list[str] | None:
        if words[0] not in _KEYS and words[-1] not in _KEYS and "rtps" not in words:
            return None
        mine = ("%user" in words or "%usr" in words) and (self.ctx.args("sar") is not None or not is_mpstat(words))
        read = mine or any(word in columns("sar") and columns("sar")[word].quantity == "throughput" for word in words)
        return words if read else []
