"""``predict`` for scripts: probabilities, requirements with an exit code, what makes an interval wide."""

from __future__ import annotations

import json

import pytest

from dtnsim.ground import library
from tests.cli.conftest import Run

NAME = next(n for n in library.names("paths") if n.startswith("esnet/"))


def test_a_target_and_a_deadline_have_probabilities(run: Run) -> None:
    code, out, _ = run("predict", NAME, "--target", "1Mb/s", "--deadline", "1s")
    assert code == 0
    assert "at least 1 Mb/s: probability 100%" in out
    assert "within 1 s: probability" in out


def test_a_requirement_sets_the_exit_code(run: Run) -> None:
    assert run("predict", NAME, "--require", ">= 1Mb/s at 90 %").code == 0
    code, out, _ = run("predict", NAME, "--require", ">= 900Gb/s at 90 %", "--require", ">= 1Mb/s at 90 %")
    assert code == 3
    assert "(required 90%: no)" in out
    assert "(required 90%: yes)" in out
    code, out, _ = run("predict", NAME, "--require", ">= 900Gb/s at 90 %", "--json")
    assert code == 3
    (goal,) = json.loads(out)["goals"]
    assert goal == {"goal": "target", "throughput_Bps": 112.5e9, "probability": 0.0, "required": 0.9, "met": False}


@pytest.mark.parametrize("wrong", [("--target", "fast"), ("--deadline", "3"), ("--require", "10Gb/s")])
def test_what_is_no_goal_is_refused(run: Run, wrong: tuple[str, str]) -> None:
    code, _, err = run("predict", NAME, *wrong)
    assert code == 2
    assert wrong[0] in err


@pytest.mark.long
def test_why_wide_and_mean(run: Run) -> None:
    shares = json.loads(run("predict", NAME, "--why-wide", "--json").out)["why_wide"]
    assert shares == sorted(shares, key=lambda s: -s["share"])
    assert {"name", "share", "width_left", "measure"} == set(shares[0])
    assert "why the interval is wide" in run("predict", NAME, "--why-wide").out
    one, mean = (json.loads(run("predict", NAME, "--json", *m).out)["throughput_Bps"] for m in ((), ("--mean",)))
    assert mean["p90"] / mean["p10"] <= one["p90"] / one["p10"]  # one run's luck is left out
    assert mean["p50"] == pytest.approx(one["p50"], rel=0.05)
