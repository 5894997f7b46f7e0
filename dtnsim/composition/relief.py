"""What relieves connections that hold a transfer: the key to change, from what to what, and what comes of it.

The rates are those of the connections alone, by the closed forms of the steady state, scaled to the answer.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dtnsim.composition import tcp
from dtnsim.composition.route import Framing, Route
from dtnsim.description.host import Host
from dtnsim.ground import units
from dtnsim.ground.quantity import Draw, Quantity
from dtnsim.ground.records import Connection
from dtnsim.physics.tcp import window

if TYPE_CHECKING:
    from dtnsim.tools.plan import NetUse

#: algorithms and numbers of streams that are tried
_OTHERS: Final = ("bbr", "htcp", "cubic")
_MORE_STREAMS: Final = 4
#: a change is worth a word when it brings this much
_WORTH: Final = 1.05
_MIB: Final = 2.0**20


def remedy(streams: Connection, route: Route, net: NetUse, frame: Framing, place: str) -> str:
    """What relieves the streams of a transfer.

    Args:
        streams: The streams, with what holds them.
        route: Their route.
        net: How the tool uses it.
        frame: Packet sizes.
        place: Name of the narrowest place.
    """
    if not streams.nominal:
        return f"more bandwidth at the narrowest place ({place})"
    rate, rtt, buffer, loss, size = streams.nominal
    plain = replace(streams, rate_Bps=rate, rtt_s=rtt, buffer_B=buffer, loss=loss, window_B=size, burst=1.0)
    if streams.limit == "window":
        return _wider(plain, route, net, frame)
    if streams.limit == "loss":
        lossy = max(route.hops, key=lambda hop: float(hop[1].losses(Draw())[0]))[0]
        change = _gain(plain, replace(plain, loss=0.0))
        return f"find the loss on {lossy} ({loss:.2g}; ports, optics, MTU){change}" + _others(plain, route)
    if streams.limit == "buffer":
        whole = rate * rtt
        change = _gain(plain, replace(plain, buffer_B=max(buffer, whole)))
        return f"a buffer of at least {units.show(whole, 'B')} at {place}{change}" + _others(plain, route)
    if streams.limit == "start":
        return "longer transfers, or connections that stay open from file to file"
    return f"more bandwidth at the narrowest place ({place})"


def _rate(streams: Connection) -> float:
    return float(tcp.closed_form(streams)[0])


def _gain(now: Connection, then: Connection) -> str:
    """', then ...' where a change brings something."""
    factor = _rate(then) / max(_rate(now), 1e-30)
    link = float(now.rate_Bps) * now.mss_B / now.mtu_B
    return f": then {units.show(min(factor * _steady(now), link), 'B/s')}" if factor > _WORTH else ""


def _steady(streams: Connection) -> float:
    return float(streams.course.steady_Bps)


def _others(now: Connection, route: Route) -> str:
    """Other congestion control, and more streams, where they bring something."""
    found = ""
    best = max((cc for cc in _OTHERS if cc != now.cc), key=lambda cc: _rate(replace(now, cc=cc)))
    gain = _gain(now, replace(now, cc=best))
    if gain:
        found += f"; or hosts.{route.source.name}.tcp.cc: {best}{gain}"
    more = _MORE_STREAMS * now.streams
    gain = _gain(now, replace(now, streams=more))
    return found + (f"; or {more} streams{gain}" if gain else "")


def _wider(now: Connection, route: Route, net: NetUse, frame: Framing) -> str:
    """Buffers that hold what is in flight when nothing else but the window is in the way."""
    gain = _gain(now, replace(now, window_B=math.inf))
    for name, segment, _ in route.hops:
        if segment.firewall is not None and segment.firewall.strips_window_scaling:
            key = f"{name}.firewall.strips_window_scaling"
            return f"let the firewall at {name} pass the window-scale option ({key}){gain}"
    share = route.destination.receive_share(frame.mtu)
    free = _rate(replace(now, window_B=math.inf))
    need = float(window.needed_buffer(free, now.rtt_s, now.streams, share)) + 2 * frame.mss / share
    if need > window.MOST_SYSCTL_B:
        count = math.ceil(need * now.streams / window.MOST_SYSCTL_B)
        return f"at least {count} streams: no window of Linux holds what the path carries{gain}"
    if net.window is not None:
        asked = need / window.SOCKBUF_DOUBLING
        given = _mib(net.window.value)
        return f"raise the tool's window from {given} to at least {_mib(asked)}, or leave it to the kernel{gain}"
    changes = [
        f"hosts.{host.name}.tcp.{key} (net.ipv4.tcp_{key.removesuffix('_max')}) from {_mib(value.value)}"
        for host, key, value in _buffers(route)
        if value.value < need
    ]
    return f"raise {' and '.join(changes)} to at least {_mib(need)}{gain}" if changes else f"more streams{gain}"


def _buffers(route: Route) -> list[tuple[Host, str, Quantity]]:
    source, destination = route.source, route.destination
    return [(source, "wmem_max", source.tcp.wmem_max), (destination, "rmem_max", destination.tcp.rmem_max)]


def _mib(size_B: float) -> str:
    return f"{size_B / _MIB:.3g} MiB"
