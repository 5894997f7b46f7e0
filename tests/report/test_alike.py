"""Equal transfers of a simulation are one line; all of them are the last one."""

from __future__ import annotations

import math

import pytest

import dtnsim
from dtnsim.description.spec import PathSpec
from dtnsim.report import simulation, text
from tests.strategies import load

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
def made() -> dtnsim.Simulation:
    return dtnsim.simulate(path(SIZES, NAMES))


def test_those_with_equal_bytes_and_names_are_together(made: dtnsim.Simulation) -> None:
    assert simulation.alike(made.runs[0]) == [[0, 1, 2, 3, 4], [5], [6]]
    assert simulation.name_of(made.runs[0], [0, 1, 2, 3, 4]) == "copy1 to copy5 (5 alike)"
    run = made.runs[0]
    assert run.transfers[simulation.slowest(run, [0, 1, 2, 3, 4])].duration_s == max(
        t.duration_s for t in run.transfers[:5]
    )


def test_the_text_has_a_line_for_each_kind_and_a_total(
    made: dtnsim.Simulation, capsys: pytest.CaptureFixture[str]
) -> None:
    simulation.show(made, text.console())
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split("  ")[0] for line in lines[1:6]]
    assert heads == ["transfer", "copy1 to copy5 (5 alike)", "copy6", "other", "all"]
    assert lines[1].split()[:4] == ["transfer", "duration", "p50", "p90"]
    assert "9 GB" in lines[5]
    whole = 9e9 / max(t.finished_s for t in made.runs[0].transfers)
    assert text.rate(whole) in lines[5]
    assert sum(line.startswith("what held") for line in lines) == 3
    assert any(line.endswith("the slowest of 5 alike") for line in lines)


def test_what_is_not_done_stands_alone() -> None:
    run = dtnsim.simulate(path(["1 GB"] * 4 + ["500 GB"], [f"c{n}" for n in range(5)]), until=20.0).runs[0]
    assert math.isnan(run.transfers[4].finished_s) or math.isinf(run.transfers[4].finished_s)
    assert simulation.alike(run) == [[0, 1, 2, 3], [4]]


def test_few_are_named_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    simulation.show(dtnsim.simulate(path(["1 GB"] * 3, ["a1", "a2", "a3"])), text.console())
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[2:6]] == ["a1", "a2", "a3", "all"]
    assert lines[1].split()[:4] == ["transfer", "files", "bytes", "duration"]
