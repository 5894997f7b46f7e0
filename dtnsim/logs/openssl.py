"""``openssl speed``.

Units: "The 'numbers' are in 1000s of bytes per second processed", so ``611219.58k`` is 611 MB/s of one thread
(openssl apps/speed.c); a column for each size of the buffer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from dtnsim.logs.base import DECIMAL, Context, Evidence, LineParser, Record, decimal

_SIZES: Final = re.compile(r"^type((?:\s+\d+ bytes)+)\s*$")
_ROW: Final = re.compile(r"^([A-Za-z][\w()/+-]*(?: [\w()/+-]+)*)((?:[ \t]+\d+\.\d+k)+)\s*$")


class OpensslSpeed(LineParser):
    """The table at the end of a run."""

    tool = "openssl"
    evidence = Evidence.NO_MODEL
    words = ("type",)
    beside: ClassVar[Mapping[str, tuple[str, ...]]] = {"type": ("bytes",)}
    commands = ("openssl",)

    def __init__(self, ctx: Context) -> None:
        self._sizes: list[int] = []
        super().__init__(ctx)

    def forget(self) -> None:
        self.open, self._sizes = False, []

    def feed(self, text: str) -> Iterator[Record]:
        head = _SIZES.match(text)
        if head is not None:
            self._sizes = [int(n) for n in re.findall(r"\d+", head[1])]
            self.open = True
            return
        row = _ROW.match(text) if self._sizes else None
        rates = row[2].split() if row is not None else []
        if row is None or len(rates) != len(self._sizes):
            self.forget()
            return
        for size, rate in zip(self._sizes, rates, strict=True):
            value = decimal(rate.rstrip("k")) * DECIMAL["K"]
            if value > 0:
                yield self.measure("throughput", value, "B/s", rate, operation=row[1].lower(), block_B=float(size))
