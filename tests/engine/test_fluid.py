"""Clocks and ends, and runs that must be given up."""

import math

import pytest
from driver import taken

from dtnsim.engine.fluid import Fluid
from dtnsim.ground.errors import ModelError


def test_ends_come_in_order_and_clocks_keep_what_is_left():
    fluid = Fluid([10.0])
    row = fluid.row({0: 1.0})
    short, long = fluid.flow(row, 20.0), fluid.flow(row, 60.0)
    for flow in (short, long):
        assert fluid.start(flow, 0.0)
    fluid.settle(0.0)
    assert fluid.next_time() == 4.0
    assert fluid.left(long, 3.0) == 45.0
    assert fluid.finished(3.0) == []
    assert fluid.finished(4.0) == [short]
    fluid.settle(4.0)
    assert fluid.left(long, 4.0) == 40.0
    assert fluid.next_time() == 8.0
    assert fluid.finished(8.0) == [long]
    fluid.settle(8.0)
    assert fluid.next_time() == math.inf
    assert fluid.rate(long) == fluid.left(long, 8.0) == fluid.withdraw(long, 8.0) == 0.0


def test_flows_of_equal_size_end_at_one_instant():
    fluid = Fluid([7.0])
    flows = [fluid.flow(fluid.row({0: 1.0}), 3.3) for _ in range(1000)]
    for flow in flows:
        fluid.start(flow, 0.1)
    fluid.settle(0.1)
    assert fluid.finished(fluid.next_time()) == flows


def test_no_bytes_and_no_limit_do_not_start():
    fluid = Fluid([math.inf, 1.0])
    assert not fluid.start(fluid.flow(fluid.row({1: 1.0}), 0.0), 0.0)
    assert not fluid.start(fluid.flow(fluid.row({0: 1.0}), 1.0), 0.0)
    assert not fluid.start(fluid.flow(fluid.row({}), 1.0), 0.0)
    assert fluid.start(fluid.flow(fluid.row({}), 1.0, cap=2.0), 0.0)
    fluid.settle(0.0)
    assert fluid.next_time() == 0.5


def test_a_group_that_slows_down_is_asked_again_in_time():
    fluid = Fluid([10.0])
    flow = fluid.flow(fluid.row({0: 1.0}), 100.0)
    fluid.start(flow, 0.0)
    fluid.settle(0.0)
    fluid.set_capacity(0, 1.0)
    fluid.settle(5.0)
    seen = []
    while fluid.live:
        now = fluid.next_time()
        seen.append((now, len(fluid.finished(now))))
        fluid.settle(now)
    assert seen[-1] == (55.0, 1)


def test_what_stations_give():
    fluid = Fluid([10.0, math.inf, 0.0, 5.0])
    flow = fluid.flow(fluid.row({0: 2.0, 1: 3.0}), math.inf)
    fluid.start(flow, 0.0)
    fluid.start(fluid.flow(fluid.row({2: 1.0}), 1.0), 0.0)
    fluid.settle(0.0)
    assert [taken(fluid, s) for s in range(4)] == [10.0, 15.0, 0.0, 0.0]
    assert sum(fluid.rate(f) == 0 for f in fluid.live.values()) == 1


def test_event_budget_stops_a_run_that_goes_nowhere():
    def settle(fluid, times):
        for _ in range(times):
            fluid.settle(3.0)

    with pytest.raises(ModelError, match="given up after 10 events"):
        settle(Fluid([1.0], max_events=10), 20)
    with pytest.raises(ModelError, match="time does not move on"):
        settle(Fluid([1.0]), 2_000_000)
