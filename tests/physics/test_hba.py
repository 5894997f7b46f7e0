"""Adapters against printed lane rates and the knees that testers found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import hba

POSITIVE = st.floats(1e-3, 1e3)


@pytest.mark.parametrize(("line_Gbps", "payload_MBps"), [(3, 300), (6, 600), (12, 1200)])
def test_printed_lane_rates(line_Gbps, payload_MBps):
    # HP, Serial Attached SCSI technologies, 4th ed., p. 5
    assert hba.lane_rate(line_Gbps * 1e9 / 8) == pytest.approx(payload_MBps * 1e6)


def test_sas4_lane_and_wide_port():
    # SAS-4: 22.5 Gbaud with 128b/150b is sold as "24G" and carries 2.4 GB/s
    assert hba.lane_rate(22.5e9 / 8, hba.CODING_128B150B) == pytest.approx(2.4e9)
    # Oracle 6-Gb SAS HBA guide, p. 70: x4 at 6 Gb/s is 2400 MB/s
    assert hba.wide_port_rate(hba.WIDE_PORT_LANES, hba.lane_rate(6e9 / 8)) == pytest.approx(2400e6)


def test_slow_drives_hold_an_unbuffered_uplink():
    fast, slow = hba.lane_rate(12e9 / 8), hba.lane_rate(6e9 / 8)
    np.testing.assert_allclose(hba.expander_uplink_rate(4, fast, slow, [False, True]), [4 * 600e6, 4 * 1200e6])
    assert hba.expander_uplink_rate(4, slow, fast, buffered=False) == pytest.approx(4 * 600e6)


def test_sas2008_knees():
    # servethehome.com, LSI 9202-16e: one SAS2008 about 2.5 GB/s and 350 000 IOPS
    assert hba.core_rate(512, 2.5e9, 350e3) == pytest.approx(512 * 350e3)
    assert hba.core_rate(2**20, 2.5e9, 350e3) == pytest.approx(2.5e9)
    # two cores on one card: more than 5 GB/s and 726 000 IOPS were seen, twice one core within 4 %
    assert 2 * hba.core_rate(512, 2.5e9, 350e3) / 512 == pytest.approx(726e3, rel=0.04)


def test_knee_over_the_number_of_drives():
    rates = hba.adapter_rate(np.arange(1, 17), 500e6, 600e6, np.inf, 2.5e9, 6.6e9)
    np.testing.assert_allclose(rates, np.minimum(np.arange(1, 17) * 500e6, 2.5e9))


def test_sixteen_sata_drives_in_one_slot():
    # 16 lanes carry 9.6 GB/s, a gen-3 x8 slot about 6.6 GB/s: the slot binds first
    assert hba.adapter_rate(16, np.inf, hba.lane_rate(6e9 / 8), np.inf, np.inf, 6.6e9) == pytest.approx(6.6e9)
    assert hba.adapter_rate(16, np.inf, hba.lane_rate(6e9 / 8), np.inf, np.inf, 15.7e9) == pytest.approx(9.6e9)


@settings(max_examples=60)
@given(s=POSITIVE, rate=POSITIVE, iops=POSITIVE, grow=st.floats(1.0, 10.0))
def test_core_demand_is_monotone(s, rate, iops, grow):
    assert hba.core_seconds(s, rate, iops) * hba.core_rate(s, rate, iops) == pytest.approx(1.0)
    assert hba.core_seconds(s * grow, rate, iops) <= hba.core_seconds(s, rate, iops) * (1 + 1e-12)
    assert hba.core_rate(s * 1e12, rate, iops) == pytest.approx(rate)


@settings(max_examples=60)
@given(limits=st.lists(POSITIVE, min_size=6, max_size=6), grow=st.floats(1.0, 10.0), which=st.integers(0, 5))
def test_more_of_anything_never_slows_an_adapter(limits, grow, which):
    more = list(limits)
    more[which] *= grow
    assert hba.adapter_rate(*more) >= hba.adapter_rate(*limits)
