"""Very many plain flows: one file each from memory to memory, with no waits besides their shares.

Flows that differ only in name, start, bytes and target rate are of one kind. The path is composed with one flow of each
kind, and the flows' numbers are columns of arrays.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dtnsim.composition import sharing
from dtnsim.composition.compose import Composer
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import TransferSpec
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Ledger, per_station
from dtnsim.ground.quantity import Draw, Quantity
from dtnsim.ground.records import REPAIR, SLOW_START, Connection, Slowdown, Station, Transfer
from dtnsim.ground.term import without_words
from dtnsim.physics._arrays import FloatArray as Array, Index

_ENDLESS_B: Final = 1e30  #: size with which a kind is composed, so that slow start is negligible [B]


@dataclass(slots=True)
class Plain:
    """Plain flows, N of them.

    Attributes:
        spec: The path.
        kinds, tools: A flow of each kind, with a file that does not end; and how its tool is used.
        kind: (N,) which kind each flow is of.
        size, start, target: (N,) bytes, beginning and target rate, infinite where none is its own [B], [s], [B/s].
        stations: Those of the kinds.
        connections: Their connections, by station.
        slowdowns: How memory slows cores.
        warnings: What the reader should know.
    """

    spec: PathSpec
    kinds: list[Transfer]
    tools: list[tuple[Any, ...]]
    kind: Index
    size: Array
    start: Array
    target: Array
    stations: dict[str, Station]
    connections: dict[str, Connection]
    slowdowns: tuple[Slowdown, ...]
    warnings: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.size)


def plain(spec: PathSpec) -> Plain | None:
    """The flows of a path where all of them are plain; None where any is not."""
    if not _may_be_plain(spec):
        return None
    firsts: dict[tuple[Any, ...], tuple[TransferSpec, float]] = {}
    number: dict[tuple[Any, ...], int] = {}
    kind, pace = np.empty(len(spec.transfers), np.intp), np.empty(len(spec.transfers))
    for n, each in enumerate(spec.transfers):
        flow_kind = _kind_of(each)
        if flow_kind is None:
            return None
        key, pace[n] = flow_kind
        kind[n] = number.setdefault(key, len(number))
        firsts.setdefault(key, (each, pace[n]))
    with without_words():
        composer = _composed(spec, [first for first, _ in firsts.values()])
        if composer is None:
            return None
        flows = [composer.transfer(leg) for leg in composer.legs]
    ledger = composer.ledger
    stations, connections = ledger.stations, ledger.connections
    named = {t.name for t in flows}
    if any(w.partition(": ")[0] in named for w in ledger.warnings):  # it is to name all of a kind
        return None
    waits = [d for t in flows for d in t.phases[0].delays]  # for nothing but connections that open up, once begun
    begins = {SLOW_START: ("start", "open"), REPAIR: ("lead",)}
    if any(d.each not in begins.get(d.what, ("lead",)) for d in waits) or _differ(connections.values()):
        return None
    target = np.full(len(kind), np.inf)
    rates = [
        next((float(stations[s].capacity) for s in visited(t) if stations[s].kind == "target"), np.inf) for t in flows
    ]
    paced = np.isfinite(pace)
    per_pace = np.array(rates) / [p for _, p in firsts.values()]
    target[paced] = (per_pace[kind] * pace)[paced]
    return Plain(
        spec,
        flows,
        [key[0] for key in firsts],
        kind,
        np.array([t.dataset.sizes_B[0] for t in spec.transfers], float),
        np.array([0.0 if t.start is None else t.start.value for t in spec.transfers]),
        target,
        stations,
        connections,
        spec.slowdowns(ledger),
        (*spec.notes, *ledger.folded([*spec.hosts, *(t.name for t in spec.transfers)])),
    )


def visited(transfer: Transfer) -> dict[str, float]:
    """What a byte of a plain flow costs at each station."""
    return {name: float(cost) for name, cost in per_station(transfer.phases[0].demands).items()}


def only(spec: PathSpec, transfers: Sequence[TransferSpec]) -> PathSpec:
    """The path with these transfers alone."""
    reduced = spec.model_copy(update={"transfers": list(transfers)})
    reduced.__dict__["graph"] = spec.graph  # what is wired to what is the same
    return reduced


def _may_be_plain(spec: PathSpec) -> bool:
    """Whether nothing but plain flows can be on a path: no events, no others, no program, no box that looks inside."""
    if spec.events or spec.others or spec.workload is not None or spec.programs or not spec.segments:
        return False
    if any(card.allowance is not None for host in spec.hosts.values() for card in host.nics.values()):
        return False
    return not any(
        s.firewall or s.policer or s.rtt.several or (s.background is not None and s.background.diurnal.value > 0)
        for s in spec.segments
    )


def _kind_of(spec: TransferSpec) -> tuple[tuple[Any, ...], float] | None:
    """(what a transfer has in common with others of its kind, value of the option that sets its target rate).

    None where it is no plain flow; nan where the option is not given.
    """
    tool, data = spec.tool, spec.dataset
    if tool.pace is None or data is None or spec.after or spec.pause is not None or not spec.counted:
        return None
    if spec.duration is not None or len(data.counts) != 1 or data.counts[0] != 1 or data.directories:
        return None
    if not data.sizes_B[0] > 0:
        return None
    pace, options = math.nan, list[Any]()
    for name, value in tool.__dict__.items():
        if name == tool.pace and value is not None:
            pace = value.value
        else:
            options.append((value.value, value.dim) if isinstance(value, Quantity) else value)
    how = type(tool), tuple(options), frozenset(tool.model_fields_set)
    ends = spec.source_end, spec.to, spec.core, tuple(spec.via), tuple(spec.nics.items()), tuple(spec.ports.items())
    try:
        hash(how)
    except TypeError:
        return None
    return (how, math.isnan(pace), ends), pace


def _composed(spec: PathSpec, firsts: Sequence[TransferSpec]) -> Composer | None:
    """What composes a flow of each kind; None where one is not between memories, or cannot be composed."""
    endless = [
        each.model_copy(update={"dataset": replace(each.dataset, sizes_B=np.array([_ENDLESS_B]))}) for each in firsts
    ]
    try:
        composer = Composer(only(spec, endless), Ledger(Draw()), {})
    except SpecError:  # who composes all of them says which
        return None
    for leg in composer.legs:
        one = leg.plan.workers == len(leg.plan.steps) == 1 and leg.timing is None and not leg.plan.holds_B
        stored = any(end.volume is not None for end in (leg.source, leg.destination))
        if not one or stored or leg.route is None:
            return None
    return composer


def _differ(connections: Any) -> bool:
    """Whether connections end with each file, or differ and may meet, so that they compete."""
    met = [c for c in connections if c.nominal is not None and c.nominal.rtt_s >= sharing.LEAST_RTT_S]
    again = any(c.reopened or math.isfinite(c.file_B) for c in connections)
    return again or len({sharing.kind_of(c) for c in met}) > 1
