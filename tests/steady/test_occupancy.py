"""Workers at unlike steps: shares state by state, averaged over the time that is spent in each."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dtnsim.ground.records import SLOW_START, Demand, Phase, Problem, Slowdown, Station, Transfer
from dtnsim.physics.waiting import time_shares
from dtnsim.steady import epochs, occupancy
from dtnsim.steady.matrices import matrices
from dtnsim.steady.occupancy import placements
from dtnsim.steady.stages import stages_of

LINK = Station("link", "network", "link", "network", 100.0, "B")
COPY = Phase("copy", (Demand("link", 1.0, "bytes"),))


def verifying(workers: int, seconds: float, *, size: float = 100.0) -> Transfer:
    """Workers that copy a file over the link and then verify it by themselves, so many seconds a byte."""
    check = Phase("verification", (), (Demand("", seconds, "checksum", each="file"),), step="verification")
    return Transfer(
        "verifying", (replace(COPY, step="copy"), check), workers, 1e6, int(1e6 / size), weight=workers,
        sizes_B=(size,), counts=(int(1e6 / size),), time_s=1e4,
    )  # fmt: skip


def beside(name: str = "beside", *, time: float = 1e4) -> Transfer:
    return Transfer(name, (COPY,), 1, 1e6, 1, sizes_B=(math.inf,), counts=(1,), time_s=time)


def rates(*transfers: Transfer) -> list[float]:
    return epochs.rates(Problem("p", (LINK,), transfers))[0].tolist()


def test_placements_are_all_ways_to_put_workers_to_steps() -> None:
    assert sorted(placements(2, 2)) == [(0, 2), (1, 1), (2, 0)]
    found = list(placements(4, 3))
    assert len(set(found)) == len(found) == math.comb(6, 2)
    assert {sum(one) for one in found} == {4}


def test_one_worker_has_the_link_for_a_part_of_its_time_and_the_other_all_of_it_meanwhile() -> None:
    """A byte takes 1/50 s beside the other and is verified for 1/100 s: 2 s of 3 at half the link."""
    assert rates(verifying(1, 0.01), beside()) == pytest.approx([100 / 3, 200 / 3], rel=1e-6)


def test_two_workers_have_the_link_by_how_many_of_them_are_there() -> None:
    """0, 1 or 2 of them copy for 1, 4 and 6 parts of the time, at 0, 50 and 66.7 B/s; the rest is the other's."""
    assert rates(verifying(2, 0.01), beside()) == pytest.approx([(4 * 50 + 400) / 11, (100 + 200 + 200) / 11], rel=1e-6)


def test_a_link_that_is_full_only_while_all_copy_slows_who_shares_it() -> None:
    """Each is held to 45 B/s: two copies and the other make 135 B/s of 100, now and then, and 105 in the mean."""
    own = Station("own", "cpu", "own", "cpu", 45.0, "B")
    paced = Phase("copy", (Demand("link", 1.0, "bytes"), Demand("own", 1.0, "bytes")))
    other = replace(beside(), phases=(paced,))
    found = epochs.rates(Problem("p", (LINK, own), (verifying(2, 0.06), other)))[0]
    alone = epochs.rates(Problem("p", (LINK, own), (other,)))[0]
    assert found[1] < 0.99 * alone[0]


def test_where_nothing_is_full_in_any_state_rates_are_those_of_the_workers() -> None:
    wide = replace(LINK, capacity=1e6)
    own = Station("own", "cpu", "own", "cpu", 50.0, "B")
    check = Phase("verification", (Demand("own", 1.0, "bytes"),), step="verification")
    problem = Problem(
        "p", (wide, own), (replace(verifying(2, 0.0), phases=(replace(COPY, step="copy"), check)), beside())
    )
    assert epochs.rates(problem)[0, 0] == pytest.approx(50.0, rel=1e-3)


@pytest.mark.parametrize("memory", [0.0, 0.5])
def test_states_are_solved_where_a_station_may_be_full_in_any_of_them_and_nowhere_else(
    memory: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 64 scenarios the link holds 40 to 400 B/s, two workers copy at 45 each, and the other at 45 or less."""
    capacity = np.geomspace(40.0, 400.0, 64)
    link, bus = replace(LINK, capacity=capacity), Station("bus", "memory", "bus", "memory", 450.0, "B")
    own, pace = (Station(name, "cpu", name, "cpu", rate, "B") for name, rate in (("own", 45.0), ("pace", 90.0)))
    slowdown = Slowdown("bus", ("own", "link"), memory, 0.0)
    paced, held = (tuple(Demand(at, 1.0, "bytes") for at in ("link", "bus", each)) for each in ("pace", "own"))
    copier = verifying(2, 0.06)
    copier = replace(copier, phases=(replace(COPY, demands=paced, step="copy"), copier.phases[1]))
    problem = Problem(
        "p",
        (link, own, pace, bus),
        (copier, replace(beside(), phases=(replace(COPY, demands=held),))),
        slowdowns=(slowdown,),
    )
    solved: list[int] = []
    average = occupancy._Apart.average

    def noted(apart: occupancy._Apart, split: list[object], *rest: object) -> None:
        solved.append(len(split))
        average(apart, split, *rest)

    monkeypatch.setattr(occupancy._Apart, "average", noted)
    found = epochs.rates(problem)
    some, solved[:] = max(solved), []
    monkeypatch.setattr(occupancy, "_MANY", math.inf)
    assert found.tolist() == epochs.rates(problem).tolist()
    assert some < 50 < max(solved) == 64


def waiting(seconds: float, workers: int = 1) -> Transfer:
    """Workers that wait for each file, so many seconds a byte of it, and then copy it over the link."""
    phase = replace(COPY, delays=(Demand("", seconds, "round trips", each="file"),))
    return replace(verifying(workers, 0.0), name="waiting", phases=(phase,), time_s=math.inf)


def test_who_waits_for_small_files_shares_a_link_that_is_full_only_while_it_is_there() -> None:
    """The other is held to 60 B/s: 93 B/s of 100 in the mean, but 50 each for the half of the time that both move."""
    own = Station("own", "cpu", "own", "cpu", 60.0, "B")
    other = replace(beside(time=1e5), phases=(replace(COPY, demands=(*COPY.demands, Demand("own", 1.0, "bytes"))),))
    found = epochs.rates(Problem("p", (LINK, own), (waiting(0.02), other)))[0]
    assert found == pytest.approx([25, (55 * 4 + 60 * 6) / 10], rel=1e-6)


def test_a_wait_of_a_twentieth_is_felt_where_a_link_is_shared() -> None:
    """A byte takes 1/50 s beside the other, and 1/2000 s is waited for it."""
    assert rates(waiting(0.0005), beside(time=1e5))[0] == pytest.approx(1 / (1 / 50 + 0.0005), rel=1e-6)


@pytest.mark.parametrize(("seconds", "own"), [(0.01, 50.0), (0.03, 25.0)])
def test_windows_that_grow_back_hold_their_connection_and_leave_nothing_to_others_below_that(
    seconds: float, own: float
) -> None:
    """Alone a byte takes 1/100 s and as long as windows lose; half of the link is what it has unless that is less."""
    phase = replace(COPY, delays=(Demand("", seconds, SLOW_START, each="start"),))
    one = replace(beside("grows"), phases=(phase,), time_s=math.inf, sizes_B=(1e6,))
    assert rates(one, beside(time=1e5))[0] == pytest.approx(own, rel=1e-6)


@pytest.mark.parametrize("workers", [1, 4])
def test_connections_open_all_at_the_same_time_and_others_have_the_link_meanwhile(workers: int) -> None:
    """10 s until they are open, which 1e6 B at 100 B/s come after; a test has 50 B/s of the 100 that follow them."""
    lost = Demand("", 10.0 * workers / 1e6, SLOW_START, each="open")
    one = replace(
        beside("opens"), phases=(replace(COPY, delays=(lost,)),), workers=workers, time_s=math.inf,
        sizes_B=(1e6 / workers,), files=workers, counts=(workers,),
    )  # fmt: skip
    assert 1e6 / rates(one)[0] == pytest.approx(10 + 1e4)
    assert rates(one, beside(time=110.0))[1] == pytest.approx((10 * 100 + 100 * 50) / 110)


def test_workers_who_wait_are_there_as_those_are_who_verify() -> None:
    """0, 1 or 2 of them copy for 1, 4 and 6 parts of the time (above)."""
    assert rates(waiting(0.01, 2), beside(time=1e5))[0] == pytest.approx((4 * 50 + 400) / 11, rel=1e-6)


def test_two_that_verify_are_told_apart_together() -> None:
    """One worker each, of equal times: both, one and none copy for 4, 2 + 2 and 1 of 9 parts of the time."""
    one, two = verifying(1, 0.01), replace(verifying(1, 0.01), name="second")
    states = np.array([[0, 100, 100, 0], [100, 0, 0, 100], [100, 0, 0, 100], [0, 50, 50, 0]], float)
    share = time_shares(states)
    copies = share[1] * 100 + share[3] * 50
    assert rates(one, two) == pytest.approx([copies, copies], rel=1e-3)


def test_a_step_that_takes_no_time_to_speak_of_is_no_state_of_its_own() -> None:
    """Four who wait and copy have five states, fifteen with a third step, and 75 beside four who verify: too many."""
    held, fast = (Station(name, "cpu", name, "cpu", rate, "B") for name, rate in (("own", 30.0), ("fast", 1e9)))
    copy = replace(COPY, step="copy", demands=(*COPY.demands, Demand("own", 1.0, "bytes")))
    four = replace(verifying(4, 0.1), phases=(copy, verifying(4, 0.1).phases[1]))
    check = Phase("verification", (Demand("fast", 1.0, "checksum"),), step="verification")
    waits = waiting(0.06, 4)
    checks = replace(waits, phases=(replace(waits.phases[0], step="copy"), check))
    found, plain = (
        epochs.rates(Problem("p", (LINK, held, fast), (one, replace(four, time_s=math.inf, payload_B=1e7))))[0]
        for one in (checks, waits)
    )
    assert found == pytest.approx(plain, rel=1e-3)


def test_one_of_two_workers_has_half_of_what_is_split_among_them() -> None:
    """45 B/s while the other verifies, 33.3 each beside the third while both copy, and the link for it otherwise."""
    own = Station("own", "cpu", "own", "cpu", 90.0, "B", private=True)
    copy = Phase("copy", (Demand("link", 1.0, "bytes"), Demand("own", 1.0, "bytes")), step="copy")
    first = verifying(2, 0.01)
    found = epochs.rates(Problem("p", (LINK, own), (replace(first, phases=(copy, first.phases[1])), beside())))[0]
    none, one, both = 1.0, 40 / 9, 20 / 3
    whole = none + one + both
    assert found[0] == pytest.approx((one * 45 + both * 200 / 3) / whole, rel=1e-6)
    assert found[1] == pytest.approx((none * 100 + one * 55 + both * 100 / 3) / whole, rel=1e-6)


def first_stages(workers: int, check: float | np.ndarray) -> list[tuple[str, np.ndarray]]:
    """(phase, part of 10 kB) of the stages of workers who copy 100 B each at 100 B/s together, and verify them."""
    own = Station("own", "cpu", "own", "cpu", 100.0 * workers / check, "B", private=True)
    verify = Phase("verification", (Demand("own", 1.0, "bytes"),), step="verification")
    one = verifying(workers, 0.0)
    one = replace(
        one, phases=(one.phases[0], verify), time_s=math.inf, payload_B=1e4, files=1, sizes_B=(1e4,), counts=(1,),
        piece_B=10.0,
    )  # fmt: skip
    m, named = matrices(Problem("p", (LINK, own), (one,))), ["copy", "verify"]
    made = stages_of(one, m, 0, shared=False)
    return [("+".join(named[p] for p in stage.phases), np.asarray(stage.part)) for stage in made]


def first_steps(workers: int, check: float) -> list[tuple[str, float]]:
    """The same of one scenario."""
    return [(name, float(np.squeeze(part))) for name, part in first_stages(workers, check)]


def test_the_first_steps_of_a_scenario_are_its_own_whatever_others_it_stands_beside() -> None:
    checks = np.array([0.1, 1.0, 4.0])
    together = {name: part for name, part in first_stages(4, checks) if name == "verify"}["verify"]  # the last of them
    alone = [1 - first_steps(4, check)[1][1] / 4e-3 if check > 0.1 else 1.0 for check in checks.tolist()]
    assert together == pytest.approx(4e-3 * np.array(alone))


@pytest.mark.parametrize(
    ("workers", "check", "still"),
    [(1, 0.5, 1.0), (4, 0.1, 0.0), (4, 4.0, 0.789), (4, 1.0, 1 - 4 * 0.211), (2, 1.0, 1 - 2 * 0.124)],
)
def test_all_copy_at_first_and_come_to_the_next_step_as_far_apart_as_their_shares_are(
    workers: int, check: float, still: float
) -> None:
    """Equal shares differ by a factor of exp(0.226) at one sigma: the first of four is there after 0.79 of the time."""
    own = workers * 10.0 / 1e4
    given = [("copy", own), ("verify", own * still), ("copy+verify", 1 - own), ("verify", own * (1 - still))]
    expected = [(name, part) for name, part in given if part > 1e-9]
    found = first_steps(workers, check)
    assert [name for name, _ in found] == [name for name, _ in expected]
    assert [part for _, part in found] == pytest.approx([part for _, part in expected], rel=0.02)


def test_who_is_gone_before_the_first_part_of_a_file_is_copied_meets_all_workers() -> None:
    """Ten bytes beside four workers who have 100 B each in hand: a fifth of the link, though each verifies for long."""
    four = replace(verifying(4, 0.1, size=1e6), files=1, counts=(1,), piece_B=100.0, time_s=math.inf)
    short = replace(beside(), time_s=math.inf, payload_B=10.0, sizes_B=(10.0,))
    assert rates(four, short)[1] == pytest.approx(20.0)
