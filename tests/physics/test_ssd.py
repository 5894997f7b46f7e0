"""Flash drives against published sustained-write curves, datasheets, and Lambert's W."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import lambertw

from dtnsim.physics import ssd

POSITIVE = st.floats(1e-3, 1e3)


def test_queue_depth_of_a_data_centre_sata_drive():
    # Intel DC S4500: 4-KiB random read 110 us alone, 72 000 IOPS at queue depth 32
    assert ssd.queue_iops(1, 110e-6, 72e3) == pytest.approx(9091, rel=1e-3)
    assert ssd.queue_iops(32, 110e-6, 72e3) == 72e3
    assert ssd.queue_latency(32, 110e-6, 72e3) == pytest.approx(32 / 72e3)
    assert ssd.queue_latency(1, 110e-6, 72e3) == pytest.approx(110e-6)


def test_thread_scaling_of_one_nvme():
    # openzfs issue 10066: about 0.7 GB/s with one thread and 3 GB/s with 16
    one = ssd.queue_rate(1, 2**20, 2**20 / 0.7e9, 3e9)
    assert one == pytest.approx(0.7e9)
    assert ssd.queue_rate(16, 2**20, 2**20 / 0.7e9, 3e9) == 3e9


@settings(max_examples=60)
@given(q=st.integers(1, 256), s=POSITIVE, L=POSITIVE, cap=POSITIVE)
def test_littles_law_holds_on_both_sides_of_the_knee(q, s, L, cap):
    x = ssd.queue_iops(q, L, cap)
    assert x * ssd.queue_latency(q, L, cap) == pytest.approx(q)
    assert ssd.queue_rate(q, s, L, cap * s) == pytest.approx(x * s)
    assert ssd.queue_iops(q + 1, L, cap) >= x


def test_request_latency():
    assert ssd.request_latency(0, 100e-6, 500e6) == pytest.approx(100e-6)
    assert ssd.request_latency(128 * 1024, 100e-6, 500e6) == pytest.approx(100e-6 + 131072 / 500e6)


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


def test_steady_state():
    assert ssd.steady_write_rate(480e6, 3.0) == pytest.approx(160e6)
    assert ssd.steady_write_rate(480e6, 0.5) == 480e6  # amplification below one is not physical


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


def test_sustained_write_of_a_970_evo():
    # TechPowerUp, 970 EVO 500 GB: above 2 GB/s for 22 GB, then about 600 MB/s
    burst = ssd.burst_bytes(22e9, 2e9, 0.0)
    assert burst == pytest.approx(22e9)
    assert ssd.burst_write_time(22e9, burst, 2e9, 0.6e9) == pytest.approx(11.0)
    assert ssd.burst_write_time(82e9, burst, 2e9, 0.6e9) == pytest.approx(111.0)
    np.testing.assert_allclose(ssd.burst_write_rate([0.0, 21e9, 23e9], burst, 2e9, 0.6e9), [2e9, 2e9, 0.6e9])


def test_three_plateaus():
    # TechPowerUp, Adata Atom 50 1 TB: 4.5 GB/s to 280 GB, then about 2 GB/s, then 500 MB/s
    args = (280e9, 4.5e9, 2e9, 300e9, 0.5e9)
    t = ssd.burst_write_time(680e9, *args)
    assert t == pytest.approx(280 / 4.5 + 300 / 2 + 100 / 0.5)
    np.testing.assert_allclose(ssd.burst_write_rate([1e9, 400e9, 600e9], *args), [4.5e9, 2e9, 0.5e9])


def test_write_time_is_the_integral_of_the_rate():
    args = (10.0, 4.0, 2.0, 30.0, 0.5)
    edges = np.linspace(0.0, 100.0, 100_001)
    middle = 0.5 * (edges[1:] + edges[:-1])
    seconds = np.sum(np.diff(edges) / ssd.burst_write_rate(middle, *args))
    assert ssd.burst_write_time(100.0, *args) == pytest.approx(seconds, rel=1e-6)


def test_a_cache_that_drains_lasts_longer():
    assert ssd.burst_bytes(10.0, 2.0, 1.0) == pytest.approx(20.0)
    assert np.isfinite(ssd.burst_bytes(10.0, 2.0, 5.0))


def test_mixed_reads_and_writes():
    assert ssd.mixed_rate(1.0, 540e6, 490e6, 0.7) == pytest.approx(540e6)
    assert ssd.mixed_rate(0.0, 540e6, 490e6, 0.7) == pytest.approx(490e6)
    assert ssd.mixed_rate(0.5, 500e6, 500e6) == pytest.approx(500e6)
    assert ssd.mixed_rate(0.5, 500e6, 500e6, 1.0) == pytest.approx(250e6)


@settings(max_examples=60)
@given(f=st.floats(0, 1), r=POSITIVE, w=POSITIVE, g=st.floats(0, 5))
def test_mixed_rate_lies_below_the_faster_side(f, r, w, g):
    x = ssd.mixed_rate(f, r, w, g)
    assert 0 < x <= max(r, w) * (1 + 1e-9)
    assert ssd.mixed_rate(f, r, w, g + 1) <= x * (1 + 1e-12)
