"""Composition: transfers meet on what they share, waiting is counted; rounds of files that are not full."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from dtnsim.composition.compose import compose
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Problem
from dtnsim.simulation import simulate
from tests.each import cases, named
from tests.lab import FREE, answer, expect, journey, machine, of_path, problem, rate, sheet, volume
from tests.strategies import load, paths

SSD = {"kind": "ssd", "read": "800 MB/s", "write": "400 MB/s", "link": "1 GB/s"}
HUGE = {"files": 1, "size": "1000 PB"}


def disks(array: dict[str, Any] | None = None, filesystem: Any = None, **more: Any) -> dict[str, Any]:
    return machine(volumes={"/d": volume(array or SSD, filesystem or {"kind": "xfs", "op_time": "0 s"})}, **more)


def between(tool: Any = "gridftp", **more: Any) -> dict[str, Any]:
    given = {"start": "a:/d", "to": "b:/d", "dataset": HUGE, **more}
    return journey(disks(), disks(), tool=tool, **given)


def waits(made: Problem, what: str, number: int = 0) -> float:
    """Seconds per byte of one kind of waiting, whatever goes on meanwhile."""
    given = made.transfers[number]
    phases = given.phases if given.buffered is None else (given.buffered,)
    found = [d for p in phases for d in p.delays if d.what.startswith(what)]
    return float(sum(np.ravel(d.per_byte)[0] for d in found))


PATHS = {
    key: row for key, row in named("composition/paths").items() if key.split(":")[0] not in ("connections", "ends")
}


@cases("given, figures", PATHS)
def test_what_a_path_gives(given: dict[str, Any], figures: dict[str, Any]) -> None:
    made = []
    for host in ("a", "b"):
        changes = dict(given.get(host, {}))
        costs = {"stack": {**FREE, **changes.pop("costs")}} if "costs" in changes else {}
        made.append(machine(**changes, **costs))
    path = journey(*made, **{key: value for key, value in given.items() if key not in ("a", "b", "also")})
    if "also" in given:
        path["transfer"] |= given["also"]
    expect(of_path(path), figures)


def test_everything_on_the_way_is_charged_once() -> None:
    found = sheet(problem(between()))
    for station in ("a.d.ssds", "a.d.links", "a.memory", "a.nic.port0.tx", "network.wan", "b.nic.port0.rx", "b.d.ssds"):
        assert found.demand(station) > 0, station
    assert [found.demand("a.d.ssds"), found.demand("b.d.ssds")] == pytest.approx([1.0, 1.0], rel=1e-5)
    assert found.bound == pytest.approx(400e6, rel=1e-5)  # but for what is left in memory at the end


@pytest.mark.parametrize(
    ("end", "there"), [("b:/dev/null", False), ("b:memory", False), ("b:/dev/shm/x", False), ("b:/d/x", True)]
)
def test_devices_have_no_medium(end: str, there: bool) -> None:
    path = between(to=end)
    if end == "b:/dev/shm/x":
        with pytest.raises(SpecError, match="has no volume"):
            problem(path)
        return
    assert sheet(problem(path)).has("b.d.ssds") is there


def test_a_transfer_runs_on_the_core_it_is_placed_on() -> None:
    stack = {**FREE, "send_byte": "1 cycles/B"}
    transfers = [
        {"name": f"t{core}", "from": "a:memory", "to": "b:memory", "tool": "iperf3", "core": core} for core in (0, 1)
    ]
    path = journey(machine(stack=stack, placement={"application": [2, 7]}), transfers=transfers)
    found = problem(path)
    assert sheet(found, 0).demand("a.cpu.core2") == pytest.approx(1.0)
    assert sheet(found, 1).demand("a.cpu.core7") == pytest.approx(1.0)
    apart = rate(path)
    for transfer in transfers:
        transfer["core"] = 0
    assert rate(journey(machine(stack=stack, placement={"application": [2, 7]}), transfers=transfers)) == pytest.approx(
        apart / 2
    )


def test_control_round_trips_of_small_files() -> None:
    """N k T / V seconds a byte: 1000 files, two round trips of 50 ms each with -fast."""
    path = between({"name": "gridftp", "fast": True}, wan={"bandwidth": "10 Gb/s", "rtt": "50 ms"},
                   dataset={"files": 1000, "size": "1 GB"})  # fmt: skip
    assert waits(problem(path), "control") == pytest.approx(1000 * 2 * 50e-3 / 1e9)


def test_directories_cost_their_creation() -> None:
    filesystem = {"kind": "xfs", "op_time": "1 ms"}
    path = journey(disks(), disks(filesystem=filesystem), start="a:/d", to="b:/d", tool="gridftp",
                   dataset={"files": 100, "size": "1 GB", "directories": 50})  # fmt: skip
    without = {**path, "transfer": {**path["transfer"], "dataset": {"files": 100, "size": "1 GB"}}}
    more = waits(problem(path), "file operations") - waits(problem(without), "file operations")
    assert more == pytest.approx(50 * 1e-3 / 1e9)


@pytest.mark.parametrize(("size", "names"), [("100 TB", ["copy: cached", "copy: throttled"]), ("1 GB", ["copy"])])
def test_stretches_of_the_cache_become_phases(size: str, names: list[str]) -> None:
    tool, data = {"name": "dd", "bs": "1 MiB"}, {"files": 1, "size": size}
    made = problem(journey(disks(vm={}), start="a:/dev/zero", to="a:/d", tool=tool, dataset=data))
    assert [p.name for p in made.transfers[0].phases] == names


def test_slow_start_is_no_part_of_the_rate_at_which_a_cache_fills() -> None:
    """4 GB over 10 Gb/s and 100 ms to a drive of 1 GB/s: memory has room for the 0.8 GB that the link is ahead."""

    def to(write: str) -> dict[str, Any]:
        vm = {"dirty_bytes": "2 GB", "dirty_background_bytes": "10 MB"}
        host = disks({**SSD, "write": write, "link": "9 GB/s"}, vm=vm)
        wan = {"bandwidth": "10 Gb/s", "rtt": "100 ms"}
        return journey(disks(), host, to="b:/d", tool="curl", wan=wan, dataset={"files": 1, "size": "4 GB"})

    assert rate(to("1 GB/s")) == pytest.approx(rate(to("9 GB/s")), rel=1e-3)


def test_zeros_are_known_as_zeros() -> None:
    drive = {**SSD, "compresses": True}
    tool = {"name": "dd", "bs": "1 MiB", "oflag": "direct"}
    zeros, bytes_ = (
        sheet(problem(journey(disks(drive), start=f"a:/dev/{d}", to="a:/d", tool=tool))).rate("a.d.ssds")
        for d in ("zero", "urandom")
    )
    assert zeros > 2 * bytes_


def test_one_file_of_100_gb_where_no_data_set_is_given() -> None:
    path = between()
    del path["transfer"]["dataset"]
    assert (problem(path).transfers[0].files, problem(path).transfers[0].payload_B) == (1, 100e9)


@pytest.mark.parametrize("tool", [{"name": "dd", "bs": "1 MiB"}, {"name": "cp"}, "gridftp"])
def test_a_network_that_others_fill_stops_everything_on_it_and_nothing_else(tool: Any) -> None:
    """A mount over a dead network: no rate, and no nan on the way to it; a transfer on local drives goes on."""
    client = machine(volumes={"/n": volume(filesystem="nfs", server="b:/d"), "/d": volume(SSD)})
    transfers = [
        {"name": "dead", "from": "a:/n", "to": "a:/d", "tool": tool},
        {"name": "alive", "from": "a:memory", "to": "a:/d", "tool": {"name": "dd", "bs": "1 MiB"}},
    ]
    wan = {"bandwidth": "1 Gb/s", "rtt": "1 ms", "background": {"share": {"value": "99.9 %", "spread": 0}}}
    path = journey(client, disks(), wan=wan, transfers=transfers)
    dead, alive = answer(path, samples=4).transfers
    assert dead.throughput_Bps.p90 < 1e6
    assert alive.throughput_Bps.p10 > 0


def test_nothing_to_move_is_an_error() -> None:
    """Between two programs of one host iperf3 has the loopback; a copy within one has nothing to do."""
    with pytest.raises(SpecError, match="nothing to transfer"):
        problem(journey(start="a:memory", to="a:memory", tool="cp"))


def test_the_warnings_of_a_tool_are_passed_on_with_the_name_of_the_transfer() -> None:
    path = journey(tool={"name": "iperf3", "R": True})
    path["transfer"]["name"] = "reverse"
    (warning,) = (w for w in problem(path).warnings if "no slot" not in w)
    assert warning.startswith("reverse: iperf3 -R")


@settings(max_examples=6)
@given(paths())
def test_a_problem_has_only_finite_demands_and_known_stations(path: dict[str, Any]) -> None:
    for draw in (Draw(), Draw(8)):
        made = compose(load(path), draw)
        names = {s.name for s in made.stations}
        assert len(names) == len(made.stations)
        for transfer in made.transfers:
            for phase in transfer.phases:
                for demand in phase.demands:
                    assert demand.station in names
                    assert np.all(np.isfinite(demand.per_byte))
                    assert np.all(np.asarray(demand.per_byte) >= 0)
                assert all(
                    np.all(np.isfinite(d.per_byte)) and np.all(np.asarray(d.per_byte) > -1e-18) for d in phase.delays
                )
        for station in made.stations:
            assert np.all(np.asarray(station.capacity) > 0), station.name
            assert station.formula or draw.many, station.name  # scenarios are numbers alone


@pytest.mark.long
@settings(max_examples=10)
@given(paths())
def test_scenarios_surround_the_nominal_one(path: dict[str, Any]) -> None:
    """Medians of the draws are the nominal values: capacities scatter around them."""
    spec = load(path)
    nominal, drawn = compose(spec, Draw()), compose(spec, Draw(64))
    assert [s.name for s in nominal.stations] == [s.name for s in drawn.stations]
    for a, b in zip(nominal.stations, drawn.stations, strict=True):
        if np.size(b.capacity) > 1 and a.unit == "B" and a.kind in ("ssd", "hdd", "nic", "network", "pcie", "memory"):
            assert 0.5 < float(np.median(b.capacity)) / float(np.ravel(a.capacity)[0]) < 2.0


def test_a_round_that_is_not_full_is_counted_once():
    """Fifty files on four workers take as many rounds as fifty-two: thirteen."""
    tool, wan = {"name": "rclone", "backend": "sftp", "transfers": 4}, {"bandwidth": "1 Gb/s", "rtt": "50 ms"}
    paths = [journey(tool=tool, dataset={"files": files, "each": "10 kB"}, wan=wan) for files in (48, 50, 52)]
    full, begun, whole = (answer(path).duration_s.p50 for path in paths)
    assert full < begun
    assert begun == pytest.approx(whole, rel=0.005)  # connections are shared out as before


def test_what_a_worker_waits_for_passes_while_the_medium_works() -> None:
    """Files of 10 MB with a pause each onto a slow drive: the drive has all of the time, not what the pauses leave."""

    def to(write: str, memory: str) -> float:
        fast = {"kind": "ssd", "read": "9 GB/s", "write": "9 GB/s", "link": "16 GB/s"}
        vm = {"dirty_bytes": memory, "dirty_background_bytes": "0 B"}
        ends = (machine(vm=vm, volumes={"/d": volume({**fast, "write": w})}) for w in ("9 GB/s", write))
        wan = {"bandwidth": "10 Gb/s", "rtt": "20 ms"}
        path = journey(*ends, start="a:/d", to="b:/d", tool="scp", dataset={"files": 1000, "size": "10 GB"}, wan=wan)
        said = rate(path)
        assert simulate(load(path)).runs[0].transfers[0].throughput_Bps == pytest.approx(said, rel=0.01)
        return said

    assert to("50 MB/s", "100 MB") == pytest.approx(50e6, rel=0.01)
    small = 10e6 / (10e6 / 50e6 + 40e-3 - 0.75 * 1e6 / 50e6)  # the set point is at three quarters of the limit
    assert to("50 MB/s", "1 MB") == pytest.approx(small, rel=0.01)
    assert to("9 GB/s", "100 MB") == pytest.approx(10e6 / (10e6 / 105e6 + 40e-3), rel=0.01)  # 2 MiB a round trip
