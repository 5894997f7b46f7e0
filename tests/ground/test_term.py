"""Terms write the formula that they calculate: evaluating it gives the value."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.ground.quantity import Draw, prior
from dtnsim.ground.term import Term, count, largest, law, minimum, parameter, term
from dtnsim.ground.units import plural
from dtnsim.physics import hdd
from tests.formulas import evaluate

RATE = prior("200 MB/s", 0.1, "data sheet")
LINK = prior("550 MB/s", 0.0, "SATA")


def q(text: str, source: str = "data sheet") -> Term:
    return parameter(Draw(), prior(text, 0.0, source))


def test_a_product_reads_as_people_write_it() -> None:
    made = count(16, "drive") * minimum(q("200 MB/s"), q("550 MB/s", "SATA"))
    assert made.formula == "16 drives x min(200 MB/s, 550 MB/s)"
    assert made.value == 3.2e9
    assert made.source == "data sheet; SATA"
    assert evaluate(made.formula) == made.value


def test_once_and_nothing_go_without_saying() -> None:
    assert (q("200 MB/s") * 1.0).formula == "200 MB/s"
    assert (q("200 MB/s") / 1.0 + 0.0).formula == "200 MB/s"
    assert minimum(q("1 GB/s"), q("1 GB/s")).formula == "1 GB/s"


def test_of_two_that_read_alike_the_smaller_is_taken_in_every_scenario() -> None:
    one, other = (Term(np.array(drawn), "10 Gb/s", "data sheet") for drawn in ([1.0, 2.0], [2.0, 1.0]))
    assert minimum(one, other).value.tolist() == [1.0, 1.0]
    assert largest(one, other).value.tolist() == [2.0, 2.0]
    assert minimum(one, other).formula == "10 Gb/s"


def test_sums_in_products_keep_their_brackets() -> None:
    made = (q("2 cycles/B") + q("1 cycles/B")) * 3.0 / (1.0 + term(0.5))
    assert made.formula == "(2 cycles/B + 1 cycles/B) x 3 / (1 + 0.5)"
    assert evaluate(made.formula) == pytest.approx(made.value)


def test_a_law_is_written_as_its_call() -> None:
    made = law(hdd.zone_rate, position=term(0.5), outer_rate=q("262 MB/s"), radius_ratio=0.5)
    assert made.formula.startswith("hdd.zone_rate(position=0.5, ")
    assert evaluate(made.formula) == pytest.approx(made.value)
    assert "dtnsim.physics.hdd.zone_rate" in made.source


def test_a_drawn_term_shows_its_median() -> None:
    drawn = parameter(Draw(64), RATE) * term(np.full(64, 2.0))
    assert np.shape(drawn.value) == (64,)
    assert drawn.formula == "200 MB/s x 2"


def test_nothing_to_divide_by_is_unlimited() -> None:
    assert math.isinf((1.0 / term(0.0)).value)
    assert evaluate(term(math.inf).formula) == math.inf


def test_plurals() -> None:
    assert [plural(1, "drive"), plural(2, "drive"), plural(3, "copy"), plural(2, "class")] == [
        "1 drive", "2 drives", "3 copies", "2 classes",
    ]  # fmt: skip


numbers = st.floats(1e-3, 1e9)


@given(a=numbers, b=numbers, c=numbers)
def test_any_arithmetic_evaluates_to_its_value(a: float, b: float, c: float) -> None:
    x, y, z = term(a, "B/s"), term(b, "B/s"), term(c)
    for made in (x * y / z, (x + y) * z, x - (y - z), x / (y / z), largest(x, y) / (z + 1.0), 1.0 / (x * z) + y):
        scale = max(abs(v) for v in (a * b / c, a + b, c, a, b, 1.0))
        assert evaluate(made.formula) == pytest.approx(made.value, rel=1e-5, abs=1e-5 * scale)
