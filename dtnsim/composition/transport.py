"""Limits of the connections themselves on a route: window, loss, buffers, target rates."""

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from dtnsim.components.nic import Nic
from dtnsim.composition import relief, tcp
from dtnsim.composition.resolved_transfer import Openings
from dtnsim.composition.route import Framing, Route, burst_rate, narrowest, narrowest_name, payload_rate, policed_share
from dtnsim.ground import units
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Draw, Quantity, middle, prior
from dtnsim.ground.records import Connection
from dtnsim.ground.term import Term, count, law, term, worded
from dtnsim.ground.uncertainty import Change
from dtnsim.physics import nic, rdma, waiting
from dtnsim.physics.tcp import droptail, ratebased, window
from dtnsim.tools.plan import NetUse

#: UDT sends packets of its own size (UDT_MSS) whatever the MTU of the path; 44 bytes are IP, UDP and UDT headers
UDT_PACKET_B = 1500.0
UDT_HEADERS_B = 44.0
#: user-space cost of one such packet
UDT_PACKET = prior(
    f"{ratebased.UDT_CYCLES_PER_PACKET:.0f} cycles",
    0.7,
    "assumed: a system call, a copy and UDT's bookkeeping for each packet, a factor of 2",
)

#: from a work request to its completion, the wire's length left out
VERBS_LATENCY = prior("2 us", 0.4, "assumed: twice the 0.6 to 1.3 us that ib_write_lat prints between two adapters")


def packets(net: NetUse, frame: Framing, nics: Sequence[Nic] = ()) -> Framing:
    """Packet sizes that a transport uses on a route."""
    if net.transport == "rdma":
        if nics and all(card.protocol == "infiniband" for card in nics):
            size = min(frame.mtu, rdma.PATH_MTUS_B[-1])
            return Framing(size, size, float(nic.infiniband_wire_bytes(size)))
        size = float(rdma.roce_payload(frame.mtu))
        around = frame.wire - frame.mtu
        return Framing(size + rdma.ROCE_HEADERS_B, size, float(rdma.roce_wire_bytes(size, around)))
    if net.transport == "udp":
        payload = frame.mtu - nic.IPV4_UDP_B
        size = float(nic.datagram_bytes(frame.mtu, net.call.value)) if net.call is not None else payload
        return Framing(size + nic.IPV4_UDP_B, size, size - payload + frame.wire)
    if net.transport != "udt":
        return frame
    size = min(UDT_PACKET_B, frame.mtu)
    return Framing(size, size - UDT_HEADERS_B, size + frame.wire - frame.mtu)


def charge(
    row: Row, route: Route, net: NetUse, frame: Framing, nics: list[Nic], openings: Openings | None = None
) -> None:
    """The private limits of the connections: window, loss, target rate, windows above TCP."""
    draw = row.ledger.draw
    rtt = route.rtt(draw)
    pair = f"{route.source.name}-{route.destination.name}"
    if not route.hops and route.source is not route.destination:
        row.ledger.warn(
            f"no network between {route.source.name} and {route.destination.name} is described: taken as a cable "
            "between their NICs; write 'wan: {rtt: 30 ms, bandwidth: 10 Gb/s}'"
        )
    if net.transport == "tcp" and route.hops:
        _tcp(row, route, net, frame, nics, pair, openings)
        _middleboxes(row, route, net, frame, nics, draw)
    elif net.transport == "rdma" and (route.hops or net.window is not None):
        _rdma(row, route, net, frame, nics)
    elif net.transport in ("udt", "fasp"):
        _rate_based(row, route, net, frame, draw, pair)
    again = law(ratebased.sent, loss=term(route.loss(draw))) if net.transport == "fasp" else 1.0
    target(row, net, f"target.{pair}", again)
    pacing = net.pacing or route.source.tcp.pacing
    if pacing is not None and net.transport == "tcp":
        capacity = count(net.streams, "stream") * row.term(pacing)
        where = "the tool's own" if net.pacing is not None else f"{route.tcp_key(route.source)}.pacing"
        remedy = f"a higher pacing rate ({where}), or more streams"
        row.charge(f"pacing.{pair}", "tcp", capacity=capacity, private=True, what="pacing", remedy=remedy)
    if net.channel is not None and np.any(np.asarray(rtt) > 0):
        workers = net.channels or max(1, net.streams)
        if net.grain is not None:  # a request's own time on the line comes on top of the round trip
            rtt = rtt + row.value(net.grain) / payload_rate(route, frame, nics, net.streams, draw)
        row.charge(
            f"channel.{pair}",
            "window",
            capacity=count(workers, "channel")
            * law(window.window_rate, window_B=row.term(net.channel), rtt_s=term(rtt, "s")),
            private=True,
            what=f"window of {net.channel} above TCP over {Quantity(middle(rtt), 's')}",
        )


def target(row: Row, net: NetUse, station: str, sent: Term | float = 1.0) -> None:
    """Charges the rate limit that the user has set for the tool, if any.

    Args:
        station: Name of the station within its host.
        sent: Bytes for each that arrives [1].
    """
    if net.rate is not None:
        rate = row.term(net.rate)
        alone = rate.value if net.workers > 1 else None
        text = "target rate of the tool"
        row.charge(station, "target", capacity=rate, per_byte=sent, private=True, alone=alone, what=text)


def _tcp(
    row: Row, route: Route, net: NetUse, frame: Framing, nics: list[Nic], pair: str, openings: Openings | None
) -> None:
    """Window, loss and buffer of the streams themselves."""
    ledger = row.ledger
    connection = ledger.connections.get(f"network.tcp.{pair}[{row.whose}]")
    key = None if connection is not None else _key(route, net, frame, nics, openings)
    charged = ledger.known.get(key) if key is not None else None
    if charged is None:
        if connection is None:
            drawn = middle_of = _connection(ledger, route, net, frame, nics, ledger.draw)
            if ledger.draw.many:
                middle_of = _connection(ledger, route, net, frame, nics, Draw())
            same = None if key is None or ledger.draw.many else _figures(drawn, key[-2])
            connection = ledger.known.get(same)
            if connection is None or same is None:
                connection = ledger.known[same] = tcp.answered(drawn, middle_of, ledger.draw, openings)
        rounds = "dtnsim.physics.tcp.rate_over_time, round by round (RFC 9438, RFC 9406, the Linux sender)"
        source = f"{net.streams} x {connection.cc}: {rounds}"
        text, ways = "", tuple[Change, ...]()
        if worded():  # each is said once
            place = narrowest_name(route, frame, nics, net.streams)
            ways = relief.changes(connection, route, net, frame, place, openings)
            text = _tcp_words(connection, route, net, frame, nics)
            _warn_of_bursts(row, connection, route, frame, nics)
            _warn_of_retransmits(row, route)
            _warn_of_frames(row, route, frame, nics)
        charged = connection, term(connection.capacity_Bps, "B/s", source), text, ways
        if key is not None:
            ledger.known[key] = charged
    connection, capacity, text, ways = charged
    remedy = "; or ".join(words for words, *_ in ways)
    alone = tcp.rate_alone(connection, net.workers)
    station = row.charge(
        f"tcp.{pair}", "tcp", capacity=capacity, private=True, alone=alone, what=text, remedy=remedy, changes=ways
    )
    ledger.connections[station] = connection


def _connection(ledger: Ledger, route: Route, net: NetUse, frame: Framing, nics: list[Nic], draw: Draw) -> Connection:
    """The streams as TCP sees their route; what is lost is the same on all routes over the same segments."""
    key = "lost", draw.many, *(id(segment) for _, segment, _ in route.hops)
    lost = ledger.known.get(key)
    if lost is None:
        lost = ledger.known[key] = route.lost(draw)
    return tcp.connection(route, net, frame, nics, draw, lost)


def _key(
    route: Route, net: NetUse, frame: Framing, nics: list[Nic], openings: Openings | None
) -> tuple[Any, ...] | None:
    """Key of the answer for some streams, so that like transfers ask once."""
    use = net.key("rate", "total_B")
    if use is None:
        return None
    moved: tuple[Any, ...] = ()
    if openings is not None and (route.several or route.nominal_rtt >= tcp.LEAST_RTT_S):  # shorter ones open in no time
        moved = (*(np.asarray(each, float).tobytes() for each in openings[:2]), *openings[2:])
    hops = tuple((name, id(segment), forward) for name, segment, forward in route.hops)
    ends = id(route.source), id(route.destination), tuple(id(card) for card in nics)
    return "tcp", ends, hops, use, frame, moved, worded()


def _figures(drawn: Connection, moved: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The figures that the answer depends on, ``moved`` included; None if any is not a single number."""
    figures = [getattr(drawn, each.name) for each in fields(drawn)]
    if any(isinstance(value, np.ndarray) and value.size > 1 for value in figures):
        return None
    return (*(float(value) if isinstance(value, np.ndarray) else value for value in figures), moved)


def _middleboxes(row: Row, route: Route, net: NetUse, frame: Framing, nics: list[Nic], draw: Draw) -> None:
    """Effect of firewalls on bursts, and of policers on loss-based streams."""
    cc = net.cc or route.source.tcp.cc
    for number, (name, segment, forward) in enumerate(route.hops):
        name += "" if forward else ".back"
        if segment.firewall is not None:
            rate = burst_rate(route, number, frame, nics, cc, (net.streams, net.burst), draw)
            if np.any(np.isfinite(rate)):
                burst = "trains of segments" if net.burst is None else "whole windows"
                row.charge(
                    f"{name}.firewall-bursts",
                    "firewall",
                    capacity=term(rate, "B/s", f"physics.network.burst_limited_rate; {segment.firewall.buffer.source}"),
                    private=True,
                    what=f"the firewall's input buffer loses {burst} that come at line rate, until they fit",
                )
        if segment.policer is not None:
            policer = segment.policer
            rtt = np.maximum(route.rtt(draw), 1e-6)
            share, alone = (
                policed_share(policer, rtt, frame.mss, cc, n, draw) for n in (net.streams, net.streams / net.workers)
            )
            most = row.term(policer.rate) * (frame.mss / frame.mtu)
            row.charge(
                f"{name}.policer-loss",
                "policer",
                capacity=most * term(share, "1", "dtnsim.physics.network.policed_tcp_rate"),
                private=True,
                alone=most.value * alone if net.workers > 1 else None,
                what=f"{cc} cuts its window at every drop of the policer, bucket {policer.burst}",
            )


def _warn_of_bursts(row: Row, streams: Connection, route: Route, frame: Framing, nics: list[Nic]) -> None:
    """Warns if the bottleneck's buffer cannot take TSO's bursts."""
    usual = tcp.usual_setting(streams)
    if not math.isfinite(usual.buffer_B) or droptail.bursts_fit(middle(tcp.closed_form(streams)[0]), usual):
        return
    where = narrowest_name(route, frame, nics, streams.streams)
    row.ledger.warn(
        f"the buffer of {Quantity(usual.buffer_B, 'B')} at {where} cannot take a sender's bursts, which lowers the "
        "goodput: pace below the bottleneck or use BBR"
    )


def _warn_of_retransmits(row: Row, route: Route) -> None:
    """Warns if a loss rate was derived from retransmits."""
    for name, segment, _ in route.hops:
        if segment.resent is not None:
            row.ledger.warn(
                f"{name}: retransmits are taken as independent loss of {segment.resent.value:.2g} at most, a factor of "
                f"3 either way: bursts cost less, and {segment.started:.0%} of them may be slow start's own; measure "
                "'loss' with UDP or owping"
            )


def _warn_of_frames(row: Row, route: Route, frame: Framing, nics: list[Nic]) -> None:
    """Warns if a card with an unstated MTU keeps packets smaller than the MTU that is stated elsewhere."""
    ends = zip((route.source, route.destination), nics, strict=True)
    wired = [(f"hosts.{host.name}.nics.{n}.mtu", c) for host, card in ends for n, c in host.nics.items() if c is card]
    written = [(f"{name}.mtu", s.mtu.value) for name, s, _ in route.hops if s.mtu is not None]
    written += [(key, card.mtu.value) for key, card in wired if "mtu" in card.model_fields_set]
    if not written or min(mtu for _, mtu in written) <= frame.mtu:
        return
    unsaid = dict.fromkeys(key for key, card in wired if card.packet.value == frame.mtu)
    row.ledger.warn(
        f"{written[0][0]}: {written[0][1]:.0f} B, but packets have {frame.mtu:.0f} B, Ethernet's default, as long as "
        f"nobody writes {' and '.join(unsaid)}"
    )


def _tcp_words(streams: Connection, route: Route, net: NetUse, frame: Framing, nics: list[Nic]) -> str:
    rtt, limit = route.trip_words, streams.limit
    if limit == "window":
        size = middle(tcp.mean_flight(streams))
        flight = f"window-limited: {net.streams} x {size / 2**20:.3g} MiB over a round trip of {rtt}"
        behind = not streams.by_loss and size < 0.95 * middle(streams.window_B)
        waits = "; what has come behind lost segments takes the rest of it" * behind
        return f"{flight}, {_whose_window(streams, route, net, frame)}{waits}"
    if limit == "loss":
        each = f"{net.streams} x {streams.cc}" if net.streams > 1 else streams.cc
        stated = middle(streams.nominal.loss) if streams.nominal is not None else 0.0  # its draws have another median
        return f"loss-limited: {each} at {stated or middle(streams.loss):.2g} loss, {rtt}, MSS {frame.mss:.0f} B"
    place = narrowest_name(route, frame, nics, net.streams)
    if limit == "buffer":
        room_B = middle(streams.rate_Bps * streams.rtt_s + streams.buffer_B) * frame.mss / frame.mtu / net.streams
        over = f", and windows above {units.show(room_B, 'B')} (pipe and queue) overflow it"
        words = f"buffer-limited: the queue at the narrowest place ({place}) is smaller than"
        if not streams.by_loss:
            return f"{words} {streams.cc} needs to probe for more"
        words += " the sawtooth needs"
        return words + over * (middle(streams.window_B) > room_B)
    return f"link-limited: the narrowest place is {place}"


def _whose_window(streams: Connection, route: Route, net: NetUse, frame: Framing) -> str:
    """The buffer or limit that keeps the window small, and its end."""
    lost = middle(streams.loss), middle(streams.burst)
    sending, receiving = (middle(w) for w in tcp.buffer_windows(route, net, frame, Draw(), lost))
    if middle(streams.window_B) < tcp.UNSCALED_WINDOW_B < min(sending, receiving):
        return "all that a connection without window scaling has"
    if min(sending, receiving) >= window.MOST_WINDOW_B:
        return "the most that TCP allows"
    trains = streams.by_loss and middle(tcp.mean_flight(streams)) < middle(streams.window_B)
    first = trains or sending < receiving
    (end, key), who = tcp.ends(route)[not first], "sending" if first else "receiving"
    setting = f"tcp_{key.removesuffix('_max')}[2]" if net.window is None else f"the tool's window of {net.window}"
    if net.window is not None and end.system == "linux":
        cut = end.tcp.granted(key, end.stack)
        setting += f", cut to {cut} by net.core.{key}" if cut.value < net.window.value else ""
    return f"by the {who} buffer of {end.name} ({setting}{', of which two thirds are in flight' if trains else ''})"


def sent_again(row: Row, route: Route, net: NetUse, frame: Framing, nics: list[Nic]) -> Term | float:
    """Bytes that reliable RDMA connections send per byte that arrives, if the network binds [1]."""
    if net.transport != "rdma":
        return 1.0
    path, rtt, loss = _verbs_way(row, route, net, frame, nics)
    flying = path * rtt / (float(net.streams) * term(frame.mss, "B"))
    return 1.0 / law(rdma.go_back_n, loss=loss, flying=flying) if np.any(loss.value > 0) else 1.0


def _verbs_way(row: Row, route: Route, net: NetUse, frame: Framing, nics: list[Nic]) -> tuple[Term, Term, Term]:
    """For RDMA: payload rate of a route, its round trip including the cards' part, and its loss."""
    draw, between = row.ledger.draw, f"narrowest place between {route.source.name}-{route.destination.name}"
    rtt = term(route.rtt(draw), "s", "round-trip time of the route") + row.term(VERBS_LATENCY)
    rate, loss = payload_rate(route, frame, nics, net.streams, draw), route.loss(draw)
    return term(rate, "B/s", between), rtt, term(loss, "1", "loss of the segments")


def _rdma(row: Row, route: Route, net: NetUse, frame: Framing, nics: list[Nic]) -> None:
    """Limits of reliable RDMA connections: work requests in flight, go-back-N, credits of InfiniBand links."""
    draw, pair = row.ledger.draw, f"{route.source.name}-{route.destination.name}"
    path, rtt, loss = _verbs_way(row, route, net, frame, nics)
    asked_Bps, text = term(math.inf, "B/s"), f"{net.streams} reliable connections of RDMA"
    if net.window is not None:
        size = row.term(net.call) if net.call is not None else row.term(net.window)
        in_flight = float(net.streams) * row.term(net.window) / size
        asked_Bps = law(waiting.request_rate, request_B=size, latency_s=rtt, rate_Bps=path, in_flight=in_flight)
        text += f" with {net.window} in flight each over {Quantity(middle(rtt.value), 's')}"
    if np.any(loss.value > 0):
        text += f"; each lost packet has what follows it sent again (loss {middle(loss.value):.2g})"
    packet = float(net.streams) * term(frame.mss, "B")
    capacity = law(rdma.connection_rate, asked_Bps=asked_Bps, loss=loss, packet_B=packet, rtt_s=rtt)
    remedy = "more or larger work requests in flight, more queue pairs, or a way without loss"
    row.charge(f"rdma.{pair}", "transport", capacity=capacity, private=True, what=text, remedy=remedy)
    lossless = [card for card in nics if card.protocol == "infiniband"]
    if lossless and route.hops:
        longest = max((draw(s.rtt) for _, s, _ in route.hops), key=middle)
        row.charge(
            f"credits.{pair}",
            "ib",
            capacity=law(
                rdma.credit_rate, buffer_B=row.term(lossless[0].credits), rtt_s=term(longest, "s", "longest segment")
            ),
            what="credits of the InfiniBand link over its length",
            remedy="range extenders with larger buffers, or a shorter link",
        )


def _rate_based(row: Row, route: Route, net: NetUse, frame: Framing, draw: Draw, pair: str) -> None:
    rate, _ = narrowest(route, frame, [], net.streams, draw)
    path = term(rate, "B/s", f"narrowest place between {pair}")
    rtt, loss = np.maximum(route.rtt(draw), 1e-6), route.loss(draw)
    clock = route.source.clock(row)
    if net.transport == "udt":
        capacity = count(net.streams, "stream") * law(
            ratebased.udt,
            rate_Bps=path,
            rtt_s=term(rtt, "s"),
            loss=term(loss),
            packet_B=frame.mtu,
            clock_Hz=clock,
            cycles_per_packet=row.term(UDT_PACKET),
        )
        text = "UDT: rate control, flow window and one core"
    else:
        capacity = law(ratebased.fasp, available_Bps=path, loss=term(loss), packet_B=frame.mss, clock_Hz=clock)
        text = "FASP: what the path leaves, one core"
    row.charge(f"{net.transport}.{pair}", "transport", capacity=capacity, private=True, what=text)
