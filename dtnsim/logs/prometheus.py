"""Counters of node_exporter: its text, and what Prometheus answers."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_plus

from dtnsim.logs._columns import columns
from dtnsim.logs._commands import table
from dtnsim.logs._declared import LinesParser, Match, reads
from dtnsim.logs._documents import stamp
from dtnsim.logs._numbers import as_dict, as_list, inside, number
from dtnsim.logs.base import Conditions, Document, Evidence, Parser, Record, anew, documents, noted


class Metric(NamedTuple):
    """What one metric is."""

    total: str  # quantity of the counter itself (``bytes``), or of the gauge
    rate: str  # quantity of its rate; "" for a gauge
    known: Conditions  # that its name says


@lru_cache(maxsize=1)
def _metrics() -> dict[str, Metric]:
    """What node_exporter's counters mean, for its text and for what Prometheus answers."""
    metrics = {}
    for name, _, total, rate, *labels in map(str.split, table("metrics", "node_exporter").splitlines()):
        metrics[name] = Metric(total, rate.strip("-"), dict(pair.split("=") for pair in labels))
    return metrics


#: label -> condition
LABELS: Final = {"mountpoint": "target", "mode": "state", "cpu": "cpu", "instance": "host"}
_PORT: Final = re.compile(r":\d{1,5}$")


def labelled(name: str, labels: dict[str, str]) -> Conditions:
    """Conditions that a metric's labels say; the port is cut off an instance."""
    names = {**LABELS, "device": "interface" if name.startswith("node_network") else "device"}
    pairs = ((label, value) for label, value in labels.items() if label in names)
    return {names[label]: _PORT.sub("", value) if label == "instance" else value for label, value in pairs}


_LABEL: Final = re.compile(r'(?<!\w)(\w{1,60}+)="([^"\\]{0,300})"')
_VIRTUAL: Final = re.compile(r"(?:lo|veth|docker|cali|cni|virbr|br-|dm-|loop|ram|zram|sr)\w*")
_MEMORY: Final = frozenset({"tmpfs", "ramfs", "devtmpfs", "overlay", "squashfs", "nsfs", "shm", "rootfs"})


class NodeExporter(LinesParser, evidence=Evidence.BUSY):
    """node_exporter's text (``curl host:9100/metrics``): what of it concerns transfers.

    Units: counters are since boot (``since="boot"``): bytes of interfaces and disks, packets, drops, errors, segments
    that TCP sent again; sizes of file systems, link rates (``node_network_speed_bytes`` is B/s), MTUs. Seconds of CPU
    by mode give the mean shares since boot of all cores together. Virtual interfaces and file systems in memory are
    left out. A rate needs two readings: query Prometheus for a range instead.
    """

    tool = "node_exporter"
    commands = ()
    words = "node"

    _cpu: dict[str, float] = anew(dict)
    _cores: set[str] = anew(set)
    _line = anew(int)

    @reads(r"^\s*+(?P<name>node_\w++)(?:\{(?P<labels>[^{}]*)\})? ++(?P<value>[+-]?\d[\d.]*+(?:e[+-]?\d{1,3})?)(?= |$)")
    def _metric(self, line: Match) -> Iterable[Record]:
        if (metric := _metrics().get(line["name"])) is None:
            return ()
        labels, value = dict(_LABEL.findall(line["labels"] or "")), float(line["value"])
        if line["name"] == "node_cpu_seconds_total":
            mode = labels.get("mode", "")
            if mode in self._cpu or len(self._cpu) < 32:
                self._cpu[mode] = self._cpu.get(mode, 0.0) + value
            self._cores.add(labels.get("cpu", "")[:8])
            self._line = self.ctx.line
            return ()
        if _VIRTUAL.fullmatch(labels.get("device", "")) is not None or labels.get("fstype") in _MEMORY:
            return ()
        facts: Conditions = {**labelled(line["name"], labels), **metric.known, "since": "boot" if metric.rate else None}
        return (self.measure(metric.total, value, line["value"], **facts),)

    def settle(self) -> Iterator[Record]:
        (seconds, self._cpu), (cores, self._cores) = (self._cpu, {}), (len(self._cores), set())
        total = sum(seconds.values())
        if total <= 0:
            return
        for mode, spent in seconds.items():
            column = columns("cpu").get(f"%{mode}")
            state = mode if column is None else column.known["state"]
            printed = f"{spent:.6g} s of {total:.6g} s"
            facts: Conditions = {"state": state, "cpu": "all", "cores": cores, "since": "boot"}
            yield self.measure("cpu_share", spent / total, printed, facts, line=self._line)


_RATE: Final = re.compile(r"(?:sum|avg|max)?(?: by \([\w, ]{0,80}\))? ?\(?i?rate\((?P<name>node_\w{1,80})")
_BITS: Final = re.compile(r"\* ?8(?![\d.])")
_ARITHMETIC: Final = re.compile(r"\) {0,9}[-+*/]")


class Prometheus(Parser, evidence=Evidence.BUSY):
    """Answers of Prometheus to ``query_range`` and ``query``: counters of node_exporter.

    Units: those of the metrics, B and B/s, s, shares. A series of a counter (``node_network_receive_bytes_total``)
    gives the mean rate over its range, restarts of the counter left out, and the rate of every step as an interval
    with its time. A series of ``rate(...)`` has no name any more: its metric is taken from the command (``curl
    '...query=rate(node_...[1m])'``), where it says one and no arithmetic but ``* 8``; without it a note asks for the
    counter itself. Gauges give their last value.
    """

    commands = ()

    @documents(fits=lambda doc: inside(doc.data, "data", "resultType") in ("matrix", "vector"), long=("data.result",))
    def _answer(self, doc: Document) -> Iterator[Record]:
        lines = doc.lines()
        for series in map(as_dict, as_list(doc.data["data"].get("result"))):
            if not isinstance(series.get("metric"), dict):
                continue
            self.ctx.line, samples, values = lines('"metric"'), [], series.get("values")
            for pair in values if isinstance(values, list) else [series.get("value")]:
                when, value = map(number, pair) if isinstance(pair, list) and len(pair) == 2 else (None, None)
                if when is not None and value is not None and value >= 0:  # neither NaN nor a histogram
                    samples.append((when, value))
            labels = {str(key): str(value) for key, value in series["metric"].items()}
            name = labels.get("__name__", "")
            if name in _metrics():
                yield from self._named(_metrics()[name], labelled(name, labels), samples)
            elif not name:
                yield from self._rates(labels, samples)

    def _named(self, metric: Metric, facts: Conditions, samples: Sequence[tuple[float, float]]) -> Iterator[Record]:
        facts = {**facts, **metric.known}
        if not samples:
            return
        if not metric.rate or len(samples) == 1:
            when, value = samples[-1]
            more: Conditions = {**facts, "time": stamp(when), "since": "boot" if metric.rate else None}
            yield self.measure(metric.total, value, f"{value:.15g}", **more)
            return
        grown = spent = 0.0
        for (began, before), (ended, after) in pairwise(samples):
            if after < before or ended <= began:  # the counter began anew
                continue
            grown, spent = grown + after - before, spent + ended - began
            yield self._rate(metric, (after - before) / (ended - began), facts, began, ended, interval=True)
        if spent > 0:
            yield self._rate(metric, grown / spent, facts, samples[0][0], samples[-1][0])

    def _rate(self, metric: Metric, value: float, base: Conditions, began: float, ended: float, **more: Any) -> Record:
        printed = f"{value * (ended - began):.15g} in {ended - began:g} s"
        conditions: Conditions = {**base, "time": stamp(began), "duration_s": ended - began, **more}
        return self.measure(metric.rate, value, printed, **conditions)

    @noted
    def _rates(self, labels: dict[str, str], samples: Sequence[tuple[float, float]]) -> Iterator[Record]:
        """A series that is a rate already."""
        command = self.ctx.command
        query = "" if command is None else command.text.partition("query=")[2][:994]
        query = unquote_plus(query.partition("&")[0].strip("'\" "))
        metrics, bits = _RATE.findall(query), _BITS.search(query) is not None
        metric = _metrics().get(metrics[0]) if len(metrics) == 1 else None
        arithmetic = _ARITHMETIC.search(_BITS.sub("", query).rstrip(" *")) is not None
        why = "a rate has no name: query the counter itself (node_network_receive_bytes_total ...)"
        usable = metric is not None and metric.rate and samples and not arithmetic
        metric = self.need(metric if usable else None, str(labels)[:100], why)
        facts = {**labelled(metrics[0], labels), **metric.known}
        values = [value / 8 if bits else value for _, value in samples]
        for (when, _), value in zip(samples, values, strict=True):
            more: Conditions = {**facts, "time": stamp(when), "interval": True}
            yield self.measure(metric.rate, value, f"{value:.10g}", **more)
        if len(values) > 1:
            span = samples[-1][0] - samples[0][0]
            more = {**facts, "time": stamp(samples[0][0]), "duration_s": span, "derived": "mean of the series"}
            yield self.measure(metric.rate, sum(values) / len(values), "", **more)
