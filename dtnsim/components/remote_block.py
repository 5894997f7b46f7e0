"""What block devices behind a network have in common: requests in flight, the target's ports, a core a connection."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access
from dtnsim.components.device import Fabric, Layer
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, least, term
from dtnsim.physics import waiting


class RemoteBlock(Layer):
    """Drives of a target (``of``), ``targets`` of them, behind a network: the volume's ``via`` names the host's NICs.

    Attributes:
        of: Drives of one target.
        targets: Targets that the volume is spread over evenly.
        port_rate: Rate of one target's ports, where they may be narrower than the rest.
        transport: What carries the requests: tcp or rdma.
        connections: Connections to all targets together.
        depth: Requests that one connection has in flight.
        request: Largest request; read-ahead and write-back ask for so much at once.
        round_trip: Time that the network and both ends add to a request.
        protocol_byte: What a byte costs the host's core besides TCP.
    """

    targets: Annotated[int, Field(ge=1, le=1000)] = 1
    port_rate: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e5, line=True)] | None = None
    transport: Literal["tcp", "rdma"] = "tcp"
    connections: Annotated[int, Field(ge=1, le=4096)] = 1
    depth: Annotated[int, Field(ge=1, le=4096)] = 128
    request: Annotated[Quantity, Unit("B", low=4096)] = prior("128 KiB", 0.0, "Linux: read_ahead_kb of block devices")
    round_trip: Annotated[Quantity, Unit("s", spread=0.5)] | None = None
    protocol_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)]

    #: what the network and both ends add to a request where ``round_trip`` does not say it, by transport
    ROUND_TRIP: ClassVar[dict[str, Quantity]]

    def added(self, row: Row) -> Term:
        """Time that the network and both ends add to a request [s]; the default depends on the transport."""
        return row.term(self.round_trip or self.ROUND_TRIP[self.transport])

    @property
    def per_byte(self) -> Quantity:
        """What a byte costs the host's core besides the transport: commands and completions."""
        return self.protocol_byte

    @property
    def fabric(self) -> Fabric:
        """Its connections."""
        return Fabric(self.transport, self.connections, self.per_byte, self.kind)

    def largest(self, use: Access) -> Quantity:  # noqa: ARG002 - kinds need it
        """Largest request of an access."""
        return self.request

    def trips(self, row: Row, use: Access) -> Term | float:  # noqa: ARG002 - kinds need them
        """Ways there and back of one request."""
        return 1.0

    def parity_thread(self, use: Access) -> None:
        """The targets compute their own parity."""

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        """That of the target's drives, and the ways there and back."""
        return np.asarray(self.of.latency(row, use, members)) + (self.trips(row, use) * self.added(row)).value

    def single_rate(self, row: Row, use: Access) -> Value:
        """One request passes the target's port, and then its drives [B/s]."""
        drives = self.of.single_rate(row, use)
        return drives if self.port_rate is None else 1.0 / (1.0 / drives + 1.0 / row.value(self.port_rate))

    def turnaround(self, row: Row) -> Term:
        """That of the target's drives, and the way there and back."""
        return self.of.turnaround(row) + self.added(row)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges requests in flight, the targets' ports and their drives."""
        largest = row.term(self.largest(use))
        size = least(largest, term(use.block_B, "B")) if use.alone else largest
        flying = use.under_way(self.largest(use).value, float(self.connections * self.depth * copies))
        drives = term(self.of.latency(row, use.but(random=use.alone)), "s", "drives of the target")
        waits = drives + self.trips(row, use) * self.added(row)
        row.charge(
            f"{name}.in-flight",
            "window",
            capacity=law(
                waiting.request_rate,
                request_B=size,
                latency_s=waits,
                rate_Bps=term(self.single_rate(row, use), "B/s"),
                in_flight=flying,
            ),
            what=f"{self.kind} {use.operation} requests in flight",
            remedy=f"more requests in flight: larger read-ahead, queue depth or more connections "
            f"(hosts.{row.host}.volumes, array.request, array.depth, array.connections)",
        )
        if self.port_rate is not None:
            row.charge(
                f"{name}.target-ports",
                "nic",
                capacity=count(self.targets * copies, "target") * row.term(self.port_rate),
                what="ports of the targets",
            )
        self.of.serve(row, use, name, copies=copies * self.targets, visit_B=visit_B)
