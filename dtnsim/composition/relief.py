"""Remedies for TCP connections that bind: the keys to change, and their new values.

The effect of a change is predicted elsewhere (`dtnsim.steady.relieved`); here the closed forms of the steady state
only decide whether it is worth proposing.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from dtnsim.composition import tcp
from dtnsim.composition.resolved_transfer import Openings
from dtnsim.composition.route import Framing, Route
from dtnsim.description.host import Host
from dtnsim.ground import units
from dtnsim.ground.quantity import Draw, Quantity, middle
from dtnsim.ground.records import Connection, Problem
from dtnsim.ground.uncertainty import Change, Raised
from dtnsim.physics.tcp import controls, linux, loss as lossy, window
from dtnsim.tools.plan import NetUse

#: factor from which on a change is worth proposing
_WORTH: Final = 1.05
_MIB: Final = 2.0**20
#: MiB above which sizes are whole ones, and the last digits of a sum
_WHOLE: Final = 8
_DIGITS: Final = 1e-12
#: commands of other systems: FreeBSD tcp(4), mod_cc(4), tcp_bbr(4); XNU bsd/netinet/tcp_subr.c; Microsoft,
#: netsh interface tcp (a window scale of 14), whose buffers to send grow by themselves
_ELSEWHERE: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "freebsd": {
        "rmem_max": ("sysctl kern.ipc.maxsockbuf={most}", "sysctl net.inet.tcp.recvbuf_max={size}"),
        "wmem_max": ("sysctl kern.ipc.maxsockbuf={most}", "sysctl net.inet.tcp.sendbuf_max={size}"),
        "cc": ("kldload cc_{size}", "sysctl net.inet.tcp.cc.algorithm={size}"),
        "cc bbr": ("kldload tcp_bbr", "sysctl net.inet.tcp.functions_default=bbr"),
    },
    "macos": {
        "rmem_max": ("sysctl -w kern.ipc.maxsockbuf={most}", "sysctl -w net.inet.tcp.autorcvbufmax={size}"),
        "wmem_max": ("sysctl -w kern.ipc.maxsockbuf={most}", "sysctl -w net.inet.tcp.autosndbufmax={size}"),
    },
    "windows": {"rmem_max": ("netsh int tcp set global autotuninglevel=experimental",)},
}
_TRIED: Final = 9  #: number of windows that are tried
_GIGABIT: Final = 1e8  #: payload below which a port is slower than gigabit Ethernet [B/s]


def changes(
    streams: Connection, route: Route, net: NetUse, frame: Framing, place: str, openings: Openings | None = None
) -> tuple[Change, ...]:
    """Remedies for a transfer's streams, in words and as ``key=value``; empty if there is none here.

    Args:
        place: Name of the bottleneck link.
    """
    wire = f"more bandwidth at the narrowest place ({place})"
    if place.startswith("the port") and middle(streams.rate_Bps) < _GIGABIT:
        wire = f"a cable of 1 Gb/s or more at {place}, in the place of Wi-Fi or of a slower one"
    if streams.nominal is None:
        return (Change(wire),)
    usual = streams.nominal
    figures = {name: getattr(usual, name) for name in tcp.FIGURES}
    plain = replace(streams, **figures | {"burst": 1.0})
    if streams.limit == "window":
        return _wider(replace(plain, burst=middle(streams.burst)), route, net, frame, openings)
    if streams.limit == "loss":
        lossy = max(route.hops, key=lambda hop: float(hop[1].losses(Draw())[0]))[0]
        find = (f"find the loss on {lossy} ({usual.loss:.2g}; ports, optics, MTU)", (f"network.{lossy}.loss=0",))
        return (Change(*find), *_other_controls(plain, route))
    if streams.limit == "buffer":
        bdp_B = float(usual.rate_Bps * usual.rtt_s)
        larger = (f"network.{place}.buffer={math.ceil(bdp_B)} B",) if place in [n for n, *_ in route.hops] else ()
        change = Change(f"a buffer of at least {units.show(bdp_B, 'B')} at {place}", larger)
        return (change, *_spaced(plain, route), *_other_controls(plain, route))
    if streams.limit == "start":
        return (Change("longer transfers, or connections that stay open from file to file"),)
    return (Change(wire),)


def without(problem: Problem, gone: Collection[str]) -> Problem:
    """The path with some stations unlimited; ``NAME.workers`` stands for the waits of a transfer's workers."""
    stations = tuple(replace(s, capacity=math.inf, alone=None) if s.name in gone else s for s in problem.stations)
    transfers = (
        replace(t, phases=tuple(replace(p, delays=()) for p in t.phases)) if f"{t.name}.workers" in gone else t
        for t in problem.transfers
    )
    return replace(problem, stations=stations, transfers=tuple(transfers))


def _rate(streams: Connection) -> float:
    return float(tcp.closed_form(streams)[0])


def _spaced(streams: Connection, route: Route) -> tuple[Change, ...]:
    """Pacing by the sender, so that no window arrives as a burst; BBR and its like pace by themselves."""
    key, host = f"{route.tcp_key(route.source)}.fq", route.source
    if not host.may_pace(streams.cc) or _of_store(route, host):
        return ()
    return (Change(f"packets that fq spaces on {host.name} ({key})", (f"{key}=true",)),)


def _other_controls(streams: Connection, route: Route) -> tuple[Change, ...]:
    """Other congestion controls that would bring something."""
    tried = [cc for cc in reversed(controls.offered()) if cc != streams.cc and route.source.has_control(cc)]
    if not tried or _of_store(route, route.source):
        return ()
    best = max(tried, key=lambda cc: _rate(replace(streams, cc=cc)))
    key = f"{route.tcp_key(route.source)}.cc"
    better = _rate(replace(streams, cc=best)) > _WORTH * _rate(streams)
    words = f"congestion control {best} on {route.source.name} ({key})"
    return (Change(words, (f"{key}={best}",)),) if better else ()


def _flight(streams: Connection, frame: Framing, openings: Openings | None, most_B: float) -> float:
    """Smallest payload in flight per stream at which the window no longer binds [B].

    If loss keeps the steady state below the link, a transfer that starts cold still fills far larger windows until its
    losses bring it down; windows are then tried with the round model itself.
    """
    smooth = replace(streams, window_B=math.inf, send_B=math.inf, burst=1.0)
    steady, lossless = _rate(smooth), _rate(replace(smooth, loss=0.0))
    flight = float(steady * streams.rtt_s / streams.streams + 2 * frame.mss)
    if steady > lossless / _WORTH or not streams.by_loss:
        return flight
    tried = np.geomspace(flight, max(most_B, flight), _TRIED)
    each = replace(streams, window_B=tried, send_B=math.inf, course=None)
    # a test that a time ends moves more where it goes faster
    more = lossless / middle(streams.capacity_Bps)
    moved = openings and openings._replace(part_B=openings.part_B * more, omitted_s=0.0, end_s=math.inf)
    rates = np.ravel(np.asarray(tcp.answered(each, each, Draw(), moved).capacity_Bps))
    return float(tried[int(np.argmax(rates * _WORTH >= rates.max()))])


def _wider(
    streams: Connection, route: Route, net: NetUse, frame: Framing, openings: Openings | None
) -> tuple[Change, ...]:
    """Buffers large enough for the payload in flight once only the window binds."""
    for name, segment, _ in route.hops:
        if segment.firewall is not None and segment.firewall.strips_window_scaling:
            key = f"{name}.firewall.strips_window_scaling"
            words = f"let the firewall at {name} pass the window-scale option ({key})"
            return (Change(words, (f"network.{key}=false",)),)
    # a sender's buffer whose last third is in flight goes in trains: two thirds are to hold it
    parts, wanted = (float(linux.send_share(frame.mss, modelled=True)), route.destination.receive_share(frame.mtu)), 0.0
    flight = _flight(streams, frame, openings, min(window.MOST_SYSCTL_B * min(parts), window.MOST_WINDOW_B))
    needs, most = [flight / share for share in parts], float(window.MOST_SYSCTL_B)
    if not streams.by_loss:
        p, segments = middle(lossy.events(streams.loss, streams.burst)), flight / frame.mss
        counts = window.SENDER, route.destination.behind_holes(frame.mtu)
        spans = [float(window.spanned(segments, p, n)) / segments for n in counts]
        needs = [need * span for need, span in zip(needs, spans, strict=True)]
    more: tuple[Change, ...] = ()
    if max(needs) > most * (1 + 1e-9):
        count = math.ceil(max(needs) * streams.streams / most)
        more = (Change(f"at least {count} streams: no window of Linux holds what the path carries"),)
        needs = [min(need, most) for need in needs]
    buffers = list[Raised]()
    for (host, key), need in zip(tcp.ends(route), needs, strict=True):
        value: Quantity = getattr(host.tcp, key) if net.window is None else host.tcp.granted(key, host.stack)
        if net.window is not None:  # what a program asks for is doubled
            key, need = f"core_{key}", need / (window.SOCKBUF_DOUBLING if host.system == "linux" else 1.0)
            wanted = max(wanted, need)
        if value.value < need and not _of_store(route, host) and (net.window is None or host.system == "linux"):
            name = f"{route.tcp_key(host)}.{key}"
            buffers.append(Raised(f"{name}{_named(host, key)}", name, value.value, rounded(need)))
    if net.window is not None and net.window.value < wanted:
        buffers.insert(0, Raised("the tool's window", "", net.window.value, rounded(wanted)))
    return (raised(buffers), *more) if buffers else more or (Change("more streams"),)


def raised(buffers: Sequence[Raised]) -> Change:
    """The change to these buffers; to be made by hand if a program requests one of them."""
    parts = (f"{b.name} from {b.now_B / _MIB:.3g} MiB to at least {mib(b.size_B)}" for b in buffers)
    by_program = any(not b.key or ".core_" in b.key for b in buffers)
    kernel = ", or leave the window to the kernel" if by_program else ""
    sets = tuple(sized(b.key, b.size_B) for b in buffers)
    return Change(f"raise {' and '.join(parts)}{kernel}", sets if all(b.key for b in buffers) else (), tuple(buffers))


def _of_store(route: Route, end: Host) -> bool:
    """Whether an end of a route is an object store's with unstated settings, which the user cannot change."""
    name, mount = route.servers[0], route.servers[0].partition(":")[2]
    near = route.destination if end is route.source else route.source
    return (
        bool(name) and end.name == name and near.volumes[mount].filesystem.kind == "s3" and not near.volumes[mount].peer
    )


def _named(host: Host, key: str) -> str:
    """Linux's name for a buffer, or for the limit on buffers that programs request."""
    core = key.removeprefix("core_")
    name = f"net.core.{core}" if core != key else f"net.ipv4.tcp_{key.removesuffix('_max')}"
    return f" ({name})" if host.system == "linux" else ""


def rounded(size_B: float) -> float:
    """A size rounded up to what people would set: whole MiB above 8, else sixteenths; at most a sysctl's range [B]."""
    size = size_B / _MIB
    step = 1.0 if size > _WHOLE else 1 / 16
    return min(math.ceil(size / step * (1 - _DIGITS)) * step, window.MOST_SYSCTL_B // _MIB) * _MIB


def mib(size_B: float) -> str:
    """A `rounded` size in words: ``64 MiB``."""
    return f"{rounded(size_B) / _MIB:g} MiB"


def sized(key: str, size_B: float) -> str:
    """``key=64MiB``: a size as it is set."""
    return f"{key}={mib(size_B).replace(' ', '')}"


def tcp_of(host: str, overrides: Iterable[str]) -> tuple[str, ...]:
    """The overrides that are TCP settings of a host."""
    return tuple(o for o in overrides if o.startswith(f"hosts.{host}.tcp."))


def sysctl_lines(overrides: Sequence[str], system: str = "linux") -> tuple[str, ...]:
    """Commands that set a host's TCP settings on its system, from their ``key=value``; other keys are left out."""
    split = (o.partition("=") for o in overrides)
    values = {key.rpartition(".")[2]: value for key, _, value in split if ".tcp." in key}
    sizes = {end: units.parse(values[f"{end}_max"], "B") for end in linux.STARTS if f"{end}_max" in values}
    core = {end: units.parse(values.get(f"core_{end}_max", "0 B"), "B") or sizes.get(end, 0.0) for end in linux.STARTS}
    cc = values.get("cc", "")
    if system != "linux":
        settings = {f"{end}_max": f"{size:.0f}" for end, size in sizes.items()} | {f"cc {cc}": cc}
        most = f"{max(sizes.values(), default=0.0):.0f}"
        typed = (_ELSEWHERE[system].get(key, _ELSEWHERE[system].get(key.partition(" ")[0], ())) for key in settings)
        commands = (t.format(size=s, most=most) for one, s in zip(typed, settings.values(), strict=True) for t in one)
        return tuple(dict.fromkeys(commands))
    lines = []
    if any(core.values()):
        limits = [f"net.core.{end}_max={size:.0f}" for end, size in core.items() if size]
        ends = [f"net.ipv4.tcp_{end}='{start} {sizes[end]:.0f}'" for end, start in linux.STARTS.items() if end in sizes]
        lines.append(" ".join(("sysctl -w", *limits, *ends)))
    if "fq" in values:
        lines += ["sysctl -w net.core.default_qdisc=fq", "tc qdisc replace dev DEV root fq"]
    if cc:
        queue = "" if controls.find(cc).by_loss else "net.core.default_qdisc=fq "
        lines += [f"modprobe tcp_{cc}", f"sysctl -w {queue}net.ipv4.tcp_congestion_control={cc}"]
    return tuple(lines)
