"""What a host has room for besides its slots: bays, memory channels. No answer moves with it; `plan` buys into it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dtnsim.components.base import Model


class Chassis(Model):
    """Room for more. Free slots need no key: a slot in which no card sits, and on which nothing hangs, is free.

    Attributes:
        board: Name of the board or the chassis.
        bays: Free bays by what fits them, as price lists say it: {U.2: 4, 3.5 inch: 12}.
        channels: Memory channels that board and processors have, of all sockets, populated or not.
        source: Where that comes from.
    """

    board: str = ""
    bays: dict[str, Annotated[int, Field(ge=0, le=1000)]] = Field(default_factory=dict)
    channels: Annotated[int, Field(ge=1, le=64)] | None = None
    source: str = ""
