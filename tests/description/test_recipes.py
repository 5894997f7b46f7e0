"""CONTRIBUTING's recipes, run as printed: a kind is one file; hosts, volumes, segments and transfers hold it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dtnsim import cli
from dtnsim.components import base
from dtnsim.components.base import find_kind
from dtnsim.description import catalogue, schema
from dtnsim.physics.tcp import competition, controls, outcome, shared
from dtnsim.physics.tcp.rounds import Cases
from dtnsim.steady import scenarios
from dtnsim.steady.prediction import predict
from tests.lab import RECIPES, journey, machine, problem, sheet, volume
from tests.strategies import load

FAST = {"kind": "ssd", "read": "10 TB/s", "write": "10 TB/s", "link": "10 TB/s"}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package of kinds outside the house, with the recipes in it."""
    name = "kinds_of_others"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text('"""Kinds of others."""\n')
    for shape, (module, code) in RECIPES.items():
        if shape not in ("control", "parser"):
            (folder / f"{module}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(base, "PACKAGES", (*base.PACKAGES, name))
    base.kinds.cache_clear()
    yield name
    base.kinds.cache_clear()
    for module in [m for m in sys.modules if m.startswith(name)]:
        del sys.modules[module]


def test_there_is_a_recipe_for_each_shape() -> None:
    assert set(RECIPES) == {"volume", "host", "segment", "tool", "control", "parser"}


def path_of(shape: str) -> dict[str, Any]:
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
    found = sheet(problem(path_of(shape)))
    assert found.capacity(station) == pytest.approx(capacity)
    assert found.demand(station) > 0
    kind = RECIPES[shape][0].replace("_", "-")
    assert kind in {k["kind"] for k in catalogue.overview()["kinds"]}
    assert schema.json_schema(kind)["properties"]["kind"]["const"] == kind
    assert any(row["source"] for row in catalogue.parameters(kind))


@pytest.mark.usefixtures("package")
def test_tcp_sees_a_box_that_is_the_narrowest_place() -> None:
    made = problem(journey(wan={"rtt": "10 ms", **path_of("segment")["wan"]}))
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
    made = problem(path)
    assert scenarios.holders_of(given, made)[0].own.tool == "mover"
    assert "one-socket" in {k["kind"] for k in catalogue.overview()["kinds"]}
    assert schema.json_schema("one-socket")["properties"]["block"]
    assert find_kind("one-socket").tool_class == "mover"


def test_a_tool_that_does_not_say_its_class_is_refused() -> None:
    code = RECIPES["tool"][1].replace('    tool_class = "mover"\n', "")
    with pytest.raises(TypeError, match="OneSocket: write tool_class = one of test, network test, ssh"):
        exec(compile(code, "one_socket.py", "exec"), {})


@pytest.fixture
def algorithm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A congestion control outside the house, which the recipe's one file adds."""
    package, (module, code) = "controls_of_others", RECIPES["control"]
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text('"""Controls of others."""\n')
    (tmp_path / package / f"{module}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(controls, "PACKAGES", (*controls.PACKAGES, package))
    controls.controls.cache_clear()
    schema._raw.cache_clear()
    yield module
    controls.controls.cache_clear()
    schema._raw.cache_clear()
    for name in [m for m in sys.modules if m.startswith(package)]:
        del sys.modules[name]


def test_a_congestion_control_is_one_file_that_everything_finds(
    algorithm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert algorithm in controls.names(by_loss=True)
    assert algorithm in controls.described()
    assert algorithm in schema.json_schema("iperf3")["properties"]["C"]["enum"]
    # alone, in rounds and in closed form, it does what Yang and Lam say: windows of sqrt(2.325 / p)
    c = Cases.of(rate_Bps=1.25e10, rtt_s=0.05, mtu_B=9000.0, loss=1e-4, cc=algorithm, warmup_s=60.0, duration_s=300.0)
    mean = (2.325 / 1e-4) ** 0.5 * 8948 / 0.05
    assert float(controls.find(algorithm).response(1e-4, 0.05, 8948.0, 1e10)) == pytest.approx(mean, rel=1e-6)
    assert outcome.simulate(c).goodput_Bps[0] == pytest.approx(mean, rel=0.15)
    # beside Reno it has about as much, and is said to be judged by nothing
    groups = [competition.Group(cc, 0.04, 1e9, 1) for cc in (algorithm, "reno")]
    race = competition.race(groups, shared.Link(1000.0, 40.0), warmup_s=5, duration_s=20, most=2)
    assert race.rate.sum(axis=1) == pytest.approx(1000, rel=0.1)
    assert 0.2 < race.rate[:, 0].mean() / 1000 < 0.8
    assert algorithm in controls.unjudged()
    # in a path file, a tool's option and the calculator
    wan = {"bandwidth": "1 Gb/s", "rtt": "20 ms", "loss": "1e-4"}
    tool = {"name": "iperf3", "C": algorithm, "t": "300 s"}
    told = predict(load(journey(machine(tcp={"cc": algorithm}), wan=wan, tool=tool) | {"name": "own"}), samples=0)
    limit = float(controls.find(algorithm).response(1e-4, 0.02, 8948.0, 1e9))
    assert told.throughput_Bps.p50 == pytest.approx(limit, rel=0.2)
    cli.app(["tcp"])(args=["tcp", "--rate", "1Gb/s", "--rtt", "20ms", "--cc", algorithm], standalone_mode=False)
    assert "limit     link" in capsys.readouterr().out
