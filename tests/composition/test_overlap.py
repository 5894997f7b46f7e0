"""The medium behind a page cache works while the writer verifies what it has written."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.simulation import simulate
from tests.lab import answer, journey, machine, problem, volume
from tests.strategies import load


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
    said = answer(path).throughput_Bps.p50
    assert simulate(load(path)).runs[0].transfers[0].throughput_Bps == pytest.approx(said, rel=0.015)


def test_a_slow_drive_is_never_idle_where_memory_holds_a_file() -> None:
    found = answer(verified("200 GB")).throughput_Bps.p50
    assert found == pytest.approx(200e9 / (194e9 / 100e6), rel=0.01)  # 6 GB of the last files are in memory at the end
    assert found == pytest.approx(answer(verified("200 GB", verify=False)).throughput_Bps.p50, rel=0.01)
    assert answer(verified("200 GB", memory="20 MB")).throughput_Bps.p50 < 0.95 * found


def test_no_work_is_lost_and_the_simulation_has_it_once() -> None:
    path = verified("200 GB")
    made = problem(path).transfers[0]
    assert made.buffered is not None
    onto = [sum(d.per_byte for d in p.demands if d.station == "b.d.ssds") for p in (*made.phases, made.buffered)]
    assert sum(onto[:-1]) == pytest.approx(onto[-1], rel=0.05)  # what is still in memory when the tool ends apart
    assert onto[-2] > 0  # while it verifies
    used = simulate(load(path)).runs[0].series.utilization.max()
    assert used <= 1 + 1e-9
