"""WEKA's servers against its published results."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import weka


def test_large_requests_go_at_the_rate_of_a_core_and_small_ones_at_its_time():
    assert weka.core_time(1.3e9, 0.0, 4096) == pytest.approx(1 / 1.3e9)
    assert weka.core_time(1e15, 16e-6, 4096) * 4096 == pytest.approx(16e-6)


@pytest.mark.parametrize(
    ("cores", "reads", "writes"), [(32, 1_978_330, 404_670), (96, 4_346_330, 1_317_000)], ids=["aws", "supermicro"]
)
def test_one_pair_of_costs_holds_for_both_clusters(cores, reads, writes):
    """docs.weka.io, performance test results, requests of 4 KiB of eight clients."""
    assert cores / (weka.core_time(1.3e9, 16e-6, 4096) * 4096) == pytest.approx(reads, rel=0.2)
    assert cores / (weka.core_time(0.4e9, 65e-6, 4096) * 4096) == pytest.approx(writes, rel=0.08)


def test_a_written_byte_crosses_once_more_with_its_parity():
    assert weka.port_bytes(1.5, 8, 1) == 1.0
    assert weka.port_bytes(1.5, 8, 0) == pytest.approx(1 + 1.5 * 7 / 8)
    assert weka.port_bytes(1.5, 1, 0) == 1.0  # nothing leaves a single server


@settings(max_examples=50)
@given(e=st.floats(1, 2), n=st.integers(1, 1000), s=st.floats(512, 1e8))
def test_more_servers_more_crossings_larger_requests_less_time(e, n, s):
    assert 1 <= weka.port_bytes(e, n, 0) <= weka.port_bytes(e, n + 1, 0) < 1 + e
    assert weka.core_time(1e9, 1e-5, 2 * s) < weka.core_time(1e9, 1e-5, s)
