import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics.fairness import log_spread


def jain(rates):
    return np.sum(rates) ** 2 / (len(rates) * np.sum(np.square(rates)))


def test_equal_shares_have_no_spread():
    assert log_spread(1.0) == 0.0


def test_published_example():
    """Jain, Chiu and Hawe 1984: an index of 0.2 says that it is fair to 20 %; CV^2 = 1 / J - 1 = 4 of the shares."""
    assert np.expm1(log_spread(0.2) ** 2) == pytest.approx(4.0)


@settings(max_examples=20)
@given(st.floats(0.6, 1.0))
def test_drawn_shares_have_the_index(index):
    shares = np.random.default_rng(1).lognormal(0.0, log_spread(index), 100_000)
    assert jain(shares) == pytest.approx(index, rel=0.05)
