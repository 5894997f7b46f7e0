"""perfSONAR pScheduler results: JSON of throughput, rtt, latency, latencybg and trace, and their text form.

Units: ``throughput-bits`` is a rate in bit/s, ``throughput-bytes`` a byte count (checked: 8323072000 bytes in
15.000215 s beside 4438908000 bit/s); ``tcp-window-size`` in B, ``rtt`` of intervals in microseconds, ``jitter`` of
throughput in ms; times are ISO 8601 durations (``PT0.0627S``). One-way latency histograms have keys in ms. The text
form prints decimal ``Gbps``.

The headline of a throughput test is ``summary.summary``; streams and intervals are beside it.
``succeeded: false`` is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dtnsim.logs._net import ends_of, iso_s, turned
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Record, as_dict, number, whole

_BPS: Final = {"bps": 0.125, "Kbps": 125.0, "Mbps": 125e3, "Gbps": 125e6, "Tbps": 125e9}
_ROW: Final = re.compile(
    r"^\s*(?P<start>\d+\.\d+) - (?P<end>\d+\.\d+)\s+(?P<rate>\d+(?:\.\d+)?) (?P<u>[KMGT]?bps)"
    r"(?:\s+(?P<retr>\d+)(?:\s+(?P<rrate>\d+(?:\.\d+)?) (?P<ru>[KMGT]?bps))?)?"
)
_RTT: Final = re.compile(
    r"(?<![\d.])(?P<loss>\d++(?:\.\d++)?)% Packet Loss ++RTT Min/Mean/Max/StdDev = (?P<figures>[\d./]+) ms"
)


class PschedulerJson(DocumentParser):
    """Result documents of pScheduler, alone or inside a run."""

    tool = "pscheduler"
    evidence = Evidence.WAY
    of_a_line = True

    def match(self, doc: Document) -> bool:
        return isinstance(doc.data, dict) and _result(doc.data) is not None

    def read(self, doc: Document) -> Iterator[Record]:
        result = _result(doc.data)
        if result is None:
            return
        known = _conditions(doc.data)
        if result.get("succeeded") is False:
            message = str(result.get("error") or result.get("diags") or "the test did not succeed")
            yield self.failure(message, line=doc.line_of('"succeeded"'), **known)
            return
        if "summary" in result or "intervals" in result:
            yield from self._throughput(doc, result, known)
        elif "paths" in result:
            yield from self._trace(doc, result, known)
        elif "roundtrips" in result or ("mean" in result and "loss" in result):
            yield from self._rtt(doc, result, known)
        else:
            yield from self._latency(doc, result, known)

    def _throughput(self, doc: Document, result: Mapping[str, Any], known: Conditions) -> Iterator[Record]:
        at = max(doc.text.find('"intervals"'), 0)
        intervals = result.get("intervals")
        for interval in intervals if isinstance(intervals, list) else []:
            part = as_dict(as_dict(interval).get("summary"))
            at = max(doc.text.find('"summary"', at + 1), at)
            rate = number(part.get("throughput-bits"))
            if rate is None:
                continue
            more: Conditions = {**known, "interval": True}
            more |= {"start_s": number(part.get("start")), "end_s": number(part.get("end"))}
            more["retransmits"] = whole(part.get("retransmits"))
            if part.get("omitted") is True:
                more["omitted"] = True
            line = doc.line_at(at)
            yield self.measure("throughput", rate / 8, "B/s", f"{rate:.10g} bit/s", line=line, **more)
        summary = as_dict(result.get("summary"))
        if not summary and doc.cut:
            yield from self._mean(doc, intervals, known)
            return
        last = max(doc.text.rfind('"summary"'), 0)
        streams = [stream for stream in summary.get("streams", []) if isinstance(stream, dict)]
        total = as_dict(summary.get("summary"))
        line = doc.line_at(last)
        yield from self._sum(total, {**known, "streams": len(streams) or None}, line)
        for stream in streams if len(streams) > 1 else []:
            yield from self._sum(stream, {**known, "stream": whole(stream.get("stream-id"))}, line)
        for stream in streams:
            rtt = number(stream.get("rtt"))
            if rtt:
                more = {**known, "stream": whole(stream.get("stream-id")) if len(streams) > 1 else None}
                yield self.measure("rtt", rtt * 1e-6, "s", f"{rtt:g} us", line=line, **more)

    def _mean(self, doc: Document, intervals: object, known: Conditions) -> Iterator[Record]:
        """The mean of the intervals of a document that stops before its summary."""
        seconds = volume = 0.0
        for interval in intervals if isinstance(intervals, list) else []:
            part = as_dict(as_dict(interval).get("summary"))
            rate, start, end = (number(part.get(key)) for key in ("throughput-bits", "start", "end"))
            if rate is not None and start is not None and end is not None and part.get("omitted") is not True:
                seconds, volume = seconds + end - start, volume + rate / 8 * (end - start)
        if seconds > 0 and volume > 0:
            more: Conditions = {**known, "duration_s": seconds, "derived": "mean of intervals"}
            yield self.measure("throughput", volume / seconds, "B/s", "", status="partial", line=doc.line, **more)

    def _sum(self, part: Mapping[str, Any], known: Conditions, line: int) -> Iterator[Record]:
        rate, size = number(part.get("throughput-bits")), number(part.get("throughput-bytes"))
        start, end = number(part.get("start")), number(part.get("end"))
        if rate is None:
            yield self.unread("", "the summary has no throughput-bits", line=line)
            return
        if rate <= 0 or size == 0:
            yield self.unread(f"{rate:g} bit/s", "no bytes were transferred: no rate", line=line)
            return
        more: Conditions = {**known, "bytes": size}
        if start is not None and end is not None:
            more["duration_s"] = end - start
        yield self.measure("throughput", rate / 8, "B/s", f"{rate:.10g} bit/s", line=line, **more)
        received = number(part.get("receiver-throughput-bits"))
        if received:
            role: Conditions = {**more, "role": "receiver"}
            yield self.measure("throughput", received / 8, "B/s", f"{received:.10g} bit/s", line=line, **role)
        retransmits = number(part.get("retransmits"))
        if retransmits is not None:
            yield self.measure("retransmits", retransmits, "1", f"{retransmits:g}", line=line, **more)
        lost, sent = number(part.get("lost")), number(part.get("sent"))
        if lost is not None and sent:
            packets: Conditions = {**more, "packets": int(sent)}
            yield self.measure("loss", lost / sent, "1", f"{lost:g}/{sent:g}", line=line, **packets)
        jitter = number(part.get("jitter"))
        if jitter is not None:
            yield self.measure("jitter", jitter * 1e-3, "s", f"{jitter:g} ms", line=line, **more)

    def _rtt(self, doc: Document, result: Mapping[str, Any], known: Conditions) -> Iterator[Record]:
        loss, sent = number(result.get("loss")), number(result.get("sent"))
        more: Conditions = {**known, "packets": None if sent is None else int(sent)}
        if loss is not None:
            yield self.measure("loss", loss, "1", f"{loss:g}", line=doc.line_of('"loss"'), **more)
        for key, statistic in (("mean", None), ("min", "min"), ("max", "max"), ("stddev", "stddev")):
            value = iso_s(result.get(key))
            if value is not None and loss != 1:
                line = doc.line_of(f'"{key}"')
                with_statistic: Conditions = {**more, "statistic": statistic}
                yield self.measure("rtt", value, "s", str(result[key]), line=line, **with_statistic)

    def _trace(self, doc: Document, result: Mapping[str, Any], known: Conditions) -> Iterator[Record]:
        at = 0
        paths = result["paths"] if isinstance(result["paths"], list) else []
        for index, path in enumerate(paths):
            hops = path if isinstance(path, list) else []
            more: Conditions = {**known, "path": index if len(paths) > 1 else None}
            answered: tuple[int, float, int, dict[str, Any]] | None = None
            for count, hop in enumerate(hops, start=1):
                value = iso_s(as_dict(hop).get("rtt"))
                if value is None:
                    continue
                at = max(doc.text.find('"rtt"', at + 1), at)
                line = doc.line_at(at)
                answered = (count, value, line, as_dict(hop))
                if count < len(hops):
                    each = {**more, "hop": count, "address": _address(hop), "interval": True}
                    yield self.measure("rtt", value, "s", str(hop["rtt"]), line=line, **each)
            if answered is not None:
                count, value, line, hop = answered
                last: Conditions = {**more, "hop": count, "address": _address(hop), "last": True}
                yield self.measure("rtt", value, "s", str(hop["rtt"]), line=line, **last)
            if hops:
                yield self.measure("hops", len(hops), "1", str(len(hops)), line=doc.line_of('"paths"'), **more)
            mtus = [value for hop in hops if (value := number(as_dict(hop).get("mtu"))) is not None]
            if mtus:
                yield self.measure("mtu", min(mtus), "B", f"{min(mtus):g}", line=doc.line_of('"mtu"'), **more)

    def _latency(self, doc: Document, result: Mapping[str, Any], known: Conditions) -> Iterator[Record]:
        """One-way latency: packet counts, and the histogram of delays in ms."""
        sent, lost = number(result.get("packets-sent")), number(result.get("packets-lost"))
        more: Conditions = {**known, "packets": None if sent is None else int(sent)}
        if sent and lost is not None:
            line = doc.line_of('"packets-lost"')
            yield self.measure("loss", lost / sent, "1", f"{lost:g}/{sent:g}", line=line, **more)
        histogram = result.get("histogram-latency")
        pairs = [(number(k), number(v)) for k, v in histogram.items()] if isinstance(histogram, dict) else []
        values = sorted((k, v) for k, v in pairs if k is not None and v is not None and v > 0)
        count = sum(v for _, v in values)
        if not count:
            return
        line = doc.line_of('"histogram-latency"')
        middle, seen = values[-1][0], 0.0
        for delay, weight in values:
            seen += weight
            if seen >= count / 2:
                middle = delay
                break
        mean = sum(k * v for k, v in values) / count
        for statistic, value in ((None, mean), ("median", middle), ("min", values[0][0]), ("max", values[-1][0])):
            each: Conditions = {**more, "statistic": statistic, "one_way": True}
            yield self.measure("latency", value * 1e-3, "s", f"{value:g} ms", line=line, **each)


class PschedulerText(LineParser, of=PschedulerJson):
    """The table a pScheduler throughput or rtt task prints."""

    words = ("bps", "Kbps", "Mbps", "Gbps", "Summary", "Stream", "RTT", "Packet", "pscheduler")
    commands = ("pscheduler",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._section: str | None = None

    def feed(self, text: str) -> Iterator[Record]:
        words = text.strip()
        if words == "Summary" or words.startswith("* Stream ID"):
            self._section = words
            return
        row = _ROW.match(text) if "bps" in text and " - " in text else None
        if row is not None:
            yield from self._row(row)
            return
        rtt = _RTT.search(text)
        if rtt is not None:
            known = ends_of(self.ctx)
            yield self.measure("loss", float(rtt["loss"]) / 100, "1", f"{rtt['loss']}%", **known)
            for statistic, part in zip(("min", None, "max", "stddev"), rtt["figures"].split("/"), strict=False):
                value = number(part)
                if value is not None:
                    yield self.record("rtt", value * 1e-3, "s", f"{part} ms", {**known, "statistic": statistic})
        elif "Run did not complete" in text or words.startswith("Failed to schedule"):
            yield self.failure(text, **ends_of(self.ctx))

    def _row(self, row: re.Match[str]) -> Iterator[Record]:
        rate = float(row["rate"]) * _BPS[row["u"]]
        start, end = float(row["start"]), float(row["end"])
        known: Conditions = {**ends_of(self.ctx), "duration_s": end - start}
        printed = f"{row['rate']} {row['u']}"
        if self._section != "Summary":
            known |= {"interval": True, "start_s": start, "end_s": end}
            if self._section is not None and self._section.startswith("*"):
                known["stream"] = self._section.rsplit(" ", 1)[-1]
            known["retransmits"] = int(row["retr"]) if row["retr"] else None
            yield self.measure("throughput", rate, "B/s", printed, **known)
            return
        if rate <= 0:
            yield self.unread(printed, "no bytes were transferred: no rate")
            return
        yield self.measure("throughput", rate, "B/s", printed, **known)
        if row["retr"]:
            yield self.measure("retransmits", int(row["retr"]), "1", row["retr"], **known)
        if row["rrate"]:
            received = float(row["rrate"]) * _BPS[row["ru"]]
            role: Conditions = {**known, "role": "receiver"}
            yield self.measure("throughput", received, "B/s", f"{row['rrate']} {row['ru']}", **role)


def _result(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The result inside a document; None if there is none of pScheduler's."""
    for candidate in (
        data,
        data.get("result"),
        data.get("result-merged"),
        as_dict(data.get("run")).get("result-merged"),
    ):
        if not isinstance(candidate, dict):
            continue
        summary = candidate.get("summary")
        intervals = candidate.get("intervals")
        first = as_dict(intervals[0]) if isinstance(intervals, list) and intervals else {}
        if "throughput-bits" in as_dict(first.get("summary")):
            return candidate
        if isinstance(summary, dict) and "throughput-bits" in as_dict(summary.get("summary")):
            return candidate
        if "succeeded" in candidate and (
            "paths" in candidate
            or "roundtrips" in candidate
            or "packets-sent" in candidate
            or "throughput-bits" in str(candidate)[:5000]
            or candidate.get("succeeded") is False
        ):
            return candidate
    return None


def _conditions(data: Mapping[str, Any]) -> Conditions:
    """What the run document says about the test."""
    spec = as_dict((as_dict(data.get("test")) or as_dict(as_dict(data.get("task")).get("test"))).get("spec"))
    found: Conditions = {
        "source": spec.get("source"),
        "target": spec.get("dest"),
        "streams": whole(spec.get("parallel")),
        "window_B": number(spec.get("window-size")),
        "protocol": "udp" if spec.get("udp") is True else None,
        "reverse": True if spec.get("reverse") is True else None,
    }
    tool = data.get("tool")
    if isinstance(tool, dict):
        found["measured_by"] = str(tool.get("name", "")) or None
    elif isinstance(tool, str):
        found["measured_by"] = tool
    return turned({key: value for key, value in found.items() if isinstance(value, str | int | float | bool)})


def _address(hop: object) -> str | None:
    found = as_dict(hop).get("ip") or as_dict(hop).get("hostname")
    return None if found is None else str(found)
