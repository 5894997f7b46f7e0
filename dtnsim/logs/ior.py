"""IOR 2.10, 3.x and 4.x.

Units: ``bw(MiB/s)`` and ``Max Write: x MiB/sec (y MB/sec)`` say what they mean (checked: y = x *
1.048576). ``Max Write``/``Max Read`` are the headline; newer versions print them only with -v, then the
``Summary of all tests`` row, or at last the row of the single repetition, gives it. ``block`` and ``xfer``
columns are KiB. Stonewall warnings are normal: IOR then divides the bytes really moved by the
time. Source: ior-output.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import (
    BINARY,
    Command,
    Conditions,
    Context,
    Document,
    DocumentParser,
    Evidence,
    LineParser,
    Record,
    number,
    size_bytes,
)
from dtnsim.logs.measurement import Status

MIB: Final = BINARY["M"]
_VERSION: Final = re.compile(r"\bIOR-(\d[\w.+-]*): MPI")
_MAX: Final = re.compile(r"^\s*Max (Write|Read):\s+([\d.]+) MiB/sec \(([\d.]+) MB/sec\)")
_OPTION: Final = re.compile(r"^\s*([a-zA-Z]\w*+(?: ++\w++)*)\s*+[=:]\s*+(\S*+(?:\s++\S++)*)\s*+$")
_ROW: Final = re.compile(r"^\s*(?:\S+\s+)?(write|read)\s+([\d.]+)(?:\s+[\d.]+)+\s*$")
_SIZE: Final = re.compile(r"(?<![\d.])([\d.]++) ?(bytes|[KMGTP]iB)")
_ERROR: Final = re.compile(r"(?:ior|IOR) ERROR: .*|ERROR: .*\(\S+\.c:\d+\)")
_OPTIONS: Final = {
    "api": "api", "access": "access", "clients": "tasks", "tasks": "tasks", "nodes": "nodes", "xfersize": "record_B",
    "blocksize": "block_B", "aggregate filesize": "dataset_B", "test filename": "target", "segments": "segments",
    "ordering in a file": "ordering", "clients per node": "tasks_per_node", "repetitions": "repetitions",
}  # fmt: skip


class Ior(LineParser):
    """One run from its version line to its summary."""

    tool = "ior"
    evidence = Evidence.SERVERS
    words = ("IOR", "bw", "Max", "Stonewall", "OPs", "ERROR", "Began")
    commands = ("ior", "IOR")

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._run: Conditions = {}
        self._rows: list[tuple[str, str, int, bool]] = []
        self._table = False
        self._heads: list[str] = []
        self._done: set[str] = set()
        self._quiet = 0

    def feed(self, text: str) -> Iterable[Record]:
        version = _VERSION.search(text)
        if version is not None:
            ended = list(self._end())
            self.version, self.open, self._quiet = version[1], True, 0
            return ended
        if (best := _MAX.match(text)) is not None:
            return self._max(best)
        if "bw(MiB/s)" in text and "access" in text:
            ended = list(self._end()) if self._done else []
            self.open, self._table, self._quiet = True, True, 0
            return ended
        if "ERROR" in text and (self.open or text.startswith(("ior ERROR", "IOR ERROR"))) and _ERROR.search(text):
            return (self.failure(text, **self._run),)
        return self._inside(text) if self.open else ()

    def _inside(self, text: str) -> Iterable[Record]:
        self._quiet += 1
        if self._quiet > 5000:
            return self._end()
        if self._table and (row := _ROW.match(text)) is not None and not self._heads:
            if len(self._rows) < 10_000:
                self._rows.append((row[1], row[2], self.ctx.line, self.ctx.cut))
            return ()
        if text.startswith("Operation") and "Max(MiB)" in text:
            self._heads = text.split()
            return ()
        if self._heads and text.strip():
            return self._summary(text.split())
        if not self._table and (option := _OPTION.match(text)) is not None:
            self._option(option[1].strip().lower(), option[2])
        if text.startswith("Finished") or "Finished:" in text:
            return self._end()
        return ()

    def _option(self, key: str, value: str) -> None:
        name = _OPTIONS.get(key)
        if name is None or not value:
            return
        if name.endswith("_B"):
            size = _SIZE.match(value)
            if size is not None:
                self._run[name] = size_bytes(size[1] + ("" if size[2] == "bytes" else size[2]))
        elif (count := re.match(r"(\d+)(?: \((\d+) per node\))?", value)) is not None:
            self._run[name] = int(count[1])
            if count[2]:
                self._run["tasks_per_node"] = int(count[2])
        else:
            self._run[name] = value.partition(" (")[0]

    def _max(self, match: re.Match[str]) -> Iterator[Record]:
        operation, value = match[1].lower(), float(match[2]) * MIB
        if value == 0 or operation in self._done:
            return  # zero: not run
        self._done.add(operation)
        if abs(value - float(match[3]) * 1e6) > 0.006 * 1e6 + 1e-3 * value:
            yield self.unread(match[0], "MiB/sec and MB/sec disagree; the former is used")
        yield self.measure("throughput", value, "B/s", f"{match[2]} MiB/sec", operation=operation, **self._run)

    def _summary(self, words: list[str]) -> Iterator[Record]:
        """The row under the summary's heads; blank cells cannot occur before the ones read."""
        named = dict(zip(self._heads, words, strict=False))
        operation = words[0]
        if operation not in ("write", "read") or len(words) < 6:
            return
        try:
            heads = ["Max(MiB)", "Min(MiB)", "Mean(MiB)"]
            figures = {head: float(named[head]) for head in heads if head in named}
            ops = float(named["Max(OPs)"]) if "Max(OPs)" in named else 0.0
        except ValueError:
            return
        conditions = {**self._run, "operation": operation}
        if figures.get("Max(MiB)", 0) > 0 and operation not in self._done:
            self._done.add(operation)
            printed = f"{named['Max(MiB)']} MiB/s"
            yield self.measure("throughput", figures["Max(MiB)"] * MIB, "B/s", printed, **conditions)
        if figures.get("Min(MiB)") != figures.get("Max(MiB)"):
            for key, statistic in (("Min(MiB)", "min"), ("Mean(MiB)", "mean")):
                if figures.get(key, 0) > 0:
                    value = figures[key] * MIB
                    yield self.measure("throughput", value, "B/s", named[key], statistic=statistic, **conditions)
        if ops > 0:
            yield self.measure("iops", ops, "1/s", f"{named['Max(OPs)']} OPs", **conditions)
        stonewall = named.get("Stonewall(MiB)", "NA")
        if re.fullmatch(r"\d+\.\d+", stonewall) and float(stonewall) > 0:
            value = float(stonewall) * MIB
            yield self.measure("throughput", value, "B/s", f"{stonewall} MiB", view="stonewall", **conditions)

    def _end(self, *, closing: bool = False) -> Iterator[Record]:
        """Rows whose operation got no summary: the single repetition's row, or an unfinished run's rows."""
        rows = [row for row in self._rows if row[0] not in self._done]
        finished = bool(self._done)
        unfinished = closing and self.version is not None and not finished  # a whole run prints its summary
        counts = {row[0]: sum(1 for other in rows if other[0] == row[0]) for row in rows}
        for operation, figure, line, cut in rows:
            if float(figure) <= 0:
                continue
            single = self._run.get("repetitions", 1) == 1 and counts[operation] == 1
            status: Status = (
                "truncated" if cut else "complete" if (single or finished) and not unfinished else "partial"
            )
            printed = f"{figure} MiB/s"
            yield self.measure(
                "throughput",
                float(figure) * MIB,
                "B/s",
                printed,
                operation=operation,
                line=line,
                status=status,
                **self._run,
            )
        self._run, self._rows, self._heads, self._done = {}, [], [], set()
        self.open, self._table, self.version = False, False, None

    def on_command(self, command: Command) -> Iterable[Record]:  # noqa: ARG002 (the base's signature)
        return self._end()

    def close(self) -> Iterable[Record]:
        return self._end(closing=True)


class IorJson(DocumentParser, of=Ior):
    """``-O summaryFormat=JSON``."""

    def match(self, doc: Document) -> bool:
        tests = doc.data.get("tests") if isinstance(doc.data, dict) else None
        return isinstance(tests, list) and any(isinstance(t, dict) and "Results" in t for t in tests)

    def read(self, doc: Document) -> Iterator[Record]:
        self.version = str(doc.data.get("Version", "")).removeprefix("IOR-") or None
        for test in doc.data["tests"]:
            if not isinstance(test, dict):
                continue
            options = test.get("Options") or test.get("Parameters") or {}
            conditions = _json_conditions(options if isinstance(options, dict) else {})
            best: dict[str, dict[str, object]] = {}
            for row in test.get("Results") or []:
                rate = number(row.get("bwMiB")) if isinstance(row, dict) else None
                if rate and (number(best.get(str(row.get("access")), {}).get("bwMiB")) or 0) < rate:
                    best[str(row.get("access"))] = row
            for operation, row in best.items():
                printed, rate = f"{row['bwMiB']} MiB/s", number(row["bwMiB"])
                line = doc.line_of(str(row["bwMiB"]))
                conditions["operation"] = operation
                yield self.measure("throughput", (rate or 0) * MIB, "B/s", printed, line=line, **conditions)
                ops = number(row.get("iops"))
                if ops:
                    yield self.measure("iops", ops, "1/s", f"{row['iops']} iops", line=line, **conditions)


def _json_conditions(options: dict[str, object]) -> Conditions:
    found: Conditions = {}
    for key, value in options.items():
        name = _OPTIONS.get(key.lower())
        if name is None:
            continue
        if not name.endswith("_B"):
            found[name] = value if isinstance(value, str | int) else None
        elif (size := _SIZE.match(str(value))) is not None:
            found[name] = size_bytes(size[1] + ("" if size[2] == "bytes" else size[2]))
    return found
