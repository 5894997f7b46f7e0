import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics.timed import ahead_of_arrival


def test_nothing_waits_without_distance():
    assert ahead_of_arrival(1e9, 0.0, 4, 1e6) == 0.0


def test_autotuned_buffer_holds_two_windows():
    """tcp_sndbuf_expand: twice the congestion window; 10 Gb/s over 50 ms is a window of 62.5 MB."""
    assert ahead_of_arrival(1.25e9, 0.05, 1, 1e9) == pytest.approx(2 * 62.5e6)


def test_fixed_window_holds_itself():
    """A stream that its window of 4 MiB limits, 4 MiB / 50 ms, has exactly that under way."""
    window = 4 * 2.0**20
    assert ahead_of_arrival(window / 0.05, 0.05, 1, window) == pytest.approx(window)


@given(
    st.floats(1e3, 1e11), st.floats(1e-9, 1), st.integers(1, 256), st.floats(1e3, 1e10),
)  # fmt: skip
def test_between_one_and_two_windows(rate, rtt, streams, window):
    ahead = float(ahead_of_arrival(rate, rtt, streams, window))
    assert rate * rtt * (1 - 1e-12) <= ahead <= 2 * rate * rtt * (1 + 1e-12)
    assert np.all(ahead_of_arrival(2 * rate, rtt, streams, window) >= ahead)
