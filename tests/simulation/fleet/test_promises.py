"""When promises break as demand grows: dates that follow from the sizes, the rate and the deadline alone."""

import math
from dataclasses import replace

import pytest

from dtnsim.description.spec import PathSpec
from dtnsim.ground.uncertainty import often
from dtnsim.report import fleet as report, text
from dtnsim.simulation.fleet.run import FleetAnswer, fleet
from tests.simulation.fleet.test_fleet import path

#: 1 TB over 10 Gb/s every day, at once with nothing
NIGHTLY = (
    "{from: 'site:/xfs', to: 'b:/xfs', tool: {name: gridftp, p: 4, cc: 4}, size: 1 TB, each: 10 GB, every: 1 day, "
    "deadline: 1 h"
)


def _yard(growth: str, deadline: str = NIGHTLY + "}") -> PathSpec:
    return path({"nightly": deadline}, f"growth: {growth}", span="2 d", wan="10 Gb/s")


@pytest.fixture(scope="module")
def half() -> FleetAnswer:
    """Growth of half a year."""
    return fleet(_yard("50 %"), replicas=1, processes=1)


def test_a_deadline_breaks_when_the_night_has_grown_into_it(half: FleetAnswer) -> None:
    """One transfer alone takes as long as it is large: T (1 + g)^y = deadline, and 2 T for what is doubled."""
    (promise,) = half.runs[0].promises
    (nightly, _) = half.runs[0].groups
    now = nightly.completion_s[0]
    assert promise.missed_years == pytest.approx(math.log(3600 / now) / math.log(1.5), abs=0.3)
    assert promise.doubled_years == pytest.approx(math.log(2) / math.log(1.5), abs=0.3)
    assert promise.held == "network.wan"  # whose rate its connections have: nothing of their own


def test_what_does_not_grow_has_no_date_and_what_is_missed_now_is_broken_now() -> None:
    assert fleet(_yard("0"), replicas=1, processes=1).runs[0].promises == ()
    late = NIGHTLY.replace("1 h", "5 min") + "}"
    (promise,) = fleet(_yard("50 %", late), replicas=1, processes=1).runs[0].promises
    assert promise.missed_years == 0


def test_a_spread_of_growth_widens_the_date_and_one_run_alone_has_none(half, capsys) -> None:
    assert report._broken(half, 0, "missed_years")[1] == half.runs[0].promises[0].missed_years
    assert math.isnan(report._broken(half, 0, "missed_years")[0])
    grows = half.workload.growth
    wide = replace(half, workload=half.workload.model_copy(update={"growth": replace(grows, spread=0.4)}))
    low, middle, high = report._broken(wide, 0, "missed_years")
    assert low < middle < high
    assert middle == pytest.approx(half.runs[0].promises[0].missed_years, rel=0.1)
    report.show(wide, text.console())
    page = capsys.readouterr().out.splitlines()
    assert page[2].startswith("nightly: first missed deadline 20")  # the first of what is said
    assert f", {often()}: 20" in page[2]
    assert "(network.wan holds it then; 13 times its capacity" in page[2]


def test_the_demand_of_a_later_year_may_be_asked_for(half: FleetAnswer) -> None:
    ahead = half.given.changed(["workload.ahead=1 year"])
    assert fleet(ahead, replicas=1, processes=1).runs[0].total.size_B == pytest.approx(1.5 * half.runs[0].total.size_B)
