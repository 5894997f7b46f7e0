"""``zfs get`` (all, or properties by name) and ``zfs list``.

Units: K, M, G, T are powers of 1024, a number without a letter is bytes (with ``-p``). Sizes are ``capacity``
(``view`` is used, free, referenced ...), ``recordsize`` and ``volblocksize`` are ``bytes``, ``compressratio`` a plain
ratio. What changes speed and is no number (compression, checksum, sync, atime, primarycache, dedup, encryption,
logbias) goes as a condition with those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs.base import Conditions, Context, Evidence, LineParser, Record, size_bytes

_LINE: Final = re.compile(
    r"^\s*+(?P<name>[\w.:/@%-]++)\s++(?P<key>[a-z]{4,30})\s++(?P<value>\S++)\s++"
    r"(?P<source>-|local|default|received|temporary|inherited from \S++)\s*+$"
)
_LIST: Final = re.compile(
    r"^\s*+(?P<name>[\w.:/@%-]++)\s++(?P<used>[\d.]++[BKMGTPE]?)\s++(?P<free>[\d.]++[BKMGTPE]?|-)\s++"
    r"(?P<refer>[\d.]++[BKMGTPE]?)\s++(?P<mount>/\S*+|-|none|legacy)\s*+$"
)
_SIZES: Final = {
    "used": "used", "available": "free", "referenced": "referenced", "volsize": "total", "logicalused": "logical",
    "usedbysnapshots": "snapshots", "quota": "quota", "refquota": "quota",
}  # fmt: skip
_BLOCKS: Final = ("recordsize", "volblocksize")
_SETTINGS: Final = (
    "compression", "checksum", "sync", "atime", "relatime", "primarycache", "secondarycache", "dedup", "encryption",
    "logbias", "copies", "type", "xattr",
)  # fmt: skip
_MANY: Final = 2000


class Zfs(LineParser):
    """Lines of properties, and lists."""

    tool = "zfs"
    evidence = Evidence.DESCRIBES
    words = ("PROPERTY", "AVAIL")
    shape = r"^\s*+\S++\s++(?:compressratio|recordsize|volblocksize)\s"
    commands = ("zfs",)

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._list = False
        self._found: dict[str, list[tuple[str, str, int]]] = {}
        self._settings: dict[str, Conditions] = {}

    def feed(self, text: str) -> Iterable[Record]:
        words = text.split(maxsplit=5)
        if words[:3] == ["NAME", "PROPERTY", "VALUE"]:
            done = list(self.settle())
            self.open, self._list = True, False
            return done
        if words[:4] == ["NAME", "USED", "AVAIL", "REFER"]:
            done = list(self.settle())
            self.open, self._list = True, True
            return done
        if self.open and self._list:
            row = _LIST.match(text)
            if row is None:
                self.open = False
                return ()
            return self._row(row)
        line = _LINE.match(text)
        if line is None:  # a date, a value with blanks
            other = len(words) > 3 and words[1].isalpha() and words[1].islower()
            return list(self.settle()) if self.open and not other else ()
        self._property(line)
        return () if self.open else list(self.settle())

    def _property(self, line: re.Match[str]) -> None:
        name, key, value = line["name"], line["key"], line["value"]
        if len(self._found) + len(self._settings) > _MANY:
            return
        if key in _SETTINGS:
            self._settings.setdefault(name, {})[key] = value
        elif key in _SIZES or key in _BLOCKS or key == "compressratio":
            self._found.setdefault(name, []).append((key, value, self.ctx.line))

    def _row(self, row: re.Match[str]) -> Iterator[Record]:
        for view, key in (("used", "used"), ("free", "free"), ("referenced", "refer")):
            size = size_bytes(row[key])
            if size is not None:
                yield self.measure("capacity", size, "B", row[key], view=view, target=row["name"])

    def settle(self) -> Iterator[Record]:
        found, settings = self._found, self._settings
        self._found, self._settings, self.open = {}, {}, False
        for name, rows in found.items():
            for key, text, line in rows:
                more: Conditions = {"target": name, **({} if key in _SIZES else settings.get(name, {}))}
                if key == "compressratio":
                    ratio = float(text.removesuffix("x"))
                    yield self.measure("ratio", ratio, "1", text, line=line, of="compression", **more)
                    continue
                size = size_bytes(text)
                if size is None:  # none
                    continue
                if key in _BLOCKS:
                    yield self.measure("bytes", size, "B", text, line=line, of=key, **more)
                else:
                    yield self.measure("capacity", size, "B", text, line=line, view=_SIZES[key], **more)
