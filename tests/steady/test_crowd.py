"""Alike transfers that wait and share a station: one closed network of all their workers, in both commands."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.ground.records import Demand, Phase, Problem, Station, Transfer
from dtnsim.physics.waiting import cycle_time
from dtnsim.simulation import simulate
from dtnsim.steady import solve
from dtnsim.steady.prediction import predict
from tests.lab import journey, machine, volume
from tests.strategies import load


def rates(count: int, wait_s: float, disk: float, *, turns: bool = False, spread: float = 0.0) -> Any:
    """Rates of transfers of one worker that waits for each byte, and then has it from a disk that all share [B/s]."""
    made = []
    for n in range(count):
        waits = (Demand("w", wait_s * (1 + spread * n), "pause", "", "", "file"),)
        phase = Phase("p", (Demand("disk", 1.0, "read", "", ""),), waits, "p")
        made.append(Transfer(f"t{n}", (phase,), 1.0, 1e9, 1000, turn=n if turns else 0))
    station = Station("disk", "disk", "h", "hdd", disk, "B", "", "")
    return solve.solve(solve.matrices(Problem("t", (station,), tuple(made)))).rate[0]


def test_one_alone_and_those_that_never_meet_wait_for_nobody() -> None:
    assert rates(1, 3.0, 1.0)[0] == pytest.approx(1 / 4)
    assert rates(4, 3.0, 1.0, turns=True) == pytest.approx(1 / 4)


def test_two_that_wait_as_long_as_they_read() -> None:
    """Machine repair with two machines: utilisation 1 - p0 = 4/5 for wait and service alike (Reiser and Lavenberg)."""
    assert rates(2, 1.0, 1.0).sum() == pytest.approx(4 / 5)


@given(count=st.integers(2, 12), wait=st.floats(0.0, 50.0), disk=st.floats(0.1, 10.0))
@settings(max_examples=30)
def test_no_more_than_the_disk_and_no_more_than_alone(count: int, wait: float, disk: float) -> None:
    found = rates(count, wait, disk)
    assert found.sum() <= disk * (1 + 1e-9)
    assert found.max() <= rates(1, wait, disk)[0] * (1 + 1e-9)
    if wait > 0:
        assert found[0] == pytest.approx(1 / (count * float(cycle_time(count, wait, 1 / disk, 1 / disk))), rel=0.0021)


def test_unlike_ones_are_left_to_the_capacity_of_the_disk() -> None:
    assert rates(2, 1.0, 1.0, spread=0.5) == pytest.approx([1 / 2, 1 / 2.5])


def test_simulate_says_the_same_of_four_copies_of_small_files() -> None:
    disk = {"kind": "ssd", "read": "50 MB/s", "write": "9 GB/s", "link": "16 GB/s"}
    host = machine(volumes={"/d": volume(disk)})
    path = journey(host, host, start="a:/d", to="b:/d", tool="scp", wan={"bandwidth": "10 Gb/s", "rtt": "4 ms"})
    one = {**path.pop("transfer"), "dataset": {"files": 1000, "size": "200 MB"}}
    spec = load({**path, "transfers": [{**one, "name": f"t{n}"} for n in range(4)]})
    said = np.mean([t.throughput_Bps.p50 for t in predict(spec, samples=0).transfers])
    assert np.mean([t.throughput_Bps for t in simulate(spec).runs[0].transfers]) == pytest.approx(said, rel=0.03)
