"""CONTRIBUTING's recipes, run as printed: a kind is one file; hosts, volumes, segments and transfers hold it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dtnsim.components import base
from dtnsim.components.base import find_kind
from dtnsim.description import catalogue, schema
from dtnsim.steady import scenarios
from dtnsim.steady.prediction import predict
from tests.lab import journey, machine, problem, sheet, volume
from tests.strategies import load

RECIPE = re.compile(r"<!-- recipe: (\w+) (\w+) -->\n```py\n(.*?)```", re.DOTALL)
RECIPES = {
    shape: (module, code)
    for shape, module, code in RECIPE.findall((Path(__file__).parents[2] / "CONTRIBUTING.md").read_text())
}
FAST = {"kind": "ssd", "read": "10 TB/s", "write": "10 TB/s", "link": "10 TB/s"}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package of kinds outside the house, with the recipes in it."""
    name = "kinds_of_others"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text('"""Kinds of others."""\n')
    for module, code in RECIPES.values():
        (folder / f"{module}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(base, "PACKAGES", (*base.PACKAGES, name))
    base.kinds.cache_clear()
    yield name
    base.kinds.cache_clear()
    for module in [m for m in sys.modules if m.startswith(name)]:
        del sys.modules[module]


def test_there_is_a_recipe_for_each_shape() -> None:
    assert set(RECIPES) == {"volume", "host", "segment", "tool"}


def path(shape: str) -> dict[str, Any]:
    """A path that holds the recipe's component where it belongs, and uses it."""
    if shape == "volume":
        here = machine(volumes={"/t": volume({"kind": "tape-drive", "rate": "400 MB/s"})})
        return journey(here, start="a:/t", tool="gridftp")
    if shape == "host":
        here = machine(volumes={"/d": volume(FAST)}, slots={"s": {"kind": "slot", "generation": 4, "lanes": 16}},
                       devices={"card": {"kind": "cipher-card", "rate": "1 GB/s", "slot": "s"}})  # fmt: skip
        return journey(here, machine(volumes={"/d": volume(FAST)}), start="a:/d", to="b:/d", tool="scp")
    wan = {"bandwidth": "100 Gb/s", "boxes": {"tap": {"kind": "packet-tap", "port": "10 Gb/s"}}}
    return journey(wan=wan)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("shape", "station", "capacity"),
    [("volume", "a.t", 400e6), ("host", "a.card.engine", 1e9), ("segment", "network.wan.tap", 1.25e9)],
)
def test_a_recipe_is_all_that_a_new_kind_needs(shape: str, station: str, capacity: float) -> None:
    found = sheet(problem(path(shape)))
    assert found.capacity(station) == pytest.approx(capacity)
    assert found.demand(station) > 0
    kind = RECIPES[shape][0].replace("_", "-")
    assert kind in {k["kind"] for k in catalogue.overview()["kinds"]}
    assert schema.json_schema(kind)["properties"]["kind"]["const"] == kind
    assert any(row["source"] for row in catalogue.parameters(kind))


@pytest.mark.usefixtures("package")
def test_tcp_sees_a_box_that_is_the_narrowest_place() -> None:
    made = problem(journey(wan={"rtt": "10 ms", **path("segment")["wan"]}))
    tcp = next(s for s in made.stations if s.kind == "tcp")
    assert float(tcp.capacity) < 1.25e9


@pytest.mark.usefixtures("package")
def test_a_tool_is_found_by_all_that_asks_for_tools() -> None:
    """Paths, the catalogue, the schema, the model's own error; nothing else is told of it."""
    moved = journey(start="a:memory", to="b:memory", tool="one-socket", dataset={"files": 100, "each": "1 MB"})
    path = {**moved, "wan": {"bandwidth": "1 Gb/s", "rtt": "10 ms", "loss": 0}}
    given = load(path)
    answer = predict(given, samples=0)
    assert answer.duration_s.p50 > 100 * 10e-3
    assert scenarios.regimes(given, problem(path))[0].tool == "mover"
    assert "one-socket" in {k["kind"] for k in catalogue.overview()["kinds"]}
    assert schema.json_schema("one-socket")["properties"]["block"]
    assert find_kind("one-socket").tool_class == "mover"


def test_a_tool_that_does_not_say_its_class_is_refused() -> None:
    code = RECIPES["tool"][1].replace('    tool_class = "mover"\n', "")
    with pytest.raises(TypeError, match="OneSocket: write tool_class = one of test, ssh"):
        exec(compile(code, "one_socket.py", "exec"), {})
