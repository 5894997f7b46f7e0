"""dcp and dsync of mpiFileUtils 0.8 and later.

Units: ``GiB``, ``MiB/s`` are powers of 1024; the rate is computed from the bytes and seconds beside it (checked:
70634049927 bytes in 8004.996 s are 8.415 MiB/s). ``Rate:`` is printed for the copying alone (``of="data"``) and again
below ``Seconds:`` for the whole run, which is the headline; ``Copy rate:`` of dsync counts making directories (issue
493). Progress lines are intervals, cumulative. Numbers of files, directories and items are conditions of the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import host_of
from dtnsim.logs.base import BINARY, Conditions, Evidence, LineParser, Record

_RATE: Final = re.compile(
    r"^\s*+(?P<what>Rate|Copy rate): (?P<rate>\d++\.\d++) (?P<unit>[KMGTP]?)i?B/s "
    r"\((?P<size>\d++) bytes in (?P<seconds>\d++\.\d++) seconds\)"
)
_PROGRESS: Final = re.compile(
    r"^\s*+Copied (?P<size>\d++\.\d++) (?P<su>[KMGTP]?)i?B \((?P<share>\d{1,3})%\) in (?P<seconds>\d++\.\d++) secs "
    r"\((?P<rate>\d++\.\d++) (?P<ru>[KMGTP]?)i?B/s\)"
)
_COUNT: Final = re.compile(r"^\s*+(?P<what>Items|Directories|Files|Links): (?P<count>\d++)\s*+$")
_SECONDS: Final = re.compile(r"^\s*+Seconds: \d++\.\d++\s*+$")


class Dcp(LineParser):
    """Summaries and progress of a copy."""

    tool = "mpifileutils"
    evidence = Evidence.TRANSFER
    words = ("Rate", "rate", "Copied", "Items", "Directories", "Files", "Links", "Seconds")
    commands = ("dcp", "dsync")

    def forget(self) -> None:
        self._counts: Conditions = {}
        self._whole = False

    def feed(self, text: str) -> Iterable[Record]:
        if (count := _COUNT.match(text)) is not None:
            if len(count["count"]) < 16:
                self._counts[count["what"].lower()] = int(count["count"])
        elif _SECONDS.match(text) is not None:
            self._whole = True
        elif (rate := _RATE.match(text)) is not None:
            return self._rate(rate)
        elif (progress := _PROGRESS.match(text)) is not None:
            return self._progress(progress)
        return ()

    def _rate(self, found: re.Match[str]) -> Iterator[Record]:
        size, seconds = int(found["size"]), float(found["seconds"])
        known: Conditions = {**host_of(self.ctx), "bytes": float(size), "duration_s": seconds}
        whole, self._whole = self._whole, False
        if found["what"] == "Copy rate" or not whole:
            known["of"] = "data"
        else:
            known |= self._counts
            self._counts = {}
        known["tasks"] = self._tasks()
        if size <= 0 or seconds <= 0:
            yield self.unread(found[0], "nothing was copied: no rate")
            return
        rate, printed = size / seconds, f"{found['rate']} {found['unit']}iB/s"
        stated = float(found["rate"]) * BINARY[found["unit"]]
        if abs(rate - stated) > 0.01 * rate + 0.001 * BINARY[found["unit"]]:
            yield self.unread(printed, f"bytes and seconds give {rate:.4g} B/s")
        yield self.measure("throughput", rate, "B/s", printed, **known)
        if whole:
            yield self.measure("duration", seconds, "s", f"{found['seconds']} seconds", **known)

    def _progress(self, found: re.Match[str]) -> Iterator[Record]:
        rate = float(found["rate"]) * BINARY[found["ru"]]
        size = float(found["size"]) * BINARY[found["su"]]
        known: Conditions = {**host_of(self.ctx), "interval": True, "cumulative": True, "bytes": size}
        known["duration_s"] = float(found["seconds"])
        if rate > 0:
            yield self.measure("throughput", rate, "B/s", f"{found['rate']} {found['ru']}iB/s", **known)

    def _tasks(self) -> int | None:
        """Ranks, if the command line says how many."""
        command = self.ctx.command
        if command is None:
            return None
        found = re.search(r" (?:-n|-np|--ntasks=?) ?(\d{1,6})(?= )", command.text[:2000])
        return None if found is None else int(found[1])
