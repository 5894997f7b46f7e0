"""IOR 2.10, 3.x and 4.x.

Units: ``bw(MiB/s)`` and ``Max Write: x MiB/sec (y MB/sec)`` say what they mean (checked: y = x * 1.048576). ``Max
Write``/``Max Read`` are the headline; newer versions print them only with -v, then the ``Summary of all tests`` row, or
at last the row of the single repetition, gives it. ``block`` and ``xfer`` columns are KiB. Stonewall warnings are
normal: IOR then divides the bytes really moved by the time. Source: ior-output.c.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._commands import meanings
from dtnsim.logs._declared import Found, LinesParser, Match, reads
from dtnsim.logs._numbers import BINARY, as_dict, as_list, number, size_bytes
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, Record, Status, anew

MIB: Final = BINARY["M"]
_OPTION: Final = re.compile(r"^\s*([a-zA-Z]\w*+(?: ++\w++)*)\s*+[=:]\s*+(\S*+(?:\s++\S++)*)\s*+$")
_ROW: Final = re.compile(r"^\s*(?:\S+\s+)?(write|read)\s+([\d.]+)(?:\s+[\d.]+)+\s*$")
_SIZE: Final = re.compile(r"(?<![\d.])([\d.]++) ?(bytes|[KMGTP]iB)")
_ERROR: Final = re.compile(r"(?:ior|IOR) ERROR: .*|ERROR: .*\(\S+\.c:\d+\)")


class Ior(LinesParser):
    """One run from its version line to its summary."""

    tool = "ior"
    evidence = Evidence.SERVERS
    words = ("IOR", "bw", "Max", "Stonewall", "OPs", "ERROR", "Began")
    commands = ("ior", "IOR")
    longest = 5000

    _rows: list[tuple[str, str, int, bool]] = anew(list)  # operation, figure, line, whether it is cut
    _heads: list[str] = anew(list)
    _done: set[str] = anew(set)
    _table = anew(bool)

    @reads(r"\bIOR-(\d[\w.+-]*): MPI", opens=True)
    def _version(self, found: Match) -> Iterator[Record]:
        yield from self.settle()
        self.version, self.open = found[1], True

    @reads(r"^\s*Max (?P<what>Write|Read):\s+<mib:dots> MiB/sec \(<mb:dots> MB/sec\)")
    def _max(self, found: Match) -> Iterator[Record]:
        operation, value = found["what"].lower(), float(found["mib"]) * MIB
        if value == 0 or operation in self._done:
            return  # zero: not run
        self._done.add(operation)
        if abs(value - float(found["mb"]) * 1e6) > 0.006 * 1e6 + 1e-3 * value:
            yield self.unread(found[0], "MiB/sec and MB/sec disagree; the former is used")
        yield self.measure("throughput", value, "B/s", f"{found['mib']} MiB/sec", operation=operation, **self.known)

    @reads(r"^(?=.*access).*bw\(MiB/s\)", opens=True)
    def _head(self, found: Match) -> Iterator[Record]:  # noqa: ARG002 (what reads hands over)
        yield from self.settle() if self._done else ()
        self.open = self._table = True

    def other(self, text: str) -> Found:
        if "ERROR" in text and (self.open or text.startswith(("ior ERROR", "IOR ERROR"))) and _ERROR.search(text):
            return self.failure(text, **self.known)
        if not self.open:
            return self.settle() if self.longest < self.lines and self._rows else None
        if self._table and not self._heads and (row := _ROW.match(text)) is not None:
            if len(self._rows) < 10_000:
                self._rows.append((row[1], row[2], self.ctx.line, self.ctx.cut))
        elif text.startswith("Operation") and "Max(MiB)" in text:
            self._heads = text.split()
        elif self._heads and text.strip():
            return self._summary(text.split())
        else:
            if not self._table and (option := _OPTION.match(text)) is not None:
                self._option(option[1].strip().lower(), option[2])
            return self.settle() if text.startswith("Finished") or "Finished:" in text else None
        return None

    def _option(self, key: str, value: str) -> None:
        name = meanings("ior").get(key)
        if name is None or not value:
            return
        if name.endswith("_B"):
            self.known |= _sized(name, value)
        elif (count := re.match(r"(\d+)(?: \((\d+) per node\))?", value)) is not None:
            self.known |= {name: int(count[1]), **({"tasks_per_node": int(count[2])} if count[2] else {})}
        else:
            self.known[name] = value.partition(" (")[0]

    def _summary(self, words: list[str]) -> Iterator[Record]:
        """The row under the summary's heads; blank cells cannot occur before the ones read."""
        named, operation = dict(zip(self._heads, words, strict=False)), words[0]
        if operation not in ("write", "read") or len(words) < 6:
            return
        heads = ("Max(MiB)", "Min(MiB)", "Mean(MiB)", "Max(OPs)")
        most, least, mean, ops = (float(named.get(head, 0)) for head in heads)
        known = {**self.known, "operation": operation}
        if most > 0 and operation not in self._done:
            self._done.add(operation)
            yield self.measure("throughput", most * MIB, "B/s", f"{named['Max(MiB)']} MiB/s", **known)
        for value, key, statistic in ((least, "Min(MiB)", "min"), (mean, "Mean(MiB)", "mean")):
            if value > 0 and least != most:
                yield self.measure("throughput", value * MIB, "B/s", named[key], statistic=statistic, **known)
        if ops > 0:
            yield self.measure("iops", ops, "1/s", f"{named['Max(OPs)']} OPs", **known)
        stonewall = named.get("Stonewall(MiB)", "NA")
        if re.fullmatch(r"\d+\.\d+", stonewall) and float(stonewall) > 0:
            printed = f"{stonewall} MiB"
            yield self.measure("throughput", float(stonewall) * MIB, "B/s", printed, view="stonewall", **known)

    def settle(self, *, closing: bool = False) -> Iterator[Record]:
        """Rows whose operation got no summary: the single repetition's row, or an unfinished run's rows."""
        rows = [row for row in self._rows if row[0] not in self._done]
        unfinished = closing and self.version is not None and not self._done  # a whole run prints its summary
        counts = Counter(row[0] for row in rows)
        for operation, figure, line, cut in rows:
            single = self.known.get("repetitions", 1) == 1 and counts[operation] == 1
            whole = (single or bool(self._done)) and not unfinished
            status: Status = "truncated" if cut else "complete" if whole else "partial"
            known = {**self.known, "operation": operation}
            if float(figure) > 0:
                rate, printed = float(figure) * MIB, f"{figure} MiB/s"
                yield self.measure("throughput", rate, "B/s", printed, line=line, status=status, **known)
        self.forget()
        self.version = None

    def close(self) -> Iterable[Record]:
        return self.settle(closing=True)


class IorJson(DocumentParser, of=Ior):
    """``-O summaryFormat=JSON``."""

    def match(self, doc: Document) -> bool:
        tests = as_list(as_dict(doc.data).get("tests"))
        return any("Results" in as_dict(test) for test in tests)

    def read(self, doc: Document) -> Iterator[Record]:
        self.version = str(doc.data.get("Version", "")).removeprefix("IOR-") or None
        for test in map(as_dict, doc.data["tests"]):
            conditions = _json_conditions(as_dict(test.get("Options") or test.get("Parameters")))
            best: dict[str, dict[str, object]] = {}
            for row in map(as_dict, test.get("Results") or []):
                rate, access = number(row.get("bwMiB")), str(row.get("access"))
                if rate and (number(best.get(access, {}).get("bwMiB")) or 0) < rate:
                    best[access] = row
            for operation, row in best.items():
                printed, rate, line = f"{row['bwMiB']} MiB/s", number(row["bwMiB"]), doc.line_of(str(row["bwMiB"]))
                conditions["operation"] = operation
                yield self.measure("throughput", (rate or 0) * MIB, "B/s", printed, line=line, **conditions)
                if ops := number(row.get("iops")):
                    yield self.measure("iops", ops, "1/s", f"{row['iops']} iops", line=line, **conditions)


def _json_conditions(options: dict[str, object]) -> Conditions:
    found: Conditions = {}
    for key, value in options.items():
        name = meanings("ior").get(key.lower())
        if name is not None and name.endswith("_B"):
            found |= _sized(name, str(value))
        elif name is not None:
            found[name] = value if isinstance(value, str | int) else None
    return found


def _sized(name: str, value: str) -> Conditions:
    """``1 MiB`` or ``4096 bytes`` under a name."""
    size = _SIZE.match(value)
    return {} if size is None else {name: size_bytes(size[1] + ("" if size[2] == "bytes" else size[2]))}
