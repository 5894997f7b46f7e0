"""Transfers laid out in time: bytes over what the station carries while they are there."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Demand, Phase, Problem, Station, Transfer
from dtnsim.simulation import simulate
from dtnsim.steady import epochs, solve, timed
from dtnsim.steady.ordering import ends, total_rate
from dtnsim.steady.prediction import predict
from tests.each import cases, rows
from tests.lab import journey, machine, volume
from tests.strategies import load
from tests.wide import difference, mixed, path_of

LINK = Station("link", "network", "link", "network", 100.0, "B")


def transfer(
    name: str, size: float, *, start: float = 0.0, after: tuple[str, ...] = (), time: float = math.inf
) -> Transfer:
    work = Phase("p", (Demand("link", 1.0, "bytes"),))
    return Transfer(name, (work,), 1, size, 1, sizes_B=(size,), counts=(1,), start_s=start, after=after, time_s=time)


def seconds(*transfers: Transfer) -> list[float]:
    """Ends of transfers over one link of 100 B/s."""
    problem = Problem("p", (LINK,), transfers)
    return ends(problem, epochs.rates(problem))[0].tolist()


@cases("transfers, found", rows("steady/tables", "when_transfers_end"))
def test_when_transfers_end(transfers: list[dict[str, Any]], found: list[float]) -> None:
    made = (transfer(f"t{n}", **one | {"after": tuple(one.get("after", ()))}) for n, one in enumerate(transfers))
    assert seconds(*made) == pytest.approx(found)


def test_a_test_that_a_time_ends_is_charged_for_its_time_alone() -> None:
    problem = Problem("p", (LINK,), (transfer("test", 1.0, time=2.0), transfer("b", 1000.0)))
    rate = epochs.rates(problem)
    assert rate[0].tolist() == pytest.approx([50.0, 1000 / 11])
    assert total_rate(problem, rate)[0] == pytest.approx(100.0)


@given(st.lists(st.tuples(st.floats(1, 1e4), st.floats(0, 50)), min_size=2, max_size=8))
def test_a_link_that_is_never_idle_ends_with_its_last_byte(given_: list[tuple[float, float]]) -> None:
    """Processor sharing conserves work: the last end is that of a queue that serves them one after the other."""
    transfers = [transfer(f"t{n}", size, start=start) for n, (size, start) in enumerate(given_)]
    clock = 0.0
    for size, start in sorted(given_, key=lambda one: one[1]):
        clock = max(clock, start) + size / 100.0
    assert max(seconds(*transfers)) == pytest.approx(clock, rel=1e-6)


def test_scenarios_go_on_by_their_own_clocks() -> None:
    """Each of many scenarios ends as it does alone, but for ends that are put together."""
    capacity = np.geomspace(10.0, 1000.0, 16)
    given_ = [transfer("a", 100.0), transfer("b", 300.0), transfer("c", 500.0, start=2.0)]

    def rates(value: float | np.ndarray) -> np.ndarray:
        link = Station("link", "network", "link", "network", value, "B")
        return epochs.rates(Problem("p", (link,), tuple(given_)))

    many = rates(capacity)
    for n, one in enumerate(capacity.tolist()):
        np.testing.assert_allclose(many[n], rates(one)[0], rtol=0.02)


@pytest.mark.parametrize("scenarios", [1, 8])
def test_many_that_never_meet_are_each_as_fast_as_alone(scenarios: int) -> None:
    """Ends that are put together take no time of those who begin, or go on, between them."""
    capacity = np.geomspace(90.0, 110.0, scenarios)
    links = tuple(replace(LINK, name=f"link{n}", capacity=capacity) for n in range(60))
    made = [transfer(f"t{n}", 100.0 + 37 * n % 190, start=n / 6) for n in range(60)]
    own = [replace(t, phases=(Phase("p", (Demand(f"link{n}", 1.0, "bytes"),)),)) for n, t in enumerate(made)]
    rate = epochs.rates(Problem("p", links, tuple(own)))
    np.testing.assert_allclose(rate, np.broadcast_to(capacity[:, None], rate.shape), rtol=1e-9)


@pytest.mark.parametrize(("scenarios", "near"), [(1, 0.02), (8, 1e-3)])
def test_many_on_one_link_end_near_where_each_end_by_itself_is_followed(scenarios: int, near: float) -> None:
    """Links at most 1 % apart that are kept busy: the last end is that of a queue, the others near the exact ones."""
    sizes, starts = [30.0 + 17 * n % 40 for n in range(200)], [0.6 * n for n in range(200)]
    link = replace(LINK, capacity=100.0 * np.geomspace(0.99, 1.01, scenarios))
    problem = Problem("p", (link,), tuple(transfer(f"t{n}", b, start=starts[n]) for n, b in enumerate(sizes)))
    found = ends(problem, epochs.rates(problem))
    exact = _ends_of_processor_sharing(sizes, starts, 100.0)
    took = np.subtract(exact, starts)
    assert np.median(np.abs((np.median(found, axis=0) - starts) / took - 1)) < near
    assert np.median(found.max(axis=1)) == pytest.approx(max(exact), rel=1e-3)


def _ends_of_processor_sharing(sizes: list[float], starts: list[float], rate: float) -> list[float]:
    """Ends of jobs of one queue that serves all that are there in equal parts, one event after the other."""
    left, ended, clock, begun = dict[int, float](), [0.0] * len(sizes), 0.0, 0
    while left or begun < len(sizes):
        least = min(left, key=lambda n: left[n], default=-1)
        done = clock + left[least] * len(left) / rate if left else math.inf
        until = min(done, starts[begun] if begun < len(sizes) else math.inf)
        left = {n: b - (until - clock) * rate / len(left) for n, b in left.items()}
        clock = until
        if until == done:
            ended[least] = clock
            del left[least]
        else:
            left[begun] = sizes[begun]
            begun += 1
    return ended


def test_like_transfers_end_together_as_they_run_together() -> None:
    problem = Problem("p", (LINK,), tuple(transfer(f"t{n}", 100.0) for n in range(50)))
    m = solve.matrices(problem)
    together = solve.solve(m).rate
    assert epochs.laid_out(problem, m, together) is together


def test_predict_and_simulate_lay_out_the_same() -> None:
    """5 GB that loss slows, or that open beside a test, and 20 GB verified beside a longer copy (chunks have luck)."""
    wan = {"bandwidth": "1 Gb/s", "rtt": "10 ms"}
    shallow = {"bandwidth": "10 Gb/s", "rtt": "20 ms", "buffer": "1 MB"}
    opens = journey(wan=shallow, tool={"name": "gridftp"}, dataset={"files": 1, "size": "5 GB"})
    test = {"tool": {"name": "iperf3", "t": "20 s"}, "dataset": None}
    drives = machine(volumes={"/d": volume({"kind": "ssd", "read": "1 GB/s", "write": "800 MB/s"})})
    globus = {"name": "globus", "verify": True, "concurrency": 1, "parallelism": 4}
    copy = journey(
        drives, drives, start="a:/d", to="b:/d", wan=wan, tool=globus, dataset={"files": 1, "size": "100 GB"}
    )
    lossy = {"bandwidth": "2 Gb/s", "rtt": "50 ms", "loss": "1e-4", "buffer": "100 MB"}
    falls = journey(wan=lossy, tool={"name": "gridftp", "p": 8}, dataset={"files": 1, "size": "5 GB"})
    for path, other in ((falls, {"tool": "scp"}), (opens, test), (copy, {"dataset": {"files": 1, "size": "20 GB"}})):
        one = path.pop("transfer")
        second = {k: v for k, v in {**one, **other, "name": "u"}.items() if v is not None}
        spec, back = (load({**path, "transfers": [{**one, "name": "t"}, second][::way]}) for way in (1, -1))
        said, run = predict(spec, samples=0).transfers, simulate(spec).runs[0].transfers
        assert said[0].throughput_Bps.p50 == pytest.approx(predict(back, samples=0).transfers[1].throughput_Bps.p50)
        for p, r in zip(said, run, strict=True):
            assert r.throughput_Bps == pytest.approx(p.throughput_Bps.p50, rel=0.02)
    assert said[0].all_run_Bps < 0.7 * said[0].throughput_Bps.p50


def test_scenarios_that_are_at_rest_leave_the_others_their_rounds() -> None:
    """Each of many scenarios comes out as by itself, however many rounds the others need."""
    problem = timed.composer(load(path_of("suite", 0, (mixed,))[1]), Draw(24)).problem()
    m = solve.matrices(problem)
    together = solve.solve(m)
    alone = [solve.solve(m.take(np.array([k]))) for k in range(24)]
    np.testing.assert_allclose(together.rate, np.concatenate([one.rate for one in alone]), rtol=1e-7)
    assert np.array_equal(together.binding, np.concatenate([one.binding for one in alone]))


def test_who_waits_for_files_has_its_share_of_a_link_only_while_it_moves_them() -> None:
    """10 ms of waiting a byte, then half of the link: 1 / x = 0.01 + 1 / 50, and the rest is the other's."""
    wait = Phase("p", (Demand("link", 1.0, "bytes"),), (Demand("", 0.01, "waiting", each="file"),))
    small = Transfer("small", (wait,), 1, 1000.0, 1, time_s=9.0)
    rate = epochs.rates(Problem("p", (LINK,), (small, transfer("bulk", 1.0, time=9.0))))
    assert rate[0].tolist() == pytest.approx([100 / 3, 200 / 3], rel=1e-5)


def test_a_phase_of_few_bytes_has_the_share_of_its_streams() -> None:
    """A tenth is cached, nine tenths are not: half of the link all the same, 100 B each take 2 s."""
    phases = tuple(Phase(n, (Demand("link", d, "bytes"),), step="copy") for n, d in (("cached", 0.1), ("rest", 0.9)))
    first = Transfer("a", phases, 1, 100.0, 1, sizes_B=(100.0,), counts=(1,))
    assert seconds(first, transfer("b", 300.0)) == pytest.approx([2.0, 4.0])


def test_who_visits_a_drive_at_two_steps_of_a_byte_has_the_share_of_its_streams_there() -> None:
    """Two workers that read what they copy once more, beside one reader: two thirds of the drive for half the bytes."""
    steps = tuple(Phase(n, (Demand("link", 1.0, "bytes"),), step=n) for n in ("copy", "verification"))
    twice = Transfer("twice", steps, 2, 1000.0, 10, 2, sizes_B=(100.0,), counts=(10,))
    rate = epochs.rates(Problem("p", (LINK,), (replace(twice, time_s=9.0), transfer("once", 1.0, time=9.0))))
    assert rate[0].tolist() == pytest.approx([100 / 3, 100 / 3], rel=1e-5)


def test_a_drive_seeks_for_those_who_are_there() -> None:
    """Who stays behind has the drive as a path without the others has it."""
    host = machine(volumes={"/d": volume({"kind": "hdd", "rate": "200 MB/s"})})
    each = [{"name": n, "dataset": {"files": 1, "size": s}} for n, s in (("short", "10 GB"), ("long", "100 GB"))]

    def predicted(names: tuple[str, ...]) -> dict[str, float]:
        path = journey(host, start="a:/d", to="a:/dev/null", tool={"name": "dd", "bs": "1 MiB"})
        one = path.pop("transfer")
        found = predict(load({**path, "transfers": [{**one, **t} for t in each if t["name"] in names]}), samples=0)
        return {t.name: t.duration_s.p50 for t in found.transfers}

    both, alone = predicted(("short", "long")), predicted(("long",))["long"]
    assert both["long"] == pytest.approx(both["short"] + 0.9 * alone, rel=1e-8)


def test_two_streams_may_seek_as_often_as_three_and_one_does_not() -> None:
    """Who stays behind alone has the drive alone, in time as well: curl leaves read-ahead to the kernel."""
    host = {
        "cpu": {"sockets": 1, "cores": 12, "clock": "3.3 GHz"},
        "memory": {"channels": 8, "rate": "3200 MT/s", "size": "8 GiB"},
        "nics": {"lan": {"rate": "10 Gb/s", "mtu": "9000 B"}},
        "volumes": {"/d": volume({"kind": "hdd", "rate": "90 MB/s"})},
    }
    path = journey(host, host, start="a:/d", to="b:/d", wan={"bandwidth": "40 Gb/s", "rtt": "1 ms"}, tool="curl")
    one = path.pop("transfer")
    each = [
        {**one, "name": n, "dataset": {"files": 1, "size": s}}
        for n, s in (("x", "9 GB"), ("y", "12 GB"), ("z", "90 GB"))
    ]
    spec = load({**path, "transfers": each})
    said, run = predict(spec, samples=0).transfers, simulate(spec).runs[0].transfers
    assert [r.duration_s for r in run] == pytest.approx([p.duration_s.p50 for p in said], rel=1e-6)
    assert (
        said[2].throughput_Bps.p50 > 1.3 * said[2].all_run_Bps * 2
    )  # alone most of its time: three shared one with seeks


def test_who_stays_behind_has_the_phases_of_alone() -> None:
    """Beside others it has one phase of bytes, alone two (cached, throttled): its rest moves at the rate of alone."""
    host = {
        "cpu": {"sockets": 1, "cores": 12, "clock": "3.3 GHz"},
        "memory": {"channels": 2, "rate": "3200 MT/s", "size": "192 GiB"},
        "nics": {"lan": {"rate": "40 Gb/s", "mtu": "9000 B"}},
        "volumes": {"/d": volume({"kind": "hdd", "rate": "150 MB/s"})},
    }
    wan = {"bandwidth": "10 Gb/s", "rtt": "0.3 ms"}
    path = journey(host, host, start="a:/d", to="b:/d", wan=wan, dataset={"files": 1, "size": "700 GB"})
    one = path.pop("transfer")
    long = {**one, "name": "long", "tool": {"name": "rsync"}}
    gridftp = {"name": "gridftp", "p": 2, "cc": 2}
    short = {**one, "name": "short", "tool": gridftp, "dataset": {"files": 7, "size": "3 GB"}}
    both = predict(load({**path, "transfers": [long, short]}), samples=0).transfers
    alone = predict(load({**path, "transfers": [long]}), samples=0).transfers[0].throughput_Bps.p50
    shared_s = both[1].duration_s.p50
    rest_B = 700e9 - both[0].all_run_Bps * shared_s
    assert both[0].duration_s.p50 == pytest.approx(shared_s + rest_B / alone, rel=0.01)


def test_unlike_transfers_at_random_end_as_they_do_in_time() -> None:
    """Lengths, tools, starts and tests of all kinds beside each other; `python -m tests.wide --mixed` draws more."""
    errors = np.abs([difference(path_of("suite", number, (mixed,))[1]) for number in range(8)])
    assert np.median(errors) <= 0.05
    assert np.count_nonzero(errors > 0.10) <= 1


def test_variants_side_by_side_are_laid_out_as_well() -> None:
    """A search lays out several variants of the drawn path at once: drives are then taken as beside all others."""
    disks = machine(volumes={"/d": volume({"kind": "raid", "level": 0, "disks": 4, "of": "any-disk"})})
    transfers = [
        {"name": n, "from": "a:/d", "to": "b:/d", "tool": "rsync", "dataset": {"files": 1, "size": f"{size} GB"}}
        for n, size in (("long", 90), ("short", 20))
    ]
    given = load(journey(disks, disks, wan={"bandwidth": "100 Gb/s"}, transfers=transfers))
    problem = timed.composer(given, Draw(8)).problem()
    m = solve.matrices(problem)
    assert problem.drives is not None
    assert any(problem.drives.minds(f) for f in range(2))
    found = epochs.rates(problem, m.take(np.tile(np.arange(8), 3)))
    assert found.shape == (24, 2)
    assert np.all(np.isfinite(found) & (found > 0))
