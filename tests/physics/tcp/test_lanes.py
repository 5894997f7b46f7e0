"""Lanes of the round model: sums over flows, however many lanes there are."""

import numpy as np
import pytest

from dtnsim.physics.tcp import _lanes


@pytest.mark.parametrize("flows", [1, 2, 3, 4])
@pytest.mark.parametrize("lanes", [1, 63, 64, 1000])
def test_a_lane_has_the_same_sums_in_any_company(lanes: int, flows: int) -> None:
    values = np.random.default_rng(flows).lognormal(0.0, 9.0, (lanes, flows))
    assert np.array_equal(_lanes.total(values), values.sum(axis=1, keepdims=True))  # bit for bit
    assert np.array_equal(_lanes.least(values), values.min(axis=1, keepdims=True))
    alone = np.concatenate([_lanes.total(row[None, :]) for row in values])
    assert np.array_equal(_lanes.total(values), alone)
