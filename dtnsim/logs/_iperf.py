"""What iperf2 and iperf3 share: the report row, its units, and whose row it is; one run of iperf 2 while it is read.

Both print sizes in powers of 1024 (``GBytes`` = 2^30 B) and rates in bits with powers of 1000 (``Gbits/sec`` = 1e9
bit/s); with ``-f K/M/G`` the rate is in bytes with powers of 1024. Source: ``unit_snprintf`` in iperf ``src/stdio.c``
and iperf3 ``src/units.c``; checked on rows of the collection (3.81 GBytes in 1 s printed as 32721 Mbits/sec).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from dtnsim.logs._commands import given
from dtnsim.logs._numbers import BINARY, DECIMAL, decimal, regex
from dtnsim.logs.base import NO_BYTES, Command, Conditions, Context, LineParser, Mean, Record, Status, noted

#: words that occur in every report row of either tool, and in lines about it
ROW_WORDS: Final = "iperf Bytes KBytes MBytes GBytes TBytes PBytes"

ROW: Final = regex(
    r"\[ *(?P<star>\*?)(?P<id>SUM|FD|\d+)(?:-\d+)?\](?:\[(?P<way>[TR]X-[CS])\])?(?P<gap>\s*)(?P<start>\d+[.,]\d+)- *"
    r"(?P<end>\d+[.,]\d+)(?P<gap2> +)sec\s+<size:comma> <sizeu:k>Bytes\s+<rate:comma> <rateu:k>"
    r"(?P<kind>bits|Bytes)/sec(?P<rest>.*)"
)
#: jitter, lost/total (loss share) of a UDP row
UDP: Final = regex(r"\s*<jitter:comma> ms\s+(?P<lost>-?\d+)/\s*(?P<total>-?\d+)\s+\((?:[-\d.,e+]+|-?nan)%\)")

_SECOND: Final = re.compile(
    r"iperf(?:2| version 2)|connected with|Client connecting to|Server listening on (?:TCP|UDP)"
)
_THIRD: Final = re.compile(
    r"iperf ?3|connected to|^\s*(?:\S+:\s+)?(?:Connecting to host|Server listening on \d|Accepted connection)"
)


class Row(NamedTuple):
    """One report row."""

    id: str  # stream number or ``SUM``
    star: bool  # iperf2's mark of the reverse direction
    way: str | None  # iperf3's ``TX-C``/``RX-C`` (``-S`` on the server), None without ``--bidir``
    start_s: float
    end_s: float
    size: float  # transferred, to the three digits that are printed [B]
    rate: float  # [B/s]
    printed: str  # the rate
    rest: str  # what follows on the line
    line: int
    text: str


def read_line(text: str, ctx: Context) -> tuple[int, Row | None]:
    """(2, 3 or 0 for unknown: which iperf printed this line, the report row on it).

    Both parsers ask about every row: the answer is kept for the second. What other lines of the file
    known about the generation is remembered per host.
    """
    memo = ctx.memo
    last = memo.get("iperf line")
    if last is not None and last[0] == ctx.line and last[1] is text:
        return last[2]  # type: ignore[no-any-return]  # what is stored below
    found = ROW.search(text) if "/sec" in text and "[" in text else None
    answer = (_told(text, ctx), None) if found is None else _row(found.groups(), text, ctx)
    memo["iperf line"] = (ctx.line, text, answer)
    return answer


def _row(groups: tuple[str, ...], text: str, ctx: Context) -> tuple[int, Row]:
    star, number, way, gap, start, end, gap2, size, size_unit, rate, unit, kind, rest = groups
    who = _generation(start, way, rest, gap, gap2, ctx)
    read = decimal if "," in text else float
    scale = DECIMAL[unit] / 8 if kind == "bits" else BINARY[unit]
    volume, printed, line = read(size) * BINARY[size_unit], f"{rate} {unit}{kind}/sec", ctx.line
    span = read(start), read(end)
    return who, Row(number, bool(star), way, *span, volume, read(rate) * scale, printed, rest, line, text)


def _told(text: str, ctx: Context) -> int:
    """The generation after a line that is no row."""
    key = f"iperf {ctx.host}"
    if _THIRD.search(text):
        ctx.memo[key] = 3
    elif _SECOND.search(text):
        ctx.memo[key] = 2
    return int(ctx.memo.get(key, 0))


def _generation(start: str, way: str | None, rest: str, gap: str, gap2: str, ctx: Context) -> int:
    """The generation that printed a row."""
    key = f"iperf {ctx.host}"
    known = ctx.memo.get(key)
    if start[-3] not in ".,":  # iperf3 prints two decimals, iperf2 one or four
        ctx.memo[key] = 2
        return 2
    if known == 3:
        return 3
    if way or (rest[-1:] in "rd) " and rest.rstrip().endswith(("sender", "receiver", "(omitted)"))):
        ctx.memo[key] = 3
        return 3
    if known is not None:
        return int(known)
    if ctx.args("iperf3") is not None:
        return 3
    if ctx.args("iperf", "iperf2") is not None:
        return 2
    # iperf3 pads the ends to six places, iperf2 -e does not
    return 3 if len(gap) > 1 or len(gap2) > 1 else 2


def udp_of(rest: str) -> tuple[float, int, int] | None:
    """(jitter [s], lost, total) of a UDP row; None if it has none or counts nothing."""
    found = UDP.match(rest)
    return None if found is None else (decimal(found["jitter"]) * 1e-3, int(found["lost"]), int(found["total"]))


#: the iperf 2 command line (iperf2 manual): sizes are 1024-based, rates 1000-based
_ENHANCED: Final = regex(r"\s+\d+/\d+\s+<retry:int>(?:\s+-?\d+K.*)?\s*$")
_ZERO: Final = 0.005  # a start of 0.0 in any of the printed precisions [s]
_MANY: Final = 256


def from_args(args: list[str] | None) -> tuple[Conditions, float | None, float | None]:
    """(conditions, interval [s], time [s]) of an iperf 2 command line; it runs 10 s by default."""
    known, values, _ = given("iperf2", args)
    if args is not None:
        known.setdefault("protocol", "tcp")
    try:
        every, time = (decimal(values[key]) if key in values else None for key in ("every", "time"))
    except ValueError:
        return known, None, None
    if time is None and args is not None and "bytes" not in values and "server" not in values:
        time = 10.0
    return known, every, time


@dataclass(slots=True)
class Connection:
    """A connection line: whether this end listens, and marks of the reverse direction."""

    listening: bool
    star: bool
    reverse: bool
    group: int = 0


@dataclass(slots=True)
class Stream:
    """Rows of one stream: the one that may be its last, and the mean of those that were not."""

    held: Row | None = None
    intervals: int = 0
    mean: Mean = field(default_factory=Mean)
    last: Row | None = None
    cut: bool = False

    def interval(self, row: Row) -> None:
        """Counts a row of the time series."""
        span = row.end_s - row.start_s
        self.intervals, self.last = self.intervals + 1, row
        self.mean.add(row.rate * span, span, row.line)


Key = tuple[str, bool, bool]  # number or SUM (with ports in CSV), star, server report


@dataclass(slots=True)
class Run:
    """One run; see the module of the parser for how rows are distinguished."""

    command: Command | None = None
    conditions: Conditions = field(default_factory=dict)
    host: str | None = None
    every: float | None = None
    time: float | None = None
    port: int | None = None
    banner: bool = False
    failed: bool = False
    server: bool = False
    connections: dict[str, Connection] = field(default_factory=dict)
    reports: set[str] = field(default_factory=set)
    streams: dict[Key, Stream] = field(default_factory=dict)
    #: of streams without a connection line (CSV): the test each belongs to
    groups: dict[str, int] = field(default_factory=dict)
    _shared: dict[Key, tuple[tuple[int, int], Conditions]] = field(default_factory=dict)

    def row(self, parser: LineParser, row: Row, number: str | None = None) -> Iterator[Record]:
        """Takes a row; yields the rows that turn out to be intervals.

        Args:
            row: The row.
            number: Its stream, where the row itself does not say it (CSV).
        """
        number = number or row.id
        report = number in self.reports
        self.reports.discard(number)
        key = (number, row.star, report)
        if key not in self.streams and len(self.streams) >= _MANY:
            yield from self.settle(parser)
        stream = self.streams.setdefault(key, Stream())
        stream.cut = parser.ctx.cut
        held, stream.held = stream.held, None
        if held is not None:
            yield self._interval(parser, key, stream, held)
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
        held = [(stream.held, stream.intervals) for stream in self.streams.values()]
        # not over if it could be the first row of a series, whose interval is a whole number of seconds
        return all(row is not None and (more or abs(row.end_s - round(row.end_s)) >= _ZERO) for row, more in held)

    def summed(self) -> bool:
        """Whether a ``[SUM]`` row of the whole test is at the end: what follows is another test."""
        last = [s for key, s in self.streams.items() if key[0] == "SUM"]
        return bool(last) and all(self._is_final(s) for s in self.streams.values())

    def connect(self, number: str, connection: Connection) -> None:
        """Takes a connection line: streams opened before the first row that may sum up belong together."""
        connection.group = max([c.group for c in self.connections.values()], default=0)
        if any(s.held is not None and self._group(key) == connection.group for key, s in self.streams.items()):
            connection.group += 1
        self.connections[number] = connection

    def _group(self, key: Key) -> int:
        connection = self.connections.get(key[0])
        return self.groups.get(key[0], 0) if connection is None else connection.group

    def _interval(self, parser: LineParser, key: Key, stream: Stream, row: Row) -> Record:
        stream.interval(row)
        state = len(self.streams), len(self.connections)
        shared = self._shared.get(key)
        if shared is None or shared[0] != state:  # what all rows of a stream share is put together once
            base: Conditions = {n: v for n, v in self._known(key, row).items() if v is not None}
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
                    known = self._known(key, row) | {"stream": None if alone else int(row.id)}
                    yield from stream.mean.records(parser, known)
        yield from self._sums(parser, streams, complete)
        for state in (self.streams, self._shared, self.reports, self.connections, self.groups):
            state.clear()

    def _is_final(self, stream: Stream) -> bool:
        row = stream.held
        if row is None:
            return False
        if stream.intervals:
            return True
        if self.every is not None and (self.time is None or self.time >= self.every):
            # with -i the first row of the series comes before the row of the whole run, however short that is
            return abs(row.end_s - self.every) > 0.05 * self.every
        # versions that print 0.1 ms hardly ever end a run on a whole second: it is the first row of a series
        return not ("0.0000-" in row.text and row.end_s > 0 and row.end_s == int(row.end_s))

    @noted
    def _final(self, parser: LineParser, key: Key, stream: Stream, *, alone: bool) -> Iterator[Record]:
        row = stream.held
        assert row is not None
        parser.need(row.size > 0 and row.rate > 0, row.text, NO_BYTES, line=row.line)
        known = self._known(key, row) | {"bytes": row.size, "stream": None if alone else int(row.id)}
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
            yield parser.measure(quantity, value, printed, status=status, line=row.line, **known)
            known["packets"] = udp[2] if udp is not None and udp[2] > 0 else None  # beside what the rate is of

    def _sums(self, parser: LineParser, streams: dict[Key, Stream], complete: set[Key]) -> Iterator[Record]:
        """The sum of the streams of one direction, where the log has no ``[SUM]`` row of them."""
        if any(number == "SUM" for number, _, _ in streams):
            return
        done: set[Key] = set()
        for key in streams:
            peers = self._peers(key)
            if len(peers) >= 2 and done.isdisjoint(peers) and complete.issuperset(peers):
                done.update(peers)
                rows = [row for peer in peers if (row := streams[peer].held) is not None]
                conditions = {**self._known(key, rows[0]), "derived": "sum of streams"}
                conditions |= {"duration_s": max(row.end_s for row in rows), "bytes": sum(row.size for row in rows)}
                rate, line = sum(row.rate for row in rows), max(row.line for row in rows)
                yield parser.measure("throughput", rate, "", line=line, **conditions)

    def _peers(self, key: Key) -> list[Key]:
        """Streams of the same test and direction, seen from the same end."""
        own = self._direction(key), key[2], self._group(key)
        return [k for k in self.streams if k[0] != "SUM" and (self._direction(k), k[2], self._group(k)) == own]

    def _direction(self, key: Key) -> str | None:
        number, star, _ = key
        if number == "SUM":
            found = {self._direction(k) for k in self.streams if k[0] != "SUM" and not k[2]}
            return "both" if {"send", "receive"} <= found else found.pop() if len(found) == 1 else None
        connection = self.connections.get(number)
        if connection is None:
            return None
        other = star and not connection.star  # the other half of a full-duplex pair
        turned = connection.listening or not self.server if connection.reverse else other
        return "receive" if connection.listening != turned else "send"

    def _known(self, key: Key, row: Row) -> Conditions:
        found, direction = dict(self.conditions), self._direction(key)
        number, _, report = key
        streams = {k[0] for k in self.streams if k[0] != "SUM"} if number == "SUM" else set(self._peers(key))
        if streams:
            found["streams"] = len(streams)
        found |= {"host": self.host, "direction": direction, "duration_s": row.end_s - row.start_s}
        if report or (direction is None and udp_of(row.rest) is not None):
            found["role"] = "receiver"
        elif direction in ("send", "receive"):
            found["role"] = "sender" if direction == "send" else "receiver"
        return found
