"""Tables of tool runs: read, predicted, written back (``dtnsim tools --table``)."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any, Final

from dtnsim.cli import options
from dtnsim.evidence import tool_runs
from dtnsim.ground import output
from dtnsim.ground.errors import SpecError

PREDICTED: Final = ("predicted_wall_s", "p10_s", "p90_s", "held_by")
_NEEDED: Final = ("rate_bps", "rtt_s", "files", "total_bytes")


def command(path: str, out: str | None, samples: int, seed: int, *, json: bool) -> None:
    """Reads, predicts and writes a table."""
    columns, rows = read(path)
    answered = answer(rows, samples, seed, path)
    if json:
        options.emit({"schema": "dtnsim.tools-table/1", "seed": seed, "rows": answered})
    if out is not None or not json:
        write([*columns, *(k for k in PREDICTED if k not in columns)], answered, out)


def read(path: str) -> tuple[list[str], list[dict[str, str]]]:
    """Columns and rows of a CSV file of runs.

    Raises:
        SpecError: no table, or columns that are missing.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SpecError("is not text", file=path, remedy="give a CSV file with a header line") from None
    try:
        reader = csv.DictReader(io.StringIO(text), strict=True)
        columns, rows = list(reader.fieldnames or []), [dict(row) for row in reader]
    except csv.Error as error:
        raise SpecError(f"is not a CSV table: {error}", file=path) from None
    missing = [k for k in _NEEDED if k not in columns]
    missing += [] if {"tool_key", "tool"} & set(columns) else ["tool_key"]
    if missing:
        words = f"lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
        raise SpecError(words, file=path, line=1, remedy="see 'dtnsim tools --help' for the names")
    if not rows:
        raise SpecError("has no rows", file=path, remedy="give one line for each run")
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise SpecError("has more or fewer fields than the header", file=path, line=number)
    return columns, rows


def answer(rows: list[dict[str, str]], samples: int, seed: int, file: str) -> list[dict[str, Any]]:
    """The rows with the predicted columns added."""
    answered: list[dict[str, Any]] = []
    known: dict[str, tool_runs.Answer] = {}
    for number, row in enumerate(rows, start=2):
        try:
            run = tool_runs.run_of(row)
        except SpecError as error:
            raise SpecError(
                error.message, file=file, line=number, key=error.key, value=error.value, remedy=error.remedy
            ) from None
        if run.alike not in known:
            known[run.alike] = tool_runs.answer(run, samples, seed)
        told = known[run.alike]
        values = (f"{told.p50_s:.6g}", f"{told.p10_s:.6g}", f"{told.p90_s:.6g}", told.held_by + _said(run.left_out))
        answered.append({**row, **dict(zip(PREDICTED, values, strict=True))})
    return answered


def _said(left_out: tuple[str, ...]) -> str:
    return f"; without effect here: {' '.join(left_out)}" if left_out else ""


def write(columns: list[str], rows: list[dict[str, Any]], path: str | None) -> None:
    """Writes the answered rows as CSV, to a file or to stdout."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    if path is None:
        sys.stdout.write(stream.getvalue())
        sys.stdout.flush()
    else:
        output.write(path, stream.getvalue(), "--out")
