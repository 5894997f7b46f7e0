"""What a request to a mount passes one stage after the other: the wire, and the drives of a server of the path."""

from __future__ import annotations

from typing import cast

import numpy as np

from dtnsim.components.access import Access, Thread
from dtnsim.components.filesystem import charged
from dtnsim.components.remote import Remote
from dtnsim.composition.leg import End
from dtnsim.composition.network import Network, nic_of
from dtnsim.composition.route import narrowest
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Value


def inner(filesystem: Remote, row: Row, use: Access) -> Access:
    """An access of a mount as the server's own file system sees it: requests of the protocol, several at once."""
    size, at_once = filesystem.requests(row, use)
    return use.but(
        thread=Thread(filesystem.daemon, copies=filesystem.threads),
        finish="steady",
        cached=filesystem.warm and use.operation == "read",
        rtt_s=0.0,
        wire_s=0.0,
        cold_s=0.0,
        drives_s=0.0,
        queue_depth=at_once,
        block_B=size,
    )


def of_request(network: Network, ledger: Ledger, end: End, far: End, use: Access) -> dict[str, Value]:
    """Times of one request on the wire and at the drives of the server.

    Args:
        network: The network of the path.
        ledger: Its ledger.
        end: Host and mount.
        far: Host and volume that the mount shows.
        use: The access.

    Returns:
        ``wire_s`` [s/B], ``cold_s`` [s] and ``drives_s`` [s/B] of an `Access`.
    """
    filesystem = cast("Remote", end.host.volumes[end.volume or ""].filesystem)
    reading = use.operation == "read"
    ends = (far.host, end.host) if reading else (end.host, far.host)
    route, cards = network.route(*ends, []), [nic_of(host, None)[1] for host in ends]
    frame = network.framing(route, cards)
    rate, _ = narrowest(route, frame, cards, filesystem.connections, ledger.draw)
    times: dict[str, Value] = {"wire_s": frame.mtu / frame.mss / rate}
    volume = far.host.volumes[far.volume or ""]
    if not reading or volume.array is None:
        return times
    probe = Row(Ledger(ledger.draw), "", [], 1.0, far.host.name)
    seen = volume.filesystem.sees(inner(filesystem, probe, use))
    if seen.cached:
        return times
    cold = volume.filesystem.demand_time(probe, seen, far.host, far.volume or "")
    drives = np.minimum(charged(probe, seen, far.host, volume.array), cold / seen.block_B)
    return times | {"cold_s": cold, "drives_s": drives}
