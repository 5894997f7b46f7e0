"""mpstat text (any time format) and JSON.

Units: percent of the time of one CPU, or of all (``all``, in JSON ``-1``). Interrupt tables are not read.
Rows without ``Average`` are intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dtnsim.logs._declared import figures
from dtnsim.logs._sysstat import JSON_STATES, STAMP, STATES, is_mpstat, plain, statistics
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Record


class Mpstat(LineParser):
    """The utilisation table."""

    tool = "mpstat"
    evidence = Evidence.BUSY
    words = ("CPU",)
    commands = ("mpstat",)

    def forget(self) -> None:
        self.open = False
        self._heads: list[str] = []

    def feed(self, text: str) -> Iterable[Record]:
        match = STAMP.match(text)
        if match is None:
            self._heads, self.open = [], False
            return ()
        words = match["rest"].split()
        if "CPU" in words:
            known = is_mpstat(words) and self.ctx.args("sar") is None
            self._heads = words if known else []
            self.open = known
            return ()
        if not self._heads:
            return ()
        if len(words) != len(self._heads):
            return (self.unread(text, f"{len(words)} figures under {len(self._heads)} heads"),)
        cpu = words[self._heads.index("CPU")]
        more: Conditions = {"cpu": cpu, "interval": None if match["mean"] else True}
        return figures(self, STATES, zip(self._heads, words, strict=True), more)


class MpstatJson(DocumentParser):
    """``mpstat -o JSON``."""

    tool = "mpstat"
    evidence = Evidence.BUSY

    def match(self, doc: Document) -> bool:
        """A sysstat document without disks: with CPU loads, or stopped before its first interval."""
        entries = list(statistics(doc.data))
        if not entries:
            return isinstance(doc.data, dict) and "sysstat" in doc.data
        return any("cpu-load" in entry and "disk" not in entry for entry in entries)

    def read(self, doc: Document) -> Iterator[Record]:
        start = 0
        if next(statistics(doc.data), None) is None:
            yield self.unread(doc.text[:80], "the document has no intervals", line=doc.line)
        for entry in statistics(doc.data):
            stamp = str(entry.get("timestamp", ""))
            start = max(start, doc.text.find(f'"{stamp}"', start))
            for load in entry.get("cpu-load") or []:
                if isinstance(load, dict):
                    cpu = str(load.get("cpu"))
                    line = doc.line_of(f'"cpu": "{cpu}"', start)
                    name = "all" if cpu == "-1" else cpu
                    part = None if stamp.lower().startswith("average") else True
                    more: Conditions = {"cpu": name, "time": stamp, "interval": part}
                    yield from figures(self, JSON_STATES, load.items(), more, read=plain, line=line)
