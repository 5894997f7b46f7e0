"""nstat of iproute2: the kernel's SNMP counters as text and JSON.

Units: plain counts, of octets where the name says so; behind them a rate averaged by the daemon [1/s], zero without
one. The count is since the call before (``since="previous nstat"``) or, with ``-a``, since boot. Segments that TCP
sent again (``TcpRetransSegs``) are ``retransmits`` beside the segments that it sent (``segments``; RFC 1213,
tcpOutSegs: without those sent again).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Record, number

_LINE: Final = re.compile(
    r"^\s*+(?P<name>(?:Ip6?|IpExt|Icmp6?|IcmpMsg|Tcp|TcpExt|Udp6?|UdpLite6?|Sctp|MPTcpExt)[A-Z]\w++)\s++(?P<count>\d++)"
    r"\s++(?P<rate>\d++\.\d++)\s*+$"
)
_SENT: Final = "TcpOutSegs"
_AGAIN: Final = "TcpRetransSegs"


def _since(args: list[str] | None) -> str | None:
    """What counts are since, if the command is known."""
    if args is None:
        return None
    flags = "".join(arg[1:] for arg in args if arg.startswith("-") and not arg.startswith("--"))
    return "boot" if "a" in flags or "--ignore" in args else "previous nstat"


class Nstat(LineParser):
    """Lines of counters."""

    tool = "nstat"
    evidence = Evidence.BUSY
    shape = r"^\s*+(?:Ip|Icmp|Tcp|Udp|Sctp|MPTcp)[A-Z]\w++ {4}"
    commands = ("nstat",)

    def forget(self) -> None:
        self._sent: int | None = None

    def feed(self, text: str) -> Iterable[Record]:
        line = _LINE.match(text)
        if line is None:
            return ()
        return self._counter(line["name"], int(line["count"]), line["rate"])

    def _counter(self, name: str, count: int, rate: str) -> Iterator[Record]:
        more: Conditions = {"of": name, "since": _since(self.ctx.args("nstat"))}
        if name == _SENT:
            self._sent = count
        if name == _AGAIN:
            yield self.measure("retransmits", count, "1", str(count), segments=self._sent, **more)
        else:
            yield self.measure("count", count, "1", str(count), **more)
        if float(rate) > 0:
            yield self.measure("rate", float(rate), "1/s", rate, of=name, interval=True)


class NstatJson(DocumentParser):
    """``nstat -j``."""

    tool = "nstat"
    evidence = Evidence.BUSY

    def match(self, doc: Document) -> bool:
        """One object of counters by name, under the name of their source."""
        if not isinstance(doc.data, dict) or len(doc.data) != 1:
            return False
        counters = next(iter(doc.data.values()))
        return isinstance(counters, dict) and ("IpInReceives" in counters or _SENT in counters)

    def read(self, doc: Document) -> Iterator[Record]:
        counters = next(iter(doc.data.values()))
        since = _since(self.ctx.args("nstat"))
        sent = number(counters.get(_SENT))
        lines = doc.lines()
        for name, found in counters.items():
            count = number(found)
            if count is None:
                continue
            line = lines.next(f'"{name}"')
            if name == _AGAIN:
                yield self.measure(
                    "retransmits", count, "1", f"{found}", line=line, of=name, since=since, segments=sent
                )
            else:
                yield self.measure("count", count, "1", f"{found}", line=line, of=name, since=since)
