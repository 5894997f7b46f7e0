"""What workers take, and when: files, batches, parts that threads share, parts of files without an end."""

from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, strategies as st

import dtnsim
from dtnsim.ground.records import Phase, Transfer
from dtnsim.simulation import chunks, simulate
from dtnsim.simulation.chunks import MAX_FILES, steps, turns, work
from dtnsim.steady.prediction import predict
from dtnsim.steady.stages import visit_B
from tests.each import cases, rows
from tests.lab import journey, machine, volume
from tests.simulation.slow import FAST, make
from tests.strategies import load

SSD = {"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s"}
ZFS = {"kind": "raidz", "level": 2, "disks": 10, "of": {"kind": "ssd", "read": "3500 MB/s", "write": "450 MB/s"}}


def fio(array: dict[str, Any], filesystem: str, **options: object) -> dict[str, Any]:
    reads = "read" in str(options["rw"])
    ends = {"from": "n:/d", "to": "n:memory"} if reads else {"from": "n:memory", "to": "n:/d"}
    host = machine(volumes={"/d": volume(array, filesystem)}, vm={})
    return {
        "name": "t",
        "hosts": {"n": host},
        "transfer": {**ends, "tool": {"name": "fio", "runtime": "20 s", **options}},
    }


@cases("array, filesystem, options, near", rows("simulation/tables", "timed_tests_whose_requests_are_waited_for"))
def test_a_timed_test_whose_requests_are_waited_for(
    array: str, filesystem: str, options: dict[str, Any], near: float
) -> None:
    path = fio({"SSD": SSD, "ZFS": ZFS}[array], filesystem, **options)
    said = predict(load(path), samples=0).throughput_Bps.p50
    assert simulate(load(path)).runs[0].transfers[0].throughput_Bps == pytest.approx(said, rel=near)


def test_parts_are_small_and_no_end_comes() -> None:
    endless = Transfer("t", (), 4.0, 1e9, 1, sizes_B=(float("inf"),), counts=(1,), time_s=10.0)
    taken = list(islice(work(endless, pauses=True), 5000))
    assert all(files == 0 for _, files in taken)
    assert max(size for size, _ in taken) <= 1e9 / 4 / 1000
    assert len({size for size, _ in taken[:4]}) == 4  # the workers do not begin in step
    assert next(work(endless))[0] > 1e9


HDD = {"kind": "hdd", "rate": "250 MB/s", "write_cache": "none"}
SIX = {"kind": "raid", "level": 6, "disks": 10, "of": HDD}
NVME = {"kind": "ssd", "read": "6.8 GB/s", "write": "5.3 GB/s", "latency_write": "15 us"}


@pytest.mark.parametrize(
    "path",
    [
        fio({"kind": "raid", "level": 10, "disks": 8, "of": NVME}, "xfs", rw="write", bs="1 MiB", direct=1, numjobs=8),
        fio(SIX, "xfs", rw="randwrite", bs="64 KiB", direct=1, numjobs=4),
    ],
)
def test_jobs_whose_requests_are_waited_for_do_not_wait_in_step(path: dict[str, Any]) -> None:
    """While requests of some jobs are waited for, those of others are at the drives: no wait for all of them first."""
    del path["transfer"]["tool"]["runtime"]
    path["transfer"]["dataset"] = {"files": path["transfer"]["tool"]["numjobs"], "size": "200 GB"}
    made = load(path)
    (run,) = simulate(made).runs[0].transfers
    assert run.duration_s == pytest.approx(predict(made, samples=0).transfers[0].duration_s.p50, rel=0.01)


def test_jobs_that_mostly_wait_are_held_by_that() -> None:
    quick = {**NVME, "iops_write": "800k IOPS"}
    path = fio(quick, "xfs", rw="randwrite", bs="4 KiB", direct=1, numjobs=2)
    del path["transfer"]["tool"]["runtime"]
    path["transfer"]["dataset"] = {"files": 2, "size": "50 GB"}
    made = load(path)
    (run,) = simulate(made).runs[0].transfers
    assert predict(made, samples=0).bottleneck.station == "transfer.workers"
    assert sum(h.end_s - h.start_s for h in run.held if h.station == "waiting") > 0.9 * run.duration_s


@given(workers=st.integers(1, 64), size=st.floats(1.0, 1e12), files=st.integers(1, 500))
def test_turns_are_the_whole_file(workers: int, size: float, files: int) -> None:
    moved = Transfer("t", (), float(workers), size * files, files, sizes_B=(size,), counts=(files,))
    made = [turns(moved, size, n) for n in range(workers)]
    assert all(sum(parts) == pytest.approx(size) and min(parts) > 0 for parts in made)
    assert len({parts[0] for parts in made}) in (1, workers)
    assert all(len(parts) == 1 for parts in made) or workers > 1


SIZES = st.lists(st.tuples(st.floats(0, 1e12), st.integers(1, 3 * MAX_FILES)), min_size=1, max_size=4)


def transfer(sizes: list[tuple[float, int]], workers: float = 1.0) -> Transfer:
    payload, files = sum(s * n for s, n in sizes), sum(n for _, n in sizes)
    return Transfer(
        "t", (Phase("move", ()),), workers, payload, files,
        sizes_B=tuple(s for s, _ in sizes), counts=tuple(n for _, n in sizes),
    )  # fmt: skip


@given(SIZES)
def test_every_file_and_byte_comes_once(sizes: list[tuple[float, int]]) -> None:
    given_to = transfer(sizes)
    taken = list(steps(given_to))
    assert sum(n for _, n in taken) == given_to.files
    assert sum(b for b, _ in taken) == pytest.approx(given_to.payload_B, rel=1e-9)
    assert all(n == 1 for _, n in taken) or given_to.files > MAX_FILES


def test_a_billion_equal_files_are_few_batches_small_at_both_ends() -> None:
    taken = [n for _, n in steps(transfer([(1e6, 10**9)]))]
    assert len(taken) < 10_000
    assert taken[0] == taken[-1] == 1
    assert max(taken) < 10**9 / 100


@pytest.mark.parametrize("workers", [1, 64])
def test_what_all_workers_have_under_way_is_a_small_part_of_what_is_left(workers: int) -> None:
    """Files and bytes: else the last to end would be waited for by all others."""
    sizes = [(10.0**k, 10 ** (9 - k) + 1) for k in range(1, 9)]
    given_to = transfer(sizes, float(workers))
    files, left = given_to.files, given_to.payload_B
    for size, count in steps(given_to):
        assert count == 1 or count * workers <= files / 16
        assert count == 1 or size * workers <= left / 16 * (1 + 1e-6)
        files, left = files - count, left - size
    assert files == 0


@pytest.mark.parametrize("sigma", [0, 2])
def test_batches_take_as_long_as_files_one_by_one(monkeypatch: pytest.MonkeyPatch, sigma: float) -> None:
    """As many workers as there are, and sizes of a heavy tail; equal files also as long as the steady answer says."""
    files = {"files": 3000, "median": "2 MiB", "sigma": sigma}
    path = make(FAST, transfer__dataset=files, transfer__tool={"name": "gridftp", "p": 2, "cc": 50})
    single = dtnsim.simulate(path).runs[0]
    monkeypatch.setattr(chunks, "MAX_FILES", 100)
    batched = dtnsim.simulate(path).runs[0]
    assert batched.end_s == pytest.approx(single.end_s, rel=0.03 if sigma else 0.01)
    if not sigma:
        assert single.end_s == pytest.approx(dtnsim.predict(path, samples=0).duration_s.p50, rel=0.02)


@pytest.mark.parametrize(("size", "files"), [(4.7e10, 1200), (1.8e9, 3), (2.2e9, 100)])
def test_files_are_cut_as_their_workers_take_them_and_very_many_parts_are_larger_in_between(
    size: float, files: int
) -> None:
    """Equal parts of 500 MB at most that are verified one by one; none is larger than a 20,000th of all."""
    steps_of = (Phase("move", (), step="move"), Phase("verify", (), step="verify"))
    given_to = replace(transfer([(size, files)], 4.0), phases=steps_of, piece_B=5e8)
    taken = list(steps(given_to))
    assert sum(n for _, n in taken) == files
    assert sum(b for b, _ in taken) == pytest.approx(given_to.payload_B, rel=1e-9)
    assert [taken[0][0], taken[-1][0]] == pytest.approx([visit_B(given_to)] * 2, rel=0.02)
    assert max(b for b, _ in taken) <= max(5e8, given_to.payload_B / MAX_FILES)
    assert len(taken) <= 1.2 * MAX_FILES


@given(st.integers(1, 3), st.integers(4, 64), st.floats(1, 1e12))
def test_threads_share_files_when_there_are_fewer(files: int, threads: int, size: float) -> None:
    taken = list(steps(transfer([(size, files)], float(threads))))
    assert sum(n for _, n in taken) == files
    assert sum(b for b, _ in taken) == pytest.approx(size * files, rel=1e-9)
    assert len(taken) >= threads
    assert min(b for b, _ in taken) > 0


def test_seekers_of_one_file_nearly_reach_the_asymptote() -> None:
    """Five of bonnie++'s threads overlap their waiting: below the bound of N S / (S + Z) and 1 / S, but near it."""
    seeks = dtnsim.simulate("venadi/bonnie-seeks").runs[0].transfers[0]
    bound = dtnsim.predict("venadi/bonnie-seeks", samples=0).throughput_Bps.p50
    assert 0.85 * bound < seeks.throughput_Bps <= bound
    # the part of the file that is taken last ends within a part of the others
    assert seeks.file_s.tolist() == [pytest.approx(seeks.duration_s, rel=1 / 32)]


@pytest.mark.parametrize(
    "tool",
    [{"name": "mscp"}, {"name": "wdt", "num_ports": 8}, {"name": "globus", "verify": False, "concurrency": 4}],
    ids=lambda tool: str(tool["name"]),
)
def test_workers_who_share_a_file_wait_for_it_side_by_side_and_open_their_connections_at_once(
    tool: dict[str, Any],
) -> None:
    """Over 30 ms: each has a file's round trips to wait for, nobody those of all, and nobody slow start alone."""
    wan = {"bandwidth": "10 Gb/s", "rtt": "30 ms", "loss": 0}
    spec = load(journey(machine(), machine(), wan=wan, tool=tool, dataset={"files": 1, "size": "2 GB"}))
    said = predict(spec, samples=0).transfers[0].duration_s.p50
    assert simulate(spec).runs[0].transfers[0].duration_s == pytest.approx(said, rel=0.01)
