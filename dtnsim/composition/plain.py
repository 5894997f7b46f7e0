"""Very many plain flows at once: one file each from memory to memory, which wait for nothing but their shares.

What such a flow charges follows from its ends, its way and its connections. Flows that differ in name, beginning, bytes
and target rate alone differ in numbers alone, so each end, way and kind of connections is charged once, by the same
components as in `dtnsim.composition.compose`, and the flows are columns of arrays. Words are made when they are
asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnsim.composition import sharing, tcp, transport
from dtnsim.composition.endpoint import Side
from dtnsim.composition.endpoint import charge as charge_end
from dtnsim.composition.network import END_UNSEEN, Network, nic_of
from dtnsim.composition.resolved_transfer import end_of, leg
from dtnsim.composition.route import charge_segment, narrowest
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Draw, Quantity
from dtnsim.ground.term import without_words
from dtnsim.tools.plan import FileCost

if TYPE_CHECKING:
    from dtnsim.composition.resolved_transfer import End
    from dtnsim.description.spec import PathSpec
    from dtnsim.description.transfer import TransferSpec
    from dtnsim.tools.plan import NetUse, Opening

#: what does not tell two uses of the network by plain flows apart
_OWN = ("rate", "total_B", "workers")


@dataclass(frozen=True, slots=True)
class Use:
    """How a tool moves plain flows.

    Attributes:
        net: Its use of the network.
        weight: Weight in sharing.
        opening: What it does once.
        per_pace: Target rate over the option of the tool that sets it.
        key: What tells this use from others.
    """

    net: NetUse
    weight: float
    opening: Opening
    per_pace: float
    key: Any


def may_be_plain(spec: PathSpec) -> bool:
    """Whether nothing but plain flows can be on a path: no events, no others, no load that varies, no programs."""
    if spec.events or spec.others or spec.workload is not None or spec.programs:
        return False
    return all(s.background is None or not s.background.diurnal.value > 0 for s in spec.segments)


def kind_of(spec: TransferSpec) -> tuple[Any, Any, float | None] | None:
    """(key of how the tool is used, key of flows alike, value of the option that sets their target rate).

    None where the transfer is no plain flow.
    """
    tool, data = spec.tool, spec.dataset
    if tool.pace is None or data is None or spec.after or spec.pause is not None or spec.duration is not None:
        return None
    if not spec.counted:
        return None
    if len(data.counts) != 1 or data.counts[0] != 1 or data.directories or not data.sizes_B[0] > 0:
        return None
    pace: float | None = None
    said: list[Any] = []
    for name, value in tool.__dict__.items():
        if name == tool.pace and value is not None:
            pace = value.value
            said.append(True)
        else:
            said.append((value.value, value.dim) if isinstance(value, Quantity) else value)
    how = type(tool), tuple(said), frozenset(tool.model_fields_set)
    whole = (
        how, spec.source_end, spec.to, spec.core, tuple(spec.via), tuple(spec.nics.items()), tuple(spec.ports.items())
    )  # fmt: skip
    try:
        hash(how)
    except TypeError:
        return None
    return how, whole, pace


def use_of(spec: PathSpec, transfer: TransferSpec) -> Use | None:
    """How the tool of a transfer moves plain flows; None where it does more than send."""
    ends = ends_of(spec, transfer)
    if ends is None:
        return None
    made = leg(transfer, *ends, None)
    plan, step = made.plan, made.plan.steps[0]
    if made.timing is not None or plan.warnings or plan.holds_B or plan.workers != 1 or len(plan.steps) > 1:
        return None
    net = step.net
    others = step.read, step.write, step.reread
    files = replace(step.files, source=(), destination=(), directory=())  # operations of ends that are no volumes
    if net is None or any(others) or step.cpu or files != FileCost() or step.share != 1.0:
        return None
    plainly = net.transport in ("tcp", "udp") and net.channel is None and not net.reopened and not net.stopped
    key = net.key(*_OWN)
    if not plainly or key is None:
        return None
    paced = getattr(transfer.tool, transfer.tool.pace) if transfer.tool.pace else None
    per = 1.0 if paced is None or net.rate is None else net.rate.value / paced.value
    return Use(net, float(plan.weight), plan.opening, per, (key, plan.opening))


def ends_of(spec: PathSpec, transfer: TransferSpec) -> tuple[End, End] | None:
    """Both ends where they are memory or devices of two hosts; None where they are not."""
    source, destination = end_of(spec, transfer.source_end), end_of(spec, transfer.to)
    if source.volume is not None or destination.volume is not None or source.host is destination.host:
        return None
    return source, destination


if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnsim.composition.resolved_transfer import End
    from dtnsim.composition.route import Framing, Route
    from dtnsim.description.spec import PathSpec
    from dtnsim.description.transfer import TransferSpec
    from dtnsim.ground.records import Connection, Slowdown, Station

    Array = NDArray[np.float64]
    Index = NDArray[np.intp]


@dataclass(slots=True)
class Charged:
    """What a byte costs at one end of a way, or on the way itself.

    Attributes:
        mark: What its private stations have in the place of a flow's name.
        shared: Station -> cost of a byte.
        private: The same of stations that every flow has for itself.
    """

    mark: str
    shared: dict[str, float] = field(default_factory=dict)
    private: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Kind:
    """Flows that differ in name, beginning, bytes and target rate alone.

    Attributes:
        pair: ``source-destination``.
        parts: Numbers of what is charged at the source, at the destination, and between.
        use: How the tool uses the network.
        streams: Number of the connections; -1 where they are none of TCP.
        wait_s: What passes before the first byte moves [s].
    """

    pair: str
    parts: tuple[int, int, int]
    use: Use
    streams: int
    wait_s: float


@dataclass(slots=True)
class Plain:
    """Plain flows, N of them.

    Attributes:
        spec: The path.
        stations: Stations that flows share, and those that each has for itself once for all (by their marks).
        charged: What is charged at each end, and on each way.
        kinds, kind: Kinds of flows, and which each of them is (N,).
        size, start, target: (N,) bytes, beginning and target rate, infinite where there is none [B], [s], [B/s].
        streams: The connections.
        slowdowns: How memory slows cores.
        warnings: What the reader should know.
    """

    spec: PathSpec
    stations: dict[str, Station]
    charged: list[Charged]
    kinds: list[Kind]
    kind: Index
    size: Array
    start: Array
    target: Array
    streams: list[Connection]
    slowdowns: tuple[Slowdown, ...]
    warnings: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.size)


def plain(spec: PathSpec) -> Plain | None:
    """The flows of a path where all of them are plain; None where any is not.

    Args:
        spec: The validated path.
    """
    if not may_be_plain(spec):
        return None
    uses: dict[Any, Use | None] = {}
    keys: dict[Any, int] = {}
    firsts: list[tuple[TransferSpec, Use]] = []
    kind, target = np.empty(len(spec.transfers), np.intp), np.full(len(spec.transfers), np.inf)
    for n, each in enumerate(spec.transfers):
        found = kind_of(each)
        if found is None:
            return None
        how, whole, pace = found
        use = uses.get(how)
        if use is None:
            if how in uses or (use := use_of(spec, each)) is None:
                return None
            uses[how] = use
        number = keys.setdefault(whole, len(keys))
        if number == len(firsts):
            firsts.append((each, use))
        kind[n] = number
        if pace is not None:
            target[n] = pace * use.per_pace
        elif use.net.rate is not None:
            target[n] = use.net.rate.value
    with without_words():
        return _Composer(spec).plain(firsts, kind, target)


class _Composer:
    """Charges the ends, ways and connections of plain flows, each once."""

    def __init__(self, spec: PathSpec) -> None:
        self.spec, self.ledger, self.network = spec, Ledger(Draw()), Network(spec)
        self.charged: list[Charged] = []
        self.streams: list[Connection] = []
        self._known: dict[Any, int] = {}

    def plain(self, firsts: Sequence[tuple[TransferSpec, Use]], kind: Index, target: Array) -> Plain | None:
        kinds = []
        for each, use in firsts:
            made = self._kind(each, use)
            if made is None:
                return None
            kinds.append(made)
        if self._unlike():
            return None
        spec, ledger = self.spec, self.ledger
        size = np.array([t.dataset.sizes_B[0] for t in spec.transfers], float)
        start = np.array([0.0 if t.start is None else t.start.value for t in spec.transfers])
        return Plain(
            spec, ledger.stations, self.charged, kinds, kind, size, start, target, self.streams, spec.slowdowns(ledger),
            (*spec.notes, *ledger.folded([*spec.hosts, *(t.name for t in spec.transfers)])),
        )  # fmt: skip

    def _kind(self, spec: TransferSpec, use: Use) -> Kind | None:
        ends = ends_of(self.spec, spec)
        if ends is None:
            return None
        source, destination = ends
        route = self.network.route(source.host, destination.host, spec.via, spec.nics)
        if not _open(route) or (use.net.transport == "tcp" and route.source.tcp.pacing is not None):
            return None
        nics = [nic_of(h, spec.nics) for h in (source.host, destination.host)]
        cards = [card for _, card in nics]
        if any(card.allowance is not None for card in cards):
            return None
        frame = transport.packets(use.net, self.network.framing(route, cards), cards)
        bound = spec.core, tuple(spec.ports.items())
        parts = [self._end(end, name, use, frame, spec, bound, receiving=receiving)
                 for end, (name, _), receiving in zip(ends, nics, (False, True), strict=True)]  # fmt: skip
        pair = f"{source.host.name}-{destination.host.name}"
        streams = self._streams(route, use, frame, cards) if use.net.transport == "tcp" else -1
        opening = use.opening
        wait = opening.round_trips * route.nominal_rtt + (0.0 if opening.work is None else opening.work.value)
        return Kind(pair, (parts[0], parts[1], self._way(route, use, frame)), use, streams, float(wait))

    def _end(
        self, end: End, name: str, use: Use, frame: Framing, spec: TransferSpec, bound: Any, *, receiving: bool
    ) -> int:
        """Number of what is charged at an end."""
        key = "end", id(end.host), name, use.key, frame, receiving, bound
        if key in self._known:
            return self._known[key]
        net = use.net.without(*END_UNSEEN)
        row = self._row(use).at(end.host.name)
        charge_end(row, Side(end.host, name, end.host.nics[name], net, frame, receiving), spec)
        return self._kept(key, row)

    def _way(self, route: Route, use: Use, frame: Framing) -> int:
        """Number of what the segments between two ends charge."""
        key = "way", tuple((name, id(s), forward) for name, s, forward in route.hops), use.key, frame
        if key in self._known:
            return self._known[key]
        row = self._row(use)
        for name, segment, forward in route.hops:
            charge_segment(row.at(""), name, segment, frame, (use.net.streams, 1), forward=forward)
        return self._kept(key, row)

    def _row(self, use: Use) -> Row:
        return Row(self.ledger, f"*{len(self.charged)}", [], 1.0).times(use.net.overhead)

    def _kept(self, key: Any, row: Row) -> int:
        made = Charged(row.transfer)
        for demand in row.demands:
            costs = made.private if self.ledger.stations[demand.station].private else made.shared
            costs[demand.station] = costs.get(demand.station, 0.0) + float(demand.per_byte)
        self._known[key] = len(self.charged)
        self.charged.append(made)
        return self._known[key]

    def _streams(self, route: Route, use: Use, frame: Framing, cards: list[Any]) -> int:
        """Number of the connections of a kind of flows: equal figures are answered once."""
        draw, net = self.ledger.draw, use.net
        rate, buffer = narrowest(route, frame, cards, net.streams, draw)
        over = tuple((name, id(s), forward) for name, s, forward in route.hops)
        line: Any = None
        if route.nominal_rtt >= tcp.LEAST_RTT_S:
            line = float(tcp.burst_line(route, net, frame, cards, draw))
        window = float(tcp.stream_window(route, net, frame, draw))
        key = "tcp", over, float(rate), float(buffer), line, window, net.cc or route.source.tcp.cc, use.key, frame
        if key not in self._known:
            drawn = tcp.connection(route, net, frame, cards, draw)
            self._known[key] = len(self.streams)
            self.streams.append(tcp.answered(drawn, drawn, draw))
        row = Row(self.ledger, "", [])
        transport.warn(row, self.streams[self._known[key]], route, frame, cards)
        return self._known[key]

    def _unlike(self) -> bool:
        """Whether connections differ that may meet, so that they compete."""
        met = [s for s in self.streams if s.nominal and s.nominal[1] >= sharing.LEAST_RTT_S]
        return len({sharing.kind_of(s) for s in met}) > 1


def _open(route: Route) -> bool:
    """Whether a route has segments, and none with a box that looks into connections."""
    hops = [segment for _, segment, _ in route.hops]
    return bool(hops) and not route.several and all(s.firewall is None and s.policer is None for s in hops)
