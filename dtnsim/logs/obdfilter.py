"""obdfilter-survey of the Lustre I/O kit (summary lines).

Units: the printed figures are total_size in KiB / (seconds * 1024), so MiB/s (lustre-iokit
obdfilter-survey, ``compute bandwidth from total data / elapsed time``); the brackets hold the slowest
and fastest OST's one-second samples, also MiB/s. ``sz`` is KiB over all OSTs, ``rsz`` KiB with or without
the K. ``SHORT`` after a rate means that the run was too short for samples (the rate holds), ``ERROR``
that an OST reported an error (no rate).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dtnsim.logs.base import BINARY, Conditions, Evidence, LineParser, Record, decimal

_LINE: Final = re.compile(
    r"\bost\s*(?P<ost>\d+)\s+sz\s*(?P<sz>\d+)K\s+rsz\s*(?P<rsz>\d+)K?\s+obj\s*(?P<obj>\d+)\s+thr\s*(?P<thr>\d+)\s+(?P<rest>.*)"
)
_TEST: Final = re.compile(
    r"\b(?P<test>write|rewrite|read|reread|rewrite_again)\s+(?P<rate>[\d.,]+)\s+"
    r"(?:[\[［]\s*(?P<min>[\d.]+)\s*,\s*(?P<max>[\d.]+)\s*[\]］]|(?P<word>SHORT|ERROR))?"
)


class Obdfilter(LineParser):
    """One summary line holds the results of all tests of one combination."""

    tool = "obdfilter-survey"
    evidence = Evidence.SERVERS
    by_document = True
    words = ("ost", "rsz")
    commands = ("obdfilter-survey",)

    def feed(self, text: str) -> Iterator[Record]:
        match = _LINE.search(text)
        if match is None:
            return
        conditions: Conditions = {
            "osts": int(match["ost"]),
            "bytes": int(match["sz"]) * BINARY["K"],
            "record_B": int(match["rsz"]) * BINARY["K"],
            "objects": int(match["obj"]),
            "threads": int(match["thr"]),
        }
        read_any = False
        for test in _TEST.finditer(match["rest"] + " "):
            read_any = True
            conditions["operation"] = test["test"]
            if test["word"] == "ERROR" or decimal(test["rate"]) == 0:
                yield self.failure(test[0], **conditions)
                continue
            printed = f"{test['rate']} MB/s"
            yield self.measure("throughput", decimal(test["rate"]) * BINARY["M"], "B/s", printed, **conditions)
            for statistic in ("min", "max"):
                if test[statistic] is not None:
                    value = decimal(test[statistic]) * BINARY["M"]
                    yield self.measure(
                        "throughput", value, "B/s", test[statistic], statistic=statistic, view="per_ost", **conditions
                    )
        if not read_any:
            yield self.unread(text, "the line has no result")
