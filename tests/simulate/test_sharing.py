"""Fair shares after any history of starts, ends and capacity changes, against two independent solvers."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_fluid import exact_filling, progressive_filling

from dtnsim.errors import InputError, ModelError
from dtnsim.simulate.fluid import Fluid


def answer(fluid, solver=progressive_filling):
    flows = list(fluid.live.values())
    rates = solver(
        fluid.stations, [dict(f.row.demands) for f in flows], [f.weight for f in flows], [f.cap for f in flows]
    )
    return {f.number: r for f, r in zip(flows, rates, strict=True)}


def holds(fluid, rates, tolerance):
    return all(abs(fluid.rate(f) - rates[f.number]) <= tolerance * rates[f.number] for f in fluid.live.values())


def assert_fair(fluid, tolerance=1e-9):
    """The engine's rates are the oracle's; where sums in doubles differ, rational numbers decide."""
    if not holds(fluid, answer(fluid), tolerance):
        rates = answer(fluid, exact_filling)
        assert holds(fluid, rates, tolerance), [(fluid.rate(f), float(rates[f.number])) for f in fluid.live.values()]


def assert_books_balance(fluid):
    """What the engine keeps by adding and subtracting is what adding up afresh gives."""
    for node, capacity in enumerate(fluid.capacity):
        if math.isfinite(capacity):
            spare = pytest.approx(fluid.spare[node], abs=1e-9 * capacity + 1e-300)
            assert capacity - fluid.used(node) == spare
        load = {}
        for row in fluid.held[node]:
            assert row.node == node
            for other, demand in row.pairs:
                load[other] = load.get(other, 0.0) + demand * math.fsum(f.weight for f in row.free.values())
        assert fluid.load[node] == pytest.approx(load, rel=1e-9)
        assert fluid.count[node] == sum(len(r.free) for r in fluid.held[node])
    for station, capacity in enumerate(fluid.stations):
        assert fluid.taken(station) <= capacity * (1 + 1e-9)


def history(seed, orders, steps=30):
    """A random history; ``orders``: powers of ten that weights, demands and capacities spread over, up and down."""
    rng = random.Random(seed)
    stations = rng.randint(1, 6)

    def spread(usual):
        return 10 ** rng.uniform(-orders, orders) if orders else rng.choice(usual)

    def capacity():
        plain = 10 ** rng.uniform(-1 - orders, 1 + orders)
        return rng.choice([0.0, plain, plain, math.inf]) if orders else plain

    fluid = Fluid([10 ** rng.uniform(-1, 1) for _ in range(stations)])
    now = 0.0
    for _ in range(steps):
        now += rng.random()
        what = rng.random()
        if what < 0.6 or not fluid.live:
            row = {k: spread([1, 1, 2, 0.5]) for k in range(stations) if rng.random() < 0.5} or {0: 1}
            cap = 10 ** rng.uniform(-1.5, 1) if rng.random() < 0.6 else math.inf
            fluid.start(fluid.flow(fluid.row(row), math.inf, spread([1, 1, 2, 0.3]), cap), now)
        elif what < 0.9:
            fluid.withdraw(rng.choice(list(fluid.live.values())), now)
        else:
            fluid.set_law(rng.randrange(stations), capacity())
        if rng.random() < 0.8:
            fluid.settle(now)
            yield fluid


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**9))
def test_shares_are_those_of_progressive_filling(seed):
    for fluid in history(seed, 0):
        assert_fair(fluid)
        assert_books_balance(fluid)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([1, 2, 3]))
def test_weights_demands_and_capacities_over_many_orders_and_zero_and_infinite_capacities(seed, orders):
    for fluid in history(seed, orders):
        assert_fair(fluid)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9))
def test_equal_capacities_and_weights_give_ties_that_are_no_trouble(seed):
    rng = random.Random(seed)
    stations = rng.randint(3, 8)
    fluid = Fluid([float(rng.choice([6, 12])) for _ in range(stations)])
    for now in range(40):
        if rng.random() < 0.6 or not fluid.live:
            row = dict.fromkeys(rng.sample(range(stations), rng.randint(1, 3)), 1.0)
            fluid.start(fluid.flow(fluid.row(row), math.inf, 1.0, rng.choice([1.0, 2.0, math.inf])), float(now))
        else:
            fluid.withdraw(rng.choice(list(fluid.live.values())), float(now))
        fluid.settle(float(now))
        assert_fair(fluid, 1e-11)


def lexicographic(capacity, rows, weights, caps):
    """Weighted max-min by linear programs: raise the least rate per weight, fix who cannot rise further, repeat."""
    from scipy.optimize import linprog

    n = len(rows)
    use = np.array([[rows[f].get(k, 0.0) for f in range(n)] for k in range(len(capacity))])
    weight = np.array(weights)
    fixed = {}
    while len(fixed) < n:
        free = [f for f in range(n) if f not in fixed]
        # variables: rates, level; maximise the level that every free flow reaches
        a = [np.append(row, 0.0) for row in use]
        b = list(capacity)
        for f in free:
            line = np.zeros(n + 1)
            line[f], line[n] = -1.0, weight[f]
            a.append(line)
            b.append(0.0)
        most = [c if math.isfinite(c) else None for c in caps]
        bounds = [(fixed[f], fixed[f]) if f in fixed else (0, most[f]) for f in range(n)]
        top = linprog(np.append(np.zeros(n), -1.0), A_ub=a, b_ub=b, bounds=[*bounds, (0, None)], method="highs")
        assert top.status == 0
        level = top.x[n]
        stuck = {}
        for f in free:  # those who cannot pass the level while the others keep it
            least = level * weight * (1 - 1e-9)
            floor = [bounds[g] if g in fixed else (least[g], most[g]) for g in range(n)]
            goal = np.zeros(n)
            goal[f] = -1.0
            best = linprog(goal, A_ub=use, b_ub=np.array(capacity) * (1 + 1e-12), bounds=floor, method="highs")
            assert best.status == 0
            if best.x[f] <= level * weight[f] * (1 + 1e-6):
                stuck[f] = level * weight[f]
        assert stuck
        fixed.update(stuck)
    return [fixed[f] for f in range(n)]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**9))
def test_shares_are_lexicographically_greatest_by_linear_programming(seed):
    rng = random.Random(seed)
    stations, n = rng.randint(1, 4), rng.randint(1, 6)
    fluid = Fluid([rng.uniform(1, 10) for _ in range(stations)])
    for _ in range(n):
        row = {k: rng.uniform(0.5, 2) for k in range(stations) if rng.random() < 0.6} or {0: 1.0}
        cap = rng.uniform(0.2, 5) if rng.random() < 0.5 else math.inf
        fluid.start(fluid.flow(fluid.row(row), 1.0, rng.choice([1.0, 2.0, 3.5]), cap), 0.0)
    fluid.settle(0.0)
    flows = list(fluid.live.values())
    best = lexicographic(
        fluid.stations, [dict(f.row.demands) for f in flows], [f.weight for f in flows], [f.cap for f in flows]
    )
    assert [fluid.rate(f) for f in flows] == pytest.approx(best, rel=1e-6)


def test_the_textbook_example():
    """Bertsekas and Gallager 1992, 6.5.2: sessions over links of capacity 1; the middle link has three of them."""
    fluid = Fluid([1.0, 1.0, 1.0])
    rows = [{0: 1, 1: 1}, {1: 1}, {1: 1, 2: 1}, {2: 1}, {0: 1}]
    flows = [fluid.flow(fluid.row(r), 1.0) for r in rows]
    for flow in flows:
        fluid.start(flow, 0.0)
    fluid.settle(0.0)
    assert [fluid.rate(f) for f in flows] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 2 / 3, 2 / 3], rel=1e-14)


def test_max_min_is_not_monotone_and_the_engine_follows():
    """Taking a flow away may slow another down: it lets a third rise that shares a station with it."""
    fluid = Fluid([1.0, 1.2])
    fluid_flows = [fluid.flow(fluid.row(r), 1.0) for r in ({0: 1}, {0: 1, 1: 1}, {1: 1})]
    for flow in fluid_flows:
        fluid.start(flow, 0.0)
    fluid.settle(0.0)
    assert [fluid.rate(f) for f in fluid_flows] == pytest.approx([0.5, 0.5, 0.7], rel=1e-14)
    fluid.withdraw(fluid_flows[0], 1.0)
    fluid.settle(1.0)
    assert [fluid.rate(f) for f in fluid_flows] == pytest.approx([0.0, 0.6, 0.6], rel=1e-14)


def test_stations_that_always_come_together_are_one_node_until_a_row_parts_them():
    fluid = Fluid([10.0, 4.0, 7.0, 5.0])
    first = fluid.flow(fluid.row({0: 1, 1: 1, 2: 2, 3: 1}), math.inf)
    fluid.start(first, 0.0)
    fluid.settle(0.0)
    assert len(fluid.capacity) == 1
    assert fluid.rate(first) == pytest.approx(3.5, rel=1e-15)  # station 2: 7 / 2
    assert fluid.tightest(first.node) == 2
    second = fluid.flow(fluid.row({1: 1}), math.inf)
    fluid.start(second, 1.0)
    fluid.settle(1.0)
    assert len(fluid.capacity) == 2
    assert (fluid.rate(first), fluid.rate(second)) == pytest.approx((2.0, 2.0), rel=1e-15)
    third = fluid.flow(fluid.row({2: 1, 0: 1}), math.inf)  # station 2 at another ratio than before
    fluid.start(third, 2.0)
    fluid.settle(2.0)
    assert_fair(fluid, 1e-14)


def test_event_budget_stops_a_run_that_goes_nowhere():
    def settle(fluid, times):
        for _ in range(times):
            fluid.settle(3.0)

    with pytest.raises(ModelError, match="given up after 10 events"):
        settle(Fluid([1.0], max_events=10), 20)
    with pytest.raises(ModelError, match="time does not move on"):
        settle(Fluid([1.0]), 2_000_000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: Fluid([-1.0]), "capacity of station 0 is -1.0"),
        (lambda f: Fluid([math.nan]), "capacity of station 0 is nan"),
        (lambda f: f.set_law(7, 1.0), "there are stations 0 to 1"),
        (lambda f: f.set_law(0, -2.0), "capacity of station 0 is -2.0"),
        (lambda f: f.row({2: 1.0}), "there are stations 0 to 1"),
        (lambda f: f.row({0: -1.0}), "demand per byte on station 0 is -1.0"),
        (lambda f: f.row({0: math.inf}), "demand per byte on station 0 is inf"),
        (lambda f: f.flow(f.row({0: 1}), -1.0), "bytes of a flow are -1.0"),
        (lambda f: f.flow(f.row({0: 1}), math.nan), "bytes of a flow are nan"),
        (lambda f: f.flow(f.row({0: 1}), 1.0, 0.0), "weight of a flow is 0.0"),
        (lambda f: f.flow(f.row({0: 1}), 1.0, 1.0, -1.0), "cap of a flow is -1.0"),
        (lambda f: f.flow(f.row({0: 1}), 1.0, 1e300, 1e-300), "too small to compute with"),
    ],
)
def test_figures_that_mean_nothing_are_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call(Fluid([1.0, 1.0]))
