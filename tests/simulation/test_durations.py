"""Durations of many files: exact while there is room, quantiles beyond."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.simulation.durations import Durations, quantiles


def test_few_are_kept_as_they_come() -> None:
    kept = Durations()
    for seconds, files in ((3.0, 1), (1.0, 5), (2.0, 1)):
        kept.add(seconds, files)
    found, counts = kept.arrays()
    assert found.tolist() == [3.0, 1.0, 2.0]
    assert counts.tolist() == [1, 5, 1]


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 100)), min_size=1, max_size=60), st.integers(1, 16))
def test_less_room_keeps_the_sum_and_the_number(entries: list[tuple[float, int]], room: int) -> None:
    kept = Durations()
    for seconds, files in entries:
        kept.add(seconds, files)
    found, counts = kept.arrays(room)
    assert len(found) <= room
    assert counts.sum() == sum(n for _, n in entries)
    # sums of at most 60 doubles up to 1e8 each
    assert found @ counts == pytest.approx(sum(s * n for s, n in entries), rel=1e-9, abs=1e-9)


def test_quantiles_weigh_by_files() -> None:
    """One file of 1 s and nine of 2 s: a tenth of the files takes no more than 1 s."""
    assert quantiles([1.0, 2.0], [1, 9], [0.1, 0.11, 0.5, 1.0]).tolist() == [1.0, 2.0, 2.0, 2.0]


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=50), st.floats(0.01, 1.0))
def test_quantiles_are_those_of_numpy(values: list[float], share: float) -> None:
    found = float(quantiles(values, np.ones(len(values)), [share])[0])
    at_most = sum(v <= found for v in values)
    assert at_most >= share * len(values) - 1e-6
