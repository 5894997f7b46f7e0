"""Random replacement against a cache that is simulated line by line."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import cache


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


def test_limits() -> None:
    assert cache.random_replacement_share(1.0, 1e9) == pytest.approx(1.0, abs=1e-6)
    assert cache.random_replacement_share(1e9, 1.0) == pytest.approx(0.0, abs=1e-12)
    # source and target together smaller than the cache: after a while nothing is lost
    assert cache.random_replacement_share(0.4, 1.0, 2.0, 2.0) == pytest.approx(1.0, abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.01, 20.0), st.floats(1.01, 3.0))
def test_solves_its_equation_and_falls_with_the_record(load: float, footprint: float) -> None:
    h, more = cache.random_replacement_share(np.array([load, 1.1 * load]), 1.0, footprint)
    assert h == pytest.approx(np.exp(-(footprint - h) * load), abs=1e-3)
    assert more <= h + 1e-9
    assert 0.0 <= h <= 1.0
