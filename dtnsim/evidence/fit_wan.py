"""ping, traceroute and mtr as a network that a path can name: round trip, loss, MTU, each with its spread.

The round trip is the geometric mean of the runs' means; its spread is how far runs lie apart or, of a single run, how
far its mean lies above its fastest packet. Loss is packets lost over packets sent, all runs together, with the spread
of a Poisson count, ``1 / sqrt(lost)``; where none was lost nothing is stated, since a path that states no loss is drawn
with what such paths have, and a few hundred packets say nothing of that. Loss that routers in between show is none of
the way: they answer when they have time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dtnsim.evidence.dates import when
from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.ground.term import plural
from dtnsim.logs import read_logs
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.base import Evidence
from dtnsim.logs.measurement import Measurement

#: bytes of IP and ICMP headers around ping's payload
_HEADERS_B: Final = 28
#: runs of one way whose round trips differ by more than this factor are of two ways
_ANOTHER: Final = 1.5
#: largest spread that a number may have
_WIDEST: Final = 3.0


@dataclass(slots=True)
class Way:
    """What was measured of one way.

    Attributes:
        target: Its far end.
        means: Mean round trip of each run [s].
        least: Shortest round trip of each run [s].
        sent: Packets sent.
        lost: Packets lost.
        mtu_B: Largest packet that passed, or that the way is said to take.
        places: Where the round trips are written.
        days: Days with runs.
    """

    target: str
    means: list[float] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    sent: int = 0
    lost: float = 0.0
    mtu_B: float = 0.0
    places: list[str] = field(default_factory=list)
    days: set[str] = field(default_factory=set)

    @property
    def rtt_s(self) -> float:
        """Geometric mean of the runs [s]."""
        return math.exp(sum(map(math.log, self.means)) / len(self.means))

    @property
    def spread(self) -> float:
        """Relative standard deviation of the round trip."""
        logs = [math.log(m) for m in self.means]
        if len(logs) > 1:
            mean = sum(logs) / len(logs)
            return math.sqrt(math.expm1(sum((x - mean) ** 2 for x in logs) / (len(logs) - 1)))
        return max(self.means[0] / self.least[0] - 1.0, 0.0) if self.least else 0.0


def way(logs: Sequence[Path]) -> Way:
    """Reads the way that logs are of.

    Raises:
        InputError: no round trip is in them, or they are of several ways.
    """
    ways: dict[str, Way] = {}
    for m in read_logs(list(logs))[0]:
        if catalogue().evidence[m.tool] is Evidence.WAY and m.status in ("complete", "partial") and whole(m):
            _add(ways.setdefault(str(m.conditions.get("target") or ""), Way(str(m.conditions.get("target") or ""))), m)
    found = [w for w in ways.values() if w.means]
    if not found:
        raise InputError("--wan: there is no round trip in these logs; give the output of ping, mtr or traceroute")
    rtts = [w.rtt_s for w in found]
    if max(rtts) > _ANOTHER * min(rtts):
        which = ", ".join(f"{w.target or 'a host without a name'} ({units.show(w.rtt_s, 's')})" for w in found)
        raise InputError(f"--wan: the logs are of several ways: {which}; give those of one")
    return _merged(found + [w for w in ways.values() if not w.means])


def whole(m: Measurement) -> bool:
    """Whether a figure is of the whole way: mtr's last hop, the far end of traceroute, no part of a test."""
    said = m.conditions
    if said.get("interval"):
        return False
    if m.tool in ("traceroute", "tracepath"):
        return said.get("reached") is True or m.quantity == "mtu"
    return said.get("last") is True or (m.tool != "mtr" and said.get("hop") is None)


def _add(way_: Way, m: Measurement) -> None:
    statistic = m.conditions.get("statistic")
    if m.quantity == "rtt" and m.value > 0:
        if statistic is None:
            way_.means.append(m.value)
            way_.places.append(f"{Path(m.file or 'log').name}:{m.line}")
            stamp = when(m)
            if stamp is not None:
                way_.days.add(stamp.date().isoformat())
        elif statistic == "min":
            way_.least.append(m.value)
    elif m.quantity == "loss":
        sent = int(m.conditions.get("packets") or 0)
        way_.sent += sent
        way_.lost += m.value * sent
        payload = m.conditions.get("payload_B")
        if m.conditions.get("dont_fragment") and isinstance(payload, int) and m.value < 1:
            way_.mtu_B = max(way_.mtu_B, payload + _HEADERS_B)
    elif m.quantity == "mtu":
        way_.mtu_B = max(way_.mtu_B, m.value)


def _merged(ways: Sequence[Way]) -> Way:
    whole = Way(next((w.target for w in ways if w.target), ""))
    for w in ways:
        whole.means += w.means
        whole.least += w.least
        whole.places += w.places
        whole.days |= w.days
        whole.sent += w.sent
        whole.lost += w.lost
        whole.mtu_B = max(whole.mtu_B, w.mtu_B)
    return whole


def text(found: Way, bandwidth: str = "") -> str:
    """The network as a file that a path names: ``wan: {part: my-wan.yaml}``.

    Args:
        found: What was measured.
        bandwidth: Rate of the host's card; 10 Gb/s where none is known.
    """
    runs, days = plural(len(found.means), "run"), f" on {plural(len(found.days), 'day')}" if found.days else ""
    spread = f"spread: {100 * min(found.spread, _WIDEST):.2g} %, " if found.spread >= 0.005 else ""
    source = f"{', '.join(found.places[:3])}{' ...' if len(found.places) > 3 else ''}: {runs}{days}"
    far = found.target or "the other host"
    lines = [
        f"# The way to {far}, written by 'dtnsim calibrate --wan'; a path names it with  wan: {{part: FILE}}",
        "kind: segment",
        f"bandwidth: {bandwidth or '10 Gb/s'}  # TODO: what the provider says ({_card(bandwidth)})",
        f'rtt: {{value: {found.rtt_s * 1e3:.5g} ms, {spread}source: "{source}"}}',
    ]
    if found.mtu_B:
        lines.append(f"mtu: {found.mtu_B:.0f} B")
    if found.lost >= 0.5:
        loss, count = found.lost / found.sent, round(found.lost)
        wide = 100 * min(1 / math.sqrt(found.lost), _WIDEST)
        lines.append(
            f'loss: {{value: {loss:.3g}, spread: {wide:.2g} %, source: "{count} of {found.sent} packets lost"}}'
        )
    elif found.sent:
        lines.append(
            f"# loss: none of {plural(found.sent, 'packet')} was lost: below {3 / found.sent:.1g} (95 %); a path that "
            "states none is drawn with what such paths have"
        )
    return "\n".join([*lines, ""])


def _card(bandwidth: str) -> str:
    return "now the card of the host" if bandwidth else "now a guess"
