"""The path as one networkx graph: what is wired to what, from drives to drives.

Nodes are components, segments and volumes, named as their stations are (``venadi.slot-hba``, ``network.wan``);
edges are the wiring. Routes are shortest paths in it, and what still works when a node goes is asked of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from dtnsim.components.base import Model, Pick, empty
from dtnsim.components.filesystem import label_of
from dtnsim.components.segment import Segment, segment_names
from dtnsim.description.host import Host
from dtnsim.description.transfer import TransferSpec
from dtnsim.ground import graphs

if TYPE_CHECKING:
    import networkx as nx

WAN = "wan"  #: name that stands for all segments of the WAN
_HOP_S = 1e-9  #: added to every hop's weight so that of two ways with the same delay the way with fewer links wins


class Joined(Model):
    """What is joined on a path, and by whom it is used: all that its graph is made of."""

    name: str
    hosts: dict[str, Host]
    wan: list[Annotated[Segment, Pick(Segment)]] = Field(default_factory=empty)
    links: dict[str, Annotated[Segment, Pick(Segment)]] = Field(default_factory=dict)
    transfers: Annotated[list[TransferSpec], Field(min_length=1)]

    @property
    def segments(self) -> list[Segment]:
        """All segments of its network, those of the WAN first."""
        return [*self.wan, *self.links.values()]

    @cached_property
    def graph(self) -> nx.Graph[str]:
        """What is wired to what, from drives to drives."""
        return _graph(self)


def _graph(spec: Joined) -> nx.Graph[str]:
    """Everything on a path: volumes, adapters, slots and uplinks, memory, processors, NICs, segments.

    Returns:
        Nodes with the attributes ``kind`` (``volume``, ``hba``, ``slot``, ``memory``, ``cpu``, ``nic``, ``segment``,
        ``junction``, ``server``), ``host`` (or ``network``), ``part`` (the component itself), ``key`` (where the
        path file describes it) and, where it has a nominal rate of its own, ``rate_Bps``; edges with ``rtt`` [s], half
        of a segment's delay at either side of it.
    """
    graphs.prepare()
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph(name=spec.name, order=order(spec), near=near_end(spec), ways={})
    for host in spec.hosts.values():
        _host(graph, host)
    if spec.wan:
        _wan(graph, spec)
    named = _named(spec)
    for name, segment in spec.links.items():
        node = _segment(graph, name, segment, f"links.{name}")
        for end in segment.between or ():
            if end not in spec.hosts:
                graph.add_node(f"network.{end}", kind="junction", host="network", part=None)
            for port in _ports(spec.hosts[end], named) if end in spec.hosts else [f"network.{end}"]:
                _join(graph, port, node)
    for host in spec.hosts.values():
        for mount, volume in host.volumes.items():
            if volume.over:
                _join_servers(graph, spec, f"{host.name}.{label_of(mount)}", host, volume.over)
    return graph


def _join_servers(graph: nx.Graph[str], spec: Joined, node: str, host: Host, over: list[str]) -> None:
    """Joins a volume to the last of the segments that its servers lie behind."""
    near = graph.graph["near"]
    chain = segment_names(spec.wan) if near is None or near[host.name] else segment_names(spec.wan)[::-1]
    names = [each for segment in over for each in (chain if segment == WAN else [segment])]
    _join(graph, node, f"network.{names[-1]}")
    if names[0] not in chain and spec.links[names[0]].between is None:  # in no graph of links
        for port in _ports(host, _named(spec)):
            graph.add_edge(port, f"network.{names[0]}", rtt=_HOP_S)


def shortest_route(graph: nx.Graph[str], source: str, destination: str) -> list[str]:
    """Names of segments on the quickest way between two NICs, in order; `NetworkXNoPath` where nothing joins them."""
    import networkx as nx

    ends = (source, destination)
    passed = nx.subgraph_view(graph, filter_node=lambda n: n in ends or graph.nodes[n]["host"] == "network")
    nodes = nx.shortest_path(passed, source, destination, weight="rtt")
    return [n.removeprefix("network.") for n in nodes if graph.nodes[n]["kind"] == "segment"]


def order(spec: Joined) -> dict[str, int]:
    """Numbers of the hosts as transfers name them, sources first: the order in which hosts are described is none."""
    ends = (end.partition(":")[0].strip() for t in spec.transfers for end in (t.source_end, t.to))
    return {name: number for number, name in enumerate(dict.fromkeys([*ends, *sorted(spec.hosts)]))}


def near_end(spec: Joined) -> dict[str, bool] | None:
    """Which hosts are at the near end of the WAN, that of its first segment; None where talkers are not two sides.

    The first transfer starts there.
    """
    import networkx as nx

    talk: nx.Graph[str] = nx.Graph()
    talk.add_nodes_from(spec.hosts)
    pairs = [(t.source_end.partition(":")[0].strip(), t.to.partition(":")[0].strip()) for t in spec.transfers]
    for name, host in spec.hosts.items():
        pairs += [(name, v.server.partition(":")[0].strip()) for v in host.volumes.values() if v.server]
    talk.add_edges_from((a, b) for a, b in pairs if a != b and a in spec.hosts and b in spec.hosts)
    near: dict[str, bool] = {}
    for first in order(spec):
        if first not in near:
            steps = nx.single_source_shortest_path_length(talk, first)
            near |= {name: n % 2 == 0 for name, n in steps.items()}
    return None if any(near[a] == near[b] for a, b in talk.edges) else near


def _wan(graph: nx.Graph[str], spec: Joined) -> None:
    """The segments in series between both ends; hosts that talk across it are at its two ends."""
    names = segment_names(spec.wan)
    keys = ["wan"] if len(names) == 1 else [f"wan.{number}" for number in range(len(names))]
    chain = [_segment(graph, *each) for each in zip(names, spec.wan, keys, strict=True)]
    for a, b in pairwise(chain):
        _join(graph, a, b)
    near, named = graph.graph["near"], _named(spec)
    for name, host in spec.hosts.items():
        for port in _ports(host, named):
            if near is None or near[name]:
                _join(graph, port, chain[0])
            if near is None or not near[name]:
                _join(graph, port, chain[-1])


def _segment(graph: nx.Graph[str], name: str, segment: Segment, key: str) -> str:
    node = f"network.{name}"
    graph.add_node(node, kind="segment", host="network", part=segment, rate_Bps=segment.bandwidth.any_value, key=key)
    return node


def _join(graph: nx.Graph[str], a: str, b: str) -> None:
    """Wires two nodes at half of the delay of those that are segments.

    The WAN's leave no choice of ways, so that any of many round trips will do.
    """
    parts = [part for node in (a, b) if isinstance(part := graph.nodes[node]["part"], Segment)]
    delay = sum(part.rtt.any_value if part.between is None else part.rtt.value for part in parts)
    graph.add_edge(a, b, rtt=delay / 2 + _HOP_S)


def _named(spec: Joined) -> set[tuple[str, str]]:
    """(host, NIC) that transfers name."""
    return {named for t in spec.transfers if t.nics for named in t.nics.items()}


def _ports(host: Host, named: set[tuple[str, str]]) -> list[str]:
    """NICs that are on the network: those with Ethernet, and those that a transfer names."""
    wired = [n for n, card in host.nics.items() if card.protocol == "ethernet" or (host.name, n) in named]
    return [f"{host.name}.{n}" for n in wired]


def _host(graph: nx.Graph[str], host: Host) -> None:
    """A host's own wiring, under its name, and the servers that it shares with others."""
    for node, data in host.wiring.nodes(data=True):
        key = f"hosts.{host.name}.{data['key']}"
        graph.add_node(f"{host.name}.{node}", host=host.name, **{**data, "key": key})
    for a, b in host.wiring.edges:
        graph.add_edge(f"{host.name}.{a}", f"{host.name}.{b}", rtt=0.0)
    for mount, volume in host.volumes.items():
        system = getattr(volume.filesystem, "system", None)
        if system is not None:  # several hosts mount the same servers
            if str(system) not in graph:
                key = f"hosts.{host.name}.volumes.{mount}"
                graph.add_node(str(system), kind="server", host="network", part=volume.filesystem, key=key)
            graph.add_edge(f"{host.name}.{label_of(mount)}", str(system), rtt=0.0)


@dataclass(frozen=True, slots=True)
class Cut:
    """The narrowest set of nodes whose loss separates two ends."""

    rate_Bps: float  #: What all of them carry together at their nominal rates [B/s]; infinite where nothing limits.
    nodes: tuple[str, ...]  #: Their names.


def single_points(graph: nx.Graph[str], source: str, destination: str) -> list[str]:
    """Nodes, in order, that every way between two others passes (dominators): each alone stops what goes there."""
    import networkx as nx
    from networkx.algorithms.dominance import immediate_dominators

    directed: nx.DiGraph[str] = nx.DiGraph()
    directed.add_nodes_from(graph)
    directed.add_edges_from(pair for a, b in graph.edges for pair in ((a, b), (b, a)))
    above = immediate_dominators(directed, source)
    points, node = [], destination
    while node in above and above[node] not in (node, source, None):
        node = above[node]
        points.append(node)
    return points[::-1]


def narrowest_cut(graph: nx.Graph[str], source: str, destination: str) -> Cut:
    """The set of nodes that limits all ways between two nodes together, by their nominal rates (minimum cut).

    Nodes without a rate of their own (processors, memory, volumes) are taken as unlimited: what binds a transfer is
    for `dtnsim predict` to say, this is what the wiring could carry at most.
    """
    import networkx as nx
    from networkx.algorithms.flow import minimum_cut

    flow: nx.DiGraph[tuple[str, str]] = nx.DiGraph()
    for node, data in graph.nodes(data=True):
        rate = data.get("rate_Bps")
        limit = {} if rate is None or node in (source, destination) else {"capacity": float(rate)}
        flow.add_edge((node, "in"), (node, "out"), **limit)
    for a, b in graph.edges:
        flow.add_edge((a, "out"), (b, "in"))
        flow.add_edge((b, "out"), (a, "in"))
    try:
        rate, (source_side, _) = minimum_cut(flow, (source, "in"), (destination, "out"))
    except nx.NetworkXUnbounded:
        return Cut(float("inf"), ())
    nodes = tuple(n for n in graph if (n, "in") in source_side and (n, "out") not in source_side)
    return Cut(float(rate), nodes)
