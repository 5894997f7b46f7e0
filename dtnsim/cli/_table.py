"""Tables of cases or runs as CSV: read and checked, the rows with what was predicted written back."""

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dtnsim.cli import options
from dtnsim.ground import output
from dtnsim.ground.errors import SpecError
from dtnsim.ground.yamlio import decoded


def read(path: str, needed: Iterable[str], remedy: str) -> tuple[list[str], list[dict[str, str]]]:
    """Columns and rows of a CSV file that has columns ``needed`` (``a|b``: either); ``remedy`` is for the message."""
    name = str(path)
    try:
        text = decoded(Path(path).read_bytes())
    except UnicodeDecodeError:
        raise SpecError("is not text", file=name, remedy="give a CSV file with a header line") from None
    try:
        reader = csv.DictReader(io.StringIO(text), strict=True)
        columns, rows = list(reader.fieldnames or []), [dict(row) for row in reader]
    except csv.Error as error:
        raise SpecError(
            f"is not a CSV table: {error}", file=name, remedy="give a CSV file with a header line"
        ) from None
    missing = [key.partition("|")[0] for key in needed if not set(key.split("|")) & set(columns)]
    if missing:
        words = f"lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
        raise SpecError(words, file=name, line=1, remedy=remedy)
    if not rows:
        raise SpecError("has no rows", file=name, remedy="give one line for each of them")
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise SpecError("has more or fewer fields than the header", file=name, line=number)
    return columns, rows


def answer(
    kind: str, columns: Sequence[str], predicted: Sequence[str], rows: list[dict[str, Any]], seed: int,
    path: str | None, *, json: bool,
) -> None:  # fmt: skip
    """Writes answered rows: as a document, and as CSV unless that is all that is asked for.

    Args:
        kind: The command.
        columns: Columns of the table as it was read.
        predicted: Columns that stand behind them.
        rows: The rows with these.
        json: Whether the document is asked for.
    """
    if json:
        options.emit({"schema": f"dtnsim.{kind}-table/1", "seed": seed, "rows": rows})
    if path is not None or not json:
        write([*columns, *(k for k in predicted if k not in columns)], rows, path)


def write(columns: Sequence[str], rows: Iterable[dict[str, Any]], path: str | None) -> None:
    """Writes rows, cells by column, as CSV under a heading of ``columns``."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    if path is None:
        sys.stdout.write(stream.getvalue())
        sys.stdout.flush()
    else:
        output.write(path, stream.getvalue(), "--out")
