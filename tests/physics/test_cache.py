"""The page cache against the kernel's own comment, an integrated fluid, and dd and iozone as measured."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import cache


def test_thresholds_of_a_default_kernel():
    # 10 % and 20 % of dirtyable memory; free run to the middle (mm/page-writeback.c)
    background, limit = cache.dirty_limits(100e9, *cache.DIRTY_RATIOS[0][1])
    assert (background, limit) == (10e9, 20e9)
    assert cache.free_run_ceiling(background, limit) == 15e9
    assert cache.dirty_limits(100e9, 0.3, 0.2)[0] == pytest.approx(10e9)
    assert cache.below_limit(5e9, 5e9) == pytest.approx(2.5e9)


@given(st.lists(st.floats(1.0, 1e12), min_size=1, max_size=8), st.floats(1.0, 1e12))
def test_water_fills_up_to_one_level(sizes: list[float], room: float) -> None:
    """Nobody holds more than it writes; together no more than the room; who is cut short holds as much as anybody."""
    held = cache.water_filled(sizes, room)
    assert np.all(held <= np.array(sizes) * (1 + 1e-12))
    assert held.sum() <= max(room, 0.0) * (1 + 1e-9) or held.sum() == pytest.approx(sum(sizes))
    short = held < np.array(sizes) * (1 - 1e-9)
    if short.any():
        assert held.sum() == pytest.approx(room)
        assert held[short].max() == pytest.approx(held.max())


@given(st.floats(1e6, 1e12), st.floats(1e6, 1e11), st.floats(0.01, 0.99))
def test_what_is_produced_is_drained_or_dirty(ceiling: float, rate: float, share: float) -> None:
    """At the moment at which the writer is throttled: F - D is the ceiling."""
    background = 0.6 * ceiling
    filled = cache.filled_bytes(background, ceiling, rate, share * rate)
    assert filled - cache.drained_bytes(filled, background, rate, share * rate) == pytest.approx(ceiling, rel=1e-9)
    assert cache.drained_bytes(background, background, rate, share * rate) == 0.0


def simulated(record: int, stream: bool, capacity: int, rounds: int = 30) -> float:
    """Hit share of a buffer of ``record`` lines met each round, beside a stream of new lines or a second buffer."""
    rng = np.random.default_rng(7)
    held = list(range(-capacity, 0))
    here = set(held)
    hits = seen = 0
    fresh = 10**9
    for number in range(rounds):
        for line in range(record):
            fresh += 1
            for tag in (line, fresh if stream else record + line):
                counted = number >= rounds // 2 and tag < 10**9
                seen += counted
                if tag in here:
                    hits += counted
                    continue
                place = int(rng.integers(capacity))
                here.discard(held[place])
                held[place] = tag
                here.add(tag)
    return hits / seen


@pytest.mark.parametrize(
    ("record", "stream", "reused"), [(400, True, 1.0), (1000, True, 1.0), (300, False, 2.0), (1500, False, 2.0)]
)
def test_agrees_with_a_simulated_cache(record: int, stream: bool, reused: float) -> None:
    found = float(cache.random_replacement_share(record, 1000, 2.0, reused))
    # 1000 lines, fifteen rounds counted: standard error below 0.01; the law takes the cache as large
    assert simulated(record, stream, 1000) == pytest.approx(found, abs=0.03)


@given(st.floats(0.01, 20.0), st.floats(1.01, 3.0))
def test_solves_its_equation_and_falls_with_the_record(load: float, footprint: float) -> None:
    h, more = cache.random_replacement_share(np.array([load, 1.1 * load]), 1.0, footprint)
    assert h == pytest.approx(np.exp(-(footprint - h) * load), abs=1e-3)
    assert more <= h + 1e-9
    assert 0.0 <= h <= 1.0


SIZE = st.floats(1.0, 1e12)


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
        assert cache.sequential_hits(pages, resident, 8 - resident) == hits


@given(st.lists(SIZE, min_size=1, max_size=6), st.floats(0.0, 1.0), SIZE)
def test_no_more_leaves_than_is_wanted_or_clean(pages: list[float], pinned: float, wanted: float) -> None:
    gone = cache.evicted(pages, [pinned * p for p in pages], wanted)
    clean = (1 - pinned) * sum(pages)
    assert gone.sum() == pytest.approx(min(wanted, clean), rel=1e-9, abs=1e-3)
    assert np.all(gone >= 0)
