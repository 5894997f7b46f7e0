"""The reader of tables that `dtnsim tcp --table` and `dtnsim tools --table` share: _table."""

from __future__ import annotations

import csv
import io
import json

import pytest

from dtnsim.cli import _table
from dtnsim.ground.errors import SpecError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "lacks the columns a, b"),
        ("b\n1\n", "lacks the column a"),
        ("c,b\n", "has no rows"),
        ("a,b\n1\n", "has more or fewer fields"),
        ('a,b\n"1,2\n', "is not a CSV table"),
    ],
)
def test_what_is_no_table_is_an_error_that_names_the_file(tmp_path, text, said):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(SpecError, match=rf"t\.csv.*{said}"):
        _table.read(str(path), ("a|c", "b"), "help")


def test_what_is_written_is_read_again(tmp_path):
    path = str(tmp_path / "t.csv")
    _table.write(["a", "b"], [{"a": "1", "b": "x,y", "c": "left out"}], path)
    assert _table.read(path, ("a",), "") == (["a", "b"], [{"a": "1", "b": "x,y"}])


def test_a_row_that_cannot_be_used_is_a_line_and_the_others_are_answered(run, tmp_path):
    path = tmp_path / "runs.csv"
    row = "scp,put,{options},100000000,0.05,1250000,{data},{files},{total},{cc}\n"
    good = {"options": "", "data": "C50", "files": "50", "total": "500000", "cc": "cubic"}
    wrong = [{"files": "3e-05"}, {"files": "3e-05", "data": "D"}, {"total": "3"}, {"cc": "foo"}, {"options": "-l x"}]
    header = "tool_key,direction,options,rate_bps,rtt_s,buffer_bytes,dataset,files,total_bytes,cc\n"
    path.write_text(header + "".join(row.format(**{**good, **change}) for change in [*wrong, {}, {"files": "1"}]))
    code, out, err = run("tools", "--table", str(path), "--samples", "0")
    told = [line["predicted_wall_s"] for line in csv.DictReader(io.StringIO(out))]
    assert code == 2
    assert told[:5] == [""] * 5
    assert float(told[5]) > float(told[6]) > 0.5, "50 files wait longer than one, which is no empty folder"
    for number, (line, said) in enumerate(zip(err.splitlines(), ("files", "files", "B", "cc", "x"), strict=True), 2):
        assert f"runs.csv:{number}: " in line
        assert said in line
    code, out, _ = run("tools", "--table", str(path), "--samples", "0", "--json")
    assert code == 2
    assert [("error" in line, line["predicted_wall_s"] == "") for line in json.loads(out)["rows"]] == [
        *[(True, True)] * 5,
        *[(False, False)] * 2,
    ]
