"""Draws: uniform, the same wherever they stand, stratified over the replicas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics.tcp import _chance


def test_they_are_uniform_and_do_not_depend_on_their_company():
    many = _chance.uniform(1, _chance.LOSS, np.arange(20000))
    assert 0 <= many.min() < many.max() < 1
    assert many.mean() == pytest.approx(0.5, abs=0.01)
    assert np.histogram(many, 10)[0] == pytest.approx(2000, rel=0.08)
    assert abs(np.corrcoef(many[:-1], many[1:])[0, 1]) < 0.03
    assert _chance.uniform(1, _chance.LOSS, 777)[0] == many[777]
    assert _chance.uniform(2, _chance.LOSS, 777)[0] != many[777]


@given(st.integers(0, 1000), st.integers(0, 3), st.sampled_from([4, 8, 16]))
def test_replicas_take_one_part_each(number, flow, replicas):
    u = _chance.spread(1, _chance.LOSS, number, flow, np.arange(replicas), replicas)
    assert sorted(np.floor(u * replicas).astype(int)) == list(range(replicas))


def test_other_counts_of_replicas_are_independent():
    u = _chance.spread(1, _chance.LOSS, 5, 0, np.arange(3), 3)
    assert len(set(u)) == 3
