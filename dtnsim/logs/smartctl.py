"""smartctl 5 to 7: text of ATA, SCSI/SAS and NVMe drives, JSON.

Units: capacity in bytes with the locale's digit groups (``7 681 501 126 656 bytes [7,68 TB]``), the bracket
decimal; ``6.0 Gb/s`` is the line rate in decimal bits before 8b/10b; ``Data Units`` of NVMe are 512000 bytes
(1000 blocks of 512, NVMe specification 5.14.1.2). Rotation is per minute and given per second. ``health`` is 1 when
the drive says PASSED or OK. Temperatures and attribute tables are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Record, integer, number

_GROUPED: Final = r"(\d+(?:[ ,.'’\u202f\xa0]\d{3})*)"
_VERSION: Final = re.compile(r"^smartctl (?:version |pre-)?(\d+\.\d+)")
_CAPACITY: Final = re.compile(
    rf"^(?P<what>User Capacity|Total NVM Capacity|Namespace 1 (?:Size/Capacity|Utilization)):\s+{_GROUPED}"
    r"(?: bytes)?(?: \[|\s*$)"
)
_ROTATION: Final = re.compile(r"^Rotation Rate:\s+(\d+) rpm")
_SATA: Final = re.compile(r"^SATA Version is:.*?, (?P<max>[\d.]+) Gb/s(?: \(current: (?P<now>[\d.]+) Gb/s\))?")
_SAS: Final = re.compile(r"^\s+negotiated logical link rate: phy enabled; ([\d.]+) Gbps")
_HEALTH: Final = re.compile(r"^SMART (?:overall-health self-assessment test result|Health Status): (\S+)")
_UNITS: Final = re.compile(rf"^Data Units (Read|Written):\s+{_GROUPED}(?= )")
_HOURS: Final = re.compile(rf"^Power On Hours:\s+{_GROUPED}\s*$")
_COUNTER: Final = re.compile(r"^(read|write):(?:\s+\d+){5}\s+(\d+[.,]\d+)\s+\d+\s*$")
_NAME: Final = re.compile(r"^(Device Model|Model Number|Product|Vendor|Model Family):\s++(\S*+(?:\s++\S++)*)\s*+$")


class Smartctl(LineParser):
    """The information section and the health lines."""

    tool = "smartctl"
    evidence = Evidence.DESCRIBES
    words = (
        "smartctl", "Capacity", "Rotation", "SATA", "negotiated", "SMART", "Units", "Model", "Product", "Vendor",
        "Hours", "Utilization", "read", "write",
    )  # fmt: skip
    commands = ("smartctl",)

    def forget(self) -> None:
        self._drive: Conditions = {}

    def feed(self, text: str) -> Iterable[Record]:
        if (version := _VERSION.match(text)) is not None:
            self.version, self._drive = version[1], {}
            args = self.ctx.args("smartctl")
            device = next((arg for arg in args or [] if arg.startswith("/dev/")), None)
            self._drive["device"] = device
        elif (name := _NAME.match(text)) is not None:
            key = {"Vendor": "vendor", "Model Family": "family"}.get(name[1], "model")
            self._drive[key] = name[2]
        elif (match := _CAPACITY.match(text)) is not None:
            view = {"T": "total", "N": "namespace", "U": None}[match["what"][0]]
            view = "used" if "Utilization" in match["what"] else view
            return self._one("capacity", float(integer(match[2])), "B", match[2] + " bytes", view=view)
        elif (match := _ROTATION.match(text)) is not None:
            return self._one("rotation_rate", int(match[1]) / 60, "1/s", match[1] + " rpm")
        elif (match := _SATA.match(text)) is not None:
            return self._sata(match)
        elif (match := _SAS.match(text)) is not None:
            return self._one("link_rate", float(match[1]) * 1e9 / 8, "B/s", match[1] + " Gbps", view="status")
        elif (match := _HEALTH.match(text)) is not None:
            good = match[1].rstrip("!.").upper() in ("PASSED", "OK")
            return self._one("health", 1.0 if good else 0.0, "1", match[1])
        elif (match := _UNITS.match(text)) is not None:
            operation = {"Read": "read", "Written": "write"}[match[1]]
            return self._one("bytes", integer(match[2]) * 512000.0, "B", match[2], operation=operation)
        elif (match := _COUNTER.match(text)) is not None:
            moved = float(match[2].replace(",", ".")) * 1e9
            return self._one("bytes", moved, "B", match[2] + " [10^9 bytes]", operation=match[1])
        elif (match := _HOURS.match(text)) is not None:
            return self._one("power_on", integer(match[1]) * 3600.0, "s", match[1] + " h")
        return ()

    def _one(self, quantity: str, value: float, unit: str, printed: str, **more: Any) -> Iterable[Record]:
        return (self.measure(quantity, value, unit, printed, **self._drive, **more),)

    def _sata(self, match: re.Match[str]) -> Iterator[Record]:
        for view, found in (("capability", match["max"]), ("status", match["now"])):
            if found is not None:
                yield from self._one("link_rate", float(found) * 1e9 / 8, "B/s", found + " Gb/s", view=view)


class SmartctlJson(DocumentParser):
    """``smartctl -j``."""

    tool = "smartctl"
    evidence = Evidence.DESCRIBES

    def match(self, doc: Document) -> bool:
        """A document of smartctl about a device."""
        return isinstance(doc.data, dict) and isinstance(doc.data.get("smartctl"), dict)

    def read(self, doc: Document) -> Iterator[Record]:
        """Capacity, rotation, interface, health, wear."""
        data: dict[str, Any] = doc.data
        version = data["smartctl"].get("version")
        self.version = ".".join(str(part) for part in version) if isinstance(version, list) else None
        drive: Conditions = {
            "device": _text(_at(data, "device", "name")),
            "model": _text(data.get("model_name")),
            "protocol": _text(_at(data, "device", "protocol")),
        }
        log = "nvme_smart_health_information_log"
        rows: list[tuple[str, tuple[str, ...], float, str, Conditions]] = [
            ("capacity", ("user_capacity", "bytes"), 1.0, "B", {}),
            ("capacity", ("nvme_total_capacity",), 1.0, "B", {"view": "total"}),
            ("rotation_rate", ("rotation_rate",), 1 / 60, "1/s", {}),
            ("bytes", (log, "data_units_read"), 512000.0, "B", {"operation": "read"}),
            ("bytes", (log, "data_units_written"), 512000.0, "B", {"operation": "write"}),
            ("power_on", ("power_on_time", "hours"), 3600.0, "s", {}),
        ]
        for quantity, keys, factor, unit, more in rows:
            value = number(_at(data, *keys))
            if value is None or (value == 0 and quantity in ("rotation_rate", "capacity")):
                continue
            line = doc.line_of(f'"{keys[-1]}"')
            printed = str(_at(data, *keys))
            yield self.measure(quantity, value * factor, unit, printed, line=line, **drive, **more)
        for key, view in (("max", "capability"), ("current", "status")):
            count = number(_at(data, "interface_speed", key, "units_per_second"))
            bits = number(_at(data, "interface_speed", key, "bits_per_unit"))
            if count and bits:
                line = doc.line_of('"interface_speed"')
                yield self.measure(
                    "link_rate", count * bits / 8, "B/s", f"{count * bits:g} b/s", line=line, view=view, **drive
                )
        passed = _at(data, "smart_status", "passed")
        if isinstance(passed, bool):
            yield self.measure("health", float(passed), "1", str(passed), line=doc.line_of('"passed"'), **drive)


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
