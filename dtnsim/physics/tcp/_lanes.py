"""The state of the round model: lanes (one replica of one scenario) by flows, in segments and seconds."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtnsim.physics.tcp import _chance, linux
from dtnsim.physics.tcp import coefficients as known

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Lanes from which on sums over flows go column by column
_MANY: Final = 64
#: Phases of a flow
SLOW_START: Final = 0
AVOIDANCE: Final = 1
RECOVERY: Final = 2


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which laws the lanes need at all."""

    only_reno: bool
    cubic: bool
    htcp: bool
    scalable: bool
    westwood: bool
    illinois: bool
    sized: bool


@dataclass(slots=True, eq=False, repr=False)
class Fixed:
    """What does not change in a lane: columns (lanes, 1); `marks` is (lanes, M).

    Attributes:
        C: Rate left by the background [segments/s].
        T: Base round-trip time, hosts included [s].
        B: Drop-tail buffer left by the background [segments].
        event: Loss events per segment [1].
        lost: Segments lost per segment [1].
        cap: Most segments in flight a flow may have.
        size: Segments that the flows have to deliver together.
        mss: Segment payload [B].
        short: Part of a TSO burst that short round trips add [segments].
        excess: Part of a burst that queues, 1 - C / line rate [1].
        full: What path and buffer hold [segments].
        most_delay: Delay of a full buffer [s].
        safe: Largest window whose bursts fit the buffer [segments].
        wait: Cost of delayed acknowledgments a round trip [segments s].
        start: Time of the first segment [s].
        end: Time at which the lane ends [s].
        reno, cubic, htcp, scalable, westwood, illinois: Which algorithm.
        paced: Whether the sender spaces its packets.
        lane: Index of the lane in the caller's arrays.
        replica: Number of the run of its case.
        marks: Times at which the counters are noted [s].
    """

    C: FloatArray
    T: FloatArray
    B: FloatArray
    event: FloatArray
    lost: FloatArray
    cap: FloatArray
    size: FloatArray
    mss: FloatArray
    short: FloatArray
    excess: FloatArray
    full: FloatArray
    most_delay: FloatArray
    safe: FloatArray
    wait: FloatArray
    start: FloatArray
    end: FloatArray
    reno: BoolArray
    cubic: BoolArray
    htcp: BoolArray
    scalable: BoolArray
    westwood: BoolArray
    illinois: BoolArray
    paced: BoolArray
    lane: IntArray
    replica: IntArray
    marks: FloatArray
    kinds: Kinds = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = Kinds(
            bool(self.reno.all()),
            bool(self.cubic.any()),
            bool(self.htcp.any()),
            bool(self.scalable.any()),
            bool(self.westwood.any()),
            bool(self.illinois.any()),
            bool(np.isfinite(self.size).any()),
        )

    def keep(self, rows: BoolArray) -> Fixed:
        """The lanes of `rows` only."""
        return Fixed(**{f.name: getattr(self, f.name)[rows] for f in fields(self) if f.init})


@dataclass(slots=True, eq=False, repr=False)
class State:
    """What changes: (lanes, flows) unless said otherwise.

    Attributes:
        t: Clock of the lane (lanes, 1) [s].
        cwnd, ssthresh: Congestion window and threshold [segments].
        phase: `SLOW_START`, `AVOIDANCE` or `RECOVERY`.
        detect: When a pending loss is noticed, inf if none [s].
        recover: When the recovery ends, inf if none [s].
        round_end, round_start: Of the slow-start round [s].
        before: Window of the slow-start round before this [segments].
        peak: Window at the detection of a slow-start overflow, 0 if none [segments].
        top, epoch, k, origin, friendly, beta: State of CUBIC and H-TCP.
        estimate: Westwood's rate times the least round trip [segments].
        missing: Segments of the window that were dropped and not yet noticed.
        rate: Sending rate of the last step [segments/s].
        budget: Hazard that is left until the next loss [1].
        losses: How many there were.
        delivered, lost: Counters [segments].
        done: When the last segment left the bottleneck, inf before [s].
        waited: Integral of the round-trip time over time (lanes, 1) [s^2].
        noted, mark: Next mark and its time (lanes, 1).
        steps: Steps taken (lanes, 1).
    """

    t: FloatArray
    cwnd: FloatArray
    ssthresh: FloatArray
    phase: IntArray
    detect: FloatArray
    recover: FloatArray
    round_end: FloatArray
    round_start: FloatArray
    before: FloatArray
    peak: FloatArray
    top: FloatArray
    epoch: FloatArray
    k: FloatArray
    origin: FloatArray
    friendly: FloatArray
    beta: FloatArray
    estimate: FloatArray
    missing: FloatArray
    rate: FloatArray
    budget: FloatArray
    losses: IntArray
    delivered: FloatArray
    lost: FloatArray
    done: FloatArray
    waited: FloatArray
    noted: IntArray
    mark: FloatArray
    steps: IntArray

    def keep(self, rows: BoolArray) -> State:
        """The lanes of `rows` only."""
        return State(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})


@dataclass(frozen=True, slots=True)
class Dice:
    """The draws of all lanes: by seed, replica, flow and number (see `_chance`)."""

    seed: int
    replicas: int

    def draw(self, purpose: int, p: Fixed, rows: IntArray | slice, count: ArrayLike, flow: ArrayLike = 0) -> FloatArray:
        """Uniform draws for some lanes: `count` makes one step differ from another."""
        replica = p.replica if isinstance(rows, slice) else p.replica[rows, 0]
        return _chance.uniform(self.seed, purpose, count, flow, replica)

    def budget(self, replica: IntArray, flow: IntArray, losses: IntArray) -> FloatArray:
        """Hazard until the next loss of a flow, exponential with mean 1."""
        u = _chance.spread(self.seed, _chance.LOSS, losses, flow, replica, self.replicas)
        return np.asarray(-np.log1p(-np.minimum(u, 1 - 1e-16)), float)


def fresh(fixed: Fixed, flows: int, dice: Dice) -> State:
    """The state of cold flows that send their first window at `start`."""
    lanes = len(fixed.C)

    def full(value: float) -> FloatArray:
        return np.full((lanes, flows), value)

    start = fixed.start + full(0.0)
    return State(
        t=np.zeros((lanes, 1)),
        cwnd=full(linux.INITIAL_WINDOW),
        ssthresh=full(np.inf),
        phase=np.zeros((lanes, flows), np.int64),
        detect=full(np.inf),
        recover=full(np.inf),
        round_end=start + fixed.T,
        round_start=start,
        before=full(0.0),
        peak=full(0.0),
        top=full(0.0),
        epoch=full(0.0),
        k=full(0.0),
        origin=full(0.0),
        friendly=full(0.0),
        beta=full(0.5),
        estimate=full(0.0),
        missing=full(0.0),
        rate=full(1.0),
        budget=dice.budget(fixed.replica, np.arange(flows), np.zeros((lanes, flows), np.int64)),
        losses=np.zeros((lanes, flows), np.int64),
        delivered=full(0.0),
        lost=full(0.0),
        done=full(np.inf),
        waited=np.zeros((lanes, 1)),
        noted=np.zeros((lanes, 1), np.int64),
        mark=fixed.marks[:, :1].copy(),
        steps=np.zeros((lanes, 1), np.int64),
    )


def total(values: FloatArray) -> FloatArray:
    """Sum over the flows of a lane (lanes, 1)."""
    if len(values) < _MANY:
        return values if values.shape[1] == 1 else np.asarray(values.sum(axis=1, keepdims=True), float)
    return _across(np.add, values)


def least(values: FloatArray) -> FloatArray:
    """Least over the flows of a lane (lanes, 1)."""
    if len(values) < _MANY:
        return values if values.shape[1] == 1 else np.asarray(values.min(axis=1, keepdims=True), float)
    return _across(np.minimum, values)


def _across(of: np.ufunc, values: FloatArray) -> FloatArray:
    """Column by column, in numpy's own order: it takes many short rows ten times as long one by one."""
    made = values[:, :1]
    for flow in range(1, values.shape[1]):
        made = of(made, values[:, flow : flow + 1])
    return made


def buffers(
    C: FloatArray, T: FloatArray, B: FloatArray, short: FloatArray, mss: FloatArray, excess: FloatArray
) -> dict[str, FloatArray]:
    """The columns of `Fixed` that follow from path and buffer.

    A burst needs N (1 - C / line rate) + margin of buffer; N = 1.2 x / 1024 + short, at most 64 KiB and a
    third of the window, bounds the window that is safe.
    """
    most_delay = np.maximum(B - 1.0, 0.5) / C
    free = np.maximum(B - known.BURST_MARGIN.value, 2.0) / excess
    trip = T + np.minimum(B, 8.0) / (2 * C)
    safe = np.maximum(free - short, 0.0) * linux.BURSTS_PER_S / linux.PACING_AVOIDANCE * trip
    safe = np.where(free >= linux.GSO_B / mss, np.inf, np.maximum(safe, free / linux.TSO_WINDOW_SHARE))
    wait = np.minimum(linux.DELAYED_ACK_S, T / 2) * known.DELAYED_ACK_SHARE.value
    return {
        "full": C * (T + most_delay),
        "most_delay": most_delay,
        "safe": safe,
        "wait": wait,
    }
