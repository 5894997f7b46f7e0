"""What a cloud provider allows an instance's card or disk adapter: one flow, what leaves, baseline and credits."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import model_validator

from dtnsim.components.base import Component
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Draw, Quantity, Unit, Value
from dtnsim.ground.term import Term, count, law, least, term
from dtnsim.physics import cloud


class Allowance(Component):
    """Limits of an instance beside the rate that it is sold with.

    Neglects: limits of connections tracked and of packets (a card's ``packets``).

    Attributes:
        flow: Rate of one flow (AWS: 5 Gb/s, 10 Gb/s within a cluster placement group).
        egress: Rate of all that leaves the region or the provider's network.
        outside: Whether the path leaves it; false for paths within one region.
        baseline: Rate that holds once the credits are spent; "up to" rates of small instances.
        credits: Bytes of burst credits at the start of a transfer.
    """

    kind: ClassVar[str] = "allowance"
    family: ClassVar[str] = "allowance"

    flow: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e4, line=True)] | None = None
    egress: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e4, line=True)] | None = None
    outside: bool = True
    baseline: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e4, line=True)] | None = None
    credits: Annotated[Quantity, Unit("B", spread=0.5)] | None = None

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        if (self.baseline is None) != (self.credits is None):
            raise ValueError("baseline and credits belong together; or leave both out")
        return self

    def least(self, draw: Draw, rate: Value, flows: int, *, sending: bool) -> Value:
        """Rate that so many flows may have at once, credits not counted [B/s on the wire]."""
        if self.flow is not None:
            rate = np.minimum(rate, flows * draw(self.flow))
        if self.egress is not None and sending and self.outside:
            rate = np.minimum(rate, draw(self.egress))
        return rate

    def charge(
        self, row: Row, name: str, direction: str, rate: Term, wire: Term, flows: int | None, total_B: float
    ) -> None:
        """Charges one payload byte that passes the card.

        Args:
            row: The row to charge.
            name: Name of the card.
            direction: ``tx`` or ``rx``.
            rate: Rate that it is sold with.
            wire: Bytes on the wire per payload byte.
            flows: Connections of the transfer; None where nobody counts them.
            total_B: Bytes of the whole transfer.
        """
        if self.flow is not None and flows is not None:
            row.charge(
                f"{name}.flows.{direction}",
                "nic",
                private=True,
                capacity=count(max(flows, 1), "flow") * row.term(self.flow),
                per_byte=wire,
                what="the provider's limit of one flow",
                remedy="more streams, or a placement group with a higher limit of one flow (allowance.flow)",
            )
        if self.egress is not None and self.outside and direction == "tx":
            row.charge(
                f"{name}.egress",
                "nic",
                capacity=row.term(self.egress),
                per_byte=wire,
                what="the provider's limit of what leaves",
                remedy="a larger instance, or several (allowance.egress)",
            )
        spent = self.spent(row, rate, total_B)
        if spent is not None:
            row.charge(
                f"{name}.credits.{direction}",
                "nic",
                capacity=spent,
                per_byte=wire,
                what="baseline of the instance once its burst credits are spent",
                remedy="an instance with a higher baseline (allowance.baseline)",
            )

    def spent(self, row: Row, rate: Term, total_B: float) -> Term | None:
        """Mean rate of a job that spends the credits; None where there are none to spend."""
        if self.baseline is None or self.credits is None or not np.isfinite(total_B):
            return None if self.baseline is None else least(rate, row.term(self.baseline))
        size = term(max(total_B, 1.0), "B")
        base, saved = row.term(self.baseline), row.term(self.credits)
        return law(cloud.mean_rate, size_B=size, burst=rate, baseline=base, credits_B=saved)
