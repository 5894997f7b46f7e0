"""When purchases are due as a target grows, and what order is cheapest."""

import datetime as dt
import itertools
import math
import re
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dtnsim
from dtnsim.ground.errors import InputError
from dtnsim.ground.uncertainty import often
from dtnsim.ground.units import Money
from dtnsim.planning.catalog import Offer
from dtnsim.planning.growth import _upgrade, drawn, due, growth, last, of_workload
from dtnsim.planning.messages import growth_schedule
from dtnsim.planning.option import Option


def _option(place: str, what: str, price: float, count: int = 1) -> Option:
    offer = Offer(what, "nic", Money(price, "EUR"), 0, dt.date(2026, 1, 1), "", None, "")
    return Option(place, f"{count} x {what}", (), ((offer, count),), price * count, 0.0)


def _stage(rate: float, *options: Option) -> SimpleNamespace:
    return SimpleNamespace(options=options, total_Bps=np.linspace(0.8, 1.2, 101) * rate)


CARD, BETTER = _option("nic", "card", 500), _option("nic", "better card", 900)
DRIVES = _option("array", "drives", 2000)


def test_growth_is_read() -> None:
    assert growth("40%/year").value == growth(" 40 % per a ").value == 0.4
    for text in ("40%", "40/year", "fast"):
        with pytest.raises(InputError, match="write 40%/year"):
            growth(text)


def test_the_years_together_cost_least() -> None:
    """The card alone would do for a year, but the better one that is needed later is cheaper bought at once."""
    stages = [_stage(10), _stage(20, CARD), _stage(30, BETTER), _stage(60, BETTER, DRIVES)]
    found = due(stages, 10, 0.5, 1.0, 2)
    assert [d.target_Bps for d in found] == [10, 20, 40]
    assert [d.cost for d in found] == [0, 900, 2000]
    assert sum(d.cost for d in found) == 2900  # with the first card it were 3,400
    assert [d.stage for d in found] == [stages[0], stages[2], stages[3]]
    assert found[1].lasts_years == pytest.approx(math.log2(3.0))


def test_nothing_is_paid_before_it_is_due_and_what_is_beyond_the_list_is_said() -> None:
    stages = [_stage(15), _stage(60, DRIVES)]
    found = due(stages, 10, 0.5, 1.0, 4)
    assert [d.cost for d in found] == [0, 2000, 0, 0, 0]
    assert [d.stage is None for d in found] == [False, False, False, True, True]
    assert found[-1].probability == 0.0


def test_surer_is_due_earlier() -> None:
    stages = [_stage(10), _stage(60, DRIVES)]
    assert due(stages, 9.0, 0.5, 0.4, 1)[0].cost == 0
    assert due(stages, 9.0, 0.9, 0.4, 1)[0].cost == 2000


def test_more_of_the_same_pays_what_is_added() -> None:
    two, six = _option("array", "drive", 100, 2), _option("array", "drive", 100, 6)
    stages = [_stage(10), _stage(20, two), _stage(45, six)]
    found = due(stages, 10, 0.5, 1.0, 2)
    assert [d.cost for d in found] == [0, 200, 400]
    assert last(stages, 10, 0.5, 1.0, 2) is stages[2]
    assert last(stages, 10, 0.5, 1.0, 9) is stages[2]  # what is beyond the list counts for nothing


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 60)), min_size=1, max_size=4), st.integers(5, 40))
def test_no_order_is_cheaper_than_what_is_there_in_the_end(parts: list[tuple[int, int]], first: int) -> None:
    """Every set of some parts is offered; what is due in all years together costs what the last year's set does."""
    options = [_option(f"place{n}", f"part{n}", cost) for n, (cost, _) in enumerate(parts)]
    sets = [s for k in range(len(options) + 1) for s in itertools.combinations(range(len(options)), k)]
    stages = [_stage(10 + sum(parts[n][1] for n in s), *(options[n] for n in s)) for s in sets]
    found = due(stages, first, 0.5, 0.5, 3)
    met = [d for d in found if d.stage is not None]
    if met:
        good = [s for s in stages if np.mean(s.total_Bps >= met[-1].target_Bps) >= 0.5]
        least = min(sum(o.price for o in s.options) for s in good)
        assert sum(d.cost for d in met) == pytest.approx(least)
    assert all(d.cost >= 0 for d in found)


def test_growth_that_is_drawn_widens_when_a_stage_no_longer_does() -> None:
    """Ten per cent either way: as likely as not at the median growth, later and sooner beside it."""
    read = growth("40+-10%/year")
    assert (read.value, round(read.value * read.spread, 6)) == (0.4, 0.1)
    rate = drawn(read, 101, 3)
    assert np.asarray(rate).shape == (101,)
    assert drawn(growth("40%/year"), 101, 3) == 0.4
    stage = _stage(20)
    (same,) = {due([stage], 10, 0.5, r, 1)[0].lasts_years for r in (0.4, np.full(101, 0.4))}
    assert same == pytest.approx(np.log(2) / np.log(1.4), rel=0.02)
    sure = [due([stage], 10, 0.9, r, 1)[0].lasts_years for r in (0.4, rate)]
    assert sure[1] < sure[0], "to be sure one has to plan for growth that is faster than expected"
    later = due([stage], 10, 0.1, rate, 2)
    assert 0 < later[2].probability < 1


def test_a_facility_is_planned_for_what_its_classes_need() -> None:
    workload = dtnsim.load("examples/facility-year").workload
    assert workload is not None
    # 40 x 2.5 TB in ten hours, 35 x 5 TB in two days, 150 TB a day
    assert of_workload(workload).value == pytest.approx(100e12 / 36e3 + 175e12 / 172_800 + 150e12 / 86_400)


@pytest.mark.parametrize(("share", "paid"), [(0.0, 900), (0.3, 750), (1.0, 400)])
def test_what_is_replaced_later_is_traded_in_and_what_went_first_no_second_time(share: float, paid: int) -> None:
    """The card brings its share of 500 when the better one of 900 comes; the 100 of the old one were had before."""
    old = Offer("trade-in of old", "extra", Money(-100, "EUR"), 0, dt.date(2026, 1, 1), "", None, "")
    made = []
    for what, price in (("card", 500), ("better card", 900)):
        offer = Offer(what, "nic", Money(price, "EUR"), 0, dt.date(2026, 1, 1), "", None, "", trade_in=share)
        each = (Decimal(price), Decimal(-100))
        made.append(Option("nic", what, (), ((offer, 1), (old, 1)), Decimal(price - 100), 0.0, each=each))
    card, better = made
    assert _upgrade(_stage(20, card), _stage(45, better)) == paid
    found = due([_stage(10), _stage(20, card), _stage(45, better)], 10, 0.5, 1.0, 2)
    assert [d.cost for d in found] == ([0, 400, 400] if share == 1 else [0, 800, 0])  # the better one at once


def test_a_facility_is_planned_by_the_calendar() -> None:
    """Demand of 9 grows by 40 % a year from March 2026 on: 20 last ln(20 / 9) / ln 1.4 = 2.37 years."""
    stages = [_stage(10), _stage(20, CARD), _stage(90, CARD, DRIVES)]
    found = due(stages, 9, 0.5, drawn(growth("40+-10%/year"), 101, 1), 3)
    low, high = found[1].outgrown_years
    assert low < 2.37 < high
    workload = SimpleNamespace(date="2026-03-02")
    for stage in stages:
        stage.name, stage.price = "what", Money(1, "EUR")
    said = growth_schedule(found, workload, "EUR")
    assert said[0].startswith("2026: ")
    assert said[1].startswith("2027: ")
    assert re.search(r"due 2026-\d\d", said[1])
    assert re.search(rf"due 2028-0[678] \(outgrown 2027-\d\d to 2029-\d\d, {often()}\)", said[2])
