"""Rows and flows: what is refused, and by which words."""

import math

import pytest

from dtnsim.engine.flows import check_flow, checked_row
from dtnsim.engine.fluid import Fluid
from dtnsim.ground.errors import InputError


def test_rows_are_sorted_and_have_no_zeros():
    assert checked_row({3: 1, 0: 0.0, 1: 2.5}, 4) == ((1, 2.5), (3, 1.0))
    assert checked_row({}, 1) == ()


def test_lasting_loads_and_stopped_flows_are_allowed():
    check_flow(math.inf, 1.0, math.inf)
    check_flow(1.0, 1e-300, 0.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: Fluid([-1.0]), "capacity of station 0 is -1.0"),
        (lambda f: Fluid([math.nan]), "capacity of station 0 is nan"),
        (lambda f: f.set_capacity(7, 1.0), "there are stations 0 to 1"),
        (lambda f: f.set_capacity(0, -2.0), "capacity of station 0 is -2.0"),
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
