"""Memory crossings, bandwidth and the interference law against published tables and NASA's shares."""

import numpy as np
import pytest
from hypothesis import strategies as st

from dtnsim.physics import memory

GBIT = 1e9 / 8
EFFICIENCY = 0.76  # TI SPRAD45A: STREAM reaches 74 to 78 % of the channels' rate
CROSSED = 5  # crossings of a byte from disk to network or back


def test_crossings_by_hand():
    """Disk to network: DMA, copy out of the page cache, copy to the socket (fetched and written), DMA: 5."""
    m = memory.crossings
    assert m(1, 0, 0) + m(0, 1, 0) + m(1, 0, 1) == 5
    assert m(1, 1, 0) + m(0, 0, 1) + m(1, 0, 0) == 5  # network to disk
    assert m(1, 0, 0) + m(1, 0, 0) == 2  # sendfile: nothing is copied
    assert m(1, 1, 0, ddio=1) == 0  # received and copied within the last-level cache (ISCA 2005)
    assert m(1, 0, 1, ddio=0.5) == 2


def test_bandwidth_does_not_bind_on_nasas_machine():
    bus = memory.sustained_bandwidth(memory.peak_bandwidth(3, 1066.67e6), EFFICIENCY)
    assert bus / CROSSED > 17.82 * GBIT


def test_latency_under_load_against_intels_table():
    """MLC 3.5, two Xeon Silver 4110, read only: (MB/s, ns). 6 %: a straight line through a measured curve.

    A core that does nothing but wait rises with the latency itself: half as much again at full load.
    """
    table = np.array(
        [(135655.9, 130.31), (131282.0, 123.71), (68357.8, 98.94), (42695.4, 94.56), (29473.3, 92.29),
         (22580.9, 90.85), (13463.5, 88.79), (7680.3, 87.24), (1237.6, 81.96)]
    )  # fmt: skip
    measured = table[:, 1] / table[-1, 1]
    np.testing.assert_allclose(memory.interference(table[:, 0] / table[0, 0], 0.5), measured, rtol=0.06)


def test_interference_predicts_the_rise_of_cycles_with_load():
    """NASA: one writer 10.31 Gb/s at 99 % of a core; two files on one array 71 and 70 % at 7.18 and 7.08;
    two arrays 94 and 89 % at 9.16 and 8.66 Gb/s. The bus load follows from rate, crossings and DIMMs;
    k is half of a stall share of 0.3 to 0.7 (assumed, with these figures known). Rounding of the shares: 1 %.
    """
    clock = 3.2e9
    bus = memory.sustained_bandwidth(memory.peak_bandwidth(3, 1066.67e6), EFFICIENCY)

    def load(gbps):
        return gbps * GBIT * CROSSED / bus

    def cycles(shares, rates):
        return (np.array(shares) * clock / (np.array(rates) * GBIT)).mean()

    alone = cycles([0.99, 0.99], [10.273, 10.311])
    for total, shares, rates in ((14.268, (0.71, 0.70), (7.185, 7.083)), (17.825, (0.94, 0.89), (9.161, 8.664))):
        measured = cycles(shares, rates) / alone
        low, high = memory.interference(load(total), np.array([0.15, 0.35]), load(10.29))
        assert low - 0.01 < measured < high + 0.01
        assert measured == pytest.approx(memory.interference(load(total), 0.25, load(10.29)), rel=0.02)


unit = st.floats(0, 1)
