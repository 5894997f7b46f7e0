"""qperf 0.4: blocks ``tcp_bw:`` with ``name = value unit``.

Units: ``KB``, ``MB``, ``GB`` of rates are powers of 1000 (qperf.c ``view_band``; checked: 28.2 GB in 10 s printed
2.82 GB/sec), with ``--use_bits_per_sec`` ``Mb``; ``KiB`` of message sizes (``-vu``) says what it is. ``latency`` is
half a round trip, as qperf says of its ping-pong tests (``one_way``). ``send_bw`` is what the sender pushed,
``recv_bw`` what arrived. CPU shares are of one core, so that they may pass 100 %.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import host_of, positive_int
from dtnsim.logs.base import BINARY, DECIMAL, Conditions, Context, Evidence, LineParser, Record

_HEAD: Final = re.compile(
    r"^\s*+(?P<test>(?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc|ver)_[a-z_]{2,40}|(?:tcp|udp|sctp|rds)_(?:bw|lat)):\s*+$"
)
_PAIR: Final = re.compile(
    r"^\s*+(?P<key>[a-z_]{2,20}) {1,20}= {1,20}"
    r"(?P<value>\d{1,3}(?:,\d{3})++|\d++(?:\.\d++)?) ?(?P<unit>[A-Za-z%/ ]{0,12}?)"
    r"(?: \([\d,]{1,20}\))?\s*+$"
)
_RATE: Final = re.compile(r"([KMGT]?)(B|b)(?:ytes)?/sec")
_SIZE: Final = re.compile(r"([KMGT]?)(i?)(?:B|bytes)")
_TIMES: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "sec": 1.0}
_FLAG: Final = re.compile(r"-[vuUhV]\w{0,9}|--(?:use_bits_per_sec|unify_\w{1,9}|verbose\w{0,20}|help|version)")
_RATES: Final = {"bw": None, "send_bw": "sender", "recv_bw": "receiver"}


def _server(args: Iterable[str]) -> str | None:
    """The first word of a command that is neither an option nor an option's value."""
    given = iter(args)
    for word in given:
        if not word.startswith("-"):
            return word
        if _FLAG.fullmatch(word) is None:
            next(given, None)
    return None


class Qperf(LineParser):
    """Blocks of one test each."""

    tool = "qperf"
    evidence = Evidence.NETWORK
    shape = r"^\s*+(?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc|ver)_[a-z_]{2,40}:\s*+$"
    commands = ("qperf",)

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._known: Conditions = {}
        self._rows: list[tuple[str, float, str, str, int]] = []

    def feed(self, text: str) -> Iterable[Record]:
        if (head := _HEAD.match(text)) is not None:
            done = list(self.settle())
            args = self.ctx.args("qperf") or []
            self._known = {**host_of(self.ctx), "of": head["test"], "target": _server(args)}
            if head["test"].startswith("tcp"):
                self._known["protocol"] = "tcp"
            elif head["test"].startswith("udp"):
                self._known["protocol"] = "udp"
            self.open = True
            return done
        if not self.open:
            return ()
        pair = _PAIR.match(text[:200])
        if pair is None:
            return list(self.settle())
        value = float(pair["value"].replace(",", ""))
        if pair["key"] in ("bw", "latency") and any(row[0] == pair["key"] for row in self._rows):
            known = dict(self._known)
            done = list(self.settle())  # results of several runs one below the other
            self._known, self.open = known, True
            self._rows = [(pair["key"], value, pair["unit"].strip(), pair["value"], self.ctx.line)]
            return done
        self._rows.append((pair["key"], value, pair["unit"].strip(), pair["value"], self.ctx.line))
        return ()

    def settle(self) -> Iterator[Record]:
        rows, self._rows, self.open = self._rows, [], False
        known = dict(self._known)
        for key, value, unit, _, _ in rows:
            if key == "time" and unit in _TIMES:
                known["duration_s"] = value * _TIMES[unit]
            elif key == "msg_size" and (size := _SIZE.fullmatch(unit)) is not None:
                known["block_B"] = value * (BINARY if size[2] else DECIMAL)[size[1]]
        args = self.ctx.args("qperf") or []
        if "-t" in args and "duration_s" not in known and args[-1] != "-t":
            known["duration_s"] = positive_int(args[args.index("-t") + 1])
        for key, value, unit, printed, line in rows:
            if key in _RATES and (rate := _RATE.fullmatch(unit)) is not None and value > 0:
                scale = DECIMAL[rate[1]] / (8 if rate[2] == "b" else 1)
                more = {**known, "role": _RATES[key]}
                yield self.measure("throughput", value * scale, "B/s", f"{printed} {unit}", line=line, **more)
            elif key == "latency" and unit in _TIMES:
                more = {**known, "one_way": True}
                yield self.measure("latency", value * _TIMES[unit], "s", f"{printed} {unit}", line=line, **more)
            elif key.endswith("_cpus_used") and unit.startswith("%"):
                more = {**known, "role": "sender" if key[:4] in ("send", "loc_") else "receiver", "cpu": "cores"}
                yield self.measure("cpu_share", value / 100, "1", f"{printed} {unit}", line=line, **more)
            elif key == "msg_rate" and (times := re.fullmatch(r"([KMG]?)/sec", unit)) is not None and value > 0:
                more = {**known, "of": "messages"}
                yield self.measure("rate", value * DECIMAL[times[1]], "1/s", f"{printed} {unit}", line=line, **more)
