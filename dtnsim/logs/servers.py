"""Tests of file systems and storage servers: iozone, rados bench and elbencho."""

import csv
import re
from collections.abc import Iterator
from typing import Final

from dtnsim.logs._columns import by_right_edge, tokens
from dtnsim.logs._commands import meanings, parse_arguments
from dtnsim.logs._declared import Found, LinesParser, Match, listed, notes, reads
from dtnsim.logs._numbers import BINARY, TIMES, decimal, number, parts_s, size_bytes, statistic
from dtnsim.logs.base import Conditions, Evidence, Record, anew, once

_KIB: Final = BINARY["K"]
#: numbers of the -i option, and the operations that each fills, in the order of the table
_TESTS: Final = {
    0: "write rewrite", 1: "read reread", 2: "random_read random_write", 3: "backward_read", 4: "record_rewrite",
    5: "stride_read", 6: "fwrite frewrite", 7: "fread freread", 9: "pwrite repwrite", 10: "pread repread",
    11: "pwritev repwritev", 12: "preadv repreadv",
}  # fmt: skip
_COLUMNS: Final = " ".join(_TESTS.values()).split()

_KIBS: Final = ("throughput", _KIB, "kB/s")
_VIEWS: Final[dict[str, Conditions]] = {
    "Parent sees": {"view": "parent"}, "Min": {"view": "per_process", "statistic": "min"},
    "Max": {"view": "per_process", "statistic": "max"}, "Avg": {"view": "per_process", "statistic": "mean"},
}  # fmt: skip


class Iozone(LinesParser, evidence=Evidence.FITS):
    """iozone 3.x: the automatic table (any set of tests), -R report matrices, -t throughput mode.

    Units: ``kBytes/sec``, ``KB`` and ``kB`` are KiB (checked: ``-s 256g`` is printed as 268435456 kB); with
    -O the same columns are operations per second and with -N microseconds per operation, as the
    banner says. Blank columns are recognised by position: figures are right-aligned under their heads; where a
    mailer squeezed the blanks, by the -i list of the command line. In throughput mode ``Children see`` is the
    sum of the processes' own rates and the headline; ``Parent sees`` divides by the whole time.

    A small file measures the page cache: ``direct``, ``sync`` and ``close`` say what the run asked for.
    Source: iozone.c (headings, ``unit``), the manual's options.
    """

    words = "reclen report throughput Revision $Revision Iozone iozone Record DIRECT OPS Microseconds File Can Error"
    shape = r'^\s*"\s*[A-Z][A-Za-z -]*"\s+$'

    _report_heads: list[int] = once(list)
    _run: Conditions = once(dict)
    _typed = once(str)  # the command line, as iozone repeats it
    _scale: tuple[str, float, str] = once(lambda: _KIBS)
    _last: tuple[str, int] | None = once()  # operation and processes of the last "Children see"
    _seen: set[tuple[str, int, int]] = once(set)  # table cells, lest -R gives them again
    _children: set[str] = once(set)
    _strange = once(int)

    _edges: list[int] = anew(list)
    _report: str | None = anew()

    @reads(r"^\s*(?:k|K)B\s+reclen\s+\S", opens="table")
    def _head(self, match: Match) -> None:
        self._edges, self._strange = [end for _, _, end in tokens(match.string)], 0

    @reads(r'^\s*"?([A-Za-z][\w -]*?) report"?\s*$')
    def _title(self, match: Match) -> None:
        self._report = meanings("iozone").get(match[1].lower().strip())
        self.open, self.block = self._report is not None, "report" if self._report else ""

    @reads(r'^\s*(?:"\d+"\s*)+$', inside="report")
    def _report_head(self, match: Match) -> None:
        self._report_heads = [int(head) for head in re.findall(r"\d+", match[0])]

    _start = notes(
        r"Iozone: Performance", _run=dict, _typed="", _scale=_KIBS, _last=None, _seen=set, _children=set, version=None
    )
    _revision = notes(r"\$Revision: <version:dots>", to=str)

    @reads(r"Command line used: (.*)")
    def _used(self, match: Match) -> None:
        self._typed = match[1]
        self._run |= parse_arguments(self.tool, match[1].split()).known

    @reads(r"(?i)Record Size <record_B:int> k")
    @reads(r"(?i)(?:File size set to|Each process writes a) <file_B:int> k")
    def _sizes(self, match: Match) -> None:
        self._run |= {key: int(value) * _KIB for key, value in match.groupdict().items()}

    _ops = notes(r"OPS Mode", _scale=("iops", 1.0, "ops/s"))
    _times = notes(r"Microseconds/op Mode", _scale=("latency", 1e-6, "us/op"))

    @reads(r"^\s*(?:Can.?t (?:open|write|create)\b|Error (?:writing|reading|opening)\b|fsync: |write: |open: ).*")
    def _failed(self, problem: Match) -> Found:
        mine = bool(self._run or self._typed) or "iozone" in problem[0] or self.ctx.args("iozone") is not None
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
    def _table_row(self, match: Match) -> Iterator[Record]:
        cells, text = tokens(match[0]), match[0]
        columns = self._place(cells) or []
        aligned = columns[:2] == [0, 1] and len(cells) >= 3
        self.need(aligned, text, f"{len(cells) - 2} figures cannot be separated under the table's heads")
        file_k, record_k = int(cells[0][0]), int(cells[1][0])
        self.need(0 < record_k <= file_k, text, "the record length is larger than the file")
        for (value, _, _), column in zip(cells[2:], columns[2:], strict=True):
            operation = _COLUMNS[column - 2] if column - 2 < len(_COLUMNS) else None
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
        typed = self._typed or " ".join(self.ctx.args("iozone") or ())
        if placed is None and (tests := re.findall(r"(?<!\S)-i ?(\d+)", typed)):
            filled = [name for test in tests for name in _TESTS.get(int(test), "").split()]
            if len(filled) == len(cells) - 2:
                return [0, 1, *sorted(_COLUMNS.index(name) + 2 for name in filled)]
        return placed

    def _cell(self, value: str, operation: str, file_k: int, record_k: int) -> Record:
        quantity, factor, word = self._scale
        conditions = {**self._conditions(), "file_B": file_k * _KIB, "record_B": record_k * _KIB}
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
        conditions: Conditions = {"operation": operation, "threads": processes}
        if value == 0:
            if who == "Children see":
                yield self.failure(match[0], **conditions)
            return
        conditions |= {**self._conditions(), **conditions, **_VIEWS.get(who, {})}
        if who == "Children see":
            self._children.add(operation)
        quantity, factor = ("iops", 1.0) if match["unit"] == "ops" else _KIBS[:2]
        yield self.measure(quantity, value * factor, f"{match['value']} {match['unit']}/sec", conditions)

    @reads(r'^\s*+"\s*+([A-Za-z][A-Za-z-]*+(?: ++[A-Za-z-]++)*)\s*+"\s++([\d.]++)\s*+$')
    def _excel_summary(self, match: Match) -> Found:
        operation = meanings("iozone").get(match[1].lower())
        if operation is None or operation in self._children or float(match[2]) == 0:
            return None
        quantity, factor, _ = self._scale
        return self.measure(quantity, float(match[2]) * factor, match[2], self._conditions(), operation=operation)

    def _conditions(self) -> Conditions:
        return {**self.command_line().known, **self._run}


_MIB: Final = 2.0**20
_FIGURES: Final = {
    "bandwidth": ("throughput", _MIB, " MB/sec"), "iops": ("iops", 1.0, ""), "latency": ("latency", 1.0, " s"),
}  # fmt: skip


class RadosBench(LinesParser, evidence=Evidence.SERVERS):
    """``rados bench`` of Ceph, write, seq and rand, any release since Firefly.

    Units: ``Bandwidth (MB/sec)`` = 2^20 B/s (checked: 491 writes of 8388608 B in 10.284 s are 381.95 MiB/s, printed
    381.954; 4200 of 4194304 B in 301.488871 s are 55.723); latencies in s, with ``(s)`` or without. The headline is the
    mean of the whole run; maximum, minimum and standard deviation are of its seconds. Rows of the seconds are not read.
    """

    tool = "rados bench"
    words = "Total Bandwidth bandwidth IOPS Latency latency size"
    commands = ("rados",)

    _found: dict[str, tuple[float, str, int]] = anew(dict)

    @reads(
        r"^\s*+(?P<key>Total time run|Total (?:writes|reads) made|(?:Write|Read|Object) size|Bandwidth \(MB/sec\)"
        r"|(?:Stddev|Max|Min) [Bb]andwidth(?: \(MB/sec\))?|(?:Average|Stddev|Max|Min) IOPS"
        r"|(?:Average|Stddev|Max|Min) [Ll]atency(?:\(s\))?)\s*+:\s*+(?P<value>\d++(?:\.\d++)?(?:e-?\d++)?)(?=\s|$)"
    )
    def _pair(self, pair: Match) -> list[Record]:
        key = pair["key"].lower().replace(" (mb/sec)", "").replace("(s)", "")
        done: list[Record] = []
        if key == "total time run":
            done, key, args = list(self.settle()), "seconds", self.ctx.args("rados") or []
            pattern = "random" if "rand" in args else "sequential" if "seq" in args else None
            self.known = {**self.command_line().known, "pattern": pattern, **self.where}
        if self._found or key == "seconds":
            self._found[key] = (float(pair["value"]), pair["value"], self.ctx.line)
        return done

    def settle(self) -> Iterator[Record]:
        figures, self._found = self._found, {}
        if "bandwidth" not in figures:
            return
        (seconds, printed, line), (rate, text, _) = figures["seconds"], figures["bandwidth"]
        operation = "write" if "total writes made" in figures else "read"
        keys = (f"total {operation}s made", f"{operation} size", "object size")
        count, size, object_B = (figures[key][0] if key in figures else None for key in keys)
        conditions = {**self.known, "operation": operation, "duration_s": seconds, "object_B": object_B}
        moved = size * count if size and count else 0.0
        if moved:
            conditions |= {"block_B": size, "bytes": moved}
        if moved and seconds >= 1 and abs(moved / seconds - rate * _MIB) > 0.02 * rate * _MIB:
            why = f"operations, size and time give {moved / seconds / _MIB:.6g}"
            yield self.unread(f"{text} MB/sec", why, line=line)
        self.need(rate > 0, text, "nothing was moved: no rate", line=line)
        yield self.measure("duration", seconds, printed, line=line, **conditions)
        for key, (value, shown, figure_line) in figures.items():
            which, _, kind = key.rpartition(" ")
            if kind in _FIGURES:
                quantity, factor, word = _FIGURES[kind]
                more = {**conditions, "statistic": statistic(which) or None}
                yield self.measure(quantity, value * factor, shown + word, more, line=figure_line)


_DATASET: Final = re.compile(r"(?<!\d)(\d++)x(\d++)([KMGT]iB)$")
_ROW: Final = re.compile(
    r"^(?P<op>[A-Z][A-Z0-9]*+)?\s++(?P<what>[A-Z][\w/]*+(?: ++[\w/]++)*)\s*+:\s++"
    r"(?:\[ (?P<lat>[^\]]*) \]|(?P<first>[\w.-]++)\s++(?P<last>[\w.-]++))\s*+$"
)
_LATENCIES: Final = {"min": "min", "avg": "mean", "max": "max"}


class Elbencho(LinesParser, evidence=Evidence.SERVERS, by_document=True):
    """elbencho: its text table and CSV, and the CSV of its storage_sweep scripts.

    Units: ``Throughput MiB/s`` and ``Total MiB`` are MiB, ``Elapsed ms`` milliseconds, later versions write
    ``2m5.755s``. Of the two columns LAST DONE is the result of the whole run (elbencho's README); FIRST DONE ends when
    the fastest thread ends. ``Dataset,Mean-value`` of storage_sweep has no unit: it is Gbit/s (checked against the
    text: 1048576 files of 1 KiB in 19.506 s are 0.440 Gbit/s, the mean of three runs printed as 0.436).
    """

    words = "OPERATION Throughput Elapsed Dataset Working elbencho ISO Files IOPS"

    _operation: str | None = anew()
    _heads: list[str] = anew(list)  # of the CSV

    _table = notes(r"OPERATION\s+RESULT TYPE\s+FIRST DONE\s+LAST DONE", opens=True, _operation=None)
    _sweep = notes(r"^\s*Dataset,Mean-value\s*$", opens="sweep")

    @reads(r"Working on (\S+) with (\d+) threads")
    def _working(self, match: Match) -> None:
        self.known = {"threads": int(match[2]), "target": match[1], **_dataset(match[1])}

    @reads(r"^ISO date,.*operation", opens="csv")
    def _csv_head(self, match: Match) -> None:
        self._heads = match.string.strip().split(",")

    def other(self, text: str) -> Found:
        if self.block:
            return self._sweep_row(text) if self.block == "sweep" else self._csv_row(text)
        return self._row(text) if self.open or (" : " in text and ("Elapsed" in text or "Throughput" in text)) else None

    def _row(self, text: str) -> Found:
        match = _ROW.match(text)
        if match is None:
            self.open = self.open and not text.strip(" -=\t")
            return None
        self.open, self._operation = True, match["op"] or self._operation
        if self._operation is None:
            return None
        facts = {**self.known, "operation": meanings("elbencho").get(self._operation, self._operation.lower())}
        if match["lat"] is not None:
            return self._latency(match["what"], match["lat"], facts)
        return self._figure(match["what"], match["last"], facts)

    def _figure(self, head: str, text: str, facts: Conditions) -> Found:
        if head.startswith("Elapsed"):
            seconds = parts_s(f"{text}ms" if head.endswith("ms") else text)
            return None if seconds is None else self.measure("duration", seconds, text, facts)
        value = number(text) or 0.0
        if value <= 0:
            return None  # no figure, too little for a whole unit, or nothing moved
        if head == "Total MiB":
            return self.measure("bytes", value * _MIB, f"{text} MiB", facts)
        if head in ("Throughput MiB/s", "IOPS"):
            return self.printed("iops" if head == "IOPS" else "throughput", text, head.rsplit(maxsplit=1)[-1], **facts)
        more = {**facts, "of": head[:-2].strip().lower()}
        return self.measure("rate", value, f"{text} {head}", more) if head.endswith("/s") else None

    def _latency(self, head: str, text: str, facts: Conditions) -> Iterator[Record]:
        scope = "file" if head.lower().startswith(("file", "ent")) else "io"
        for name, value, unit in re.findall(r"(min|avg|max)=([\d.]+)(us|ms|s)?", text):
            seconds = float(value) * TIMES[unit or ("ms" if head.endswith("ms") else "us")]
            more = {**facts, "statistic": _LATENCIES[name], "of": scope}
            yield self.measure("latency", seconds, f"{name}={value}{unit}", more)

    def _sweep_row(self, text: str) -> Found:
        name, _, value = text.strip().partition(",")
        if not re.fullmatch(r"[\d.]+", value) or _DATASET.search(name) is None:
            self.open, self.block = False, ""
            return None
        facts = {"dataset": name, **_dataset(name)}
        return self.printed("throughput", value, "Gbit/s", **facts) if float(value) > 0 else None

    def _csv_row(self, text: str) -> Iterator[Record]:
        fields, heads = next(csv.reader([text]), []), self._heads
        if len(fields) != len(heads):
            self.open, self.block = False, ""
            if text.count(",") > 10:
                yield self.unread(text, f"the CSV row has {len(fields)} fields under {len(heads)} heads")
            return
        row = dict(zip(heads, fields, strict=True))
        self.known = {
            "threads": int(row["threads"]) if row.get("threads", "").isdigit() else None,
            "file_B": size_bytes(row.get("file size", "")), "block_B": size_bytes(row.get("block size", "")),
            "direct": row.get("direct IO") == "1", "random": row.get("random") == "1",
        }  # fmt: skip
        facts = {**self.known, "operation": meanings("elbencho").get(row["operation"], row["operation"].lower())}
        for head, label in meanings("elbencho csv").items():
            yield from listed(self._figure(label, row.get(head, ""), facts))
        for kind, scope in (("IO", "io"), ("Ent", "file")):
            for name, word in _LATENCIES.items():
                if (figure := row.get(f"{kind} lat us [{name}]", "")).isdigit():
                    yield self.printed("latency", figure, "us", statistic=word, of=scope, **facts)


def _dataset(name: str) -> Conditions:
    """``1048576x1KiB`` as files and their size."""
    match = _DATASET.search(name)
    return {} if match is None else {"files": int(match[1]), "file_B": int(match[2]) * BINARY[match[3][0]]}
