"""What a reader finds in memory, and what leaves it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics import memory, residency

SIZE = st.floats(1.0, 1e12)


def test_a_file_that_fits_is_found_and_one_that_does_not_is_read_again() -> None:
    assert residency.sequential_hits(10.0, 10.0, 0.0) == 10.0
    assert residency.sequential_hits(10.0, 6.0, 4.0) == 6.0
    assert residency.sequential_hits(10.0, 6.0, 3.9) == 0.0  # LRU drops each page just before it is wanted
    assert residency.sequential_hits(10.0, 0.0, 100.0) == 0.0


def test_cyclic_reading_under_lru_finds_all_or_nothing() -> None:
    """The same as pages one by one: a list of 8 pages, files of 6, 8 and 9."""
    for pages in (6, 8, 9):
        held: dict[int, None] = {}
        hits = 0
        for turn in range(2):
            for page in range(pages):
                hits += turn and page in held
                held.pop(page, None)
                held[page] = None
                if len(held) > 8:
                    del held[next(iter(held))]
        resident = min(pages, 8)
        assert residency.sequential_hits(pages, resident, 8 - resident) == hits


@given(SIZE, st.floats(0.0, 1.0), SIZE, st.floats(1.0, 4.0))
def test_more_memory_never_finds_less(size: float, part: float, spare: float, more: float) -> None:
    less = residency.sequential_hits(size, part * size, spare)
    assert 0 <= less <= residency.sequential_hits(size, part * size, spare * more) <= size


def test_inactive_pages_leave_first_and_dirty_ones_stay() -> None:
    assert residency.evicted([4.0, 3.0, 5.0], [0.0, 2.0, 0.0], 6.0).tolist() == [4.0, 1.0, 1.0]
    assert residency.evicted([4.0], [4.0], 6.0).tolist() == [0.0]
    assert residency.evicted([], [], 6.0).tolist() == []


@given(st.lists(SIZE, min_size=1, max_size=6), st.floats(0.0, 1.0), SIZE)
def test_no_more_leaves_than_is_wanted_or_clean(pages: list[float], pinned: float, wanted: float) -> None:
    gone = residency.evicted(pages, [pinned * p for p in pages], wanted)
    clean = (1 - pinned) * sum(pages)
    assert gone.sum() == pytest.approx(min(wanted, clean), rel=1e-9, abs=1e-3)
    assert np.all(gone >= 0)


def test_a_first_touch_costs_a_fault_a_page_and_its_clearing() -> None:
    assert memory.first_touch(1000.0, 4096.0, 0.2) == pytest.approx(0.444, rel=1e-3)
    assert memory.first_touch(1000.0, 2**21, 0.2) == pytest.approx(0.2005, rel=1e-3)  # huge pages: clearing is left
    assert memory.first_touch(0.0, 4096.0, 0.2) == 0.2
