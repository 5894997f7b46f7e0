"""DAOS against Google's Parallelstore, which is DAOS."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import daos

GiB = 2.0**30


def test_a_tib_of_parallelstore():
    """Parallelstore overview: 1.15 GiB/s and 30,000 reads a second of each TiB."""
    assert 1 / daos.engine_time(1.15 * GiB, 30_000, 2**20) == pytest.approx(1.15 * GiB)
    assert 1 / daos.engine_time(1.15 * GiB, 30_000, 4096) / 4096 == pytest.approx(30_000)


def test_the_corner_is_where_both_bind():
    corner = 1.15 * GiB / 30_000  # 41 kB
    assert 1 / daos.engine_time(1.15 * GiB, 30_000, corner) == pytest.approx(1.15 * GiB)
    assert 1 / daos.engine_time(1.15 * GiB, 30_000, corner / 2) == pytest.approx(1.15 * GiB / 2)


def test_copies_and_cells_are_taken_out_of_the_clients_memory():
    assert daos.client_bytes(3.0, 0) == 3.0
    assert daos.client_bytes(1.5, 0) == 1.5
    assert daos.client_bytes(1.5, 1) == 1.0


@settings(max_examples=50)
@given(r=st.floats(1e8, 1e11), q=st.floats(1e3, 1e7), s=st.floats(512, 1e8))
def test_larger_requests_never_cost_more(r, q, s):
    assert daos.engine_time(r, q, 2 * s) <= daos.engine_time(r, q, s)
    assert daos.engine_time(r, q, s) >= 1 / r
