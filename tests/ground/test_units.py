"""Units: what people write, and nothing else."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.ground.errors import UnitError
from dtnsim.ground.units import EXAMPLES, UNITS, alike, parse, read, show
from tests.each import rows


@pytest.mark.parametrize(("text", "dimension", "value"), rows("ground/tables", "units"))
def test_what_people_write(text: str, dimension: str, value: float) -> None:
    assert parse(text, dimension) == pytest.approx(value, rel=1e-12)


def test_kibi_is_not_kilo() -> None:
    """IEC 80000-13: Ki is 1024, k is 1000; a MiB/s printed as MB/s is 4.9 % off."""
    assert parse("1 MiB/s", "B/s") / parse("1 MB/s", "B/s") == pytest.approx(1.048576)


@pytest.mark.parametrize(("text", "dimension", "says"), rows("ground/tables", "no units"))
def test_nothing_is_guessed(text: str, dimension: str, says: str) -> None:
    with pytest.raises(UnitError, match=says):
        parse(text, dimension)


def test_a_text_without_end_is_no_number() -> None:
    with pytest.raises(UnitError, match="not a number"):
        parse("1" * 200, "1")


def test_zero_needs_no_unit() -> None:
    assert parse("0", "s") == 0.0
    assert parse(0, "B/s") == 0.0


@given(st.sampled_from(sorted(UNITS)), st.floats(1e-3, 1e6))
def test_every_unit_reads_in_its_own_dimension(unit: str, number: float) -> None:
    assert read(f"{number!r} {unit}") == (pytest.approx(number * UNITS[unit][1], rel=1e-12), UNITS[unit][0])


@given(st.text(max_size=30))
def test_any_text_is_a_quantity_or_a_clear_error(text: str) -> None:
    with contextlib.suppress(UnitError):  # any other exception fails the test
        value, dimension = read(text)
        assert math.isfinite(value)
        assert dimension in EXAMPLES


@given(st.floats(1e-9, 1e18), st.sampled_from(["B/s", "B", "Hz", "s"]))
def test_what_is_shown_reads_back(value: float, dimension: str) -> None:
    # four digits are shown
    assert parse(show(value, dimension), dimension) == pytest.approx(value, rel=1e-3)


def test_infinite_is_shown_in_words() -> None:
    assert show(math.inf, "B/s") == "unlimited"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        ([6300, 5900, 10000], ["1.8 h", "1.6 h", "2.8 h"]),
        ([47000, 39600, 64800], ["13 h", "11 h", "18 h"]),
        ([48, 40, 72, 126], ["48 s", "40 s", "72 s", "130 s"]),
        ([60, 36000], ["60 s", "10 h"]),  # too far apart for one unit
        ([5, math.inf], ["5 s", "unlimited"]),
        ([0.0, 3.0], ["0 s", "3 s"]),
    ],
)
def test_times_side_by_side_are_in_one_unit(seconds: list[float], shown: list[str]) -> None:
    assert alike(seconds) == shown
