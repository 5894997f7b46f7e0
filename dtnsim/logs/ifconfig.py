"""ifconfig and ip link: MTU of interfaces, packet and byte counters of ifconfig.

Units: MTU bytes of IP packet. ``RX bytes`` are bytes since the interface came up, so a count and not a
rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from dtnsim.logs.base import Context, Evidence, LineParser, Record

_OLD: Final = re.compile(r"^(\S+)\s+Link encap:")
_NEW: Final = re.compile(r"^(\S+): flags=\d+<[^>]*>\s+mtu (\d+)(?=\s|$)")
_IP: Final = re.compile(r"^\d+: ([^:@\s]+)(?:@\S+)?: <[^>]*>.*? mtu (\d+)(?=\s)")
_MTU: Final = re.compile(r"\bMTU:(\d+)(?=\s)")
_BYTES: Final = re.compile(r"\b(RX|TX) (?:bytes:|packets \d+\s+bytes )(\d+) ")


class Ifconfig(LineParser):
    """Interface blocks."""

    tool = "ifconfig"
    evidence = Evidence.BUSY
    words = ("encap", "MTU", "mtu", "bytes")
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"bytes": ("RX", "TX")}
    commands = ("ifconfig", "ip")

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._interface: str | None = None

    def feed(self, text: str) -> Iterator[Record]:
        if (old := _OLD.match(text)) is not None:
            self._interface = old[1]
        elif (new := _NEW.match(text) or _IP.match(text)) is not None:
            self._interface = new[1]
            yield self.measure("mtu", int(new[2]), "B", f"mtu {new[2]}", interface=new[1])
        elif self._interface is None or not text[:1].isspace():
            return
        elif (mtu := _MTU.search(text)) is not None:
            yield self.measure("mtu", int(mtu[1]), "B", mtu[0], interface=self._interface)
        else:
            for way, count in _BYTES.findall(text):
                direction = "receive" if way == "RX" else "send"
                yield self.measure(
                    "bytes", int(count), "B", f"{way} bytes {count}", interface=self._interface, direction=direction
                )
