"""A gateway that encrypts what passes a segment: IPsec, MACsec or WireGuard between two sites."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from dtnsim.components.segment import Middlebox
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Draw, Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, of
from dtnsim.physics import network as physics


class Encryptor(Middlebox):
    """A gateway with one or several tunnels; a flow stays in one tunnel, a tunnel on one engine.

    Attributes:
        total: Rate of all engines together, in bytes on the wire before it encrypts.
        tunnels: Tunnels that flows are hashed over.
        tunnel: Rate of one tunnel; all of the box where nothing is said.
        overhead: Bytes that it adds to a packet.
    """

    kind: ClassVar[str] = "encryptor"

    total: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e3, line=True)]
    tunnels: Annotated[int, Field(ge=1, le=4096)] = 1
    tunnel: Annotated[Quantity, Unit("B/s", spread=0.2, low=1e3, line=True)] | None = None
    overhead: Annotated[Quantity, Unit("B")] = prior(
        "57 B", 0.1, "RFC 4303, RFC 4106, AES-GCM in a tunnel: 20 IP, 8 ESP, 8 IV, 2 to 5 padding, 2 trailer, 16 check"
    )

    def charge(self, row: Row, name: str, wire: Term, packet_B: Term, streams: int) -> None:
        """Its engines: what passes and what it adds; and the tunnels that the flows reach."""
        whole = wire + row.term(self.overhead) / packet_B
        row.charge(
            name,
            "middlebox",
            capacity=row.term(self.total),
            per_byte=whole,
            what="encrypting gateway",
            remedy="a faster gateway (its 'total')",
        )
        if self.tunnel is None:
            return
        row.charge(
            f"{name}.tunnels",
            "middlebox",
            capacity=self._tunnels(row.ledger.draw, streams),
            private=True,
            per_byte=whole,
            what="tunnels of the gateway: each flow stays in one",
            remedy="more tunnels (its 'tunnels') and more streams",
        )

    def rate(self, draw: Draw, streams: int) -> Value:
        """The box, or the tunnels that flows reach."""
        total = draw(self.total)
        return total if self.tunnel is None else np.minimum(total, self._tunnels(draw, streams).value)

    def _tunnels(self, draw: Draw, streams: int) -> Term:
        if self.tunnel is None:
            return of(draw, self.total)
        one = of(draw, self.tunnel)
        return law(physics.firewall_rate, engine_Bps=one, flows=streams, total_Bps=count(self.tunnels, "tunnel") * one)
