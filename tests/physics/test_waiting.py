"""Workers that wait: closed networks, requests in flight, the last round, unequal luck."""

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from dtnsim.physics.waiting import MANY, cycle_time, log_spread, rounds, time_shares

SECONDS = st.floats(1e-6, 1e3)


@example(n=1, times=(1.0, 0.25, 1.0), which=1, less=2.2250738585072014e-308)
@given(n=st.integers(1, 64), times=st.tuples(SECONDS, SECONDS, SECONDS), which=st.integers(0, 2), less=st.floats(0, 1))
def test_less_of_any_time_never_costs_more(n, times, which, less):
    quicker = tuple(t * less if i == which else t for i, t in enumerate(times))
    assert float(cycle_time(n, *quicker)) <= float(cycle_time(n, *times)) * (1 + 1e-9)


def _at_work(sizes, counts, workers):
    return 1 / sum(part / n for n, part in rounds(sizes, counts, workers))


def test_many_files_keep_all_at_work_and_five_on_four_workers_take_two_rounds():
    assert _at_work([1.0], [4 * MANY + 1], 4) == 4.0
    assert _at_work([1.0], [4 * MANY - 1], 4) == pytest.approx(4.0, rel=0.005)
    assert _at_work([7.0], [5], 4) == pytest.approx(2.5)


def test_grahams_worst_case():
    """Graham (1969): W (W - 1) jobs of 1 and then one of W take 2 W - 1 rounds of which W would do."""
    w = 4
    small, large = np.ones(w * (w - 1)), [float(w)]
    sizes, counts = np.concatenate([small, large]), np.ones(w * (w - 1) + 1, int)
    assert _at_work(sizes, counts, w) == pytest.approx(sizes.sum() / (2 * w - 1))


@given(st.lists(st.floats(1, 100), min_size=1, max_size=40), st.integers(1, 16))
def test_between_grahams_bounds(sizes, workers):
    found = _at_work(sizes, [1] * len(sizes), workers)
    assert found <= workers * (1 + 1e-12)
    if len(sizes) >= workers:
        makespan = sum(sizes) / found
        best = max(*sizes, sum(sizes) / workers)
        assert best * (1 - 1e-12) <= makespan <= (2 - 1 / workers) * best * (1 + 1e-12)


@given(st.lists(st.floats(1, 100), min_size=1, max_size=40), st.integers(1, 16))
def test_all_bytes_move_at_some_time(sizes, workers):
    found = rounds(sizes, [1] * len(sizes), workers)
    assert sum(part for _, part in found) == pytest.approx(1.0)
    assert [n for n, _ in found] == sorted({n for n, _ in found}, reverse=True)
    assert found[0][0] <= workers


def test_the_last_file_of_five_moves_alone():
    assert rounds([7.0], [5], 4) == ((4, pytest.approx(0.8)), (1, pytest.approx(0.2)))


def test_three_workers_left_are_divided_between_two_and_four():
    """Seven files on four workers: 4 of 7, then 3; which take 2 rounds of one file, as 4/7 / 4 + 3/7 / 3 says."""
    found = dict(rounds([1.0], [7], 4))
    assert found[4] / 4 + found[2] / 2 == pytest.approx(2 / 7)
    assert found[4] + found[2] == pytest.approx(1.0)


def jain(rates):
    return np.sum(rates) ** 2 / (len(rates) * np.sum(np.square(rates)))


def test_published_example():
    """Jain, Chiu and Hawe 1984: an index of 0.2 says that it is fair to 20 %; CV^2 = 1 / J - 1 = 4 of the shares."""
    assert np.expm1(log_spread(0.2) ** 2) == pytest.approx(4.0)


@settings(max_examples=20)
@given(st.floats(0.6, 1.0))
def test_drawn_shares_have_the_index(index):
    shares = np.random.default_rng(1).lognormal(0.0, log_spread(index), 100_000)
    assert jain(shares) == pytest.approx(index, rel=0.05)


def test_chain_of_workers_at_one_station_is_the_closed_network():
    """n of 5 at a station of 2 s, the others 3 s away: exact mean value analysis."""
    count, away, station = 5, 3.0, 2.0
    flow = np.zeros((count + 1, count + 1))
    for n in range(count):
        flow[n, n + 1], flow[n + 1, n] = (count - n) / away, 1 / station
    busy = 1 - time_shares(flow)[0]
    assert busy / station == pytest.approx(1 / float(cycle_time(count, away, station)), rel=1e-12)


def test_time_shares_of_a_ring_are_the_times_that_it_stays():
    ring = np.zeros((2, 3, 3))
    ring[:, [0, 1, 2], [1, 2, 0]] = [[1.0, 0.5, 0.25], [1e12, 1.0, 1e-12]]
    shares = time_shares(ring)
    assert shares[0] == pytest.approx([1 / 7, 2 / 7, 4 / 7])
    assert shares[1] == pytest.approx([1e-24, 1e-12, 1.0], rel=1e-9)
