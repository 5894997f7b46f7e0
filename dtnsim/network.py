"""What lies between hosts: segments in series or a graph of links, and what a byte costs on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnsim.components.nic import Nic
from dtnsim.components.segment import Background, Segment
from dtnsim import topology
from dtnsim.errors import SpecError
from dtnsim.host import Host
from dtnsim.ledger import Row
from dtnsim.physics import cpu as cpu_physics
from dtnsim.physics import nic as nic_physics
from dtnsim.physics.tcp import path as tcp_path
from dtnsim.physics.tcp import ramp as tcp_ramp
from dtnsim.physics.tcp import ratebased, window
from dtnsim.quantity import Draw, Quantity, Value

if TYPE_CHECKING:
    from dtnsim.spec import PathSpec, TransferSpec
    from dtnsim.tools.plan import Job, NetUse

#: window of a connection whose window-scale option was stripped (RFC 7323 without scaling)
UNSCALED_WINDOW_B = 65535.0


@dataclass(frozen=True, slots=True)
class Route:
    """The segments between two hosts, in order, each with the direction it is crossed in."""

    source: Host
    destination: Host
    hops: tuple[tuple[str, Segment, bool], ...]

    def rtt(self, draw: Draw) -> Value:
        """Round-trip time of all segments."""
        return sum((draw(s.rtt) for _, s, _ in self.hops), 0.0)

    @property
    def nominal_rtt(self) -> float:
        """Round-trip time at nominal values."""
        return sum(s.rtt.value for _, s, _ in self.hops)


class Framing(NamedTuple):
    """Sizes of a packet on a route [B]."""

    mtu: float
    mss: float
    wire: float


class Network:
    """The network of a path."""

    def __init__(self, spec: PathSpec) -> None:
        self._hosts = list(spec.hosts)
        self._wan = spec.wan
        self._links = spec.links
        self._graph = None if all(s.between is None for s in spec.links.values()) else topology.links(spec)

    def route(self, source: Host, destination: Host, via: list[str]) -> Route:
        """The way from one host to another.

        Raises:
            SpecError: the links do not join them.
        """
        forward = self._hosts.index(source.name) < self._hosts.index(destination.name)
        if via:
            return Route(source, destination, tuple((n, self._links[n], forward) for n in via))
        if self._graph is None:
            names = ["wan"] if len(self._wan) == 1 else [f"wan{i + 1}" for i in range(len(self._wan))]
            return Route(source, destination, tuple((n, s, forward) for n, s in zip(names, self._wan, strict=True)))
        import networkx as nx

        try:
            nodes = nx.shortest_path(self._graph, source.name, destination.name, weight="rtt")
        except (nx.NetworkXNoPath, nx.NodeNotFound):
            raise SpecError(f"no links join {source.name!r} and {destination.name!r}", key="links",
                            remedy="give links with 'between: [a, b]' that lead from one to the other") from None  # fmt: skip
        hops = []
        for a, b in zip(nodes, nodes[1:], strict=False):
            name = self._graph.edges[a, b]["name"]
            segment = self._links[name]
            hops.append((name, segment, segment.between == (a, b)))
        return Route(source, destination, tuple(hops))

    # -- charging ---------------------------------------------------------------------------------

    def carry(self, row: Row, route: Route, net: NetUse, spec: TransferSpec | None, job: Job | None) -> None:
        """Charges one payload byte sent along a route: CPU, NICs, buses, segments and the transport."""
        nics = [self._nic(h, spec) for h in (route.source, route.destination)]
        frame = self.framing(route, [n for _, n in nics])
        row = row.times(net.overhead)
        for host, (name, card), receiving in zip((route.source, route.destination), nics, (False, True), strict=True):
            port = spec.ports.get(host.name) if spec is not None else None
            _host_side(row.at(host.name), host, name, card, net, frame, spec, receiving=receiving, port=port)
        draw = row.ledger.draw
        for name, segment, forward in route.hops:
            _segment(row.at(""), name, segment, frame, forward=forward)
        _transport(row.at(""), route, net, frame, [n for _, n in nics], draw, job)

    def ramp(self, route: Route, net: NetUse, job: Job, draw: Draw) -> Value:
        """Worker-seconds that slow start loses against the steady rate, of all connections of the job."""
        if net.transport != "tcp" or not route.nominal_rtt:
            return 0.0
        nics = [self._nic(h, None) for h in (route.source, route.destination)]
        frame = self.framing(route, [n for _, n in nics])
        goodput, _ = _tcp_goodput(route, net, frame, [n for _, n in nics], draw)
        each = goodput / net.streams
        lost = tcp_ramp.slow_start_deficit(each, route.rtt(draw), frame.mss) / np.maximum(each, 1e-300)
        # a job too small to reach the steady rate cannot lose more than its own time at that rate allows
        longest = tcp_ramp.slow_start_time(each * route.rtt(draw), route.rtt(draw), frame.mss)
        del job
        return np.minimum(lost, longest)

    @staticmethod
    def _nic(host: Host, spec: TransferSpec | None) -> tuple[str, Nic]:
        wanted = spec.nics.get(host.name) if spec is not None else None
        if wanted is not None:
            if wanted not in host.nics:
                raise SpecError("is not a NIC of that host", key=f"transfer.nics.{host.name}", value=wanted,
                                remedy=f"NICs: {', '.join(host.nics)}")  # fmt: skip
            return wanted, host.nics[wanted]
        for name, card in host.nics.items():
            if card.protocol == "ethernet":
                return name, card
        raise SpecError("has no Ethernet NIC", key=f"hosts.{host.name}.nics", remedy="give it one: 'nic: {part: ...}'")

    @staticmethod
    def framing(route: Route, nics: list[Nic]) -> Framing:
        """Packet sizes: the smallest MTU on the way."""
        mtu = min([n.mtu.value for n in nics] + [s.mtu.value for _, s, _ in route.hops if s.mtu is not None])
        stamps = all(n.timestamps for n in nics)
        mss = float(nic_physics.segment_bytes(mtu, stamps))
        wire = float(nic_physics.wire_bytes(mtu, 1.0 if any(n.vlan for n in nics) else 0.0))
        return Framing(mtu, mss, wire)


def _host_side(
    row: Row, host: Host, name: str, card: Nic, net: NetUse, frame: Framing, spec: TransferSpec | None,
    *, receiving: bool, port: int | None,
) -> None:  # fmt: skip
    """CPU, memory, bus and wire of one end."""
    stack = host.stack
    passes = cpu_physics.traversal_bytes(frame.mss, row.value(stack.aggregate) if card.offload else frame.mss)
    if receiving:
        byte, packet, verb, thread = stack.receive_byte, stack.receive_packet, "TCP receive", net.receiver
    else:
        byte, packet, verb, thread = stack.send_byte, stack.send_packet, "TCP send", net.sender
    if net.sendfile and not receiving:
        byte = stack.sendfile_byte
    if net.transport != "tcp":
        cycles, words = _user_space(net, frame), f"{net.transport.upper()} {'receive' if receiving else 'send'}"
        cost, source = f"{cycles:.3g} cycles/B", "per-packet user-space work (see dtnsim.physics.tcp.ratebased)"
        cycles = cycles + row.value(byte)
    else:
        cycles, words = row.value(byte) + row.value(packet) / passes, verb
        cost, source = f"{byte} + {packet} per pass of {float(np.mean(passes)):.0f} B", byte.source
    placed = _placed(thread, spec)
    host.core(row, placed, cycles, words, cost, source)
    interrupt = stack.interrupt_byte
    host.interrupts(row, host.placement.nic_interrupts, row.value(interrupt), f"interrupts of {name}",
                    str(interrupt), interrupt.source)  # fmt: skip
    host.memory.cross(row, 2.0 if net.sendfile and not receiving else 4.0, verb)
    host.nic_bus(row, name, receiving=receiving)
    card.send_bits(row, name, direction="rx" if receiving else "tx", streams=net.streams, port=port,
                   wire=frame.wire / frame.mss)  # fmt: skip


def _placed(thread: object, spec: TransferSpec | None) -> object:
    from dtnsim.components.access import Thread

    if spec is None or spec.core is None or not isinstance(thread, Thread):
        return thread
    return Thread(thread.name, thread.copies, spec.core)


def _user_space(net: NetUse, frame: Framing) -> float:
    if net.transport == "udt":
        return ratebased.UDT_CYCLES_PER_PACKET / frame.mss
    if net.transport == "fasp":
        return ratebased.FASP_CYCLES_PER_PACKET / frame.mss + ratebased.FASP_CYCLES_PER_BYTE
    return 0.0


def _segment(row: Row, name: str, segment: Segment, frame: Framing, *, forward: bool) -> None:
    """Bandwidth left by others, firewall and policer of one segment in one direction."""
    way = "" if forward else ".back"
    free = 1.0 - background_share(row.ledger.draw, segment.background)
    capacity = row.value(segment.bandwidth) * free
    row.charge(
        f"{name}{way}", "network", capacity=capacity, per_byte=frame.wire / frame.mss, what="network segment",
        formula=f"{segment.bandwidth}" + (f" less background {segment.background.share}" if segment.background else ""),
        source=segment.bandwidth.source, cost=f"{frame.wire:.0f} B on the wire for {frame.mss:.0f} B of payload",
    )  # fmt: skip
    wall = segment.firewall
    if wall is not None:
        row.charge(
            f"{name}{way}.firewall-engine", "firewall", capacity=row.value(wall.engine), private=True,
            per_byte=frame.wire / frame.mss, what="one inspection engine of the firewall", formula=f"{wall.engine}",
            source=wall.engine.source,
        )  # fmt: skip
        if wall.total is not None:
            row.charge(f"{name}{way}.firewall", "firewall", capacity=row.value(wall.total),
                       per_byte=frame.wire / frame.mss, what="firewall", formula=f"{wall.total}",
                       source=wall.total.source)  # fmt: skip
    if segment.policer is not None:
        row.charge(f"{name}{way}.policer", "policer", capacity=row.value(segment.policer.rate),
                   per_byte=frame.mtu / frame.mss, what=f"token bucket ({segment.policer.action})",
                   formula=f"{segment.policer.rate}", source=segment.policer.rate.source)  # fmt: skip


def background_share(draw: Draw, background: Background | None) -> Value:
    """Share of a segment that other traffic takes; an unknown hour widens the spread by the daily wave."""
    if background is None:
        return 0.0
    share, wave = background.share, draw(background.diurnal)
    if background.hour is None:
        half = background.diurnal.value**2 / 2
        wide = replace(share, spread=math.sqrt(share.spread**2 + half)) if half else share
        mean: Value = draw(wide)
    else:
        angle = 2 * math.pi * (background.hour - background.peak_hour) / 24
        mean = draw(share) * (1 + wave * math.cos(angle))
    return np.clip(mean, 0.0, 0.999)


def _transport(
    row: Row, route: Route, net: NetUse, frame: Framing, nics: list[Nic], draw: Draw, job: Job | None
) -> None:
    """The private limits of the connections: window, loss, target rate, windows above TCP."""
    rtt = route.rtt(draw)
    pair = f"{route.source.name}-{route.destination.name}"
    if net.transport == "tcp" and route.hops:
        goodput, limit = _tcp_goodput(route, net, frame, nics, draw)
        row.charge(
            f"tcp.{pair}", "tcp", capacity=goodput, private=True, what=_tcp_words(limit, route, net, frame),
            formula=f"{net.streams} stream(s) of {net.cc or route.source.tcp.cc}: least of window/RTT, loss response and link",
            source="dtnsim.physics.tcp.path (RFC 9438, Mathis 1997, PFTK)",
        )  # fmt: skip
    elif net.transport in ("udt", "fasp"):
        _rate_based(row, route, net, frame, draw, pair)
    if net.rate is not None:
        row.charge(f"target.{pair}", "target", capacity=row.value(net.rate), private=True, what="target rate of the tool",
                   formula=str(net.rate), source=net.rate.source)  # fmt: skip
    pacing = route.source.tcp.pacing
    if pacing is not None and net.transport == "tcp":
        row.charge(f"pacing.{pair}", "tcp", capacity=net.streams * row.value(pacing), private=True, what="pacing",
                   formula=f"{net.streams} x {pacing}", source=pacing.source)  # fmt: skip
    if net.channel is not None and np.any(np.asarray(rtt) > 0):
        workers = max(1, net.streams)
        row.charge(
            f"channel.{pair}", "window", capacity=workers * window.window_rate(row.value(net.channel), rtt), private=True,
            what=f"window of {net.channel} above TCP over {Quantity(float(np.median(rtt)), 's')}",
            formula=f"{workers} x {net.channel} / RTT", source=net.channel.source,
        )  # fmt: skip


def _available(route: Route, frame: Framing, nics: list[Nic], draw: Draw) -> tuple[Value, Value]:
    """(rate of the narrowest place in IP bytes [B/s], its buffer [B])."""
    per_wire = frame.mtu / frame.wire
    rate: Value = np.inf
    buffer: Value = np.inf
    for card in nics:
        rate = np.minimum(rate, draw(card.rate) * card.ports * per_wire)
    for _, segment, _ in route.hops:
        here = draw(segment.bandwidth) * per_wire * (1 - background_share(draw, segment.background))
        if segment.policer is not None:
            here = np.minimum(here, draw(segment.policer.rate))
        mine = draw(segment.buffer) if segment.buffer is not None else np.inf
        # the narrowest place decides; of equally narrow ones, that with the smallest buffer
        buffer = np.where(here < rate, mine, np.where(here == rate, np.minimum(buffer, mine), buffer))
        rate = np.minimum(rate, here)
    return rate, buffer


def stream_window(route: Route, net: NetUse, draw: Draw) -> Value:
    """Most payload in flight of one stream [B]."""
    share = draw(route.destination.tcp.receive_share)
    if net.window is not None:
        size: Value = window.fixed_window(draw(net.window), share)
    else:
        size = window.autotuned_window(draw(route.destination.tcp.rmem_max), draw(route.source.tcp.wmem_max), share)
    stripped = any(s.firewall is not None and s.firewall.strips_window_scaling for _, s, _ in route.hops)
    return np.minimum(size, UNSCALED_WINDOW_B) if stripped else size


def _tcp_goodput(route: Route, net: NetUse, frame: Framing, nics: list[Nic], draw: Draw) -> tuple[Value, str]:
    rate, buffer = _available(route, frame, nics, draw)
    passed: Value = 1.0
    for _, segment, _ in route.hops:
        passed = passed * (1 - draw(segment.loss))
    cc = net.cc or route.source.tcp.cc
    goodput, limit = tcp_path.path_goodput(
        rate_Bps=rate, rtt_s=np.maximum(route.rtt(draw), 1e-6), loss=1 - np.asarray(passed), mss_B=frame.mss,
        mtu_B=frame.mtu, buffer_B=buffer, streams=net.streams, cc=cc, window_B=stream_window(route, net, draw),
    )  # fmt: skip
    return goodput, str(np.ravel(limit)[0])


def _tcp_words(limit: str, route: Route, net: NetUse, frame: Framing) -> str:
    rtt = Quantity(route.nominal_rtt, "s")
    nominal = Draw()
    if limit == "window":
        size = float(np.asarray(stream_window(route, net, nominal)))
        return f"window-limited: {net.streams} x {size / 2**20:.3g} MiB over a round trip of {rtt}"
    if limit == "loss":
        loss = 1 - math.prod(1 - s.loss.value for _, s, _ in route.hops)
        return f"loss-limited: {net.cc or route.source.tcp.cc} at {loss:.2g} loss, {rtt}, MSS {frame.mss:.0f} B"
    if limit == "buffer":
        return "buffer-limited: the queue at the narrowest place is smaller than the sawtooth needs"
    return "link-limited: the narrowest place of the path"


def _rate_based(row: Row, route: Route, net: NetUse, frame: Framing, draw: Draw, pair: str) -> None:
    rate, _ = _available(route, frame, [], draw)
    passed: Value = 1.0
    for _, segment, _ in route.hops:
        passed = passed * (1 - draw(segment.loss))
    rtt, loss = np.maximum(route.rtt(draw), 1e-6), 1 - np.asarray(passed)
    clock = draw(route.source.cpu.clock)
    if net.transport == "udt":
        value = net.streams * ratebased.udt(rate, rtt, loss, frame.mtu, clock_Hz=clock)
        what = "UDT: rate control, flow window and one core"
    else:
        target = draw(net.rate) if net.rate is not None else rate
        value = ratebased.fasp(target, rate, loss, packet_B=frame.mss, clock_Hz=clock)
        what = "FASP: target, what the path leaves, one core"
    row.charge(f"{net.transport}.{pair}", "transport", capacity=value, private=True, what=what, formula=what,
               source="dtnsim.physics.tcp.ratebased")  # fmt: skip
