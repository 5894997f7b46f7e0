"""Arrival times and sizes against the distributions that they claim."""

import numpy as np
import pytest
from scipy import integrate, stats

from dtnsim.engine.traffic import pareto_mean, pareto_sizes, poisson_times
from dtnsim.ground.errors import InputError

OFFICE = [1] * 8 + [4] * 10 + [2] * 6
WEEK = [1, 1, 1, 1, 1, 0.25, 0]


def test_constant_rate_has_exponential_gaps():
    times = poisson_times(np.random.default_rng(1), 2.0, 5000.0)
    assert np.all(np.diff(times) >= 0)
    assert stats.kstest(np.diff(times), "expon", args=(0, 0.5)).pvalue > 0.001


def test_number_of_arrivals_is_poisson():
    counts = [len(poisson_times(np.random.default_rng(s), 0.5, 200.0, hours=OFFICE)) for s in range(300)]
    assert np.mean(counts) == pytest.approx(100, abs=4 * 10 / np.sqrt(300))
    assert np.var(counts) == pytest.approx(100, rel=0.35)


def test_hours_and_days_have_their_part():
    times = poisson_times(np.random.default_rng(2), 0.05, 28 * 86400.0, hours=OFFICE, days=WEEK)
    hour = (times // 3600).astype(int)
    expected = np.outer(WEEK, OFFICE).ravel()
    seen = np.bincount(hour % 168, minlength=168)
    assert seen[expected == 0].sum() == 0
    kept = expected > 0
    assert stats.chisquare(seen[kept], expected[kept] / expected.sum() * seen.sum()).pvalue > 0.001


def test_a_rhythm_over_part_of_an_hour_only():
    times = poisson_times(np.random.default_rng(3), 1.0, 1800.0, hours=OFFICE)
    assert times.max() < 1800.0
    assert stats.kstest(times, "uniform", args=(0, 1800.0)).pvalue > 0.001


@pytest.mark.parametrize("tail", [0.6, 1.0, 1.2, 2.5])
def test_sizes_are_pareto_and_their_mean_is_the_integral(tail):
    low, high = 1e6, 1e12
    cut = 1 - (low / high) ** tail
    sizes = pareto_sizes(np.random.default_rng(4), 20_000, low, high, tail)
    assert stats.kstest(sizes, lambda x: (1 - (low / x) ** tail) / cut).pvalue > 0.001
    mean, _ = integrate.quad(lambda u: np.exp(u) * tail * (low / np.exp(u)) ** tail / cut, np.log(low), np.log(high))
    assert pareto_mean(low, high, tail) == pytest.approx(mean, rel=1e-8)
    assert pareto_mean(5.0, 5.0, tail) == 5.0


def test_same_seed_same_traffic():
    one, two = (poisson_times(np.random.default_rng(9), 0.1, 86400.0, hours=OFFICE) for _ in range(2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: poisson_times(r, -1.0, 1.0), "must be finite and >= 0"),
        (lambda r: poisson_times(r, 1.0, 1.0, hours=[1.0] * 23), "hours are 23 intensities"),
        (lambda r: poisson_times(r, 1.0, 1.0, days=[-1.0] * 7), "finite numbers >= 0"),
        (lambda r: poisson_times(r, 1.0, 1.0, hours=[0.0] * 24), "leave no time for arrivals"),
        (lambda r: pareto_sizes(r, 1, 0.0, 1.0, 1.0), "give 0 < least <= greatest"),
        (lambda r: pareto_sizes(r, 1, 1.0, 2.0, 0.0), "tail > 0"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(InputError, match=message):
        call(np.random.default_rng(0))
