"""Fair shares after any history of starts, ends and capacity changes, against two solvers; which node holds whom."""

import math
import random

import pytest
from hypothesis import example, given, settings, strategies as st

from dtnsim.engine import layout as at
from dtnsim.engine.flow_lists import TIE
from dtnsim.engine.fluid import Fluid
from dtnsim.engine.layout import ABSENT, CAPPED
from tests.engine.histories import assert_books_balance, assert_fair, history, nodes_of, started
from tests.engine.slow_fluid import lexicographic


@settings(max_examples=120)
@example(19992)  # a newcomer fills a station over, and at the same instant the station gets more capacity
@given(st.integers(0, 10**9))
def test_shares_are_those_of_progressive_filling(seed):
    for fluid in history(seed, 0):
        assert_fair(fluid)


@given(st.integers(0, 10**9), st.sampled_from([1, 2, 3]))
def test_weights_demands_and_capacities_over_many_orders_and_zero_and_infinite_capacities(seed, orders):
    for fluid in history(seed, orders):
        assert_fair(fluid)


@settings(max_examples=30)
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


@settings(max_examples=12)
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
    fluid, flows = started([1.0, 1.0, 1.0], {0: 1, 1: 1}, {1: 1}, {1: 1, 2: 1}, {2: 1}, {0: 1})
    assert [fluid.rate(f) for f in flows] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 2 / 3, 2 / 3], rel=1e-14)


def test_max_min_is_not_monotone_and_the_engine_follows():
    """Taking a flow away may slow another down: it lets a third rise that shares a station with it."""
    fluid, flows = started([1.0, 1.2], {0: 1}, {0: 1, 1: 1}, {1: 1})
    assert [fluid.rate(f) for f in flows] == pytest.approx([0.5, 0.5, 0.7], rel=1e-14)
    fluid.withdraw(flows[0], 1.0)
    fluid.settle(1.0)
    assert [fluid.rate(f) for f in flows] == pytest.approx([0.0, 0.6, 0.6], rel=1e-14)


@given(st.integers(0, 10**9), st.sampled_from([0, 0, 1, 2]))
def test_loads_and_spare_capacities_are_what_adding_up_afresh_gives(seed, orders):
    for fluid in history(seed, orders):
        assert_books_balance(fluid)


@given(st.integers(0, 10**9))
def test_nobody_runs_above_the_level_of_a_node_that_it_visits(seed):
    for fluid in history(seed, 0):
        for flow in fluid.live.values():
            nodes, side, limit = nodes_of(fluid, flow), fluid.side(flow), flow.cap / flow.weight
            if nodes:
                lowest = min(fluid.f[node + at.LEVEL] for node in nodes)
                if side == CAPPED:
                    assert limit <= lowest * (1 + 4 * TIE)
                else:
                    assert fluid.f[side + at.LEVEL] <= lowest * (1 + 4 * TIE)
                    assert limit >= lowest * (1 - 4 * TIE)


def test_heaps_do_not_grow_with_those_who_have_gone():
    """A station that is never short keeps no memory of the flows that passed it."""
    fluid = Fluid([1e9, 1.0])
    row = fluid.row({0: 1.0})
    fluid.start(fluid.flow(fluid.row({1: 1.0}), math.inf), 0.0)
    for number in range(5000):
        fluid.start(fluid.flow(row, 0.5, cap=1.0), float(number))
        fluid.settle(float(number))
        fluid.finished(number + 0.5)
        fluid.settle(number + 0.5)
    assert max(len(heap) for heap in fluid.h) < 200


def test_a_heavy_flow_leaves_no_rounding_behind():
    """What is left of a sum by subtraction would be the rounding of the flow that went; it is added up afresh."""
    fluid = Fluid([1.0])
    row = fluid.row({0: 1.0})
    light = fluid.flow(row, math.inf, 1e-9)
    heavy = [fluid.flow(row, math.inf, weight) for weight in (0.1, 1e7, 3e8)]
    for flow in (light, *heavy):
        fluid.start(flow, 0.0)
    fluid.settle(0.0)
    for flow in heavy:
        fluid.withdraw(flow, 1.0)
        fluid.settle(1.0)
    assert fluid.rate(light) == pytest.approx(1.0, rel=1e-14)
    assert fluid.f[row.at + at.WEIGHT] == 1e-9


def test_flows_change_sides_as_levels_pass_their_caps():
    fluid = Fluid([10.0])
    row = fluid.row({0: 1.0})
    small, large = fluid.flow(row, math.inf, cap=2.0), fluid.flow(row, math.inf, cap=9.0)
    fluid.start(small, 0.0)
    fluid.start(large, 0.0)
    fluid.settle(0.0)
    assert fluid.side(small) == CAPPED
    assert fluid.side(large) != CAPPED
    for capacity, rates in ((3.0, (1.5, 1.5)), (20.0, (2.0, 9.0)), (11.0, (2.0, 9.0)), (4.0, (2.0, 2.0))):
        fluid.set_capacity(0, capacity)
        fluid.settle(1.0)
        assert (fluid.rate(small), fluid.rate(large)) == pytest.approx(rates, rel=1e-15)
        assert_fair(fluid)
    fluid.withdraw(small, 2.0)
    assert fluid.side(small) == ABSENT
