"""A SAS expander: a switch between the lanes of an adapter and more drives than it has lanes for."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.base import Component
from dtnsim.ground.quantity import Quantity, Unit, prior


class Expander(Component):
    """An expander of a backplane or an enclosure; hosts whose ``chassis`` has one need not write it at their adapter.

    Attributes:
        lanes: All its lanes, to the adapter and to drives.
        uplink_lanes: Lanes to the adapter.
        lane: Payload rate of one of its lanes.
        buffered: Whether it stores and forwards (DataBolt, EDFB), so that slow drives do not slow the uplink.
    """

    kind: ClassVar[str] = "expander"
    family: ClassVar[str] = "expander"
    columns: ClassVar[tuple[str, ...]] = ("lanes", "uplink_lanes", "lane", "buffered")

    lanes: Annotated[int, Field(ge=2, le=128)]
    uplink_lanes: Annotated[int, Field(ge=1, le=64)] = 4
    lane: Annotated[Quantity, Unit("B/s", low=1e7)] = prior("1200 MB/s", 0.0, "SAS 12 Gb/s payload after 8b/10b")
    buffered: bool = False
