"""Transfers as their tools do them: workers, waits, phases, faults, against closed forms."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dtnsim
from dtnsim.simulation import simulate
from dtnsim.simulation.results import Run
from tests.simulation.slow import FAST, SLOW, make


def once(**changes: Any) -> Run:
    return simulate(make(FAST, **changes)).runs[0]


def stop(at: float, retry: float, station: str = "network.wan") -> dict[str, Any]:
    return {"at": f"{at} s", "station": station, "factor": 1, "retry_after": f"{retry} s"}


def test_a_worker_waits_then_moves_file_after_file() -> None:
    """N files of size s: N (w + s/x), each of them w + s/x."""
    run = once(wan__rtt="0.2 ms", transfer__dataset={"files": 50, "size": "50 GB"}).transfers[0]
    each = run.file_quantiles((0.1, 0.9))
    assert run.duration_s == pytest.approx(50 * each[0], rel=0.01)
    assert each[1] == pytest.approx(each[0], rel=1e-6)
    assert run.waiting_s + run.moving_s == pytest.approx(run.duration_s, rel=1e-9)


@settings(max_examples=10, deadline=None)
@given(at=st.floats(1, 60), retry=st.floats(0, 20))
def test_a_fault_costs_what_had_moved_and_the_wait(at: float, retry: float) -> None:
    quick = once().end_s
    run = once(events=[stop(at, retry)])
    # at the restart connections are open already: their ramp, some milliseconds, is not paid again
    assert run.end_s == pytest.approx(at + retry + quick, abs=0.05)
    assert run.transfers[0].retries == 1
    assert run.transfers[0].payload_B == pytest.approx(100e9)


def test_a_fault_stops_the_transfers_that_use_the_station_and_no_other() -> None:
    path: dict[str, Any] = {k: v for k, v in SLOW.items() if k != "transfer"}
    given_to = {"disk": "b:/data", "memory": "b:memory"}
    path["transfers"] = [{**FAST["transfer"], "name": name, "to": to} for name, to in given_to.items()]
    disk, memory = simulate(make(path, events=[stop(20, 5, "b.data.disks")])).runs[0].transfers
    assert (disk.retries, memory.retries) == (1, 0)


def test_two_faults_begin_the_file_twice() -> None:
    quick = once().end_s
    run = once(events=[stop(10, 1), stop(30, 1)])
    assert run.transfers[0].retries == 2
    assert run.end_s == pytest.approx(31 + quick, abs=0.1)


def test_workers_share_evenly_and_end_together() -> None:
    tool = {"name": "gridftp", "p": 1, "cc": 4}
    run = once(transfer__dataset={"files": 4, "size": "100 GB"}, transfer__tool=tool).transfers[0]
    assert run.file_quantiles((0.0, 1.0)) == pytest.approx([run.duration_s] * 2, rel=1e-6)


def test_phases_of_a_verified_transfer_follow_each_other() -> None:
    task = simulate("venadi/globus-edison").runs[0].transfers[0]
    steady = dtnsim.predict("venadi/globus-edison", samples=0)
    assert [p.name for p in task.phases] == ["transfer", "verification"]
    assert task.duration_s == pytest.approx(sum(p.moving_s + p.waiting_s for p in task.phases), rel=1e-9)
    assert task.duration_s == pytest.approx(steady.duration_s.p50, rel=1e-3)


def test_what_is_under_way_when_time_is_up_is_told() -> None:
    run = simulate(make(FAST), until=10.0).runs[0].transfers[0]
    assert run.moving_s == pytest.approx(10.0, abs=0.1)
    assert 0 < run.payload_B < 100e9
    assert run.files == 0
