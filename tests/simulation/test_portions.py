"""What workers take: parts of a file without an end, where each byte is waited for."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from dtnsim.ground.records import Transfer
from dtnsim.simulation import simulate
from dtnsim.simulation.portions import work
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
    given = Transfer("t", (), 4.0, 1e9, 1, sizes_B=(float("inf"),), counts=(1,), time_s=10.0)
    taken = list(islice(work(given, pauses=True), 5000))
    assert all(files == 0 for _, files in taken)
    assert max(size for size, _ in taken) <= 1e9 / 4 / 1000
    assert len({size for size, _ in taken[:4]}) == 4  # the workers do not begin in step
    assert next(work(given))[0] > 1e9
