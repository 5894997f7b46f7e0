"""Single points of failure and narrowest cuts, on paths small enough to see."""

from __future__ import annotations

import math

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dtnsim
from dtnsim.description import graph
from tests.description.test_graph import linked


def test_a_chain_has_no_spare() -> None:
    drawn = dtnsim.load("venadi/gridftp-gpfs").graph
    found = graph.single_points(drawn, "nersc.memory", "venadi.bigdata")
    assert "network.wan" in found
    assert found[-1] == "venadi.sas"
    assert not any(graph.without(drawn, node, [("nersc.memory", "venadi.bigdata")])[0] for node in found)


def test_two_links_side_by_side_carry_both_and_either_may_go() -> None:
    drawn = linked({"x": {"between": ["a", "b"]}, "y": {"between": ["a", "b"]}}, hosts="ab").graph
    assert graph.single_points(drawn, "a.memory", "b.memory") == ["a.nic", "b.nic"]
    assert graph.without(drawn, "network.x", [("a.memory", "b.memory")]) == [True]
    cut = graph.narrowest_cut(drawn, "a.nic", "b.nic")
    assert cut.rate_Bps == pytest.approx(2 * 1.25e9)
    assert set(cut.nodes) == {"network.x", "network.y"}


def test_nothing_with_a_rate_between_is_unlimited() -> None:
    drawn: nx.Graph[str] = nx.path_graph(["a", "b", "c"])
    assert graph.narrowest_cut(drawn, "a", "c") == graph.Cut(math.inf, ())


@given(st.lists(st.integers(1, 100), min_size=1, max_size=6))
def test_the_cut_of_a_chain_is_its_narrowest_node(rates: list[int]) -> None:
    drawn: nx.Graph[str] = nx.path_graph(["a", *(f"n{i}" for i in range(len(rates))), "z"])
    for number, rate in enumerate(rates):
        drawn.nodes[f"n{number}"]["rate_Bps"] = float(rate)
    cut = graph.narrowest_cut(drawn, "a", "z")
    assert cut.rate_Bps == min(rates)
    assert len(cut.nodes) == 1
    assert graph.single_points(drawn, "a", "z") == [f"n{i}" for i in range(len(rates))]
