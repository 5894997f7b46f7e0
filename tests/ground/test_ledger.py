"""Rows write demands; views of a row share them and scale them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Draw
from tests.lab import charged


def charge(row: Row, name: str = "x", *, capacity: float = 100.0, per_byte: float = 1.0, private: bool = False) -> None:
    row.charge(name, "test", capacity=capacity, per_byte=per_byte, what="work", private=private)


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.floats(0.01, 100))
def test_factors_multiply(a: float, b: float, demand: float) -> None:
    """A verification pass (a) over parity (b) costs a x b bytes a byte."""
    found = charged(lambda row: charge(row.times(a).times(b), per_byte=demand))
    assert found.demand("x") == pytest.approx(a * b * demand, rel=1e-12)


def test_a_view_leaves_the_row_it_came_from_alone() -> None:
    def two(row: Row) -> None:
        row.times(7.0).seen_from("elsewhere")
        charge(row)

    found = charged(two)
    assert found.demands == {"h.x": 1.0}


def test_a_station_belongs_to_a_host_or_to_the_network() -> None:
    ledger = Ledger(Draw())
    row = Row(ledger, "t", [])
    charge(row)
    charge(row.seen_from("a"))
    charge(row.seen_from("a"), private=True)
    assert list(ledger.stations) == ["network.x", "a.x", "a.x[t]"]
    assert [s.private for s in ledger.stations.values()] == [False, False, True]


def test_private_stations_are_one_a_transfer_and_shared_ones_are_one() -> None:
    ledger = Ledger(Draw())
    for transfer in ("one", "two"):
        row = Row(ledger, transfer, [], 1.0, "h")
        charge(row, "mine", private=True)
        charge(row, "ours")
    assert sorted(ledger.stations) == ["h.mine[one]", "h.mine[two]", "h.ours"]


def test_the_time_of_a_byte_is_its_own_where_the_station_was_first_charged_by_another_activity() -> None:
    """A drive that reads at 540 and writes at 400: a byte written takes 1/400 whichever was charged first.

    Reading and writing each byte, the drive needs 1/540 + 1/400 seconds a byte: the harmonic sum.
    """

    def both(row: Row, first: float, second: float) -> None:
        charge(row, capacity=first)
        charge(row, capacity=second)

    for rates in ((540.0, 400.0), (400.0, 540.0)):
        found = charged(lambda row, rates=rates: both(row, *rates))
        assert found.capacity("x") == rates[0]
        assert found.rate("x") == pytest.approx(1 / (1 / 540 + 1 / 400), rel=1e-12)


def test_the_time_of_a_byte_is_its_own_in_every_scenario() -> None:
    ledger = Ledger(Draw())
    row = Row(ledger, "t", [], 1.0, "h")
    charge(row, capacity=np.array([100.0, 200.0]))  # type: ignore[arg-type]  # one value a scenario
    charge(row, capacity=np.array([50.0, 400.0]))  # type: ignore[arg-type]
    times = [np.asarray(d.per_byte) / np.array([100.0, 200.0]) for d in row.demands]
    assert np.allclose(times[1], [1 / 50, 1 / 400])


@pytest.mark.parametrize(("first", "second"), [(np.inf, 10.0), (10.0, np.inf), (0.0, 10.0), (np.inf, np.inf)])
def test_unlimited_and_empty_stations_stay_what_they_are(first: float, second: float) -> None:
    """No demand may become nan or infinite through a capacity that is."""

    def both(row: Row) -> None:
        charge(row, capacity=first)
        charge(row, capacity=second)

    assert np.isfinite(charged(both).demand("x"))


def test_two_components_of_one_name_are_not_mixed_up() -> None:
    """An adapter and a mount of the same name both have a station ``requests``."""
    row = Row(Ledger(Draw()), "t", [], 1.0, "h")
    row.charge("sas.requests", "hba", capacity=1.0, unit="op", what="x")
    with pytest.raises(SpecError, match=r"h\.sas\.requests: names two components, a hba and a ssd"):
        row.charge("sas.requests", "ssd", capacity=1.0, unit="op", what="x")


def test_a_warning_is_said_once() -> None:
    ledger = Ledger(Draw())
    for _ in range(3):
        ledger.warn("outside its range")
    assert ledger.warnings == ["outside its range"]
