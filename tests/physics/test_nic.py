"""Framing against the standards' figures and measured line-rate runs."""

import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import nic
from tests.each import values

GBIT = 1e9 / 8


test_values = values({
    # widely printed four-digit figures
    "1500 B with timestamps": (nic.framing_efficiency, (1500, 1), 0.9415, 5e-5),
    "and without": (nic.framing_efficiency, (1500, 0), 0.9493, 5e-5),
    "9000 B with timestamps": (nic.framing_efficiency, (9000, 1), 0.9900, 5e-5),
    "and without ": (nic.framing_efficiency, (9000, 0), 0.9914, 5e-5),
    "941 Mb/s of Gigabit": (nic.framing_efficiency, (1500,), 0.941, 0.5 / 941),
    # 121 MB/s by dd over NFS and interface peaks of 187 MB/s cannot have crossed it
    "117.7 MB/s": (nic.framing_efficiency, (1500,), 117.7e6 / GBIT, 1e-3),
    "a VLAN tag": (nic.wire_bytes, (1500, 1), 1542),
    "IPv4": (nic.segment_bytes, (1500, 1), 1448),
    "IPv6": (nic.segment_bytes, (1500, 1, 60.0), 1428),
    "InfiniBand's reliable connection: 98.75 % of the link": (nic.infiniband_wire_bytes, (2048,), 2048 / 0.9875, 1e-4),
    "packets of 4096 B 99.4 %": (nic.infiniband_wire_bytes, (4096,), 4096 / 0.9937, 1e-4),
    "26 B of any": (nic.infiniband_wire_bytes, (1e15,), 1e15),
    "new pages at 94 ns each: one core alone has 43.6 GB/s": (
        nic.connected_interrupt, (0, 0, 94e-9, 3e9), 3e9 / (4096 / 94e-9)),
    "connected mode sums in softirq": (nic.connected_interrupt, (0.2, 0.25, 0, 3e9), 0.45),
    "a datagram": (nic.datagram_bytes, (1500, 1400), 1400),
    "RFC 791, RFC 768: what fits without fragments": (nic.datagram_bytes, (1500, 1472), 1472),
    "one that is cut": (nic.datagram_bytes, (1500, 8192), 8192 / 6),
    "one that fits a jumbo frame": (nic.datagram_bytes, (9000, 8192), 8192),
})  # fmt: skip


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
