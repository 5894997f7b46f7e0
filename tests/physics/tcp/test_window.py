"""Windows and buffers against the figures that engineers quote."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics.tcp import window as w
from dtnsim.physics.tcp.window import ahead_of_arrival
from tests.each import values

MIB = 2**20


test_values = values({
    'fasterdata.es.net: 64 KiB at 10 ms are "around 50 Mb/s"': (w.window_rate, (65536, 0.010), 52.4e6 / 8, 1e-3),
    "UCI LightPath: 16 NFS requests of 64 KiB over 9.96 ms, 105 MB/s (runs gave 93 to 121)":
        (w.window_rate, (16 * 65536, 9.96e-3), 105e6, 0.5 / 105),
    "perfSONAR's 9.1 Gb/s there need 22.7 MB of socket buffer": (
        w.needed_buffer, (9.1e9 / 8, 9.96e-3, 1, 0.5), 22.7e6, 0.1 / 22.7),
    "tcp_rmem[2] of 6 MiB, half of it window, is a gigabit to 25.2 ms": (
        w.autotuned_window, (6 * MIB, 0.5), 0.0252 * 125e6, 0.004),
    "a set buffer is doubled and then shared": (w.fixed_window, (MIB, 0.5), MIB),
    "a kernel cuts it before (net/core/sock.c)": (w.fixed_window, (4 * MIB, 0.5, 212992), 212992),
    "RFC 7323, 2.3: 2^30": (w.in_flight, (1e12, 8948), 2**30 - 2 * 8948),
    "over 200 ms 42.9 Gb/s at most": (w.window_rate, (2**30 - 2 * 8948, 0.2), 42.9e9 / 8, 0.1 / 42.9),
    "two segments at least": (w.in_flight, (100, 1448), 2 * 1448),
    "nothing waits without distance": (ahead_of_arrival, (1e9, 0.0, 4, 1e6), 0.0),
    "tcp_sndbuf_expand: twice the window of 62.5 MB, 10 Gb/s over 50 ms": (
        ahead_of_arrival, (1.25e9, 0.05, 1, 1e9), 2 * 62.5e6),
    "a stream that its window limits has it under way": (ahead_of_arrival, (4 * MIB / 0.05, 0.05, 1, 4 * MIB), 4 * MIB),
})  # fmt: skip


def test_venadi_s_window_and_rate_give_its_round_trip():
    # Venadi's iperf3: 14.7 MiB in flight at 37.84 Gb/s; tracepath says 3.122 ms, the rest is queueing
    rtt = 14.7 * MIB / (37.84e9 / 8)
    assert rtt == pytest.approx(3.26e-3, rel=0.002)
    assert 3.122e-3 < rtt < 1.06 * 3.122e-3


@given(rate=st.floats(1e5, 1e11), rtt=st.floats(1e-4, 1), streams=st.integers(1, 64))
def test_the_needed_buffer_gives_the_rate_back(rate, rtt, streams):
    one = w.needed_buffer(rate, rtt, streams, 0.5)
    assert streams * w.window_rate(w.autotuned_window(one, 0.5), rtt) == pytest.approx(rate)


@given(
    st.floats(1e3, 1e11), st.floats(1e-9, 1), st.integers(1, 256), st.floats(1e3, 1e10),
)  # fmt: skip
def test_between_one_and_two_windows(rate, rtt, streams, window):
    ahead = float(ahead_of_arrival(rate, rtt, streams, window))
    assert rate * rtt * (1 - 1e-12) <= ahead <= 2 * rate * rtt * (1 + 1e-12)
    assert np.all(ahead_of_arrival(2 * rate, rtt, streams, window) >= ahead)
