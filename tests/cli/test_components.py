"""`dtnsim components` and `dtnsim explain`: what there is to write, and where a number comes from."""

import json

import pytest

from dtnsim.components.base import kinds
from tests.conftest import Run

PATH = "venadi/gridftp-gpfs"


@pytest.mark.parametrize("path", [PATH, "examples/dtn-100g-xfs", "examples/nas-24-disks-4-readers"])
def test_the_steps_from_the_ceiling_add_up_to_the_median(run: Run, path: str) -> None:
    made = json.loads(run("explain", path, "--json").out)
    predicted = json.loads(run("predict", path, "--json").out)
    whole = made["ceiling_Bps"] + sum(s["change_Bps"] for s in made["steps"])
    assert whole == pytest.approx(predicted["throughput_Bps"]["p50"], rel=1e-9)
    assert made["ceiling_Bps"] == predicted["ceiling_Bps"]
    assert made["throughput_Bps"] == predicted["throughput_Bps"]["p50"]
    named = [s["what"] for s in made["steps"]]
    assert set(predicted["unstated"]) <= set(named)


def test_what_is_stated_takes_nothing(run: Run) -> None:
    """Where a loss is stated, no step is called after it."""
    path = "examples/dtn-100g-xfs"
    open_ = [s["what"] for s in json.loads(run("explain", path, "--json").out)["steps"]]
    stated = [s["what"] for s in json.loads(run("explain", path, "--set", "wan.loss=0", "--json").out)["steps"]]
    assert "wan.loss" in open_
    assert "wan.loss" not in stated


def test_plain_text(run: Run) -> None:
    code, out, err = run("explain", PATH)
    assert (code, err) == (0, "")
    assert "phase 'transfer': what one byte costs" in out
    assert "capacity / total demand" in out
    made = json.loads(run("explain", PATH, "--json").out)
    assert f"throughput = {made['throughput_Bps']!r} B/s" in out
    for station in made["stations"]:
        assert station["station"] in out


def test_overrides_show_where_they_come_from(run: Run) -> None:
    made = json.loads(run("explain", PATH, "--set", "wan.bandwidth=3 Gb/s", "--json").out)
    wan = next(s for s in made["stations"] if s["station"] == "network.wan")
    assert wan["capacity"] == pytest.approx(3e9 / 8)
    assert "--set wan.bandwidth" in wan["source"]


def test_all_kinds_with_their_parts(run: Run) -> None:
    made = json.loads(run("components", "--json").out)
    assert made["schema"] == "dtnsim.components/1"
    assert {k["kind"] for k in made["kinds"]} == set(kinds())
    out = run("components").out
    for kind in kinds():
        assert f" {kind} " in out or f" {kind}\n" in out
    assert "intel-535-480" in out


def test_the_parameters_of_a_kind(run: Run) -> None:
    made = json.loads(run("components", "hdd", "--json").out)
    rows = {r["parameter"]: r for r in made["parameters"]}
    assert (made["kind"], rows["seek"]["default"], rows["rate"]["default"]) == ("hdd", "7.4 ms", None)
    assert "HC310" in rows["seek"]["source"]
    out = run("components", "hdd").out
    assert run("components", "hdds", "--sort", "rate").out == run("components", "hdd", "--sort", "rate").out != ""
    assert "required (B/s)" in out
    assert "WD Ultrastar DC HC310" in out


def test_a_part_with_every_number(run: Run) -> None:
    made = json.loads(run("components", "intel-535-480", "--json").out)
    rows = {r["parameter"]: r for r in made["parameters"]}
    assert (made["kind"], rows["read"]["value"], rows["read"]["unit"]) == ("ssd", 540e6, "B/s")
    assert "Intel SSD 535" in run("components", "ssd/intel-535-480").out


def test_a_name_of_several_things_shows_them_all(run: Run) -> None:
    code, out, err = run("show", "unknown")
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if line.startswith(("part unknown", "kind unknown"))] == [
        "part unknown  (models/parts/unknown/unknown.yaml)",
        "kind unknown",
    ]
    assert len(json.loads(run("show", "unknown", "--json").out)) == 2
