"""sar: -u (CPU), -n DEV (interfaces), -d (devices), -b (all I/O); other tables are left out.

Units: ``kB`` is 1024 B (sar manual), ``rd_sec/s`` and ``bread/s`` are sectors of 512 B, ``rxbyt/s`` of old
versions bytes; ``%ifutil`` and ``%util`` percent; ``await`` milliseconds. Rows without ``Average:`` are
intervals.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dtnsim.logs._declared import declared, figures
from dtnsim.logs._sysstat import STAMP, STATES, is_mpstat
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

COLUMNS: Final = declared("""
    rxkB/s               : throughput KiB/s direction=receive
    txkB/s               : throughput KiB/s direction=send
    rxbyt/s              : throughput B/s direction=receive
    txbyt/s              : throughput B/s direction=send
    rkB/s                : throughput KiB/s operation=read
    wkB/s                : throughput KiB/s operation=write
    dkB/s                : throughput KiB/s operation=discard
    rd_sec/s bread/s     : throughput sectors/s operation=read
    wr_sec/s bwrtn/s     : throughput sectors/s operation=write
    rxpck/s              : rate 1/s direction=receive
    txpck/s              : rate 1/s direction=send
    tps                  : iops 1/s operation=all
    rtps                 : iops 1/s operation=read
    wtps                 : iops 1/s operation=write
    %ifutil %util        : utilization %
    await                : latency ms operation=all
""")
_KEYS: Final = {"CPU": "cpu", "IFACE": "interface", "DEV": "device"}


class Sar(LineParser):
    """Tables of one heading line each."""

    tool = "sar"
    evidence = Evidence.BUSY
    words = ("CPU", "IFACE", "DEV", "rtps")
    commands = ("sar", "sadf")

    def forget(self) -> None:
        self.open = False
        self._heads: list[str] = []

    def feed(self, text: str) -> Iterable[Record]:
        match = STAMP.match(text)
        if match is None:
            self._heads, self.open = [], False
            return ()
        words = match["rest"].split()
        if words[0] in _KEYS or words[-1] in _KEYS or "rtps" in words:
            self._heads, self.open = [], False
            mine = ("%user" in words or "%usr" in words) and (self.ctx.args("sar") is not None or not is_mpstat(words))
            if mine or any(word in COLUMNS and COLUMNS[word].quantity == "throughput" for word in words):
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
        columns = STATES if "cpu" in more else COLUMNS
        return figures(self, columns, zip(self._heads, words, strict=True), more)
