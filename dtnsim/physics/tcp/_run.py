"""Runs the lanes of the round model to their ends; lanes that repeat themselves are carried forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dtnsim.physics.tcp._lanes import BoolArray, Dice, Fixed, FloatArray, State, fresh
from dtnsim.physics.tcp._step import step

#: a lane that takes more steps repeats itself: its second half gives the rate of the rest
MOST_STEPS: Final = 1000


@dataclass(slots=True, eq=False, repr=False)
class Noted:
    """Counters of each lane at its marks.

    Attributes:
        delivered, lost: (lanes, marks, flows) [segments].
        waited: Integral of the round-trip time (lanes, marks) [s^2].
        done: End of each flow, inf if it goes on (lanes, flows) [s].
        simulated: Time that was stepped through (lanes,) [s].
        steps: Steps taken (lanes,).
    """

    delivered: FloatArray
    lost: FloatArray
    waited: FloatArray
    done: FloatArray
    simulated: FloatArray
    steps: FloatArray


def run(p: Fixed, flows: int, dice: Dice, most_steps: int = MOST_STEPS) -> Noted:
    """Steps all lanes until each has ended, or has taken `most_steps`.

    Args:
        p: The lanes.
        flows: Flows a lane.
        dice: Draws of losses and stalls.
        most_steps: After as many steps a lane is carried forward at the rate of its second half.

    Returns:
        Counters at the marks.
    """
    lanes, marks = p.marks.shape
    noted = Noted(
        np.zeros((lanes, marks, flows)),
        np.zeros((lanes, marks, flows)),
        np.zeros((lanes, marks)),
        np.full((lanes, flows), np.inf),
        np.zeros(lanes),
        np.zeros(lanes),
    )
    s = fresh(p, flows, dice)
    half: State | None = None
    half_lanes = p.lane
    for count in range(1, most_steps + 1):
        with np.errstate(divide="ignore"):
            step(s, p, dice)
        _note(s, p, noted)
        if count == most_steps // 2:
            half, half_lanes = s.keep(np.ones(len(s.t), bool)), p.lane[:, 0]
        if count % 8:
            continue
        over = _over(s, p)
        if over.any():
            _close(s, p, over, noted)
            s, p = s.keep(~over), p.keep(~over)
            if not len(s.t):
                return noted
    over = _over(s, p)
    _close(s, p, over, noted)
    s, p = s.keep(~over), p.keep(~over)
    if len(s.t) and half is not None:
        rows = np.searchsorted(half_lanes, p.lane[:, 0])
        _carry(s, p, half.keep(_mask(rows, len(half_lanes))), noted)
    return noted


def _over(s: State, p: Fixed) -> BoolArray:
    """Lanes at their end (lanes,)."""
    return np.asarray((s.t >= p.end - 1e-12)[:, 0] | np.isfinite(s.done).all(axis=1))


def _mask(rows: np.ndarray[tuple[int, ...], np.dtype[np.int64]], size: int) -> BoolArray:
    mask = np.zeros(size, bool)
    mask[rows] = True
    return mask


def _note(s: State, p: Fixed, noted: Noted) -> None:
    """Counters of the lanes that have reached their next mark."""
    due = s.mark <= s.soon
    if np.count_nonzero(due):
        rows = np.flatnonzero(due)
        lane, mark = p.lane[rows, 0], s.noted[rows, 0]
        noted.delivered[lane, mark] = s.delivered[rows]
        noted.lost[lane, mark] = s.lost[rows]
        noted.waited[lane, mark] = s.waited[rows, 0]
        s.noted[rows] += 1
        most = p.marks.shape[1]
        following = p.marks[rows, np.minimum(mark + 1, most - 1)]
        s.mark[rows, 0] = np.where(mark + 1 < most, following, np.inf)


def _close(s: State, p: Fixed, rows: BoolArray, noted: Noted) -> None:
    """Keeps what the ended lanes leave; marks after their end see their last counters."""
    lane = p.lane[rows, 0]
    noted.done[lane] = s.done[rows]
    noted.simulated[lane] = s.t[rows, 0]
    noted.steps[lane] = s.steps
    later = np.arange(p.marks.shape[1]) >= s.noted[rows]
    noted.delivered[lane] = np.where(later[:, :, None], s.delivered[rows][:, None, :], noted.delivered[lane])
    noted.lost[lane] = np.where(later[:, :, None], s.lost[rows][:, None, :], noted.lost[lane])
    noted.waited[lane] = np.where(later, s.waited[rows], noted.waited[lane])


def _carry(s: State, p: Fixed, then: State, noted: Noted) -> None:
    """Carries lanes forward at the rate that they kept since half of their steps.

    Streams of a lane are alike, so that in the long run each has their mean rate, whatever it had so far.
    """
    lane = p.lane[:, 0]
    span = s.t - then.t
    busy = np.isinf(s.done)
    rate = np.where(busy, (s.delivered - then.delivered) / span, 0.0)
    rate = np.where(busy, rate.sum(axis=1, keepdims=True) / np.maximum(busy.sum(axis=1, keepdims=True), 1), 0.0)
    losses = (s.lost - then.lost) / span
    trip = (s.waited - then.waited) / span
    left = np.where(np.isfinite(p.size), p.size - s.delivered.sum(axis=1, keepdims=True), np.inf)
    done = np.where(np.isinf(s.done), s.t + left / np.maximum(rate.sum(axis=1, keepdims=True), 1e-30), s.done)
    end = np.where(np.isfinite(p.size), done.max(axis=1, keepdims=True), np.inf)
    ahead = np.minimum(p.marks, end) - s.t
    later = np.arange(p.marks.shape[1]) >= s.noted
    for what, now, speed in ((noted.delivered, s.delivered, rate), (noted.lost, s.lost, losses)):
        value = now[:, None, :] + speed[:, None, :] * ahead[:, :, None]
        what[lane] = np.where(later[:, :, None], value, what[lane])
    noted.waited[lane] = np.where(later, s.waited + trip * ahead, noted.waited[lane])
    noted.done[lane] = done
    noted.simulated[lane] = s.t[:, 0]
    noted.steps[lane] = s.steps
