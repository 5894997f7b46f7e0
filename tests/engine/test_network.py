"""Stations and nodes: which stations are one, and capacities that depend on who is there."""

import math

import pytest

from dtnsim.engine.fluid import Fluid
from tests.engine.driver import taken
from tests.engine.histories import assert_fair


def test_stations_that_always_come_together_are_one_node_until_a_row_parts_them():
    fluid = Fluid([10.0, 4.0, 7.0, 5.0])
    first = fluid.flow(fluid.row({0: 1, 1: 1, 2: 2, 3: 1}), math.inf)
    fluid.start(first, 0.0)
    fluid.settle(0.0)
    assert len(fluid.network.members) == 1
    assert fluid.rate(first) == pytest.approx(3.5, rel=1e-15)  # station 2: 7 / 2
    assert fluid.tightest(fluid.side(first)) == 2
    second = fluid.flow(fluid.row({1: 1}), math.inf)
    fluid.start(second, 1.0)
    fluid.settle(1.0)
    assert len(fluid.network.members) == 2
    assert (fluid.rate(first), fluid.rate(second)) == pytest.approx((2.0, 2.0), rel=1e-15)
    third = fluid.flow(fluid.row({2: 1, 0: 1}), math.inf)  # station 2 at another ratio than before
    fluid.start(third, 2.0)
    fluid.settle(2.0)
    assert_fair(fluid, 1e-14)


def test_rows_of_a_path_make_as_few_nodes_as_they_can():
    """Two transfers over 20 stations each, 10 of them common: three nodes, not thirty."""
    fluid = Fluid([1.0] * 30)
    for stations in (range(20), range(10, 30)):
        fluid.start(fluid.flow(fluid.row(dict.fromkeys(stations, 1.0)), 1.0), 0.0)
    fluid.settle(0.0)
    assert sorted(len(m) for m in fluid.network.members.values()) == [10, 10, 10]


def test_the_station_that_binds_may_change_within_a_node():
    fluid = Fluid([10.0, 4.0])
    flow = fluid.flow(fluid.row({0: 1.0, 1: 1.0}), math.inf)
    fluid.start(flow, 0.0)
    fluid.settle(0.0)
    assert (fluid.rate(flow), fluid.tightest(fluid.side(flow))) == (4.0, 1)
    fluid.set_capacity(1, 12.0)
    fluid.settle(1.0)
    assert (fluid.rate(flow), fluid.tightest(fluid.side(flow))) == (10.0, 0)
    assert [taken(fluid, s) / fluid.stations[s] for s in (0, 1)] == pytest.approx([1.0, 10 / 12])


def test_rows_that_are_used_once_do_not_pile_up():
    fluid = Fluid([1.0])
    for number in range(20_000):
        fluid.row({0: 1.0 + number})
    assert len(fluid._rows) < 5_000


def test_rows_that_flows_have_used_once_do_not_pile_up():
    fluid = Fluid([1.0, 1.0])
    lasting = fluid.flow(fluid.row({0: 1.0, 1: 1.0}), math.inf)
    fluid.start(lasting, 0.0)
    for number in range(10_000):
        flow = fluid.flow(fluid.row({0: 1.0 + number}), math.inf)
        fluid.start(flow, float(number))
        fluid.settle(float(number))
        assert fluid.rate(lasting) == pytest.approx(1 / (2.0 + number))
        fluid.withdraw(flow, number + 0.5)
    fluid.settle(1e4)
    assert len(fluid.f) < 5_000 * 40
    assert_fair(fluid, 1e-14)


def test_a_row_that_was_made_before_a_split_is_written_anew():
    fluid = Fluid([6.0, 3.0])
    both = fluid.row({0: 1.0, 1: 1.0})
    first = fluid.flow(both, 1.0)
    fluid.start(first, 0.0)
    fluid.settle(0.0)
    fluid.withdraw(first, 0.0)
    other = fluid.flow(fluid.row({0: 1.0}), math.inf)
    fluid.start(other, 0.0)
    fluid.start(fluid.flow(both, math.inf), 0.0)
    fluid.settle(0.0)
    assert_fair(fluid, 1e-15)
    assert fluid.rate(other) == 3.0
