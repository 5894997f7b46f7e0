"""The way of each transfer through the path's graph, what it cannot do without, and what the wiring carries at most."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from dtnsim.components.filesystem import label_of
from dtnsim.composition.leg import End, end_of
from dtnsim.description.graph import Cut, narrowest_cut, single_points
from dtnsim.description.spec import split_end

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec


@dataclass(frozen=True, slots=True)
class Way:
    """The way of one transfer.

    Attributes:
        transfer: Its name.
        nodes: Nodes of the graph from end to end, over both hosts' memory.
        single_points: Nodes without which nothing arrives.
        cut: The narrowest set of nodes on all ways between the ends.
    """

    transfer: str
    nodes: tuple[str, ...]
    single_points: tuple[str, ...]
    cut: Cut


def ways(spec: PathSpec) -> list[Way]:
    """The ways of all transfers; those of transfers whose ends nothing joins are left out."""
    import networkx as nx

    found = []
    for transfer in spec.transfers:
        ends = [_node(end_of(spec, text)) for text in (transfer.source_end, transfer.to)]
        over = [f"{split_end(text)[0]}.memory" for text in (transfer.source_end, transfer.to)]
        stops = list(dict.fromkeys([ends[0], *over, ends[1]]))
        nodes = stops[:1]
        try:
            for a, b in pairwise(stops):
                nodes += nx.shortest_path(spec.graph, a, b, weight="rtt")[1:]
        except nx.NetworkXNoPath:
            continue
        points = tuple(p for a, b in pairwise(stops) for p in [*single_points(spec.graph, a, b), b] if p != ends[1])
        cut = narrowest_cut(spec.graph, ends[0], ends[1]) if ends[0] != ends[1] else Cut(float("inf"), ())
        found.append(Way(transfer.name, tuple(nodes), points, cut))
    return found


def _node(end: End) -> str:
    return f"{end.host.name}.{label_of(end.volume) if end.volume is not None else 'memory'}"
