"""The state of the round model: flows by lanes (one replica of one scenario), in segments and seconds.

What holds for all flows of a lane is written out for each where it meets them: numpy takes two arrays of one shape
three times as fast as an array and a row that it repeats.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dtnsim.physics._arrays import BoolArray, FloatArray, IntArray
from dtnsim.physics.tcp import _chance, coefficients as known, linux
from dtnsim.physics.tcp.controls import Control

#: Phases of a flow
SLOW_START: Final = 0
AVOIDANCE: Final = 1
RECOVERY: Final = 2

_BLOCK: Final = 64  #: draws that are made at once


@dataclass(slots=True, eq=False, repr=False)
class Fixed:
    """What does not change in a lane, the same for each of its flows (flows, lanes) unless said otherwise."""

    C: FloatArray  #: Rate left by the background [segments/s].
    T: FloatArray  #: Base round-trip time, hosts included [s].
    B: FloatArray  #: Drop-tail buffer left by the background [segments].
    event: FloatArray  #: Loss events per segment [1].
    #: Segments lost per segment, and those that are not [1].
    lost: FloatArray
    arrives: FloatArray
    cap: FloatArray  #: Most segments in flight a flow may have.
    mean: FloatArray  #: Their mean, less where the sender's buffer lets them go in trains [segments].
    held: FloatArray  #: What the sender's buffer holds, inf where it never binds [segments].
    size: FloatArray  #: Segments that the flows have to deliver together (lanes,).
    short: FloatArray  #: Part of a TSO burst that short round trips add [segments].
    lump: FloatArray  #: Part of a host's stall that queues as a lump at once [s].
    excess: FloatArray  #: Part of a burst that the bottleneck does not take as it comes [1].
    full: FloatArray  #: What path and buffer hold (lanes,) [segments].
    most_delay: FloatArray  #: Delay of a full buffer [s].
    safe: FloatArray  #: Largest window whose bursts fit the buffer [segments].
    wait: FloatArray  #: Cost of delayed acknowledgments a round trip [segments s].
    most_burst: FloatArray  #: Most that segmentation offload hands down [segments].
    start: FloatArray  #: Time of the first segment [s].
    end: FloatArray  #: Time at which the lane ends (lanes,) [s].
    paced: BoolArray  #: Whether the sender spaces its packets.
    lane: IntArray  #: Index of the lane in the caller's arrays (lanes,).
    replica: IntArray  #: Row of its draws in the `Dice` (lanes,).
    marks: FloatArray  #: Times at which the counters are noted (lanes, M) [s].
    flows: IntArray  #: Flows that the lane has; of taller arrays the first ones (lanes,).
    own: BoolArray  #: Whether a flow is one of them.
    most_steps: IntArray  #: Steps after which a lane is taken to repeat itself (lanes,).
    law: IntArray  #: Number of the lane's congestion control in `laws` (lanes,).
    laws: dict[int, Control]  #: The congestion controls of all lanes by number.
    which: dict[str, BoolArray | bool]  #: What `which` gives of them.
    ragged: bool  #: Whether a lane has fewer flows than others.
    bursts: bool  #: Whether a window may be too large for the buffer.
    sized: bool  #: Whether lanes end with their bytes.

    def keep(self, rows: BoolArray) -> Fixed:
        """The lanes of `rows` only, as tall as they need."""
        values = _selected(self, rows, int(self.flows[rows].max(initial=1)))
        present, own = set(values["law"].tolist()), values["own"]
        laws = {n: control for n, control in self.laws.items() if n in present}
        derived = {"own": own, "laws": laws, "which": which(values["law"], laws), "ragged": not own.all()}
        return Fixed(**values | derived)


def which(law: IntArray, laws: dict[int, Control]) -> dict[str, BoolArray | bool]:
    """Lanes whose control has a property, by property; True or False where all lanes agree."""
    lanes = dict[str, BoolArray | bool]()
    for trait in ("cube", "clocked", "estimates"):
        numbers = [n for n, control in laws.items() if getattr(control, trait)]
        lanes[trait] = np.isin(law, numbers) if 0 < len(numbers) < len(laws) else bool(numbers)
    return lanes


@dataclass(slots=True, eq=False, repr=False)
class State:
    """What changes: (flows, lanes) unless said otherwise."""

    #: Clock of the lane, and what counts as now: a little more [s].
    t: FloatArray
    soon: FloatArray
    #: Congestion window and threshold [segments].
    cwnd: FloatArray
    ssthresh: FloatArray
    phase: IntArray  #: `SLOW_START`, `AVOIDANCE` or `RECOVERY`.
    detect: FloatArray  #: When a pending loss is noticed, inf if none [s].
    recover: FloatArray  #: When the recovery ends, inf if none [s].
    resume: FloatArray  #: When it sends, at first or after a time-out [s].
    #: Of the slow-start round [s].
    round_end: FloatArray
    round_start: FloatArray
    before: FloatArray  #: Window of the slow-start round before this [segments].
    peak: FloatArray  #: Window at the detection of a slow-start overflow, 0 if none [segments].
    dropped: FloatArray  #: What that drops [segments].
    clear: FloatArray  #: What comes between its drops of one round and the next, inf where one drops [segments].
    #: State of CUBIC and H-TCP.
    top: FloatArray
    epoch: FloatArray
    k: FloatArray
    origin: FloatArray
    friendly: FloatArray
    beta: FloatArray
    estimate: FloatArray  #: Westwood's rate times the least round trip [segments].
    missing: FloatArray  #: Segments of the window that were dropped and not yet noticed.
    rate: FloatArray  #: Sending rate of the last step [segments/s].
    budget: FloatArray  #: Hazard that is left until the next loss [1].
    losses: IntArray  #: How many there were.
    #: Counters [segments].
    delivered: FloatArray
    lost: FloatArray
    done: FloatArray  #: When the last segment left the bottleneck, inf before [s].
    waited: FloatArray  #: Integral of the round-trip time over time (lanes,) [s^2].
    #: Next mark and its time (lanes,).
    noted: IntArray
    mark: FloatArray
    steps: int  #: Steps taken.

    def keep(self, rows: BoolArray, flows: int) -> State:
        """The lanes of `rows` only, of their flows the first."""
        return State(**_selected(self, rows, flows))


def _selected(lanes: Fixed | State, rows: BoolArray, flows: int) -> dict[str, Any]:
    values = {f.name: getattr(lanes, f.name) for f in fields(lanes)}
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            values[name] = value[rows] if name == "marks" or value.ndim == 1 else value[:flows, rows]
    return values


class Dice:
    """The draws of all lanes: by seed, replica, flow and number (see `_chance`), made some at a time and kept.

    Args:
        seed: Seed.
        replicas: How many runs cases have, each number once; rows are those of the first, then of the next.
        flows: Flows a lane.
    """

    def __init__(self, seed: int, replicas: tuple[int, ...], flows: int) -> None:
        self.about = seed, replicas, flows
        self.first = dict(zip(replicas, np.cumsum((0, *replicas)).tolist(), strict=False))
        self.hazards = _hazards(0, *self.about)

    def draw(self, purpose: int, step: int) -> FloatArray:
        """Uniform draws of a step (flows, rows)."""
        return np.asarray(_draws(purpose, step // _BLOCK, *self.about)[step % _BLOCK], float)

    def budget(self, row: IntArray, flow: IntArray, losses: IntArray) -> FloatArray:
        """Hazard until the next loss of a flow, exponential with mean 1.

        Args:
            row: Rows of the draws.
            flow: Flows.
            losses: Losses so far.

        Source: time change of a Poisson process: its integrated hazard between events is exponential with mean 1.
        """
        while losses.max(initial=0) >= len(self.hazards):
            more = _hazards(len(self.hazards) // _BLOCK, *self.about)
            self.hazards = np.concatenate([self.hazards, more])
        return np.asarray(self.hazards[losses, flow, row], float)


def _numbers(block: int) -> IntArray:
    return np.arange(block * _BLOCK, (block + 1) * _BLOCK)[:, None, None]


@lru_cache(maxsize=512)
def _draws(purpose: int, block: int, seed: int, replicas: tuple[int, ...], flows: int) -> FloatArray:
    rows = np.concatenate([np.arange(count) for count in replicas])
    return _chance.uniform(seed, purpose, _numbers(block), np.arange(flows)[:, None], rows)


@lru_cache(maxsize=128)
def _hazards(block: int, seed: int, replicas: tuple[int, ...], flows: int) -> FloatArray:
    about = seed, _chance.LOSS, _numbers(block), np.arange(flows)[:, None]
    parts = [_chance.spread(*about, np.arange(count), count) for count in replicas]
    return np.asarray(-np.log1p(-np.minimum(np.concatenate(parts, axis=2), 1 - 1e-16)), float)


def fresh(fixed: Fixed, dice: Dice) -> State:
    """The state of cold flows that send their first window at `start`."""
    flows, lanes = fixed.own.shape

    def full(value: float) -> FloatArray:
        return np.full((flows, lanes), value)

    start = fixed.start + full(0.0)
    none = np.zeros((flows, lanes), np.int64)
    values: dict[str, Any] = {f.name: full(0.0) for f in fields(State)}
    values["waited"] = np.zeros(lanes)
    values |= {name: full(np.inf) for name in ("ssthresh", "detect", "recover")}
    values |= {"phase": none, "losses": none.copy(), "noted": none[0].copy(), "mark": fixed.marks[:, 0].copy()}
    values |= {"cwnd": full(linux.INITIAL_WINDOW), "beta": full(0.5), "rate": full(1.0), "steps": 0}
    values |= {"resume": start, "round_start": start.copy(), "round_end": start + fixed.T}
    values["done"] = np.where(fixed.own, np.inf, 0.0)
    return State(**values | {"budget": dice.budget(fixed.replica, np.arange(flows)[:, None], none)})


def total(values: FloatArray) -> FloatArray:
    """Sum over the flows of a lane, in their order (lanes,)."""
    sums: FloatArray = values[0]
    for flow in range(1, len(values)):
        sums = sums + values[flow]
    return sums


def least(values: FloatArray) -> FloatArray:
    """Least over the flows of a lane, as `total` (lanes,)."""
    return np.asarray(np.minimum.reduce(values) if len(values) > 1 else values[0], float)


def buffers(
    C: FloatArray, T: FloatArray, B: FloatArray, short: FloatArray, mss: FloatArray, excess: FloatArray
) -> dict[str, FloatArray]:
    """The values of `Fixed` that follow from path and buffer.

    A burst needs N (1 - C / line rate) + margin of buffer; N = 1.2 x / 1024 + short, at most 64 KiB and a
    third of the window, bounds the window that is safe.

    Args:
        C: Rate left by the background [segments/s].
        T: Base round-trip time [s].
        B: Drop-tail buffer [segments].
        short: Part of a burst that short round trips add [segments].
        mss: Segment payload [B].
        excess: Part of a burst that is left to queue [1].

    Source: net/ipv4/tcp_output.c, tcp_tso_autosize (`linux.burst_segments`); coefficients `BURST_MARGIN`,
        `DELAYED_ACK_SHARE`.
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
        "most_burst": linux.GSO_B / mss,
    }
