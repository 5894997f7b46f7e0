"""A simulation as text, document and table over time: the same figures in each; equal transfers are one line."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import dtnsim
from dtnsim.description.spec import PathSpec
from dtnsim.ground import output
from dtnsim.ground.errors import InputError
from dtnsim.report import simulation as report, text
from dtnsim.report.table import Out
from dtnsim.simulation import simulate
from dtnsim.simulation.results import Simulation
from tests.simulation.slow import FAST, SLOW, make
from tests.strategies import load

DROP = [{"at": "20 s", "station": "network.wan", "factor": 0, "until": "50 s"}]


@pytest.fixture(scope="module")
def made() -> Simulation:
    return simulate(make(SLOW, events=DROP), replicas=3, processes=1)


def shown(s: Simulation) -> str:
    text = io.StringIO()
    report.show(s, Out(text))
    return text.getvalue()


def test_text_tells_what_held_it_in_order_and_why(made: Simulation) -> None:
    text = shown(made)
    assert "network.wan is down" in text
    assert "b.data.disks is full" in text
    assert "at 20 s: network.wan x 0" in text
    assert "at 50 s: end of: network.wan x 0" in text
    assert "over 3 runs" in text
    assert "a file: p50" not in text  # there is one file


def test_text_of_several_files_has_their_percentiles() -> None:
    text = shown(simulate(make(FAST, transfer__dataset={"files": 20, "size": "20 GB"})))
    assert "a file: p50" in text
    assert "p99" in text


def test_text_of_what_was_stopped_says_so() -> None:
    text = shown(simulate(make(FAST), until=10.0))
    assert "stopped at 10 s" in text
    assert "not done" in text
    assert "so far" in text


def test_document_is_json_and_says_the_same(made: Simulation) -> None:
    found = json.loads(json.dumps(report.document(made), allow_nan=False))
    (transfer,) = found["transfers"]
    run = made.runs[0].transfers[0]
    assert found["schema"] == "dtnsim.simulation/1"
    assert transfer["duration_s"]["p10"] <= transfer["duration_s"]["p50"] <= transfer["duration_s"]["p90"]
    assert [h["station"] for h in transfer["held"]] == [h.station for h in run.held]
    assert {h["event"] for h in transfer["held"]} == {None, "network.wan is down"}
    assert set(transfer["why"]) <= {h.station for h in run.held}
    assert "b.data.disks" in transfer["why"]
    times = np.array([*found["series"]["time_s"], found["end_s"]])
    assert len(times) <= report.POINTS + 1
    moved = np.diff(times) @ np.array(found["series"]["throughput_Bps"]["transfer"])
    assert moved == pytest.approx(100e9, rel=1e-9)


def test_an_unfinished_run_has_no_number_that_is_none() -> None:
    found = report.document(simulate(make(FAST), until=1e-6))
    json.dumps(found, allow_nan=False)
    assert found["transfers"][0]["duration_s"]["p50"] is None


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_trace_has_every_byte(made: Simulation, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"run{ending}"
    if ending == ".csv":
        output.table(report.columns(made), file, "--trace")
        with file.open() as lines:
            head, *rows = csv.reader(lines)
        table = {name: np.array(column, float) for name, column in zip(head, zip(*rows, strict=True), strict=True)}
    else:
        parquet = pytest.importorskip("pyarrow.parquet", reason="the extra 'parquet' is not installed")
        output.table(report.columns(made), file, "--trace")
        table = {name: np.array(column) for name, column in parquet.read_table(file).to_pydict().items()}
    span = table["end_s"] - table["start_s"]
    assert span @ table["transfer.throughput_Bps"] == pytest.approx(100e9, rel=1e-9)
    left = made.runs[0].series.cached_B[-1, 0]  # the tool ends when memory has the last byte
    assert span @ table["transfer.medium_Bps"] + left == pytest.approx(100e9, rel=1e-9)
    assert table["b.data.disks.utilization"].max() <= 1 + 1e-9
    assert [f.name for f in tmp_path.iterdir()] == [file.name]


def test_a_trace_of_another_kind_or_in_no_place_is_refused(made: Simulation, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.csv or \.parquet"):
        output.table(report.columns(made), tmp_path / "run.xlsx", "--trace")
    with pytest.raises(InputError, match="cannot be written"):
        output.table(report.columns(made), tmp_path / "nowhere" / "run.csv", "--trace")
    assert not list(tmp_path.iterdir())


SIZES = ["1 GB"] * 5 + ["3 GB", "1 GB"]
NAMES = [*(f"copy{n}" for n in range(1, 6)), "copy6", "other"]


def path(sizes: list[str], names: list[str]) -> PathSpec:
    transfers = {
        name: {"from": "a:memory", "to": "b:memory", "tool": "iperf3", "dataset": {"files": 1, "size": size}}
        for name, size in zip(names, sizes, strict=True)
    }
    hosts = {"a": "example-dtn-100g", "b": "example-dtn-100g"}
    return load({"name": "alike", "hosts": hosts, "wan": {"bandwidth": "10 Gb/s"}, "transfers": transfers})


@pytest.fixture(scope="module")
def equals() -> dtnsim.Simulation:
    return dtnsim.simulate(path(SIZES, NAMES))


def test_those_with_equal_bytes_and_names_are_together(equals: dtnsim.Simulation) -> None:
    assert report.alike_transfers(equals.runs[0]) == [[0, 1, 2, 3, 4], [5], [6]]
    assert report.name_of(equals.runs[0], [0, 1, 2, 3, 4]) == "copy1 to copy5 (5 alike)"
    run = equals.runs[0]
    assert run.transfers[report.slowest(run, [0, 1, 2, 3, 4])].duration_s == max(
        t.duration_s for t in run.transfers[:5]
    )


def test_the_text_has_a_line_for_each_kind_and_a_total(
    equals: dtnsim.Simulation, capsys: pytest.CaptureFixture[str]
) -> None:
    report.show(equals, text.console())
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split("  ")[0] for line in lines[1:6]]
    assert heads == ["transfer", "copy1 to copy5 (5 alike)", "copy6", "other", "all"]
    assert lines[1].split()[:4] == ["transfer", "duration", "p50", "p90"]
    assert "9 GB" in lines[5]
    whole = 9e9 / max(t.finished_s for t in equals.runs[0].transfers)
    assert text.rate(whole) in lines[5]
    assert sum(line.startswith("what held") for line in lines) == 3
    assert any(line.endswith("the slowest of 5 alike") for line in lines)


def test_what_is_not_done_stands_alone() -> None:
    run = dtnsim.simulate(path(["1 GB"] * 4 + ["500 GB"], [f"c{n}" for n in range(5)]), until=20.0).runs[0]
    assert math.isnan(run.transfers[4].finished_s) or math.isinf(run.transfers[4].finished_s)
    assert report.alike_transfers(run) == [[0, 1, 2, 3], [4]]


def test_few_are_named_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    report.show(dtnsim.simulate(path(["1 GB"] * 3, ["a1", "a2", "a3"])), text.console())
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[2:6]] == ["a1", "a2", "a3", "all"]
    assert lines[1].split()[:4] == ["transfer", "files", "bytes", "duration"]


def test_what_holds_workers_who_take_turns_is_told_with_its_use() -> None:
    """One of two workers verifies while the other moves: the link that holds them is idle now and then."""
    hosts = {"a": {"like": "example-lustre-client", "nics": {"eth": "connectx-5-100g"}},
             "b": {"like": "example-gpfs-client", "nics": {"eth": "connectx-6-200g"}}}  # fmt: skip
    move = {"from": "a:/lustre", "to": "b:/gpfs", "tool": "globus", "dataset": {"files": 40, "size": "400 GB"}}
    made = simulate(
        load({"name": "turns", "hosts": hosts, "wan": {"bandwidth": "100 Gb/s", "rtt": "30 ms"}, "transfer": move})
    )
    text, run = shown(made), made.runs[0]
    station = max(run.transfers[0].held, key=lambda h: h.end_s - h.start_s).station
    use = float(np.mean(run.series.utilization[1:-1, run.stations.index(station)]))
    assert use < 0.8
    said = [float(n) for n in re.findall(rf"{re.escape(station)} +(\d+)%", text)]
    assert np.mean(said) == pytest.approx(100 * use, abs=3)


def test_what_is_not_full_all_the_time_is_not_said_to_be() -> None:
    """Read-ahead of small files over SMB: workers wait for their openings in between."""
    like = {"nas": "Synology DS1821+", "mac": "MacBook Pro M1"}
    given = {
        "hosts": {name: {"like": kind, "nic": "10GbE"} for name, kind in like.items()},
        "wan": {"bandwidth": "10 Gb/s"},
        "transfer": {"from": "nas:/vol1", "to": "mac:/", "tool": "smb", "dataset": {"files": 400, "size": "800 MB"}},
    }
    given["hosts"]["nas"]["volumes"] = {"/vol1": "any-nvme"}  # type: ignore[index]
    out = shown(simulate(load(given)))
    used = re.search(r"(\d+%)  mac.nas.read-ahead\[transfer\] is full for (\d+%) of the time, and waits", out)
    assert used
    assert used[1] == used[2]
    given["hosts"]["mac"]["volumes"] = {"/": "any-nvme"}  # type: ignore[index]
    given["transfer"] |= {"tool": {"name": "globus", "verify": True}, "dataset": {"files": 50, "size": "200 GB"}}
    out = shown(simulate(load(given)))
    used = re.search(r"(\d+)% +the checksum at \w+ thread on \w+ is saturated for (\d+)% of the time, and waits", out)
    assert used, out
    assert used[1] == used[2]
