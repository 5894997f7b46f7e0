"""rclone: ``-v``/``--stats`` blocks, ``-P`` redraws, one-line statistics, JSON logs; 1.2x to 1.6x.

Units: powers of 1024 in every version (rclone ``fs/sizesuffix.go``), whatever the word: ``60.145M / 180
MBytes`` and ``MBytes/s`` (to 1.54), ``MiByte/s`` (1.55, 1.56), ``MiB/s`` (since 1.57). ``--stats-unit bits``
writes ``MBits/s`` or ``Mibit/s``: 1024-based bits. JSON ``stats`` has plain bytes and B/s.

The printed speed is rclone's own smoothed average over the seconds that had data (``accounting/stats.go``,
averageLoop), not bytes / elapsed time; it stays at its last value in the closing block, and is ``0 B/s`` in the
first second. The last block of a run is the headline: ``complete`` at 100 %, ``partial`` before. A
headline without a speed gives bytes / elapsed time if at least a second passed (``derived``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dtnsim.logs._commands import Given
from dtnsim.logs._declared import LinesParser, Match, reads
from dtnsim.logs._numbers import BINARY, decimal, number, parts_s, whole
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, Parser, Record, Status, anew

_SIZE: Final = r"(?P<{0}>\d+(?:\.\d+)?)\s*(?P<{0}u>[kKMGTPE]?)i?(?:Bytes?|Byte|B|b)?"
_FAILED: Final = re.compile(r"(?:ERROR : .*Attempt \d+/\d+ failed.*|(?:CRITICAL|Fatal error): .*|Failed to \w+.*)")
_VERSION: Final = re.compile(r"\brclone:? v(\d[\w.-]*)")


@dataclass(slots=True)
class _Block:
    """One block of statistics: bytes moved and in all, rate [B/s] and as printed."""

    size: float
    total: float | None
    share: int | None
    rate: float
    printed: str
    line: int
    text: str
    known: Conditions
    elapsed: float | None = None
    errors: int = 0

    def interval(self, parser: Parser) -> Iterator[Record]:
        """The figure of a block that another follows."""
        if self.rate > 0:
            known = {**self.known, "interval": True, "bytes": self.size, "end_s": self.elapsed}
            yield parser.measure("throughput", self.rate, "B/s", self.printed, line=self.line, **known)

    def headline(self, parser: Parser) -> Iterator[Record]:
        """The figures of the last block."""
        known: Conditions = {**self.known, "bytes": self.size, "duration_s": self.elapsed}
        known |= {"file_B": self.total or None, "errors": self.errors or None}
        whole = self.share == 100 or (self.total is None and self.elapsed)
        status: Status = "complete" if whole and not self.errors else "partial"
        rate, printed = self.rate, self.printed
        if self.size <= 0:
            yield parser.unread(self.text, "no bytes were transferred: no rate", line=self.line)
            return
        if rate <= 0:
            if self.elapsed is None or self.elapsed < 1:
                yield parser.unread(self.text, "no speed is printed, and less than a second passed", line=self.line)
                return
            rate, printed = self.size / self.elapsed, ""
            known["derived"] = "bytes / elapsed time"
        yield parser.measure("throughput", rate, "B/s", printed, status=status, line=self.line, **known)
        if self.elapsed:
            text = f"{self.elapsed:g}s"
            yield parser.measure("duration", self.elapsed, "s", text, status=status, line=self.line, **known)


class RcloneText(LinesParser):
    """Statistics blocks, one-line statistics and messages of rclone."""

    tool = "rclone"
    evidence = Evidence.TRANSFER
    words = ("Transferred", "Elapsed", "Errors", "INFO", "ERROR", "Failed", "rclone", "CRITICAL", "ETA", "Fatal")

    _block: _Block | None = anew()
    _failed: tuple[str, int] | None = anew()

    def feed(self, text: str) -> Iterator[Record]:
        if self.ctx.memo.get("rclone last") is not None and "rclone" in text and "$" in text:
            yield from self._json_end()
        yield from super().feed(text)

    def close(self) -> Iterator[Record]:
        yield from self.settle()
        yield from self._json_end()

    @reads(
        rf"(?:Transferred:|INFO +:|^)\s+{_SIZE.format('size')} / {_SIZE.format('total')}, (?P<share>\d+%|-), "
        r"<rate:num>\s*<rateu:k>i?(?P<kind>Bytes?|B|[Bb]its?)/s(?:, ETA (?P<eta>\S+))?"
    )
    @reads(rf"Transferred:\s+{_SIZE.format('size')} \(<rate:num>\s*<rateu:k>(?P<kind>Bytes?|[Bb]its?)/s\)")
    def _stats(self, found: Match) -> Iterator[Record]:
        size, block, groups = decimal(found["size"]) * BINARY[found["sizeu"]], self._block, found.groupdict()
        if block is not None:
            yield from self.settle() if size < block.size else block.interval(self)
        total = decimal(groups["total"]) * BINARY[groups["totalu"]] if groups.get("total") else None
        share = int(groups["share"][:-1]) if groups.get("share") not in (None, "-") else None
        rate = decimal(found["rate"]) * BINARY[found["rateu"]] / (8 if found["kind"][1:] in ("it", "its") else 1)
        printed = found[0][found.start("rate") - found.start() :].split(",")[0].rstrip(")")
        known = {**_conditions(self.asked()), **self.where}
        self._block = _Block(size, total, share, rate, printed, self.ctx.line, found.string, known)

    @reads(r"Elapsed time:\s+(?P<elapsed>\S+)")
    @reads(r"^\s*Errors:\s+<errors:int>")
    @reads(r"^\s*Transferred:\s+<files:int>(?: / \d+, \d+%)?\s*$")
    def _more(self, found: Match) -> None:
        block, ((key, text),) = self._block, found.groupdict().items()
        if block is None:
            self.other(found.string)
        elif key == "elapsed":
            block.elapsed = parts_s(text)
        elif key == "errors":
            block.errors = int(text)
        else:
            block.known["files"] = int(text)

    def other(self, text: str) -> None:
        if (version := _VERSION.search(text)) is not None:
            self.version = version[1]
        mine = self._block is not None or self.ctx.args("rclone") is not None or "Attempt" in text
        if (problem := _FAILED.search(text)) is not None and mine:
            self._failed = problem[0], self.ctx.line

    def settle(self) -> Iterator[Record]:
        (block, self._block), (problem, self._failed) = (self._block, None), (self._failed, None)
        if problem is not None:
            known = block.known if block is not None else _conditions(self.asked())
            yield self.failure(problem[0], line=problem[1], **known)
        if block is not None and (problem is None or (block.size > 0 and block.share == 100)):
            yield from block.headline(self)

    def _json_end(self) -> Iterator[Record]:
        """The last statistics object of a JSON log is its headline."""
        last: _Block | None = self.ctx.memo.pop("rclone last", None)
        yield from () if last is None else last.headline(self)


class RcloneJson(DocumentParser, of=RcloneText):
    """Lines of ``--use-json-log`` that carry a statistics object."""

    keys = frozenset({"msg", "level", "source"})

    def read(self, doc: Document) -> Iterator[Record]:
        """The statistics; the last ones are kept for the end of the log."""
        stats = doc.data.get("stats")
        if not isinstance(stats, dict):
            if doc.data["level"] in ("critical", "fatal") or str(doc.data["msg"]).startswith("Failed to"):
                yield self.failure(str(doc.data["msg"]), line=doc.line, **_conditions(self.asked()))
            return
        size, rate = number(stats.get("bytes")), number(stats.get("speed"))
        total, elapsed = number(stats.get("totalBytes")), number(stats.get("elapsedTime"))
        if size is None or rate is None or (doc.cut and total is None):
            return  # what is cut may not be the whole
        last: _Block | None = self.ctx.memo.get("rclone last")
        if last is not None:
            yield from last.headline(self) if size < last.size else last.interval(self)
        share = int(100 * size / total) if total else None
        known = {**_conditions(self.asked()), **self.where, "files": whole(stats.get("transfers"))}
        errors, text = int(number(stats.get("errors")) or 0), str(doc.data["msg"])[:80]
        self.ctx.memo["rclone last"] = _Block(
            size, total, share, rate, f"{rate:.10g} B/s", doc.line, text, known, elapsed, errors
        )


def _conditions(asked: Given) -> Conditions:
    found, _, rest = asked
    if len(rest) > 2:
        found["operation"], found["source"], found["target"] = rest[0], rest[-2], rest[-1]
    elif len(rest) == 2 and rest[0] not in ("copy", "sync", "move"):
        found["source"], found["target"] = rest
    return found
