"""Which node holds back which flows, and the sums that are kept by adding and subtracting."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.engine import layout as at
from dtnsim.engine.flow_lists import CANCELLED, TIE
from dtnsim.engine.fluid import Fluid
from dtnsim.engine.layout import ABSENT, CAPPED
from tests.engine.histories import assert_books_balance, assert_fair, history, nodes_of


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([0, 0, 1, 2]))
def test_loads_and_spare_capacities_are_what_adding_up_afresh_gives(seed, orders):
    for fluid in history(seed, orders):
        assert_books_balance(fluid)


@settings(max_examples=40, deadline=None)
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
    assert 0 < CANCELLED < 1


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
