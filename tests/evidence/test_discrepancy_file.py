"""The discrepancy as data: the same cases give the same bytes, with n and studies of every kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from dtnsim.evidence import cases, learn, validate
from dtnsim.evidence.trust import Judgement
from dtnsim.steady import discrepancy
from dtnsim.steady.regime import Regime

CASES = Path(__file__).parents[2] / "calibration"


@pytest.fixture(scope="module")
def judged() -> tuple[Judgement, ...]:
    every = [c for site in ("venadi", "uci", "esnet") for c in cases.load(CASES / site / "cases.yaml")]
    chosen = [c for c in every if c.role != "fit" or c.id in ("ascp-mean", "dd-lightpath-evening",
              "dd-ucinet-afternoon", "cp-10g-in-ucinet-trials")]  # fmt: skip
    return validate.validate([c for c in chosen if not c.withheld], samples=64).judgements


@pytest.mark.long
def test_writes_what_predict_reads(judged: tuple[Judgement, ...], tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    made = learn.write(judged, file)
    again = tmp_path / "e.yaml"
    learn.write(judged, again)
    assert file.read_bytes() == again.read_bytes()
    assert (tmp_path / "d-folds.yaml").read_bytes() == (tmp_path / "e-folds.yaml").read_bytes()
    read = discrepancy.load(file)
    law = made["kinds"]["measured/shared server/mover"]
    assert law["n"] == 5
    assert law["source"] == "1 study: venadi"
    assert read.law(Regime("shared server", "mover", setting="measured")).below == law["below"]
    assert read.law(Regime("never seen", "x")) == read.laws["production"]
    folds = yaml.safe_load((tmp_path / "d-folds.yaml").read_text())["folds"]
    assert set(folds) == {"venadi", "uci", "esnet"}
    assert "measured/shared server" not in folds["venadi"]["kinds"]


def test_repeats_on_other_days_are_the_noise_of_days(judged: tuple[Judgement, ...]) -> None:
    pairs = learn.repeats(judged)
    days = [runs for _, other, runs in pairs if other]
    assert len(days) == 5
    # dd over LightPath: 121.46 MB/s on another day than the sample of 101 MB/s
    assert any(runs[1] == pytest.approx(0.184, abs=0.002) for runs in days)
    assert [other for _, other, _ in pairs].count(False) == 1  # one of the firewall's seven trials
    noise = learn.residuals(judged, discrepancy.Discrepancy(default_noise=discrepancy.Noise(0.03, 0.04)))
    assert {r.noise for r in noise if not r.regime.dedicated} == {0.05}


def test_only_figures_that_fitted_nothing_teach(judged: tuple[Judgement, ...]) -> None:
    found = learn.residuals(judged, discrepancy.Discrepancy())
    assert len(found) == sum(j.case.role == "blind" for j in judged)


def test_a_file_that_judges_alone_teaches_nothing(judged: tuple[Judgement, ...]) -> None:
    alone = [replace(j, case=replace(j.case, teaches=False)) for j in judged]
    assert learn.residuals(alone, discrepancy.Discrepancy()) == []
    assert learn.repeats(alone) == []
    fresh = cases.load(CASES / "fresh" / "cases.yaml")
    assert not any(c.teaches for c in fresh)
    assert not {c.study for c in fresh} & set(validate.shipped_folds())
