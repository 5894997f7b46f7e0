"""``dtnsim components``."""

from __future__ import annotations

import json

from dtnsim.components.base import kinds
from tests.cli.conftest import Run


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
    assert made["kind"] == "hdd"
    rows = {r["parameter"]: r for r in made["parameters"]}
    assert rows["seek"]["default"] == "7.4 ms"
    out = run("components", "hdd").out
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
