"""PCIe, NUMA and cores of a host: lspci, lstopo, numactl."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from typing import Final

from dtnsim.logs._declared import Found, LinesParser, Match, reads
from dtnsim.logs.base import BINARY, Conditions, Document, DocumentParser, Evidence, Record, number
from dtnsim.logs.measurement import Status

_CODES: Final = {2.5: 0.8, 5.0: 0.8, 8.0: 128 / 130, 16.0: 128 / 130, 32.0: 128 / 130}
_COUNTED: Final = {
    "Package": "packages", "Socket": "packages", "NUMANode": "numa_nodes", "Core": "cores", "PU": "hardware_threads",
}  # fmt: skip


class Lspci(LinesParser):
    """lspci -vv: PCIe link capability and status, payload and read request sizes.

    Units: ``8GT/s`` is 1e9 transfers per second and lane. ``link_rate`` is transfers * lanes * line code / 8 in B/s,
    the code being 8/10 for 2.5 and 5 GT/s and 128/130 for 8, 16 and 32 GT/s (PCI Express base specification); 64 GT/s
    uses another framing and gets no rate. ``view="status"`` (LnkSta) is what the link does now, ``view="capability"``
    (LnkCap) what the device could; ``(downgraded)`` is kept as a condition. MaxPayload of DevCtl is the one in use.
    """

    tool = "lspci"
    evidence = Evidence.CORRECTS
    words = ("LnkCap", "LnkSta", "MaxPayload", "DevCap", "controller", "bridge", "Class", "Non", "Device")
    shape = r"^\s*(?:[a-f]*:)?[a-f]*:[a-f]* [A-Z]"

    @reads(r"^\s*(?P<slot>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (?P<name>\S.*)$")
    def _device(self, device: Match) -> None:
        self.known = {"slot": device["slot"], "device": device["name"][:200]}

    @reads(
        r"^\s*Lnk(?P<what>Cap|Sta):\s.*?Speed (?P<speed>[\d.]+)GT/s(?: \((?P<speed_is>\w+)\))?,\s*"
        r"Width x(?P<width>\d+)(?: \((?P<width_is>\w+)\))?(?=[\s,]|$)",
        "Lnk",
    )
    def _link(self, link: Match) -> Iterator[Record]:
        speed, width, printed = float(link["speed"]), int(link["width"]), f"{link['speed']}GT/s x{link['width']}"
        if width == 0 or speed == 0:
            return
        known: Conditions = {**self.known, "view": {"Cap": "capability", "Sta": "status"}[link["what"]], "lanes": width}
        known |= {"transfers_per_s": speed * 1e9, "speed_is": link["speed_is"], "width_is": link["width_is"]}
        yield self.measure("transfer_rate", speed * 1e9, "1/s", printed, **known)
        yield self.measure("lanes", width, "1", printed, **known)
        if speed in _CODES:
            yield self.measure("link_rate", speed * 1e9 * width * _CODES[speed] / 8, "B/s", printed, **known)

    @reads(r"^\s*(?P<cap>DevCap:\s+)?MaxPayload (\d+) bytes(?:, MaxReadReq (\d+) bytes)?", "MaxPayload")
    def _payload(self, found: Match) -> Iterator[Record]:
        view = "capability" if found["cap"] else "status"
        yield self.measure("max_payload", int(found[2]), "B", found[2] + " bytes", view=view, **self.known)
        if found[3]:
            yield self.measure("max_read_request", int(found[3]), "B", found[3] + " bytes", **self.known)


class Lstopo(DocumentParser):
    """lstopo/hwloc XML: PCI links, NUMA nodes, counts of cores.

    Units: ``pci_link_speed`` is GB/s, 1e9 bytes (hwloc manual, hwloc_pcidev_attr_s: "link speed in GB/s"), 0 when
    unknown; hwloc has already taken off the line code. ``local_memory`` and ``cache_size`` are bytes.
    """

    tool = "lstopo"
    evidence = Evidence.DESCRIBES
    commands = ()
    kind = "xml"

    def match(self, doc: Document) -> bool:
        return "<topology" in doc.text

    def read(self, doc: Document) -> Iterator[Record]:
        try:  # no DTD is passed on; expat limits expansion
            root = ET.fromstring(doc.text[doc.text.find("<topology") :])  # noqa: S314
        except ET.ParseError as error:
            yield self.unread(doc.text[:80], f"not valid XML ({error})", line=doc.line)
            return
        self.version = root.get("version")
        counts: Counter[str] = Counter()
        for element in root.iter("object"):
            kind = element.get("type", "")
            counts[kind] += 1
            if kind == "NUMANode" and (size := number(element.get("local_memory"))):
                line = doc.line_of(f'local_memory="{element.get("local_memory")}"')
                node = int(number(element.get("os_index")) or 0)
                yield self.measure("capacity", size, "B", str(int(size)), line=line, of="memory", node=node)
            elif kind in ("PCIDev", "Bridge"):
                yield from self._link(element, doc)
        for kind, name in _COUNTED.items():
            if counts[kind]:
                yield self.measure("count", counts[kind], "1", f"{counts[kind]} {kind}", line=doc.line, of=name)

    def _link(self, element: ET.Element, doc: Document) -> Iterator[Record]:
        speed, slot = number(element.get("pci_link_speed")), element.get("pci_busid")
        if not speed:
            return
        infos = {info.get("name"): info.get("value") for info in element.findall("info")}
        known: Conditions = {"slot": slot, "device": infos.get("PCIDevice") or element.get("name")}
        if element.get("type") == "PCIDev":
            names = (o.get("name") for o in element.iter("object") if o.get("type") == "OSDev")
            known["os_devices"] = " ".join(filter(None, names))
        else:
            known["bridge"] = True
        line = doc.line_of(f'pci_busid="{slot}"') if slot else doc.line
        yield self.measure("link_rate", speed * 1e9, "B/s", f"{speed:g} GB/s", line=line, **known)


class Numactl(LinesParser):
    """numactl --hardware: the listing of nodes, then the matrix of distances.

    Units: sizes in MB are MiB (numactl prints bytes >> 20). A node without CPUs (memory only, such as HBM) has ``cpus``
    0. Distances are relative (local = 10, ACPI SLIT).
    """

    tool = "numactl"
    evidence = Evidence.DESCRIBES
    words = ("available", "node", "cpus")

    @reads(r"^\s*available: (\d+) nodes? \(([\d,-]*)\)")
    def _nodes(self, found: Match) -> Found:
        self.known = {"nodes": int(found[1])}
        return self.measure("count", int(found[1]), "1", found[0].strip(), of="numa_nodes")

    @reads(r"^\s*node (\d+) cpus:((?: \d+)*)\s*$")
    def _cpus(self, found: Match) -> Found:
        count = len(found[2].split())
        status: Status = "truncated" if self.ctx.last else "complete"  # the list may go on
        return self.measure("count", count, "1", f"{count} cpus", status=status, of="cpus", node=int(found[1]))

    @reads(r"^\s*node (\d+) (size|free): (\d+) ([kMG]?B)(?=\s|$)")
    def _size(self, found: Match) -> Found:
        view, value = "total" if found[2] == "size" else "free", int(found[3]) * BINARY[found[4].removesuffix("B")]
        printed = f"{found[3]} {found[4]}"
        return self.measure("capacity", value, "B", printed, of="memory", view=view, node=int(found[1]))

    @reads(r".*distances", opens=True)
    def _matrix(self, found: Match) -> None:
        """The rows of the matrix follow."""

    @reads(r"^\s*(\d+):((?:\s+\d+)+)\s*$", inside=True)
    def _row(self, row: Match) -> Iterator[Record]:
        values, nodes = row[2].split(), self.known.get("nodes")
        if nodes and len(values) != nodes:
            yield self.unread(row[0], f"{len(values)} distances for {nodes} nodes")
            return
        for column, value in enumerate(values):
            yield self.measure("distance", int(value), "1", value, node=int(row[1]), to=column)

    def other(self, text: str) -> None:
        self.open = self.open and text.lstrip().startswith("node")
