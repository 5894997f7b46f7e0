"""Mutants of catalogues, data sets, sizes, events, tables and traces; what they found stays found."""

from pathlib import Path

import pytest

from dtnsim.ground.errors import InputError
from dtnsim.planning import catalog, design
from dtnsim.planning.rowfile import RowFile
from tests.fuzz import files as fuzz
from tests.strategies import written


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.long) for first in range(25, 150, 25))])
def test_mutants_are_read_or_refused(first: int, tmp_path: Path) -> None:
    wrong = {
        seed: problem
        for seed in range(first, first + 25)
        if (problem := fuzz.check(*fuzz.mutant(seed), tmp_path)) is not None
    }
    assert not wrong


def test_all_kinds_are_among_them() -> None:
    seen = {name for seed in range(100) for name in fuzz.mutant(seed)[0]}
    assert seen >= {"data.yaml", "sizes.txt", "events.yaml", "trace.csv", "table.csv", "catalog.csv", "catalog.yaml"}


# -- findings --------------------------------------------------------------------------------------------------
def test_cells_of_any_length_and_number_are_refused(tmp_path: Path) -> None:
    table = written(tmp_path / "table.csv", "wan.rtt\n" + "x" * 200_000 + "\n")
    with pytest.raises(InputError, match=r"--table: .*table\.csv cannot be read: field larger than field limit"):
        design.table(table)
    with pytest.raises(InputError, match=r"--catalog: .* cannot be read: field larger than field limit"):
        catalog.read(str(table))
    table.write_text("x" * 200_000 + "\n")
    with pytest.raises(InputError, match=r"--out: .* is there and has no rows of a sweep"):
        RowFile(table, ["wan.rtt"], "x")
    table.write_text("part,price\nconnectx-5-100g,700 USD,2023-07-01\n")
    with pytest.raises(InputError, match="line 2 is left out: it has more cells than the heading"):
        catalog.read(str(table))


def test_a_price_of_any_length_is_a_short_message(tmp_path: Path) -> None:
    file = written(
        tmp_path / "catalog.yaml", f"items: {{connectx-5-100g: {{price: {'x' * 3000}, date: 2023-07-01}}}}\n"
    )
    with pytest.raises(InputError, match="price") as found:
        catalog.read(str(file))
    assert len(str(found.value)) < 500
