"""Delays between hosts: ping, owping, twping and pScheduler's latency tests."""

import math
import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._commands import parse_arguments
from dtnsim.logs._declared import Found, LinesParser, Match, gives, reads
from dtnsim.logs._numbers import TIMES, decimal, regex
from dtnsim.logs.base import Command, Conditions, Evidence, LineParser, Record, once

_START: Final = regex(
    r"^\s*+(?:\S++(?<=:) )?PING6?[ (](?P<target>[^\s(]++).*?(?<!\d)<size:int>(?:\(\d++\))? (?:data )?bytes"
    r"|^PING6?\s+(?P<other>[^\s(:]+)"
)
_NAMED: Final = re.compile(r"(?<![\w.:%-])(?P<target>[\w.:%-]++)\s++\[[\da-fA-F.:%]+\]")
_PAYLOAD: Final = re.compile(r"(?<![\w.:\[])(\d{1,5})(?![\w.:\]])")
_PACKETS: Final = regex(
    r"(?<!\d)<sent:int> packets transmitted, <got:int> (?:packets )?received[^%]{0,200}+% (?:packet )?loss"
)
_WIN_PACKETS: Final = regex(r"= <sent:int>[,，][^=]*= <got:int>[,，][^=]*= <lost:int>(?:\s*\(\d+\s?%|[,，]?\s*$)")
_RTT: Final = re.compile(
    r"(?:rtt|round-trip)(?: \(ms\))? +min/avg/max(?:/(?:mdev|stddev|std-dev))? += +(?P<min>[\d.,]+)/"
    r"(?P<avg>[\d.,]+)/(?P<max>[\d.,]+)(?:/(?P<dev>[\d.,]+|-?nan))?(?: *(?P<unit>ms|us|s)\b)?"
)
_WIN_RTT: Final = regex(r"= <min:int>\s?ms[,，][^=]*= <max:int>\s?ms[,，][^=]*= <avg:int>\s?ms")
_CISCO: Final = regex(r"Success rate is <rate:int> percent \(<got:int>/<sent:int>\)")
_FPING: Final = regex(
    r"^<target:word> +: xmt/rcv/%loss = <sent:int>/<got:int>/<loss:int>%"
    r"(?:, min/avg/max = <min:dots>/<avg:dots>/<max:dots>)?"
)
_REPLY: Final = regex(r"(?:\btime|[^\W\d_]{2,12})(?P<less>[=<])<ms:comma> ?ms")
_STATISTICS: Final = regex(r"^-++ ?<target:word> ping6? statistics ?-")
_ADDRESS: Final = re.compile(
    r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|(?=[\da-fA-F]*+:[\da-fA-F]*+:)(?:[:.%]*+[\da-fA-F]++)++)(?![\w.])"
)
_MTU: Final = regex(r"[Mm]essage too long,? \(?mtu ?= ?<mtu:int>")
_ERROR: Final = re.compile(
    r"(?:^|[\s/])ping6?: .*(?:[Nn]ot known|unknown host|[Cc]annot resolve|failure|unreachable|not permitted|"
    r"bad address|invalid|denied).*|^connect: Network is unreachable|^Ping request could not find host.*"
    r"|^unknown host.*"
)


class Ping(LineParser, evidence=Evidence.WAY):
    """ping: iputils, BSD and macOS, busybox, Solaris, AIX, Cisco, Windows in any language, fping's summary.

    Units: milliseconds everywhere (Solaris writes ``(ms)``, Windows ``13ms``, whole ones). BSD's ``stddev`` and
    iputils' ``mdev`` are both the square root of the variance (iputils ``ping_common.c``, finish); busybox and AIX
    print none.

    Loss is counted from packets sent and received where both are printed. At 100 % loss there is a loss and no RTT. A
    run without its summary gives the mean of its replies as ``partial``. Replies are not records of their own: a log of
    millions of them is read in constant memory.
    """

    words = "PING ping Ping ttl TTL hlim icmp transmitted rtt trip xmt percent unreachable"
    #: Windows: three counts, or three times, after equal signs; the words depend on the language
    shape = r"= (?: ?ms)?(?:,|\xef\xbc\x8c)[^=]*= (?: ?ms)?(?:,|\xef\xbc\x8c)[^=]*= "
    commands = ("ping", "ping6", "fping")

    _command: Command | None = once()
    _known: Conditions = once(dict)
    _replies = once(lambda: [0.0, 0.0, math.inf, 0.0])  # of this run: how many, their sum, the least and the most [s]
    _line = once(int)  # of the last reply
    _bounded = once(bool)  # some replies were only "< 1 ms"
    _done = once(bool)  # the packet counts of this run were read
    _about = once(lambda: -9)  # line of a head that says Ping, for figures whose words depend on the language

    def feed(self, text: str) -> Iterable[Record]:
        if self._command is not self.ctx.command:
            yield from self._begin({})
            self._command = self.ctx.command
        if "min/avg/max" in text and "Success" not in text and (rtt := _RTT.search(text)) is not None:
            yield from self._rtt(rtt)
        elif "ms" not in text or "/" in text or "%" in text:
            yield from self._summary(text)
        elif not self._reply(text) and " bytes" not in text and self.ctx.line - self._about <= 4:
            windows = _WIN_RTT.search(text)
            yield from () if windows is None else self._rtt(windows, "{}{}", resolution_s=1e-3)

    def close(self) -> Iterator[Record]:
        """A run without its summary: what its replies say."""
        (count, total, least, most), bounded = self._replies, self._bounded
        self._forget_replies()
        if not count:
            return
        conditions = {**self._known, "count": int(count), "derived": "mean of replies", "upper_bound": bounded or None}
        for statistic, value in ((None, total / count), ("min", least), ("max", most)):
            more, text = {**conditions, "statistic": statistic}, f"{value * 1e3:g} ms"
            yield self.measure("rtt", value, text, more, status="partial", line=self._line)

    def _forget_replies(self) -> None:
        self._replies, self._bounded = [0.0, 0.0, math.inf, 0.0], False

    def _begin(self, conditions: Conditions) -> Iterator[Record]:
        yield from self.close()
        self._known, self._done = conditions, False

    def _reply(self, text: str) -> bool:
        if (match := _REPLY.search(text)) is None:
            return False
        low = text.lower()
        if not ("ttl" in low or "seq" in low or "hlim" in low or (self._known and ": " in text and "RTT" not in text)):
            return False
        value, (count, total, least, most) = decimal(match["ms"]) * 1e-3, self._replies
        self._replies = [count + 1, total + value, min(least, value), max(most, value)]
        self._line = self._about = self.ctx.line
        self._bounded = self._bounded or match["less"] == "<"
        return True

    def _summary(self, text: str) -> Iterator[Record]:
        counts = _PACKETS.search(text) or (_CISCO.search(text) if "Success" in text else None)
        if counts is None and self.ctx.line - self._about <= 4 and (counts := _WIN_PACKETS.search(text)) is not None:
            self._about = self.ctx.line
        if counts is not None:
            yield from self._loss(counts)
        if "Success" in text and (rtt := _RTT.search(text)) is not None:
            yield from self._rtt(rtt)
        elif counts is None and text[:3] == "---" and (statistics := _STATISTICS.search(text)) is not None:
            self._known.setdefault("target", statistics["target"].strip("."))
        elif counts is None and (fping := _FPING.search(text)) is not None:
            yield from self._begin({"target": fping["target"]})
            yield from self._loss(fping)
            yield from self._rtt(fping)
        elif counts is None:
            yield from self._other(text)

    def _other(self, text: str) -> Iterator[Record]:
        if (start := _START.search(text)) is not None:
            yield from self._begin(self._conditions(start["target"] or start["other"], start["size"]))
        elif "ing" in text and text.rstrip().endswith((":", "：")):
            # Pinging host [address] with 32 bytes of data: or Ping statistics for address:
            address, named, size = _ADDRESS.search(text), _NAMED.search(text), _PAYLOAD.search(text)
            if size is not None and (address is not None or text.startswith("Ping")):
                target = named["target"] if named is not None else address[0] if address is not None else None
                yield from self._begin(self._conditions(target, size[1]))
            elif self._done and address is not None:
                yield from self._begin({})
            if address is not None:
                self._about = self.ctx.line
                self._known.setdefault("target", address[0])
        elif (mtu := _MTU.search(text)) is not None:
            yield self.measure("mtu", int(mtu["mtu"]), mtu[0], {**self._known, "source": "local"})
        elif (error := _ERROR.search(text)) is not None:
            yield self.failure(error[0], **self._known)

    def _conditions(self, target: str | None, size: str | None) -> Conditions:
        conditions: Conditions = {"target": target.rstrip(":,")} if target else {}
        if size is not None:
            conditions["payload_B"] = int(size)
        if parse_arguments("ping", self.ctx.args("ping", "ping6")).values.get("frag") == "do":
            conditions["dont_fragment"] = True
        return conditions

    def _loss(self, counts: re.Match[str]) -> Iterator[Record]:
        sent, got, self._done = int(counts["sent"]), int(counts["got"]), True
        if sent > 0:
            yield self.measure("loss", max(sent - got, 0) / sent, counts[0].strip(), {**self._known, "packets": sent})
        if got == 0:
            self._forget_replies()

    def _rtt(self, match: re.Match[str], form: str = "{} {}", **more: float) -> Iterator[Record]:
        """Times of a summary, in ms where it names no unit; fping prints none where nothing came back."""
        times, unit = match.groupdict(), match.groupdict().get("unit") or "ms"
        if times["avg"]:
            self._forget_replies()
        for statistic, key in ((None, "avg"), ("min", "min"), ("max", "max"), ("stddev", "dev")):
            if (text := times.get(key)) and "nan" not in text:
                conditions = {**self._known, "statistic": statistic, **more}
                yield self.measure("rtt", decimal(text) * TIMES[unit], form.format(text, unit), conditions)


_T: Final = r"(?:ns|us|ms|s)"
_V: Final = r"-?[\d.]++|nan"


class Owping(LinesParser, evidence=Evidence.DELAYS):
    """owping (OWAMP): one-way delays of each direction, with the error of the clocks.

    Units: the delays carry theirs (``ms``; ``us``, ``s`` with ``-n``), jitter is the 95th less the 50th percentile.
    Delays differ by the clocks' offset: ``clock_error_s`` is what owping estimates of it, and unknown where the clocks
    are not synchronised (``unsync``). A negative delay (clocks apart) is noted, not read. Source: owamp ``owping.c``,
    ``stats.c`` (``OWPStatsPrintSummary``).
    """

    words = "owping"
    commands = ("owping", "twping")
    longest = 24

    @reads(r"^\s*--- (?P<tool>owping|twping) statistics from \[(?P<source>[^\]]++)\]:\S++ to \[(?P<target>[^\]]++)\]")
    def _head(self, head: Match) -> None:
        if head["tool"] == self.tool:
            self.known = {"source": head["source"], "target": head["target"], **self.where}
            self.open, self.lines = True, 0

    @reads(r"^\s*<sent:int> sent, <lost:int> lost \([\d.]++%\), <twice:int> (?:send )?dupl", inside=True)
    def _sent(self, sent: Match) -> Found:
        count, lost = int(sent["sent"]), int(sent["lost"])
        conditions = {**self.known, "packets": count, "duplicates": int(sent["twice"])}
        return self.measure("loss", lost / count, f"{lost}/{count}", conditions) if count else None

    @reads(
        rf"^\s*(?P<what>one-way delay|round-trip time|send time|reflect time|two-way delay)[ \w]*? min/median/max = "
        rf"(?P<min>{_V})/(?P<p50>{_V})/(?P<max>{_V}) (?P<unit>{_T}), \((?:unsync|err=<error:dots> (?P<eu>{_T}))\)",
        inside=True,
    )
    def _delay(self, match: Match) -> Iterator[Record]:
        error = float(match["error"]) * TIMES[match["eu"]] if match["error"] else None
        conditions = {**self.known, "of": match["what"].replace(" ", "_").replace("-", "_"), "clock_error_s": error}
        quantity = "rtt" if match["what"] in ("round-trip time", "two-way delay") else "latency"
        for statistic in ("p50", "min", "max"):
            why = "a negative delay: the clocks are further apart than the path is long"
            self.need(match[statistic][0] != "-", match[0], why)
            if match[statistic] != "nan":
                yield self.printed(quantity, match[statistic], match["unit"], statistic=statistic, **conditions)

    _jitter = gives(rf"^\s*(?:one-way|two-way) jitter = <n:dots> (?P<unit>{_T}) ", "jitter {n} {unit}", inside=True)
    #: 0: the TTL is not known, or one host
    _hops = gives(r"^\s*hops = (?P<n>\d{1,3}) \(consistently\)", "hops? {n}", inside=True)


class Twping(Owping, evidence=Evidence.DELAYS, by_document=True):
    """Summaries of twping (TWAMP): round trips, and the times of each way by two clocks. Units: as owping's."""

    words = "twping"
