"""The network between hosts: segments in series or a graph of links, and a byte's demands on the way."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Final

from dtnsim.components.nic import Nic
from dtnsim.components.offload import Duty
from dtnsim.components.segment import Segment, segment_names
from dtnsim.components.wiring import SERVERS_TCP
from dtnsim.composition import endpoint, transport
from dtnsim.composition.route import Framing, Route, charge_segment
from dtnsim.description import graph
from dtnsim.description.host import Host
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import TransferSpec, split_end
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity
from dtnsim.physics import nic as nic_physics
from dtnsim.tools.plan import NetUse

#: what an end of a route does not see of how a step uses it: what concerns the connections alone, and how much is moved
END_UNSEEN: Final = ("rate", "reopened", "stopped", "total_B")


class Network:
    """The network of a path."""

    def __init__(self, spec: PathSpec) -> None:
        self._spec = spec
        self._linked = any(s.between is not None for s in spec.links.values())
        self._routes: dict[tuple[Any, ...], Route] = {}
        self._lone = len({split_end(t.source_end)[0] for t in spec.transfers}) < 2  # who sends

    def route(self, source: Host, destination: Host, via: list[str], nics: Mapping[str, str] | None = None) -> Route:
        """The route from one host to another: the quickest in the path's graph, or over the links a transfer names.

        Args:
            source: Sender.
            destination: Receiver.
            via: Links in the order in which they are taken; none for the quickest way.
            nics: NIC to use, by host.

        Raises:
            SpecError: nothing joins them.
        """
        key = (id(source), id(destination), tuple(via), tuple((nics or {}).items()))
        route = self._routes.get(key)
        if route is None:
            route = replace(self._route(source, destination, via, nics), lone=self._lone)
            self._routes[key] = route
        return route

    def over(self, host: Host, mount: str, *, reading: bool) -> Route:
        """The route between a host and a volume's servers that lie beyond the path's network (``over``).

        Args:
            host: The host.
            mount: Its volume.
            reading: Whether bytes come from the servers.
        """
        key = ("over", id(host), mount, reading)
        route = self._routes.get(key)
        if route is None:
            route = self._routes[key] = self._over(host, mount, reading=reading)
        return route

    def _over(self, host: Host, mount: str, *, reading: bool) -> Route:
        volume, name = host.volumes[mount], f"{host.name}:{mount}"
        # a host of which only TCP's settings are known
        far = Host.model_construct(name=name, cpu=host.cpu, memory=host.memory, tcp=volume.peer or SERVERS_TCP)
        near = self._spec.graph.graph["near"]
        forward = near is None or bool(near[host.name])
        chain, key = self._chain(forward=forward), f"hosts.{host.name}.volumes.{mount}"
        names = [each for link in volume.over for each in (chain if link == graph.WAN else [link])]
        parts = self._spec.graph.nodes
        hops = [(each, parts[f"network.{each}"]["part"], forward) for each in names if each in chain]
        links = [each for each in names if each not in chain]
        hops += self._links_via(links, host.name, forward=forward, key=f"{key}.over")
        if reading:
            return Route(far, host, tuple((each, part, not out) for each, part, out in hops[::-1]), (name, key))
        return Route(host, far, tuple(hops), (name, key))

    def _route(self, source: Host, destination: Host, via: list[str], nics: Mapping[str, str] | None) -> Route:
        if via:
            forward = self._forward(source, destination)
            return Route(source, destination, tuple(self._links_via(via, source.name, forward=forward)))
        path_graph = self._spec.graph
        ends = [f"{h.name}.{nic_of(h, nics)[0]}" for h in (source, destination)]
        if not self._linked and not self._spec.wan:
            return Route(source, destination, ())
        forward = self._forward(source, destination)
        chain = self._chain(forward=forward) if self._spec.wan else []
        if self._linked or path_graph.graph["near"] is not None:
            import networkx as nx

            try:
                names = self._segments_between(*ends)
            except nx.NetworkXNoPath:
                message = f"no links join {source.name!r} and {destination.name!r}"
                remedy = "give links with 'between: [a, b]' that lead from one to the other"
                raise SpecError(message, key="links", remedy=remedy) from None
            if names[0] not in chain:  # no host is passed through, so that a way is of links or of the WAN
                return Route(source, destination, tuple(self._links_via(names, source.name, forward=True)))
            chain = chain if path_graph.graph["near"] is None else names
        return Route(source, destination, tuple((n, path_graph.nodes[f"network.{n}"]["part"], forward) for n in chain))

    def _segments_between(self, source: str, destination: str) -> list[str]:
        """Segments between two NICs, cached by the segments that they are wired to."""
        path_graph = self._spec.graph
        key = tuple(
            tuple((n, edge["rtt"]) for n, edge in path_graph[node].items() if path_graph.nodes[n]["host"] == "network")
            for node in (source, destination)
        )
        ways: dict[Any, list[str]] = path_graph.graph["ways"]
        if key not in ways:
            ways[key] = graph.shortest_route(path_graph, source, destination)
        return ways[key]

    def _forward(self, source: Host, destination: Host) -> bool:
        """Whether bytes cross the WAN from its near end to its far end."""
        near = self._spec.graph.graph["near"]
        if near is not None and near[source.name] != near[destination.name]:
            return bool(near[source.name])
        order = self._spec.graph.graph["order"]
        return bool(order[source.name] < order[destination.name])

    def _chain(self, *, forward: bool) -> list[str]:
        """All segments of the WAN, where the hosts that talk are not at two ends of it."""
        names = segment_names(self._spec.wan)
        return names if forward else names[::-1]

    def _links_via(
        self, via: list[str], node: str, *, forward: bool, key: str = "transfer.via"
    ) -> Iterator[tuple[str, Segment, bool]]:
        """Links in the order that a transfer names, each with the direction in which it is crossed."""
        for name in via:
            segment = self._spec.links[name]
            if segment.between is None:
                yield name, segment, forward
                continue
            if node not in segment.between:
                message = f"link {name!r} does not begin at {node!r}"
                remedy = f"it is between {' and '.join(segment.between)}; name the links in their order"
                raise SpecError(message, key=key, value=", ".join(via), remedy=remedy)
            ahead = node == segment.between[0]
            node = segment.between[1] if ahead else segment.between[0]
            yield name, segment, ahead

    # -- charging ---------------------------------------------------------------------------------

    def carry(self, row: Row, route: Route, net: NetUse, spec: TransferSpec | None) -> tuple[list[Nic], Framing]:
        """Charges one payload byte sent along a route: CPU, NICs, buses and segments; not the transport.

        Returns:
            What `transport.charge` asks for: the cards of both ends, and the packets between them.
        """
        nics, frame = self.ends(route, net, spec)
        row = row.times(net.overhead).times(transport.sent_again(row, route, net, frame, [card for _, card in nics]))
        bound = (spec.core, tuple(spec.ports.items())) if spec is not None else ()
        plain = net.key(*END_UNSEEN)
        for host, (name, card), receiving in zip((route.source, route.destination), nics, (False, True), strict=True):
            # an end sees neither a target rate nor, where its card keeps no account, how much is moved
            unseen = END_UNSEEN if card.allowance is None else END_UNSEEN[:-1]
            local, key = row.seen_from(host.name), plain if card.allowance is None else net.key(*unseen)
            charge = partial(_end, local, (host, name, card, frame, receiving), net, spec, unseen)
            if key is None:
                charge()
            else:
                local.likewise(("end", id(host), name, key, frame, receiving, bound), charge)
        for name, segment, forward in route.hops:
            local = row.seen_from("")
            charge = partial(charge_segment, local, name, segment, frame, (net.streams, net.workers), forward=forward)
            local.likewise(("segment", name, id(segment), frame, net.streams, net.workers, forward), charge)
        return [card for _, card in nics], frame

    def ends(self, route: Route, net: NetUse, spec: TransferSpec | None) -> tuple[list[tuple[str, Nic]], Framing]:
        """The cards of both ends by name, and the packets between them."""
        ends, named = (route.source, route.destination), spec.nics if spec is not None else None
        nics = [nic_of(h, named) for h in ends] if ends[0] is not ends[1] else [loopback(), loopback()]
        return nics, transport.packets(net, self.framing(route, [n for _, n in nics]), [n for _, n in nics])

    @staticmethod
    def passing(duty: Duty, host: Host, spec: TransferSpec) -> Duty:
        """A duty on a transfer's bytes, completed by the NIC that they pass on the host."""
        return replace(duty, nic=nic_of(host, spec.nics)[0]) if host.nics else duty

    @staticmethod
    def framing(route: Route, nics: list[Nic]) -> Framing:
        """Packet sizes: the smallest MTU on the way."""
        mtu = min([n.packet.value for n in nics] + [s.mtu.value for _, s, _ in route.hops if s.mtu is not None])
        stamps = all(n.timestamps for n in nics)
        mss = float(nic_physics.segment_bytes(mtu, stamps))
        wire = float(nic_physics.wire_bytes(mtu, 1.0 if any(n.vlan for n in nics) else 0.0))
        return Framing(mtu, mss, wire)


def _end(
    row: Row,
    where: tuple[Host, str, Nic, Framing, bool],
    net: NetUse,
    spec: TransferSpec | None,
    unseen: tuple[str, ...],
) -> None:
    """Charges one end of a route."""
    host, name, card, frame, receiving = where
    endpoint.charge(row, endpoint.Side(host, name, card, net.without(*unseen), frame, receiving), spec)


@lru_cache(maxsize=1)
def loopback() -> tuple[str, Nic]:
    """The interface between two programs of one host: a packet of 64 KiB, no wire, no bus."""
    words = "Linux, drivers/net/loopback.c: MTU 65536; nothing leaves the host's memory"
    fields = {"rate": Quantity(1e12, "B/s", 0.0, words), "mtu": Quantity(65535.0, "B", 0.0, words)}
    return endpoint.LOOPBACK, Nic.model_validate(fields)


def nic_of(host: Host, nics: Mapping[str, str] | None) -> tuple[str, Nic]:
    """The NIC that a transfer uses on a host: the NIC it names, or the first with Ethernet.

    Raises:
        SpecError: there is none.
    """
    wanted = (nics or {}).get(host.name)
    if wanted is not None:
        if wanted not in host.nics:
            key = f"transfer.nics.{host.name}"
            raise SpecError("is not a NIC of that host", key=key, value=wanted, remedy=f"NICs: {', '.join(host.nics)}")
        return wanted, host.nics[wanted]
    for name, card in host.nics.items():
        if card.protocol == "ethernet":
            return name, card
    remedy = "give it one: 'nic: {part: ...}'"
    if host.nics:
        remedy = f"name an InfiniBand one for RDMA: 'transfer: {{nics: {{{host.name}: {next(iter(host.nics))}}}}}'"
    raise SpecError("has no Ethernet NIC", key=f"hosts.{host.name}.nics", remedy=remedy)
