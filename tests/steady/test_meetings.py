"""What holds a transfer is what holds it halfway through its time, beside those that are there then."""

import math

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.ground.records import Demand, Phase, Problem, Station, Transfer
from dtnsim.steady import ordering
from dtnsim.steady.matrices import matrices
from dtnsim.steady.meetings import meetings, part
from tests.lab import answer, journey, machine, volume

LINK = Station("link", "network", "link", "network", 100.0, "B")
DRIVE = Station("drive", "array", "host", "hdd", 80.0, "B")


def transfer(name: str, size: float, *, start: float = 0.0, time: float = math.inf, drive: bool = True) -> Transfer:
    demands = (Demand("link", 1.0, "bytes"), *((Demand("drive", 1.0, "bytes"),) if drive else ()))
    return Transfer(name, (Phase("p", demands),), 1, size, 1, sizes_B=(size,), counts=(1,), start_s=start, time_s=time)


def met(*transfers: Transfer) -> dict[int, tuple[int, ...]]:
    """Who is there halfway through the time of each."""
    found = meetings(Problem("p", (LINK, DRIVE), transfers))
    return {f: here.members for here in found.each for f in here.halfway}


def test_a_short_test_beside_a_long_copy_is_shared_and_the_copy_is_not() -> None:
    """The copy has the drive to itself for nearly all of its time; the test has half of the link."""
    copy, test = transfer("copy", 1e6), transfer("test", 1e9, start=10.0, time=60.0, drive=False)
    assert met(copy, test) == {0: (0,), 1: (0, 1)}
    found = meetings(Problem("p", (LINK, DRIVE), (copy, test)))
    held = {f: (here.solution, here.place(f)) for here in found.each for f in here.halfway}
    assert [int(solution.binding[0, place]) for solution, place in held.values()] == [1, 0]
    assert [float(solution.rate[0, place]) for solution, place in held.values()] == pytest.approx([80.0, 50.0])


@settings(max_examples=25)
@given(sizes=st.lists(st.floats(1e2, 1e5), min_size=1, max_size=6), gap=st.floats(1.0, 1e3))
def test_who_never_meets_has_the_stations_alone(sizes: list[float], gap: float) -> None:
    """One after the other with gaps between, each at the drive's rate; all at once and alike, all of them meet."""
    starts = [sum(sizes[:n]) / 80.0 + gap * n for n in range(len(sizes))]
    apart = [transfer(f"t{n}", size, start=start) for n, (size, start) in enumerate(zip(sizes, starts, strict=True))]
    assert met(*apart) == {n: (n,) for n in range(len(sizes))}
    every = tuple(range(len(sizes)))
    assert met(*(transfer(f"t{n}", sizes[0]) for n in every)) == dict.fromkeys(every, every)


def test_of_very_many_each_meets_those_near_it_in_time() -> None:
    """Of 200 one after the other, a quarter of whose middles are looked at; and 120 that all run at once."""
    found = met(*(transfer(f"t{n}", 800.0, start=20.0 * n) for n in range(200)))
    assert all(f in members and max(members) - min(members) <= 4 for f, members in found.items())
    assert set(met(*(transfer(f"t{n}", 800.0 + n) for n in range(120))).values()) == {tuple(range(120))}


def test_who_never_meets_is_answered_as_alone_however_many_there_are() -> None:
    """Page caches and drives are those of the transfers that run, of 110 as of two."""
    path = journey(machine(volumes={"/d": volume()}), machine(volumes={"/d": volume()}), start="a:/d", to="b:/d")
    one = path.pop("transfer") | {"tool": "gridftp", "dataset": {"files": 1, "size": "20 GB"}}
    of = [[one | {"name": f"t{n}", "start": f"{n} h"} for n in range(count)] for count in (2, 110)]
    few, many = (answer(path | {"transfers": transfers}) for transfers in of)
    assert [t.ceiling for t in many.transfers] == pytest.approx([few.transfers[0].ceiling] * 110)
    parted, stations = ordering.by_turn(matrices(many.problem))
    assert parted.capacity.shape[1] == len(stations) == len(parted.total.station)


def test_a_part_has_its_transfers_and_all_stations() -> None:
    whole = Problem("p", (LINK, DRIVE), tuple(transfer(name, 1e3) for name in "abc"))
    some = part(whole, (0, 2))
    assert [t.name for t in some.transfers] == ["a", "c"]
    assert some.stations == whole.stations
    assert part(whole, (0, 1, 2)) is whole


def test_a_link_that_all_together_would_fill_holds_nobody_where_few_meet() -> None:
    """Ten copies to hosts of their own, one every half an hour: two meet, whose drives take less than the link."""
    wan, data = {"rtt": "1 ms", "bandwidth": "8 Gb/s"}, {"files": 1, "size": "800 GB"}
    path = journey(machine(volumes={"/d": volume()}), wan=wan)
    slow = machine(volumes={"/d": volume({"kind": "ssd", "read": "500 MB/s", "write": "250 MB/s"})})
    path["hosts"] |= {f"b{n}": slow for n in range(10)}
    del path["transfer"], path["hosts"]["b"]
    path["transfers"] = [
        {"name": f"t{n}", "from": "a:/d", "to": f"b{n}:/d", "tool": "gridftp", "dataset": data, "start": f"{n / 2} h"}
        for n in range(10)
    ]
    found = answer(path)
    assert [t.bottleneck.station for t in found.transfers] == [f"b{n}.d.ssds" for n in range(10)]
    assert all(t.all_run_Bps < 0.5 * t.ladder[0].throughput_Bps for t in found.transfers)
    used = {u.station.name: u.utilization for u in found.stations}
    assert used["b3.d.ssds"] == pytest.approx(1.0, rel=1e-4)
    assert used["network.wan"] < 0.6


def test_each_connection_keeps_the_changes_that_were_tried_for_it() -> None:
    """Two copies over windows, hours apart: the buffers are as small as the drives behind them need, for both."""
    hosts = {
        name: machine(tcp={}, volumes={"/d": volume({"kind": "ssd", "read": "500 MB/s", "write": "250 MB/s"})})
        for name in ("a", "b", "c")
    }
    path = journey(wan={"rtt": "50 ms", "bandwidth": "100 Gb/s", "loss": 0, "background": {"share": 0}})
    del path["transfer"]
    path["hosts"] = hosts
    one = {"from": "a:/d", "tool": "gridftp", "dataset": {"files": 1, "size": "100 GB"}}
    path["transfers"] = [{**one, "name": "one", "to": "b:/d"}, {**one, "name": "two", "to": "c:/d", "start": "9 h"}]
    found = answer(path)
    for t in found.transfers:
        assert t.bottleneck.kind == "tcp"
        for stations in (found.problem.stations, [u.station for u in found.stations]):
            (held,) = (s for s in stations if s.name == t.bottleneck.station)
            assert held.remedy == t.bottleneck.remedy
