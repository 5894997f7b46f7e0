"""Probabilities of goals, and what makes an interval wide."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dtnsim.ground.errors import InputError
from dtnsim.ground.records import Drawn
from dtnsim.report.document import goals_document
from dtnsim.steady import goals, why_wide
from dtnsim.steady.prediction import predict
from tests.lab import journey
from tests.strategies import load

GIVEN = load(journey(wan={"bandwidth": "10 Gb/s", "rtt": "5 ms"}, dataset={"files": 1, "size": "1 TB"}, tool="gridftp"))


def test_a_probability_is_the_share_of_scenarios() -> None:
    found = predict(GIVEN, samples=500)
    assert found.drawn is not None
    rate = float(np.quantile(found.drawn.total_Bps, 0.25))
    goal = goals.target(f"{rate * 8e-9}Gb/s")
    assert goal.probability(found) == pytest.approx(0.75, abs=0.005)
    assert goals.target("1kb/s").probability(found) == 1.0
    assert goals.target("11Gb/s").probability(found) == 0.0
    # one TB at that rate
    by = goals.deadline(f"{1e12 / rate}s")
    assert by.probability(found) == pytest.approx(goal.probability(found), abs=0.01)
    later = predict(GIVEN, samples=500, overrides=["transfer.start=2 h"])
    assert by.probability(later) == by.probability(found), "time counts from when it begins, as in plan and simulate"
    assert goal.met(found)
    for none in ("-3h", "0h"):
        with pytest.raises(InputError, match=r"--deadline.*write it like 8h"):
            goals.deadline(none)


def test_a_goal_that_nobody_says_how_sure_is_met_by_half_of_the_runs() -> None:
    found = predict(GIVEN, samples=500)
    assert found.drawn is not None
    likely, unlikely = (
        goals.target(f"{float(np.quantile(found.drawn.total_Bps, q)) * 8e-9}Gb/s") for q in (0.25, 0.75)
    )
    said = [row["met"] for row in goals_document(found, [likely, unlikely])]
    assert said == [True, False]
    assert all(goal.met(found) for goal in (likely, unlikely))  # nothing is required: a script goes on


def test_requirements_are_read_and_judged() -> None:
    goal = goals.requirement(">= 1 Mb/s at 80 %")
    assert (goal.kind, goal.value, goal.required) == ("target", 125000.0, 0.8)
    found = predict(GIVEN)
    assert goal.met(found)
    assert not goals.requirement(">=11Gb/s at 1%").met(found)
    assert not goals.requirement("<= 1 s at 50 %").met(found)
    assert goals.requirement("<= 8h at 90 %").value == 8 * 3600
    for text in ("10Gb/s", ">= 10Gb/s", ">= 10 at 80 %", ">= 10Gb/s at 800 %", "<= 10Gb/s at 80 %"):
        with pytest.raises(InputError, match="--require"):
            goals.requirement(text)
    with pytest.raises(InputError, match="turns probabilities off"):
        goal.probability(predict(GIVEN, samples=0))


def drawn(function, count: int = 4096) -> Drawn:  # type: ignore[no-untyped-def]
    random = np.random.default_rng(0)
    scores = {k: random.permutation(random.normal(size=count)) for k in ("a.rtt", "b.loss", "c", "d", "idle")}
    rates = np.exp(function(scores))
    return Drawn(rates[:, None], rates, 1 / rates, scores)


def test_shares_of_a_sum_are_those_of_its_parts() -> None:
    """2 a + b: four fifths and one fifth (Sobol' indices of an additive model)."""
    found = {s.name: s for s in why_wide.shares(drawn(lambda z: 2 * z["a.rtt"] + z["b.loss"]))}
    assert found["a.rtt"].share == pytest.approx(0.8, abs=0.03)
    assert found["b.loss"].share == pytest.approx(0.2, abs=0.03)
    assert set(found) == {"a.rtt", "b.loss"}
    assert found["a.rtt"].left == pytest.approx(math.sqrt(0.2), abs=0.03)
    assert found["a.rtt"].measure == "ping"


def test_a_square_counts_and_an_interaction_is_nobodys() -> None:
    square = {s.name: s.share for s in why_wide.shares(drawn(lambda z: z["c"] ** 2))}
    assert square["c"] == pytest.approx(1.0, abs=0.06)  # clipped at its 99th percentile it is no polynomial
    crossed = why_wide.shares(drawn(lambda z: z["c"] * z["d"]))
    assert sum(s.share for s in crossed) < 0.1
    assert why_wide.shares(drawn(lambda z: 0 * z["c"])) == (), "a certain answer has no shares"


def test_what_was_fitted_together_stands_together() -> None:
    found = why_wide.shares(drawn(lambda z: z["c"] + z["d"]), correlated=("c", "d"))
    assert {s.name for s in found} == {"fitted parameters of c", "fitted parameters of d"}
    apart = drawn(lambda z: z["c"] + z["d"])
    joint = replace(apart, scores={"h: x": apart.scores["c"], "h: y": apart.scores["d"]})
    (one,) = why_wide.shares(joint, correlated=("h: x", "h: y"))
    assert one.name == "fitted parameters of h"
    assert one.share == pytest.approx(1.0, abs=0.02)
    assert "calibrate" in one.measure


def test_shares_of_a_path_name_what_to_measure() -> None:
    found = predict(GIVEN, samples=1024).drawn
    assert found is not None
    listed = why_wide.shares(found)
    assert sum(s.share for s in listed) < 1.05
    assert any("loss" in s.name or s.name.startswith(("discrepancy", "wan.")) for s in listed[:3])
    assert all(s.measure for s in listed)
