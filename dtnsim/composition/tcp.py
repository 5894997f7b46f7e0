"""The TCP streams of a transfer on a route: their window, their course in time, the cost of slow start.

One run of the round model at nominal values (`dtnsim.physics.tcp.rate_over_time`), the same as ``dtnsim tcp``, gives
level and shape. Draws scale it by the ratio of the steady state's closed forms or, if the loss is unstated, by the
ratio of runs as long as the transfer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.components.nic import Nic
from dtnsim.composition.completion import moved, single, time_of
from dtnsim.composition.resolved_transfer import Openings
from dtnsim.composition.route import Framing, Route, line_rate, narrowest
from dtnsim.description.host import Host
from dtnsim.ground import draws
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Draw, Quantity, Value, middle
from dtnsim.ground.records import Connection
from dtnsim.ground.several import agreed
from dtnsim.physics.tcp import controls, linux, loss as lossy, path, rounds, window
from dtnsim.physics.tcp.setting import Setting
from dtnsim.tools.plan import NetUse

if TYPE_CHECKING:
    from dtnsim.physics.tcp.rate_over_time import Course

#: window of a connection whose window-scale option was stripped (RFC 7323 without scaling)
UNSCALED_WINDOW_B: Final = 65535.0
FULL: Final = 0.99  #: fraction of what the link allows from which on a transfer counts as filling it
#: of a place and streams that have all of it the streams bind, whose reason names the place: not the last digits say
_BELOW: Final = 1 - 1e-12
_OWN: Final = 1e-3  #: gain of a lone worker's streams over their part below which they gain nothing
#: grid of unstated losses, with interpolation between logarithms
LOSSES: Final = 10.0 ** np.arange(-9, -1.4, 0.5)
_STEPS: Final = 400  #: steps of their runs, half as many as others, since draws interpolate between them
_SELDOM: Final = 0.01  #: expected losses per transfer below which they are not followed
_MORE: Final = 4.0  #: ratio of median to stated loss from which on most of it is unstated
_BY_E: Final = math.sqrt(math.e - 1)  #: relative spread of a number whose logarithm has a deviation of 1
LEAST_RTT_S: Final = 1e-4  #: below this round trip, slow start is over at once and is not followed


def _by_loss(route: Route, net: NetUse) -> bool:
    """Whether losses slow a transfer's connections down (`Control.by_loss`)."""
    return controls.find(net.cc or route.source.tcp.cc).by_loss


def shares(route: Route, net: NetUse, frame: Framing) -> tuple[float, float]:
    """Parts of the sender's and the receiver's socket buffer that hold payload in flight [1]."""
    modelled = not _by_loss(route, net)
    return float(linux.send_share(frame.mss, modelled=modelled)), route.destination.receive_share(frame.mtu)


def buffer_windows(
    route: Route, net: NetUse, frame: Framing, draw: Draw, lost: tuple[Value, Value]
) -> tuple[Value, Value]:
    """Payload in flight that the sender's and the receiver's socket buffers allow a stream [B].

    Controls that go on in spite of losses have windows of a receiver with today's Linux (`window.spanned`).

    Args:
        lost: What the route loses (`Route.lost`).
    """
    windows: list[Value] = []
    for (host, key), share in zip(ends(route), shares(route, net, frame), strict=True):
        if net.window is None:
            windows.append(window.autotuned_window(draw(getattr(host.tcp, key)), share))
        elif host.system == "linux":
            windows.append(window.fixed_window(draw(net.window), share, draw(host.tcp.granted(key, host.stack))))
        else:
            windows.append(window.fixed_window(draw(net.window), share, doubling=1.0))
    if not _by_loss(route, net):
        p, counts = lossy.events(*lost), (window.SENDER, route.destination.behind_holes(frame.mtu))
        flights = [window.past_holes(np.asarray(w) / frame.mss, p, n) for w, n in zip(windows, counts, strict=True)]
        windows = [single(window.spanned(flight, p, window.RECEIVER) * frame.mss) for flight in flights]
    return windows[0], windows[1]


def ends(route: Route) -> tuple[tuple[Host, str], tuple[Host, str]]:
    """The sender and the receiver, each with the key of its largest buffer; ``core_`` and it, of what is asked for."""
    return (route.source, "wmem_max"), (route.destination, "rmem_max")


def _stream_window(
    route: Route, net: NetUse, frame: Framing, draw: Draw, lost: tuple[Value, Value]
) -> tuple[Value, Value]:
    """Most payload in flight of one stream, and the sender's buffer by which its trains go (`window.of_trains`) [B]."""
    sending, receiving = buffer_windows(route, net, frame, draw, lost)
    size: Value = np.minimum(sending, receiving)
    stripped = any(s.firewall is not None and s.firewall.strips_window_scaling for _, s, _ in route.hops)
    size = window.in_flight(np.minimum(size, UNSCALED_WINDOW_B) if stripped else size, frame.mss)
    # a smaller window of the program above holds it before: the buffers never fill
    by_channel = np.asarray(draw(net.channel) < size if net.channel is not None else False)
    trains = route.source.system == "linux" and not net.polls and _by_loss(route, net)
    # beyond the buffer what waits for a full segment is not refused: trains of W - 2 F / 3, two a round trip
    waits = np.where(by_channel | (not trains), np.inf, np.maximum(sending, 3 * np.asarray(receiving) - 2 * sending))
    return single(np.where(by_channel, np.inf, size)), single(waits)


def connection(
    route: Route, net: NetUse, frame: Framing, nics: list[Nic], draw: Draw, lost: tuple[Value, Value]
) -> Connection:
    """The streams of a transfer as TCP sees their route.

    Args:
        lost: What the route loses (`Route.lost`).
    """
    rate, buffer = narrowest(route, frame, nics, net.streams, draw)
    window_B, send_B = _stream_window(route, net, frame, draw, lost)
    rtt, cc, burst = np.maximum(route.rtt(draw), 1e-6), net.cc or route.source.tcp.cc, lost[1]
    whole = route.source.system == "linux" and all(card.joins(receiving=False) for card in nics[:1])
    if whole and any(segment.emulator for _, segment, _ in route.hops):
        most = np.minimum(np.asarray(rate) / net.streams, window_B / rtt)
        burst = single(burst * lossy.of_whole_bursts(lost[0], rtt, frame.mss, most, cc))
        window_B, send_B = _stream_window(route, net, frame, draw, (lost[0], burst))
    return Connection(
        rate_Bps=rate,
        rtt_s=rtt,
        buffer_B=np.maximum(buffer, rounds.LEAST_BUFFER * frame.mtu),
        loss=lost[0],
        burst=burst,
        window_B=window_B,
        send_B=send_B,
        mtu_B=frame.mtu,
        mss_B=frame.mss,
        streams=net.streams,
        cc=cc,
        reopened=net.reopened,
        line_Bps=_burst_line(route, net, frame, nics, draw.nominal),
        paced=route.source.paced or net.pacing is not None,
    )


def _burst_line(route: Route, net: NetUse, frame: Framing, nics: list[Nic], nominal: Draw) -> Value:
    """Rate at which a sender's bursts reach the narrowest place, in IP bytes [B/s].

    It is the place's own where nothing comes faster: the port itself, or a firewall, whose buffers are charged
    for the trains that come to them.
    """
    least = np.asarray(narrowest(route, frame, nics, net.streams, nominal)[0])
    line, reached = least, np.zeros(least.shape, bool)
    for number, hop in enumerate(route.hops):
        rate = narrowest(Route(route.source, route.destination, (hop,)), frame, [], net.streams, nominal)[0]
        first = ~reached & (rate <= least * (1 + 1e-9))
        if hop[1].firewall is None and first.any():
            faster = np.maximum(line_rate(route, number, nics, nominal) * frame.mtu / frame.wire, least)
            line = np.where(first, faster, line)
        reached = reached | first
    return single(line)


def answered(drawn: Connection, nominal: Connection, draw: Draw, openings: Openings | None = None) -> Connection:
    """The connections with their course and their limits in all draws.

    Args:
        drawn: The streams in all draws.
        nominal: The streams at nominal values.
    """
    of_drawn = _closed(drawn)
    closed, limit = of_drawn.goodput
    one = all(np.size(v) == 1 for v in _figures(nominal))  # not many scenarios, each its own
    plain: dict[str, Any] = dict(zip(FIGURES, map(float, _figures(nominal)), strict=True)) if one else {}
    usually = replace(nominal, **plain) if one else None
    if not agreed(np.asarray(nominal.rtt_s) >= LEAST_RTT_S):
        return replace(drawn, capacity_Bps=closed, limit=str(np.ravel(limit)[0]) if one else limit, nominal=usually,
                       allowed=of_drawn.allowed)  # fmt: skip
    c = _course(nominal)
    usually_closed = of_drawn if drawn is nominal else _closed(nominal)
    usual = float(usually_closed.goodput[0]) if one else closed
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.nan_to_num(np.asarray(closed) / usual, nan=0.0, posinf=1.0)
        if one and drawn is not nominal:
            factor = factor * _knee(of_drawn, usually_closed, c)
    least, many = moved(openings)
    stretch = np.asarray(drawn.rtt_s) / np.asarray(nominal.rtt_s)
    early = 1 / stretch  # slow start sends as much a round trip, whatever the steady rate becomes
    if draw.many:
        typical = float(c.time_of(least.max(initial=0.0))) if openings is not None else np.inf
        lasting, spread = (1.0, 0.0) if usually is None else _unstated_loss(drawn, usually, c, openings)
        chance = np.log(draw(Quantity(1.0, "1", _BY_E, "dtnsim.physics.tcp.rounds")))
        factor = factor * draws.around(lasting, np.maximum(spread, c.spread(typical)), chance)
        early = draws.around(early, c.spread(typical), chance)
    link = drawn.rate_Bps * drawn.mss_B / drawn.mtu_B
    factor = np.minimum(factor, np.maximum(link / np.maximum(c.steady_Bps, 1e-30), np.where(factor <= 1, 1.0, 0.0)))
    steady = c.steady_Bps * factor
    by_link = (np.asarray(c.limit) == "link") & (c.steady_Bps >= FULL * np.asarray(usual))
    if np.any(by_link):  # the link itself holds it
        steady = np.maximum(steady, np.where(by_link, closed, 0.0))
    steady = np.minimum(steady, link * _BELOW)
    streams = replace(
        drawn,
        course=c,
        factor=factor,
        early=early,
        stretch=stretch,
        limit=c.limit,
        capacity_Bps=steady,
        allowed=of_drawn.allowed,
        nominal=usually,
        file_B=math.inf if openings is None else float(least.max(initial=0.0)) if drawn.reopened else openings.waited_B,
    )
    if openings is None or not np.any(least > 0):
        return streams
    took = (many[:, None] * time_of(streams, least, openings)).sum(axis=0)
    return replace(streams, capacity_Bps=single(np.maximum(steady, (many * least).sum() / np.maximum(took, 1e-30))))


def _knee(of: path.Closed, usual: path.Closed, course: Course) -> Value:
    """Part of the closed form that the knee between window and link leaves [1]; the round model has no such knee."""
    more = np.clip(course.steady_Bps / usual.goodput[0], 1.0, usual.window_knee)
    return np.asarray(np.minimum(of.window_knee / more, 1.0))


def _unstated_loss(
    drawn: Connection, nominal: Connection, course: Course, openings: Openings | None
) -> tuple[Value, Value]:
    """What an unstated loss leaves of a transfer of this length over what it leaves in the end, and its spread [1].

    A connection leaves slow start with all that link and window allow and meets its first loss after 1 / loss packets
    on average; many transfers end before. How many losses one meets is chance.

    Args:
        nominal: The streams at nominal values, which lose less.
        course: How these go.
    """
    (part_B, often), lost, stated = moved(openings), np.maximum(drawn.loss, LOSSES[0]), middle(nominal.loss)
    unstated = middle(lost) > _MORE * max(stated, float(LOSSES[0])) and nominal.by_loss
    if openings is None or not unstated or not np.any(part_B > 0):
        return 1.0, 0.0
    first, last = np.searchsorted(LOSSES, [max(float(lost.min()), _MORE * stated), float(lost.max())]).tolist()
    losses = LOSSES[max(first - 1, 0) : last + 1]
    each, usual = [replace(nominal, loss=loss) for loss in losses.tolist()], _closed(nominal)
    closed = [_closed(streams) for streams in each]
    in_the_end = np.array([float(c.goodput[0] / usual.goodput[0] * _knee(c, usual, course)) for c in closed])
    if in_the_end[-1] > FULL:
        return 1.0, 0.0
    from dtnsim.physics.tcp.rate_over_time import courses

    seldom = int(((losses * part_B.max() < _SELDOM * nominal.mss_B) | (in_the_end > FULL)).sum())  # nobody feels these
    runs = [course, *[course] * seldom, *courses([usual_setting(s) for s in each[seldom:]], _STEPS)]
    took = np.array([(often * time_of(replace(nominal, course=c), part_B, openings)[:, 0]).sum() for c in runs])
    fair_s = (often * part_B).sum() / course.steady_Bps
    part = np.minimum.accumulate(fair_s / np.maximum(took[1:] - took[0] + fair_s, fair_s))
    spreads = [c.spread(float(c.time_of(part_B.max()))) for c in runs[1:]]
    at, grid = np.log(lost), np.log(losses)
    return np.exp(np.interp(at, grid, np.log(part / in_the_end))), np.interp(at, grid, spreads)


def rate_alone(streams: Connection, workers: int) -> Value | None:
    """Rate of one of several workers' streams while the others are idle [B/s]; None if it is just their part.

    A window or loss binds each stream by itself; a link or its queue binds all of them together. The round model has no
    knee between window and link, so that a lone worker has none either.
    """
    if workers == 1:
        return None
    all_of, part_of = (_closed(streams, 1 / n) for n in (1, workers))
    with np.errstate(divide="ignore", invalid="ignore"):
        knee = np.clip(streams.capacity_Bps / all_of.goodput[0], 1.0, all_of.window_knee)
        one_Bps = part_of.goodput[0] * np.minimum(part_of.window_knee, knee)
        part = np.clip(np.nan_to_num(one_Bps / (all_of.goodput[0] * knee), nan=0.0), 1 / workers, 1.0)
    each = streams.course is not None and np.ndim(streams.course.steady_Bps)  # scenarios, each its own
    more = agreed(part > (1 + _OWN) / workers) if each else middle(part) > (1 + _OWN) / workers
    return single(np.asarray(streams.capacity_Bps * part)) if more else None


#: what a path makes of its streams
FIGURES: Final = ("rate_Bps", "rtt_s", "buffer_B", "loss", "window_B", "send_B", "burst", "line_Bps")
_figures: Final[Callable[[Connection], tuple[Value, ...]]] = attrgetter(*FIGURES)


def _course(nominal: Connection) -> Course:
    """The course at nominal values, or one for each scenario if they have their own."""
    from dtnsim.physics.tcp.rate_over_time import courses, joined

    wide = np.array(np.broadcast_arrays(*_figures(nominal)), float).reshape(len(_figures(nominal)), -1)
    unlike, back = np.unique(wide, axis=1, return_inverse=True) if wide.shape[1] > 1 else (wide, 0)
    runs = courses([_setting(nominal, figures) for figures in unlike.T.tolist()])
    return runs[0] if wide.shape[1] == 1 else joined(runs).take(np.ravel(back))


def _setting(streams: Connection, figures: Iterable[float]) -> Setting:
    """The setting of the streams over their bottleneck link, with the given `_figures`."""
    rate, rtt, buffer, loss, window_B, send_B, burst, line = figures
    return Setting(
        rate, rtt, loss, streams.mtu_B, buffer, streams.streams, streams.cc, window_B,
        send_B=send_B, burst=burst, line_Bps=line, paced=streams.paced, payload_B=streams.mss_B,
    )  # fmt: skip


def usual_setting(streams: Connection) -> Setting:
    """The same with every figure at the median of its draws."""
    return _setting(streams, map(middle, _figures(streams)))


def closed_form(streams: Connection, part: float = 1.0) -> tuple[Value, Any]:
    """Steady goodput of part of the streams in closed form, monotone in every parameter [B/s], and its limit's name."""
    return _closed(streams, part).goodput


def limits(streams: Connection) -> Mapping[str, Value]:
    """Ratio of the rate that each limit would allow to the rate of the connections [1], by the limit's name.

    Limits that are closer than a knee all bind, as does a limit that slow start exceeds in the mean. Unstated loss
    counts as the link's, because its prior was derived from rates by the same law, errors included.
    """
    if streams.left is not None:
        return streams.left
    terms = dict(streams.allowed)
    if "loss" in terms and (streams.nominal is None or not streams.nominal.loss):
        terms["link"] = np.minimum(terms["link"], terms.pop("loss"))
    with np.errstate(divide="ignore", invalid="ignore"):
        left = {name: np.fmax(term / streams.capacity_Bps, 1.0) for name, term in terms.items()}
        least = np.minimum.reduce(np.broadcast_arrays(*left.values()))
        return {name: np.fmax(each / least, 1.0) for name, each in left.items()}


def mean_flight(s: Connection) -> Value:
    """Mean payload in flight of a stream that its window binds [B]."""
    most, send, packet = (np.asarray(size) / s.mss_B for size in (s.window_B, s.send_B, linux.GSO_B))
    if not s.by_loss:
        return single(window.past_holes(most, lossy.events(s.loss, s.burst), window.RECEIVER) * s.mss_B)
    return single(window.of_trains(most, send, packet, s.rtt_s, s.rate_Bps / s.mtu_B, s.streams) * s.mss_B)


def _closed(streams: Connection, part: float = 1.0) -> path.Closed:
    loss, flight = lossy.events(streams.loss, streams.burst), mean_flight(streams)
    steady = path.figures(streams, loss=single(loss), streams=streams.streams * part, window_B=flight)
    many = any(isinstance(value, np.ndarray) for value in steady.values())
    return path.Closed(**steady) if many else _known(**steady)


_known: Final = lru_cache(maxsize=1024)(path.Closed)  #: of equal connections it is asked again and again


def main_connection(row: Row, route: Route) -> tuple[str, Connection] | None:
    """The connections between the ends of a route, at the station where the row charged them."""
    wanted = f"tcp.{route.source.name}-{route.destination.name}[{row.whose}]"
    for demand in row.demands:
        if demand.station.endswith(wanted) and demand.station in row.ledger.connections:
            return demand.station, row.ledger.connections[demand.station]
    return None
