"""What every shipped path keeps, each predicted once: formulas, names of stations, bursts that buffers take."""

import pytest

import dtnsim
from dtnsim.ground import library
from dtnsim.ground.records import Prediction
from tests.formulas import wrong

#: formulas show seven digits, parameters as they were written
DIGITS = 1e-3
#: what belongs to a connection or to a tool's workers, not to a component
BETWEEN = {"tcp", "window", "transport", "target", "workers"}


@pytest.fixture(scope="module", params=library.names("paths"))
def answer(request: pytest.FixtureRequest) -> Prediction:
    return dtnsim.predict(request.param, samples=0)


def test_formulas_give_their_numbers(answer: Prediction) -> None:
    assert wrong(answer.problem, DIGITS, DIGITS) == []


def test_stations_are_named_after_the_graph(answer: Prediction) -> None:
    nodes = set(answer.given.graph)
    for station in answer.problem.stations:
        if station.kind in BETWEEN:
            continue
        parts = station.name.partition("[")[0].split(".")
        assert any(".".join(parts[:n]) in nodes for n in range(1, len(parts) + 1)), station.name


def test_buffers_of_research_networks_take_bursts(answer: Prediction, request: pytest.FixtureRequest) -> None:
    if request.node.callspec.params["answer"].startswith(("examples/", "esnet/")):
        assert not [w for w in answer.warnings if "bursts" in w]
