"""Answers of Prometheus to ``query_range`` and ``query``: counters of node_exporter.

Units: those of the metrics, B and B/s, s, shares. A series of a counter (``node_network_receive_bytes_total``) gives
the mean rate over its range, restarts of the counter left out, and the rate of every step as an interval with its
time. A series of ``rate(...)`` has no name any more: its metric is taken from the command (``curl
'...query=rate(node_...[1m])'``), where it says one and no arithmetic but ``* 8``; without it a note asks for the
counter itself. Gauges give their last value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final
from urllib.parse import unquote_plus

from dtnsim.logs._exports import stamp
from dtnsim.logs._metrics import METRICS, Metric, labelled, unit_of
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, Record, number

_RATE: Final = re.compile(r"(?:sum|avg|max)?(?: by \([\w, ]{0,80}\))? ?\(?i?rate\((?P<name>node_\w{1,80})")
_BITS: Final = re.compile(r"\* ?8(?![\d.])")
_ARITHMETIC: Final = re.compile(r"\) {0,9}[-+*/]")


class PrometheusJson(DocumentParser):
    """Matrices and vectors."""

    tool = "prometheus"
    evidence = Evidence.BUSY
    long = ("data.result",)

    def match(self, doc: Document) -> bool:
        """A successful answer of the query interface."""
        data = doc.data.get("data") if isinstance(doc.data, dict) else None
        return isinstance(data, dict) and data.get("resultType") in ("matrix", "vector")

    def read(self, doc: Document) -> Iterator[Record]:
        found = doc.data["data"].get("result")
        lines = doc.lines()
        for series in found if isinstance(found, list) else ():
            labels = series.get("metric") if isinstance(series, dict) else None
            if not isinstance(labels, dict):
                continue
            line = lines.next('"metric"')
            labels = {str(key): str(value) for key, value in labels.items()}
            samples = _samples(series)
            name = labels.get("__name__", "")
            if name in METRICS:
                yield from self._named(METRICS[name], labelled(name, labels), samples, line)
            elif not name:
                yield from self._rates(labels, samples, line)

    def _named(
        self, metric: Metric, known: Conditions, samples: Sequence[tuple[float, float]], line: int
    ) -> Iterator[Record]:
        known = {**known, **metric.known}
        if not samples:
            return
        if not metric.rate or len(samples) == 1:
            when, value = samples[-1]
            more: Conditions = {**known, "time": stamp(when), "since": "boot" if metric.rate else None}
            yield self.measure(metric.total, value, metric.unit, f"{value:.15g}", line=line, **more)
            return
        grown = spent = 0.0
        for (began, before), (ended, after) in pairwise(samples):
            if after < before or ended <= began:  # the counter began anew
                continue
            grown, spent = grown + after - before, spent + ended - began
            yield self._rate(metric, (after - before) / (ended - began), known, began, ended, line, interval=True)
        if spent > 0:
            yield self._rate(metric, grown / spent, known, samples[0][0], samples[-1][0], line)

    def _rate(
        self, metric: Metric, value: float, known: Conditions, began: float, ended: float, line: int, **more: Any
    ) -> Record:
        printed = f"{value * (ended - began):.15g} in {ended - began:g} s"
        conditions: Conditions = {**known, "time": stamp(began), "duration_s": ended - began, **more}
        return self.measure(metric.rate, value, unit_of(metric.rate), printed, line=line, **conditions)

    def _rates(self, labels: dict[str, str], samples: Sequence[tuple[float, float]], line: int) -> Iterator[Record]:
        """A series that is a rate already."""
        query = self._query()
        metrics = [] if query is None else _RATE.findall(query)
        metric = METRICS.get(metrics[0]) if len(metrics) == 1 else None
        bits = query is not None and _BITS.search(query) is not None
        arithmetic = query is not None and _ARITHMETIC.search(_BITS.sub("", query).rstrip(" *")) is not None
        if query is None or metric is None or not metric.rate or arithmetic or not samples:
            why = "a rate has no name: query the counter itself (node_network_receive_bytes_total ...)"
            yield self.unread(str(labels)[:100], why, line=line)
            return
        known = {**labelled(metrics[0], labels), **metric.known}
        values = [value / 8 if bits else value for _, value in samples]
        for (when, _), value in zip(samples, values, strict=True):
            more: Conditions = {**known, "time": stamp(when), "interval": True}
            yield self.measure(metric.rate, value, unit_of(metric.rate), f"{value:.10g}", line=line, **more)
        if len(values) > 1:
            span = samples[-1][0] - samples[0][0]
            more = {**known, "time": stamp(samples[0][0]), "duration_s": span, "derived": "mean of the series"}
            yield self.measure(metric.rate, sum(values) / len(values), unit_of(metric.rate), "", line=line, **more)

    def _query(self) -> str | None:
        """The query, if the command line has it."""
        command = self.ctx.command
        at = -1 if command is None else command.text.find("query=")
        if command is None or at < 0:
            return None
        return unquote_plus(command.text[at + 6 : at + 1000].partition("&")[0].strip("'\" "))


def _samples(series: dict[str, Any]) -> list[tuple[float, float]]:
    """(time [s], value) of a series; what is no number (NaN, a histogram) is left out."""
    found = series.get("values")
    pairs = found if isinstance(found, list) else [series.get("value")]
    samples = []
    for pair in pairs:
        if isinstance(pair, list) and len(pair) == 2:
            when, value = number(pair[0]), number(pair[1])
            if when is not None and value is not None and value >= 0:
                samples.append((when, value))
    return samples
