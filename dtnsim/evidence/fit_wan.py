"""Logs as a network that a path can name: round trip, loss and MTU, rate, retransmits and other traffic by the hour.

ping, traceroute, mtr, perfSONAR and pScheduler say the former, iperf3 and its like the latter.

The round trip is the geometric mean of the runs' means; its spread is how far runs lie apart or, of a single run, how
far its mean lies above its fastest packet. Loss is packets lost over packets sent, all runs together, with the spread
of a Poisson count, ``1 / sqrt(lost)``; where none was lost nothing is stated, since a path that states no loss is drawn
with what such paths have, and a few hundred packets say nothing of that. Loss that routers in between show is none of
the way: they answer when they have time. What TCP sent again is written where no probe lost a
packet. Rates are of one way and direction; the fastest is a lower bound of what the way carries. Where its runs come
near the way's rate and are spread over days and hours, what they lack of the fastest is other traffic: its mean, and
the first harmonic of the hours' medians (UTC).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import geometric_mean, median, variance
from typing import Final

from dtnsim.evidence.dates import when
from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.ground.grouping import by_key
from dtnsim.ground.units import plural
from dtnsim.logs import read_logs
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.base import Evidence
from dtnsim.logs.measurement import Measurement

_HEADERS_B: Final = 28  #: bytes of IP and ICMP headers around ping's payload
_ANOTHER: Final = 1.5  #: runs of one way whose round trips differ by more than this factor are of two ways
RATES: Final = (0.1, 1, 2.5, 5, 10, 25, 40, 50, 100, 200, 400, 800)  #: rates of Ethernet [Gb/s]
#: other traffic is told from runs at so many hours on so many days, the fastest of which took this share of the rate
_HOURS: Final = 8
_BACKGROUND_DAYS: Final = 3
_FULL: Final = 0.8
_WIDEST: Final = 3.0  #: largest spread that a number may have


@dataclass(slots=True)
class Way:
    """What was measured of one way."""

    target: str  #: Its far end.
    means: list[float] = field(default_factory=list)  #: Mean round trip of each run [s].
    least: list[float] = field(default_factory=list)  #: Shortest round trip of each run [s].
    sent: int = 0  #: Packets sent.
    lost: float = 0.0  #: Packets lost.
    mtu_B: float = 0.0  #: Largest packet that passed, or that the way is said to take.
    places: list[str] = field(default_factory=list)  #: Where the round trips are written.
    days: set[str] = field(default_factory=set)  #: Days with runs.
    #: (source, destination, rate [B/s], when) of each run that filled it.
    rates: list[tuple[str, str, float, datetime | None]] = field(default_factory=list)
    again: dict[tuple[str | None, int | None], float] = field(default_factory=dict)  #: Segments that TCP sent again.
    #: Bytes that each of these runs moved, by file and line.
    moved: dict[tuple[str | None, int | None], float] = field(default_factory=dict)
    last: tuple[object, ...] = ()  #: File, role and ends of the last rate.

    @property
    def fastest_Bps(self) -> float:
        """Rate of the fastest run; 0 where none was measured."""
        return max((r[2] for r in self.rates), default=0.0)

    @property
    def rtt_s(self) -> float:
        """Geometric mean of the runs [s]."""
        return geometric_mean(self.means)

    @property
    def spread(self) -> float:
        """Relative standard deviation of the round trip."""
        if len(self.means) > 1:
            return math.sqrt(math.expm1(variance(map(math.log, self.means))))
        return max(self.means[0] / self.least[0] - 1.0, 0.0) if self.least else 0.0


def read_way(logs: Sequence[Path], names: Mapping[str, str] | None = None) -> Way:
    """Reads the way that logs are of."""
    ways: dict[str, Way] = {}
    called = {theirs.lower(): ours for theirs, ours in (names or {}).items()}
    for m in read_logs(list(logs))[0]:
        evidence = catalogue().evidence[m.tool]
        if (
            evidence not in (Evidence.WAY, Evidence.NETWORK)
            or m.status not in ("complete", "partial")
            or not is_end_to_end(m)
        ):
            continue
        target = str(m.conditions.get("target") or "")
        way_ = ways.setdefault(called.get(target.lower(), target), Way(called.get(target.lower(), target)))
        if m.quantity in ("throughput", "retransmits"):
            _add_rate(way_, m, called)
        elif evidence is Evidence.WAY:  # iperf3's round trips are those of a full queue
            _add(way_, m)
    with_rtt = [w for w in ways.values() if w.means]
    if not with_rtt:
        raise InputError("--wan: there is no round trip in these logs; give the output of ping, mtr or traceroute")
    rtts = [w.rtt_s for w in with_rtt]
    if max(rtts) > _ANOTHER * min(rtts):
        which = ", ".join(f"{w.target or 'a host without a name'} ({units.show(w.rtt_s, 's')})" for w in with_rtt)
        raise InputError(f"--wan: the logs are of several ways: {which}; give those of one")
    merged = _merged(with_rtt + [w for w in ways.values() if not w.means])
    pairs = {frozenset(r[:2]) - {""} for r in merged.rates}
    if len(pairs) > 1:
        which = ", ".join(sorted(" and ".join(sorted(p)) or "hosts without a name" for p in pairs))
        remedy = "give those of one, or say who is who: --as A=B"
        raise InputError(f"--wan: the rates are of several ways: {which}; {remedy}")
    return merged


def _add_rate(way_: Way, m: Measurement, called: Mapping[str, str]) -> None:
    """Notes a rate of a whole run of all streams, or what it sent again."""
    cond, place = m.conditions, (m.file, m.line)
    if cond.get("stream") is not None or cond.get("statistic") or m.status != "complete":
        return
    if m.quantity == "retransmits":
        way_.again[place] = m.value
    elif m.value > 0 and not cond.get("target_Bps"):
        source, target = (called.get(e.lower(), e) for e in ends(m))
        if cond.get("role") == "receiver" and way_.last == (m.file, "sender", source, target):
            way_.rates.pop()  # of one and the same run: what arrived counts
        way_.last = (m.file, cond.get("role"), source, target)
        way_.rates.append((source, target, m.value, when(m)))
        way_.moved[place] = m.value * float(cond.get("duration_s") or 0.0)


def ends(m: Measurement) -> tuple[str, str]:
    """(where the bytes come from, where they go) as the log names them; empty where it names nobody."""
    cond = m.conditions
    source, target, host, peer = (str(cond.get(k) or "") for k in ("source", "target", "host", "peer"))
    if source and target:
        return source, target
    near, far = host or str(cond.get("machine") or "") or source, peer or target or str(cond.get("address") or "")
    server = cond.get("reporter") == "server"
    back = cond.get("role") != "sender" if server else cond.get("direction") == "receive"
    return (far, near) if back else (near, far)


def named(source: str, target: str) -> str:
    """A direction for people; an end that the log does not name is the machine that wrote it."""
    return f"{source or 'here'} to {target or ('here' if source else 'there')}"


def is_end_to_end(m: Measurement) -> bool:
    """Whether a figure is of the whole way: mtr's last hop, the far end of traceroute, no part of a test."""
    cond = m.conditions
    if cond.get("interval"):
        return False
    if m.tool in ("traceroute", "tracepath"):
        return cond.get("reached") is True or m.quantity == "mtu"
    return cond.get("last") is True or (m.tool != "mtr" and cond.get("hop") is None)


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
    merged = Way(next((w.target for w in ways if w.target), ""), mtu_B=max(w.mtu_B for w in ways))
    for w in ways:
        for name in ("means", "least", "places", "rates", "sent", "lost"):
            setattr(merged, name, getattr(merged, name) + getattr(w, name))
        for name in ("days", "again", "moved"):
            setattr(merged, name, getattr(merged, name) | getattr(w, name))
    return merged


def text(way_: Way, bandwidth: str = "") -> str:
    """The network as a file that a path names: ``wan: {part: my-wan.yaml}``.

    No ``bandwidth`` of the host's card: that of Ethernet above the fastest run, or 10 Gb/s.
    """
    runs, days = plural(len(way_.means), "run"), f" on {plural(len(way_.days), 'day')}" if way_.days else ""
    spread = f"spread: {100 * min(way_.spread, _WIDEST):.2g} %, " if way_.spread >= 0.005 else ""
    source = f"{', '.join(way_.places[:3])}{' ...' if len(way_.places) > 3 else ''}: {runs}{days}"
    far = way_.target or "the other host"
    note = "now the card of the host" if bandwidth else "now a guess"
    if way_.rates and not bandwidth:
        note = "now the smallest rate of Ethernet that carries the fastest run"
    lines = [
        f"# The way to {far}, written by 'dtnsim calibrate --wan'; a path names it with  wan: {{part: FILE}}",
        "kind: segment",
        *_directions(way_),
        f"bandwidth: {bandwidth or _ethernet(way_)}  # TODO: what the provider says ({note})",
        f'rtt: {{value: {way_.rtt_s * 1e3:.5g} ms, {spread}source: "{source}"}}',
    ]
    if way_.mtu_B:
        lines.append(f"mtu: {way_.mtu_B:.0f} B")
    if way_.lost >= 0.5:
        loss, count = way_.lost / way_.sent, round(way_.lost)
        wide = 100 * min(1 / math.sqrt(way_.lost), _WIDEST)
        source = f"{count} of {way_.sent} packets lost"
        lines.append(f'loss: {{value: {loss:.3g}, spread: {wide:.2g} %, source: "{source}"}}')
    elif way_.sent:
        least = f"none of {plural(way_.sent, 'packet')} was lost: below {3 / way_.sent:.1g} (95 %)"
        lines.append(f"# loss: {least}; a path that states none is drawn with what such paths have")
    again, moved = sum(way_.again.values()), sum(way_.moved.get(place, 0.0) for place in way_.again)
    if again and moved and way_.lost < 0.5:
        sent = f"count: {again:.0f}, moved: {moved:.4g} B, starts: {len(way_.again)}"
        lines.append(f"retransmits: {{{sent}}}  # starts: 0 if -O")
    return "\n".join([*lines, *_background(way_, bandwidth or _ethernet(way_)), ""])


def _directions(way_: Way) -> list[str]:
    """Rates of each direction, as comments."""
    runs = by_key((named(source, target), rate) for source, target, rate, _ in way_.rates)
    lines = []
    for name, rates in sorted(runs.items()):
        typical, fastest = units.show(median(rates), "B/s"), units.show(max(rates), "B/s")
        lines.append(f"# {plural(len(rates), 'run')} {name}: median {typical}, fastest {fastest}")
    return lines


def _ethernet(way_: Way) -> str:
    """The smallest rate of Ethernet that carries the fastest run (IEEE 802.3)."""
    fastest = way_.fastest_Bps * 8e-9
    return f"{next((r for r in RATES if r >= fastest), math.ceil(fastest)):g} Gb/s" if fastest else "10 Gb/s"


def _background(way_: Way, bandwidth: str) -> list[str]:
    """Other traffic by the hour; nothing where the runs cannot say it."""
    best, carried = way_.fastest_Bps, units.parse(bandwidth, "B/s")
    hours = by_key((stamp.hour, 1.0 - rate / best) for *_, rate, stamp in way_.rates if stamp is not None)
    days = {stamp.date() for *_, stamp in way_.rates if stamp is not None}
    if len(hours) < _HOURS or len(days) < _BACKGROUND_DAYS or best < _FULL * carried:
        return []
    taken = {hour: median(shares) for hour, shares in hours.items()}
    mean = sum(taken.values()) / len(taken)
    turn = 2 * math.pi / 24
    wave = [2 * sum(v * f(turn * h) for h, v in taken.items()) / len(taken) for f in (math.cos, math.sin)]
    if mean <= 0:
        return []
    peak = math.atan2(wave[1], wave[0]) / turn % 24
    spread = math.sqrt(sum((x - taken[h]) ** 2 for h, v in hours.items() for x in v) / len(way_.rates)) / mean
    source = f"what {len(way_.rates)} runs lack of the fastest"
    share = f'{{value: {mean:.3g}, spread: {100 * min(spread, _WIDEST):.2g} %, source: "{source}"}}'
    wave_share = min(math.hypot(*wave) / mean, 1.0)
    return [f"background: {{share: {share}, diurnal: {wave_share:.2g}, peak_hour: {min(peak, 23.9):.1f}}}"]
