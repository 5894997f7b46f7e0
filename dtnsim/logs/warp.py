"""warp (MinIO's S3 benchmark), 0.3 to 1: the analysis after a run.

Units: ``MiB/s`` 2^20 B/s, ``obj/s`` objects a second; times carry theirs. ``Average`` is the mean of the whole run
and the headline; ``Fastest``, ``50% Median`` and ``Slowest`` are of its parts, mostly seconds (``statistic``).
``Reqs`` is the latency of a whole request, ``TTFB`` that of its first byte (``of``). PUT is a write, GET a read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import parts_s
from dtnsim.logs.base import BINARY, Conditions, Evidence, LineParser, Record

_HEAD: Final = re.compile(
    r"^\s*+(?:Operation|Report): (?P<what>[A-Z]{3,20})(?: \((?P<requests>\d++)\))?(?P<rest>.{0,200})"
)
_SIZE: Final = re.compile(r"Size: (\d++) bytes")
_CONCURRENT: Final = re.compile(r"Concurrency: (\d++)")
_RAN: Final = re.compile(r"Ran:? (\d[0-9hmsµu.]*+)")
_RATES: Final = re.compile(
    r"^\s*+\* (?P<what>Average|Fastest|50% Median|Slowest): (?:(?P<rate>\d++(?:\.\d++)?) ?(?P<ru>[KMGT]?i?)B/s, )?"
    r"(?P<objects>\d++(?:\.\d++)?) obj/s"
)
_TIMES: Final = re.compile(r"^\s*+\* (?:(?P<what>Reqs|TTFB): )?(?=Avg: )(?P<rest>.{1,300})")
_TIME: Final = re.compile(
    r"(?P<name>Avg|Best|Fastest|Worst|Slowest|StdDev|Median|\d\d(?:th|%)): (?P<time>[0-9.hmsuµn]++)"
)
_STATISTICS: Final = {
    "Average": None, "Fastest": "max", "50% Median": "median", "Slowest": "min",
}  # fmt: skip
_LATENCIES: Final = {
    "Avg": None, "Best": "min", "Fastest": "min", "Worst": "max", "Slowest": "max", "StdDev": "stddev",
    "Median": "median", "50%": "median",
}  # fmt: skip
_OPERATIONS: Final = {"PUT": "write", "GET": "read"}
_LONGEST: Final = 40


class Warp(LineParser):
    """Blocks of one operation each."""

    tool = "warp"
    evidence = Evidence.SERVERS
    words = ("Operation", "Report")
    commands = ("warp",)

    def forget(self) -> None:
        self.open = False
        self._known: Conditions = {}
        self._lines = 0

    def feed(self, text: str) -> Iterable[Record]:
        head = _HEAD.match(text)
        if head is not None:
            self._start(head)
            return ()
        if not self.open:
            return ()
        self._lines += 1
        if self._lines > _LONGEST:
            self.open = False
        if (rates := _RATES.match(text)) is not None:
            return self._rates(rates)
        if (times := _TIMES.match(text)) is not None:
            return self._latencies(times)
        return ()

    def _start(self, head: re.Match[str]) -> None:
        self.open, self._lines = True, 0
        known: Conditions = {"operation": _OPERATIONS.get(head["what"], head["what"].lower())}
        for key, pattern in (("object_B", _SIZE), ("streams", _CONCURRENT)):
            if (found := pattern.search(head["rest"])) is not None and len(found[1]) < 16:
                known[key] = int(found[1])
        if (ran := _RAN.search(head["rest"])) is not None:
            known["duration_s"] = parts_s(ran[1].rstrip("."))
        self._known = known

    def _rates(self, found: re.Match[str]) -> Iterator[Record]:
        more: Conditions = {**self._known, "statistic": _STATISTICS[found["what"]]}
        if found["rate"] and float(found["rate"]) > 0:
            unit = found["ru"].removesuffix("i")
            rate = float(found["rate"]) * BINARY[unit]
            yield self.measure("throughput", rate, "B/s", f"{found['rate']} {found['ru']}B/s", **more)
        if float(found["objects"]) > 0:
            yield self.measure(
                "rate", float(found["objects"]), "1/s", f"{found['objects']} obj/s", of="objects", **more
            )

    def _latencies(self, found: re.Match[str]) -> Iterator[Record]:
        of = "first byte" if found["what"] == "TTFB" else "request"
        for name, text in _TIME.findall(found["rest"]):
            value = parts_s(text.rstrip("."))
            if value is None:
                continue
            statistic = _LATENCIES.get(name, f"p{name[:2]}")
            yield self.measure("latency", value, "s", text, statistic=statistic, of=of, **self._known)
