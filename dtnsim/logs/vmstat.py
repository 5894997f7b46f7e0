"""vmstat of procps, 3.2 to 4: rows of CPU shares, block I/O, interrupts.

Units: ``bi`` and ``bo`` are blocks of 1024 B a second whatever ``-S`` says (vmstat(8): since Linux 2.6 all blocks are
1024 bytes), ``in`` and ``cs`` interrupts and context switches a second; ``us sy id wa st gu`` percent of all cores,
where ``us`` has nice and ``sy`` the interrupts. The first row covers the time since boot (``since="boot"``) unless
``-y`` left it out. With ``-d`` a row a disk has the totals since boot, in sectors of
512 B and ms; ``sec`` is the time it was busy. Memory and swap are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from dtnsim.logs._declared import declared, figures
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

#: ``-d``: columns of a disk
DISKS: Final = declared("""
    reads           : count 1 of=requests operation=read
    read~sectors    : bytes sectors operation=read
    read~ms         : duration ms of=requests operation=read
    writes          : count 1 of=requests operation=write
    write~sectors   : bytes sectors operation=write
    write~ms        : duration ms of=requests operation=write
    sec             : duration s of=busy
""")
_DISK_HEADS: Final = (
    "reads", "", "read sectors", "read ms", "writes", "", "write sectors", "write ms", "", "sec",
)  # fmt: skip
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
    words = ("swpd", "disk")
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"disk": ("---reads---",)}
    commands = ("vmstat",)

    def forget(self) -> None:
        self.open = False
        self._heads: list[str] = []
        self._disks = False
        self._reports = 0

    def feed(self, text: str) -> Iterable[Record]:
        words = text.split(maxsplit=_LONGEST)
        if words[:1] == ["disk-"]:
            self._disks = self.open = True
        if self._disks:
            return self._disk(words)
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

    def _disk(self, words: list[str]) -> Iterable[Record]:
        """A row of ``-d``: totals since boot."""
        if words[:1] == ["disk-"] or words[:1] == ["total"]:
            return ()
        name, cells = words[0] if words else "", words[1:]
        if len(cells) != len(_DISK_HEADS) or not all(cell.isascii() and cell.isdigit() for cell in cells):
            self._disks = self.open = False
            return ()
        return figures(self, DISKS, zip(_DISK_HEADS, cells, strict=True), {"device": name, "since": "boot"})
