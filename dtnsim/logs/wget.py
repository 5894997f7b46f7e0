"""wget's last line of a download: ``(4.27 MB/s) - 'name' saved [977501/977501]``.

Units: ``KB/s``, ``MB/s``, ``GB/s`` are powers of 1024 (wget ``src/retr.c``, ``calc_rate``; checked by a run of 64 MiB
in the 0.08 s of its bar), with ``--report-speed=bits`` ``Kb/s`` ... powers of 1000 of bits. Sizes are in B. The rate is
the mean over the transfer. A file of which less came than was announced is ``partial``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import binary_size, bits_rate
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, located
from dtnsim.logs.measurement import Status

_LINE: Final = re.compile(
    r"\((?P<rate>\d++(?:[.,]\d++)?) (?P<unit>[KMGT]?)(?P<kind>[Bb])/s\) - "
    r"(?:(?P<file>.*) saved|written to stdout|(?P<error>(?:Connection closed|Read error) at byte (?P<at>\d++).*))"
    r"(?: \[(?P<got>\d++)(?:/(?P<of>\d++))?\])?"
)


class Wget(LineParser):
    """Final lines of wget."""

    tool = "wget"
    evidence = Evidence.TRANSFER
    words = ("saved", "written", "Connection", "Read")
    commands = ("wget",)

    def feed(self, text: str) -> Iterable[Record]:
        if "/s) - " not in text:
            return ()
        start = text.rfind("(", 0, text.index("/s) - "))
        found = located(_LINE, text[start:], "(") if start >= 0 else None
        return () if found is None else self._download(found)

    def _download(self, found: re.Match[str]) -> Iterator[Record]:
        if found["error"] is not None:
            yield self.failure(found["error"], bytes=int(found["at"]))
            return
        if found["got"] is None:
            yield self.unread(found[0], "the line is cut")
            return
        rate = found["rate"]
        value = binary_size(rate, found["unit"]) if found["kind"] == "B" else bits_rate(rate, found["unit"])
        size = int(found["got"])
        if value <= 0 or size == 0:
            yield self.unread(found[0], "no bytes were transferred: no rate")
            return
        status: Status = "complete" if found["of"] in (None, found["got"]) else "partial"
        known: Conditions = {"direction": "receive", "bytes": size, "duration_s": size / value}
        known["file"] = found["file"].strip("'`\"‘’“” ") if found["file"] else None
        printed = f"{rate} {found['unit']}{found['kind']}/s"
        yield self.measure("throughput", value, "B/s", printed, status=status, **known)
