"""LNet selftest: ``lst stat`` of a group, again and again.

Units: ``MB/s`` of Lustre up to 2.12 and ``MiB/s`` are 2^20 B/s (lst.c divides by 1048576); with ``--mbs`` later
releases print 10^6 as ``MB/s``, which the log does not tell apart, so that ``MB/s`` is 2^20 unless the command has
``--mbs``. ``[R]`` is what the nodes of the group received, ``[W]`` what they sent. All are of an interval: the mean
of the group's nodes is the headline, ``min`` and ``max`` are its slowest and fastest node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

_HEAD: Final = re.compile(r"^\s*+\[LN[Ee][Tt] (?P<what>Rates|Bandwidth) of (?P<group>[^\]]{1,200})\]")
_ROW: Final = re.compile(
    r"^\s*+\[(?P<way>[RW])\] Avg: {1,2}(?P<avg>\d++(?:\.\d++)?) {1,9}(?P<unit>RPC/s|MB/s|MiB/s) {1,2}"
    r"Min: {1,2}(?P<min>\d++(?:\.\d++)?) {1,9}(?:RPC/s|MB/s|MiB/s) {1,2}Max: {1,2}(?P<max>\d++(?:\.\d++)?) "
)
_STATISTICS: Final = {"avg": None, "min": "min", "max": "max"}


class LnetSelftest(LineParser):
    """Blocks of one group."""

    tool = "lnet_selftest"
    evidence = Evidence.NETWORK
    by_document = True
    words = ("LNet", "LNET")
    commands = ("lst",)

    def forget(self) -> None:
        self.open = False
        self._group = ""
        self._reports: dict[str, int] = {}

    def feed(self, text: str) -> Iterable[Record]:
        if (head := _HEAD.match(text)) is not None:
            self._group, self.open = head["group"], True
            if head["what"] == "Rates":
                if len(self._reports) > 1000:
                    self._reports.clear()
                self._reports[self._group] = self._reports.get(self._group, 0) + 1
            return ()
        row = _ROW.match(text) if self.open else None
        if row is None:
            self.open = self.open and not text.strip()
            return ()
        return self._row(row)

    def _row(self, row: re.Match[str]) -> Iterator[Record]:
        more: Conditions = {
            "of": self._group,
            "direction": "receive" if row["way"] == "R" else "send",
            "report": self._reports.get(self._group),
            "interval": True,
        }
        decimal = row["unit"] == "MB/s" and "--mbs" in (self.ctx.args("lst") or ())
        for name, statistic in _STATISTICS.items():
            value, printed = float(row[name]), f"{row[name]} {row['unit']}"
            if row["unit"] == "RPC/s":
                yield self.measure("rate", value, "1/s", printed, statistic=statistic, **more)
            else:
                rate = value * (1e6 if decimal else 2.0**20)
                yield self.measure("throughput", rate, "B/s", printed, statistic=statistic, **more)
