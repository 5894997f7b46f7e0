"""A policer or shaper on a network segment."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from dtnsim.components.base import Component
from dtnsim.ground.quantity import Quantity, Unit, prior


class Policer(Component):
    """A token bucket: ``police`` drops what exceeds the rate, ``shape`` queues it."""

    kind: ClassVar[str] = "policer"
    family: ClassVar[str] = "policer"

    rate: Annotated[Quantity, Unit("B/s", low=1e3, line=True)]
    burst: Annotated[Quantity, Unit("B", low=1500)] = prior("1 MB", 1.0, "assumed: default burst of a policer")
    action: Literal["police", "shape"] = "police"
