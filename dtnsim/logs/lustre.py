"""Lustre: lfs, LNet selftest, obdfilter-survey."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import BINARY, Conditions, Evidence, LineParser, Record, decimal, size_bytes

_LFS_ROW: Final = re.compile(
    r"^\s*+(?P<name>[\w.-]++(?:_UUID)?|filesystem[_ ]summary):?\s++(?P<total>\d++(?:\.\d++)?[KMGTPE]?)\s++"
    r"(?P<used>\d++(?:\.\d++)?[KMGTPE]?)\s++(?P<free>\d++(?:\.\d++)?[KMGTPE]?)\s++(?P<share>\d{1,3})% (?P<mount>/\S*+)"
)
_STRIPE: Final = re.compile(r"^\s*+lmm_stripe_(?P<what>count|size): {1,9}(?P<value>-?\d{1,15})\s*+$")
_START: Final = re.compile(r"^\s*+lcme_extent\.e_start: {1,9}(?P<start>\d{1,20})\s*+$")
_COMPONENT: Final = re.compile(r"^\s*+lcme_id: {1,20}(?P<id>\d{1,12})\s*+$")
_FILE: Final = re.compile(r"^(?P<file>[^\s:]{1,500})\s*+$")


class LfsDf(LineParser):
    """lfs of Lustre 2.x: ``lfs df`` and ``lfs getstripe``.

    Units: without ``-h`` the blocks of ``lfs df`` are of 1024 B (its heading says 1K-blocks); with it K, M, G, T, P
    are powers of 1024. One row a target (``device``) and ``filesystem_summary`` for all; ``-i`` (inodes) is not read.
    ``getstripe`` gives the number of stripes (-1, all targets, is not read) and their size; files of several
    components have several (``component``, from ``extent_B`` on).
    """

    tool = "lfs"
    evidence = Evidence.DESCRIBES
    words = ("UUID",)
    commands = ("lfs",)

    def forget(self) -> None:
        self.open = False
        self._kib = False

    def feed(self, text: str) -> Iterable[Record]:
        words = text.split(maxsplit=8)
        if words[:1] == ["UUID"]:
            blocks = words[1] if len(words) > 1 else ""
            self.open = blocks in ("1K-blocks", "bytes")
            self._kib = blocks == "1K-blocks"
            return ()
        if not self.open:
            return ()
        row = _LFS_ROW.match(text)
        if row is None:
            self.open = not text.strip() or text.strip() == "..." or ": inactive device" in text
            return ()
        return self._row(row)

    def _row(self, row: re.Match[str]) -> Iterator[Record]:
        name = row["name"].removesuffix("_UUID")
        more: Conditions = {"target": row["mount"].partition("[")[0]}
        if not name.startswith("filesystem"):
            more["device"] = name
        for view in ("total", "used", "free"):
            size = size_bytes(row[view])
            if size is not None:
                scale = 1024.0 if self._kib and row[view].isdigit() else 1.0
                yield self.measure("capacity", size * scale, "B", row[view], view=view, **more)


class LfsStripe(LineParser):
    """Layouts of ``lfs getstripe``."""

    tool = "lfs"
    evidence = Evidence.DESCRIBES
    words = ("stripe", "lcme")

    def forget(self) -> None:
        self._component: Conditions = {}
        self._file: str | None = None

    def feed(self, text: str) -> Iterable[Record]:
        if (component := _COMPONENT.match(text)) is not None:
            self._component = {"component": int(component["id"])}
            return ()
        if (start := _START.match(text)) is not None:
            self._component["extent_B"] = float(start["start"])
            return ()
        found = _STRIPE.match(text)
        if found is None:
            return ()
        if found["what"] == "count":
            before = _FILE.match(self.ctx.previous)
            if before is not None:
                self._file = before["file"]
                self._component = {}
        more: Conditions = {**self._component, "target": self._file}
        value = int(found["value"])
        if value <= 0:
            return ()
        quantity, unit, of = ("count", "1", "stripes") if found["what"] == "count" else ("bytes", "B", "stripe size")
        return (self.measure(quantity, value, unit, found["value"], of=of, **more),)


_HEAD: Final = re.compile(r"^\s*+\[LN[Ee][Tt] (?P<what>Rates|Bandwidth) of (?P<group>[^\]]{1,200})\]")
_LNET_ROW: Final = re.compile(
    r"^\s*+\[(?P<way>[RW])\] Avg: {1,2}(?P<avg>\d++(?:\.\d++)?) {1,9}(?P<unit>RPC/s|MB/s|MiB/s) {1,2}"
    r"Min: {1,2}(?P<min>\d++(?:\.\d++)?) {1,9}(?:RPC/s|MB/s|MiB/s) {1,2}Max: {1,2}(?P<max>\d++(?:\.\d++)?) "
)
_STATISTICS: Final = {"avg": None, "min": "min", "max": "max"}


class LnetSelftest(LineParser):
    """LNet selftest: ``lst stat`` of a group, again and again.

    Units: ``MB/s`` of Lustre up to 2.12 and ``MiB/s`` are 2^20 B/s (lst.c divides by 1048576); with ``--mbs`` later
    releases print 10^6 as ``MB/s``, which the log does not tell apart, so that ``MB/s`` is 2^20 unless the command
    has ``--mbs``. ``[R]`` is what the nodes of the group received, ``[W]`` what they sent. All are of an interval:
    the mean of the group's nodes is the headline, ``min`` and ``max`` are its slowest and fastest node.
    """

    tool = "lnet_selftest"
    evidence = Evidence.NETWORK
    by_document = True
    words = ("LNet", "LNET")
    commands = ("lst",)

    def forget(self) -> None:
        self.open = False
        self._group = ""
        self._reports: dict[str, int] = {}

    def feed(self, text: str) -> Iterable[Record]:
        if (head := _HEAD.match(text)) is not None:
            self._group, self.open = head["group"], True
            if head["what"] == "Rates":
                if len(self._reports) > 1000:
                    self._reports.clear()
                self._reports[self._group] = self._reports.get(self._group, 0) + 1
            return ()
        row = _LNET_ROW.match(text) if self.open else None
        if row is None:
            self.open = self.open and not text.strip()
            return ()
        return self._row(row)

    def _row(self, row: re.Match[str]) -> Iterator[Record]:
        more: Conditions = {
            "of": self._group,
            "direction": "receive" if row["way"] == "R" else "send",
            "report": self._reports.get(self._group),
            "interval": True,
        }
        decimal = row["unit"] == "MB/s" and "--mbs" in (self.ctx.args("lst") or ())
        for name, statistic in _STATISTICS.items():
            value, printed = float(row[name]), f"{row[name]} {row['unit']}"
            if row["unit"] == "RPC/s":
                yield self.measure("rate", value, "1/s", printed, statistic=statistic, **more)
            else:
                rate = value * (1e6 if decimal else 2.0**20)
                yield self.measure("throughput", rate, "B/s", printed, statistic=statistic, **more)


_LINE: Final = re.compile(
    r"\bost\s*(?P<ost>\d+)\s+sz\s*(?P<sz>\d+)K\s+rsz\s*(?P<rsz>\d+)K?\s+obj\s*(?P<obj>\d+)\s+thr\s*(?P<thr>\d+)\s+(?P<rest>.*)"
)
_TEST: Final = re.compile(
    r"\b(?P<test>write|rewrite|read|reread|rewrite_again)\s+(?P<rate>[\d.,]+)\s+"
    r"(?:[\[［]\s*(?P<min>[\d.]+)\s*,\s*(?P<max>[\d.]+)\s*[\]］]|(?P<word>SHORT|ERROR))?"
)


class Obdfilter(LineParser):
    """obdfilter-survey of the Lustre I/O kit (summary lines).

    Units: the printed figures are total_size in KiB / (seconds * 1024), so MiB/s (lustre-iokit obdfilter-survey,
    ``compute bandwidth from total data / elapsed time``); the brackets hold the slowest and fastest OST's one-second
    samples, also MiB/s. ``sz`` is KiB over all OSTs, ``rsz`` KiB with or without the K. ``SHORT`` after a rate means
    that the run was too short for samples (the rate holds), ``ERROR`` that an OST reported an error (no rate).
    """

    tool = "obdfilter-survey"
    evidence = Evidence.SERVERS
    by_document = True
    words = ("ost", "rsz")
    commands = ("obdfilter-survey",)

    def feed(self, text: str) -> Iterator[Record]:
        match = _LINE.search(text)
        if match is None:
            return
        conditions: Conditions = {
            "osts": int(match["ost"]),
            "bytes": int(match["sz"]) * BINARY["K"],
            "record_B": int(match["rsz"]) * BINARY["K"],
            "objects": int(match["obj"]),
            "threads": int(match["thr"]),
        }
        read_any = False
        for test in _TEST.finditer(match["rest"] + " "):
            read_any = True
            conditions["operation"] = test["test"]
            if test["word"] == "ERROR" or decimal(test["rate"]) == 0:
                yield self.failure(test[0], **conditions)
                continue
            printed = f"{test['rate']} MB/s"
            yield self.measure("throughput", decimal(test["rate"]) * BINARY["M"], "B/s", printed, **conditions)
            for statistic in ("min", "max"):
                if test[statistic] is not None:
                    value = decimal(test[statistic]) * BINARY["M"]
                    yield self.measure(
                        "throughput", value, "B/s", test[statistic], statistic=statistic, view="per_ost", **conditions
                    )
        if not read_any:
            yield self.unread(text, "the line has no result")
