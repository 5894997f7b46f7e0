"""What the kernel knows of TCP: ss and nstat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final

from dtnsim.logs._declared import LinesParser, Match, reads
from dtnsim.logs._numbers import DECIMAL, as_dict, number
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Parser, Record, anew, once

_HEAD: Final = re.compile(
    r"^\s*+(?:tcp\s++)?(?P<state>ESTAB|UNCONN|SYN-SENT|SYN-RECV|FIN-WAIT-[12]|CLOSE-WAIT|LAST-ACK|CLOSING|TIME-WAIT)"
    r"\s++\d++\s++\d++\s++(?P<local>\S*?[:.]\w++)\s++(?P<peer>\S*?[:.]\w++)(?=\s|$)(?P<rest>.*)"
)
_PAIR: Final = re.compile(r"(?<!\S)(rtt|minrtt|cwnd|mss|pmtu|retrans|bytes_acked|bytes_received):([\d./]++)")
_RATE: Final = re.compile(r"(?<!\S)delivery_rate (\d++(?:\.\d++)?)([KMGT]?)bps")
#: whatever its name: it stands behind the options and before the first key (iproute2 misc/ss.c, tcp_stats_print)
_CONTROL: Final = re.compile(r"(?<!\S)(?!(?:ts|sack|ecn|ecnseen|fastopen)\s)([a-z][\w-]{1,15}) (?=wscale:|rto:)")
_MANY: Final = 4096  # connections whose samples are counted
_LONGEST: Final = 8000  # characters of one connection


class Ss(LineParser):
    """``ss -ti``: what the kernel knows of every TCP connection, once or again and again.

    Units: ``rtt`` and ``minrtt`` in ms (smoothed round trip / its deviation), ``cwnd`` in segments of ``mss`` bytes,
    ``send``, ``pacing_rate`` and ``delivery_rate`` in bit/s with powers of 1000 (iproute2 ``misc/ss.c``,
    ``sprint_bw``; checked: ``send`` 3762758621 bps is 10 segments of 1364 B in 0.029 ms). ``retrans:now/total``.

    Every figure is of a moment (``interval=True``): the smoothed round trip, its minimum, the window in bytes
    (``of="cwnd"``), the rate at which data was delivered last (``of="delivery"``; ``app_limited`` says that the
    application, not the path, set it), and retransmissions since the connection began. ``sample`` counts how often a
    connection was seen.
    """

    tool = "ss"
    evidence = Evidence.CONNECTIONS
    of_a_line = True
    words = ("ESTAB", "UNCONN", "SYN", "FIN", "CLOSE", "LAST", "CLOSING", "rtt", "cwnd")
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"rtt": ("rtt:",), "cwnd": ("cwnd:",)}

    _known: Conditions = once(dict)
    _text = once(str)
    _line = once(int)
    _seen: dict[tuple[str, str], int] = once(dict)

    def feed(self, text: str) -> Iterable[Record]:
        head = _HEAD.match(text)
        if head is None and self.open and text[:1].isspace() and text.strip() and len(self._text) < _LONGEST:
            self._text = f"{self._text} {text.strip()}"
            return ()
        done = list(self.settle()) if self.open or head is not None else ()
        if head is not None:
            self._known = {"state": head["state"].lower(), "source": head["local"], "target": head["peer"]}
            self._known |= self.where
            self._text, self._line, self.open = head["rest"], self.ctx.line, True
        return done

    def settle(self) -> Iterator[Record]:
        text, self._text, self.open = self._text, "", False
        found, line = dict(_PAIR.findall(text)), self._line
        if "rtt" not in found and "cwnd" not in found:
            return
        known = self._conditions(found, text)
        rtt, _, deviation = found.get("rtt", "").partition("/")
        for statistic, figure in ((None, rtt), ("stddev", deviation), ("min", found.get("minrtt", ""))):
            if figure and float(figure) > 0:
                yield self.printed("rtt", figure, "ms", line=line, statistic=statistic, **known)
        if (rate := _RATE.search(text)) is not None and float(rate[1]) > 0:
            more = {**known, "of": "delivery", "app_limited": True if "app_limited" in text else None}
            value, printed = float(rate[1]) * DECIMAL[rate[2]] / 8, f"{rate[1]}{rate[2]}bps"
            yield self.measure("throughput", value, "B/s", printed, more, line=line)
        if "cwnd" in found and "mss" in found:
            window = int(found["cwnd"]) * int(found["mss"])
            yield self.measure("bytes", window, "B", f"cwnd:{found['cwnd']}", {**known, "of": "cwnd"}, line=line)
        if "/" in found.get("retrans", ""):
            total = found["retrans"].partition("/")[2]
            yield self.measure("retransmits", int(total), "1", f"retrans:{found['retrans']}", dict(known), line=line)

    def _conditions(self, found: dict[str, str], text: str) -> Conditions:
        key = str(self._known.get("source")), str(self._known.get("target"))
        if len(self._seen) >= _MANY:
            self._seen.clear()
        self._seen[key] = self._seen.get(key, 0) + 1
        control = _CONTROL.search(text)
        known: Conditions = {**self._known, "interval": True, "sample": self._seen[key]}
        known["congestion"] = control[1] if control is not None else None
        for name, condition in (("mss", "mss_B"), ("pmtu", "mtu_B"), ("bytes_acked", "acked_B")):
            if found.get(name, "").isdigit():
                known[condition] = int(found[name])
        return known


_SENT: Final = "TcpOutSegs"
_AGAIN: Final = "TcpRetransSegs"


def _since(args: list[str] | None) -> str | None:
    """What counts are since, if the command is known."""
    if args is None:
        return None
    flags = "".join(arg[1:] for arg in args if arg.startswith("-") and not arg.startswith("--"))
    return "boot" if "a" in flags or "--ignore" in args else "previous nstat"


class Nstat(LinesParser):
    """nstat of iproute2: the kernel's SNMP counters as text and JSON.

    Units: plain counts, of octets where the name says so; behind them a rate averaged by the daemon [1/s], zero
    without one. The count is since the call before (``since="previous nstat"``) or, with ``-a``, since boot. Segments
    that TCP sent again (``TcpRetransSegs``) are ``retransmits`` beside the segments that it sent (``segments``; RFC
    1213, tcpOutSegs: without those sent again).
    """

    tool = "nstat"
    evidence = Evidence.BUSY
    shape = r"^\s*+(?:Ip|Icmp|Tcp|Udp|Sctp|MPTcp)[A-Z]\w++ {4}"

    _sent: int | None = anew()

    @reads(
        r"^\s*+(?P<name>(?:Ip6?|IpExt|Icmp6?|IcmpMsg|Tcp|TcpExt|Udp6?|UdpLite6?|Sctp|MPTcpExt)[A-Z]\w++)\s++<count:int>"
        r"\s++<rate:real>\s*+$"
    )
    def _counter(self, line: Match) -> Iterator[Record]:
        name, count, rate = line["name"], int(line["count"]), line["rate"]
        self._sent = count if name == _SENT else self._sent
        yield _counted(self, name, count, str(count), self._sent)
        if float(rate) > 0:
            yield self.measure("rate", float(rate), "1/s", rate, of=name, interval=True)


def _counted(
    parser: Parser, name: str, count: float, printed: str, sent: float | None, line: int | None = None
) -> Record:
    known: Conditions = {"of": name, "since": _since(parser.ctx.args("nstat"))}
    quantity, more = ("retransmits", {"segments": sent}) if name == _AGAIN else ("count", {})
    return parser.measure(quantity, count, "1", printed, {**known, **more}, line=line)


class NstatJson(DocumentParser, of=Nstat):
    """``nstat -j``."""

    def match(self, doc: Document) -> bool:
        counters = as_dict(next(iter(as_dict(doc.data).values()), None))
        return len(doc.data) == 1 and ("IpInReceives" in counters or _SENT in counters)

    def read(self, doc: Document) -> Iterator[Record]:
        counters = next(iter(doc.data.values()))
        sent, lines = number(counters.get(_SENT)), doc.lines()
        for name, found in counters.items():
            if (count := number(found)) is not None:
                yield _counted(self, name, count, f"{found}", sent, lines.next(f'"{name}"'))
