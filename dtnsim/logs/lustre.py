"""Lustre: lfs, LNet selftest, obdfilter-survey."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dtnsim.logs._declared import Found, LinesParser, Match, reads
from dtnsim.logs.base import BINARY, Conditions, Evidence, Record, decimal, size_bytes

_N: Final = r"\d++(?:\.\d++)?"
_S: Final = rf"{_N}[KMGTPE]?"
_U: Final = r"(?:RPC/s|MB/s|MiB/s)"
_TEST: Final = re.compile(
    r"\b(write|rewrite|read|reread|rewrite_again)\s+([\d.,]+)\s+"
    r"(?:[\[［]\s*([\d.]+)\s*,\s*([\d.]+)\s*[\]］]|(SHORT|ERROR))?"
)


class LfsDf(LinesParser):
    """lfs of Lustre 2.x: ``lfs df`` and ``lfs getstripe``.

    Units: without ``-h`` the blocks of ``lfs df`` are of 1024 B (its heading says 1K-blocks); with it K, M, G, T, P
    are powers of 1024. One row a target (``device``) and ``filesystem_summary`` for all; ``-i`` (inodes) is not read.
    ``getstripe`` gives the number of stripes (-1, all targets, is not read) and their size; files of several
    components have several (``component``, from ``extent_B`` on).
    """

    tool = "lfs"
    evidence = Evidence.DESCRIBES
    words = ("UUID",)

    @reads(r"^\s*UUID(?:\s+(?P<blocks>\S+))?")
    def _head(self, head: Match) -> None:
        self.open, self.known = head["blocks"] in ("1K-blocks", "bytes"), {"kib": head["blocks"] == "1K-blocks"}

    @reads(
        rf"^\s*+(?P<name>[\w.-]++(?:_UUID)?|filesystem[_ ]summary):?\s++(?P<total>{_S})\s++(?P<used>{_S})"
        rf"\s++(?P<free>{_S})\s++(?P<share>\d{{1,3}})% (?P<mount>/\S*+)",
        inside=True,
    )
    def _row(self, row: Match) -> Iterator[Record]:
        name = row["name"].removesuffix("_UUID")
        known: Conditions = {"target": row["mount"].partition("[")[0]}
        if not name.startswith("filesystem"):
            known["device"] = name
        for view in ("total", "used", "free"):
            if (size := size_bytes(row[view])) is not None:
                scale = 1024.0 if self.known["kib"] and row[view].isdigit() else 1.0
                yield self.measure("capacity", size * scale, "B", row[view], view=view, **known)

    def other(self, text: str) -> None:
        self.open = self.open and (not text.strip() or text.strip() == "..." or ": inactive device" in text)


class LfsStripe(LinesParser, of=LfsDf):
    """Layouts of ``lfs getstripe``."""

    words = ("stripe", "lcme")

    def forget(self) -> None:
        super().forget()
        self._file: str | None = None

    @reads(r"^\s*+lcme_id: {1,20}(?P<id>\d{1,12})\s*+$")
    def _component(self, found: Match) -> None:
        self.known = {"component": int(found["id"])}

    @reads(r"^\s*+lcme_extent\.e_start: {1,9}(?P<start>\d{1,20})\s*+$")
    def _start(self, found: Match) -> None:
        self.known["extent_B"] = float(found["start"])

    @reads(r"^\s*+lmm_stripe_(?P<what>count|size): {1,9}(?P<value>-?\d{1,15})\s*+$")
    def _stripe(self, found: Match) -> Found:
        counted, value = found["what"] == "count", int(found["value"])
        if counted and (before := re.match(r"^([^\s:]{1,500})\s*+$", self.ctx.previous)) is not None:
            self._file, self.known = before[1], {}
        kind = ("count", value, "1") if counted else ("bytes", value, "B")
        of = "stripes" if counted else "stripe size"
        return self.measure(*kind, found["value"], of=of, **self.known, target=self._file) if value > 0 else None


class LnetSelftest(LinesParser):
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
        super().forget()
        self._reports: dict[str, int] = {}

    @reads(r"^\s*+\[LN[Ee][Tt] (?P<what>Rates|Bandwidth) of (?P<group>[^\]]{1,200})\]", opens=True)
    def _head(self, head: Match) -> None:
        group = head["group"]
        if head["what"] == "Rates":
            if len(self._reports) > 1000:
                self._reports.clear()
            self._reports[group] = self._reports.get(group, 0) + 1
        self.known = {"of": group, "report": self._reports.get(group)}

    @reads(
        rf"^\s*+\[(?P<way>[RW])\] Avg: {{1,2}}(?P<avg>{_N}) {{1,9}}(?P<unit>{_U}) {{1,2}}"
        rf"Min: {{1,2}}(?P<min>{_N}) {{1,9}}{_U} {{1,2}}Max: {{1,2}}(?P<max>{_N}) ",
        "Avg: ",
        inside=True,
        result=True,
    )
    def _row(self, row: Match) -> Iterator[Record]:
        known = {**self.known, "direction": "receive" if row["way"] == "R" else "send", "interval": True}
        factor = 1e6 if row["unit"] == "MB/s" and "--mbs" in (self.ctx.args("lst") or ()) else 2.0**20
        kind = ("rate", 1.0, "1/s") if row["unit"] == "RPC/s" else ("throughput", factor, "B/s")
        for name, statistic in (("avg", None), ("min", "min"), ("max", "max")):
            value, printed = float(row[name]) * kind[1], f"{row[name]} {row['unit']}"
            yield self.measure(kind[0], value, kind[2], printed, statistic=statistic, **known)

    def other(self, text: str) -> None:
        self.open = self.open and not text.strip()


class Obdfilter(LinesParser):
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

    @reads(
        r"\bost\s*(?P<osts>\d+)\s+sz\s*(?P<sz>\d+)K\s+rsz\s*(?P<rsz>\d+)K?\s+obj\s*(?P<objects>\d+)\s+thr\s*(?P<threads>\d+)"
        r"\s+(?P<rest>.*)",
        search=True,
    )
    def _line(self, found: Match) -> Iterator[Record]:
        known: Conditions = {key: int(found[key]) for key in ("osts", "objects", "threads")}
        known |= {"bytes": int(found["sz"]) * BINARY["K"], "record_B": int(found["rsz"]) * BINARY["K"]}
        test = None
        for test in _TEST.finditer(found["rest"] + " "):
            operation, rate, least, most, word = test.groups()
            known["operation"] = operation
            if word == "ERROR" or decimal(rate) == 0:
                yield self.failure(test[0], **known)
                continue
            yield self.measure("throughput", decimal(rate) * BINARY["M"], "B/s", f"{rate} MB/s", **known)
            for statistic, text in (("min", least), ("max", most)):
                if text is not None:
                    more = {**known, "statistic": statistic, "view": "per_ost"}
                    yield self.record("throughput", decimal(text) * BINARY["M"], "B/s", text, more)
        if test is None:
            yield self.unread(found.string, "the line has no result")
