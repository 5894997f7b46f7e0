"""The words: every kind of cause in a sentence that an engineer can check."""

from dataclasses import replace
from typing import Any

import pytest

from dtnsim.ground.records import Demand, Phase, Problem, Station, Transfer
from dtnsim.report.holds import holds
from dtnsim.steady import reasons, solve
from dtnsim.steady.reasons import Cause
from tests.lab import FREE, answer, journey, machine, volume


def made(stations: list[Station], *phases: Phase, workers: float = 1) -> Problem:
    return Problem("t", tuple(stations), (Transfer("t", phases, workers, 1e9, 1),))


def cause(problem: Problem) -> Cause:
    m = solve.matrices(problem)
    return reasons.cause_of(m, 0, int(solve.solve(m).binding[0, 0]))


def station(name: str, capacity: float, kind: str = "test", unit: str = "B", **more: Any) -> Station:
    host, component = name.split(".", 1)
    return Station(name, host, component, kind, capacity, unit, **more)


def row(name: str, **demands: float) -> Phase:
    return Phase(
        name, tuple(Demand(s.replace("__", "."), d, f"work at {s.partition('__')[2]}") for s, d in demands.items())
    )


# -- what binds -------------------------------------------------------------------------------------
def test_the_station_that_is_full() -> None:
    problem = made([station("h.a", 100), station("h.b", 10)], row("p", h__a=1, h__b=1))
    assert cause(problem) == Cause(1, 0, direct=True)


def test_the_phase_in_which_it_works_most() -> None:
    problem = made([station("h.a", 10)], row("p", h__a=0.5), row("q", h__a=2.0), workers=100)
    assert cause(problem) == Cause(0, 1, direct=True)


def test_one_worker_is_held_by_its_longest_phase() -> None:
    """Neither station is full: 1/X = 1/100 + 1/20, of which 1/20 is the disk."""
    problem = made([station("h.net", 100), station("h.disk", 20)], row("send", h__net=1), row("flush", h__disk=1))
    found = cause(problem)
    assert found[:3] == Cause(1, 1, direct=False)[:3]
    assert found.busy == pytest.approx((1 / 6, 5 / 6))
    assert found.waits == (0.0, 0.0)


def test_workers_that_queue_for_a_station_that_is_full_are_held_by_it() -> None:
    """Sixteen workers, each on a core of its own for longer than on the wire: together they fill the wire."""
    cores, wire = station("a.core", 160.0, private=True), station("a.wire", 1.0)
    for cost, held in ((100.0, 1), (400.0, 0)):
        send = replace(row("send", a__wire=1.0), step=1)
        found = cause(made([cores, wire], row("compare", a__core=cost), send, workers=16))
        assert found.station == held  # a core of its own is busy for 61 %, the wire for 98 %; and 96 and 39 %


def test_waiting_that_takes_longer_than_any_work() -> None:
    waits = Phase(
        "p", (Demand("h.a", 1.0, "work"),), (Demand("w", 0.5, "round trips"), Demand("w", 0.2, "file operations"))
    )
    found = cause(made([station("h.a", 10)], waits))
    assert found[:3] == Cause(None, 0, direct=False)[:3]
    assert (*found.busy, *found.waits) == pytest.approx((0.1 / 0.8, 0.7 / 0.8))
    # what all wait for before anything moves is twice as much of the time of two
    waits = replace(waits, delays=(waits.delays[0], Demand("w", 0.1, "log-in", each="lead")))
    found = cause(made([station("h.a", 10)], waits, workers=2))
    assert (*found.busy, *found.waits) == pytest.approx((0.1 / 0.8, 0.7 / 0.8))
    less = Phase("p", (Demand("h.a", 1.0, "work"),), (Demand("w", 0.05, "round trips"),))
    assert cause(made([station("h.a", 10)], less)).station == 0


# -- how it is said ---------------------------------------------------------------------------------
def say(problem: Problem) -> str:
    return reasons.reason(problem, 0, cause(problem))


def test_a_saturated_core_lists_its_work_with_the_largest_first() -> None:
    work = (Demand("h.cpu.app[t]", 0.7, "TCP receive"), Demand("h.cpu.app[t]", 1.8, "file write"))
    problem = made([station("h.cpu.app", 3.2e9, "core", "cycles")], Phase("p", ()))
    label = "the app thread on h"
    named = Station("h.cpu.app[t]", "h", "cpu.app", "core", 3.2e9, "cycles", private=True, label=label)
    problem = made([named], Phase("p", work))
    assert say(problem) == "the app thread on h is saturated: file write 1.80 + TCP receive 0.70 cycles/B at 3.2 GHz"


@pytest.mark.parametrize(
    ("tool", "placed", "words"),
    [("dd", [], "the dd thread on a is saturated"), ("dd", [3], "core 3 of a is saturated")],
)
def test_which_core(tool: str, placed: list[int], words: str) -> None:
    """Whoever charges a core says what to call it."""
    host = machine(
        stack={**FREE, "file_write_byte": "9 cycles/B"}, placement={"application": placed}, volumes={"/data": volume()}
    )
    found = answer(journey(source=host, transfer={"from": "a:/dev/zero", "to": "a:/data", "tool": tool}))
    assert found.bottleneck.reason.startswith(words)


@pytest.mark.parametrize(
    ("unit", "capacity", "shown"),
    [("B", 1.25e9, "gives 10 Gb/s"), ("op", 70e3, "gives 70 k/s"), ("s", 128, "gives 128")],
)
def test_a_full_station_says_its_capacity_and_how_it_was_reached(unit: str, capacity: float, shown: str) -> None:
    full = station("h.x", capacity, unit=unit, formula="how it was reached")
    text = say(made([full], row("p", h__x=1)))
    assert text.startswith("h.x is full: work at x, how it was reached")
    assert text.endswith(shown)


def test_what_connections_allow_is_said_in_their_own_words() -> None:
    of_connection = Demand("network.tcp", 1.0, "window-limited: 2 MiB")
    problem = made([station("network.tcp", 1.25e8, "tcp")], Phase("p", (of_connection,)))
    assert say(problem) == "window-limited: 2 MiB: 1 Gb/s"


def test_waiting_names_the_longest_wait_its_formula_and_others() -> None:
    waits = (Demand("w", 0.2, "file operations", "10 x open"), Demand("w", 0.5, "round trips", "10 x 2"))
    said = say(made([], Phase("p", (), waits)))
    assert said == "workers wait for round trips (10 x 2), and for file operations (29% of the wait)"


def test_a_phase_that_takes_longest_is_named() -> None:
    problem = made([station("h.net", 100), station("h.disk", 20)], row("send", h__net=1), row("flush", h__disk=1))
    words = "(in the phase 'flush', which takes the longest of 2); 83% of the time, the phase 'send' 17%"
    assert say(problem).endswith(words)


def test_slow_start_that_takes_a_part_of_the_time_is_named() -> None:
    """1/10 s a byte at the station, 1/50 s of waiting: five parts in six."""
    phase = Phase("p", (Demand("h.a", 1.0, "work"),), (Demand("w", 0.02, "slow start"),))
    assert say(made([station("h.a", 10)], phase)).endswith("; 83% of the time, slow start 17%")


def test_a_byte_that_costs_more_than_one_unit_is_told() -> None:
    problem = made([station("h.a", 100)], row("p", h__a=4.0))
    assert say(problem).endswith("gives 800 b/s, and a byte takes 4 B of it")


def test_others_at_the_same_station_are_counted() -> None:
    one = Transfer("one", (row("p", h__x=1),), 1, 1e9, 1)
    problem = Problem(
        "t",
        (station("h.x", 10),),
        (one, Transfer("two", one.phases, 1, 1e9, 1), Transfer("three", one.phases, 1, 1e9, 1)),
    )
    m = solve.matrices(problem)
    text = reasons.reason(problem, 0, reasons.cause_of(m, 0, int(solve.solve(m).binding[0, 0])))
    assert text.endswith(", shared with 2 other transfers")


# -- on whole paths ---------------------------------------------------------------------------------
def test_reasons_of_paths() -> None:
    drive = {"kind": "ssd", "read": "500 MB/s", "write": "300 MB/s", "link": "1 GB/s"}
    host = machine(volumes={"/d": volume(drive)})
    disk = answer(journey(host, start="a:/d", tool="gridftp")).bottleneck
    assert (disk.host, disk.component, disk.kind) == ("a", "d.ssds", "ssd")
    assert "flash read, 500 MB/s" in disk.reason
    core = answer(journey(destination=machine(stack={**FREE, "receive_byte": "20 cycles/B"}))).bottleneck
    assert core.kind == "core"
    assert "TCP receive 20.00" in core.reason
    sync = answer(
        journey(host, start="a:/dev/zero", to="a:/d", tool={"name": "dd", "bs": "4 KiB", "oflag": "dsync"})
    ).bottleneck
    assert sync.kind == "latency"
    assert "a flush after every 4096 B" in sync.reason


@pytest.mark.parametrize(("to", "says"), [("a:/d", True), ("a:/e", False)])
def test_drives_that_hold_both_ends_say_that_reads_and_writes_share_them(to: str, says: bool) -> None:
    slow = {"kind": "hdd", "rate": "200 MB/s"}
    host = machine(volumes={"/d": volume(slow), "/e": volume(slow)})
    p = answer(journey(host, start="a:/d", to=to, tool="cp", dataset={"files": 9, "size": "90 GB"}))
    found = p.bottleneck
    texts = (found.reason, holds(p, found), found.remedy)
    assert ["reads and writes" in texts[0], "reads and writes" in texts[1], "another volume" in texts[2]] == [says] * 3
