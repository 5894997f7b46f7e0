"""vmstat of procps, 3.2 to 4: rows of CPU shares, block I/O, interrupts.

Units: ``bi`` and ``bo`` are blocks of 1024 B a second whatever ``-S`` says (vmstat(8): since Linux 2.6 all blocks are
1024 bytes), ``in`` and ``cs`` interrupts and context switches a second; ``us sy id wa st gu`` percent of all cores,
where ``us`` has nice and ``sy`` the interrupts. The first row covers the time since boot (``since="boot"``) unless
``-y`` left it out. Memory and swap are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

_STATES: Final = {"us": "user", "sy": "system", "id": "idle", "wa": "iowait", "st": "steal", "gu": "guest"}
_BLOCK: Final = 1024.0
_BLOCKS: Final = {"bi": "read", "bo": "write"}
_RATES: Final = {"in": "interrupts", "cs": "context_switches"}
_LONGEST: Final = 40  # digits and words of a row with its time stamp


class Vmstat(LineParser):
    """Rows under ``r b swpd free``."""

    tool = "vmstat"
    evidence = Evidence.BUSY
    words = ("swpd",)
    commands = ("vmstat",)

    def forget(self) -> None:
        """No table or run is open."""
        self.open = False
        self._heads: list[str] = []
        self._reports = 0

    def feed(self, text: str) -> Iterable[Record]:
        """One line."""
        words = text.split(maxsplit=_LONGEST)
        if "swpd" in words and words[:2] == ["r", "b"]:
            # a time stamp (-t) has its zone as heading
            self._heads = [word for word in words if word.islower()]
            self.open = True
            return ()
        if not self._heads or (words and words[0] == "procs"):
            return ()
        cells = words[: len(self._heads)]
        if len(cells) < len(self._heads) or not all(cell.isascii() and cell.isdigit() for cell in cells):
            self._heads, self.open = [], False
            return ()
        self._reports += 1
        return self._row(dict(zip(self._heads, cells, strict=True)))

    def _row(self, cells: dict[str, str]) -> Iterator[Record]:
        more: Conditions = {"report": self._reports, "interval": True}
        if self._reports == 1 and "-y" not in (self.ctx.args("vmstat") or ()):
            more["since"] = "boot"
        for head, operation in _BLOCKS.items():
            if head in cells:
                rate = int(cells[head]) * _BLOCK
                yield self.measure("throughput", rate, "B/s", f"{cells[head]} {head}", operation=operation, **more)
        for head, of in _RATES.items():
            if head in cells:
                yield self.measure("rate", int(cells[head]), "1/s", f"{cells[head]} {head}", of=of, **more)
        for head, state in _STATES.items():
            if head in cells and int(cells[head]) <= 100:
                share = int(cells[head]) / 100
                yield self.measure("cpu_share", share, "1", f"{cells[head]} %", state=state, cpu="all", **more)
