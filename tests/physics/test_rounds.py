import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics.rounds import MANY, rounds


def _at_work(sizes, counts, workers):
    return 1 / sum(part / n for n, part in rounds(sizes, counts, workers))


def test_many_files_keep_all_at_work():
    assert _at_work([1.0], [4 * MANY + 1], 4) == 4.0
    assert _at_work([1.0], [4 * MANY - 1], 4) == pytest.approx(4.0, rel=0.005)


def test_five_equal_files_on_four_workers_take_two_rounds():
    assert _at_work([7.0], [5], 4) == pytest.approx(2.5)


def test_grahams_worst_case():
    """Graham (1969): W (W - 1) jobs of 1 and then one of W take 2 W - 1 rounds of which W would do."""
    w = 4
    small, large = np.ones(w * (w - 1)), [float(w)]
    sizes, counts = np.concatenate([small, large]), np.ones(w * (w - 1) + 1, int)
    assert _at_work(sizes, counts, w) == pytest.approx(sizes.sum() / (2 * w - 1))


@given(st.lists(st.floats(1, 100), min_size=1, max_size=40), st.integers(1, 16))
def test_between_grahams_bounds(sizes, workers):
    found = _at_work(sizes, [1] * len(sizes), workers)
    assert found <= workers * (1 + 1e-12)
    if len(sizes) >= workers:
        makespan = sum(sizes) / found
        best = max(*sizes, sum(sizes) / workers)
        assert best * (1 - 1e-12) <= makespan <= (2 - 1 / workers) * best * (1 + 1e-12)


@given(st.lists(st.floats(1, 100), min_size=1, max_size=40), st.integers(1, 16))
def test_all_bytes_move_at_some_time(sizes, workers):
    found = rounds(sizes, [1] * len(sizes), workers)
    assert sum(part for _, part in found) == pytest.approx(1.0)
    assert [n for n, _ in found] == sorted({n for n, _ in found}, reverse=True)
    assert found[0][0] <= workers


def test_the_last_file_of_five_moves_alone():
    assert rounds([7.0], [5], 4) == ((4, pytest.approx(0.8)), (1, pytest.approx(0.2)))


def test_three_workers_left_are_divided_between_two_and_four():
    """Seven files on four workers: 4 of 7, then 3; which take 2 rounds of one file, as 4/7 / 4 + 3/7 / 3 says."""
    found = dict(rounds([1.0], [7], 4))
    assert found[4] / 4 + found[2] / 2 == pytest.approx(2 / 7)
    assert found[4] + found[2] == pytest.approx(1.0)
