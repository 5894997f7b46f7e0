"""What is kept of a run: means over bins that add up, and what held the transfers when."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import simpy

from dtnsim.composition.compose import compose
from dtnsim.engine.engine import Engine
from dtnsim.ground.quantity import Draw
from dtnsim.simulation import record, simulate
from dtnsim.simulation.jobs import legs_of, station_capacities
from dtnsim.simulation.results import Run
from tests.simulation.slow import FAST, SLOW, make


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
    assert held[0].start_s == 0.0
    assert [h.start_s for h in held[1:]] == [h.end_s for h in held[:-1]]
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
    leg = legs_of(problem, problem.transfers[0], capacity, engine.row)[0]
    endless = replace(leg, entries=(np.array([0, 1]), np.array([[math.inf, 2.0], [0.0, 0.0]])))
    assert record._Table([endless]).used(2)[0].tolist() == [0.0, 0.0]
