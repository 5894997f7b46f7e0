"""Known hosts are found again, also where their files are wrong by a factor of five (`tests/recovery.py` has more)."""

from __future__ import annotations

import pytest

from tests.recovery import recover


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
