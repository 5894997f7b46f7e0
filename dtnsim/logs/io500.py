"""IO500: the result summary, of the C program (since SC20) and of the scripts before it.

Units: ``GiB/s`` and, in the scripts, ``GB/s`` are 2^30 B/s (io500.sh divides IOR's MiB/s by 1024); ``kIOPS`` and
``kiops`` are thousands of files a second, since its operations are those of mdtest and find. ``valid`` is false where
a phase broke the rules (less than 300 s); it was measured all the same. The scores are geometric means of the phases
(``statistic="geometric mean"``); the total, which has no unit, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import Command, Conditions, LineParser, Record

_RESULT: Final = re.compile(
    r"^\s*+\[RESULT(?P<bad>-invalid)?\](?: (?:BW|IOPS) +phase \d++)? ++(?P<phase>[a-z][\w-]++) ++(?P<value>\d++\.\d++) "
    r"(?P<unit>GiB/s|GB/s|kIOPS|kiops) *+: time ++(?P<seconds>\d++\.\d++) seconds(?P<rest>.{0,20})"
)
_SCORE: Final = re.compile(
    r"^\s*+\[SCORE ?\] Bandwidth (?P<rate>\d++\.\d++) (?:GiB/s|GB/s) *+: IOPS (?P<iops>\d++\.\d++) kiops *+: "
    r"TOTAL (?P<total>\d++\.\d++)(?P<rest>.{0,20})"
)
_VERSION: Final = re.compile(r"^\s*+IO500 version (\S++)")
_GIB: Final = 2.0**30
_OPERATIONS: Final = {"write": "write", "read": "read", "stat": "stat", "delete": "delete"}


class Io500(LineParser):
    """Lines of phases and scores."""

    tool = "io500"
    words = ("RESULT", "SCORE", "IO")

    def feed(self, text: str) -> Iterable[Record]:
        """One line."""
        if (version := _VERSION.match(text)) is not None:
            self.version = version[1]
        elif (result := _RESULT.match(text)) is not None:
            return self._phase(result)
        elif (score := _SCORE.match(text)) is not None:
            return self._score(score)
        return ()

    def _phase(self, found: re.Match[str]) -> Iterator[Record]:
        phase = found["phase"].replace("_", "-")
        value, seconds = float(found["value"]), float(found["seconds"])
        more: Conditions = {"of": phase, "operation": _OPERATIONS.get(phase.rpartition("-")[2], phase)}
        more |= {"duration_s": seconds, "valid": found["bad"] is None and "INVALID" not in found["rest"]}
        printed = f"{found['value']} {found['unit']}"
        if value <= 0:
            yield self.unread(f"{phase} {printed}", "nothing was done: no rate")
        elif found["unit"].startswith("G"):
            yield self.measure("throughput", value * _GIB, "B/s", printed, **more)
        else:
            yield self.measure("rate", value * 1e3, "1/s", printed, **more)

    def _score(self, found: re.Match[str]) -> Iterator[Record]:
        more: Conditions = {"of": "score", "statistic": "geometric mean", "valid": "INVALID" not in found["rest"]}
        if float(found["rate"]) > 0:
            yield self.measure("throughput", float(found["rate"]) * _GIB, "B/s", f"{found['rate']} GiB/s", **more)
        if float(found["iops"]) > 0:
            yield self.measure("rate", float(found["iops"]) * 1e3, "1/s", f"{found['iops']} kiops", **more)

    def on_command(self, command: Command) -> Iterable[Record]:  # noqa: ARG002 (the base's signature)
        """Another run may be of another version."""
        self.version = None
        return ()
