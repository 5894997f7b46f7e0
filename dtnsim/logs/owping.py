"""owping (OWAMP): one-way delays of each direction, with the error of the clocks.

Units: the delays carry theirs (``ms``; ``us``, ``s`` with ``-n``), jitter is the 95th less the 50th percentile. Delays
differ by the clocks' offset: ``clock_error_s`` is what owping estimates of it, and unknown where the clocks are not
synchronised (``unsync``). A negative delay (clocks apart) is noted, not read. Source: owamp ``owping.c`` and
``stats.c``, ``OWPStatsPrintSummary``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import host_of
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

_HEAD: Final = re.compile(
    r"^\s*--- (?P<tool>owping|twping) statistics from \[(?P<source>[^\]]++)\]:\S++ to \[(?P<target>[^\]]++)\]"
)
_SENT: Final = re.compile(
    r"^\s*(?P<sent>\d++) sent, (?P<lost>\d++) lost \([\d.]++%\), (?P<twice>\d++) (?:send )?duplicates"
)
_DELAY: Final = re.compile(
    r"^\s*(?P<what>one-way delay|round-trip time|send time|reflect time|two-way delay)[ \w]*? min/median/max = "
    r"(?P<min>-?[\d.]++|nan)/(?P<p50>-?[\d.]++|nan)/(?P<max>-?[\d.]++|nan) (?P<unit>ns|us|ms|s), "
    r"\((?:unsync|err=(?P<error>[\d.]++) (?P<eu>ns|us|ms|s))\)"
)
_JITTER: Final = re.compile(r"^\s*(?:one-way|two-way) jitter = (?P<jitter>[\d.]++) (?P<unit>ns|us|ms|s) ")
_HOPS: Final = re.compile(r"^\s*hops = (?P<hops>\d{1,3}) \(consistently\)")
_TIMES: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_LONGEST: Final = 24
_OF: Final = {"round-trip time": "rtt", "two-way delay": "rtt"}


class Owping(LineParser):
    """Summaries of owping."""

    tool = "owping"
    evidence = Evidence.DELAYS
    words = ("owping",)
    commands = ("owping", "twping")

    def forget(self) -> None:
        self.open = False
        self._known: Conditions = {}
        self._lines = 0

    def feed(self, text: str) -> Iterable[Record]:
        head = _HEAD.match(text)
        if head is not None and head["tool"] == self.tool:
            self._known = {"source": head["source"], "target": head["target"], **host_of(self.ctx)}
            self.open, self._lines = True, 0
            return ()
        if not self.open:
            return ()
        self._lines += 1
        if self._lines > _LONGEST:
            self.open = False
        return self._line(text)

    def _line(self, text: str) -> Iterator[Record]:
        if (sent := _SENT.match(text)) is not None:
            count, lost = int(sent["sent"]), int(sent["lost"])
            if count:
                known = {**self._known, "packets": count, "duplicates": int(sent["twice"])}
                yield self.measure("loss", lost / count, "1", f"{lost}/{count}", **known)
        elif (delay := _DELAY.match(text)) is not None:
            yield from self._delay(delay)
        elif (jitter := _JITTER.match(text)) is not None:
            value = float(jitter["jitter"]) * _TIMES[jitter["unit"]]
            yield self.measure("jitter", value, "s", f"{jitter['jitter']} {jitter['unit']}", **self._known)
        elif (hops := _HOPS.match(text)) is not None and hops["hops"] != "0":  # 0: the TTL is not known, or one host
            yield self.measure("hops", int(hops["hops"]), "1", hops["hops"], **self._known)

    def _delay(self, found: re.Match[str]) -> Iterator[Record]:
        error = float(found["error"]) * _TIMES[found["eu"]] if found["error"] else None
        of = found["what"].replace(" ", "_").replace("-", "_")
        for statistic in ("p50", "min", "max"):
            text = found[statistic]
            if text == "nan":
                continue
            if text.startswith("-"):
                yield self.unread(found[0], "a negative delay: the clocks are further apart than the path is long")
                return
            known = {**self._known, "of": of, "statistic": statistic, "clock_error_s": error}
            quantity = _OF.get(found["what"], "latency")
            yield self.measure(quantity, float(text) * _TIMES[found["unit"]], "s", f"{text} {found['unit']}", **known)


class Twping(Owping):
    """Summaries of twping (TWAMP): round trips, and the times of each way by two clocks."""

    tool = "twping"
    evidence = Evidence.DELAYS
    by_document = True
    words = ("twping",)
