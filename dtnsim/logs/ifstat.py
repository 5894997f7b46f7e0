"""ifstat (Gael Roualland's): columns of interface rates in time.

Units: ``KB/s`` = 2^10 B/s and, with ``-b``, ``Kbps`` = 2^10 bit/s: measured on ifstat 1.1 with iperf3 paced at 2e9
bit/s over the loopback, which printed 244369.6 KB/s and 1.95e+06 Kbps. Rates are of frames as the kernel counts
them (with link headers), averaged over the interval (1 s unless the command line says otherwise).

Every figure is a record ``interval=True`` with ``device``, ``direction`` (in = ``receive``) and ``sample`` (from 1): a
series in time has no figure of the whole. ``Total`` is the sum of the interfaces. A new head continues the table if
it names the same interfaces after a screen full of rows (ifstat repeats it then); after fewer rows it is another
run (``table`` counts them).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from dtnsim.logs._net import host_of
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

_UNITS: Final = re.compile(r"^\s*+(?P<time>HH:MM:SS)?+(?P<pairs>(?:\s*+(?:KB/s|Kbps) in\s++(?:KB/s|Kbps) out)++)\s*+$")
_NAME: Final = re.compile(r"[\w.:@-]+")
_ROW: Final = re.compile(
    r"^\s*+(?:(?P<time>\d\d:\d\d:\d\d)\s)?"
    r"(?P<figures>(?:\s*+(?:\d++(?:\.\d*+)?(?:e[+-]?\d++)?|n/a))++)\s*+$"
)
_SCREEN: Final = 18  # rows under a head on the smallest usual terminal
_FACTOR: Final = {"KB/s": 1024.0, "Kbps": 128.0}


@dataclass(slots=True)
class _Table:
    """A table while it is read."""

    devices: list[str]
    factor: float
    every: float | None
    known: Conditions
    sample: int = 0
    since_head: int = 0


class Ifstat(LineParser):
    """Tables of ifstat."""

    tool = "ifstat"
    evidence = Evidence.BUSY
    of_a_line = True
    words = ("KB", "Kbps")
    commands = ("ifstat",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._table: _Table | None = None
        self._tables = 0

    def feed(self, text: str) -> Iterator[Record]:
        units = _UNITS.match(text) if " in " in text else None
        if units is not None:
            self._head(units)
            return
        table = self._table
        row = _ROW.match(text) if table is not None else None
        if table is not None and row is not None:
            yield from self._row(table, row, text)
            return
        if not text.strip() and table is not None:
            return
        names = _NAME.findall(text)
        if table is not None and not (names and self._is_names(names, table)):
            self.settle()

    def settle(self) -> Iterable[Record]:
        """The table ends; all its rows are out."""
        self._table = None
        self.open = False
        return ()

    # ---- lines ------------------------------------------------------------------------------------------
    @staticmethod
    def _is_names(names: list[str], table: _Table) -> bool:
        return set(table.devices) <= set(names) and len(names) <= len(table.devices) + 1

    def _head(self, units: re.Match[str]) -> None:
        pairs = re.findall(r"(KB/s|Kbps) in", units["pairs"])
        names = [name for name in _NAME.findall(self.ctx.previous) if name.lower() != "time"]
        devices = names if len(names) == len(pairs) else [f"column {at + 1}" for at in range(len(pairs))]
        table = self._table
        if table is not None and table.devices == devices and table.since_head >= _SCREEN:
            table.since_head = 0
            return
        self._tables += 1
        known: Conditions = {**host_of(self.ctx), "table": self._tables}
        self._table = _Table(devices, _FACTOR[pairs[0]], self._every(), known)
        self.open = True

    def _row(self, table: _Table, row: re.Match[str], text: str) -> Iterator[Record]:
        figures = row["figures"].split()
        if len(figures) != 2 * len(table.devices):
            yield self.unread(text, f"{len(figures)} figures in a table of {2 * len(table.devices)} columns")
            return
        table.sample += 1
        table.since_head += 1
        word = "KB/s" if table.factor == _FACTOR["KB/s"] else "Kbps"
        for at, printed in enumerate(figures):
            if printed == "n/a":
                continue
            value = float(printed) * table.factor
            known: Conditions = {**table.known, **self._column(table, at), "interval": True}
            known["sample"] = table.sample
            known["time"] = row["time"]
            if table.every is not None:
                known |= {"start_s": (table.sample - 1) * table.every, "end_s": table.sample * table.every}
            yield self.measure("throughput", value, "B/s", f"{printed} {word}", **known)

    @staticmethod
    def _column(table: _Table, at: int) -> Conditions:
        return {"device": table.devices[at // 2], "direction": "send" if at % 2 else "receive"}

    def _every(self) -> float | None:
        args = self.ctx.args("ifstat")
        if args is None:
            return None
        numbers = [arg for arg in args if re.fullmatch(r"\d+(?:\.\d+)?(?:/\d+(?:\.\d+)?)?", arg)]
        return float(numbers[0].partition("/")[0]) if numbers else 1.0
