"""Windows and buffers against the figures that engineers quote."""

import pytest
from hypothesis import given, strategies as st

from dtnsim.physics.tcp import window as w

MIB = 2**20


def test_venadi_s_window_and_rate_give_its_round_trip():
    # Venadi's iperf3: 14.7 MiB in flight at 37.84 Gb/s; tracepath says 3.122 ms, the rest is queueing
    rtt = 14.7 * MIB / (37.84e9 / 8)
    assert rtt == pytest.approx(3.26e-3, rel=0.002)
    assert 3.122e-3 < rtt < 1.06 * 3.122e-3


@given(rate=st.floats(1e5, 1e11), rtt=st.floats(1e-4, 1), streams=st.integers(1, 64))
def test_the_needed_buffer_gives_the_rate_back(rate, rtt, streams):
    one = w.needed_buffer(rate, rtt, streams, 0.5)
    assert streams * w.window_rate(w.autotuned_window(one, 0.5), rtt) == pytest.approx(rate)
