"""IO500: the result summary, of the C program (since 2020) and of the scripts before it, and the program's result.txt.

Units: ``GiB/s`` and, in the scripts, ``GB/s`` are 2^30 B/s (io500.sh divides IOR's MiB/s by 1024); ``kIOPS`` and
``kiops`` are thousands of files a second, since its operations are those of mdtest and find. ``valid`` is false where
a phase broke the rules (less than 300 s); it was measured all the same. The scores are geometric means of the phases
(``statistic="geometric mean"``); the total, which has no unit, is left out. ``score`` in result.txt is the phase's
rate in GiB/s (``ior-``) or kIOPS, the same number as in the summary of the same run; its own section SCORE is left
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import host_of
from dtnsim.logs.base import Command, Conditions, Context, Evidence, LineParser, Record

_RESULT: Final = re.compile(
    r"^\s*+\[RESULT(?P<bad>-invalid)?\](?: (?:BW|IOPS) +phase \d++)? ++(?P<phase>[a-z][\w-]++) ++(?P<value>\d++\.\d++) "
    r"(?P<unit>GiB/s|GB/s|kIOPS|kiops) *+: time ++(?P<seconds>\d++\.\d++) seconds(?P<rest>.{0,20})"
)
_SCORE: Final = re.compile(
    r"^\s*+\[SCORE(?P<bad>-invalid| INVALID)? ?\] Bandwidth "
    r"(?P<rate>\d++\.\d++) (?:GiB/s|GB/s) *+: IOPS (?P<iops>\d++\.\d++) kiops *+: "
    r"TOTAL (?P<total>\d++\.\d++)(?P<rest>.{0,20})"
)
_VERSION: Final = re.compile(r"^\s*+IO500 version (\S++)")
_SECTION: Final = re.compile(r"^\s*+\[(?P<phase>(?:ior|mdtest)-(?:easy|hard|rnd)[\w-]{0,20}|find[\w-]{0,20})\]\s*+$")
_PAIR: Final = re.compile(
    r"^\s*+(?P<key>score|t_delta|t_start|t_end)\s++= (?P<value>\S++)(?: (?P<clock>[\d:]{8}))?\s*+$"
)
_GIB: Final = 2.0**30
_OPERATIONS: Final = {"write": "write", "read": "read", "stat": "stat", "delete": "delete"}


class Io500(LineParser):
    """Lines of phases and scores."""

    tool = "io500"
    evidence = Evidence.SERVERS
    words = ("RESULT", "SCORE", "IO")

    def feed(self, text: str) -> Iterable[Record]:
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
        more: Conditions = {"of": "score", "statistic": "geometric mean"}
        more["valid"] = found["bad"] is None and "INVALID" not in found["rest"]
        if float(found["rate"]) > 0:
            yield self.measure("throughput", float(found["rate"]) * _GIB, "B/s", f"{found['rate']} GiB/s", **more)
        if float(found["iops"]) > 0:
            yield self.measure("rate", float(found["iops"]) * 1e3, "1/s", f"{found['iops']} kiops", **more)

    def on_command(self, command: Command) -> Iterable[Record]:  # noqa: ARG002 (the base's signature)
        """Another run may be of another version."""
        self.version = None
        return ()


class Io500Result(LineParser):
    """Sections of result.txt."""

    tool = "io500"
    evidence = Evidence.SERVERS
    shape = r"^\s*\[(?:(?:ior|mdtest)-(?:easy|hard|rnd)|find)[^\]]{0,20}\]"

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._phase = ""
        self._pairs: dict[str, str] = {}
        self._valid, self._line = True, 0

    def feed(self, text: str) -> Iterable[Record]:
        if (section := _SECTION.match(text)) is not None:
            done = list(self.settle())
            self._phase, self.open = section["phase"], True
            return done
        if self.open and (pair := _PAIR.match(text)) is not None:
            self._pairs[pair["key"]] = pair["value"] if pair["clock"] is None else f"{pair['value']}T{pair['clock']}Z"
            self._line = self.ctx.line if pair["key"] == "score" else self._line
        elif "INVALID" in text:
            self._valid = False
        elif text.lstrip().startswith("["):
            return self.settle()
        return ()

    def settle(self) -> Iterator[Record]:
        phase, pairs, valid = self._phase, self._pairs, self._valid
        self._phase, self._pairs, self._valid, self.open = "", {}, True, False
        try:
            score = float(pairs.get("score", ""))
            seconds = float(pairs["t_delta"]) if "t_delta" in pairs else None
        except ValueError:
            return
        if not phase or not 0.0 < score < 1e9:
            return
        known: Conditions = {**host_of(self.ctx), "of": phase}
        known |= {"operation": _OPERATIONS.get(phase.rpartition("-")[2], phase), "duration_s": seconds}
        known |= {"valid": valid, "end": pairs.get("t_end")}
        if phase.startswith("ior"):
            yield self.measure("throughput", score * _GIB, "B/s", f"{pairs['score']} GiB/s", line=self._line, **known)
        else:
            yield self.measure("rate", score * 1e3, "1/s", f"{pairs['score']} kIOPS", line=self._line, **known)
