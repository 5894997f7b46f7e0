"""Bonnie and bonnie++: original Bonnie, 1.0x, 1.9x and 2.00; text, CSV and bon_csv2html tables.

Units: ``K/sec`` is KiB/s (checked with 2.00a, whose text says ``562m`` where its CSV says 575580: 575580/1024 = 562).
In 2.00's text the header says ``/sec`` and k, m, g are powers of 1024; its HTML heads the columns ``M/sec``, but prints
only the block columns in MiB/s, the per-character ones stay KiB/s (own runs: CSV 2833 and 803331, HTML 2833 and 785).
``MB`` of the original Bonnie is MiB. 2.00's text prints the number of files times 1024 where the create rates belong
(own runs: CSV 3176, 5413, 2215, 5511, text four times 4096): those are not read from the text.

``+++++`` means that the test was too fast to time: there is no figure. Empty fields: the
per-character tests were left out (-f). CSV: 1.0x starts with the machine name; 1.93 to 1.97 with
the format and the program version; format 1.98 (2.00) has two more columns before putc. The CSV
line that follows the table of the same run replaces it (it has more digits); a run counts once.
"""

import html
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from dtnsim.logs._numbers import BINARY, DECIMAL, TIMES, decimal, size_bytes
from dtnsim.logs.base import Conditions, Document, Evidence, LineParser, Record, anew, documents, noted
from dtnsim.logs.measurement import Measurement

#: operation of each rate, in the order of all forms
SEQUENTIAL: Final = ("write_per_char", "write", "rewrite", "read_per_char", "read", "seek")
CREATE: Final = (
    "sequential_create", "sequential_stat", "sequential_delete", "random_create", "random_stat", "random_delete",
)  # fmt: skip
_FILLED: Final = (1, 2, 4, 5)  # columns left under -f

KIB: Final = BINARY["K"]
_KIB: Final = [KIB, KIB, KIB, KIB, KIB, 0.0]
_NONE: Final = [0.0] * 6
_VALUE: Final = r"(?:\d[\d.,]*+[kmg]?+|\+{3,}+|x{2,}+)"
_ROW: Final = re.compile(
    rf"^\s*+(?P<host>|\S.{{0,200}}?)(?<![\d.*])(?P<size>\d++(?:\*\d++)?[KMGT]?(?::[\w:]{{0,40}}+)?)(?P<gap>\s++)"
    rf"(?P<values>{_VALUE}(?:\s++{_VALUE}){{0,11}}+)\s*+[=\\]?\s*+$"
)
_MORE: Final = re.compile(rf"^\s*+(?P<values>{_VALUE}(?:\s++{_VALUE}){{0,11}}+)\s*+[=\\]?\s*+$")
_FILES: Final = re.compile(rf"^\s*(?:\S++\s+)?(?P<files>\d[\d:]*+)\s++(?P<values>{_VALUE}(?:\s++{_VALUE}){{11}}+)\s*+$")
_FILES_PART: Final = re.compile(rf"^\s*+(?:\S++\s++)?\d[\d:]*+\s++(?P<values>{_VALUE}(?:\s++{_VALUE}){{0,11}}+)\s*+$")
_TIME: Final = re.compile(r"(\d++)(us|ms|s)")
_FAILED: Final = re.compile(r"Bonnie: drastic I/O error.*|^Can't write block\b.*")
_VERSION: Final = re.compile(r"Version\s+(\d\.\d+\w?)")
_CSV_VERSION: Final = re.compile(r"^1\.9\d\w?$")
_CSV_SIZE: Final = re.compile(r"^\d+[KMGT]?$|^\d+[KMG]?:\d+[kmKM]?$")
_TAG: Final = re.compile(r"<[^<>]*>")


def _size_bytes(text: str) -> float | None:
    """``4G``, ``512M``, ``1*1024`` (files times MB), ``300M:4k`` or bare MB, in [B]."""
    *files, size = text.partition(":")[0].split("*")
    return (size_bytes(size + "M" * size[-1:].isdigit()) or 0.0) * math.prod(map(float, files)) or None


class Bonnie(LineParser, evidence=Evidence.FITS):
    """Text tables, CSV lines and tables of HTML."""

    tool = "bonnie++"
    words = "Chr Version Sequential CP drastic Can"
    shape = r",(?:,,,|\+{3,},\+{3,},)"
    commands = ("bonnie", "bonnie++")

    _part: str | None = anew()  # "sequential" or "create": which rows follow
    _row: tuple[str, int] | None = anew()  # a row that may go on in the next line
    _names: Sequence[str] = anew(lambda: SEQUENTIAL)
    _run: list[Record] = anew(list)  # records of the table, until a CSV line of the same run
    _quiet = anew(int)

    def feed(self, text: str) -> Iterable[Record]:
        if text.count(",") >= 12 and " " not in text.strip():
            return self._csv(text.strip().split(","))
        if "Sequential Output" in text:
            version = _VERSION.search(text)
            self.version = version[1] if version is not None else None
        if "-Per Ch" in text or "Sequential Output" in text:
            done = self.settle() if self._row or self._run else []
            self._part, self.open, self._quiet = "sequential", True, 0
            return done
        if (problem := _FAILED.search(text)) is not None:
            return (*self.settle(), self.failure(problem[0]))
        return self._table_line(text) if self._part is not None else ()

    def _table_line(self, text: str) -> Iterable[Record]:
        if self._row is not None and _MORE.match(text) and self._wants(text.split()):
            self._row = (self._row[0] + " " + text.strip(" =\\"), self._row[1])
            return ()
        self._end_row()
        if "Create" in text:
            self._part = "create"
        elif "%CP" in text:
            pass
        elif text.lstrip().startswith("Latency"):
            values, names = text.split()[1:], self._names
            if len(values) == 4 and names is SEQUENTIAL:
                names = [SEQUENTIAL[column] for column in _FILLED]
            if len(values) == len(names):
                self._run.extend(self._latencies(self.known, self.ctx.line, values, names))
        elif (row := self._pattern().match(text)) is not None and row["values"]:
            self._row, self._quiet = (text.rstrip(" =\\"), self.ctx.line), 0
        else:
            self._quiet += 1
            if self._quiet > 3:
                return self.settle()
        return ()

    def _pattern(self) -> re.Pattern[str]:
        return _ROW if self._part == "sequential" else _FILES_PART

    def _wants(self, more: list[str]) -> bool:
        """Whether the row at hand, which a mailer may have wrapped, has room for these figures."""
        row = self._pattern().match(self._row[0] if self._row else "")
        return row is not None and len(row["values"].split()) + len(more) - ("=" in more) <= 12

    def _end_row(self) -> None:
        (text, line), self._row = self._row or ("", 0), None
        if self._part == "create":
            if (match := _FILES.match(text)) is not None:
                self._names, values, files = CREATE, match["values"].split(), int(match["files"].partition(":")[0])
                rates = [int(value) for value in values[::2] if value.isdigit()]
                # 2.00 prints the number of files instead of the rate
                if not ((self.version or "").startswith("2") and rates and all(r == files * 1024 for r in rates)):
                    facts = {**self.known, "files": files * 1024}
                    self._run += self._rates(facts, line, values, CREATE, _NONE)
        elif (row := _ROW.match(text)) is not None:
            self._run += self._sequential_row(row, line)

    @noted
    def _sequential_row(self, row: re.Match[str], line: int) -> Iterator[Record]:
        self._names, values = SEQUENTIAL, row["values"].split()
        self.known = {"file_B": _size_bytes(row["size"])}
        if row["host"]:
            self.known["machine"] = row["host"].strip()
        if len(values) == 8 and row["gap"].count(" ") >= 8:
            pairs = {column: values[2 * index : 2 * index + 2] for index, column in enumerate(_FILLED)}
            values = [value for column in range(6) for value in pairs.get(column, ["", ""])]
        self.need(len(values) == 12, row[0], f"the row has {len(values)} figures, not 12 (or 8 with -f)", line=line)
        yield from self._rates(self.known, line, values, SEQUENTIAL, _KIB)

    def _csv(self, fields: list[str]) -> Iterable[Record]:
        if (layout := _csv_layout(fields)) is None:
            return ()
        host, size, first = layout
        values, new_form = fields[first : first + 12], first > 2
        if len(values) < 12 or not any(value[:1].isdigit() for value in values):
            return (*self.settle(), self.unread(",".join(fields), "the CSV line is cut or has no figures"))
        earlier, conditions = self.settle(), Conditions(file_B=_size_bytes(size), machine=host)
        if new_form:
            self.version = fields[1]
            conditions["concurrency"] = int(fields[3]) if fields[3].isdigit() else None
        records = list(self._rates(conditions, self.ctx.line, values, SEQUENTIAL, _KIB))
        files = first + 12
        rates = fields[files + (5 if new_form else 1) :][:12]
        if len(rates) == 12 and (count := fields[files].partition(":")[0]).isdigit():
            records += self._rates({**conditions, "files": int(count) * 1024}, self.ctx.line, rates, CREATE, _NONE)
        if new_form and len(fields) == files + 29:
            records += self._latencies(conditions, self.ctx.line, fields[-12:], SEQUENTIAL + CREATE)
        return [*_without_same_run(earlier, records), *records]

    def settle(self) -> list[Record]:
        self._end_row()
        done, self._run = self._run, []
        self._part, self.open = None, False
        return done

    def _rates(
        self, facts: Conditions, line: int, values: Sequence[str], names: Sequence[str], units: Sequence[float]
    ) -> Iterator[Record]:
        """Of text, CSV and HTML: ``values`` alternate rate and CPU share; a unit of 0 is a rate per second."""
        pairs = map(str.strip, values[::2]), map(str.strip, values[1::2])
        for name, rate, cpu, unit in zip(names, *pairs, units, strict=True):
            if not rate or rate[0] in "+x" or cpu[:1] == "+":
                continue
            figure = rate.rstrip("kmg")
            try:
                value = decimal(figure)
            except ValueError:
                yield self.unread(rate, f"{name} rate is not a number", line=line)
                continue
            letter, facts = rate[len(figure) :][-1:], {**facts, "operation": name}
            kind = ("throughput", value * (BINARY[letter] if letter else unit), rate + "/sec")
            if not unit:
                kind = ("iops" if name == "seek" else "rate", value * DECIMAL[letter.upper()], rate + " /sec")
            if value != 0:  # zero is printed for tests that were not timed
                yield self.measure(*kind, {**facts}, line=line)
                with suppress(ValueError):
                    yield self.measure("cpu_share", decimal(cpu) / 100, cpu + " %CP", {**facts}, line=line)

    def _latencies(self, facts: Conditions, line: int, values: Sequence[str], names: Sequence[str]) -> Iterator[Record]:
        """Worst latencies, as 1.9x prints them."""
        for name, text in zip(names, map(str.strip, values), strict=False):
            if (match := _TIME.fullmatch(text)) is not None:
                more = {**facts, "operation": name, "statistic": "max"}
                yield self.measure("latency", int(match[1]) * TIMES[match[2]], text, more, line=line)

    @documents(kind="html", sign="Sequential(?: |<br>)Output")
    def _html(self, doc: Document) -> Iterator[Record]:
        """Tables of bon_csv2html; rows of figures: size, 12 figures, number of files, 12 figures; then latencies."""
        version, offset = _VERSION.search(_TAG.sub(" ", doc.text)), 0
        self.version = version[1] if version else None
        unit = [KIB, BINARY["M"], BINARY["M"], KIB, BINARY["M"], 0.0] if "M/sec" in doc.text else _KIB
        host, conditions = "", Conditions()
        for part in re.split(r"(?=<t[rR][\s>])", doc.text):
            texts = (_TAG.sub(" ", text) for text in re.split(r"</?t[dhDH]\b[^<>]*>", part))
            cells = [cell for text in texts if (cell := html.unescape(text).replace("\xa0", " ").strip())]
            line, offset = doc.line_of(part, offset), offset + len(part)
            start = next((i for i, cell in enumerate(cells) if re.fullmatch(r"\d+[KMGT]", cell)), None)
            if start is not None:
                host = cells[start - 1] if start > 0 else host
                conditions = {"machine": host, "file_B": _size_bytes(cells[start])}
                yield from self._html_row(cells[start + 1 :], conditions, unit, line)
            elif cells and cells[0] == "Latency":
                yield from self._latencies(conditions, line, cells[1:7], SEQUENTIAL)
                more = cells[8:14] if "Latency" in cells[1:] else cells[7:13]
                yield from self._latencies(conditions, line, more, CREATE)
            elif "Size" in cells[1:2]:
                host = cells[0]

    @noted
    def _html_row(self, values: list[str], conditions: Conditions, unit: list[float], line: int) -> Iterator[Record]:
        self.need(len(values) >= 12, " ".join(values), "a table row has fewer than 12 figures", line=line)
        yield from self._rates(conditions, line, values[:12], SEQUENTIAL, unit)
        if len(values) >= 25 and values[12].isdigit():
            yield from self._rates({**conditions, "files": int(values[12]) * 1024}, line, values[13:25], CREATE, _NONE)


def _csv_layout(fields: list[str]) -> tuple[str, str, int] | None:
    """(machine, size, index of putc) of a CSV line of bonnie++; None for any other CSV."""
    if _CSV_VERSION.match(fields[0]) and len(fields) > 8 and re.match(r"[12]\.\d", fields[1]):
        return (fields[2], fields[5], (9 if fields[0] >= "1.98" else 7)) if _CSV_SIZE.match(fields[5]) else None
    numbers = fields[2:14]
    fits = len(numbers) == 12 and all(re.fullmatch(r"\d*+(?:\.\d*+)?|\++", field) for field in numbers)
    if fits and re.fullmatch(r"\d+[KMGT](?::\d+[kKM]?)?", fields[1]) and len(fields) in range(14, 28):
        return fields[0], fields[1], 2
    return None


def _without_same_run(earlier: list[Record], records: list[Record]) -> list[Record]:
    """The table's records, unless the CSV line gives the same run with more digits."""
    exact = {(r.quantity, r.conditions.get("operation")): r.value for r in records if isinstance(r, Measurement)}
    for record in earlier:
        if isinstance(record, Measurement) and record.quantity in ("throughput", "iops", "latency"):
            value = exact.get((record.quantity, record.conditions.get("operation")))
            if value is None or abs(value - record.value) > 0.06 * value:
                return earlier
    return []
