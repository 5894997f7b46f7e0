"""The path as a graph: everything is wired to memory, hosts to hosts through segments; its single points of failure."""

import math
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings, strategies as st

import dtnsim
from dtnsim.composition.compose import compose
from dtnsim.description import graph, graph as graphs, spec
from dtnsim.ground.quantity import Draw
from tests.composition import test_network
from tests.lab import journey, machine
from tests.strategies import load, paths


def linked(links: dict[str, dict[str, Any]], hosts: str = "abc") -> spec.PathSpec:
    return load(test_network.linked(links, hosts))


def test_of_links_side_by_side_the_shorter_counts() -> None:
    for first, second in (("5 ms", "9 ms"), ("9 ms", "5 ms")):
        path = linked({"x": {"between": ["a", "b"], "rtt": first}, "y": {"between": ["b", "a"], "rtt": second}})
        assert graphs.shortest_route(path.graph, "a.nic", "b.nic") == ["x" if first == "5 ms" else "y"]


def test_of_two_ways_with_the_same_delay_the_way_with_fewer_links() -> None:
    links = {
        "ar": {"between": ["a", "r"], "rtt": "1 ms"},
        "rb": {"between": ["r", "b"], "rtt": "1 ms"},
        "ab": {"between": ["a", "b"], "rtt": "2 ms"},
    }
    assert graphs.shortest_route(linked(links).graph, "a.nic", "b.nic") == ["ab"]


def test_no_way_leads_through_a_host() -> None:
    path = linked({"ac": {"between": ["a", "c"], "rtt": "1 ms"}, "cb": {"between": ["c", "b"], "rtt": "1 ms"}})
    with pytest.raises(nx.NetworkXNoPath):
        graphs.shortest_route(path.graph, "a.nic", "b.nic")


def test_links_side_by_side_are_both_drawn() -> None:
    drawn = linked({"x": {"between": ["a", "b"]}, "y": {"between": ["a", "b"]}}).graph
    assert {"network.x", "network.y"} <= set(drawn.nodes)


@settings(max_examples=8)
@given(paths())
def test_every_volume_reaches_every_other_through_memory_and_network(path: dict[str, Any]) -> None:
    drawn = load(path).graph
    assert nx.is_connected(drawn)
    way = nx.shortest_path(drawn, "alpha.data", "beta.data")
    for stop in ("alpha.memory", "beta.memory", "network.wan", "alpha.eth", "beta.slot-b"):
        assert stop in way
    assert all({"kind", "host", "part"} <= set(data) for _, data in drawn.nodes(data=True))


def test_a_shipped_path() -> None:
    """Venadi: the boot mirror hangs on the chipset, the data pool on an adapter in a slot of its own."""
    path = dtnsim.load("venadi/gridftp-gpfs")
    assert path.hosts["venadi"].toward_memory("root") == ["root", "sata", "slot-dmi"]
    assert path.graph.has_edge("venadi.root", "venadi.sata")


def test_segments_in_series_are_a_chain() -> None:
    path = load(journey(wan=[{"bandwidth": "10 Gb/s"}, {"bandwidth": "40 Gb/s"}]))
    assert graphs.shortest_route(path.graph, "a.nic", "b.nic") == ["wan.0", "wan.1"]
    assert graphs.shortest_route(path.graph, "b.nic", "a.nic") == ["wan.1", "wan.0"]


def test_senders_to_the_same_receiver_share_the_direction_of_the_wan() -> None:
    """Hosts that talk across the WAN are at its two ends, in whichever order the file names them."""
    given = journey()
    first = given.pop("transfer")
    moves = [{**first, "from": f"{h}:memory", "to": "b:memory"} for h in "ac"]
    problem = compose(load({**given, "hosts": {h: machine() for h in "abc"}, "transfers": moves}), Draw())
    assert [s.name for s in problem.stations if s.kind == "network"] == ["network.wan"]


def test_the_order_in_which_hosts_are_described_says_nothing() -> None:
    """The first segment is where the first transfer starts: a firewall there sees what its host sends."""
    near = {"bandwidth": "1 Gb/s", "rtt": "1 ms", "firewall": "campus-stateful-1g"}
    given = journey(wan=[near, {"bandwidth": "10 Gb/s", "rtt": "9 ms"}])
    made, other = load(given), load({**given, "hosts": dict(reversed(given["hosts"].items()))})
    assert list(made.hosts) != list(other.hosts)
    assert graphs.near_end(made) == graphs.near_end(other) == {"a": True, "b": False}
    assert dtnsim.predict(made, samples=16).throughput_Bps == dtnsim.predict(other, samples=16).throughput_Bps
    ends = given["transfer"]
    turned = {**given, "transfer": {**ends, "from": ends["to"], "to": ends["from"]}}
    assert graphs.near_end(load(turned)) == {"a": False, "b": True}


def test_a_chain_has_no_spare() -> None:
    drawn = dtnsim.load("venadi/gridftp-gpfs").graph
    found = graph.single_points(drawn, "nersc.memory", "venadi.bigdata")
    assert "network.wan" in found
    assert found[-1] == "venadi.sas"
    left = (nx.restricted_view(drawn, [node], []) for node in found)
    assert not any(nx.has_path(each, "nersc.memory", "venadi.bigdata") for each in left)


def test_two_links_side_by_side_carry_both_and_either_may_go() -> None:
    drawn = linked({"x": {"between": ["a", "b"]}, "y": {"between": ["a", "b"]}}, hosts="ab").graph
    assert graph.single_points(drawn, "a.memory", "b.memory") == ["a.nic", "b.nic"]
    assert nx.has_path(nx.restricted_view(drawn, ["network.x"], []), "a.memory", "b.memory")
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
