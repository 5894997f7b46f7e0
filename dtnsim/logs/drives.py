"""Drives: smartctl and nvme."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from dtnsim.logs._columns import columns, figures
from dtnsim.logs._declared import Found, LinesParser, Match, gives, notes, reads
from dtnsim.logs._numbers import DECIMAL, as_dict, as_list, integer, number, regex
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, Record

_GROUPED: Final = r"(?P<n>\d+(?:[ ,.'’\u202f\xa0]\d{3})*)"
_VIEWS: Final = {
    "User Capacity": None, "Total NVM Capacity": "total", "Namespace 1 Size/Capacity": "namespace",
    "Namespace 1 Utilization": "used",
}  # fmt: skip


class Smartctl(LinesParser):
    """smartctl 5 to 7: text of ATA, SCSI/SAS and NVMe drives, JSON.

    Units: capacity in bytes with the locale's digit groups (``7 681 501 126 656 bytes [7,68 TB]``), the bracket
    decimal; ``6.0 Gb/s`` is the line rate in decimal bits before 8b/10b; ``Data Units`` of NVMe are 512000 bytes
    (1000 blocks of 512, NVMe specification 5.14.1.2). Rotation is per minute and given per second. ``health`` is 1
    when the drive says PASSED or OK. Temperatures and attribute tables are not read.
    """

    tool = "smartctl"
    evidence = Evidence.DESCRIBES
    words = (
        "smartctl", "Capacity", "Rotation", "SATA", "negotiated", "SMART", "Units", "Model", "Product", "Vendor",
        "Hours", "Utilization", "read", "write",
    )  # fmt: skip
    kilo = 1000
    terms: ClassVar = {"view": _VIEWS, "operation": {"Read": "read", "Written": "write"}}

    @reads(r"^smartctl (?:version |pre-)?(\d+\.\d+)")
    def _version(self, found: Match) -> None:
        self.version = found[1]
        self.known = {"device": next((arg for arg in self.ctx.args("smartctl") or [] if arg.startswith("/dev/")), None)}

    @reads(r"^(Device Model|Model Number|Product|Vendor|Model Family):\s++(\S*+(?:\s++\S++)*)\s*+$")
    def _name(self, found: Match) -> None:
        self.known[{"Vendor": "vendor", "Model Family": "family"}.get(found[1], "model")] = found[2]

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
    _sas = gives(
        r"^\s+negotiated logical link rate: phy enabled; <now:dots> Gbps", "link_rate {now} Gbps : view=status"
    )

    @reads(r"^SMART (?:overall-health self-assessment test result|Health Status): (\S+)")
    def _health(self, found: Match) -> Found:
        healthy = float(found[1].rstrip("!.").upper() in ("PASSED", "OK"))
        return self.measure("health", healthy, "1", found[1], **self.known)

    _units = gives(rf"^Data Units (?P<operation>Read|Written):\s+{_GROUPED}(?= )", "bytes {n} [data-units]", to=integer)
    _counter = gives(
        r"^(?P<operation>read|write):(?:\s+\d+){5}\s+(?P<n>\d+[.,]\d+)\s+\d+\s*$", "bytes {n} [10^9 bytes] [GB]"
    )
    _hours = gives(rf"^Power On Hours:\s+{_GROUPED}\s*$", "power_on {n} h", to=integer)


_LOG: Final = "nvme_smart_health_information_log"
#: quantity, keys, factor, unit, conditions
_ROWS: Final[tuple[tuple[str, tuple[str, ...], float, str, Conditions], ...]] = (
    ("capacity", ("user_capacity", "bytes"), 1.0, "B", {}),
    ("capacity", ("nvme_total_capacity",), 1.0, "B", {"view": "total"}),
    ("rotation_rate", ("rotation_rate",), 1 / 60, "1/s", {}),
    ("bytes", (_LOG, "data_units_read"), 512000.0, "B", {"operation": "read"}),
    ("bytes", (_LOG, "data_units_written"), 512000.0, "B", {"operation": "write"}),
    ("power_on", ("power_on_time", "hours"), 3600.0, "s", {}),
)


class SmartctlJson(DocumentParser, of=Smartctl):
    """``smartctl -j``: capacity, rotation, interface, health, wear."""

    keys = frozenset({"smartctl"})

    def read(self, doc: Document) -> Iterator[Record]:
        data: dict[str, Any] = doc.data
        version = _at(data, "smartctl", "version")
        self.version = ".".join(map(str, version)) if isinstance(version, list) else None
        drive = {"device": ("device", "name"), "model": ("model_name",), "protocol": ("device", "protocol")}
        known: Conditions = {key: _at(data, *keys) or None for key, keys in drive.items()}
        for quantity, keys, factor, unit, more in _ROWS:
            value = number(found := _at(data, *keys))
            if value or (value is not None and quantity not in ("rotation_rate", "capacity")):
                line = doc.line_of(f'"{keys[-1]}"')
                yield self.measure(quantity, value * factor, unit, str(found), {**known, **more}, line=line)
        for key, view in (("max", "capability"), ("current", "status")):
            speed = as_dict(_at(data, "interface_speed", key))
            count, bits = number(speed.get("units_per_second")), number(speed.get("bits_per_unit"))
            if count and bits:
                line, printed = doc.line_of('"interface_speed"'), f"{count * bits:g} b/s"
                yield self.measure("link_rate", count * bits / 8, "B/s", printed, line=line, view=view, **known)
        passed = _at(data, "smart_status", "passed")
        if isinstance(passed, bool):
            yield self.measure("health", float(passed), "1", str(passed), line=doc.line_of('"passed"'), **known)


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


_USAGE: Final = regex(
    r"(?<![\d.])<used:num> {1,3}<uu:k>B / {1,4}<size:num> {1,3}<su:k>B(?: \([^()]{1,60}\))? {1,9}"
    r"(?P<block>\d{1,5}) {1,3}(?P<bu>K?i?)B \+ {1,3}(?P<meta>\d{1,4}) B(?: {1,9}(?P<rest>\S.*+))?"
)
_NODE: Final = re.compile(r"^\s*+(?:/dev/)?nvme\d++(?:c\d++)?n\d++ ")
_PAIR: Final = re.compile(
    r"^\s*+(?P<key>[A-Za-z][A-Za-z0-9_ ]{2,40}?) *+[:\t] *+"
    r"(?P<value>0x[0-9a-f]++|\d++(?:[ ,.'’\u202f\xa0]\d{3})*+)(?=\D|$)"
)


class NvmeList(LinesParser):
    """nvme-cli 0.3 to 2: ``nvme list`` and ``nvme smart-log``, text and JSON.

    Units: sizes of ``list`` have decimal prefixes (nvme-cli ``suffix_si_get``); ``Usage`` is what the namespace has
    in use / its size; ``Format`` the bytes of a block. Data units of ``smart-log`` are 1000 blocks of 512 B (NVMe
    base specification, SMART / Health log), ``(21.20 TB)`` behind them is the same rounded. ``health`` is 1 while no
    critical warning is set; ``wear`` the share of the drive's endurance that is used, which may pass 1. Times above
    the warning temperature are whole minutes, times of throttling (``Thermal Management T1``, ``T2``) seconds: they
    say why a drive was slow.
    """

    tool = "nvme"
    evidence = Evidence.DESCRIBES
    words = ("Node", "Namespace", "NSID")

    @reads(r"^(?=.*Usage)(?=.*Format).*(?:Node|NSID)", opens=True)
    def _head(self, found: Match) -> None:
        self.known = {"heads": found.string}

    def other(self, text: str) -> Found:
        if not self.open or set(text) <= set("-. "):
            return None
        usage = _USAGE.search(text) if _NODE.match(text) is not None else None
        self.open = usage is not None
        return None if usage is None else self._row(text[: usage.start()].split(), usage)

    def _row(self, left: list[str], usage: re.Match[str]) -> Iterator[Record]:
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
            yield self.measure("capacity", size, "B", f"{usage[value]} {usage[unit]}B", view=view, **drive)


class NvmeSmart(LinesParser, of=NvmeList):
    """The lines of ``nvme smart-log``."""

    words = ("Smart",)
    longest = 45

    _head = notes(r"^\s*+Smart Log for NVME device:\s?<device:word>", opens=True, to=str, new=True)

    def other(self, text: str) -> Found:
        pair = _PAIR.match(text[:200]) if self.open else None
        if pair is None:
            self.open = self.open and bool(text.strip()) and ":" in text
            return None
        key = pair["key"].lower().replace("_", " ")
        if key == "critical warning":
            return self.measure("health", float(int(pair["value"], 0) == 0), "1", text.strip(), **self.known)
        value = float(integer(pair["value"])) if key in columns("nvme") else 0.0
        return figures(self, "nvme", [(key, pair["value"])], self.known, read=lambda _: (value, ""))


class NvmeJson(DocumentParser, of=NvmeList):
    """``nvme list -o json`` and ``nvme smart-log -o json``."""

    def match(self, doc: Document) -> bool:
        data = as_dict(doc.data)
        listed = isinstance(data.get("Devices"), list) and '"PhysicalSize"' in doc.text
        return listed or {"percent_used", "data_units_written"} <= data.keys()

    def read(self, doc: Document) -> Iterator[Record]:
        if "percent_used" in doc.data:
            yield from self._smart(doc)
            return
        lines = doc.lines()
        for space, drive in _namespaces(doc.data["Devices"], {}):
            more: Conditions = {**drive, "block_B": number(space.get("SectorSize"))}
            for view, key in (("used", "UsedBytes"), ("total", "PhysicalSize")):
                if (value := number(space.get(key))) is not None:
                    line = lines.next(f'"{key}"')
                    yield self.measure("capacity", value, "B", f"{space[key]}", line=line, view=view, **more)

    def _smart(self, doc: Document) -> Iterator[Record]:
        args = self.ctx.args("nvme") or []
        device = next((arg.rpartition("/")[2] for arg in args if arg.startswith("/dev/nvme")), None)
        warning = doc.data.get("critical_warning")
        warning = warning.get("value") if isinstance(warning, dict) else warning
        if (value := number(warning)) is not None:
            line = doc.line_of('"critical_warning"')
            yield self.measure("health", float(value == 0), "1", f"{warning}", line=line, device=device)
        for name in (key for key in columns("nvme") if key in doc.data):
            line = doc.line_of(f'"{name}"')
            yield from figures(self, "nvme", [(name, doc.data[name])], {"device": device}, line=line)


def _namespaces(found: Any, drive: Conditions, depth: int = 0) -> Iterator[tuple[dict[str, Any], Conditions]]:
    """Objects that have a size, with what those around them say of the drive (nvme-cli 2 nests them)."""
    if depth > 8:
        return
    names = {"DevicePath": "device", "NameSpace": "device", "ModelNumber": "model", "Firmware": "firmware"}
    for item in filter(None, map(as_dict, as_list(found))):
        known = {to: item[key].rpartition("/")[2] for key, to in names.items() if isinstance(item.get(key), str)}
        here: Conditions = {**drive, **known}
        if "PhysicalSize" in item:
            yield item, here
        for inner in ("Subsystems", "Controllers", "Namespaces"):
            yield from _namespaces(item.get(inner), here, depth + 1)
