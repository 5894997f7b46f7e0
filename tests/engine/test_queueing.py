"""Poisson transfers on one station are a processor-sharing queue: means against theory.

Each test takes R independent runs (own seeds, the first customers left out) and asks that the theoretical mean
lies within the 99.9 % confidence interval of the runs' means (Student, R - 1 degrees).
"""

import math

import numpy as np
import pytest

from tests.engine.driver import run_arrivals

RUNS, CUSTOMERS, WARM, T_999 = 12, 3000, 500, 4.437  # two-sided 99.9 % quantile of Student's t, RUNS - 1 degrees


def interval(means):
    means = np.asarray(means)
    half = T_999 * means.std(ddof=1) / math.sqrt(len(means))
    return means.mean() - half, means.mean() + half


def sojourns(seed, sizes, rate, **more):
    """Mean sojourn by class of Poisson arrivals on one station of 1 B/s."""
    rng = np.random.default_rng(seed)
    starts = np.cumsum(rng.exponential(1 / rate, CUSTOMERS))
    size = sizes(rng, CUSTOMERS)
    found = run_arrivals([1.0], starts, size, [{0: 1.0}], np.zeros(CUSTOMERS, int), **more)
    return (found.finish - starts)[WARM:], found


DISTRIBUTIONS = {
    "exponential": lambda rng, n: rng.exponential(1.0, n),
    # mean 1, squared coefficient of variation 5.3: the mean sojourn must not care
    "hyperexponential": lambda rng, n: rng.exponential(np.where(rng.random(n) < 0.9, 0.5, 5.5)),
    "constant": lambda rng, n: np.ones(n),
}


@pytest.mark.parametrize("name", ["hyperexponential", "constant"])  # of exponential sizes the next test says more
def test_mean_sojourn_of_processor_sharing_depends_on_the_mean_size_only(name):
    """M/M/1-PS and M/G/1-PS: E[T] = E[S] / (1 - load) (Kleinrock, Queueing Systems II, 1976, 4.4)."""
    load = 0.6
    low, high = interval([sojourns(seed, DISTRIBUTIONS[name], load)[0].mean() for seed in range(RUNS)])
    assert low < 1 / (1 - load) < high
    assert high - low < 0.8  # an interval that would hold anything proves nothing


def test_sojourn_of_a_size_is_proportional_to_it():
    """M/G/1-PS: E[T | x] = x / (1 - load): so E[T/x] is the same for small and large transfers."""
    load, small, large = 0.5, [], []
    for seed in range(RUNS):
        size = np.random.default_rng(1000 + seed).exponential(1.0, CUSTOMERS)
        slow = sojourns(seed, lambda _r, _n, size=size: size, load)[0] / size[WARM:]
        small.append(slow[size[WARM:] < 0.5].mean())
        large.append(slow[size[WARM:] > 1.5].mean())
    for means in (small, large):
        low, high = interval(means)
        assert low < 1 / (1 - load) < high


def test_own_caps_make_it_a_queue_with_that_many_servers():
    """Caps of a quarter of the capacity: the number under way is that of M/M/4 (Erlang C), whatever the order."""
    servers, load = 4, 0.7
    offered = servers * load
    terms = [offered**k / math.factorial(k) for k in range(servers)]
    last = offered**servers / math.factorial(servers) / (1 - load)
    waiting = last / (sum(terms) + last)
    expected = servers + waiting / (1 - load)  # E[T] in units of the mean size at full rate: 4 alone, plus the wait
    means = [
        sojourns(seed, DISTRIBUTIONS["exponential"], load, caps=np.full(CUSTOMERS, 1 / servers))[0].mean()
        for seed in range(RUNS)
    ]
    low, high = interval(means)
    assert low < expected < high


def test_weights_make_it_discriminatory_processor_sharing():
    """Two classes with weights 1 and 3 (Fayolle, Mitrani and Iasnogorodski, J. ACM 27, 1980, two classes)."""
    weight, loads, rate = (1.0, 3.0), (0.3, 0.4), 1.0  # equal mean sizes of 1, so mu = 1 in both classes
    spread = sum(rate * g * (1 - rho) for g, rho in zip(weight, loads, strict=True))
    expected = [
        (1 + rate * loads[1 - i] * (weight[1 - i] - weight[i]) / spread) / (rate * (1 - sum(loads))) for i in (0, 1)
    ]
    means = ([], [])
    for seed in range(RUNS):
        second = np.random.default_rng(1000 + seed).random(CUSTOMERS) < loads[1] / sum(loads)
        found, _ = sojourns(seed, DISTRIBUTIONS["exponential"], sum(loads), weights=np.where(second, *weight[::-1]))
        for i in (0, 1):
            means[i].append(found[second[WARM:] == bool(i)].mean())
    for i in (0, 1):
        low, high = interval(means[i])
        assert low < expected[i] < high
    assert max(means[1]) < min(means[0])  # the heavier class is served faster in every run


def test_mean_number_under_way_obeys_little():
    found = sojourns(3, DISTRIBUTIONS["exponential"], 0.6)[1]
    rng = np.random.default_rng(3)
    starts = np.cumsum(rng.exponential(1 / 0.6, CUSTOMERS))
    span = found.finish.max() - starts[0]
    assert found.mean == pytest.approx((found.finish - starts).sum() / span, rel=1e-9)
