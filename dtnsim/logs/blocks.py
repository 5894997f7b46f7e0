"""Block devices: lsblk, /proc/mdstat, hdparm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dtnsim.logs._columns import tokens
from dtnsim.logs._declared import Found, LinesParser, Match, notes, reads
from dtnsim.logs._numbers import BINARY, agrees, as_list, decimal, number, size_bytes
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Record, anew

_SIZE: Final = re.compile(r"^\d+(?:[.,]\d+)?[BKMGTPE]?$")
_PAIRS: Final = re.compile(r'^NAME="([^"]+)".*? SIZE="([^"]+)"')  # -P
_TYPES: Final = ("disk", "part", "lvm", "rom", "crypt", "loop", "mpath")
_TREE: Final = re.compile(r"^[\s├└│─|`-]*")


class Lsblk(LineParser):
    """lsblk: text with any columns, JSON.

    Units: ``SIZE`` is in powers of 1024 with one letter (20G = 20 * 2**30, rounded to one decimal) or bytes with -b
    (util-linux lsblk(8)). Locales write ``3,7T``. Columns may be blank, so SIZE is found by its right edge.
    """

    tool = "lsblk"
    evidence = Evidence.CORRECTS
    words = ("NAME",)

    _heads: list[tuple[str, int, int]] = anew(list)
    _raw = anew(bool)

    def feed(self, text: str) -> Iterable[Record]:
        words = text.split()
        if "NAME" in words[:4] and "SIZE" in words and "STATE" not in words[:2]:
            self._heads, self.open = tokens(text), True
            self._raw = "  " not in text.strip()  # -r: one blank between columns
            return ()
        if (pairs := _PAIRS.match(text)) is not None and (value := size_bytes(pairs[2].replace(",", "."))) is not None:
            return (self.measure("capacity", value, "B", pairs[2], device=pairs[1]),)
        return self._row(text) if self.open else ()

    def _row(self, text: str) -> Iterable[Record]:
        cells, at = tokens(text), [name for name, _, _ in self._heads].index("SIZE")
        near = [cell for cell, _, end in cells if abs(end - self._heads[at][2]) <= 1]
        near += [cell for cell, _, _ in cells[at : at + 1] if self._raw]
        size = next((cell for cell in near if _SIZE.match(cell)), None)
        if size is None:
            self.open = bool(text.strip()) and len(cells) >= 2
            strange = self.open and any(_SIZE.match(cell) for cell, _, _ in cells[1:])
            return (self.unread(text, "no figure is under SIZE"),) if strange else ()
        value = size_bytes(size.replace(",", "."))
        kind = next((c[0] for c in cells if c[0] in _TYPES or c[0].startswith("raid")), None)
        known: Conditions = {"device": _TREE.sub("", text).split()[0], "type": kind}
        return () if value is None else (self.measure("capacity", value, "B", size, known),)


class LsblkJson(DocumentParser, of=Lsblk):
    """``lsblk -J``."""

    keys = frozenset({"blockdevices"})

    def read(self, doc: Document) -> Iterator[Record]:
        for device in as_list(doc.data["blockdevices"]):
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


_KINDS: Final = {
    "cached": ("memory_read", False), "buffer-cache": ("memory_read", False), "buffered disk": ("read", False),
    "O_DIRECT cached": ("cache_read", True), "O_DIRECT disk": ("read", True),
}  # fmt: skip


class Mdstat(LinesParser):
    """/proc/mdstat.

    Units: ``blocks`` are KiB (kernel md.c prints sectors / 2), ``speed=259783K/sec`` KiB/s, ``64k chunk`` KiB. ``[8/7]
    [UUUUUUU_]`` is raid devices and working ones. A recovery's speed is that of its last moments, per member device.
    """

    tool = "mdstat"
    evidence = Evidence.CORRECTS
    commands = ()
    words = ("md", "active", "inactive")

    @reads(
        r"^\s*(?P<array>md\w+) : (?P<state>active|inactive)(?: \((?P<mode>[a-z-]+)\))*"
        r"(?: (?P<level>raid\d+|linear|multipath|faulty))?(?P<members>(?: \S+\[\d+\](?:\([A-Z]\))*)*)\s*$",
        opens=True,
    )
    def _array(self, found: Match) -> None:
        members = found["members"].split()
        self.known = {
            **found.groupdict(), "members": " ".join(m.partition("[")[0] for m in members) or None,
            "member_count": len(members), "failed": sum("(F)" in m for m in members),
            "spares": sum("(S)" in m for m in members),
        }  # fmt: skip

    @reads(r"^\s+<blocks:int> blocks\b(?P<rest>.*)$", inside=True)
    def _blocks(self, found: Match) -> Found:
        known, size = dict(self.known), int(found["blocks"]) * BINARY["K"]
        if (state := re.search(r"\[(\d+)/(\d+)\]", found["rest"])) is not None:
            known |= {"raid_devices": int(state[1]), "working": int(state[2])}
        if (chunk := re.search(r"(?<!\d)(\d++)k chunks?\b", found["rest"])) is not None:
            known["chunk_B"] = int(chunk[1]) * BINARY["K"]
        return self.measure("capacity", size, "B", f"{found['blocks']} blocks", **known)

    @reads(
        r"^\s.*?\b(?P<what>recovery|resync|check|reshape|repair) =\s*<done:dots>% "
        r"\(\d+/\d+\) finish=<finish:dots>min speed=<speed:int>K/sec",
        inside=True,
        result=" speed=",
    )
    def _progress(self, found: Match) -> Iterator[Record]:
        known, speed = {"operation": found["what"], **self.known}, int(found["speed"]) * BINARY["K"]
        yield self.measure("throughput", speed, "B/s", f"{found['speed']}K/sec", known, interval=True, status="partial")
        yield self.measure("progress", float(found["done"]) / 100, "1", f"{float(found['done'])} %", **known)

    def other(self, text: str) -> None:
        self.open = self.open and bool(text.strip()) and text[:1].isspace()


class Hdparm(LinesParser):
    """hdparm -t, -T and --direct.

    Units: ``MB`` is MiB: hdparm reads blocks of 2 MiB and divides by 1048576; below 1 MB/sec it prints ``kB/sec``,
    which are KiB/s (a real line: ``2 MB in 19.21 seconds = 106.63 kB/sec``, and 2 * 1024 / 19.21 = 106.6). ``cached
    reads`` measure memory, ``buffered disk reads`` the drive through the page cache, ``O_DIRECT`` without it. The
    rate is the printed one: it has more digits than the quotient.
    """

    tool = "hdparm"
    evidence = Evidence.FITS
    words = ("Timing", "dev")

    _device = notes(r"^\W*(?P<device>/dev/\S+?):\s*$", new=True)

    @reads(
        r"Timing (?P<what>cached|buffer-cache|buffered disk|O_DIRECT cached|O_DIRECT disk) reads:\s*"
        r"<size:int> MB in\s+(?P<secs>[\d.,]+) seconds\s*=\s*(?P<rate>[\d.,]+)\s*(?P<unit>kB|MB|GB)/sec"
    )
    def _timing(self, found: Match) -> Iterator[Record]:
        size, factor = int(found["size"]) * BINARY["M"], BINARY[found["unit"][0]]
        seconds, shown = decimal(found["secs"]), decimal(found["rate"])
        if size <= 0 or seconds <= 0 or shown <= 0:
            return
        if not agrees(size / seconds / factor, shown, found["rate"]):
            yield self.unread(found[0], f"the rate is not bytes / seconds ({size / seconds:.4g} B/s)")
        named = next((arg for arg in self.ctx.args("hdparm") or () if arg.startswith("/dev/")), None)
        known: Conditions = {"device": self.known.get("device") or named, "duration_s": seconds, "bytes": size}
        known["operation"], known["direct"] = _KINDS[found["what"]]
        yield self.measure("throughput", shown * factor, "B/s", f"{found['rate']} {found['unit']}/sec", **known)

    @reads(r"^\W*(?P<device>/dev/\S+?): ([A-Z][a-z].*)")
    def _error(self, found: Match) -> Found:
        if "Timing" in found.string:
            return self.other(found.string)
        return self.failure(found.string, device=found["device"]) if self.ctx.args("hdparm") is not None else None

    def other(self, text: str) -> Found:
        cut = "Timing" in text and "reads:" in text
        return self.unread(text, "the timing line has no rate: it is cut or hdparm could not time it") if cut else None
