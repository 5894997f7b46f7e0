"""How demand comes: growth, the day and the week, rebuilds."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import arrivals

YEAR = 31557600.0
WEEK = np.arange(0, 7 * 86400.0, 60.0)


@given(st.floats(-0.9, 5), st.floats(0, 10), st.floats(0, 10))
def test_growth_goes_on_from_where_it_is(growth, one, other):
    both = arrivals.grown((one + other) * YEAR, growth, YEAR)
    assert both == pytest.approx(arrivals.grown(one * YEAR, growth, YEAR) * arrivals.grown(other * YEAR, growth, YEAR))


@given(st.floats(0, 1), st.floats(0, 24), st.floats(0, 3))
def test_a_week_has_the_mean_that_was_asked_for_and_stays_below_its_top(wave, peak, weekend):
    intensity = arrivals.weekly(WEEK, wave, peak, weekend)
    assert intensity.mean() == pytest.approx(1.0, abs=1e-9)
    assert intensity.min() >= -1e-12
    assert intensity.max() <= arrivals.weekly_top(wave, weekend) * (1 + 1e-12)


def test_the_wave_has_its_top_where_it_should():
    intensity = arrivals.weekly(WEEK, 0.6, 15.0, 1.0)
    assert WEEK[np.argmax(intensity)] % 86400 == 15 * 3600
    assert intensity.max() == pytest.approx(1.6)
    assert arrivals.weekly(5.5 * 86400, 0.0, 0.0, 0.4) / arrivals.weekly(1.5 * 86400, 0.0, 0.0, 0.4) == pytest.approx(
        0.4
    )
