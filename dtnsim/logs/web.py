"""wget and curl."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dtnsim.logs._net import binary_size, bits_rate, clock_s, host_of
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, located
from dtnsim.logs.measurement import Status

_LINE: Final = re.compile(
    r"\((?P<rate>\d++(?:[.,]\d++)?) (?P<unit>[KMGT]?)(?P<kind>[Bb])/s\) - "
    r"(?:(?P<file>.*) saved|written to stdout|(?P<error>(?:Connection closed|Read error) at byte (?P<at>\d++).*))"
    r"(?: \[(?P<got>\d++)(?:/(?P<of>\d++))?\])?"
)


class Wget(LineParser):
    """wget's last line of a download: ``(4.27 MB/s) - 'name' saved [977501/977501]``.

    Units: ``KB/s``, ``MB/s``, ``GB/s`` are powers of 1024 (wget ``src/retr.c``, ``calc_rate``; checked by a run of 64
    MiB in the 0.08 s of its bar), with ``--report-speed=bits`` ``Kb/s`` ... powers of 1000 of bits. Sizes are in B.
    The rate is the mean over the transfer. A file of which less came than was announced is ``partial``.
    """

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


_N: Final = r"\d++(?:\.\d++)?[kMGTP]?"
_T: Final = r"[\d:dhmsy-]++"
_ROW: Final = re.compile(
    rf"^\s*+(?P<share>\d{{1,3}}+)\s++{_N}\s++\d++\s++(?P<got>{_N})\s++\d++\s++(?P<sent>{_N})\s++(?P<down>{_N})\s++"
    rf"(?P<up>{_N})\s++{_T}\s++(?P<spent>{_T})\s++{_T}\s++{_N}(?=\s|$|[A-Za-z*<{{])"
)


class Curl(LineParser):
    """curl's progress table (``% Total % Received % Xferd Average Speed``), 7.x and 8.x.

    Units: ``k``, ``M``, ``G`` of sizes and speeds are powers of 1024, speeds in B/s (curl ``lib/progress.c``,
    ``max5data``; checked: 13.3M at 866k takes 15.7 s, printed 0:00:15). The table is redrawn; its last row counts.
    ``Average Speed`` is the mean of the whole transfer and the headline: ``Dload`` is ``direction="receive"``,
    ``Upload`` ``"send"``. A last row of less than 100 % is ``partial``. Times are whole seconds (``resolution_s``).
    """

    tool = "curl"
    evidence = Evidence.TRANSFER
    words = ("Xferd", "Dload")
    commands = ("curl",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._row: tuple[re.Match[str], int] | None = None
        self._known: Conditions = {}

    def feed(self, text: str) -> Iterable[Record]:
        if "Xferd" in text and "% Total" in text:
            done = list(self.settle())
            self._known, self.open = host_of(self.ctx), True
            return done
        if not self.open or "Dload" in text or not text.strip():
            return ()
        row = _ROW.match(text)
        if row is not None:
            self._row = row, self.ctx.line
            return ()
        return list(self.settle())

    def settle(self) -> Iterator[Record]:
        held, self._row, self.open = self._row, None, False
        if held is None:
            return
        row, line = held
        status: Status = "complete" if row["share"] == "100" else "partial"
        for moved, rate, direction in (("got", "down", "receive"), ("sent", "up", "send")):
            speed, size = _bytes(row[rate]), _bytes(row[moved])
            if speed <= 0 or size <= 0:
                continue
            known: Conditions = {**self._known, "direction": direction, "bytes": size}
            if seconds := clock_s(row["spent"]):
                known |= {"duration_s": seconds, "resolution_s": 1.0}
            yield self.measure("throughput", speed, "B/s", f"{row[rate]} B/s", status=status, line=line, **known)


def _bytes(text: str) -> float:
    return binary_size(text[:-1], text[-1]) if text[-1:].isalpha() else float(text)
