"""Adapters against printed lane rates and the knees that testers found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import hba

POSITIVE = st.floats(1e-3, 1e3)


def test_slow_drives_hold_an_unbuffered_uplink():
    fast, slow = 1200e6, 600e6  # HP, Serial Attached SCSI technologies, 4th ed., p. 5
    np.testing.assert_allclose(hba.expander_uplink_rate(4, fast, slow, [False, True]), [4 * 600e6, 4 * 1200e6])
    # Oracle 6-Gb SAS HBA guide, p. 70: x4 at 6 Gb/s is 2400 MB/s
    assert hba.expander_uplink_rate(4, slow, fast, buffered=False) == pytest.approx(2400e6)


def test_sas2008_knees():
    # servethehome.com, LSI 9202-16e: one SAS2008 about 2.5 GB/s and 350 000 IOPS
    assert 1 / hba.core_seconds(512, 2.5e9, 350e3) == pytest.approx(512 * 350e3)
    assert 1 / hba.core_seconds(2**20, 2.5e9, 350e3) == pytest.approx(2.5e9)
    # two cores on one card: more than 5 GB/s and 726 000 IOPS were seen, twice one core within 4 %
    assert 2 / hba.core_seconds(512, 2.5e9, 350e3) / 512 == pytest.approx(726e3, rel=0.04)


@settings(max_examples=60)
@given(s=POSITIVE, rate=POSITIVE, iops=POSITIVE, grow=st.floats(1.0, 10.0))
def test_core_demand_is_monotone(s, rate, iops, grow):
    assert hba.core_seconds(s * grow, rate, iops) <= hba.core_seconds(s, rate, iops) * (1 + 1e-12)
    assert hba.core_seconds(s * 1e12, rate, iops) == pytest.approx(1 / rate)
