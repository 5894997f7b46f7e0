"""Servers of a volume: the demands of its traffic on the way to servers that are not hosts of the path; request stages.

An object store, a filer or the servers of a parallel file system are reached like any host: over the segments of the
route, by TCP with its windows and losses. At their end only the file system's own demands are charged.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, cast

import numpy as np

from dtnsim.components.access import Access, Operations, Thread
from dtnsim.components.device import Connections, Fabric
from dtnsim.components.filesystem import charged
from dtnsim.components.nic import Nic
from dtnsim.components.remote import Remote
from dtnsim.components.servers import Servers
from dtnsim.composition import tcp, transport
from dtnsim.composition.network import Network, nic_of
from dtnsim.composition.resolved_transfer import End
from dtnsim.composition.route import charge_segment, payload_rate
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Value, prior
from dtnsim.physics import nfs
from dtnsim.tools.plan import NetUse

#: a server's port if nothing is stated
_PORT = prior("25 Gb/s", 0.7, "assumed: a port of a server of some years, 10 to 100 Gb/s")


def net_of(row: Row, end: End, use: Access) -> NetUse | None:
    """How a volume's connections use the network; None if no part of the path lies between."""
    assert end.volume is not None
    volume = end.mounted
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
    """The row to which its connections are charged: those of a mount are shared by all of its users."""
    many = end.mounted.filesystem.connections_of(row, use)
    return row if many is None else end.host.mount(row, end.volume or "", many)


def carry(row: Row, network: Network, end: End, use: Access) -> Access:
    """Charges the route between a volume's host and its servers.

    Returns:
        The access, with the rate that TCP allows one of its connections.
    """
    net = net_of(row, end, use)
    if net is None:
        return use
    assert end.volume is not None
    filesystem, reading = end.mounted.filesystem, use.operation == "read"
    route = network.over(end.host, end.volume, reading=reading)
    cards = [end.host.nics[name] for name in end.host.storage_nics(end.volume)]
    frame = transport.packets(net, network.framing(route, cards), cards)
    wire = owned(row.times(filesystem.sent(row, use)), end, use).seen_from("")
    for name, segment, forward in route.hops:
        charge_segment(wire, name, segment, frame, (net.streams, 1), forward=forward)
    ends = [_far_ports(end, cards[0]), cards[0]] if reading else [cards[0], _far_ports(end, cards[0])]
    transport.charge(wire, route, net, frame, ends if len(cards) == 1 else [])
    connection = tcp.main_connection(wire, route)
    if connection is None:
        return use
    # that of one which sends while the others wait for answers, alone on the link
    alone, together = (tcp.closed_form(replace(connection[1], streams=n))[0] for n in (1, connection[1].streams))
    return use.but(flow_Bps=connection[1].capacity_Bps * alone / together)


def _far_ports(end: End, card: Nic) -> Nic:
    """The servers' ports, as described, or fast enough to keep up with the host."""
    nodes: Servers | None = getattr(end.mounted.filesystem, "servers", None)
    rate = card.rate.worth(max(_PORT.value, card.rate.value * card.links), _PORT.source)
    if nodes is not None and nodes.port_rate is not None:
        rate = nodes.port_rate.worth(nodes.port_rate.value * nodes.ports * nodes.count, nodes.port_rate.source)
    plain = {"rate": rate, "ports": 1, "bonding": "none", "allowance": None, "packets": None}
    return card.model_copy(update=plain)


# -- servers that are hosts of the path -----------------------------------------------------------


def inner(filesystem: Remote, row: Row, use: Access) -> Access:
    """A mount's access as the server's own file system sees it: requests of the protocol, several at once.

    Args:
        filesystem: That of the mount.
        row: Sees the server.
        use: The access at the client.
    """
    size, at_once = filesystem.requests(row, use)
    return use.but(
        thread=Thread(filesystem.daemon, copies=filesystem.threads),
        finish="steady",
        cached=filesystem.warm and use.operation == "read",
        rtt_s=0.0,
        wire_s=0.0,
        cold_s=0.0,
        drives_s=0.0,
        commit_s=0.0,
        commits=filesystem.commits,
        queue_depth=at_once,
        block_B=size,
    )


def names(row: Row, end: End, each: Mapping[str, float], *, own: bool) -> None:
    """Charges the core of a mount's connection for the requests of its metadata operations.

    Args:
        row: Sees the client.
        each: Operations of each name for one payload byte.
        own: Whether a task stats files that it has made itself, whose attributes it has cached.
    """
    filesystem = end.mounted.filesystem
    requests = Operations({name: number for name, number in each.items() if name != "stat" or not own}, 0)
    if not isinstance(filesystem, Remote) or not requests.number:
        return
    work, text = filesystem.operation_cycles(row, requests), f"{filesystem.protocol} requests for names and attributes"
    if end.mounted.server is not None:
        local = end.host.mount(row, end.volume or "", Connections(filesystem.connections)).seen_from(end.host.name)
        end.host.core(local, Thread(f"kernel {filesystem.protocol}", copies=filesystem.connections), work, text)
    elif end.host.storage_nics(end.volume or ""):
        end.host.connection(row, end.volume or "", filesystem.fabric, work, text)


def of_request(network: Network, ledger: Ledger, end: End, far: End, use: Access) -> dict[str, Value]:
    """Times of one request on the wire and at the server's drives.

    Args:
        far: Host and volume that the mount shows.

    Returns:
        ``wire_s`` [s/B], ``cold_s`` [s], ``drives_s`` [s/B] and ``commit_s`` [s] of an `Access`.
    """
    filesystem = cast("Remote", end.mounted.filesystem)
    reading = use.operation == "read"
    if reading and use.cached:
        return {}
    ends = (far.host, end.host) if reading else (end.host, far.host)
    route, cards = network.route(*ends, []), [nic_of(host, None)[1] for host in ends]
    frame = network.framing(route, cards)
    rate = payload_rate(route, frame, cards, filesystem.connections, ledger.draw)
    times: dict[str, Value] = {"wire_s": 1.0 / rate}
    volume = far.mounted
    commits = use.finish == "fdatasync" and filesystem.synced
    if not (reading or commits) or volume.array is None:
        return times
    probe = Row(Ledger(ledger.draw), "", [], 1.0, far.host.name)
    seen = volume.filesystem.sees(inner(filesystem, probe, use))
    if commits:
        drives_s = charged(probe, seen, far.host, volume.array)
        together = use.streams if use.total_B <= use.own_streams * use.file_B else 1  # all close at once
        flying = filesystem.flight_rate(probe, use, filesystem.request_B(probe, use)).value
        sent_s = np.maximum(times["wire_s"], 1.0 / flying)
        gathers = np.minimum(_gathers(probe, end, far), volume.filesystem.dirty_age(probe, far.host) / sent_s)
        return times | {"commit_s": nfs.commit_wait(together * use.file_B, gathers, sent_s, drives_s)}
    if seen.cached:
        return times
    cold = volume.filesystem.demand_time(probe, seen, far.host, far.volume or "")
    drives = np.minimum(charged(probe, seen, far.host, volume.array), cold / seen.block_B)
    return times | {"cold_s": cold, "drives_s": drives}


def _gathers(row: Row, end: End, far: End) -> Value:
    """Bytes that a server's memory takes before write-back begins; at most what a client may have uncommitted.

    Source: Linux fs/nfs/write.c (pages count as dirty, or under way, until a COMMIT is answered).
    """
    begins, _ = far.mounted.filesystem.cache_limits(row, far.host)
    _, limit = end.mounted.filesystem.cache_limits(row, end.host)
    return np.minimum(begins, limit)
