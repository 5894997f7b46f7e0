"""Rows of a sweep on disk: appended whole, kept when a run is broken off, and not worked out again.

CSV files grow by one write for each block of rows. Parquet files cannot grow: their rows gather in a CSV file
beside them, which becomes the Parquet file, in one step, once all are there.
"""

import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from dtnsim.ground import output
from dtnsim.ground.errors import InputError, need

#: columns behind those of the keys
ANSWERS: Final = (
    "throughput_Bps", "duration_s", "bottleneck", "kind", "error", "p10_Bps", "p90_Bps", "ceiling_Bps", "path",
)  # fmt: skip

Row = tuple[Any, ...]


class RowFile:
    """The file of a sweep, ``.csv`` or ``.parquet``: columns of the scenarios, then what every row says of its path."""

    def __init__(self, file: str | Path, keys: Sequence[str], path: str) -> None:
        self.file = Path(file)
        output.check_table(self.file, "--out")
        self.keys, self.columns, self.path = tuple(keys), (*keys, *ANSWERS), path
        self._parquet = self.file.suffix == ".parquet"
        self._csv = self.file.with_name(self.file.name + ".rows.csv") if self._parquet else self.file
        self.done: dict[tuple[str, ...], Row] = {}
        if self._parquet and self.file.exists() and not self._csv.exists():
            self._take(self._parquet_rows())
        if self._csv.exists() and self._csv.stat().st_size:
            self._mend()
            with self._csv.open(encoding="utf-8", newline="") as stream:
                try:
                    self._take(csv.reader(stream))
                except (csv.Error, UnicodeDecodeError, ValueError) as error:
                    raise InputError(f"--out: {self.file} is there and has no rows of a sweep: {error}") from None
        self._size = self._csv.stat().st_size if self._csv.exists() else 0

    def append(self, rows: Iterable[Row]) -> None:
        """Adds rows, all in one write; `InputError` where it cannot, or where another run has written meanwhile."""
        before = [] if self._size else [self.columns, *(self.done.values() if self._parquet else ())]
        data = _as_csv([*before, *rows])
        try:
            with self._csv.open("ab") as stream:
                if os.fstat(stream.fileno()).st_size != self._size:
                    remedy = "let that one end, or write elsewhere, and give the command again"
                    raise InputError(f"--out: {self._csv} is written by another run at the same time; {remedy}")
                self._size += len(data)
                stream.write(data)
        except OSError as error:  # a full disk, say: what is whole of it is kept
            remedy = "earlier rows are saved: free some space and rerun the command"
            raise InputError(f"--out: {self._csv}: cannot be written: {error.strerror or error}; {remedy}") from None

    def finish(self) -> None:
        """Makes the Parquet file of the rows that have gathered."""
        if not self._parquet or not self._csv.exists():
            return
        with self._csv.open(encoding="utf-8", newline="") as stream:
            rows = [_typed(self.keys, r) for r in list(csv.reader(stream))[1:]]
        output.table({name: [r[n] for r in rows] for n, name in enumerate(self.columns)}, self.file, "--out")
        self._csv.unlink()

    def _take(self, rows: Iterable[Sequence[str]]) -> None:
        lines = iter(rows)
        if tuple(next(lines, ())) != self.columns:
            remedy = "write elsewhere, or remove it"
            raise InputError(f"--out: {self.file} has other columns than {', '.join(self.columns)}; {remedy}")
        for line in lines:
            if len(line) == len(self.columns) and line[-1] != self.path:
                why = f"and this is {self.path}: another path, other --set or an edited description"
                raise InputError(f"--out: {self.file} has rows of {line[-1]}, {why}; write elsewhere, or remove it")
            self.done[tuple(line[: len(self.keys)])] = _typed(self.keys, line)

    def _mend(self) -> None:
        """Cuts a last line off that was never finished; a file that does not begin like one of these is left alone."""
        ours = _as_csv([self.columns])
        with self._csv.open("rb+") as stream:
            data = stream.read()
            end = data.rfind(b"\n") + 1
            if end < len(data) and data[: len(ours)] == ours[: len(data)]:
                stream.truncate(end)

    def _parquet_rows(self) -> Iterable[Sequence[str]]:
        parquet = need("pyarrow.parquet", "--out: Parquet", instead="write a .csv")
        try:
            table = parquet.read_table(self.file)
        except (OSError, ValueError) as error:
            raise InputError(f"--out: {self.file} is there and is no Parquet file: {error}") from None
        yield table.column_names
        columns = [c.to_pylist() for c in table.columns]
        yield from (["" if v is None else str(v) for v in row] for row in zip(*columns, strict=True))


def _as_csv(rows: Iterable[Row]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _typed(keys: Sequence[str], line: Sequence[str]) -> Row:
    """A row with its numbers as such."""
    cells = zip(ANSWERS, line[len(keys) :], strict=False)
    answers = ((float(v) if v else None) if head.endswith(("_Bps", "_s")) else v for head, v in cells)
    return (*line[: len(keys)], *answers)
