import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics.rounds import MANY, workers_at_work


def test_many_files_keep_all_at_work():
    assert workers_at_work([1.0], [4 * MANY + 1], 4) == 4.0
    assert workers_at_work([1.0], [4 * MANY - 1], 4) == pytest.approx(4.0, rel=0.005)


def test_five_equal_files_on_four_workers_take_two_rounds():
    assert workers_at_work([7.0], [5], 4) == pytest.approx(2.5)


def test_grahams_worst_case():
    """Graham (1969): W (W - 1) jobs of 1 and then one of W take 2 W - 1 rounds of which W would do."""
    w = 4
    small, large = np.ones(w * (w - 1)), [float(w)]
    sizes, counts = np.concatenate([small, large]), np.ones(w * (w - 1) + 1, int)
    assert workers_at_work(sizes, counts, w) == pytest.approx(sizes.sum() / (2 * w - 1))


@given(st.lists(st.floats(1, 100), min_size=1, max_size=40), st.integers(1, 16))
def test_between_grahams_bounds(sizes, workers):
    found = workers_at_work(sizes, [1] * len(sizes), workers)
    assert found <= workers * (1 + 1e-12)
    if len(sizes) >= workers:
        makespan = sum(sizes) / found
        best = max(*sizes, sum(sizes) / workers)
        assert best * (1 - 1e-12) <= makespan <= (2 - 1 / workers) * best * (1 + 1e-12)
