"""Workers and a shared station: limits, a published value, bounds."""

from __future__ import annotations

import pytest
from hypothesis import example, given
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


def test_workers_that_are_slow_by_themselves_do_not_queue():
    """Three who each could have a third of the station, or less, are never in each other's way."""
    assert cycle_time(3, 0.0, 1.0, 3.0) == pytest.approx(1.0)
    assert cycle_time(3, 2.0, 1.0, 4.0) == pytest.approx(2.0)
    # two who pass half a unit more than there is, by hand: p0 Z / D_1 = p1 ..., s = 1.5, Z = 1.5, D = 1
    # p1 = p0 * 2 s / Z = 2 p0; p2 = p1 * D / Z = 4/3 p0; X = (2 / 1.5 + 4/3) / (1 + 2 + 4/3) = 8/13
    assert cycle_time(2, 1.5, 1.0, 1.5) == pytest.approx(13 / 8)


@example(n=1, times=(1.0, 0.25, 1.0), which=1, less=2.2250738585072014e-308)
@given(n=st.integers(1, 64), times=st.tuples(SECONDS, SECONDS, SECONDS), which=st.integers(0, 2), less=st.floats(0, 1))
def test_less_of_any_time_never_costs_more(n, times, which, less):
    quicker = tuple(t * less if i == which else t for i, t in enumerate(times))
    assert float(cycle_time(n, *quicker)) <= float(cycle_time(n, *times)) * (1 + 1e-9)
