"""Servers beyond a network: what the traffic of a volume charges on the way to servers that are no hosts of the path.

A store, a filer or the servers of a parallel file system are reached like any host: the segments of the way, and the
connections' TCP with its windows and losses. At their end nothing is charged but what the file system itself says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from dtnsim.components.access import Access, Thread
from dtnsim.components.nic import Nic
from dtnsim.composition import segments, tcp, transport
from dtnsim.composition.leg import End
from dtnsim.ground.quantity import Value, prior
from dtnsim.tools.plan import NetUse

if TYPE_CHECKING:
    from dtnsim.components.device import Fabric
    from dtnsim.components.servers import Servers
    from dtnsim.composition.network import Network
    from dtnsim.ground.ledger import Row
    from dtnsim.ground.records import Connection

#: a port of a server of which nothing is said
_PORT = prior("25 Gb/s", 0.7, "assumed: a port of a server of some years, 10 to 100 Gb/s")


def net_of(row: Row, end: End, use: Access) -> NetUse | None:
    """How the connections of a volume use the network; None where nothing of the path lies between."""
    assert end.volume is not None
    volume = end.host.volumes[end.volume]
    many = volume.filesystem.connections_of(row, use)
    if not volume.over or many is None:
        return None
    fabric: Fabric | None = getattr(volume.filesystem, "fabric", None)
    carrier: Literal["tcp", "udp", "rdma"] = "tcp"
    if any(end.host.nics[name].protocol == "infiniband" for name in end.host.storage_nics(end.volume)):
        carrier = "rdma"
    elif fabric is not None and fabric.transport != "tcp":
        carrier = "rdma" if fabric.transport == "rdma" else "udp"  # a driver past the kernel sends datagrams
    kernel = Thread("kernel")
    return NetUse(kernel, kernel, streams=many.number, transport=carrier, total_B=use.total_B)


def owned(row: Row, end: End, use: Access) -> Row:
    """The row as its connections are charged: those of a mount are shared by all that use it."""
    assert end.volume is not None
    many = end.host.volumes[end.volume].filesystem.connections_of(row, use)
    return row if many is None else end.host.mount(row, end.volume, many)


def carry(row: Row, network: Network, end: End, use: Access) -> Access:
    """Charges the way between a volume's host and its servers.

    Args:
        row: The row to charge.
        network: The network of the path.
        end: Host and volume.
        use: The access.

    Returns:
        The access, knowing what TCP lets one of its connections have.
    """
    net = net_of(row, end, use)
    if net is None:
        return use
    assert end.volume is not None
    filesystem, reading = end.host.volumes[end.volume].filesystem, use.operation == "read"
    route = network.over(end.host, end.volume, reading=reading)
    cards = [end.host.nics[name] for name in end.host.storage_nics(end.volume)]
    frame = transport.packets(net, network.framing(route, cards), cards)
    there = owned(row.times(filesystem.sent(row, use)), end, use).at("")
    for name, segment, forward in route.hops:
        segments.charge(there, name, segment, frame, (net.streams, 1), forward=forward)
    ends = [_far(end, cards[0]), cards[0]] if reading else [cards[0], _far(end, cards[0])]
    transport.charge(there, route, net, frame, ends if len(cards) == 1 else [], row.ledger.draw)
    found = tcp.main_connection(there, route)
    return use if found is None else use.but(flow_Bps=_one(found[1]))


def _one(streams: Connection) -> Value:
    """Rate of one of the connections while it sends and the others wait for answers, alone on the link [B/s]."""
    alone, together = (tcp.closed_form(replace(streams, streams=n))[0] for n in (1, streams.streams))
    return streams.capacity_Bps * alone / together


def _far(end: End, card: Nic) -> Nic:
    """The ports at the other end: those of the servers where they are described, or such as keep up with the host."""
    made: Servers | None = getattr(end.host.volumes[end.volume or ""].filesystem, "servers", None)
    rate = card.rate.worth(max(_PORT.value, card.rate.value * card.links), _PORT.source)
    if made is not None and made.port_rate is not None:
        rate = made.port_rate.worth(made.port_rate.value * made.ports * made.count, made.port_rate.source)
    plain = {"rate": rate, "ports": 1, "bonding": "none", "allowance": None, "packets": None}
    return card.model_copy(update=plain)
