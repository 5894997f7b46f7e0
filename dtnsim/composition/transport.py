"""What the connections themselves allow on a route: window, loss, buffers, target rates."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dtnsim.components.nic import Nic
from dtnsim.composition import short
from dtnsim.composition.route import Framing, Route, burst_rate, line_rate, narrowest, narrowest_name, policed_share
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Draw, Quantity, Value, middle, prior
from dtnsim.ground.records import Connection
from dtnsim.physics import nic
from dtnsim.physics.tcp import choice, ratebased, window
from dtnsim.physics.tcp import path as tcp_path

if TYPE_CHECKING:
    from dtnsim.tools.plan import NetUse

#: window of a connection whose window-scale option was stripped (RFC 7323 without scaling)
UNSCALED_WINDOW_B = 65535.0
#: UDT sends packets of its own size (UDT_MSS) whatever the MTU of the path; 44 bytes are IP, UDP and UDT headers
UDT_PACKET_B = 1500.0
UDT_HEADERS_B = 44.0
#: user-space cost of one such packet
UDT_PACKET = prior(
    f"{ratebased.UDT_CYCLES_PER_PACKET:.0f} cycles", 0.7,
    "assumed: a system call, a copy and UDT's bookkeeping for each packet, a factor of 2",
)  # fmt: skip


def packets(net: NetUse, frame: Framing) -> Framing:
    """Packet sizes that a transport really uses on a route."""
    if net.transport == "udp":
        whole = frame.mtu - nic.IPV4_UDP_B
        size = float(nic.datagram_bytes(frame.mtu, net.call.value)) if net.call is not None else whole
        return Framing(size + nic.IPV4_UDP_B, size, size - whole + frame.wire)
    if net.transport != "udt":
        return frame
    size = min(UDT_PACKET_B, frame.mtu)
    return Framing(size, size - UDT_HEADERS_B, size + frame.wire - frame.mtu)


def charge(row: Row, route: Route, net: NetUse, frame: Framing, nics: list[Nic], draw: Draw) -> None:
    """The private limits of the connections: window, loss, target rate, windows above TCP."""
    rtt = route.rtt(draw)
    pair = f"{route.source.name}-{route.destination.name}"
    if not route.hops:
        row.ledger.warn(
            f"no network between {route.source.name} and {route.destination.name} is described: taken as a cable "
            "between their NICs; write 'wan: {rtt: 30 ms, bandwidth: 10 Gb/s}'"
        )
    if net.transport == "tcp" and route.hops:
        _tcp(row, route, net, frame, nics, pair)
        _middleboxes(row, route, net, frame, nics, draw)
    elif net.transport in ("udt", "fasp"):
        _rate_based(row, route, net, frame, draw, pair)
    if net.rate is not None:
        row.charge(
            f"target.{pair}",
            "target",
            capacity=row.value(net.rate),
            private=True,
            what="target rate of the tool",
            formula=str(net.rate),
            source=net.rate.source,
        )
    pacing = route.source.tcp.pacing
    if pacing is not None and net.transport == "tcp":
        row.charge(
            f"pacing.{pair}",
            "tcp",
            capacity=net.streams * row.value(pacing),
            private=True,
            what="pacing",
            formula=f"{net.streams} x {pacing}",
            source=pacing.source,
        )
    if net.channel is not None and np.any(np.asarray(rtt) > 0):
        workers = net.channels or max(1, net.streams)
        if net.grain is not None:  # a request's own time on the line comes on top of the round trip
            rtt = rtt + row.value(net.grain) / (
                narrowest(route, frame, nics, net.streams, draw)[0] * frame.mss / frame.mtu
            )
        row.charge(
            f"channel.{pair}",
            "window",
            capacity=workers * window.window_rate(row.value(net.channel), rtt),
            private=True,
            what=f"window of {net.channel} above TCP over {Quantity(middle(rtt), 's')}",
            formula=f"{workers} x {net.channel} / RTT",
            source=net.channel.source,
        )


def _tcp(row: Row, route: Route, net: NetUse, frame: Framing, nics: list[Nic], pair: str) -> None:
    """Window, loss and buffer of the streams themselves."""
    draw = row.ledger.draw
    streams = connection(route, net, frame, nics, draw)
    goodput, limit = tcp_goodput(streams, draw)
    if limit == "loss" and net.moved_B is not None and short.applies(streams, net.moved_B):
        above = math.inf if net.channel is None else net.channel.value
        found, spread = short.goodput(streams, net.moved_B, above)
        goodput = np.maximum(goodput, draw(Quantity(found, "B/s", spread, "dtnsim.physics.tcp.rounds")))
        streams = replace(streams, settled=False)
    station = row.charge(
        f"tcp.{pair}",
        "tcp",
        capacity=goodput,
        private=True,
        what=_tcp_words(limit, route, net, frame, nics),
        formula=f"{net.streams} x {net.cc or route.source.tcp.cc}: least of window/RTT, loss response and link",
        source="dtnsim.physics.tcp.path (RFC 9438, Mathis 1997, PFTK)",
    )
    own = np.median(window.window_rate(streams.window_B, streams.rtt_s) * streams.mtu_B / streams.mss_B)
    if net.pooled and limit == "link" and own >= np.median(streams.rate_Bps):
        stations = row.ledger.stations  # the link, which workers share: who does not wait has what the others leave
        stations[station] = replace(stations[station], private=False)
    _warn_of_bursts(row, route, net, frame, nics)
    row.ledger.connections[station] = streams


def _middleboxes(row: Row, route: Route, net: NetUse, frame: Framing, nics: list[Nic], draw: Draw) -> None:
    """What firewalls do to bursts, and policers to streams that take loss for congestion."""
    cc = net.cc or route.source.tcp.cc
    for number, (name, segment, forward) in enumerate(route.hops):
        name += "" if forward else ".back"
        if segment.firewall is not None:
            rate = burst_rate(route, number, frame, nics, cc, (net.streams, net.burst), draw)
            if np.any(np.isfinite(rate)):
                what = "trains of segments" if net.burst is None else "whole windows"
                row.charge(
                    f"{name}.firewall-bursts",
                    "firewall",
                    capacity=rate,
                    private=True,
                    what=f"the firewall's input buffer loses {what} that come at line rate, until they fit",
                    formula=f"{net.streams} x burst that {segment.firewall.buffer} take, one a "
                    + ("millisecond" if net.burst is None else "round trip"),
                    source=segment.firewall.buffer.source,
                )
        if segment.policer is not None:
            policer = segment.policer
            rtt = np.maximum(route.rtt(draw), 1e-6)
            share = policed_share(policer, rtt, frame.mss, cc, net.streams, draw)
            row.charge(
                f"{name}.policer-loss",
                "policer",
                capacity=draw(policer.rate) * share * frame.mss / frame.mtu,
                private=True,
                what=f"{cc} cuts its window at every drop of the policer",
                formula=f"{middle(share):.3g} of {policer.rate}, bucket {policer.burst}",
                source="dtnsim.physics.policer.policed_tcp_rate",
            )


def stream_window(route: Route, net: NetUse, draw: Draw) -> Value:
    """Most payload in flight of one stream [B]."""
    share = route.destination.tcp.receive_share.value
    if net.window is not None:
        size: Value = window.fixed_window(draw(net.window), share)
    else:
        size = window.autotuned_window(draw(route.destination.tcp.rmem_max), draw(route.source.tcp.wmem_max), share)
    stripped = any(s.firewall is not None and s.firewall.strips_window_scaling for _, s, _ in route.hops)
    return np.minimum(size, UNSCALED_WINDOW_B) if stripped else size


def connection(route: Route, net: NetUse, frame: Framing, nics: list[Nic], draw: Draw) -> Connection:
    """The streams of a transfer as TCP sees their route."""
    rate, buffer = narrowest(route, frame, nics, net.streams, draw)
    return Connection(
        rate_Bps=rate,
        rtt_s=np.maximum(route.rtt(draw), 1e-6),
        buffer_B=buffer,
        loss=route.loss(draw),
        window_B=stream_window(route, net, draw),
        mtu_B=frame.mtu,
        mss_B=frame.mss,
        streams=net.streams,
        cc=net.cc or route.source.tcp.cc,
        reopened=net.reopened,
    )


def tcp_goodput(streams: Connection, draw: Draw) -> tuple[Value, str]:
    """Steady goodput of all streams on a route [B/s], and the name of what limits it.

    Closed forms; where windows hold too few segments for them, by the factor and spread that the round model gives at
    the median.
    """
    scale = choice.loss_scale(
        loss=middle(streams.loss), rtt_s=middle(streams.rtt_s), mss_B=streams.mss_B, cc=streams.cc
    )
    scaled = 1.0 if scale is None else draw(Quantity(scale.factor, "1", scale.spread, "dtnsim.physics.tcp.rounds"))
    goodput, limit = tcp_path.path_goodput(
        rate_Bps=streams.rate_Bps,
        rtt_s=streams.rtt_s,
        loss=streams.loss,
        mss_B=streams.mss_B,
        mtu_B=streams.mtu_B,
        buffer_B=streams.buffer_B,
        streams=streams.streams,
        cc=streams.cc,
        window_B=streams.window_B,
        loss_scale=scaled,
    )
    return goodput, str(np.ravel(limit)[0])


def _warn_of_bursts(row: Row, route: Route, net: NetUse, frame: Framing, nics: list[Nic]) -> None:
    """Says where the narrowest buffer cannot take TSO's bursts: the closed form is too high there.

    It stays, since faster ports then would lower the answer; the round model has the number.
    """
    nominal = Draw()
    streams = connection(route, net, frame, nics, nominal)
    goodput, _ = tcp_goodput(streams, nominal)
    rate, rtt, buffer = float(streams.rate_Bps), float(streams.rtt_s), float(streams.buffer_B)
    if not math.isfinite(buffer) or choice.bursts_fit(
        float(goodput), rate_Bps=rate, rtt_s=rtt, mss_B=streams.mss_B, mtu_B=streams.mtu_B, buffer_B=buffer,
        streams=streams.streams, cc=streams.cc, line_Bps=_burst_line(route, net, frame, nics),
    ):  # fmt: skip
        return
    row.ledger.warn(
        f"the buffer of {Quantity(buffer, 'B')} at {narrowest_name(route, frame, nics, net.streams)} cannot take a "
        f"sender's bursts: goodput may be far lower ('dtnsim tcp --rate {rate * 8e-6:g}Mb/s --rtt {rtt * 1e3:g}ms "
        f"--buffer {buffer:g}B' tells); pace below the bottleneck or use BBR"
    )


def _burst_line(route: Route, net: NetUse, frame: Framing, nics: list[Nic]) -> float:
    """Rate at which a sender's bursts reach the narrowest place, in IP bytes [B/s].

    It is the place's own where nothing comes faster: the port itself, or a firewall, whose buffers are charged
    for the trains that come to them.
    """
    nominal = Draw()
    whole = float(narrowest(route, frame, nics, net.streams, nominal)[0])
    ends = (route.source, route.destination)
    for number, hop in enumerate(route.hops):
        here = float(narrowest(Route(*ends, (hop,)), frame, [], net.streams, nominal)[0])
        if here <= whole * (1 + 1e-9):
            if hop[1].firewall is not None:
                return whole
            return max(float(line_rate(route, number, nics, nominal)) * frame.mtu / frame.wire, whole)
    return whole


def _tcp_words(limit: str, route: Route, net: NetUse, frame: Framing, nics: list[Nic]) -> str:
    rtt = Quantity(route.nominal_rtt, "s")
    nominal = Draw()
    if limit == "window":
        size = float(np.asarray(stream_window(route, net, nominal)))
        return f"window-limited: {net.streams} x {size / 2**20:.3g} MiB over a round trip of {rtt}"
    if limit == "loss":
        loss = 1 - math.prod(1 - s.loss.value for _, s, _ in route.hops)
        return f"loss-limited: {net.cc or route.source.tcp.cc} at {loss:.2g} loss, {rtt}, MSS {frame.mss:.0f} B"
    place = narrowest_name(route, frame, nics, net.streams)
    if limit == "buffer":
        return f"buffer-limited: the queue at the narrowest place ({place}) is smaller than the sawtooth needs"
    return f"link-limited: the narrowest place is {place}"


def _rate_based(row: Row, route: Route, net: NetUse, frame: Framing, draw: Draw, pair: str) -> None:
    rate, _ = narrowest(route, frame, [], net.streams, draw)
    rtt, loss = np.maximum(route.rtt(draw), 1e-6), route.loss(draw)
    clock = route.source.clock(row).value
    if net.transport == "udt":
        value = net.streams * ratebased.udt(
            rate, rtt, loss, frame.mtu, clock_Hz=clock, cycles_per_packet=draw(UDT_PACKET)
        )
        what = "UDT: rate control, flow window and one core"
    else:
        target = draw(net.rate) if net.rate is not None else rate
        value = ratebased.fasp(target, rate, loss, packet_B=frame.mss, clock_Hz=clock, cycles_per_B=0.0)
        what = "FASP: target, what the path leaves, one core"
    row.charge(
        f"{net.transport}.{pair}",
        "transport",
        capacity=value,
        private=True,
        what=what,
        formula=what,
        source="dtnsim.physics.tcp.ratebased",
    )
