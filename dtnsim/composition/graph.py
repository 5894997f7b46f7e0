"""The path as a networkx graph: what is wired to what, from drives to drives."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

    from dtnsim.description.host import Host
    from dtnsim.description.spec import PathSpec

#: added to every link's weight so that of two ways with the same delay the one with fewer links wins
_HOP_S = 1e-9


def links(spec: PathSpec) -> nx.Graph[str]:
    """Hosts and junctions joined by the links that say what they are ``between``; weights are round-trip times."""
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(spec.hosts)
    for name, segment in spec.links.items():
        if segment.between is not None:
            rtt = segment.rtt.value + _HOP_S
            known = graph.get_edge_data(*segment.between)
            if known is None or rtt < known["rtt"]:  # of links side by side the shorter one is the way
                graph.add_edge(*segment.between, name=name, rtt=rtt)
    return graph


def graph(spec: PathSpec) -> nx.Graph[str]:
    """Everything on a path: volumes, adapters, slots and uplinks, memory, NICs, segments.

    Nodes are ``host:family name`` with attributes ``kind`` and ``host``; segments are ``network:name``.
    """
    import networkx as nx

    whole: nx.Graph[str] = nx.Graph()
    for host in spec.hosts.values():
        _host(whole, host)
    names = ["wan"] if len(spec.wan) == 1 else [f"wan{i + 1}" for i in range(len(spec.wan))]
    nics = [
        [f"{h.name}:nic {n}" for n, card in h.nics.items() if card.protocol == "ethernet"] for h in spec.hosts.values()
    ]
    if names:
        chain = [f"network:{n}" for n in names]
        whole.add_nodes_from(chain, kind="segment", host="network")
        nx.add_path(whole, chain)
        for place, cards in enumerate(nics):
            whole.add_edges_from((card, chain[0] if place == 0 else chain[-1]) for card in cards)
    for name, segment in spec.links.items():
        node = f"network:{name}"
        whole.add_node(node, kind="segment", host="network")
        for end in segment.between or ():
            cards = nics[list(spec.hosts).index(end)] if end in spec.hosts else [f"network:{end}"]
            whole.add_edges_from((card, node) for card in cards)
    return whole


def _host(whole: nx.Graph[str], host: Host) -> None:
    def node(kind: str, name: str = "") -> str:
        label = f"{host.name}:{kind} {name}".strip()
        whole.add_node(label, kind=kind, host=host.name)
        return label

    memory = node("memory")
    whole.add_edge(node("cpu"), memory)
    for name, slot in host.slots.items():
        whole.add_edge(node("slot", name), node("slot", slot.behind) if slot.behind else memory)
    for kind, cards in (("hba", host.hbas), ("nic", host.nics)):
        for name, card in cards.items():
            whole.add_edge(node(kind, name), node("slot", card.slot) if card.slot else memory)
    for mount, volume in host.volumes.items():
        routes: list[str | None] = [*volume.via] or [None]
        for via in routes:
            kind = "hba" if via in host.hbas else "nic" if via in host.nics else "slot"
            whole.add_edge(node("volume", mount), node(kind, via) if via is not None else memory)
