"""vmstat of procps, 3.2 to 4: rows of CPU shares, block I/O, interrupts.

Units: ``bi`` and ``bo`` are blocks of 1024 B a second whatever ``-S`` says (vmstat(8): since Linux 2.6 all blocks are
1024 bytes), ``in`` and ``cs`` interrupts and context switches a second; ``us sy id wa st gu`` percent of all cores,
where ``us`` has nice and ``sy`` the interrupts. The first row covers the time since boot (``since="boot"``) unless
``-y`` left it out. Memory and swap are not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dtnsim.logs._columns import declared, figures
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

COLUMNS: Final = declared("""
    bi : throughput KiB/s operation=read
    bo : throughput KiB/s operation=write
    in : rate 1/s of=interrupts
    cs : rate 1/s of=context_switches
    us : cpu_share % state=user cpu=all
    sy : cpu_share % state=system cpu=all
    id : cpu_share % state=idle cpu=all
    wa : cpu_share % state=iowait cpu=all
    st : cpu_share % state=steal cpu=all
    gu : cpu_share % state=guest cpu=all
""")
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
        more: Conditions = {"report": self._reports, "interval": True}
        if self._reports == 1 and "-y" not in (self.ctx.args("vmstat") or ()):
            more["since"] = "boot"
        return figures(self, COLUMNS, zip(self._heads, cells, strict=True), more)
