"""What of a broken transfer need not be sent again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics import restart


def test_one_worker_keeps_whole_files():
    assert restart.kept_bytes(57.0, 10.0, 10, 1) == 50
    assert restart.kept_bytes(100.0, 10.0, 10, 1) == 100
    assert restart.kept_bytes(0.0, 10.0, 10, 4) == 0


@given(st.integers(1, 8), st.integers(0, 10**6))
def test_workers_lose_what_they_have_under_way(workers, seed):
    """Against workers that are simulated: each takes the next file; they are broken off at random phases."""
    rng = np.random.default_rng(seed)
    phase = rng.random(workers)
    whole = rng.integers(20, 40)
    done = (whole + phase.sum()) * 1.0
    kept = restart.kept_bytes(done, 1.0, 1000, workers)
    assert abs(kept - whole) <= (workers + 1) / 2 + 1


@given(st.floats(0, 1), st.floats(1e-3, 1e9), st.integers(1, 1000), st.integers(1, 64))
def test_never_more_than_was_moved(share, unit, files, workers):
    done = share * unit * files
    kept = float(restart.kept_bytes(done, unit, files, workers))
    assert 0 <= kept <= done
    assert kept / unit == pytest.approx(round(kept / unit), abs=1e-6) or kept == done
