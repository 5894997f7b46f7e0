"""Runs the lanes of the round model to their ends; lanes that repeat themselves are carried forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from dtnsim.physics._arrays import BoolArray, FloatArray, IntArray, Rows
from dtnsim.physics.tcp import coefficients as known
from dtnsim.physics.tcp._events import repaired
from dtnsim.physics.tcp._lanes import Dice, Fixed, State, fresh
from dtnsim.physics.tcp._step import step

EVERY: Final = 8  #: lanes at their ends are looked for after so many steps
#: a lane in which nothing grows, nothing is lost and rates stay to so many digits goes on like that
STAYS: Final = 1e-12


@dataclass(slots=True, eq=False, repr=False)
class Noted(Rows):
    """Counters of each lane at its marks."""

    #: Of all flows (lanes, marks) [segments].
    delivered: FloatArray
    lost: FloatArray
    waited: FloatArray  #: Integral of the round-trip time (lanes, marks) [s^2].
    behind: FloatArray  #: Until what had been lost by then would have come, were it the end (lanes, marks) [s].
    done: FloatArray  #: End of the last flow, inf if one goes on (lanes,) [s].
    simulated: FloatArray  #: Time that was stepped through (lanes,) [s].
    steps: FloatArray  #: Steps taken (lanes,).

    @classmethod
    def of(cls, lanes: int, marks: int) -> Noted:
        """Counters at zero, before the first step."""
        return cls(*(np.zeros((lanes, marks)) for _ in range(4)), *(np.zeros(lanes) for _ in range(3)))


class Counters(NamedTuple):
    """Counters of the lanes at one time."""

    lane: IntArray
    t: FloatArray
    delivered: FloatArray
    lost: FloatArray
    waited: FloatArray
    rate: FloatArray


def run(p: Fixed, dice: Dice, noted: Noted) -> None:
    """Steps all lanes until each has ended, repeats itself, or has nothing before it that changes its rates.

    A lane that has taken its `most_steps` is carried forward at the rate of its second half.

    Args:
        p: What does not change in the lanes.
        dice: The draws.
        noted: Takes the counters of each lane at its marks.

    Source: `_step.step`; long-run averages of a process that renews itself at each loss.
    """
    s, kinds, halves = fresh(p, dice), set(p.most_steps.tolist()), dict[int, Counters]()
    starts = {max(most // 2, 1) for most in kinds}
    with np.errstate(divide="ignore"):
        while len(p.lane):
            looks = not (s.steps + 1) % EVERY or s.steps + 1 in kinds
            then = _counters(s, p) if looks else None
            still = step(s, p, dice)
            _note(s, p, noted)
            if s.steps in starts:
                halves[s.steps] = _counters(s, p)
            if then is None:
                continue
            gone = np.asarray((s.t[0] >= p.end - 1e-12) | np.isfinite(s.done).all(axis=0))  # at their end
            _close(s, p, gone, noted)
            still &= ~gone & (np.abs(s.rate - then.rate) <= STAYS * s.rate).all(axis=0)
            repeats = ~gone & ~still & (p.most_steps == s.steps)
            for rows, since in ((still, then), (repeats, halves.get(max(s.steps // 2, 1)))):
                if since is not None and rows.any():
                    _carry(s.keep(rows, len(p.own)), p.keep(rows), since, noted)
            noted.simulated[p.lane[still]] = p.end[still]
            left = ~(gone | still | repeats)
            if not left.all():
                p = p.keep(left)
                s = s.keep(left, len(p.own))


def _counters(s: State, p: Fixed) -> Counters:
    return Counters(p.lane, s.t[0], s.delivered, s.lost, s.waited, s.rate)


def _note(s: State, p: Fixed, noted: Noted) -> None:
    """Counters of the lanes that have reached their next mark."""
    whole: FloatArray | None = None
    while np.count_nonzero(due := s.mark <= s.soon[0]):
        if whole is None:
            tail = np.where(s.peak > 0, known.TAIL_LOSS.value * (p.T + p.most_delay), 0.0)
            whole = np.maximum(repaired(s, p, tail).max(axis=0) - s.t[0], 0.0)
        rows = np.flatnonzero(due)
        lane, mark = p.lane[rows], s.noted[rows]
        noted.delivered[lane, mark] = s.delivered[:, rows].sum(axis=0)
        noted.lost[lane, mark] = s.lost[:, rows].sum(axis=0)
        noted.waited[lane, mark], noted.behind[lane, mark] = s.waited[rows], whole[rows]
        s.noted[rows] += 1
        most = p.marks.shape[1]
        following = p.marks[rows, np.minimum(mark + 1, most - 1)]
        s.mark[rows] = np.where(mark + 1 < most, following, np.inf)


def _close(s: State, p: Fixed, rows: BoolArray, noted: Noted) -> None:
    """Keeps what the ended lanes leave; marks after their end see their last counters."""
    lane = p.lane[rows]
    noted.done[lane] = s.done[:, rows].max(axis=0)
    noted.simulated[lane] = s.t[0, rows]
    noted.steps[lane] = s.steps
    later = np.arange(p.marks.shape[1]) >= s.noted[rows, None]
    for target, counter in ((noted.delivered, s.delivered), (noted.lost, s.lost), (noted.waited, s.waited[None])):
        target[lane] = np.where(later, counter[:, rows].sum(axis=0)[:, None], target[lane])


def _carry(s: State, p: Fixed, since: Counters, noted: Noted) -> None:
    """Carries lanes forward at the rate that they have kept since then.

    Streams of a lane are alike, so that in the long run each has their mean rate, whatever it had so far.
    """
    t, place = s.t[0], np.searchsorted(since.lane, p.lane)
    span = t - since.t[place]
    busy = np.isinf(s.done)

    def gained(counter: FloatArray, then: FloatArray, *, of: BoolArray | bool = True) -> FloatArray:
        return np.asarray((np.where(of, counter - then[: len(counter), place], 0.0) / span).sum(axis=0))

    rate = gained(s.delivered, since.delivered, of=busy)
    left = np.where(np.isfinite(p.size), p.size - s.delivered.sum(axis=0), np.inf)
    done = np.where(busy, t + left / np.maximum(rate, 1e-30), s.done).max(axis=0)
    ahead = np.minimum(p.marks, np.where(np.isfinite(p.size), done, np.inf)[:, None]) - t[:, None]
    later = np.arange(p.marks.shape[1]) >= s.noted[:, None]
    for target, counter, speed in (
        (noted.delivered, s.delivered, rate),
        (noted.lost, s.lost, gained(s.lost, since.lost)),
        (noted.waited, s.waited[None], gained(s.waited[None], since.waited[None])),
    ):
        target[p.lane] = np.where(later, counter.sum(axis=0)[:, None] + speed[:, None] * ahead, target[p.lane])
    noted.done[p.lane], noted.simulated[p.lane], noted.steps[p.lane] = done, t, s.steps
