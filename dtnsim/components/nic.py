"""Network adapters: ports, framing, bonding, the slot they sit in; Ethernet or InfiniBand."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.components.base import Component
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior


class Nic(Component):
    """An adapter with one or more ports of ``rate`` each (the data rate of the link, after line coding).

    Attributes:
        bonding: ``none``: one port is used. ``hash``: each stream is hashed onto one of the ports
            (Linux balance-xor or 802.3ad). ``application``: the tool spreads its streams itself.
    """

    kind: ClassVar[str] = "nic"
    family: ClassVar[str] = "nic"

    rate: Annotated[Quantity, Unit("B/s", low=1e4)]
    ports: Annotated[int, Field(ge=1, le=64)] = 1
    bonding: Literal["none", "hash", "application"] = "none"
    mtu: Annotated[Quantity, Unit("B", low=256, high=65535)] = prior("1500 B", 0.0, "Ethernet default")
    timestamps: bool = True
    vlan: bool = False
    offload: bool = True
    queues: Annotated[int, Field(ge=1, le=1024)] = 8
    protocol: Literal["ethernet", "infiniband"] = "ethernet"
    slot: str | None = None
    card_lanes: Annotated[int, Field(ge=1, le=32)] = 8
    card_generation: Annotated[int, Field(ge=1, le=6)] = 3

    @property
    def links(self) -> int:
        """Ports that one transfer can fill."""
        return 1 if self.bonding == "none" else self.ports

    def send_bits(
        self,
        row: Row,
        name: str,
        *,
        direction: str,
        streams: int,
        port: int | None,
        wire: Value,
        lockstep: bool = False,
    ) -> None:
        """Charges the wire for one payload byte.

        Args:
            row: The row to charge.
            name: Name of the adapter.
            direction: ``tx`` or ``rx``.
            streams: Connections of this transfer.
            port: The port that the transfer is bound to, if it is.
            wire: Bytes on the wire per payload byte.
            lockstep: True where all streams carry the same, so that the fullest port decides.
        """
        if port is not None and not 0 <= port < self.ports:
            raise SpecError(
                "is not a port of that adapter",
                key=f"{row.host}.nics.{name}",
                value=port,
                remedy=f"write a number from 0 to {self.ports - 1}, or give the adapter more 'ports'",
            )
        rate = row.value(self.rate)
        kind = "ib" if self.protocol == "infiniband" else "nic"
        if self.ports == 1 or (self.bonding == "none" and port is None):
            port = 0 if port is None else port
        if port is not None:
            row.charge(
                f"{name}.port{port}.{direction}",
                kind,
                capacity=rate,
                per_byte=wire,
                what=f"wire of port {port}",
                formula=f"{self.rate}",
                source=self.rate.source,
                cost="frame bytes per payload byte",
            )
        elif self.bonding == "application":
            used = min(self.ports, max(streams, 1))
            for index in range(used):
                row.charge(
                    f"{name}.port{index}.{direction}",
                    kind,
                    capacity=rate,
                    per_byte=wire / used,
                    what=f"wire of port {index}",
                    formula=f"{self.rate}",
                    source=self.rate.source,
                    cost=f"frame bytes per payload byte, spread over {used} ports",
                )
        else:
            self._bonded(row, name, direction, streams, wire, kind, rate, lockstep=lockstep)

    def _bonded(
        self, row: Row, name: str, direction: str, streams: int, wire: Value, kind: str, rate: Value, *, lockstep: bool
    ) -> None:
        from dtnsim.physics import bonding

        row.charge(
            f"{name}.bond.{direction}",
            kind,
            capacity=self.ports * rate,
            per_byte=wire,
            what="bonded wire",
            formula=f"{self.ports} ports x {self.rate}",
            source=self.rate.source,
            cost="frame bytes per payload byte",
        )
        if lockstep:
            used, law = float(bonding.static_rate(1.0, self.ports, streams)), "n / E[streams on the fullest port]"
        else:
            used, law = float(bonding.expected_links(self.ports, streams)), "k (1 - (1 - 1/k)^n)"
        row.charge(
            f"{name}.bond-hash.{direction}",
            kind,
            capacity=used * rate,
            per_byte=wire,
            private=True,
            what=f"{streams} streams hashed onto {self.ports} ports use {used:.2f} of them on average"
            + (", all at the pace of the fullest" if lockstep else ""),
            formula=f"{law} x {self.rate}",
            source="Linux bonding xmit_hash_policy layer3+4",
            cost="frame bytes per payload byte",
        )
