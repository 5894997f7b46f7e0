"""iperf3 JSON (``-J``, any 3.x) and its event stream (``--json-stream``, 3.17 on).

Units: ``bits_per_second`` in bit/s, ``bytes`` in B, ``jitter_ms`` in ms, ``rtt`` in microseconds, CPU and
loss in per cent (iperf3 ``src/iperf_api.c``, JSON_printf and the tcp_info copies).

The headline is ``end.sum_sent`` (``role="sender"``) and ``end.sum_received`` (``role="receiver"``); with
``--bidir`` the sums of the other direction, too. UDP before 3.7 has ``end.sum`` only: the sender's bytes
with the receiver's loss and jitter. The ``sender`` flag inside the sums is not used: it gives the role of the
reporting host, not of the sum. With several streams and no sum the streams are added up.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dtnsim.logs._numbers import as_dict, as_list, number, whole_number
from dtnsim.logs.base import NO_BYTES, Conditions, Document, Evidence, Mean, Parser, Record, Status, documents, noted

#: key in ``end`` -> (role, opposite direction)
_SUMS: Final = {
    "sum_sent": ("sender", False), "sum_received": ("receiver", False),
    "sum_sent_bidir_reverse": ("sender", True), "sum_received_bidir_reverse": ("receiver", True),
}  # fmt: skip

_RTT: Final = ("rtt? {mean_rtt:g} us", "rtt? {min_rtt:g} us : statistic=min", "rtt? {max_rtt:g} us : statistic=max")
_OF_PACKETS: Final = ("loss {lost_packets:g}/{packets:g}", "jitter {jitter_ms:g} ms")


def _is_iperf3(doc: Document) -> bool:
    data = as_dict(doc.data)
    if data.get("event") in ("start", "interval", "end", "error", "server_output_text", "server_output_json"):
        return "data" in data
    start, ends = as_dict(data.get("start")), isinstance(data.get("end"), dict)
    mine = "iperf" in str(start.get("version", "")) or "test_start" in start or "connected" in start
    return mine and ("intervals" in data or "error" in data or ends)


class Iperf3Json(Parser, evidence=Evidence.NETWORK):
    """Documents of ``iperf3 -J`` and events of ``--json-stream``."""

    tool = "iperf3"

    #: the version and what ``start`` said
    _run: tuple[str | None, Conditions] = None, Conditions()

    @documents(fits=_is_iperf3, long=("intervals",))
    def _read(self, doc: Document) -> Iterator[Record]:
        run: Mapping[str, Any] = doc.data
        event = run.get("event")
        if event is not None:  # a line of ``--json-stream``: what ``start`` said is kept for those after it
            run = {"intervals": [run["data"]]} if event == "interval" else {str(event): run["data"]}
        start, end, intervals = as_dict(run.get("start")), as_dict(run.get("end")), as_list(run.get("intervals"))
        if event in (None, "start"):
            self._run = _version(start), _conditions(start)
        self.version, conditions = self._run
        yield from self._intervals(doc, intervals, conditions)
        message = str(run.get("error") or "")
        if message and (event is not None or not message.startswith("interrupt")):
            yield self.failure(message, line=doc.line_of('"error"'), **conditions)
            return
        yield from self._end(doc, end, conditions, "partial" if message else "complete")
        if doc.cut and not any(key.startswith("sum") or key == "streams" for key in end):
            mean = Mean(line=doc.line)
            for part in (as_dict(as_dict(interval).get("sum")) for interval in intervals):
                rate, span = number(part.get("bits_per_second")), number(part.get("seconds"))
                if rate is not None and span is not None and part.get("omitted") is not True:
                    mean.add(rate / 8 * span, span, doc.line)
            yield from mean.records(self, {**conditions, "direction": _direction(conditions, opposite=False)})

    def _intervals(self, doc: Document, intervals: Iterable[Any], conditions: Conditions) -> Iterator[Record]:
        lines = doc.lines(doc.text.find('"intervals"'))
        for interval in intervals:
            for key in ("sum", "sum_bidir_reverse"):
                part = as_dict(as_dict(interval).get(key))
                rate, start, end = (number(part.get(k)) for k in ("bits_per_second", "start", "end"))
                if rate is None or start is None or end is None:
                    continue
                more = {**conditions, "interval": True, "start_s": start, "end_s": end}
                more["retransmits"] = whole_number(part.get("retransmits"))
                more["direction"] = _direction(conditions, opposite=key.endswith("reverse"))
                more["omitted"] = True if part.get("omitted") is True else None
                yield self.measure("throughput", rate / 8, f"{rate:g} bit/s", line=lines(f'"{key}"'), **more)

    def _end(self, doc: Document, end: Mapping[str, Any], conditions: Conditions, status: Status) -> Iterator[Record]:
        sums: dict[str, Mapping[str, Any]] = {key: part for key in _SUMS if isinstance(part := end.get(key), dict)}
        if "sum_sent_bidir_reverse" in sums:
            conditions = {**conditions, "bidir": True}
        if not sums and (only := as_dict(end.get("sum"))):  # UDP before 3.7
            sums = {"sum": only}
        if not sums:
            sums = _added(as_list(end.get("streams")))
            status = "truncated" if doc.cut else status
        for key, part in sums.items():
            role, opposite = _SUMS.get(key, ("sender", False))
            more = dict(conditions) | {"role": role, "direction": _direction(conditions, opposite=opposite)}
            line = doc.line_of(f'"{key}"', max(doc.text.rfind('"end"\t:'), doc.text.rfind('"end":\t{'), 0))
            yield from self._sum(f'"{key}"', part, more, line, status)
        cpu, server = as_dict(end.get("cpu_utilization_percent")), conditions.get("reporter") == "server"
        line = doc.line_of('"cpu_utilization_percent"')
        for key, where in (("host_total", "local"), ("remote_total", "remote")):
            share = number(cpu.get(key))
            if share is None or (share == 0 and (status != "complete" or (server and where == "remote"))):
                continue  # a server does not learn what its client's processor did
            sends = ((where == "local") != bool(conditions.get("reverse"))) != server
            end_of = None if conditions.get("bidir") else "sender" if sends else "receiver"
            more = {"where": where, "streams": conditions.get("streams"), "role": end_of}
            yield self.measure("cpu_share", share / 100, f"{share:g}%", more, status=status, line=line)
        streams = as_list(end.get("streams"))
        for sender in (as_dict(as_dict(stream).get("sender")) for stream in streams):
            more = {"target": conditions.get("target")}
            more["stream"] = whole_number(sender.get("socket")) if len(streams) > 1 else None
            yield from self.figures(sender, more, *_RTT, at=doc.line_of, status=status)

    @noted
    def _sum(
        self, key: str, part: Mapping[str, Any], conditions: Conditions, line: int, status: Status
    ) -> Iterator[Record]:
        names = ("bits_per_second", "bytes", "seconds", "retransmits", "lost_packets", "packets")
        rate, size, seconds, again, lost, packets = (number(part.get(name)) for name in names)
        if rate is None:
            return
        self.need(rate and size != 0, key, NO_BYTES, line=line)
        more = {**conditions, "duration_s": seconds, "bytes": size}
        yield from self.figures(part, more, "throughput {bits_per_second:.10g} bit/s", line=line, status=status)
        if again is not None and again >= 0 and conditions["role"] == "sender":
            yield from self.figures(part, more, "retransmits {retransmits:g}", line=line, status=status)
        if lost is not None and packets and packets > 0 and not key.startswith('"sum_sent'):
            more["packets"] = int(packets)
            yield from self.figures(part, more, *_OF_PACKETS, line=line, status=status)


def _added(streams: list[Any]) -> dict[str, Mapping[str, Any]]:
    """Sums of the streams, for documents without sums."""
    sums: dict[str, Mapping[str, Any]] = {}
    for name, parts in (("sum_sent", ("sender", "udp")), ("sum_received", ("receiver",))):
        reports = [as_dict(as_dict(s).get(part)) for s in streams for part in parts if part in as_dict(s)]
        rates = [number(part.get("bits_per_second")) for part in reports]
        if not rates or None in rates:
            continue
        sizes, spans = ([number(part.get(key)) or 0.0 for part in reports] for key in ("bytes", "seconds"))
        sums[name] = {"bits_per_second": sum(filter(None, rates)), "bytes": sum(sizes), "seconds": max(spans)}
    return sums


def _conditions(start: Mapping[str, Any]) -> Conditions:
    """What ``start`` says about a run."""
    test, target = as_dict(start.get("test_start")), as_dict(start.get("connecting_to"))
    conditions: Conditions = {
        "protocol": str(test["protocol"]).lower() if "protocol" in test else None,
        "streams": whole_number(test.get("num_streams")), "block_B": number(test.get("blksize")),
        "omit_s": number(test.get("omit")) or None, "target": str(target["host"]) if "host" in target else None,
        "mss_B": whole_number(start.get("tcp_mss")) or whole_number(start.get("tcp_mss_default")),
        "time": str(as_dict(start.get("timestamp")).get("time") or "") or None,
        "reverse": True if number(test.get("reverse")) else None, "bidir": True if number(test.get("bidir")) else None,
        "window_B": number(start.get("sock_bufsize")) or None,
        "title": str(start["title"]) if start.get("title") else None,
    }  # fmt: skip
    rate = number(test.get("target_bitrate") or start.get("target_bitrate"))
    conditions["target_Bps"] = rate / 8 if rate else None
    conditions["reporter"] = "server" if "accepted_connection" in start and not target else None
    return {key: value for key, value in conditions.items() if value is not None}


def _direction(conditions: Conditions, *, opposite: bool) -> str | None:
    receives = bool(conditions.get("reverse")) != opposite
    return None if conditions.get("reporter") == "server" else "receive" if receives else "send"


def _version(start: Mapping[str, Any]) -> str | None:
    words = str(start.get("version", "")).split()
    return words[1] if len(words) > 1 else None
