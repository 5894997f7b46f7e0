"""Composition: transfers meet on what they share, waiting is counted; rounds of files that are not full."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from dtnsim.composition.compose import compose
from dtnsim.ground.quantity import Draw
from dtnsim.simulation import simulate
from tests.lab import answer, journey, machine, problem, rate, volume
from tests.strategies import load, paths

SSD = {"kind": "ssd", "read": "800 MB/s", "write": "400 MB/s", "link": "1 GB/s"}


def disks(array: dict[str, Any] | None = None, filesystem: Any = None, **more: Any) -> dict[str, Any]:
    return machine(volumes={"/d": volume(array or SSD, filesystem or {"kind": "xfs", "op_time": "0 s"})}, **more)


@pytest.mark.parametrize(("size", "names"), [("100 TB", ["copy: cached", "copy: throttled"]), ("1 GB", ["copy"])])
def test_stretches_of_the_cache_become_phases(size: str, names: list[str]) -> None:
    tool, data = {"name": "dd", "bs": "1 MiB"}, {"files": 1, "size": size}
    made = problem(journey(disks(vm={}), start="a:/dev/zero", to="a:/d", tool=tool, dataset=data))
    assert [p.name for p in made.transfers[0].phases] == names


def test_one_file_of_100_gb_where_no_data_set_is_given() -> None:
    (only,) = problem(journey(disks(), disks(), tool="gridftp", start="a:/d", to="b:/d")).transfers
    assert (only.files, only.payload_B) == (1, 100e9)


@pytest.mark.parametrize("tool", [{"name": "dd", "bs": "1 MiB"}, {"name": "cp"}, "gridftp"])
def test_a_network_that_others_fill_stops_everything_on_it_and_nothing_else(tool: Any) -> None:
    """A mount over a dead network: no rate, and no nan on the way to it; a transfer on local drives goes on."""
    client = machine(volumes={"/n": volume(filesystem="nfs", server="b:/d"), "/d": volume(SSD)})
    transfers = [
        {"name": "dead", "from": "a:/n", "to": "a:/d", "tool": tool},
        {"name": "alive", "from": "a:memory", "to": "a:/d", "tool": {"name": "dd", "bs": "1 MiB"}},
    ]
    wan = {"bandwidth": "1 Gb/s", "rtt": "1 ms", "background": {"share": {"value": "99.9 %", "spread": 0}}}
    path = journey(client, disks(), wan=wan, transfers=transfers)
    dead, alive = answer(path, samples=4).transfers
    assert dead.throughput_Bps.p90 < 1e6
    assert alive.throughput_Bps.p10 > 0


def test_the_warnings_of_a_tool_are_passed_on_with_the_name_of_the_transfer() -> None:
    path = journey(tool={"name": "iperf3", "R": True})
    path["transfer"]["name"] = "reverse"
    (warning,) = (w for w in problem(path).warnings if "no slot" not in w)
    assert warning.startswith("reverse: iperf3 -R")


@settings(max_examples=6)
@given(paths())
def test_a_problem_has_only_finite_demands_and_known_stations(path: dict[str, Any]) -> None:
    for draw in (Draw(), Draw(8)):
        made = compose(load(path), draw)
        names = {s.name for s in made.stations}
        assert len(names) == len(made.stations)
        for transfer in made.transfers:
            for phase in transfer.phases:
                for demand in phase.demands:
                    assert demand.station in names
                    assert np.all(np.isfinite(demand.per_byte))
                    assert np.all(np.asarray(demand.per_byte) >= 0)
                assert all(
                    np.all(np.isfinite(d.per_byte)) and np.all(np.asarray(d.per_byte) > -1e-18) for d in phase.delays
                )
        for station in made.stations:
            assert np.all(np.asarray(station.capacity) > 0), station.name
            assert station.formula or draw.many, station.name  # scenarios are numbers alone


@pytest.mark.long
@settings(max_examples=10)
@given(paths())
def test_scenarios_surround_the_nominal_one(path: dict[str, Any]) -> None:
    """Medians of the draws are the nominal values: capacities scatter around them."""
    spec = load(path)
    nominal, drawn = compose(spec, Draw()), compose(spec, Draw(64))
    assert [s.name for s in nominal.stations] == [s.name for s in drawn.stations]
    for a, b in zip(nominal.stations, drawn.stations, strict=True):
        if np.size(b.capacity) > 1 and a.unit == "B" and a.kind in ("ssd", "hdd", "nic", "network", "pcie", "memory"):
            assert 0.5 < float(np.median(b.capacity)) / float(np.ravel(a.capacity)[0]) < 2.0


def test_what_a_worker_waits_for_passes_while_the_medium_works() -> None:
    """Files of 10 MB with a pause each onto a slow drive: the drive has all of the time, not what the pauses leave."""

    def to(write: str, memory: str) -> float:
        fast = {"kind": "ssd", "read": "9 GB/s", "write": "9 GB/s", "link": "16 GB/s"}
        vm = {"dirty_bytes": memory, "dirty_background_bytes": "0 B"}
        ends = (machine(vm=vm, volumes={"/d": volume({**fast, "write": w})}) for w in ("9 GB/s", write))
        wan = {"bandwidth": "10 Gb/s", "rtt": "20 ms"}
        path = journey(*ends, start="a:/d", to="b:/d", tool="scp", dataset={"files": 1000, "size": "10 GB"}, wan=wan)
        said = rate(path)
        assert simulate(load(path)).runs[0].transfers[0].throughput_Bps == pytest.approx(said, rel=0.01)
        return said

    assert to("50 MB/s", "100 MB") == pytest.approx(50e6, rel=0.01)
    small = 10e6 / (10e6 / 50e6 + 40e-3 - 0.75 * 1e6 / 50e6)  # the set point is at three quarters of the limit
    assert to("50 MB/s", "1 MB") == pytest.approx(small, rel=0.01)
    assert to("9 GB/s", "100 MB") == pytest.approx(10e6 / (10e6 / 105e6 + 40e-3), rel=0.01)  # 2 MiB a round trip
