"""Proper scores: closed forms, and that neither width nor narrowness is rewarded."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.evidence import cases, validate
from dtnsim.evidence.trust import by_kind, constant_factor, crps, interval_score, judging, trust

GRID = np.array([NormalDist().inv_cdf((i + 0.5) / 4000) for i in range(4000)])
CASES = Path(__file__).parents[2] / "calibration"


def test_crps_of_a_normal_is_the_published_closed_form() -> None:
    """Gneiting and Raftery 2007, eq. 20: z (2 F(z) - 1) + 2 f(z) - 1 / sqrt(pi); 0.2337 at the mean."""
    for z in (0.0, 0.7, -2.0):
        normal = NormalDist()
        exact = z * (2 * normal.cdf(z) - 1) + 2 * normal.pdf(z) - 1 / math.sqrt(math.pi)
        assert crps(GRID, z) == pytest.approx(exact, rel=5e-3)
    assert crps(GRID, 0.0) == pytest.approx(0.2337, rel=5e-3)
    assert crps(np.array([3.0]), 1.0) == pytest.approx(2.0)  # of one point: the distance


def test_interval_score_is_width_and_what_misses_cost() -> None:
    assert interval_score(1.0, 3.0, 2.0, 0.8) == pytest.approx(2.0)
    assert interval_score(1.0, 3.0, 0.5, 0.8) == pytest.approx(2.0 + 10 * 0.5)
    assert interval_score(1.0, 3.0, 3.2, 0.8) == pytest.approx(2.0 + 10 * 0.2)


@given(st.floats(0.3, 3.0))
def test_the_honest_interval_scores_best(factor: float) -> None:
    honest = 1.2816

    def mean(half: float) -> float:
        return float(np.mean([interval_score(-half, half, y, 0.8) for y in GRID[::20]]))

    assert mean(honest) <= mean(honest * factor) + 0.01


def test_the_one_factor_for_all_is_that_of_the_others() -> None:
    errors = [("a", 5.0), *(("b", x / 10) for x in range(11))]
    assert constant_factor(errors, "a", 0.8) == pytest.approx(0.8)
    assert constant_factor(errors, "b", 0.8) == 5.0
    assert constant_factor(errors[:1], "a", 0.8) == 0.0


def test_trust_counts_what_judges() -> None:
    chosen = [c for c in cases.load(CASES / "venadi" / "cases.yaml") if c.tool in ("scp", "dd") and not c.withheld]
    judged = validate.validate(chosen, samples=128).judgements
    assert [j.case.id for j in judging(judged)] == ["scp"]
    found = trust(judged)
    assert found is not None
    assert found.n == 1
    (j,) = judging(judged)
    assert found.coverage[0.8] == float(j.covered or False)
    assert found.width == pytest.approx(math.log(j.p90 / j.p10))
    assert set(by_kind(judged)) == {j.regime.kind} == {"core"}
    assert trust([x for x in judged if x.case.role == "fit"]) is None
    low, high = (np.quantile(j.samples, q, method="inverted_cdf") for q in (0.025, 0.975))
    assert j.within(0.95) == (low * 0.998 <= j.case.measured <= high * 1.002)


def test_an_interval_of_validate_is_widened_beyond_the_parameters() -> None:
    (case,) = [c for c in cases.load(CASES / "venadi" / "cases.yaml") if c.id == "gridftp-gpfs"]
    (j,) = validate.validate([case], samples=256).judgements
    alone = np.quantile(j.explained, (0.1, 0.9))
    assert j.p90 / j.p10 > 1.2 * alone[1] / alone[0]
    assert j.residual is not None
    assert j.residual.value == pytest.approx(math.log(case.measured / j.ceiling))
    assert j.residual.study == "venadi"


def test_durations_are_turned_over() -> None:
    (case,) = [c for c in cases.load(CASES / "uci" / "cases.yaml") if c.id == "untar-ucinet"]
    (j,) = validate.validate([case], samples=64).judgements
    assert j.residual is not None
    assert j.residual.value == pytest.approx(math.log(j.ceiling / case.measured))
    assert j.residual.regime.kind == "small files"
