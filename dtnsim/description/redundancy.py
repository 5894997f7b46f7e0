"""What still works when something goes: single points of failure, and the narrowest cut between two ends of a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class Cut:
    """The narrowest set of nodes whose loss separates two ends.

    Attributes:
        rate_Bps: What all of them carry together at their nominal rates [B/s]; infinite where nothing limits.
        nodes: Their names.
    """

    rate_Bps: float
    nodes: tuple[str, ...]


def single_points(whole: nx.Graph[str], source: str, destination: str) -> list[str]:
    """Nodes that every way from one node to another passes, in order, without the ends themselves.

    Args:
        whole: The graph of a path.
        source: Node at one end.
        destination: Node at the other end.

    Returns:
        Names of nodes; each of them alone stops the transfer when it goes (the dominators of the destination).
    """
    import networkx as nx

    above = nx.immediate_dominators(whole.to_directed(as_view=True), source)
    found, node = [], destination
    while node in above and above[node] not in (node, source, None):
        node = above[node]
        found.append(node)
    return found[::-1]


def without(whole: nx.Graph[str], node: str, ends: list[tuple[str, str]]) -> list[bool]:
    """For each pair of ends, whether anything still joins them when a node has gone."""
    import networkx as nx

    left = nx.restricted_view(whole, [node], [])
    return [a in left and b in left and nx.has_path(left, a, b) for a, b in ends]


def narrowest_cut(whole: nx.Graph[str], source: str, destination: str) -> Cut:
    """The set of nodes that limits all ways between two nodes together, by their nominal rates (minimum cut).

    Nodes without a rate of their own (processors, memory, volumes) are taken as unlimited: what binds a transfer is
    for `dtnsim predict` to say, this is what the wiring could carry at most.
    """
    import networkx as nx

    flow: nx.DiGraph[tuple[str, str]] = nx.DiGraph()
    for node, data in whole.nodes(data=True):
        rate = data.get("rate_Bps")
        limit = {} if rate is None or node in (source, destination) else {"capacity": float(rate)}
        flow.add_edge((node, "in"), (node, "out"), **limit)
    for a, b in whole.edges:
        flow.add_edge((a, "out"), (b, "in"))
        flow.add_edge((b, "out"), (a, "in"))
    try:
        rate, (here, _) = nx.minimum_cut(flow, (source, "in"), (destination, "out"))
    except nx.NetworkXUnbounded:
        return Cut(float("inf"), ())
    nodes = tuple(n for n in whole if (n, "in") in here and (n, "out") not in here)
    return Cut(float(rate), nodes)
