"""Ranges, lists, samples and tables of scenarios."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.planning import design
from tests.each import rows


def test_a_logarithmic_range_has_equal_ratios_and_both_ends() -> None:
    numbers = [units.parse(t, "s") for t in design.axis("wan.rtt=1ms..100ms:log5").values]
    assert numbers == pytest.approx([0.001, 10**-2.5, 0.01, 10**-1.5, 0.1], rel=5e-4)


@given(st.floats(1e-3, 1e3), st.floats(1.01, 1e3), st.integers(2, 50))
def test_a_linear_range_stays_within_its_ends_and_rises(low: float, ratio: float, steps: int) -> None:
    axis = design.axis(f"x={low}GB/s..{low * ratio}GB/s:lin{steps}")
    numbers = [units.parse(t, "B/s") for t in axis.values]
    assert numbers == sorted(numbers)
    assert numbers[0] == pytest.approx(low * 1e9, rel=1e-9)
    assert numbers[-1] == pytest.approx(low * ratio * 1e9, rel=1e-9)


@pytest.mark.parametrize(("text", "second", "last"), rows("planning/tables", "values_are_written_as_their_ends_are"))
def test_values_are_written_as_their_ends_are(text: str, second: str, last: str) -> None:
    values = design.axis(text).values
    assert (values[1], values[-1]) == (second, last)


def test_values_of_a_dense_range_stay_apart() -> None:
    assert len(design.axis("x=1GB..2GB:12000").values) == 12000


def test_whole_numbers_stay_whole() -> None:
    assert design.axis("transfer.tool.p=1..64:log7").values == ("1", "2", "4", "8", "16", "32", "64")


def test_commas_in_brackets_belong_to_the_value() -> None:
    assert design.axis("transfer.dataset={files: 1, each: 1 GB},{files: 9, each: 1 MB}").values == (
        "{files: 1, each: 1 GB}",
        "{files: 9, each: 1 MB}",
    )


def test_all_are_crossed_and_the_last_changes_fastest() -> None:
    made = design.cartesian([design.axis("a=1,2"), design.axis("b=x,y,z")])
    assert [made.row(n) for n in range(len(made))] == [(a, b) for a in "12" for b in "xyz"]


def test_a_hypercube_hits_every_part_of_every_range_once() -> None:
    made = design.hypercube([design.axis("a=0 s..1s"), design.axis("b=1ms..1s:log")], 40, seed=3)
    for n, scale in enumerate((lambda v: v, lambda v: np.log(v / 1e-3) / np.log(1e3))):
        numbers = np.array([units.parse(made.row(k)[n], "s") for k in range(40)])
        assert sorted(np.floor(scale(numbers) * 40)) == list(range(40))
    again = design.hypercube([design.axis("a=0 s..1s"), design.axis("b=1ms..1s:log")], 40, seed=3)
    assert [made.row(n) for n in range(40)] == [again.row(n) for n in range(40)]


def test_a_hypercube_has_the_points_of_scipys() -> None:
    from scipy.stats import qmc  # which takes a second to load

    made = design.hypercube([design.axis("a=0 s..1s"), design.axis("b=0 s..1s"), design.axis("c=0 s..1s")], 50, seed=7)
    numbers = [[units.parse(text, "s") for text in made.row(k)] for k in range(50)]
    theirs = qmc.LatinHypercube(d=3, rng=np.random.default_rng(7)).random(50)
    assert np.array(numbers) == pytest.approx(theirs, rel=1e-3)  # of four digits


@pytest.mark.parametrize(("text", "words"), rows("planning/tables", "what_is_no_range_is_refused_with_what_to_write"))
def test_what_is_no_range_is_refused_with_what_to_write(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        design.axis(text)


def test_a_range_without_steps_is_refused_where_steps_are_needed() -> None:
    with pytest.raises(InputError, match="how many steps"):
        design.cartesian([design.axis("wan.rtt=1ms..9ms")])


def test_a_key_may_not_be_varied_twice_and_something_must_be() -> None:
    with pytest.raises(InputError, match="varied twice"):
        design.check([design.axis("a=1,2"), design.axis("a=3")])
    with pytest.raises(InputError, match="nothing is varied"):
        design.check([])


def test_tables_need_a_heading_and_full_rows(tmp_path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("wan.rtt,transfer.tool.p\n1ms,2\n\n5ms,4\n")
    made = design.table(file)
    assert [made.row(n) for n in range(2)] == [("1ms", "2"), ("5ms", "4")]
    file.write_text("wan.rtt,transfer.tool.p\n1ms\n")
    (tmp_path / "noise").write_bytes(b"\xfa\x9b")
    for name, says in {"t.csv": "row 2 has 1 cells", "none": "cannot be read: No", "noise": "is not text"}.items():
        with pytest.raises(InputError, match=says):
            design.table(tmp_path / name)
