"""lsblk: text with any columns, JSON.

Units: ``SIZE`` is in powers of 1024 with one letter (20G = 20 * 2**30, rounded to one decimal) or bytes with
-b (util-linux lsblk(8)). Locales write ``3,7T``. Columns may be blank, so SIZE is found by its right edge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dtnsim.logs._declared import tokens
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Record, number, size_bytes

_SIZE: Final = re.compile(r"^\d+(?:[.,]\d+)?[BKMGTPE]?$")
_PAIRS: Final = re.compile(r'^NAME="([^"]+)".*? SIZE="([^"]+)"')  # -P
_TREE: Final = re.compile(r"^[\s├└│─|`-]*")


class Lsblk(LineParser):
    """The table under a heading with NAME and SIZE."""

    tool = "lsblk"
    evidence = Evidence.CORRECTS
    words = ("NAME",)
    commands = ("lsblk",)

    def forget(self) -> None:
        self.open = False
        self._heads: list[tuple[str, int, int]] = []
        self._raw = False

    def feed(self, text: str) -> Iterable[Record]:
        words = text.split()
        if "NAME" in words[:4] and "SIZE" in words and "STATE" not in words[:2]:
            self._heads, self.open = tokens(text), True
            self._raw = "  " not in text.strip()  # -r: one blank between columns
            return ()
        if (pairs := _PAIRS.match(text)) is not None and (value := size_bytes(pairs[2].replace(",", "."))) is not None:
            return (self.measure("capacity", value, "B", pairs[2], device=pairs[1]),)
        if not self.open:
            return ()
        return self._row(text)

    def _row(self, text: str) -> Iterable[Record]:
        cells = tokens(text)
        edge = next(end for name, _, end in self._heads if name == "SIZE")
        size = next((c for c in cells if abs(c[2] - edge) <= 1 and _SIZE.match(c[0])), None)
        if size is None and self._raw:
            at = [name for name, _, _ in self._heads].index("SIZE")
            size = cells[at] if at < len(cells) and _SIZE.match(cells[at][0]) else None
        if size is None:
            if not text.strip() or len(cells) < 2:
                self.open = False
            elif any(_SIZE.match(c[0]) for c in cells[1:]):
                return (self.unread(text, "no figure is under SIZE"),)
            return ()
        value = size_bytes(size[0].replace(",", "."))
        if value is None:
            return ()
        name = _TREE.sub("", text).split()[0]
        conditions: Conditions = {"device": name}
        kinds = ("disk", "part", "lvm", "rom", "crypt", "loop", "mpath")
        kind = next((c[0] for c in cells if c[0] in kinds or c[0].startswith("raid")), None)
        if kind is not None:
            conditions["type"] = kind
        return (self.measure("capacity", value, "B", size[0], **conditions),)


class LsblkJson(DocumentParser):
    """``lsblk -J``."""

    tool = "lsblk"
    evidence = Evidence.CORRECTS

    def match(self, doc: Document) -> bool:
        """A document with block devices."""
        return isinstance(doc.data, dict) and isinstance(doc.data.get("blockdevices"), list)

    def read(self, doc: Document) -> Iterator[Record]:
        for device in doc.data["blockdevices"]:
            yield from self._device(device, doc, None)

    def _device(self, device: Any, doc: Document, parent: str | None) -> Iterator[Record]:
        if not isinstance(device, dict) or "name" not in device:
            return
        name, size = str(device["name"]), device.get("size")
        value = number(size) if not isinstance(size, str) else size_bytes(size.replace(",", "."))
        conditions: Conditions = {"device": name, "parent": parent}
        for key, to in (("type", "type"), ("model", "model"), ("tran", "transport"), ("rota", "rotational")):
            found = device.get(key)
            if isinstance(found, str | bool) and found != "":
                conditions[to] = found.strip() if isinstance(found, str) else found
        if value is not None:
            line = doc.line_of(f'"name": "{name}"')
            yield self.measure("capacity", value, "B", str(size), line=line, **conditions)
        for child in device.get("children") or []:
            yield from self._device(child, doc, name)
