"""What a transfer's own workers allow it, round by round."""

from dataclasses import replace

import pytest

from dtnsim.ground.records import Demand, Phase, Problem, Station, Transfer
from dtnsim.steady import ceilings, solve

#: 100 B/s that all workers share, of which one alone may have `alone`
LINK = Station("tcp", "network", "tcp", "tcp", 100.0, "B", private=True)


def rate(files: int, alone: float | None, workers: int = 4) -> float:
    """Rate of equal files [B/s]."""
    work = Phase("p", (Demand("tcp", 1.0, "bytes"),))
    one = Transfer("t", (work,), workers, 1000.0, files, sizes_B=(1000.0 / files,), counts=(files,))
    return float(solve.solve(solve.matrices(Problem("p", (replace(LINK, alone=alone),), (one,)))).rate[0, 0])


def test_a_station_that_is_split_leaves_each_worker_its_part() -> None:
    """Five files on four workers: two rounds of 200 B at 25 B/s."""
    assert rate(5, None) == pytest.approx(1000 / (2 * 200 / 25))


@pytest.mark.parametrize(("alone", "seconds"), [(100.0, 10.0), (50.0, 8 + 4), (30.0, 8 + 200 / 30), (25.0, 16.0)])
def test_who_is_left_has_what_the_others_leave_as_far_as_its_own_goes(alone: float, seconds: float) -> None:
    """800 B at 100 B/s, then 200 B of one worker."""
    assert rate(5, alone) == pytest.approx(1000 / seconds)


def test_of_three_that_are_left_two_fill_it() -> None:
    """Seven files: four at 100 B/s, then three, each of which may have half: 100 B/s again."""
    assert rate(7, 50.0) == pytest.approx(100.0)


def test_full_rounds_have_no_ceiling_of_their_own_below_the_station() -> None:
    work = Phase("p", (Demand("tcp", 1.0, "bytes"),))
    one = Transfer("t", (work,), 4, 1000.0, 8, sizes_B=(125.0,), counts=(8,))
    m = solve.matrices(Problem("p", (replace(LINK, alone=100.0),), (one,)))
    assert ceilings.ceilings(m)[0, 0] == pytest.approx(400.0)


def test_workers_that_meet_where_each_keeps_to_its_own_do_not_wait_for_each_other() -> None:
    """Two steps, and streams that loss holds (one of four alone has its quarter): as a station that is split."""
    checks = Station("core", "h", "core", "core", 80.0, "cycles", private=True)
    steps = tuple(Phase(s, (Demand(k, 1.0, "bytes"),), step=s) for s, k in (("move", "tcp"), ("check", "core")))
    one = Transfer("t", steps, 4, 1000.0, 400, sizes_B=(2.5,), counts=(400,))
    own, split = (
        float(solve.solve(solve.matrices(Problem("p", (replace(LINK, alone=a), checks), (one,)))).rate[0, 0])
        for a in (25.0, None)
    )
    assert own == pytest.approx(split, rel=1e-6)
    assert own == pytest.approx(4 / (4 / 100 + 4 / 80))


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_workers_fill_a_page_cache_and_wait_for_its_medium_side_by_side(workers: int) -> None:
    """Into memory 600 B at the link's 100 B/s, then 400 at the disk's 80: 11 s, however many write (took 10)."""
    link, disk = replace(LINK, private=False), Station("disk", "b", "disk", "disk", 80.0, "B")
    into, behind = (Demand("tcp", part, "bytes") for part in (0.6, 0.4))
    cached = Phase("cached", (into, Demand("disk", 0.3, "bytes", below_cache=True)), (), "copy")
    throttled = Phase("throttled", (behind, Demand("disk", 0.4, "bytes", below_cache=True)), (), "copy")
    one = Transfer("t", (cached, throttled), workers, 1000.0, 8, sizes_B=(125.0,), counts=(8,))
    m = solve.matrices(Problem("p", (link, disk), (one,)))
    assert solve.solve(m).rate[0, 0] == pytest.approx(1000 / 11)
