"""What kernels count: vmstat, nfsiostat, ifstat, and of TCP ss and nstat."""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from dtnsim.logs._columns import figures
from dtnsim.logs._declared import Found, LinesParser, Match, notes, reads
from dtnsim.logs._numbers import as_dict, number, regex
from dtnsim.logs.base import Conditions, Document, Evidence, LineParser, Record, anew, documents, once

_DISK_HEADS: Final = ("reads", "", "read sectors", "read ms", "writes", "", "write sectors", "write ms", "", "sec")


class Vmstat(LinesParser, evidence=Evidence.BUSY):
    """vmstat of procps, 3.2 to 4: rows of CPU shares, block I/O, interrupts.

    Units: ``bi`` and ``bo`` are blocks of 1024 B a second whatever ``-S`` says (vmstat(8): since Linux 2.6 all blocks
    are 1024 bytes), ``in`` and ``cs`` interrupts and context switches a second; ``us sy id wa st gu`` percent of all
    cores, where ``us`` has nice and ``sy`` the interrupts. The first row covers the time since boot
    (``since="boot"``) unless ``-y`` left it out. With ``-d`` a row a disk has the totals since boot, in sectors of
    512 B and ms; ``sec`` is the time it was busy. Memory and swap are not read.
    """

    words = "swpd disk"
    beside: ClassVar = {"disk": ("---reads---",)}

    within = r"\s*(?:procs|total)\s"

    _reports = anew(int)

    _disks = notes(r"^\s*disk-\s", opens="disks")

    _head = notes(r"^(?P<heads>\s*r\s+b\s+swpd\s.*)", opens="rows", to=lambda text: text.split())

    @reads(r"^\s*+[0-9]++(?:\s++[0-9]++(?=\s|$))*+", inside="rows")
    def _row(self, row: Match) -> Found:
        cells, heads = row[0].split(), [word for word in self.known["heads"] if word.islower()]  # -t: no time zone
        if len(cells) < len(heads):
            return self.other(row.string)
        self._reports += 1
        since = "boot" if self._reports == 1 and "-y" not in (self.ctx.args("vmstat") or ()) else None
        more = {"report": self._reports, "interval": True, "since": since}
        return figures(self, "vmstat", zip(heads, cells, strict=False), more)

    @reads(r"^\s*(?P<device>\S+)(?P<totals>(?:\s+[0-9]+){10})\s*$", inside="disks")
    def _disk(self, row: Match) -> Found:  # of -d
        pairs = zip(_DISK_HEADS, row["totals"].split(), strict=True)
        return figures(self, "vmstat -d", pairs, {"device": row["device"], "since": "boot"})


_HEADS: Final = re.compile(r"ops?/s|rpc bklog|kB/s|kB/op|retrans|avg RTT|avg exe|avg queue|errors")
_CELL: Final = re.compile(r"(?<![\d.])(\d{1,18}(?:\.\d{1,9})?|nan)(?: \( ?[\d.]++%\))?(?=\s|$)")


class Nfsiostat(LinesParser, evidence=Evidence.BUSY):
    """nfsiostat of nfs-utils 1.1 to 2: what every NFS mount of a client does.

    Units: ``kB`` is 1024 B, of RPC with their headers (nfs-iostat.py divides by 1024); ``avg RTT`` from sending to
    the answer, ``avg exe`` from the file system's request to its end, ``avg queue`` between them (``of``), in ms.
    ``retrans`` and ``errors`` are counts of the interval. The first report covers the time since the mount
    (``report``). Values stand in one line, or one below the other (nfs-utils 1.2.3).
    """

    words = "mounted kB"
    commands = ("nfsiostat", "nfs-iostat", "nfs-iostat.py")

    _reports: dict[str, int] = anew(dict)
    _operation: str | None = anew()
    _heads: list[str] = anew(list)
    _cells: list[str] = anew(list)
    _quiet = anew(int)

    @reads(r"^\s*+<source:word> mounted on (?P<target>\S+):\s*+$")
    def _mounted(self, mount: Match) -> None:
        target = mount["target"]
        if len(self._reports) > 1000:
            self._reports.clear()
        self._reports[target] = self._reports.get(target, 0) + 1
        self.known = {"source": mount["source"], "target": target, "report": self._reports[target]}
        self._start("all", [])

    def other(self, text: str) -> Found:
        words = text.strip()
        if words.startswith(("read:", "write:")) and (self.open or "kB/op" in words):
            self._start(words.partition(":")[0], [])
        if ("kB/op" in words or "rpc bklog" in words) and (heads := _HEADS.findall(words)):
            if "kB/op" not in heads or self._operation in ("read", "write"):
                self._start(self._operation if "kB/op" in heads else "all", heads)
            return None
        return self._values(words)

    def _start(self, operation: str | None, heads: list[str]) -> None:
        self._operation, self._heads, self._cells = operation, heads, []
        self.open, self._quiet = True, 0

    def _values(self, words: str) -> Found:
        cells = _CELL.findall(words) if self._heads and len(words) < 300 else []
        if not cells:
            self._quiet += bool(words)
            if self._quiet > 2:
                self.open, self._heads = False, []
        self._cells += cells
        if not cells or len(self._cells) < len(self._heads):
            return None
        values = {head: cell for head, cell in zip(self._heads, self._cells, strict=False) if cell != "nan"}
        self._heads, self._cells = [], []
        more: Conditions = {**self.known, "operation": self._operation, "interval": True}
        more["block_B"] = round(float(values.get("kB/op", 0)) * 1024.0, 3) or None
        pairs = ((head, cell) for head, cell in values.items() if float(cell) > 0 or not head.startswith("avg "))
        return figures(self, "nfsiostat", pairs, more)


_NAME: Final = re.compile(r"[\w.:@-]+")
_SCREEN: Final = 18  # rows under a head on the smallest usual terminal
_FACTOR: Final = {"KB/s": 1024.0, "Kbps": 128.0}


class Ifstat(LinesParser, evidence=Evidence.BUSY, of_a_line=True):
    """ifstat (Gael Roualland's): columns of interface rates in time.

    Units: ``KB/s`` = 2^10 B/s and, with ``-b``, ``Kbps`` = 2^10 bit/s: measured on ifstat 1.1 with iperf3 paced at
    2e9 bit/s over the loopback, which printed 244369.6 KB/s and 1.95e+06 Kbps. Rates are of frames as the kernel
    counts them (with link headers), averaged over the interval (1 s unless the command line says otherwise).

    Every figure is a record ``interval=True`` with ``device``, ``direction`` (in = ``receive``) and ``sample`` (from
    1): a series in time has no figure of the whole. ``Total`` is the sum of the interfaces. A new head continues the
    table if it names the same interfaces after a screen full of rows (ifstat repeats it then); after fewer rows it is
    another run (``table`` counts them).
    """

    words = "KB Kbps"

    _devices: list[str] = anew(list)
    _known: Conditions = once(dict)
    _word = once(str)
    _every = once(float)
    _tables = once(int)
    _sample = once(int)
    _rows = once(int)  # tables, rows of this one, rows since its last head

    @reads(r"^\s*+(?P<time>HH:MM:SS)?+(?P<pairs>(?:\s*+(?:KB/s|Kbps) in\s++(?:KB/s|Kbps) out)++)\s*+$", opens=True)
    def _head(self, units: Match) -> None:
        pairs = re.findall(r"(KB/s|Kbps) in", units["pairs"])
        names = [name for name in _NAME.findall(self.ctx.previous) if name.lower() != "time"]
        devices = names if len(names) == len(pairs) else [f"column {index + 1}" for index in range(len(pairs))]
        if self._devices != devices or self._rows < _SCREEN:
            args = self.ctx.args("ifstat")
            numbers = [arg for arg in args or () if re.fullmatch(r"\d+(?:\.\d+)?(?:/\d+(?:\.\d+)?)?", arg)]
            self._every = float(numbers[0].partition("/")[0]) if numbers else 0.0 if args is None else 1.0
            self._tables, self._sample, self._word = self._tables + 1, 0, pairs[0]
            self._known = {**self.where, "table": self._tables, "interval": True}
        self._devices, self._rows = devices, 0

    @reads(
        r"^\s*+(?:(?P<time>\d\d:\d\d:\d\d)\s)?(?P<figures>(?:\s*+(?:\d++(?:\.\d*+)?(?:e[+-]?\d++)?|n/a))++)\s*+$",
        inside=True,
    )
    def _row(self, row: Match) -> Iterator[Record]:
        cells = row["figures"].split()
        columns = 2 * len(self._devices)
        self.need(len(cells) == columns, row[0], f"{len(cells)} figures in a table of {columns} columns")
        self._sample, self._rows = self._sample + 1, self._rows + 1
        conditions: Conditions = {**self._known, "sample": self._sample, "time": row["time"]}
        if self._every:
            conditions |= {"start_s": (self._sample - 1) * self._every, "end_s": self._sample * self._every}
        for column, cell in enumerate(cells):
            more = {"device": self._devices[column // 2], "direction": "send" if column % 2 else "receive"}
            if cell != "n/a":
                value = float(cell) * _FACTOR[self._word]
                yield self.measure("throughput", value, f"{cell} {self._word}", {**conditions, **more})

    def other(self, text: str) -> None:
        names = _NAME.findall(text) if text.strip() else self._devices
        if not set(self._devices) <= set(names) or len(names) > len(self._devices) + 1:
            self._devices, self.open = [], False


_HEAD: Final = re.compile(
    r"^\s*+(?:tcp\s++)?(?P<state>ESTAB|UNCONN|SYN-SENT|SYN-RECV|FIN-WAIT-[12]|CLOSE-WAIT|LAST-ACK|CLOSING|TIME-WAIT)"
    r"\s++\d++\s++\d++\s++(?P<local>\S*?[:.]\w++)\s++(?P<peer>\S*?[:.]\w++)(?=\s|$)(?P<rest>.*)"
)
_PAIR: Final = re.compile(r"(?<!\S)(rtt|minrtt|cwnd|mss|pmtu|retrans|bytes_acked|bytes_received):([\d./]++)")
_RATE: Final = regex(r"(?<!\S)delivery_rate <n:num><u:k>bps")
_RTTS: Final = ("rtt? {rtt} ms", "rtt? {deviation} ms : statistic=stddev", "rtt? {minrtt} ms : statistic=min")
#: whatever its name: it stands behind the options and before the first key (iproute2 misc/ss.c, tcp_stats_print)
_CONTROL: Final = re.compile(r"(?<!\S)(?!(?:ts|sack|ecn|ecnseen|fastopen)\s)([a-z][\w-]{1,15}) (?=wscale:|rto:)")
_MANY: Final = 4096  # connections whose samples are counted
_CHARACTERS: Final = 8000  # characters of one connection


class Ss(LineParser, evidence=Evidence.CONNECTIONS, of_a_line=True):
    """``ss -ti``: what the kernel knows of every TCP connection, once or again and again.

    Units: ``rtt`` and ``minrtt`` in ms (smoothed round trip / its deviation), ``cwnd`` in segments of ``mss`` bytes,
    ``send``, ``pacing_rate`` and ``delivery_rate`` in bit/s with powers of 1000 (iproute2 ``misc/ss.c``,
    ``sprint_bw``; checked: ``send`` 3762758621 bps is 10 segments of 1364 B in 0.029 ms). ``retrans:now/total``.

    Every figure is of a moment (``interval=True``): the smoothed round trip, its minimum, the window in bytes
    (``of="cwnd"``), the rate at which data was delivered last (``of="delivery"``; ``app_limited`` says that the
    application, not the path, set it), and retransmissions since the connection began. ``sample`` counts how often a
    connection was seen.
    """

    words = "ESTAB UNCONN SYN FIN CLOSE LAST CLOSING rtt cwnd"
    beside: ClassVar = {"rtt": ("rtt:",), "cwnd": ("cwnd:",)}

    _known: Conditions = once(dict)
    _text = once(str)
    _line = once(int)
    _seen: dict[tuple[str, str], int] = once(dict)

    def feed(self, text: str) -> Iterable[Record]:
        head = _HEAD.match(text)
        if head is None and self.open and text[:1].isspace() and text.strip() and len(self._text) < _CHARACTERS:
            uncut = text.rpartition(" ")[0] if self.ctx.cut else text  # without the word that the file ends in
            self._text = f"{self._text} {uncut.strip()}"
            return ()
        done = list(self.settle()) if self.open or head is not None else ()
        if head is not None:
            self._known = {"state": head["state"].lower(), "source": head["local"], "target": head["peer"]}
            self._known |= self.where
            self._text, self._line, self.open = head["rest"], self.ctx.line, True
        return done

    def settle(self) -> Iterator[Record]:
        text, self._text, self.open = self._text, "", False
        values, line = dict(_PAIR.findall(text)), self._line
        if "rtt" not in values and "cwnd" not in values:
            return
        key, control = (str(self._known.get("source")), str(self._known.get("target"))), _CONTROL.search(text)
        if len(self._seen) >= _MANY:
            self._seen.clear()
        self._seen[key] = self._seen.get(key, 0) + 1
        conditions: Conditions = {**self._known, "interval": True, "sample": self._seen[key]}
        conditions["congestion"] = control[1] if control is not None else None
        for name, condition in (("mss", "mss_B"), ("pmtu", "mtu_B"), ("bytes_acked", "acked_B")):
            conditions[condition] = int(values[name]) if values.get(name, "").isdigit() else None
        values["rtt"], _, values["deviation"] = values.get("rtt", "").partition("/")
        yield from self.figures(values, conditions, *_RTTS, line=line)
        if (rate := _RATE.search(text)) is not None:
            more = {**conditions, "app_limited": True if "app_limited" in text else None}
            yield from self.figures(rate, more, "throughput? {n}{u}bps : of=delivery", line=line)
        if "cwnd" in values and "mss" in values:
            window = int(values["cwnd"]) * int(values["mss"])
            yield self.measure("bytes", window, f"cwnd:{values['cwnd']}", conditions, of="cwnd", line=line)
        if "/" in values.get("retrans", ""):
            total = int(values["retrans"].partition("/")[2])
            yield self.measure("retransmits", total, f"retrans:{values['retrans']}", conditions, line=line)


_SENT: Final = "TcpOutSegs"
_AGAIN: Final = "TcpRetransSegs"


def _is_nstat(doc: Document) -> bool:
    counters = as_dict(next(iter(as_dict(doc.data).values()), None))
    return len(doc.data) == 1 and ("IpInReceives" in counters or _SENT in counters)


class Nstat(LinesParser, evidence=Evidence.BUSY):
    """nstat of iproute2: the kernel's SNMP counters as text and JSON.

    Units: plain counts, of octets where the name says so; behind them a rate averaged by the daemon [1/s], zero
    without one. The count is since the call before (``since="previous nstat"``) or, with ``-a``, since boot. Segments
    that TCP sent again (``TcpRetransSegs``) are ``retransmits`` beside the segments that it sent (``segments``; RFC
    1213, tcpOutSegs: without those sent again).
    """

    shape = r"^\s*+(?:Ip|Icmp|Tcp|Udp|Sctp|MPTcp)[A-Z]\w++ {4}"

    _sent: int | None = anew()

    @reads(
        r"^\s*+(?P<name>(?:Ip6?|IpExt|Icmp6?|IcmpMsg|Tcp|TcpExt|Udp6?|UdpLite6?|Sctp|MPTcpExt)[A-Z]\w++)\s++<count:int>"
        r"\s++<rate:real>\s*+$"
    )
    def _counter(self, line: Match) -> Iterator[Record]:
        name, count, rate = line["name"], int(line["count"]), line["rate"]
        self._sent = count if name == _SENT else self._sent
        yield self._counted(name, count, str(count), self._sent)
        if float(rate) > 0:
            yield self.measure("rate", float(rate), rate, of=name, interval=True)

    @documents(fits=_is_nstat)
    def _json(self, doc: Document) -> Iterator[Record]:
        counters = next(iter(doc.data.values()))
        sent, lines = number(counters.get(_SENT)), doc.lines()
        for name, value in counters.items():
            if (count := number(value)) is not None:
                yield self._counted(name, count, f"{value}", sent, lines(f'"{name}"'))

    def _counted(self, name: str, count: float, printed: str, sent: float | None, line: int | None = None) -> Record:
        args = self.ctx.args("nstat")
        flags = "".join(arg[1:] for arg in args or () if arg.startswith("-") and not arg.startswith("--"))
        since = None if args is None else "boot" if "a" in flags or "--ignore" in args else "previous nstat"
        quantity, more = ("retransmits", {"segments": sent}) if name == _AGAIN else ("count", {})
        return self.measure(quantity, count, printed, {"of": name, "since": since, **more}, line=line)
