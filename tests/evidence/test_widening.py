"""How a fit admits what it does not know: the scatter of a log, and the covariance widened by what is left over."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dtnsim.description import spec
from dtnsim.evidence import cases, fit
from dtnsim.evidence.figures import Paths


def test_what_the_data_told_is_widened_and_the_prior_is_not() -> None:
    """Data of information d on the scale of the prior: 1 / (1 + d) before, 1 / (1 + d / excess) after."""
    for told in (0.0, 1.0, 99.0):
        found = fit._widened(np.array([[1 / (1 + told)]]), 4.0)
        assert found[0, 0] == pytest.approx(1 / (1 + told / 4)), told
    assert fit._widened(np.array([[0.25]]), 1.0)[0, 0] == 0.25  # nothing left over: nothing to widen


def test_widening_keeps_what_is_told_apart() -> None:
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    covariance = turn @ np.diag([0.01, 1.0]) @ turn.T
    wider = fit._widened(covariance, 9.0)
    values, vectors = np.linalg.eigh(wider)
    assert values == pytest.approx([1 / (1 + 99 / 9), 1.0])
    assert np.abs(vectors[:, 0] @ turn[:, 0]) == pytest.approx(1.0)  # along the same combination of parameters
    assert (np.linalg.eigvalsh(wider - covariance) > -1e-12).all()
    assert wider == pytest.approx(wider.T)


@dataclass
class Fake:
    """A search at a point whose ratios and slopes are known."""

    model: SimpleNamespace
    ratio: np.ndarray
    slope: np.ndarray
    sd: np.ndarray = field(default_factory=lambda: np.ones(1))

    def at(self, _u: Any) -> tuple[np.ndarray, np.ndarray]:
        return self.ratio, self.slope


def scattered(ratio: list[float], logs: list[str], spread: float = 0.03, slope: float = 0.0) -> np.ndarray:
    figures = [SimpleNamespace(case=SimpleNamespace(spread=spread, log=(Path(log), 1), tool="t")) for log in logs]
    count = len(ratio)
    search = Fake(SimpleNamespace(figures=figures), np.array(ratio), np.full((count, 1), slope))
    return fit._scatter(search, np.zeros(1), np.full(count, spread))  # type: ignore[arg-type]


def test_figures_of_a_log_err_by_what_they_scatter() -> None:
    """Eight ratios of +-0.1: a standard deviation of 0.1, which is more than their own 3 %."""
    found = scattered([0.1, -0.1] * 4, ["a"] * 8)
    assert found == pytest.approx(np.full(8, 0.1))


def test_few_figures_tell_no_scatter_and_quiet_ones_keep_their_own() -> None:
    assert scattered([0.1, -0.1] * 3 + [0.1], ["a"] * 7) == pytest.approx(np.full(7, 0.03))
    assert scattered([0.001, -0.001] * 4, ["a"] * 8) == pytest.approx(np.full(8, 0.03))


def test_each_log_has_a_scatter_of_its_own() -> None:
    found = scattered([0.1, -0.1] * 4 + [0.001] * 8, ["a"] * 8 + ["b"] * 8)
    assert found == pytest.approx([0.1] * 8 + [0.03] * 8)


def test_one_wild_figure_does_not_widen_all() -> None:
    """It counts as three medians: sqrt((7 x 0.05**2 + 0.15**2) / 8)."""
    found = scattered([0.05, -0.05] * 3 + [0.05, 5.0], ["a"] * 8)
    assert found == pytest.approx(np.full(8, ((7 * 0.05**2 + 0.15**2) / 8) ** 0.5))


def test_figures_that_the_fit_followed_leave_less_to_scatter() -> None:
    """A parameter that all eight tell takes nearly one degree of freedom: 0.1 sqrt(8 / 7)."""
    found = scattered([0.1, -0.1] * 4, ["a"] * 8, slope=1.0)
    share = (8 / 0.03**2) / (8 / 0.03**2 + 1)
    assert found == pytest.approx(np.full(8, 0.1 * (8 / (8 - share)) ** 0.5))


def test_a_path_file_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Path(__file__).parents[2] / "calibration" / "published" / "cases.yaml"
    chosen = [c for c in cases.load(site) if c.study == "published/treeru"]
    read: list[str] = []
    load = spec.load
    monkeypatch.setattr("dtnsim.evidence.figures.spec.load", lambda p, *a, **k: read.append(str(p)) or load(p, *a, **k))
    paths = Paths()
    loaded = [paths(c) for c in chosen]
    assert len(chosen) == 10
    assert len(read) == 1
    assert len({p.transfers[0].source_end + p.transfers[0].to for p in loaded}) == 10
    assert paths(chosen[3]) is loaded[3]
