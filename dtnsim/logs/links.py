"""Interfaces of a host: ethtool, bonding, ifconfig and ip link."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final

from dtnsim.logs.base import Command, Conditions, Context, Evidence, LineParser, Record
from dtnsim.logs.measurement import Status

_SETTINGS: Final = re.compile(r"^\s*Settings for (\S+?):\s*$")
_ETHTOOL_SPEED: Final = re.compile(r"^\s*Speed: (\d+)Mb/s(?=\s|$)")
_DUPLEX: Final = re.compile(r"^\s*Duplex: (\w+)")
_LINK: Final = re.compile(r"^\s*Link detected: (yes|no)")
_COUNTER: Final = re.compile(r"^\s+(?:\[(\d{1,4})\]: )?([^\s\[][^:]*?(?:::\S+)?): (\d+)\s*$")
_BAUD: Final = re.compile(r"^\s*BR,? Nominal\s*: (\d+) ?(?:MBd|Mbps)")
_MODULE: Final = re.compile(
    r"^\s*(Identifier|Connector|Transceiver type|Vendor name|Vendor PN)\s+: (\S*+(?:\s++\S++)*)\s*+$"
)
_FAILED: Final = re.compile(r"^(?:Cannot get device settings|netlink error): .*")
_RINGS: Final = re.compile(r"^\s*Ring parameters for (\S+?):")
_RING: Final = re.compile(r"^(RX|TX):\s+(\d+)\s*$")


class Ethtool(LineParser):
    """ethtool: link settings, -S statistics, -m module page, -g rings.

    Units: ``40000Mb/s`` is decimal bits. ``Speed: Unknown!`` (no link) gives no rate. Counters of -S are counts since
    the driver was loaded, of a queue where it stands in brackets before the name (``[0]: rx_bytes``, bnxt, bnx2x).
    ``BR, Nominal`` of a module is mega-baud (symbols, not bytes).
    """

    tool = "ethtool"
    evidence = Evidence.CORRECTS
    words = (
        "Settings", "Speed", "Duplex", "Link", "statistics", "Ring", "Nominal", "Identifier", "Transceiver",
        "Cannot", "netlink",
    )  # fmt: skip
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"statistics": ("NIC statistics",)}
    commands = ("ethtool",)

    def forget(self) -> None:
        self.open = False
        self._interface: str | None = None
        self._block = ""
        self._module: Conditions = {}
        self._pending: tuple[float, str, int] | None = None  # speed, until duplex is known
        self._view = "maximum"

    def feed(self, text: str) -> Iterable[Record]:
        if (settings := _SETTINGS.match(text)) is not None:
            ended = list(self._flush(None))
            self._interface, self._block = settings[1], "settings"
            return ended
        if text.strip() == "NIC statistics:":
            self._block, self.open = "statistics", True
            self._interface = _named(self.ctx.args("ethtool")) or self._interface
            return ()
        if (rings := _RINGS.match(text)) is not None:
            self._interface, self._block, self.open = rings[1], "rings", True
            return ()
        if self._block == "statistics":
            return self._counter(text)
        if self._block == "rings":
            return self._ring(text)
        if self._block == "settings" and (found := self._setting(text)) is not None:
            return found
        if (problem := _FAILED.match(text)) is not None and (
            self._block == "settings" or _named(self.ctx.args("ethtool")) is not None
        ):
            return (self.failure(problem[0], interface=self._interface or _named(self.ctx.args("ethtool"))),)
        return self._module_line(text)

    def _setting(self, text: str) -> Iterable[Record] | None:
        if (speed := _ETHTOOL_SPEED.match(text)) is not None:
            self._pending = int(speed[1]) * 1e6 / 8, speed[1] + "Mb/s", self.ctx.line
            return ()
        if (duplex := _DUPLEX.match(text)) is not None:
            return list(self._flush(duplex[1].lower()))
        if (link := _LINK.match(text)) is not None:
            up = 1.0 if link[1] == "yes" else 0.0
            return (*self._flush(None), self.measure("link_up", up, "1", link[0].strip(), interface=self._interface))
        return None

    def _flush(self, duplex: str | None) -> Iterator[Record]:
        pending, self._pending = self._pending, None
        if pending is not None:
            rate, printed, line = pending
            yield self.measure("link_rate", rate, "B/s", printed, line=line, interface=self._interface, duplex=duplex)

    def _counter(self, text: str) -> Iterable[Record]:
        match = _COUNTER.match(text)
        if match is None:
            if text.strip() and "ethtool" not in text:  # the command itself
                self._block, self.open = "", False
            return ()
        queue = None if match[1] is None else int(match[1])
        printed, value = match[0].strip(), int(match[3])
        return (self.measure("count", value, "1", printed, of=match[2], queue=queue, interface=self._interface),)

    def _ring(self, text: str) -> Iterable[Record]:
        if "Pre-set maximums" in text or "Current hardware settings" in text:
            self._view = "maximum" if "maximums" in text else "current"
            return ()
        match = _RING.match(text)
        if match is not None:
            direction = "receive" if match[1] == "RX" else "send"
            return (
                self.measure(
                    "ring_entries",
                    int(match[2]),
                    "1",
                    match[0],
                    direction=direction,
                    view=self._view,
                    interface=self._interface,
                ),
            )
        if not re.match(r"^(?:RX|TX)\b|^\w[\w ]*:", text):
            self._block, self.open = "", False
        return ()

    def _module_line(self, text: str) -> Iterable[Record]:
        if (module := _MODULE.match(text)) is not None:
            if module[1] == "Identifier":
                self._module, self.open, self._block = {}, True, "module"
            if self._block == "module":
                self._module.setdefault(module[1].lower().replace(" ", "_"), module[2])
        elif self._block == "module":
            if (baud := _BAUD.match(text)) is not None:
                rate = int(baud[1]) * 1e6
                interface = self._interface or _named(self.ctx.args("ethtool"))
                return (self.measure("symbol_rate", rate, "1/s", baud[0].strip(), interface=interface, **self._module),)
            if " : " not in text and text.strip():
                self._block, self.open = "", False
        return ()

    def on_command(self, command: Command) -> Iterable[Record]:
        """A command ends the listing before it; what a filter leaves of ``-S`` has no heading."""
        ended = super().on_command(command)
        args = command.args("ethtool") or []
        if "|" in command.text and not {"-S", "--statistics"}.isdisjoint(args):
            self._block, self.open = "statistics", True
            self._interface = _named(args)
        return ended

    def settle(self) -> Iterable[Record]:
        """A speed whose duplex never came."""
        return list(self._flush(None))


def _named(args: list[str] | None) -> str | None:
    return next((arg for arg in reversed(args or []) if not arg.startswith("-")), None)


_LINE: Final = re.compile(
    r"^\s*(Ethernet Channel Bonding Driver|Bonding Mode|Transmit Hash Policy|Slave Interface|MII Status|Speed)"
    r": (\S*+(?:\s++\S++)*)\s*+$"
)
_BOND: Final = re.compile(r"/proc/net/bonding/(\S+)")
_BONDING_SPEED: Final = re.compile(r"(\d+) Mbps")


class Bonding(LineParser):
    """/proc/net/bonding: members, their speeds, the hash policy.

    Units: ``10000 Mbps`` is decimal bits. One ``link_rate`` per member interface, one ``count`` of members per bond
    (``working``: with MII Status up). A member without carrier (``Speed: Unknown``) has no rate.
    """

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
        elif key == "Speed" and self._member is not None and (speed := _BONDING_SPEED.match(value)) is not None:
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


_OLD: Final = re.compile(r"^(\S+)\s+Link encap:")
_NEW: Final = re.compile(r"^(\S+): flags=\d+<[^>]*>\s+mtu (\d+)(?=\s|$)")
_IP: Final = re.compile(r"^\d+: ([^:@\s]+)(?:@\S+)?: <[^>]*>.*? mtu (\d+)(?=\s)")
_MTU: Final = re.compile(r"\bMTU:(\d+)(?=\s)")
_BYTES: Final = re.compile(r"\b(RX|TX) (?:bytes:|packets \d+\s+bytes )(\d+) ")


class Ifconfig(LineParser):
    """ifconfig and ip link: MTU of interfaces, packet and byte counters of ifconfig.

    Units: MTU bytes of IP packet. ``RX bytes`` are bytes since the interface came up, so a count and not a rate.
    """

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
