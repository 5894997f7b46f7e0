"""Slow start in time: the share of their final rate that connections allow, from the round model of TCP.

The course is worked out once at nominal values; a draw with a longer round trip stretches it, and its level is that of
the transfer's TCP station. If slow start overshoots the rate that random loss leaves, the first shares exceed 1 and the
last is below: `predict` takes the mean of the same course.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from dtnsim.ground.quantity import in_scenario
from dtnsim.ground.records import Connection

_ALIKE: Final = 0.05  #: steps that differ by less are merged
#: part of the last share below which a connection that moves all files has steps that are nothing beside it
_LITTLE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Ramp:
    """A step function from the moment at which the connections are open."""

    ends_s: tuple[float, ...]  #: End of each step [s].
    shares: tuple[float, ...]  #: Share of the TCP station's capacity that its connections allow in it [1].
    last: float = 1.0  #: Share afterwards [1].

    def after(self, age_s: float) -> Iterator[tuple[float, float]]:
        """(remaining time [s], share) of every step that is not over at an age."""
        for end, share in zip(self.ends_s, self.shares, strict=True):
            if end > age_s:
                yield end - age_s, share
                age_s = end


def ramp_of(streams: Connection, scenario: int = 0) -> Ramp | None:
    """Slow start of a transfer's streams in one scenario; None if it takes no time."""
    course = streams.course
    if course is None or not course.steady_Bps > 0:
        return None

    value = partial(in_scenario, scenario=scenario)
    # before the first of them there is the handshake, which is a round trip of the tool's
    ends = (course.times_s[2:] - course.times_s[1]) * value(streams.stretch)
    rates = course.rates_here(course.rates_Bps[1:], value(streams.factor), value(streams.early))
    last = course.steady_Bps * value(streams.factor) / value(streams.capacity_Bps)
    shares = rates / value(streams.capacity_Bps)
    if last > 1 - _ALIKE:  # a window as wide as a file is as good as any; what overshoots loss is spent by all files
        # and of a connection of its own one as wide as the rest of a file, which leaves at once in the last round trip
        passed = np.cumsum(np.append(0.0, rates * np.diff(ends, prepend=0.0)))[:-1] if streams.reopened else 0.0
        shares = np.where(rates * value(streams.rtt_s) >= streams.file_B - passed, last, shares)
    # of a connection of its own a small file meets the first steps alone
    return _merged(ends.tolist(), shares.tolist(), last, 0.0 if streams.reopened else _LITTLE * last)


def _merged(ends: list[float], shares: list[float], last: float, little: float) -> Ramp | None:
    """The steps with like neighbours merged into their mean, more coarsely below a ``little`` share."""
    steps: list[tuple[float, float, float]] = []  # begin, end, share
    begin = 0.0
    for end, share in zip(ends, shares, strict=True):
        if steps and abs(steps[-1][2] - share) <= _ALIKE * max(share, little):
            first, middle, before = steps.pop()
            mean = (before * (middle - first) + share * (end - begin)) / (end - first)
            steps.append((first, end, mean))
        else:
            steps.append((begin, end, share))
        begin = end
    while steps and abs(steps[-1][2] - last) <= _ALIKE / 2 * last:
        steps.pop()
    if not steps:
        return None
    return Ramp(tuple(e for _, e, _ in steps), tuple(max(s, 1e-6) for _, _, s in steps), last)
