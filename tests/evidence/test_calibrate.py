"""`dtnsim.calibrate` and `dtnsim.validate` as calls; known hosts are found again (`tests/recovery.py` has more)."""

from pathlib import Path

import pytest

import dtnsim
from dtnsim.ground.errors import InputError
from tests.recovery import recover

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
    assert len(found.with_role("blind")) == 7


@pytest.mark.long
@pytest.mark.parametrize("factors", [[1.0] * 4, [5.0, 5.0, 0.2, 0.2]], ids=["right", "wrong"])
def test_known_hosts_are_found_again(factors: list[float]) -> None:
    found = [recover(seed, factor) for seed, factor in enumerate(factors)]
    known = sum(len(f.parameters) for f in found)
    inside = sum(f.inside for f in found)
    assert known >= 40
    # 90 % promised; of 44 fewer than 34 are a chance of 1 in 400
    assert inside >= known - 10
    assert all(f.not_followed == 0 for f in found)
    wrong = [{"volumes./fast.array.write", "volumes./fast.array.read"}, {"volumes./data.array.of.rate"}]
    for seed, f in enumerate(found):
        assert set(f.released) == (wrong[seed % 2] if factors[seed] != 1.0 else set())
