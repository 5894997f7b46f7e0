"""Answers as JSON has them, and their files: written in one piece, so that what is there is whole, whatever happens."""

import contextlib
import math
import os
import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any

from dtnsim.ground.errors import InputError, need


@contextmanager
def in_one_piece(file: Path | str, option: str = "") -> Iterator[Path]:
    """A place to write to that becomes ``file`` at the end; if anything goes wrong, the old one stays.

    Pipes and devices take what comes as it comes.
    """
    path, temporary = Path(file), ""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            yield path
            return
        target = path.resolve()  # what a link leads to is written, the link stays
        number, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".part")
        os.close(number)
        with _removed_by_signals(temporary):
            yield Path(temporary)
            os.chmod(temporary, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            os.replace(temporary, target)
    except OSError as error:
        where = f"{option}: {path}" if option else str(path)
        raise InputError(f"{where}: cannot be written: {error.strerror or error}; write elsewhere") from None
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


@contextmanager
def _removed_by_signals(file: str) -> Iterator[None]:
    """Takes a file away where a signal ends the process at once, which it does all the same."""

    def leave(number: int, _frame: object) -> None:
        with contextlib.suppress(OSError):
            os.unlink(file)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    ending = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
    ours = threading.current_thread() is threading.main_thread()
    caught = [number for number in ending if ours and signal.getsignal(number) is signal.SIG_DFL]
    for number in caught:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write(file: Path | str, text: str, option: str = "") -> None:
    """Writes text in one piece; `InputError` where it cannot be written."""
    with in_one_piece(file, option) as part:
        part.write_text(text, encoding="utf-8")


def check_table(file: Path, option: str) -> None:
    """Whether a table can be written so, before it is made; `InputError` where it cannot."""
    if file.suffix not in (".csv", ".parquet"):
        raise InputError(f"{option} {file}: write a file that ends in .csv or .parquet")
    if file.suffix == ".parquet":
        need("pyarrow", f"{option}: Parquet", instead="write a .csv")


def table(columns: Mapping[str, Sequence[Any]], file: Path, option: str) -> None:
    """Writes columns of equal length, by name, as CSV or Parquet, by the file's ending, in one piece."""
    check_table(file, option)
    with in_one_piece(file, option) as part:
        if file.suffix == ".parquet":
            import pyarrow as pa
            from pyarrow import parquet

            parquet.write_table(pa.table(columns), part)
            return
        import csv

        with part.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*(c.tolist() if hasattr(c, "tolist") else c for c in columns.values()), strict=True))


def number(value: object) -> float | None:
    """A float for JSON; what is not finite is null (JSON has no infinity)."""
    if not isinstance(value, float):
        import numpy as np

        value = float(np.ravel(np.asarray(value, float))[0])
    result = float(value)
    return result if math.isfinite(result) else None


def fields(record: object, *names: str, **renamed: str) -> dict[str, Any]:
    """Attributes of a record under their own names, then those under other ones: ``p10_Bps="throughput_Bps.p10"``."""
    return {name: attrgetter(path)(record) for name, path in (*zip(names, names, strict=True), *renamed.items())}


def rates(prediction: str) -> dict[str, str]:
    """The rates of a prediction for `fields` of a record that has it under this name."""
    paths = {f"{key}_Bps": f"throughput_Bps.{q}" for key, q in (("p10", "p10"), ("throughput", "p50"), ("p90", "p90"))}
    return {key: f"{prediction}.{place}" for key, place in {**paths, "ceiling_Bps": "ceiling"}.items()}
