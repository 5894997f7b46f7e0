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

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from dtnsim.logs._iperf import ROW_WORDS, Connection, Row, Run, from_args, read_line
from dtnsim.logs._numbers import regex, size_bytes
from dtnsim.logs.base import Evidence, LineParser, Record, once

_CONNECTED: Final = regex(
    r"\[ *(?P<star>\*?)<id:int>\] local \S+ port <local:int> "
    r"connected with (?P<host>[^\s%]++)\S*+ port \d++(?P<rest>.*)"
)
_BANNER: Final = regex(
    r"(?P<what>Server listening on|Client connecting to(?: (?P<host>[^,\s]+),)?) (?P<proto>TCP|UDP) port <port:int>"
)
_WINDOW: Final = regex(r"(?:TCP window|UDP buffer) size: +<size:dots> (?P<unit>[KMG]?)Byte")
_DATAGRAM: Final = re.compile(r"(?:Sending|Receiving) (\d+) byte datagrams")
_REPORT: Final = re.compile(r"\[ *\*?(\d+)\] Server Report")
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


class _Iperf2(LineParser):
    """What the text and the CSV reader share."""

    tool = "iperf2"
    evidence = Evidence.NETWORK
    of_a_line = True
    commands = ("iperf", "iperf2")

    _run = once(Run)

    def close(self) -> Iterator[Record]:
        yield from self._run.settle(self)

    def _settled(self, *, anew: bool = False) -> Iterator[Record]:
        """A new run begins, with a new command or ``anew``: the one before it is over."""
        command = self.ctx.command
        if anew or self._run.command is not command:
            yield from self._run.settle(self)
            known, every, time = from_args(self.ctx.args("iperf", "iperf2"))
            self._run = Run(command, known, self.where["host"], every, time)


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
        elif (found := _CONNECTED.search(text)) is None:
            yield from self._remark(text) if "connected with" not in text else ()
        else:
            yield from self._settled()
            run = self._run
            if run.finished(found["id"]) or run.summed():
                yield from run.settle(self)
            listening = int(found["local"]) == run.port
            run.connect(found["id"], Connection(listening, bool(found["star"]), "(reverse)" in found["rest"]))
            run.conditions.setdefault("target", found["host"])

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
        if (window := _WINDOW.search(text)) is not None:
            self._run.conditions.setdefault("window_B", size_bytes(window["size"] + window["unit"]))
        if (datagram := _DATAGRAM.search(text)) is not None:
            self._run.conditions["block_B"] = int(datagram[1])
        if (report := _REPORT.search(text)) is not None:
            self._run.reports.add(report[1])
        if (version := _VERSION.search(text)) is not None:
            self.version = version[1]
        yield from self._message(text)

    def _message(self, text: str) -> Iterator[Record]:
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
        try:
            start = datetime.strptime(date, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp() - end_s
        except ValueError:
            return 0
        for number, other in self._starts:
            if abs(start - other) <= _TOGETHER_S:
                return number
        number = self._starts[-1][0] + 1
        self._starts.append((number, start))
        return number

    def feed(self, text: str) -> Iterable[Record]:
        if (found := _CSV.match(text)) is None:
            return
        yield from self._settled()
        total, span = found["sport"] == "0" or found["id"] == "-1", (float(found["start"]), float(found["end"]))
        size, rate, printed = float(found["size"]), int(found["rate"]) / 8, f"{found['rate']} bit/s"
        rest = "" if found["jitter"] is None else f"{found['jitter']} ms {found['lost']}/{found['total']} (0%)"
        number = "SUM" if total else found["id"]
        row = Row(number, False, None, *span, size, rate, printed, rest, self.ctx.line, text)  # noqa: FBT003 (no star)
        run = self._run
        if not total:
            number = f"{found['id']} {found['sport']} {found['dport']}"
            if number not in run.groups:
                run.groups[number] = self._test_of(found["date"], row.end_s)
            run.conditions.setdefault("target", found["dst"])
        yield from run.row(self, row, number)
