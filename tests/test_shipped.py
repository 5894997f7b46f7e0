"""What every shipped path keeps, each predicted once: formulas, names of stations, keys that can be set, bursts."""

import re
from itertools import pairwise

import pytest

import dtnsim
from dtnsim.composition.compose import run_together
from dtnsim.description.spec import PathSpec
from dtnsim.ground import library
from dtnsim.ground.records import Prediction
from tests.formulas import wrong

#: formulas show seven digits, parameters as they were written
DIGITS = 1e-3
#: what keys of a path file begin with
ROOTS = ("hosts.", "wan.", "links.", "transfer", "workload.")
#: what belongs to a connection or to a tool's workers, not to a component
BETWEEN = {"tcp", "window", "transport", "target", "workers"}


@pytest.fixture(scope="module")
def shipped() -> dict[str, PathSpec]:
    """All of them, with their TCP run together."""
    paths = {name: dtnsim.load(name) for name in library.names("paths")}
    run_together(paths.values())
    return paths


@pytest.fixture(scope="module", params=library.names("paths"))
def answer(request: pytest.FixtureRequest, shipped: dict[str, PathSpec]) -> Prediction:
    return dtnsim.predict(shipped[request.param], samples=8)


def test_formulas_give_their_numbers(answer: Prediction) -> None:
    assert wrong(answer.problem, DIGITS, DIGITS) == []


def test_stations_are_named_after_the_graph(answer: Prediction) -> None:
    nodes = set(answer.given.graph)
    for station in answer.problem.stations:
        if station.kind in BETWEEN:
            continue
        parts = station.name.partition("[")[0].split(".")
        assert any(".".join(parts[:n]) in nodes for n in range(1, len(parts) + 1)), station.name


def test_what_is_assumed_can_be_set_by_the_keys_that_name_it(answer: Prediction) -> None:
    """What a card asks to find out is then typed: no key in it leads nowhere, and the value is one that it takes."""
    listed = dict.fromkeys(answer.unstated, "") | {a.key: a.low for a in answer.assumed}
    for names, value in listed.items():
        keys = re.split(r", | and (?!\d+ more)", re.sub(r" and \d+ more", "", names))
        if value and "of the host" not in names and not names.startswith("cost of "):
            answer.given.changed([f"{key}={value}" for key in keys])
        elif names.startswith(ROOTS) and names != "wan.medium":
            assert all(any(key in places for places in answer.given.written_as.values()) for key in keys), names


def test_buffers_of_research_networks_take_bursts(answer: Prediction, request: pytest.FixtureRequest) -> None:
    if request.node.callspec.params["answer"].startswith(("examples/", "esnet/")):
        assert not [w for w in answer.warnings if "bursts" in w]


def test_an_example_has_an_interval_and_remedies(answer: Prediction, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.params["answer"]
    if not name.startswith("examples/"):
        return
    i = answer.throughput_Bps
    assert 0 < i.p10 < i.p50 <= i.p90
    for transfer in answer.transfers:
        # a program that reads from memory meets core and memory alone
        assert len(transfer.ladder) >= (4 if "program" in name else 5)
        assert all(a.throughput_Bps <= b.throughput_Bps * (1 + 1e-9) for a, b in pairwise(transfer.ladder))
        assert [rung.station for rung in transfer.ladder if not rung.remedy] == []
    assert all(u.utilization <= 1 + 1e-9 for u in answer.stations)
