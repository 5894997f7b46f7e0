"""A mainboard: sockets, memory channels, slots, and the bays that sit on it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.base import Component, Pick
from dtnsim.components.chassis import Bays
from dtnsim.components.slot import Slot


class Board(Component):
    """A board, whose slots a host with ``board: NAME`` has.

    Attributes:
        sockets: Sockets for processors.
        socket: What fits them, as processors say it in their facts.
        channels: Memory channels of all sockets together.
        slots: Slots and connectors for drives by name, each with its generation, lanes and socket.
        holds: Bays on the board itself: {M.2: 2}.
    """

    kind: ClassVar[str] = "board"
    family: ClassVar[str] = "board"
    columns: ClassVar[tuple[str, ...]] = ("sockets", "socket", "channels", "slots", "holds")

    sockets: Annotated[int, Field(ge=1, le=8)] = 1
    socket: str
    channels: Annotated[int, Field(ge=1, le=64)]
    slots: dict[str, Annotated[Slot, Pick(Slot)]]
    holds: Bays = Field(default_factory=dict)
