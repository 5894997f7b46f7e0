"""Framing against the standards' figures and measured line-rate runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import nic

GBIT = 1e9 / 8


@pytest.mark.parametrize(
    ("mtu", "timestamps", "efficiency"),
    # widely printed four-digit figures: 1500 and 9000 B with and without timestamps
    [(1500, 1, 0.9415), (1500, 0, 0.9493), (9000, 1, 0.9900), (9000, 0, 0.9914)],
)
def test_published_efficiencies(mtu, timestamps, efficiency):
    assert nic.framing_efficiency(mtu, timestamps) == pytest.approx(efficiency, abs=5e-5)


def test_gigabit_goodput():
    assert nic.packet_limited_rate(GBIT, np.inf, 1500) * 8 / 1e6 == pytest.approx(941, abs=0.5)


def test_nasa_two_ten_gigabit_ports():
    """Two 10 GbE ports carried 19805.9 and 19808.7 Mb/s; MTU 9000 with timestamps. 0.05 %: line clock."""
    predicted = 2 * 10e3 * nic.framing_efficiency(9000)
    assert predicted == pytest.approx(19805.8537, rel=5e-4)
    assert predicted == pytest.approx(19808.7300, rel=5e-4)
    # The other usual framings are excluded by the same figures.
    assert abs(2 * 10e3 * nic.framing_efficiency(9000, 0) / 19806 - 1) > 1e-3


def test_gigabit_is_excluded_where_more_was_seen():
    # 121 MB/s by dd over NFS and interface peaks of 187 MB/s cannot have crossed 1 GbE at MTU 1500.
    assert nic.packet_limited_rate(GBIT, np.inf, 1500) == pytest.approx(117.7e6, rel=1e-3)


def test_vlan_and_ipv6_cost():
    assert nic.wire_bytes(1500, 1) == 1542
    assert nic.segment_bytes(1500, 1) == 1448
    assert nic.segment_bytes(1500, 1, nic.IPV6_TCP_B) == 1428
    assert nic.framing_efficiency(1500, 1, 1) < nic.framing_efficiency(1500, 1)


@pytest.mark.parametrize(
    ("name", "gbps"),
    # InfiniBand Trade Association, four lanes
    [
        ("SDR", 8),
        ("DDR", 16),
        ("QDR", 32),
        ("FDR10", 40),
        ("FDR", 54.545),
        ("EDR", 100),
        ("HDR", 200),
        ("NDR", 400),
    ],
)
def test_infiniband_rates(name, gbps):
    lane = nic.INFINIBAND_LANES[name]
    assert nic.infiniband_rate(lane.signal_bps, lane.code) / GBIT == pytest.approx(gbps, rel=1e-3)


def test_ipoib():
    assert nic.ipoib_efficiency(2044) == pytest.approx((2044 - 52) / (2048 + 34))
    # Connected mode at its largest MTU: 32 packets of 2048 B in one message.
    assert nic.ipoib_efficiency(65520) == pytest.approx((65520 - 52) / (65524 + 32 * 26))
    assert nic.ipoib_efficiency(65520) > nic.ipoib_efficiency(2044)


def test_packet_rate_and_limit():
    assert nic.packet_rate(1.25e9 * nic.framing_efficiency(1500), 1448) == pytest.approx(812744, rel=1e-4)
    assert nic.packet_limited_rate(1.25e9, 100e3, 1500) == pytest.approx(144.8e6)
    assert nic.packet_limited_rate(1.25e9, np.inf, 9000) == pytest.approx(1.25e9 * 8948 / 9038)


@settings(max_examples=60)
@given(mtu=st.floats(576, 65535), ts=st.integers(0, 1), tags=st.integers(0, 2))
def test_properties(mtu, ts, tags):
    e = nic.framing_efficiency(mtu, ts, tags)
    assert 0 < e < 1
    assert nic.framing_efficiency(mtu + 100, ts, tags) > e
    assert nic.framing_efficiency(mtu, 1, tags) <= e
    assert 0 < nic.ipoib_efficiency(mtu, 4096, ts) < 1
    assert nic.framing_efficiency(1e15) == pytest.approx(1)
