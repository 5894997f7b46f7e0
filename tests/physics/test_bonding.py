"""Bonding: occupancy against enumeration and published values, the Linux hash against known vectors."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.physics import bonding

# k = 4: n -> (E[used], n / E[max]); balls into bins, to two decimals
TABLE = {1: (1, 1), 2: (1.75, 1.60), 4: (2.73, 1.88), 8: (3.60, 2.26), 16: (3.96, 2.61), 32: (4.00, 2.91)}


@pytest.mark.parametrize("n", TABLE)
def test_four_links(n):
    used, static = TABLE[n]
    assert bonding.expected_links(4, n) == pytest.approx(used, abs=0.006)
    assert n / bonding.expected_max_load(4, n) == pytest.approx(static, abs=0.006)


@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 5), (3, 4), (4, 5), (5, 3)])
def test_against_enumeration_of_all_placements(k, n):
    loads = [np.bincount(p, minlength=k) for p in itertools.product(range(k), repeat=n)]
    assert bonding.expected_max_load(k, n) == pytest.approx(np.mean([x.max() for x in loads]))
    assert bonding.expected_links(k, n) == pytest.approx(np.mean([(x > 0).sum() for x in loads]))


def test_arrays_broadcast():
    assert bonding.expected_max_load([[2], [4]], [1, 2, 8]).shape == (2, 3)


@settings(max_examples=30)
@given(k=st.integers(1, 8), n=st.integers(1, 24))
def test_occupancy_properties(k, n):
    used, fullest = bonding.expected_links(k, n), bonding.expected_max_load(k, n)
    assert 1 - 1e-9 <= used <= min(k, n) + 1e-9
    assert max(n / k, 1) - 1e-9 <= fullest <= n + 1e-9
    assert bonding.expected_links(k, n + 1) >= used
    assert bonding.expected_max_load(k, n + 1) >= fullest
    assert bonding.static_rate(1.0, k, n) <= bonding.dynamic_rate(1.0, k, n) + 1e-9


def test_thousands_of_streams_are_counted_too() -> None:
    """Gumbel's approximation for many streams on few links; and what two links hold, in closed form."""
    n = 1600
    mean = float(bonding.expected_max_load(4, n))
    # the largest of four normal numbers is 1.0294 standard deviations above the mean (Tippett 1925)
    assert mean == pytest.approx(n / 4 + 1.0294 * math.sqrt(n / 4), rel=2e-3)
    two = n / 2 + n / 2 * math.exp(math.lgamma(n + 1) - 2 * math.lgamma(n / 2 + 1) - n * math.log(2))
    assert float(bonding.expected_max_load(2, n)) == pytest.approx(two, rel=1e-9)
