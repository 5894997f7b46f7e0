"""Interfaces of a host: ethtool, bonding, ifconfig and ip link."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final

from dtnsim.logs._declared import Found, LinesParser, Match, reads
from dtnsim.logs.base import Command, Conditions, Evidence, Record
from dtnsim.logs.measurement import Status

_BOND: Final = re.compile(r"/proc/net/bonding/(\S+)")


def _named(args: list[str] | None) -> str | None:
    return next((arg for arg in reversed(args or []) if not arg.startswith("-")), None)


class Ethtool(LinesParser):
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

    def forget(self) -> None:
        super().forget()
        self._interface: str | None = None
        self._block, self._view = "", "maximum"
        self._module: Conditions = {}
        self._pending: tuple[float, str, int] | None = None  # speed, until duplex is known

    def _named(self) -> str | None:
        return self._interface or _named(self.ctx.args("ethtool"))

    def feed(self, text: str) -> Iterable[Record]:
        if self._block in ("statistics", "rings") and not text.startswith(("Settings for", "Ring param", "NIC stat")):
            return self._counter(text) if self._block == "statistics" else self._ring(text)
        return super().feed(text)

    @reads(r"^\s*Settings for (\S+?):\s*$")
    def _settings(self, found: Match) -> Found:
        ended = self.settle()
        self._interface, self._block = found[1], "settings"
        return ended

    @reads(r"^\s*NIC statistics:\s*$", opens=True)
    def _statistics(self, found: Match) -> None:  # noqa: ARG002 (what reads hands over)
        self._block, self._interface = "statistics", _named(self.ctx.args("ethtool")) or self._interface

    @reads(r"^\s*Ring parameters for (\S+?):", opens=True)
    def _rings(self, found: Match) -> None:
        self._interface, self._block = found[1], "rings"

    @reads(r"^\s*Speed: (\d+)Mb/s(?=\s|$)")
    def _speed(self, found: Match) -> None:
        if self._block == "settings":
            self._pending = int(found[1]) * 1e6 / 8, found[1] + "Mb/s", self.ctx.line

    @reads(r"^\s*Duplex: (\w+)")
    def _duplex(self, found: Match) -> Found:
        return self._flush(found[1].lower())

    @reads(r"^\s*Link detected: (yes|no)")
    def _link(self, found: Match) -> Found:
        if self._block != "settings":
            return None
        up, printed = float(found[1] == "yes"), found[0].strip()
        return [*self._flush(None), self.measure("link_up", up, "1", printed, interface=self._interface)]

    @reads(r"^(?:Cannot get device settings|netlink error): .*")
    def _failed(self, found: Match) -> Found:
        mine = self._block == "settings" or _named(self.ctx.args("ethtool")) is not None
        return self.failure(found[0], interface=self._named()) if mine else None

    @reads(r"^\s*(Identifier|Connector|Transceiver type|Vendor name|Vendor PN)\s+: (\S*+(?:\s++\S++)*)\s*+$")
    def _module_line(self, found: Match) -> None:
        if found[1] == "Identifier":
            self._module, self.open, self._block = {}, True, "module"
        if self._block == "module":
            self._module.setdefault(found[1].lower().replace(" ", "_"), found[2])

    @reads(r"^\s*BR,? Nominal\s*: (\d+) ?(?:MBd|Mbps)")
    def _baud(self, found: Match) -> Found:
        if self._block != "module":
            return None
        value, printed = int(found[1]) * 1e6, found[0].strip()
        return self.measure("symbol_rate", value, "1/s", printed, interface=self._named(), **self._module)

    def other(self, text: str) -> None:
        """A line of another kind ends a module's page."""
        if self._block == "module" and " : " not in text and text.strip():
            self._block, self.open = "", False

    def _flush(self, duplex: str | None) -> list[Record]:
        pending, self._pending = self._pending, None
        if pending is None:
            return []
        rate, printed, line = pending
        return [self.measure("link_rate", rate, "B/s", printed, line=line, interface=self._interface, duplex=duplex)]

    def _counter(self, text: str) -> Iterable[Record]:
        match = re.match(r"^\s+(?:\[(\d{1,4})\]: )?([^\s\[][^:]*?(?:::\S+)?): (\d+)\s*$", text)
        if match is None:
            if text.strip() and "ethtool" not in text:  # the command itself
                self._block, self.open = "", False
            return ()
        known: Conditions = {"of": match[2], "queue": None if match[1] is None else int(match[1])}
        return (self.measure("count", int(match[3]), "1", match[0].strip(), interface=self._interface, **known),)

    def _ring(self, text: str) -> Iterable[Record]:
        if "Pre-set maximums" in text or "Current hardware settings" in text:
            self._view = "maximum" if "maximums" in text else "current"
        elif (match := re.match(r"^(RX|TX):\s+(\d+)\s*$", text)) is not None:
            known: Conditions = {"direction": "receive" if match[1] == "RX" else "send", "view": self._view}
            return (self.measure("ring_entries", int(match[2]), "1", match[0], interface=self._interface, **known),)
        elif not re.match(r"^(?:RX|TX)\b|^\w[\w ]*:", text):
            self._block, self.open = "", False
        return ()

    def on_command(self, command: Command) -> Iterable[Record]:
        """A command ends the listing before it; what a filter leaves of ``-S`` has no heading."""
        ended = super().on_command(command)
        args = command.args("ethtool") or []
        if "|" in command.text and not {"-S", "--statistics"}.isdisjoint(args):
            self._block, self.open, self._interface = "statistics", True, _named(args)
        return ended

    def settle(self) -> list[Record]:
        return self._flush(None)


class Bonding(LinesParser):
    """/proc/net/bonding: members, their speeds, the hash policy; one file, or several one after the other.

    Units: ``10000 Mbps`` is decimal bits. One ``link_rate`` per member interface, one ``count`` of members per bond
    (``working``: with MII Status up). A member without carrier (``Speed: Unknown``) has no rate.
    """

    tool = "bonding"
    evidence = Evidence.DESCRIBES
    commands = ()
    words = ("Bonding",)
    longest = 40

    def forget(self) -> None:
        super().forget()
        self._members: list[tuple[str, int]] = []
        self._up = 0

    @reads(r"^\s*Ethernet Channel Bonding Driver: ", opens=True)
    def _bond(self, found: Match) -> Found:  # noqa: ARG002 (what reads hands over)
        ended = list(self._end("complete"))
        path = _BOND.search(self.ctx.command.text) if self.ctx.command is not None else None
        self.known, self.open = {"bond": path[1] if path else None}, True
        return ended

    @reads(
        r"^\s*(?P<key>Bonding Mode|Transmit Hash Policy|Slave Interface|MII Status|Speed)"
        r": (?P<value>\S*+(?:\s++\S++)*)\s*+$",
        inside=True,
    )
    def _line(self, found: Match) -> Found:
        self.lines, key, value = 0, found["key"], found["value"]
        if key == "Bonding Mode":
            self.known["mode"] = value
        elif key == "Transmit Hash Policy":
            self.known["hash_policy"] = value.partition(" ")[0]
        elif key == "Slave Interface":
            self._members.append((value, self.ctx.line))
        elif key == "MII Status" and self._members:
            self._up += value == "up"
        elif self._members and (speed := re.match(r"(\d+) Mbps", value)) is not None:
            rate = int(speed[1]) * 1e6 / 8
            return self.measure("link_rate", rate, "B/s", value, interface=self._members[-1][0], **self.known)
        return None

    def other(self, text: str) -> Found:  # noqa: ARG002 (the base's signature)
        return self._end("complete") if not self.open else None

    def settle(self) -> Iterable[Record]:
        return self._end("complete")

    def close(self) -> Iterable[Record]:
        """The file ends in the listing: it cannot be known whether a member is missing."""
        return self._end("partial")

    def _end(self, status: Status) -> Iterator[Record]:
        """The bond's number of members."""
        members, up, bond = self._members, self._up, self.known
        self.forget()
        if members:
            line, shown = members[-1][1], f"{len(members)} slaves"
            known = {"of": "members", "working": up, **bond}
            yield self.record("count", len(members), "1", shown, known, line=line, status=status)


class Ifconfig(LinesParser):
    """ifconfig and ip link: MTU of interfaces, packet and byte counters of ifconfig.

    Units: MTU bytes of IP packet. ``RX bytes`` are bytes since the interface came up, so a count and not a rate.
    """

    tool = "ifconfig"
    evidence = Evidence.BUSY
    words = ("encap", "MTU", "mtu", "bytes")
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"bytes": ("RX", "TX")}
    commands = ("ifconfig", "ip")

    @reads(r"^(\S+)\s+Link encap:")
    def _old(self, found: Match) -> None:
        self.known = {"interface": found[1]}

    @reads(r"^(\S+): flags=\d+<[^>]*>\s+mtu (\d+)(?=\s|$)")
    @reads(r"^\d+: ([^:@\s]+)(?:@\S+)?: <[^>]*>.*? mtu (\d+)(?=\s)")
    def _new(self, found: Match) -> Found:
        self.known = {"interface": found[1]}
        return self.measure("mtu", int(found[2]), "B", f"mtu {found[2]}", **self.known)

    @reads(r"^\s.*?\bMTU:(\d+)(?=\s)")
    def _mtu(self, found: Match) -> Found:
        value, printed = int(found[1]), f"MTU:{found[1]}"
        return self.measure("mtu", value, "B", printed, **self.known) if self.known else None

    @reads(r"^\s.*\b[RT]X ")
    def _bytes(self, found: Match) -> Iterator[Record]:
        counts = re.findall(r"\b(RX|TX) (?:bytes:|packets \d+\s+bytes )(\d+) ", found.string) if self.known else []
        for way, count in counts:
            known = {**self.known, "direction": "receive" if way == "RX" else "send"}
            yield self.record("bytes", int(count), "B", f"{way} bytes {count}", known)
