"""Transfers whose TCP streams meet at one segment: shares by congestion control, round trip, window and loss.

Equal streams share equally. Where streams differ, the model of competing flows behind ``dtnsim tcp`` runs once at
nominal values, and what a stream gets of it is its weight at the segment that the transfer finds fullest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dtnsim.components.segment import UNSTATED_BUFFER
from dtnsim.ground.ledger import Ledger
from dtnsim.ground.quantity import middle
from dtnsim.ground.records import Connection, Problem, Station, Transfer
from dtnsim.physics.tcp import outcome

#: shorter round trips are over before congestion control makes streams differ
LEAST_RTT_S: Final = 1e-3
#: segments whose streams are simulated, at most
MOST_SEGMENTS: Final = 8
#: digits of the figures that make streams alike
_DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class Visit:
    """The streams of a transfer at a station.

    Attributes:
        transfer: Their transfer.
        streams: Its connections.
        per_byte: What a byte of payload costs at the station.
        alone_Bps: Rate of the transfer without the others [B/s].
    """

    transfer: Transfer
    streams: Connection
    per_byte: float
    alone_Bps: float

    @property
    def kind(self) -> tuple[str, float, float]:
        """What makes streams alike."""
        return kind_of(self.streams)


def kind_of(streams: Connection) -> tuple[str, float, float]:
    """What makes streams alike: congestion control, round trip [s], window [segments]."""
    _, rtt, _, _, size = streams.nominal
    return streams.cc, _rounded(rtt), _rounded(size / streams.mss_B)


def weighed(transfers: Sequence[Transfer], ledger: Ledger) -> tuple[Transfer, ...]:
    """The transfers with their weights; as they are where all streams are alike, or where parameters are drawn.

    Args:
        transfers: All transfers of a path at nominal values.
        ledger: Their stations and connections; takes warnings.
    """
    if ledger.draw.many or len(transfers) < 2:
        return tuple(transfers)
    places = _places(transfers, ledger)
    weights: dict[str, float] = {}
    simulated = 0
    for station, visits in sorted(places.items()):
        if len({v.kind for v in visits}) < 2:
            continue
        unknown = sorted({v.streams.cc for v in visits} - set(outcome.PAIRED))
        simulated += 1
        if unknown or simulated > MOST_SEGMENTS:
            why = f"how {', '.join(unknown)} competes" if unknown else "more segments that unlike streams share"
            ledger.warn(f"{station}: streams share equally; {why} is not modelled")
            continue
        found = _shares(ledger.stations[station], visits)
        weights |= {v.transfer.name: w for v, w in zip(visits, found, strict=True)}
    return tuple(replace(t, weight=t.weight * weights.get(t.name, 1.0)) for t in transfers)


def as_in(problem: Problem, nominal: Problem) -> Problem:
    """A problem of draws with the weights of the nominal one."""
    known = {t.name: t.weight for t in nominal.transfers}
    return replace(problem, transfers=tuple(replace(t, weight=known[t.name]) for t in problem.transfers))


def _places(transfers: Iterable[Transfer], ledger: Ledger) -> Mapping[str, list[Visit]]:
    """Segments that streams of several transfers could fill, each transfer at the fullest of its own."""
    every: dict[str, list[Visit]] = defaultdict(list)
    own: dict[str, list[str]] = {}
    for transfer in transfers:
        demands: dict[str, float] = defaultdict(float)
        for phase in transfer.phases:
            for d in phase.demands:
                demands[d.station] += middle(d.per_byte)
        found = next((n for n in demands if n in ledger.connections), None)
        streams = None if found is None else ledger.connections[found]
        if streams is None or not streams.nominal or streams.nominal[1] < LEAST_RTT_S:
            continue
        alone = min(middle(ledger.stations[k].capacity) / d for k, d in demands.items() if d > 0)
        own[transfer.name] = [k for k in demands if ledger.stations[k].kind == "network" and demands[k] > 0]
        for k in own[transfer.name]:
            every[k].append(Visit(transfer, streams, demands[k], alone))
    level = {
        k: middle(ledger.stations[k].capacity) / sum(v.transfer.weight * v.per_byte for v in visits)
        for k, visits in every.items()
        if len(visits) > 1 and sum(v.alone_Bps * v.per_byte for v in visits) > middle(ledger.stations[k].capacity)
    }
    known = {name: [k for k in visited if k in level] for name, visited in own.items()}
    fullest = {name: min(some, key=lambda k: level[k]) for name, some in known.items() if some}
    return {k: [v for v in every[k] if fullest[v.transfer.name] == k] for k in set(fullest.values())}


def _shares(station: Station, visits: Sequence[Visit]) -> list[float]:
    """What a stream of each visit gets over an equal share."""
    from dtnsim.physics.tcp import competition

    wide = max(visits, key=lambda v: v.streams.nominal[0]).streams  # the segment is its narrowest place
    packet, buffer = wide.mtu_B, wide.nominal[2]
    if not math.isfinite(buffer):
        assert UNSTATED_BUFFER.typical is not None
        buffer = UNSTATED_BUFFER.typical.value
    timed = all(v.transfer.timed for v in visits)
    first = min(v.transfer.start_s for v in visits)
    groups = [competition.Group(*v.kind, v.streams.streams, v.transfer.start_s - first) for v in visits]
    return list(
        competition.weights(
            groups,
            rate=_rounded(float(station.capacity) / visits[0].per_byte / wide.mss_B),
            buffer=_rounded(max(buffer / packet, 2.0)),
            loss=_rounded(min(v.streams.nominal[3] for v in visits)),
            warmup_s=max(v.transfer.omitted_s for v in visits) if timed else 0.0,
            duration_s=min(v.transfer.time_s for v in visits) if timed else competition.LONGEST_S,
        )
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else value
