"""The world around the transfers: what an event names has to be there, dead links, states of a path (variants)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.ground.errors import ModelError, SpecError
from dtnsim.ground.records import Demand, Phase, Problem, Station, Transfer
from dtnsim.report import simulation, text
from dtnsim.simulation import simulate
from dtnsim.simulation.variants import as_drawn, check_same
from tests.each import rows
from tests.simulation.test_runs import SLOW, make
from tests.strategies import load, written


def test_an_event_that_never_comes_is_checked_at_the_start() -> None:
    late: list[dict[str, Any]] = [{"at": "1000 d", "station": "no.such.station", "factor": 0}]
    with pytest.raises(SpecError, match="is not a station"):
        simulate(make(SLOW, events=late))


def test_two_events_at_one_instant_both_happen() -> None:
    both = [
        {"at": "20 s", "station": "network.wan", "factor": 0.5, "until": "40 s"},
        {"at": "20 s", "station": "a.nic.port0.tx", "factor": 0.25, "until": "40 s"},
    ]
    run = simulate(make(SLOW, transfer__to="b:memory", events=both)).runs[0]
    alone = simulate(make(SLOW, transfer__to="b:memory")).runs[0]
    # the smaller of the two holds: a quarter of the port for 20 s loses 15 s
    assert run.end_s == pytest.approx(alone.end_s + 15, rel=1e-3)
    assert len(run.happened) == 4


PATH = "venadi/gridftp-gpfs"


@pytest.mark.parametrize(("text", "line", "key"), rows("simulation/tables", "it_says_where_it_is_written"))
def test_it_says_where_it_is_written(tmp_path: Path, text: str, line: int, key: str) -> None:
    file = written(tmp_path / "night.yaml", text)
    with pytest.raises(SpecError) as caught:
        simulate(spec.load(PATH, events=file))
    assert (caught.value.file, caught.value.line, caught.value.key) == (str(file), line, key)


def test_the_nearest_names_come_first() -> None:
    given = spec.load("examples/campus-25g-firewall")
    events = [{"at": "1 s", "station": "network.wan.7"}]
    with pytest.raises(SpecError, match=r"stations: network\.wan"):
        simulate(given.changed([f"events={events}".replace("'", '"')]))


def run(down: tuple[float, float] | None, tool: str, size: str = "1 GB", files: int = 1) -> Any:
    hosts = {"a": "example-dtn-100g", "b": "example-dtn-100g"}
    events = []
    if down is not None:
        events = [{"at": f"{down[0]} s", "station": "network.wan", "factor": 0, "until": f"{down[1]} s", "what": "cut"}]
    return dtnsim.simulate(
        load({
            "name": "cut", "hosts": hosts, "wan": {"bandwidth": "10 Gb/s", "rtt": "100 ms"}, "events": events,
            "transfers": {"t": {"from": "a:/xfs", "to": "b:/xfs", "tool": tool,
                                "dataset": {"files": files, "size": size}}},
        })
    )  # fmt: skip


@pytest.mark.parametrize("tool", ["scp", "rsync", "gridftp"])
def test_what_begins_on_a_dead_link_begins_when_it_is_back(tool: str) -> None:
    """Log-in, handshake and slow start come after the cut: the transfer is as late as the link."""
    plain, cut = run(None, tool).runs[0], run((0, 60), tool).runs[0]
    assert cut.transfers[0].finished_s == pytest.approx(plain.transfers[0].finished_s + 60, rel=1e-6)


def test_waits_between_files_do_not_go_on_over_a_dead_link() -> None:
    """Many small files, each with its round trips: at most one file's waits are lost in the cut."""
    plain, cut = (run(down, "scp", "1 MB", 200).runs[0].transfers[0] for down in (None, (5, 25)))
    a_file = plain.duration_s / 200
    assert plain.duration_s + 20 - a_file <= cut.duration_s <= plain.duration_s + 20 + a_file


def test_the_cut_is_what_held_it(capsys: pytest.CaptureFixture[str]) -> None:
    made = run((0, 60), "scp")
    assert made.runs[0].transfers[0].held[0].station == "network.wan"
    simulation.show(made, text.console())
    assert "network.wan is down: cut" in capsys.readouterr().out


def test_a_link_that_never_comes_back_is_said() -> None:
    hosts = {"a": "example-dtn-100g", "b": "example-dtn-100g"}
    given = load({
        "name": "cut", "hosts": hosts, "wan": {"bandwidth": "10 Gb/s", "rtt": "100 ms"},
        "events": [{"at": "0 s", "station": "network.wan", "factor": 0}],
        "transfers": {"t": {"from": "a:/xfs", "to": "b:/xfs", "tool": "scp", "dataset": {"files": 1, "size": "1 GB"}}},
        "others": [{"stations": ["a.xfs.ssds"], "rate": "1 /s", "size": "1 MB"}],
    })  # fmt: skip
    with pytest.raises(ModelError, match=r"network\.wan has no capacity left"):
        dtnsim.simulate(given)


def problem(capacity: object, demand: object = 1.0) -> Problem:
    station = Station("a", "h", "a", "t", capacity, "B")  # type: ignore[arg-type]  # float or array
    row = Phase("p", (Demand("a", demand, "x"),))  # type: ignore[arg-type]
    return Problem("t", (station,), (Transfer("t", (row,), 1, 1e9, 1),))


def test_the_same_stations_pass() -> None:
    check_same(problem(1.0), problem(2.0), (0,))


def test_another_station_or_another_job_is_refused() -> None:
    other = problem(1.0)
    other = replace(other, stations=(replace(other.stations[0], name="b"),))
    with pytest.raises(SpecError, match="what the path is made of"):
        check_same(problem(1.0), other, (0,))
    more = problem(1.0)
    more = replace(more, transfers=(replace(more.transfers[0], files=2),))
    with pytest.raises(SpecError, match="what is moved"):
        check_same(problem(1.0), more, (0,))


@pytest.mark.parametrize(("before", "now", "drawn", "found"), [(10, 5, 12, 6), (0, 5, 0, 5), (10, 10, 8, 8)])
def test_a_draw_changes_by_the_factor_of_the_median(before: float, now: float, drawn: float, found: float) -> None:
    """Nominal 10 -> 5 halves a scenario that had drawn 12 to 6; what was nothing takes the median."""
    made = as_drawn(problem(before), problem(now), problem(np.array([1.0, drawn])), 1)
    assert made.stations[0].capacity == found


def test_each_demand_changes_by_its_own_factor() -> None:
    """Of two demands on a station one doubles; both were drawn a half above."""

    def of(*demands: float) -> Problem:
        one = problem(10.0)
        row = Phase("p", tuple(Demand("a", value, what) for what, value in zip("xy", demands, strict=True)))
        return replace(one, transfers=(replace(one.transfers[0], phases=(row,)),))

    made = as_drawn(of(1.0, 2.0), of(1.0, 4.0), of(1.5, 3.0), 0).transfers[0].phases[0].demands
    assert [d.per_byte for d in made] == [1.5, 6.0]
