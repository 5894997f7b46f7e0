"""Page caches that several transfers write to, against the integral of what comes in and goes out."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dtnsim.ground.pages import Cache
from dtnsim.ground.records import Demand, Phase, Problem, Station, Transfer
from dtnsim.physics.waiting import time_shares
from dtnsim.simulation import simulate
from dtnsim.steady import epochs, ordering, pools, solve
from dtnsim.steady.known import Assumed
from dtnsim.steady.ordering import ends
from dtnsim.steady.prediction import predict
from dtnsim.steady.scenarios import in_some, solved
from tests import wide
from tests.each import cases, rows
from tests.lab import journey, machine, volume
from tests.strategies import load

#: a wire for each writer [B/s], and drives behind one cache
WIRE, DRIVE = 100.0, 50.0


def writer(
    n: int, size: float, limit: float, *, start: float = 0.0, drive: str = "drive", begins: float = 0.0
) -> Transfer:
    """A writer over a wire of its own, through a cache that holds so much, onto a drive."""
    wire, below = Demand(f"wire{n}", 1.0, "bytes"), Demand(drive, 1.0, "write-back", below_cache=True)
    whole = Phase("copy", (wire, below), step="copy")
    cache = Cache("pool", limit, begins, math.inf)
    return Transfer(
        f"t{n}", (whole,), 1, size, 1, sizes_B=(size,), counts=(1,), start_s=start, cache=cache, buffered=whole,
        flushed=False,
    )  # fmt: skip


def path(*transfers: Transfer, drive: float | np.ndarray = DRIVE) -> Problem:
    """Writers, their wires and the drives."""
    wires = tuple(Station(f"wire{n}", "nic", "link", "network", WIRE, "B") for n in range(len(transfers)))
    drives = tuple(Station(name, "drive", "drive", "storage", drive, "B") for name in ("drive", "other"))
    return Problem("p", (*wires, *drives), transfers)


def seconds(*transfers: Transfer) -> list[float]:
    problem = path(*transfers)
    return ends(problem, epochs.rates(problem))[0].tolist()


@cases("writers, found, near", rows("steady/tables", "when_writers_end"))
def test_when_writers_end(writers: list[dict[str, Any]], found: list[float], near: float) -> None:
    assert seconds(*(writer(n, **given) for n, given in enumerate(writers))) == pytest.approx(found, rel=near)


def test_who_comes_to_a_full_cache_goes_at_the_pace_of_the_drive() -> None:
    """Full after 6 s of one writer, who goes on at 50 B/s; 10 B of another take 0.4 s of half of that."""
    first, second = seconds(writer(0, 5000.0, 300.0), writer(1, 10.0, 300.0, start=10.0))
    assert second == pytest.approx(10.4, rel=1e-3)
    assert first == pytest.approx((5010.0 - 300.0) / DRIVE, rel=0.01)


def test_pages_of_a_cache_that_has_been_emptied_are_as_old_as_the_next_writer_s() -> None:
    """100 B lie for 5 s and are gone at 7 s; 300 B of the next fill it by 23 s, and 100 B wait for the drive."""
    some = [writer(n, size, 300.0, start=at, begins=1e3) for n, size, at in ((0, 100.0, 0.0), (1, 400.0, 20.0))]
    kept = [replace(t, cache=replace(t.cache, write_back_s=5.0)) for t in some if t.cache]
    assert seconds(*kept) == pytest.approx([1.0, 25.0])


def test_one_writer_whose_link_another_takes_gathers_less_meanwhile() -> None:
    """Its wire is shared for 4 s: nothing gathers at 50 B/s; 300 B do in 6 s of 100 B/s, and 100 B wait 2 s."""
    one = writer(0, 900.0, 300.0)
    other = Transfer("o", (Phase("copy", (Demand("wire0", 1.0, "bytes"),)),), 1, 200.0, 1)
    assert seconds(one, other) == pytest.approx([12.0, 4.0])


def test_write_back_waits_for_its_threshold() -> None:
    """All of the first 200 B stay: full at 1 s + 100 / 150 s, and not at 2 s as with write-back from the first byte."""
    fills = 1.0 + 100.0 / 150.0
    left = 400.0 - WIRE * fills
    found = seconds(writer(0, 400.0, 300.0, begins=200.0), writer(1, 1e6, 300.0, begins=200.0))
    assert found[0] == pytest.approx(fills + left / 25.0, rel=0.02)


def test_write_back_to_another_drive_waits_for_its_threshold_again() -> None:
    """The first, at 20 B/s, has an empty cache since 17 s; 200 B of the other stay: full at 24 s, and 50 B wait 1 s."""
    first = writer(0, 1000.0, 300.0, begins=200.0)
    other = writer(1, 450.0, 300.0, begins=200.0, start=20.0, drive="other")
    waiting = replace(first.phases[0], delays=(Demand("", 4 / 100, "round trips", each="file"),))
    slow = replace(first, phases=(waiting,), buffered=waiting, files=250, sizes_B=(4.0,), counts=(250,))
    assert seconds(slow, other) == pytest.approx([50.0, 25.0], rel=0.005)


def test_write_back_of_a_writer_to_a_drive_of_its_own_is_no_less_beside_another() -> None:
    """What writes is also what writes back, onto a fast drive for each: two bytes for one, so 50 B/s."""

    def alike(n: int, drive: str, size: float) -> Transfer:
        one = writer(n, size, 1e6, drive=drive)
        wire, below = one.phases[0].demands
        whole = replace(one.phases[0], demands=(wire, below, replace(wire, what="write-back", below_cache=True)))
        return replace(one, phases=(whole,), buffered=whole)

    problem = path(alike(0, "drive", 1000.0), alike(1, "other", 2000.0), drive=400.0)
    assert ends(problem, epochs.rates(problem))[0].tolist() == pytest.approx([20.0, 40.0])


@pytest.mark.parametrize("verified", [False, True])
def test_a_core_that_compresses_does_no_more_beside_another_writer_than_alone(verified: bool) -> None:
    """Of 400 units a second 2 a byte write, 6 compress (300 B are left in memory), 1 verifies."""
    one, more = writer(0, 4000.0, 300.0), []
    wire, below = one.phases[0].demands
    core = tuple(replace(below, per_byte=units, below_cache=n > 0) for n, units in enumerate((2.0, 6.0)))
    whole = writes = Phase("copy", (wire, *core), step="copy")
    if verified:
        writes = replace(whole, demands=(wire, core[0], replace(core[1], per_byte=3.0)))
        more = [Phase("check", (Demand("drive", 1.0, "sum"), replace(core[1], per_byte=3.0, aside=True)), step="check")]
    one = replace(one, phases=(writes, *more), buffered=whole, files=40, sizes_B=(100.0,), counts=(40,))
    both = path(one, replace(one, name="t1", payload_B=1.0, files=1, sizes_B=(1.0,), counts=(1,)), drive=400.0)
    assert ends(both, epochs.rates(both))[0][0] == pytest.approx((4000 * (8 + verified) - 300 * 6) / 400, rel=0.03)


def test_every_scenario_has_its_own_level() -> None:
    limits = np.array([100.0, 300.0, 900.0])
    given = [(400.0, 0.0), (600.0, 1.0), (50.0, 3.0)]

    def found(limit: float | np.ndarray, drive: float | np.ndarray = DRIVE) -> np.ndarray:
        made = (writer(n, size, limit, start=start) for n, (size, start) in enumerate(given))  # type: ignore[arg-type]
        return epochs.rates(path(*made, drive=drive))

    many = found(limits, np.full(len(limits), DRIVE))
    for n, limit in enumerate(limits.tolist()):
        np.testing.assert_allclose(many[n], found(limit)[0], rtol=0.02)


@pytest.mark.parametrize(("limit", "start"), [(7.0, 0.0), (1e-9, 1e7)])
def test_a_small_cache_beside_a_reader_stays_full(limit: float, start: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader leaves the writers less than the drive takes: the cache is empty and full again, as often as it may."""
    went = list[float]()
    whole = pools.Pools.go_on
    monkeypatch.setattr(pools.Pools, "go_on", lambda caches, until: (went.append(until[0]), whole(caches, until))[1])
    reader = Transfer("r", (Phase("read", (Demand("drive", 1.0, "read"),)),), 1, 2e5, 1, start_s=start)
    found = seconds(*(writer(n, 1e5, limit, start=start) for n in range(2)), reader)
    assert found == pytest.approx([start + 3e5 / DRIVE] * 2 + [start + 4e5 / DRIVE], rel=0.02)
    assert len(went) < 100


def test_who_verifies_what_a_cache_does_not_hold_is_taken_in_the_mean() -> None:
    def verified(size: float) -> Transfer:
        one = writer(0, 4 * size, 300.0)
        again = Phase("verification", (Demand("drive", 1.0, "bytes"),), step="verification")
        return replace(one, name="v", phases=(*one.phases, again), files=4, sizes_B=(size,), counts=(4,))

    def followed(one: Transfer) -> int:
        ((members, _),) = pools.shared(Problem("p", (), (one, writer(1, 500.0, 300.0))))
        return len(members)

    large = verified(500.0)
    assert [followed(verified(100.0)), followed(large)] == [2, 1]
    assert followed(replace(large, workers=4, piece_B=100.0)) == 2  # out of step: a part of theirs at a time
    scan = replace(large.phases[1], demands=(), delays=(Demand("", 1e-6, "list", each="lead"),))
    assert followed(replace(large, phases=(scan, large.phases[0]))) == 2  # which writes all the time


def test_each_scenario_has_a_cache_that_holds_a_file_or_does_not() -> None:
    """Of a memory that is drawn some scenarios hold files of 20 GB until these are verified: each is as if alone."""
    disks = {"kind": "raid", "level": 0, "disks": 8, "of": {"kind": "hdd", "rate": "200 MB/s"}}
    host = machine(volumes={"/d": volume(disks)}, memory={"size": {"value": "128 GiB", "spread": "60 %"}}, vm={})
    given = {"to": "b:/d", "from": "a:memory", "tool": {"name": "fts"}}
    transfers = [{**given, "name": f"t{n}", "dataset": {"files": 20 * n, "each": "20 GB"}} for n in (1, 2)]
    found = predict(load(journey(destination=host, wan={"bandwidth": "25 Gb/s"}, transfers=transfers)), samples=16)
    assert isinstance(found.assumed, Assumed)
    drawn = found.assumed.drawn
    assert [len(some) for some in pools.alike_scenarios(drawn.problem, 16)] == [6, 10]
    alone = [epochs.total(in_some(drawn.problem, slice(n, n + 1)))[0] for n in range(16)]
    assert ordering.total_rate(drawn.problem, drawn.parameters) == pytest.approx(alone, rel=2e-3)
    m = solve.matrices(drawn.problem).take(np.tile(np.arange(16), 2))  # variants, as a plan has them
    twice = solved(drawn.problem, m, drawn.draw, drawn.held, times=2).parameters
    assert twice == pytest.approx(np.tile(drawn.parameters, (2, 1)), rel=1e-9)


def test_what_a_medium_does_meanwhile_is_no_part_of_the_writing() -> None:
    """Two demands on one drive, of which 0.6 each pass while the worker verifies: 0.4 of both are left."""
    one = writer(0, 400.0, 300.0)
    wire, below = one.phases[0].demands
    behind = (below, replace(below, per_byte=2.0, what="journal"))
    whole = replace(one.phases[0], demands=(wire, *behind))
    meanwhile = tuple(replace(d, per_byte=d.per_byte * 0.6, aside=True) for d in behind)
    again = Phase("verification", (Demand("other", 1.0, "bytes"), *meanwhile), step="verification")
    written = Phase("copy", (wire, *(replace(d, per_byte=d.per_byte * 0.4) for d in behind)), step="copy")
    verified = replace(one, phases=(written, again), buffered=whole, files=4, sizes_B=(100.0,), counts=(4,))
    stations = {s.name: s for s in path(verified).stations}
    for state in pools.states(verified, stations, 2, 0.25):
        used = [sum(d.per_byte for d in p.demands if d.station == "drive") for p in state.phases]
        assert min(used) >= 0
        assert sum(used) <= 3.0 * (1 + 1e-12)
    _, full, _, beside = pools.states(verified, stations, 2, 0.25)
    assert [d.per_byte for d in full.phases[0].demands] == pytest.approx([1.0, 0.4, 0.8])
    # somebody waits for the drive in three quarters of that time: so much less passes meanwhile
    assert [d.per_byte for d in beside.phases[0].demands] == pytest.approx([1.0, 0.85, 1.7])
    assert [d.per_byte for d in beside.phases[1].demands if d.aside] == pytest.approx([0.15, 0.3])


def test_caches_of_very_many_writers_are_taken_in_the_mean() -> None:
    for count, followed in ((32, 1), (33, 0)):
        writers = tuple(writer(n, 500.0, 300.0) for n in range(count))
        assert len(pools.shared(Problem("p", (), writers))) == followed


DRIVES = {"/d": {"kind": "hdd", "rate": "180 MB/s"}, "/two": {"kind": "ssd", "read": "2 GB/s", "write": "1 GB/s"}}
HOST: dict[str, Any] = machine(
    memory={"channels": 8, "rate": "3200 MT/s", "size": "16 GiB"},
    volumes={name: volume(drive) for name, drive in DRIVES.items()},
)


@pytest.mark.parametrize("transfers", rows("steady/tables", "predict_fills_a_cache_as_simulate_does"))
def test_predict_fills_a_cache_as_simulate_does(transfers: list[tuple[str, str, int, float]]) -> None:
    path = journey(HOST, HOST, wan={"bandwidth": "25 Gb/s", "rtt": "1 ms", "loss": 0})
    one = path.pop("transfer")
    made = [
        {**one, "name": f"t{n}", "from": "a:memory", "to": f"b:{to}", "tool": tool, "start": f"{start} s"}
        | {"dataset": {"files": 1, "size": f"{size} GB"}}
        for n, (to, tool, size, start) in enumerate(transfers)
    ]
    spec = load({**path, "transfers": made})
    said, run = predict(spec, samples=0).transfers, simulate(spec).runs[0].transfers
    assert [r.duration_s for r in run] == pytest.approx([p.duration_s.p50 for p in said], rel=0.03)


def test_who_writes_less_than_write_back_waits_for_is_not_held_by_the_drive() -> None:
    """0.5 GB of dd are in memory as fast as its core moves them, however long another copies files on that disk."""
    host = {**HOST, "vm": {"dirty_background_ratio": "10 %", "dirty_ratio": "20 %"}}
    dd = {"name": "dd", "from": "b:memory", "to": "b:/d", "tool": "dd", "dataset": {"files": 1, "size": "0.5 GB"}}
    cp = {"name": "cp", "from": "b:/d", "to": "b:/d", "tool": "cp", "dataset": {"files": 90, "size": "0.6 GB"}}
    spec = load(journey(host, host, transfers=[dd, cp]))
    said, run = (of.transfers[0].duration_s for of in (predict(spec, samples=0), simulate(spec).runs[0]))
    assert said.p50 == pytest.approx(run, rel=0.03)


def test_connections_open_as_long_in_predict_as_in_simulate_where_a_slow_drive_is_behind_a_cache() -> None:
    path = journey(
        HOST, HOST, start="a:memory", to="b:/d", tool={"name": "gridftp", "p": 1, "cc": 1},
        dataset={"files": 1500, "size": "1 GB"}, wan={"bandwidth": "25 Gb/s", "rtt": "1 ms", "loss": 0},
    )  # fmt: skip
    spec = load(path)
    assert simulate(spec).runs[0].transfers[0].throughput_Bps == pytest.approx(
        predict(spec, samples=0).transfers[0].throughput_Bps.p50, rel=0.01
    )


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_drive_has_something_to_do_while_workers_verify_where_a_cache_holds_what_they_write(workers: int) -> None:
    """Chunks of 500 MB: 6 GB of them may be in memory, so that the drive never waits, and has 94 of 100 GB at the end.

    Where nothing may, one worker verifies while the drive waits, in a fifth of the time; of several another writes.
    """
    made, drive_Bps = {}, 400e6
    for room in ("1 MB", "6 GB"):
        host = machine(
            volumes={"/d": volume({"kind": "ssd", "read": "900 MB/s", "write": "400 MB/s"})},
            vm={"dirty_bytes": room, "dirty_background_bytes": "0 B"},
        )
        one = load(
            journey(
                machine(), host, to="b:/d", wan={"bandwidth": "10 Gb/s", "rtt": "2 ms"},
                tool={"name": "globus", "concurrency": workers}, dataset={"files": 1, "size": "100 GB"},
            )
        )  # fmt: skip
        made[room] = predict(one, samples=0).duration_s.p50
        # no two checksums take equally long in a run: now and then both of two verify
        assert simulate(one, seed=1).runs[0].transfers[0].duration_s == pytest.approx(made[room], rel=0.015)
    assert made["6 GB"] == pytest.approx(94e9 / drive_Bps, rel=0.025)
    assert (made["1 MB"] > 1.1 * 100e9 / drive_Bps) == (workers == 1)


@pytest.mark.parametrize("background_GB", [1, 2])
def test_a_drive_has_nothing_to_do_until_write_back_begins_though_its_writer_verifies(background_GB: int) -> None:
    """10 GB, of which memory has the set point at the end, (background + 3 x 4) / 4: the rest is written at 100 MB/s.

    The first go to memory before that, as fast as they would in front of a drive that holds nobody.
    """
    took, left_GB = {}, 10 - (background_GB + 3 * 4) / 4
    for write in ("100 MB/s", "9 GB/s"):
        vm = {"dirty_bytes": "4 GB", "dirty_background_bytes": f"{background_GB} GB"}
        host = machine(volumes={"/d": volume({"kind": "ssd", "read": "9 GB/s", "write": write})}, vm=vm)
        wan, data = {"bandwidth": "10 Gb/s", "rtt": "1 ms"}, {"files": 1, "size": "10 GB"}
        tool = {"name": "globus", "concurrency": 1}
        took[write] = predict(load(journey(machine(), host, to="b:/d", wan=wan, tool=tool, dataset=data)), samples=0)
    slow, fast = (said.duration_s.p50 for said in took.values())
    assert slow == pytest.approx(background_GB / 10 * fast + left_GB / 0.1, rel=0.002)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_who_verifies_behind_a_full_cache_takes_of_the_link_what_the_drive_takes(workers: int) -> None:
    """A full cache hands 600 MB/s to the drive all the time, also while its writers verify: the rest is the others'."""
    vm = {"dirty_bytes": "3 GB", "dirty_background_bytes": "1 GB"}
    host = machine(volumes={"/d": volume({"kind": "ssd", "read": "9 GB/s", "write": "600 MB/s"})}, vm=vm)
    path = journey(
        machine(), host, to="b:/d", wan={"bandwidth": "10 Gb/s", "rtt": "1 ms", "loss": 0},
        tool={"name": "globus", "concurrency": workers}, dataset={"files": 1000, "size": "500 GB"},
    )  # fmt: skip
    test = {"from": "a:memory", "to": "b:memory", "start": "100 s", "tool": {"name": "iperf3", "P": 1, "t": "60 s"}}
    alone = predict(load({**path, "transfer": test}), samples=0).transfers[0]
    both = [{**path.pop("transfer"), "name": "verified"}, {**test, "name": "test"}]
    beside = predict(load({**path, "transfers": both}), samples=0).transfers[1]
    assert beside.throughput_Bps.p50 == pytest.approx(alone.throughput_Bps.p50 - 600e6, rel=0.025)


def test_a_transfer_that_verifies_is_in_memory_first_beside_others_as_alone() -> None:
    """Of 6 GB by two workers 2 gather first, and 3.5 are in memory at the end: 2.5 at 100 MB/s behind the first."""
    took = {}
    for write in ("100 MB/s", "9 GB/s"):
        vm = {"dirty_bytes": "4 GB", "dirty_background_bytes": "2 GB"}
        host = machine(volumes={"/d": volume({"kind": "ssd", "read": "9 GB/s", "write": write})}, vm=vm)
        path = journey(
            machine(), host, to="b:/d", wan={"bandwidth": "10 Gb/s", "rtt": "1 ms"},
            tool={"name": "globus", "concurrency": 2}, dataset={"files": 6, "size": "6 GB"},
        )  # fmt: skip
        test = {"name": "test", "from": "a:memory", "to": "b:memory", "tool": {"name": "iperf3", "t": "10 s"}}
        moves = [{**path.pop("transfer"), "name": "verified"}, {**test, "start": "500 s"}]
        took[write] = predict(load({**path, "transfers": moves}), samples=0).transfers[0].duration_s.p50
    assert took["100 MB/s"] == pytest.approx(took["9 GB/s"] / 3 + 25, rel=0.03)


def test_who_waits_for_a_drive_has_all_of_it_while_another_verifies() -> None:
    """A byte of the one takes 1/25 s of half the drive and 1/50 s elsewhere: 16.7 B/s, and the other has 33.3 B/s.

    What write-back does meanwhile for the one that verifies (half of its bytes) is nothing while the other waits.
    """
    one, other = writer(0, 1e6, 300.0), writer(1, 1e5, 300.0)
    wire, below = one.phases[0].demands
    part = replace(below, per_byte=0.5)
    again = Phase("verification", (Demand("other", 1.0, "bytes"), replace(part, aside=True)), step="verification")
    written = Phase("copy", (wire, part), step="copy")
    counts = {"files": 10_000, "sizes_B": (100.0,), "counts": (10_000,)}
    verified = replace(one, phases=(written, again), buffered=one.phases[0], **counts)
    assert seconds(verified, other)[1] == pytest.approx((1e5 - 300 / 2) * 3 / 100, rel=0.01)


def test_workers_who_verify_are_not_held_by_a_drive_that_others_wait_for() -> None:
    """Each state's workers share 50 B/s of the drive while they write, and verify 100 B/s each whoever waits for it."""

    def verified(n: int, workers: int) -> Transfer:
        one = writer(n, 1e6, 1e3)
        wire, below = one.phases[0].demands
        meanwhile = replace(below, per_byte=0.01, aside=True)
        again = Phase("verification", (Demand(f"core{n}", 1.0, "bytes"), meanwhile), step="verification")
        written = replace(one.phases[0], demands=(wire, replace(below, per_byte=0.99)))
        return replace(
            one, phases=(written, again), workers=workers, weight=workers, files=10**4, sizes_B=(100.0,),
            counts=(10**4,), time_s=1e5,
        )  # fmt: skip

    given = path(verified(0, 2), verified(1, 1))
    fast = [replace(s, capacity=1e9) if s.kind == "nic" else s for s in given.stations]
    cores = [Station(f"core{n}", "cpu", "core", "cpu", 100.0 * (2 - n), "B", private=True) for n in range(2)]
    found = epochs.rates(replace(given, stations=(*fast, *cores)))[0]
    write = [(n, m) for n in range(3) for m in range(2)]
    flow = np.zeros((6, 6))
    for k, (n, m) in enumerate(write):
        each = DRIVE / max(n + m, 1)
        for to, rate in (((n - 1, m), n * each), ((n + 1, m), (2 - n) * WIRE), ((n, 1 - m), each if m else WIRE)):
            if to in write:
                flow[k, write.index(to)] = rate
    share = time_shares(flow)
    copied = [sum(p * DRIVE * who[a] / max(sum(who), 1) for p, who in zip(share, write, strict=True)) for a in range(2)]
    assert found == pytest.approx(copied, rel=0.01)


def test_stores_that_yield_to_each_other_do_not_stop_the_clock() -> None:
    """Six transfers whose writers at the limit are held by a core that write-back needs as well."""
    path = load(wide.path_of("20270103", 22, (wide.mixed,))[1])
    said, run = predict(path, samples=0), simulate(path)
    assert run.runs[0].transfers[0].duration_s == pytest.approx(said.transfers[0].duration_s.p50, rel=0.1)


def test_who_waits_between_files_is_not_held_by_a_drive_of_its_own_that_writes_meanwhile() -> None:
    """A byte takes 1/100 s of the wire and 1/25 s of waiting: 20 B/s, which a drive of 50 B/s writes beside that."""
    one = writer(0, 400.0, 300.0)
    waiting = replace(one.phases[0], delays=(Demand("", 1 / 25, "round trips", each="file"),))
    slow = replace(one, phases=(waiting,), buffered=waiting, files=100, sizes_B=(4.0,), counts=(100,))
    others = (writer(1, size, 300.0, drive="other") for size in (200.0, 4000.0))  # who leaves room, or none
    assert [seconds(slow, other)[0] for other in others] == pytest.approx([20.0, 20.0], rel=0.01)


@pytest.mark.parametrize("drive", [WIRE * 0.7, WIRE * 0.5])
def test_who_waits_between_files_is_not_held_by_a_drive_that_another_writes_to_while_the_cache_has_room(
    drive: float,
) -> None:
    """A byte takes 1/100 s of the wire and 1/50 s of waiting: 33 B/s of each, whatever write-back takes of 70 B/s.

    Of 50 B/s 16.7 B/s gather, up to the last byte.
    """
    some = [writer(n, 400.0, 300.0) for n in range(2)]
    waiting = [replace(t.phases[0], delays=(Demand("", 1 / 50, "round trips", each="file"),)) for t in some]
    slow = [
        replace(t, phases=(p,), buffered=p, files=100, sizes_B=(4.0,), counts=(100,))
        for t, p in zip(some, waiting, strict=True)
    ]
    problem = path(*slow, drive=drive)
    assert ends(problem, epochs.rates(problem))[0].tolist() == pytest.approx([12.0] * 2, rel=1e-3)


@pytest.mark.parametrize(("rate", "parallelism", "size"), [("180 MB/s", 4, "30 GB"), ("180 MB/s", 1, "60 GB")])
def test_who_verifies_beside_another_on_a_disk_is_the_same_in_both_commands(
    rate: str, parallelism: int, size: str
) -> None:
    """Whose files are verified chunk by chunk in memory leaves the disk to the other meanwhile."""
    host = machine(
        volumes={"/d": volume({"kind": "hdd", "rate": rate})},
        vm={"dirty_bytes": "6 GB", "dirty_background_bytes": "1 GB"},
    )
    path = journey(machine(), host, wan={"bandwidth": "10 Gb/s", "rtt": "1 ms", "loss": 0})
    one = {**path.pop("transfer"), "from": "a:memory", "to": "b:/d"}
    verified = {"tool": {"name": "globus", "concurrency": 1, "parallelism": parallelism}}
    sizes = ({"files": 1, "size": "200 GB"}, {"files": 1, "size": size})
    moves = [{**one, "name": "verified", **verified, "dataset": sizes[0]}, {**one, "tool": "sftp", "dataset": sizes[1]}]
    spec = load({**path, "transfers": moves})
    said, run = predict(spec, samples=0).transfers, simulate(spec).runs[0].transfers
    assert [t.duration_s for t in run] == pytest.approx([t.duration_s.p50 for t in said], rel=0.03)


def test_many_large_files_are_verified_chunk_by_chunk_in_both_commands() -> None:
    """50 files of 30 GB by one worker, through 6 GB of memory: no file fits there, and every chunk does."""
    host = machine(
        volumes={"/d": volume({"kind": "ssd", "read": "900 MB/s", "write": "400 MB/s"})},
        vm={"dirty_bytes": "6 GB", "dirty_background_bytes": "0 B"},
    )
    one = load(
        journey(
            machine(), host, to="b:/d", wan={"bandwidth": "10 Gb/s", "rtt": "2 ms"},
            tool={"name": "globus", "concurrency": 1}, dataset={"files": 50, "size": "1.5 TB"},
        )
    )  # fmt: skip
    said = predict(one, samples=0).duration_s.p50
    assert said == pytest.approx(1.5e12 / 400e6, rel=0.01)
    assert simulate(one).runs[0].transfers[0].duration_s == pytest.approx(said, rel=0.01)


def test_a_writer_to_memory_leaves_the_page_cache_to_those_who_write_to_drives() -> None:
    """tmpfs keeps its pages, but none of them waits for a drive: two writers have all of the limit beside a third."""
    host = machine(
        vm={"dirty_bytes": "11 GB", "dirty_background_bytes": "5 GB"},
        volumes={"/d": volume({"kind": "hdd", "rate": "180 MB/s"}), "/m": {"filesystem": {"kind": "tmpfs"}}},
    )
    path = journey(machine(), host, wan={"bandwidth": "100 Gb/s", "rtt": "1 ms", "loss": 0}, tool="bbcp")
    one = path.pop("transfer")
    data = {"files": 1, "size": "5 GB"}
    both = [{**one, "name": n, "to": "b:/d", "dataset": data} for n in ("t", "u")]
    third = {**one, "name": "v", "to": "b:/m", "dataset": {"files": 1, "size": "1 GB"}}
    made = load({**path, "transfers": [*both, third]})
    said = predict(made, samples=0).transfers[0].duration_s.p50
    assert said < 10e9 / 2.5e9  # at the drive's pace what two thirds of the limit do not hold takes ten seconds more
    assert simulate(made).runs[0].transfers[0].duration_s == pytest.approx(said, rel=0.05)
