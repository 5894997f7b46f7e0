"""perfSONAR 5: documents of its OpenSearch archive (indices ``pscheduler_*``), one alone or an export of hits.

Units: ``result.throughput`` bit/s, ``result.rtt`` s, ``result.latency`` ms, ``jitter`` ms, ``packets.loss`` a share
(perfsonar/logstash ``pipeline/06-result_*.conf``, which renames pScheduler's keys; perfsonar/elmond ``data.py``,
which converts them). The time is ``pscheduler.start_time``. Intervals and streams, which it keeps as text, are not
read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dtnsim.logs._exports import first, records, seconds, stamp
from dtnsim.logs._net import iso_s
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, Record, number

_KEYS: Final = {"pscheduler", "result", "test"}
_STATISTICS: Final = {
    "mean": None, "median": "median", "min": "min", "max": "max", "stddev": "stddev",
    "p_25": "p25", "p_75": "p75", "p_95": "p95",
}  # fmt: skip
#: test -> (key of the result, quantity, what the unit is in s)
_DELAYS: Final = {
    "latency": ("latency", "latency", 1e-3), "latencybg": ("latency", "latency", 1e-3), "rtt": ("rtt", "rtt", 1.0),
}  # fmt: skip


class PerfsonarArchive(DocumentParser):
    """Documents of results."""

    tool = "perfsonar"
    evidence = Evidence.WAY
    by_document = True
    of_a_line = True
    long = ("hits.hits", "hits")

    def match(self, doc: Document) -> bool:
        """A result with its test and run, in the archive's form."""
        found = first(doc.data)
        return found.keys() >= _KEYS and isinstance(found["result"], dict) and isinstance(found["test"], dict)

    def read(self, doc: Document) -> Iterator[Record]:
        lines = doc.lines()
        for record in records(doc.data):
            if record.keys() >= _KEYS and isinstance(record["result"], dict):
                yield from self._document(record, lines.next('"result"'))

    def _document(self, record: Mapping[str, Any], line: int) -> Iterator[Record]:
        result, test = record["result"], _dict(record["test"])
        known = self._conditions(record)
        if result.get("succeeded") is False:
            yield self.failure(str(result.get("error") or "the test did not succeed")[:300], line=line, **known)
            return
        rate, again = number(result.get("throughput")), number(result.get("retransmits"))
        if rate:
            yield self.measure("throughput", rate / 8, "B/s", f"{rate:.10g} bit/s", line=line, **known)
        if again is not None:
            yield self.measure("retransmits", again, "1", f"{again:g}", line=line, **known)
        yield from self._packets(result, known, line)
        kind = str(test.get("type"))
        if kind in _DELAYS:
            key, quantity, scale = _DELAYS[kind]
            for name, statistic in _STATISTICS.items():
                value = number(_dict(result.get(key)).get(name))
                if value is not None:
                    more = {**known, "statistic": statistic, "one_way": True if quantity == "latency" else None}
                    yield self.measure(quantity, value * scale, "s", f"{value:.6g}", line=line, **more)
        mtu = number(result.get("mtu"))
        if mtu:
            yield self.measure("mtu", mtu, "B", f"{mtu:g}", line=line, **known)

    def _packets(self, result: Mapping[str, Any], known: Conditions, line: int) -> Iterator[Record]:
        packets = _dict(result.get("packets"))
        sent = number(packets.get("sent") if packets else result.get("packets_sent"))
        lost = number(packets.get("lost") if packets else result.get("packets_lost"))
        share = lost / sent if lost is not None and sent else number(packets.get("loss"))
        if share is not None:
            more = {**known, "packets": None if sent is None else int(sent)}
            yield self.measure("loss", share, "1", f"{share:.6g}", line=line, **more)

    def _conditions(self, record: Mapping[str, Any]) -> Conditions:
        spec, meta = _dict(_dict(record["test"]).get("spec")), _dict(record.get("meta"))
        known: Conditions = {"time": stamp(seconds(_dict(record["pscheduler"]).get("start_time")))}
        for end, key, name in (("source", "source", "source"), ("destination", "dest", "target")):
            there = _dict(meta.get(end))
            found = spec.get(key) or there.get("hostname") or there.get("ip")
            known[name] = found if isinstance(found, str) else None
        streams, length = number(spec.get("parallel")), spec.get("duration")
        known["streams"] = None if streams is None else int(streams)
        known["duration_s"] = number(length) if number(length) is not None else iso_s(length)
        known["protocol"] = "udp" if spec.get("udp") is True else None
        return known


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
