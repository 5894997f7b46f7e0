"""Workers and a shared station: limits, a published value, bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics.closed import cycle_time

SECONDS = st.floats(1e-6, 1e3)


def test_limits():
    assert cycle_time(1, 3.0, 2.0) == pytest.approx(5.0)
    assert cycle_time(7, 0.0, 2.0) == pytest.approx(2.0)
    assert cycle_time(7, 3.0, 0.0) == pytest.approx(3.0 / 7)
    assert cycle_time(100, 1.0, 2.0) == pytest.approx(2.0)


def test_interactive_system_by_hand():
    """Lazowska et al., Quantitative System Performance, ch. 6: N X = Z + R; here Z = 4 D, N = 3, by hand."""
    # R1 = 1, X1 = 1/5, Q1 = 1/5; R2 = 6/5, X2 = 2/5.2, Q2 = 6/13; R3 = 19/13, X3 = 3/(4 + 19/13)
    assert cycle_time(3, 4.0, 1.0) == pytest.approx((4 + 19 / 13) / 3)


@given(n=st.integers(1, 64), away=SECONDS, station=SECONDS)
def test_between_the_bounds_and_never_slower_with_more_workers(n, away, station):
    here = float(cycle_time(n, away, station))
    assert max(station, (away + station) / n) * (1 - 1e-9) <= here <= (away + n * station) / n * (1 + 1e-9)
    assert float(cycle_time(n + 1, away, station)) <= here * (1 + 1e-9) or n == 64
