"""nuttcp and nuttscp, 5 to 8: default, ``-i``, ``-u``, ``-v``, ``-fparse``, and figures quoted on slides.

Units: ``MB`` = 2^20 B, ``KB/sec`` = 2^10 B/s, ``KB-cwnd`` = 2^10 B, ``Mbps`` = 1e6 bit/s. Source: nuttcp
8.2.2 ``nuttcp.c`` (``nbytes / (1024*1024)`` beside ``nbytes * 8 / 1e6``); checked on rows of the collection
(11801.2792 MB in 10.01 s printed as 9894.3578 Mbps). ``%TX`` and ``%RX`` are CPU shares of the two ends.

The headline is the line with ``%TX``; lines without it are the time series of ``-i``. The figure is the
receiver's, except in the deprecated "classic" mode (transmitter only, ``classic=True``). Seconds are
printed to 0.01 s, so the printed rate is kept and only compared with MB / seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import Options
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, decimal, size_bytes
from dtnsim.logs.measurement import Status

_LINE: Final = re.compile(
    r"(?<![\d.,])(?:(?P<mb>\d+[.,]\d+) +MB */ *(?P<s>\d+[.,]\d+) +sec = *)?"
    r"(?P<rate>\d+(?:[.,]\d+)?) +(?P<u>[KMG]?)bps(?P<rest>(?:\s.*)?)$"
)
_CPU: Final = re.compile(r"(?<!\d)(\d++) %(TX|RX)")
_RETRANS: Final = re.compile(r"(?<!\d)(\d++)(?: = \d++(?:\+\d++)*+)? (?:\w++-)?retrans")
_CWND: Final = re.compile(r"(?<!\d)(\d++)(?: = \d++(?:\+\d++)*+)? KB-cwnd")
_RTT: Final = re.compile(r"(?<!\d)(\d++[.,]\d++) msRTT")
_DROP: Final = re.compile(r"(?<!\d)(\d++) *+/ *+(\d++) ~?drop/pkt")
_JITTER: Final = re.compile(r"(?<!\d)(\d++[.,]\d++) ms(Min|Avg|Max)Jitter")
_PARSE: Final = re.compile(r"megabytes=\d")
_VERBOSE: Final = re.compile(
    r"nuttcp-(?P<end>[rt])\S*: (?P<mb>\d+\.\d+) MB in (?P<s>\d+\.\d+) real seconds = (?P<kb>[\d.]+) KB/sec"
    r"(?: = (?P<rate>\d+\.\d+) Mbps)?"
)
_REMARK: Final = re.compile(r"nuttcp-(?P<end>[rt])\S*: (?P<what>.*)")
_LABEL: Final = re.compile(r"(?:^|[-•*]\s++)\s*+(?P<label>[A-Za-z][^:]{0,80}+):\s*+(?=[\d.]+ +(?:MB|[KMG]?bps)|$)")
_ERROR: Final = re.compile(r"nuttcp-[rt]\S*: (?:v[\d.]+: )?Error: .*|nuttcp: (?:bad|unknown|can't|error).*")
_NAMES: Final = {"M": 1e6, "K": 1e3, "G": 1e9, "": 1.0}
#: keys of -fparse and the words of the plain form
_FORMS: Final = (
    ("tx_cpu", "%d %%TX"), ("rx_cpu", "%d %%RX"), ("retrans", "%d retrans"), ("cwnd", "%d KB-cwnd"),
    ("rtt_ms", "%.4f msRTT"), ("msavgjitter", "%.4f msAvgJitter"), ("msmaxjitter", "%.4f msMaxJitter"),
    ("msminjitter", "%.4f msMinJitter"),
)  # fmt: skip
_OPTIONS: Final = Options("""
    streams count      : -N
    window value       : -w
    block_B size       : -l
    protocol =udp      : -u
    direction =receive : -r
    - value            : -T -R -i -n -p -P -I -xc
    - flag             : -t -v -b -s -S
""")


class Nuttcp(LineParser):
    """Result lines of nuttcp and nuttscp."""

    tool = "nuttcp"
    evidence = Evidence.NETWORK
    of_a_line = True
    words = ("Mbps", "Gbps", "Kbps", "nuttcp", "megabytes", "Get", "Put", "TX", "RX", "Aggregate")
    commands = ("nuttcp", "nuttscp")

    def forget(self) -> None:
        self._label: tuple[str, int] | None = None
        self._seen = -100  # line of the last figure that surely was nuttcp's
        self._extra: Conditions = {}
        self._classic = False
        self._intervals: list[float] = [0.0, 0.0, 0.0]  # MB, seconds, line

    def feed(self, text: str) -> Iterable[Record]:
        if "nuttcp-" in text or text.startswith("nuttcp:"):
            yield from self._verbose(text)
            return
        if "megabytes=" in text and _PARSE.search(text):
            yield from self._parse(text)
            return
        found = _LINE.search(text)
        if found is None and "bps" in text:
            found = _LINE.search(re.sub(r"(?<!\s)\s*+\([^()]*+\)\s*+$", "", text))
        if found is None:
            label = _LABEL.search(text)
            if label is not None:
                self._label = (label["label"].strip(), self.ctx.line)
            return
        yield from self._result(text, found)

    def _result(self, text: str, found: re.Match[str]) -> Iterator[Record]:
        rest = found["rest"]
        final = bool(_CPU.search(rest))
        near = self.ctx.line - self._seen <= 12
        title = self._title(text)
        if found["mb"] is None and not final and not (near and title and re.search(r"(?i)aggregate|total", title)):
            return
        self._seen = self.ctx.line
        conditions = self._known()
        if title is not None:
            conditions["label"] = title
            conditions |= _direction_of(title)
        rate = decimal(found["rate"]) * _NAMES[found["u"]] / 8
        printed = f"{found['rate']} {found['u']}bps"
        if found["mb"] is None:
            if not final:
                conditions["aggregate"] = True
            yield from self._final(rate, printed, conditions, rest)
            return
        megabytes, seconds = decimal(found["mb"]), decimal(found["s"])
        if not self._checked(text, megabytes, seconds, rate):
            yield self.unread(text, "MB, seconds and Mbps do not fit together")
        if not (final or self._classic):
            yield from self._interval(rate, printed, conditions, megabytes, seconds, rest)
            return
        if seconds == 0 or rate == 0:
            yield self.unread(text, "no time passed or no bytes were sent: no rate")
            return
        conditions |= {"duration_s": seconds, "bytes": megabytes * 2**20}
        self._intervals = [0.0, 0.0, 0.0]
        yield from self._final(rate, printed, conditions, rest)

    @staticmethod
    def _checked(text: str, megabytes: float, seconds: float, rate: float) -> bool:
        """Whether size, time and rate fit; the time is printed to 0.01 s and may be short."""
        size = megabytes * 2**20
        low, high = size / (seconds + 0.006), size / max(seconds - 0.006, 1e-9)
        return "Tot:" in text or 0.98 * low <= rate <= 1.02 * high or size == 0

    def _title(self, text: str) -> str | None:
        label = _LABEL.search(text)
        if label is not None:
            return label["label"].strip()
        if self._label is not None and self.ctx.line - self._label[1] == 1:
            return self._label[0]
        return None

    def _interval(
        self, rate: float, printed: str, conditions: Conditions, mb: float, seconds: float, rest: str
    ) -> Iterator[Record]:
        start = self._intervals[1]
        self._intervals = [self._intervals[0] + mb, start + seconds, float(self.ctx.line)]
        conditions |= {"interval": True, "start_s": start, "end_s": start + seconds}
        for name, pattern, scale in (("retransmits", _RETRANS, 1), ("cwnd_B", _CWND, 1024)):
            number = pattern.search(rest)
            if number is not None:
                conditions[name] = int(number[1]) * scale
        drop = _DROP.search(rest)
        if drop is not None:
            conditions |= {"lost": int(drop[1]), "packets": int(drop[2])}
        yield self.measure("throughput", rate, "B/s", printed, **conditions)

    def _final(self, rate: float, printed: str, conditions: Conditions, rest: str) -> Iterator[Record]:
        cwnd = _CWND.search(rest)
        if cwnd is not None:
            conditions["cwnd_B"] = int(cwnd[1]) * 1024
        yield self.measure("throughput", rate, "B/s", printed, **conditions)
        for share, end in _CPU.findall(rest):
            role = "sender" if end == "TX" else "receiver"
            yield self.record("cpu_share", int(share) / 100, "1", f"{share} %{end}", {**conditions, "role": role})
        retrans = _RETRANS.search(rest)
        if retrans is not None:
            yield self.measure("retransmits", int(retrans[1]), "1", retrans[0], **conditions)
        rtt = _RTT.search(rest)
        if rtt is not None:
            yield self.measure("rtt", decimal(rtt[1]) * 1e-3, "s", rtt[0], **conditions)
        drop = _DROP.search(rest)
        if drop is not None and int(drop[2]) > 0:
            known = {**conditions, "packets": int(drop[2])}
            yield self.measure("loss", int(drop[1]) / int(drop[2]), "1", drop[0], **known)
        for value, which in _JITTER.findall(rest):
            known = {**conditions, "statistic": (None if which == "Avg" else which.lower())}
            yield self.measure("jitter", decimal(value) * 1e-3, "s", f"{value} ms{which}Jitter", **known)

    def _parse(self, text: str) -> Iterator[Record]:
        """``-fparse``: key=value; intervals say ``real_sec``, the summary ``real_seconds``."""
        values = dict(re.findall(r"(?<!\w)(\w++)=(-?\d++(?:[.,]\d++)?)(?=\s|$)", text))
        try:
            numbers = {key: decimal(value) for key, value in values.items()}
        except ValueError:
            yield self.unread(text, "a value is no number")
            return
        rate = numbers.get("rate_Mbps")
        if rate is None:
            yield self.unread(text, "no rate_Mbps: the line is cut or of an unknown form")
            return
        rest = ""
        for key, form in _FORMS:
            if key in numbers:
                rest += " " + form % numbers[key]
        if "drop" in numbers and "pkt" in numbers:
            rest += f" {numbers['drop']:.0f} / {numbers['pkt']:.0f} drop/pkt"
        conditions, printed = self._known(), f"{values['rate_Mbps']} Mbps"
        self._seen = self.ctx.line
        megabytes = numbers.get("megabytes", 0.0)
        if "real_sec" in numbers:
            yield from self._interval(rate * 125e3, printed, conditions, megabytes, numbers["real_sec"], rest)
            return
        seconds = numbers.get("real_seconds", 0.0)
        if seconds == 0 or rate == 0:
            yield self.unread(text, "no time passed or no bytes were sent: no rate")
            return
        conditions |= {"duration_s": seconds, "bytes": megabytes * 2**20}
        self._intervals = [0.0, 0.0, 0.0]
        yield from self._final(rate * 125e3, printed, conditions, rest)

    def _verbose(self, text: str) -> Iterator[Record]:
        version = re.search(r"nuttcp-[rt]\S*: v([\d.]+): ", text)
        if version is not None:
            self.version = version[1]
        error = _ERROR.search(text)
        if error is not None:
            self._intervals = [0.0, 0.0, 0.0]
            yield self.failure(error[0], **self._known())
            return
        found = _VERBOSE.search(text)
        if found is not None:
            seconds = float(found["s"])
            if seconds == 0 or float(found["mb"]) == 0:
                yield self.unread(text, "no time passed or no bytes were sent: no rate")
                return
            if found["rate"] is None and self.ctx.last:
                yield self.unread(text, "the file ends inside this line")
                return
            rate = float(found["rate"]) * 125e3 if found["rate"] else float(found["kb"]) * 1024
            conditions = {**self._known(), "role": "receiver" if found["end"] == "r" else "sender"}
            conditions |= {"duration_s": seconds, "bytes": float(found["mb"]) * 2**20}
            printed = f"{found['rate']} Mbps" if found["rate"] else f"{found['kb']} KB/sec"
            yield self.measure("throughput", rate, "B/s", printed, **conditions)
            return
        yield from self._details(text)

    def _details(self, text: str) -> Iterator[Record]:
        remark = _REMARK.search(text)
        if remark is None:
            return
        what = remark["what"]
        if '"classic"' in what:
            self._classic = True
        shape = re.search(r"buflen=(\d+), nstream=(\d+), port=\d+ (tcp|udp)", what)
        if shape is not None:
            self._extra |= {"block_B": int(shape[1]), "streams": int(shape[2]), "protocol": shape[3]}
        rtt = re.search(r"RTT=([\d.]+) ms", what)
        if rtt is not None:
            yield self.measure("rtt", float(rtt[1]) * 1e-3, "s", rtt[0], **self._known())
        retrans = re.fullmatch(r"(?:\w+-)?retrans = (\d+)\s*", what)
        if retrans is not None:
            yield self.record("retransmits", int(retrans[1]), "1", what.strip(), {**self._known(), "role": "sender"})
        cpu = re.search(r"real (\d+)% ", what)
        if cpu is not None:
            role = "receiver" if remark["end"] == "r" else "sender"
            yield self.record("cpu_share", int(cpu[1]) / 100, "1", f"{cpu[1]}%", {**self._known(), "role": role})

    def _known(self) -> Conditions:
        found: Conditions = dict(self._extra)
        if self._classic:
            found["classic"], found["role"] = True, "sender"
        args = self.ctx.args("nuttcp", "nuttscp")
        if args is None:
            return found
        given, values, rest = _OPTIONS.read(args)
        found |= {"protocol": "tcp", "direction": "send", **given}
        if "window" in values:  # a bare -w counts KB (nuttcp manual)
            found["window_B"] = size_bytes(values["window"] + "k" * values["window"].isdigit())
        if rest:
            found["target"] = rest[-1]
        return found

    def settle(self) -> Iterator[Record]:
        """A run that stopped before its summary gives the mean of its intervals."""
        megabytes, seconds, line = self._intervals
        self._intervals = [0.0, 0.0, 0.0]
        if seconds > 0 and megabytes > 0:
            status: Status = "partial"
            rate = megabytes * 2**20 / seconds
            conditions: Conditions = {"derived": "mean of intervals", "duration_s": seconds}
            yield self.measure("throughput", rate, "B/s", "", status=status, line=int(line), **conditions)


def _direction_of(title: str) -> Conditions:
    """Slides name the direction: Get, Put, TX, RX."""
    word = title.partition(" ")[0].lower()
    if word in ("get", "rx"):
        return {"direction": "receive"}
    if word in ("put", "tx"):
        return {"direction": "send"}
    return {}
