"""Framing against the standards' figures and measured line-rate runs."""

import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import nic


def test_nasa_two_ten_gigabit_ports():
    """Two 10 GbE ports carried 19805.9 and 19808.7 Mb/s; MTU 9000 with timestamps. 0.05 %: line clock."""
    predicted = 2 * 10e3 * nic.framing_efficiency(9000)
    assert predicted == pytest.approx(19805.8537, rel=5e-4)
    assert predicted == pytest.approx(19808.7300, rel=5e-4)
    # The other usual framings are excluded by the same figures.
    assert abs(2 * 10e3 * nic.framing_efficiency(9000, 0) / 19806 - 1) > 1e-3


@given(mtu=st.integers(576, 65535), length=st.integers(1, 65507))
def test_a_packet_never_holds_more_than_its_mtu(mtu, length):
    size = nic.datagram_bytes(mtu, length)
    assert 0 < size <= min(length, mtu - 28)
    assert nic.infiniband_wire_bytes(mtu) > mtu


@given(mtu=st.floats(576, 65535), ts=st.integers(0, 1), tags=st.integers(0, 2))
def test_properties(mtu, ts, tags):
    e = nic.framing_efficiency(mtu, ts, tags)
    assert 0 < e < 1
    assert nic.framing_efficiency(mtu + 100, ts, tags) > e
    assert nic.framing_efficiency(mtu, 1, tags) <= e
    assert nic.framing_efficiency(1e15) == pytest.approx(1)
