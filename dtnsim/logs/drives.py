"""Drives and what is made of them: smartctl, nvme, lsblk, /proc/mdstat, hdparm."""

import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from dtnsim.logs._columns import columns, figures, plain, tokens
from dtnsim.logs._declared import Found, LinesParser, Match, gives, notes, reads, said_in
from dtnsim.logs._numbers import BINARY, DECIMAL, agrees, as_dict, as_list, decimal, inside, integer, number, size_bytes
from dtnsim.logs.base import Conditions, Document, Evidence, Record, anew, documents

_GROUPED: Final = r"(?P<n>\d+(?:[ ,.'’\u202f\xa0]\d{3})*)"
_VIEWS: Final = {
    "User Capacity": None, "Total NVM Capacity": "total", "Namespace 1 Size/Capacity": "namespace",
    "Namespace 1 Utilization": "used",
}  # fmt: skip

_LOG: Final = "nvme_smart_health_information_log"
_FIGURES: Final = (
    "capacity? {user_capacity/bytes} [B]", "capacity? {nvme_total_capacity} [B] : view=total",
    "rotation_rate? {rotation_rate} [rpm]", f"bytes {{{_LOG}/data_units_read}} [data-units] : operation=read",
    f"bytes {{{_LOG}/data_units_written}} [data-units] : operation=write", "power_on {power_on_time/hours} [h]",
)  # fmt: skip


class Smartctl(LinesParser, evidence=Evidence.DESCRIBES):
    """smartctl 5 to 7: text of ATA, SCSI/SAS and NVMe drives, JSON.

    Units: capacity in bytes with the locale's digit groups (``7 681 501 126 656 bytes [7,68 TB]``), the bracket
    decimal; ``6.0 Gb/s`` is the line rate in decimal bits before 8b/10b; ``Data Units`` of NVMe are 512000 bytes
    (1000 blocks of 512, NVMe specification 5.14.1.2). Rotation is per minute and given per second. ``health`` is 1
    when the drive says PASSED or OK. Temperatures and attribute tables are not read.
    """

    words = "smartctl Capacity Rotation SATA negotiated SMART Units Model Product Vendor Hours Utilization read write"
    kilo = 1000
    terms: ClassVar = {"view": _VIEWS, "operation": {"Read": "read", "Written": "write"}}

    @reads(r"^smartctl (?:version |pre-)?(\d+\.\d+)")
    def _version(self, match: Match) -> None:
        self.version = match[1]
        self.known = {"device": next((arg for arg in self.ctx.args("smartctl") or [] if arg.startswith("/dev/")), None)}

    @reads(r"^(Device Model|Model Number|Product|Vendor|Model Family):\s++(\S*+(?:\s++\S++)*)\s*+$")
    def _name(self, match: Match) -> None:
        self.known[{"Vendor": "vendor", "Model Family": "family"}.get(match[1], "model")] = match[2]

    _capacity = gives(
        rf"^(?P<view>{'|'.join(_VIEWS)}):\s+{_GROUPED}(?: bytes)?(?: \[|\s*$)",
        "capacity {n} bytes",
        to=lambda text: float(integer(text)),
    )
    _rotation = gives(r"^Rotation Rate:\s+<n:int> rpm", "rotation_rate {n} rpm")
    _sata = gives(
        r"^SATA Version is:.*?, <most:dots> Gb/s(?: \(current: <now:dots> Gb/s\))?",
        "link_rate {most} Gb/s : view=capability",
        "link_rate {now} Gb/s : view=status",
    )
    _sas = gives(r"negotiated logical link rate: phy enabled; <now:dots> Gbps", "link_rate {now} Gbps : view=status")

    @reads(r"^SMART (?:overall-health self-assessment test result|Health Status): (\S+)")
    def _health(self, match: Match) -> Found:
        healthy = match[1].rstrip("!.").upper() in ("PASSED", "OK")  # a file may end in the word
        return self.measure("health", float(healthy), match[1], **self.known) if healthy or not self.ctx.last else None

    _units = gives(rf"^Data Units (?P<operation>Read|Written):\s+{_GROUPED}(?= )", "bytes {n} [data-units]", to=integer)
    _counter = gives(r"^(?P<operation>read|write):(?:\s+\d+){5}\s+<n:comma>\s+\d+\s*$", "bytes {n} [10^9 bytes] [GB]")
    _hours = gives(rf"^Power On Hours:\s+{_GROUPED}\s*$", "power_on {n} h", to=integer)

    @documents("smartctl")
    def _json(self, doc: Document) -> Iterator[Record]:
        data: dict[str, Any] = doc.data
        version = inside(data, "smartctl", "version")
        self.version = ".".join(map(str, version)) if isinstance(version, list) else None
        drive = {"device": ("device", "name"), "model": ("model_name",), "protocol": ("device", "protocol")}
        conditions: Conditions = {key: inside(data, *keys) or None for key, keys in drive.items()}
        yield from self.figures(data, conditions, *_FIGURES, at=doc.line_of)
        for key, view in (("max", "capability"), ("current", "status")):
            speed = as_dict(inside(data, "interface_speed", key))
            count, bits = number(speed.get("units_per_second")), number(speed.get("bits_per_unit"))
            if count and bits:
                line, printed = doc.line_of('"interface_speed"'), f"{count * bits:g} b/s"
                yield self.measure("link_rate", count * bits / 8, printed, line=line, view=view, **conditions)
        if isinstance(passed := inside(data, "smart_status", "passed"), bool):
            yield self.measure("health", float(passed), str(passed), line=doc.line_of('"passed"'), **conditions)


_PAIR: Final = re.compile(
    r"^\s*+(?P<key>[A-Za-z][A-Za-z0-9_ ]{2,40}?) *+[:\t] *+"
    r"(?P<value>0x[0-9a-f]++|\d++(?:[ ,.'’\u202f\xa0]\d{3})*+)(?=\D|$)"
)


def _is_nvme(doc: Document) -> bool:
    data = as_dict(doc.data)
    listed = isinstance(data.get("Devices"), list) and '"PhysicalSize"' in doc.text
    return listed or {"percent_used", "data_units_written"} <= data.keys()


class Nvme(LinesParser, evidence=Evidence.DESCRIBES):
    """nvme-cli 0.3 to 2: ``nvme list`` and ``nvme smart-log``, text and JSON.

    Units: sizes of ``list`` have decimal prefixes (nvme-cli ``suffix_si_get``); ``Usage`` is what the namespace has
    in use / its size; ``Format`` the bytes of a block. Data units of ``smart-log`` are 1000 blocks of 512 B (NVMe
    base specification, SMART / Health log), ``(21.20 TB)`` behind them is the same rounded. ``health`` is 1 while no
    critical warning is set; ``wear`` the share of the drive's endurance that is used, which may pass 1. Times above
    the warning temperature are whole minutes, times of throttling (``Thermal Management T1``, ``T2``) seconds: they
    say why a drive was slow.
    """

    words = "Node Namespace NSID Smart"
    within = r"[-. ]*+$"
    longest = 45

    _head = notes(r"^(?=.*Usage)(?=.*Format)(?P<heads>.*(?:Node|NSID).*)", opens="list", to=str, new=True)
    _smart = notes(r"^\s*+Smart Log for NVME device:\s?<device:word>", opens="smart", to=str, new=True)

    @reads(
        r"^\s*+(?P<left>(?:/dev/)?nvme\d++(?:c\d++)?n\d++ .*?)(?<![\d.])<used:num> {1,3}<uu:k>B / {1,4}"
        r"<size:num> {1,3}<su:k>B(?: \([^()]{1,60}\))? {1,9}(?P<block>\d{1,5}) {1,3}(?P<bu>K?i?)B \+ {1,3}"
        r"(?P<meta>\d{1,4}) B(?: {1,9}(?P<rest>\S.*+))?",
        inside="list",
    )
    def _row(self, usage: Match) -> Iterator[Record]:
        self.lines, left = 0, usage["left"].split()
        drive: Conditions = {"device": left[0].rpartition("/")[2]}
        names = [word for word in left[1:-1] if not word.startswith("/dev/ng")]
        if "Version" in self.known["heads"]:  # nvme-cli 0.3: no serial number, the version behind the model
            names = ["", *names[:-1]]
        if "Model" in self.known["heads"] and len(names) > 1:
            drive["model"] = " ".join(names[1:])
            drive["firmware"] = (usage["rest"] or "").split(" ")[-1] or None
        block = int(usage["block"]) * (1024 if "K" in usage["bu"] else 1)
        drive |= {"block_B": block, "metadata_B": int(usage["meta"])}
        for view, value, unit in (("total", "size", "su"), ("used", "used", "uu")):
            size = float(usage[value]) * DECIMAL[usage[unit]]
            yield self.measure("capacity", size, f"{usage[value]} {usage[unit]}B", view=view, **drive)

    def other(self, text: str) -> Found:
        if self.block != "smart":
            return super().other(text)
        pair = _PAIR.match(text[:200]) if self.open else None
        if pair is None:
            self.open = self.open and bool(text.strip()) and ":" in text
            return None
        key = pair["key"].lower().replace("_", " ")
        if key == "critical warning":
            return self.measure("health", float(int(pair["value"], 0) == 0), text.strip(), **self.known)
        value = float(integer(pair["value"])) if key in columns("nvme") else 0.0
        return figures(self, "nvme", [(key, pair["value"])], self.known, read=lambda _: (value, ""))

    @documents(fits=_is_nvme)
    def _json(self, doc: Document) -> Iterator[Record]:
        if "percent_used" in doc.data:
            args, warning = self.ctx.args("nvme") or [], doc.data.get("critical_warning")
            device = next((arg.rpartition("/")[2] for arg in args if arg.startswith("/dev/nvme")), None)
            warning = warning.get("value") if isinstance(warning, dict) else warning
            if (value := number(warning)) is not None:
                line = doc.line_of('"critical_warning"')
                yield self.measure("health", float(value == 0), f"{warning}", line=line, device=device)
            for name in (key for key in columns("nvme") if key in doc.data):
                line = doc.line_of(f'"{name}"')
                yield from figures(self, "nvme", [(name, doc.data[name])], {"device": device}, read=plain, line=line)
            return
        lines = doc.lines()
        for space, drive in _namespaces(doc.data["Devices"], {}):
            more: Conditions = {**drive, "block_B": number(space.get("SectorSize"))}
            sizes = "capacity {UsedBytes} [B] : view=used", "capacity {PhysicalSize} [B] : view=total"
            yield from self.figures(space, more, *sizes, at=lines)


def _namespaces(objects: Any, drive: Conditions, depth: int = 0) -> Iterator[tuple[dict[str, Any], Conditions]]:
    """Objects that have a size, with what those around them say of the drive (nvme-cli 2 nests them)."""
    if depth > 8:
        return
    names = {"DevicePath": "device", "NameSpace": "device", "ModelNumber": "model", "Firmware": "firmware"}
    for item in filter(None, map(as_dict, as_list(objects))):
        fields = {to: item[key].rpartition("/")[2] for key, to in names.items() if isinstance(item.get(key), str)}
        merged: Conditions = {**drive, **fields}
        if "PhysicalSize" in item:
            yield item, merged
        for inner in ("Subsystems", "Controllers", "Namespaces"):
            yield from _namespaces(item.get(inner), merged, depth + 1)


_SIZE: Final = re.compile(r"^\d+(?:[.,]\d+)?[BKMGTPE]?$")
_TYPES: Final = ("disk", "part", "lvm", "rom", "crypt", "loop", "mpath")
_TREE: Final = re.compile(r"^[\s├└│─|`-]*")


class Lsblk(LinesParser, evidence=Evidence.CORRECTS):
    """lsblk: text with any columns, JSON.

    Units: ``SIZE`` is in powers of 1024 with one letter (20G = 20 * 2**30, rounded to one decimal) or bytes with -b
    (util-linux lsblk(8)). Locales write ``3,7T``. Columns may be blank, so SIZE is found by its right edge.
    """

    words = "NAME"

    _heads: list[tuple[str, int, int]] = anew(list)
    _raw = anew(bool)

    @reads(r"^(?=.*(?<!\S)SIZE(?!\S))\s*+(?!STATE\s|\S++\s++STATE\s)(?:\S++\s++){0,3}?NAME(?!\S)", opens=True)
    def _head(self, match: Match) -> None:
        self._heads = tokens(match.string)
        self._raw = "  " not in match.string.strip()  # -r: one blank between columns

    _pair = gives(r'^NAME="(?P<device>[^"]+)".*? SIZE="(?P<n>[^"]+)"', "capacity {n} [B]", to=size_bytes)  # -P

    def other(self, text: str) -> Found:
        if not self.open:
            return None
        cells, column = tokens(text), [name for name, _, _ in self._heads].index("SIZE")
        near = [cell for cell, _, end in cells if abs(end - self._heads[column][2]) <= 1]
        near += [cell for cell, _, _ in cells[column : column + 1] if self._raw]
        size = next((cell for cell in near if _SIZE.match(cell)), None)
        if size is None:
            self.open = bool(text.strip()) and len(cells) >= 2
            strange = self.open and any(_SIZE.match(cell) for cell, _, _ in cells[1:])
            return (self.unread(text, "no figure is under SIZE"),) if strange else ()
        value = size_bytes(size)
        kind = next((c[0] for c in cells if c[0] in _TYPES or c[0].startswith("raid")), None)
        conditions: Conditions = {"device": _TREE.sub("", text).split()[0], "type": kind}
        return () if value is None else (self.measure("capacity", value, size, conditions),)

    @documents("blockdevices")
    def _json(self, doc: Document) -> Iterator[Record]:
        for device in as_list(doc.data["blockdevices"]):
            yield from self._device(device, doc, None)

    def _device(self, device: Any, doc: Document, parent: str | None) -> Iterator[Record]:
        if not isinstance(device, dict) or "name" not in device:
            return
        name, size = str(device["name"]), device.get("size")
        value = size_bytes(size) if isinstance(size, str) else number(size)
        conditions: Conditions = {"device": name, "parent": parent}
        for key, to in (("type", "type"), ("model", "model"), ("tran", "transport"), ("rota", "rotational")):
            if isinstance(field := device.get(key), str | bool) and field != "":
                conditions[to] = field.strip() if isinstance(field, str) else field
        if value is not None:
            yield self.measure("capacity", value, str(size), line=doc.line_of(f'"name": "{name}"'), **conditions)
        for child in device.get("children") or []:
            yield from self._device(child, doc, name)


_KINDS: Final = {
    "cached": ("memory_read", False), "buffer-cache": ("memory_read", False), "buffered disk": ("read", False),
    "O_DIRECT cached": ("cache_read", True), "O_DIRECT disk": ("read", True),
}  # fmt: skip


class Mdstat(LinesParser, evidence=Evidence.CORRECTS):
    """/proc/mdstat.

    Units: ``blocks`` are KiB (kernel md.c prints sectors / 2), ``speed=259783K/sec`` KiB/s, ``64k chunk`` KiB. ``[8/7]
    [UUUUUUU_]`` is raid devices and working ones. A recovery's speed is that of its last moments, per member device.
    """

    commands = ()
    words = "md active inactive"
    within = r"\s+\S"

    @reads(
        r"^\s*(?P<array>md\w+) : (?P<state>active|inactive)(?: \((?P<mode>[a-z-]+)\))*"
        r"(?: (?P<level>raid\d+|linear|multipath|faulty))?(?P<members>(?: \S+\[\d+\](?:\([A-Z]\))*)*)\s*$",
        opens=True,
    )
    def _array(self, match: Match) -> None:
        members = match["members"].split()
        self.known = {
            **match.groupdict(), "members": " ".join(m.partition("[")[0] for m in members) or None,
            "member_count": len(members), "failed": sum("(F)" in m for m in members),
            "spares": sum("(S)" in m for m in members),
        }  # fmt: skip

    @reads(r"^\s+<blocks:int> blocks\b(?P<rest>.*)$", inside=True)
    def _blocks(self, match: Match) -> Found:
        rest, size = match["rest"], int(match["blocks"]) * BINARY["K"]
        conditions = said_in(rest, raid_devices=r"\[(\d+)/\d+\]", working=r"\[\d+/(\d+)\]")
        conditions |= said_in(rest, lambda text: int(text) * BINARY["K"], chunk_B=r"(?<!\d)(\d++)k chunks?\b")
        return self.measure("capacity", size, f"{match['blocks']} blocks", {**self.known, **conditions})

    @reads(
        r"^\s.*?\b(?P<what>recovery|resync|check|reshape|repair) =\s*<done:dots>% "
        r"\(\d+/\d+\) finish=<finish:dots>min speed=<speed:int>K/sec",
        inside=True,
        result=" speed=",
    )
    def _progress(self, match: Match) -> Iterator[Record]:
        conditions, speed = {"operation": match["what"], **self.known}, int(match["speed"]) * BINARY["K"]
        yield self.measure("throughput", speed, f"{match['speed']}K/sec", conditions, interval=True, status="partial")
        yield self.measure("progress", float(match["done"]) / 100, f"{float(match['done'])} %", **conditions)


class Hdparm(LinesParser, evidence=Evidence.FITS):
    """hdparm -t, -T and --direct.

    Units: ``MB`` is MiB: hdparm reads blocks of 2 MiB and divides by 1048576; below 1 MB/sec it prints ``kB/sec``,
    which are KiB/s (a real line: ``2 MB in 19.21 seconds = 106.63 kB/sec``, and 2 * 1024 / 19.21 = 106.6). ``cached
    reads`` measure memory, ``buffered disk reads`` the drive through the page cache, ``O_DIRECT`` without it. The
    rate is the printed one: it has more digits than the quotient.
    """

    words = "Timing dev"

    _device = notes(r"^\W*(?P<device>/dev/\S+?):\s*$", new=True)

    @reads(
        r"Timing (?P<what>cached|buffer-cache|buffered disk|O_DIRECT cached|O_DIRECT disk) reads:\s*"
        r"<size:int> MB in\s+(?P<secs>[\d.,]+) seconds\s*=\s*(?P<rate>[\d.,]+)\s*(?P<unit>kB|MB|GB)/sec"
    )
    def _timing(self, match: Match) -> Iterator[Record]:
        size, factor = int(match["size"]) * BINARY["M"], BINARY[match["unit"][0]]
        seconds, shown = decimal(match["secs"]), decimal(match["rate"])
        if size <= 0 or seconds <= 0 or shown <= 0:
            return
        if not agrees(size / seconds / factor, shown, match["rate"]):
            yield self.unread(match[0], f"the rate is not bytes / seconds ({size / seconds:.4g} B/s)")
        named = next((arg for arg in self.ctx.args("hdparm") or () if arg.startswith("/dev/")), None)
        conditions: Conditions = {"device": self.known.get("device") or named, "duration_s": seconds, "bytes": size}
        conditions["operation"], conditions["direct"] = _KINDS[match["what"]]
        yield self.measure("throughput", shown * factor, f"{match['rate']} {match['unit']}/sec", **conditions)

    @reads(r"^\W*(?P<device>/dev/\S+?): (?!Timing)[A-Z][a-z]")
    def _error(self, match: Match) -> Found:
        return self.failure(match.string, device=match["device"]) if self.ctx.args("hdparm") is not None else None

    def other(self, text: str) -> Found:
        cut = "Timing" in text and "reads:" in text
        return self.unread(text, "the timing line has no rate: it is cut or hdparm could not time it") if cut else None
