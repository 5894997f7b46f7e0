"""Shares of one bottleneck that groups of TCP streams get by congestion control, round trip, window and loss.

The one place where unlike streams compete: `dtnsim tcp` takes its second flow from here, `predict` and `simulate` the
shares of transfers that meet at a segment.
"""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from dtnsim.physics._arrays import FloatArray, IntArray, quantile
from dtnsim.physics.tcp import _chance, coefficients as known, rounds, shared
from dtnsim.physics.tcp.shared import Link

MOST_GROUPS: Final = 8  #: groups that are simulated apart; more are put together, the most alike first
MOST_FLOWS: Final = 16  #: flows that are simulated; more streams share them in proportion
#: runs of which the median counts, at most, a power of two; slices of flows that all of them together, and one, take
REPLICAS: Final = 16
WORK: Final = 4e5
WORK_OF_ONE: Final = 2.4e5
LONGEST_S: Final = 400.0  #: longest time that is looked at [s]
NO_WINDOW: Final = 1e9  #: windows that are never reached [segments]
#: round trips of a program before its first byte: iperf3 (iperf_server_api.c) opens its control connection, sends a
#: cookie, then its parameters, opens its data connections, sends their cookie; each is answered before the next
OPENING_TRIPS: Final = 5.0
#: programs start within so much of their time, streams of one of them within so much of each other [s]
START_S: Final = 0.1
STREAM_S: Final = 0.02
LATEST_S: Final = 5.0  #: later starts count as this late: streams that were there before have long settled [s]
LEAST: Final = 1e-3  #: weight of a stream that gets nothing: it still gets what the others leave
DIGITS: Final = 3  #: figures that differ in later digits give the same runs


@dataclass(frozen=True, slots=True)
class Group:
    """Streams that are alike."""

    cc: str  #: A name of `controls`.
    rtt_s: float  #: Base round trip [s].
    cap: float  #: Most segments in flight of a stream.
    streams: float  #: How many there are.
    start_s: float = 0.0  #: When their program starts [s].


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """What runs of competing groups gave in the measured window: (runs, groups), of all streams of a group."""

    rate: FloatArray  #: Segments delivered [segments/s].
    lost: FloatArray  #: Segments lost a second [segments/s].
    trip_s: FloatArray  #: Mean round trip with queueing [s].


@dataclass(frozen=True, slots=True)
class Shares:
    """How groups share a bottleneck, by the median of runs."""

    #: What a stream of each group gets over its equal share; weighted by streams their mean is 1 [1].
    weights: tuple[float, ...]
    carried: float  #: Part of the bottleneck that all of them together use [1].


def shares(groups: Sequence[Group], link: Link, *, warmup_s: float, duration_s: float, seed: int = 1) -> Shares:
    """Shares of a bottleneck.

    Args:
        groups: The groups of streams.
        link: The bottleneck.
        warmup_s: Time from the start that does not count [s].
        duration_s: Time after it that does; both are cut to `LONGEST_S` [s].
        seed: Seed of the draws.

    Returns:
        A weight for each group, and what they use together.

    Valid: as `shared.run`.
    Neglects: what else holds a stream back; streams that come and go; more groups than `MOST_GROUPS`.
    Source: `race`; the median of its runs, as two flows may settle in one of two states.
    """
    if len({(g.cc, _rounded(g.rtt_s), _rounded(min(g.cap, NO_WINDOW))) for g in groups}) == 1:
        return Shares((1.0,) * len(groups), 1.0)
    runs = race(groups, link, warmup_s=warmup_s, duration_s=duration_s, seed=seed)
    streams = np.array([g.streams for g in groups])
    each = quantile(runs.rate, 0.5, between=True) / streams
    total = float(each @ streams)
    got = np.maximum(each * streams.sum() / max(total, 1e-30), LEAST)
    got *= streams.sum() / (got @ streams)
    return Shares(tuple(got.tolist()), min(total / (link.rate * (1 - link.loss)), 1.0))


def race(
    groups: Sequence[Group], link: Link, *, warmup_s: float, duration_s: float, seed: int = 1, most: int = REPLICAS
) -> Race:
    """Runs of groups that compete for a bottleneck; streams that are alike share what they get equally.

    Args:
        groups: The groups of streams.
        link: The bottleneck.
        warmup_s: Time from the first start that does not count [s].
        duration_s: Time after it that does; both are cut to `LONGEST_S` [s].
        seed: Seed of the draws.
        most: Runs at most, a power of two; fewer where they are more than `WORK`.

    Returns:
        What each run gave; calls with the same values are answered from memory.

    Valid: as `shared.run`.
    Neglects: as `shared.run`; times after `LONGEST_S`; all digits but the first `DIGITS`.
    Source: `shared.run`, the fluid model of flows that meet in one queue.
    """
    alike = [replace(g, rtt_s=_rounded(g.rtt_s), cap=_rounded(min(g.cap, NO_WINDOW))) for g in groups]
    merged, member = _few(alike)
    about = Link(_rounded(link.rate), _rounded(link.buffer), _rounded(link.loss))
    warmup = min(warmup_s, LONGEST_S / 2)
    runs = _race(tuple(merged), about, warmup, min(duration_s, LONGEST_S - warmup), seed, most)
    kinds = [(g.cc, g.rtt_s, g.cap) for g in merged]
    streams = np.array([g.streams for g in merged])
    same = np.array([[one == two for two in kinds] for one in kinds])
    mixed = same.T / (same @ streams)  # streams of one kind, whenever they start, have the same in the end
    share = mixed[:, member] * [g.streams for g in groups]
    scale = link.rate / about.rate
    return Race(runs.rate @ share * scale, runs.lost @ share * scale, runs.trip_s[:, member])


@lru_cache(maxsize=512)
def _race(groups: tuple[Group, ...], link: Link, warmup_s: float, duration_s: float, seed: int, most: int) -> Race:
    streams = np.array([g.streams for g in groups])
    flows = np.maximum(np.round(streams * min(MOST_FLOWS / streams.sum(), 1.0)), 1).astype(int)
    lump = float(streams.sum() / flows.sum())
    part = Link(link.rate / lump, link.buffer / lump, link.loss)
    end_s = warmup_s + duration_s
    work = end_s / shared.slice_of(_senders(groups, link, flows, 0, seed), part) * int(flows.sum())
    cut = min(WORK_OF_ONE / work, 1.0)
    out = [
        shared.run(
            _senders(groups, link, flows, n, seed), part, warmup_s * cut, end_s * cut, seed * 7919 + n * 104729 + 12345
        )
        for n in range(2 ** int(np.log2(np.clip(WORK / work, 1, most))))
    ]
    begins = np.cumsum(flows) - flows
    each, lost, trip = np.moveaxis(np.add.reduceat(out, begins, axis=1) / flows[:, None], 2, 0)
    # a group whose flows were rounded to whole ones has its streams' part of what all of them had
    scale = (each @ flows / np.maximum(each @ streams, 1e-30) * lump / (duration_s * cut))[:, None] * streams
    return Race(each * scale, lost * scale, trip)


def _senders(groups: Sequence[Group], link: Link, flows: IntArray, replica: int, seed: int) -> list[shared.Sender]:
    """So many flows of each group, started as a run's draws have it."""
    senders: list[shared.Sender] = []
    for number, (g, count) in enumerate(zip(groups, flows.tolist(), strict=True)):
        trip = g.rtt_s + known.HOST_DELAY.value + 1 / link.rate  # with a packet's own time at the bottleneck
        begin = min(g.start_s, LATEST_S) + OPENING_TRIPS * trip
        begin += START_S * float(_chance.uniform(seed, _chance.START, 1, number, replica)[0])
        apart = _chance.uniform(seed, _chance.START, 0, np.arange(len(senders), len(senders) + count), replica)
        senders += [shared.Sender(g.cc, trip, max(g.cap, 2.0), begin + STREAM_S * late) for late in apart.tolist()]
    return senders


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else value


def _few(groups: list[Group]) -> tuple[list[Group], list[int]]:
    """At most `MOST_GROUPS` groups in an order of their own, and which of them each given group is in."""
    order = sorted(range(len(groups)), key=lambda i: astuple(groups[i])[:3] + astuple(groups[i])[:2:-1])
    merged: list[tuple[Group, list[int]]] = []
    for i in order:
        if len(groups) > MOST_GROUPS and merged and _distance(merged[-1][0], groups[i]) == 0:
            same, who = merged.pop()
            merged.append((replace(same, streams=same.streams + groups[i].streams), [*who, i]))
        else:
            merged.append((groups[i], [i]))
    while len(merged) > MOST_GROUPS:
        a = min(range(len(merged) - 1), key=lambda n: _distance(merged[n][0], merged[n + 1][0]))
        (one, first), (two, second) = merged[a], merged.pop(a + 1)
        part = two.streams / (one.streams + two.streams)
        middle = Group(
            one.cc,
            one.rtt_s ** (1 - part) * two.rtt_s**part,
            one.cap ** (1 - part) * two.cap**part,
            one.streams + two.streams,
            min(one.start_s, two.start_s),
        )
        merged[a] = (middle, first + second)
    member = {i: n for n, (_, who) in enumerate(merged) for i in who}
    return [g for g, _ in merged], [member[i] for i in range(len(groups))]


def _distance(one: Group, two: Group) -> float:
    """How unlike two groups are; groups of different algorithms only as a last resort."""
    trips, windows = math.log(one.rtt_s / two.rtt_s), math.log(one.cap / two.cap)
    return abs(trips) + abs(windows) + 100.0 * (one.cc != two.cc)


def run_pairs(c: rounds.Cases, replicas: int, seed: int) -> rounds.Samples:
    """Two flows that compete, the first of which may have several streams; see `rounds` for the other engines.

    Args:
        c: The transfers, each with a second flow.
        replicas: Runs of each, at most.
        seed: Seed of the draws.

    Source: `race`.
    """
    C, B, cap = rounds.packets(c)
    races = []
    for n, (cc, cc2) in enumerate(zip(c.cc, c.cc2, strict=True)):
        groups = (
            Group(str(cc), float(c.rtt_s[n]), float(cap[n]), float(c.streams[n])),
            Group(str(cc2), float(c.rtt2_s[n]), float(cap[n]), 1.0, float(c.start2_s[n])),
        )
        link = Link(float(C[n]), float(B[n]), float(c.loss[n]))
        many = {"warmup_s": float(c.warmup_s[n]), "duration_s": float(c.duration_s[n])}
        races.append(race(groups, link, **many, seed=seed, most=replicas))

    def each(values: list[FloatArray]) -> FloatArray:
        return np.stack([np.resize(v, replicas) for v in values])

    nothing = np.zeros((len(races), 0))
    return rounds.Samples(
        each([r.rate[:, 0] for r in races]) * c.mss_B[:, None],
        each([r.rate[:, 1] for r in races]) * c.mss_B[:, None],
        np.full((len(races), replicas), np.nan),
        each([r.lost[:, 0] for r in races]) * c.duration_s[:, None],
        each([r.trip_s[:, 0] for r in races]),
        nothing,
        nothing,
        nothing,
        np.zeros(len(races)),
    )
