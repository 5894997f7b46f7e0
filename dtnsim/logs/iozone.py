"""iozone 3.x: the automatic table (any set of tests), -R report matrices, -t throughput mode.

Units: ``kBytes/sec``, ``KB`` and ``kB`` are KiB (checked: ``-s 256g`` is printed as 268435456 kB); with
-O the same columns are operations per second and with -N microseconds per operation, as the
banner says. Blank columns are recognised by position: figures are right-aligned under their heads; where a
mailer squeezed the blanks, by the -i list of the command line. In throughput mode ``Children see`` is the
sum of the processes' own rates and the headline; ``Parent sees`` divides by the whole time.

A small file measures the page cache: ``direct``, ``sync`` and ``close`` say what the run asked for.
Source: iozone.c (headings, ``unit``), the manual's options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dtnsim.logs._columns import by_right_edge, tokens
from dtnsim.logs._commands import given, meanings
from dtnsim.logs._declared import Found, LinesParser, Match, notes, reads
from dtnsim.logs._numbers import BINARY, decimal
from dtnsim.logs.base import Conditions, Evidence, Record, anew, once

KIB: Final = BINARY["K"]
#: operations in the order of the table; the numbers of the -i option that fill them
COLUMNS: Final = (
    "write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read", "record_rewrite",
    "stride_read", "fwrite", "frewrite", "fread", "freread", "pwrite", "repwrite", "pread", "repread", "pwritev",
    "repwritev", "preadv", "repreadv",
)  # fmt: skip
_TESTS: Final = {
    0: (0, 1), 1: (2, 3), 2: (4, 5), 3: (6,), 4: (7,), 5: (8,), 6: (9, 10), 7: (11, 12), 9: (13, 14), 10: (15, 16),
    11: (17, 18), 12: (19, 20),
}  # fmt: skip

_KIBS: Final = ("throughput", KIB, "kB/s")
_VIEWS: Final[dict[str, Conditions]] = {
    "Parent sees": {"view": "parent"}, "Min": {"view": "per_process", "statistic": "min"},
    "Max": {"view": "per_process", "statistic": "max"}, "Avg": {"view": "per_process", "statistic": "mean"},
}  # fmt: skip


class Iozone(LinesParser):
    """Everything iozone prints."""

    tool = "iozone"
    evidence = Evidence.FITS
    words = "reclen report throughput Revision $Revision Iozone iozone Record DIRECT OPS Microseconds File Can Error"
    shape = r'^\s*"\s*[A-Z][A-Za-z -]*"\s+$'

    _report_heads: list[int] = once(list)
    _run: Conditions = once(dict)
    _scale: tuple[str, float, str] = once(lambda: _KIBS)
    _last: tuple[str, int] | None = once()  # operation and processes of the last "Children see"
    _seen: set[tuple[str, int, int]] = once(set)  # table cells, lest -R gives them again
    _children: set[str] = once(set)
    _strange = once(int)

    _edges: list[int] = anew(list)
    _report: str | None = anew()

    @reads(r"^\s*(?:k|K)B\s+reclen\s+\S", opens="table")
    def _head(self, found: Match) -> None:
        self._edges, self._strange = [end for _, _, end in tokens(found.string)], 0

    @reads(r'^\s*"?([A-Za-z][\w -]*?) report"?\s*$')
    def _title(self, found: Match) -> None:
        self._report = meanings("iozone").get(found[1].lower().strip())
        self.open, self.block = self._report is not None, "report" if self._report else ""

    @reads(r'^\s*(?:"\d+"\s*)+$', inside="report")
    def _report_head(self, found: Match) -> None:
        self._report_heads = [int(head) for head in re.findall(r"\d+", found[0])]

    _start = notes(
        r"Iozone: Performance Test", _run=dict, _scale=_KIBS, _last=None, _seen=set, _children=set, version=None
    )
    _revision = notes(r"\$Revision: <version:dots>", to=str)

    @reads(r"Command line used: (.*)")
    def _used(self, found: Match) -> None:
        self._run |= _asked(found[1].split())

    @reads(r"(?i)Record Size <record_B:int> k")
    @reads(r"(?i)(?:File size set to|Each process writes a) <file_B:int> k")
    def _sizes(self, found: Match) -> None:
        self._run |= {key: int(value) * KIB for key, value in found.groupdict().items()}

    _ops = notes(r"OPS Mode", _scale=("iops", 1.0, "ops/s"))
    _times = notes(r"Microseconds/op Mode", _scale=("latency", 1e-6, "us/op"))

    @reads(r"^\s*(?:Can.?t (?:open|write|create)\b|Error (?:writing|reading|opening)\b|fsync: |write: |open: ).*")
    def _failed(self, problem: Match) -> Found:
        mine = bool(self._run) or "iozone" in problem[0] or self.ctx.args("iozone") is not None
        return self.failure(problem[0], **self._run) if mine else None  # any program could print it

    def other(self, text: str) -> Found:
        if "O_DIRECT feature enabled" in text:
            self._run["direct"] = True
        self._strange += self.open and bool(text.strip())
        if text.strip() and (self._strange > 3 or not text[:1].isspace()):  # one strange line does not end a table
            self.open, self.block = False, ""
        half = self.open and re.match(r"\s+\d+\s+\d+\s+\S", text) is not None
        return self.unread(text, "a row of the table has no figures") if half else None

    @reads(r"^\s*(?:\d+\s+)+\d+\s*$", inside="table")
    def _table_row(self, found: Match) -> Iterator[Record]:
        cells, text = tokens(found[0]), found[0]
        columns = self._place(cells) or []
        there = columns[:2] == [0, 1] and len(cells) >= 3
        self.need(there, text, f"{len(cells) - 2} figures cannot be separated under the table's heads")
        file_k, record_k = int(cells[0][0]), int(cells[1][0])
        self.need(0 < record_k <= file_k, text, "the record length is larger than the file")
        for (value, _, _), column in zip(cells[2:], columns[2:], strict=True):
            operation = COLUMNS[column - 2] if column - 2 < len(COLUMNS) else None
            if operation is not None and int(value) > 0:
                if len(self._seen) < 20_000:
                    self._seen.add((operation, file_k, record_k))
                yield self._cell(value, operation, file_k, record_k)

    def _place(self, cells: list[tuple[str, int, int]]) -> list[int] | None:
        """Column of each cell: all filled, else by right edge, else by the -i list."""
        if len(cells) == len(self._edges):
            return list(range(len(cells)))
        if len(cells) > len(self._edges):
            return None
        placed = by_right_edge(cells, self._edges)
        if placed is None and (tests := self._run.get("tests") or _asked(self.ctx.args("iozone")).get("tests")):
            filled = [c for test in str(tests).split(",") for c in _TESTS.get(int(test), ())]
            if len(filled) == len(cells) - 2:
                return [0, 1, *(column + 2 for column in sorted(filled))]
        return placed

    def _cell(self, value: str, operation: str, file_k: int, record_k: int) -> Record:
        quantity, factor, word = self._scale
        conditions = {**self._conditions(), "file_B": file_k * KIB, "record_B": record_k * KIB}
        return self.measure(quantity, float(value) * factor, f"{value} {word}", operation=operation, **conditions)

    @reads(r'^\s*+"(\d++)"\s++([\d.][\d\s.]*+)$', inside="report")
    def _report_row(self, row: Match) -> Iterator[Record]:
        file_k, values = int(row[1]), row[2].split()
        heads = [head for head in self._report_heads if head <= file_k]
        if len(values) != len(heads):
            heads = self._report_heads if len(values) == len(self._report_heads) else []
        cut = " (the line is cut)" if self.ctx.cut else ""
        self.need(heads, row[0], f"{len(values)} figures under {len(self._report_heads)} record sizes{cut}")
        for value, record_k in zip(values, heads, strict=True):
            if float(value) > 0 and (str(self._report), file_k, record_k) not in self._seen:
                yield self._cell(value, str(self._report), file_k, record_k)

    @reads(
        r"(?P<who>Children see|Parent sees|Min|Max|Avg) throughput "
        r"(?:for\s++<n:int> (?P<what>[a-z-]++(?: ++[a-z-]++)*+)|per [^\s=]++)\s*+="
        r"\s*+(?P<value>[\d.,]++) (?P<unit>[kK](?:B|bytes)|ops)/sec"
    )
    def _throughput(self, match: Match) -> Iterator[Record]:
        who, value = match["who"], decimal(match["value"])
        if match["what"] is not None:
            operation = meanings("iozone").get(match["what"].strip(), match["what"].strip().replace(" ", "_"))
            self._last = (operation, int(match["n"]))
        if self._last is None:
            return
        operation, processes = self._last
        known: Conditions = {"operation": operation, "threads": processes}
        if value == 0:
            if who == "Children see":
                yield self.failure(match[0], **known)
            return
        known |= {**self._conditions(), **known, **_VIEWS.get(who, {})}
        if who == "Children see":
            self._children.add(operation)
        quantity, factor = ("iops", 1.0) if match["unit"] == "ops" else _KIBS[:2]
        yield self.measure(quantity, value * factor, f"{match['value']} {match['unit']}/sec", known)

    @reads(r'^\s*+"\s*+([A-Za-z][A-Za-z-]*+(?: ++[A-Za-z-]++)*)\s*+"\s++([\d.]++)\s*+$')
    def _excel_summary(self, match: Match) -> Found:
        operation = meanings("iozone").get(match[1].lower())
        if operation is None or operation in self._children or float(match[2]) == 0:
            return None
        quantity, factor, _ = self._scale
        return self.measure(quantity, float(match[2]) * factor, match[2], self._conditions(), operation=operation)

    def _conditions(self) -> Conditions:
        found = {**_asked(self.ctx.args("iozone")), **self._run}
        found.pop("tests", None)
        return found


def _asked(args: list[str] | None) -> Conditions:
    """What an iozone command line says; its tests (``-i 0 -i 1``) as ``0,1``."""
    tests = ",".join(re.findall(r"(?<!\S)-i ?(\d+)", " ".join(args or ())))
    return {**given("iozone", args).known, **({"tests": tests} if tests else {})}
