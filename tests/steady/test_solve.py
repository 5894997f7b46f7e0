"""The max-min solver against closed forms and an independent linear program."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from dtnsim.ground.records import Demand, Phase, Problem, Station, Transfer
from dtnsim.steady import matrices, solve
from dtnsim.steady.rows import Rows
from dtnsim.steady.shares import Shares
from tests.each import cases, rows
from tests.engine.slow_fluid import lexicographic

Array = NDArray[np.float64]


def station(name: str, capacity: float | Array, *, private: bool = False) -> Station:
    return Station(name, "h", name, "test", capacity, "B", private=private)


def transfer(name: str, *phases: dict[str, float], workers: float = 1, delay: float = 0.0) -> Transfer:
    waits = (Demand("w", delay, "wait"),) if delay else ()
    made = [Phase(str(n), tuple(Demand(s, d, "x") for s, d in row.items()), waits) for n, row in enumerate(phases)]
    return Transfer(name, tuple(made), workers, 1e9, 1)


def rates(stations: list[Station], *transfers: Transfer) -> Array:
    return solve.solve(solve.matrices(Problem("t", tuple(stations), transfers))).rate


def test_a_station_visited_twice_is_charged_twice() -> None:
    two = Transfer("t", (Phase("p", (Demand("a", 1.0, "x"), Demand("a", 1.0, "y"))),), 1, 1e9, 1)
    assert_allclose(rates([station("a", 100.0)], two), [[50.0]])


@cases("capacities, transfers, expected", rows("steady/tables", "rates_of_transfers"))
def test_rates_of_transfers(
    capacities: dict[str, float], transfers: list[dict[str, Any]], expected: list[float]
) -> None:
    """Those of a station whose name begins with "own" are each worker's part of it."""
    stations = [station(name, float(value), private=name.startswith("own")) for name, value in capacities.items()]
    made = [
        transfer(f"t{n}", *one["phases"], workers=one.get("workers", 1), delay=one.get("delay", 0.0))
        for n, one in enumerate(transfers)
    ]
    assert_allclose(rates(stations, *made), [expected])


def filled(capacity: Array, demand: Array, weight: Array, ceiling: Array) -> solve.Solution:
    """`Shares` for a dense table (S, F, K) of demands, zeros included."""
    _, flows, stations = demand.shape
    first = np.arange(flows) * stations
    entries = demand.reshape(len(demand), -1).T
    at = np.tile(np.arange(stations), flows), np.repeat(np.arange(flows), stations)
    return Shares(capacity, Rows(*at, first, entries)).fair_rates(capacity, weight[:, None], ceiling)


def _instances() -> st.SearchStrategy[tuple[Array, Array, Array, Array]]:
    def make(seed: int) -> tuple[Array, Array, Array, Array]:
        rng = np.random.default_rng(seed)
        flows, stations = int(rng.integers(1, 6)), int(rng.integers(1, 7))
        demand = rng.uniform(0.1, 3.0, (flows, stations)) * (rng.random((flows, stations)) < 0.6)
        demand[:, 0] = np.maximum(demand[:, 0], 0.1)
        ceiling = np.where(rng.random(flows) < 0.5, rng.uniform(0.1, 5.0, flows), np.inf)
        return rng.uniform(1, 20, stations), demand, rng.uniform(0.2, 4.0, flows), ceiling

    return st.integers(0, 2**32 - 1).map(make)


@given(_instances())
def test_against_linear_programs(instance: tuple[Array, Array, Array, Array]) -> None:
    capacity, demand, weight, ceiling = instance
    found = filled(capacity[None], demand[None], weight, ceiling[None]).rate[0]
    # the programs are solved to 1e-9 and each level builds on the last: 1e-5 is their error, not ours
    assert_allclose(
        found, lexicographic(capacity, [dict(enumerate(row)) for row in demand], weight, ceiling), rtol=1e-5
    )


@given(_instances(), _instances())
def test_scenarios_do_not_mix(a: tuple[Array, ...], b: tuple[Array, ...]) -> None:
    flows, stations = min(a[1].shape[0], b[1].shape[0]), min(a[1].shape[1], b[1].shape[1])
    cut = [(c[:stations], d[:flows, :stations], w[:flows], e[:flows]) for c, d, w, e in (a, b)]
    weight = cut[0][2]
    both = filled(*(np.stack([cut[0][i], cut[1][i]]) for i in (0, 1)), weight, np.stack([c[3] for c in cut]))
    for n, (c, d, _, e) in enumerate(cut):
        alone = filled(c[None], d[None], weight, e[None])
        assert_allclose(both.rate[n], alone.rate[0], rtol=1e-12)


@given(_instances())
def test_shares_are_feasible_and_somebody_holds_everyone(instance: tuple[Array, ...]) -> None:
    capacity, demand, weight, ceiling = instance
    solution = filled(capacity[None], demand[None], weight, ceiling[None])
    rate, binding = solution.rate[0], solution.binding[0]
    use = rate @ demand / capacity
    assert np.all(use <= 1 + 1e-9)
    for f in range(len(weight)):
        assert rate[f] == pytest.approx(ceiling[f]) or use[binding[f]] == pytest.approx(1.0)


def test_infinite_capacity_and_no_demand_do_not_bind() -> None:
    found = rates([station("inf", np.inf), station("a", 5.0)], transfer("t", {"inf": 1.0, "a": 1.0}))
    assert_allclose(found, [[5.0]])


def test_no_capacity_means_no_rate() -> None:
    assert_allclose(rates([station("a", 0.0)], transfer("t", {"a": 1.0}), transfer("u", {"a": 1.0})), [[0.0, 0.0]])


def test_weights_share_in_proportion() -> None:
    found = filled(np.array([[12.0]]), np.ones((1, 2, 1)), np.array([1.0, 5.0]), np.full((1, 2), np.inf))
    assert_allclose(found.rate, [[2.0, 10.0]])


def _one_after_the_other(capacity: Array, demand: Array, weight: Array, ceiling: Array) -> Array:
    """Progressive filling by the textbook: one bottleneck of all a round, found among all."""
    rate, free, left = np.zeros(len(weight)), np.ones(len(weight), dtype=bool), capacity.copy()
    while free.any():
        load = (weight * free) @ demand
        levels = np.where(load > 0, left / np.where(load > 0, load, 1.0), np.inf)
        level = min(levels.min(), (ceiling / weight)[free].min())
        full = levels <= level * (1 + 1e-12)
        stop = free & ((demand[:, full] > 0).any(axis=1) | (ceiling / weight <= level * (1 + 1e-12)))
        rate[stop] = weight[stop] * level
        left = np.maximum(left - rate[stop] @ demand[stop], 0.0)
        free &= ~stop
    return rate


@pytest.mark.parametrize("seed", range(8))
def test_many_flows_on_few_stations_fill_as_one_after_the_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    flows, stations = 300, 40
    demand = rng.uniform(0.2, 3.0, (flows, stations)) * (rng.random((flows, stations)) < 0.08)
    demand[np.arange(flows), rng.integers(0, stations, flows)] = 1.0
    capacity, weight = rng.uniform(1, 100, stations), rng.uniform(0.2, 8.0, flows)
    ceiling = np.where(rng.random(flows) < 0.3, rng.uniform(0.01, 5.0, flows), np.inf)
    found = filled(capacity[None], demand[None], weight, ceiling[None]).rate[0]
    assert_allclose(found, _one_after_the_other(capacity, demand, weight, ceiling), rtol=1e-9)


def test_workers_with_a_lead_gain_by_faster_connections_whatever_they_share() -> None:
    """Four whose own connections are slow have a share each and do not queue; faster ones queue, and lose nothing."""
    lead = Demand("w", 1e-4, "log-in", each="lead")
    found = []
    for own in np.geomspace(50.0, 1000.0, 200):  # of all four; what they share takes 100
        work = Phase("p", (Demand("link", 1.0, "x"), Demand("tcp", 1.0, "x")), (lead, Demand("w", 0.002, "wait")))
        made = [station("link", 100.0), station("tcp", float(own), private=True)]
        found.append(rates(made, Transfer("t", (work,), 4, 1e9, 1))[0, 0])
    assert np.all(np.diff(found) >= 0)
    assert found[0] == pytest.approx(1 / (1e-4 + (0.002 + 4 / 50) / 4))
    assert 0.9 * found[-1] < found[100] <= found[-1] < 100


@pytest.mark.parametrize(("workers", "lead"), [(1, 0.0), (2, 5e-4), (4, 2.5e-4)])
def test_connections_that_all_workers_set_up_are_waited_for_by_all_at_once(workers: int, lead: float) -> None:
    start = Phase("p", (Demand("link", 1.0, "x"),), (Demand("w", 1e-3, "log-in", each="start"),))
    assert matrices.lead(Transfer("t", (start,), workers, 1e9, workers)) == lead


def test_shares_asked_for_again_are_those_found_anew() -> None:
    """What stays is kept: other weights, less of a station that several visit and of one that one has alone."""
    rng = np.random.default_rng(5)
    flows, stations, scenarios = 8, 12, 5
    demand = rng.uniform(0.1, 3.0, (scenarios, flows, stations)) * (rng.random((flows, stations)) < 0.4)
    demand[..., 0], demand[:, 1:, 11], demand[:, 0, 11] = 1.0, 0.0, 2.0
    at = np.tile(np.arange(stations), flows), np.repeat(np.arange(flows), stations)
    keep = (demand > 0).any(axis=0).ravel()
    first = np.flatnonzero(np.diff(at[1][keep], prepend=-1))
    rows = Rows(at[0][keep], at[1][keep], first, demand.reshape(scenarios, -1).T[keep])
    capacity, changing = rng.uniform(1, 20, (scenarios, stations)), np.zeros(stations, dtype=bool)
    changing[[3, 11]] = True
    shares, ceiling = Shares(capacity, rows, changing), rng.uniform(0.1, 5.0, (scenarios, flows))
    for some in (np.arange(scenarios), np.array([1, 3])):
        kept = shares.take(some, rows.take(some))
        for _ in range(3):
            weight, less = rng.uniform(0.2, 4.0, (flows, len(some))), capacity[some].copy()
            less[:, changing] *= rng.uniform(0.1, 1.0, (len(some), 2))
            found = kept.fair_rates(less, weight, ceiling[some])
            anew = Shares(less, rows.take(some)).fair_rates(less, weight, ceiling[some])
            assert_allclose(found.rate, anew.rate, rtol=1e-12)
            assert (found.binding == anew.binding).all()
