"""The text that a pScheduler latency or latencybg task prints: packets, delays of one way, the error of the clocks.

Units: ms. The mean is the headline; the error of the clocks is a figure of its own (``of="clock error"``), because it
is printed after the delays. Histograms, which are the same packets again, are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

_LINE: Final = re.compile(
    r"^\s*+(?P<what>Packets (?:Sent|Lost)|Delay (?:Median|Minimum|Maximum|Mean|\d\dth Percentile)|Max Clock Error"
    r"|Std Deviation) \.{2,30} (?P<value>-?\d++(?:\.\d++)?) (?P<unit>packets|ms)"
)
_STATISTICS: Final = {"Mean": None, "Median": "median", "Minimum": "min", "Maximum": "max"}


class PschedulerLatency(LineParser):
    """Lines of dots."""

    tool = "pscheduler"
    evidence = Evidence.WAY
    words = ("Packets", "Delay", "Clock", "Deviation")
    commands = ("pscheduler",)

    def forget(self) -> None:
        self._sent = 0

    def feed(self, text: str) -> Iterable[Record]:
        found = _LINE.match(text) if " ..." in text or " .. " in text else None
        return () if found is None else self._figure(found["what"], found["value"], found["unit"])

    def _figure(self, what: str, value: str, unit: str) -> Iterator[Record]:
        printed = f"{value} {unit}"
        if unit == "packets":
            count = int(float(value))
            if what == "Packets Sent":
                self._sent = count
            elif self._sent > 0:
                more = {**self._ends(), "packets": self._sent}
                yield self.measure("loss", count / self._sent, "1", f"{count}/{self._sent}", **more)
        elif what == "Max Clock Error":
            yield self.measure("latency", float(value) * 1e-3, "s", printed, of="clock error", **self._ends())
        elif what == "Std Deviation":
            yield self.measure(
                "latency", float(value) * 1e-3, "s", printed, statistic="stddev", one_way=True, **self._ends()
            )
        else:
            name = what.removeprefix("Delay ")
            statistic = _STATISTICS.get(name, f"p{name[:2]}")
            yield self.measure(
                "latency", float(value) * 1e-3, "s", printed, statistic=statistic, one_way=True, **self._ends()
            )

    def _ends(self) -> Conditions:
        args = self.ctx.args("pscheduler") or []
        known: Conditions = {}
        for at, word in enumerate(args[:-1]):
            if word in ("--source", "-s"):
                known["source"] = args[at + 1]
            elif word in ("--dest", "-d"):
                known["target"] = args[at + 1]
        return known
