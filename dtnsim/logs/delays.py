"""One-way delays: owping and twping (OWAMP, TWAMP), and the text of pScheduler's latency tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dtnsim.logs._declared import Found, LinesParser, Match, reads
from dtnsim.logs._net import ends_of, host_of
from dtnsim.logs.base import TIMES, Evidence, Record

_T: Final = r"(?:ns|us|ms|s)"
_V: Final = r"-?[\d.]++|nan"
_STATISTICS: Final = {"Mean": None, "Median": "median", "Minimum": "min", "Maximum": "max"}


class Owping(LinesParser):
    """owping (OWAMP): one-way delays of each direction, with the error of the clocks.

    Units: the delays carry theirs (``ms``; ``us``, ``s`` with ``-n``), jitter is the 95th less the 50th percentile.
    Delays differ by the clocks' offset: ``clock_error_s`` is what owping estimates of it, and unknown where the clocks
    are not synchronised (``unsync``). A negative delay (clocks apart) is noted, not read. Source: owamp ``owping.c``,
    ``stats.c`` (``OWPStatsPrintSummary``).
    """

    tool = "owping"
    evidence = Evidence.DELAYS
    words = ("owping",)
    commands = ("owping", "twping")
    longest = 24

    @reads(r"^\s*--- (?P<tool>owping|twping) statistics from \[(?P<source>[^\]]++)\]:\S++ to \[(?P<target>[^\]]++)\]")
    def _head(self, head: Match) -> Found:
        if head["tool"] == self.tool:
            self.known = {"source": head["source"], "target": head["target"], **host_of(self.ctx)}
            self.open, self.lines = True, 0
        return None

    @reads(r"^\s*(?P<sent>\d++) sent, (?P<lost>\d++) lost \([\d.]++%\), (?P<twice>\d++) (?:send )?dupl", inside=True)
    def _sent(self, sent: Match) -> Found:
        count, lost = int(sent["sent"]), int(sent["lost"])
        known = {**self.known, "packets": count, "duplicates": int(sent["twice"])}
        return self.record("loss", lost / count, "1", f"{lost}/{count}", known) if count else None

    @reads(
        r"^\s*(?P<what>one-way delay|round-trip time|send time|reflect time|two-way delay)[ \w]*? min/median/max = "
        rf"(?P<min>{_V})/(?P<p50>{_V})/(?P<max>{_V}) (?P<unit>{_T}), "
        rf"\((?:unsync|err=(?P<error>[\d.]++) (?P<eu>{_T}))\)",
        inside=True,
    )
    def _delay(self, found: Match) -> Iterator[Record]:
        error = float(found["error"]) * TIMES[found["eu"]] if found["error"] else None
        known = {**self.known, "of": found["what"].replace(" ", "_").replace("-", "_"), "clock_error_s": error}
        quantity = "rtt" if found["what"] in ("round-trip time", "two-way delay") else "latency"
        for statistic in ("p50", "min", "max"):
            if found[statistic].startswith("-"):
                yield self.unread(found[0], "a negative delay: the clocks are further apart than the path is long")
                return
            if found[statistic] != "nan":
                yield self.printed(quantity, found[statistic], found["unit"], statistic=statistic, **known)

    @reads(rf"^\s*(?:one-way|two-way) jitter = (?P<jitter>[\d.]++) (?P<unit>{_T}) ", inside=True)
    def _jitter(self, found: Match) -> Found:
        return self.printed("jitter", found["jitter"], found["unit"], **self.known)

    @reads(r"^\s*hops = (?P<hops>\d{1,3}) \(consistently\)", inside=True)
    def _hops(self, found: Match) -> Found:
        hops = found["hops"]  # 0: the TTL is not known, or one host
        return self.record("hops", int(hops), "1", hops, {**self.known}) if hops != "0" else None


class Twping(Owping):
    """Summaries of twping (TWAMP): round trips, and the times of each way by two clocks. Units: as owping's."""

    tool = "twping"
    evidence = Evidence.DELAYS
    by_document = True
    words = ("twping",)


class PschedulerLatency(LinesParser):
    """The text that a pScheduler latency or latencybg task prints: packets, delays of one way, the error of the clocks.

    Units: ms. The mean is the headline; the error of the clocks is a figure of its own (``of="clock error"``), because
    it is printed after the delays. Histograms, which are the same packets again, are not read.
    """

    tool = "pscheduler"
    evidence = Evidence.WAY
    words = ("Packets", "Delay", "Clock", "Deviation")
    commands = ("pscheduler",)

    @reads(r"^\s*+Packets (?P<what>Sent|Lost) \.{2,30} (?P<value>\d++(?:\.\d++)?) packets", " ..")
    def _packets(self, found: Match) -> Found:
        count, sent = int(float(found["value"])), self.known.get("packets", 0)
        if found["what"] == "Sent":
            self.known = {"packets": count}
        elif sent > 0:
            return self.record("loss", count / sent, "1", f"{count}/{sent}", {**ends_of(self.ctx), "packets": sent})
        return None

    @reads(
        r"^\s*+(?:Delay (?P<which>Median|Minimum|Maximum|Mean|\d\dth) ?(?:Percentile)?|(?P<error>Max Clock Error)"
        r"|Std Deviation) \.{2,30} (?P<value>-?\d++(?:\.\d++)?) ms",
        " ..",
    )
    def _delay(self, found: Match) -> Found:
        ends, which = ends_of(self.ctx), found["which"]
        if found["error"]:
            return self.printed("latency", found["value"], "ms", of="clock error", **ends)
        statistic = _STATISTICS.get(which, f"p{which[:2]}") if which else "stddev"
        return self.printed("latency", found["value"], "ms", statistic=statistic, one_way=True, **ends)
