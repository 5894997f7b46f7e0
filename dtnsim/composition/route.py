"""A route between two hosts: its segments in order, packet sizes, what others, firewalls and policers leave of it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dtnsim.components.middlebox import Firewall, Policer
from dtnsim.components.nic import Nic
from dtnsim.components.segment import Segment
from dtnsim.description.host import Host
from dtnsim.ground import units
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Draw, Quantity, Value
from dtnsim.ground.several import Several
from dtnsim.ground.term import Term, law, parameter, term
from dtnsim.physics import network as physics
from dtnsim.physics.tcp import controls, droptail, loss as lossy


@dataclass(frozen=True, slots=True)
class Route:
    """The segments between two hosts in the order of travel, each with whether it is crossed from its near end."""

    source: Host  #: Where bytes come from.
    destination: Host  #: Where they go.
    hops: tuple[tuple[str, Segment, bool], ...]  #: Segments in between.
    #: Name of the end that is the servers of a volume, and that volume's key; of them only TCP's settings are known.
    servers: tuple[str, str] = ("", "")
    lone: bool = True  #: Whether no other host of the path sends.

    def rtt(self, draw: Draw) -> Value:
        """Round-trip time of all segments."""
        return sum((draw(s.rtt) for _, s, _ in self.hops), 0.0)

    def loss(self, draw: Draw) -> Value:
        """Mean loss of all segments together."""
        return self.lost(draw)[0]

    def lost(self, draw: Draw) -> tuple[Value, Value]:
        """Mean loss of all segments together, and the mean length of its bursts."""
        places = [s.losses(draw) for _, s, _ in self.hops]
        return lossy.together([loss for loss, _ in places], [burst for _, burst in places])

    def tcp_key(self, end: Host) -> str:
        """Key of the TCP settings of one of its ends."""
        name, key = self.servers
        return f"{key}.peer" if name and end.name == name else f"hosts.{end.name}.tcp"

    @property
    def several(self) -> bool:
        """Whether scenarios have round trips of their own."""
        return any(s.rtt.several for _, s, _ in self.hops)

    @property
    def nominal_rtt(self) -> float:
        """Round-trip time at nominal values; where scenarios have their own, nobody may read it."""
        if self.several:
            return Several()
        return sum(s.rtt.value for _, s, _ in self.hops)

    @property
    def trip_words(self) -> str:
        """The round trip; where nobody states one, none at best, and what it is drawn about."""
        if self.nominal_rtt:
            return str(Quantity(self.nominal_rtt, "s"))
        usual = sum(s.rtt.typical.value for _, s, _ in self.hops if s.rtt.typical is not None)
        return f"a round trip that is not stated (0 s at best, usually about {units.show(usual, 's')})"


class Framing(NamedTuple):
    """Sizes of a packet on a route [B]."""

    mtu: float
    mss: float
    wire: float

    @property
    def per_payload(self) -> Term:
        """Bytes on the wire per payload byte."""
        return term(self.wire, "B", "framing: IEEE 802.3, RFC 9293") / term(self.mss, "B")


def narrowest(route: Route, frame: Framing, nics: list[Nic], streams: int, draw: Draw) -> tuple[Value, Value]:
    """The narrowest place of a route: (rate in IP bytes [B/s], its buffer [B])."""
    per_wire = frame.mtu / frame.wire
    rate: Value = np.inf
    buffer: Value = np.inf
    ports = [card.carries(draw, streams, sending=number == 0) * per_wire for number, card in enumerate(nics)]
    sends = ports[0] if ports else np.inf
    for port in ports:
        rate = np.minimum(rate, port)
    for number, (_, segment, _) in enumerate(route.hops):
        left = draw(segment.bandwidth) * per_wire
        taken = segment.share_taken(draw)
        if taken is not None:
            left = physics.left_by_others(left, taken.value)
        if segment.policer is not None:
            left = np.minimum(left, draw(segment.policer.rate))
        # a queue that nobody described can only form where the path gets narrower
        unsaid = np.where(left < rate, draw(segment.unstated_buffer), np.inf) if segment.buffer is None else np.inf
        mine = draw(segment.buffer) if segment.buffer is not None else unsaid
        places = [(left, mine)]
        places += [(box.rate(draw, streams) * per_wire, mine) for box in segment.boxes.values()]
        if segment.firewall is not None:
            places.append(_inspected(route, number, segment.firewall, frame, nics, streams, draw))
        for speed, room in places:
            # the narrowest place decides; of equally narrow ones, that with the smallest buffer, if bytes come faster
            tie = np.asarray(speed == rate) & (np.asarray(speed < sends) | (not route.lone))
            buffer = np.where(speed < rate, room, np.where(tie, np.minimum(buffer, room), buffer))
            rate = np.minimum(rate, speed)
    return rate, buffer


def payload_rate(route: Route, frame: Framing, nics: list[Nic], streams: int, draw: Draw) -> Value:
    """Payload that the narrowest place of a route carries [B/s]."""
    return narrowest(route, frame, nics, streams, draw)[0] * frame.mss / frame.mtu


def narrowest_name(route: Route, frame: Framing, nics: list[Nic], streams: int) -> str:
    """Name of the narrowest place at nominal values: a port, a segment, or a box on it."""
    draw = Draw()
    least, _ = narrowest(route, frame, nics, streams, draw)
    ends = (route.source, route.destination)
    for number, (host, card) in enumerate(zip(ends, nics, strict=False)):
        if card.carries(draw, streams, sending=number == 0) * frame.mtu / frame.wire <= least * (1 + 1e-9):
            limited = card.carries(draw, streams, sending=number == 0) < draw(card.rate) * card.links
            return f"the {'allowance' if limited else 'port'} of {host.name}"
    for number, (name, segment, way) in enumerate(route.hops):
        alone = Route(*ends, (route.hops[number],))
        if narrowest(alone, frame, [], streams, draw)[0] > least * (1 + 1e-9):
            continue
        bare = segment.model_copy(update={"policer": None, "firewall": None, "boxes": {}})
        if narrowest(Route(*ends, ((name, bare, way),)), frame, [], streams, draw)[0] > least * (1 + 1e-9):
            return f"the {_boxes(segment)} of {name}"
        return f"{name}, shared with other traffic" if segment.background and segment.shared else name
    return "the path"


def _boxes(segment: Segment) -> str:
    """The boxes of a segment, the likeliest to be narrow first."""
    if segment.policer is not None:
        return "policer"
    return "firewall" if segment.firewall is not None else " or ".join(segment.boxes)


def _inspected(
    route: Route, number: int, wall: Firewall, frame: Framing, nics: list[Nic], streams: int, draw: Draw
) -> tuple[Value, Value]:
    """What a firewall passes in IP bytes, and the room that trains of unpaced senders leave in its buffers."""
    rate, engine = wall_rate(draw, wall, streams).value, draw(wall.engine)
    train = physics.TRAIN_B if route.source.tcp.pacing is None else 0.0
    line = line_rate(route, number, nics, draw)
    room = physics.room_behind_trains(draw(wall.buffer), train, line, engine, rate / engine)
    return rate * frame.mtu / frame.wire, room


def wall_rate(draw: Draw, wall: Firewall, streams: float) -> Term:
    """What a firewall lets so many flows pass: each stays on one of its engines [B/s on the wire]."""
    engine = parameter(draw, wall.engine)
    if wall.total is None:
        return engine
    return law(physics.firewall_rate, engine_Bps=engine, flows=streams, total_Bps=parameter(draw, wall.total))


def line_rate(route: Route, number: int, nics: list[Nic], draw: Draw) -> Value:
    """Rate at which a burst of one flow reaches segment ``number``: the sender's port, or a slower segment before."""
    rates = [draw(nics[0].rate)] if nics else []
    rates += [draw(segment.bandwidth) for _, segment, _ in route.hops[:number]]
    return np.minimum.reduce(np.broadcast_arrays(*rates)) if rates else np.inf


def burst_rate(
    route: Route, number: int, frame: Framing, nics: list[Nic], cc: str, sent: tuple[int, Value | None], draw: Draw
) -> Value:
    """Payload rate at which the bursts of unpaced streams still fit a firewall's input buffer (infinite: they do).

    Args:
        number: Segment with the firewall.
        sent: Streams, and the bytes that each hands over at once (None: a bulk stream, which sends trains).
    """
    wall, (streams, burst) = route.hops[number][1].firewall, sent
    if wall is None or not controls.find(cc).by_loss or route.source.tcp.pacing is not None:
        return np.inf
    fit = physics.burst_fit(line_rate(route, number, nics, draw), draw(wall.engine), draw(wall.buffer))
    windowed = burst is not None
    size = burst * frame.wire / frame.mss if burst is not None else physics.TRAIN_B
    period = np.maximum(route.rtt(draw), physics.TRAIN_S) if windowed else physics.TRAIN_S
    return streams * physics.burst_limited_rate(size, fit, period, controls.find(cc).leaves) * frame.mss / frame.wire


def policed_share(policer: Policer, rtt_s: Value, mss_B: float, cc: str, streams: float, draw: Draw) -> Value:
    """Part of a policer's rate that loss-based streams reach: drops cut their windows, and nothing queues meanwhile.

    Args:
        policer: The policer.
        rtt_s: Round-trip time [s].
        mss_B: Payload of a packet [B].
    """
    control = controls.find(cc)
    if policer.action != "police" or not control.by_loss:
        return 1.0
    rate = draw(policer.rate)
    alone = physics.policed_tcp_rate(rate, draw(policer.burst), rtt_s, mss_B, control.adds, control.leaves)
    return droptail.streams_utilisation(np.minimum(alone / rate, 1.0), streams)


def charge_segment(
    row: Row, name: str, segment: Segment, frame: Framing, flows: tuple[int, int], *, forward: bool
) -> None:
    """Bandwidth left by others, firewall and policer of one segment in one direction.

    Args:
        name: Name of the segment.
        segment: The segment.
        flows: Streams, and the workers that they are of.
        forward: Whether bytes cross it from its near end.
    """
    streams, workers = flows
    way = "" if forward else ".back"
    draw = row.ledger.draw
    taken = segment.share_taken(draw)
    capacity = row.term(segment.bandwidth)
    if taken is not None:
        capacity = law(physics.left_by_others, capacity_Bps=capacity, share=taken)
    row.charge(
        f"{name}{way}",
        "network",
        capacity=capacity,
        per_byte=frame.per_payload,
        what="network segment",
        remedy="" if segment.shared else "more bandwidth ({key}.bandwidth)",
    )
    wall = segment.firewall
    if wall is not None:
        row.charge(
            f"{name}{way}.firewall-engine",
            "firewall",
            capacity=wall_rate(draw, wall, streams),
            private=True,
            alone=wall_rate(draw, wall, streams / workers).value if workers > 1 and wall.total is not None else None,
            per_byte=frame.per_payload,
            what="inspection engines of the firewall: each flow stays on one",
        )
        if wall.total is not None:
            total = row.term(wall.total)
            row.charge(f"{name}{way}.firewall", "firewall", capacity=total, per_byte=frame.per_payload, what="firewall")
    for box, middlebox in segment.boxes.items():
        middlebox.charge(row, f"{name}{way}.{box}", frame.per_payload, term(frame.mss, "B"), streams)
    if segment.policer is not None:
        row.charge(
            f"{name}{way}.policer",
            "policer",
            capacity=row.term(segment.policer.rate),
            per_byte=term(frame.mtu, "B") / term(frame.mss, "B"),
            what=f"token bucket ({segment.policer.action})",
        )
