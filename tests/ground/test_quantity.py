"""Quantities: the units that people write, how they are drawn, and how far a number that nobody wrote may be off."""

import contextlib
import math
import re
from dataclasses import replace
from statistics import NormalDist
from typing import Annotated

import hypothesis
import numpy as np
import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel, ValidationError
from scipy import stats

from dtnsim.discovery import as_measured
from dtnsim.ground import draws
from dtnsim.ground.errors import UnitError
from dtnsim.ground.quantity import Draw, Mixture, Quantity, Scalar, Unit, factor_spread, prior
from dtnsim.ground.uncertainty import COVERED, NAMES, WITHIN, Assumption, often, written
from dtnsim.ground.units import EXAMPLES, UNITS, in_one_unit, parse, read, show
from dtnsim.physics._arrays import LEVELS
from dtnsim.simulation.fleet.run import spread
from dtnsim.steady.assumed import ends
from tests.each import rows
from tests.house import CODE
from tests.scripts import ROOT


class Holder(BaseModel):
    rate: Annotated[Quantity, Unit("B/s", spread=0.1, low=1.0, high=1e12)] = prior("1 GB/s", 0.2, "a datasheet")


def test_a_text_takes_the_spread_of_its_field_and_the_place_it_stands() -> None:
    q = Holder(rate=Scalar("10 Gb/s", "host.yaml", 7)).rate  # type: ignore[arg-type]  # that is what is tested
    assert (q.value, q.dim, q.spread, q.source) == (1.25e9, "B/s", 0.1, "host.yaml:7")
    assert str(q) == "10 Gb/s"


def test_a_number_written_out_says_its_own_spread_and_source() -> None:
    q = Holder(rate={"value": "540 MB/s", "spread": "5 %", "source": "page 3"}).rate  # type: ignore[arg-type]
    assert (q.value, q.spread, q.source) == (5.4e8, 0.05, "page 3")


NO_RATES = [*rows("ground/tables", "no_rates"), (prior("3 ms", 0, "x"), "where B/s is due")]


@pytest.mark.parametrize(("given", "says"), NO_RATES)
def test_what_is_refused(given: object, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Holder(rate=given)  # type: ignore[arg-type]


def test_nominal_draw_is_the_value_itself() -> None:
    assert Draw()(prior("3 ms", 0.5, "x")) == 0.003


def test_draws_have_the_median_and_spread_asked_for() -> None:
    drawn = Draw(4096, seed=3)(prior("100 MB/s", 0.3, "x"))
    assert np.median(drawn) == pytest.approx(1e8, rel=1e-3)
    # the log-normal's own relative standard deviation, sampled at midpoints that leave out the last tail
    assert np.std(drawn) / np.mean(drawn) == pytest.approx(0.3, rel=0.02)


def test_a_quantity_keeps_its_draw_and_others_have_their_own() -> None:
    draw, a, b = Draw(64), prior("1 s", 0.3, "a"), prior("1 s", 0.3, "b")
    assert np.array_equal(draw(a), draw(a))
    assert not np.array_equal(draw(a), draw(b))


def test_the_same_seed_draws_the_same() -> None:
    q = prior("1 s", 0.3, "a")
    assert np.array_equal(Draw(32, 5)(q), Draw(32, 5)(q))
    assert not np.array_equal(Draw(32, 5)(q), Draw(32, 6)(q))


@given(st.floats(0.01, 1, exclude_max=True), st.floats(0.01, 2.0))
def test_a_share_is_never_drawn_above_one(value: float, spread: float) -> None:
    assert np.all(np.asarray(Draw(64)(Quantity(value, "1", spread))) <= 1.0)


def test_a_busy_share_leaves_something() -> None:
    """15 % within a factor of two: log-normally one link in 300 would be full, in its odds none is."""
    share = Quantity(0.15, "1", factor_spread(2.0))
    drawn = np.asarray(Draw(1000)(share))
    assert 0.6 < drawn.max() < 0.8
    assert np.median(drawn) == pytest.approx(0.15, rel=1e-3)
    assert np.quantile(drawn, 0.1) == pytest.approx(0.15 * 2**-1.2816, rel=0.01)


@given(st.floats(1e-9, 0.99), st.floats(0.01, 1.0), st.floats(-3, 3))
def test_a_score_has_its_value_back(median: float, spread: float, score: float) -> None:
    value = float(draws.around(median, spread, score, share=True))
    hypothesis.assume(value < 1 - 1e-6)  # beyond, digits are gone
    assert draws.score_of(value, median, spread, share=True) == pytest.approx(score, abs=1e-4)


def test_a_mixture_is_of_shares_only_where_all_of_it_is() -> None:
    """Cores of unlike processors over a usual one: its median may be below 1, and half of them are above."""
    parts = [Quantity(v, "1", 0.01, "a") for v in (0.5, 0.9, 1.5, 2.0)]
    assert Mixture.of_kinds("free", [parts[2], parts[2].worth(0.0, "free")]).value == 0.75  # 0 has no logarithm
    drawn = np.asarray(Draw(400)(replace(Mixture.of_kinds("cores", parts), value=0.95)))
    assert np.mean(drawn > 1) == pytest.approx(0.5)
    assert np.asarray(Draw(400)(Mixture.of_kinds("share", parts[:2]))).max() < 1


def test_small_shares_are_log_normal() -> None:
    """Loss of a packet in a million has no use for odds."""
    scores = np.linspace(-3, 3, 7)
    shares, others = (draws.around(1e-6, 1.0, scores, share=share) for share in (True, False))
    np.testing.assert_allclose(shares, others, rtol=1e-4)


def test_margins_are_filled_evenly() -> None:
    """Latin hypercube: one draw in each of n equal slices of probability."""
    drawn = np.sort(np.asarray(Draw(100)(Quantity(1.0, "s", 0.5))))
    assert np.sum(drawn < 1.0) == 50


def test_a_factor_of_one_is_drawn_on_both_sides() -> None:
    """What is 1 in the middle is no share: work per cycle, or a correction."""
    drawn = Draw(64)(Quantity(1.0, "1", 0.1))
    assert drawn.min() < 1 < drawn.max()  # type: ignore[union-attr]  # an array


@pytest.mark.parametrize("given", ["9000", 9000, "9000 B", "9 kB", {"value": "9000"}])
def test_a_plain_number_is_read_where_nobody_writes_a_unit(given: object) -> None:
    plain = Unit("B", low=256, high=65535, plain=True).read(given)
    assert plain.value == 9000
    if given == "9000":
        with pytest.raises(ValueError, match="has no unit where a size is due"):
            Unit("B").read(given)


def test_the_larger_of_both_ends_counts() -> None:
    assert Assumption("k", "1", "0.5", "2", 0.8, 1.1, "").moves == 1 - 0.8
    assert Assumption("k", "1", "0.5", "2", 0.97, 1.3, "").moves == 1.3 - 1


def test_other_values_have_the_unit_of_the_number() -> None:
    assert written(prior("4 ms", 0.5, "assumed"), 0.00123456) == "1.23 ms"
    assert written(prior("1.4", 0.2, "assumed"), 1.81) == "1.81"


@pytest.mark.parametrize(("text", "dimension", "value"), rows("ground/tables", "units"))
def test_what_people_write(text: str, dimension: str, value: float) -> None:
    assert parse(text, dimension) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("text", "dimension", "says"), rows("ground/tables", "no units"))
def test_nothing_is_guessed(text: str, dimension: str, says: str) -> None:
    with pytest.raises(UnitError, match=says):
        parse(text, dimension)


def test_zero_needs_no_unit_and_infinity_has_words() -> None:
    assert parse("0", "s") == parse(0, "B/s") == 0.0
    assert show(math.inf, "B/s") == "unlimited"


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


@pytest.mark.parametrize(("seconds", "shown"), rows("ground/tables", "times_side_by_side_are_in_one_unit"))
def test_times_side_by_side_are_in_one_unit(seconds: list[float], shown: list[str]) -> None:
    assert in_one_unit(seconds) == shown


def test_how_often_is_said_by_the_levels() -> None:
    assert (often(), often("runs"), WITHIN, NAMES) == ("8 in 10", "8 runs in 10", "80 %", ("p10", "p50", "p90"))


#: phrases that state how much lies in an interval, or beyond one of its ends, with the share that each means
PHRASES = {
    r"(?:8|eight) (?:runs )?in (?:10|ten)\b(?! %)": 0.8,
    r"[Ff]our runs in five": 0.8,
    r"[Oo]ne in five\b": 0.2,
    r"[Oo]ne in ten\b": 0.1,
    r"\b80 ?% interval": 0.8,
    r"[Ii]n the 80 ?%": 0.8,
}
#: names of the ends, in pages alone: keys of JSON and fields of records keep them
ENDS = {r"\bp[19]0\b": 0.1}
TEXTS, PAGES = ("dtnsim/**/*.py", "dtnsim/**/*.yaml"), ("docs/**/*.md", "docs/**/*.in", "docs/**/*.yaml", "README.md")


def test_every_sentence_says_the_level_that_there_is() -> None:
    """Where `LEVELS` changes this names each line of code, documentation and README that has to follow."""
    outside = 1 - COVERED
    true = {0.8: COVERED, 0.2: outside, 0.1: outside / 2}
    stale, found = [], set()
    for patterns, phrases in ((TEXTS, PHRASES), (PAGES, PHRASES | ENDS)):
        for path in (p for pattern in patterns for p in ROOT.glob(pattern)):
            text = path.read_text(errors="replace")
            for phrase, share in phrases.items():
                for match in re.finditer(phrase, text):
                    found.add(phrase)
                    if abs(true[share] - share) > 1e-9:
                        line = text.count("\n", 0, match.start()) + 1
                        stale.append(f"{path.relative_to(ROOT)}:{line}: {match[0]}")
    unsaid = (PHRASES | ENDS).keys() - found
    assert not stale, "\n".join(
        ["of another level (docs/physics and what commands print are made by .ci/readme.py):", *stale]
    )
    assert not unsaid, f"no text says {', '.join(unsaid)}: write into PHRASES and ENDS what it says of the new levels"


def test_the_levels_are_written_once() -> None:
    """Neither as shares nor as the standard scores of the ends."""
    again = re.compile(r"\(0\.1, (0\.5, )?0\.9\)|\b1\.281[56]")
    found = [str(path) for path in CODE if again.search(path.read_text()) and path.stem != "_arrays"]
    assert not found, f"{', '.join(found)}: read LEVELS of dtnsim/physics/_arrays.py"


def test_spreads_of_few_runs_are_of_that_level() -> None:
    """Student's t over the normal score, by the number of runs."""
    score = NormalDist().inv_cdf(LEVELS[2])
    assert pytest.approx({n: stats.t.ppf(LEVELS[2], n - 1) / score for n in (2, 3, 4, 5)}, abs=0.005) == as_measured._T


def test_runs_of_a_fleet_and_numbers_that_are_tried_end_at_the_levels() -> None:
    assert spread([float(n) for n in range(1, 101)]) == pytest.approx([100 * level + 1 for level in LEVELS])
    low, high = ends(prior("4 ms", 0.5, "assumed"))
    score = NormalDist().inv_cdf(LEVELS[2])
    assert high == pytest.approx(float(draws.around(4e-3, 0.5, score, share=False)))
    assert low == pytest.approx(float(draws.around(4e-3, 0.5, -score, share=False)))
