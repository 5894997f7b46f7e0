"""Windows and buffers against the figures that engineers quote."""

import pytest
from hypothesis import given, strategies as st

from dtnsim.physics.tcp import window as w


@given(rate=st.floats(1e5, 1e11), rtt=st.floats(1e-4, 1), streams=st.integers(1, 64))
def test_the_needed_buffer_gives_the_rate_back(rate, rtt, streams):
    one = w.needed_buffer(rate, rtt, streams, 0.5)
    assert streams * w.window_rate(w.autotuned_window(one, 0.5), rtt) == pytest.approx(rate)
