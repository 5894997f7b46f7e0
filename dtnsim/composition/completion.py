"""Completion time of bytes over connections that start cold: the cost of slow start, and of the last holes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.composition.resolved_transfer import Leg, Openings, openings
from dtnsim.ground.ledger import Row, solo_rate
from dtnsim.ground.quantity import Value, middle
from dtnsim.ground.records import Connection
from dtnsim.ground.several import MixedError
from dtnsim.physics.tcp import bbr, controls, linux, window
from dtnsim.tools.plan import NetUse

if TYPE_CHECKING:
    from dtnsim.physics.tcp.rate_over_time import Course

_MORE: Final = 1e-3  #: slow start overshoots if it reaches this much more than the steady rate


def opening_s(streams: Connection, openings: Openings, most_Bps: Value) -> Value:
    """Seconds that slow start of a transfer's connections costs against its mean rate, all of them together.

    Args:
        most_Bps: What the rest of the way allows [B/s].
    """
    if streams.course is None:
        return 0.0
    part, often = moved(openings)
    took = time_of(streams, part, openings, most_Bps)
    fair = part[:, None] / np.minimum(np.asarray(streams.capacity_Bps), most_Bps)
    if openings.end_s < math.inf:  # what comes in that time counts
        fair, took = fair * openings.end_s / took, openings.end_s
    took = took + _last_way(streams, openings)
    return single((often[:, None] * np.maximum(took - fair, 0.0)).sum(axis=0))


def late_by_holes(streams: Connection, took_s: Any, most_Bps: Any) -> Any:
    """Seconds that the last byte of a transfer of given duration waits for holes before it to be filled.

    If something else binds the connections, their slow start does not overflow the buffer.
    """
    free = most_Bps >= streams.course.steady_Bps * np.asarray(streams.factor)
    return np.where(free, streams.course.repair_s(took_s, streams.stretch), 0.0)


def trains_of(streams: Connection) -> float:
    """Flights of slow start that arrive as trains (`Course.time_of`)."""
    return math.inf if streams.by_loss and not streams.paced else 1.0


def _last_way(streams: Connection, openings: Openings) -> Any:
    """One-way delay of the last byte [s]; 0 if the tool waits for an answer, whose round trip includes it."""
    return 0.0 if streams.reopened or openings.omitted_s or openings.answered else np.asarray(streams.rtt_s) / 2


def opens_s(streams: Connection, openings: Openings, most_Bps: Value) -> Value:
    """The part of `opening_s` in which connections that stay open have hardly begun, all of them together [s].

    Args:
        most_Bps: What the rest of the way allows [B/s].
    """
    if streams.course is None or streams.reopened or openings.omitted_s:
        return 0.0
    lost = streams.course.opens_s(most_Bps=most_Bps, **streams.course_here)
    return single(moved(openings)[1].sum() * (lost + _last_way(streams, openings)))


def overshoots(streams: Connection) -> Any:
    """Whether slow start takes connections above the mean rate that loss leaves them in the end.

    A connection that is above it only because it has not paused yet does not count.
    """
    steady = 0.0 if streams.course is None else streams.course.steady_Bps * np.asarray(streams.factor)
    return streams.by_loss & (steady > 0) & (np.asarray(streams.capacity_Bps) > steady * (1 + _MORE))


def opening_costs(
    leg: Leg, net: NetUse, connection: tuple[str, Connection] | None, row: Row, most_B: float = math.inf
) -> tuple[Value, Value]:
    """Seconds lost to slow start by a step's connections, over all its files or workers, and before it begins.

    Args:
        leg: The transfer.
        net: How its tool uses the network.
        connection: Station and connections; None where there are none.
        row: What the rest of the way charges.
        most_B: Bytes that pass after an opening, at most.
    """
    passing = _on_the_way(leg, net, connection, row, most_B)
    if passing is None:
        return 0.0, 0.0
    streams, all_openings, most, scale = passing
    file_B = all_openings.waited_B
    opens = opens_s(streams, all_openings, most)
    if not math.isfinite(file_B):
        return opening_s(streams, all_openings, most), opens
    # no window needs to exceed a file, which the first may have to bring about alone; what slow start is ahead of what
    # loss leaves is gained by the files that follow
    first = opening_s(streams, all_openings._replace(part_B=np.array([min(file_B, most_B) * scale])), most)
    enough = np.minimum(most, file_B * scale / np.asarray(streams.rtt_s))
    whole, later = (opening_s(streams, all_openings, limit) for limit in (most, enough))
    return np.where(overshoots(streams), whole, np.maximum(np.minimum(first, whole), later)), opens


def beside_answers(leg: Leg, net: NetUse, connection: tuple[str, Connection] | None, row: Row) -> Value:
    """Seconds that files take more (or less, below 0) than at the steady rate, where each waits for an answer.

    Those that open a connection are left to `opening_costs`, whose arguments these are.
    """
    waits = net.stopped and not net.reopened and leg.data.files > leg.plan.workers
    if not waits or leg.job.largest_B > leg.plan.piece_B:
        return 0.0
    if (passing := _on_the_way(leg, net, connection, row)) is None:
        return 0.0
    streams, _, most, scale = passing
    size_B = leg.data.sizes_B[:, None] * scale
    all_Bps, trip = np.asarray(streams.capacity_Bps), np.asarray(streams.rtt_s)
    if not streams.by_loss:
        segments = size_B / (streams.mss_B * streams.streams / leg.plan.workers)
        probing = controls.find(streams.cc).probing
        gain = linux.BBR_HIGH_GAIN if probing is None else probing.start
        more = bbr.sent_in_start_up(segments, trip, gain) - size_B / np.minimum(all_Bps, most)
        more = np.maximum(more, 0.0) * (more[-1] > 0)  # the largest has found the bottleneck
    elif streams.paced:
        return 0.0
    else:
        flights = size_B / (all_Bps / leg.plan.workers * trip)
        gained = window.gained_in_flights(flights, trip, all_Bps / most)
        more = np.where(overshoots(streams), 0.0, -gained)  # windows that losses hold are not free, but grow
    later = 1.0 - leg.plan.workers / leg.data.files  # with the first file of each the connection opens
    return single((later * leg.data.counts[:, None] * more).sum(axis=0))


def repair(leg: Leg, net: NetUse, connection: tuple[str, Connection] | None, row: Row, *, anew: bool) -> Value:
    """Seconds that the last bytes of connections wait for holes: of all files, or of workers in parallel.

    Args:
        leg: The transfer.
        net: How its tool uses the network.
        connection: Station and connections; None where there are none.
        row: What the rest of the way charges.
        anew: Whether each file has a connection of its own.
    """
    passing = _on_the_way(leg, net, connection, row)
    if passing is None:
        return 0.0
    streams, all_openings, most, _ = passing
    timed = all_openings.omitted_s or all_openings.end_s < math.inf
    if timed or not np.any(streams.course.behind_s):
        return 0.0
    part, often = moved(all_openings)
    late = late_by_holes(streams, time_of(streams, part, all_openings, most), most)
    return single((often[:, None] * late).sum(axis=0)) / (1.0 if anew else max(float(often.sum()), 1.0))


def _on_the_way(
    leg: Leg, net: NetUse, connection: tuple[str, Connection] | None, row: Row, most_B: float = math.inf
) -> tuple[Connection, Openings, Value, float] | None:
    """Connections, the bytes they carry, the rate the rest of the way allows [B/s], and the scale between byte counts.

    None where they are open at once, or nothing passes the network. Arguments as those of `opening_costs`.
    """
    if connection is None or connection[1].course is None:
        return None
    station, streams = connection
    per_byte = sum((np.asarray(d.per_byte) for d in row.demands if d.station == station), np.asarray(0.0))
    scale = middle(per_byte)
    if scale <= 0:
        return None
    most = solo_rate(row.ledger.stations, [d for d in row.demands if d.station != station]) * scale
    all_openings = openings(leg, net)
    part_B = np.minimum(all_openings.part_B, most_B) * scale
    return streams, all_openings._replace(part_B=part_B), most, scale


def time_of(streams: Connection, size_B: Any, openings: Openings, most_Bps: Value = np.inf) -> Any:
    """Time that some bytes take after the seconds that are left out (openings, draws) [s].

    For a timed test, this is the bytes over its mean rate.
    """
    limits, course = {"most_Bps": most_Bps, **streams.course_here}, streams.course
    times, trains = (openings.omitted_s, openings.end_s), trains_of(streams)
    if np.ndim(course.steady_Bps):
        return _times_of(streams, size_B, times, limits, trains=trains)
    if any(map(np.ndim, limits.values())):
        return _after(course, size_B, times, limits, trains=trains)
    frozen = tuple((name, float(value)) for name, value in limits.items())
    return _took(course, tuple(size_B.tolist()), times, frozen, trains=trains)


@lru_cache(maxsize=1024)
def _took(
    course: Course,
    size_B: tuple[float, ...],
    times_s: tuple[float, float],
    limits: tuple[tuple[str, float], ...],
    *,
    trains: float,
) -> Any:
    """`_after` for one scenario, cached: each phase and each like transfer asks for it."""
    return _after(course, np.array(size_B), times_s, dict(limits), trains=trains)


def _after(course: Course, size_B: Any, times_s: tuple[float, float], limits: dict[str, Any], *, trains: float) -> Any:
    """Seconds until some bytes have arrived along one course."""
    size, (omitted_s, end_s) = np.asarray(size_B, float)[:, None], times_s
    if not omitted_s and math.isinf(end_s):
        return course.time_of(size, **limits, trains=trains)
    age = np.maximum(omitted_s - course.times_s[1] * limits["stretch"], 0.0)
    before = course.delivered_B(age, **limits)
    if end_s < math.inf:
        return size * end_s / np.maximum(course.delivered_B(age + end_s, **limits) - before, 1e-30)
    return course.time_of(size + before, **limits, trains=trains) - age


def _times_of(
    streams: Connection, size_B: Any, times_s: tuple[float, float], limits: dict[str, Any], *, trains: float
) -> Any:
    """`_after` of scenarios with a course each, in batches whose steps take some 30 MB."""
    if times_s != (0.0, math.inf):
        raise MixedError(np.arange(len(streams.course.steady_Bps)) == 0)  # a timed test: one by one
    course, size = streams.course, np.asarray(size_B, float)[:, None]
    count = len(course.steady_Bps)
    block = max(1, int(4e6) // (len(size) * course.times_s.shape[1]))
    times = []
    for begin in range(0, count, block):
        rows = slice(begin, begin + block)
        block_limits = {name: value[rows] if np.shape(value) == (count,) else value for name, value in limits.items()}
        times.append(course.take(rows).time_of(size, **block_limits, trains=trains))
    return np.concatenate(times, axis=1)


def moved(openings: Openings | None) -> tuple[Any, Any]:
    """Bytes between two openings of a connection, and the number of such stretches (G,)."""
    if openings is None:
        return np.zeros(0), np.zeros(0)
    return np.asarray(openings.part_B, float), np.asarray(openings.times, float)


def single(value: Any) -> Value:
    """The number in an array of one; other values as they are."""
    return float(np.ravel(value)[0]) if value.size == 1 else value
