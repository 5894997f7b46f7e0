"""A host's parts: lspci, lstopo, numactl, ethtool, bonding, ifconfig and ip link."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from dtnsim.logs._declared import Found, LinesParser, Match, gives, notes, reads, said_in
from dtnsim.logs._numbers import whole_number
from dtnsim.logs.base import Command, Conditions, Document, Evidence, Parser, Record, Status, anew, documents

_CODES: Final = {2.5: 0.8, 5.0: 0.8, 8.0: 128 / 130, 16.0: 128 / 130, 32.0: 128 / 130}
_COUNTED: Final = {
    "Package": "packages", "Socket": "packages", "NUMANode": "numa_nodes", "Core": "cores", "PU": "hardware_threads",
}  # fmt: skip


class Lspci(LinesParser, evidence=Evidence.CORRECTS):
    """lspci -vv: PCIe link capability and status, payload and read request sizes.

    Units: ``8GT/s`` is 1e9 transfers per second and lane. ``link_rate`` is transfers * lanes * line code / 8 in B/s,
    the code being 8/10 for 2.5 and 5 GT/s and 128/130 for 8, 16 and 32 GT/s (PCI Express base specification); 64 GT/s
    uses another framing and gets no rate. ``view="status"`` (LnkSta) is what the link does now, ``view="capability"``
    (LnkCap) what the device could; ``(downgraded)`` is kept as a condition. MaxPayload of DevCtl is the one in use.
    """

    words = "LnkCap LnkSta MaxPayload DevCap controller bridge Class Non Device"
    shape = r"^\s*(?:[a-f]*:)?[a-f]*:[a-f]* [A-Z]"

    _device = notes(r"^\s*(?P<slot>(?:[\da-f]+:)?[\da-f]{2}:[\da-f]{2}\.\d) (?P<device>\S.{0,199})", to=str, new=True)

    @reads(
        r"^\s*Lnk(?P<what>Cap|Sta):\s.*?Speed <speed:dots>GT/s(?: \((?P<speed_is>\w+)\))?,\s*"
        r"Width x<width:int>(?: \((?P<width_is>\w+)\))?(?=[\s,]|$)"
    )
    def _link(self, link: Match) -> Iterator[Record]:
        speed, width, printed = float(link["speed"]), int(link["width"]), f"{link['speed']}GT/s x{link['width']}"
        if width == 0 or speed == 0:
            return
        facts: Conditions = {**self.known, "view": {"Cap": "capability", "Sta": "status"}[link["what"]], "lanes": width}
        facts |= {"transfers_per_s": speed * 1e9, "speed_is": link["speed_is"], "width_is": link["width_is"]}
        yield self.measure("transfer_rate", speed * 1e9, printed, **facts)
        yield self.measure("lanes", width, printed, **facts)
        if speed in _CODES:
            yield self.measure("link_rate", speed * 1e9 * width * _CODES[speed] / 8, printed, **facts)

    _payload = gives(
        r"^\s*+(?:DevCap:\s++MaxPayload <most:int>|MaxPayload <now:int>) bytes(?:, MaxReadReq <request:int> bytes)?",
        "max_payload {most} bytes : view=capability",
        "max_payload {now} bytes : view=status",
        "max_read_request {request} bytes",
    )


class Lstopo(Parser, evidence=Evidence.DESCRIBES):
    """lstopo/hwloc XML: PCI links, NUMA nodes, counts of cores.

    Units: ``pci_link_speed`` is GB/s, 1e9 bytes (hwloc manual, hwloc_pcidev_attr_s: "link speed in GB/s"), 0 when
    unknown; hwloc has already taken off the line code. ``local_memory`` and ``cache_size`` are bytes.
    """

    commands = ()
    kilo = 1000

    @documents(kind="xml", sign="<topology")
    def _topology(self, doc: Document) -> Iterator[Record]:
        root = ET.fromstring(doc.text[doc.text.find("<topology") :])  # noqa: S314 (no DTD; expat limits expansion)
        self.version = root.get("version")
        counts: Counter[str] = Counter()
        for element in root.iter("object"):
            kind = element.get("type", "")
            counts[kind] += 1
            if kind == "NUMANode":
                line = doc.line_of(f'local_memory="{element.get("local_memory")}"')
                node = {"node": whole_number(element.get("os_index")) or 0}
                yield from self.figures(element.attrib, node, "capacity? {local_memory:.0f} [B] : of=memory", line=line)
            elif kind in ("PCIDev", "Bridge"):
                yield from self._link(element, doc)
        for kind, name in _COUNTED.items():
            if counts[kind]:
                yield self.measure("count", counts[kind], f"{counts[kind]} {kind}", line=doc.line, of=name)

    def _link(self, element: ET.Element, doc: Document) -> Iterator[Record]:
        slot = element.get("pci_busid")
        infos = {info.get("name"): info.get("value") for info in element.findall("info")}
        facts: Conditions = {"slot": slot, "device": infos.get("PCIDevice") or element.get("name")}
        if element.get("type") == "PCIDev":
            names = (o.get("name") for o in element.iter("object") if o.get("type") == "OSDev")
            facts["os_devices"] = " ".join(filter(None, names))
        else:
            facts["bridge"] = True
        line = doc.line_of(f'pci_busid="{slot}"') if slot else doc.line
        yield from self.figures(element.attrib, facts, "link_rate? {pci_link_speed:g} GB/s", line=line)


class Numactl(LinesParser, evidence=Evidence.DESCRIBES):
    """numactl --hardware: the listing of nodes, then the matrix of distances.

    Units: sizes in MB are MiB (numactl prints bytes >> 20). A node without CPUs (memory only, such as HBM) has ``cpus``
    0. Distances are relative (local = 10, ACPI SLIT).
    """

    words = "available node cpus"
    terms: ClassVar = {"view": {"size": "total"}}
    within = r"\s*node"

    _count = anew(int)  # of nodes

    @reads(r"^\s*available: (\d+) nodes? \(([\d,-]*)\)")
    def _nodes(self, match: Match) -> Found:
        self._count = int(match[1])
        return self.measure("count", self._count, match[0].strip(), of="numa_nodes")

    @reads(r"^\s*node (\d+) cpus:((?: \d+)*)\s*$")
    def _cpus(self, match: Match) -> Found:
        count = len(match[2].split())
        status: Status = "truncated" if self.ctx.last else "complete"  # the list may go on
        return self.measure("count", count, f"{count} cpus", status=status, of="cpus", node=int(match[1]))

    _size = gives(r"^\s*node <node:int> (?P<view>size|free): <n:int> (?P<u>[kMG]?B)\b", "capacity {n} {u} : of=memory")
    _matrix = notes(r"^.*distances", opens=True)

    @reads(r"^\s*(\d+):((?:\s+\d+)+)\s*$", inside=True)
    def _row(self, row: Match) -> Iterator[Record]:
        values, nodes = row[2].split(), self._count
        self.need(len(values) == nodes or not nodes, row[0], f"{len(values)} distances for {nodes} nodes")
        for column, value in enumerate(values):
            yield self.measure("distance", int(value), value, node=int(row[1]), to=column)


_BOND: Final = r"/proc/net/bonding/(\S+)"


def _named(parser: LinesParser) -> Conditions:
    """The interface that a listing is of: as lines before named it, or the command."""
    args = parser.ctx.args("ethtool") or ()
    return {"interface": parser.known.get("interface") or next((a for a in reversed(args) if a[:1] != "-"), None)}


#: what goes on in a block of ethtool's
_WITHIN: Final = {"module": r"\s*$|.* : ", "statistics": r"\s*$|.*ethtool", "rings": r"(?:RX|TX)\b|\w[\w ]*:"}


class Ethtool(LinesParser, evidence=Evidence.CORRECTS):
    """ethtool: link settings, -S statistics, -m module page, -g rings.

    Units: ``40000Mb/s`` is decimal bits. ``Speed: Unknown!`` (no link) gives no rate. Counters of -S are counts since
    the driver was loaded, of a queue where it stands in brackets before the name (``[0]: rx_bytes``, bnxt, bnx2x).
    ``BR, Nominal`` of a module is mega-baud (symbols, not bytes).
    """

    words = "Settings Speed Duplex Link statistics Ring Nominal Identifier Transceiver Cannot netlink"
    beside: ClassVar = {"statistics": ("NIC statistics",)}
    terms: ClassVar = {
        "view": {"Pre-set maximums": "maximum", "Current hardware settings": "current"},
        "direction": {"RX": "receive", "TX": "send"},
    }

    _pending: tuple[Match, int] | None = anew()  # speed and its line, until duplex is known

    _settings = notes(r"^\s*Settings for (?P<interface>\S+?):\s*$", to=str, new=True, settles=True, block="settings")

    _statistics = notes(r"^\s*NIC statistics:\s*$", opens="statistics", more=_named)
    _rings = notes(r"^\s*Ring parameters for (?P<interface>\S+?):", opens="rings", to=str, new=True)

    _counter = gives(
        r"^\s+(?:\[(?P<queue>\d{1,4})\]: )?(?P<of>[^\s\[][^:]*?(?:::\S+)?): <n:int>\s*$", "count {line}",
        inside="statistics",
    )  # fmt: skip
    _ring_view = notes(r"^.*(?P<view>Pre-set maximums|Current hardware settings)", inside="rings")
    _ring = gives(r"^(?P<direction>RX|TX):\s+<n:int>\s*$", "ring_entries {line}", inside="rings")

    @reads(r"^\s*Speed: <speed:int>Mb/s(?=\s|$)", inside="settings")
    def _speed(self, match: Match) -> None:
        self._pending = match, self.ctx.line

    @reads(r"^\s*Duplex: (\w+)", inside="settings")
    def _duplex(self, match: Match) -> Found:
        return self.settle(match[1].lower())

    @reads(r"^\s*Link detected: (yes|no)", inside="settings")
    def _link(self, match: Match) -> Found:
        return [*self.settle(), self.measure("link_up", float(match[1] == "yes"), match[0].strip(), self.known)]

    @reads(r"^(?:Cannot get device settings|netlink error): .*")
    def _failed(self, match: Match) -> Found:
        if self.open:  # of what stands behind a filter nobody knows whose message it is
            self.other(match[0])
            return None
        mine = self.block == "settings" or _named(self)["interface"] is not None
        return self.failure(match[0], **_named(self)) if mine else None

    _identifier = notes(r"^\s*Identifier\s+: <identifier:rest>\s*+$", opens="module", to=str, new=True, more=_named)

    @reads(r"^\s*(Connector|Transceiver type|Vendor name|Vendor PN)\s+: (\S*+(?:\s++\S++)*)\s*+$", inside="module")
    def _about_module(self, match: Match) -> None:
        self.known.setdefault(match[1].lower().replace(" ", "_"), match[2])

    _baud = gives(r"^\s*BR,? Nominal\s*: <n:int> ?(?:MBd|Mbps)", "symbol_rate {line} [MBd]", inside="module")

    def other(self, text: str) -> None:
        """A line of another kind ends counters, rings and a module's page."""
        if self.open and re.match(_WITHIN.get(self.block, ""), text) is None:
            self.block, self.open = "", False

    def settle(self, duplex: str | None = None) -> list[Record]:
        (speed, line), self._pending = self._pending or (None, 0), None
        conditions = {**self.known, "duplex": duplex}
        return [] if speed is None else list(self.figures(speed, conditions, "link_rate {speed}Mb/s", line=line))

    def on_command(self, command: Command) -> Iterable[Record]:
        """A command ends the listing before it; what a filter leaves of ``-S`` has no heading."""
        ended = super().on_command(command)
        args = command.args("ethtool") or []
        if "|" in command.text and not {"-S", "--statistics"}.isdisjoint(args):
            named = next((arg for arg in reversed(args) if arg[:1] != "-"), None)
            self.block, self.open, self.known = "statistics", True, {"interface": named}
        return ended


class Bonding(LinesParser, evidence=Evidence.DESCRIBES):
    """/proc/net/bonding: members, their speeds, the hash policy; one file, or several one after the other.

    Units: ``10000 Mbps`` is decimal bits. One ``link_rate`` per member interface, one ``count`` of members per bond
    (``working``: with MII Status up). A member without carrier (``Speed: Unknown``) has no rate.
    """

    commands = ()
    words = "Bonding"
    longest = 40

    _members: list[tuple[str, int]] = anew(list)
    _up = anew(int)

    _bond = notes(
        r"^\s*Ethernet Channel Bonding Driver: ", opens=True, settles=True, new=True,
        more=lambda parser: said_in(parser.ctx.command.text if parser.ctx.command else "", str, bond=_BOND),
    )  # fmt: skip

    _mode = notes(r"^\s*Bonding Mode: <mode:rest>\s*+$", inside=True, opens=True, to=str)
    _policy = notes(r"^\s*Transmit Hash Policy: <hash_policy:word>", inside=True, opens=True, to=str)

    @reads(r"^\s*(Slave Interface|MII Status|Speed): <value:rest>\s*+$", inside=True, opens=True)
    def _line(self, match: Match) -> Found:
        key, value = match[1], match["value"]
        if key == "Slave Interface":
            self._members.append((value, self.ctx.line))
        elif key == "MII Status" and self._members:
            self._up += value == "up"
        elif self._members and (speed := re.match(r"(\d+) Mbps", value)) is not None:
            rate = int(speed[1]) * 1e6 / 8
            return self.measure("link_rate", rate, value, interface=self._members[-1][0], **self.known)
        return None

    def other(self, text: str) -> Found:  # noqa: ARG002 (the base's signature)
        return self.settle() if not self.open else None

    def close(self) -> Iterable[Record]:
        """The file ends in the listing: it cannot be known whether a member is missing."""
        return self.settle("partial")

    def settle(self, status: Status = "complete") -> Iterator[Record]:
        """The bond's number of members."""
        members, conditions = self._members, {"of": "members", "working": self._up, **self.known}
        self.forget()
        if members:
            shown = f"{len(members)} slaves"
            yield self.measure("count", len(members), shown, conditions, line=members[-1][1], status=status)


class Ifconfig(LinesParser, evidence=Evidence.BUSY):
    """ifconfig and ip link: MTU of interfaces, packet and byte counters of ifconfig.

    Units: MTU bytes of IP packet. ``RX bytes`` are bytes since the interface came up, so a count and not a rate.
    """

    words = "encap MTU mtu bytes"
    beside: ClassVar = {"bytes": ("RX", "TX")}
    commands = ("ifconfig", "ip")

    _old = notes(r"^<interface:word>\s+Link encap:", to=str, new=True)

    @reads(r"^(\S+): flags=\d+<[^>]*>\s+mtu (\d+)(?=\s|$)")
    @reads(r"^\d+: ([^:@\s]+)(?:@\S+)?: <[^>]*>.*? mtu (\d+)(?=\s)")
    def _new(self, match: Match) -> Found:
        self.known = {"interface": match[1]}
        return self.measure("mtu", int(match[2]), f"mtu {match[2]}", **self.known)

    _mtu = gives(r"^\s.*?\bMTU:<n:int>(?=\s)", "mtu MTU:{n} [bytes]", after="interface")

    @reads(r"^\s.*\b[RT]X ")
    def _bytes(self, match: Match) -> Iterator[Record]:
        counts = re.findall(r"\b(RX|TX) (?:bytes:|packets \d+\s+bytes )(\d+) ", match.string) if self.known else []
        for way, count in counts:
            conditions = {**self.known, "direction": "receive" if way == "RX" else "send"}
            yield self.measure("bytes", int(count), f"{way} bytes {count}", conditions)
