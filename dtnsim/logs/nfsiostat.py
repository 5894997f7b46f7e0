"""nfsiostat of nfs-utils 1.1 to 2: what every NFS mount of a client does.

Units: ``kB`` is 1024 B, of RPC with their headers (nfs-iostat.py divides by 1024); ``avg RTT`` from sending to the
answer, ``avg exe`` from the file system's request to its end, ``avg queue`` between them (``of``), in ms. ``retrans``
and ``errors`` are counts of the interval. The first report covers the time since the mount (``report``). Values stand
in one line, or one below the other (nfs-utils 1.2.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._declared import declared, figures
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

_MOUNT: Final = re.compile(r"^\s*+(?P<source>\S++) mounted on (?P<target>\S+):\s*+$")
_HEADS: Final = re.compile(r"ops?/s|rpc bklog|kB/s|kB/op|retrans|avg RTT|avg exe|avg queue|errors")
_CELL: Final = re.compile(r"(?<![\d.])(\d{1,18}(?:\.\d{1,9})?|nan)(?: \( ?[\d.]++%\))?(?=\s|$)")
COLUMNS: Final = declared("""
    op/s ops/s  : iops 1/s
    kB/s        : throughput KiB/s
    rpc~bklog   : queue_depth times of=rpc~backlog
    avg~RTT     : latency ms of=rtt
    avg~exe     : latency ms of=execution
    avg~queue   : latency ms of=queue
    retrans     : retransmits times of=rpc
    errors      : count times of=rpc~errors
""")
_KIB: Final = 1024.0


class Nfsiostat(LineParser):
    """Blocks of one mount each."""

    tool = "nfsiostat"
    evidence = Evidence.BUSY
    words = ("mounted", "kB")
    commands = ("nfsiostat", "nfs-iostat", "nfs-iostat.py")

    def forget(self) -> None:
        self.open = False
        self._mount: Conditions = {}
        self._reports: dict[str, int] = {}
        self._operation: str | None = None
        self._heads: list[str] = []
        self._cells: list[str] = []
        self._quiet = 0

    def feed(self, text: str) -> Iterable[Record]:
        if (mount := _MOUNT.match(text)) is not None:
            target = mount["target"]
            if len(self._reports) > 1000:
                self._reports.clear()
            self._reports[target] = self._reports.get(target, 0) + 1
            self._mount = {"source": mount["source"], "target": target, "report": self._reports[target]}
            self._start("all", [])
            return ()
        words = text.strip()
        if words.startswith(("read:", "write:")) and (self.open or "kB/op" in words):
            self._start(words.partition(":")[0], [])
        if ("kB/op" in words or "rpc bklog" in words) and (heads := _HEADS.findall(words)):
            if "kB/op" in heads and self._operation not in ("read", "write"):
                return ()
            self._start(self._operation if "kB/op" in heads else "all", heads)
            return ()
        return self._values(words)

    def _start(self, operation: str | None, heads: list[str]) -> None:
        self._operation, self._heads, self._cells = operation, heads, []
        self.open, self._quiet = True, 0

    def _values(self, words: str) -> Iterable[Record]:
        cells = _CELL.findall(words) if self._heads and len(words) < 300 else []
        if not cells:
            self._quiet += bool(words)
            if self._quiet > 2:
                self.open, self._heads = False, []
            return ()
        self._cells += cells
        if len(self._cells) < len(self._heads):
            return ()
        found = dict(zip(self._heads, self._cells, strict=False))
        self._heads, self._cells = [], []
        return self._figures(found)

    def _figures(self, found: dict[str, str]) -> Iterator[Record]:
        more: Conditions = {**self._mount, "operation": self._operation, "interval": True}
        values = {head: float(text) for head, text in found.items() if text != "nan"}
        if values.get("kB/op"):
            more["block_B"] = round(values["kB/op"] * _KIB, 3)
        pairs = ((head, found[head]) for head, value in values.items() if value > 0 or not head.startswith("avg "))
        yield from figures(self, COLUMNS, pairs, more)
