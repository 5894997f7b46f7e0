"""Slow start: doublings counted one by one, and limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics.tcp import ramp


def test_ten_gigabit_at_50_ms_takes_twelve_doublings():
    # BDP 62.5 MB over 14 480 B: log2(4316) = 12.08 round trips
    assert ramp.slow_start_time(62.5e6, 0.05, 1448) / 0.05 == pytest.approx(12.08, abs=0.01)


def test_a_window_that_is_there_already_takes_no_time():
    assert ramp.slow_start_time(5000, 0.1, 1448) == 0


@given(window=st.floats(1e4, 1e10), rtt=st.floats(1e-4, 0.4), more=st.floats(1, 100))
def test_monotone(window, rtt, more):
    base = ramp.slow_start_time(window, rtt, 1448)
    assert ramp.slow_start_time(window * more, rtt, 1448) >= base
    assert ramp.slow_start_time(window, rtt * more, 1448) >= base
