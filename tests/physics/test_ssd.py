"""Single devices beside disks: flash, tape, local file systems."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import lambertw

from dtnsim.physics import ssd, tape
from tests.each import rows

POSITIVE = st.floats(1e-3, 1e3)


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


def test_a_read_intensive_drive_is_rated_near_what_cleaning_of_little_spare_flash_costs():
    # Intel DC P4510 4 TB product brief: 2.9 GB/s and 139 000 writes/s; drives of one write a day have 7 to 15 % of
    # spare flash, which amplifies 7.5 to 4 times (Desnoyers)
    rated = ssd.rated_amplification(2.9e9, 139e3)
    assert ssd.fifo_write_amplification(0.15) < rated < ssd.fifo_write_amplification(0.07)


# -- Tape drives against what their makers print, and against conservation of bytes ----------------
LTO9 = {"slowest": 177e6, "fastest": 400e6, "buffer_B": 1.024e9, "reposition_s": 5.0}


def passed(feed, **drive):
    """What goes through a drive: what it is fed, or what it passes at most."""
    return np.minimum(feed, tape.streaming_rate(feed, **drive))


def test_a_tape_drive_follows_its_host():
    """From 177 to 408 MB/s (Quantum LTO-9 user's guide, table 2); below, the tape is worn, and the host goes on."""
    assert passed(np.array([100e6, 200e6, 400e6, 900e6]), **LTO9) == pytest.approx([100e6, 200e6, 400e6, 400e6])


def test_a_recommended_order_saves_what_ibm_measured():
    """LTO-9: up to 86 % less than by record number (IBM, Random file access on tape, 2023, 4 to 2000 files).

    Within five points: 65 s from the load point are printed, 5 s for a turn is a guess.
    """
    by_number, swept = (tape.locate_time(65.0, 5.0, 2000, s) for s in (0, 1))
    assert 1 - swept / by_number == pytest.approx(0.86, abs=0.05)


# -- Local file systems: journals and compressed extents -------------------------------------------
