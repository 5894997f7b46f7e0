"""Slow start: whole rounds counted one by one, limits, and that a transfer never ends before its bytes fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics.tcp import ramp


def rounds_needed(segments, first=10):
    """Rounds in which 10, 20, 40 ... segments carry so many."""
    count, window = 0, first
    while segments > 0:
        segments, window, count = segments - window, 2 * window, count + 1
    return count


def test_ten_gigabit_at_50_ms_takes_twelve_doublings():
    # BDP 62.5 MB over 14 480 B: log2(4316) = 12.08 round trips
    assert ramp.slow_start_time(62.5e6, 0.05, 1448) / 0.05 == pytest.approx(12.08, abs=0.01)


def test_the_predicted_deficit_of_venadi():
    # iperf3 of calibration/venadi/logs: at 37.84 Gb/s and 3.12 ms (tracepath): seven doublings, under 23 ms
    lost = ramp.slow_start_deficit(37.84e9 / 8, 3.122e-3, 8948) / (37.84e9 / 8)
    assert 0.014 < lost < 0.023


@pytest.mark.parametrize("segments", [9, 70, 691, 6907])
def test_short_transfers_against_rounds_counted(segments):
    rtt = 0.2
    t = float(ramp.transfer_time(segments * 1448, 1e12, rtt, 1448))
    # the continuous doubling spreads a round's segments over it: between one round less and one more
    counted = (1 + rounds_needed(segments) - 1 + 0.5) * rtt
    assert abs(t - counted) < 1.1 * rtt


def test_a_long_transfer_is_its_size_over_its_rate():
    assert ramp.transfer_time(1e12, 1e9, 0.05, 1448) == pytest.approx(1000, rel=1e-3)
    assert ramp.slow_start_time(5000, 0.1, 1448) == 0


def idle_counted(size, rate, rtt, window):
    """Slow start window by window: each leaves at the rate, the next when its first byte has been acknowledged."""
    idle, left = 0.0, size
    while left > window:
        left -= window
        idle += max(rtt - window / rate, 0.0)
        window *= 2
    return idle


@given(size=st.floats(1.0, 1e12), rate=st.floats(1e5, 1e10), rtt=st.floats(1e-4, 0.4))
@settings(max_examples=100, deadline=None)
def test_idle_time_against_windows_counted(size, rate, rtt):
    counted = idle_counted(size, rate, rtt, 10 * 1448.0)
    assert ramp.slow_start_stall(size, rate, rtt, 1448) == pytest.approx(counted, rel=1e-9, abs=1e-12)


def test_idle_time_of_files_within_one_and_two_windows():
    assert ramp.slow_start_stall(14_480, 1e9, 0.1, 1448) == 0
    assert ramp.slow_start_stall(3 * 14_480, 1e9, 0.1, 1448) == pytest.approx(0.1 - 14_480 / 1e9)
    # a long one waits until the window has grown to the path, whatever comes after
    ends = ramp.slow_start_stall([1e10, 1e11], 1e9, 0.1, 1448)
    assert ends[0] == ends[1]


@given(size=st.floats(1e3, 1e12), rate=st.floats(1e5, 1e10), rtt=st.floats(1e-3, 0.4), more=st.floats(1, 10))
@settings(max_examples=60, deadline=None)
def test_monotone(size, rate, rtt, more):
    t = ramp.transfer_time(size, rate, rtt, 1448)
    assert t >= size / rate * (1 - 1e-9)
    assert ramp.transfer_time(size * more, rate, rtt, 1448) >= t * (1 - 1e-9)
    assert ramp.transfer_time(size, rate, rtt * more, 1448) >= t * (1 - 1e-9)
    assert np.isfinite(t)
