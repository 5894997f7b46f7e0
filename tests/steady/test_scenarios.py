"""Scenarios of very many transfers: worked out in blocks (matrices, scenarios), the same as all at once."""

from typing import Any

import numpy as np
import pytest

from dtnsim.composition.compose import compose
from dtnsim.ground.quantity import Draw
from dtnsim.steady import scenarios
from dtnsim.steady.matrices import Layout, matrices
from dtnsim.steady.prediction import predict
from tests.lab import journey, machine, volume
from tests.strategies import load

SSD = volume({"kind": "ssd", "read": "2 GB/s", "write": "1 GB/s"})


def several() -> dict[str, Any]:
    """Transfers of one phase and of more, alike and not, over one WAN."""
    hosts = {n: machine(volumes={"/d": SSD}, nic={"kind": "nic", "rate": "10 Gb/s", "mtu": "9000 B"}) for n in "abcd"}
    disks = {"tool": "gridftp", "dataset": {"files": 10, "size": "20 GB"}}
    flows = {"tool": "iperf3", "dataset": {"files": 1, "size": "5 GB"}}
    transfers = [{"from": f"{a}:/d", "to": f"{b}:/d", **disks} for a, b in ("ac", "bd", "cb")]
    transfers += [{"from": f"{a}:memory", "to": f"{b}:memory", **flows} for a, b in ("ac", "ac", "bd", "da")]
    wan = {"bandwidth": "15 Gb/s", "rtt": "50 ms", "loss": "1e-6"}
    return {"name": "several", "hosts": hosts, "wan": wan, "transfers": transfers}


def test_a_block_of_scenarios_is_a_part_of_all() -> None:
    problem = compose(load(several()), Draw(20))
    layout, whole = Layout(problem), matrices(problem)
    assert (layout.scenarios, layout.entries) == (20, len(whole.phases.station))
    part = layout.arrays(slice(5, 12))
    for name in ("capacity", "delay", "opening", "lead"):
        assert np.array_equal(getattr(part, name), getattr(whole, name)[5:12])
    for rows, every in ((part.total, whole.total), (part.phases, whole.phases)):
        assert np.array_equal(rows.demand, every.demand[:, 5:12])
        assert np.array_equal(rows.station, every.station)


def test_rows_add_up_what_phases_demand() -> None:
    problem = compose(load(several()), Draw())
    m, index = matrices(problem), {s.name: k for k, s in enumerate(problem.stations)}
    for f, transfer in enumerate(problem.transfers):
        wanted = np.zeros(len(index))
        for demand in (d for phase in transfer.phases for d in phase.demands):
            wanted[index[demand.station]] += float(demand.per_byte)
        station, demand = m.total.row_entries(f)
        assert demand[0] == pytest.approx(wanted[station])
        assert set(station) == {index[d.station] for phase in transfer.phases for d in phase.demands}


def met_in_turn() -> dict[str, Any]:
    """Workers who verify beside a test of seconds: where they meet, and who is gone, is each scenario's own."""
    given = {"nic": "100GbE", "cpu": "unknown", "memory": "64 GB"}
    hosts = {n: {**given, "volumes": {"/d": {"filesystem": "xfs", "array": "any-nvme"}}} for n in "ab"}
    tool = {"name": "globus", "concurrency": 4, "parallelism": 1}
    moved = {"from": "a:/d", "to": "b:/d", "tool": tool, "dataset": {"files": 16, "size": "800 GB"}}
    test = {"from": "a:memory", "to": "b:memory", "tool": {"name": "iperf3", "t": "10 s"}}
    wan = {"bandwidth": "100 Gb/s", "rtt": "1 ms", "loss": "0"}
    return {"name": "met", "hosts": hosts, "wan": wan, "transfers": [moved, test]}


@pytest.mark.parametrize(("path", "most"), [(several(), 150), (met_in_turn(), 75)], ids=["like", "in turn"])
def test_an_interval_in_blocks_is_that_of_all_at_once(
    path: dict[str, Any], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = load(path)
    whole = predict(given, samples=4)
    monkeypatch.setattr(scenarios, "MOST", most)
    parts = predict(given, samples=4)
    assert parts.drawn is not None
    assert whole.drawn is not None
    # rates while all run are those; over their own time a block in which all end together has no ends to put together
    for one, other in zip(whole.transfers, parts.transfers, strict=True):
        assert other.all_run_Bps == pytest.approx(one.all_run_Bps, rel=1e-9)
        assert other.throughput_Bps.as_dict() == pytest.approx(one.throughput_Bps.as_dict(), rel=5e-4)
    assert parts.drawn.rates_Bps.shape == (4, len(path["transfers"]))


def test_a_station_that_some_draws_alone_have_leaves_room_as_any_other() -> None:
    """A firewall whose buffer nobody states drops bursts where it is drawn small: ``validate --path`` fell over it."""
    box = {"kind": "firewall", "engine": "1 Gb/s", "total": "1 Gb/s"}
    path = journey(wan={"bandwidth": "1 Gb/s", "rtt": "0.5 ms", "firewall": box}, tool="iperf3")
    nominal, drawn = scenarios.composed_and_drawn(load(path), 64, 1, mean=False)
    assert {s.name for s in drawn.problem.stations} - {s.name for s in nominal.stations}
    assert drawn.rooms(0)


def test_who_is_alone_in_part_of_its_time_has_no_more_than_the_wire() -> None:
    """What the model's own error takes from a neighbour is there while the neighbour is, not all the time."""
    moved = {"from": "a:memory", "to": "b:memory", "dataset": {"size": "100 GB"}}
    wan = {"bandwidth": "10 Gb/s", "rtt": "0.5 ms", "loss": "0", "background": {"share": "0"}}
    transfers = [{**moved, "tool": "gridftp"}, {**moved, "tool": "scp", "dataset": {"size": "2 GB"}}]
    answer = predict(load(journey(wan=wan, transfers=transfers)), samples=64)
    assert answer.drawn is not None
    assert answer.drawn.rates_Bps.max() <= 10e9 / 8
