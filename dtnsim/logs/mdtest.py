"""mdtest 1.8 to 4.x.

Units: the table ``SUMMARY rate`` is operations per second; ``SUMMARY time`` has the same labels with
seconds (3.x) or milliseconds per operation (4.x, ``in ms/op``) and is not read, for it repeats the rates.
A rate of zero means that the phase was not run. With per-rank statistics (``per Rank: Max Min Mean
per Iteration: Max Min Mean``) the columns per iteration are read. The headline is Max; for one
iteration Mean differs from it only by the ranks' clocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import Conditions, Context, Evidence, LineParser, Record, located

_LAUNCH: Final = re.compile(r"mdtest-(\S+) was launched with (\d+) total task\(s\) on (\d+) node")
_TABLE: Final = re.compile(r"SUMMARY(?: (rate|time)\b|: \(of \d+ iterations?\))")
_ROW: Final = re.compile(
    r"^\s*(?P<what>(?:Directory|File|Tree) (?:creation|create|stat|read|rename|removal)(?: \(stonewall\))?)"
    r"(?:\s*+:\s++|\s++)"
    r"(?P<values>(?:NA|[\d.]++)(?:\s++(?:NA|[\d.]++)){2,6}+)\s*+$"
)
_FILES: Final = re.compile(r"^(\d+) tasks, (\d+) (files|directories)")
_ERROR: Final = re.compile(r"\bERROR: .*|mdtest: .*\b(?:failed|error)\b.*", re.IGNORECASE)


class Mdtest(LineParser):
    """The table of rates."""

    tool = "mdtest"
    evidence = Evidence.SERVERS
    words = ("mdtest", "SUMMARY", "tasks", "ERROR")
    commands = ("mdtest",)

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._run: Conditions = {}
        self._read_any = False

    def feed(self, text: str) -> Iterable[Record]:
        if (launch := _LAUNCH.search(text)) is not None:
            self.version = launch[1]
            self._run = {"tasks": int(launch[2]), "nodes": int(launch[3])}
        elif (table := _TABLE.search(text)) is not None:
            self.open = table[1] != "time"  # before 1.9.3 the heading names no unit and there is no table of times
            self._read_any = False
        elif (files := _FILES.match(text)) is not None and self._run:
            self._run["files"] = int(files[2])
        elif self.open:
            row = _ROW.match(text)
            if row is not None:
                self._read_any = True
                return self._row(row)
            if (not text.strip() and self._read_any) or text.startswith("--"):
                self.open = False
        elif self._run and (error := located(_ERROR, text, "mdtest: ", "ERROR: ", "Error: ", "error: ")) is not None:
            return (self.failure(error[0], **self._run),)
        return ()

    def _row(self, row: re.Match[str]) -> Iterator[Record]:
        values = row["values"].split()
        stonewall = "stonewall" in row["what"]
        if stonewall and len(values) == 4:
            figures = [("mean", values[2])]
        elif len(values) == 3:  # a mailer put the standard deviation on the next line
            figures = [("max", values[0]), ("mean", values[2])]
        elif len(values) in (4, 7):
            figures = list(zip(("max", "mean"), values[-4:-1:2], strict=True))
        else:
            yield self.unread(row[0], f"the row has {len(values)} figures, not 3, 4 or 7")
            return
        operation = row["what"].replace(" (stonewall)", "").lower()
        operation = operation.replace("creation", "create").replace("removal", "remove").replace(" ", "_")
        for statistic, text in figures:
            if text != "NA" and float(text) > 0:
                yield self.measure(
                    "rate",
                    float(text),
                    "1/s",
                    f"{text} /s",
                    operation=operation,
                    statistic=statistic,
                    view="stonewall" if stonewall else None,
                    **self._run,
                )
