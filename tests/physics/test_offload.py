"""Requests in flight at a device."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.physics import offload


def test_limits():
    assert offload.request_rate(1e12, 20e-6, 6.25e9) == pytest.approx(6.25e9, rel=1e-3)  # latency does not count
    assert offload.request_rate(16384, 0.0, 6.25e9) == pytest.approx(6.25e9)
    assert offload.request_rate(1.0, 20e-6, np.inf) == pytest.approx(50e3)  # nothing but latency: 50,000 a second


def test_one_request_at_a_time_loses_most_of_a_fast_card():
    """A 50 Gb/s QAT card whose requests of 16 KiB take 20 us: one thread that waits sees 0.73 GB/s of 6.25.

    The order of OpenSSL's own numbers for synchronous and asynchronous QAT: a few tenths of the card against all of it.
    """
    one = offload.request_rate(16384, 20e-6, 6.25e9)
    assert one == pytest.approx(0.724e9, rel=0.01)
    assert 8 < 6.25e9 / one < 9


@given(st.floats(64, 1e7), st.floats(1e-7, 1e-3), st.floats(1e6, 1e11), st.integers(1, 1000))
def test_properties(size, latency, rate, flying):
    x = offload.request_rate(size, latency, rate, flying)
    assert 0 < x <= flying * rate
    assert offload.request_rate(2 * size, latency, rate, flying) >= x
    assert offload.request_rate(size, 2 * latency, rate, flying) <= x
    assert offload.request_rate(size, latency, rate, 2 * flying) == pytest.approx(2 * x)


def test_a_write_waits_for_each_burst_that_is_asked_for():
    """RFC 7143: 64 KiB unasked, then bursts of 256 KiB; 2 MiB are eight bursts."""
    trips = offload.solicited_trips(np.array([4096, 65536, 65537, 2**21]), 65536, 262144)
    np.testing.assert_array_equal(trips, [1, 1, 2, 9])
