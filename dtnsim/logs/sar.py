"""sar: -u (CPU), -n DEV (interfaces), -d (devices), -b (all I/O); other tables are left out.

Units: ``kB`` is 1024 B (sar manual), ``rd_sec/s`` and ``bread/s`` are sectors of 512 B, ``rxbyt/s`` of old
versions bytes; ``%ifutil`` and ``%util`` percent; ``await`` milliseconds. Rows without ``Average:`` are
intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._sysstat import STAMP, cpu_row, figure, is_mpstat, scaled
from dtnsim.logs.base import BINARY, Conditions, Evidence, LineParser, Record

K: Final = BINARY["K"]
_RATES: Final = {
    "rxkB/s": ("receive", K), "txkB/s": ("send", K), "rxbyt/s": ("receive", 1.0), "txbyt/s": ("send", 1.0),
    "rkB/s": ("read", K), "wkB/s": ("write", K), "rd_sec/s": ("read", 512.0), "wr_sec/s": ("write", 512.0),
    "bread/s": ("read", 512.0), "bwrtn/s": ("write", 512.0), "dkB/s": ("discard", K),
}  # fmt: skip
_COUNTS: Final = {
    "rxpck/s": ("rate", "receive"),
    "txpck/s": ("rate", "send"),
    "tps": ("iops", "all"),
    "rtps": ("iops", "read"),
    "wtps": ("iops", "write"),
}
_KEYS: Final = {"CPU": "cpu", "IFACE": "interface", "DEV": "device"}


class Sar(LineParser):
    """Tables of one heading line each."""

    tool = "sar"
    evidence = Evidence.BUSY
    words = ("CPU", "IFACE", "DEV", "rtps")
    commands = ("sar", "sadf")

    def forget(self) -> None:
        """No table or run is open."""
        self.open = False
        self._heads: list[str] = []

    def feed(self, text: str) -> Iterable[Record]:
        """One line."""
        match = STAMP.match(text)
        if match is None:
            self._heads, self.open = [], False
            return ()
        words = match["rest"].split()
        if words[0] in _KEYS or words[-1] in _KEYS or "rtps" in words:
            self._heads, self.open = [], False
            mine = ("%user" in words or "%usr" in words) and (self.ctx.args("sar") is not None or not is_mpstat(words))
            if mine or any(word in _RATES for word in words):
                self._heads, self.open = words, True
            return ()
        if not self._heads:
            return ()
        if len(words) != len(self._heads):
            return (self.unread(text, f"{len(words)} figures under {len(self._heads)} heads"),)
        more: Conditions = {"interval": None if match["mean"] else True}
        for head, cell in zip(self._heads, words, strict=True):
            if head in _KEYS:
                more[_KEYS[head]] = cell
        if "cpu" in more:
            return cpu_row(self, self._heads, words, **more)
        return self._figures(words, more)

    def _figures(self, words: list[str], more: Conditions) -> Iterator[Record]:
        for head, cell in zip(self._heads, words, strict=True):
            found = figure(cell)
            if found is None or head in _KEYS:
                continue
            if head in _RATES:
                name, factor = _RATES[head]
                value = scaled(cell, factor)
                key = "direction" if name in ("receive", "send") else "operation"
                if value is not None:
                    yield self.measure("throughput", value, "B/s", f"{cell} {head}", **{key: name, **more})
            elif head in _COUNTS:
                quantity, name = _COUNTS[head]
                key = "direction" if name in ("receive", "send") else "operation"
                yield self.measure(quantity, found[0], "1/s", f"{cell} {head}", **{key: name, **more})
            elif head in ("%ifutil", "%util"):
                yield self.measure("utilization", found[0] / 100, "1", f"{cell} %", **more)
            elif head == "await":
                yield self.measure("latency", found[0] / 1e3, "s", f"{cell} ms", operation="all", **more)
