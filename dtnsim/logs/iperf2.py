"""iperf 2.0 and 2.1, client and server: TCP, UDP, ``-P -d -r -R -e``, ``--full-duplex``, CSV (``-y C``).

Units: ``GBytes`` = 2^30 B, ``Gbits/sec`` = 1e9 bit/s, ``MBytes/sec`` (``-f M``) = 2^20 B/s; see `_iperf`.
CSV has plain bytes and bit/s (iperf2 ``src/ReportOutputs.c``).

Rows of the time series look like the row of the whole run: the whole run is the last row of a stream
that starts at zero. So a row that starts at zero is held until it is clear what it is. A stream whose
rows go on without such a row was cut: its mean is ``partial``. The headline is ``[SUM]``; without one, a
stream is the headline if it is the only one in its direction, and several streams that all ended are
added up (``derived="sum of streams"``; CSV of 2.1 has no sum). ``role`` is the end that counted:
the client's TCP figure is what it handed to the socket, ``Server Report`` comes from the other end.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from dtnsim.logs._declared import said_in
from dtnsim.logs._documents import seconds
from dtnsim.logs._iperf import ROW_WORDS, Row, read_line, udp_of
from dtnsim.logs._numbers import decimal, regex, size_bytes
from dtnsim.logs.base import NO_BYTES, Command, Conditions, Evidence, LineParser, Mean, Record, Status, noted, once

_CONNECTED: Final = regex(
    r"\[ *(?P<star>\*?)<id:int>\] local \S+ port <local:int> "
    r"connected with (?P<host>[^\s%]++)\S*+ port \d++(?P<rest>.*)"
)
_BANNER: Final = regex(
    r"(?P<what>Server listening on|Client connecting to(?: (?P<host>[^,\s]+),)?) (?P<proto>TCP|UDP) port <port:int>"
)
_VERSION: Final = re.compile(r"iperf version (2[\w.-]*)")
_FAILED: Final = re.compile(
    r"(?:connect|write|read|bind|accept|listen) failed: .*|error: .{0,60}(?:[Nn]ame|resolve|host).*"
    r"|iperf: (?!ignoring)\S.*"
)
#: the only line that a client that was refused prints after its banner; no other tool words it so
_REFUSED: Final = re.compile(r"(?:tcp )?connect failed: ")
#: ``bwctl -x`` gives what both ends of one transfer printed
_BWCTL: Final = re.compile(r"\s*(?:RECEIVER|SENDER) (?:START|END)\s*$")
_CSV: Final = regex(
    r"^(?:[+-]\d{4}:)?(?P<date>\d{14})[\d.+-]*,(?P<src>[^,]*),<sport:int>,(?P<dst>[^,]*),<dport:int>,"
    r"(?P<id>-?\d+),<start:real>[-,]<end:real>,<size:int>,<rate:int>"
    r"(?:,<jitter:dots>,(?P<lost>-?\d+),(?P<total>-?\d+),(?P<share>[-\d.]+|-?nan),(?P<late>-?\d+))?"
)

#: streams of one test start together, to the second that CSV prints and the second that opening them takes [s]
_TOGETHER_S: Final = 2.0
_ENHANCED: Final = regex(r"\s+\d+/\d+\s+<retry:int>(?:\s+-?\d+K.*)?\s*$")
_ZERO: Final = 0.005  # a start of 0.0 in any of the printed precisions [s]
_MANY: Final = 256


@dataclass(slots=True)
class _Connection:
    """A connection line: whether this end listens, and marks of the reverse direction."""

    listening: bool
    star: bool
    reverse: bool
    group: int = 0


@dataclass(slots=True)
class _Stream:
    """Rows of one stream: the one that may be its last, and the mean of those that were not."""

    held: Row | None = None
    intervals: int = 0
    mean: Mean = field(default_factory=Mean)
    last: Row | None = None
    cut: bool = False


_Key = tuple[str, bool, bool]  # number or SUM (with ports in CSV), star, server report


@dataclass(slots=True)
class _Run:
    """One run; the module says how its rows are distinguished."""

    command: Command | None = None
    conditions: Conditions = field(default_factory=dict)
    host: str | None = None
    every: float | None = None
    time: float | None = None
    port: int | None = None
    banner: bool = False
    failed: bool = False
    server: bool = False
    connections: dict[str, _Connection] = field(default_factory=dict)
    reports: set[str] = field(default_factory=set)
    streams: dict[_Key, _Stream] = field(default_factory=dict)
    #: of streams without a connection line (CSV): the test each belongs to
    groups: dict[str, int] = field(default_factory=dict)
    _shared: dict[_Key, tuple[tuple[int, int], Conditions]] = field(default_factory=dict)

    def row(self, parser: LineParser, row: Row, number: str | None = None) -> Iterator[Record]:
        """Takes a row, of CSV with its stream's number; yields the rows that turn out to be intervals."""
        number = number or row.id
        report = number in self.reports
        self.reports.discard(number)
        key = (number, row.star, report)
        if key not in self.streams and len(self.streams) >= _MANY:
            yield from self.settle(parser)
        stream = self.streams.setdefault(key, _Stream())
        stream.cut = parser.ctx.cut
        previous, stream.held = stream.held, None
        if previous is not None:
            yield self._interval(parser, key, stream, previous)
        if row.start_s < _ZERO:
            stream.held = row
        else:
            yield self._interval(parser, key, stream, row)

    def finished(self, number: str) -> bool:
        """Whether a new connection line means that the rows so far belong to runs that are over."""
        if not self.streams:
            return False
        if any(key[0] == number for key in self.streams):
            return True
        pending = [(stream.held, stream.intervals) for stream in self.streams.values()]
        # not over if it could be the first row of a series, whose interval is a whole number of seconds
        return all(row is not None and (more or abs(row.end_s - round(row.end_s)) >= _ZERO) for row, more in pending)

    def summed(self) -> bool:
        """Whether a ``[SUM]`` row of the whole test is at the end: what follows is another test."""
        last = [s for key, s in self.streams.items() if key[0] == "SUM"]
        return bool(last) and all(self._is_final(s) for s in self.streams.values())

    def connect(self, number: str, connection: _Connection) -> None:
        """Takes a connection line: streams opened before the first row that may sum up belong together."""
        connection.group = max([c.group for c in self.connections.values()], default=0)
        if any(s.held is not None and self._group(key) == connection.group for key, s in self.streams.items()):
            connection.group += 1
        self.connections[number] = connection

    def _group(self, key: _Key) -> int:
        connection = self.connections.get(key[0])
        return self.groups.get(key[0], 0) if connection is None else connection.group

    def _interval(self, parser: LineParser, key: _Key, stream: _Stream, row: Row) -> Record:
        span, state = row.end_s - row.start_s, (len(self.streams), len(self.connections))
        stream.intervals, stream.last = stream.intervals + 1, row
        stream.mean.add(row.rate * span, span, row.line)
        shared = self._shared.get(key)
        if shared is None or shared[0] != state:  # what all rows of a stream share is put together once
            base: Conditions = {n: v for n, v in self._conditions(key, row).items() if v is not None}
            del base["duration_s"]
            base |= {"interval": True, "host": self.host or ""}
            if key[0] != "SUM" and len(self._peers(key)) > 1:
                base["stream"] = int(row.id)
            shared = self._shared[key] = (state, base)
        conditions: Conditions = {**shared[1], "start_s": row.start_s, "end_s": row.end_s}
        if row.rest and (udp := udp_of(row.rest)) is not None and udp[2] > 0:
            conditions |= {"lost": udp[1], "packets": udp[2]}
        if row.rest and (enhanced := _ENHANCED.match(row.rest)) is not None:
            conditions["retransmits"] = int(enhanced["retry"])
        return parser.measure("throughput", row.rate, row.printed, conditions, line=row.line)

    def settle(self, parser: LineParser) -> Iterator[Record]:
        """Yields the figures of the streams and forgets them."""
        streams = dict(self.streams)
        complete = {key for key, stream in streams.items() if key[2] or self._is_final(stream)}
        ends = [row.end_s for key in complete if (row := streams[key].held) is not None]
        for key, stream in streams.items():  # a stream that happens to end on a whole second ends with the others
            if (row := stream.held) is not None and any(abs(row.end_s - end) < 0.02 * end for end in ends):
                complete.add(key)
        for key, stream in streams.items():
            alone = key[0] == "SUM" or len(self._peers(key)) == 1
            if key in complete and stream.held is not None:
                yield from self._final(parser, key, stream, alone=alone)
            elif stream.held is not None or stream.mean.seconds > 0:
                if stream.held is not None:
                    yield self._interval(parser, key, stream, stream.held)
                if (row := stream.last) is not None:
                    conditions = self._conditions(key, row) | {"stream": None if alone else int(row.id)}
                    yield from stream.mean.records(parser, conditions)
        yield from self._sums(parser, streams, complete)
        for state in (self.streams, self._shared, self.reports, self.connections, self.groups):
            state.clear()

    def _is_final(self, stream: _Stream) -> bool:
        row = stream.held
        if row is None or stream.intervals:
            return row is not None
        if self.every is not None and (self.time is None or self.time >= self.every):
            # with -i the first row of the series comes before the row of the whole run, however short that is
            return abs(row.end_s - self.every) > 0.05 * self.every
        # versions that print 0.1 ms hardly ever end a run on a whole second: it is the first row of a series
        return not ("0.0000-" in row.text and row.end_s > 0 and row.end_s == int(row.end_s))

    @noted
    def _final(self, parser: LineParser, key: _Key, stream: _Stream, *, alone: bool) -> Iterator[Record]:
        row = stream.held
        assert row is not None
        parser.need(row.size > 0 and row.rate > 0, row.text, NO_BYTES, line=row.line)
        conditions = self._conditions(key, row) | {"bytes": row.size, "stream": None if alone else int(row.id)}
        status: Status = "truncated" if stream.cut else "complete"
        figures: list[tuple[str, float, str]] = [("throughput", row.rate, row.printed)]
        udp, enhanced = udp_of(row.rest), _ENHANCED.match(row.rest)
        if udp is not None and udp[2] > 0:
            jitter, lost, total = udp
            figures.append(("loss", max(lost, 0) / total, f"{lost}/{total}"))
            figures.append(("jitter", jitter, f"{jitter * 1e3:g} ms"))
        if enhanced is not None:
            figures.append(("retransmits", int(enhanced["retry"]), enhanced["retry"]))
        for quantity, value, printed in figures:
            yield parser.measure(quantity, value, printed, status=status, line=row.line, **conditions)
            conditions["packets"] = udp[2] if udp is not None and udp[2] > 0 else None  # beside what the rate is of

    def _sums(self, parser: LineParser, streams: dict[_Key, _Stream], complete: set[_Key]) -> Iterator[Record]:
        """The sum of the streams of one direction, where the log has no ``[SUM]`` row of them."""
        if any(number == "SUM" for number, _, _ in streams):
            return
        done: set[_Key] = set()
        for key in streams:
            peers = self._peers(key)
            if len(peers) >= 2 and done.isdisjoint(peers) and complete.issuperset(peers):
                done.update(peers)
                rows = [row for peer in peers if (row := streams[peer].held) is not None]
                conditions = {**self._conditions(key, rows[0]), "derived": "sum of streams"}
                conditions |= {"duration_s": max(row.end_s for row in rows), "bytes": sum(row.size for row in rows)}
                rate, line = sum(row.rate for row in rows), max(row.line for row in rows)
                yield parser.measure("throughput", rate, "", line=line, **conditions)

    def _peers(self, key: _Key) -> list[_Key]:
        """Streams of the same test and direction, seen from the same end."""
        side = self._direction(key), key[2], self._group(key)
        return [k for k in self.streams if k[0] != "SUM" and (self._direction(k), k[2], self._group(k)) == side]

    def _direction(self, key: _Key) -> str | None:
        number, star, _ = key
        if number == "SUM":
            directions = {self._direction(k) for k in self.streams if k[0] != "SUM" and not k[2]}
            return "both" if {"send", "receive"} <= directions else directions.pop() if len(directions) == 1 else None
        connection = self.connections.get(number)
        if connection is None:
            return None
        other = star and not connection.star  # the other half of a full-duplex pair
        turned = connection.listening or not self.server if connection.reverse else other
        return "receive" if connection.listening != turned else "send"

    def _conditions(self, key: _Key, row: Row) -> Conditions:
        conditions, direction = dict(self.conditions), self._direction(key)
        number, _, report = key
        streams = {k[0] for k in self.streams if k[0] != "SUM"} if number == "SUM" else set(self._peers(key))
        if streams:
            conditions["streams"] = len(streams)
        conditions |= {"host": self.host, "direction": direction, "duration_s": row.end_s - row.start_s}
        if report or (direction is None and udp_of(row.rest) is not None):
            conditions["role"] = "receiver"
        elif direction in ("send", "receive"):
            conditions["role"] = "sender" if direction == "send" else "receiver"
        return conditions


class _Iperf2(LineParser, evidence=Evidence.NETWORK, of_a_line=True):
    """What the text and the CSV reader share."""

    tool = "iperf2"
    commands = ("iperf", "iperf2")

    _run = once(_Run)

    def close(self) -> Iterator[Record]:
        yield from self._run.settle(self)

    def _settled(self, *, anew: bool = False) -> Iterator[Record]:
        """A new run begins, with a new command or ``anew``: the one before it is over."""
        command = self.ctx.command
        if anew or self._run.command is not command:
            yield from self._run.settle(self)
            # iperf2's manual: sizes are 1024-based, rates 1000-based, and it runs 10 s by default
            (conditions, values, _), every, time = self.command_line(), None, None
            if self.ctx.args(*self.commands) is not None:
                conditions.setdefault("protocol", "tcp")
                with suppress(ValueError):
                    every, time = (decimal(values[key]) if key in values else None for key in ("every", "time"))
                    if time is None and values.keys().isdisjoint(("bytes", "server")):
                        time = 10.0
            self._run = _Run(command, conditions, self.where["host"], every, time)


class Iperf2Text(_Iperf2):
    """Rows, preambles and messages of iperf 2."""

    words = (
        f"{ROW_WORDS} listening connecting connected failed Report datagrams Byte KByte MByte RECEIVER SENDER WARNING"
    )

    def feed(self, text: str) -> Iterable[Record]:
        who, row = read_line(text, self.ctx)
        if who == 3 or (who == 0 and self.ctx.args("iperf", "iperf2") is None and not _REFUSED.match(text)):
            return ()
        return self._line(text, row)

    def _line(self, text: str, row: Row | None) -> Iterator[Record]:
        if row is not None:
            yield from self._settled()
            yield from self._run.row(self, row)
        elif _BWCTL.match(text):
            yield from self._settled(anew=True)
        elif (match := _CONNECTED.search(text)) is None:
            yield from self._remark(text) if "connected with" not in text else ()
        else:
            yield from self._settled()
            run = self._run
            if run.finished(match["id"]) or run.summed():
                yield from run.settle(self)
            listening = int(match["local"]) == run.port
            run.connect(match["id"], _Connection(listening, bool(match["star"]), "(reverse)" in match["rest"]))
            run.conditions.setdefault("target", match["host"])

    def _remark(self, text: str) -> Iterator[Record]:
        if (banner := _BANNER.search(text)) is not None:
            yield from self._settled()
            if self._run.streams and not self._run.server and self._run.command is None:
                yield from self._settled(anew=True)  # a further run, pasted without its prompt
            run = self._run
            run.conditions["protocol"] = banner["proto"].lower()
            if banner["what"].startswith("Server"):
                run.port, run.server = int(banner["port"]), run.server or not run.banner
            elif banner["host"] and not run.server:
                run.conditions["target"] = banner["host"]
            run.banner = True
            return
        window = said_in(text, size_bytes, window_B=r"(?:TCP window|UDP buffer) size: +([\d.]+ [KMG]?)Byte")
        datagram = said_in(text, block_B=r"(?:Sending|Receiving) (\d+) byte datagrams")
        self._run.conditions |= {**window, **self._run.conditions} | datagram
        self._run.reports.update(re.findall(r"\[ *\*?(\d+)\] Server Report", text))
        if (version := _VERSION.search(text)) is not None:
            self.version = version[1]
        if "did not receive ack" in text:
            yield self.unread(text, "the server did not report: what arrived is not known")
        if (problem := _FAILED.search(text)) is None:
            return
        yield from self._settled()
        if "read failed" in text and self._run.streams:  # lost acknowledgements at the end of a UDP run
            return
        if not self._run.failed:
            self._run.failed = True
            yield self.failure(problem[0], **self._run.conditions)


class Iperf2Csv(_Iperf2):
    """Rows of ``iperf -y C``."""

    shape = r"^(?:[+-]:)?[+-]?,[^,\s]*,,[^,\s]*,,-?,[-,],,(?:,|$)"

    _starts: deque[tuple[int, float]] = once(lambda: deque([(0, -1e12)], maxlen=16))

    def _test_of(self, date: str, end_s: float) -> int:
        """The number of the test that started when this row's did: streams of one test start together."""
        if (ended := seconds(f"{date[:8]}T{date[8:]}")) is None:
            return 0
        test = next((n for n, start in self._starts if abs(ended - end_s - start) <= _TOGETHER_S), 0)
        if test == 0:
            test = self._starts[-1][0] + 1
            self._starts.append((test, ended - end_s))
        return test

    def feed(self, text: str) -> Iterable[Record]:
        if (match := _CSV.match(text)) is None:
            return
        yield from self._settled()
        total, span = match["sport"] == "0" or match["id"] == "-1", (float(match["start"]), float(match["end"]))
        size, rate, printed = float(match["size"]), int(match["rate"]) / 8, f"{match['rate']} bit/s"
        rest = "" if match["jitter"] is None else f"{match['jitter']} ms {match['lost']}/{match['total']} (0%)"
        number = "SUM" if total else match["id"]
        row = Row(number, False, None, *span, size, rate, printed, rest, self.ctx.line, text)  # noqa: FBT003 (no star)
        run = self._run
        if not total:
            number = f"{match['id']} {match['sport']} {match['dport']}"
            if number not in run.groups:
                run.groups[number] = self._test_of(match["date"], row.end_s)
            run.conditions.setdefault("target", match["dst"])
        yield from run.row(self, row, number)
