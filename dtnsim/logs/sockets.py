"""Tests of sockets and RDMA: netperf, perftest and qperf."""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from dtnsim.logs._commands import meanings
from dtnsim.logs._declared import Found, LinesParser, Match, reads
from dtnsim.logs._numbers import DECIMAL, TIMES, positive_int, regex, scale_of, size_bytes
from dtnsim.logs.base import Conditions, Evidence, Record, anew

_TARGET: Final = regex(r"(?:^|\s)to <target:word> \(")
_BITS: Final = r"10\^(?P<power>[369])bits|(?P<binary>[KMG])Bytes"


class Netperf(LinesParser, evidence=Evidence.NETWORK, of_a_line=True):
    """netperf 2.x: classic tables of ``TCP_STREAM``, ``TCP_MAERTS``, ``TCP_SENDFILE``, ``UDP_STREAM`` and ``TCP_RR``.

    Units: the head says them: ``10^6bits/sec`` (also ``-f m``), ``10^9bits/s`` (``-f g``), ``10^3bits``; with ``-f M``,
    ``G``, ``K`` ``MBytes`` ... are powers of 1024 (netperf ``netlib.c``, ``calc_thruput``). Sizes in bytes.
    ``UDP_STREAM`` prints two rows: what was sent, and what arrived (the headline, ``role="receiver"``); the messages
    lost are their difference. ``TCP_RR`` prints transactions a second (``rate``): the inverse is the mean round trip
    with the hosts' own time. ``TCP_MAERTS`` flows from the netserver to netperf (``direction="receive"``). Checked: UDP
    messages times their size over the elapsed time give the printed rate.
    """

    words = "TEST"
    longest = 12  # lines of head and rows

    _factor = anew(float)
    _unit = anew(str)
    _before = anew(str)  # what stands before the title, and maybe before every line
    _sent: float | None = anew()  # UDP: messages of the sender's row

    def feed(self, text: str) -> Iterable[Record]:
        records = super().feed(text.removeprefix(self._before) if self.open else text)
        if self.open and "target" not in self.known and (target := _TARGET.search(text)) is not None:
            self.known["target"] = target["target"]
        return records

    @reads(
        r"(?:^|\s)(?:MIGRATED )?(?P<proto>TCP|UDP|SCTP) (?P<what>STREAM|MAERTS|SENDFILE|REQUEST/RESPONSE) TEST\b",
        opens=True,
    )
    def _title(self, title: Match) -> None:
        self._before = title.string[: title.start() + 1] if title.start() else self._before
        self._unit, self._sent = "", None
        proto, test = title["proto"].lower(), title["what"].lower()
        way = None if proto == "udp" or test == "request/response" else "receive" if test == "maerts" else "send"
        self.known = {"protocol": proto, "test": test, "direction": way, **self.where}

    @reads(rf"Interim result:\s++(?P<printed><rate:num> (?:{_BITS})/s) over <seconds:num> seconds", inside=True)
    def _interim(self, interim: Match) -> Record:
        self.lines -= 1  # -D: any number of them
        facts = {**self.known, "interval": True, "duration_s": float(interim["seconds"])}
        return self.measure("throughput", float(interim["rate"]) * _factor(interim), interim["printed"], facts)

    @reads(rf"(?P<unit>(?:{_BITS})/s|Trans\.?|per sec\b)", inside=True)
    def _heading(self, unit: Match) -> None:
        self._unit, self._factor = unit["unit"], _factor(unit)

    @reads(r"^\s*+\d++(?:\s++-?\d++(?:\.\d++)?)++\s*+$", inside=True)
    def _figures(self, row: Match) -> Found:
        return self._row(row[0].split()) if self._unit else None

    def _row(self, cells: list[str]) -> Iterator[Record]:
        test = self.known["test"]
        if test == "request/response" and len(cells) >= 6:  # sockets' buffers, sizes, seconds, transactions a second
            self.open = False
            facts: Conditions = {"request_B": int(cells[2]), "response_B": int(cells[3]), "duration_s": float(cells[4])}
            if float(cells[5]) > 0:
                yield self.measure("rate", float(cells[5]), f"{cells[5]} trans/s", {**self.known, **facts})
        elif test != "request/response" and self.known["protocol"] == "udp":
            if self._sent is None and len(cells) >= 6:  # buffer, message size, seconds, messages, errors, rate
                size, seconds, messages = int(cells[1]), float(cells[2]), float(cells[3])
                self._sent, self.known["block_B"] = messages, size
                printed = float(cells[5]) * self._factor
                if seconds >= 1 and abs(messages * size / seconds - printed) > 0.02 * printed:
                    yield self.unread(" ".join(cells), "messages, size and time do not give the printed rate")
                yield self._rate(cells[5], {"role": "sender", "duration_s": seconds, "packets": int(messages)})
            elif self._sent is not None and len(cells) >= 4:  # buffer, seconds, messages, rate
                self.open, sent, got = False, self._sent, float(cells[2])
                facts = {"role": "receiver", "duration_s": float(cells[1]), "packets": int(got)}
                yield self._rate(cells[3], facts)
                if sent >= got > 0:
                    lost = {**self.known, **facts, "packets": int(sent)}
                    yield self.measure("loss", 1 - got / sent, f"{cells[2]} of {sent:.0f}", lost)
        elif test != "request/response" and len(cells) >= 5:
            self.open = False
            windows = {"receive_window_B": int(cells[0]), "window_B": int(cells[1])}
            facts = {**windows, "block_B": int(cells[2]), "duration_s": float(cells[3])}
            yield self._rate(cells[4], facts)

    def _rate(self, text: str, facts: Conditions) -> Record:
        return self.rate(float(text) * self._factor, f"{text} {self._unit}", {**self.known, **facts}, text=text)


def _factor(unit: re.Match[str]) -> float:
    """[B/s] of a unit; 0 for transactions."""
    power, binary = unit["power"], unit["binary"]
    return 10.0 ** int(power) / 8 if power else 2.0 ** (10 * " KMG".index(binary)) if binary else 0.0


_TIMES: Final = (
    ("t_min", "min"), ("t_max", "max"), ("t_typical", "p50"), ("t_avg", None), ("t_stdev", "stddev"),
    ("99% percentile", "p99"), ("99.9% percentile", "p99.9"),
)  # fmt: skip
_PAIR: Final = re.compile(r"(Number of qps|Connection type|Mtu|Link type|Device|TX depth)\s*+: (\S++)")
_OPERATIONS: Final = {"RDMA_Write": "write", "RDMA_Read": "read", "Send": "send", "Raw Ethernet Send": "send"}


class Perftest(LinesParser, evidence=Evidence.NETWORK):
    """perftest: ``ib_write_bw``, ``ib_read_bw``, ``ib_send_bw``, ``ib_atomic_bw`` and their ``_lat``, any 2.x to 6.x.

    Units: ``BW [MB/sec]`` and ``[MiB/sec]`` = 2^20 B/s (checked: 0.017654 million messages of 65536 B a second beside
    1103.38 MB/sec), ``[Gb/sec]`` (``--report_gbits``) = 1e9 bit/s (checked: 0.097356 Mpps of 65536 B beside 51.04);
    ``MsgRate[Mpps]`` 1e6 messages/s; times in microseconds. The average is the headline; the peak (0 with ``-D``) has
    ``statistic="max"``. Latencies are of one way (half of a round trip) but for reads and atomics, which are whole
    (perftest README, "Test parameters"). ``t_typical`` is the median. ``-b`` counts both directions
    (``bidirectional``).
    """

    words = "bytes Test qps Connection Mtu Device Link TX"
    beside: ClassVar = {"bytes": ("#bytes",)}
    commands = tuple(f"ib_{what}_{kind}" for what in ("write", "read", "send", "atomic") for kind in ("bw", "lat"))
    longest = 12  # warnings about the CPU's clock may come between head and rows

    _unit: str | None = anew()
    _latency: list[str | None] = anew(list)
    _rated = anew(bool)

    @reads(r"^\s*+\d++\s++\d++(?:\s++\d++)?(?:\s++\d++\.\d++)++\s*+$", inside=True)
    def _row(self, row: Match) -> Iterator[Record]:
        self.lines, cells = 0, row[0].split()
        integers = 2 if "." in cells[2] else 3  # -Q prints the service level, too
        size, figures = int(cells[0]), cells[integers:]
        command = next((name for name in self.commands if self.ctx.args(name) is not None), None)
        conditions: Conditions = {**self.known, **self.where, "block_B": size, "count": int(cells[integers - 1])}
        if conditions.get("operation") is None and command is not None:
            conditions["operation"] = command.split("_")[1]
        if self._unit is None:
            for statistic, text in zip(self._latency, figures, strict=False):
                yield self.printed("latency", text, "usec", statistic=statistic, **conditions)
            return
        self.need(len(figures) > 1, " ".join(cells), "the row is cut")
        _, factor, divisor = scale_of(f"{self._unit}/sec")
        peak, average = (float(text) * factor / divisor for text in figures[:2])
        messages = float(figures[2]) * 1e6 if self._rated and len(figures) > 2 else 0.0
        if messages > 100 and abs(messages * size - average) > 0.02 * average + size:
            yield self.unread(" ".join(figures), "messages a second times their size do not give the rate")
        for statistic, value, text in ((None, average, figures[1]), ("max", peak, figures[0])):
            if value > 0:
                yield self.measure("throughput", value, f"{text} {self._unit}/sec", statistic=statistic, **conditions)
        if messages > 0:
            yield self.measure("rate", messages, f"{figures[2]} Mpps", **conditions)

    @reads(
        r"#bytes\s++(?:#sl\s++)?#iterations\s++(?:BW[ _]peak\[(?P<unit>MB|MiB|Gb)/sec\]\s++BW[ _]average\["
        r"(?:MB|MiB|Gb)/sec\](?P<rate>\s++MsgRate\[Mpps\])?|(?P<lat>t_min\[usec\]))",
        opens=True,
    )
    def _head(self, head: Match) -> None:
        self._unit, self._rated = head["unit"], bool(head["rate"])
        self._latency = [statistic for name, statistic in _TIMES if f"{name}[usec]" in head.string]

    @reads(
        r"^[\s*]*+(?P<what>RDMA_Write|RDMA_Read|Send|Atomic|Raw Ethernet Send|Raw Ethernet|[A-Z_]+)\b[\w ]*?"
        r"(?P<both>Bidirectional )?(?P<kind>BW|Latency)[\w ]*Test\b"
    )
    def _title(self, title: Match) -> None:
        operation = _OPERATIONS.get(title["what"], "atomic" if "Atomic" in title.string else None)
        self.known = {"operation": operation, "bidirectional": True if title["both"] else None}

    def other(self, text: str) -> None:
        self.open = self.open and "----" not in text
        for key, value in _PAIR.findall(text) if ":" in text else ():
            name, digits = meanings("perftest")[key], value.partition("[")[0]
            if name not in ("streams", "mtu_B", "depth"):
                self.known[name] = value
            elif digits.isdigit() and len(digits) < 9:
                self.known[name] = int(digits)


_TEST: Final = r"(?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc|ver)_[a-z_]{2,40}"
_RATE: Final = re.compile(r"([KMGT]?)(B|b)(?:ytes)?/sec")
_FLAG: Final = re.compile(r"-[vuUhV]\w{0,9}|--(?:use_bits_per_sec|unify_\w{1,9}|verbose\w{0,20}|help|version)")
_RATES: Final = {"bw": None, "send_bw": "sender", "recv_bw": "receiver"}


def _server(args: Iterable[str]) -> str | None:
    """The first word of a command that is neither an option nor an option's value."""
    words = iter(args)
    for word in words:
        if not word.startswith("-"):
            return word
        if _FLAG.fullmatch(word) is None:
            next(words, None)
    return None


class Qperf(LinesParser, evidence=Evidence.NETWORK):
    """qperf 0.4: blocks ``tcp_bw:`` with ``name = value unit``.

    Units: ``KB``, ``MB``, ``GB`` of rates are powers of 1000 (qperf.c ``view_band``; checked: 28.2 GB in 10 s printed
    2.82 GB/sec), with ``--use_bits_per_sec`` ``Mb``; ``KiB`` of message sizes (``-vu``) says what it is. ``latency``
    is half a round trip, as qperf says of its ping-pong tests (``one_way``). ``send_bw`` is what the sender pushed,
    ``recv_bw`` what arrived. CPU shares are of one core, so that they may pass 100 %.
    """

    shape = rf"^\s*+{_TEST}:\s*+$"

    _rows: list[tuple[str, float, str, str, int]] = anew(list)

    @reads(rf"^\s*+(?P<test>{_TEST}):\s*+$", opens=True, settles=True)
    def _head(self, head: Match) -> None:
        self.known = {**self.where, "of": head["test"], "target": _server(self.ctx.args("qperf") or [])}
        self.known["protocol"] = head["test"][:3] if head["test"][:3] in ("tcp", "udp") else None

    @reads(
        r"^\s*+(?P<key>[a-z_]{2,20}) {1,20}= {1,20}"
        r"(?P<value>\d{1,3}(?:,\d{3})++|\d++(?:\.\d++)?) ?(?P<unit>[A-Za-z%/ ]{0,12}?)(?: \([\d,]{1,20}\))?\s*+$",
        inside=True,
    )
    def _pair(self, pair: Match) -> list[Record]:
        row = pair["key"], float(pair["value"].replace(",", "")), pair["unit"].strip(), pair["value"], self.ctx.line
        again = row[0] in ("bw", "latency") and any(other[0] == row[0] for other in self._rows)
        done = list(self.settle()) if again else []  # results of several runs one below the other
        self.open, self._rows = True, [*self._rows, row]
        return done

    def other(self, text: str) -> Found:  # noqa: ARG002 (the base's signature)
        return self.settle() if self.open else None

    def settle(self) -> Iterator[Record]:
        rows, self._rows, self.open = self._rows, [], False
        conditions, args = dict(self.known), self.ctx.args("qperf") or []
        for key, value, unit, _, _ in rows:
            if key == "time" and unit in TIMES:
                conditions["duration_s"] = value * TIMES[unit]
            elif key == "msg_size" and unit:
                conditions["block_B"] = size_bytes(f"{value} {unit}", DECIMAL)
        if "-t" in args and "duration_s" not in conditions and args[-1] != "-t":
            conditions["duration_s"] = positive_int(args[args.index("-t") + 1])
        for key, value, unit, shown, line in rows:
            rate, times, printed = _RATE.fullmatch(unit), re.fullmatch(r"([KMG]?)/sec", unit), f"{shown} {unit}"
            if key in _RATES and rate is not None and value > 0:
                scale = DECIMAL[rate[1]] / (8 if rate[2] == "b" else 1)
                yield self.measure("throughput", value * scale, printed, conditions, role=_RATES[key], line=line)
            elif key == "latency" and unit in TIMES:
                yield self.measure("latency", value * TIMES[unit], printed, conditions, one_way=True, line=line)
            elif key.endswith("_cpus_used") and unit.startswith("%"):
                role = "sender" if key[:4] in ("send", "loc_") else "receiver"
                yield self.measure("cpu_share", value / 100, printed, conditions, role=role, cpu="cores", line=line)
            elif key == "msg_rate" and times is not None and value > 0:
                yield self.measure("rate", value * DECIMAL[times[1]], printed, conditions, of="messages", line=line)
