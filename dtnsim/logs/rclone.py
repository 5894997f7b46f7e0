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
from dataclasses import dataclass, field
from typing import Final

from dtnsim.logs._net import Options, host_of, parts_s
from dtnsim.logs.base import BINARY, Conditions, Document, DocumentParser, Evidence, LineParser, Record, decimal, number
from dtnsim.logs.measurement import Status

_SIZE: Final = r"(?P<{0}>\d+(?:\.\d+)?)\s*(?P<{0}u>[kKMGTPE]?)i?(?:Bytes?|Byte|B|b)?"
_STATS: Final = re.compile(
    rf"(?:Transferred:|INFO +:|^)\s+{_SIZE.format('size')} / {_SIZE.format('total')}, (?P<share>\d+%|-), "
    r"(?P<rate>\d+(?:\.\d+)?)\s*(?P<rateu>[kKMGTPE]?)i?(?P<kind>Bytes?|B|[Bb]its?)/s(?:, ETA (?P<eta>\S+))?"
)
_OLD: Final = re.compile(
    rf"Transferred:\s+{_SIZE.format('size')} "
    r"\((?P<rate>\d+(?:\.\d+)?)\s*(?P<rateu>[kKMGTPE]?)(?P<kind>Bytes?|[Bb]its?)/s\)"
)
_ELAPSED: Final = re.compile(r"Elapsed time:\s+(\S+)")
_ERRORS: Final = re.compile(r"^\s*Errors:\s+(\d+)")
_FILES: Final = re.compile(r"^\s*Transferred:\s+(?P<done>\d+)(?: / (?P<all>\d+), \d+%)?\s*$")
_FAILED: Final = re.compile(r"(?:ERROR : .*Attempt \d+/\d+ failed.*|(?:CRITICAL|Fatal error): .*|Failed to \w+.*)")
_VERSION: Final = re.compile(r"\brclone:? v(\d[\w.-]*)")
_OPTIONS: Final = Options("""
    transfers count : --transfers
    limit value     : --bwlimit
    - value         : --checkers --stats --buffer-size --multi-thread-streams --log-file --log-level --config
    - value         : --s3-chunk-size --drive-chunk-size --s3-upload-concurrency --include --exclude --stats-unit
    - value         : --retries --low-level-retries --filter --min-age
    - flag          : -v -P --progress --use-json-log --stats-one-line --checksum -c --size-only
""")


@dataclass(slots=True)
class _Block:
    """One block of statistics."""

    size: float
    total: float | None
    share: int | None
    rate: float
    printed: str
    line: int
    text: str
    known: Conditions = field(default_factory=dict)
    elapsed: float | None = None
    errors: int = 0


class RcloneText(LineParser):
    """Statistics blocks, one-line statistics and messages of rclone."""

    tool = "rclone"
    evidence = Evidence.TRANSFER
    words = ("Transferred", "Elapsed", "Errors", "INFO", "ERROR", "Failed", "rclone", "CRITICAL", "ETA", "Fatal")
    commands = ("rclone",)

    def forget(self) -> None:
        self._block: _Block | None = None
        self._failed: str | None = None
        self._failed_line = 0

    def feed(self, text: str) -> Iterator[Record]:
        if self.ctx.memo.get("rclone last") is not None and "rclone" in text and "$" in text:
            yield from self._json_end()
        found = (_STATS.search(text) or _OLD.search(text)) if "/s" in text else None
        if found is not None:
            yield from self._stats(found, text)
            return
        block = self._block
        elapsed = _ELAPSED.search(text)
        if elapsed is not None and block is not None:
            block.elapsed = parts_s(elapsed[1])
            return
        errors = _ERRORS.match(text)
        if errors is not None and block is not None:
            block.errors = int(errors[1])
            return
        files = _FILES.match(text)
        if files is not None and block is not None:
            block.known["files"] = int(files["done"])
            return
        version = _VERSION.search(text)
        if version is not None:
            self.version = version[1]
        problem = _FAILED.search(text)
        if problem is not None and (
            self._block is not None or self.ctx.args("rclone") is not None or "Attempt" in text
        ):
            self._failed, self._failed_line = problem[0], self.ctx.line

    def close(self) -> Iterator[Record]:
        yield from self.settle()
        yield from self._json_end()

    def _stats(self, found: re.Match[str], text: str) -> Iterator[Record]:
        size = decimal(found["size"]) * BINARY[found["sizeu"]]
        block = self._block
        if block is not None:
            if size < block.size:
                yield from self.settle()
            elif block.rate > 0:
                yield self._interval(block)
        groups = found.groupdict()
        total = decimal(groups["total"]) * BINARY[groups["totalu"]] if groups.get("total") else None
        share = int(groups["share"][:-1]) if groups.get("share") not in (None, "-") else None
        rate = decimal(found["rate"]) * BINARY[found["rateu"]] / (8 if found["kind"][1:] in ("it", "its") else 1)
        printed = found[0][found.start("rate") - found.start() :].split(",")[0].rstrip(")")
        known = {**_conditions(self.ctx.args("rclone")), **host_of(self.ctx)}
        self._block = _Block(size, total, share, rate, printed, self.ctx.line, text, known)

    def _interval(self, block: _Block) -> Record:
        known = {**block.known, "interval": True, "bytes": block.size, "end_s": block.elapsed}
        return self.measure("throughput", block.rate, "B/s", block.printed, line=block.line, **known)

    def settle(self) -> Iterator[Record]:
        block, self._block = self._block, None
        problem, self._failed = self._failed, None
        if problem is not None:
            known = block.known if block is not None else _conditions(self.ctx.args("rclone"))
            yield self.failure(problem, line=self._failed_line, **known)
            if block is None or block.size <= 0 or block.share != 100:
                return
        if block is not None:
            yield from _headline(self, block)

    def _json_end(self) -> Iterator[Record]:
        """The last statistics object of a JSON log is its headline."""
        last = self.ctx.memo.pop("rclone last", None)
        if last is not None:
            yield from _headline(self, last)


class RcloneJson(DocumentParser, of=RcloneText):
    """Lines of ``--use-json-log`` that carry a statistics object."""

    def match(self, doc: Document) -> bool:
        data = doc.data
        return isinstance(data, dict) and "msg" in data and "level" in data and "source" in data

    def read(self, doc: Document) -> Iterator[Record]:
        """The statistics; the last ones are kept for the end of the log."""
        stats = doc.data.get("stats")
        if not isinstance(stats, dict):
            if doc.data["level"] in ("critical", "fatal") or str(doc.data["msg"]).startswith("Failed to"):
                yield self.failure(str(doc.data["msg"]), line=doc.line, **_conditions(self.ctx.args("rclone")))
            return
        size, rate = number(stats.get("bytes")), number(stats.get("speed"))
        total, elapsed = number(stats.get("totalBytes")), number(stats.get("elapsedTime"))
        if size is None or rate is None or (doc.cut and total is None):
            return  # what is cut may not be the whole
        last: _Block | None = self.ctx.memo.get("rclone last")
        if last is not None and size < last.size:
            yield from _headline(self, last)
        elif last is not None and last.rate > 0:
            known = {**last.known, "interval": True, "bytes": last.size, "end_s": last.elapsed}
            yield self.measure("throughput", last.rate, "B/s", last.printed, line=last.line, **known)
        share = int(100 * size / total) if total else None
        known = {**_conditions(self.ctx.args("rclone")), **host_of(self.ctx)}
        files = number(stats.get("transfers"))
        known["files"] = None if files is None else int(files)
        printed = f"{rate:.10g} B/s"
        errors = int(number(stats.get("errors")) or 0)
        self.ctx.memo["rclone last"] = _Block(
            size, total, share, rate, printed, doc.line, str(doc.data["msg"])[:80], known, elapsed, errors
        )


def _headline(parser: LineParser | DocumentParser, block: _Block) -> Iterator[Record]:
    known: Conditions = {**block.known, "bytes": block.size, "duration_s": block.elapsed}
    if block.total:
        known["file_B"] = block.total
    status: Status = "complete" if block.share == 100 or (block.total is None and block.elapsed) else "partial"
    if block.errors:
        known["errors"] = block.errors
        status = "partial"
    if block.size <= 0:
        yield parser.unread(block.text, "no bytes were transferred: no rate", line=block.line)
        return
    rate, printed = block.rate, block.printed
    if rate <= 0:
        if block.elapsed is None or block.elapsed < 1:
            yield parser.unread(block.text, "no speed is printed, and less than a second passed", line=block.line)
            return
        rate, printed = block.size / block.elapsed, ""
        known["derived"] = "bytes / elapsed time"
    yield parser.measure("throughput", rate, "B/s", printed, status=status, line=block.line, **known)
    if block.elapsed:
        yield parser.measure(
            "duration", block.elapsed, "s", f"{block.elapsed:g}s", status=status, line=block.line, **known
        )


def _conditions(args: list[str] | None) -> Conditions:
    found, values, rest = _OPTIONS.read(args)
    if args is not None:
        found.setdefault("transfers", 4)  # rclone's default
    limit = re.fullmatch(r"(\d+(?:\.\d+)?)([BbkKMGT]?)i?[Bb]?", values.get("limit", ""))
    if limit is not None:
        unit = limit[2] if limit[2] not in ("B", "b") else ""
        found["target_Bps"] = float(limit[1]) * (BINARY[unit] if limit[2] else 1024.0)  # a bare number is in KiB/s
    if len(rest) > 2:
        found["operation"], found["source"], found["target"] = rest[0], rest[-2], rest[-1]
    elif len(rest) == 2 and rest[0] not in ("copy", "sync", "move"):
        found["source"], found["target"] = rest
    return found
