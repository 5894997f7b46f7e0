"""iperf3 text: client and server, TCP, UDP and SCTP, several streams, ``-R``, ``--bidir``, ``-V``, ``-T``.

Units: ``GBytes`` = 2^30 B, ``Gbits/sec`` = 1e9 bit/s, ``MBytes/sec`` (``-f M``) = 2^20 B/s; see `_iperf`.

The headline is the ``[SUM]`` row (the only stream's row where there is one stream) of the summary, once as
``role="sender"`` and once as ``role="receiver"``: the sender's figure counts what was handed to the socket, with UDP
the offered load. Rows of one stream of several carry ``stream``; rows of the time series carry ``interval=True``. An
end that does not know the other's figure prints zero bytes for it (a server before 3.7, any client after an interrupt):
that is no rate. A run that stops before its summary gives the mean of its intervals as ``partial``.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from dtnsim.logs._declared import said_in
from dtnsim.logs._iperf import ROW_WORDS, Row, read_line, udp_of
from dtnsim.logs._numbers import BINARY, DECIMAL, amount, regex
from dtnsim.logs.base import Conditions, Evidence, LineParser, Mean, Record, Status, once
from dtnsim.logs.measurement import Condition, Measurement

_THIRD: Final = 3
_TITLE: Final = re.compile(r"^(?P<title>\S[^:\[\]]{0,40}):(?:  (?=\S|$)| (?=\[))")
_CONNECTED: Final = regex(r"\[ *<id:int>\] local \S+ port \d+ connected to <remote:word> port")
_START: Final = re.compile(r"Connecting to host (?P<host>[^\s,]+), port|Accepted connection from")
_TEST: Final = regex(
    r"Starting Test: protocol: (?P<proto>\w+), <streams:int> streams?, <block:int> byte blocks"
    r"(?:, omitting <omit:int> seconds?)?"
)
_VERSION: Final = re.compile(r"^\s*iperf (?P<version>3[\w.+-]*)(?: \(.*)?\s*$")
_MESSAGE: Final = re.compile(r"iperf3: (?P<kind>error|parameter error|interrupt|getaddrinfo)\b.*")
_CPU: Final = regex(r"(?P<where>local|remote)/(?P<role>sender|receiver) <share:dots>%")
_ROLE: Final = re.compile(r"(sender|receiver)\s*$")
_TCP: Final = regex(r"\s+<retr:int>(?:\s+<cwnd:comma> (?P<cwndu>[KMG]?)Bytes)?(?:\s.*)?$")
#: rows of TCP's time series, which long logs consist of
_ROWS: Final = re.compile(
    r"^\[ *(\d{1,9}|SUM)\] +(\d{1,9}\.\d\d)- *(\d{1,9}\.\d\d) +sec +\d{1,9}(?:\.\d{1,9})? [KMGTP]?Bytes +"
    r"(\d{1,4}(?:\.\d{1,9})?) ([KMG]?(?:bits|Bytes))/sec"
    r"(?: +(\d{1,9}) +(\d{1,9}(?:\.\d{1,9})?) ([KMG]?)Bytes| +\d{1,9})? *$",
    re.MULTILINE,
)
_FACTORS: Final = {
    **{f"{prefix}bits": DECIMAL[prefix] / 8 for prefix in ("", "K", "M", "G")},
    **{f"{prefix}Bytes": BINARY[prefix] for prefix in ("", "K", "M", "G")},
}
_MANY: Final = 64  # titles at a time


@dataclass(slots=True)
class _Test:
    """One run."""

    conditions: Conditions = field(default_factory=dict)  # what the command line and the preamble said
    host: str | None = None  # in the prompt
    streams: set[str] = field(default_factory=set)  # stream numbers of the preamble
    #: rows of the summary and whether they are cut by (stream, way, role), means of the interval rows by (stream, way)
    finals: dict[tuple[str, str | None, str | None], tuple[Row, bool]] = field(default_factory=dict)
    means: dict[tuple[str, str | None], Mean] = field(default_factory=dict)
    rule: bool = False  # a rule was seen
    summary: bool = False  # rows are of the summary
    role: str | None = None  # under a "Sent"/"Received" head (3.0 betas)
    error: str | None = None
    interrupted: bool = False
    _shared: dict[tuple[str, str | None], tuple[int, Conditions]] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Whether rows without a role are of the time series."""
        return not (self.summary or self.finals or self.error)

    def shared(self, name: str, way: str | None) -> Conditions:
        """Conditions that all interval rows of a stream share, put together once."""
        shared = self._shared.get((name, way))
        if shared is None or shared[0] != len(self.streams):
            base = {**self.figure(name, way, None), "interval": True}
            if name != "SUM" and len(self.streams) != 1 and "stream" not in base:
                base["stream"] = int(name)
            shared = self._shared[name, way] = (len(self.streams), base)
        return shared[1]

    def ids(self, way: str | None) -> set[str]:
        """Streams of the summary in one direction."""
        return {name for name, row_way, _ in self.finals if row_way == way}

    def figure(self, name: str, way: str | None, role: str | None) -> Conditions:
        """Conditions of the rows of a stream, or of ``SUM``, of one way (as of `Row`), as the end of a role counted."""
        more = {key: value for key, value in (("host", self.host), ("role", role)) if value is not None}
        conditions = {**self.conditions, **more}
        ids = self.ids(way)
        requested = self.conditions.get("streams")
        count = max(len(self.streams) // (2 if way else 1), requested if isinstance(requested, int) else 0)
        count = count or len(ids - {"SUM"})
        if count:
            conditions["streams"] = count
        if name != "SUM" and (count > 1 or len(ids) > 1):
            conditions["stream"] = int(name)
        if way is not None:
            conditions["direction"] = "send" if way[0] == "T" else "receive"
        elif conditions.get("reporter") != "server":
            conditions["direction"] = "receive" if conditions.get("reverse") else "send"
        return conditions


@lru_cache(maxsize=4096)
def _tail(rest: str) -> tuple[tuple[str, Condition], ...]:
    """What the end of an interval's row says; most are alike."""
    if "%" in rest and (udp := udp_of(rest)) is not None:
        return ("lost", udp[1]), ("packets", udp[2])
    tcp = _TCP.match(rest) if "Bytes" in rest else None
    if tcp is None or not tcp["cwnd"]:
        return ()
    return ("retransmits", int(tcp["retr"])), ("cwnd_B", amount(tcp["cwnd"], tcp["cwndu"] + "B"))


class Iperf3Text(LineParser, evidence=Evidence.NETWORK, of_a_line=True):
    """Rows, summaries and messages of iperf3's text output; interleaved titles (``-T``) are kept apart."""

    tool = "iperf3"
    words = f"{ROW_WORDS} Connecting Accepted Server connected Reverse Starting Interval Summary CPU MSS Sent Received"
    shape = r"- - (?:- ){8}"  # what a pattern begins with is found fast

    _tests: dict[str | None, _Test] = once(dict)
    _interrupt = once(lambda: -9)  # line of an interrupt message that no test owns (stderr comes first)

    def feed(self, text: str) -> Iterable[Record]:
        if "iperf3:" in text and (message := _MESSAGE.search(text)) is not None:
            return self._message(message["kind"], message[0])
        generation, row = read_line(text, self.ctx)
        if generation != _THIRD:
            return ()
        title = _TITLE.match(text) if ": " in text else None
        key = title["title"] if title is not None else None
        if row is not None:
            test = self._tests.get(key)
            if test is not None and test.plain and "er" not in row.rest and not self.ctx.last:
                return (self._interval(test, row),)
            return self._row(key, row)
        if title is not None:
            text = text[title.end() :]
        return self._opening(key, text) if "onnect" in text or "Server" in text else self._remark(key, text)

    @property
    def rules_read(self) -> bool:
        """Several streams have a rule after every interval; the first says that a summary may come."""
        test = self._tests.get(None)
        return test is not None and test.rule

    def rows(self, text: str, lines: Sequence[int]) -> list[Record]:
        """Plain rows of the one test that is read."""
        ctx, test = self.ctx, self._tests.get(None)
        named = ctx.command is not None and ctx.command.host is not None
        if test is None or not test.plain or named or ctx.memo.get("iperf None") != _THIRD:
            return []
        matches = _ROWS.findall(text)
        if len(matches) != len(lines):
            return []
        version, file = self.version, ctx.file
        ids = dict.fromkeys(row[0] for row in matches)
        streams = {number: (test.shared(number, None), test.means.setdefault((number, None), Mean())) for number in ids}
        records: list[Record] = []
        for line, (number, start, end, figure, unit, again, window, prefix) in zip(lines, matches, strict=True):
            rate, start_s, end_s = float(figure) * _FACTORS[unit], float(start), float(end)
            shared, mean = streams[number]
            facts = {**shared, "start_s": start_s, "end_s": end_s}
            if window:
                facts["retransmits"], facts["cwnd_B"] = int(again), float(window) * BINARY[prefix]
            mean.add(rate * (end_s - start_s), end_s - start_s, line)
            printed = f"{figure} {unit}/sec"
            records.append(
                Measurement("iperf3", "throughput", rate, "B/s", printed, facts, "complete", version, file, line)
            )
        return records

    def _command_conditions(self) -> Conditions:
        """What the command line says (iperf3 manual: sizes are 1024-based, rates 1000-based)."""
        facts, values, _ = self.command_line()
        if self.ctx.args("iperf3") is not None:
            facts.setdefault("protocol", "sctp" if "sctp" in values else "tcp")
        return facts

    def close(self) -> Iterator[Record]:
        for key in list(self._tests):
            yield from self._settle(key)

    def _opening(self, key: str | None, text: str) -> Iterator[Record]:
        test = self._tests.get(key)
        if text.lstrip().startswith("Server output"):
            if test is not None:  # --get-server-output: the same run seen from its other end
                yield from self._settle(key)
                self._tests[key] = _Test({**test.conditions, "reporter": "server"}, test.host)
            return
        connected = _CONNECTED.search(text)
        if connected is not None:
            if test is None or test.finals or test.means:
                yield from self._settle(key)
                test = self._begin(key)
            test.streams.add(connected["id"])
            test.conditions.setdefault("target", connected["remote"])
            return
        start = _START.search(text)
        if start is not None or "Server listening" in text:
            yield from self._settle(key)
        if start is not None:
            test = self._begin(key)
            if start["host"]:
                test.conditions["target"] = start["host"]
            else:
                test.conditions["reporter"] = "server"

    def _begin(self, key: str | None) -> _Test:
        if len(self._tests) >= _MANY:
            self._tests.clear()
        test = self._tests[key] = _Test(self._command_conditions(), self.where["host"])
        if key is not None:
            test.conditions["title"] = key
        test.interrupted = self.ctx.line - self._interrupt <= 1
        self._interrupt = -9
        return test

    def _remark(self, key: str | None, text: str) -> Iterator[Record]:
        test = self._tests.get(key)
        if (version := _VERSION.match(text)) is not None:
            self.version = version["version"]
        if test is None:
            return
        if "- - - -" in text:
            test.rule = True
        elif "Interval" in text and "[ ID]" in text:
            test.summary = test.summary or test.rule
        elif "Summary Results" in text:
            test.summary = True
        elif "iperf Done" in text:
            yield from self._settle(key)
        elif text.strip() in ("Sent", "Received"):
            test.summary, test.role = True, "sender" if "S" in text else "receiver"
        elif "Reverse mode" in text:
            test.conditions["reverse"] = True
        elif "CPU Utilization" in text:
            for match in _CPU.finditer(text):
                yield from self.figures(match, {"host": test.host}, "cpu_share {share}% : where={where} role={role}")
        else:
            if (started := _TEST.search(text)) is not None:
                test.conditions |= {"protocol": started["proto"].lower(), "block_B": float(started["block"])}
                test.conditions |= {"omit_s": omit} if (omit := float(started["omit"] or 0)) else {}
            test.conditions |= said_in(text, mss_B=r"TCP MSS: (\d+)")

    def _message(self, kind: str, text: str) -> Iterator[Record]:
        open_tests = [test for test in self._tests.values() if not test.interrupted]
        if kind == "interrupt":  # a server may be stopped long after its last test
            for test in open_tests:
                test.interrupted = "client" in text or not test.finals
            if not open_tests:
                self._interrupt = self.ctx.line
            return
        for test in open_tests:
            test.error = None if test.finals else text  # a summary before the error is of a run that ended
        conditions = open_tests[0].conditions if open_tests else self._command_conditions()
        yield self.failure(text, **conditions)

    def _row(self, key: str | None, row: Row) -> Iterator[Record]:
        test = self._tests.get(key) or self._begin(key)
        if test.error is not None:  # rows of a further run whose opening was not kept
            test = self._begin(key)
        role = _ROLE.search(row.rest)
        cut = self.ctx.cut
        if role is None and self.ctx.last:  # the file may end within the word
            word = row.rest.split()[-1:] or [""]
            full = next((w for w in ("sender", "receiver") if word[0] and w.startswith(word[0])), None)
            role, cut = _ROLE.search(full or ""), True
        if role is None and not (test.summary and row.start_s == 0):
            if test.finals:  # rows of a further run whose opening was not kept
                yield from self._settle(key)
                test = self._begin(key)
            yield self._interval(test, row)
            return
        name = (row.id, row.way, role[1] if role is not None else test.role)
        if test.finals.get(name, (row, cut))[0].text != row.text:
            yield from self._settle(key)
            test = self._begin(key)
        test.finals[name] = row, cut

    def _interval(self, test: _Test, row: Row) -> Record:
        omitted = row.rest.endswith(")") and "(omitted)" in row.rest
        if not omitted:
            span = row.end_s - row.start_s
            test.means.setdefault((row.id, row.way), Mean()).add(row.rate * span, span, row.line)
        facts = {**test.shared(row.id, row.way), "start_s": row.start_s, "end_s": row.end_s, **dict(_tail(row.rest))}
        if omitted:
            facts["omitted"] = True
        return self.measure("throughput", row.rate, row.printed, facts)

    def _settle(self, key: str | None) -> Iterator[Record]:
        test = self._tests.pop(key, None)
        if test is None or test.error is not None:
            return
        for way in dict.fromkeys(way for _, way in test.means) if not test.finals else ():
            means = {name: mean for (name, w), mean in test.means.items() if w == way}
            chosen = [means["SUM"]] if "SUM" in means else list(means.values())
            rate = sum(mean.volume / mean.seconds for mean in chosen if mean.seconds > 0)
            if rate > 0:
                facts = {**test.figure("SUM", way, None), "duration_s": max(mean.seconds for mean in chosen)}
                facts["derived"] = "mean of intervals"
                yield self.measure("throughput", rate, "", facts, status="partial", line=chosen[-1].line)
        for (_, _, role), (row, cut) in test.finals.items():
            if row.size > 0 and row.rate > 0:
                yield from self._figures(test, row, role, cut=cut)
            else:
                yield self.unread(row.text, "zero bytes: this end does not know the other's figure", line=row.line)
        for way in dict.fromkeys(way for _, way, _ in test.finals):
            if len(test.ids(way)) > 1 and "SUM" not in test.ids(way):
                line = max(row.line for row, _ in test.finals.values())
                yield self.unread("", "several streams without a [SUM] row: the log is cut", line=line)

    def _figures(self, test: _Test, row: Row, role: str | None, *, cut: bool) -> Iterator[Record]:
        span = row.end_s - row.start_s
        # three digits are printed, UDP's receiver row has the sender's bytes over its own time, clocks are read apart
        if span > 0 and row.size > 0 and abs(row.size / span - row.rate) > (0.1 + 0.01 / span) * row.rate:
            yield self.unread(row.text, "size, interval and rate do not fit together", line=row.line)
        conditions = test.figure(row.id, row.way, role) | {"duration_s": span}
        status: Status = "truncated" if cut else "partial" if test.interrupted else "complete"

        def record(quantity: str, value: float, printed: str, **more: Condition) -> Record:
            return self.measure(quantity, value, printed, status=status, line=row.line, **{**conditions, **more})

        yield record("throughput", row.rate, row.printed, bytes=row.size)
        if (udp := udp_of(row.rest)) is not None:
            jitter, lost, total = udp
            if role != "sender" and total > 0:
                yield record("loss", lost / total, f"{lost}/{total}", packets=total)
                yield record("jitter", jitter, f"{jitter * 1e3:g} ms")
        elif (tcp := _TCP.match(row.rest)) is not None and role != "receiver":
            yield record("retransmits", int(tcp["retr"]), tcp["retr"])
