"""Laws by their values, a row of values.yaml each."""

import importlib
from typing import Any

import pytest

from tests.each import tables, worked_out

ROWS = [(law, *row) for law, rows in tables("physics/values").items() for row in rows]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1]}")
def test_a_law_gives_its_value(row: list[Any]) -> None:
    name, _, given, value, *rel = row
    module, _, law = name.rpartition(".")
    laws = vars(importlib.import_module(f"dtnsim.physics.{module}"))
    args, value, rel = worked_out([given if isinstance(given, list) else [given], value, rel], laws)
    kwargs = args.pop() if args and isinstance(args[-1], dict) else {}
    found = laws[law](*args, **kwargs)
    if isinstance(value, dict) and "between" in value:
        low, high = value["between"]
        assert low <= found <= high
    elif isinstance(value, dict):
        assert found == pytest.approx(value["is"], rel=0, abs=value["within"])
    else:
        assert found == pytest.approx(value, *rel)
