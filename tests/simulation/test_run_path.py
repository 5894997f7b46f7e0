"""One run: transfers as their tools do them, what ends it, in order, and what does not let it end."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import dtnsim
from dtnsim.description import spec
from dtnsim.ground.errors import ModelError
from dtnsim.simulation import run_path, simulate, transfer_processes
from dtnsim.simulation.results import Run
from dtnsim.simulation.scenario import make_scene
from dtnsim.steady.prediction import predict
from tests.simulation.slow import FAST, SLOW, make


def run(path: dict[str, Any], limits: run_path.Limits, **changes: Any) -> Any:
    scene = make_scene(make(path, **changes))
    return run_path.run_once(scene, scene.problem, 0, 1, limits)


def test_time_that_does_not_move_on_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(engine: Any, *_others: Any) -> Iterator[Any]:
        while True:
            yield engine.env.timeout(0)

    monkeypatch.setattr(transfer_processes, "run_job", endless)
    monkeypatch.setattr(run_path, "MAX_AT_ONCE", 10_000)
    with pytest.raises(ModelError, match="time does not move on"):
        run(FAST, run_path.Limits())


def test_too_many_events_are_given_up_and_tell_when() -> None:
    with pytest.raises(ModelError, match=r"given up after 30 events at [\d.]+ s"):
        run(FAST, run_path.Limits(max_events=30), transfer__dataset={"files": 100, "size": "10 GB"})


def test_somebody_who_watches_may_end_it_with_what_was_done() -> None:
    told: list[float] = []

    def stop(_now: float, share: float) -> bool:
        told.append(share)
        return share > 0.3

    files = {"files": 20_000, "size": "200 GB"}
    made = run(FAST, run_path.Limits(progress=stop), transfer__dataset=files)
    assert made.interrupted
    assert not made.complete
    assert told == sorted(told)
    assert 0.3 < made.transfers[0].payload_B / 200e9 < 0.9
    assert made.transfers[0].payload_B == pytest.approx(told[-1] * 200e9)


def test_ctrl_c_within_it_ends_it_as_well() -> None:
    def interrupt(_now: float, share: float) -> bool:
        if share > 0.3:
            raise KeyboardInterrupt
        return False

    made = run(FAST, run_path.Limits(progress=interrupt), transfer__dataset={"files": 20_000, "size": "200 GB"})
    assert made.interrupted
    assert made.transfers[0].files > 5000


def test_a_run_of_which_only_quantiles_are_asked_keeps_little() -> None:
    files = {"files": 2000, "size": "20 GB"}
    whole = run(FAST, run_path.Limits(), transfer__dataset=files)
    short = run(FAST, run_path.Limits(whole=False), transfer__dataset=files)
    assert len(short.series.edge_s) == 1
    assert len(short.transfers[0].file_s) <= 256 < len(whole.transfers[0].file_s)
    assert short.end_s == whole.end_s
    assert short.transfers[0].file_counts.sum() == 2000
    exact, near = (r.transfers[0].file_quantiles((0.1, 0.5, 0.9)) for r in (whole, short))
    assert near == pytest.approx(exact, rel=0.02)


def test_flows_that_have_only_just_begun_do_not_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """All workers begin files at one instant, again and again: looked at in the middle of it, none has a rate yet."""
    monkeypatch.setattr(run_path, "_TELL_EVERY", 1)
    files = {"files": 400, "size": "4 GB"}
    made = run(FAST, run_path.Limits(), transfer__dataset=files, transfer__tool={"name": "gridftp", "p": 1, "cc": 100})
    assert made.transfers[0].files == 400


def test_at_its_time_it_ends_between_two_events() -> None:
    made = run(SLOW, run_path.Limits(until=math.pi))
    assert made.end_s == math.pi
    assert made.series.edge_s[-1] == math.pi
    assert made.transfers[0].payload_B > 0
    assert math.isnan(made.transfers[0].finished_s)


def test_the_last_wait_of_a_transfer_is_no_halt() -> None:
    """128 workers wait for each request of 4 KiB: their bytes are there before the last answer is."""
    path = spec.load(
        "examples/vast-400g", {"transfer.dataset": "{files: 32, size: 40 GB}", "transfer.tool.bs": "4 KiB"}
    )
    took = simulate(path).runs[0].transfers[0].duration_s
    assert took == pytest.approx(predict(path, samples=0).transfers[0].duration_s.p50, rel=0.02)


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


@settings(max_examples=10)
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
