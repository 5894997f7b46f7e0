"""Disks without a write cache against their turns and a maker's measurements; mirrored caches of controllers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import hdd_cache


def test_each_write_that_is_alone_costs_one_turn():
    # 8 KiB at 7200 rpm: 120 writes a second, less the time of their transfer
    cost = hdd_cache.lost_turns_cost(8192, 100e6, 120.0)
    assert 100e6 / cost / 8192 == pytest.approx(1 / (1 / 120 + 8192 / 100e6))
    assert hdd_cache.lost_turns_cost(8192, 100e6, 120.0, 2) == 1.0
    assert hdd_cache.lost_turns_cost(1e15, 100e6, 120.0) == pytest.approx(1.0)


def test_a_server_s_disks_with_the_cache_switched_on():
    """Fujitsu, Performance Report PRIMERGY TX150 S6 (2008), p. 24: 64-KiB blocks, RAID 10 on an onboard controller
    without a cache: sequential writes are about 13 times as fast with the disks' caches; SATA disks of 2008 wrote 80
    to 110 MB/s at 7200 rpm, what the report used is not printed there: 11 to 15 times."""
    slow, fast = hdd_cache.lost_turns_cost(65536, np.array([80e6, 110e6]), 120.0)
    assert slow < 13.0 < fast


@settings(max_examples=60)
@given(size=st.floats(512, 1e8), more=st.floats(1.0, 100.0), q=st.floats(0.5, 4.0), rate=st.floats(1e7, 5e8))
def test_larger_writes_and_more_of_them_lose_less(size, more, q, rate):
    here = hdd_cache.lost_turns_cost(size, rate, 120.0, q)
    assert here >= 1.0
    assert hdd_cache.lost_turns_cost(size * more, rate, 120.0, q) <= here
    assert hdd_cache.lost_turns_cost(size, rate, 120.0, q * more) <= here


@settings(max_examples=40)
@given(own=st.floats(1e8, 1e10), mirror=st.floats(1e8, 1e10))
def test_copies_for_a_partner_never_speed_writes_up(own, mirror):
    found = hdd_cache.mirrored_write_rate(own, mirror)
    assert found <= own
    assert hdd_cache.mirrored_write_rate(own, np.inf) == own  # no partner
    assert hdd_cache.mirrored_write_rate(own, mirror * 2) >= found


def test_four_arrays_of_dell_s():
    """Dell EMC BeeGFS High Capacity Storage guide, p. 18: 16.54 GB/s written to four ME4084 with mirrored caches."""
    assert 4 * hdd_cache.mirrored_write_rate(5.5e9, 4.1e9) == pytest.approx(16.54e9, rel=0.01)
