"""The path as a graph: everything is wired to memory, hosts to hosts through segments."""

from __future__ import annotations

from typing import Any

import networkx as nx
from hypothesis import given, settings

from dtnsim.composition import graph as graphs
from dtnsim.description import spec
from tests.lab import journey, machine
from tests.strategies import load, paths


def linked(links: dict[str, dict[str, Any]], hosts: str = "abc") -> spec.PathSpec:
    given = journey()
    given["hosts"] = {h: machine() for h in hosts}
    given["links"] = {n: {"bandwidth": "10 Gb/s", **link} for n, link in links.items()}
    del given["wan"]
    return load(given)


def test_weights_are_round_trip_times() -> None:
    graph = graphs.links(linked({"x": {"between": ["a", "b"], "rtt": "10 ms"}}))
    assert set(graph.nodes) == {"a", "b", "c"}
    assert abs(graph.edges["a", "b"]["rtt"] - 10e-3) < 1e-6


def test_of_links_side_by_side_the_shorter_one_counts() -> None:
    for first, second in (("5 ms", "9 ms"), ("9 ms", "5 ms")):
        graph = graphs.links(
            linked({"x": {"between": ["a", "b"], "rtt": first}, "y": {"between": ["b", "a"], "rtt": second}})
        )
        assert graph.edges["a", "b"]["name"] == ("x" if first == "5 ms" else "y")


def test_of_two_ways_with_the_same_delay_the_one_with_fewer_links() -> None:
    links = {
        "ac": {"between": ["a", "c"], "rtt": "1 ms"},
        "cb": {"between": ["c", "b"], "rtt": "1 ms"},
        "ab": {"between": ["a", "b"], "rtt": "2 ms"},
    }
    graph = graphs.links(linked(links))
    assert nx.shortest_path(graph, "a", "b", weight="rtt") == ["a", "b"]


def test_links_side_by_side_are_both_drawn() -> None:
    drawn = graphs.graph(linked({"x": {"between": ["a", "b"]}, "y": {"between": ["a", "b"]}}))
    assert {"network:x", "network:y"} <= set(drawn.nodes)


@settings(max_examples=15, deadline=None)
@given(paths())
def test_every_volume_reaches_every_other_through_memory_and_network(path: dict[str, Any]) -> None:
    drawn = graphs.graph(load(path))
    assert nx.is_connected(drawn)
    way = nx.shortest_path(drawn, "alpha:volume /data", "beta:volume /data")
    for stop in ("alpha:memory", "beta:memory", "network:wan", "alpha:nic eth", "beta:slot b"):
        assert stop in way
    assert all({"kind", "host"} <= set(data) for _, data in drawn.nodes(data=True))


def test_a_shipped_path() -> None:
    """Venadi: the boot mirror hangs on the chipset, the data pool on an adapter in a slot of its own."""
    drawn = graphs.graph(spec.load("venadi/gridftp-gpfs"))
    chain = nx.shortest_path(drawn, "venadi:volume /", "venadi:memory")
    assert chain == ["venadi:volume /", "venadi:hba sata", "venadi:slot dmi", "venadi:memory"]


def test_segments_in_series_are_a_chain() -> None:
    made = journey(wan=[{"bandwidth": "10 Gb/s"}, {"bandwidth": "40 Gb/s"}])
    way = nx.shortest_path(graphs.graph(load(made)), "a:memory", "b:memory")
    assert way == ["a:memory", "a:nic nic", "network:wan1", "network:wan2", "b:nic nic", "b:memory"]
