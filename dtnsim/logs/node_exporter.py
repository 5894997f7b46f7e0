"""node_exporter's text (``curl host:9100/metrics``): what of it concerns transfers.

Units: counters are since boot (``since="boot"``): bytes of interfaces and disks, packets, drops, errors, segments
that TCP sent again; sizes of file systems, link rates (``node_network_speed_bytes`` is B/s), MTUs. Seconds of CPU by
mode give the mean shares since boot of all cores together. Virtual interfaces and file systems in memory are left
out. A rate needs two readings: query Prometheus for a range instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._metrics import METRICS, labelled
from dtnsim.logs._sysstat import STATES
from dtnsim.logs.base import Conditions, Context, Evidence, LineParser, Record

_LINE: Final = re.compile(
    r"^\s*+(?P<name>node_\w++)(?:\{(?P<labels>[^{}]{0,2000})\})? ++(?P<value>[+-]?\d[\d.]*+(?:e[+-]?\d{1,3})?)(?= |$)"
)
_LABEL: Final = re.compile(r'(?<!\w)(\w{1,60}+)="([^"\\]{0,300})"')
_VIRTUAL: Final = re.compile(r"(?:lo|veth|docker|cali|cni|virbr|br-|dm-|loop|ram|zram|sr)\w*")
_MEMORY: Final = frozenset({"tmpfs", "ramfs", "devtmpfs", "overlay", "squashfs", "nsfs", "shm", "rootfs"})


class NodeExporter(LineParser):
    """Lines of metrics."""

    tool = "node_exporter"
    evidence = Evidence.BUSY
    words = ("node",)

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._cpu: dict[str, float] = {}
        self._cores: set[str] = set()
        self._line = 0

    def feed(self, text: str) -> Iterable[Record]:
        if "node_" not in text:
            return ()
        line = _LINE.match(text)
        metric = METRICS.get(line["name"]) if line is not None else None
        if line is None or metric is None:
            return ()
        labels = dict(_LABEL.findall(line["labels"] or ""))
        value = float(line["value"])
        if line["name"] == "node_cpu_seconds_total":
            self._add(labels, value)
            return ()
        if _VIRTUAL.fullmatch(labels.get("device", "")) is not None or labels.get("fstype") in _MEMORY:
            return ()
        known: Conditions = {**labelled(line["name"], labels), **metric.known}
        if metric.rate:
            known["since"] = "boot"
        return (self.measure(metric.total, value, metric.unit, line["value"], **known),)

    def _add(self, labels: dict[str, str], value: float) -> None:
        mode = labels.get("mode", "")
        if mode in self._cpu or len(self._cpu) < 32:
            self._cpu[mode] = self._cpu.get(mode, 0.0) + value
        self._cores.add(labels.get("cpu", "")[:8])
        self._line = self.ctx.line

    def settle(self) -> Iterator[Record]:
        seconds, self._cpu = self._cpu, {}
        cores, self._cores = len(self._cores), set()
        whole = sum(seconds.values())
        if whole <= 0:
            return
        for mode, spent in seconds.items():
            state = STATES[f"%{mode}"].known["state"] if f"%{mode}" in STATES else mode
            printed = f"{spent:.6g} s of {whole:.6g} s"
            known: Conditions = {"state": state, "cpu": "all", "cores": cores, "since": "boot"}
            yield self.record("cpu_share", spent / whole, "1", printed, known, line=self._line)
