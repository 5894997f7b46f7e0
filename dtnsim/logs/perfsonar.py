"""perfSONAR: results of pScheduler as JSON and as text, archives in OpenSearch, esmond and elmond."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Final

from dtnsim.logs._declared import Found, LinesParser, Match, gives, notes, reads
from dtnsim.logs._documents import first, records, seconds, stamp
from dtnsim.logs._numbers import as_dict, as_list, iso_s, number, of_histogram, statistic, whole_number
from dtnsim.logs.base import NO_BYTES, Conditions, Document, Evidence, Mean, Parser, Record, documents, noted

_KEYS: Final = {"pscheduler", "result", "test"}
_STATISTICS: Final = ("mean", "median", "min", "max", "stddev", "p_25", "p_75", "p_95")
#: test -> quantity, which is the key of the result, too
_DELAYS: Final = {"latency": "latency", "latencybg": "latency", "rtt": "rtt"}


def _is_result(doc: Document) -> bool:
    record = first(doc.data)
    return record.keys() >= _KEYS and isinstance(record["result"], dict) and isinstance(record["test"], dict)


class Perfsonar(Parser, evidence=Evidence.WAY, by_document=True, of_a_line=True):
    """perfSONAR 5: documents of its OpenSearch archive (indices ``pscheduler_*``), one alone or an export of hits.

    Units: ``result.throughput`` bit/s, ``result.rtt`` s, ``result.latency`` ms, ``jitter`` ms, ``packets.loss`` a
    share (perfsonar/logstash ``pipeline/06-result_*.conf``, which renames pScheduler's keys; perfsonar/elmond
    ``data.py``, which converts them). The time is ``pscheduler.start_time``. Intervals and streams, which it keeps as
    text, are not read.
    """

    commands = ()

    @documents(fits=_is_result, long=("hits.hits", "hits"))
    def _documents(self, doc: Document) -> Iterator[Record]:
        lines = doc.lines()
        for record in records(doc.data):
            if record.keys() >= _KEYS and isinstance(record["result"], dict):
                self.ctx.line = lines('"result"')
                yield from self._document(record)

    def _document(self, record: Mapping[str, Any]) -> Iterator[Record]:
        result, test = record["result"], as_dict(record["test"])
        spec, meta = as_dict(test.get("spec")), as_dict(record.get("meta"))
        facts: Conditions = {"time": stamp(seconds(as_dict(record["pscheduler"]).get("start_time")))}
        for end, key, name in (("source", "source", "source"), ("destination", "dest", "target")):
            endpoint = as_dict(meta.get(end))
            host = spec.get(key) or endpoint.get("hostname") or endpoint.get("ip")
            facts[name] = host if isinstance(host, str) else None
        length, facts["streams"] = spec.get("duration"), whole_number(spec.get("parallel"))
        facts["duration_s"] = number(length) if number(length) is not None else iso_s(length)
        facts["protocol"] = "udp" if spec.get("udp") is True else None
        if result.get("succeeded") is False:
            yield self.failure(str(result.get("error") or "the test did not succeed")[:300], **facts)
            return
        yield from self.figures(result, facts, "throughput? {throughput:.10g} bit/s", "retransmits {retransmits:g}")
        packets, keys = as_dict(result.get("packets")), (("sent", "packets_sent"), ("lost", "packets_lost"))
        sent, lost = (number(packets.get(key) if packets else result.get(other)) for key, other in keys)
        share = lost / sent if lost is not None and sent else number(packets.get("loss"))
        if share is not None:
            yield self.measure("loss", share, f"{share:.6g}", facts, packets=whole_number(sent))
        if (kind := _DELAYS.get(str(test.get("type")))) is not None:
            delays, way = as_dict(result.get(kind)), {**facts, "one_way": True if kind == "latency" else None}
            yield from self.figures(delays, way, *_delays(kind, _STATISTICS, "[ms]" if kind == "latency" else "[s]"))
        yield from self.figures(result, facts, "mtu? {mtu:g} [B]")


_URL: Final = re.compile(
    r"/(?P<key>[0-9a-f]{32,64})/(?P<type>[a-z-]{4,40})/(?P<summary>base|averages|aggregations|statistics)(?:/(?P<window>\d{1,9}))?"
)
_TYPES: Final = (
    "throughput-subintervals", "throughput", "packet-retransmits", "packet-loss-rate", "histogram-owdelay",
    "histogram-rtt", "packet-trace", "path-mtu", "packet-count-sent", "packet-count-lost", "failures",
)  # fmt: skip
_VALUES: Final = (
    "throughput? {throughput:.10g} bit/s", "mtu? {path-mtu:g} [B]", "retransmits {packet-retransmits:g}",
    "count {packet-count-sent:g} : of=packets~sent", "count {packet-count-lost:g} : of=packets~lost",
)  # fmt: skip
_HISTOGRAMS: Final = {"histogram-owdelay": "latency", "histogram-rtt": "rtt"}
_NAMES: Final[tuple[str, ...]] = (
    "mean", "median", "minimum", "maximum", "standard-deviation", "percentile-25", "percentile-75", "percentile-95",
)  # fmt: skip


def _is_series(doc: Document) -> bool:
    entry = as_dict(doc.data[0] if isinstance(doc.data, list) and doc.data else doc.data)
    return entry.keys() == {"ts", "val"} or {"metadata-key", "event-types"} <= entry.keys()


class Esmond(Parser, evidence=Evidence.WAY, by_document=True, of_a_line=True):
    """perfSONAR's measurement archive: what esmond (3.4 to 4.4) and elmond (5) answer.

    An answer is a series of ``ts`` [s since 1970] and ``val``; what ``val`` is only the URL says, so that it is taken
    from the command (``curl .../KEY/throughput/base``) or from the name of the file. Units: ``throughput`` bit/s,
    histograms of one-way delay and of round trips in ms (value: number of packets), ``packet-loss-rate`` a share,
    ``rtt`` of traces ms (perfSONAR documentation, client REST interface). ``averages`` and ``statistics`` are of a
    window (``window_s``). Metadata of the same log give source and destination. What pScheduler's archiver stores
    (``event-type`` beside every ``val``) is read as well.
    """

    commands = ()

    _tests: Mapping[str, Mapping[str, Any]] = MappingProxyType({})  # by key, what metadata say of them

    @documents(fits=_is_series)
    def _series(self, doc: Document) -> Iterator[Record]:
        items = [item for item in (doc.data if isinstance(doc.data, list) else [doc.data]) if isinstance(item, dict)]
        if items and "metadata-key" in items[0]:
            tests = {
                str(item.get("metadata-key")): {
                    "source": item.get("input-source") or item.get("source"),
                    "target": item.get("input-destination") or item.get("destination"),
                    "measured_by": item.get("tool-name"), "protocol": item.get("ip-transport-protocol"),
                    "streams": item.get("bw-parallel-streams"),
                } for item in items[:10_000]
            }  # fmt: skip
            self._tests = {**self._tests, **tests}
            why = f"metadata of {len(items)} tests: results are what its base-uri answers"
            self.need(None, "metadata-key", why, line=doc.line)
        kind, conditions = self._about()
        lines = doc.lines()
        for item in items:
            self.ctx.line, self.ctx.cut = lines('"ts"'), doc.cut and item is items[-1]
            more = {**conditions, "time": stamp(number(item.get("ts")))}
            value = item.get("val")
            if isinstance(value, list) and value and isinstance(value[0], dict) and "event-type" in value[0]:
                for part in value:
                    if isinstance(part, dict):
                        yield from self._result(str(part.get("event-type")), part.get("val"), more)
            else:
                self.need(kind, "ts, val", "what was measured only its URL says: keep the curl command")
                yield from self._result(str(kind), value, more)

    def _about(self) -> tuple[str | None, Conditions]:
        """(event type, conditions) of a series."""
        command = self.ctx.command
        url = None if command is None else _URL.search(command.text[:4000])
        if url is None:
            name = (self.ctx.file or "").replace("\\", "/").rpartition("/")[2]
            return next((kind for kind in _TYPES if kind in name), None), {}
        test = self._tests.get(url["key"], {})
        conditions: Conditions = {key: value for key, value in test.items() if isinstance(value, str | int)}
        if url["window"] and url["window"] != "0":
            conditions["window_s"] = float(url["window"])
        return url["type"].removesuffix("-bidir"), conditions

    def _result(self, kind: str, value: Any, conditions: Conditions) -> Iterator[Record]:
        yield from self.figures({kind: value}, conditions, *_VALUES)
        if kind == "packet-loss-rate":
            share = number(value)
            if isinstance(value, dict):
                lost, sent = number(value.get("numerator")), number(value.get("denominator"))
                share = lost / sent if lost is not None and sent else None
                conditions = {**conditions, "packets": whole_number(sent)}
            if share is not None:
                yield self.measure("loss", share, f"{share:.6g}", **conditions)
        elif kind in _HISTOGRAMS and isinstance(value, dict):
            yield from self._delays(_HISTOGRAMS[kind], value, conditions)
        elif kind == "failures" and isinstance(value, dict):
            yield self.failure(str(value.get("error") or value)[:300], **conditions)
        elif kind == "throughput-subintervals" and isinstance(value, list):
            for part in map(as_dict, value):
                rate, start, spent = (number(part.get(key)) for key in ("val", "start", "duration"))
                if rate is not None and start is not None and spent is not None:
                    more = {**conditions, "interval": True, "start_s": start, "end_s": start + spent}
                    yield self.measure("throughput", rate / 8, f"{rate:.10g} bit/s", **more)
        elif kind == "packet-trace" and isinstance(value, list):
            yield from self._trace(value, conditions)

    def _delays(self, quantity: str, value: Mapping[str, Any], conditions: Conditions) -> Iterator[Record]:
        conditions, names = {**conditions, "one_way": True if quantity == "latency" else None}, _NAMES
        if "median" not in value:
            packets, value = of_histogram(value)
            conditions, names = {**conditions, "packets": packets}, ("min", "max", "mean", "median")
        yield from self.figures(value, conditions, *_delays(quantity, names, "ms"))

    def _trace(self, value: list[Any], conditions: Conditions) -> Iterator[Record]:
        hops = [hop for hop in map(as_dict, value) if number(hop.get("ttl")) is not None]
        if not hops:
            return
        last = max(number(hop["ttl"]) or 0 for hop in hops)
        yield self.measure("hops", last, f"{last:g}", **conditions)
        for hop in hops:
            rtt, ttl = number(hop.get("rtt")), int(number(hop["ttl"]) or 0)
            if rtt is not None:
                more = {**conditions, "hop": ttl, "address": str(hop.get("ip")), "last": True if ttl == last else None}
                more["interval"] = None if ttl == last else True
                yield self.measure("rtt", rtt * 1e-3, f"{hop['rtt']} ms", **more)
        least = min(filter(None, (number(hop.get("mtu")) for hop in hops)), default=None)
        yield from self.figures({"mtu": least}, conditions, "mtu {mtu:g} [B]")


def _delays(quantity: str, names: Sequence[str], unit: str) -> Iterator[str]:
    """Figures of delays by statistic, as declared."""
    return (f"{quantity} {{{name}:.6g}} {unit} : statistic={statistic(name)}" for name in names)


_RATES: Final = (
    "throughput {throughput-bits:.10g} bit/s", "throughput? {receiver-throughput-bits:.10g} bit/s : role=receiver",
)  # fmt: skip
_RTT: Final = ("rtt {mean} [s]", *(f"rtt {{{name}}} [s] : statistic={name}" for name in ("min", "max", "stddev")))
_WAIT: Final = r"(?P<n>-?\d++(?:\.\d++)?) ms"
#: words of delays -> statistic
_WORDS: Final = {
    word: statistic(word)
    for word in ("Mean", "Median", "Minimum", "Maximum", "Std Deviation", *(f"{share:02}th" for share in range(100)))
}


class Pscheduler(LinesParser, evidence=Evidence.WAY, of_a_line=True):
    """pScheduler: what a task prints, and its result documents (throughput, rtt, latency, latencybg and trace).

    Units: ``throughput-bits`` is a rate in bit/s, ``throughput-bytes`` a byte count (checked: 8323072000 bytes in
    15.000215 s beside 4438908000 bit/s); ``tcp-window-size`` in B, ``rtt`` of intervals in microseconds, ``jitter`` of
    throughput in ms; times are ISO 8601 durations (``PT0.0627S``). One-way latency histograms have keys in ms. The text
    form prints decimal ``Gbps``.

    The headline of a throughput test is ``summary.summary``; streams and intervals are beside it.
    ``succeeded: false`` is a failure. Of the text, of delays the mean is the headline; the error of the clocks is a
    figure of its own (``of="clock error"``), because it is printed after them. Histograms (the same packets again) are
    not read.
    """

    words = "bps Kbps Mbps Gbps Summary Stream RTT Packet pscheduler Packets Delay Clock Deviation"
    terms: ClassVar = {"statistic": _WORDS}

    @documents(fits=lambda doc: isinstance(doc.data, dict) and _result(doc.data) is not None)
    def _json(self, doc: Document) -> Iterator[Record]:
        result, data = _result(doc.data) or {}, doc.data
        test, tool = as_dict(data.get("test")) or as_dict(as_dict(data.get("task")).get("test")), data.get("tool")
        spec = as_dict(test.get("spec"))
        stated: Conditions = {
            "source": spec.get("source"), "target": spec.get("dest"), "streams": whole_number(spec.get("parallel")),
            "window_B": number(spec.get("window-size")), "protocol": "udp" if spec.get("udp") is True else None,
            "reverse": True if spec.get("reverse") is True else None,
            "measured_by": str(tool.get("name", "")) or None if isinstance(tool, dict) else tool,
        }  # fmt: skip
        facts = _turned({key: value for key, value in stated.items() if isinstance(value, str | int | float | bool)})
        if result.get("succeeded") is False:
            message = str(result.get("error") or result.get("diags") or "the test did not succeed")
            yield self.failure(message, line=doc.line_of('"succeeded"'), **facts)
        elif "summary" in result or "intervals" in result:
            yield from self._throughput(doc, result, facts)
        elif "paths" in result:
            yield from self._trace(doc, result, facts)
        elif "roundtrips" in result or ("mean" in result and "loss" in result):
            yield from self._roundtrips(doc, result, facts)
        else:  # latency of one way: packet counts, and the histogram of delays in ms
            facts = {**facts, "packets": whole_number(result.get("packets-sent"))}
            yield from self.figures(result, facts, "loss {packets-lost:g}/{packets-sent:g}", at=doc.line_of)
            self.ctx.line = doc.line_of('"histogram-latency"')
            histogram = of_histogram(as_dict(result.get("histogram-latency")))[1]
            figures = (f"latency {{{name}:g}} ms : statistic={statistic(name)}" for name in histogram)
            yield from self.figures(histogram, {**facts, "one_way": True}, *figures)

    def _throughput(self, doc: Document, result: Mapping[str, Any], conditions: Conditions) -> Iterator[Record]:
        lines, mean = doc.lines(doc.text.find('"intervals"')), Mean(line=doc.line)
        for part in (as_dict(as_dict(part).get("summary")) for part in as_list(result.get("intervals"))):
            self.ctx.line = lines('"summary"')
            rate, start, end = (number(part.get(key)) for key in ("throughput-bits", "start", "end"))
            if rate is None:
                continue
            more = {**conditions, "interval": True, "start_s": start, "end_s": end}
            more["retransmits"] = whole_number(part.get("retransmits"))
            more["omitted"] = part.get("omitted") is True or None
            yield from self.figures(part, more, _RATES[0])
            if start is not None and end is not None and not more["omitted"]:
                mean.add(rate / 8 * (end - start), end - start, doc.line)
        summary = as_dict(result.get("summary"))
        if not summary and doc.cut:
            yield from mean.records(self, conditions)
            return
        self.ctx.line = doc.line_at(max(doc.text.rfind('"summary"'), 0))
        streams = [stream for stream in as_list(summary.get("streams")) if isinstance(stream, dict)]
        yield from self._sum(as_dict(summary.get("summary")), {**conditions, "streams": len(streams) or None})
        several = len(streams) > 1
        named = [(s, {**conditions, "stream": whole_number(s.get("stream-id")) if several else None}) for s in streams]
        for stream, more in named if several else ():
            yield from self._sum(stream, more)
        for stream, more in named:
            yield from self.figures(stream, more, "rtt? {rtt:g} us")

    @noted
    def _sum(self, part: Mapping[str, Any], conditions: Conditions) -> Iterator[Record]:
        keys = ("throughput-bits", "throughput-bytes", "start", "end", "sent")
        rate, size, start, end, sent = (number(part.get(key)) for key in keys)
        why = "the summary has no throughput-bits" if rate is None else NO_BYTES
        rate = self.need(max(rate or 0.0, 0.0) if size != 0 else None, "" if rate is None else f"{rate:g} bit/s", why)
        conditions = {**conditions, "bytes": size, "duration_s": None if start is None or end is None else end - start}
        yield from self.figures(part, conditions, *_RATES, "retransmits {retransmits:g}")
        yield from self.figures(part, {**conditions, "packets": whole_number(sent)}, "loss {lost:g}/{sent:g}")
        yield from self.figures(part, conditions, "jitter {jitter:g} ms")

    def _roundtrips(self, doc: Document, result: Mapping[str, Any], conditions: Conditions) -> Iterator[Record]:
        conditions = {**conditions, "packets": whole_number(result.get("sent"))}
        yield from self.figures(result, conditions, "loss {loss:g}", at=doc.line_of)
        if number(result.get("loss")) != 1:
            yield from self.figures(result, conditions, *_RTT, to=iso_s, at=doc.line_of)

    def _trace(self, doc: Document, result: Mapping[str, Any], conditions: Conditions) -> Iterator[Record]:
        lines, paths = doc.lines(), as_list(result["paths"])
        for index, path in enumerate(paths):
            hops = [as_dict(hop) for hop in as_list(path)]
            more: Conditions = {**conditions, "path": index if len(paths) > 1 else None}
            answered: list[tuple[float, str, int, Conditions]] = []
            for count, hop in enumerate(hops, start=1):
                if (value := iso_s(hop.get("rtt"))) is not None:
                    address = hop.get("ip") or hop.get("hostname")
                    each = {**more, "hop": count, "address": None if address is None else str(address)}
                    answered.append((value, str(hop["rtt"]), lines('"rtt"'), each))
            for value, printed, line, each in answered:
                if each["hop"] < len(hops):
                    yield self.measure("rtt", value, printed, each, line=line, interval=True)
                if each is answered[-1][3]:
                    yield self.measure("rtt", value, printed, each, line=line, last=True)
            if hops:
                yield self.measure("hops", len(hops), str(len(hops)), more, line=doc.line_of('"paths"'))
            least = min(filter(None, (number(hop.get("mtu")) for hop in hops)), default=None)
            yield from self.figures({"mtu": least}, more, "mtu {mtu:g} [B]", at=doc.line_of)

    _head = notes(r"^\s*(?P<section>Summary$|\* Stream ID.*)", to=str)

    def about(self) -> Conditions:
        return _turned(self.command_line().known)

    _rtt = gives(
        r"(?<![\d.])<loss:num>% Packet Loss ++RTT Min/Mean/Max/StdDev = <least:num>/<mean:num>/<most:num>/<dev:num> ms",
        "loss {loss}%", "rtt {least} ms : statistic=min", "rtt {mean} ms", "rtt {most} ms : statistic=max",
        "rtt {dev} ms : statistic=stddev",
    )  # fmt: skip
    _error = gives(rf"^\s*+Max Clock Error \.{{2,30}} {_WAIT}", "latency {n} ms : of=clock~error")
    _delay = gives(
        r"^\s*+(?:Delay |(?=Std ))(?P<statistic>Median|Minimum|Maximum|Mean|\d\dth|Std Deviation) ?(?:Percentile)? "
        rf"\.{{2,30}} {_WAIT}",
        "latency {n} ms : one_way=True",
    )

    def other(self, text: str) -> Found:
        failed = "Run did not complete" in text or text.strip().startswith("Failed to schedule")
        return self.failure(text, **self.about()) if failed else None

    @reads(r"^\s*+Packets (?P<what>Sent|Lost) \.{2,30} <value:num> packets")
    def _packets(self, match: Match) -> Found:
        count, sent = int(float(match["value"])), self.known.get("packets", 0)
        if match["what"] == "Sent":
            self.known["packets"] = count
        elif sent > 0:
            return self.measure("loss", count / sent, f"{count}/{sent}", self.about(), packets=sent)
        return None

    @reads(
        r"^\s*<start:real> - <end:real>\s+<rate:num> (?P<u>[KMGT]?bps)"
        r"(?:\s+<retr:int>(?:\s+<rrate:num> (?P<ru>[KMGT]?bps))?)?"
    )
    def _row(self, row: Match) -> Iterator[Record]:
        start, end, section = float(row["start"]), float(row["end"]), self.known.get("section", "")
        conditions: Conditions = {**self.about(), "duration_s": end - start}
        figures = "throughput {rate} {u}", "retransmits {retr}", "throughput {rrate} {ru} : role=receiver"
        if section == "Summary":
            self.need(float(row["rate"]) > 0, f"{row['rate']} {row['u']}", NO_BYTES)
            yield from self.figures(row, conditions, *figures)
            return
        conditions |= {"interval": True, "start_s": start, "end_s": end, "retransmits": whole_number(row["retr"])}
        conditions["stream"] = section.rsplit(" ", 1)[-1] if section else None
        yield from self.figures(row, conditions, figures[0])


def _result(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The result inside a document; None if there is none of pScheduler's."""
    for candidate in (data, *(as_dict(data.get(key)) for key in ("result", "result-merged")),
                      as_dict(as_dict(data.get("run")).get("result-merged"))):  # fmt: skip
        intervals = as_list(candidate.get("intervals"))
        parts = as_dict(intervals[0]) if intervals else {}, as_dict(candidate.get("summary"))
        if any("throughput-bits" in as_dict(part.get("summary")) for part in parts):
            return candidate
        if "succeeded" in candidate and (
            not {"paths", "roundtrips", "packets-sent"}.isdisjoint(candidate)
            or "throughput-bits" in str(candidate)[:5000]
            or candidate.get("succeeded") is False
        ):
            return candidate
    return None


def _turned(conditions: Conditions) -> Conditions:
    """The ends as the data went: with ``--reverse`` the test's destination sends to its source."""
    if conditions.get("reverse"):
        ends = {"source": conditions.get("target"), "target": conditions.get("source")}
        conditions |= {key: end for key, end in ends.items() if end is not None}
    return conditions
