"""netperf 2.x: the classic tables of ``TCP_STREAM``, ``TCP_MAERTS``, ``TCP_SENDFILE``, ``UDP_STREAM`` and ``TCP_RR``.

Units: the head says them: ``10^6bits/sec`` (also ``-f m``), ``10^9bits/s`` (``-f g``), ``10^3bits``; with ``-f M``,
``G``, ``K`` ``MBytes`` ... are powers of 1024 (netperf ``netlib.c``, ``calc_thruput``). Sizes in bytes. ``UDP_STREAM``
prints two rows: what was sent, and what arrived (the headline, ``role="receiver"``); the messages lost are their
difference. ``TCP_RR`` prints transactions a second (``rate``): the inverse is the mean round trip with the hosts' own
time. ``TCP_MAERTS`` flows from the netserver to netperf (``direction="receive"``). Checked: UDP messages times their
size over the elapsed time give the printed rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import host_of
from dtnsim.logs.base import Conditions, Evidence, LineParser, Record

_TITLE: Final = re.compile(
    r"(?:^|\s)(?:MIGRATED )?(?P<proto>TCP|UDP|SCTP) (?P<what>STREAM|MAERTS|SENDFILE|REQUEST/RESPONSE) TEST\b"
    r"(?: (?:from|to) (?P<ends>.*))?"
)
_TARGET: Final = re.compile(r"(?:^|\s)to (?P<target>\S++) \(")
_UNIT: Final = re.compile(r"10\^(?P<power>[369])bits/s|(?P<binary>[KMG])Bytes/s|(?P<rate>Trans\.?|per sec\b)")
_ROW: Final = re.compile(r"^\s*+\d++(?:\s++-?\d++(?:\.\d++)?)++\s*+$")
_INTERIM: Final = re.compile(
    r"Interim result:\s++(?P<rate>\d++(?:\.\d++)?) (?:10\^(?P<power>[369])bits|(?P<binary>[KMG])Bytes)/s "
    r"over (?P<seconds>\d++(?:\.\d++)?) seconds"
)
_LONGEST: Final = 12  # lines of head and rows


class Netperf(LineParser):
    """Tables of one test after another."""

    tool = "netperf"
    evidence = Evidence.NETWORK
    of_a_line = True
    words = ("TEST",)
    commands = ("netperf",)

    def forget(self) -> None:
        self._known: Conditions = {}
        self._factor = 0.0
        self._unit = ""
        self._sent: tuple[float, float] | None = None  # UDP: messages and seconds of the sender's row
        self._lines = 0

    def feed(self, text: str) -> Iterable[Record]:
        title = _TITLE.search(text)
        if title is not None:
            self._begin(title, text)
            return ()
        if not self.open:
            return ()
        if (interim := _INTERIM.search(text)) is not None:  # -D: any number of them
            return self._interim(interim)
        self._lines += 1
        if self._lines > _LONGEST:
            self.open = False
            return ()
        if "target" not in self._known and (target := _TARGET.search(text)) is not None:
            self._known["target"] = target["target"]
        if (unit := _UNIT.search(text)) is not None:
            self._unit = unit[0]
            self._factor = _factor(unit)
        elif self._unit and _ROW.match(text):
            return self._row(text.split())
        return ()

    def _begin(self, title: re.Match[str], text: str) -> None:
        self.open, self._lines, self._unit, self._sent = True, 0, "", None
        target = _TARGET.search(text)
        self._known = {"protocol": title["proto"].lower(), "test": title["what"].lower(), **host_of(self.ctx)}
        if target is not None:
            self._known["target"] = target["target"]

    def _interim(self, found: re.Match[str]) -> Iterator[Record]:
        known = {**self._known, "interval": True, "duration_s": float(found["seconds"])}
        if self._known["protocol"] != "udp" and self._known["test"] != "request/response":
            known["direction"] = "receive" if self._known["test"] == "maerts" else "send"
        value, printed = float(found["rate"]) * _factor(found), found[0].partition(" over")[0].partition(":")[2]
        yield self.measure("throughput", value, "B/s", printed.strip(), **known)

    def _row(self, cells: list[str]) -> Iterator[Record]:
        test = self._known["test"]
        if test == "request/response":
            if len(cells) >= 6:
                yield from self._transactions(cells)
        elif self._known["protocol"] == "udp":
            yield from self._datagrams(cells)
        elif len(cells) >= 5:
            self.open = False
            direction = "receive" if test == "maerts" else "send"
            known = {**self._known, "direction": direction, "duration_s": float(cells[3]), "block_B": int(cells[2])}
            known |= {"receive_window_B": int(cells[0]), "window_B": int(cells[1])}
            yield from self._rate(cells[4], known)

    def _transactions(self, cells: list[str]) -> Iterator[Record]:
        """Sockets' buffers, request and response size, seconds, transactions a second."""
        self.open = False
        known = {**self._known, "request_B": int(cells[2]), "response_B": int(cells[3]), "duration_s": float(cells[4])}
        if float(cells[5]) > 0:
            yield self.measure("rate", float(cells[5]), "1/s", f"{cells[5]} trans/s", **known)

    def _datagrams(self, cells: list[str]) -> Iterator[Record]:
        if self._sent is None and len(cells) >= 6:  # buffer, message size, seconds, messages, errors, rate
            seconds, messages = float(cells[2]), float(cells[3])
            self._sent = messages, seconds
            size = int(cells[1])
            known = {**self._known, "role": "sender", "block_B": size, "duration_s": seconds, "packets": int(messages)}
            self._known["block_B"] = size
            printed = float(cells[5]) * self._factor
            if seconds >= 1 and abs(messages * size / seconds - printed) > 0.02 * printed:
                yield self.unread(" ".join(cells), "messages, size and time do not give the printed rate")
            yield from self._rate(cells[5], known)
        elif self._sent is not None and len(cells) >= 4:  # buffer, seconds, messages, rate
            self.open = False
            sent, _ = self._sent
            got = float(cells[2])
            known = {**self._known, "role": "receiver", "duration_s": float(cells[1]), "packets": int(got)}
            yield from self._rate(cells[3], known)
            if sent >= got > 0:
                yield self.record(
                    "loss", 1 - got / sent, "1", f"{cells[2]} of {sent:.0f}", {**known, "packets": int(sent)}
                )

    def _rate(self, text: str, known: Conditions) -> Iterator[Record]:
        value = float(text) * self._factor
        if value > 0:
            yield self.measure("throughput", value, "B/s", f"{text} {self._unit}", **known)
        else:
            yield self.unread(text, "no bytes were transferred: no rate")


def _factor(unit: re.Match[str]) -> float:
    """[B/s] of a unit; 0 for transactions."""
    power, binary = unit["power"], unit["binary"]
    return 10.0 ** int(power) / 8 if power else 2.0 ** (10 * " KMG".index(binary)) if binary else 0.0
