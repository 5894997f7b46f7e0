"""Boxes on a network segment: policers and shapers, firewalls, encryptors."""

from abc import abstractmethod
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Draw, Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, parameter
from dtnsim.physics import network as physics


class Policer(Component):
    """A token bucket: ``police`` drops what exceeds the rate, ``shape`` queues it."""

    kind: ClassVar[str] = "policer"

    rate: Annotated[Quantity, Unit("B/s", low=1e3, line=True)]
    burst: Annotated[Quantity, Unit("B", low=1500)] = prior("1 MB", 1.0, "assumed: default burst of a policer")
    action: Literal["police", "shape"] = "police"


class Firewall(Component):
    """A firewall on a segment: one flow goes through one inspection engine with a small input buffer."""

    kind: ClassVar[str] = "firewall"

    engine: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e3, line=True)]
    total: Annotated[Quantity, Unit("B/s", spread=0.2, low=1e3, line=True)] | None = None
    buffer: Annotated[Quantity, Unit("B", spread=0.5, low=1500)] = prior(
        "128 KiB", 1.0, "assumed: input buffers of firewalls are small (ESnet fasterdata, Firewall Performance Issues)"
    )
    strips_window_scaling: bool = False


class Middlebox(Component):
    """A box on a segment, besides its firewall and policer; there may be several, by name."""

    family: ClassVar[str] = "middlebox"

    @abstractmethod
    def charge(self, row: Row, name: str, wire: Term, packet_B: Term, streams: int) -> None:
        """Charges one payload byte that passes."""

    @abstractmethod
    def rate(self, draw: Draw, streams: int) -> Value:
        """Bytes on the wire that it lets pass in a second: TCP sees the narrowest place of its route."""


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
        per_byte = wire + row.term(self.overhead) / packet_B
        text, remedy = "encrypting gateway", "a faster gateway (its 'total')"
        row.charge(name, self.family, capacity=row.term(self.total), per_byte=per_byte, what=text, remedy=remedy)
        if self.tunnel is None:
            return
        rate, name = self._tunnels(row.ledger.draw, streams), f"{name}.tunnels"
        text, remedy = "tunnels of the gateway: each flow stays in one", "more tunnels (its 'tunnels') and more streams"
        row.charge(name, self.family, capacity=rate, private=True, per_byte=per_byte, what=text, remedy=remedy)

    def rate(self, draw: Draw, streams: int) -> Value:
        total = draw(self.total)
        return total if self.tunnel is None else np.minimum(total, self._tunnels(draw, streams).value)

    def _tunnels(self, draw: Draw, streams: int) -> Term:
        if self.tunnel is None:
            return parameter(draw, self.total)
        one = parameter(draw, self.tunnel)
        return law(physics.firewall_rate, engine_Bps=one, flows=streams, total_Bps=count(self.tunnels, "tunnel") * one)
