"""lstopo/hwloc XML: PCI links, NUMA nodes, counts of cores.

Units: ``pci_link_speed`` is GB/s, 1e9 bytes (hwloc manual, hwloc_pcidev_attr_s: "link speed in GB/s"), 0 when
unknown; hwloc has already taken off the line code. ``local_memory`` and ``cache_size`` are bytes.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator

from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, Record, number


class Lstopo(DocumentParser):
    """One topology."""

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
