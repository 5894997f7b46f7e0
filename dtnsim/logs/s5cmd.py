"""s5cmd cp --show-progress: ``50.00% ━━━━──── 11.02 GB / 22.04 GB (8.78 MB/s) 20m55s (32/32)``.

Units: ``kB``, ``MB``, ``GB`` are powers of 1000 (s5cmd ``progressbar.go`` sets pb's SIBytesPrefix; checked: 11.02 GB
at 8.78 MB/s take 1255 s, printed 20m55s). The rate is the mean since the start. Releases up to 2.2.2 may count the
total twice and stop at 50 % (issue 680): a copy whose files are all there, ``(32/32)``, is complete all the same.
``ERROR "cp ..."`` is a failure. Without the option s5cmd prints no rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dtnsim.logs._declared import Progress, ProgressParser, declare
from dtnsim.logs._net import parts_s
from dtnsim.logs.base import Conditions, Evidence, Record
from dtnsim.logs.measurement import Status


class S5cmd(ProgressParser):
    """Progress bars and errors."""

    tool = "s5cmd"
    evidence = Evidence.TRANSFER
    words = ("ERROR",)
    shape = r" [kMGTP]?B /  [kMGTP]?B \( [kMGTP]?B/s\) "
    needs = ("B/s) ",)
    commands = ("s5cmd",)
    line = declare(
        "B/s) ",
        r"(?<![\d.])(?P<got>\d++(?:\.\d++)?) (?P<gu>[kMGTP]?)B / (?P<of>\d++(?:\.\d++)?) (?P<ou>[kMGTP]?)B ",
        r"\((?P<rate>\d++(?:\.\d++)?) (?P<ru>[kMGTP]?)B/s\) ",
        r"(?P<spent>[0-9a-zµ.]++) ",
        r"\((?P<done>\d++)/(?P<files>\d++)\)",
    )
    failures = re.compile(r'^\s*+ERROR "(?:cp|mv|sync) .{1,300}')

    def status(self, found: re.Match[str], moved: float, total: float) -> Status:
        """Complete with all files, whatever the count of bytes says."""
        return "complete" if found["done"] == found["files"] != "0" else super().status(found, moved, total)

    def conditions(self, found: re.Match[str], moved: float) -> Conditions:  # noqa: ARG002 (the base's)
        """How many files are there."""
        return {"files": int(found["done"])}

    def check(self, found: re.Match[str], progress: Progress) -> Iterable[Record]:
        """Bytes and time give the rate."""
        spent, moved, rate = parts_s(found["spent"]), progress.moved, progress.rate
        if spent and rate > 0 and abs(moved / rate - spent) > 0.05 * spent + 1:
            return (self.unread(found[0], f"bytes and time give {moved / spent:.4g} B/s"),)
        return ()
