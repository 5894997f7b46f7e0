"""The reader of tables that `dtnsim tcp --table` and `dtnsim tools --table` share: _table."""

from __future__ import annotations

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
