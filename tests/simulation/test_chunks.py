"""What workers take: parts of a file without an end, where each byte is waited for."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtnsim.ground.records import Transfer
from dtnsim.simulation import simulate
from dtnsim.simulation.chunks import turns, work
from dtnsim.steady.prediction import predict
from tests.lab import machine, volume
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


@pytest.mark.parametrize(
    ("path", "near"),
    [
        (fio(SSD, "xfs", rw="randread", bs="4 KiB", direct=1), 1e-3),
        (fio(SSD, "xfs", rw="randread", bs="4 KiB", direct=1, numjobs=8), 0.05),  # queues, and waits in between
        (fio(ZFS, "zfs", rw="randwrite", bs="64 KiB"), 1e-3),  # reads each record while the pool takes what was written
    ],
)
def test_a_timed_test_whose_requests_are_waited_for(path: dict[str, Any], near: float) -> None:
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
NVME = {"kind": "ssd", "read": "6.8 GB/s", "write": "5.3 GB/s", "latency_write": "15 us"}


@pytest.mark.parametrize(
    "path",
    [
        fio({"kind": "raid", "level": 10, "disks": 8, "of": NVME}, "xfs", rw="write", bs="1 MiB", direct=1, numjobs=8),
        fio(
            {"kind": "raid", "level": 6, "disks": 10, "of": HDD},
            "xfs",
            rw="randwrite",
            bs="64 KiB",
            direct=1,
            numjobs=4,
        ),
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
