"""TCP streams that compete at one segment: shares by congestion control, round trip, window and loss.

Equal streams share equally. If they differ, the model of competing flows behind ``dtnsim tcp`` runs once at nominal
values: a stream's share is its weight at the transfer's fullest segment, and the segment carries their total.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from dtnsim.components.network_kinds import priors
from dtnsim.ground.ledger import Ledger
from dtnsim.ground.quantity import middle
from dtnsim.ground.records import SLOW_START, Connection, Problem, Station, Transfer
from dtnsim.physics.tcp import controls, rounds

if TYPE_CHECKING:
    from dtnsim.physics.tcp import competition

LEAST_RTT_S: Final = 1e-3  #: below this round trip, streams share equally whatever their congestion control
MOST_SEGMENTS: Final = 8  #: most segments whose streams are simulated
_DIGITS: Final = 3  #: digits of the figures that make streams alike


@dataclass(frozen=True, slots=True)
class Visit:
    """The streams of a transfer at a station."""

    transfer: Transfer  #: Their transfer.
    streams: Connection  #: Its connections.
    per_byte: float  #: Demand of a payload byte at the station.
    alone_Bps: float  #: Rate of the transfer without the others [B/s].

    @property
    def kind(self) -> tuple[str, float, float]:
        """What makes streams alike."""
        return kind_of(self.streams)


def kind_of(streams: Connection) -> tuple[str, float, float]:
    """What makes streams alike: congestion control, round trip [s], window [segments]."""
    usual = _usual(streams)
    return streams.cc, _rounded(float(usual.rtt_s)), _rounded(float(usual.window_B) / streams.mss_B)


def _usual(streams: Connection) -> Connection:
    """Streams at nominal values, or as they are where scenarios have their own."""
    return streams.nominal or streams


@dataclass(frozen=True, slots=True)
class Company:
    """Shares of transfers that compete.

    Attributes:
        weights: Weights of the transfers, by name.
        carried: Part that unlike streams carry of a station, by its name [1].
        opened: Timed transfers whose weights are shares of a time that begins with their openings.
    """

    weights: dict[str, float] = field(default_factory=dict)
    carried: dict[str, float] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)

    def apply(self, transfer: Transfer) -> Transfer:
        """A transfer with its share."""
        name = transfer.name
        return _sharing(transfer, self.weights.get(name, transfer.weight), opens=name in self.opened)


def meet(transfers: Sequence[Transfer], ledger: Ledger, company: Company) -> None:
    """Notes the shares of competing transfers; they keep their own weights if all streams are alike or are drawn.

    Args:
        transfers: Transfers of a path that may meet, at nominal values.
        ledger: Their stations and connections; takes warnings.
        company: Takes the shares.
    """
    if ledger.draw.many or len(transfers) < 2:
        return
    simulated = 0
    for station, visits in sorted(_places(transfers, ledger).items()):
        if len({v.kind for v in visits}) < 2:
            continue
        simulated += 1
        if simulated > MOST_SEGMENTS:
            ledger.warn(f"{station}: streams share equally; more segments that unlike streams share are not modelled")
            continue
        young = sorted({v.streams.cc for v in visits} & set(controls.unjudged()))
        if young:
            ledger.warn(
                f"{station}: what {', '.join(young)} gets beside others is modelled from its source, to a third"
            )
        shares = _shares(ledger.stations[station], visits)
        met = {v.transfer.name: v.transfer for v in visits}
        for visit, weight in zip(visits, shares.weights, strict=True):
            company.weights[visit.transfer.name] = visit.transfer.weight * weight
        beside = (d.station for t in transfers if t.name not in met for phase in t.phases for d in phase.demands)
        if station not in beside:
            company.carried[station] = shares.carried
        if _timed_together(list(met.values())):
            company.opened.update(met)


def _timed_together(transfers: Sequence[Transfer]) -> bool:
    """Whether transfers are timed and start so close together that their shares include slow start."""
    from dtnsim.physics.tcp import competition

    starts = [t.start_s for t in transfers]
    return all(t.timed for t in transfers) and max(starts) - min(starts) <= competition.LATEST_S


def stations(charged: Iterable[Station], carried: Mapping[str, float]) -> tuple[Station, ...]:
    """Stations with the capacity that their unlike streams carry."""
    return tuple(_carrying(s, carried[s.name]) if s.name in carried else s for s in charged)


def _carrying(station: Station, part: float) -> Station:
    part = float(f"{part:.6g}")
    return replace(
        station,
        capacity=station.capacity * part,
        formula=f"({station.formula}) x {part:g}" if station.formula else "",
        source=f"{station.source}; what unlike streams carry: dtnsim.physics.tcp.competition",
    )


def as_in(problem: Problem, nominal: Problem) -> Problem:
    """A drawn problem with the weights and carried parts of the nominal one."""
    return replace(
        problem,
        transfers=tuple(map(as_given, problem.transfers, nominal.transfers)),
        stations=stations(problem.stations, nominal.carried),
        carried=nominal.carried,
    )


def as_given(composed: Transfer, original: Transfer) -> Transfer:
    """A transfer composed anew, with the share that it had."""
    return _sharing(composed, original.weight, opens=original.opened)


def _sharing(transfer: Transfer, weight: float, *, opens: bool) -> Transfer:
    transfer = replace(transfer, weight=weight) if weight != transfer.weight else transfer
    return opened(transfer) if opens else transfer


def opened(transfer: Transfer) -> Transfer:
    """A transfer whose share already includes slow start."""
    phases = tuple(
        replace(phase, delays=tuple(d for d in phase.delays if d.what != SLOW_START)) for phase in transfer.phases
    )
    return replace(transfer, phases=phases, opened=True)


def _places(transfers: Iterable[Transfer], ledger: Ledger) -> Mapping[str, list[Visit]]:
    """Segments that several transfers' streams could fill, each transfer at its own fullest one."""
    every: dict[str, list[Visit]] = defaultdict(list)
    crossed: dict[str, list[str]] = {}
    for transfer in transfers:
        demands: dict[str, float] = defaultdict(float)
        for phase in transfer.phases:
            for d in phase.demands:
                demands[d.station] += middle(d.per_byte)
        station = next((n for n in demands if n in ledger.connections), None)
        streams = None if station is None else ledger.connections[station]
        if streams is None or streams.nominal is None or streams.nominal.rtt_s < LEAST_RTT_S:
            continue
        alone = min(middle(ledger.stations[k].capacity) / d for k, d in demands.items() if d > 0)
        crossed[transfer.name] = [k for k in demands if ledger.stations[k].kind == "network" and demands[k] > 0]
        for k in crossed[transfer.name]:
            every[k].append(Visit(transfer, streams, demands[k], alone))
    level = {
        k: middle(ledger.stations[k].capacity) / sum(v.transfer.weight * v.per_byte for v in visits)
        for k, visits in every.items()
        if len(visits) > 1 and sum(v.alone_Bps * v.per_byte for v in visits) > middle(ledger.stations[k].capacity)
    }
    contended = {name: [k for k in visited if k in level] for name, visited in crossed.items()}
    fullest = {name: min(places, key=lambda k: level[k]) for name, places in contended.items() if places}
    visits = {k: [v for v in every[k] if fullest[v.transfer.name] == k] for k in set(fullest.values())}
    for met in visits.values():
        if not all(v.transfer.timed for v in met):
            met.sort(key=lambda v: (v.kind, v.streams.streams, v.per_byte))
    return visits


def _shares(station: Station, visits: Sequence[Visit]) -> competition.Shares:
    """A stream's part over an equal share, for each visit, and the part of the station that all of them use.

    Transfers that start together do so one after the other: tests as the commands of a script do, and others, whose
    shares are those of later, in an order that the file's does not move.
    """
    from dtnsim.physics.tcp import competition, shared  # which few need

    # of the widest the segment is the narrowest place
    wide = max((_usual(v.streams) for v in visits), key=lambda streams: float(streams.rate_Bps))
    packet, buffer = wide.mtu_B, float(wide.buffer_B)
    if not math.isfinite(buffer):
        buffer = priors(None).buffer.value
    timed = all(v.transfer.timed for v in visits)
    starts = [v.transfer.start_s for v in visits]
    apart = rounds.SECOND_START_S if len(set(starts)) == 1 else 0.0
    begins = [start - min(starts) + apart * n for n, start in enumerate(starts)]
    rate = float(station.capacity) / visits[0].per_byte / wide.mss_B
    least_loss = min(float(_usual(v.streams).loss) for v in visits)
    return competition.shares(
        [competition.Group(*v.kind, v.streams.streams, begin) for v, begin in zip(visits, begins, strict=True)],
        shared.Link(rate, max(buffer / packet, 2.0), least_loss),
        # where bytes end them their openings are charged apart, and shares are those of later
        warmup_s=max(v.transfer.omitted_s for v in visits) if timed else competition.LONGEST_S / 2,
        duration_s=min(v.transfer.time_s for v in visits) if timed else competition.LONGEST_S / 2,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else value
