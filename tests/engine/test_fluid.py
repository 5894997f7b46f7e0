"""Clocks and ends, stations and nodes, runs that must be given up, and what rows and flows are refused for."""

import math

import pytest

from dtnsim.engine.flows import check_flow, checked_row
from dtnsim.engine.fluid import Fluid
from dtnsim.ground.errors import InputError, ModelError
from tests.each import cases, rows
from tests.engine.driver import taken
from tests.engine.histories import assert_fair, started


def test_ends_come_in_order_and_clocks_keep_what_is_left():
    fluid, (short, long) = started([10.0], {0: 1.0}, {0: 1.0}, sizes=[20.0, 60.0])
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
    fluid, _ = started([10.0], {0: 1.0}, sizes=[100.0])
    fluid.set_capacity(0, 1.0)
    fluid.settle(5.0)
    seen = []
    while fluid.live:
        now = fluid.next_time()
        seen.append((now, len(fluid.finished(now))))
        fluid.settle(now)
    assert seen[-1] == (55.0, 1)


def test_what_stations_give():
    fluid, _ = started([10.0, math.inf, 0.0, 5.0], {0: 2.0, 1: 3.0}, {2: 1.0})
    assert [taken(fluid, s) for s in range(4)] == [10.0, 15.0, 0.0, 0.0]
    assert sum(fluid.rate(f) == 0 for f in fluid.live.values()) == 1


def test_a_run_that_goes_nowhere_is_given_up():
    def settle(fluid):
        for _ in range(2_000_000):
            fluid.settle(3.0)

    with pytest.raises(ModelError, match="time does not move on"):
        settle(Fluid([1.0]))


def test_rows_are_sorted_and_have_no_zeros():
    assert checked_row({3: 1, 0: 0.0, 1: 2.5}, 4) == ((1, 2.5), (3, 1.0))
    assert checked_row({}, 1) == ()


def test_lasting_loads_and_stopped_flows_are_allowed():
    check_flow(math.inf, 1.0, math.inf)
    check_flow(1.0, 1e-300, 0.0)


@cases("what, arguments, message", rows("engine/tables", "figures_that_mean_nothing"))
def test_figures_that_mean_nothing_are_refused_by_name(what, arguments, message):
    fluid = Fluid([1.0, 1.0])
    calls = {
        "Fluid": Fluid,
        "row": fluid.row,
        "set_capacity": fluid.set_capacity,
        "flow": lambda row, *more: fluid.flow(fluid.row(row), *more),
    }
    with pytest.raises(InputError, match=message):
        calls[what](*arguments)


def test_stations_that_always_come_together_are_one_node_until_a_row_parts_them():
    fluid, (first,) = started([10.0, 4.0, 7.0, 5.0], {0: 1, 1: 1, 2: 2, 3: 1})
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
    fluid, _ = started([1.0] * 30, *(dict.fromkeys(stations, 1.0) for stations in (range(20), range(10, 30))))
    assert sorted(len(m) for m in fluid.network.members.values()) == [10, 10, 10]


def test_the_station_that_binds_may_change_within_a_node():
    fluid, (flow,) = started([10.0, 4.0], {0: 1.0, 1: 1.0})
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
