"""Memory crossings, bandwidth and the interference law against published tables and NASA's shares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import cpu, memory

GBIT = 1e9 / 8


def test_peak_bandwidths():
    assert memory.peak_bandwidth(4, 2400e6) == pytest.approx(76.8e9)  # Intel: E5-1650 v4, four DDR4-2400
    assert memory.peak_bandwidth(3, 1066.67e6) == pytest.approx(25.6e9, rel=1e-4)  # Intel: Core i7-9xx
    assert 0.74 <= memory.STREAM_EFFICIENCY <= 0.78


def test_crossings_by_hand():
    m = memory.crossings_per_byte
    # Card writes, copy reads, its store fetches and writes, disk reads: 5; non-temporal stores save one.
    assert m(memory.COPIES["buffered"]) == 5
    assert m(memory.COPIES["buffered"], write_allocate=0) == 4
    assert m(memory.COPIES["buffered"], cached=0) == 8  # the user buffer falls out of the cache
    assert m(memory.COPIES["sendfile"]) == 2
    assert m(memory.COPIES["rdma"]) == 2
    assert m(memory.COPIES["sendfile"], ddio=1) == 0
    # A checksum over data that left the cache reads it once more; DDIO removes at most two.
    assert m(2, passes=1) == 6
    assert m(2, ddio=1) == 3
    # Two more copies through a cipher process cost four to six crossings when nothing stays cached.
    for w, extra in ((0, 4), (1, 6)):
        assert m(4, cached=0, write_allocate=w) - m(2, cached=0, write_allocate=w) == extra


def test_bandwidth_does_not_bind_on_nasas_machine():
    bus = memory.sustained_bandwidth(memory.peak_bandwidth(3, 1066.67e6))
    assert memory.memory_rate(bus, memory.crossings_per_byte(2)) > 17.82 * GBIT
    assert np.isinf(memory.memory_rate(bus, 0))


def test_loaded_latency_against_intels_table():
    """MLC 3.5, two Xeon Silver 4110, read only: (MB/s, ns). 6 %: a straight line through a measured curve."""
    table = np.array(
        [(135655.9, 130.31), (131282.0, 123.71), (68357.8, 98.94), (42695.4, 94.56), (29473.3, 92.29),
         (22580.9, 90.85), (13463.5, 88.79), (7680.3, 87.24), (1237.6, 81.96)]
    )  # fmt: skip
    measured = table[:, 1] / table[-1, 1]
    np.testing.assert_allclose(memory.loaded_latency_ratio(table[:, 0] / table[0, 0]), measured, rtol=0.06)


def test_interference_predicts_the_rise_of_cycles_with_load():
    """NASA: one writer 10.31 Gb/s at 99 % of a core; two files on one array 71 and 70 % at 7.18 and 7.08;
    two arrays 94 and 89 % at 9.16 and 8.66 Gb/s. The bus load follows from rate, crossings and DIMMs;
    the stall share keeps its range 0.3-0.7 (assumed, with these figures known). Rounding of the shares: 1 %.
    """
    clock = 3.2e9
    bus = memory.sustained_bandwidth(memory.peak_bandwidth(3, 1066.67e6))

    def load(gbps):
        return gbps * GBIT * memory.crossings_per_byte(2) / bus

    alone = cpu.cycles_from_share(0.99, clock, np.array([10.273, 10.311]) * GBIT).mean()
    for total, shares, rates in (
        (14.268, (0.71, 0.70), (7.185, 7.083)),
        (17.825, (0.94, 0.89), (9.161, 8.664)),
    ):
        measured = cpu.cycles_from_share(np.array(shares), clock, np.array(rates) * GBIT).mean() / alone
        low, high = memory.interference(load(total), np.array([0.3, 0.7]), reference_utilization=load(10.29))
        assert low - 0.01 < measured < high + 0.01
        prior = memory.interference(load(total), reference_utilization=load(10.29))
        assert measured == pytest.approx(prior, rel=0.02)


def test_stall_share_from_first_principles():
    # Nehalem: 65 ns, 3.2 GHz, ten line fill buffers, source read and target fetched, of 2.5 cycles/B.
    stall = memory.stall_cycles_per_byte(2.0, 65e-9, 3.2e9)
    assert 0.1 < stall / 2.5 < 0.7


def test_limits():
    assert memory.loaded_latency_ratio(0) == 1
    assert memory.loaded_latency_ratio(5) == memory.loaded_latency_ratio(1)
    assert memory.interference(0.7, stall_share=0) == 1
    assert memory.interference(0.7, reference_utilization=0.7) == 1
    assert memory.cached_share(8e6, 1e6) == 1
    assert memory.cached_share(8e6, 80e6) == pytest.approx(0.1)


unit = st.floats(0, 1)


@settings(max_examples=60)
@given(k=st.integers(0, 6), dma=st.integers(0, 4), w=unit, h=unit, d=unit, u=unit, s=unit)
def test_properties(k, dma, w, h, d, u, s):
    m = memory.crossings_per_byte(k, dma, 0, w, h, d)
    assert np.isfinite(m)
    assert m >= 0
    assert memory.crossings_per_byte(k + 1, dma, 0, w, h, d) >= m
    assert memory.crossings_per_byte(k, dma, 1, w, h, d) >= m
    assert memory.crossings_per_byte(k, dma, 0, w, 1, d) <= m
    f = memory.interference(u, s)
    assert 1 <= f <= 1 + memory.LATENCY_SLOPE
    assert memory.interference(min(u + 0.1, 1), s) >= f
    assert memory.interference(u, s, reference_utilization=u) == pytest.approx(1)
