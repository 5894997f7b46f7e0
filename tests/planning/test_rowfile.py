"""Rows on disk: whole blocks, a torn end cut off, numbers as they were."""

from __future__ import annotations

import pytest

from dtnsim.ground.errors import InputError
from dtnsim.planning.rowfile import RowFile

ROWS = [
    ("1 ms", 1.25e9 / 3, 4.0, "a.b, c", "core", "", 1e9 / 3, 2e9 / 3, 1e9 / 7, "p"),
    ("2 ms", None, None, "", "", 'no "x"', None, None, None, "p"),
]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_come_back_as_they_went(tmp_path, kind: str) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    file = RowFile(tmp_path / f"r.{kind}", ["wan.rtt"], "p")
    for row in ROWS:
        file.append([row])
    file.finish()
    assert list(RowFile(tmp_path / f"r.{kind}", ["wan.rtt"], "p").done.values()) == ROWS


def test_a_torn_end_is_cut_off_and_the_next_row_begins_a_line(tmp_path) -> None:
    name = tmp_path / "r.csv"
    RowFile(name, ["wan.rtt"], "p").append(ROWS[:1])
    whole = name.read_bytes()
    name.write_bytes(whole + b"2 ms,1")
    file = RowFile(name, ["wan.rtt"], "p")
    assert len(file.done) == 1
    file.append(ROWS[1:])
    assert name.read_bytes().startswith(whole)
    assert list(RowFile(name, ["wan.rtt"], "p").done.values()) == ROWS


def test_a_file_that_is_no_parquet_is_refused(tmp_path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "r.parquet").write_text("nothing")
    with pytest.raises(InputError, match="no Parquet file"):
        RowFile(tmp_path / "r.parquet", ["wan.rtt"], "p")


def test_two_runs_into_one_file_do_not_mix(tmp_path) -> None:
    one, other = (RowFile(tmp_path / "r.csv", ["wan.rtt"], "p") for _ in range(2))
    one.append(ROWS[:1])
    with pytest.raises(InputError, match=r"r\.csv is written by another run at the same time"):
        other.append(ROWS[:1])
    one.append(ROWS[1:])
    assert list(RowFile(tmp_path / "r.csv", ["wan.rtt"], "p").done.values()) == ROWS


@pytest.mark.parametrize("foreign", [b"a,b\n1,2", b"no line end", b"\x00\xff" * 100])
def test_a_file_of_somebody_else_is_refused_and_not_changed(tmp_path, foreign: bytes) -> None:
    name = tmp_path / "r.csv"
    name.write_bytes(foreign)
    with pytest.raises(InputError, match=r"r\.csv"):
        RowFile(name, ["wan.rtt"], "p")
    assert name.read_bytes() == foreign
