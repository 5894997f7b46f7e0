"""What is kept of a run: means over bins that add up, and what held the transfers when."""

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import simpy
from hypothesis import given, strategies as st

from dtnsim.composition.compose import compose
from dtnsim.description import spec
from dtnsim.engine.engine import Engine
from dtnsim.ground.quantity import Draw
from dtnsim.simulation import record, simulate
from dtnsim.simulation.jobs import legs_of, station_capacities
from dtnsim.simulation.results import Durations, Held, Run, joined, quantiles
from dtnsim.steady.prediction import predict
from tests.each import rows
from tests.simulation.slow import FAST, SLOW, make

PATHS = Path(spec.__file__).parents[2] / "models" / "paths"
#: a third of the shipped examples
EXAMPLES = [f"examples/{p.stem}" for p in sorted(PATHS.glob("examples/*.yaml"))][2::3]


def once(path: dict[str, Any], **changes: Any) -> Run:
    return simulate(make(path, **changes)).runs[0]


def test_bins_are_of_one_width_and_end_with_the_run() -> None:
    run = once(SLOW)
    width = np.diff(run.series.edge_s)
    assert len(width) <= record.BINS + 1
    assert run.series.edge_s[0] == 0.0
    assert run.series.edge_s[-1] == pytest.approx(run.end_s, rel=1e-9)
    assert width[:-1] == pytest.approx(np.full(len(width) - 1, width[0]))
    assert 0 < width[-1] <= width[0] * (1 + 1e-6)


@pytest.mark.parametrize("path", [SLOW, FAST])
def test_no_station_does_more_than_it_can(path: dict[str, Any]) -> None:
    """The last bin as well, that is where a run ends within rounding of an edge."""
    for size in ("100 GB", "1 GB", "7.3 GB"):
        series = once(path, transfer__dataset={"files": 1, "size": size}).series
        assert series.utilization.max() <= 1 + 1e-9
        assert series.utilization.min() >= 0


def test_work_done_is_demand_times_bytes_however_often_bins_were_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Utilization law: the integral of U C over time is V D, whatever the bins."""
    whole = once(FAST)
    monkeypatch.setattr(record, "BINS", 8)
    few = once(FAST)
    assert len(few.series.edge_s) <= 10
    for k, name in enumerate(whole.stations):
        integrals = [float(np.diff(r.series.edge_s) @ r.series.utilization[:, k]) for r in (whole, few)]
        assert integrals[1] == pytest.approx(integrals[0], rel=1e-9), name
    assert np.diff(few.series.edge_s) @ few.series.rate_Bps[:, 0] == pytest.approx(100e9, rel=1e-9)


def test_a_station_at_zero_where_somebody_waits_is_full() -> None:
    down = [{"at": "20 s", "station": "network.wan", "factor": 0, "until": "50 s"}]
    run = once(FAST, events=down)
    wan = run.series.utilization[:, run.stations.index("network.wan")]
    middle = (run.series.edge_s[1:] + run.series.edge_s[:-1]) / 2
    assert wan[(middle > 21) & (middle < 49)] == pytest.approx(1.0)
    assert any(h.station == "network.wan" and h.end_s - h.start_s == pytest.approx(30, rel=0.01)
               for h in run.transfers[0].held)  # fmt: skip


def test_stretches_cover_the_whole_transfer_without_a_gap() -> None:
    held = once(SLOW).transfers[0].held
    assert [h.start_s for h in held] == [0.0, *(h.end_s for h in held[:-1])]
    assert all(a.station != b.station for a, b in pairwise(held))


def test_a_connection_that_opens_up_is_named_so() -> None:
    run = once(FAST, wan__rtt="100 ms", transfer__dataset={"files": 1, "size": "20 GB"})
    first = next(h for h in run.transfers[0].held if h.station != "waiting")  # for the first commands
    assert first.station == "slow start"
    # ten segments grow to 10 Gb/s x 100 ms over four streams in some eleven doublings
    assert 0.5 < first.end_s < 2.5
    rate = run.series.rate_Bps[:, 0]
    grows = run.series.edge_s[1:] < first.end_s
    assert np.all(np.diff(rate[grows]) >= -1e-6 * rate.max())
    assert rate[0] < 0.05 * rate.max()


def test_after_many_instants_holds_are_noted_once_a_bin(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"files": 5000, "size": "50 GB"}
    every = once(FAST, wan__rtt="20 ms", transfer__dataset=files).transfers[0].held
    monkeypatch.setattr(record, "NOTES", 10)
    few = once(FAST, wan__rtt="20 ms", transfer__dataset=files).transfers[0].held
    assert max(every, key=lambda h: h.end_s - h.start_s).station == "waiting"
    assert max(few, key=lambda h: h.end_s - h.start_s).station == "waiting"


@pytest.mark.parametrize(
    ("path", "changes"),
    rows("simulation/tables", "what_takes_most_of_the_workers_time_holds_as_in_predict"),
    ids=["sixteen wait nine tenths of the time", "verification takes longer than the copy"],
)
def test_what_takes_most_of_the_workers_time_holds_as_in_predict(path: str, changes: list[str]) -> None:
    """Whichever worker moved gave its own limit, used a tenth of the time; slower checksums are no slow start."""
    given = spec.load(path, changes)
    predicted = predict(given, samples=0).transfers[0].bottleneck
    held = sorted(simulate(given).runs[0].transfers[0].held, key=lambda h: h.end_s - h.start_s)
    assert held[-1].station == ("waiting" if predicted.component == "workers" else predicted.station)
    assert held[-1].end_s - held[-1].start_s > 5 * sum(h.end_s - h.start_s for h in held if h.station == "slow start")


@pytest.mark.parametrize("path", EXAMPLES)
def test_no_station_is_used_more_while_another_is_said_to_hold(path: str) -> None:
    """A table of use that denies what holds: the receiver for all of the time, at a third of what it can."""
    run = simulate(spec.load(path)).runs[0]
    edge, used = run.series.edge_s, np.nan_to_num(run.series.utilization)
    for transfer in run.transfers:
        for name in {h.station for h in transfer.held} & set(run.stations):
            spans = [(h.start_s, h.end_s) for h in transfer.held if h.station == name]
            weight = sum(np.maximum(np.minimum(edge[1:], b) - np.maximum(edge[:-1], a), 0.0) for a, b in spans)
            if weight.sum() > 0.2 * transfer.duration_s:  # of shorter ones the bins are too coarse
                use = weight @ used / weight.sum()
                assert use[list(run.stations).index(name)] > use.max() - 0.05, (transfer.name, name)


def test_only_who_was_stirred_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Holds are those that a look at everybody at every instant finds: others begin, end and lose their link."""
    one = {"from": "a:memory", "to": "b:memory", "tool": {"name": "gridftp", "p": 1}}
    transfers = [
        {**one, "name": f"t{n}", "start": f"{n} s", "dataset": {"files": 1 + n % 3, "size": f"{3 + 5 * n} GB"}}
        for n in range(6)
    ]
    path = {key: value for key, value in FAST.items() if key != "transfer"} | {"transfers": transfers}
    events = [{"at": "5 s", "station": "network.wan", "factor": 0.2, "until": "9 s"}]
    few = [t.held for t in once(path, events=events, wan__rtt="20 ms").transfers]
    note = record.Recorder.note

    def look_at_all(self: record.Recorder, now: float) -> None:
        self._all = True
        note(self, now)

    monkeypatch.setattr(record.Recorder, "note", look_at_all)
    assert few == [t.held for t in once(path, events=events, wan__rtt="20 ms").transfers]
    assert any(len(held) > 3 for held in few)


@pytest.mark.filterwarnings("error")
def test_what_costs_without_end_and_never_moves_takes_nothing() -> None:
    """A thread at no speed: no byte passes it, and none of the other stations' work is lost in that."""
    problem = compose(make(SLOW), Draw())
    capacity = station_capacities(problem)
    engine = Engine(simpy.Environment(), capacity)
    leg = legs_of(problem, problem.transfers[0], capacity, engine.row, 0)[0]
    endless = replace(leg, fill_costs={0: math.inf, 1: 2.0}, drain_costs={})
    assert record._Table([endless]).used(2)[0].tolist() == [0.0, 0.0]


def stretches(lengths: list[float], names: str) -> tuple[Held, ...]:
    edges = [0.0]
    for length in lengths:
        edges.append(edges[-1] + length)
    return tuple(Held(a, b, name) for (a, b), name in zip(pairwise(edges), names, strict=True))


def test_short_stretches_become_one_of_what_held_longest() -> None:
    held = stretches([5.0, 0.1, 0.3, 0.1, 5.0], "abcba")
    result = joined(held, 0.4)
    assert [h.station for h in result] == ["a", "c", "a"]
    assert [h.start_s for h in result] == pytest.approx([0.0, 5.0, 5.5], abs=0.11)


def test_a_short_rest_belongs_to_the_stretch_before() -> None:
    assert joined(stretches([5.0, 0.1], "ab"), 1.0) == (Held(0.0, 5.1, "a"),)
    assert joined(stretches([0.1, 0.2], "ab"), 1.0) == (Held(0.0, 0.1 + 0.2, "b"),)
    assert joined((), 1.0) == ()


@given(st.lists(st.tuples(st.floats(1e-3, 10), st.sampled_from("abc")), min_size=1, max_size=40), st.floats(0, 20))
def test_joined_stretches_cover_the_same_time(told: list[tuple[float, str]], width: float) -> None:
    held = stretches([t for t, _ in told], "".join(n for _, n in told))
    result = joined(held, width)
    assert (result[0].start_s, result[-1].end_s) == (held[0].start_s, held[-1].end_s)
    assert all(a.end_s == b.start_s and a.station != b.station for a, b in pairwise(result))
    lasts = [h.end_s - h.start_s for h in result]
    assert all(max(pair) >= width * (1 - 1e-9) for pair in pairwise(lasts))  # never two short ones side by side


def test_spread_is_of_the_runs_that_finished() -> None:
    whole = simulate(make(SLOW), replicas=5, processes=1)
    rates, durations = whole.spread(0)
    assert len(rates) == len(durations) == 5
    assert [r * d for r, d in zip(rates, durations, strict=True)] == pytest.approx([100e9] * 5)
    cut = simulate(make(SLOW), replicas=5, processes=1, until=sorted(durations)[2] * (1 + 1e-9))
    assert not cut.complete
    assert not cut.interrupted
    assert len(cut.spread(0)[0]) == 3
    assert replace(whole, wanted=6).interrupted


def test_of_a_transfer_that_has_not_begun_nothing_is_told() -> None:
    late = simulate(make(SLOW, transfer__start="100 s"), until=50.0).runs[0].transfers[0]
    assert math.isnan(late.started_s)
    assert math.isnan(late.throughput_Bps)
    assert late.file_quantiles((0.5,)) == []
    assert replace(late, file_s=np.array([1.0, 2.0]), file_counts=np.ones(2)).file_quantiles((0.5, 1.0)) == [1.0, 2.0]
    assert (late.payload_B, late.files, late.held) == (0.0, 0, ())


def test_few_are_kept_as_they_come() -> None:
    kept = Durations()
    for seconds, files in ((3.0, 1), (1.0, 5), (2.0, 1)):
        kept.add(seconds, files)
    found, counts = kept.arrays()
    assert found.tolist() == [3.0, 1.0, 2.0]
    assert counts.tolist() == [1, 5, 1]


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 100)), min_size=1, max_size=60), st.integers(1, 16))
def test_less_room_keeps_the_sum_and_the_number(entries: list[tuple[float, int]], room: int) -> None:
    kept = Durations()
    for seconds, files in entries:
        kept.add(seconds, files)
    found, counts = kept.arrays(room)
    assert len(found) <= room
    assert counts.sum() == sum(n for _, n in entries)
    # sums of at most 60 doubles up to 1e8 each
    assert found @ counts == pytest.approx(sum(s * n for s, n in entries), rel=1e-9, abs=1e-9)


def test_quantiles_weigh_by_files() -> None:
    """One file of 1 s and nine of 2 s: a tenth of the files takes no more than 1 s."""
    assert quantiles([1.0, 2.0], [1, 9], [0.1, 0.11, 0.5, 1.0]).tolist() == [1.0, 2.0, 2.0, 2.0]


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=50), st.floats(0.01, 1.0))
def test_quantiles_are_those_of_numpy(values: list[float], share: float) -> None:
    found = float(quantiles(values, np.ones(len(values)), [share])[0])
    at_most = sum(v <= found for v in values)
    assert at_most >= share * len(values) - 1e-6
