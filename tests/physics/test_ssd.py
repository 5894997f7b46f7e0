"""Flash drives against published sustained-write curves, datasheets, and Lambert's W."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import lambertw

from dtnsim.physics import ssd
from tests.each import rows

POSITIVE = st.floats(1e-3, 1e3)


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


@given(w=st.floats(1.001, 100.0), filled=st.floats(0.05, 0.99))
def test_the_spare_that_a_rating_implies_gives_it_back(w, filled):
    spare = ssd.implied_spare(w)
    assert ssd.fifo_write_amplification(spare) == pytest.approx(w, rel=1e-6)
    assert 1.0 <= ssd.fifo_write_amplification(ssd.effective_spare(spare, filled)) <= w * (1 + 1e-9)


@given(request=st.floats(512, 1e7), depth=st.integers(1, 64), held=POSITIVE, flash=POSITIVE)
def test_a_page_is_read_once_for_all_requests_that_it_holds(request, depth, held, flash):
    """The time of a page, its first q requests together from the flash and the others from memory, q at a time."""
    page = 16384.0
    mean = ssd.sequential_latency(request, depth, held, flash, page)
    rounds = max(page / (depth * request), 1.0)
    assert mean * rounds == pytest.approx(flash + (rounds - 1.0) * min(held, flash), rel=1e-9)
    assert ssd.sequential_latency(page, 1, held, flash, page) == pytest.approx(flash)


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


def test_free_space_spares_copies_and_a_fast_drain_ends():
    wa = ssd.fifo_write_amplification(ssd.effective_spare(0.07, np.linspace(0.2, 1.0, 9)))
    assert np.all(np.diff(wa) > 0)
    assert np.isfinite(ssd.burst_bytes(10.0, 2.0, 5.0))


@given(size=POSITIVE, rate=POSITIVE, after=POSITIVE, hot=POSITIVE)
def test_heat_never_speeds_a_drive_up(size, rate, after, hot):
    x = ssd.throttled_rate(size, rate, after, hot)
    assert min(rate, hot) * (1 - 1e-9) <= x <= rate * (1 + 1e-9)


@given(f=st.floats(0, 1), g=st.floats(0, 5))
def test_mixed_loads_cost_most_at_an_even_mix(f, g):
    assert 1.0 <= ssd.interference(f, g) <= ssd.interference(0.5, g) * (1 + 1e-12)
    assert ssd.interference(0.0, g) == ssd.interference(1.0, g) == 1.0
    assert ssd.interference(0.5, 1.0) == pytest.approx(2.0)


def test_a_read_intensive_drive_is_rated_near_what_cleaning_of_little_spare_flash_costs():
    # Intel DC P4510 4 TB product brief: 2.9 GB/s and 139 000 writes/s; drives of one write a day have 7 to 15 % of
    # spare flash, which amplifies 7.5 to 4 times (Desnoyers)
    rated = ssd.rated_amplification(2.9e9, 139e3)
    assert ssd.fifo_write_amplification(0.15) < rated < ssd.fifo_write_amplification(0.07)


@given(rate=st.floats(1e6, 1e10), requests=st.floats(1e3, 1e6), more=st.floats(1.0, 10.0))
def test_more_random_writes_mean_less_copying(rate, requests, more):
    assert 1.0 <= ssd.rated_amplification(rate, requests * more) <= ssd.rated_amplification(rate, requests)
