"""A firewall on a network segment: engines that inspect, and small buffers before them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from dtnsim.components.base import Component
from dtnsim.ground.quantity import Quantity, Unit, prior


class Firewall(Component):
    """A firewall on a segment: one flow goes through one inspection engine with a small input buffer."""

    kind: ClassVar[str] = "firewall"
    family: ClassVar[str] = "firewall"

    engine: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e3, line=True)]
    total: Annotated[Quantity, Unit("B/s", spread=0.2, low=1e3, line=True)] | None = None
    buffer: Annotated[Quantity, Unit("B", spread=0.5, low=1500)] = prior(
        "128 KiB", 1.0, "assumed: input buffers of firewalls are small (ESnet fasterdata, Firewall Performance Issues)"
    )
    strips_window_scaling: bool = False
