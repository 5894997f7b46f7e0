"""Shares of one bottleneck that groups of TCP streams get by congestion control, round trip, window and loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dtnsim.physics.tcp import _chance, rounds, shared
from dtnsim.physics.tcp import coefficients as known

#: groups that are simulated apart; more are put together, the most alike first
MOST_GROUPS: Final = 8
#: flows that are simulated; more streams share them in proportion
MOST_FLOWS: Final = 16
#: runs of which the median counts, at most; slices of flows that all of them together take, at most
REPLICAS: Final = 16
WORK: Final = 2.5e5
#: longest time that is looked at [s]
LONGEST_S: Final = 60.0
#: windows that are never reached [segments]
NO_WINDOW: Final = 1e9
#: streams start within so much of each other [s]
START_S: Final = 0.02
#: later starts count as this late: streams that were there before have long settled [s]
LATEST_S: Final = 5.0
#: weight of a stream that gets nothing: it still gets what the others leave
LEAST: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Group:
    """Streams that are alike.

    Attributes:
        cc: One of `shared.CODES`.
        rtt_s: Base round trip [s].
        cap: Most segments in flight of a stream.
        streams: How many there are.
        start_s: When they start [s].
    """

    cc: str
    rtt_s: float
    cap: float
    streams: float
    start_s: float = 0.0


def weights(
    groups: Sequence[Group], *, rate: float, buffer: float, loss: float, warmup_s: float, duration_s: float
) -> tuple[float, ...]:
    """What a stream of each group gets over what it would get of equal shares.

    Args:
        groups: The groups of streams.
        rate: Bottleneck [segments/s].
        buffer: Its drop-tail buffer [segments].
        loss: Random loss that all of them meet [1].
        warmup_s: Time from the start that does not count [s].
        duration_s: Time after it that does; both are cut to `LONGEST_S` [s].

    Returns:
        A weight for each group; weighted by streams their mean is 1 [1].

    Valid: as `shared.simulate`.
    Neglects: what else holds a stream back; streams that come and go; more groups than `MOST_GROUPS`.
    Source: `shared.simulate`, the model that `dtnsim tcp` puts two flows against each other with; the median of runs.
    """
    kept, member = _few([replace(g, cap=min(g.cap, NO_WINDOW)) for g in groups])
    if len(kept) == 1:
        return (1.0,) * len(groups)
    warmup = min(warmup_s, LONGEST_S / 2)
    found = _weights(tuple(kept), rate, buffer, loss, warmup, min(duration_s, LONGEST_S - warmup))
    return tuple(found[i] for i in member)


def _few(groups: list[Group]) -> tuple[list[Group], list[int]]:
    """At most `MOST_GROUPS` groups in an order of their own, and which of them each given group is in."""
    order = sorted(range(len(groups)), key=lambda i: (groups[i].cc, groups[i].rtt_s, groups[i].cap))
    kept: list[tuple[Group, list[int]]] = []
    for i in order:
        if kept and _apart(kept[-1][0], groups[i]) == 0:
            same, who = kept.pop()
            begin = min(same.start_s, groups[i].start_s)
            kept.append((replace(same, streams=same.streams + groups[i].streams, start_s=begin), [*who, i]))
        else:
            kept.append((groups[i], [i]))
    while len(kept) > MOST_GROUPS:
        a, b = min(combinations(range(len(kept)), 2), key=lambda pair: _apart(kept[pair[0]][0], kept[pair[1]][0]))
        (one, first), (two, second) = kept[a], kept[b]
        part = two.streams / (one.streams + two.streams)
        middle = Group(
            one.cc,
            one.rtt_s ** (1 - part) * two.rtt_s**part,
            one.cap ** (1 - part) * two.cap**part,
            one.streams + two.streams,
            min(one.start_s, two.start_s),
        )
        kept[a] = (middle, first + second)
        del kept[b]
    member = {i: n for n, (_, who) in enumerate(kept) for i in who}
    return [g for g, _ in kept], [member[i] for i in range(len(groups))]


def _apart(one: Group, two: Group) -> float:
    """How unlike two groups are; groups of different algorithms only as a last resort."""
    trips, windows = math.log(one.rtt_s / two.rtt_s), math.log(one.cap / two.cap)
    return abs(trips) + abs(windows) + 100.0 * (one.cc != two.cc)


@lru_cache(maxsize=512)
def _weights(
    groups: tuple[Group, ...], rate: float, buffer: float, loss: float, warmup_s: float, duration_s: float
) -> tuple[float, ...]:
    streams = np.array([g.streams for g in groups])
    flows = np.maximum(np.round(streams * min(MOST_FLOWS / streams.sum(), 1.0)), 1).astype(int)
    lump = streams.sum() / flows.sum()
    who = np.repeat(np.arange(len(groups)), flows)
    T = np.array([groups[g].rtt_s for g in who]) + known.HOST_DELAY.value
    start = np.array([min(groups[g].start_s, LATEST_S) for g in who])
    codes = np.array([shared.CODES[groups[g].cc] for g in who])
    cap = np.array([max(groups[g].cap, 2.0) for g in who])
    marks = np.array([warmup_s, warmup_s + duration_s])

    def lanes(count: int, marks: NDArray[np.float64]) -> shared.Lanes:
        replica = np.arange(count)
        jitter = _chance.uniform(1, _chance.START, 0, np.arange(len(who)), replica[:, None])
        return shared.Lanes(
            np.full(count, rate / lump),
            np.full(count, buffer / lump),
            np.tile(T, (count, 1)),
            np.tile(codes, (count, 1)),
            rounds.SET_UP * T + start + START_S * jitter,
            np.tile(cap, (count, 1)),
            np.tile(marks, (count, 1)),
            np.full(count, loss),
            replica,
        )

    slices = float(marks[1] / lanes(1, marks).slices()[0]) * len(who)
    marks = marks * min(WORK / slices, 1.0)
    runs = lanes(int(np.clip(WORK / slices, 1, REPLICAS)), marks)
    delivered = shared.simulate(runs, 1, compiled=False)[:, :, 0]
    each = np.stack([delivered[:, who == g].mean(axis=1) for g in range(len(groups))], axis=1)
    got = np.median(each / np.maximum(each @ streams, 1e-30)[:, None] * streams.sum(), axis=0)
    got = np.maximum(got, LEAST)
    return tuple((got * streams.sum() / (got @ streams)).tolist())
