"""numactl --hardware.

Units: sizes in MB are MiB (numactl prints bytes >> 20). A node without CPUs (memory only, such as HBM) has
``cpus`` 0. Distances are relative (local = 10, ACPI SLIT).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import BINARY, Evidence, LineParser, Record
from dtnsim.logs.measurement import Status

_AVAILABLE: Final = re.compile(r"^\s*available: (\d+) nodes? \(([\d,-]*)\)")
_CPUS: Final = re.compile(r"^\s*node (\d+) cpus:((?: \d+)*)\s*$")
_SIZE: Final = re.compile(r"^\s*node (\d+) (size|free): (\d+) ([kMG]?B)(?=\s|$)")
_ROW: Final = re.compile(r"^\s*(\d+):((?:\s+\d+)+)\s*$")


class Numactl(LineParser):
    """The listing of nodes, then the matrix of distances."""

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
