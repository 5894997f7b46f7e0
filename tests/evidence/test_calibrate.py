"""`dtnsim.calibrate` and `dtnsim.validate`: what the commands do, as calls."""

from __future__ import annotations

from pathlib import Path

import pytest

import dtnsim
from dtnsim.ground.errors import InputError

SITES = Path(__file__).parents[2] / "calibration"


@pytest.mark.long
def test_a_site_is_fitted_by_one_call() -> None:
    notes: list[str] = []
    found = dtnsim.calibrate([SITES / "nasa"], ["nasa-c-system"], notes=notes)
    assert len(found.figures) > 3
    assert found.covariance.shape == (len(found.parameters),) * 2


def test_nothing_to_fit_is_said() -> None:
    with pytest.raises(InputError, match="no figure with 'role: fit' on venadi"):
        dtnsim.calibrate([SITES / "nasa"], ["venadi"])


def test_an_empty_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"^{tmp_path}: no figure with 'role: fit' on venadi"):
        dtnsim.calibrate([tmp_path], ["venadi"])


def test_measured_beside_predicted_by_one_call() -> None:
    found = dtnsim.validate([SITES / "nasa"], samples=0)
    assert found.sites == ["nasa"]
    assert len(found.of("blind")) == 7
