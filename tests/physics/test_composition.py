"""Laws of composition against closed forms, measured runs, quadrature and simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import composition as comp

GBIT = 1e9 / 8


def test_serial_stages():
    assert comp.serial_rate([2.0, 2.0]) == 1
    assert comp.serial_rate([3.0, np.inf]) == 3
    # One core receiving at 35.4 and writing at 14.4 Gb/s; NASA measured 10.27 (1 %: the 14.4 is rounded).
    assert comp.serial_rate([35.4, 14.4]) == pytest.approx(10.27, rel=0.01)
    # Globus: 110 MB/s transfer, then verification; 45.56 MB/s in all means 77.8 MB/s for verifying.
    assert comp.serial_rate([110e6, 77.8e6]) == pytest.approx(45.56e6, rel=2e-3)


def test_overlap_between_its_limits():
    rates = [5.0, 3.0, 8.0]
    assert comp.overlapped_rate(rates, 0) == pytest.approx(comp.serial_rate(rates))
    assert comp.overlapped_rate(rates, 1) == pytest.approx(3)
    assert comp.overlapped_rate([4.0, 4.0], 0.5) == pytest.approx(4 / 1.5)


def test_pipeline_time():
    assert comp.pipeline_time([2.0, 3.0], 1) == 5
    assert comp.pipeline_time([2.0, 3.0], 1e9) == pytest.approx(3)
    # Three stages, ten chunks, walked through chunk by chunk.
    done = np.zeros(3)
    for _ in range(10):
        t = 0.0
        for i, d in enumerate((0.1, 0.2, 0.1)):
            t = max(t, done[i]) + d
            done[i] = t
    assert comp.pipeline_time([1.0, 2.0, 1.0], 10) == pytest.approx(done[-1])


def test_little():
    # 16 x 64 KiB in flight over 9.96 ms: 105 MB/s
    assert comp.little_rate(16 * 65536, 9.96e-3) == pytest.approx(105e6, rel=5e-3)


@pytest.mark.parametrize("stations", [1, 2, 5])
@pytest.mark.parametrize("n", [1, 3, 20])
def test_balanced_closed_network(stations, n):
    # Product form, equal demands: N / ((N + K - 1) D)
    assert comp.closed_rate(np.full(stations, 0.5), n) == pytest.approx(n / ((n + stations - 1) * 0.5))


def test_closed_network_of_two_is_a_birth_death_chain():
    # N requests, rates a and b: X = b (1 - pi_0), pi_k proportional to (a/b)^k
    a, b, n = 2.0, 3.0, 6
    pi = (a / b) ** np.arange(n + 1)
    exact = b * (1 - pi[0] / pi.sum())
    assert comp.closed_rate([1 / a, 1 / b], n) == pytest.approx(exact)


def test_closed_network_limits():
    d = np.array([0.01, 0.03])
    assert comp.closed_rate(d, 1, 0.1) == pytest.approx(1 / 0.14)
    assert comp.closed_rate(d, 500, 0.1) == pytest.approx(1 / 0.03, rel=1e-3)
    assert comp.closed_rate(np.ones((4, 3)), 2).shape == (4,)
    assert comp.closed_rate(np.ones((4, 3)), 2, np.zeros(4)).shape == (4,)


def test_sharing():
    assert comp.ps_rate(10.0, 4) == 2.5
    assert comp.ps_rate(10.0, 4, cap=1.0) == 1
    np.testing.assert_allclose(comp.max_min_share([2.0, 2.6, 4.0, 5.0], 10.0), [2, 2.6, 2.7, 2.7])  # textbook
    np.testing.assert_allclose(comp.max_min_share([np.inf, np.inf], 9.0, [2, 1]), [6, 3])
    np.testing.assert_allclose(comp.max_min_share([1.0, 2.0], 10.0), [1, 2])
    np.testing.assert_allclose(comp.max_min_share([[1.0, 9.0], [9.0, 9.0]], [4.0, 4.0]), [[1, 3], [2, 2]])


def test_expected_min():
    assert comp.expected_min([3.0], 0.5) == pytest.approx(3.0, rel=1e-3)
    assert comp.expected_min([3.0, 1e6], 0.5) == pytest.approx(3.0, rel=1e-3)
    assert comp.expected_min([3.0, 4.0], 1e-6) == pytest.approx(3.0, rel=1e-5)
    # Two equal log-normals: E[min] = 2 m Phi(-sigma / sqrt 2) (exchange option, Margrabe 1978)
    sigma = np.sqrt(np.log(1 + 0.5**2))
    from math import erfc

    assert comp.expected_min([1.0, 1.0], 0.5) == pytest.approx(erfc(sigma / 2), rel=1e-3)
    rng = np.random.default_rng(5)
    cv = np.array([0.1, 0.4, 1.0])
    s = np.sqrt(np.log1p(cv**2))
    drawn = np.array([1.0, 1.2, 2.0]) * np.exp(s * rng.standard_normal((200000, 3)) - s**2 / 2)
    assert comp.expected_min([1.0, 1.2, 2.0], cv) == pytest.approx(drawn.min(axis=1).mean(), rel=5e-3)


def test_makespan():
    assert comp.static_makespan([10.0, 10.0, 10.0], [1.0, 2.0, 5.0]) == 10
    times = [3.0, 3, 2, 2, 2]
    low, high = comp.makespan_bounds(times, 2)
    assert low == 6
    assert low <= comp.list_makespan(times, 2) <= high
    # Graham's worst case is reached: w - 1 parts ahead, the long one last.
    assert comp.list_makespan([1.0] * 6 + [3.0], 3) == pytest.approx(comp.makespan_bounds([1.0] * 6 + [3.0], 3)[1])
    assert comp.list_makespan([], 3) == 0
    assert comp.slowest_of(10.0, 0.2, 1) == 10


def test_slowest_of_bounds_simulation():
    rng = np.random.default_rng(1)
    for n in (2, 8, 64):
        mean_max = (10 + 2 * rng.standard_normal((20000, n))).max(axis=1).mean()
        assert mean_max <= comp.slowest_of(10.0, 0.2, n) < 1.25 * mean_max


rate_lists = st.lists(st.floats(0.01, 100), min_size=1, max_size=6)


@settings(max_examples=60)
@given(rates=rate_lists, overlap=st.floats(0, 1), n=st.integers(1, 30), z=st.floats(0, 50))
def test_properties(rates, overlap, n, z):
    slow = comp.serial_rate(rates)
    mid = comp.overlapped_rate(rates, overlap)
    assert slow * (1 - 1e-12) <= mid <= min(rates) * (1 + 1e-12)
    d = 1 / np.array(rates)
    low, high = comp.asymptotic_bounds(d, n, z)
    x = comp.closed_rate(d, n, z)
    assert low * (1 - 1e-9) <= x <= high * (1 + 1e-9)
    assert comp.closed_rate(d, n + 1, z) >= x * (1 - 1e-12)
    assert comp.expected_min(rates, 0.3) <= min(rates) * 1.002


@settings(max_examples=60)
@given(wanted=rate_lists, capacity=st.floats(0.01, 300))
def test_max_min_properties(wanted, capacity):
    x = comp.max_min_share(wanted, capacity)
    assert x.sum() == pytest.approx(min(capacity, sum(wanted)))
    assert np.all(x <= np.array(wanted) * (1 + 1e-12))
    level = x.max()
    # nobody below the level wanted more
    assert np.all((x >= level * (1 - 1e-9)) | (x >= np.array(wanted) * (1 - 1e-9)))


@settings(max_examples=40)
@given(times=st.lists(st.floats(0.001, 100), min_size=1, max_size=40), workers=st.integers(1, 8))
def test_list_schedule_within_grahams_bounds(times, workers):
    low, high = comp.makespan_bounds(times, workers)
    assert low * (1 - 1e-9) <= comp.list_makespan(times, workers) <= high * (1 + 1e-9)
