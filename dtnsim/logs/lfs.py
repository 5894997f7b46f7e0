"""lfs of Lustre 2.x: ``lfs df`` and ``lfs getstripe``.

Units: without ``-h`` the blocks of ``lfs df`` are of 1024 B (its heading says 1K-blocks); with it K, M, G, T, P are
powers of 1024. One row a target (``device``) and ``filesystem_summary`` for all; ``-i`` (inodes) is not read.
``getstripe`` gives the number of stripes (-1, all targets, is not read) and their size; files of several components
have several (``component``, from ``extent_B`` on).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import Conditions, Evidence, LineParser, Record, size_bytes

_ROW: Final = re.compile(
    r"^\s*+(?P<name>[\w.-]++(?:_UUID)?|filesystem[_ ]summary):?\s++(?P<total>\d++(?:\.\d++)?[KMGTPE]?)\s++"
    r"(?P<used>\d++(?:\.\d++)?[KMGTPE]?)\s++(?P<free>\d++(?:\.\d++)?[KMGTPE]?)\s++(?P<share>\d{1,3})% (?P<mount>/\S*+)"
)
_STRIPE: Final = re.compile(r"^\s*+lmm_stripe_(?P<what>count|size): {1,9}(?P<value>-?\d{1,15})\s*+$")
_START: Final = re.compile(r"^\s*+lcme_extent\.e_start: {1,9}(?P<start>\d{1,20})\s*+$")
_COMPONENT: Final = re.compile(r"^\s*+lcme_id: {1,20}(?P<id>\d{1,12})\s*+$")
_FILE: Final = re.compile(r"^(?P<file>[^\s:]{1,500})\s*+$")


class LfsDf(LineParser):
    """Rows of ``lfs df``."""

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
        row = _ROW.match(text)
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
