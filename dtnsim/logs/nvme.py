"""nvme-cli 0.3 to 2: ``nvme list`` and ``nvme smart-log``, text and JSON.

Units: sizes of ``list`` have decimal prefixes (nvme-cli ``suffix_si_get``); ``Usage`` is what the namespace has in
use / its size; ``Format`` the bytes of a block. Data units of ``smart-log`` are 1000 blocks of 512 B (NVMe base
specification, SMART / Health log), ``(21.20 TB)`` behind them is the same rounded. ``health`` is 1 while no critical
warning is set; ``wear`` the share of the drive's endurance that is used, which may pass 1. Times above the warning
temperature are whole minutes, times of throttling (``Thermal Management T1``, ``T2``) seconds: they say why a drive
was slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dtnsim.logs._declared import declared, figures
from dtnsim.logs._sysstat import plain
from dtnsim.logs.base import DECIMAL, Conditions, Document, DocumentParser, Evidence, LineParser, Record, number
from dtnsim.logs.base import integer as _integer

_USAGE: Final = re.compile(
    r"(?<![\d.])(?P<used>\d++(?:\.\d++)?) {1,3}(?P<uu>[kKMGTP]?)B / {1,4}"
    r"(?P<size>\d++(?:\.\d++)?) {1,3}(?P<su>[kKMGTP]?)B(?: \([^()]{1,60}\))? {1,9}"
    r"(?P<block>\d{1,5}) {1,3}(?P<bu>K?i?)B \+ {1,3}(?P<meta>\d{1,4}) B(?: {1,9}(?P<rest>\S.*+))?"
)
_NODE: Final = re.compile(r"^\s*+(?:/dev/)?nvme\d++(?:c\d++)?n\d++ ")
_SMART: Final = re.compile(r"^\s*+Smart Log for NVME device:\s?(?P<device>\S++)")
_PAIR: Final = re.compile(
    r"^\s*+(?P<key>[A-Za-z][A-Za-z0-9_ ]{2,40}?) *+[:\t] *+"
    r"(?P<value>0x[0-9a-f]++|\d++(?:[ ,.'’\u202f\xa0]\d{3})*+)(?=\D|$)"
)
_LONGEST: Final = 45  # lines of a smart-log


class NvmeList(LineParser):
    """The table of ``nvme list``."""

    tool = "nvme"
    evidence = Evidence.DESCRIBES
    words = ("Node", "Namespace", "NSID")
    commands = ("nvme",)

    def forget(self) -> None:
        self.open = False
        self._heads = ""

    def feed(self, text: str) -> Iterable[Record]:
        if "Usage" in text and "Format" in text and ("Node" in text or "NSID" in text):
            self._heads, self.open = text, True
            return ()
        if not self._heads or set(text) <= set("-. "):
            return ()
        if _NODE.match(text) is None or (usage := _USAGE.search(text)) is None:
            self._heads, self.open = "", False
            return ()
        return self._row(text[: usage.start()].split(), usage)

    def _row(self, left: list[str], usage: re.Match[str]) -> Iterator[Record]:
        drive: Conditions = {"device": left[0].rpartition("/")[2]}
        names = [word for word in left[1:-1] if not word.startswith("/dev/ng")]
        if "Version" in self._heads:  # nvme-cli 0.3: no serial number, the version behind the model
            names = ["", *names[:-1]]
        if "Model" in self._heads and len(names) > 1:
            drive["model"] = " ".join(names[1:])
            drive["firmware"] = (usage["rest"] or "").split(" ")[-1] or None
        block = int(usage["block"]) * (1024 if "K" in usage["bu"] else 1)
        drive |= {"block_B": block, "metadata_B": int(usage["meta"])}
        for view, value, unit in (("total", "size", "su"), ("used", "used", "uu")):
            size = float(usage[value]) * DECIMAL[usage[unit]]
            yield self.measure("capacity", size, "B", f"{usage[value]} {usage[unit]}B", view=view, **drive)


#: keys of the text, without case and underlines, and of the JSON
COLUMNS: Final = declared("""
    percentage~used percent_used                             : wear percent
    data~units~read data_units_read                          : bytes data-units operation=read
    data~units~written data_units_written                    : bytes data-units operation=write
    host~read~commands host_read_commands                    : count 1 of=commands operation=read
    host~write~commands host_write_commands                  : count 1 of=commands operation=write
    power~on~hours power_on_hours                            : power_on h
    media~errors media_errors                                : count 1 of=media~errors
    warning~temperature~time warning_temp_time               : duration min of=above~warning~temperature
    critical~composite~temperature~time critical_comp_time   : duration min of=above~critical~temperature
    thermal~management~t1~total~time thm_temp1_total_time    : duration s of=light~throttling
    thermal~management~t2~total~time thm_temp2_total_time    : duration s of=heavy~throttling
""")


class NvmeSmart(LineParser):
    """The lines of ``nvme smart-log``."""

    tool = "nvme"
    evidence = Evidence.DESCRIBES
    words = ("Smart",)

    def forget(self) -> None:
        self.open = False
        self._device = ""
        self._lines = 0

    def feed(self, text: str) -> Iterable[Record]:
        if (smart := _SMART.match(text)) is not None:
            self._device, self.open, self._lines = smart["device"], True, 0
            return ()
        self._lines += 1
        pair = _PAIR.match(text[:200]) if self.open else None
        if pair is None:
            self.open = self.open and bool(text.strip()) and ":" in text and self._lines < _LONGEST
            return ()
        key = pair["key"].lower().replace("_", " ")
        if key == "critical warning":
            good = int(pair["value"], 0) == 0
            return (self.measure("health", float(good), "1", text.strip(), device=self._device),)
        return figures(self, COLUMNS, [(key, pair["value"])], {"device": self._device}, read=_whole)


class NvmeJson(DocumentParser):
    """``nvme list -o json`` and ``nvme smart-log -o json``."""

    tool = "nvme"
    evidence = Evidence.DESCRIBES

    def match(self, doc: Document) -> bool:
        """Devices with sizes, or the keys of the health log."""
        data = doc.data
        if not isinstance(data, dict):
            return False
        if {"percent_used", "data_units_written"} <= data.keys():
            return True
        return isinstance(data.get("Devices"), list) and '"PhysicalSize"' in doc.text

    def read(self, doc: Document) -> Iterator[Record]:
        """Figures of every namespace, or of the health log."""
        if "percent_used" in doc.data:
            yield from self._smart(doc)
            return
        lines = doc.lines()
        for space, drive in _namespaces(doc.data["Devices"], {}):
            more: Conditions = {**drive, "block_B": number(space.get("SectorSize"))}
            for view, key in (("used", "UsedBytes"), ("total", "PhysicalSize")):
                value = number(space.get(key))
                if value is not None:
                    yield self.measure(
                        "capacity", value, "B", f"{space[key]}", line=lines.next(f'"{key}"'), view=view, **more
                    )

    def _smart(self, doc: Document) -> Iterator[Record]:
        args = self.ctx.args("nvme") or []
        device = next((arg.rpartition("/")[2] for arg in args if arg.startswith("/dev/nvme")), None)
        warning = doc.data.get("critical_warning")
        if isinstance(warning, dict):
            warning = warning.get("value")
        if (value := number(warning)) is not None:
            line = doc.line_of('"critical_warning"')
            yield self.measure("health", float(value == 0), "1", f"{warning}", line=line, device=device)
        for name in (key for key in COLUMNS if key in doc.data):
            line = doc.line_of(f'"{name}"')
            yield from figures(self, COLUMNS, [(name, doc.data[name])], {"device": device}, read=plain, line=line)


def _whole(text: str) -> tuple[float, str]:
    return float(_integer(text)), ""


def _namespaces(found: Any, drive: Conditions, depth: int = 0) -> Iterator[tuple[dict[str, Any], Conditions]]:
    """Objects that have a size, with what those around them say of the drive (nvme-cli 2 nests them)."""
    if depth > 8:
        return
    for item in found if isinstance(found, list) else ():
        if not isinstance(item, dict):
            continue
        names = {"DevicePath": "device", "NameSpace": "device", "ModelNumber": "model", "Firmware": "firmware"}
        known = {to: item[key].rpartition("/")[2] for key, to in names.items() if isinstance(item.get(key), str)}
        here: Conditions = {**drive, **known}
        if "PhysicalSize" in item:
            yield item, here
        for inner in ("Subsystems", "Controllers", "Namespaces"):
            yield from _namespaces(item.get(inner), here, depth + 1)
