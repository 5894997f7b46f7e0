"""Windows and buffers against the figures that engineers quote."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics.tcp import window as w
from dtnsim.physics.tcp.window import ahead_of_arrival

MIB = 2**20


def test_fasterdata_s_64_kib_at_10_ms():
    # fasterdata.es.net: "around 50 Mb/s"
    assert w.window_rate(65536, 0.010) * 8e-6 == pytest.approx(52.4, abs=0.05)


def test_venadi_s_window_and_rate_give_its_round_trip():
    # Venadi's iperf3: 14.7 MiB in flight at 37.84 Gb/s; tracepath says 3.122 ms, the rest is queueing
    rtt = 14.7 * MIB / (37.84e9 / 8)
    assert rtt == pytest.approx(3.26e-3, rel=0.002)
    assert 3.122e-3 < rtt < 1.06 * 3.122e-3


def test_uci_s_windows():
    # UCI LightPath: 9.96 ms; 16 NFS requests of 64 KiB in flight are 105 MB/s (runs gave 93 to 121)
    assert w.window_rate(16 * 65536, 9.96e-3) / 1e6 == pytest.approx(105, abs=0.5)
    # perfSONAR's 9.1 Gb/s over that path needs 11.3 MB in flight, 22.7 MB of socket buffer
    need = w.needed_buffer(9.1e9 / 8, 9.96e-3, 1, 0.5)
    assert need / 1e6 == pytest.approx(22.7, abs=0.1)
    assert w.window_rate(need / 2, 9.96e-3) * 8 == pytest.approx(9.1e9)


def test_default_linux_buffers_are_enough_for_a_gigabit_to_24_ms_only():
    # tcp_rmem[2] = 6 MiB, half of it window: 3 MiB / (1 Gb/s) = 25.2 ms
    limit = float(w.autotuned_window(6 * MIB, 0.5))
    assert limit / 125e6 == pytest.approx(0.0252, abs=1e-4)


def test_a_set_buffer_is_doubled_and_then_shared():
    assert w.fixed_window(MIB, 0.5) == MIB


@given(rate=st.floats(1e5, 1e11), rtt=st.floats(1e-4, 1), streams=st.integers(1, 64))
def test_the_needed_buffer_gives_the_rate_back(rate, rtt, streams):
    one = w.needed_buffer(rate, rtt, streams, 0.5)
    assert streams * w.window_rate(w.autotuned_window(one, 0.5), rtt) == pytest.approx(rate)


def test_no_window_passes_one_gibibyte():
    # RFC 7323, 2.3: 2^30; one stream over 200 ms has 42.9 Gb/s at most
    assert w.in_flight(1e12, 8948) == 2**30 - 2 * 8948
    assert w.window_rate(w.in_flight(1e12, 8948), 0.2) * 8e-9 == pytest.approx(42.9, abs=0.1)
    assert w.in_flight(100, 1448) == 2 * 1448


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
