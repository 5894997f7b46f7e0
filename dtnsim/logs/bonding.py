"""/proc/net/bonding: members, their speeds, the hash policy.

Units: ``10000 Mbps`` is decimal bits. One ``link_rate`` per member interface, one ``count`` of members per
bond (``working``: with MII Status up). A member without carrier (``Speed: Unknown``) has no rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import Command, Conditions, Context, Evidence, LineParser, Record
from dtnsim.logs.measurement import Status

_LINE: Final = re.compile(
    r"^\s*(Ethernet Channel Bonding Driver|Bonding Mode|Transmit Hash Policy|Slave Interface|MII Status|Speed)"
    r": (\S*+(?:\s++\S++)*)\s*+$"
)
_BOND: Final = re.compile(r"/proc/net/bonding/(\S+)")
_SPEED: Final = re.compile(r"(\d+) Mbps")


class Bonding(LineParser):
    """One file of /proc/net/bonding, or several one after the other."""

    tool = "bonding"
    evidence = Evidence.DESCRIBES
    words = ("Bonding",)

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._bond: Conditions = {}
        self._member: str | None = None
        self._members: list[tuple[str, int]] = []
        self._up = 0
        self._quiet = 0

    def feed(self, text: str) -> Iterable[Record]:
        match = _LINE.match(text)
        if match is None:
            self._quiet += 1
            return self._end("complete") if self.open and self._quiet > 40 else ()
        self._quiet = 0
        key, value = match.groups()
        if key.startswith("Ethernet"):
            ended = list(self._end("complete"))
            path = _BOND.search(self.ctx.command.text) if self.ctx.command is not None else None
            self._bond = {"bond": path[1] if path else None}
            self.open = True
            return ended
        if not self.open:
            return ()
        if key == "Bonding Mode":
            self._bond["mode"] = value
        elif key == "Transmit Hash Policy":
            self._bond["hash_policy"] = value.partition(" ")[0]
        elif key == "Slave Interface":
            self._member = value
            self._members.append((value, self.ctx.line))
        elif key == "MII Status" and self._member is not None:
            self._up += value == "up"
        elif key == "Speed" and self._member is not None and (speed := _SPEED.match(value)) is not None:
            rate = int(speed[1]) * 1e6 / 8
            return (self.measure("link_rate", rate, "B/s", value, interface=self._member, **self._bond),)
        return ()

    def on_command(self, command: Command) -> Iterable[Record]:  # noqa: ARG002 (the base's signature)
        return self._end("complete")

    def close(self) -> Iterable[Record]:
        """The file ends in the listing: it cannot be known whether a member is missing."""
        return self._end("partial")

    def _end(self, status: Status) -> Iterator[Record]:
        """The bond's number of members."""
        members, up, bond = self._members, self._up, self._bond
        self._members, self._up, self._bond, self._member, self.open = [], 0, {}, None, False
        if members:
            line = members[-1][1]
            yield self.measure(
                "count",
                len(members),
                "1",
                f"{len(members)} slaves",
                line=line,
                status=status,
                of="members",
                working=up,
                **bond,
            )
