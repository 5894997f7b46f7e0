"""nuttcp and nuttscp, 5 to 8: default, ``-i``, ``-u``, ``-v``, ``-fparse``, and figures quoted on slides.

Units: ``MB`` = 2^20 B, ``KB/sec`` = 2^10 B/s, ``KB-cwnd`` = 2^10 B, ``Mbps`` = 1e6 bit/s. Source: nuttcp
8.2.2 ``nuttcp.c`` (``nbytes / (1024*1024)`` beside ``nbytes * 8 / 1e6``); checked on rows of the collection
(11801.2792 MB in 10.01 s printed as 9894.3578 Mbps). ``%TX`` and ``%RX`` are CPU shares of the two ends.

The headline is the line with ``%TX``; lines without it are the time series of ``-i``. The figure is the
receiver's, except in the deprecated "classic" mode (transmitter only, ``classic=True``). Seconds are
printed to 0.01 s, so the printed rate is kept and only compared with MB / seconds.
"""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from dtnsim.logs._declared import Found, LinesParser, Match, gives, notes, reads
from dtnsim.logs._numbers import DECIMAL, decimal, regex
from dtnsim.logs.base import Conditions, Evidence, Mean, Record, anew

_LINE: Final = regex(
    r"(?<![\d.,])(?:(?P<mb>\d+[.,]\d+) +MB */ *(?P<s>\d+[.,]\d+) +sec = *)?"
    r"<rate:comma> +(?P<u>[KMG]?)bps(?P<rest>(?:\s.*)?)$"
)
_CPU: Final = re.compile(r"(?<!\d)(\d++) %(TX|RX)")
_RETRANS: Final = re.compile(r"(?<!\d)(\d++)(?: = \d++(?:\+\d++)*+)? (?:\w++-)?retrans")
_CWND: Final = re.compile(r"(?<!\d)(\d++)(?: = \d++(?:\+\d++)*+)? KB-cwnd")
_RTT: Final = re.compile(r"(?<!\d)(\d++[.,]\d++) msRTT")
_DROP: Final = re.compile(r"(?<!\d)(\d++) *+/ *+(\d++) ~?drop/pkt")
_JITTER: Final = re.compile(r"(?<!\d)(\d++[.,]\d++) ms(Min|Avg|Max)Jitter")
_LABEL: Final = re.compile(r"(?:^|[-•*]\s++)\s*+(?P<label>[A-Za-z][^:]{0,80}+):\s*+(?=[\d.]+ +(?:MB|[KMG]?bps)|$)")
_ROLES: Final = {"t": "sender", "r": "receiver", "TX": "sender", "RX": "receiver"}
_NOTHING: Final = "no time passed or no bytes were sent: no rate"
#: keys of -fparse and the words of the plain form
_FORMS: Final = (
    ("tx_cpu", "%d %%TX"), ("rx_cpu", "%d %%RX"), ("retrans", "%d retrans"), ("cwnd", "%d KB-cwnd"),
    ("rtt_ms", "%.4f msRTT"), ("msavgjitter", "%.4f msAvgJitter"), ("msmaxjitter", "%.4f msMaxJitter"),
    ("msminjitter", "%.4f msMinJitter"),
)  # fmt: skip

_DIRECTIONS: Final = {"get": "receive", "rx": "receive", "put": "send", "tx": "send"}


class Nuttcp(LinesParser, evidence=Evidence.NETWORK, of_a_line=True):
    """Result lines of nuttcp and nuttscp."""

    words = "Mbps Gbps Kbps nuttcp megabytes Get Put TX RX Aggregate"
    commands = ("nuttcp", "nuttscp")
    terms: ClassVar = {"role": _ROLES}

    _label: tuple[str, int] | None = anew()
    _seen = anew(lambda: -100)  # line of the last figure that surely was nuttcp's
    _intervals = anew(Mean)

    def feed(self, text: str) -> Iterable[Record]:
        if "nuttcp-" in text or text.startswith("nuttcp:"):
            return super().feed(text)
        if re.search(r"megabytes=\d", text):
            return self._parse(text)
        match = _LINE.search(text)
        if match is None and "bps" in text:
            match = _LINE.search(re.sub(r"(?<!\s)\s*+\([^()]*+\)\s*+$", "", text))
        if match is not None:
            return self._result(text, match)
        if (label := _LABEL.search(text)) is not None:
            self._label = (label["label"].strip(), self.ctx.line)
        return ()

    def _result(self, text: str, match: re.Match[str]) -> Iterator[Record]:
        rest, title, near = match["rest"], self._title(text), self.ctx.line - self._seen <= 12
        final = bool(_CPU.search(rest))
        if match["mb"] is None and not final and not (near and title and re.search(r"(?i)aggregate|total", title)):
            return
        self._seen = self.ctx.line
        facts = {**self.about(), "label": title}
        if title is not None and (way := _DIRECTIONS.get(title.partition(" ")[0].lower())) is not None:
            facts["direction"] = way  # slides name it
        rate = decimal(match["rate"]) * DECIMAL[match["u"]] / 8
        printed = f"{match['rate']} {match['u']}bps"
        if match["mb"] is None:
            yield from self._final(text, rate, printed, facts | ({} if final else {"aggregate": True}), rest)
            return
        megabytes, seconds = decimal(match["mb"]), decimal(match["s"])
        size = megabytes * 2**20  # the time is printed to 0.01 s and may be short
        low, high = size / (seconds + 0.006), size / max(seconds - 0.006, 1e-9)
        if not (0.98 * low <= rate <= 1.02 * high or "Tot:" in text or size == 0):
            yield self.unread(text, "MB, seconds and Mbps do not fit together")
        if not (final or facts.get("classic")):
            yield self._interval(rate, printed, facts, megabytes, seconds, rest)
        else:
            yield from self._final(text, rate, printed, {**facts, "duration_s": seconds, "bytes": size}, rest)

    def _title(self, text: str) -> str | None:
        if (label := _LABEL.search(text)) is not None:
            return label["label"].strip()
        return self._label[0] if self._label is not None and self.ctx.line - self._label[1] == 1 else None

    def _interval(self, rate: float, printed: str, facts: Conditions, mb: float, seconds: float, rest: str) -> Record:
        facts |= {"interval": True, "start_s": self._intervals.seconds, "end_s": self._intervals.seconds + seconds}
        self._intervals.add(mb * 2**20, seconds, self.ctx.line)
        for name, pattern, scale in (("retransmits", _RETRANS, 1), ("cwnd_B", _CWND, 1024)):
            if (count := pattern.search(rest)) is not None:
                facts[name] = int(count[1]) * scale
        if (drop := _DROP.search(rest)) is not None:
            facts |= {"lost": int(drop[1]), "packets": int(drop[2])}
        return self.measure("throughput", rate, printed, facts)

    def _final(self, text: str, rate: float, printed: str, facts: Conditions, rest: str) -> Iterator[Record]:
        if "bytes" in facts:  # a figure quoted on a slide stands alone
            self.need(facts["duration_s"] and rate, text, _NOTHING)
            self._intervals = Mean()
        if (cwnd := _CWND.search(rest)) is not None:
            facts["cwnd_B"] = int(cwnd[1]) * 1024
        yield self.measure("throughput", rate, printed, **facts)
        for share, end in _CPU.findall(rest):
            yield self.measure("cpu_share", int(share) / 100, f"{share} %{end}", {**facts, "role": _ROLES[end]})
        if (retrans := _RETRANS.search(rest)) is not None:
            yield self.measure("retransmits", int(retrans[1]), retrans[0], **facts)
        if (rtt := _RTT.search(rest)) is not None:
            yield self.measure("rtt", decimal(rtt[1]) * 1e-3, rtt[0], **facts)
        if (drop := _DROP.search(rest)) is not None and int(drop[2]) > 0:
            yield self.measure("loss", int(drop[1]) / int(drop[2]), drop[0], {**facts, "packets": int(drop[2])})
        for value, which in _JITTER.findall(rest):
            more = {**facts, "statistic": (None if which == "Avg" else which.lower())}
            yield self.measure("jitter", decimal(value) * 1e-3, f"{value} ms{which}Jitter", more)

    def _parse(self, text: str) -> Iterator[Record]:
        """``-fparse``: key=value; intervals say ``real_sec``, the summary ``real_seconds``."""
        values = dict(re.findall(r"(?<!\w)(\w++)=(-?\d++(?:[.,]\d++)?)(?=\s|$)", text))
        numbers = {key: decimal(value) for key, value in values.items()}
        self.need("rate_Mbps" in numbers, text, "no rate_Mbps: the line is cut or of an unknown form")
        rest = "".join(" " + form % numbers[key] for key, form in _FORMS if key in numbers)
        if "drop" in numbers and "pkt" in numbers:
            rest += f" {numbers['drop']:.0f} / {numbers['pkt']:.0f} drop/pkt"
        self._seen = self.ctx.line
        printed, megabytes, rate = f"{values['rate_Mbps']} Mbps", numbers.get("megabytes", 0.0), numbers["rate_Mbps"]
        if "real_sec" in numbers:
            yield self._interval(rate * 125e3, printed, self.about(), megabytes, numbers["real_sec"], rest)
            return
        facts = {**self.about(), "duration_s": numbers.get("real_seconds", 0.0), "bytes": megabytes * 2**20}
        yield from self._final(text, rate * 125e3, printed, facts, rest)

    @reads(r"nuttcp-[rt]\S*: (?:v(?P<version>[\d.]+): )?Error: .*|nuttcp: (?:bad|unknown|can't|error).*")
    def _error(self, match: Match) -> Found:
        self.version, self._intervals = match["version"] or self.version, Mean()
        return self.failure(match[0], **self.about())

    @reads(r"nuttcp-(?P<end>[rt])\S*: <mb:real> MB in <s:real> real seconds = <kb:dots> KB/sec(?: = <rate:real> Mbps)?")
    def _real(self, match: Match) -> Found:
        seconds, megabytes = float(match["s"]), float(match["mb"])
        self.need(seconds and megabytes, match.string, _NOTHING)
        self.need(match["rate"] or not self.ctx.last, match.string, "the file ends inside this line")
        rate, printed = float(match["kb"]) * 1024, f"{match['kb']} KB/sec"
        if match["rate"]:
            rate, printed = float(match["rate"]) * 125e3, f"{match['rate']} Mbps"
        facts = {**self.about(), "role": _ROLES[match["end"]], "duration_s": seconds, "bytes": megabytes * 2**20}
        return self.measure("throughput", rate, printed, facts)

    _version = notes(r"nuttcp-[rt]\S*: v(?P<version>[\d.]+): ", to=str)
    _classic = notes(r'nuttcp-[rt]\S{0,80}: .{0,300}?"(?P<classic>classic)"', to=bool)
    _shape = notes(
        r"nuttcp-[rt]\S{0,80}: .{0,300}?buflen=<block_B:int>, nstream=<streams:int>, port=\d+ (?P<protocol>tcp|udp)"
    )

    _rtt = gives(r"nuttcp-[rt]\S{0,80}: .{0,300}?RTT=<n:dots> ms", "rtt RTT={n} ms")
    _retrans = gives(
        r"nuttcp-[rt]\S*: (?P<how>(?:\w+-)?)retrans = <n:int>\s*$", "retransmits {how}retrans = {n} : role=sender"
    )
    _cpu = gives(r"nuttcp-(?P<role>[rt])\S{0,80}: .{0,300}?real <n:int>% ", "cpu_share {n}% [percent]")

    def about(self) -> Conditions:
        role: Conditions = {"role": "sender"} if "classic" in self.known else {}
        conditions, args = self.known | role, self.ctx.args(*self.commands)
        if args is None:
            return conditions
        options, _, rest = self.command_line()
        conditions |= {"protocol": "tcp", "direction": "send", **options}
        if rest:
            conditions["target"] = rest[-1]
        return conditions

    def settle(self) -> Iterator[Record]:
        """A run that stopped before its summary gives the mean of its intervals."""
        return self._intervals.records(self, {})
