"""Metadata times against a counted loop, Erlang's formula by sums, and printed mdtest scaling."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import metadata

POSITIVE = st.floats(1e-3, 1e3)


def test_serial_time_against_a_counted_loop():
    clock = 0.0
    for _ in range(200):
        for _ in range(3):
            clock += 0.010 + 0.001
        clock += 0.002
    assert metadata.serial_time(200, 3, 0.010, 0.001, 1, 0.002) == pytest.approx(clock)
    assert metadata.serial_time(200, 3, 0.010, 0.001, 4, 0.002) == pytest.approx(clock / 4)
    assert metadata.serial_time(200, 3, 0.010, 0.001, 0, 0.002) == pytest.approx(clock)


def test_operation_rate_limits():
    assert metadata.operation_rate(1, 2, 0.0, 0.5e-3) == pytest.approx(1000)
    assert metadata.operation_rate(1000, 2, 0.0, 0.5e-3, in_flight=8) == pytest.approx(8000)
    assert metadata.operation_rate(1000, 2, 0.0, 0.5e-3, 8, 1000) == 1000
    assert metadata.operation_rate(1000, 2, 0.0, 0.5e-3, server_rate=15e3) == 15e3


def test_printed_mdtest_scaling_lies_under_the_bound():
    # Dell HPC Lustre storage with Omni-Path, mdtest: 1100 creates/s with one thread, 27 000 with 240
    one = metadata.operation_rate(1, 1, 0.0, 1 / 1100)
    assert one == pytest.approx(1100)
    assert metadata.operation_rate(240, 1, 0.0, 1 / 1100) > 27e3
    assert metadata.operation_rate(240, 1, 0.0, 1 / 1100, server_rate=27e3) == 27e3


@settings(max_examples=60)
@given(n=POSITIVE, k=POSITIVE, T=POSITIVE, t=POSITIVE, P=st.floats(1.0, 100.0))
def test_time_and_rate_agree_and_are_monotone(n, k, T, t, P):
    assert metadata.serial_time(n, k, T, t, P) * metadata.operation_rate(P, k, T, t) == pytest.approx(n)
    assert metadata.serial_time(n, k, 2 * T, t, P) >= metadata.serial_time(n, k, T, t, P)
    assert metadata.operation_rate(2 * P, k, T, t) >= metadata.operation_rate(P, k, T, t)


def test_small_file_time_limits():
    assert metadata.small_file_time(1, 1e12, 1000.0, 1e9) == pytest.approx(1000.0, rel=1e-5)
    assert metadata.small_file_time(1e6, 1.0, 1000.0, 1e9) == pytest.approx(1000.0, rel=1e-5)


def test_local_operations_wait_only_for_what_they_sync():
    assert metadata.local_operation_time(20e-6, 8e-3) == pytest.approx(20e-6)
    assert metadata.local_operation_time(20e-6, 8e-3, 1, 1.0) == pytest.approx(8.02e-3)
    assert metadata.local_operation_time(20e-6, 8e-3, 10, 1.0) == pytest.approx(0.82e-3)


def _erlang_c_wait(lam, t, c):
    """Textbook sums, no recursion."""
    a = lam * t
    top = a**c / math.factorial(c) * c / (c - a)
    return top / (sum(a**k / math.factorial(k) for k in range(c)) + top) * t / (c - a)


@pytest.mark.parametrize(("lam", "t", "c"), [(0.5, 1.0, 1), (1.9, 1.0, 2), (20.0, 0.5, 16), (3.0, 1.0, 64)])
def test_wait_against_the_textbook_sums(lam, t, c):
    assert metadata.mmc_wait_time(lam, t, c) == pytest.approx(_erlang_c_wait(lam, t, c), rel=1e-9)


def test_wait_of_one_server_and_of_an_overloaded_one():
    # M/M/1: W_q = rho t / (1 - rho)
    assert metadata.mmc_wait_time(0.8, 1.0) == pytest.approx(4.0)
    np.testing.assert_array_equal(metadata.mmc_wait_time([2.0, 4.0, 5.0], 1.0, [1, 4, 4]), np.inf)
    assert metadata.mmc_wait_time(0.0, 1.0, 4) == 0.0


@settings(max_examples=60)
@given(rho=st.floats(0.01, 0.99), t=POSITIVE, c=st.integers(1, 40))
def test_wait_is_monotone(rho, t, c):
    w = metadata.mmc_wait_time(rho * c / t, t, c)
    assert metadata.mmc_wait_time(rho * c / t, t, c + 1) <= w
    assert metadata.mmc_wait_time(0.99 * rho * c / t, t, c) <= w
    assert w <= rho * t / (1 - rho) * (1 + 1e-9)  # c servers of t wait less than one


def test_wait_broadcasts_over_servers():
    wait = metadata.mmc_wait_time(np.array([[0.5], [0.9]]), 1.0, np.array([1, 2, 8]))
    assert wait.shape == (2, 3)
    assert wait[1, 1] == pytest.approx(_erlang_c_wait(0.9, 1.0, 2))


def test_shared_rate():
    np.testing.assert_allclose(metadata.shared_rate(10.0, [0.0, 1.0, 4.0]), [10.0, 5.0, 2.0])
