"""Flash drives against published sustained-write curves, datasheets, and Lambert's W."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import lambertw

from dtnsim.physics import ssd
from tests.each import rows

POSITIVE = st.floats(1e-3, 1e3)


def test_compressing_controller():
    # Intel 535 datasheet: 490 MB/s on compressible data; zeros run at the link's rate
    assert ssd.compressing_write_rate(490e6, 220e6, 0.0) == pytest.approx(490e6)
    assert ssd.compressing_write_rate(490e6, 220e6, 1.0) == pytest.approx(220e6)
    assert ssd.compressing_write_rate(490e6, 220e6, 0.5) == pytest.approx(440e6)


@settings(max_examples=60)
@given(link=POSITIVE, nand=POSITIVE, c=st.floats(1e-6, 10.0))
def test_compression_never_hurts_nor_passes_the_link(link, nand, c):
    r = ssd.compressing_write_rate(link, nand, c)
    assert r == pytest.approx(min(link, nand / c))
    assert ssd.compressing_write_rate(link, nand, c * 1.5) <= r * (1 + 1e-12)


@pytest.mark.parametrize("spare", [0.07, 0.12, 0.28, 1.0])
def test_fifo_amplification_against_the_lambert_form(spare):
    # Desnoyers 2014: WA = alpha / (alpha + W(-alpha exp(-alpha)))
    alpha = 1.0 + spare
    w = lambertw(-alpha * np.exp(-alpha)).real
    assert ssd.fifo_write_amplification(spare) == pytest.approx(alpha / (alpha + w), rel=1e-9)


def test_fifo_amplification_limits():
    assert ssd.fifo_write_amplification(50.0) == pytest.approx(1.0)
    assert ssd.fifo_write_amplification(1e-3) == pytest.approx(1 / (2 * 1e-3), rel=2e-3)
    wa = ssd.fifo_write_amplification(np.geomspace(1e-3, 10, 50))
    assert np.all(np.diff(wa) < 0)


@settings(max_examples=60)
@given(w=st.floats(1.001, 100.0), filled=st.floats(0.05, 0.99))
def test_the_spare_that_a_rating_implies_gives_it_back(w, filled):
    spare = ssd.implied_spare(w)
    assert ssd.fifo_write_amplification(spare) == pytest.approx(w, rel=1e-6)
    assert 1.0 <= ssd.fifo_write_amplification(ssd.effective_spare(spare, filled)) <= w * (1 + 1e-9)


def test_implied_spare_limits():
    assert ssd.implied_spare(1e6) == pytest.approx(0.5e-6, rel=1e-3)  # W = 1 / (2 spare) where there is little
    assert 10.0 < ssd.implied_spare(1.0) < np.inf
    assert np.all(np.diff(ssd.implied_spare(np.linspace(1.01, 20, 50))) < 0)


@pytest.mark.parametrize(
    ("write", "iops", "raw_GiB", "sold_GB"),
    rows("physics/tables", "ratings_of_steady_random_writes_imply_no_more_flash_than_drives_have"),
)
def test_ratings_of_steady_random_writes_imply_no_more_flash_than_drives_have(write, iops, raw_GiB, sold_GB):
    spare = ssd.implied_spare(ssd.rated_amplification(write, iops, 4096.0))
    assert 0.0 < spare <= raw_GiB * 1.073741824 / sold_GB - 1.0 + 0.01


def test_a_cache_that_drains_lasts_longer():
    assert ssd.burst_bytes(10.0, 2.0, 1.0) == pytest.approx(20.0)
    assert np.isfinite(ssd.burst_bytes(10.0, 2.0, 5.0))


def test_three_plateaus():
    # TechPowerUp, Adata Atom 50 1 TB: 4.5 GB/s to 280 GB, then about 2 GB/s, then 500 MB/s
    args = (280e9, 4.5e9, 2e9, 300e9, 0.5e9)
    assert ssd.burst_write_time(680e9, *args) == pytest.approx(280 / 4.5 + 300 / 2 + 100 / 0.5)
    assert ssd.burst_write_time(100e9, *args) == pytest.approx(100 / 4.5)
    # 970 EVO 500 GB: above 2 GB/s for 22 GB, then about 600 MB/s
    assert ssd.burst_write_time(82e9, ssd.burst_bytes(22e9, 2e9, 0.0), 2e9, 0.6e9) == pytest.approx(111.0)


def test_a_dynamic_cache_goes_with_the_free_space():
    assert ssd.dynamic_cache_bytes(100e9, 1.0, 0.75) == pytest.approx(25e9)
    assert ssd.dynamic_cache_bytes(100e9, 0.0, 0.75) == pytest.approx(100e9)
    assert ssd.dynamic_cache_bytes(100e9, 0.5, 1.0) == pytest.approx(50e9)


def test_free_space_is_spare():
    assert ssd.effective_spare(0.07, 1.0) == pytest.approx(0.07)
    assert ssd.effective_spare(0.07, 0.5) == pytest.approx(1.14)
    wa = ssd.fifo_write_amplification(ssd.effective_spare(0.07, np.linspace(0.2, 1.0, 9)))
    assert np.all(np.diff(wa) > 0)


def test_small_writes_on_a_coarse_mapping():
    """Intel D5-P5316: 64-KiB units, so 4 KiB cost sixteen times their size."""
    assert ssd.indirection_load(4096, 65536) == pytest.approx(16.0)
    assert ssd.indirection_load(65536, 65536) == 1.0
    assert ssd.indirection_load(131072, 4096) == 1.0


def test_a_hot_drive():
    assert ssd.throttled_rate(10e9, 5e9, 60.0, 1e9) == pytest.approx(5e9)  # done before it is hot
    assert ssd.throttled_rate(1e15, 5e9, 60.0, 1e9) == pytest.approx(1e9, rel=1e-3)
    assert ssd.throttled_rate(400e9, 5e9, 60.0, 1e9) == pytest.approx(400e9 / 160)


@settings(max_examples=60)
@given(size=POSITIVE, rate=POSITIVE, after=POSITIVE, hot=POSITIVE)
def test_heat_never_speeds_a_drive_up(size, rate, after, hot):
    x = ssd.throttled_rate(size, rate, after, hot)
    assert min(rate, hot) * (1 - 1e-9) <= x <= rate * (1 + 1e-9)


@settings(max_examples=60)
@given(f=st.floats(0, 1), g=st.floats(0, 5))
def test_mixed_loads_cost_most_at_an_even_mix(f, g):
    assert 1.0 <= ssd.interference(f, g) <= ssd.interference(0.5, g) * (1 + 1e-12)
    assert ssd.interference(0.0, g) == ssd.interference(1.0, g) == 1.0
    assert ssd.interference(0.5, 1.0) == pytest.approx(2.0)


def test_a_drive_that_writes_at_random_as_fast_as_in_sequence_copies_nothing():
    assert ssd.rated_amplification(500e6, 500e6 / 4096) == pytest.approx(1.0)
    assert ssd.rated_amplification(500e6, 1e9) == 1.0  # limit: never below one


def test_a_read_intensive_drive_is_rated_near_what_cleaning_of_little_spare_flash_costs():
    # Intel DC P4510 4 TB product brief: 2.9 GB/s and 139 000 writes/s; drives of one write a day have 7 to 15 % of
    # spare flash, which amplifies 7.5 to 4 times (Desnoyers)
    rated = ssd.rated_amplification(2.9e9, 139e3)
    assert ssd.fifo_write_amplification(0.15) < rated < ssd.fifo_write_amplification(0.07)


@given(rate=st.floats(1e6, 1e10), requests=st.floats(1e3, 1e6), more=st.floats(1.0, 10.0))
def test_more_random_writes_mean_less_copying(rate, requests, more):
    assert 1.0 <= ssd.rated_amplification(rate, requests * more) <= ssd.rated_amplification(rate, requests)
