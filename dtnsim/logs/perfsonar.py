"""Archives of perfSONAR: OpenSearch, esmond and elmond."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from dtnsim.logs._columns import figures, plain
from dtnsim.logs._documents import first, records, seconds, stamp
from dtnsim.logs._numbers import as_dict, iso_s, number, of_histogram, statistic, whole
from dtnsim.logs.base import Conditions, Document, Evidence, Parser, Record, documents

_KEYS: Final = {"pscheduler", "result", "test"}
_STATISTICS: Final = ("mean", "median", "min", "max", "stddev", "p_25", "p_75", "p_95")
#: test -> quantity, which is the key of the result, too
_DELAYS: Final = {"latency": "latency", "latencybg": "latency", "rtt": "rtt"}


def _is_result(doc: Document) -> bool:
    found = first(doc.data)
    return found.keys() >= _KEYS and isinstance(found["result"], dict) and isinstance(found["test"], dict)


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
                self.ctx.line = lines.next('"result"')
                yield from self._document(record)

    def _document(self, record: Mapping[str, Any]) -> Iterator[Record]:
        result, test = record["result"], as_dict(record["test"])
        spec, meta = as_dict(test.get("spec")), as_dict(record.get("meta"))
        known: Conditions = {"time": stamp(seconds(as_dict(record["pscheduler"]).get("start_time")))}
        for end, key, name in (("source", "source", "source"), ("destination", "dest", "target")):
            there = as_dict(meta.get(end))
            found = spec.get(key) or there.get("hostname") or there.get("ip")
            known[name] = found if isinstance(found, str) else None
        length, known["streams"] = spec.get("duration"), whole(spec.get("parallel"))
        known["duration_s"] = number(length) if number(length) is not None else iso_s(length)
        known["protocol"] = "udp" if spec.get("udp") is True else None
        if result.get("succeeded") is False:
            yield self.failure(str(result.get("error") or "the test did not succeed")[:300], **known)
            return
        rates = [(key, result.get(key)) for key in ("throughput", "retransmits")]
        yield from figures(self, "perfsonar", rates, known, read=plain)
        packets, keys = as_dict(result.get("packets")), (("sent", "packets_sent"), ("lost", "packets_lost"))
        sent, lost = (number(packets.get(key) if packets else result.get(other)) for key, other in keys)
        share = lost / sent if lost is not None and sent else number(packets.get("loss"))
        if share is not None:
            yield self.measure("loss", share, f"{share:.6g}", known, packets=whole(sent))
        if (kind := _DELAYS.get(str(test.get("type")))) is not None:
            delays, way = as_dict(result.get(kind)), {**known, "one_way": True if kind == "latency" else None}
            yield from self.figures(delays, way, *_delays(kind, _STATISTICS, "[ms]" if kind == "latency" else "[s]"))
        yield from figures(self, "perfsonar", [("mtu", result.get("mtu"))], known, read=plain)


_URL: Final = re.compile(
    r"/(?P<key>[0-9a-f]{32,64})/(?P<type>[a-z-]{4,40})/(?P<summary>base|averages|aggregations|statistics)(?:/(?P<window>\d{1,9}))?"
)
_TYPES: Final = (
    "throughput-subintervals", "throughput", "packet-retransmits", "packet-loss-rate", "histogram-owdelay",
    "histogram-rtt", "packet-trace", "path-mtu", "packet-count-sent", "packet-count-lost", "failures",
)  # fmt: skip
_HISTOGRAMS: Final = {"histogram-owdelay": "latency", "histogram-rtt": "rtt"}
_NAMES: Final[tuple[str, ...]] = (
    "mean", "median", "minimum", "maximum", "standard-deviation", "percentile-25", "percentile-75", "percentile-95",
)  # fmt: skip


def _is_series(doc: Document) -> bool:
    found = as_dict(doc.data[0] if isinstance(doc.data, list) and doc.data else doc.data)
    return found.keys() == {"ts", "val"} or {"metadata-key", "event-types"} <= found.keys()


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
        kind, known = self._about()
        lines = doc.lines()
        for item in items:
            self.ctx.line, self.ctx.cut = lines.next('"ts"'), doc.cut and item is items[-1]
            more = {**known, "time": stamp(number(item.get("ts")))}
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
        found = self._tests.get(url["key"], {})
        known: Conditions = {key: value for key, value in found.items() if isinstance(value, str | int)}
        if url["window"] and url["window"] != "0":
            known["window_s"] = float(url["window"])
        return url["type"].removesuffix("-bidir"), known

    def _result(self, kind: str, value: Any, known: Conditions) -> Iterator[Record]:
        yield from figures(self, "esmond", [(kind, value)], {**known}, read=plain)
        if kind == "packet-loss-rate":
            share = number(value)
            if isinstance(value, dict):
                lost, sent = number(value.get("numerator")), number(value.get("denominator"))
                share = lost / sent if lost is not None and sent else None
                known = {**known, "packets": whole(sent)}
            if share is not None:
                yield self.measure("loss", share, f"{share:.6g}", **known)
        elif kind in _HISTOGRAMS and isinstance(value, dict):
            yield from self._delays(_HISTOGRAMS[kind], value, known)
        elif kind == "failures" and isinstance(value, dict):
            yield self.failure(str(value.get("error") or value)[:300], **known)
        elif kind == "throughput-subintervals" and isinstance(value, list):
            for part in map(as_dict, value):
                rate, start, spent = (number(part.get(key)) for key in ("val", "start", "duration"))
                if rate is not None and start is not None and spent is not None:
                    more = {**known, "interval": True, "start_s": start, "end_s": start + spent}
                    yield self.measure("throughput", rate / 8, f"{rate:.10g} bit/s", **more)
        elif kind == "packet-trace" and isinstance(value, list):
            yield from self._trace(value, known)

    def _delays(self, quantity: str, value: Mapping[str, Any], known: Conditions) -> Iterator[Record]:
        known, names = {**known, "one_way": True if quantity == "latency" else None}, _NAMES
        if "median" not in value:
            packets, value = of_histogram(value)
            known, names = {**known, "packets": packets}, ("min", "max", "mean", "median")
        yield from self.figures(value, known, *_delays(quantity, names, "ms"))

    def _trace(self, value: list[Any], known: Conditions) -> Iterator[Record]:
        hops = [hop for hop in map(as_dict, value) if number(hop.get("ttl")) is not None]
        if not hops:
            return
        last = max(number(hop["ttl"]) or 0 for hop in hops)
        yield self.measure("hops", last, f"{last:g}", **known)
        for hop in hops:
            rtt, ttl = number(hop.get("rtt")), int(number(hop["ttl"]) or 0)
            if rtt is not None:
                more = {**known, "hop": ttl, "address": str(hop.get("ip")), "last": True if ttl == last else None}
                more["interval"] = None if ttl == last else True
                yield self.measure("rtt", rtt * 1e-3, f"{hop['rtt']} ms", **more)
        mtus = [mtu for hop in hops if (mtu := number(hop.get("mtu")))]
        if mtus:
            yield self.measure("mtu", min(mtus), f"{min(mtus):g}", **known)


def _delays(quantity: str, names: Sequence[str], unit: str) -> Iterator[str]:
    """Figures of delays by statistic, as declared."""
    return (f"{quantity} {{{name}:.6g}} {unit} : statistic={statistic(name)}" for name in names)
