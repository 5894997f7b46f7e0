"""What an access to a volume charges: behind a page cache, in memory, on drives that several transfers share."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, strategies as st

from dtnsim.composition.compose import compose
from dtnsim.composition.residency import Residency
from dtnsim.composition.volumes import EXACT, step
from dtnsim.description.spec import PathSpec
from dtnsim.ground.quantity import Draw
from dtnsim.simulation import simulate
from dtnsim.simulation.scenario import make_scene
from tests.lab import journey, machine, problem, rate, sheet, volume
from tests.strategies import load

HDD: dict[str, Any] = {"kind": "hdd", "rate": "200 MB/s"}
#: without a wait that windows of read-ahead would have to cover
SSD: dict[str, Any] = {"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s", "latency_read": "0 s"}


def path(count: int, drive: dict[str, Any] = HDD) -> PathSpec:
    host = {
        "cpu": {"kind": "cpu", "cores": 8, "clock": "3 GHz"},
        "memory": {"kind": "memory", "channels": 4, "rate": "2400 MT/s", "size": "64 GiB"},
        "volumes": {"/data": {"filesystem": {"kind": "xfs"}, "array": drive}},
    }
    one = {"from": "a:/data", "to": "a:/dev/null", "tool": {"name": "dd", "bs": "1 MiB"}}
    data = {"files": 1, "size": "100 GB"}
    return load({"name": "p", "hosts": {"a": host}, "transfers": [{**one, "dataset": data} for _ in range(count)]})


def seconds_a_byte(transfer: Any, problem: Any) -> dict[str, float]:
    capacity = {s.name: float(s.capacity) for s in problem.stations}
    return {d.station: float(d.per_byte) / capacity[d.station] for d in transfer.phases[0].demands}


@pytest.mark.parametrize("streams", [1, 2, 4])
def test_a_transfer_beside_fewer_costs_what_it_costs_in_a_path_of_fewer(streams: int) -> None:
    scene = make_scene(path(6))
    drives = scene.state(scene.start)[1]
    count: Counter[tuple[str, str]] = Counter()
    for f in range(streams):
        drives.count(f, count, 1)
    alone = compose(path(streams), Draw())
    found = seconds_a_byte(drives.beside_streams(0, count), compose(path(6), Draw()))
    wanted = seconds_a_byte(alone.transfers[0], alone)
    name = next(n for n in wanted if "data" in n)
    assert found[name] == pytest.approx(wanted[name], rel=1e-12)
    assert drives.beside_streams(0, count) is drives.beside_streams(0, count)


def test_flash_minds_no_other_streams() -> None:
    scene = make_scene(path(6, SSD))
    drives = scene.state(scene.start)[1]
    assert drives.shared
    assert drives.beside_streams(0, Counter({("a", "/data"): 1})) is drives.beside_all(0)


def test_many_streams_are_told_apart_by_an_eighth() -> None:
    assert [step(n) for n in range(1, EXACT + 1)] == list(range(1, EXACT + 1))
    for n in range(EXACT, 5000):
        assert step(n) == pytest.approx(n, rel=0.12)
        assert step(n) <= step(n + 1)
    assert len({step(n) for n in range(1, 5000)}) < 50


def test_drives_that_mind_no_others_are_tried_once_for_equal_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = make_scene(path(6, SSD))
    drives = scene.state(scene.start)[1]
    composer, tried = drives._composer, []
    beside = type(composer).beside_streams
    monkeypatch.setattr(type(composer), "beside_streams", lambda self, f, s: (tried.append(f), beside(self, f, s))[1])
    for f in range(6):
        assert drives.beside_streams(f, Counter({("a", "/data"): 2})) is drives.beside_all(f)
    assert tried == [0]


DISKS = {"kind": "ssd", "read": "1 GB/s", "write": "1 GB/s", "link": "10 GB/s", "interference": "0"}
HUGE = {"files": 1, "size": "100 TB"}
PORT = {"kind": "nic", "rate": "10 Gb/s", "mtu": "9000 B"}


@pytest.mark.parametrize("ports", [1, 2, 4])
@pytest.mark.parametrize("kind", ["lustre", "gpfs", "nfs", "xfs"])
def test_storage_nics_carry_equal_parts(kind: str, ports: int) -> None:
    """A volume behind two NICs: half of the bytes each, so twice the rate."""
    names = [f"data{n}" for n in range(ports)]
    disks = {"array": {**DISKS, "read": "1 TB/s", "link": "1 TB/s"}} if kind == "xfs" else {}
    held = volume(filesystem={"kind": kind}, via=names, **disks)
    host = machine(nics={"eth": machine()["nic"], **dict.fromkeys(names, PORT)}, volumes={"/v": held})
    del host["nic"]
    found = sheet(problem(journey(host, start="a:/v", tool="gridftp", dataset=HUGE)))
    wires = [found.rate(f"{name}.port0.rx") for name in names]
    assert len(set(wires)) == 1
    assert wires[0] == pytest.approx(ports * 1.25e9, rel=0.03)


def verified(size: str, write: str = "100 MB/s", memory: str = "8 GB", **tool: Any) -> dict[str, Any]:
    """Files of a gigabyte, verified at 500 MB/s by one worker."""
    drive = {"kind": "ssd", "read": "9 GB/s", "write": "9 GB/s", "link": "16 GB/s"}
    host = machine(
        cpu={"kind": "cpu", "cores": 64, "clock": "2 GHz"},
        vm={"dirty_bytes": memory, "dirty_background_bytes": "10 MB"},
        volumes={"/d": volume({**drive, "write": write})},
    )
    source = machine(cpu=host["cpu"], volumes={"/d": volume(drive)})
    return journey(
        source, host, start="a:/d", to="b:/d", tool={"name": "globus", "cc": 1, **tool}, wan={"bandwidth": "10 Gb/s"},
        dataset={"files": 200, "size": size},
    )  # fmt: skip


@pytest.mark.parametrize("write", ["100 MB/s", "300 MB/s", "2 GB/s"])
def test_predict_says_what_simulate_says(write: str) -> None:
    path = verified("200 GB", write)
    said = rate(path)
    assert simulate(load(path)).runs[0].transfers[0].throughput_Bps == pytest.approx(said, rel=0.015)


def test_no_work_is_lost_and_the_simulation_has_it_once() -> None:
    path = verified("200 GB")
    made = problem(path).transfers[0]
    assert made.buffered is not None
    onto = [sum(d.per_byte for d in p.demands if d.station == "b.d.ssds") for p in (*made.phases, made.buffered)]
    assert sum(onto[:-1]) == pytest.approx(onto[-1], rel=0.05)  # what is still in memory when the tool ends apart
    assert onto[-2] > 0  # while it verifies
    used = simulate(load(path)).runs[0].series.utilization.max()
    assert used <= 1 + 1e-9


def read(memory: Residency, file: str, size: float) -> float:
    hits = memory.read(file, size)
    memory.ended(file)
    return hits


def test_a_file_that_fits_is_read_from_memory_the_second_time() -> None:
    memory = Residency(100.0)
    assert read(memory, "a", 60.0) == 0.0
    assert read(memory, "a", 60.0) == 60.0


def test_a_file_larger_than_memory_never_is() -> None:
    memory = Residency(100.0)
    assert [read(memory, "a", 120.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert memory.resident("a") == 100.0


def test_another_file_drives_it_out_and_used_again_it_stays() -> None:
    memory = Residency(100.0)
    read(memory, "a", 60.0)
    read(memory, "b", 70.0)
    assert memory.resident("a") == 30.0
    memory = Residency(100.0)
    read(memory, "a", 40.0)
    read(memory, "a", 40.0)  # on the active list now
    read(memory, "b", 50.0)
    read(memory, "c", 50.0)
    assert (memory.resident("a"), memory.resident("b"), memory.resident("c")) == (40.0, 10.0, 50.0)


def test_programs_take_memory_from_files_and_dirty_pages_stay() -> None:
    memory = Residency(100.0, lambda file: 45.0 if file == "w" else 0.0)
    memory.write("w", 50.0)
    memory.ended("w")
    memory.hold(80.0)
    assert memory.resident("w") == 45.0
    memory.hold(-80.0)
    assert read(memory, "w", 45.0) == 45.0


def test_what_is_under_way_is_no_hit_yet() -> None:
    memory = Residency(100.0)
    memory.read("a", 60.0)
    assert memory.read("a", 60.0) == 0.0
    memory.ended("a")
    assert memory.read("a", 60.0) == 60.0


@given(
    st.lists(st.tuples(st.sampled_from("rwh"), st.sampled_from("abcd"), st.floats(1.0, 90.0)), max_size=30),
    st.floats(10.0, 200.0),
)
def test_files_never_take_more_than_there_is(events: list[tuple[str, str, float]], room: float) -> None:
    memory = Residency(room)
    for what, file, size in events:
        if what == "h":
            memory.hold(size - memory.held)
        elif what == "r":
            assert 0 <= read(memory, file, size) <= size
        else:
            memory.write(file, size)
            memory.ended(file)
        assert memory.used_B <= max(memory.room, 0.0) + 1e-6


def test_a_file_that_was_driven_out_is_new_when_it_comes_back() -> None:
    """It was on the active list; what reads it again begins on the inactive one, and a later file drives it out."""
    memory = Residency(100.0)
    for _ in range(2):
        read(memory, "a", 40.0)
    memory.hold(100.0)  # a program takes all
    memory.hold(-100.0)
    assert read(memory, "a", 40.0) == 0.0
    read(memory, "b", 50.0)
    read(memory, "c", 50.0)
    assert (memory.resident("a"), memory.resident("b"), memory.resident("c")) == (0.0, 50.0, 50.0)
