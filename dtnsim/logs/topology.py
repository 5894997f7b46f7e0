"""PCIe, NUMA and cores of a host: lspci, lstopo, numactl."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import BINARY, Conditions, Document, DocumentParser, Evidence, LineParser, Record, number
from dtnsim.logs.measurement import Status

_DEVICE: Final = re.compile(r"^\s*(?P<slot>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (?P<name>\S.*)$")
_LINK: Final = re.compile(
    r"^\s*Lnk(?P<what>Cap|Sta):\s.*?Speed (?P<speed>[\d.]+)GT/s(?: \((?P<speed_is>\w+)\))?,\s*"
    r"Width x(?P<width>\d+)(?: \((?P<width_is>\w+)\))?(?=[\s,]|$)"
)
_PAYLOAD: Final = re.compile(r"^\s*(?P<cap>DevCap:\s+)?MaxPayload (\d+) bytes(?:, MaxReadReq (\d+) bytes)?")
_CODES: Final = {2.5: 0.8, 5.0: 0.8, 8.0: 128 / 130, 16.0: 128 / 130, 32.0: 128 / 130}


class Lspci(LineParser):
    """lspci -vv: PCIe link capability and status, payload and read request sizes.

    Units: ``8GT/s`` is 1e9 transfers per second and lane. ``link_rate`` is transfers * lanes * line code / 8 in B/s,
    the line code being 8/10 for 2.5 and 5 GT/s and 128/130 for 8, 16 and 32 GT/s (PCI Express base specification); 64
    GT/s uses another framing and gets no rate. ``view="status"`` (LnkSta) is what the link does now,
    ``view="capability"`` (LnkCap) what the device could; ``(downgraded)`` is kept as a condition. MaxPayload of
    DevCtl is the one in use.
    """

    tool = "lspci"
    evidence = Evidence.CORRECTS
    words = ("LnkCap", "LnkSta", "MaxPayload", "DevCap", "controller", "bridge", "Class", "Non", "Device")
    shape = r"^\s*(?:[a-f]*:)?[a-f]*:[a-f]* [A-Z]"
    commands = ("lspci",)

    def forget(self) -> None:
        self._device: Conditions = {}

    def feed(self, text: str) -> Iterable[Record]:
        device = _DEVICE.match(text)
        if device is not None:
            self._device = {"slot": device["slot"], "device": device["name"][:200]}
            return ()
        if "Lnk" in text and (link := _LINK.match(text)) is not None:
            return self._link(link)
        if "MaxPayload" in text and (payload := _PAYLOAD.match(text)) is not None:
            return self._payload(payload)
        return ()

    def _link(self, link: re.Match[str]) -> Iterator[Record]:
        speed, width = float(link["speed"]), int(link["width"])
        if width == 0 or speed == 0:
            return
        conditions: Conditions = {
            **self._device,
            "view": {"Cap": "capability", "Sta": "status"}[link["what"]],
            "lanes": width,
            "transfers_per_s": speed * 1e9,
            "speed_is": link["speed_is"],
            "width_is": link["width_is"],
        }
        printed = f"{link['speed']}GT/s x{width}"
        yield self.measure("transfer_rate", speed * 1e9, "1/s", printed, **conditions)
        yield self.measure("lanes", width, "1", printed, **conditions)
        if speed in _CODES:
            yield self.measure("link_rate", speed * 1e9 * width * _CODES[speed] / 8, "B/s", printed, **conditions)

    def _payload(self, match: re.Match[str]) -> Iterator[Record]:
        view = "capability" if match["cap"] else "status"
        yield self.measure("max_payload", int(match[2]), "B", match[2] + " bytes", view=view, **self._device)
        if match[3]:
            yield self.measure("max_read_request", int(match[3]), "B", match[3] + " bytes", **self._device)


class Lstopo(DocumentParser):
    """lstopo/hwloc XML: PCI links, NUMA nodes, counts of cores.

    Units: ``pci_link_speed`` is GB/s, 1e9 bytes (hwloc manual, hwloc_pcidev_attr_s: "link speed in GB/s"), 0 when
    unknown; hwloc has already taken off the line code. ``local_memory`` and ``cache_size`` are bytes.
    """

    tool = "lstopo"
    evidence = Evidence.DESCRIBES
    kind = "xml"

    def match(self, doc: Document) -> bool:
        """A hwloc topology."""
        return "<topology" in doc.text

    def read(self, doc: Document) -> Iterator[Record]:
        """Walks the objects once."""
        start = doc.text.find("<topology")
        try:
            root = ET.fromstring(doc.text[start:])  # noqa: S314 (no DTD is passed on; expat limits expansion)
        except ET.ParseError as error:
            yield self.unread(doc.text[:80], f"not valid XML ({error})", line=doc.line)
            return
        self.version = root.get("version")
        counts: Counter[str] = Counter()
        node: int | None = None
        for element in root.iter("object"):
            kind = element.get("type", "")
            counts[kind] += 1
            if kind == "NUMANode":
                node = int(number(element.get("os_index")) or 0)
                yield from self._memory(element, doc, node)
            elif kind in ("PCIDev", "Bridge"):
                yield from self._link(element, doc)
        for kind, name in (
            ("Package", "packages"),
            ("Socket", "packages"),
            ("NUMANode", "numa_nodes"),
            ("Core", "cores"),
            ("PU", "hardware_threads"),
        ):
            if counts[kind]:
                yield self.measure("count", counts[kind], "1", f"{counts[kind]} {kind}", line=doc.line, of=name)

    def _memory(self, element: ET.Element, doc: Document, node: int) -> Iterator[Record]:
        size = number(element.get("local_memory"))
        if size:
            line = doc.line_of(f'local_memory="{element.get("local_memory")}"')
            yield self.measure("capacity", size, "B", str(int(size)), line=line, of="memory", node=node)

    def _link(self, element: ET.Element, doc: Document) -> Iterator[Record]:
        speed, slot = number(element.get("pci_link_speed")), element.get("pci_busid")
        if not speed:
            return
        infos = {info.get("name"): info.get("value") for info in element.findall("info")}
        children = [o.get("name") for o in element.iter("object") if o.get("type") == "OSDev" and o.get("name")]
        conditions: Conditions = {
            "slot": slot,
            "device": infos.get("PCIDevice") or element.get("name"),
            "os_devices": " ".join(str(name) for name in children) if element.get("type") == "PCIDev" else None,
            "bridge": True if element.get("type") == "Bridge" else None,
        }
        line = doc.line_of(f'pci_busid="{slot}"') if slot else doc.line
        yield self.measure("link_rate", speed * 1e9, "B/s", f"{speed:g} GB/s", line=line, **conditions)


_AVAILABLE: Final = re.compile(r"^\s*available: (\d+) nodes? \(([\d,-]*)\)")
_CPUS: Final = re.compile(r"^\s*node (\d+) cpus:((?: \d+)*)\s*$")
_SIZE: Final = re.compile(r"^\s*node (\d+) (size|free): (\d+) ([kMG]?B)(?=\s|$)")
_ROW: Final = re.compile(r"^\s*(\d+):((?:\s+\d+)+)\s*$")


class Numactl(LineParser):
    """numactl --hardware.

    Units: sizes in MB are MiB (numactl prints bytes >> 20). A node without CPUs (memory only, such as HBM) has
    ``cpus`` 0. Distances are relative (local = 10, ACPI SLIT).
    """

    tool = "numactl"
    evidence = Evidence.DESCRIBES
    words = ("available", "node", "cpus")
    commands = ("numactl",)

    def forget(self) -> None:
        self.open = False
        self._nodes = 0

    def feed(self, text: str) -> Iterable[Record]:
        if (available := _AVAILABLE.match(text)) is not None:
            self._nodes = int(available[1])
            return (self.measure("count", self._nodes, "1", available[0].strip(), of="numa_nodes"),)
        if (cpus := _CPUS.match(text)) is not None:
            count = len(cpus[2].split())
            status: Status = "truncated" if self.ctx.last else "complete"  # the list may go on
            printed = f"{count} cpus"
            return (self.measure("count", count, "1", printed, status=status, of="cpus", node=int(cpus[1])),)
        if (size := _SIZE.match(text)) is not None:
            value = int(size[3]) * BINARY[size[4].removesuffix("B")]
            view = {"size": "total", "free": "free"}[size[2]]
            return (
                self.measure("capacity", value, "B", f"{size[3]} {size[4]}", of="memory", view=view, node=int(size[1])),
            )
        if "distances" in text:
            self.open = True
        elif self.open:
            return self._matrix(text)
        return ()

    def _matrix(self, text: str) -> Iterator[Record]:
        row = _ROW.match(text)
        if row is None:
            self.open = text.lstrip().startswith("node")
            return
        values = row[2].split()
        if self._nodes and len(values) != self._nodes:
            yield self.unread(text, f"{len(values)} distances for {self._nodes} nodes")
            return
        for column, value in enumerate(values):
            yield self.measure("distance", int(value), "1", value, node=int(row[1]), to=column)
