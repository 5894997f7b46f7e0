"""Paths in time: agree with the steady answer, conserve bytes, and do what things that happen demand."""

from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from dtnsim.description import spec
from dtnsim.ground.errors import ModelError, SpecError
from dtnsim.simulation import simulate
from dtnsim.steady.durability import drain_rates
from dtnsim.steady.prediction import predict
from tests.each import rows
from tests.lab import journey, rate as predicted_Bps
from tests.simulation.slow import DISKS, HOST, SLOW, make
from tests.strategies import load, paths


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(paths())
def test_a_single_long_transfer_agrees_with_the_steady_answer(path: dict[str, Any]) -> None:
    path["transfer"]["dataset"] = {"files": 1, "size": "50 TB"}  # ramps and caches are small beside it
    if path["transfer"]["tool"]["name"] == "globus":  # chunks have two workers, which meet at what they share
        path["transfer"]["tool"]["chunked"] = False
    run = simulate(load(path)).runs[0].transfers[0]
    assert run.throughput_Bps == pytest.approx(predicted_Bps(path), rel=1e-3)


@pytest.mark.parametrize("rate", ["1 Gb/s", "5 Gb/s", "10 Gb/s"])
def test_workers_that_move_and_verify_chunks_agree_but_for_their_phases(rate: str) -> None:
    """While one verifies the other moves, or both do the same: the closed form has the mean over how they stand."""
    path = load(journey(wan={"bandwidth": rate, "rtt": "0.1 ms"}, tool="globus", dataset={"files": 1, "size": "1 TB"}))
    run = simulate(path).runs[0].transfers[0]
    assert run.throughput_Bps == pytest.approx(predict(path, samples=0).throughput_Bps.p50, rel=0.05)


def drain(path: spec.PathSpec) -> float:
    """Rate at which the disks empty the cache."""
    return float(drain_rates(predict(path, samples=0).problem, [0])[0, 0])


def test_the_cache_fills_then_throttles_then_drains() -> None:
    """In at the network's rate N, from 10 % of memory on out at the disks' D: full after B/N + (C - B)/(N - D)."""
    disk = drain(make(SLOW))
    series = simulate(make(SLOW)).runs[0].series
    network = series.rate_Bps[2, 0]
    cache = series.cached_B.max()
    assert cache == pytest.approx(0.175 * 64 * 2**30, rel=1e-6)  # half way between 15 and 20 % of memory
    full = cache * 4 / 7 / network + cache * 3 / 7 / (network - disk)
    middle = (series.edge_s[1:] + series.edge_s[:-1]) / 2
    assert np.all(series.rate_Bps[(middle > 1) & (middle < full - 1), 0] > 2 * disk)
    late = series.rate_Bps[(middle > full + 1) & (middle < 200), 0]
    # the steady answer has the ramp of the start in it, 2e-5 of this transfer
    assert late == pytest.approx(np.full(len(late), disk), rel=1e-4)


def test_bytes_in_are_bytes_out_and_what_is_cached() -> None:
    series = simulate(make(SLOW)).runs[0].series
    span = np.diff(series.edge_s)
    into, out = np.cumsum(series.rate_Bps[:, 0] * span), np.cumsum(series.medium_Bps[:, 0] * span)
    assert into[-1] == pytest.approx(100e9, rel=1e-9)
    assert into - out == pytest.approx(series.cached_B[:, 0], abs=100.0)  # of 1e11: rounding of the sums


def test_what_held_it_is_told_in_order() -> None:
    found = simulate(make(SLOW))
    held = [h.station for h in found.runs[0].transfers[0].held]
    assert held[-1] == "b.data.disks"
    assert any("tcp" in h or "nic" in h for h in held)
    drawn = predict(make(SLOW)).drawn  # and where it lies among what `predict` draws
    assert drawn is not None
    assert found.among == (np.mean(drawn.rates_Bps < found.runs[0].transfers[0].throughput_Bps),)


def test_a_link_that_drops_and_returns_costs_its_time() -> None:
    quick = simulate(make(SLOW, transfer__to="b:memory")).runs[0].end_s
    down = [{"at": "20 s", "station": "network.wan", "factor": 0, "until": "50 s"}]
    run = simulate(make(SLOW, transfer__to="b:memory", events=down)).runs[0]
    assert run.end_s == pytest.approx(quick + 30, rel=1e-6)
    assert [what for _, what in run.happened] == ["network.wan x 0", "end of: network.wan x 0"]


def test_a_fault_that_aborts_starts_the_file_again() -> None:
    quick = simulate(make(SLOW, transfer__to="b:memory")).runs[0].end_s
    fault = [{"at": "20 s", "station": "network.wan", "factor": 1, "retry_after": "5 s"}]
    run = simulate(make(SLOW, transfer__to="b:memory", events=fault)).runs[0]
    assert run.end_s == pytest.approx(20 + 5 + quick, rel=1e-3)
    assert run.transfers[0].retries == 1


def test_a_drive_that_fails_at_night_slows_the_rest() -> None:
    lost = [{"at": "100 s", "set": {"hosts.b.volumes./data.array.lost": "1"}}]
    before, after = simulate(make(SLOW)).runs[0], simulate(make(SLOW, events=lost)).runs[0]
    degraded = drain(
        make(SLOW, hosts__b__volumes={"/data": {"filesystem": {"kind": "xfs"}, "array": {**DISKS, "lost": 1}}})
    )
    rate = after.series.medium_Bps[(after.series.edge_s[1:] > 110) & (after.series.edge_s[1:] < 150), 0]
    assert rate == pytest.approx(np.full(len(rate), degraded), rel=1e-4)
    assert after.end_s >= before.end_s * (1 - 1e-9)  # the same writes, but for rounding


def test_files_wait_for_their_round_trips() -> None:
    """N files of size s over RTT T with k round trips each: N (k T + s/x)."""
    data = {"files": 100, "size": "1 GB"}
    path = make(SLOW, transfer__to="b:memory", wan__rtt="50 ms", transfer__dataset=data, transfer__tool__fast=True)
    run = simulate(path).runs[0].transfers[0]
    assert run.files == 100
    assert len(run.file_s) == 100
    assert run.throughput_Bps == pytest.approx(predict(path, samples=0).throughput_Bps.p50, rel=5e-3)
    assert run.waiting_s == pytest.approx(100 * 2 * 0.05)  # RETR with STOR, and 226 for each file


@pytest.mark.parametrize("size", ["1 B", "1e15 B"])
def test_extreme_sizes(size: str) -> None:
    run = simulate(
        make(SLOW, transfer__to="b:memory", transfer__dataset={"groups": [{"count": 3, "size": size}]})
    ).runs[0]
    assert run.complete
    assert run.transfers[0].files == 3
    assert np.isfinite(run.end_s)


def test_sizes_far_apart() -> None:
    """A byte, which is nearly the rounding of others, and none at all."""
    groups = [{"count": 3, "size": "1e15 B"}, {"count": 1000, "size": "1 B"}, {"count": 7, "size": "0 B"}]
    run = simulate(make(SLOW, transfer__to="b:memory", transfer__dataset={"groups": groups})).runs[0]
    assert run.transfers[0].files == 1010
    assert run.transfers[0].payload_B == pytest.approx(3e15)


def test_a_million_empty_files_cost_their_round_trips() -> None:
    groups = [{"count": 1_000_000, "size": "0 B"}, {"count": 1, "size": "1 GB"}]
    run = simulate(make(SLOW, transfer__to="b:memory", transfer__dataset={"groups": groups})).runs[0]
    assert run.transfers[0].files == 1_000_001
    # GridFTP without -fast: four round trips of a millisecond each
    assert run.end_s == pytest.approx(4e3, rel=0.02)


def test_nothing_but_empty_files_is_refused_clearly() -> None:
    with pytest.raises(SpecError, match="give sizes above 0 B"):
        make(SLOW, transfer__dataset={"groups": [{"count": 10, "size": "0 B"}]})


def test_a_set_larger_than_the_volume_is_refused() -> None:
    volume = {"/data": {"filesystem": {"kind": "xfs"}, "array": DISKS, "size": "50 GB"}}
    with pytest.raises(SpecError, match=r"will not fit on b:/data \(50 GB\)"):
        simulate(make(SLOW, hosts__b__volumes=volume))


def test_what_never_ends_is_told() -> None:
    with pytest.raises(ModelError, match="comes to a halt"):
        simulate(make(SLOW, events=[{"at": "5 s", "station": "network.wan", "factor": 0}]))
    with pytest.raises(ModelError, match="given up after 50 events"):
        simulate(make(SLOW, transfer__dataset={"files": 1000, "size": "1 GB"}), max_events=50)


def test_until_stops_with_what_was_done() -> None:
    run = simulate(make(SLOW), until=10.0).runs[0]
    assert not run.complete
    assert run.end_s == 10.0


def test_the_same_seed_gives_the_same_runs() -> None:
    others = [{"stations": ["network.wan"], "rate": "0.5 /s", "size": "100 MB"}]
    path = make(SLOW, transfer__dataset={"files": 1, "size": "20 GB"}, others=others)
    a, b, c = (simulate(path, replicas=3, seed=s) for s in (4, 4, 5))
    assert [r.end_s for r in a.runs] == [r.end_s for r in b.runs]
    assert [r.end_s for r in a.runs] != [r.end_s for r in c.runs]


def test_other_peoples_transfers_take_their_share() -> None:
    alone = simulate(make(SLOW, transfer__to="b:memory")).runs[0].end_s
    others = [{"stations": ["network.wan"], "rate": "1 /s", "size": "300 MB", "sigma": 0.5, "weight": 4}]
    assert simulate(make(SLOW, transfer__to="b:memory", others=others)).runs[0].end_s > 1.1 * alone


def test_a_busy_afternoon_slows_what_meets_it() -> None:
    load = {"share": "40 %", "diurnal": "1", "peak_hour": 15}
    day = {**SLOW, "wan": {**SLOW["wan"], "background": load}, "hosts": {"a": HOST, "b": HOST}}
    day["transfer"] = {**SLOW["transfer"], "to": "b:memory", "dataset": {"files": 1, "size": "500 GB"}}
    ends = [simulate(make(day, wan__background={**load, "hour": hour})).runs[0].end_s for hour in (3, 15)]
    assert ends[1] > 2 * ends[0]


@pytest.mark.parametrize(("event", "says"), rows("simulation/tables", "bad_events"))
def test_bad_events(event: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        simulate(make(SLOW, events=[event]))


CROWD: dict[str, Any] = {"stations": ["network.wan"], "rate": "100 ops/s", "size": "1 GB"}


def test_others_that_offer_more_than_a_station_carries_are_refused_or_end_with_the_run() -> None:
    path = make(SLOW, others=[CROWD])
    with pytest.raises(SpecError, match=r"offer network\.wan .* times what it carries"):
        simulate(path)
    run = simulate(path, until=5.0).runs[0]
    assert (run.end_s, run.complete) == (5.0, False)


def test_a_link_that_stays_down_ends_with_the_run() -> None:
    path = make(SLOW, events=[{"at": "10 s", "station": "network.wan", "factor": 0.0}])
    with pytest.raises(ModelError, match="comes to a halt"):
        simulate(path)
    run = simulate(path, until=3600.0).runs[0]
    assert (run.end_s, run.complete) == (3600.0, False)
    assert 0 < run.transfers[0].payload_B < 100e9


EVENTS = [{"at": "30 s", "set": {"wan.loss": "1e-4"}, "until": "60 s"}]


def figures(processes: int | Executor | None) -> list[tuple[float, int]]:
    runs = simulate(make(SLOW, events=EVENTS), replicas=4, seed=3, processes=processes).runs
    return [(r.transfers[0].duration_s, r.events) for r in runs]


@pytest.fixture(scope="module")
def alone() -> list[tuple[float, int]]:
    return figures(1)


@pytest.mark.parametrize("processes", [None, 2])
def test_the_same_in_one_process_and_in_several(alone: list[tuple[float, int]], processes: int | None) -> None:
    assert figures(processes) == alone
    assert len({d for d, _ in alone}) == 4


@pytest.mark.long
@pytest.mark.parametrize("elsewhere", [ThreadPoolExecutor, lambda: ProcessPoolExecutor(2, get_context("spawn"))])
def test_an_executor_makes_them_elsewhere(alone: list[tuple[float, int]], elsewhere: Callable[[], Executor]) -> None:
    with elsewhere() as executor:
        assert figures(executor) == alone


def test_a_cluster_of_dask_makes_them(alone: list[tuple[float, int]]) -> None:
    distributed = pytest.importorskip("dask.distributed", reason="the extra 'dask' is not installed")
    with distributed.Client(processes=False, dashboard_address=None) as client:
        assert figures(client.get_executor()) == alone
