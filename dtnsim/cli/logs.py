"""``dtnsim logs``."""

import csv
import inspect
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, islice
from json import dumps
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Annotated, Final

import typer
from typer import Argument, Option

from dtnsim.cli.options import csv_wanted
from dtnsim.ground.errors import LogError, visible
from dtnsim.logs.measurement import Condition, Measurement, Unread

#: rows that are held to be shown as one table; longer logs are written line by line
TABLE: Final = 500
NOTES: Final = 20
COLUMNS: Final = ("file", "line", "tool", "version", "quantity", "value", "unit", "status", "printed", "conditions")

_BITS: Final = re.compile(r"bit|b(?:/s|ps)\b")
_BYTES: Final = re.compile(r"B(?:/s|ps|ytes)|bytes")
_FIGURES: Final = re.compile(r"[\d.,]+|'[^']*'")
_LONG_S: Final = 2 * 86400.0

_quoted = encode_basestring_ascii


def command(
    files: Annotated[list[str], Argument(metavar="FILE...", help="Logs (gz, bz2, xz, zstd, tar too); - is stdin.")],
    recursive: Annotated[
        bool, Option("--recursive", "-r", help="Read every file under directories that are named.")
    ] = False,
    json: Annotated[
        bool, Option("--json", help="One JSON object a line for each figure, written as the log is read.")
    ] = False,
) -> None:
    """Show what logs of benchmarks, transfers and hosts say: every figure in SI, with its conditions and line.

    Tools and their versions are recognised by what they print; one file may hold many runs of many tools,
    with prompts, colours and cut ends. Each member of a tar archive is a log of its own (archive:member).
    What could not be read is named on stderr; for a file with no figures, the nearest known format is named, and where
    the line departs from it. The exit code is 2 if a file gave no figure (with -r: if no file of a directory gave one).

    Reads the output of: {tools}.

    \b
    Examples:
      dtnsim logs dd.txt iozone.txt.gz
      dtnsim logs -r results/ captures.tar.gz
      dtnsim logs --json capture.txt | jq 'select(.quantity == "throughput")'
      ssh dtn01 fio job.fio | dtnsim logs -
    """
    good = True
    if csv_wanted():
        csv.writer(sys.stdout, lineterminator="\n").writerow(COLUMNS)
    for name in files:
        if recursive and Path(name).is_dir():
            good &= _directory(Path(name), json=json)
        else:
            good &= _read_file(name, json=json)
    if not good:
        raise typer.Exit(2)


def help_text() -> str:
    """The command's help with the tools whose parsers are there."""
    from dtnsim.logs._catalogue import catalogue

    *tools, last = catalogue().evidence
    return inspect.cleandoc(command.__doc__ or "").replace("{tools}", f"{', '.join(tools)} and {last}")


def _directory(top: Path, *, json: bool) -> bool:
    """Reads the regular files under a directory; whether any gave figures (what is no log is only noted)."""
    read = [_read_file(str(path), json=json) for path in sorted(top.rglob("*")) if path.is_file()]
    if not any(read):
        _say(f"dtnsim: {top}: no file in it gave a figure; name the directory that holds the logs")
    return any(read)


def _read_file(name: str, *, json: bool) -> bool:
    """Reads one file; whether it gave anything."""
    from dtnsim.logs import iter_log
    from dtnsim.logs._catalogue import nearest

    notes = _Notes(name)
    count = 0

    def measurements() -> Iterator[Measurement]:
        nonlocal count
        for record in iter_log(name):
            if isinstance(record, Unread):
                notes.add(record)
            else:
                count += 1
                yield record

    try:
        if csv_wanted():
            csv.writer(sys.stdout, lineterminator="\n").writerows(map(_row, measurements()))
        elif json:
            sys.stdout.writelines(map(_line, measurements()))
        else:
            _show(measurements())
    except LogError as error:
        _say(f"dtnsim: {error}")
        return False
    finally:
        notes.end()
    if count == 0:
        _say(f"dtnsim: {name}: nothing in it looks like the output of a tool dtnsim knows; give the raw output")
        if not notes.any and Path(name).is_file() and (near := nearest(name)) is not None:
            _say(f"{name}:{near.line}: {near}")
    return count > 0


class _Notes:
    """What was not read: the first of each kind is said at once, the others are counted."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._counts: Counter[str] = Counter()
        self._lines: dict[str, int] = {}

    def add(self, note: Unread) -> None:
        kind = _FIGURES.sub("", note.why)
        self._counts[kind] += 1
        if kind not in self._lines and len(self._lines) < NOTES:
            self._lines[kind] = note.line
            _say(f"{note.file}:{note.line}: {note.why}: {note.text[:100]!r}")

    @property
    def any(self) -> bool:
        return bool(self._counts)

    def end(self) -> None:
        for kind, line in self._lines.items():
            if (more := self._counts[kind] - 1) > 0:
                _say(f"{self._name}: {more} more like that of line {line}")
        rest = self._counts.total() - sum(self._counts[kind] for kind in self._lines)
        if rest:
            _say(f"{self._name}: {rest} more parts were not read")


def _row(record: Measurement) -> tuple[object, ...]:
    """The record as a row of CSV; its conditions are one cell, since every tool has its own."""
    value = repr(record.value) if math.isfinite(record.value) else ""
    conditions = "; ".join(f"{key}={condition}" for key, condition in record.conditions.items())
    return (
        record.file, record.line, record.tool, record.version, record.quantity, value, record.unit, record.status,
        visible(record.printed), visible(conditions),
    )  # fmt: skip


@lru_cache(maxsize=1 << 16, typed=True)
def _pair(key: str, value: Condition) -> str:
    """A condition as JSON; most of them stand in record after record."""
    plain = value.__class__ is int or (isinstance(value, float) and math.isfinite(value))
    return f"{_quoted(key)}: {value!r}" if plain else f"{_quoted(key)}: {dumps(value, allow_nan=False)}"


@lru_cache(maxsize=4096)
def _frame(record: tuple[str | None, ...]) -> tuple[str, str, str]:
    """What stands before the value, behind it, and behind the conditions: parts that repeat."""
    tool, quantity, unit, status, version, file = map(dumps, record)
    return (
        f'{{"schema": "dtnsim.logs/1", "tool": {tool}, "version": {version}, "quantity": {quantity}, "value": ',
        f', "unit": {unit}, "printed": ',
        f'}}, "status": {status}, "file": {file}, "line": ',
    )


def _line(record: Measurement) -> str:
    """The record as one line of JSON: what `json.dumps` would write, in half of its time."""
    tool, quantity, number, unit, printed, conditions, status, version, file, line = record
    before, behind, after = _frame((tool, quantity, unit, status, version, file))
    value = repr(number) if math.isfinite(number) else "null"
    pairs = ", ".join(map(_pair, conditions, conditions.values()))
    line_json = "null" if line is None else line
    return f'{before}{value}{behind}{_quoted(printed)}, "conditions": {{{pairs}{after}{line_json}}}\n'


def _show(records: Iterator[Measurement]) -> None:
    """A table; a log of more than `TABLE` figures is written as plain lines while it is read."""
    from dtnsim.ground.units import plural
    from dtnsim.report.table import Table, console

    head = list(islice(records, TABLE + 1))
    if len(head) > TABLE:
        for record in chain(head, records):
            sys.stdout.write("  ".join(_cells(record)) + "\n")
        return
    if not head:
        return
    out = console()
    out.print(f"{head[0].file}: {plural(len(head), 'figure')}")
    out.print(Table(">line", "tool", "quantity", ">value", "conditions", rows=map(_cells, head)))


def _cells(record: Measurement) -> tuple[str, str, str, str, str]:
    parts = [f"{key}={_short(condition)}" for key, condition in record.conditions.items()]
    if record.status != "complete":
        parts.insert(0, record.status)
    return str(record.line), record.tool, record.quantity, _value(record), visible(" ".join(parts) or record.printed)


def _value(record: Measurement) -> str:
    """Rates in bits where the tool prints bits or the figure is a line's, in bytes elsewhere."""
    from dtnsim.ground import units
    from dtnsim.logs._catalogue import catalogue

    value, unit = record.value, record.unit
    if math.isnan(value):
        return "-"
    if unit == "B/s":
        bits = _BITS.search(record.printed) is not None
        line = (record.tool in catalogue().of_a_line or "interface" in record.conditions) and _BYTES.search(
            record.printed
        ) is None
        return units.show(value, unit, line=bits or line)
    if unit == "B" and record.quantity != "capacity":  # capacities stand beside one another
        return f"{value:.0f} B" if record.quantity == "mtu" else _binary(value) or units.show(value, unit)
    if unit in ("B", "1/s") or (unit == "s" and (value < 1.0 or value >= _LONG_S)):
        return units.show(value, unit)
    return f"{value:.6g} {unit.replace('1', '', 1)}".strip()


def _binary(value: float) -> str | None:
    """``128 KiB`` for what is a round number in powers of 1024."""
    for prefix, factor in (("Ti", 2.0**40), ("Gi", 2.0**30), ("Mi", 2.0**20), ("Ki", 2.0**10)):
        if value >= factor:
            return f"{value / factor:g} {prefix}B" if value % (factor / 4) == 0 and value % 1e3 else None
    return None


def _short(value: object) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return str(value)


def _say(message: str) -> None:
    print(visible(message), file=sys.stderr)  # noqa: T201 - notes go to stderr
